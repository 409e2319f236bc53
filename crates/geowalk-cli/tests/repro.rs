//! `geowalk repro` at the command line.

#![allow(clippy::unwrap_used)] // a test may stop

mod support;

use serde_json::Value;
use support::Place;

#[test]
fn experiments_are_listed_carried_out_and_kept() {
    let place = Place::new("repro");
    let rows: Value = serde_json::from_str(&place.ok(&["list", "experiments", "--json"])).unwrap();
    assert!(rows.as_array().unwrap().len() >= 25);
    let args = ["repro", "theorem-8", "lemma-9", "--small", "--out", "here"];
    let first = place.ok(&args);
    assert!(
        first.contains("theorem-8") && first.contains("own checks hold") && !first.contains("kept")
    );
    for file in [
        "index.html",
        "findings.csv",
        "theorem-8/step.csv",
        "theorem-8/step.svg",
        "lemma-9/starts.csv",
    ] {
        assert!(!place.read(&format!("here/{file}")).is_empty(), "{file}");
    }
    let page = place.read("here/index.html");
    let text = String::from_utf8(page.clone()).unwrap();
    assert!(text.contains("5.7086") && text.contains("prefers-color-scheme:dark"));
    assert!(!text.contains("NaN"), "a number is missing on the page");
    // Again: nothing is done, and the page is the same.
    let second = place.ok(&args);
    assert_eq!(second.matches("kept").count(), 2);
    assert_eq!(place.read("here/index.html"), page);
    assert!(!place.ok(&[&args[..], &["--again"]].concat()).contains("kept"));
    assert_eq!(place.read("here/index.html"), page);
    // Another experiment with other flags keeps the others, each with the command that it came from.
    place.ok(&["repro", "antipode", "--small", "--seed", "3", "--out", "here"]);
    let text = String::from_utf8(place.read("here/index.html")).unwrap();
    for command in
        ["repro theorem-8 --small --out here", "repro antipode --small --seed 3 --out here"]
    {
        assert!(text.contains(command), "{command}");
    }
}

#[test]
fn a_verdict_that_fails_is_exit_code_1_and_a_name_that_is_none_2() {
    let place = Place::new("repro-fails");
    place.ok(&["repro", "antipode", "--small", "--out", "here"]);
    // As if it had been measured otherwise.
    let kept = String::from_utf8(place.read("here/antipode/outcome.json")).unwrap();
    place.write("here/antipode/outcome.json", kept.replacen("\"met\":true", "\"met\":false", 1));
    let output = place.run(&["repro", "antipode", "--small", "--out", "here"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stdout).unwrap().contains("FAILS: slope before the antipode"));
    // What cannot be read is done again.
    place.write("here/antipode/outcome.json", "{");
    assert!(!place.ok(&["repro", "antipode", "--small", "--out", "here"]).contains("kept"));
    let error = place.fails(&["repro", "no-such-thing"]);
    assert!(
        error.contains("no experiment 'no-such-thing'") && error.contains("antipode"),
        "{error}"
    );
    place.write("file", "");
    assert!(
        place.fails(&["repro", "antipode", "--small", "--out", "file"]).contains("cannot write")
    );
}
