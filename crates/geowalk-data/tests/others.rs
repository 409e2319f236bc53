//! Files that others write: read as everyone reads them, or refused in words that help.

#![allow(clippy::unwrap_used, clippy::panic, clippy::format_push_string, reason = "tests")]

mod support;

use geowalk::row::Block;
use geowalk_data::{Input, Options, open};

use self::support::rows;

fn read_as(options: Options) -> (Vec<String>, Vec<String>) {
    rows(open(options).unwrap()).unwrap()
}

fn read(name: &str, bytes: impl Into<Vec<u8>>) -> (Vec<String>, Vec<String>) {
    read_as(Options::new([Input::text(name, bytes)]))
}

fn refused(name: &str, bytes: impl Into<Vec<u8>>) -> String {
    let opened = open(Options::new([Input::text(name, bytes)]));
    opened.and_then(rows).unwrap_err().to_string()
}

/// A table with `n` numbers in column b, where some rows have another text.
fn table(n: usize, others: &[(usize, &str)]) -> String {
    let mut text = String::from("b,y\n");
    for row in 1..=n {
        let other = others.iter().find(|(at, _)| *at == row).map(|(_, text)| (*text).to_owned());
        text += &format!("{},{}\n", other.unwrap_or_else(|| row.to_string()), row % 2);
    }
    text
}

#[test]
fn usual_words_are_missing_numbers() {
    for word in ["NA", "N/A", "NaN", "nan", "null", "None", "?", "-", ""] {
        // In the sample, and after it.
        for at in [3, 1500] {
            let (rows, said) = read("a.csv", table(1600, &[(at, word)]));
            assert_eq!(
                rows[at - 1],
                "0 | b=missing 1".replace('0', &(at % 2).to_string()),
                "{word}"
            );
            assert_eq!(rows[at], format!("{} | b {}", (at + 1) % 2, at + 1), "{word}");
            let expected = format!(
                "missing: 1 field counts as missing, such as '{word}' in column 'b', which otherwise holds numbers; \
                 to keep it as a name, say --nominal 'b'"
            );
            let expected = if word.is_empty() { vec![] } else { vec![expected] };
            assert_eq!(said, expected);
        }
    }
    let (_, said) = read("a.csv", table(1600, &[(3, "NA"), (9, "?"), (1500, "NaN")]));
    assert!(said[0].starts_with("missing: 3 fields count as missing"), "{said:?}");
    // Among names they are names.
    let (rows, said) = read("a.csv", "b,y\nred,1\n?,0\n");
    assert_eq!((rows[1].as_str(), said.len()), ("0 | b=? 1", 0));
}

#[test]
fn a_column_of_names_says_which_cell_made_it_so() {
    let (rows, said) = read("a.csv", table(500, &[(5, "\"1,234\"")]));
    assert_eq!(rows[4], "1 | b=1,234 1");
    assert_eq!(
        said,
        [
            "names: column 'b' holds names, because of '1,234' in row 5; 499 of 500 values are numbers; \
          if it holds numbers, say --thousands , or --decimal ,"
        ]
    );
    for (cell, says) in [
        ("12%", "percent signs are not read: remove them from the column"),
        ("$12", "signs of currencies are not read: remove them from the column"),
        ("absent", "if it means missing, say --missing 'absent'"),
    ] {
        let (_, said) = read("a.csv", table(20, &[(5, cell)]));
        assert!(said[0].ends_with(says), "{said:?}");
    }
    // After the sample it is an error that says the same.
    let error = refused("a.csv", table(1100, &[(1050, "12%")]));
    assert_eq!(
        error,
        "a.csv:1051:1: '12%' in column 'b', which has held numbers so far; percent signs are not read: remove them \
         from the column"
    );
    let error = refused("a.csv", table(1100, &[(1050, "absent")]));
    assert!(
        error.contains("say --missing 'absent' if it means missing, --nominal 'b' if"),
        "{error}"
    );
}

#[test]
fn decimal_commas_and_thousands_are_read() {
    let text = "price;y\n1.234,5;1\n-0,25;0\n";
    let german = Options {
        decimal: ',',
        thousands: Some('.'),
        ..Options::new([Input::text("a.csv", text)])
    };
    let (rows, said) = read_as(german);
    assert_eq!(rows, ["1 | price 1234.5", "0 | price -0.25"]);
    assert_eq!(
        said,
        [
            "separator: a semicolon, because the first line has no comma; otherwise say --separator ,"
        ]
    );
    let (_, said) = read("a.csv", text);
    assert!(said[1].ends_with("if it holds numbers, say --decimal , --thousands ."), "{said:?}");
    let pipe =
        Options { separator: Some('|'), ..Options::new([Input::text("a.csv", "x|y\n1|2\n")]) };
    assert_eq!(read_as(pipe).0, ["2 | x 1"]);
    let same = Options {
        decimal: ',',
        thousands: Some(','),
        ..Options::new([Input::text("a.csv", text)])
    };
    let error = open(same).unwrap_err().to_string();
    assert!(error.starts_with("a.csv: --thousands ',' is not possible"), "{error}");
}

#[test]
fn lines_above_the_header_are_passed_over() {
    let text = "Sales of 2024\n\nx,y\n1,2\n";
    for name in ["a.csv", "-"] {
        let inputs = || [Input::text(name, text), Input::text("b.csv", text)];
        let (rows, _) = read_as(Options { skip_lines: 2, ..Options::new(inputs()) });
        assert_eq!(rows, ["2 | x 1", "2 | x 1"]);
    }
    let error = open(Options { skip_lines: 1, ..Options::new([Input::text("a.parquet", "PAR1")]) });
    assert!(error.unwrap_err().to_string().contains("--skip-lines is for text"));
}

#[test]
fn a_header_of_numbers_is_noted() {
    let options = Options {
        label: geowalk_data::Label::Named("2".into()),
        ..Options::new([Input::text("a.csv", "1.5,2\n3,4\n")])
    };
    let (_, said) = read_as(options);
    assert!(said[0].ends_with("is the first line a row? then say --no-header"), "{said:?}");
    let error = refused("a.csv", "x\0,y\n1,2\n");
    assert!(error.starts_with("a.csv:1:1: a byte 0 in the header"), "{error}");
}

#[test]
fn wide_libsvm_needs_memory_for_the_features_met_only() {
    let text = "1 268435456:1\n-1 3:0.5 268435456:2 4000000000:1\n";
    let mut source = open(Options::new([Input::text("a.svm", text)])).unwrap();
    let mut block = Block::new();
    assert_eq!(source.read(&mut block, 10).unwrap(), 2);
    assert_eq!(block.bound(), 3);
    assert_eq!(
        source.decisions()[0].to_string(),
        "indices: up to 4000000000, so features are numbered as they are met, to save memory; --bits 24 hashes them"
    );
    assert_eq!(read("a.svm", text).0[1], "-1 | 3 0.5 268435456 2 4000000000 1");
    // The same names with the schema of that reading, whatever the rows.
    let known = Options {
        schema: Some(source.schema().clone()),
        ..Options::new([Input::text("b.svm", "0 3:7\n")])
    };
    assert_eq!(read_as(known).0, ["0 | 3 7"]);
    // A model with a weight for every index.
    let mut source = open(Options::new([Input::text("a.svm", "1 1:1\n")])).unwrap();
    source.read(&mut block, 10).unwrap();
    let known = Options {
        schema: Some(source.schema().clone()),
        ..Options::new([Input::text("b.svm", "0 268435456:7\n")])
    };
    let error = open(known).unwrap().read(&mut block, 10).unwrap_err().to_string();
    assert!(error.starts_with("b.svm:1:3: index 268435456; the model keeps a weight for every"));
}

#[test]
fn late_large_indices_are_numbered_as_met() {
    let text =
        "1 1:1 7:2\n".repeat(1500) + "1 3:4 268435456:1 09:1\n-1 9:3 7:1\n0 1:1 268435456:5\n";
    let mut source = open(Options::new([Input::text("a.svm", text.clone())])).unwrap();
    let mut block = Block::new();
    assert_eq!(source.read(&mut block, 2000).unwrap(), 1503);
    assert_eq!(block.bound(), 9, "7 indices, then two that are numbered as they are met");
    let remark = "indices: 268435456 after smaller ones, so new features are numbered as they are met from there on, \
                  to save memory; --bits 24 hashes them";
    assert_eq!(source.remarks()[0].to_string(), remark);
    let (rows, notes) = read("a.svm", text);
    assert_eq!(rows[1500..], ["1 | 3 4 268435456 1 9 1", "-1 | 9 3 7 1", "0 | 1 1 268435456 5"]);
    assert_eq!(notes.last().unwrap(), remark);
}

#[test]
fn carriage_returns_end_lines() {
    for (name, text) in [
        ("a.vw", "1 |a x\n-1 |a y\n"),
        ("a.csv", "x,y\n1,2\n3,4\n"),
        ("a.svm", "1 1:2\n-1 2:1\n"),
        ("a.jsonl", "{\"x\":1,\"y\":2}\n{\"x\":3,\"y\":4}\n"),
        ("a.tsv", "x\ty\n1\t2\n"),
    ] {
        let unix = read(name, text);
        assert_eq!(read(name, text.replace('\n', "\r")), unix, "{name}");
        assert_eq!(read(name, text.replace('\n', "\r\n")), unix, "{name}");
        for buffer in [1, 3, 64] {
            let inputs = [Input::text(name, text.replace('\n', "\r"))];
            assert_eq!(
                read_as(Options { buffer, ..Options::new(inputs) }),
                unix,
                "{name} {buffer}"
            );
        }
    }
}

fn utf_16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
}

#[test]
fn utf_16_is_read() {
    let text = "größe,😀,y\n1.5,2,0\nnull,4,1\n";
    let plain = read("a.csv", text);
    for bytes in [utf_16(text, u16::to_le_bytes), utf_16(text, u16::to_be_bytes)] {
        for buffer in [1, 1 << 20] {
            let inputs = [Input::text("a.csv", bytes.clone())];
            assert_eq!(read_as(Options { buffer, ..Options::new(inputs) }), plain);
        }
        let error = refused("a.csv", &bytes[..bytes.len() - 1]);
        assert!(error.contains("UTF-16") && error.contains("half a character"), "{error}");
    }
    let error = refused("a.csv", &utf_16(text, u16::to_le_bytes)[2..]);
    assert!(error.contains("a byte 0 in the header"), "{error}");
}

fn unhex(digits: &str) -> Vec<u8> {
    let byte = |k| u8::from_str_radix(&digits[k..k + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}

/// `x,y\n1,2\n`, compressed by Python.
const BZIP2: &str = "425a6839314159265359df0b503f00000358800010000430000060200030c00869b28823278bb9229c28486f85a81f80";
const XZ: &str = "fd377a585a000004e6d6b4460200210116000000742fe5a3010007782c790a312c320a0043f094645478c3cd00012008bb19d9bb1fb6f37d010000000004595a";

#[test]
fn bzip2_and_xz_are_read() {
    for (name, digits) in [("bzip2", BZIP2), ("xz", XZ)] {
        let bytes = unhex(digits);
        assert_eq!(read("a.csv.xz", bytes.clone()).0, ["2 | x 1"]);
        // Two of them make one file, as `cat` would.
        let twice = [&bytes[..], &bytes[..]].concat();
        assert_eq!(read("a", twice).0.len(), 3);
        let error = refused("a.csv", &bytes[..bytes.len() - 9]);
        assert!(error.contains(&format!("the {name} stream stops in the middle")), "{error}");
    }
}

#[test]
fn zeros_after_gzip_are_passed_over() {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"x,y\n1,2\n").unwrap();
    let member = gzip.finish().unwrap();
    let mut bytes = member.clone();
    bytes.extend([0; 700]);
    assert_eq!(read("a.csv", bytes.clone()).0, ["2 | x 1"]);
    let mut more = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    more.write_all(b"3,4\n").unwrap();
    bytes.extend(more.finish().unwrap());
    assert_eq!(read("a.csv", bytes).0, ["2 | x 1", "4 | x 3"]);
    let rubbish = refused("a.csv", [&member[..], b"rubbish at the end of it"].concat());
    assert!(rubbish.contains("the gzip stream is damaged"), "{rubbish}");
}

#[test]
fn formats_that_are_not_read_are_named() {
    assert_eq!(read("a.csv", "ORCID,y\n7,2\n").0, ["2 | ORCID 7"]);
    assert_eq!(read("a.csv", "BZh9,y\n7,2\n").0, ["2 | BZh9 7"]);
    let zip = |inside: &str| {
        let mut bytes = b"PK\x03\x04\x14\0\x06\0\x08\0".to_vec();
        bytes.resize(30, 0);
        bytes.extend(inside.as_bytes());
        bytes.resize(100, 0);
        bytes
    };
    let model = [&[200, 0, 0, 0, 0, 0, 0, 0][..], br#"{"__metadata__":{"digest":"0000"#].concat();
    for (bytes, says) in [
        (zip("data.csv"), "this is a zip archive; unpack it first"),
        (zip("[Content_Types].xml"), "this is an Excel workbook (.xlsx); save the sheet as CSV"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0".to_vec(),
            "this is an Excel workbook (.xls); save the",
        ),
        (b"Obj\x01\x04\x14avro".to_vec(), "this is an Avro file; write it as Parquet"),
        (b"ORC\x08\x03\x10".to_vec(), "this is an ORC file; write it as Parquet"),
        (model, "this is a geowalk model, not data; give it a file of rows"),
        (b"\xff\xfe\0\0x\0\0\0".to_vec(), "this is text in UTF-32; convert it (iconv"),
    ] {
        for name in ["a.csv", "-"] {
            let error = refused(name, bytes.clone());
            assert!(error.starts_with(&format!("{name}: {says}")), "{error}");
        }
    }
}

#[test]
fn the_last_of_equal_json_keys_counts() {
    for (json, expected) in [
        (r#"{"x":1,"y":0,"x":5}"#, "0 | x 5"),
        (r#"{"x":"a","y":0,"x":"b"}"#, "0 | x=b 1"),
        (r#"{"x":"a","y":0,"x":2}"#, "0 | x 2"),
        (r#"{"y":7,"x":1,"y":0}"#, "0 | x 1"),
        (r#"{"y":0,"o":{"p":1,"q":2,"p":3},"p":9}"#, "0 | o.q 2 o.p 3 p 9"),
        (r#"{"y":0,"o":{"p":1},"o":{"q":2}}"#, "0 | o.q 2"),
    ] {
        assert_eq!(read("a.jsonl", json).0, [expected], "{json}");
    }
    // No class is left behind by a label that does not count.
    let mut source = open(Options::new([Input::text("a.jsonl", r#"{"y":"a","y":"b"}"#)])).unwrap();
    source.read(&mut Block::new(), 9).unwrap();
    assert_eq!(source.schema().labels().name(0.0), Some("b"));
}

#[test]
fn lone_surrogates_stay_different() {
    let (rows, _) = read("a.jsonl", r#"{"y":0,"\ud800":1,"\ud801":2}"#);
    assert_eq!(rows, [r"0 | \ud800 1 \ud801 2"]);
}

#[test]
fn json_of_vw_is_named() {
    for text in [
        r#"{"_label":1,"a":{"x":2}}"#,
        r#"{"_label_cost":-1,"_label_probability":0.5,"c":{}}"#,
        r#"{"EventId":"7","a":[1],"c":{"_multi":[]}}"#,
    ] {
        let error = refused("a.json", text);
        assert!(error.contains("belongs to the JSON of VW, whose labels are not read"), "{error}");
    }
}

#[test]
fn vw_tags_come_last() {
    for (line, says) in [
        ("1 'tag word |a x", "a.vw:1:8: 'word' after the tag: a tag comes last before '|'"),
        ("'tag 1 |a x", "a.vw:1:6: '1' after the tag"),
        ("1 |a x\u{1}y", "a.vw:1:7: the byte 0x01 is a control character"),
        ("1 |a 1:2\u{b}2:3", "a.vw:1:9: the byte 0x0b is a control character"),
        ("1 |a x\r2 |a y\n1 |a z", "a.vw:1:7: the byte 0x0d is a control character"),
    ] {
        let error = refused("a.vw", line);
        assert!(error.starts_with(says), "{error}");
    }
    assert_eq!(read("a.vw", "1 'tag |a x\n1 tag|a x\n1\t|a x\n").0.len(), 3);
}

#[test]
fn labels_of_other_vw_problems_are_named() {
    for (line, says) in [
        ("1:2:0.4 | a", "'1:2:0.4' is action:cost:probability of a contextual bandit"),
        ("shared | a", "'shared' is the beginning of a contextual bandit with features of actions"),
        ("1:0.5 2:1 | a", "'1:0.5' is class:cost of cost-sensitive classification"),
        ("1,2,3 | a", "'1,2,3' is a list of labels"),
        ("ccb shared | a", "'ccb' is the beginning of a conditional contextual bandit"),
        ("slates shared 0.8 | a", "'slates' is the beginning of slates"),
        ("dog | a", "'dog' is a name as label"),
    ] {
        // A line that begins with a name may be anything.
        for name in if line.starts_with('d') { &["a.vw"][..] } else { &["a.vw", "-"] } {
            let error = refused(name, line);
            let expected =
                format!("{name}:1:1: {says}, which is not learned here; the label is one number");
            assert_eq!(error, expected);
        }
    }
}

#[test]
fn messages_are_one_line_without_control_characters() {
    let error = refused(
        "a.csv",
        "\"x\u{1b}[2J\n\",y\n1,0\n".to_owned() + &"1,0\n".repeat(1100) + "red\r!,0\n",
    );
    assert!(error.starts_with("a.csv:1104:1: 'red\\r!' in column 'x\\u{1b}[2J\\n'"), "{error}");
    let error = refused("b\u{202e}.vw", "\u{7}x");
    assert!(error.starts_with("b\\u{202e}.vw:1:1: the byte 0x07"), "{error}");
    let (_, said) = read("a.csv", "\"b\u{7}\",y\n1,0\n2,0\n\"x\r\",1\n");
    assert!(
        said[0].starts_with("names: column 'b\\u{7}' holds names, because of 'x\\r' in row 3"),
        "{said:?}"
    );
    let error = refused("a.jsonl", "[1]");
    assert!(error.contains("an object expected"), "{error}");
}
