//! # CSV and TSV
//! A header of column names, then one row per line. CSV fields may be quoted as in RFC 4180 and may then contain line
//! ends. TSV has no quotes, as registered with IANA. Later files may have their columns in another order.
//!
//! **Types** A column is numeric if every field of the sample is a number or missing. Otherwise it is text if its
//! fields are mostly distinct and have several words. All other columns are nominal, with one feature `column=value`
//! per value. `inf` does not make a column nominal; in a numeric column it is an error. If a column is missing
//! throughout the sample, its first value decides.
//!
//! **Separators** CSV uses commas, or semicolons if the first line has semicolons and no comma.
//!
//! **Missing** fields follow [the crate's policy](crate). Blanks around unquoted fields are ignored.
//!
//! **Dense** rows of plain numbers are parsed on a fast path.

mod field;

use geowalk::row::Block;

use super::reader;
use super::table::{Cell, Role, Sight, Spelling, Table};
use crate::Options;
use crate::bytes::{Bytes, Record};
use crate::columns::ColumnBuffer;
use crate::decision::Decision;
use crate::error::{DataError, ErrorKind, Fault, excerpt};
use crate::flag::Flag;
use crate::looks::Looks;
use crate::number;
use crate::schema::{Labels, Schema};
use crate::sink::Sink;
use crate::source::{Parsed, Parser, Scan, Source};

/// The field separator, and whether fields may be quoted.
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
    mut bytes: Bytes,
    mut options: Options,
    dialect: Dialect,
) -> Result<Box<dyn Source>, DataError> {
    let mut table = Table::new(&mut options).map_err(|kind| kind.of(bytes.name()))?;
    let mut dialect = dialect;
    if let Some(found) = options.separator {
        let separator = u8::try_from(found).ok().filter(|c| c.is_ascii() && !b"\"\r\n".contains(c));
        let refused = || ErrorKind::Mark { option: Flag::Separator, found }.of(bytes.name());
        dialect.separator = separator.ok_or_else(refused)?;
    } else if dialect.separator == b',' && has_semicolons(&mut bytes)? {
        dialect.separator = b';';
        table.decisions.push(Decision::Semicolons);
    }
    let parser = Csv { dialect, has_header: options.header, table };
    reader(bytes, parser, options)
}

/// Whether the first line has semicolons and no comma. Programs write such CSV in locales with a decimal comma.
fn has_semicolons(bytes: &mut Bytes) -> Result<bool, DataError> {
    bytes.pin();
    let mut semicolons = false;
    while bytes.advance()? {
        let line = bytes.record().bytes();
        if !line.trim_ascii().is_empty() {
            semicolons = line.contains(&b';') && !line.contains(&b',');
            break;
        }
    }
    bytes.rewind();
    Ok(semicolons)
}

struct Csv {
    dialect: Dialect,
    has_header: bool,
    table: Table,
}

impl Parser for Csv {
    fn has_header(&self) -> bool {
        self.has_header
    }

    fn header(&mut self, record: Record<'_>) -> Result<(), Fault> {
        let mut names = Vec::new();
        for field in field::fields(record, self.dialect) {
            let (offset, field) = field?;
            if field.contains(&0) {
                return Err(ErrorKind::NotText.at(offset));
            }
            match std::str::from_utf8(&field) {
                Ok(name) => names.push(name.to_owned()),
                Err(_) => return Err(ErrorKind::Utf8 { found: excerpt(&field) }.at(offset)),
            }
        }
        if self.table.names.is_empty() {
            if names.iter().all(|name| number::field(name.as_bytes()).is_some()) {
                self.table
                    .decisions
                    .push(Decision::NumericHeader { first: excerpt(names[0].as_bytes()) });
            }
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
        if self.is_empty(record) {
            return;
        }
        let fields: Result<Vec<_>, Fault> = field::fields(record, self.dialect).collect();
        let Ok(fields) = fields else { return };
        let Table { sample, schema, spelling, looks, .. } = &mut self.table;
        looks.resize_with(looks.len().max(fields.len()), Looks::default);
        for ((_, field), looks) in fields.iter().zip(looks.iter_mut()) {
            if !schema.is_missing(field) {
                looks.add(field);
            }
        }
        sample.add(fields.iter().map(|(_, field)| match &**field {
            text if schema.is_missing(text) => Sight::Missing,
            text => Sight::of(text, *spelling),
        }));
    }

    fn settle(&mut self) -> Result<(), ErrorKind> {
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
        let Table { dense, roles, schema, spelling, .. } = &mut self.table;
        if let Some(dense) = dense
            && *spelling == Spelling::PLAIN
            && let Some((label, weight)) =
                fast(record, roles, self.dialect.separator, &schema.labels, dense)
        {
            return match block.push_dense(dense, label, weight) {
                Ok(()) => Ok(Parsed::Row),
                Err(_) => Ok(Parsed::NextBlock),
            };
        }
        let sink = &mut Sink::Rows(block);
        self.careful(record, sink).map_err(|fault| self.ragged(record).unwrap_or(fault))
    }

    fn has_cells(&self) -> bool {
        true
    }

    fn cells(&mut self, record: Record<'_>, columns: &mut ColumnBuffer) -> Result<Parsed, Fault> {
        let Table { dense, roles, schema, spelling, .. } = &mut self.table;
        if let Some(dense) = dense
            && *spelling == Spelling::PLAIN
            && let Some((label, weight)) =
                fast(record, roles, self.dialect.separator, &schema.labels, dense)
        {
            for role in roles.iter() {
                if let Role::Number { column, index } = role {
                    let name = &schema.columns[*column].name;
                    let taken = columns.number(*column, name, dense[*index as usize]);
                    taken.map_err(|kind| kind.at(0))?;
                }
            }
            columns.end(label, weight);
            return Ok(Parsed::Row);
        }
        let sink = &mut Sink::Columns(columns);
        self.careful(record, sink).map_err(|fault| self.ragged(record).unwrap_or(fault))
    }

    fn schema(&self) -> &Schema {
        &self.table.schema
    }

    fn looks(&self) -> Vec<(&str, &Looks)> {
        let names = self.table.names.iter().map(String::as_str);
        names.zip(&self.table.looks).collect()
    }

    fn table_names(&self) -> &[String] {
        &self.table.names
    }

    fn carried(&self, record: Record<'_>) -> Option<Vec<String>> {
        if self.table.carried.is_empty() {
            return None;
        }
        let fields = field::fields(record, self.dialect).map_while(Result::ok);
        let fields: Vec<_> = fields.map(|(_, field)| field).collect();
        let text = |at: &usize| {
            let field = fields.get(*at).map(|field| String::from_utf8_lossy(field).into_owned());
            field.unwrap_or_default()
        };
        Some(self.table.carried.iter().map(text).collect())
    }

    fn decisions(&self) -> &[Decision] {
        &self.table.decisions
    }

    fn remarks(&self) -> Vec<Decision> {
        self.table.remarks()
    }
}

/// Parses a dense row of plain numbers. Returns the label (NaN if the table has none) and the weight. `None` if any
/// field needs careful parsing.
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
    /// Whether there is nothing but separators and blanks.
    fn is_empty(&self, record: Record<'_>) -> bool {
        let separates = |byte: &u8| *byte == self.dialect.separator || byte.is_ascii_whitespace();
        record.bytes().iter().all(separates)
    }

    /// Parses any row, including quoted, nominal, missing and invalid fields.
    fn careful(&mut self, record: Record<'_>, sink: &mut Sink<'_>) -> Result<Parsed, Fault> {
        if self.is_empty(record) {
            let separated = record.bytes().contains(&self.dialect.separator);
            return Ok(if separated { Parsed::Empty } else { Parsed::Nothing });
        }
        self.table.begin();
        let mut count = 0;
        for field in field::fields(record, self.dialect) {
            let (offset, field) = field?;
            let fits = self.table.cell(count, Cell::Text(&field), sink);
            if !fits.map_err(|kind| kind.at(offset))? {
                return Ok(Parsed::NextBlock);
            }
            count += 1;
        }
        let expected = self.table.roles.len();
        if count != expected {
            return Err(ErrorKind::Ragged { found: count, expected }.at(record.end));
        }
        self.table.end(sink).map_err(|kind| kind.at(0))
    }

    /// Checks whether a wrong number of fields is the cause of a fault. That is a better explanation than a name in a
    /// numeric column.
    #[cold]
    fn ragged(&self, record: Record<'_>) -> Option<Fault> {
        let fields: Result<Vec<_>, Fault> = field::fields(record, self.dialect).collect();
        let (fields, expected) = (fields.ok()?, self.table.roles.len());
        let offset = fields.get(expected).map_or(record.end, |(offset, _)| *offset);
        (fields.len() != expected)
            .then(|| ErrorKind::Ragged { found: fields.len(), expected }.at(offset))
    }
}
