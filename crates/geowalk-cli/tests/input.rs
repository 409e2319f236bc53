//! What comes in: the same table in every format leaves the same model; text, weights and indices; bad input by file and line.

#![allow(clippy::unwrap_used, clippy::format_collect, clippy::format_push_string)] // test code

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

/// A directory of its own, in which commands run.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("input-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.join(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.0.join(name)).unwrap()
    }

    /// Runs a command with this on its standard input.
    fn piped(&self, args: &[&str], input: &[u8]) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_geowalk"))
            .current_dir(&self.0)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || pipe.write_all(&input));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join(); // the command may have had enough before the end
        output
    }

    /// Standard output and standard error of a command that succeeds.
    fn ok(&self, args: &[&str]) -> (String, String) {
        let output = self.piped(args, b"");
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        (text(&output.stdout), text(&output.stderr))
    }

    /// The summary of a training.
    fn summary(&self, args: &[&str]) -> Value {
        let args = [&["train", "--json", "--progress", "none"], args].concat();
        serde_json::from_str(&self.ok(&args).0).unwrap()
    }

    /// Training on these bytes fails with one line that has these parts.
    fn refuses(&self, file: &str, bytes: impl AsRef<[u8]>, flags: &[&str], parts: &[&str]) {
        self.write(file, bytes);
        let args = [&["train", file, "--progress", "none"], flags].concat();
        let output = self.piped(&args, b"");
        let message = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message}");
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn column<T>(rows: usize, value: impl Fn(usize) -> T) -> Vec<T> {
    (0..rows).map(value).collect()
}

/// A table with numbers, missing ones, names, truth values and free text; and the same as CSV.
fn table(rows: usize) -> (RecordBatch, String) {
    let size = |k: usize| (!k.is_multiple_of(4)).then_some((k % 10) as f64 / 7.0);
    let count = |k: usize| i32::try_from(k % 13).unwrap();
    let color = |k: usize| (!k.is_multiple_of(5)).then_some(["red", "green", "blue"][k % 3]);
    let note = |k: usize| format!("Note {k}, it's about {}", ["cats", "dogs"][k % 2]);
    let class = |k: usize| ["spam", "ham"][k % 2];
    let batch = RecordBatch::try_from_iter([
        ("size", Arc::new(Float64Array::from(column(rows, size))) as ArrayRef),
        ("count", Arc::new(Int32Array::from(column(rows, count))) as ArrayRef),
        ("color", Arc::new(StringArray::from(column(rows, color))) as ArrayRef),
        ("odd", Arc::new(BooleanArray::from(column(rows, |k| k % 3 == 1))) as ArrayRef),
        ("note", Arc::new(StringArray::from(column(rows, note))) as ArrayRef),
        ("class", Arc::new(StringArray::from(column(rows, class))) as ArrayRef),
    ])
    .unwrap();
    let mut csv = "size,count,color,odd,note,class\n".to_owned();
    for k in 0..rows {
        let size = size(k).map(|x| x.to_string()).unwrap_or_default();
        let color = color(k).unwrap_or_default();
        let (odd, note) = (k % 3 == 1, note(k));
        csv += &format!("{size},{},{color},{odd},\"{note}\",{}\n", count(k), class(k));
    }
    (batch, csv)
}

fn parquet(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn stream(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

fn feather(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn the_same_table_leaves_the_same_model() {
    let place = Place::new("table");
    let (batch, csv) = table(3000);
    place.write("a.csv", &csv);
    place.write("a.tsv", csv.replace('"', "").replace(", it", "; it").replace(',', "\t"));
    place.write("a.parquet", parquet(&batch));
    place.write("a.arrow", stream(&batch));
    place.write("a.feather", feather(&batch));
    place.write("1.parquet", parquet(&batch.slice(0, 1234)));
    place.write("2.parquet", parquet(&batch.slice(1234, 3000 - 1234)));
    let (_, said) = place.ok(&["train", "a.csv", "--model", "csv"]);
    assert!(
        said.contains("text: column 'note' is split into words, because 1000 of 1000"),
        "{said}"
    );
    let whole = place.read("csv");
    for files in
        [&["a.tsv"][..], &["a.parquet"], &["a.arrow"], &["a.feather"], &["1.parquet", "2.parquet"]]
    {
        let (_, other) = place.ok(&[&["train", "--model", "m"], files].concat());
        assert_eq!(other, said, "{files:?}");
        assert!(place.read("m") == whole, "{files:?}");
        let predicted = place.ok(&[&["predict", "csv"], files].concat()).0;
        assert!(predicted == place.ok(&["predict", "m", "a.csv"]).0, "{files:?}");
    }
    for bytes in [csv.as_bytes(), &parquet(&batch), &stream(&batch), &feather(&batch)] {
        let output = place.piped(&["train", "-", "--model", "piped"], bytes);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(place.read("piped") == whole);
    }
    place.ok(&["train", "1.parquet", "--model", "part"]);
    place.ok(&["train", "2.parquet", "--resume", "part", "--model", "part"]);
    assert!(place.read("part") == whole);
}

#[test]
fn free_text() {
    let place = Place::new("text");
    let row = |k: usize| ["ham\tsee you at lunch ", "spam\twin a free prize "][k % 2].to_owned();
    let rows: String = (0..40).map(|k| format!("{}{k}\n", row(k))).collect();
    place.write("a.tsv", format!("class\ttext\n{rows}"));
    let (_, said) = place.ok(&["train", "a.tsv", "--model", "m"]);
    let why =
        "40 of 40 values differ and have 4.0 words on average; otherwise say --nominal 'text'";
    assert!(said.contains(why), "{said}");
    let (shown, _) = place.ok(&["show", "m", "--top", "40"]);
    assert!(shown.contains("text=prize") && shown.contains("text=lunch"), "{shown}");
    // One row is too little to tell; the model knows.
    place.write("b.tsv", "text\nLUNCH? you!\n");
    place.write("c.jsonl", "{\"text\": \"Free prize\"}\n");
    assert_eq!(place.ok(&["predict", "m", "b.tsv"]).0, "ham\n");
    assert_eq!(place.ok(&["predict", "m", "c.jsonl"]).0, "spam\n");
    // As names, or asked for.
    let (_, said) = place.ok(&["train", "a.tsv", "--nominal", "text", "--model", "names"]);
    assert!(!said.contains("words"), "{said}");
    assert!(place.ok(&["show", "names", "--top", "60"]).0.contains("text=see you at lunch 0"));
    place.write(
        "d.jsonl",
        "{\"y\":1,\"a\":{\"b\":\"Two words two\"}}\n{\"y\":0,\"a\":{\"b\":null}}\n",
    );
    place.ok(&["train", "d.jsonl", "--text", "a.b", "--model", "json"]);
    let (shown, _) = place.ok(&["show", "json", "--top", "9"]);
    assert!(shown.contains("a.b=two") && !shown.contains("=missing"), "{shown}");
    // The same as detected and as asked for.
    place.ok(&["train", "a.tsv", "--text", "text", "--model", "asked"]);
    assert!(place.read("asked") == place.read("m"));
    place.refuses("a.csv", "t,y\na b,1\n", &["--text", "u"], &["a.csv:1:1: no column 'u'", "t, y"]);
    let twice = ["--text", "t", "--nominal", "t"];
    let both = ["column 't' is asked for with --nominal and with --text"];
    place.refuses("a.csv", "t,y\na b,1\n", &twice, &both);
    let latin = ["a.tsv:3:1: the name 'caf\u{fffd},' is not UTF-8", "iconv"];
    place.refuses("a.tsv", b"t\ty\nein cafe\t1\nein caf\xe9, gut\t0\n", &["--text", "t"], &latin);
    let other = ["column 'text' is text in the model, not nominal"];
    place.refuses(
        "a.tsv",
        "class\ttext\nham\tx\n",
        &["--nominal", "text", "--resume", "m"],
        &other,
    );
}

#[test]
fn importance_weights() {
    let place = Place::new("weight");
    let rows = |form: &dyn Fn(usize, u8, f64) -> String| -> String {
        (0..50).map(|k| form(k, u8::from(k % 3 == 0), [1.0, 0.25, 2.0, 0.0][k % 4])).collect()
    };
    place.write("a.vw", rows(&|k, y, w| format!("{y} {w} | x:{k}\n")));
    place.write("a.csv", "w,x,y\n".to_owned() + &rows(&|k, y, w| format!("{w},{k},{y}\n")));
    place.write("b.csv", "w,x,c,y\n".to_owned() + &rows(&|k, y, w| format!("{w},{k},a,{y}\n")));
    place.write("a.tsv", "x\ty\tw\n".to_owned() + &rows(&|k, y, w| format!("{k}\t{y}\t{w}\n")));
    place.write("a.jsonl", rows(&|k, y, w| format!("{{\"x\":{k},\"w\":{w},\"y\":{y}}}\n")));
    let walk = ["--walk", "gd", "--rate", "0.001"];
    let loss = |args: &[&str]| place.summary(&[args, &walk].concat())["loss"].as_f64().unwrap();
    let expected = loss(&["a.vw", "--exact"]);
    for file in ["a.csv", "a.tsv", "a.jsonl"] {
        assert_eq!(loss(&[file, "--weight", "w"]).to_bits(), expected.to_bits(), "{file}");
    }
    let ignored = loss(&["b.csv", "--weight", "w", "--ignore", "c"]);
    assert_eq!(ignored.to_bits(), expected.to_bits());
    assert!((loss(&["a.csv", "--ignore", "w"]) - expected).abs() > 1e-6);
    // The model remembers it; a prediction does not need it.
    place.ok(&["train", "a.csv", "--weight", "w", "--model", "m"]);
    place.write("c.csv", "x\n1\n");
    assert_eq!(place.ok(&["predict", "m", "c.csv"]).0.lines().count(), 1);
    place.ok(&["train", "a.tsv", "--resume", "m"]);
    for (row, says) in [
        ("-1,2,1", "a.csv:3:1: importance weight -1; a number >= 0 expected"),
        (",2,1", "a.csv:3:1: the importance weight is ''; a finite number expected"),
        ("inf,2,1", "a.csv:3:1: the importance weight is 'inf'"),
        ("x,2,1", "a.csv:3:1: the importance weight is 'x'"),
    ] {
        let flags = ["--weight", "w", "--nominal", "x"];
        place.refuses("a.csv", format!("w,x,y\n1,1,0\n{row}\n"), &flags, &[says]);
    }
    let json = "{\"x\":1,\"w\":1,\"y\":0}\n{\"x\":1,\"y\":1}\n";
    place.refuses("a.jsonl", json, &["--weight", "w"], &["a.jsonl:2:1: the importance weight is"]);
    let both = ["column 'y' is asked for with --label and with --weight"];
    place.refuses("a.csv", "x,y\n1,1\n", &["--label", "y", "--weight", "y"], &both);
}

#[test]
fn where_indices_begin_is_said() {
    let place = Place::new("base");
    place.write("one.svm", "1 1:1 3:1\n0 2:1\n");
    place.write("zero.svm", "1 1:1 3:1\n0 0:1\n");
    let (_, said) = place.ok(&["train", "one.svm", "--model", "m"]);
    let one = "indices: from 1, because 0 does not occur in the first 2 rows; otherwise say --index-base 0";
    assert!(said.lines().any(|line| line == one), "{said}");
    let (_, said) = place.ok(&["train", "zero.svm"]);
    assert!(said.contains("indices: from 0, because 0 occurs in the first 2 rows;"), "{said}");
    let (_, said) = place.ok(&["train", "zero.svm", "--index-base", "0"]);
    assert!(!said.contains("indices:"), "{said}");
    let says =
        ["a.svm:1:3: index 0, while --index-base says 1;", "read the file with --index-base 0"];
    place.refuses("a.svm", "1 0:1\n0 1:1\n", &["--index-base", "1"], &says);
    let says =
        ["a.svm:1:3: index 0, while the indices of the model begin at 1;", "add 1 to the indices"];
    place.refuses("a.svm", "1 0:1\n", &["--resume", "m"], &says);
    let rows: String = (0..1500).map(|k| format!("{} 1:1 2:{k}\n", k % 2)).collect();
    let says = ["a.svm:1501:7: index 0, while the first 1000 rows have indices from 1"];
    place.refuses("a.svm", rows + "1 2:1 0:1\n", &[], &says);
}

#[test]
fn bad_rows_are_named_by_file_and_line() {
    let place = Place::new("lines");
    // Blank lines, comments, quoted line ends and earlier files do not shift the line.
    let rows: String = (0..1100).map(|k| format!("{} 1:{k}\n\n# c\n", k % 2)).collect();
    place.write("first.svm", &rows);
    place.write("second.svm", rows.clone() + "2 1:1\n");
    let output = place.piped(&["train", "first.svm", "second.svm"], b"");
    let message = text(&output.stderr);
    assert!(
        message.contains("geowalk: second.svm:3301: the label 2 is neither 0 nor 1"),
        "{message}"
    );
    let csv = "c,x,y\n\"two\nlines\",1,1\nb,1,0\nb,1,2\n";
    let label = ["a.csv:5: the label is 2; with the loss", "-1 or +1"];
    place.refuses(
        "a.csv",
        csv.replace(",1,1", ",1,-1").replace("b,1,0", "b,1,1"),
        &["--task", "regression", "--loss", "logistic"],
        &label,
    );
    // Outside the domain of a walk: labels of Winnow and its twin, features that their theorem wants in [0, 1].
    for walk in ["winnow(n=2)", "reparam-winnow(n=2)"] {
        let flags = ["--walk", walk, "--task", "regression"];
        let says = ["a.csv:3: the label is 0.5", "it must be -1 or +1", "--task binary"];
        place.refuses("a.csv", "x,y\n1,1\n1,0.5\n", &flags, &says);
        for value in ["-0.5", "1.5"] {
            let flags = ["--walk", walk];
            let domain = format!("is {value}; it must be in [0, 1] (feature 'x')");
            let says = ["a.csv:3: the walk", &domain];
            place.refuses("a.csv", format!("x,y\n1,1\n{value},0\n"), &flags, &says);
        }
    }
    // A binary table has rows.
    let batch = RecordBatch::try_from_iter([
        ("x", Arc::new(Float64Array::from(vec![1.0, 1.0, -1.0])) as ArrayRef),
        ("y", Arc::new(Int32Array::from(vec![1, 0, 1])) as ArrayRef),
    ])
    .unwrap();
    let says = ["a.parquet: row 3: the walk 'winnow(n=1)' cannot go on", "(feature 'x')"];
    place.refuses("a.parquet", parquet(&batch), &["--walk", "winnow(n=1)"], &says);
}

#[test]
fn files_that_are_not_whole() {
    let place = Place::new("whole");
    let (batch, csv) = table(3000);
    let zstd = zstd::encode_all(csv.as_bytes(), 1).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(csv.as_bytes()).unwrap();
    let whole = [
        ("a.csv.gz", gzip.finish().unwrap(), "the gzip stream stops in the middle"),
        ("a.csv.zst", zstd, "the zstd stream stops in the middle"),
        ("a.parquet", parquet(&batch), "a.parquet: the parquet file stops in the middle"),
        ("a.arrow", stream(&batch), "a.arrow: the arrow file stops in the middle"),
        ("a.feather", feather(&batch), "a.feather: the arrow file stops in the middle"),
    ];
    for (name, bytes, says) in whole {
        let advice = "a whole file expected; fetch or";
        place.refuses(name, &bytes[..bytes.len() / 2], &[], &[says, advice]);
        place.refuses(name, b"", &[], &[&format!("{name}: the input is empty")]);
    }
    place.refuses("a.parquet", csv, &[], &["it does not begin with PAR1", "--format"]);
    place.refuses("a.parquet", parquet(&batch.slice(0, 0)), &[], &["the input is empty"]);
    let label = ["no column 'kind' for the label", "columns: size, count, color, odd, note, class"];
    place.refuses("a.parquet", parquet(&batch), &["--label", "kind"], &label);
}

#[test]
fn rows_that_are_not_finite_are_counted_when_skipped() {
    let place = Place::new("skip");
    let batch = RecordBatch::try_from_iter([
        (
            "x",
            Arc::new(Float64Array::from(vec![1.0, f64::NEG_INFINITY, f64::INFINITY, 2.0]))
                as ArrayRef,
        ),
        ("y", Arc::new(Int32Array::from(vec![1, 0, 1, 0])) as ArrayRef),
    ])
    .unwrap();
    place.write("a.parquet", parquet(&batch));
    place.write("a.csv", "x,y\n1,1\n-inf,0\ninf,1\n2,0\n");
    place.write(
        "a.jsonl",
        "{\"x\":1,\"y\":1}\n{\"x\":-1e999,\"y\":0}\n{\"x\":1e999,\"y\":1}\n{\"x\":2,\"y\":0}\n",
    );
    for (file, line) in [("a.parquet", ": row 2,"), ("a.csv", ":3:"), ("a.jsonl", ":2:")] {
        let output = place.piped(&["train", file], b"");
        let at = format!("geowalk: {file}{line}");
        assert!(text(&output.stderr).contains(&at), "{}", text(&output.stderr));
        let summary = place.summary(&[file, "--on-error", "skip"]);
        assert_eq!((summary["examples"].as_u64(), summary["skipped"].as_u64()), (Some(2), Some(2)));
        let (out, _) = place.ok(&["train", file, "--on-error", "skip"]);
        assert!(
            out.contains("rows skipped   2") && out.contains(&format!("{file}{line}")),
            "{out}"
        );
    }
}

#[test]
fn a_line_of_ten_megabytes() {
    let place = Place::new("long");
    let long: String = (1..=700_000).map(|k| format!(" {k}:0.12345")).collect();
    assert!(long.len() > 10_000_000);
    place.write("a.svm", format!("1{long}\n0 1:1\n"));
    assert_eq!(place.summary(&["a.svm"])["examples"], 2);
    place.refuses(
        "a.svm",
        format!("1 1:1\n0{long} 700001:x\n"),
        &[],
        &["a.svm:2:", "is 'x'; a finite"],
    );
    place.write("a.csv", format!("t,y\n\"{}\",1\nb c,0\n", "word ".repeat(2_100_000)));
    assert_eq!(place.summary(&["a.csv", "--text", "t"])["examples"], 2);
    place.refuses(
        "a.csv",
        format!("t,y\n\"{}\n", "word ".repeat(2_100_000)),
        &[],
        &["a.csv:2:1: this quote"],
    );
}

#[test]
fn the_list_of_formats() {
    let place = Place::new("list");
    let (list, _) = place.ok(&["list", "formats"]);
    for part in ["parquet", "[.parquet]", "[.arrow .feather]", "[.svm .libsvm .svmlight]", "[.csv]"]
    {
        assert!(list.contains(part), "{part} is not in {list}");
    }
}

#[test]
fn what_counts_as_missing_goes_with_the_model() {
    let place = Place::new("missing");
    place.write("a.csv", "size,color,y\n1,red,1\n?,NA,0\n2,?,1\n0.5,blue,0\n".repeat(5));
    let flags = ["--missing", "?", "--missing", "NA", "--model", "m"];
    place.ok(&[&["train", "a.csv"], &flags[..]].concat());
    let (with, _) = place.ok(&["predict", "m", "a.csv", "--proba", "--missing", "?"]);
    let (without, _) = place.ok(&["predict", "m", "a.csv", "--proba"]);
    assert_eq!(with, without);
    // Without the flag at training a question mark is no number.
    let (shown, _) = place.ok(&["show", "m"]);
    assert!(shown.contains("size=missing") && shown.contains("color=missing"), "{shown}");
    assert!(!shown.contains("color=NA"), "{shown}");
    place.ok(&["train", "a.csv", "--resume", "m", "--model", "again"]);
    place.ok(&["train", "a.csv", "--resume", "again", "--model", "again", "--missing", "-"]);
    place.write("b.csv", "size,color,y\n-,-,1\n");
    let (dash, _) = place.ok(&["predict", "again", "b.csv", "--proba"]);
    place.write("c.csv", "size,color,y\n,?,1\n");
    assert_eq!(place.ok(&["predict", "again", "c.csv", "--proba"]).0, dash);
}

#[test]
fn damaged_binary_files_print_one_line() {
    let place = Place::new("quiet");
    let (batch, _) = table(50);
    for (name, whole) in [("a.arrow", stream(&batch)), ("a.parquet", parquet(&batch))] {
        let mut refused = 0;
        for at in (0..whole.len()).step_by(whole.len() / 60 + 1) {
            let mut bytes = whole.clone();
            bytes[at] = bytes[at].wrapping_add(127);
            place.write(name, &bytes);
            let output = place.piped(&["train", name, "--progress", "none"], b"");
            if output.status.code() != Some(0) {
                refused += 1;
                let message = text(&output.stderr);
                assert_eq!(output.status.code(), Some(2), "{name} {at}: {message}");
                assert_eq!(message.lines().count(), 1, "{name} {at}: {message}");
            }
        }
        assert!(refused > 5, "{name}: {refused}");
    }
}

#[test]
fn rows_without_label_are_counted() {
    let place = Place::new("unlabelled");
    let says = ["none of the 2 rows has a label to learn from"];
    place.refuses("a.vw", "|a x\n|a y\n", &["--model", "a.gw"], &says);
    assert!(!place.0.join("a.gw").exists());
    place.write("a.vw", "1 |a x\n|a y\n-1 |a z\n|a q\n");
    let (out, _) = place.ok(&["train", "a.vw"]);
    assert!(out.contains("2 of 4 rows have no label: nothing was learned from them"), "{out}");
}

#[test]
fn every_learner_says_how_the_table_was_read() {
    let place = Place::new("read-as");
    place.write("a.csv", "Title\nb;c;y\n1,5;NA;0\n2,5;1,0;1\n3,5;2,0;0\n4,5;3,0;1\n");
    let flags = ["a.csv", "--skip-lines", "1", "--decimal", ","];
    let missing = "missing: 1 field counts as missing, such as 'NA' in column 'c'";
    for command in ["train", "boost", "tree"] {
        let (_, said) = place.ok(&[&[command], &flags[..]].concat());
        assert!(said.contains("separator: a semicolon"), "{command}: {said}");
        assert!(said.contains(missing), "{command}: {said}");
    }
    place.ok(&[&["train"], &flags[..], &["--model", "m.gw"]].concat());
    place.refuses("m.gw", place.read("m.gw"), &[], &["m.gw: this is a geowalk model, not data"]);
    place.write("one.csv", "x,y\n1,red\n2,red\n");
    let (_, said) = place.ok(&["train", "one.csv"]);
    assert!(said.contains("binary, because the labels are names, though only one has"), "{said}");
}

#[test]
fn two_lines_of_wide_libsvm_need_little_memory() {
    let place = Place::new("wide");
    place.write("a.svm", "1 268435456:1\n-1 3:1\n");
    for walk in ["free", "gd", "eg", "adagrad"] {
        let (_, said) = place.ok(&["train", "a.svm", "--walk", walk, "--model", "m.gw"]);
        assert!(said.contains("features are numbered as they are met"), "{said}");
        assert!(fs::metadata(place.0.join("m.gw")).unwrap().len() < 1 << 20, "{walk}");
    }
    assert_eq!(place.ok(&["predict", "m.gw", "a.svm"]).0.lines().count(), 2);
    // The same where the large index comes after the first rows, and goes on from there.
    place.write("late.svm", "1 1:1\n-1 2:1\n".repeat(600) + "1 268435456:1 2:1\n-1 268435456:1\n");
    let (_, said) = place.ok(&["train", "late.svm", "--walk", "gd", "--model", "m.gw"]);
    assert!(said.contains("indices: 268435456 after smaller ones, so new features are"), "{said}");
    assert!(fs::metadata(place.0.join("m.gw")).unwrap().len() < 1 << 20);
    assert_eq!(place.ok(&["predict", "m.gw", "late.svm"]).0.lines().count(), 1202);
    place.ok(&["train", "late.svm", "a.svm", "--walk", "gd", "--model", "both.gw"]);
    place.ok(&["train", "a.svm", "--resume", "m.gw", "--model", "again.gw"]);
    assert!(place.read("both.gw") == place.read("again.gw"));
}

#[test]
fn weights_that_need_too_much_memory_are_refused() {
    let place = Place::new("memory");
    let fails = |args: &[&str]| {
        let output = place.piped(args, b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        text(&output.stderr)
    };
    place.write("a.vw", "1 |a x y\n-1 |a z\n");
    let error = fails(&["train", "a.vw", "--bits", "30"]);
    assert!(error.contains("1073741824 features take about ") && error.contains(" of memory, more than --memory 8.0G; use fewer places, such as --bits 24, or allow more"), "{error}");
    place.ok(&["train", "a.vw", "--bits", "22"]);
    let names: String = (0..3000).map(|k| format!("name{k},{}\n", k % 2)).collect();
    place.write("names.csv", format!("x,y\n{names}"));
    place.ok(&["train", "names.csv"]);
    let error = fails(&["train", "names.csv", "--memory", "100K"]);
    assert!(
        error.contains("more than --memory 0.1M; hash their names with --bits 22, or allow more"),
        "{error}"
    );
    assert!(
        fails(&["train", "names.csv", "--memory", "much"]).contains("a size such as 500M or 8G")
    );
}

#[test]
fn inputs_without_columns_or_labels_are_named() {
    let place = Place::new("degenerate");
    place.write("y.csv", "y\n1\n0\n");
    place.write("gap.csv", "a,b,y\n0.5,0.25,\n1,2,\n");
    let only = "y.csv: there are labels and nothing else; a column to learn from expected; check --label and --ignore";
    for (command, file, message) in [
        ("boost", "y.csv", only),
        ("tree", "y.csv", only),
        ("track", "y.csv", only),
        ("boost", "gap.csv", "gap.csv:2:10: no label"),
    ] {
        let output = place.piped(&[command, file], b"");
        assert_eq!(output.status.code(), Some(2), "{command} {file}");
        assert!(text(&output.stderr).contains(message), "{command}: {}", text(&output.stderr));
    }
}

#[test]
fn names_cannot_command_a_terminal() {
    let place = Place::new("names");
    let rows: String =
        (0..40).map(|k| format!("{k},\"no\n\u{1b}[2J\u{202e}{}\"\n", k / 20)).collect();
    place.write("a.csv", format!("\"x\u{1b}\n1\",y\n{rows}"));
    for command in [
        &["train"][..],
        &["boost", "--rounds", "2"],
        &["tree"],
        &["boost", "--weak", "trees", "--rounds", "2"],
    ] {
        let (_, said) = place.ok(&[command, &["a.csv", "--model", "m.gw", "--force"]].concat());
        let (shown, _) = place.ok(&["show", "m.gw"]);
        let (written, _) = match command[0] {
            "train" => (String::new(), String::new()),
            _ => place.ok(&["show", "m.gw", "--format", "text"]),
        };
        let said = if command[0] == "train" { said } else { String::new() };
        for text in [said, shown, written] {
            let bad = text.chars().find(|c| *c != '\n' && c.is_control() || *c == '\u{202e}');
            assert_eq!(bad, None, "{command:?}: {text:?}");
        }
    }
}
