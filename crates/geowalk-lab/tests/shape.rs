//! Checks the form of files: length, headers, formulas that rustdoc renders, no paths of one machine.

use geowalk_lab::{files, root, shown};

#[test]
fn files_are_short_enough_to_read() {
    for (path, text) in files("crates", &[".rs"]).unwrap() {
        let lines = text.lines().count();
        assert!(lines <= 800, "{}: {lines} lines; split it by concept (at most 800)", shown(&path));
    }
}

#[test]
fn each_manifold_generator_and_loss_opens_with_its_definition() {
    let concepts = [
        " Manifold<F> for ",
        " Generator<F> for ",
        " Loss for ",
        " Permissible for ",
        " Update<F> for ",
        " Bound for ",
    ];
    let families = ["geometry/manifolds", "geometry/generators", "loss", "update", "certify"];
    let mut seen = 0;
    for family in families {
        for (path, text) in files(&format!("crates/geowalk/src/{family}"), &[".rs"]).unwrap() {
            let code = text.split("#[cfg(test)]").next().unwrap_or_default();
            let defines = concepts.iter().any(|concept| code.contains(concept));
            if !defines || path.ends_with("tests.rs") {
                continue;
            }
            seen += 1;
            let header: Vec<&str> =
                text.lines().take_while(|line| line.starts_with("//!")).collect();
            let header = header.join("\n");
            assert!(header.starts_with("//! # "), "{}: a title must open the file", shown(&path));
            assert!(header.contains("Source**"), "{}: the header cites no source", shown(&path));
        }
    }
    assert!(seen > 30, "the test found only {seen} files: does it still read them?");
}

#[test]
fn formulas_survive_rustdoc() {
    for (path, text) in files("crates/geowalk/src", &[".rs"]).unwrap() {
        let docs = text.lines().enumerate().filter(|(_, line)| {
            let line = line.trim_start();
            line.starts_with("//!") || line.starts_with("///")
        });
        for (number, line) in docs.filter(|(_, line)| line.contains('$')) {
            let place = format!("{}:{}", shown(&path), number + 1);
            assert!(
                !line.contains("\\|"),
                "{place}: write \\Vert, Markdown eats the backslash of \\|"
            );
            assert!(!line.contains("^*"), "{place}: write ^\\star, Markdown takes ^* for emphasis");
        }
    }
}

#[test]
fn nothing_of_one_machine_is_in_the_repository() {
    // Assembled from parts, so that this file does not match itself.
    let forbidden = ["/ro", "/wo", "/ho"].map(|start| match start {
        "/ro" => format!("{start}ot/"),
        "/wo" => format!("{start}rk/"),
        _ => format!("{start}me/"),
    });
    for folder in ["crates", "docs", "scripts", ".ci"] {
        let endings = [".rs", ".md", ".toml", ".py", ".json", ".html", "run", "test"];
        for (path, text) in files(folder, &endings).unwrap() {
            for text_part in &forbidden {
                assert!(
                    !text.contains(text_part.as_str()),
                    "{}: contains {text_part}",
                    shown(&path)
                );
            }
        }
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "NOTATION.md", "CHANGELOG.md"] {
        assert!(root().join(name).is_file(), "{name} is missing");
    }
}

#[test]
fn the_life_of_a_row_names_functions_that_exist() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut seen = 0;
    for line in text.lines() {
        let Some((_, place)) = line.split_once(" | `geowalk") else { continue };
        let mut parts = place.split('`').step_by(2);
        let (Some(path), Some(function)) = (parts.next(), parts.next()) else { continue };
        if !place.contains(".rs`: `") {
            continue;
        }
        let path = root().join(format!("crates/geowalk{path}"));
        let source = std::fs::read_to_string(&path).unwrap_or_default();
        let found = ["(", "<"].iter().any(|end| source.contains(&format!("fn {function}{end}")));
        assert!(found, "{}: there is no function '{function}'", shown(&path));
        seen += 1;
    }
    assert!(seen > 10, "only {seen} functions are named: has the table moved?");
}
