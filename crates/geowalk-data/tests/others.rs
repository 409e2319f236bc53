//! Files that others write: read as everyone reads them, or refused in words that help.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use geowalk::row::{Block, Row};
use geowalk_data::{DataError, Input, Options, Source, open};

/// All rows, each as `label | name value ...`, and everything the reader has to say.
fn rows(mut source: Box<dyn Source>) -> Result<(Vec<String>, Vec<String>), DataError> {
    let mut block = Block::new();
    let mut out = Vec::new();
    while source.read(&mut block, 7)? > 0 {
        for i in 0..block.len() {
            let mut line = format!("{} |", block.labels()[i]);
            let mut add = |index: usize, value: f64| {
                let index = u32::try_from(index).unwrap();
                let name = source.schema().features().name(index).unwrap();
                line += &format!(" {name} {value}");
            };
            match block.columns() {
                Some(_) => block.dense(i).each(&mut add),
                None => block.sparse(i).each(&mut add),
            }
            out.push(line);
        }
    }
    let said = source.decisions().iter().cloned().chain(source.remarks());
    let said = said.map(|decision| decision.to_string()).collect();
    Ok((out, said))
}

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
                "missing: 1 field counts as missing, because numbers stand in their column ('{word}' in column 'b'); \
                 to keep them as names, say --nominal 'b'"
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
