//! Every bad input has its message: where, what was found, what was expected, what to do.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]
#![allow(clippy::format_push_string, clippy::format_collect, reason = "short beats fast here")]

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use geowalk::row::Block;
use geowalk_data::{
    DataError, Duplicates, ErrorKind, Indexing, Input, Label, OnError, Options, open,
};

fn run(options: Options) -> Result<usize, DataError> {
    let mut source = open(options)?;
    let mut block = Block::new();
    let mut rows = 0;
    loop {
        match source.read(&mut block, 7)? {
            0 => return Ok(rows),
            n => rows += n,
        }
    }
}

fn message(name: &str, text: impl Into<Vec<u8>>) -> String {
    run(Options::new([Input::text(name, text)])).unwrap_err().to_string()
}

#[test]
fn files_that_are_not_there() {
    assert_eq!(
        run(Options::new(["/no/such/a.csv"])).unwrap_err().to_string(),
        "/no/such/a.csv: No such file or directory (os error 2); a readable file expected; check the path and the rights"
    );
    assert_eq!(
        run(Options::new(["/no/such/*.csv"])).unwrap_err().to_string(),
        "/no/such/*.csv: no file fits the pattern; at least one expected; check the directory, or quote the pattern"
    );
    assert!(matches!(*run(Options::new(["[x"])).unwrap_err().kind, ErrorKind::Pattern { .. }));
    assert!(matches!(*run(Options::new([""; 0])).unwrap_err().kind, ErrorKind::NoInput));
}

#[test]
fn empty_files() {
    for name in ["a.svm", "a.vw", "a.csv", "a.jsonl", "a", "a.tsv"] {
        for text in ["", "\n\n \n", "\u{feff}"] {
            assert_eq!(
                message(name, text),
                format!(
                    "{name}: the input is empty; at least one row expected; check the path or what writes to the pipe"
                ),
                "{text:?}"
            );
        }
    }
    assert_eq!(
        message("a.svm", "# only\n# comments\n"),
        "a.svm: the input is empty; at least one row expected; check the path or what writes to the pipe"
    );
}

#[test]
fn a_line_without_end() {
    // Rows before it are read; the message names its first byte and stays short.
    let first = [
        ("a.csv", "x,y\n1,2\n"),
        ("a.svm", "1 1:1\n"),
        ("a.vw", "1 | a\n"),
        ("a.jsonl", "{\"label\": 1, \"a\": 2}\n"),
    ];
    for (name, first) in first {
        let reader = Box::new(std::io::Cursor::new(first).chain(std::io::repeat(b'a')));
        let input = Input::Reader { name: name.to_owned(), reader };
        let message = run(Options::new([input])).unwrap_err().to_string();
        let line = 1 + first.lines().count();
        assert_eq!(
            message,
            format!(
                "{name}:{line}:1: a line is longer than 256 MiB; check that this is a text file with line ends"
            )
        );
    }
}

#[test]
fn header_only() {
    assert_eq!(
        message("a.csv", "x,y\n"),
        "a.csv: a header and no rows; at least one row expected; check the file, or use --no-header if its first line is a row"
    );
}

#[test]
fn formats_that_nobody_knows() {
    assert_eq!(
        message("a.dat", "hello world\n"),
        "a.dat: cannot tell the format by name or content; one of binary, parquet, arrow, jsonl, libsvm, vw, tsv, csv expected; name it with --format"
    );
    let options = Options { format: Some("cvs".into()), ..Options::new([Input::text("a", "x")]) };
    assert_eq!(
        run(options).unwrap_err().to_string(),
        "a: unknown format 'cvs' (did you mean 'csv'?); known: binary, parquet, arrow, jsonl, libsvm, vw, tsv, csv"
    );
}

#[test]
fn no_label_column() {
    assert_eq!(
        message("a.csv", "size,color\n1,red\n"),
        "a.csv:1:1: no label column; one of class, label, target, y expected; name it with --label; columns: size, color"
    );
    let named = |label: &str, name: &str, text: &str| {
        let label = Label::Named(label.into());
        run(Options { label, ..Options::new([Input::text(name, text)]) }).unwrap_err().to_string()
    };
    assert_eq!(
        named("colour", "a.csv", "size,color\n1,red\n"),
        "a.csv:1:1: no column 'colour' for the label; name it with --label; columns: size, color"
    );
    assert_eq!(
        message("a.jsonl", "{\"size\": 1, \"color\": \"red\"}\n"),
        "a.jsonl: no label column; one of class, label, target, y expected; name it with --label; columns: size, color"
    );
    assert_eq!(
        named("z", "a.jsonl", "{\"y\": 1}\n"),
        "a.jsonl:1:1: no label; one expected; drop the row, or skip bad rows with --on-error skip"
    );
}

#[test]
fn numbers_that_are_not_finite() {
    let advice = "a finite number expected; correct it, or skip bad rows with --on-error skip";
    for (name, text, place) in [
        ("a.svm", "1 1:1\n1 2:nan\n", "a.svm:2:5: the value of feature 2 is 'nan'"),
        ("a.svm", "1 1:1e999\n", "a.svm:1:5: the value of feature 1 is '1e999'"),
        ("a.svm", "inf 1:1\n", "a.svm:1:1: the label is 'inf'"),
        ("a.svm", "spam 1:1\n", "a.svm:1:1: the label is 'spam'"),
        ("a.vw", "1 |f a:inf\n", "a.vw:1:8: the value of feature a is 'inf'"),
        ("a.vw", "1 |f:x a\n", "a.vw:1:6: the weight of namespace f is 'x'"),
        ("a.vw", "1 |f:1e300 1:1e300\n", "a.vw:1:14: the value of feature 1 is '1e300'"),
        ("a.vw", "1 x |f a\n", "a.vw:1:3: the importance weight is 'x'"),
        ("a.vw", "nan |f a\n", "a.vw:1:1: the label is 'nan'"),
        ("a.csv", "x,y\n1,0\ninf,1\n", "a.csv:3:1: the value of feature x is 'inf'"),
        ("a.csv", "x,y\n1,0\n1,inf\n", "a.csv:3:3: the label is 'inf'"),
        ("a.jsonl", "{\"y\":1,\"x\":inf}\n", "a.jsonl:1:12: the value of feature x is 'inf'"),
        (
            "a.jsonl",
            "{\"y\":1,\"x\":[1,1e999]}\n",
            "a.jsonl:1:15: the value of feature x[1] is '1e999'",
        ),
        ("a.jsonl", "{\"y\":inf}\n", "a.jsonl:1:6: the label is 'inf'"),
    ] {
        assert_eq!(message(name, text), format!("{place}; {advice}"));
    }
}

#[test]
fn libsvm_indices() {
    let rows = "1 1:1\n".repeat(2000);
    assert_eq!(
        message("a.svm", format!("{rows}1 0:1 1:1\n")),
        "a.svm:2001:3: index 0, while the first 1000 rows have indices from 1; indices from 1 expected; read the file with --index-base 0"
    );
    assert_eq!(
        message("a.svm", "1 3:1 1:1 3:2\n"),
        "a.svm:1:11: index 3 occurs twice; distinct indices in a row expected; correct the row, or add equal indices up with --duplicates add"
    );
    let twice = || Options::new([Input::text("a.svm", "1 3:1 1:1 3:2\n")]);
    assert_eq!(run(Options { duplicates: Duplicates::Add, ..twice() }).unwrap(), 1);
    let hashed = Options {
        indexing: Indexing::Hashed(24),
        ..Options::new([Input::text("a.svm", "1 1000000000:1")])
    };
    assert_eq!(run(hashed).unwrap(), 1);
    assert_eq!(
        message("a.svm", "1 1:1 x:2\n"),
        "a.svm:1:7: 'x:2'; index:value expected; correct it, or name the format with --format"
    );
    let base = Options { index_base: Some(2), ..twice() };
    assert_eq!(run(base).unwrap_err().to_string(), "a.svm: index-base = 2; it must be in [0, 1]");
}

#[test]
fn libsvm_refusals() {
    assert_eq!(
        message("a.svm", "3,7 1:1\n"),
        "a.svm:1:1: '3,7' is a list of labels; one label expected; keep one, or make a row or a file per label"
    );
    assert_eq!(
        message("a.svm", "1 qid:4 1:1\n"),
        "a.svm:1:3: 'qid:4' groups rows for ranking; features expected; ranking is not learned here: remove the qid fields"
    );
    assert_eq!(
        message("a.svm", "1:1 2:1\n"),
        "a.svm:1:1: no label; one expected; drop the row, or skip bad rows with --on-error skip"
    );
}

#[test]
fn vw_refusals() {
    assert_eq!(
        message("a.vw", "1 2 0.5 |f a\n"),
        "a.vw:1:5: '0.5' is an initial prediction (label importance base); at most two numbers before '|' expected; remove it: predictions begin at 0"
    );
    assert_eq!(
        message("a.vw", "1|f a\n"),
        "a.vw:1:1: '1|' makes '1' a tag and leaves the row without a label; a blank before '|' expected; write '1 |', or ''1|' for a tag"
    );
    assert_eq!(
        message("a.vw", "1 -2 |f a\n"),
        "a.vw:1:3: importance weight -2; a number >= 0 expected; correct it, or skip bad rows with --on-error skip"
    );
    let bits =
        Options { indexing: Indexing::Hashed(40), ..Options::new([Input::text("a.vw", "1 |f a")]) };
    assert_eq!(run(bits).unwrap_err().to_string(), "a.vw: bits = 40; it must be in [1, 30]");
}

#[test]
fn names_that_are_not_utf_8() {
    let advice = "is not UTF-8; UTF-8 expected; convert the file (iconv -f latin1 -t utf-8)";
    for (name, text, place) in [
        ("a.vw", &b"1 |f a caf\xe9\n"[..], "a.vw:1:8: the name 'caf\u{fffd}'"),
        ("a.csv", b"caf\xe9,y\n1,2\n", "a.csv:1:1: the name 'caf\u{fffd}'"),
        ("a.csv", b"x,y\nb,1\ncaf\xe9,2\n", "a.csv:3:1: the name 'x=caf\u{fffd}'"),
        ("a.jsonl", b"{\"y\":1,\"x\":\"\xe9\"}\n", "a.jsonl:1:12: the name 'x=\u{fffd}'"),
    ] {
        assert_eq!(message(name, text), format!("{place} {advice}"));
    }
    // Elsewhere the bytes do not matter.
    assert_eq!(run(Options::new([Input::text("a.svm", &b"1 1:1 # caf\xe9\n"[..])])).unwrap(), 1);
}

#[test]
fn truncated_and_damaged_streams() {
    let text: String = (1..200_000).map(|k| format!("1 {k}:0.5\n")).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 1).unwrap();
    for (whole, kind) in [(gzip, "gzip"), (zstd, "zstd")] {
        assert_eq!(run(Options::new([Input::text("a.svm", whole.clone())])).unwrap(), 199_999);
        let half = whole[..whole.len() / 2].to_vec();
        let mut source = open(Options::new([Input::text("a.svm", half)])).unwrap();
        let mut block = Block::new();
        let mut rows = 0;
        let error = loop {
            match source.read(&mut block, 1000) {
                Ok(n) => rows += n,
                Err(error) => break error,
            }
        };
        assert!(rows > 1000, "the rows before the end are delivered: {rows}");
        assert_eq!(error.position.unwrap().line, rows as u64 + 1);
        let text = error.to_string();
        assert!(
            text.ends_with(&format!("the {kind} stream stops in the middle; a whole file expected; fetch or compress it again")),
            "{text}"
        );
        assert_eq!(source.read(&mut block, 1000).unwrap(), 0, "then it is over");
    }
    let mut bad = vec![0x1f, 0x8b];
    bad.extend_from_slice(&[0xff; 100]);
    assert!(message("a.svm", bad).contains("the gzip stream is damaged"));
}

#[test]
fn tables_out_of_shape() {
    let ragged =
        "expected, as in the header; correct the row, or skip bad rows with --on-error skip";
    assert_eq!(message("a.csv", "a,b,y\n1,2,3\n1,2\n"), format!("a.csv:3:4: 2 fields; 3 {ragged}"));
    assert_eq!(
        message("a.csv", "a,b,y\n1,2,3\n1,x,3,4\n"),
        format!("a.csv:3:7: 4 fields; 3 {ragged}")
    );
    assert_eq!(
        message("a.csv", "a,y\nb,1\n\"c,2\nd,3\n"),
        "a.csv:3:1: this quote is never closed; a second '\"' expected; double a quote that is meant literally (\"\"), or skip bad rows with --on-error skip"
    );
    assert_eq!(
        message("a.csv", "a,y\n\"b\" c,1\n"),
        "a.csv:2:4: ' c' after a closing quote; a separator expected; double a quote that is meant literally (\"\")"
    );
    assert_eq!(
        message("a.csv", "a,a,y\n1,2,3\n"),
        "a.csv:1:1: column 'a' occurs twice; distinct names expected; rename one, or use --no-header if the first line is a row"
    );
    assert_eq!(
        message("a.csv", "a,y\n1,\n"),
        "a.csv:2:3: no label; one expected; drop the row, or skip bad rows with --on-error skip"
    );
    let rows = "1,0\n".repeat(2000);
    assert_eq!(
        message("a.csv", format!("x,y\n{rows}red,0\n")),
        "a.csv:2002:1: 'red' in column 'x', which has held numbers so far; say --missing 'red' if it means missing, --nominal 'x' if the column holds names, or skip bad rows with --on-error skip"
    );
    let ignore =
        Options { ignore: vec!["z".into()], ..Options::new([Input::text("a.csv", "x,y\n1,2\n")]) };
    assert_eq!(
        run(ignore).unwrap_err().to_string(),
        "a.csv:1:1: no column 'z'; the file has x, y; correct the name"
    );
    let two =
        Options::new([Input::text("a.csv", "x,y\n1,2\n"), Input::text("b.csv", "x,z\n1,2\n")]);
    assert_eq!(
        run(two).unwrap_err().to_string(),
        "b.csv:1:1: the header differs from the first file's: 'z' instead of 'y' in column 2; equal headers expected; read the files apart"
    );
}

#[test]
fn json_out_of_shape() {
    let advice = "expected; one JSON object per line, as written by jq -c";
    for (text, place) in [
        ("[1]", "a.jsonl:1:1: '['; an object"),
        ("{\"y\":1", "a.jsonl:1:7: 'the end of the line'; ',' or '}'"),
        ("{\"y\":1} x", "a.jsonl:1:9: 'x'; the end of the line"),
        ("{y:1}", "a.jsonl:1:2: 'y'; a name in quotes"),
        ("{\"y\" 1}", "a.jsonl:1:6: '1'; ':'"),
        ("{\"y\":1,\"x\":zzz}", "a.jsonl:1:12: 'zzz'; a value"),
        ("{\"y\":1,\"x\":\"abc", "a.jsonl:1:16: 'the end of the line'; a closing '\"'"),
    ] {
        let options = Options {
            label: Label::Named("y".into()),
            ..Options::new([Input::text("a.jsonl", text)])
        };
        assert_eq!(run(options).unwrap_err().to_string(), format!("{place} {advice}"));
    }
    let deep = format!("{{\"y\":1,\"x\":{}{}}}", "[".repeat(100), "]".repeat(100));
    assert!(message("a.jsonl", deep).contains("nesting of at most 64 levels expected"));
    assert_eq!(
        message("a.jsonl", "{\"y\":1}\n{\"y\":2}\n{\"y\":null}\n"),
        "a.jsonl:3:6: no label; one expected; drop the row, or skip bad rows with --on-error skip"
    );
}

#[test]
fn a_line_of_ten_megabytes() {
    let mut svm = String::from("1");
    let mut vw = String::from("1 |f");
    for k in 1..=700_000 {
        svm.push_str(&format!(" {k}:0.12345"));
        vw.push_str(&format!(" {k}:0.12345"));
    }
    assert!(svm.len() > 10_000_000);
    for (name, text) in [("a.svm", svm), ("a.vw", vw)] {
        let mut source = open(Options::new([Input::text(name, text)])).unwrap();
        let mut block = Block::new();
        assert_eq!(source.read(&mut block, 10).unwrap(), 1);
        assert!(block.stored() > 240_000);
    }
    let csv = format!("a,y\n\"{}\",1\n", "line\n".repeat(2_000_000));
    assert_eq!(run(Options::new([Input::text("a.csv", csv)])).unwrap(), 1);
}

/// A writer that can be looked into.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn bad_rows_can_be_left_out() {
    let text = "y,x,c\n1,2,a\n1,oops\n\"3,4,b\n5,6,\"c\nd\"\n7,,e\nz,9,f\n8,9,g\n";
    let bin = Shared::default();
    let on_error = OnError::Quarantine(Box::new(bin.clone()));
    let options = Options {
        on_error,
        label: Label::Named("y".into()),
        ..Options::new([Input::text("a.csv", text.replace("z,9,f", "inf,9,f"))])
    };
    let mut source = open(options).unwrap();
    let mut block = Block::new();
    assert_eq!(source.read(&mut block, 100).unwrap(), 4);
    assert_eq!(block.labels(), [1.0, 5.0, 7.0, 8.0]);
    assert_eq!(source.skipped().rows(), 3);
    let lines: Vec<u64> =
        source.skipped().first().iter().map(|e| e.position.unwrap().line).collect();
    // The stray quote of line 4 is noticed where it closes.
    assert_eq!(lines, [3, 5, 8]);
    assert_eq!(
        String::from_utf8(bin.0.lock().unwrap().clone()).unwrap(),
        "1,oops\n\"3,4,b\ninf,9,f\n"
    );

    let many: String = (0..100).map(|k| format!("1 {k}:x\n")).collect();
    let options = Options { on_error: OnError::Skip, ..Options::new([Input::text("a.svm", many)]) };
    let mut source = open(options).unwrap();
    assert_eq!(source.read(&mut block, 100).unwrap(), 0);
    assert_eq!((source.skipped().rows(), source.skipped().first().len()), (100, 10));
}
