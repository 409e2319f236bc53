//! # CSV and TSV
//! A header of names, then a row per line. CSV fields may be quoted as in RFC 4180, with line ends inside; TSV has no
//! quotes, as IANA registered it. A CSV header with semicolons and no commas says that semicolons separate the fields; numbers with
//! a decimal comma are refused. Later files may have their columns in another order.
//!
//! **Types** A column is numeric if every field of the sample that is not empty is a number. Otherwise it is text if its fields are mostly
//! distinct and have several words, else nominal: one feature `column=value` per value. `nan` and `inf` do not make a column
//! nominal; they are errors of a numeric one. A column that is empty throughout the sample is decided by its first value.
//!
//! **Missing** fields are those of [the crate's policy](crate). Blanks around a field that is not quoted do not count.
//!
//! **Dense** rows of plain numbers are parsed in one go.

mod field;

use geowalk::row::Block;

use super::reader;
use super::table::{Cell, Role, Sight, Table};
use crate::Options;
use crate::bytes::{Bytes, Record};
use crate::decision::Decision;
use crate::error::{DataError, ErrorKind, Fault, excerpt};
use crate::number;
use crate::schema::{Labels, Schema};
use crate::source::{Parsed, Parser, Scan, Source};

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
    let table = Table::new(&mut options).map_err(|kind| kind.of(bytes.name()))?;
    let parser = Csv { dialect, has_header: options.header, table, decimal_comma: None };
    reader(bytes, parser, options)
}

struct Csv {
    dialect: Dialect,
    has_header: bool,
    table: Table,
    /// The first field of the sample that is a number with a decimal comma, where semicolons separate fields.
    decimal_comma: Option<String>,
}

/// Is a header a single name for commas, and several names for semicolons?
fn has_semicolons(record: Record<'_>, dialect: Dialect) -> bool {
    let bytes = record.bytes();
    dialect.separator == b',' && bytes.contains(&b';') && !bytes.contains(&b',')
}

/// Is this a number as it is written in much of Europe, 1,5?
fn has_decimal_comma(field: &[u8]) -> bool {
    let mut parts = field.splitn(2, |byte| *byte == b',');
    let whole = parts.next().unwrap_or_default();
    let whole = whole.strip_prefix(b"-").unwrap_or(whole);
    let digits = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    digits(whole) && parts.next().is_some_and(digits)
}

impl Parser for Csv {
    fn has_header(&self) -> bool {
        self.has_header
    }

    fn header(&mut self, record: Record<'_>) -> Result<(), Fault> {
        if self.table.names.is_empty() && has_semicolons(record, self.dialect) {
            self.dialect.separator = b';';
            self.table.decisions.push(Decision::Semicolons);
        }
        let mut names = Vec::new();
        for field in field::fields(record, self.dialect) {
            let (offset, field) = field?;
            match std::str::from_utf8(&field) {
                Ok(name) => names.push(name.to_owned()),
                Err(_) => return Err(ErrorKind::Utf8 { found: excerpt(&field) }.at(offset)),
            }
        }
        if self.table.names.is_empty() {
            return self.table.name_columns(names).map_err(|kind| kind.at(0));
        }
        self.table.later_names(names).map_err(|kind| kind.at(0))
    }

    #[inline]
    fn complete(&self, record: Record<'_>, scan: &mut Scan) -> bool {
        !self.dialect.quotes || field::complete(record, self.dialect.separator, scan)
    }

    fn wants_sample(&self) -> bool {
        !self.table.inferred
    }

    fn sample(&mut self, record: Record<'_>) {
        let fields: Result<Vec<_>, Fault> = field::fields(record, self.dialect).collect();
        let Ok(fields) = fields else { return };
        if self.dialect.separator == b';' && self.decimal_comma.is_none() {
            let comma =
                fields.iter().map(|(_, field)| field).find(|field| has_decimal_comma(field));
            self.decimal_comma = comma.map(|field| excerpt(field));
        }
        let Table { sample, schema, .. } = &mut self.table;
        sample.add(fields.iter().map(|(_, field)| match &**field {
            text if schema.is_missing(text) => Sight::Missing,
            text => Sight::of(text),
        }));
    }

    fn settle(&mut self) -> Result<(), ErrorKind> {
        if let Some(found) = self.decimal_comma.take() {
            return Err(ErrorKind::DecimalComma { found });
        }
        if self.table.names.is_empty() {
            let columns = &self.table.schema.columns;
            let names = if columns.is_empty() {
                (1..=self.table.sample.width).map(|k| k.to_string()).collect()
            } else {
                columns.iter().map(|c| c.name.clone()).collect()
            };
            self.table.name_columns(names)?;
        }
        self.table.settle()
    }

    fn row(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        let Table { dense, roles, schema, .. } = &mut self.table;
        if let Some(dense) = dense
            && let Some((label, weight)) =
                fast(record, roles, self.dialect.separator, &schema.labels, dense)
        {
            return match block.push_dense(dense, label, weight) {
                Ok(()) => Ok(Parsed::Row),
                Err(_) => Ok(Parsed::NextBlock),
            };
        }
        self.careful(record, block).map_err(|fault| self.ragged(record).unwrap_or(fault))
    }

    fn schema(&self) -> &Schema {
        &self.table.schema
    }

    fn decisions(&self) -> &[Decision] {
        &self.table.decisions
    }
}

/// A dense row of plain numbers; its label, NaN if the table has none, and its weight. `None` at anything that needs a closer
/// look.
#[inline]
fn fast(
    record: Record<'_>,
    roles: &[Role],
    separator: u8,
    labels: &Labels,
    dense: &mut [f64],
) -> Option<(f64, f64)> {
    if matches!(labels, Labels::Names(_)) {
        return None;
    }
    let Record { text, end } = record;
    let (mut label, mut weight) = (f64::NAN, 1.0);
    let mut at = 0;
    let mut put = |role: &Role, value: f64| {
        match role {
            Role::Number { index, .. } => *dense.get_mut(*index as usize)? = value,
            Role::Weight if value < 0.0 => return None,
            Role::Weight => weight = value,
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
    Some((label, weight))
}

impl Csv {
    /// Any row: quoted, nominal, missing, wrong.
    fn careful(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        if record.bytes().trim_ascii().is_empty() {
            return Ok(Parsed::Nothing);
        }
        self.table.begin();
        let mut count = 0;
        for field in field::fields(record, self.dialect) {
            let (offset, field) = field?;
            let fits = self.table.cell(count, Cell::Text(&field), block);
            if !fits.map_err(|kind| kind.at(offset))? {
                return Ok(Parsed::NextBlock);
            }
            count += 1;
        }
        let expected = self.table.roles.len();
        if count != expected {
            return Err(ErrorKind::Ragged { found: count, expected }.at(record.end));
        }
        self.table.end(block).map_err(|kind| kind.at(0))
    }

    /// Is the number of fields the true reason of a fault? It explains more than a name in a numeric column.
    #[cold]
    fn ragged(&self, record: Record<'_>) -> Option<Fault> {
        let fields: Result<Vec<_>, Fault> = field::fields(record, self.dialect).collect();
        let (fields, expected) = (fields.ok()?, self.table.roles.len());
        let offset = fields.get(expected).map_or(record.end, |(offset, _)| *offset);
        (fields.len() != expected)
            .then(|| ErrorKind::Ragged { found: fields.len(), expected }.at(offset))
    }
}
