//! # Predictions
//! One line of CSV per row, in the order of the input: a number, a class, or with `proba` the probability of
//! every class. A row that could not be read keeps its line, which is empty, so that line k always belongs to
//! row k.

use std::fmt::Write as _;
use std::io::Write;

use geowalk_data::{
    Carry, ColumnKinds, FeatureKey, Features, Kind, Label, LeftOut, OnError, Options, Places,
    Schema, Source,
};

use crate::error::RunError;
use crate::experts;
use crate::input;
use crate::label::Coding;
use crate::learned::{Answers, Ask, Learned, Wants};
use crate::model::{LearnerSettings, Model};
use crate::pump::{Filled, Pump};
use crate::table::{Reader, Rows, Unseen};
use crate::train::end_line;
use crate::walks::{self, Built};

/// Is this the model of a walk? Others are refused.
pub(crate) fn check_walk(model: &Model) -> Result<(), RunError> {
    let kind = model.settings.walk();
    match model.settings.learner {
        LearnerSettings::Walk(_) | LearnerSettings::Natural(_) => Ok(()),
        LearnerSettings::Boost(_) | LearnerSettings::Tree(_) | LearnerSettings::Trees(_) => {
            Err(RunError::Batch { kind })
        }
        LearnerSettings::Experts(_) | LearnerSettings::Track(_) => Err(RunError::Apart { kind }),
    }
}

/// The learner of a model, ready to predict or to go on. Models of batch learners have none.
pub fn restore(model: &Model) -> Result<Built, RunError> {
    check_walk(model)?;
    let mut built = walks::of(&model.settings, walks::width(&model.schema))?;
    built.learner.load(&mut |name| model.find(name))?;
    Ok(built)
}

/// What is wanted of predictions.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The probability of every class.
    pub proba: bool,
    /// A last column that says why, also of rows that were left out.
    pub explain: bool,
    /// Columns of the input that come first in the output.
    pub carry: Carry,
    /// Refuse data with columns that the model does not know or that lack one of its columns.
    pub strict: bool,
    /// Threads; 0 counts as 1.
    pub threads: usize,
}

/// What was predicted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// Rows with a prediction.
    pub rows: u64,
    /// What the user should know, a line each.
    pub notes: Vec<String>,
}

/// Predictions as lines of CSV, one for each row of the data, also for those that could not be read.
pub(crate) struct Sheet<'a> {
    out: &'a mut dyn Write,
    /// How many columns the answers have, explanations apart.
    width: usize,
    explain: bool,
    rows: u64,
    left_out: (u64, Option<String>),
    line: String,
    /// How many fields the line has.
    fields: usize,
    /// The tag of the row, which ends the line.
    tag: Option<Vec<u8>>,
}

impl<'a> Sheet<'a> {
    /// Begins with a line of names, if there is more than a bare prediction: of what is carried, then of the answers.
    pub(crate) fn new(
        wanted: &Wanted,
        source: &dyn Source,
        answers: &[String],
        out: &'a mut dyn Write,
    ) -> Result<Self, RunError> {
        if wanted.carry != Carry::Nothing && source.table_names().is_empty() {
            return Err(RunError::NotCarried { file: source.place().0.to_owned() });
        }
        Self::of(wanted, source.table_names(), answers, out)
    }

    /// The same for a table with these columns, if they are known.
    fn of(
        wanted: &Wanted,
        columns: &[String],
        answers: &[String],
        out: &'a mut dyn Write,
    ) -> Result<Self, RunError> {
        let carried = match &wanted.carry {
            Carry::Nothing => &[],
            Carry::Named(names) => names.as_slice(),
            Carry::All => columns,
        };
        let mut sheet = Sheet {
            out,
            width: answers.len(),
            explain: wanted.explain,
            rows: 0,
            left_out: (0, None),
            line: String::new(),
            fields: 0,
            tag: None,
        };
        if wanted.proba || wanted.explain || answers.len() > 1 || !carried.is_empty() {
            let why = wanted.explain.then(|| "explanation".to_owned());
            let names: Vec<&String> = carried.iter().chain(answers).chain(&why).collect();
            for name in names {
                sheet.field(name);
            }
            sheet.end()?;
        }
        Ok(sheet)
    }

    /// Adds a field to the line, quoted if it must be.
    pub(crate) fn field(&mut self, text: &str) {
        if self.fields > 0 {
            self.line.push(',');
        }
        self.fields += 1;
        let special = |c: char| matches!(c, ',' | '"' | '\n' | '\r');
        if text.contains(special) {
            let _ = write!(self.line, "\"{}\"", text.replace('"', "\"\""));
        } else {
            self.line.push_str(text);
        }
    }

    /// Gives the row its tag.
    fn tag(&mut self, tag: Option<&[u8]>) {
        self.tag = tag.map(<[u8]>::to_vec);
    }

    fn end(&mut self) -> Result<(), RunError> {
        let written = self.out.write_all(self.line.as_bytes());
        let written = written.and_then(|()| end_line(self.out, self.tag.take().as_deref()));
        self.line.clear();
        self.fields = 0;
        written.map_err(RunError::Predictions)
    }

    /// Writes `count` rows, with what was left out among them. `answer` adds the fields of a row.
    pub(crate) fn rows(
        &mut self,
        places: &Places,
        count: usize,
        mut answer: impl FnMut(usize, &mut Self),
    ) -> Result<(), RunError> {
        let mut left_out = places.left_out().iter().peekable();
        for row in 0..=count {
            while let Some(left) = left_out.next_if(|left| left.before <= row) {
                self.leave_out(left)?;
            }
            if row < count {
                places.carried(row).iter().for_each(|cell| self.field(cell));
                answer(row, self);
                self.end()?;
                self.rows += 1;
            }
        }
        // The next row may be sent only when this answer has come.
        self.out.flush().map_err(RunError::Predictions)
    }

    /// A row without an answer keeps its line.
    fn leave_out(&mut self, left: &LeftOut) -> Result<(), RunError> {
        self.left_out.0 += 1;
        self.left_out.1.get_or_insert_with(|| left.reason.clone());
        left.cells.iter().for_each(|cell| self.field(cell));
        (0..self.width).for_each(|_| self.field(""));
        if self.explain {
            self.field(&format!("not predicted: {}", left.reason));
        }
        self.end()
    }

    /// What was predicted, and what the user should know.
    pub(crate) fn done(self, source: &dyn Source, unseen: &[Unseen]) -> Done {
        let mut notes: Vec<String> = source.decisions().iter().map(ToString::to_string).collect();
        notes.extend(source.schema().filled().map(|one| one.to_string()));
        if let (count, Some(first)) = &self.left_out {
            let empty = source.skipped().empty();
            let rows = if *count == 1 { "row has" } else { "rows have" };
            let empty =
                if empty == 0 { String::new() } else { format!(" ({empty} without any value)") };
            notes.push(format!(
                "{count} {rows} no prediction, an empty line{empty}; the first: {first}"
            ));
        }
        for Unseen { column, rows, first } in unseen {
            let have = if *rows == 1 { "row has" } else { "rows have" };
            notes.push(format!(
                "column '{column}': {rows} {have} a value that training has not seen, first '{first}'"
            ));
        }
        Done { rows: self.rows, notes }
    }
}

/// Predicts what `options` read and writes it.
pub fn predict(
    model: &Model,
    options: Options,
    wanted: &Wanted,
    out: &mut dyn Write,
) -> Result<Done, RunError> {
    match predict_rows(model, options, wanted, out) {
        // No rows, no predictions: nothing but names.
        Err(RunError::Data(error)) if error.is_no_rows() => {
            let classes = Coding::restore(model.settings.task, model.classes.clone());
            let classes = classes.texts(model.schema.labels());
            let wanted = &Wanted { proba: wanted.proba && !classes.is_empty(), ..wanted.clone() };
            let plain = names(model.settings.stream.interval.is_some());
            let answers = if wanted.proba { classes } else { plain };
            Sheet::of(wanted, &[], &answers, out)?;
            Ok(Done::default())
        }
        predicted => predicted,
    }
}

fn predict_rows(
    model: &Model,
    options: Options,
    wanted: &Wanted,
    out: &mut dyn Write,
) -> Result<Done, RunError> {
    if matches!(model.settings.learner, LearnerSettings::Experts(_)) {
        return experts::predict(model, options, wanted, out);
    }
    let learned = model.learned()?;
    learned.wants()?;
    if wanted.explain && !learned.explains() {
        return Err(RunError::NotExplained { walk: model.settings.walk() });
    }
    let classes = learned.classes();
    let wanted = &Wanted { proba: wanted.proba && !classes.is_empty(), ..wanted.clone() };
    let ask = Ask { shares: wanted.proba, why: wanted.explain, fair: true };
    let options = Options {
        optional: (!wanted.strict).then(|| unused(model, learned.as_ref())),
        carry: wanted.carry.clone(),
        unlabelled: true,
        ..options
    };
    // Lines that are left out must not be lost among pieces that are parsed out of order.
    let threads = if matches!(options.on_error, OnError::Fail) { wanted.threads } else { 1 };
    let mut feed = Feed::open(model, learned.as_ref(), options, threads, wanted.explain)?;
    let prediction = names(learned.has_intervals());
    let answers = if wanted.proba { classes } else { &prediction };
    let Some(source) = feed.source() else { return Err(RunError::Reader) };
    let mut sheet = Sheet::new(wanted, source, answers, out)?;
    let mut found = Answers::default();
    // What was written of each group of rows with the same answers.
    let mut written: Vec<Vec<String>> = Vec::new();
    while let Some(part) = feed.next()? {
        found.clear();
        part.answer(learned.as_ref(), ask, &mut found)?;
        if let (true, Part::Rows(filled)) = (wanted.explain, &part) {
            found.why = learned.explain_rows(model, &filled.block, &found.found);
        }
        let answer =
            |row: usize, put: &mut dyn FnMut(&str)| fields(classes, wanted, &found, row, put);
        sheet.rows(part.places(), part.rows(), |row, sheet| {
            if let Some(&group) = found.groups.get(row) {
                written.resize(written.len().max(group + 1), Vec::new());
                if written[group].is_empty() {
                    answer(row, &mut |text| written[group].push(text.to_owned()));
                }
                written[group].iter().for_each(|text| sheet.field(text));
            } else {
                answer(row, &mut |text| sheet.field(text));
            }
            sheet.tag(part.tag(row));
        })?;
    }
    let unseen = feed.unseen(model);
    let Some(source) = feed.source() else {
        return Ok(Done { rows: sheet.rows, notes: Vec::new() });
    };
    Ok(sheet.done(source, &unseen))
}

/// The columns of a prediction without probabilities.
fn names(has_intervals: bool) -> Vec<String> {
    let names: &[&str] =
        if has_intervals { &["prediction", "low", "high"] } else { &["prediction"] };
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// What is written of a row.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
fn fields(
    classes: &[String],
    wanted: &Wanted,
    found: &Answers,
    row: usize,
    put: &mut dyn FnMut(&str),
) {
    if wanted.proba {
        let width = found.shares.len().checked_div(found.found.len()).unwrap_or(0);
        let shares = found.shares.get(row * width..(row + 1) * width).unwrap_or_default();
        for share in shares {
            put(&share.to_string());
        }
        // A loss without probabilities.
        for _ in width..classes.len() {
            put("NaN");
        }
    } else if classes.is_empty() {
        put(&found.found[row].to_string());
        found.intervals.get(row).into_iter().flatten().for_each(|end| put(&end.to_string()));
    } else {
        put(classes.get(found.found[row] as usize).map_or("(unseen)", String::as_str));
    }
    found.why.get(row).into_iter().for_each(|why| put(why));
}

/// The columns of a model that it does not ask about.
fn unused(model: &Model, learned: &dyn Learned) -> Vec<String> {
    let Some(used) = learned.used_columns(&model.schema) else { return Vec::new() };
    let kinds = [Kind::Numeric, Kind::Nominal, Kind::Text, Kind::Date, Kind::Undecided];
    let columns = model.schema.columns().iter().filter(|column| kinds.contains(&column.kind));
    let names = columns.map(|column| column.name.clone());
    names.filter(|name| !used.contains(name)).collect()
}

/// The data of a model, part by part, as it wants them.
pub(crate) struct Feed {
    /// Rows, before they are read and afterwards.
    rows: Option<Box<dyn Source>>,
    begun: bool,
    pump: Option<Pump>,
    filled: Filled,
    threads: usize,
    columns: Option<Reader>,
    part: usize,
}

/// Rows of a table that are read at once, and those that are explained at once.
const AT_ONCE: usize = 1 << 16;
const EXPLAINED: usize = 1 << 10;

impl Feed {
    /// Opens the data, whose labels are in the column of the training data if no other is named.
    pub(crate) fn open(
        model: &Model,
        learned: &dyn Learned,
        options: Options,
        threads: usize,
        explained: bool,
    ) -> Result<Self, RunError> {
        let label = match (options.label, model.schema.label()) {
            (Label::Guess, Some(name)) => Label::Named(name.to_owned()),
            (Label::Guess, None) if options.unlabelled => Label::Absent,
            (given, _) => given,
        };
        let options = Options { label, ..options };
        let part = if explained { EXPLAINED } else { AT_ONCE };
        let mut feed = Self {
            rows: None,
            begun: false,
            pump: None,
            filled: Filled::default(),
            threads,
            columns: None,
            part,
        };
        match learned.wants()? {
            Wants::Columns(columns) => {
                feed.columns = Some(Reader::reopen(&model.schema, columns, options)?);
            }
            Wants::Rows => {
                let schema = model.settings.filling(&model.schema);
                let live = options.unlabelled;
                feed.rows = Some(input::open(Options { schema: Some(schema), live, ..options })?);
            }
        }
        Ok(feed)
    }

    /// The data, before the first part and after the last.
    pub(crate) fn source(&self) -> Option<&dyn Source> {
        match &self.columns {
            Some(reader) => Some(reader.source()),
            None => self.rows.as_deref(),
        }
    }

    /// The next rows, with those that were left out among them; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Part<'_>>, RunError> {
        if let Some(reader) = &mut self.columns {
            return Ok(reader.read(self.part)?.map(Part::Table));
        }
        if !self.begun
            && let Some(source) = self.rows.take()
        {
            self.begun = true;
            self.pump = Some(Pump::start(source, self.threads));
        }
        let Some(pump) = &mut self.pump else { return Ok(None) };
        self.filled.places = Places::default();
        if pump.next(&mut self.filled)? {
            return Ok(Some(Part::Rows(&self.filled)));
        }
        self.rows = self.pump.take().and_then(Pump::stop);
        // The last rows may have been left out.
        self.filled.block.clear();
        Ok(Some(Part::Rows(&self.filled)).filter(|_| !self.filled.places.left_out().is_empty()))
    }

    /// Names of nominal columns that the model has no weight for.
    fn unseen(&self, model: &Model) -> Vec<Unseen> {
        match (&self.columns, &self.rows) {
            (Some(reader), _) => reader.unseen(),
            (None, Some(source)) => unseen(model.schema.features(), source.schema()),
            (None, None) => Vec::new(),
        }
    }
}

/// Some rows of the data.
pub(crate) enum Part<'a> {
    Rows(&'a Filled),
    Table(Rows),
}

impl Part<'_> {
    /// How many rows.
    pub(crate) fn rows(&self) -> usize {
        self.labels().len()
    }

    /// Their labels, as the reader gives them.
    pub(crate) fn labels(&self) -> &[f64] {
        match self {
            Self::Rows(filled) => filled.block.labels(),
            Self::Table(rows) => &rows.labels,
        }
    }

    /// Their weights.
    pub(crate) fn weights(&self) -> &[f64] {
        match self {
            Self::Rows(filled) => filled.block.weights(),
            Self::Table(rows) => &rows.weights,
        }
    }

    fn places(&self) -> &Places {
        match self {
            Self::Rows(filled) => &filled.places,
            Self::Table(rows) => &rows.places,
        }
    }

    fn tag(&self, row: usize) -> Option<&[u8]> {
        match self {
            Self::Rows(filled) => filled.block.tag_of(row),
            Self::Table(_) => None,
        }
    }

    /// Adds what a model answers.
    pub(crate) fn answer(
        &self,
        learned: &dyn Learned,
        ask: Ask,
        out: &mut Answers,
    ) -> Result<(), RunError> {
        match self {
            Self::Rows(filled) => learned.answer_rows(&filled.block, ask, out),
            Self::Table(rows) => learned.answer_table(&rows.table, ask, out),
        }
    }
}

/// Names of nominal columns that the model has no weight for. Each counts once.
fn unseen(known: &Features, schema: &Schema) -> Vec<Unseen> {
    let (Features::Exact(known), Features::Exact(names)) = (known, schema.features()) else {
        return Vec::new();
    };
    let kinds = ColumnKinds::new(schema.columns());
    let key = |name| FeatureKey::parse(name, &kinds);
    let new: Vec<FeatureKey<'_>> = names.names().skip(known.len()).map(key).collect();
    let of = |column: &str| {
        let of_column = |key: &FeatureKey<'_>| match *key {
            FeatureKey::Is(name, value) if name == column => Some(value.to_owned()),
            _ => None,
        };
        let values: Vec<String> = new.iter().filter_map(of_column).collect();
        let first = values.first()?.clone();
        Some(Unseen { column: column.to_owned(), rows: values.len() as u64, first })
    };
    schema.of_kind(Kind::Nominal).filter_map(of).collect()
}
