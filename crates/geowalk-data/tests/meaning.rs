//! What rows mean, format by format.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

use geowalk::row::{Block, Row};
use geowalk_data::{
    Column, DataError, Features, Index, Indexing, Input, Kind, Label, Labels, Options, Schema,
    Source, Task, open,
};

type Rows = Vec<(f64, f64, Vec<(String, f64)>)>;

/// All rows: label, weight, and features by name (by number where there is no name).
fn rows(source: &mut dyn Source) -> Result<Rows, DataError> {
    let mut block = Block::new();
    let mut out = Vec::new();
    while source.read(&mut block, 3)? > 0 {
        for i in 0..block.len() {
            let mut features = Vec::new();
            let mut add = |index: usize, value: f64| {
                let index = u32::try_from(index).unwrap();
                let name = source.schema().features().name(index);
                features.push((name.map_or(index.to_string(), Into::into), value));
            };
            match block.columns() {
                Some(_) => block.dense(i).each(&mut add),
                None => block.sparse(i).each(&mut add),
            }
            out.push((block.labels()[i], block.weights()[i], features));
        }
    }
    Ok(out)
}

fn all(options: Options) -> Rows {
    rows(&mut *open(options).unwrap()).unwrap()
}

fn read(name: &str, text: &str) -> Rows {
    all(Options::new([Input::text(name, text)]))
}

fn row(label: f64, features: &[(&str, f64)]) -> (f64, f64, Vec<(String, f64)>) {
    (label, 1.0, features.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect())
}

#[test]
fn libsvm() {
    let found = read("a.svm", "# head\n+1 3:0.5\t1:-2e1 # tail\r\n\n-1.5\n0 7:123456789.25#x\n");
    let expected =
        [row(1.0, &[("3", 0.5), ("1", -20.0)]), row(-1.5, &[]), row(0.0, &[("7", 123_456_789.25)])];
    assert_eq!(found, expected);
    assert_eq!(read("a.svm", "1 1:1\n1 0:3\n"), [row(1.0, &[("1", 1.0)]), row(1.0, &[("0", 3.0)])]);
    let source = open(Options::new([Input::text("a.svm", "1 1:1\n1 0:3\n")])).unwrap();
    assert!(matches!(
        source.schema().features(),
        Features::Index(Index { base: 0, detected: true })
    ));
    let unlabelled =
        Options { unlabelled: true, ..Options::new([Input::text("a.svm", "2:1\n1 2:1\n")]) };
    let found = all(unlabelled);
    assert!(found[0].0.is_nan() && found[1].0 == 1.0);
}

#[test]
fn vw() {
    let exact = |text: &str| {
        all(Options { indexing: Indexing::Exact, ..Options::new([Input::text("a.vw", text)]) })
    };
    let found = exact("1 2.5 'tag |a x:0.5 y |b:2 x:3 7 |c\n-1 tag|a x:-1.25\n2 | x 12:2 :5 :6\n");
    let mut first = row(1.0, &[("a^x", 0.5), ("a^y", 1.0), ("b^x", 6.0), ("b^7", 2.0)]);
    first.1 = 2.5;
    let third = row(2.0, &[("x", 1.0), ("12", 2.0), ("0", 5.0), ("1", 6.0)]);
    assert_eq!(found, [first, row(-1.0, &[("a^x", -1.25)]), third]);
    let found = exact("|a x|b y\n'tag |a x\n\n3\n");
    assert_eq!(found.len(), 3);
    assert!(found[0].0.is_nan() && found[1].0.is_nan());
    assert_eq!(found[0].2, row(0.0, &[("a^x", 1.0), ("b^y", 1.0)]).2);
    assert_eq!(found[2], row(3.0, &[]));
    // Equal names are added up.
    assert_eq!(exact("1 |a x:1 x:2"), [row(1.0, &[("a^x", 3.0)])]);
    // By hash: numbers without namespace are their own index; names come back.
    let found = read("a.vw", "1 | 5:0.5 17 100000000:2 |f word:2\n");
    let expected = row(1.0, &[("5", 0.5), ("17", 1.0), ("100000000", 2.0), ("f^word", 2.0)]);
    assert_eq!(found, [expected]);
}

#[test]
fn tables() {
    let text =
        "size,color,class,none\n1.5,red,yes,\n0,\"light, blue\",no,\n , red ,yes,\n-2,,no,7\n";
    let found = read("a.csv", text);
    let expected = [
        row(0.0, &[("size", 1.5), ("color=red", 1.0), ("none=missing", 1.0)]),
        row(1.0, &[("color=light, blue", 1.0), ("none=missing", 1.0)]),
        row(0.0, &[("size=missing", 1.0), ("color=red", 1.0), ("none=missing", 1.0)]),
        row(1.0, &[("size", -2.0), ("color=missing", 1.0), ("none", 7.0)]),
    ];
    // "none" is numeric: its only value in the sample is.
    assert_eq!(found, expected);
    let source = open(Options::new([Input::text("a.csv", text)])).unwrap();
    let kinds: Vec<Kind> = source.schema().columns().iter().map(|c| c.kind).collect();
    assert_eq!(kinds, [Kind::Numeric, Kind::Nominal, Kind::Label, Kind::Numeric]);
    assert_eq!(source.schema().label(), Some("class"));

    let tsv = read("a.tsv", "class\ttext\nham\t\"quoted, or not\n");
    assert_eq!(tsv, [row(0.0, &[("text=\"quoted, or not", 1.0)])]);

    let options = Options {
        header: false,
        label: Label::Named("1".into()),
        nominal: vec!["3".into()],
        ignore: vec!["2".into()],
        missing: vec!["?".into()],
        ..Options::new([Input::text("a.csv", "1,x,5,?\n2,y,6,4\n")])
    };
    let expected =
        [row(1.0, &[("3=5", 1.0), ("4=missing", 1.0)]), row(2.0, &[("3=6", 1.0), ("4", 4.0)])];
    assert_eq!(all(options), expected);
}

#[test]
fn dense_tables_become_sparse_at_the_first_missing_field() {
    let many = "1,2,3\n".repeat(1500);
    let text = format!("a,y,b\n{many}4,5,\n\"0\",7,8\n");
    let mut source = open(Options::new([Input::text("a.csv", text)])).unwrap();
    let mut block = Block::new();
    assert_eq!(source.read(&mut block, 5000).unwrap(), 1500);
    assert_eq!(block.columns(), Some(2));
    assert_eq!(source.read(&mut block, 5000).unwrap(), 2);
    assert_eq!(block.columns(), None);
    let mut found = Vec::new();
    block.sparse(0).each(|i, x| found.push((i, x)));
    block.sparse(1).each(|i, x| found.push((i, x)));
    assert_eq!(found, [(0, 4.0), (2, 1.0), (1, 8.0)]);
    assert_eq!(source.schema().features().name(2).as_deref(), Some("b=missing"));
}

#[test]
fn columns_empty_in_the_sample_are_decided_later() {
    let many = ",,1\n".repeat(1500);
    let text = format!("a,b,y\n{many}4,x,1\n5,y,1\n");
    let found = read("a.csv", &text);
    assert_eq!(found[0], row(1.0, &[("a=missing", 1.0), ("b=missing", 1.0)]));
    assert_eq!(found[1501], row(1.0, &[("a", 5.0), ("b=y", 1.0)]));
}

#[test]
fn json_lines() {
    let text = r#"{"y": 1, "a": {"b": [1, 0, {"c": true}], "d": false}, "s": "x\ty", "n": null}
{ "s" : "é" , "y":2.5e0, "big": 12345678901234567890 }
"#;
    let expected = [
        row(1.0, &[("a.b[0]", 1.0), ("a.b[2].c", 1.0), ("s=x\ty", 1.0), ("n=missing", 1.0)]),
        row(2.5, &[("s=é", 1.0), ("big", 12_345_678_901_234_567_890.0)]),
    ];
    assert_eq!(read("a.jsonl", text), expected);
    let named = "{\"label\":\"yes\",\"x\":1}\n{\"label\":\"no\",\"x\":2}\n{\"label\":\"yes\"}\n";
    let mut source = open(Options::new([Input::text("a", named)])).unwrap();
    let labels: Vec<f64> = rows(&mut *source).unwrap().iter().map(|r| r.0).collect();
    assert_eq!(labels, [0.0, 1.0, 0.0]);
    assert_eq!(source.schema().labels().name(1.0), Some("no"));
    let said = Task::infer(source.schema().labels(), &labels);
    assert_eq!(said.to_string(), "binary, because the labels are 2 names");
    let options = Options {
        nominal: vec!["x".into()],
        ignore: vec!["label".into()],
        label: Label::Absent,
        ..Options::new([Input::text("a.jsonl", named)])
    };
    let found = all(options);
    assert!(found[0].0.is_nan());
    assert_eq!(found[1].2, [("x=2".to_owned(), 1.0)]);
}

#[test]
fn the_same_names_get_the_same_numbers_again() {
    let mut source =
        open(Options::new([Input::text("a.csv", "a,c,y\n1,red,no\n2,blue,yes\n")])).unwrap();
    rows(&mut *source).unwrap();
    let old = source.schema();
    let Features::Exact(names) = old.features() else { panic!("exact by default") };
    let Labels::Names(classes) = old.labels() else { panic!("class names") };
    // What a model file would keep.
    let names: Vec<String> = names.names().map(str::to_owned).collect();
    let classes: Vec<String> = classes.names().map(str::to_owned).collect();
    let columns: Vec<Column> = old.columns().to_vec();
    let dictionary = |names: &[String]| {
        geowalk_data::Dictionary::from_names(names.iter().map(String::as_str)).unwrap()
    };
    let schema = || {
        Schema::from_parts(
            Features::Exact(dictionary(&names)),
            Labels::Names(dictionary(&classes)),
            columns.clone(),
        )
    };
    // Another order of columns and rows, a new color, one column more.
    let text = "y,id,c,a\nyes,7,green,3\nno,8,blue,4\n";
    let again = || Options { schema: Some(schema()), ..Options::new([Input::text("b.csv", text)]) };
    assert!(open(again()).unwrap_err().to_string().contains("column 'id' is not in the schema"));
    let mut source = open(Options { ignore: vec!["id".into()], ..again() }).unwrap();
    let mut block = Block::new();
    source.read(&mut block, 10).unwrap();
    assert_eq!(block.labels(), [1.0, 0.0]);
    let mut found = Vec::new();
    block.sparse(0).each(|i, x| found.push((i, x)));
    block.sparse(1).each(|i, x| found.push((i, x)));
    assert_eq!(found, [(3, 1.0), (0, 3.0), (2, 1.0), (0, 4.0)]);
    // To predict, the label may be missing.
    let text = "c,a\nred,3\n";
    let options = Options {
        schema: Some(schema()),
        unlabelled: true,
        ..Options::new([Input::text("c.csv", text)])
    };
    assert!(all(options)[0].0.is_nan());
}

#[test]
fn several_files_patterns_and_content() {
    let directory = std::env::temp_dir().join(format!("geowalk-data-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for (name, text) in [("part-2", "x,y\n3,4"), ("part-1", "x,y\r\n1,2\r\n"), ("part-3", "x,y\n")]
    {
        std::fs::write(directory.join(name), text).unwrap();
    }
    let pattern = directory.join("part-*").to_string_lossy().into_owned();
    let found = all(Options::new([pattern.as_str()]));
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(found, [row(2.0, &[("x", 1.0)]), row(4.0, &[("x", 3.0)])]);

    for (text, format) in [
        ("{\"y\":1}", "json"),
        ("# comment\n1 2:3", "libsvm"),
        ("1 |a b", "vw"),
        ("a\ty\n1\t2", "tsv"),
        ("a|b,y\n1,2", "csv"),
    ] {
        assert_eq!(read("-name-without-hint", text).len(), 1, "{format}");
    }
}

#[test]
fn a_cell_that_reads_missing_is_a_name() {
    let gap = row(0.0, &[("color=missing", 1.0)]);
    let name = row(1.0, &[("color=\"missing\"", 1.0)]);
    let quoted = row(1.0, &[("color=\"\"missing\"\"", 1.0)]);
    for (file, text) in [
        ("a.csv", "color,y\n,0\nmissing,1\n\"\"\"missing\"\"\",1\n"),
        ("a.tsv", "color\ty\n\t0\nmissing\t1\n\"missing\"\t1\n"),
        (
            "a.jsonl",
            "{\"color\":null,\"y\":0}\n{\"color\":\"missing\",\"y\":1}\n{\"color\":\"\\\"missing\\\"\",\"y\":1}\n",
        ),
    ] {
        let expected = [gap.clone(), name.clone(), quoted.clone()];
        assert_eq!(read(file, text), expected, "{file}");
        let hashed =
            Options { indexing: Indexing::Hashed(18), ..Options::new([Input::text(file, text)]) };
        assert_eq!(all(hashed), expected, "{file}");
    }
}
