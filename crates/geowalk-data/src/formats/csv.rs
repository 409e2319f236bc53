//! # CSV and TSV
//! A header of names, then a row per line. CSV fields may be quoted as in RFC 4180, with line ends inside; TSV has no
//! quotes, as IANA registered it.
//!
//! **Types** A column is numeric if every field of the sample that is not empty is a number, else nominal: one feature
//! `column=value` per value. `nan` and `inf` do not make a column nominal; they are errors of a numeric one. A column
//! that is empty throughout the sample is decided by its first value.
//!
//! **Missing** fields are those of [the crate's policy](crate). Blanks around a field that is not quoted do not count.
//! Zeros of numeric columns are left out of sparse rows.
//!
//! **Dense** If all columns are numeric and nothing is missing in the sample, rows are dense, parsed in one go. The first
//! missing field ends that: from its row on blocks are sparse.

mod field;
mod infer;

use geowalk::row::Block;

use self::infer::Sample;
use super::reader;
use crate::bytes::{Bytes, Record};
use crate::error::{DataError, ErrorKind, Fault, What, excerpt};
use crate::number;
use crate::schema::{Dictionary, Features, Kind, Labels, Schema};
use crate::source::{Parsed, Parser, Scan, Source};
use crate::{Label, Options};

/// What separates fields, and whether they may be quoted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    separator: u8,
    quotes: bool,
}

impl Dialect {
    pub(super) const CSV: Self = Self { separator: b',', quotes: true };
    pub(super) const TSV: Self = Self { separator: b'\t', quotes: false };
}

pub(super) fn open(
    bytes: Bytes,
    mut options: Options,
    dialect: Dialect,
) -> Result<Box<dyn Source>, DataError> {
    let features = options.features(|| Features::Exact(Dictionary::default()));
    let features = features.map_err(|kind| kind.of(bytes.name()))?;
    let known = options.schema.take();
    let parser = Csv {
        dialect,
        has_header: options.header,
        inferred: known.is_some(),
        schema: known.unwrap_or_else(|| Schema::from_parts(features, Labels::Numbers, Vec::new())),
        rules: Rules {
            label: options.label.clone(),
            unlabelled: options.unlabelled,
            nominal: std::mem::take(&mut options.nominal),
            ignore: std::mem::take(&mut options.ignore),
            missing: std::mem::take(&mut options.missing),
        },
        names: Vec::new(),
        roles: Vec::new(),
        sample: Sample::default(),
        dense: None,
    };
    reader(bytes, parser, options)
}

/// What the user asked for.
struct Rules {
    label: Label,
    unlabelled: bool,
    nominal: Vec<String>,
    ignore: Vec<String>,
    missing: Vec<String>,
}

/// What a field of the file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Ignored,
    Label,
    /// The numeric feature of this index.
    Number {
        column: usize,
        index: u32,
    },
    /// Features by name.
    Name {
        column: usize,
    },
    /// Either; the first value decides.
    Undecided {
        column: usize,
    },
}

struct Csv {
    dialect: Dialect,
    has_header: bool,
    /// Types are known: from the sample or an earlier reading.
    inferred: bool,
    schema: Schema,
    rules: Rules,
    /// Names of the file's columns.
    names: Vec<String>,
    /// What each of them is for.
    roles: Vec<Role>,
    sample: Sample,
    /// The row under construction, while rows are dense.
    dense: Option<Vec<f64>>,
}

impl Parser for Csv {
    fn has_header(&self) -> bool {
        self.has_header
    }

    fn header(&mut self, record: Record<'_>) -> Result<(), Fault> {
        let mut names = Vec::new();
        for field in field::fields(record, self.dialect) {
            let (offset, field) = field?;
            match std::str::from_utf8(&field) {
                Ok(name) => names.push(name.to_owned()),
                Err(_) => return Err(ErrorKind::Utf8 { found: excerpt(&field) }.at(offset)),
            }
        }
        if self.names.is_empty() {
            return self.name_columns(names).map_err(|kind| kind.at(0));
        }
        let differs =
            (0..names.len().max(self.names.len())).find(|&k| names.get(k) != self.names.get(k));
        match differs {
            None => Ok(()),
            Some(k) => Err(ErrorKind::Header {
                column: k + 1,
                found: names.get(k).cloned().unwrap_or_default(),
                expected: self.names.get(k).cloned().unwrap_or_default(),
            }
            .at(0)),
        }
    }

    #[inline]
    fn complete(&self, record: Record<'_>, scan: &mut Scan) -> bool {
        !self.dialect.quotes || field::complete(record, self.dialect.separator, scan)
    }

    fn wants_sample(&self) -> bool {
        !self.inferred
    }

    fn sample(&mut self, record: Record<'_>) {
        let fields: Result<Vec<_>, Fault> = field::fields(record, self.dialect).collect();
        let Ok(fields) = fields else { return };
        if !self.has_header && self.sample.is_empty() {
            self.sample.width = fields.len();
        }
        self.sample.add(fields.iter().map(|(_, field)| &**field), &self.rules.missing);
    }

    fn settle(&mut self) -> Result<(), ErrorKind> {
        if self.names.is_empty() {
            let width = if self.inferred { self.schema.columns.len() } else { self.sample.width };
            let names = match &self.schema.columns {
                columns if columns.is_empty() => (1..=width).map(|k| k.to_string()).collect(),
                columns => columns.iter().map(|c| c.name.clone()).collect(),
            };
            self.name_columns(names)?;
        }
        if !self.inferred {
            self.infer();
        }
        self.assign_roles()
    }

    fn row(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        if let Some(dense) = &mut self.dense
            && let Some(label) =
                fast(record, &self.roles, self.dialect.separator, &self.schema.labels, dense)
        {
            return match block.push_dense(dense, label, 1.0) {
                Ok(()) => Ok(Parsed::Row),
                Err(_) => Ok(Parsed::NextBlock),
            };
        }
        self.careful(record, block).map_err(|fault| self.ragged(record).unwrap_or(fault))
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }
}

/// A dense row of plain numbers; its label, NaN if the table has none. `None` at anything that needs a closer look.
#[inline]
fn fast(
    record: Record<'_>,
    roles: &[Role],
    separator: u8,
    labels: &Labels,
    dense: &mut [f64],
) -> Option<f64> {
    if matches!(labels, Labels::Names(_)) {
        return None;
    }
    let Record { text, end } = record;
    let mut label = f64::NAN;
    let mut at = 0;
    let mut put = |role: &Role, value: f64| {
        match role {
            Role::Number { index, .. } => *dense.get_mut(*index as usize)? = value,
            Role::Label => label = value,
            _ => return None,
        }
        Some(())
    };
    let (last, roles) = roles.split_last()?;
    for role in roles {
        let (value, after) = number::separated(text, at, separator)?;
        put(role, value)?;
        at = after + 1;
    }
    put(last, number::ending(text, at, end)?)?;
    Some(label)
}

/// What a field says.
enum Cell<'a> {
    Missing,
    Text(&'a [u8]),
}

impl Csv {
    /// Any row: quoted, nominal, missing, wrong.
    fn careful(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        if record.bytes().trim_ascii().is_empty() {
            return Ok(Parsed::Nothing);
        }
        let mut label = f64::NAN;
        let mut count = 0;
        for field in field::fields(record, self.dialect) {
            let (offset, field) = field?;
            let Some(&role) = self.roles.get(count) else {
                count += 1;
                continue;
            };
            let missing =
                field.is_empty() || self.rules.missing.iter().any(|m| m.as_bytes() == &*field);
            let cell = if missing { Cell::Missing } else { Cell::Text(&field) };
            match (role, &cell) {
                (Role::Ignored, _) => {}
                (Role::Label, _) => label = self.label(&cell).map_err(|kind| kind.at(offset))?,
                (_, Cell::Missing) if self.dense.is_some() && !block.is_empty() => {
                    return Ok(Parsed::NextBlock);
                }
                (_, Cell::Missing) => {
                    if let Some(filled) = self.dense.take() {
                        self.spill(&filled, count, block); // this row is the first that is not dense
                    }
                    self.missing(role, block).map_err(|kind| kind.at(offset))?;
                }
                (_, Cell::Text(text)) => {
                    self.feature(count, role, text, block).map_err(|kind| kind.at(offset))?;
                }
            }
            count += 1;
        }
        if count != self.roles.len() {
            return Err(
                ErrorKind::Ragged { found: count, expected: self.roles.len() }.at(record.end)
            );
        }
        if label.is_nan() && !self.rules.unlabelled && self.rules.label != Label::Absent {
            return Err(ErrorKind::NoLabel.at(0));
        }
        match &self.dense {
            Some(row) if block.push_dense(row, label, 1.0).is_err() => Ok(Parsed::NextBlock),
            Some(_) => Ok(Parsed::Row),
            None => {
                block.end(label, 1.0);
                Ok(Parsed::Row)
            }
        }
    }

    /// Is the number of fields the true reason of a fault? It explains more than a name in a numeric column.
    #[cold]
    fn ragged(&self, record: Record<'_>) -> Option<Fault> {
        let fields: Result<Vec<_>, Fault> = field::fields(record, self.dialect).collect();
        let (fields, expected) = (fields.ok()?, self.roles.len());
        let offset = fields.get(expected).map_or(record.end, |(offset, _)| *offset);
        (fields.len() != expected)
            .then(|| ErrorKind::Ragged { found: fields.len(), expected }.at(offset))
    }

    /// Writes what the dense row already has into the sparse one.
    fn spill(&self, filled: &[f64], count: usize, block: &mut Block) {
        for role in &self.roles[..count] {
            if let Role::Number { index, .. } = role
                && let Some(&value) = filled.get(*index as usize)
                && value != 0.0
            {
                block.feature(*index, value);
            }
        }
    }

    fn label(&mut self, cell: &Cell<'_>) -> Result<f64, ErrorKind> {
        match (cell, &mut self.schema.labels) {
            (Cell::Missing, _) if self.rules.unlabelled => Ok(f64::NAN),
            (Cell::Missing, _) => Err(ErrorKind::NoLabel),
            (Cell::Text(text), Labels::Names(names)) => Ok(f64::from(names.insert(text)?)),
            (Cell::Text(text), Labels::Numbers) => match number::field(text) {
                Some(label) if label.is_finite() => Ok(label),
                Some(_) => Err(ErrorKind::Number { what: What::Label, found: excerpt(text) }),
                None => {
                    let column = self.schema.label().unwrap_or("label").to_owned();
                    Err(ErrorKind::TextInNumeric { column, found: excerpt(text) })
                }
            },
        }
    }

    fn missing(&mut self, role: Role, block: &mut Block) -> Result<(), ErrorKind> {
        if let Role::Number { column, .. } | Role::Name { column } | Role::Undecided { column } =
            role
        {
            let name = self.schema.columns[column].name.as_bytes();
            block.feature(self.schema.features.joined(name, Some(b"missing"))?, 1.0);
        }
        Ok(())
    }

    fn feature(
        &mut self,
        at: usize,
        role: Role,
        text: &[u8],
        block: &mut Block,
    ) -> Result<(), ErrorKind> {
        match role {
            Role::Number { column, index } => {
                let name = &self.schema.columns[column].name;
                let value = match number::field(text) {
                    Some(value) if value.is_finite() => value,
                    Some(_) => {
                        let what = What::Value(name.clone());
                        return Err(ErrorKind::Number { what, found: excerpt(text) });
                    }
                    None => {
                        let column = name.clone();
                        return Err(ErrorKind::TextInNumeric { column, found: excerpt(text) });
                    }
                };
                match self.dense.as_mut().and_then(|row| row.get_mut(index as usize)) {
                    Some(place) => *place = value,
                    None if value != 0.0 => block.feature(index, value),
                    None => {}
                }
            }
            Role::Name { column } => {
                let name = self.schema.columns[column].name.as_bytes();
                block.feature(self.schema.features.joined(name, Some(text))?, 1.0);
            }
            Role::Undecided { column } => {
                let numeric = number::field(text).is_some();
                self.schema.columns[column].kind =
                    if numeric { Kind::Numeric } else { Kind::Nominal };
                self.roles[at] = self.role(column)?;
                return self.feature(at, self.roles[at], text, block);
            }
            Role::Label | Role::Ignored => {}
        }
        Ok(())
    }
}
