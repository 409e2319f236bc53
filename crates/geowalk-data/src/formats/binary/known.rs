//! The schema as bytes: all of it at the beginning of a file, later only additions.
//!
//! A list is its length and its items; a text is its length in bytes and the bytes.

use super::broken;
use super::numbers::{pad, put, take, word};
use crate::error::ErrorKind;
use crate::schema::{Column, Features, Hashed, Index, Kind, Labels, Schema};

/// Additions to a schema.
pub(super) struct News<'a> {
    pub(super) columns: Vec<Column>,
    pub(super) missing: Vec<String>,
    /// New class names, if labels are names.
    pub(super) labels: Option<Vec<&'a str>>,
    pub(super) features: Kinds<'a>,
}

/// How features are indexed, with the new names.
pub(super) enum Kinds<'a> {
    Hashed(u32),
    Exact(Vec<&'a str>),
    Index(Index),
}

/// The part of a schema that has been written.
#[derive(Debug, Default)]
pub(super) struct Written {
    columns: Vec<Column>,
    labels: Option<usize>,
    features: usize,
}

impl Written {
    /// The whole of a schema.
    pub(super) fn of(schema: &Schema) -> Self {
        let columns = schema.columns().to_vec();
        Self { columns, labels: labels(schema), features: features(schema) }
    }

    /// Whether the schema has grown since.
    pub(super) fn is_behind(&self, schema: &Schema) -> bool {
        self.features != features(schema)
            || self.labels != labels(schema)
            || self.columns != schema.columns()
    }
}

/// Number of known class names; `None` if labels are numbers.
fn labels(schema: &Schema) -> Option<usize> {
    match schema.labels() {
        Labels::Numbers => None,
        Labels::Names(names) => Some(names.len()),
    }
}

/// Number of known feature names, if features are numbered in order of appearance; otherwise 0.
fn features(schema: &Schema) -> usize {
    match schema.features() {
        Features::Exact(names) => names.len(),
        Features::Hashed(_) | Features::Index(_) => 0,
    }
}

/// Writes the part of the schema that has not been written yet.
pub(super) fn put_news(schema: &Schema, written: &Written, out: &mut Vec<u8>) {
    out.clear();
    put(out, schema.columns().len() as u64);
    for column in schema.columns() {
        put_text(&column.name, out);
        put_text(column.kind.name(), out);
    }
    put(out, schema.missing().len() as u64);
    schema.missing().iter().for_each(|text| put_text(text, out));
    match schema.labels() {
        Labels::Numbers => put(out, 0),
        Labels::Names(names) => {
            put(out, 1);
            put_texts(names.names().skip(written.labels.unwrap_or(0)), out);
        }
    }
    match schema.features() {
        Features::Hashed(hashed) => {
            put(out, 0);
            put(out, u64::from(hashed.bits()));
        }
        Features::Exact(names) => {
            put(out, 1);
            put_texts(names.names().skip(written.features), out);
        }
        Features::Index(Index { base, detected }) => {
            put(out, 2);
            put(out, u64::from(*base));
            put(out, u64::from(*detected));
        }
    }
}

/// Reads what [`put_news`] wrote.
pub(super) fn news(mut rest: &[u8]) -> Result<News<'_>, ErrorKind> {
    let rest = &mut rest;
    let mut columns = Vec::new();
    for _ in 0..word(rest)? {
        let name = text(rest)?.to_owned();
        let kind = Kind::named(text(rest)?).ok_or_else(|| broken("a column of no known kind"))?;
        columns.push(Column { name, kind });
    }
    let missing = texts(rest)?.into_iter().map(str::to_owned).collect();
    let labels = match word(rest)? {
        0 => None,
        _ => Some(texts(rest)?),
    };
    let features = match word(rest)? {
        0 => Kinds::Hashed(small(rest)?),
        1 => Kinds::Exact(texts(rest)?),
        _ => Kinds::Index(Index { base: small(rest)?, detected: word(rest)? != 0 }),
    };
    Ok(News { columns, missing, labels, features })
}

/// Writes what is known only at the end: the number of skipped rows, and for hashed features the name of each index.
pub(super) fn put_end(schema: &Schema, skipped: u64, out: &mut Vec<u8>) {
    out.clear();
    put(out, skipped);
    let Features::Hashed(hashed) = schema.features() else { return };
    put(out, hashed.known() as u64);
    for (place, name) in hashed.names() {
        put(out, u64::from(place));
        put_text(name, out);
    }
    put(out, hashed.prints().count() as u64);
    for (place, print) in hashed.prints() {
        put(out, u64::from(place) << 16 | u64::from(print));
    }
    let strangers = hashed.strangers();
    put(out, strangers.len() as u64);
    for hash in strangers {
        put(out, hash);
    }
}

/// Reads what [`put_end`] wrote.
pub(super) fn end(mut rest: &[u8], bits: Option<u32>) -> Result<(u64, Option<Hashed>), ErrorKind> {
    let rest = &mut rest;
    let skipped = word(rest)?;
    let Some(bits) = bits else { return Ok((skipped, None)) };
    let mut names = Vec::new();
    for _ in 0..word(rest)? {
        names.push((small(rest)?, text(rest)?));
    }
    let mut prints = Vec::new();
    for _ in 0..word(rest)? {
        let both = word(rest)?;
        let place = u32::try_from(both >> 16).map_err(|_| broken("a place beyond all"))?;
        #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
        prints.push((place, both as u16));
    }
    let mut strangers = Vec::new();
    for _ in 0..word(rest)? {
        strangers.push(word(rest)?);
    }
    let hashed = Hashed::from_parts(bits, names)?.remember(prints, strangers)?;
    Ok((skipped, Some(hashed)))
}

pub(super) fn put_text(text: &str, out: &mut Vec<u8>) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
    pad(out);
}

fn put_texts<'a>(texts: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
    let at = out.len();
    put(out, 0);
    let mut count = 0_u64;
    for text in texts {
        put_text(text, out);
        count += 1;
    }
    out[at..at + 8].copy_from_slice(&count.to_le_bytes());
}

pub(super) fn text<'a>(rest: &mut &'a [u8]) -> Result<&'a str, ErrorKind> {
    let length = usize::try_from(word(rest)?).unwrap_or(usize::MAX);
    std::str::from_utf8(take(rest, length)?).map_err(|_| broken("a name that is not UTF-8"))
}

fn texts<'a>(rest: &mut &'a [u8]) -> Result<Vec<&'a str>, ErrorKind> {
    let mut all = Vec::new();
    for _ in 0..word(rest)? {
        all.push(text(rest)?);
    }
    Ok(all)
}

fn small(rest: &mut &[u8]) -> Result<u32, ErrorKind> {
    u32::try_from(word(rest)?).map_err(|_| broken("a number beyond all"))
}
