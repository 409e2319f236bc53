//! LIBSVM and VW text give what a simple parser gives that splits lines at blanks and asks the standard library for numbers.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;

use geowalk::laws::Sampler;
use geowalk::row::{Block, Row};
use geowalk_data::{Features, Hashed, Index, Input, Labels, OnError, Options, Schema, open};

struct Bits(Sampler);

impl Bits {
    fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn digits(&mut self, from: usize, to: usize) -> String {
        let count = from + self.below(to - from + 1);
        (0..count).map(|_| char::from(b'0' + u8::try_from(self.below(10)).unwrap())).collect()
    }

    /// A number as it may stand in a file, now and then something that is none.
    fn value(&mut self, nasty: usize) -> String {
        if self.below(100) >= nasty {
            return format!("0.{}", self.digits(1, 7));
        }
        match self.below(8) {
            0 => format!("{}.{}", self.digits(1, 20), self.digits(1, 20)),
            1 => format!("-{}.{}", self.digits(1, 4), self.digits(1, 4)),
            2 => self.digits(1, 20),
            3 => format!("{}e-{}", self.digits(1, 5), self.below(400)),
            4 => format!("0.{}", self.digits(7, 12)),
            5 => format!("000{}", self.digits(1, 3)),
            6 => self.one_of(&["+5", ".5", "5.", "-0", "1E2", "1e+2", "-.5", "0", "1"]).to_owned(),
            _ if self.below(8) > 0 => "2.5".to_owned(),
            _ => self
                .one_of(&["inf", "nan", "1e400", "", "-", ".", "x", "1_0", "0x1", "1.2.3", "é"])
                .to_owned(),
        }
    }
}

/// A row, or the column (from 1) at which it is wrong.
type Line = Result<(f64, f64, Vec<(u32, f64)>), usize>;

/// A finite number.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Features by the numbers in the file, from 1, however large.
fn numbered() -> Schema {
    let features = Features::Index(Index { base: 1, detected: false });
    Schema::from_parts(features, Labels::Numbers, Vec::new())
}

/// What the reader makes of lines; bad ones are passed over.
fn read(format: &str, lines: &[String], ending: &str, buffer: usize) -> Vec<Line> {
    let mut text = lines.join(ending);
    if lines.len().is_multiple_of(2) {
        text.push_str(ending);
    }
    let options = Options {
        format: Some(format.to_owned()),
        schema: (format == "libsvm").then(numbered),
        on_error: OnError::Skip,
        buffer,
        ..Options::new([Input::text("a", text)])
    };
    let mut out: Vec<Option<Line>> = vec![None; lines.len()];
    let mut source = open(options).unwrap();
    let mut block = Block::new();
    while source.read(&mut block, 7).unwrap() > 0 {
        for i in 0..block.len() {
            let mut features = Vec::new();
            block.sparse(i).each(|index, value| {
                features.push((u32::try_from(index).unwrap(), value));
            });
            let line = usize::try_from(source.places().get(i).unwrap().line).unwrap();
            out[line - 1] = Some(Ok((block.labels()[i], block.weights()[i], features)));
        }
    }
    for error in source.skipped().first() {
        let position = error.position.unwrap();
        let column = usize::try_from(position.column).unwrap();
        out[usize::try_from(position.line).unwrap() - 1] = Some(Err(column));
    }
    out.into_iter().map(Option::unwrap).collect()
}

/// The blank-separated parts of a line, each with the bytes before it.
fn parts(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let at = |part: &str| part.as_ptr() as usize - line.as_ptr() as usize;
    line.split([' ', '\t']).filter(|part| !part.is_empty()).map(move |part| (at(part), part))
}

/// A column from bytes.
fn column(line: &str, bytes: usize) -> usize {
    1 + line[..bytes].chars().count()
}

fn libsvm(line: &str) -> Line {
    let mut parts = parts(line);
    let label = number(parts.next().unwrap().1).unwrap();
    let mut features: Vec<(u32, f64)> = Vec::new();
    let mut twice = None;
    for (at, part) in parts {
        let wrong = |bytes| Err(column(line, bytes));
        let Some((name, value)) = part.split_once(':') else { return wrong(at) };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_digit()) {
            return wrong(at);
        }
        let Some(index) = name
            .parse::<u32>()
            .ok()
            .filter(|index| (1..=Index::LIMIT + 1).contains(&u64::from(*index)))
        else {
            return wrong(at);
        };
        let Some(value) = number(value) else { return wrong(at + name.len() + 1) };
        if twice.is_none() && features.iter().any(|feature| feature.0 == index - 1) {
            twice = Some(at);
        }
        features.push((index - 1, value));
    }
    match twice {
        Some(at) => Err(column(line, at)),
        None => Ok((label, 1.0, features)),
    }
}

fn vw(line: &str, hashed: &mut Hashed) -> Line {
    let (head, _) = line.split_once('|').unwrap();
    let mut numbers =
        parts(head).filter(|part| !part.1.starts_with('\'')).map(|part| number(part.1).unwrap());
    let (label, importance) = (numbers.next().unwrap(), numbers.next().unwrap_or(1.0));
    let mut features: Vec<(u32, f64)> = Vec::new();
    let mut at = head.len();
    for space in line[at + 1..].split('|') {
        at += 1;
        let wrong = |bytes| Err(column(line, at + bytes));
        let touches = !space.starts_with([' ', '\t']);
        let mut parts = parts(space);
        let name = if touches { parts.next().unwrap_or((0, "")).1 } else { "" };
        let (name, weight) =
            name.split_once(':').map_or((name, Some(1.0)), |(a, b)| (a, number(b)));
        let Some(weight) = weight else { return wrong(name.len() + 1) };
        let mut nameless = 0;
        for (start, part) in parts {
            let (feature, value) = part.split_once(':').map_or((part, None), |(a, b)| (a, Some(b)));
            let counted = nameless.to_string();
            nameless += usize::from(feature.is_empty());
            let index =
                hashed.place(name, if feature.is_empty() { &counted } else { feature }).unwrap();
            let value = value.map_or(Some(weight), |value| {
                number(value).map(|value| value * weight).filter(|value| value.is_finite())
            });
            let Some(value) = value else { return wrong(start + feature.len() + 1) };
            match features.iter_mut().find(|known| known.0 == index) {
                Some(known) => known.1 += value,
                None => features.push((index, value)),
            }
        }
        at += space.len();
    }
    Ok((label, importance, features))
}

fn same(found: &Line, expected: &Line) -> bool {
    match (found, expected) {
        (Ok(found), Ok(expected)) => {
            let bits = |row: &(f64, f64, Vec<(u32, f64)>)| {
                let features: Vec<_> = row.2.iter().map(|(i, x)| (*i, x.to_bits())).collect();
                (row.0.to_bits(), row.1.to_bits(), features)
            };
            bits(found) == bits(expected)
        }
        _ => found == expected,
    }
}

fn compare(format: &str, bits: &mut Bits, lines: &[String], expected: &[Line]) {
    let (ending, buffer) = (bits.one_of(&["\n", "\r\n"]), [1, 100, 1000, 4 << 20][bits.below(4)]);
    let found = read(format, lines, ending, buffer);
    for ((line, found), expected) in lines.iter().zip(&found).zip(expected) {
        assert!(same(found, expected), "{format} {line:?}\n{found:?}\n{expected:?}");
    }
}

/// So many errors are kept to be shown.
const ERRORS: usize = 5;

#[test]
fn libsvm_is_read_as_by_a_simple_parser() {
    let mut bits = Bits(Sampler::new(11));
    let (mut rows, mut errors) = (0, 0);
    for _ in 0..400 {
        let (mut lines, mut expected, mut wrong) = (Vec::new(), Vec::new(), 0);
        while lines.len() < 2 + bits.below(12) && wrong < ERRORS {
            let mut line = bits.one_of(&["1", "-1", "+1 ", " 0.5", "1e3"]).to_owned();
            let nasty = [0, 0, 2, 30][bits.below(4)];
            let mut index = 0;
            for _ in 0..bits.below(150) {
                let gap = [3, 3000, 900_000][bits.below(3)];
                index += 1 + bits.below(gap);
                let blank =
                    if bits.below(100) < nasty { bits.one_of(&["  ", "\t", " \t "]) } else { " " };
                let name = match bits.below(1000) {
                    0..=1 => bits
                        .one_of(&["0", "x", "", "1", "268435457", "268435458", "99999999999", "-3"])
                        .to_owned(),
                    2..=20 => format!("00{index}"),
                    _ => index.to_string(),
                };
                write!(line, "{blank}{name}:{}", bits.value(nasty)).unwrap();
            }
            let row = libsvm(&line);
            wrong += usize::from(row.is_err());
            lines.push(line);
            expected.push(row);
        }
        rows += lines.len() - wrong;
        errors += wrong;
        compare("libsvm", &mut bits, &lines, &expected);
    }
    assert!(rows > 1000 && errors > 100, "{rows} {errors}");
}

#[test]
fn vw_is_read_as_by_a_simple_parser() {
    let mut bits = Bits(Sampler::new(12));
    let (mut rows, mut errors) = (0, 0);
    for _ in 0..400 {
        let mut hashed = Hashed::new(Hashed::BITS).unwrap();
        let (mut lines, mut expected, mut wrong) = (Vec::new(), Vec::new(), 0);
        while lines.len() < 2 + bits.below(12) && wrong < ERRORS {
            let mut line = bits.one_of(&["1 ", "-1 2.5 ", "0 1 'tag", "1 'é"]).to_owned();
            let nasty = [0, 0, 2, 30][bits.below(4)];
            for _ in 0..=bits.below(3) {
                line +=
                    bits.one_of(&["|f ", "|", "| ", "|user:2.5 ", "|é:-0.5 ", "|12 ", "|a^b:1e3 "]);
                if line.ends_with('|') {
                    line += " ";
                }
                for _ in 0..bits.below(100) {
                    let digits = bits.digits(1, if nasty > 0 { 12 } else { 7 });
                    let name = match bits.below(100) {
                        k if k >= nasty => digits,
                        0..=9 => format!("word{digits}"),
                        10..=14 => bits.one_of(&["", "ünï", "a^b", "-3", "x#y", "'t"]).to_owned(),
                        _ => digits,
                    };
                    line += &name;
                    if name.is_empty() || bits.below(100) >= nasty {
                        write!(line, ":{}", bits.value(nasty)).unwrap();
                    }
                    line += if bits.below(100) < nasty { bits.one_of(&["  ", "\t"]) } else { " " };
                }
            }
            let row = vw(&line, &mut hashed);
            wrong += usize::from(row.is_err());
            lines.push(line);
            expected.push(row);
        }
        rows += lines.len() - wrong;
        errors += wrong;
        compare("vw", &mut bits, &lines, &expected);
    }
    assert!(rows > 1000 && errors > 100, "{rows} {errors}");
}
