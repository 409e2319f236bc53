//! Checks that each key cited in the code is in REFERENCES.bib, and that each entry there is cited.

use std::collections::BTreeSet;

use geowalk_lab::{files, root, shown};

/// Keys in `\[KEY, eq. (n)\]` and `\[KEY\]`: a letter, then letters and digits, ending in two digits and optionally a
/// letter.
fn keys(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in text.split("\\[").skip(1) {
        let head = part.split([',', '\\', ']']).next().unwrap_or_default();
        let digits = head.chars().filter(char::is_ascii_digit).count();
        let first = head.chars().next().is_some_and(|c| c.is_ascii_uppercase());
        if first && digits == 2 && head.chars().all(|c| c.is_ascii_alphanumeric()) {
            found.push(head.to_owned());
        }
    }
    found
}

#[test]
fn citations_and_references_agree() {
    let bib = std::fs::read_to_string(root().join("REFERENCES.bib")).unwrap();
    let known: BTreeSet<String> = bib
        .lines()
        .filter(|line| line.starts_with('@'))
        .filter_map(|line| line.split('{').nth(1))
        .map(|key| key.trim_end_matches(',').to_owned())
        .collect();
    let mut cited = BTreeSet::new();
    for (path, text) in files("crates", &[".rs"]).unwrap() {
        for key in keys(&text) {
            assert!(known.contains(&key), "{}: [{key}] is not in REFERENCES.bib", shown(&path));
            cited.insert(key);
        }
    }
    let idle: Vec<_> = known.difference(&cited).collect();
    assert!(idle.is_empty(), "in REFERENCES.bib but never cited: {idle:?}");
    assert!(cited.len() >= 5, "found only {cited:?}: does the test still read the files?");
}
