//! Checks that `unsafe` is forbidden everywhere except in one file, and that the crate of that file keeps all other
//! lints of the workspace.

use std::collections::BTreeMap;
use std::fs;

use geowalk_lab::{files, root, shown};

/// The only file that may contain `unsafe` code.
const ALONE: &str = "crates/geowalk-py/src/online/borrowed.rs";

/// The lints of a manifest, by section and name.
fn lints(manifest: &str, sections: &str) -> BTreeMap<String, String> {
    let text = fs::read_to_string(root().join(manifest)).unwrap_or_default();
    let (mut found, mut section) = (BTreeMap::new(), None);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.strip_prefix(sections).map(|name| name.trim_end_matches(']').to_owned());
        } else if let (Some(section), Some((name, level))) = (&section, line.split_once(" = ")) {
            let level = level.split('#').next().unwrap_or_default().trim();
            found.insert(format!("{section}::{name}"), level.to_owned());
        }
    }
    found
}

#[test]
fn the_crate_with_unsafe_code_keeps_all_other_lints() {
    let mut wanted = lints("Cargo.toml", "workspace.lints.");
    assert!(wanted.len() > 10, "the test found only {} lints", wanted.len());
    assert_eq!(wanted.get("rust::unsafe_code").map(String::as_str), Some("\"forbid\""));
    wanted.insert("rust::unsafe_code".to_owned(), "\"deny\"".to_owned());
    assert_eq!(lints("crates/geowalk-py/Cargo.toml", "lints."), wanted);
}

#[test]
fn other_crates_take_the_lints_of_the_workspace() {
    for (path, text) in files("crates", &["Cargo.toml"]).unwrap() {
        let own = shown(&path).contains("geowalk-py");
        assert_eq!(text.contains("[lints]\nworkspace = true"), !own, "{}", shown(&path));
    }
}

#[test]
fn unsafe_code_is_in_one_file() {
    let exception = ["#![allow(", "#[allow(", "#[expect("].map(|way| format!("{way}unsafe_code"));
    let with = files("crates", &[".rs"]).unwrap().into_iter().filter(|(_, text)| {
        text.lines().any(|line| exception.iter().any(|way| line.trim_start().starts_with(way)))
    });
    let with: Vec<String> = with.map(|(path, _)| shown(&path)).collect();
    assert_eq!(with, [ALONE]);
}
