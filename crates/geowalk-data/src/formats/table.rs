//! # Tables
//! Converts the cells of a row to features, label and weight. CSV, TSV, Parquet and Arrow share this code, so the same
//! table gives the same features in all of them.
//!
//! | column | features |
//! |---|---|
//! | numeric | `column`; zeros are omitted from sparse rows |
//! | nominal | `column=value`, as 1 |
//! | text | `column=word` for every [word](crate::words), valued by its count |
//! | dates | `column.year`, `column.month`, `column.days` and `column.weekday=Mon`: see [dates](crate::date) |
//! | missing, numeric or nominal | `column=missing`, as 1; for dates one per part |
//! | missing, text | none |
//!
//! **Dense** If all columns are numeric and nothing is missing in the sample, rows are dense. From the first row with
//! a missing cell on, blocks are sparse.

mod infer;
mod spelling;

use std::collections::BTreeMap;

pub(super) use self::infer::{Sample, Sight};
pub(super) use self::spelling::Spelling;
use crate::date::Date;
use crate::decision::Decision;
use crate::error::{ErrorKind, What, excerpt};
use crate::looks::Looks;
use crate::schema::{Dictionary, Features, Kind, Labels, Schema};
use crate::sink::{Sink, Typed};
use crate::source::Parsed;
use crate::words::{Texts, Words};
use crate::{Carry, Label, Options};

/// The options for columns.
pub(super) struct Rules {
    pub(super) label: Label,
    pub(super) unlabelled: bool,
    weight: Option<String>,
    nominal: Vec<String>,
    text: Vec<String>,
    ignore: Vec<String>,
    carry: Carry,
    optional: Option<Vec<String>>,
}

impl Schema {
    /// Whether this text stands for a missing value.
    pub(super) fn is_missing(&self, text: &[u8]) -> bool {
        text.is_empty() || self.missing.iter().any(|missing| missing.as_bytes() == text)
    }
}

/// The role of a cell of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Ignored,
    Label,
    Weight,
    /// The numeric feature with this index.
    Number {
        column: usize,
        index: u32,
    },
    /// Features named by value.
    Name {
        column: usize,
    },
    /// Features named by word.
    Text {
        column: usize,
    },
    /// The parts of a date.
    Date {
        column: usize,
    },
    /// A number or a name; the first value decides.
    Undecided {
        column: usize,
    },
}

/// A cell of a table.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    /// A missing value.
    Missing,
    /// A number.
    Number(f64),
    /// A text in UTF-8.
    Text(&'a [u8]),
    /// Several names in one cell.
    List(List<'a>),
}

/// The values of a column from `start` to `end`.
#[derive(Clone, Copy)]
pub struct List<'a> {
    pub(super) cells: &'a dyn Values,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// The values that a list refers to.
pub(super) trait Values {
    /// The value at this index.
    fn value(&self, k: usize) -> Cell<'_>;
}

impl<'a> List<'a> {
    fn items(self) -> impl Iterator<Item = &'a [u8]> {
        (self.start..self.end).filter_map(move |k| match self.cells.value(k) {
            Cell::Text(text) => Some(text),
            _ => None,
        })
    }

    fn joined(self) -> Vec<u8> {
        self.items().collect::<Vec<_>>().join(&b' ')
    }
}

impl std::fmt::Debug for List<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&excerpt(&self.joined()))
    }
}

impl Cell<'_> {
    /// The value as a number, finite or not; `None` if it is not a number.
    fn number(self, spelling: Spelling) -> Option<f64> {
        match self {
            Self::Missing | Self::List(_) => None,
            Self::Number(number) => Some(number),
            Self::Text(text) => spelling.number(text),
        }
    }

    /// The cell as counted in the sample. Text of a declared type counts as text even if it looks like a number.
    pub(super) fn sight(&self, schema: &Schema) -> Sight<'_> {
        match self {
            Self::Number(_) => Sight::Number,
            Self::Text(text) if !schema.is_missing(text) => Sight::Text(text),
            Self::Missing | Self::Text(_) | Self::List(_) => Sight::Missing,
        }
    }

    /// The approximate size of the cell in a text file, in bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::Missing => 1,
            Self::Number(_) => 8,
            Self::Text(text) => text.len() + 1,
            Self::List(list) => 8 * (list.end - list.start) + 1,
        }
    }

    /// The cell as a CSV field.
    pub(super) fn csv(self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => {
                format!("\"{}\"", String::from_utf8_lossy(text).replace('"', "\"\""))
            }
            Self::List(list) => Cell::Text(&list.joined()).csv(),
        }
    }

    fn excerpt(self) -> String {
        match self {
            Self::Missing => String::new(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => excerpt(text),
            Self::List(list) => excerpt(&list.joined()),
        }
    }

    /// The value as a finite number.
    fn finite(self, spelling: Spelling, what: impl FnOnce() -> What) -> Result<f64, ErrorKind> {
        match self.number(spelling) {
            Some(number) if number.is_finite() => Ok(number),
            _ => Err(ErrorKind::Number { what: what(), found: self.excerpt() }),
        }
    }

    /// The error for a cell that is not a number in a column of numbers. The types of a model cannot be changed by
    /// options.
    #[cold]
    fn no_number(self, known: bool, column: &str) -> ErrorKind {
        if known {
            return ErrorKind::Number {
                what: What::Value(column.to_owned()),
                found: self.excerpt(),
            };
        }
        let advice = match self {
            Self::Text(text) => spelling::advice(text),
            _ => None,
        };
        ErrorKind::TextInNumeric { column: column.to_owned(), found: self.excerpt(), advice }
    }
}

/// A table and its current row.
pub(super) struct Table {
    pub(super) rules: Rules,
    pub(super) schema: Schema,
    /// Whether types are known, from the sample or an earlier reading.
    pub(super) inferred: bool,
    /// Whether types are known from an earlier reading.
    known: bool,
    /// Indices of the file's columns whose numbers are days.
    pub(super) dates: Vec<usize>,
    /// The names of the parts of date columns, by column index.
    parts: BTreeMap<usize, [String; 4]>,
    /// What the values in the sample look like, by index of the file's column.
    pub(super) looks: Vec<Looks>,
    /// Indices of the file's columns that are carried.
    pub(super) carried: Vec<usize>,
    /// Names of the file's columns.
    pub(super) names: Vec<String>,
    /// The role of each of the file's columns.
    pub(super) roles: Vec<Role>,
    pub(super) sample: Sample,
    pub(super) decisions: Vec<Decision>,
    /// How numbers are written.
    pub(super) spelling: Spelling,
    /// Words that counted as missing numbers, by column: their number, and the first one.
    taken: BTreeMap<usize, (u64, String)>,
    /// The current row, while rows are dense.
    pub(super) dense: Option<Vec<f64>>,
    label: f64,
    weight: f64,
    words: Words,
    /// The latest values of columns of names, until such a column turns out to be free text.
    recent: Vec<Option<Texts>>,
}

impl Table {
    /// Number of latest values of a column that are examined together.
    const RECENT: usize = 200;

    /// Detects that a column of names has become free text.
    #[inline]
    fn watch(&mut self, column: usize, text: &[u8]) {
        let Some(Some(recent)) = self.recent.get_mut(column) else { return };
        if text.contains(&b' ') {
            recent.add(text);
        } else {
            recent.add_one_word();
        }
        if recent.values == Self::RECENT {
            self.judge(column);
        }
    }

    #[cold]
    fn judge(&mut self, column: usize) {
        let Some(recent) = self.recent[column].take() else { return };
        if recent.are_free() {
            let column = self.schema.columns[column].name.clone();
            self.decisions.push(Decision::Turned { column });
        } else {
            self.recent[column] = Some(Texts::default());
        }
    }

    /// A table whose columns are not known yet.
    pub(super) fn new(options: &mut Options) -> Result<Self, ErrorKind> {
        let features = options.features(|| Features::Exact(Dictionary::default()))?;
        let known = options.schema.take();
        let inferred = known.is_some();
        let schema =
            known.unwrap_or_else(|| Schema::from_parts(features, Labels::Numbers, Vec::new()));
        Ok(Self {
            inferred,
            schema: schema.with_missing(std::mem::take(&mut options.missing)),
            rules: Rules {
                label: options.label.clone(),
                unlabelled: options.unlabelled,
                weight: options.weight.take(),
                nominal: std::mem::take(&mut options.nominal),
                text: std::mem::take(&mut options.text),
                ignore: std::mem::take(&mut options.ignore),
                carry: std::mem::take(&mut options.carry),
                optional: options.optional.take(),
            },
            known: inferred,
            dates: Vec::new(),
            parts: BTreeMap::new(),
            looks: Vec::new(),
            carried: Vec::new(),
            names: Vec::new(),
            roles: Vec::new(),
            sample: Sample::default(),
            decisions: Vec::new(),
            spelling: Spelling::new(options.decimal, options.thousands)?,
            taken: BTreeMap::new(),
            dense: None,
            label: f64::NAN,
            weight: 1.0,
            words: Words::default(),
            recent: Vec::new(),
        })
    }

    /// Begins a row.
    pub(super) fn begin(&mut self) {
        self.begin_with(f64::NAN, 1.0);
    }

    /// Begins a row whose label and weight are known.
    pub(super) fn begin_with(&mut self, label: f64, weight: f64) {
        (self.label, self.weight) = (label, weight);
    }

    /// Adds the cell of column `at`; `false` if the row does not fit in this block.
    pub(super) fn cell(
        &mut self,
        at: usize,
        cell: Cell<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<bool, ErrorKind> {
        let Some(&role) = self.roles.get(at) else { return Ok(true) };
        let mut word = None;
        let cell = match cell {
            Cell::Text(text) if self.schema.is_missing(text) => Cell::Missing,
            Cell::Text(text) if self.takes_words(role) && spelling::is_missing_word(text) => {
                word = Some(text);
                Cell::Missing
            }
            cell => cell,
        };
        match (role, cell) {
            (Role::Ignored, _) => {}
            (Role::Label, _) => self.label = self.label(cell)?,
            (Role::Weight, _) => self.weight = self.weight(cell)?,
            (_, Cell::Missing) => {
                if let Sink::Rows(block) = sink {
                    if self.dense.is_some() && !block.is_empty() {
                        return Ok(false);
                    }
                    if let Some(filled) = self.dense.take() {
                        self.spill(&filled, at, block); // this is the first row that is not dense
                    }
                }
                self.missing(role, sink)?;
                if let Some(word) = word {
                    self.taken.entry(at).or_insert_with(|| (0, excerpt(word))).0 += 1;
                }
            }
            (_, cell) => self.feature(at, role, cell, sink)?,
        }
        Ok(true)
    }

    /// Whether the usual words for missing values count as missing in such a column.
    fn takes_words(&self, role: Role) -> bool {
        match role {
            Role::Number { .. } | Role::Date { .. } | Role::Undecided { .. } | Role::Weight => true,
            Role::Label => matches!(self.schema.labels, Labels::Numbers),
            Role::Name { .. } | Role::Text { .. } | Role::Ignored => false,
        }
    }

    /// Decisions known only at the end.
    pub(super) fn remarks(&self) -> Vec<Decision> {
        let Some((&at, (_, word))) = self.taken.first_key_value() else { return Vec::new() };
        vec![Decision::Missing {
            fields: self.taken.values().map(|(count, _)| count).sum(),
            word: word.clone(),
            column: self.names.get(at).cloned().unwrap_or_default(),
            columns: self.taken.len(),
        }]
    }

    /// Ends the row.
    pub(super) fn end(&mut self, sink: &mut Sink<'_>) -> Result<Parsed, ErrorKind> {
        if self.label.is_nan() && !self.rules.unlabelled && self.rules.label != Label::Absent {
            return Err(ErrorKind::NoLabel);
        }
        match (sink, &self.dense) {
            (Sink::Columns(columns), _) => columns.end(self.label, self.weight),
            (Sink::Rows(block), Some(row)) => {
                if block.push_dense(row, self.label, self.weight).is_err() {
                    return Ok(Parsed::NextBlock);
                }
            }
            (Sink::Rows(block), None) => block.end(self.label, self.weight),
        }
        Ok(Parsed::Row)
    }

    /// Copies the values of the dense row to the sparse row.
    fn spill(&self, filled: &[f64], count: usize, block: &mut geowalk::row::Block) {
        for role in &self.roles[..count] {
            if let Role::Number { index, .. } = role
                && let Some(&value) = filled.get(*index as usize)
                && value != 0.0
            {
                block.feature(*index, value);
            }
        }
    }

    fn label(&mut self, cell: Cell<'_>) -> Result<f64, ErrorKind> {
        match (cell, &mut self.schema.labels) {
            (Cell::Missing, _) if self.rules.unlabelled => Ok(f64::NAN),
            (Cell::Missing, _) => Err(ErrorKind::NoLabel),
            (Cell::Text(text), Labels::Names(names)) => Ok(f64::from(names.insert(text)?)),
            (Cell::List(list), Labels::Names(_)) => {
                Err(ErrorKind::ManyLabels { found: excerpt(&list.joined()) })
            }
            (Cell::Number(number), Labels::Names(names)) => {
                Ok(f64::from(names.insert(number.to_string().as_bytes())?))
            }
            (cell, Labels::Numbers) if cell.number(self.spelling).is_some() => {
                cell.finite(self.spelling, || What::Label)
            }
            (cell, Labels::Numbers) => {
                Err(cell.no_number(self.known, self.schema.label().unwrap_or("label")))
            }
        }
    }

    fn weight(&self, cell: Cell<'_>) -> Result<f64, ErrorKind> {
        if matches!(cell, Cell::Missing) && self.rules.unlabelled {
            return Ok(1.0);
        }
        match cell.finite(self.spelling, || What::Weight)? {
            found if found < 0.0 => Err(ErrorKind::Weight { found }),
            weight => Ok(weight),
        }
    }

    fn missing(&mut self, role: Role, sink: &mut Sink<'_>) -> Result<(), ErrorKind> {
        if let Role::Date { column } = role {
            for name in self.parts.get(&column).into_iter().flatten() {
                match (&mut *sink, self.schema.fill(name)) {
                    (Sink::Rows(block), Some((index, mean))) => block.feature(index, mean),
                    _ => sink.cell(name.as_bytes(), Typed::Missing, &mut self.schema.features)?,
                }
            }
        }
        if let Role::Number { column, .. } | Role::Name { column } | Role::Undecided { column } =
            role
        {
            let name = &self.schema.columns[column].name;
            if let (Role::Number { .. }, Sink::Rows(block)) = (role, &mut *sink) {
                let name = name.clone();
                if let Some((index, mean)) = self.schema.fill(&name) {
                    block.feature(index, mean);
                    return Ok(());
                }
            }
            let name = &self.schema.columns[column].name;
            sink.cell(name.as_bytes(), Typed::Missing, &mut self.schema.features)?;
        }
        Ok(())
    }

    fn feature(
        &mut self,
        at: usize,
        role: Role,
        cell: Cell<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<(), ErrorKind> {
        let Self { schema, words, spelling, .. } = self;
        match role {
            Role::Number { column, index } => {
                let name = &schema.columns[column].name;
                if cell.number(*spelling).is_none() {
                    return Err(cell.no_number(self.known, name));
                }
                let value = cell.finite(*spelling, || What::Value(name.clone()))?;
                let place = self.dense.as_mut().and_then(|row| row.get_mut(index as usize));
                match (sink, place) {
                    (Sink::Columns(columns), _) => columns.number(column, name, value)?,
                    (Sink::Rows(_), Some(place)) => *place = value,
                    (Sink::Rows(block), None) if value != 0.0 => block.feature(index, value),
                    (Sink::Rows(_), None) => {}
                }
            }
            Role::Name { column } | Role::Text { column } => {
                if let Cell::List(list) = cell {
                    let name = schema.columns[column].name.as_bytes();
                    for item in list.items() {
                        sink.cell(name, Typed::Item(item), &mut schema.features)?;
                    }
                    return Ok(());
                }
                let number;
                let text = match cell {
                    Cell::Text(text) => text,
                    cell => {
                        number = cell.excerpt();
                        number.as_bytes()
                    }
                };
                let (name, features) =
                    (schema.columns[column].name.as_bytes(), &mut schema.features);
                if role == (Role::Name { column }) {
                    sink.cell(name, Typed::Name(text), features)?;
                    self.watch(column, text);
                    return Ok(());
                }
                words.each(name, utf8(text)?, |word| -> Result<(), ErrorKind> {
                    sink.cell(name, Typed::Word(word), features)
                })?;
            }
            Role::Date { column } => {
                let date = match cell {
                    Cell::Text(text) => Date::parse(text.trim_ascii()),
                    Cell::Number(days) => Date::of_days(days),
                    Cell::Missing | Cell::List(_) => None,
                };
                let Some(date) = date else {
                    let column = schema.columns[column].name.clone();
                    return Err(ErrorKind::NoDate { column, found: cell.excerpt() });
                };
                let parts = self.parts.get(&column).into_iter().flatten();
                for (name, cell) in parts.zip(date.cells()) {
                    sink.cell(name.as_bytes(), cell, &mut schema.features)?;
                }
            }
            Role::Undecided { column } => {
                let numeric = cell.number(*spelling).is_some();
                schema.columns[column].kind = if numeric { Kind::Numeric } else { Kind::Nominal };
                self.roles[at] = self.role(column)?;
                return self.feature(at, self.roles[at], cell, sink);
            }
            Role::Label | Role::Weight | Role::Ignored => {}
        }
        Ok(())
    }
}

/// The text as UTF-8. If it is invalid, the error quotes the word with the invalid bytes.
pub(crate) fn utf8(text: &[u8]) -> Result<&str, ErrorKind> {
    std::str::from_utf8(text).map_err(|error| {
        let (before, after) = text.split_at(error.valid_up_to());
        let start = before.iter().rposition(u8::is_ascii_whitespace).map_or(0, |blank| blank + 1);
        let end = after.iter().position(u8::is_ascii_whitespace).unwrap_or(after.len());
        ErrorKind::Utf8 { found: excerpt(&text[start..before.len() + end]) }
    })
}
