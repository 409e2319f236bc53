//! # JSON lines
//! One object per line.
//!
//! | value | features |
//! |---|---|
//! | number | `name`; zeros are left out |
//! | `true`, `false` | `name`, as 1 and 0 |
//! | string | `name=value`, as 1; free text as `name=word` for every [word](crate::words), valued by its count |
//! | `null`, `NaN` | `name=missing`, as 1 |
//! | object | its members, as `name.member` |
//! | array | its elements, as `name[0]`, `name[1]`, … |
//!
//! If a key occurs twice in an object, the last one counts, as in most languages. An unpaired surrogate stays as it is
//! written, `\ud83d`.
//!
//! A name has no fixed type: a number in one row and a string in another are two features. The label is a number or a
//! class name throughout. It is a class name if it is a string anywhere in the sample. A name whose strings in the
//! sample are mostly distinct and have several words is free text. If all of its strings in the sample are
//! [dates](crate::date), it is a date.

mod cursor;
mod keys;

use std::collections::BTreeMap;

use geowalk::row::Block;

use self::cursor::{Cursor, Mode, Token};
use self::keys::Keys;
use super::reader;
use super::table::utf8;
use crate::bytes::{Bytes, Record};
use crate::columns::ColumnBuffer;
use crate::date::{Date, PARTS};
use crate::decision::Decision;
use crate::error::{DataError, ErrorKind, Fault, What, excerpt};
use crate::schema::{Column, Dictionary, Features, Kind, Labels, Schema};
use crate::sink::{Sink, Typed};
use crate::source::{Parsed, Parser, Source};
use crate::words::{Texts, Words};
use crate::{Label, Options};

/// Maximum nesting depth of objects and arrays.
const DEEPEST: usize = 64;

pub(super) fn open(bytes: Bytes, mut options: Options) -> Result<Box<dyn Source>, DataError> {
    let features = options.features(|| Features::Exact(Dictionary::default()));
    let features = features.map_err(|kind| kind.of(bytes.name()))?;
    let known = options.schema.take();
    let label = match (&options.label, &known) {
        (Label::Named(name), _) => Some(name.clone()),
        (Label::Guess, Some(schema)) => schema.label().map(str::to_owned),
        (Label::Guess, None) | (Label::Absent, _) => None,
    };
    let of_kind = |kind: Kind| -> Vec<String> {
        known.iter().flat_map(|schema| schema.of_kind(kind)).map(str::to_owned).collect()
    };
    let mut nominal = of_kind(Kind::Nominal);
    let (text, weight) = (of_kind(Kind::Text), of_kind(Kind::Weight).pop());
    if let Some(schema) = &known {
        let agrees = schema.agrees(&[], &options.text, options.weight.as_ref());
        agrees.map_err(|kind| kind.of(bytes.name()))?;
    }
    nominal.append(&mut options.nominal);
    let dates = of_kind(Kind::Date).into_iter().map(with_parts).collect();
    let parser = Jsonl {
        inferred: known.is_some(),
        schema: known.unwrap_or_else(|| Schema::from_parts(features, Labels::Numbers, Vec::new())),
        label,
        absent: options.label == Label::Absent,
        unlabelled: options.unlabelled || options.label == Label::Absent,
        weight: weight.or(options.weight.take()),
        nominal,
        text: if text.is_empty() { std::mem::take(&mut options.text) } else { text },
        dates,
        ignore: std::mem::take(&mut options.ignore),
        keys: Vec::new(),
        sampled: BTreeMap::new(),
        decisions: Vec::new(),
        path: Vec::new(),
        words: Words::default(),
        seen: None,
    };
    reader(bytes, parser, options)
}

struct Jsonl {
    schema: Schema,
    inferred: bool,
    label: Option<String>,
    /// Whether there is no label, regardless of the names.
    absent: bool,
    unlabelled: bool,
    weight: Option<String>,
    nominal: Vec<String>,
    text: Vec<String>,
    /// Names of date values, with the names of their parts.
    dates: Vec<(String, [String; 4])>,
    ignore: Vec<String>,
    /// The keys of the first object in the sample.
    keys: Vec<String>,
    /// The strings of the sample, by name.
    sampled: BTreeMap<Vec<u8>, Texts>,
    decisions: Vec<Decision>,
    /// Name of the current value.
    path: Vec<u8>,
    words: Words,
    /// Memory for the keys of a row; taken out while the row is read.
    seen: Option<Keys>,
}

impl Parser for Jsonl {
    fn wants_sample(&self) -> bool {
        !self.inferred
    }

    fn sample(&mut self, record: Record<'_>) {
        let first = self.keys.is_empty();
        // Faults are reported when the row is read.
        let _ = Cursor::new(record, Mode::Plain).members(|cursor, key| {
            if first {
                self.keys.push(String::from_utf8_lossy(key).into_owned());
            }
            self.path.clear();
            self.path.extend_from_slice(key);
            self.strings(cursor, 0)
        });
    }

    fn settle(&mut self) -> Result<(), ErrorKind> {
        if self.inferred {
            return Ok(());
        }
        let vw = ["_label", "_labelIndex", "_label_cost", "_multi", "EventId"];
        if let Some(key) = self.keys.iter().find(|key| vw.contains(&key.as_str()))
            && self.label.is_none()
        {
            return Err(ErrorKind::VwJson { key: key.clone() });
        }
        if self.label.is_none() && !self.absent {
            let taken = |name: &&str| self.ignore.iter().chain(&self.weight).any(|t| t == name);
            let there = |name: &&str| self.keys.iter().any(|key| key == name) && !taken(name);
            self.label = Labels::GUESSES.into_iter().find(there).map(str::to_owned);
            if self.label.is_none() && !self.unlabelled && !self.keys.is_empty() {
                let columns = std::mem::take(&mut self.keys);
                return Err(ErrorKind::NoLabelColumn { wanted: None, columns });
            }
        }
        let mut columns = Vec::new();
        if let Some(name) = &self.label {
            if self.sampled.contains_key(name.as_bytes()) || self.nominal.contains(name) {
                self.schema.labels = Labels::Names(Dictionary::default());
            }
            columns.push(Column { name: name.clone(), kind: Kind::Label });
        }
        for (name, texts) in &self.sampled {
            let Ok(name) = std::str::from_utf8(name) else { continue };
            let mut asked = self.ignore.iter().chain(&self.nominal).chain(&self.text);
            let asked = asked.any(|a| a == name) || self.label.as_deref() == Some(name);
            if texts.are_dates() && !asked {
                self.dates.push(with_parts(name.to_owned()));
                self.decisions.push(Decision::Dates { column: name.to_owned() });
            } else if texts.are_free() && !asked {
                self.text.push(name.to_owned());
                self.decisions.push(Decision::text(name, texts));
            }
        }
        let weight = self.weight.iter().map(|name| (name, Kind::Weight));
        let text = self.text.iter().map(|name| (name, Kind::Text));
        let nominal = self.nominal.iter().map(|name| (name, Kind::Nominal));
        let dates = self.dates.iter().map(|(name, _)| (name, Kind::Date));
        for (name, kind) in weight.chain(text).chain(nominal).chain(dates) {
            if !columns.iter().any(|column| column.name == *name) {
                columns.push(Column { name: name.clone(), kind });
            }
        }
        self.schema.columns = columns;
        self.inferred = true;
        Ok(())
    }

    fn row(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        self.parse(record, &mut Sink::Rows(block))
    }

    fn has_cells(&self) -> bool {
        true
    }

    fn cells(&mut self, record: Record<'_>, columns: &mut ColumnBuffer) -> Result<Parsed, Fault> {
        self.parse(record, &mut Sink::Columns(columns))
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn decisions(&self) -> &[Decision] {
        &self.decisions
    }
}

impl Jsonl {
    #[inline]
    fn parse(&mut self, record: Record<'_>, sink: &mut Sink<'_>) -> Result<Parsed, Fault> {
        if record.bytes().trim_ascii().is_empty() {
            return Ok(Parsed::Nothing);
        }
        let mut keys = self.seen.take().unwrap_or_default();
        let mut found = self.object(Cursor::new(record, Mode::Watch(&mut keys)), sink);
        if keys.finish() {
            sink.abandon(); // a duplicate key: read again, so that the last one counts
            found = self.object(Cursor::new(record, Mode::Last), sink);
        }
        self.seen = Some(keys);
        let (label, weight) = found?;
        let label = match label {
            Some(at) => self.label(&mut Cursor::from(record, at))?,
            None => f64::NAN,
        };
        let weight = match weight {
            Some(at) => weight_of(&mut Cursor::from(record, at))?,
            None if self.weight.is_some() => f64::NAN,
            None => 1.0,
        };
        if label.is_nan() && !self.unlabelled {
            return Err(ErrorKind::NoLabel.at(0));
        }
        if weight.is_nan() && !self.unlabelled {
            let found = "missing".to_owned();
            return Err(ErrorKind::Number { what: What::Weight, found }.at(0));
        }
        sink.end(label, if weight.is_nan() { 1.0 } else { weight });
        Ok(Parsed::Row)
    }

    /// Reads the features of a row. Returns the offsets of its label and its weight.
    fn object(
        &mut self,
        mut cursor: Cursor<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(Option<usize>, Option<usize>), Fault> {
        let (mut label, mut weight) = (None, None);
        cursor.members(|cursor, key| {
            if self.label.as_ref().is_some_and(|l| l.as_bytes() == key) {
                label = Some(cursor.at());
                return cursor.skip(0);
            }
            if self.weight.as_ref().is_some_and(|w| w.as_bytes() == key) {
                weight = Some(cursor.at());
                return cursor.skip(0);
            }
            if self.ignore.iter().any(|name| name.as_bytes() == key) {
                return cursor.skip(0);
            }
            self.path.clear();
            self.path.extend_from_slice(key);
            self.value(cursor, sink, 0)
        })?;
        cursor.finish()?;
        Ok((label, weight))
    }

    /// Counts the strings of the current value, whose name is in `path`.
    fn strings(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<(), Fault> {
        let length = self.path.len();
        match cursor.peek() {
            Some(b'{') if depth < DEEPEST => cursor.members(|cursor, key| {
                self.member(length, key);
                self.strings(cursor, depth + 1)
            }),
            Some(b'"') => {
                if let Token::Text(text) = cursor.scalar()? {
                    match self.sampled.get_mut(&self.path) {
                        Some(texts) => texts.add(&text),
                        None => self.sampled.entry(self.path.clone()).or_default().add(&text),
                    }
                }
                Ok(())
            }
            _ => cursor.skip(depth),
        }
    }

    /// Cuts the path to `length` bytes and appends the name of a member.
    fn member(&mut self, length: usize, key: &[u8]) {
        self.path.truncate(length);
        self.path.push(b'.');
        self.path.extend_from_slice(key);
    }

    fn label(&mut self, cursor: &mut Cursor<'_>) -> Result<f64, Fault> {
        let at = cursor.at();
        let token = cursor.scalar()?;
        let names = match &mut self.schema.labels {
            Labels::Numbers => None,
            Labels::Names(names) => Some(names),
        };
        let text: &[u8] = match (&token, &names) {
            (Token::Null, _) if self.unlabelled => return Ok(f64::NAN),
            (Token::Null, _) => return Err(ErrorKind::NoLabel.at(at)),
            (Token::Number { value, text }, None) if !value.is_finite() => {
                return Err(ErrorKind::Number { what: What::Label, found: excerpt(text) }.at(at));
            }
            (Token::Number { value, .. }, None) => return Ok(*value),
            (Token::Bool(value), None) => return Ok(f64::from(*value)),
            (Token::Text(text), None) => {
                let column = self.label.clone().unwrap_or_default();
                let found = excerpt(text);
                return Err(ErrorKind::TextInNumeric { column, found, advice: None }.at(at));
            }
            (Token::Number { text, .. }, Some(_)) => text,
            (Token::Bool(true), Some(_)) => b"true",
            (Token::Bool(false), Some(_)) => b"false",
            (Token::Text(text), Some(_)) => text,
        };
        names.map_or(Ok(f64::NAN), |names| {
            names.insert(text).map(f64::from).map_err(|kind| kind.at(at))
        })
    }

    /// Reads the current value, whose name is in `path`.
    fn value(
        &mut self,
        cursor: &mut Cursor<'_>,
        sink: &mut Sink<'_>,
        depth: usize,
    ) -> Result<(), Fault> {
        let at = cursor.at();
        if depth > DEEPEST {
            return Err(cursor.unexpected("nesting of at most 64 levels"));
        }
        let length = self.path.len();
        match cursor.peek() {
            Some(b'{') => cursor.members(|cursor, key| {
                self.member(length, key);
                self.value(cursor, sink, depth + 1)
            }),
            Some(b'[') => cursor.elements(|cursor, k| {
                self.path.truncate(length);
                self.path.extend_from_slice(format!("[{k}]").as_bytes());
                self.value(cursor, sink, depth + 1)
            }),
            _ => {
                let token = cursor.scalar()?;
                if let Some(parts) = self.parts() {
                    let taken = match &token {
                        Token::Text(text) => self.date(parts, text, sink),
                        Token::Null => self.no_date(parts, sink),
                        Token::Number { text, .. } => self.date(parts, text, sink),
                        Token::Bool(value) => self.date(parts, value.to_string().as_bytes(), sink),
                    };
                    return taken.map_err(|kind| kind.at(at));
                }
                let cell = match &token {
                    Token::Text(text) if self.named_in(&self.text) => {
                        return self.text(text, sink).map_err(|kind| kind.at(at));
                    }
                    Token::Null if self.named_in(&self.text) => return Ok(()),
                    Token::Number { text, .. } if self.named_in(&self.nominal) => Typed::Name(text),
                    Token::Number { value, .. } if value.is_finite() => Typed::Number(*value),
                    Token::Number { text, .. } => {
                        let what = What::Value(excerpt(&self.path));
                        return Err(ErrorKind::Number { what, found: excerpt(text) }.at(at));
                    }
                    Token::Bool(value) => Typed::Number(f64::from(*value)),
                    Token::Text(text) => Typed::Name(text),
                    Token::Null => {
                        let path = String::from_utf8_lossy(&self.path);
                        if let Sink::Rows(block) = sink
                            && let Some((index, mean)) = self.schema.fill(&path)
                        {
                            block.feature(index, mean);
                            return Ok(());
                        }
                        Typed::Missing
                    }
                };
                sink.cell(&self.path, cell, &mut self.schema.features).map_err(|kind| kind.at(at))
            }
        }
    }

    /// Index of the current value in the list of dates.
    fn parts(&self) -> Option<usize> {
        self.dates.iter().position(|(name, _)| name.as_bytes() == self.path)
    }

    fn date(&mut self, at: usize, text: &[u8], sink: &mut Sink<'_>) -> Result<(), ErrorKind> {
        let (name, parts) = &self.dates[at];
        let Some(date) = Date::parse(text.trim_ascii()) else {
            return Err(ErrorKind::NoDate { column: name.clone(), found: excerpt(text) });
        };
        for (part, cell) in parts.iter().zip(date.cells()) {
            sink.cell(part.as_bytes(), cell, &mut self.schema.features)?;
        }
        Ok(())
    }

    fn no_date(&mut self, at: usize, sink: &mut Sink<'_>) -> Result<(), ErrorKind> {
        for part in &self.dates[at].1 {
            match (&mut *sink, self.schema.fill(part)) {
                (Sink::Rows(block), Some((index, mean))) => block.feature(index, mean),
                _ => sink.cell(part.as_bytes(), Typed::Missing, &mut self.schema.features)?,
            }
        }
        Ok(())
    }

    /// Whether the current value has one of these names.
    fn named_in(&self, names: &[String]) -> bool {
        names.iter().any(|name| name.as_bytes() == self.path)
    }

    fn text(&mut self, text: &[u8], sink: &mut Sink<'_>) -> Result<(), ErrorKind> {
        let (path, features) = (&self.path, &mut self.schema.features);
        let take = |word: &[u8]| sink.cell(path, Typed::Word(word), features);
        self.words.each(path, utf8(text)?, take)
    }
}

/// The name of a date value, with the names of its parts.
fn with_parts(name: String) -> (String, [String; 4]) {
    let parts = PARTS.map(|part| format!("{name}.{part}"));
    (name, parts)
}

/// An importance weight; NaN if it is missing.
fn weight_of(cursor: &mut Cursor<'_>) -> Result<f64, Fault> {
    let at = cursor.at();
    let found = match cursor.scalar()? {
        Token::Number { value, .. } if value.is_finite() && value >= 0.0 => return Ok(value),
        Token::Number { value, .. } if value.is_finite() => {
            return Err(ErrorKind::Weight { found: value }.at(at));
        }
        Token::Null => return Ok(f64::NAN),
        Token::Number { text, .. } => excerpt(text),
        Token::Text(text) => excerpt(&text),
        Token::Bool(value) => value.to_string(),
    };
    Err(ErrorKind::Number { what: What::Weight, found }.at(at))
}
