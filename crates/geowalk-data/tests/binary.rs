//! The binary form: the same rows, the same knowledge at every step, and no file taken for another.

#![allow(clippy::unwrap_used, clippy::format_push_string, clippy::format_collect)] // test code

use geowalk::row::{Block, Row};
use geowalk_data::{
    DataError, ErrorKind, Features, Indexing, Input, Label, Labels, Options, Source, Writer, open,
};

type Data = (&'static str, String);

fn texts() -> Vec<Data> {
    let mut csv = "size,color,note,class\n".to_owned();
    let mut vw = String::new();
    let mut svm = String::new();
    let mut json = String::new();
    for k in 0..2500_u32 {
        let color = ["red", "blue", "", "grey"][(k as usize / 700) % 4];
        let class = if k < 1500 { ["yes", "no"][k as usize % 2] } else { "perhaps" };
        let size = if k % 1100 == 7 { String::new() } else { format!("{}", f64::from(k) / 7.0) };
        csv += &format!("{size},{color},{},{class}\n", k % 3);
        vw += &format!(
            "{} {} |words a{} b:{} {}:0.25 |n x:-1.5\n",
            k % 2,
            1 + k % 3,
            k % 900,
            f64::from(k) / 100.0,
            k % 50
        );
        svm += &format!("{} {}:0.5 {}:1e-3\n", f64::from(k % 5) / 4.0, 1 + k % 40, 50 + k);
        json += &format!(
            "{{\"v{}\": {}, \"y\": {k}, \"tag\": \"t{}\"}}\n",
            k % 30,
            f64::from(k) * 0.1,
            k % 4
        );
    }
    let dense: String = (0..1500).map(|k| format!("{},{},{}\n", k, k * 2, 0.5)).collect();
    vec![
        ("table.csv", csv),
        ("dense.csv", format!("a,b,y\n{dense}")),
        ("words.vw", vw),
        ("numbers.svm", svm),
        ("objects.jsonl", json),
    ]
}

fn text((name, text): &Data) -> Options {
    Options::new([Input::text(name, text.as_str())])
}

fn binary(bytes: &[u8]) -> Options {
    Options::new([Input::text("data.gwd", bytes)])
}

fn convert(options: Options, rows: usize) -> Vec<u8> {
    let mut source = open(options).unwrap();
    let mut writer = Writer::start(Vec::new(), source.schema(), "").unwrap();
    let mut block = Block::new();
    while source.read(&mut block, rows).unwrap() > 0 {
        writer.block(&block, source.schema()).unwrap();
    }
    writer.end(source.schema(), source.skipped()).unwrap()
}

/// All that can be seen of a source after every read, as text.
fn seen(options: Options, rows: usize) -> Result<Vec<String>, DataError> {
    let mut source = open(options)?;
    let mut all = Vec::new();
    let mut block = Block::new();
    loop {
        let read = source.read(&mut block, rows)?;
        let mut text = String::new();
        for row in 0..read {
            let mut put = |index: usize, x: f64| text += &format!(" {index}:{:016x}", x.to_bits());
            match block.columns() {
                Some(_) => block.dense(row).each(&mut put),
                None => block.sparse(row).each(&mut put),
            }
            text += &format!(" = {:?} {:?}\n", block.labels()[row], block.weights()[row]);
        }
        text += &knowledge(source.as_ref(), read == 0);
        all.push(text);
        if read == 0 {
            return Ok(all);
        }
    }
}

fn knowledge(source: &dyn Source, over: bool) -> String {
    let schema = source.schema();
    let labels = match schema.labels() {
        Labels::Numbers => Vec::new(),
        Labels::Names(names) => names.names().collect(),
    };
    let features = match schema.features() {
        Features::Exact(names) => format!("{:?}", names.names().collect::<Vec<_>>()),
        Features::Index(index) => format!("{index:?}"),
        // Which names took which place is known at the end.
        Features::Hashed(hashed) if over => format!(
            "{:?} {:?} {:?} {:?}",
            hashed.names().collect::<Vec<_>>(),
            hashed.prints().collect::<Vec<_>>(),
            hashed.strangers(),
            hashed.collisions()
        ),
        Features::Hashed(hashed) => hashed.bits().to_string(),
    };
    format!("{:?} {:?} {labels:?} {features}", schema.columns(), schema.missing())
}

#[test]
fn it_is_the_same_as_the_text_at_every_step() {
    for data in &texts() {
        let bytes = convert(text(data), 1024);
        let same = seen(binary(&bytes), 1024).unwrap() == seen(text(data), 1024).unwrap();
        assert!(same, "{}", data.0);
        // Asked for fewer rows at a time, it gives the same rows.
        let rows = |pieces: Vec<String>| {
            let lines = pieces.iter().flat_map(|piece| piece.lines());
            lines.filter(|line| line.contains(" = ")).map(str::to_owned).collect::<Vec<_>>()
        };
        for few in [1, 7, 1000, 5000] {
            let (found, expected) = (seen(binary(&bytes), few), seen(text(data), few));
            assert!(rows(found.unwrap()) == rows(expected.unwrap()), "{} {few}", data.0);
        }
    }
}

#[test]
fn it_is_shorter_than_the_text_where_numbers_have_few_digits() {
    let data = &texts()[1];
    assert!(convert(text(data), 1024).len() < data.1.len() * 2);
    let svm: String = (0..3000).map(|k| format!("1 1:0.1{k} 2:0.25 3:0.12345 4:7\n")).collect();
    let data = ("few.svm", svm);
    assert!(convert(text(&data), 1024).len() < data.1.len() * 3 / 2);
}

#[test]
fn nothing_that_is_altered_or_missing_passes() {
    let data = ("a.vw", "1 |w a b:2\n0 |w c\n".to_owned());
    let bytes = convert(text(&data), 1);
    assert!(seen(binary(&bytes), 10).is_ok());
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 4;
        assert!(seen(binary(&other), 10).is_err(), "byte {at}");
        let cut = seen(binary(&bytes[..at]), 10);
        assert!(cut.is_err(), "cut at {at}");
        if at > 16 {
            let message = cut.unwrap_err().to_string();
            assert_eq!(
                message,
                "data.gwd: the binary file stops in the middle; a whole file expected; fetch or write it again"
            );
        }
    }
    // A second file is checked like the first.
    let two =
        Options::new([Input::text("a.gwd", bytes.clone()), Input::text("b.gwd", &bytes[..90])]);
    assert!(seen(two, 10).unwrap_err().to_string().starts_with("b.gwd:"));
}

/// Reads all of it with the schema of another reading.
fn with_schema_of(first: Options, second: Options) -> Result<Vec<String>, DataError> {
    let mut source = open(first)?;
    let mut block = Block::new();
    while source.read(&mut block, 100)? > 0 {}
    seen(Options { schema: Some(source.schema().clone()), ..second }, 1024)
}

#[test]
fn names_are_found_in_a_schema_that_is_there() {
    let one = ("one.csv", "color,size,class\nred,1,yes\nblue,2,no\n".to_owned());
    let two = ("two.csv", "color,size,class\ngreen,5,no\nblue,,perhaps\nred,7,yes\n".to_owned());
    let bytes = convert(text(&two), 1024);
    let from_text = with_schema_of(text(&one), text(&two)).unwrap();
    assert_eq!(with_schema_of(text(&one), binary(&bytes)).unwrap(), from_text);
    // Two files, of which the second knows other names first.
    let both = || [convert(text(&one), 1024), bytes.clone()];
    let [a, b] = both();
    let two_binary = Options::new([Input::text("1.gwd", a), Input::text("2.gwd", b)]);
    let two_text =
        Options::new([Input::text("1.csv", one.1.as_str()), Input::text("2.csv", two.1.as_str())]);
    let rows = |pieces: Vec<String>| pieces.concat().replace('\n', "");
    let last = |options| rows(seen(options, 1024).unwrap().split_off(1));
    let whole = last(two_text);
    assert!(last(two_binary).ends_with(&whole), "the same knowledge in the end");
}

#[test]
fn hashed_names_are_counted_as_if_read_from_text() {
    let words = |from: u32, to: u32| -> String {
        (from..to).map(|k| format!("1 |w word{k} {k} |v^x word{}\n", k / 2)).collect()
    };
    let (one, two) = (("1.vw", words(0, 300)), ("2.vw", words(200, 700)));
    for bits in [6, 12, 24] {
        let hashed = |options: Options| Options { indexing: Indexing::Hashed(bits), ..options };
        let bytes = convert(hashed(text(&two)), 1024);
        let found = with_schema_of(hashed(text(&one)), binary(&bytes)).unwrap();
        let expected = with_schema_of(hashed(text(&one)), text(&two)).unwrap();
        assert!(found == expected, "{bits} bits");
    }
}

#[test]
fn options_that_contradict_the_conversion_are_refused() {
    let table = ("t.csv", "a,b,y\n1,u,2\n3,v,4\n".to_owned());
    let bytes = convert(text(&table), 1024);
    let base = || binary(&bytes);
    let refused = [
        (Options { label: Label::Named("a".into()), ..base() }, "--label"),
        (Options { indexing: Indexing::Hashed(10), ..base() }, "--bits"),
        (Options { nominal: vec!["a".into()], ..base() }, "--nominal"),
        (Options { text: vec!["b".into()], ..base() }, "--text"),
        (Options { ignore: vec!["none".into()], ..base() }, "--ignore"),
        (Options { weight: Some("a".into()), ..base() }, "--weight"),
        (Options { missing: vec!["?".into()], ..base() }, "--missing"),
    ];
    for (options, name) in refused {
        let error = seen(options, 10).unwrap_err();
        assert!(
            matches!(*error.kind, ErrorKind::Converted { option, .. } if option == name),
            "{error}"
        );
    }
    let agreeing = Options { label: Label::Named("y".into()), nominal: vec!["b".into()], ..base() };
    assert!(seen(agreeing, 10).is_ok());
    let svm = ("a.svm", "1 0:1 4:1\n".to_owned());
    let indexed = convert(text(&svm), 10);
    let error = seen(Options { index_base: Some(1), ..binary(&indexed) }, 10).unwrap_err();
    assert!(error.to_string().contains("indices from 0"), "{error}");
    // A schema of another form.
    let error = with_schema_of(text(&svm), base()).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::ExtraColumn { .. }), "{error}");
    let words = ("w.vw", "1 |a b\n".to_owned());
    let error = with_schema_of(text(&words), binary(&indexed)).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::OtherForm { .. }), "{error}");
}

#[test]
fn rows_have_their_numbers_and_those_left_out_are_counted() {
    let data = ("a.svm", "1 1:1\n1 bad\n0 2:2\n".to_owned());
    let skipping = Options { on_error: geowalk_data::OnError::Skip, ..text(&data) };
    let bytes = convert(skipping, 10);
    let mut source = open(binary(&bytes)).unwrap();
    let mut block = Block::new();
    assert_eq!(source.read(&mut block, 1).unwrap(), 1);
    assert_eq!(source.read(&mut block, 1).unwrap(), 1);
    assert_eq!(source.places().get(0).unwrap().to_string(), "data.gwd: row 2");
    assert_eq!(source.read(&mut block, 1).unwrap(), 0);
    assert_eq!(source.skipped().rows(), 1);
}
