//! # JSON lines
//! One object per line.
//!
//! | value | features |
//! |---|---|
//! | number | `name`; zeros are left out |
//! | `true`, `false` | `name`, as 1 and 0 |
//! | string | `name=value`, as 1 |
//! | `null` | `name=missing`, as 1 |
//! | object | its members, as `name.member` |
//! | array | its elements, as `name[0]`, `name[1]`, … |
//!
//! Nothing is inferred about a name: a number today and a string tomorrow are two features. Only the label is a number or
//! a class name throughout: a class name if it is a string anywhere in the sample.

mod cursor;

use geowalk::row::Block;

use self::cursor::{Cursor, Token};
use super::reader;
use crate::bytes::{Bytes, Record};
use crate::error::{DataError, ErrorKind, Fault, What, excerpt};
use crate::schema::{Column, Dictionary, Features, Kind, Labels, Schema};
use crate::source::{Parsed, Parser, Source};
use crate::{Label, Options};

/// Objects and arrays may be nested so deep.
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
    let parser = Jsonl {
        inferred: known.is_some() || options.label == Label::Absent,
        schema: known.unwrap_or_else(|| Schema::from_parts(features, Labels::Numbers, Vec::new())),
        label,
        unlabelled: options.unlabelled || options.label == Label::Absent,
        nominal: std::mem::take(&mut options.nominal),
        ignore: std::mem::take(&mut options.ignore),
        keys: Vec::new(),
        texts: Vec::new(),
        path: Vec::new(),
    };
    reader(bytes, parser, options)
}

struct Jsonl {
    schema: Schema,
    inferred: bool,
    label: Option<String>,
    unlabelled: bool,
    nominal: Vec<String>,
    ignore: Vec<String>,
    /// The members of the first object of the sample.
    keys: Vec<String>,
    /// Members that are a string in some object of the sample.
    texts: Vec<String>,
    /// Name of the value being read.
    path: Vec<u8>,
}

impl Parser for Jsonl {
    fn wants_sample(&self) -> bool {
        !self.inferred
    }

    fn sample(&mut self, record: Record<'_>) {
        let first = self.keys.is_empty();
        let label = self.label.clone();
        let _ = Cursor::new(record).members(|cursor, key| {
            let key = String::from_utf8_lossy(key).into_owned();
            let of_interest =
                label.as_ref().map_or(Labels::GUESSES.contains(&&*key), |l| *l == key);
            if of_interest && cursor.peek() == Some(b'"') && !self.texts.contains(&key) {
                self.texts.push(key.clone());
            }
            if first {
                self.keys.push(key);
            }
            cursor.skip(0)
        });
    }

    fn settle(&mut self) -> Result<(), ErrorKind> {
        if self.inferred {
            return Ok(());
        }
        if self.label.is_none() {
            let guess = Labels::GUESSES.iter().find(|g| self.keys.iter().any(|key| key == *g));
            self.label = guess.map(|g| (*g).to_owned());
            if self.label.is_none() && !self.unlabelled && !self.keys.is_empty() {
                let columns = std::mem::take(&mut self.keys);
                return Err(ErrorKind::NoLabelColumn { wanted: None, columns });
            }
        }
        if let Some(name) = &self.label {
            if self.texts.contains(name) || self.nominal.contains(name) {
                self.schema.labels = Labels::Names(Dictionary::default());
            }
            self.schema.columns = vec![Column { name: name.clone(), kind: Kind::Label }];
        }
        self.inferred = true;
        Ok(())
    }

    fn row(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        if record.bytes().trim_ascii().is_empty() {
            return Ok(Parsed::Nothing);
        }
        let mut label = f64::NAN;
        let mut cursor = Cursor::new(record);
        cursor.members(|cursor, key| {
            if self.label.as_ref().is_some_and(|l| l.as_bytes() == key) {
                label = self.label(cursor)?;
                return Ok(());
            }
            if self.ignore.iter().any(|name| name.as_bytes() == key) {
                return cursor.skip(0);
            }
            self.path.clear();
            self.path.extend_from_slice(key);
            self.value(cursor, block, 0)
        })?;
        cursor.finish()?;
        if label.is_nan() && !self.unlabelled {
            return Err(ErrorKind::NoLabel.at(0));
        }
        block.end(label, 1.0);
        Ok(Parsed::Row)
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }
}

impl Jsonl {
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
                return Err(ErrorKind::TextInNumeric { column, found: excerpt(text) }.at(at));
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

    /// Reads the value whose name is in `path`.
    fn value(
        &mut self,
        cursor: &mut Cursor<'_>,
        block: &mut Block,
        depth: usize,
    ) -> Result<(), Fault> {
        let at = cursor.at();
        if depth > DEEPEST {
            return Err(cursor.unexpected("nesting of at most 64 levels"));
        }
        let length = self.path.len();
        match cursor.peek() {
            Some(b'{') => cursor.members(|cursor, key| {
                self.path.truncate(length);
                self.path.push(b'.');
                self.path.extend_from_slice(key);
                self.value(cursor, block, depth + 1)
            }),
            Some(b'[') => cursor.elements(|cursor, k| {
                self.path.truncate(length);
                self.path.extend_from_slice(format!("[{k}]").as_bytes());
                self.value(cursor, block, depth + 1)
            }),
            _ => {
                let (value, suffix) = match cursor.scalar()? {
                    Token::Number { text, .. } if self.is_nominal() => (1.0, Some(text.into())),
                    Token::Number { value, .. } if value.is_finite() => (value, None),
                    Token::Number { text, .. } => {
                        let what = What::Value(excerpt(&self.path));
                        return Err(ErrorKind::Number { what, found: excerpt(text) }.at(at));
                    }
                    Token::Bool(value) => (f64::from(value), None),
                    Token::Text(text) => (1.0, Some(text)),
                    Token::Null => (1.0, Some(b"missing".into())),
                };
                if value != 0.0 {
                    let index = self.schema.features.joined(&self.path, suffix.as_deref());
                    block.feature(index.map_err(|kind| kind.at(at))?, value);
                }
                Ok(())
            }
        }
    }

    fn is_nominal(&self) -> bool {
        self.nominal.iter().any(|name| name.as_bytes() == self.path)
    }
}
