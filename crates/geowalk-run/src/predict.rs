//! # Predictions
//! One line of CSV per row, in the order of the input: a number, a class, or with `proba` the probability of
//! every class. A row that could not be read keeps its line, which is empty, so that line k always belongs to
//! row k.

use std::fmt::Write as _;
use std::io::Write;

use geowalk_data::{
    Carry, Features, Kind, Label, LeftOut, OnError, Options, Places, Schema, Source, Task,
};

use crate::boost::{Boosted, answer};
use crate::error::RunError;
use crate::experts;
use crate::input;
use crate::label::{Coding, make_room};
use crate::learner::{largest, softmax};
use crate::link::{Floor, probability, threshold};
use crate::model::Model;
use crate::pump::{Filled, Pump};
use crate::table::Unseen;
use crate::track;
use crate::train::end_line;
use crate::tree;
use crate::trees::{self, BoostedTrees};
use crate::walks::{self, Built};

/// Was the model learned from all data at once?
pub(crate) fn is_batch(model: &Model) -> bool {
    model.settings.walk == tree::KIND || Boosted::is_model(model) || BoostedTrees::is_model(model)
}

/// Is this the model of a walk? Others are refused.
pub(crate) fn check_walk(model: &Model) -> Result<(), RunError> {
    let kind = || model.settings.walk.clone();
    if is_batch(model) {
        return Err(RunError::Batch { kind: kind() });
    }
    if [track::KIND, experts::file::KIND].iter().any(|own| model.settings.walk.starts_with(own)) {
        return Err(RunError::Apart { kind: kind() });
    }
    Ok(())
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
        if wanted.proba || wanted.explain || !carried.is_empty() {
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
            let answers = if wanted.proba { classes } else { vec!["prediction".to_owned()] };
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
    let unused = |used: Vec<String>| -> Vec<String> {
        let kinds = [Kind::Numeric, Kind::Nominal, Kind::Text, Kind::Undecided];
        let columns = model.schema.columns().iter().filter(|column| kinds.contains(&column.kind));
        let names = columns.map(|column| column.name.clone());
        names.filter(|name| !used.contains(name)).collect()
    };
    let options = |used: Option<Vec<String>>| Options {
        optional: (!wanted.strict).then(|| used.map(unused).unwrap_or_default()),
        carry: wanted.carry.clone(),
        ..options
    };
    if Boosted::is_model(model) {
        let boosted = Boosted::of(model)?;
        let options = options(Some(boosted.used_columns(&model.schema)));
        return answer::predict(model, &boosted, options, wanted, out);
    }
    if BoostedTrees::is_model(model) {
        let options = options(Some(trees::Shown::of(model)?.used_columns()));
        return trees::predict(model, options, wanted, out);
    }
    if model.settings.walk == tree::KIND {
        let options = options(Some(tree::Shown::of(model)?.used_columns()));
        return tree::predict(model, options, wanted, out);
    }
    let options = options(None);
    let built = restore(model)?;
    if wanted.explain {
        return Err(RunError::NotExplained { walk: model.settings.walk.clone() });
    }
    let label = match model.schema.label() {
        Some(name) => Label::Named(name.to_owned()),
        None => Label::Absent,
    };
    let mut schema = model.schema.clone();
    if model.settings.is_fitted() {
        schema = schema.refusing_new_gaps();
    }
    let options = Options {
        schema: Some(schema),
        unlabelled: true,
        live: true,
        label: if options.label == Label::Guess { label } else { options.label },
        ..options
    };
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let mut classes = coding.texts(model.schema.labels());
    let mut declared = model.settings.unseen();
    declared.retain(|class| !classes.contains(class));
    let room = (declared.len(), model.examples);
    classes.append(&mut declared);
    let wanted = &Wanted {
        proba: wanted.proba && model.settings.task != Task::Regression,
        ..wanted.clone()
    };
    let floor = Floor::of_model(&model.settings);
    // Lines that are left out must not be lost among pieces that are parsed out of order.
    let threads = if matches!(options.on_error, OnError::Fail) { wanted.threads } else { 1 };
    let source = input::open(options)?;
    let names = model.schema.features();
    let answers = if wanted.proba { classes.clone() } else { vec!["prediction".to_owned()] };
    let mut sheet = Sheet::new(wanted, source.as_ref(), &answers, out)?;
    let mut pump = Pump::start(source, threads);
    let (mut filled, mut scores) = (Filled::default(), Vec::new());
    let outputs = built.learner.outputs().max(1);
    loop {
        let more = pump.next(&mut filled)?;
        scores.clear();
        let count = if more { filled.block.len() } else { 0 };
        if more {
            if wanted.proba {
                built.learner.predict(&filled.block, &mut scores);
            } else {
                built.learner.scores(&filled.block, &mut scores);
            }
        }
        sheet.rows(&filled.places, count, |row, sheet| {
            let scores = &mut scores[row * outputs..][..outputs];
            fields(
                (&built, floor),
                model.settings.task,
                &classes,
                wanted.proba,
                room,
                scores,
                sheet,
            );
            sheet.tag(filled.block.tag_of(row));
        })?;
        if !more {
            break;
        }
        filled.places = Places::default();
    }
    let Some(source) = pump.stop() else { return Ok(Done { rows: sheet.rows, notes: Vec::new() }) };
    let unseen = unseen(names, source.schema());
    Ok(sheet.done(source.as_ref(), &unseen))
}

/// Names of nominal columns that the model has no weight for. Each counts once.
fn unseen(known: &Features, schema: &Schema) -> Vec<Unseen> {
    let (Features::Exact(known), Features::Exact(names)) = (known, schema.features()) else {
        return Vec::new();
    };
    let new: Vec<&str> = names.names().skip(known.len()).collect();
    let of = |column: &str| {
        let begins = |name: &&str| name.strip_prefix(column)?.strip_prefix('=').map(str::to_owned);
        let values: Vec<String> =
            new.iter().filter_map(begins).filter(|v| v != "missing").collect();
        let first = values.first()?.clone();
        Some(Unseen { column: column.to_owned(), rows: values.len() as u64, first })
    };
    schema.of_kind(Kind::Nominal).filter_map(of).collect()
}

/// Adds what is predicted for one example. `room` are the number of classes that have not come, and of the examples.
fn fields(
    (built, floor): (&Built, Floor),
    task: Task,
    classes: &[String],
    proba: bool,
    room: (usize, u64),
    scores: &mut [f64],
    sheet: &mut Sheet<'_>,
) {
    let class = |number: usize| classes.get(number).map_or("(unseen)", String::as_str);
    match (task, proba) {
        (Task::Regression, _) => sheet.field(&scores[0].to_string()),
        (Task::Binary, false) => {
            sheet.field(class(usize::from(scores[0] >= threshold(&built.loss))));
        }
        (Task::Binary, true) => {
            let p = floor.of(probability(&built.loss, scores[0]).unwrap_or(f64::NAN), 2);
            sheet.field(&(1.0 - p).to_string());
            sheet.field(&p.to_string());
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
        (Task::Multiclass, false) => sheet.field(class(largest(scores) as usize)),
        (Task::Multiclass, true) => {
            softmax(scores);
            let seen = scores.len();
            for p in scores.iter_mut() {
                *p = floor.of(*p, seen);
            }
            let (unseen, examples) = room;
            let share = if unseen > 0 { make_room(scores, unseen, examples) } else { 0.0 };
            for p in scores.iter().copied().chain(std::iter::repeat_n(share, unseen)) {
                sheet.field(&p.to_string());
            }
        }
    }
}
