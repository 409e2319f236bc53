//! # Columns from cells
//! Collects the typed cells of a reader into [`Columns`], from which boosting and trees learn.
//!
//! | data | columns |
//! |---|---|
//! | tables | in the order of the schema; dates as their parts; last a column of counts per word of free text |
//! | JSON | one of numbers or names per key; an absent key counts as 0 or as a missing name |
//! | VW, LIBSVM | one of numbers per feature; absent features are 0 |
//!
//! A JSON key with both numbers and names has two columns; the second one is called `key=`.
//!
//! **Cost** Proportional to the values in the rows, not to the number of columns: a row writes only to the columns it
//! has values for.

use geowalk::row::{Block, Column, Columns, MISSING, Row, SparseValues, TableError};

use crate::date::PARTS;
use crate::error::{DataError, ErrorKind};
use crate::schema::{ColumnKinds, Dictionary, FeatureKey, Features, Kind, Schema};
use crate::sink::Typed;
use crate::source::Source;

/// The source of the values of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A column of a table, or a JSON key.
    Cell,
    /// The count of a word in a column of free text.
    Word {
        /// Name of the text column.
        column: String,
        /// The word, in lower case.
        word: String,
    },
    /// A part of a date column.
    Date {
        /// Name of the date column.
        column: String,
    },
    /// A feature of sparse rows; absent features are 0.
    Entry,
}

/// The description of a column, without its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Its name.
    pub name: String,
    /// The known names, ordered by code; `None` for a column of numbers.
    pub names: Option<Vec<String>>,
    /// Whether some values are missing.
    pub gaps: bool,
    /// The source of the values.
    pub origin: Origin,
    /// Fields of a table that count as missing, in addition to the empty field.
    pub missing: Vec<String>,
}

impl Heading {
    /// `color = red`, or `color ≠ red` if `is` is false, for the name with this code. Boolean columns give `flag` and
    /// `not flag`.
    pub fn says(&self, code: u32, is: bool) -> String {
        let name = &self.name;
        let names = self.names.as_deref().unwrap_or_default();
        let truth = |value: &String| match value.as_str() {
            "true" | "True" => Some(true),
            "false" | "False" => Some(false),
            _ => None,
        };
        let value = names.get(code as usize);
        if names.iter().all(|value| truth(value).is_some())
            && let Some(truth) = value.and_then(truth)
            && (is || !self.gaps)
        {
            return if truth == is { name.clone() } else { format!("not {name}") };
        }
        let value = value.map_or("?", String::as_str);
        if is { format!("{name} = {value}") } else { format!("{name} ≠ {value}") }
    }
}

/// The values collected for a column.
#[derive(Debug, Clone)]
enum Growing {
    /// No value yet, only rows where it is missing.
    Nothing(Vec<u32>),
    /// A number for every row.
    Numbers(Vec<f64>),
    /// Rows and their numbers; all other rows are 0.
    Entries(Vec<u32>, Vec<f64>),
    /// Codes of names; rows after the last code have none.
    Names(Vec<u32>, Dictionary),
}

#[derive(Debug, Clone)]
struct Gathered {
    name: String,
    origin: Origin,
    values: Growing,
    gaps: bool,
    /// Whether the column has a cell in every row, as in a table. Otherwise, absent numbers are 0.
    is_cell: bool,
}

/// The column that a feature of a row belongs to.
#[derive(Debug, Clone, Copy)]
enum Slot {
    Number(usize),
    Name(usize, u32),
    Missing(usize),
    /// A feature that the model does not have.
    Nothing,
}

/// The value that a cell puts into its column.
#[derive(Debug, Clone, Copy)]
enum Put {
    Number(f64),
    /// Adds to the number of the row.
    More(f64),
    Code(u32),
    Missing,
}

/// Collects columns. Columns of the schema come first, in its order.
///
/// ```
/// use geowalk_data::{ColumnBuffer, Input, Options, open};
/// let csv = "color,class\nmissing,yes\n,no\n";
/// let mut source = open(Options::new([Input::text("a.csv", csv)]))?;
/// let mut buffer = ColumnBuffer::new(source.schema());
/// assert_eq!(source.read_columns(&mut buffer, 10)?, 2);
/// let (columns, labels, _) = buffer.take()?;
/// assert!(!columns.columns()[0].values().missing(0) && columns.columns()[0].values().missing(1));
/// assert_eq!(labels, [0.0, 1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ColumnBuffer {
    columns: Vec<Gathered>,
    /// Index of the column of numbers with each name.
    numbers: Places,
    /// Index of the column of names, or of words, with each name.
    names: Places,
    /// Names whose columns have no value yet.
    open: Places,
    /// For each schema column, the index of its column of numbers.
    fixed: Vec<usize>,
    /// The column of each feature, for rows of features.
    slots: Vec<Slot>,
    row: Vec<(usize, Put)>,
    labels: Vec<f64>,
    weights: Vec<f64>,
    tabular: bool,
    /// Whether the columns are those of a model; then new columns are ignored.
    closed: bool,
    /// For each column of the model, the number of known names and the number of rows with other names.
    known: Vec<(usize, u64)>,
    missing: Vec<String>,
}

/// Indices of columns by name.
#[derive(Debug, Clone, Default)]
struct Places {
    names: Dictionary,
    places: Vec<usize>,
}

impl Places {
    const NONE: usize = usize::MAX;

    fn get(&self, name: &[u8]) -> Option<usize> {
        let number = self.names.find_bytes(name)?;
        self.places.get(number as usize).copied().filter(|place| *place != Self::NONE)
    }

    fn put(&mut self, name: &[u8], place: usize) -> Result<(), ErrorKind> {
        let number = self.names.insert(name)? as usize;
        self.places.resize(self.places.len().max(number + 1), Self::NONE);
        self.places[number] = place;
        Ok(())
    }

    fn remove(&mut self, name: &[u8]) {
        if let Some(number) = self.names.find_bytes(name) {
            self.places[number as usize] = Self::NONE;
        }
    }
}

impl ColumnBuffer {
    /// A buffer with the columns of a schema and no rows.
    pub fn new(schema: &Schema) -> Self {
        let mut buffer = Self {
            columns: Vec::new(),
            numbers: Places::default(),
            names: Places::default(),
            open: Places::default(),
            fixed: vec![Places::NONE; schema.columns().len()],
            slots: Vec::new(),
            row: Vec::new(),
            labels: Vec::new(),
            weights: Vec::new(),
            tabular: !schema.columns().is_empty(),
            closed: false,
            known: Vec::new(),
            missing: schema.missing().to_vec(),
        };
        for (k, column) in schema.columns().iter().enumerate() {
            if column.kind == Kind::Date {
                for part in PARTS {
                    let values = match part {
                        "weekday" => Growing::Names(Vec::new(), Dictionary::default()),
                        _ => Growing::Numbers(Vec::new()),
                    };
                    let name = format!("{}.{part}", column.name);
                    if let Ok(at) = buffer.add(name.as_bytes(), values, true) {
                        buffer.columns[at].origin = Origin::Date { column: column.name.clone() };
                    }
                }
                continue;
            }
            let values = match column.kind {
                Kind::Numeric => Growing::Numbers(Vec::new()),
                Kind::Nominal => Growing::Names(Vec::new(), Dictionary::default()),
                Kind::Undecided => Growing::Nothing(Vec::new()),
                Kind::Text | Kind::Date | Kind::Label | Kind::Weight | Kind::Ignored => {
                    continue;
                }
            };
            let is_number = matches!(values, Growing::Numbers(_));
            // Column names are valid text and distinct.
            if let Ok(at) = buffer.add(column.name.as_bytes(), values, true)
                && is_number
            {
                buffer.fixed[k] = at;
            }
        }
        buffer
    }

    /// A buffer with the `count` columns of a model that has this schema. Other columns are ignored.
    pub fn known(schema: &Schema, count: usize) -> Result<Self, ErrorKind> {
        let mut buffer = Self::new(schema);
        let features = match schema.features() {
            Features::Exact(names) => names.len(),
            Features::Index(_) => count,
            Features::Hashed(_) => 0,
        };
        buffer.extend_slots(schema, features)?;
        buffer.closed = true;
        let known = |column: &Gathered| match &column.values {
            Growing::Names(_, names) => (names.len(), 0),
            _ => (usize::MAX, 0),
        };
        buffer.known = buffer.columns.iter().map(known).collect();
        Ok(buffer)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// Number of stored values: dense numbers, nonzero numbers, and codes.
    pub fn stored(&self) -> usize {
        let stored = |column: &Gathered| match &column.values {
            Growing::Nothing(_) => 0,
            Growing::Numbers(values) => values.len(),
            Growing::Entries(rows, _) => 2 * rows.len(),
            Growing::Names(codes, _) => codes.len() / 2,
        };
        self.columns.iter().map(stored).sum()
    }

    /// The descriptions of the columns.
    pub fn headings(&self) -> Vec<Heading> {
        let heading = |column: &Gathered| Heading {
            name: column.name.clone(),
            names: match &column.values {
                Growing::Names(_, names) => Some(names.names().map(str::to_owned).collect()),
                _ => None,
            },
            gaps: column.gaps,
            origin: column.origin.clone(),
            missing: self.missing.clone(),
        };
        self.columns.iter().map(heading).collect()
    }

    /// The columns with names that the model does not know: name, number of such rows, first such name.
    pub fn unseen(&self) -> impl Iterator<Item = (&str, u64, &str)> {
        let columns = self.columns.iter().zip(&self.known).filter(|(_, (_, rows))| *rows > 0);
        columns.filter_map(|(column, (known, rows))| match &column.values {
            Growing::Names(_, names) => {
                let first = names.name(u32::try_from(*known).unwrap_or(MISSING))?;
                Some((column.name.as_str(), *rows, first))
            }
            _ => None,
        })
    }

    /// The schema of these columns. It is that of the reader, but its features are the numbers, names, words and gaps
    /// of the columns, column by column.
    pub fn schema(&self, schema: &Schema) -> Result<Schema, ErrorKind> {
        let mut own = schema.clone();
        if let Features::Index(_) = schema.features() {
            return Ok(own);
        }
        let mut features = Features::Exact(Dictionary::default());
        for column in &self.columns {
            let name = column.name.strip_suffix('=').filter(|name| self.is_second(column, name));
            let name = name.unwrap_or(&column.name);
            match (&column.values, &column.origin) {
                (Growing::Names(_, names), _) => {
                    for value in names.names() {
                        features.is(name.as_bytes(), value.as_bytes())?;
                    }
                }
                (Growing::Nothing(_), _) => {}
                (_, Origin::Word { column, word }) => {
                    features.joined(column.as_bytes(), word.as_bytes())?;
                }
                _ => _ = features.named(name.as_bytes())?,
            }
            if column.gaps || matches!(column.values, Growing::Nothing(_)) {
                features.gap(name.as_bytes())?;
            }
        }
        own.features = features;
        Ok(own)
    }

    /// Whether this is the second of two columns for one key.
    fn is_second(&self, column: &Gathered, name: &str) -> bool {
        match &column.values {
            Growing::Names(..) => self.numbers.get(name.as_bytes()).is_some(),
            _ => self.names.get(name.as_bytes()).is_some(),
        }
    }

    /// Removes and returns the rows, their labels and their weights. Columns and names are kept.
    pub fn take(&mut self) -> Result<(Columns, Vec<f64>, Vec<f64>), TableError> {
        let rows = self.labels.len();
        for (column, (known, new)) in self.columns.iter().zip(&mut self.known) {
            if let Growing::Names(codes, _) = &column.values {
                let is_new = |code: &&u32| **code as usize >= *known && **code != MISSING;
                *new += codes.iter().filter(is_new).count() as u64;
            }
        }
        let column = |column: &mut Gathered| {
            let name = column.name.as_str();
            match &mut column.values {
                Growing::Nothing(gaps) => {
                    gaps.clear();
                    Column::numeric(name, vec![f64::NAN; rows])
                }
                Growing::Numbers(values) => {
                    let mut values = std::mem::take(values);
                    values.resize(rows, 0.0);
                    Column::numeric(name, values)
                }
                Growing::Entries(at, values) => {
                    let (at, values) = (std::mem::take(at), std::mem::take(values));
                    let values = SparseValues::new(rows, at, values);
                    if values.is_mostly_zero() {
                        Column::sparse(name, values)
                    } else {
                        Column::numeric(name, values.dense())
                    }
                }
                Growing::Names(codes, names) => {
                    let mut codes = std::mem::take(codes);
                    codes.resize(rows, MISSING);
                    Column::nominal(name, codes, names.names())
                }
            }
        };
        let columns = Columns::new(self.columns.iter_mut().map(column).collect())?;
        Ok((columns, std::mem::take(&mut self.labels), std::mem::take(&mut self.weights)))
    }

    fn add(&mut self, name: &[u8], values: Growing, is_cell: bool) -> Result<usize, ErrorKind> {
        let at = self.columns.len();
        let text = crate::formats::utf8(name)?.to_owned();
        let second = match &values {
            Growing::Nothing(_) => {
                self.open.put(name, at)?;
                false
            }
            Growing::Numbers(_) | Growing::Entries(..) => {
                self.numbers.put(name, at)?;
                self.names.get(name).is_some()
            }
            Growing::Names(..) => {
                self.names.put(name, at)?;
                self.numbers.get(name).is_some()
            }
        };
        let name = if second { format!("{text}=") } else { text };
        let origin = if self.tabular { Origin::Cell } else { Origin::Entry };
        self.columns.push(Gathered { name, origin, values, gaps: false, is_cell });
        Ok(at)
    }

    /// The column of numbers with this name; `None` if the model has none.
    fn number_column(&mut self, name: &[u8]) -> Result<Option<usize>, ErrorKind> {
        if let Some(at) = self.numbers.get(name) {
            return Ok(Some(at));
        }
        if let Some(at) = self.open.get(name) {
            self.open.remove(name);
            self.numbers.put(name, at)?;
            let column = &mut self.columns[at];
            let Growing::Nothing(gaps) = &mut column.values else { return Ok(Some(at)) };
            let gaps = std::mem::take(gaps);
            let values = vec![f64::NAN; gaps.len()];
            column.values = if column.is_cell {
                Growing::Numbers(vec![f64::NAN; self.labels.len()])
            } else {
                Growing::Entries(gaps, values)
            };
            return Ok(Some(at));
        }
        if self.closed {
            return Ok(None);
        }
        self.add(name, Growing::Entries(Vec::new(), Vec::new()), false).map(Some)
    }

    /// The column of names with this name; `None` if the model has none.
    fn name_column(&mut self, name: &[u8]) -> Result<Option<usize>, ErrorKind> {
        if let Some(at) = self.names.get(name) {
            return Ok(Some(at));
        }
        let values = Growing::Names(Vec::new(), Dictionary::default());
        if let Some(at) = self.open.get(name) {
            self.open.remove(name);
            self.names.put(name, at)?;
            self.columns[at].values = values;
            return Ok(Some(at));
        }
        if self.closed {
            return Ok(None);
        }
        self.add(name, values, false).map(Some)
    }

    /// The column of a word. `key` is `column=word`, and `stem` is the length of the column name. `None` if the model
    /// has none.
    fn word_column(&mut self, key: &[u8], stem: usize) -> Result<Option<usize>, ErrorKind> {
        if let Some(at) = self.numbers.get(key) {
            return Ok(Some(at));
        }
        if self.closed {
            return Ok(None);
        }
        let at = self.add(key, Growing::Entries(Vec::new(), Vec::new()), false)?;
        let text = |part| crate::formats::utf8(part).map(str::to_owned);
        let origin = Origin::Word { column: text(&key[..stem])?, word: text(&key[stem + 1..])? };
        self.columns[at].origin = origin;
        Ok(Some(at))
    }

    /// The column with this name and any content; a new one without values if there is none.
    fn any_column(&mut self, name: &[u8]) -> Result<Option<usize>, ErrorKind> {
        let found = self.numbers.get(name).or_else(|| self.names.get(name));
        if let Some(at) = found.or_else(|| self.open.get(name)) {
            return Ok(Some(at));
        }
        if self.closed {
            return Ok(None);
        }
        self.add(name, Growing::Nothing(Vec::new()), false).map(Some)
    }

    /// The code of a name in a column of names; a new name gets a new code.
    fn code(&mut self, at: usize, name: &[u8]) -> Result<u32, ErrorKind> {
        match &mut self.columns[at].values {
            Growing::Names(_, names) => names.insert(name),
            _ => Ok(MISSING),
        }
    }

    /// Takes a number of schema column `k`. The name is compared, because the schema of a source may differ from that
    /// of these columns.
    #[inline]
    pub(crate) fn number(&mut self, k: usize, name: &str, value: f64) -> Result<(), ErrorKind> {
        match self.fixed.get(k).and_then(|at| self.columns.get(*at).map(|column| (*at, column))) {
            Some((at, column)) if column.name == name => {
                self.row.push((at, Put::Number(value)));
                Ok(())
            }
            _ => self.cell(name.as_bytes(), Typed::Number(value)),
        }
    }

    /// Takes a cell of the current row.
    pub(crate) fn cell(&mut self, column: &[u8], cell: Typed<'_>) -> Result<(), ErrorKind> {
        let put = match cell {
            Typed::Number(value) => self.number_column(column)?.map(|at| (at, Put::Number(value))),
            Typed::Name(name) => match self.name_column(column)? {
                Some(at) => Some((at, Put::Code(self.code(at, name)?))),
                None => None,
            },
            Typed::Item(name) => {
                let key = [column, b"=", name].concat();
                self.word_column(&key, column.len())?.map(|at| (at, Put::More(1.0)))
            }
            Typed::Word(key) => self.word_column(key, column.len())?.map(|at| (at, Put::More(1.0))),
            Typed::Missing => self.any_column(column)?.map(|at| (at, Put::Missing)),
        };
        self.row.extend(put);
        Ok(())
    }

    /// Takes the features of a row.
    pub(crate) fn features<X: Row<f64>>(
        &mut self,
        row: X,
        schema: &Schema,
    ) -> Result<(), ErrorKind> {
        if row.bound() > self.slots.len() {
            self.extend_slots(schema, row.bound())?;
        }
        row.each(|index, value| match self.slots.get(index) {
            Some(Slot::Number(at)) => self.row.push((*at, Put::Number(value))),
            Some(Slot::Name(at, code)) => self.row.push((*at, Put::Code(*code))),
            Some(Slot::Missing(at)) => self.row.push((*at, Put::Missing)),
            Some(Slot::Nothing) | None => {}
        });
        Ok(())
    }

    /// Finds the columns of all features with an index below `count`.
    fn extend_slots(&mut self, schema: &Schema, count: usize) -> Result<(), ErrorKind> {
        let kinds = ColumnKinds::new(schema.columns());
        while self.slots.len() < count && self.columns.len() <= Self::MOST {
            let index = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
            let text = schema.features().name(index).unwrap_or_default();
            let slot = match FeatureKey::parse(&text, &kinds) {
                FeatureKey::Number(name) => self.number_column(name.as_bytes())?.map(Slot::Number),
                FeatureKey::Word(column, word) => {
                    debug_assert_eq!(text.len(), column.len() + 1 + word.len());
                    self.word_column(text.as_bytes(), column.len())?.map(Slot::Number)
                }
                FeatureKey::Is(column, name) => match self.name_column(column.as_bytes())? {
                    Some(at) => Some(Slot::Name(at, self.code(at, name.as_bytes())?)),
                    None => None,
                },
                FeatureKey::Missing(column) => {
                    let at = self.any_column(column.as_bytes())?;
                    at.inspect(|at| self.columns[*at].gaps = true).map(Slot::Missing)
                }
            };
            self.slots.push(slot.unwrap_or(Slot::Nothing));
        }
        Ok(())
    }

    /// The largest number of columns that can be searched one by one.
    pub const MOST: usize = 1 << 21;

    /// Drops the cells of the current row.
    pub(crate) fn abandon(&mut self) {
        self.row.clear();
    }

    /// Ends the row.
    #[expect(clippy::cast_possible_truncation, reason = "a table that is larger is refused")]
    pub(crate) fn end(&mut self, label: f64, weight: f64) {
        let row = self.labels.len();
        for (at, put) in self.row.drain(..) {
            let column = &mut self.columns[at];
            column.gaps |= matches!(put, Put::Missing);
            match (&mut column.values, put) {
                (Growing::Nothing(gaps), _) => gaps.push(row as u32),
                (Growing::Numbers(values), put) => {
                    values.resize(row, 0.0);
                    values.push(put.number());
                }
                (Growing::Entries(rows, values), put) => match (rows.last(), values.last_mut()) {
                    (Some(last), Some(value)) if *last == row as u32 => {
                        let more =
                            if let Put::More(more) = put { *value + more } else { put.number() };
                        *value = more;
                    }
                    _ => {
                        rows.push(row as u32);
                        values.push(put.number());
                    }
                },
                (Growing::Names(codes, _), put) => {
                    let code = if let Put::Code(code) = put { code } else { MISSING };
                    codes.resize(row, MISSING);
                    codes.push(code);
                }
            }
        }
        self.labels.push(label);
        self.weights.push(weight);
    }
}

impl Put {
    fn number(self) -> f64 {
        match self {
            Self::Number(value) | Self::More(value) => value,
            Self::Code(_) | Self::Missing => f64::NAN,
        }
    }
}

/// Appends the next rows of features of a source to columns. Returns the number of rows.
pub(crate) fn read_features<S: Source + ?Sized>(
    source: &mut S,
    columns: &mut ColumnBuffer,
    rows: usize,
) -> Result<usize, DataError> {
    let mut block = Block::new();
    let read = source.read(&mut block, rows)?;
    for row in 0..read {
        let taken = match block.columns() {
            Some(_) => columns.features(block.dense(row), source.schema()),
            None => columns.features(block.sparse(row), source.schema()),
        };
        taken.map_err(|kind| kind.of(source.place().0))?;
        columns.end(block.labels()[row], block.weights()[row]);
    }
    Ok(read)
}
