//! The pages in docs/formats: there is one for each format, and what they say of their examples is what the readers do.

#![allow(clippy::unwrap_used, clippy::panic, clippy::format_push_string, reason = "tests")]

mod support;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DurationSecondArray,
    FixedSizeBinaryArray, Float64Array, Int32Array, RecordBatch, StringArray, StructArray,
    Time32SecondArray, TimestampMillisecondArray,
};
use arrow_ipc::writer::StreamWriter;
use geowalk_data::{Duplicates, FORMATS, Indexing, Input, Label, OnError, Options, open};
use parquet::arrow::ArrowWriter;

use self::support::rows;

/// Rows, and what the reader has to say.
type Read = (Vec<String>, Vec<String>);

fn page(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats");
    fs::read_to_string(folder.join(format!("{name}.md")))
        .unwrap_or_else(|_| panic!("docs/formats/{name}.md"))
}

/// The blocks of a page: what stands behind the three quotes, and the lines.
fn blocks(page: &str) -> Vec<(String, String)> {
    let parts: Vec<&str> = page.split("```").collect();
    let inside = parts.iter().skip(1).step_by(2);
    let block = |part: &&str| {
        let (info, text) = part.split_once('\n').unwrap();
        (info.trim().to_owned(), text.to_owned())
    };
    inside.map(block).collect()
}

/// The options that these flags of the command mean.
fn flagged(flags: &str, options: Options) -> Options {
    let mut options = options;
    let mut flags = flags.split_whitespace();
    while let Some(flag) = flags.next() {
        let mut value = || flags.next().unwrap().to_owned();
        match flag {
            "--label" => options.label = Label::Named(value()),
            "--no-header" => options.header = false,
            "--nominal" => options.nominal.push(value()),
            "--text" => options.text.push(value()),
            "--ignore" => options.ignore.push(value()),
            "--missing" => options.missing.push(value()),
            "--weight" => options.weight = Some(value()),
            "--decimal" => options.decimal = value().chars().next().unwrap(),
            "--thousands" => options.thousands = value().chars().next(),
            "--separator" => options.separator = value().chars().next(),
            "--skip-lines" => options.skip_lines = value().parse().unwrap(),
            "--index-base" => options.index_base = Some(value().parse().unwrap()),
            "--bits" => options.indexing = Indexing::Hashed(value().parse().unwrap()),
            "--exact" => options.indexing = Indexing::Exact,
            "--duplicates" => {
                assert_eq!(value(), "add");
                options.duplicates = Duplicates::Add;
            }
            "--on-error" => {
                assert_eq!(value(), "skip");
                options.on_error = OnError::Skip;
            }
            other => panic!("{other}"),
        }
    }
    options
}

#[test]
fn every_format_has_a_page() {
    let all = page("README");
    for format in FORMATS {
        assert!(page(format.name).starts_with("# "), "{}", format.name);
        assert!(all.contains(&format!("({}.md)", format.name)), "{}", format.name);
    }
}

#[test]
fn examples_are_read_as_their_page_says() {
    let mut examples = 0;
    for name in FORMATS.iter().map(|format| format.name).chain(["README"]) {
        let mut found: Option<Result<Read, String>> = None;
        for (info, text) in blocks(&page(name)) {
            let (first, flags) = info.split_once(' ').unwrap_or((&info, ""));
            let lines: Vec<&str> = text.lines().collect();
            match (first, &found) {
                ("rows", Some(Ok((rows, _)))) => assert_eq!(*rows, lines, "{name}: {text}"),
                ("notes", Some(Ok((_, said)))) => assert_eq!(*said, lines, "{name}: {text}"),
                ("error", Some(Err(message))) => assert_eq!(message, text.trim(), "{name}"),
                ("rows" | "notes" | "error", found) => panic!("{name}: {text} but {found:?}"),
                ("console" | "text" | "python", _) => {}
                (format, _) => {
                    assert!(FORMATS.iter().any(|known| known.name == format), "{name}: {format}");
                    let input = Input::text(&format!("a.{format}"), text.as_bytes());
                    let options =
                        Options { format: Some(format.to_owned()), ..Options::new([input]) };
                    let read = open(flagged(flags, options)).and_then(rows);
                    found = Some(read.map_err(|error| error.to_string()));
                    examples += 1;
                }
            }
        }
    }
    assert!(examples >= 25, "{examples}");
}

/// A column with one cell of each type that the table of the pages names.
fn cell(name: &str) -> ArrayRef {
    let mut words = ListBuilder::new(StringBuilder::new());
    for word in ["red", "blue", "red"] {
        words.values().append_value(word);
    }
    words.append(true);
    let price = Decimal128Array::from(vec![150]).with_precision_and_scale(5, 2).unwrap();
    let part = Arc::new(arrow_schema::Field::new("part", arrow_schema::DataType::Int32, false));
    let one = Arc::new(Int32Array::from(vec![7])) as ArrayRef;
    match name {
        "int32" => one,
        "double" => Arc::new(Float64Array::from(vec![0.1])),
        "double, NaN" => Arc::new(Float64Array::from(vec![f64::NAN])),
        "double, null" => Arc::new(Float64Array::from(vec![None])),
        "bool" => Arc::new(BooleanArray::from(vec![true])),
        "string" => Arc::new(StringArray::from(vec!["7"])),
        "binary" => Arc::new(BinaryArray::from(vec![&b"red"[..]])),
        "date32" => Arc::new(Date32Array::from(vec![19_675])),
        "timestamp[ms]" => Arc::new(TimestampMillisecondArray::from(vec![1_700_000_000_500])),
        "time32[s]" => Arc::new(Time32SecondArray::from(vec![3600])),
        "duration[s]" => Arc::new(DurationSecondArray::from(vec![90])),
        "decimal128(5, 2)" => Arc::new(price),
        "list<string>" => Arc::new(words.finish()),
        "struct" => Arc::new(StructArray::from(vec![(part, one)])),
        "fixed_size_binary[2]" => {
            Arc::new(FixedSizeBinaryArray::try_from(vec![&b"ab"[..]]).unwrap())
        }
        other => panic!("{other}"),
    }
}

#[test]
fn types_are_read_as_the_tables_say() {
    for (page, name) in [(page("parquet"), "a.parquet"), (page("arrow"), "a.arrow")] {
        let table = page.lines().skip_while(|line| !line.starts_with("| type |")).skip(2);
        let mut types = 0;
        for line in table.take_while(|line| line.starts_with('|')) {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [kind, _, features] = cells[..] else { panic!("{line}") };
            let y = Arc::new(Int32Array::from(vec![1])) as ArrayRef;
            let batch = RecordBatch::try_from_iter([("x", cell(kind)), ("y", y)]).unwrap();
            let bytes = if name == "a.parquet" {
                let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
                writer.write(&batch).unwrap();
                writer.into_inner().unwrap()
            } else {
                let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
                writer.write(&batch).unwrap();
                writer.into_inner().unwrap()
            };
            let read = open(Options::new([Input::text(name, bytes)])).and_then(rows);
            match features.strip_prefix("refused: ") {
                None => assert_eq!(
                    read.unwrap().0,
                    [format!("1 | {}", features.replace('`', ""))],
                    "{kind}"
                ),
                Some(advice) => {
                    let error = read.unwrap_err().to_string();
                    assert!(error.contains(advice), "{kind}: {error}");
                }
            }
            types += 1;
        }
        assert_eq!(types, 15, "{name}");
    }
}
