//! The README says what its first command prints. It does.

#![allow(clippy::unwrap_used)] // a test may stop

use std::path::Path;
use std::process::Command;

#[test]
fn the_first_command_prints_what_the_readme_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let block = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(block.lines().count() >= 8, "the README has no summary any more: {block}");

    let model = Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme.gw");
    let ran = Command::new(env!("CARGO_BIN_EXE_geowalk"))
        .current_dir(&root)
        .args(["train", "data/breast-cancer.csv", "--progress", "none", "--model"])
        .arg(&model)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let printed = String::from_utf8(ran.stdout).unwrap();
    for line in block.lines() {
        assert!(
            printed.contains(line),
            "the README says\n{line}\nbut the command printed\n{printed}"
        );
    }
}

/// The certificate of a joint softmax reports the loss that was reported, not that of its parts.
#[test]
fn the_certificate_of_several_classes_speaks_of_the_reported_loss() {
    let row = |k: u32| format!("{} |f a:{} b:{}", k % 3, k % 3, k % 5);
    let rows: Vec<String> = (0..60).map(row).collect();
    let data = Path::new(env!("CARGO_TARGET_TMPDIR")).join("three-classes.vw");
    std::fs::write(&data, rows.join("\n")).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_geowalk"))
        .args(["train", "--task", "multiclass", "--json", "--progress", "none"])
        .arg(&data)
        .output()
        .unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let (average, total) = (&summary["loss"], &summary["certificate"]["loss"]);
    let off = average.as_f64().unwrap() * 60.0 - total.as_f64().unwrap();
    assert!(off.abs() < 1e-9, "{average} on average, {total} in all");
}
