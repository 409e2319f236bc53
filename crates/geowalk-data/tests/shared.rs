//! Real files, where they are at hand: `$GEOWALK_SHARED/data` or `../shared/data` beside the workspace, with a
//! `manifest.csv` that says how many rows each has.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

use std::collections::HashMap;
use std::path::PathBuf;

use geowalk::row::Block;
use geowalk_data::{Features, Indexing, Label, Options, Task, open};

fn data() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared");
    let shared = std::env::var_os("GEOWALK_SHARED").unwrap_or_else(|| beside.into());
    let data = PathBuf::from(shared).join("data");
    if data.join("manifest.csv").exists() {
        return Some(data);
    }
    println!("skipped: no data in {} (set GEOWALK_SHARED)", data.display());
    None
}

/// Rows and features per file. The manifest is itself a table, so the reader reads it.
fn manifest(data: &std::path::Path) -> HashMap<String, usize> {
    let options = Options {
        label: Label::Named("rows".into()),
        ..Options::new([data.join("manifest.csv").to_string_lossy().into_owned()])
    };
    let mut source = open(options).unwrap();
    let mut block = Block::new();
    let mut rows = HashMap::new();
    while source.read(&mut block, 1).unwrap() > 0 {
        let Features::Exact(names) = source.schema().features() else { panic!("exact by default") };
        let file = names.names().filter_map(|n| n.strip_prefix("file=")).last().unwrap().to_owned();
        rows.insert(file, block.labels()[0].round().to_string().parse().unwrap());
    }
    rows
}

#[test]
fn row_counts_are_those_of_the_manifest() {
    let Some(data) = data() else { return };
    let manifest = manifest(&data);
    assert!(manifest.len() > 100);
    for (file, label, task) in [
        ("uci/iris.csv", Label::Guess, "multiclass"),
        ("uci/adult-test.csv.gz", Label::Guess, "binary"),
        ("uci/anneal.csv", Label::Guess, "multiclass"),
        ("uci/audiology.csv", Label::Guess, "multiclass"),
        ("uci/flags.csv", Label::Guess, "multiclass"),
        ("uci/soybean.csv", Label::Guess, "multiclass"),
        ("uci/hypothyroid.csv.gz", Label::Guess, "multiclass"),
        ("uci/thyroid-disease.csv.gz", Label::Guess, "multiclass"),
        ("streams/elec2.csv.gz", Label::Guess, "binary"),
        ("streams/beijing-pm25.csv.gz", Label::Guess, "regression"),
        ("series/us-macro.csv", Label::Guess, "regression"),
        ("sparse/a9a-test.svm.gz", Label::Guess, "binary"),
        ("sparse/agaricus-train.svm.gz", Label::Guess, "binary"),
        ("sparse/newsgroups20.svm.gz", Label::Guess, "multiclass"),
        ("sparse/rcv1-small-train.svm.gz", Label::Guess, "binary"),
        ("sparse/rcv1-small-train.vw.gz", Label::Guess, "binary"),
        ("sparse/avazu-tiny.csv", Label::Guess, "binary"),
        ("sparse/criteo-tiny.csv.gz", Label::Guess, "binary"),
        ("sparse/subjectivity.tsv.gz", Label::Guess, "binary"),
        ("sparse/sentence-polarity.tsv.gz", Label::Guess, "binary"),
        ("experts/football-odds.csv.gz", Label::Guess, "multiclass"),
        ("portfolios/djia.csv.gz", Label::Absent, "regression"),
    ] {
        let path = data.join(file).to_string_lossy().into_owned();
        let mut source = open(Options { label, unlabelled: true, ..Options::new([path]) })
            .unwrap_or_else(|error| panic!("{error}"));
        let mut block = Block::new();
        let mut rows = 0;
        let mut said = None;
        loop {
            match source.read(&mut block, 1000).unwrap_or_else(|error| panic!("{error}")) {
                0 => break,
                n => rows += n,
            }
            said.get_or_insert_with(|| Task::infer(source.schema().labels(), block.labels()));
        }
        let said = said.unwrap();
        println!("{file}: {rows} rows; {said}");
        assert_eq!(Some(&rows), manifest.get(file), "{file}");
        assert_eq!(said.task.name(), task, "{file}: {said}");
    }
}

#[test]
fn the_same_data_in_two_formats() {
    let Some(data) = data() else { return };
    let read = |file: &str, indexing| {
        let path = data.join(file).to_string_lossy().into_owned();
        let mut source = open(Options { indexing, ..Options::new([path]) }).unwrap();
        let mut block = Block::new();
        source.read(&mut block, 2000).unwrap();
        block
    };
    let svm = read("sparse/rcv1-small-train.svm.gz", Indexing::Usual);
    let vw = read("sparse/rcv1-small-train.vw.gz", Indexing::Exact);
    assert_eq!((svm.len(), svm.stored()), (1000, vw.stored()));
    assert_eq!(svm.labels(), vw.labels());
    for (i, label) in svm.labels().iter().enumerate() {
        use geowalk::row::Row;
        let (mut a, mut b) = (Vec::new(), Vec::new());
        svm.sparse(i).each(|_, x| a.push(x.to_bits()));
        vw.sparse(i).each(|_, x| b.push(x.to_bits()));
        assert_eq!(a, b, "row {i} of label {label}: 0.05 and 5.0e-02 are one number");
    }
}

#[test]
fn multi_label_data_are_refused() {
    let Some(data) = data() else { return };
    let path = data.join("sparse/reuters21578.svm.gz").to_string_lossy().into_owned();
    let mut source = open(Options::new([path])).unwrap();
    let mut block = Block::new();
    let error = loop {
        match source.read(&mut block, 1000) {
            Ok(0) => panic!("read to the end"),
            Ok(_) => {}
            Err(error) => break error.to_string(),
        }
    };
    assert!(error.contains("is a list of labels"), "{error}");
}
