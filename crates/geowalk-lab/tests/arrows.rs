//! Checks that dependencies between modules and crates point in one direction, as drawn in ARCHITECTURE.md.

use geowalk_lab::{files, shown};

/// Modules of `geowalk`; each may use itself and those before it. The file of a geometry also has its O(nnz) form, so
/// it counts as part of `learn`; the traits of `geometry` come earlier. The file with the theorems of a geometry
/// counts as part of `certify`.
const MODULES: [&str; 23] = [
    "real", "error", "spec", "sum", "row", "geometry", "sampler", "loss", "update", "learn",
    "walk", "track", "natural", "halt", "boost", "ridge", "certify", "matrix", "learner",
    "experts", "team", "laws", "optimize",
];

/// Crates; each may depend on those before it.
const CRATES: [&str; 9] = [
    "geowalk",
    "geowalk-page",
    "geowalk-papers",
    "geowalk-data",
    "geowalk-run",
    "geowalk-serve",
    "geowalk-cli",
    "geowalk-py",
    "geowalk-lab",
];

fn rank(module: &str) -> usize {
    let place = MODULES.iter().position(|m| *m == module);
    assert!(
        place.is_some(),
        "module '{module}' is not in the list of modules: add it at its place"
    );
    place.unwrap_or_default()
}

/// The modules named in one `use crate::...;` line. `Real` and the errors are re-exported at the top.
fn used(line: &str) -> Vec<String> {
    let Some(rest) = line.trim_start().strip_prefix("use crate::") else { return Vec::new() };
    let rest = rest.trim_end_matches(';').trim_matches(|c| c == '{' || c == '}');
    let heads = if line.contains("crate::{") { rest.split(',').collect() } else { vec![rest] };
    heads
        .iter()
        .map(|head| head.trim().split("::").next().unwrap_or_default().to_owned())
        .map(|head| match head.as_str() {
            "Real" => "real".to_owned(),
            "ConfigError" | "DomainError" => "error".to_owned(),
            _ => head,
        })
        .filter(|head| !head.is_empty())
        .collect()
}

#[test]
fn modules_use_only_what_stands_before_them() {
    let mut seen = 0;
    for (path, text) in files("crates/geowalk/src", &[".rs"]).unwrap() {
        let inside = shown(&path).replace("crates/geowalk/src/", "");
        let module = inside.split(['/', '.']).next().unwrap_or_default().to_owned();
        let of_one = ["geometry/manifolds/", "geometry/generators/"];
        let form = of_one.iter().any(|folder| inside.starts_with(folder));
        let theorems = inside.ends_with("/theorems.rs");
        let form = form.then_some(if theorems { "certify" } else { "learn" });
        let module = form.map_or(module, str::to_owned);
        // Tests, below the code or in a separate file, may use anything.
        if module == "lib" || inside.ends_with("tests.rs") {
            continue;
        }
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for line in code.lines() {
            for target in used(line) {
                seen += 1;
                assert!(
                    rank(&target) <= rank(&module),
                    "{}: '{module}' may not use '{target}': {line}",
                    shown(&path)
                );
            }
        }
    }
    assert!(seen > 50, "the test found only {seen} uses: does it still read the files?");
}

#[test]
fn crates_depend_only_on_what_stands_before_them() {
    for (path, text) in files("crates", &["Cargo.toml"]).unwrap() {
        let name =
            path.parent().and_then(|p| p.file_name()).unwrap().to_string_lossy().into_owned();
        let own = CRATES.iter().position(|c| *c == name);
        let own = own.unwrap_or_else(|| panic!("crate '{name}' is not in the list of crates"));
        for line in text.lines().filter(|line| line.starts_with("geowalk")) {
            let target = line.split(['.', ' ', '=']).next().unwrap_or_default();
            let other = CRATES.iter().position(|c| *c == target);
            assert!(other.is_some_and(|o| o < own), "{name} may not depend on {target}");
        }
    }
}
