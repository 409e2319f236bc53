//! Text parsed in pieces by several, out of order: the same rows, names, places and errors as read by one.

#![allow(clippy::unwrap_used)] // test code

use geowalk::row::{Block, Row};
use geowalk_data::{Features, Indexing, Input, OnError, Options, Piece, Places, Source, open};
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::{Arc, Mutex};

/// Where bad rows go.
#[derive(Clone, Default)]
struct Bin(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Bin {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Everything that can be seen.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    rows: String,
    error: Option<String>,
    skipped: Vec<String>,
    names: String,
}

impl Seen {
    fn add(&mut self, block: &Block, places: &Places) {
        for row in 0..block.len() {
            write!(self.rows, "{}", places.get(row).unwrap()).unwrap();
            block.sparse(row).each(|i, x| write!(self.rows, " {i}:{:x}", x.to_bits()).unwrap());
            writeln!(self.rows, " = {:?} {:?}", block.labels()[row], block.weights()[row]).unwrap();
        }
    }

    fn end(mut self, source: &dyn Source) -> Self {
        self.skipped = source.skipped().first().iter().map(ToString::to_string).collect();
        self.skipped.push(source.skipped().rows().to_string());
        if let Features::Hashed(hashed) = source.schema().features() {
            self.names = format!(
                "{:?} {:?} {:?}",
                hashed.names().collect::<Vec<_>>(),
                hashed.prints().collect::<Vec<_>>(),
                hashed.strangers()
            );
        }
        self
    }
}

fn one(options: Options) -> Seen {
    let mut seen = Seen::default();
    let mut source = open(options).unwrap();
    let mut block = Block::new();
    loop {
        match source.read(&mut block, 50) {
            Ok(0) => return seen.end(source.as_ref()),
            Ok(_) => seen.add(&block, source.places()),
            Err(error) => {
                seen.error = Some(error.to_string());
                return seen.end(source.as_ref());
            }
        }
    }
}

/// Two helpers take turns by no rule; pieces wait for each other.
fn several(options: Options) -> Seen {
    let mut seen = Seen::default();
    let mut source = open(options).unwrap();
    let mut block = Block::new();
    if let Err(error) = source.read(&mut block, 3) {
        seen.error = Some(error.to_string());
        return seen.end(source.as_ref());
    }
    seen.add(&block, source.places());
    let mut helpers = [source.helper().unwrap(), source.helper().unwrap()];
    let mut turn = 0_u32;
    loop {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut last = None;
        for _ in 0..3 {
            let mut piece = Piece::default();
            turn = turn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let helper = &mut helpers[usize::from(turn >> 20 & 1 == 0)];
            match source.text().unwrap().cut(&mut piece) {
                Ok(true) => {
                    helper.parse(&mut piece);
                    pieces.push(piece);
                }
                Ok(false) => last = Some(None),
                Err(error) => last = Some(Some(error.to_string())),
            }
            if last.is_some() {
                break;
            }
        }
        for piece in &mut pieces {
            loop {
                match source.take(piece) {
                    Ok(0) => break,
                    Ok(_) => seen.add(&piece.block, &piece.places),
                    Err(error) => {
                        seen.error = Some(error.to_string());
                        return seen.end(source.as_ref());
                    }
                }
            }
        }
        if let Some(error) = last {
            seen.error = error;
            return seen.end(source.as_ref());
        }
    }
}

fn vw(rows: u32, bad: &[u32]) -> Vec<u8> {
    let mut text = Vec::new();
    for k in 0..rows {
        let j = k.wrapping_mul(2_654_435_761) >> 16;
        if bad.contains(&k) {
            text.extend_from_slice(b"1 |w a:oops b\n");
        }
        if k % 97 == 5 {
            text.extend_from_slice(b"\r\n0 |w na\xffme:2\n"); // not UTF-8: an error if its place is free
        }
        let line = format!(
            "{} {} |w word{} x{}:0.5 {}:{} |v^1 y\n",
            k % 2,
            1 + k % 3,
            j % 500,
            j % 7,
            j % 3000,
            f64::from(j) / 8.0
        );
        text.extend_from_slice(line.as_bytes());
    }
    text.pop(); // the last line has no end
    text
}

fn svm(rows: u32, bad: &[u32]) -> Vec<u8> {
    let mut text = String::new();
    for k in 0..rows {
        if bad.contains(&k) {
            text += "1 0:1\n";
        }
        if k % 50 == 3 {
            text += "# a comment\n\n";
        }
        let far = "9".repeat(if k % 61 == 0 { 200 } else { 1 }); // a line longer than a piece
        writeln!(text, "{} {}:1 {}:0.{far}", k % 4, 1 + k % 9, 20 + k).unwrap();
    }
    text.into_bytes()
}

/// The same, and rows behind the sample with indices that are numbered as they are met.
fn late(rows: u32, bad: &[u32]) -> Vec<u8> {
    let mut text = svm(1001, bad);
    for k in 0..rows {
        writeln!(text, "{} 1:0.5 {}:1 0{}:1", k % 4, 900 + k, (1 << 24) + (k % 41) * 53).unwrap();
    }
    text
}

/// Makes so many rows, with bad ones at these places.
type Make = fn(u32, &[u32]) -> Vec<u8>;

#[test]
fn pieces_give_what_the_whole_gives() {
    let cases: [(&str, Make, Indexing); 6] = [
        ("a.vw", vw, Indexing::Hashed(4)),
        ("a.vw", vw, Indexing::Hashed(10)),
        ("a.vw", vw, Indexing::Hashed(24)),
        ("a.svm", svm, Indexing::Usual),
        ("a.svm", late, Indexing::Usual),
        ("a.svm", svm, Indexing::Hashed(6)),
    ];
    for (name, make, indexing) in cases {
        for bad in [&[][..], &[0], &[400], &[150, 151, 380]] {
            for policy in ["fail", "skip", "quarantine"] {
                for buffer in [1, 40, 200, 1000, 1 << 20] {
                    let bin = Bin::default();
                    let options = || Options {
                        on_error: match policy {
                            "fail" => OnError::Fail,
                            "skip" => OnError::Skip,
                            _ => OnError::Quarantine(Box::new(bin.clone())),
                        },
                        indexing,
                        buffer,
                        ..Options::new([
                            Input::text(name, make(401, bad)),
                            Input::text("empty", ""),
                            Input::text("second", make(30, &[])),
                        ])
                    };
                    let taken = || std::mem::take(&mut *bin.0.lock().unwrap());
                    let found = (several(options()), taken());
                    let expected = (one(options()), taken());
                    assert!(
                        found == expected,
                        "{name} {indexing:?} {bad:?} {policy} {buffer}: {:?} {:?}",
                        found.0.error,
                        expected.0.error
                    );
                }
            }
        }
    }
}

/// Bytes, then an error.
struct Breaks(Vec<u8>, usize);

impl std::io::Read for Breaks {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let rest = &self.0[self.1..];
        if rest.is_empty() {
            return Err(std::io::Error::other("the disk is gone"));
        }
        let count = rest.len().min(out.len()).min(77);
        out[..count].copy_from_slice(&rest[..count]);
        self.1 += count;
        Ok(count)
    }
}

#[test]
fn a_file_that_breaks_off_breaks_off_at_the_same_row() {
    for buffer in [10, 300, 1 << 20] {
        let options = || {
            let reader = Box::new(Breaks(svm(300, &[]), 0));
            let input = Input::Reader { name: "a.svm".to_owned(), reader };
            Options { buffer, format: Some("libsvm".into()), ..Options::new([input]) }
        };
        let expected = one(options());
        assert!(expected.error.as_ref().unwrap().contains("the disk is gone"));
        assert!(several(options()) == expected, "{buffer}");
    }
}

#[test]
fn names_that_are_numbered_in_order_have_no_helpers() {
    let csv = open(Options::new([Input::text("a.csv", "x,y\n1,2\n")])).unwrap();
    assert!(csv.helper().is_none());
    let exact =
        Options { indexing: Indexing::Exact, ..Options::new([Input::text("a.vw", "1 |a b\n")]) };
    assert!(open(exact).unwrap().helper().is_none());
}
