//! # On-line learners
//! [`Online`] is a run that Python feeds: the loop of the command line, with examples from arrays, sparse matrices and dictionaries. What an estimator of
//! `python/geowalk` does beyond that is names and shapes.

mod again;
mod answer;
mod borrowed;
mod row;

use std::time::{Duration, Instant};

use geowalk::boost::Halt;
use geowalk::row::Block;
use geowalk_cli::report::Beside;
use geowalk_data::{
    Column, Dictionary, Door, ErrorKind, FeatureKey, Features, Index, Kind, Labels, Schema, Task,
};
use geowalk_run::certify::Which;
use geowalk_run::fit;
use geowalk_run::label::make_room;
use geowalk_run::model::Model;
use geowalk_run::profile::Profile;
use geowalk_run::pump::ROWS;
use geowalk_run::train::{Plan, Session, Wanted};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::convert::unreadable;
use crate::error::{data, model, run, unlearned};
use crate::files::save;
use crate::frame::{Frame, FrameReader};
use crate::label::{ClassLabel, Classes};
use crate::listen::listening;
use crate::rows::{Rows, View};
use answer::{lengths, table};
use row::Keys;

/// How long a fit goes on before it asks whether somebody pressed Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(100);

/// A learner that goes through examples in their order.
///
/// The estimators are made of it: `geowalk.OnlineClassifier`, `OnlineRegressor`, `NaturalClassifier`, `Winnow`. Arguments are checked for type, not converted. Labels of
/// classes are the numbers of `classes`.
///
/// Predictions are linear, z = <w, x>; w moves by a step of the walk after each example.
///
/// >>> import numpy as np
/// >>> from geowalk._geowalk import Online
/// >>> online = Online("regression")
/// >>> online.learn(np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0]), passes=100)
/// >>> online.examples
/// 300
/// >>> online.predict(np.array([[2.0]])).round(1)
/// array([2.])
///
/// Reference: Kivinen and Warmuth, Exponentiated gradient versus gradient descent, 1997; for `free` Kempka, Kotlowski and Warmuth, Adaptive scale-invariant online
/// algorithms for learning linear models, 2019.
#[pyclass(module = "geowalk._geowalk")]
pub(crate) struct Online {
    plan: Plan,
    session: Option<Session>,
    classes: Option<Classes>,
    /// The name of the label's column in a file.
    label: Option<String>,
    /// The schema, while there is no session.
    schema: Schema,
    /// The first rows, while a third class may still turn two classes into several, as the first block of a file does.
    early: Option<Block>,
    /// Memory for rows; away while it is in use.
    block: Option<Box<Block>>,
    /// Memory for scores, and for answers.
    scores: Vec<f64>,
    answer: Vec<f64>,
    keys: Keys,
    owner: Option<Owner>,
}

/// What an estimator of classes shares with its learner, so that a call need not go through it: the labels by number, the numbers by label, and a weak reference to itself, which is told of a label
/// that is not among them.
struct Owner {
    labels: Py<PyList>,
    codes: Py<PyDict>,
    estimator: Py<PyAny>,
}

impl Online {
    /// What features and labels mean.
    fn schema(&self) -> &Schema {
        self.session.as_ref().map_or(&self.schema, Session::schema)
    }

    fn schema_mut(&mut self) -> &mut Schema {
        match &mut self.session {
            Some(session) => session.schema_mut(),
            None => &mut self.schema,
        }
    }

    fn owner(&self) -> PyResult<&Owner> {
        let missing = || PyRuntimeError::new_err("nothing is shared with an estimator");
        self.owner.as_ref().ok_or_else(missing)
    }

    fn session(&self) -> PyResult<&Session> {
        self.session.as_ref().ok_or_else(unlearned)
    }

    /// The task for as many classes as are known.
    fn task(&self) -> Task {
        match self.classes.as_ref().map(Classes::len) {
            None => Task::Regression,
            Some(0..=2) => Task::Binary,
            Some(_) => Task::Multiclass,
        }
    }

    /// Columns of these names, or so many numbered ones.
    fn settle(&mut self, names: Option<Vec<String>>, view: &View<'_>) -> PyResult<()> {
        let labels = self.schema.labels().clone();
        if names.is_none() && matches!(view, View::Sparse { .. }) {
            let features = Features::Index(Index { base: 1, detected: false });
            self.schema = Schema::from_parts(features, labels, Vec::new());
            return Ok(());
        }
        let names = names.unwrap_or_else(|| (1..=view.columns()).map(|k| k.to_string()).collect());
        let dictionary = Dictionary::from_names(names.iter().map(String::as_str));
        let wrong = |error: ErrorKind| {
            let message = match error {
                ErrorKind::DuplicateColumn { name } => {
                    format!("two columns have the name '{name}'; rename one")
                }
                other => Door::Python.words(&other),
            };
            data(message, None, None, None)
        };
        let dictionary = dictionary.map_err(wrong)?;
        let column = |name: &String| Column { name: name.clone(), kind: Kind::Numeric };
        let columns = names.iter().map(column).collect();
        self.schema = Schema::from_parts(Features::Exact(dictionary), labels, columns);
        if let Some(name) = &self.label {
            self.schema.add_column(name, Kind::Label);
        }
        Ok(())
    }

    /// Turns the codes of classes in a block into labels as a reader gives them.
    fn label(&mut self, block: &mut Block) -> PyResult<()> {
        let Some(classes) = &mut self.classes else { return Ok(()) };
        let schema = match &mut self.session {
            Some(session) => session.schema_mut(),
            None => &mut self.schema,
        };
        for label in block.labels_mut() {
            *label = classes.value(*label, schema.labels_mut())?;
        }
        Ok(())
    }

    /// Reads a frame as this learner does. The first one tells the columns.
    fn frame_reader<'a>(&mut self, frame: &'a Frame) -> PyResult<FrameReader<'a>> {
        let known = self.session.is_some();
        self.keys.forget_columns();
        let reader = FrameReader::new(frame, self.schema_mut(), known)?;
        if !known && let Some(name) = self.label.clone() {
            self.schema_mut().add_column(&name, Kind::Label);
        }
        Ok(reader)
    }

    /// Learns `passes` times from rows, a block at a time. `fill` puts the rows from the given one on into the
    /// block, and gives the row after the last.
    fn go_through(
        &mut self,
        py: Python<'_>,
        rows: usize,
        passes: u64,
        mut fill: impl FnMut(&mut Self, usize, &mut Block) -> PyResult<usize> + Send,
    ) -> PyResult<()> {
        let mut block = self.block.take().unwrap_or_default();
        let mut fed = Ok(());
        'passes: for pass in 0..passes {
            if let Some(session) = &mut self.session {
                if pass > 0 {
                    session.begin_pass();
                } else {
                    session.count_from_here();
                }
            }
            let mut from = 0;
            while from < rows {
                fed = py.detach(|| {
                    let start = Instant::now();
                    while from < rows && start.elapsed() < PATIENCE {
                        from = fill(self, from, &mut block)?;
                        self.feed(&mut block)?;
                    }
                    Ok(())
                });
                fed = fed.and_then(|()| py.check_signals());
                if fed.is_err() {
                    break 'passes;
                }
            }
        }
        self.block = Some(block);
        fed
    }

    /// Begins a run on a block of labelled rows.
    fn begin(&mut self, block: &Block) -> PyResult<Session> {
        let plan = Plan { task: Some(self.task()), ..self.plan.clone() };
        let both = match &mut self.classes {
            Some(classes) if plan.task == Some(Task::Binary) => {
                classes.both(self.schema.labels_mut())?
            }
            _ => None,
        };
        let mut session = Session::new(&plan, self.schema.clone(), block).map_err(run)?;
        if let Some(both) = both {
            session.know(both);
        }
        Ok(session)
    }

    /// Learns from a block whose labels are codes of classes.
    fn feed(&mut self, block: &mut Block) -> PyResult<()> {
        self.label(block)?;
        let several = self.task() == Task::Multiclass;
        if let Some(session) = &self.session
            && several
            && session.settings().task == Task::Binary
        {
            self.become_several()?;
        }
        let open = self.classes.as_ref().is_some_and(|classes| !classes.closed());
        if self.session.is_none() {
            self.session = Some(self.begin(block)?);
            self.early = (open && !several).then(Block::new);
        }
        if let Some(early) = &mut self.early {
            early.append(block, 0..block.len());
            if early.len() >= ROWS {
                self.early = None;
            }
        }
        let Some(session) = &mut self.session else { return Ok(()) };
        session.learn(block).map_err(run)
    }

    /// A third class came among the first rows: they are learned from again, as one of several classes. Later it is an error, as it is on the command line.
    fn become_several(&mut self) -> PyResult<()> {
        let (Some(mut early), Some(session)) = (self.early.take(), &self.session) else {
            let known = self.classes.as_ref().map(Classes::len).unwrap_or_default();
            let message = format!(
                "class number {known} came after the first {ROWS} examples, which had two; give all classes beforehand with partial_fit(X, y, classes=...)"
            );
            return Err(data(message, None, None, None));
        };
        self.schema = session.schema().clone();
        self.session = None;
        let mut session = self.begin(&early)?;
        session.learn(&mut early).map_err(run)?;
        self.session = Some(session);
        Ok(())
    }
}

/// What pickle calls to make it again.
type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Option<Vec<ClassLabel>>));

#[pymethods]
impl Online {
    #[new]
    #[pyo3(signature = (task, walk=None, loss=None, rate="auto", seed=0, average=false, classes=None, label=None))]
    #[allow(clippy::too_many_arguments)] // the parameters of the estimators
    fn new(
        task: &str,
        walk: Option<String>,
        loss: Option<String>,
        rate: &str,
        seed: u64,
        average: bool,
        classes: Option<Vec<ClassLabel>>,
        label: Option<String>,
    ) -> PyResult<Self> {
        let known = ["regression", "classes"];
        if !known.contains(&task) {
            return Err(crate::error::config(geowalk::spec::unknown("task", task, known)));
        }
        let plan = Plan { walk, loss, rate: rate.to_owned(), seed, average, ..Plan::default() };
        let classes = (task == "classes").then(|| Classes::new(classes));
        let schema = Schema::from_parts(
            Features::Exact(Dictionary::default()),
            classes.as_ref().map_or(Labels::Numbers, Classes::labels),
            Vec::new(),
        );
        Ok(Self {
            plan,
            session: None,
            classes,
            label,
            schema,
            early: None,
            block: None,
            scores: Vec::new(),
            answer: Vec::new(),
            keys: Keys::default(),
            owner: None,
        })
    }

    /// Learns from rows, `passes` times. `y` are numbers, or the numbers of classes.
    ///
    /// The interpreter's lock is released. Ctrl-C stops within a second; what was learned stays.
    #[pyo3(signature = (x, y, weight=None, passes=1, names=None))]
    fn learn(
        &mut self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<'_, f64>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        passes: u64,
        names: Option<Vec<String>>,
    ) -> PyResult<()> {
        let y = y.as_slice().map_err(unreadable)?;
        let weight = weight.as_ref().map(|w| w.as_slice()).transpose();
        let weight = weight.map_err(unreadable)?;
        if let Ok(frame) = x.cast::<Frame>() {
            let frame = frame.get();
            lengths(frame.rows(), y, weight)?;
            let mut reader = self.frame_reader(frame)?;
            return self.go_through(py, frame.rows(), passes, |own, from, block| {
                let weight = |i: usize| weight.map_or(1.0, |w| w[i]);
                reader.fill(from, own.schema_mut(), block, |i| y[i], weight)
            });
        }
        let rows = Rows::new(x)?;
        let view = rows.view()?;
        lengths(view.len(), y, weight)?;
        if self.session.is_none() {
            self.settle(names, &view)?;
        }
        self.go_through(py, view.len(), passes, |_, from, block| {
            let range = view.block(from);
            let end = range.end;
            view.fill(range, block, |i| y[i], |i| weight.map_or(1.0, |w| w[i]));
            Ok(end)
        })
    }

    /// The best linear model of all rows, whatever their order; where the walk or the loss rules that out,
    /// shuffled passes until nothing is gained.
    ///
    /// Ctrl-C stops within a second; nothing is learned then.
    #[pyo3(signature = (x, y, weight=None, names=None, shuffle=true))]
    fn fit(
        &mut self,
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: PyReadonlyArray1<'_, f64>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        names: Option<Vec<String>>,
        shuffle: bool,
    ) -> PyResult<()> {
        let y = y.as_slice().map_err(unreadable)?;
        let weight = weight.as_ref().map(|w| w.as_slice()).transpose();
        let weight = weight.map_err(unreadable)?;
        let blocks = self.gather(x, y, weight, names)?;
        let task = self.task();
        let both = match &mut self.classes {
            Some(classes) if task == Task::Binary => classes.both(self.schema.labels_mut())?,
            _ => None,
        };
        let plan = Plan { task: Some(task), ..self.plan.clone() };
        let (schema, halt) = (self.schema.clone(), Halt::new());
        let theirs = halt.clone();
        let (made, stopped) = listening(py, &halt, move || {
            if fit::can_fit(&plan, task) {
                Session::fit(&plan, schema, blocks, both, &theirs)
            } else {
                let blocks = if shuffle { fit::shuffled(&blocks, plan.seed) } else { blocks };
                fit::by_walk(&plan, schema, &blocks, both, &theirs)
            }
        })?;
        match (made.map_err(run)?, stopped) {
            (_, Some(stopped)) => Err(stopped),
            (Some(session), None) => {
                self.session = Some(session);
                Ok(())
            }
            (None, None) => Err(PyRuntimeError::new_err("the fit was interrupted")),
        }
    }

    /// Learns from one dictionary: numbers by name, strings as `name=value`, None as `name=missing`.
    #[pyo3(signature = (x, y, w=1.0))]
    fn learn_one(&mut self, x: &Bound<'_, PyDict>, y: f64, w: f64) -> PyResult<()> {
        if self.classes.is_none() && !y.is_finite() {
            let message = format!("y is {y}; a finite number is needed");
            return Err(data(message, None, None, Some(y)));
        }
        self.keys.learn_columns(self.session.as_ref().map_or(&self.schema, Session::schema));
        let mut block = self.block.take().unwrap_or_default();
        block.clear();
        let features = match &mut self.session {
            Some(session) => {
                session.count_from_here();
                session.schema_mut().features_mut()
            }
            None => self.schema.features_mut(),
        };
        let fed = self.keys.place(x, features, &mut block).and_then(|()| {
            block.end(y, w);
            self.feed(&mut block)
        });
        self.block = Some(block);
        fed
    }

    /// Says which keys of dictionaries hold names or free text, whatever their values look like.
    fn declare(&mut self, nominal: Vec<String>, text: Vec<String>) {
        let nominal = nominal.iter().map(|name| (name, Kind::Nominal));
        for (name, kind) in nominal.chain(text.iter().map(|name| (name, Kind::Text))) {
            self.schema_mut().add_column(name, kind);
        }
        self.keys.forget_columns();
    }

    /// Shares labels by number, numbers by label, and a weak reference to the estimator: for `learn_label`, `predict_label` and `predict_shares`.
    fn share(&mut self, labels: Py<PyList>, codes: Py<PyDict>, estimator: Py<PyAny>) {
        self.owner = Some(Owner { labels, codes, estimator });
    }

    /// Learns from one dictionary and the label of its class. One that is not known is told to the estimator.
    #[pyo3(signature = (x, y, w=1.0))]
    fn learn_label(
        slf: &Bound<'_, Self>,
        x: &Bound<'_, PyDict>,
        y: &Bound<'_, PyAny>,
        w: f64,
    ) -> PyResult<()> {
        let py = slf.py();
        let (known, estimator) = {
            let own = slf.borrow();
            let owner = own.owner()?;
            match owner.codes.bind(py).get_item(y)? {
                Some(code) => (Some(code.extract()?), None),
                None => (None, Some(owner.estimator.clone_ref(py))),
            }
        };
        let code: f64 = match (known, estimator) {
            (Some(code), _) => code,
            (None, estimator) => {
                let estimator = estimator.map(|weak| weak.call0(py)).transpose()?;
                let told = estimator.map(|own| own.call_method1(py, "_first", (y,))).transpose()?;
                told.map_or(Ok(f64::NAN), |told| told.bind(py).get_item(1)?.extract())?
            }
        };
        slf.borrow_mut().learn_one(x, code, w)
    }

    /// The label of the class of a dictionary.
    fn predict_label<'py>(
        &mut self,
        py: Python<'py>,
        x: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let code = self.predict_one(x)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
        self.owner()?.labels.bind(py).get_item(code as usize)
    }

    /// The probability of every class for a dictionary, by label.
    fn predict_shares<'py>(
        &mut self,
        py: Python<'py>,
        x: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let labels = self.owner()?.labels.clone_ref(py);
        self.probabilities_by(py, x, labels.bind(py))
    }

    /// Adds a class that `classes` did not have, and gives its number.
    fn add_class(&mut self, label: ClassLabel) -> PyResult<usize> {
        match &mut self.classes {
            Some(classes) => classes.add(label),
            None => Err(PyRuntimeError::new_err("a regression has no classes")),
        }
    }

    /// The scores of rows: one, or one of each class.
    fn scores<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (scores, width) = self.answers(py, x, Wanted::Scores)?;
        table(py, scores, width)
    }

    /// The probability of every class, row by row.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.refuse_without_probabilities()?;
        let (shares, width) = self.answers(py, x, Wanted::Probabilities)?;
        let rows = shares.len() / width.max(1);
        PyArray1::from_vec(py, shares).reshape([rows, width]).map(Bound::into_any)
    }

    /// What is predicted of rows: a number, or the number of a class.
    fn predict<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (found, width) = self.answers(py, x, Wanted::Classes)?;
        table(py, found, width)
    }

    /// What is predicted of a dictionary: a number, or the number of a class.
    fn predict_one(&mut self, x: &Bound<'_, PyDict>) -> PyResult<f64> {
        self.ask(x, Wanted::Classes)?;
        let found = self.answer.first().copied().unwrap_or(f64::NAN);
        let Some(classes) = &self.classes else { return Ok(found) };
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a class number
        let class = self.session()?.coding().classes().get(found as usize);
        let place = class.and_then(|class| classes.values().position(|value| value == class));
        // While one of two classes has been seen, it is the other that is not known.
        Ok(place.map_or_else(|| self.only(), |place| place as f64))
    }

    /// The probability of every class for a dictionary, by the labels of the classes, which are given in the
    /// order of their numbers.
    fn probabilities_by<'py>(
        &mut self,
        py: Python<'py>,
        x: &Bound<'py, PyDict>,
        labels: &Bound<'py, PyList>,
    ) -> PyResult<Bound<'py, PyDict>> {
        self.refuse_without_probabilities()?;
        self.ask(x, Wanted::Probabilities)?;
        let session = self.session.as_ref().ok_or_else(unlearned)?;
        let (own, shares) = (session.coding().classes(), PyDict::new(py));
        let unseen = self.classes.as_ref().map_or(0, |all| all.len().saturating_sub(own.len()));
        let none =
            if unseen > 0 { make_room(&mut self.answer, unseen, session.examples()) } else { 0.0 };
        for (label, value) in labels.iter().zip(self.classes.iter().flat_map(Classes::values)) {
            let place = own.iter().position(|class| class == value);
            let share = place.and_then(|place| self.answer.get(place)).copied().unwrap_or(none);
            shares.set_item(label, share)?;
        }
        Ok(shares)
    }

    /// Does the loss estimate probabilities?
    #[getter]
    fn has_probabilities(&self) -> bool {
        self.session.as_ref().is_none_or(Session::has_probabilities)
    }

    /// The weights of each score, the intercept first.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let session = self.session()?;
        let learner = session.learner();
        let (mut all, mut w) = (Vec::new(), Vec::new());
        for k in 0..learner.outputs() {
            learner.weights(k, &mut w);
            all.push(w.clone());
        }
        let width = all.iter().map(Vec::len).max().unwrap_or(0);
        for w in &mut all {
            w.resize(width, 0.0);
        }
        if let Some(classes) = &self.classes
            && session.settings().task == Task::Multiclass
        {
            let mut arranged = vec![vec![0.0; width]; classes.len()];
            for (w, place) in all.into_iter().zip(classes.places(session.coding().classes())) {
                if let Some(code) = place {
                    arranged[code] = w;
                }
            }
            all = arranged;
        }
        let rows = all.len();
        PyArray1::from_vec(py, all.concat()).reshape([rows, width])
    }

    /// Why no weights give the scores of the model; None if the weights do.
    #[getter]
    fn no_weights(&self) -> PyResult<Option<String>> {
        let session = self.session()?;
        let settings = session.settings();
        if !session.learner().members().is_empty() {
            let text = "a team of walks mixes their predictions; name one walk, as in walk='gd', to have one";
            return Ok(Some(text.to_owned()));
        }
        if !session.learner().is_linear() {
            let walk = settings.walk();
            return Ok(Some(format!("'{walk}' has squares or products of features in its scores")));
        }
        let clipped = "predictions are clipped to the declared range of the labels";
        Ok(settings.y_range.map(|_| clipped.to_owned()))
    }

    /// The score from which on the second of two classes is predicted.
    #[getter]
    fn threshold(&self) -> PyResult<f64> {
        Ok(self.session()?.threshold())
    }

    /// The names of all features that are known.
    fn names(&self) -> Vec<String> {
        match self.schema().features() {
            Features::Exact(names) => names.names().map(str::to_owned).collect(),
            Features::Hashed(hashed) => hashed.names().map(|(_, name)| name.to_owned()).collect(),
            Features::Index(_) => Vec::new(),
        }
    }

    /// The columns of the table that was learned from, each with its kind: `numeric`, `nominal`, `text` or
    /// `undecided`. Of features that came by name, as in dictionaries, those that are known to be names or
    /// text.
    fn columns(&self) -> Vec<(String, &'static str)> {
        let column = |column: &Column| (column.name.clone(), column.kind.name());
        self.schema().feature_columns().map(column).collect()
    }

    /// Is every feature one of a column of a table?
    #[getter]
    fn is_table(&self) -> bool {
        self.schema().is_table()
    }

    /// How many places for features there are; None if they are numbers, which have no end.
    #[getter]
    fn width(&self) -> Option<usize> {
        match self.schema().features() {
            Features::Exact(names) => Some(names.len()),
            Features::Hashed(hashed) => Some(1 << hashed.bits()),
            Features::Index(_) => None,
        }
    }

    /// Are features numbers, as in LIBSVM files and sparse matrices?
    #[getter]
    fn by_number(&self) -> bool {
        matches!(self.schema().features(), Features::Index(_))
    }

    /// Is this name a feature? `value` is one of the column `name`.
    #[pyo3(signature = (name, value=None))]
    fn knows(&self, name: &str, value: Option<&str>) -> bool {
        let key = value.map_or(FeatureKey::Number(name), |value| FeatureKey::Is(name, value));
        self.schema().features().find(key).is_some()
    }

    /// The labels of the classes, in the order of their numbers.
    fn labels(&self) -> Vec<ClassLabel> {
        self.classes.as_ref().map(Classes::list).unwrap_or_default()
    }

    /// Has each class come, in the order of their numbers?
    fn seen(&self) -> PyResult<Vec<bool>> {
        let own = self.session()?.coding().classes();
        Ok(self.classes.iter().flat_map(Classes::values).map(|class| own.contains(class)).collect())
    }

    /// What came out so far, as JSON: the same as `geowalk train --json`.
    fn summary(&self) -> PyResult<String> {
        Ok(self.session()?.summary().json().to_string())
    }

    /// What the certificates say of a comparator, as JSON: of weights, a row for each score with the intercept first, or without them of the best in hindsight.
    ///
    /// What a comparator lost is known from the rows that were learned from, all of them and in their order; so is the best. `x` may be a list of dictionaries. Ctrl-C stops it within a second.
    #[pyo3(signature = (comparator=None, x=None, y=None, weight=None))]
    fn certify(
        &mut self,
        py: Python<'_>,
        comparator: Option<PyReadonlyArray2<'_, f64>>,
        x: Option<&Bound<'_, PyAny>>,
        y: Option<PyReadonlyArray1<'_, f64>>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<String> {
        let which = match comparator {
            None => Which::Best,
            Some(u) => {
                let rows = u.as_array();
                let rows = rows.rows().into_iter().map(|row| row.to_vec()).collect();
                Which::Weights(self.outputs(rows)?)
            }
        };
        let rows = match (x, &y) {
            (Some(x), Some(y)) => {
                let y = y.as_slice().map_err(unreadable)?;
                let weight = weight.as_ref().map(|w| w.as_slice()).transpose();
                Some(self.blocks(x, y, weight.map_err(unreadable)?)?)
            }
            _ => None,
        };
        let halt = Halt::new();
        let work = self.session()?.certifying(which, rows, halt.clone());
        match listening(py, &halt, work)? {
            (_, Some(stopped)) => Err(stopped),
            (report, None) => Ok(report.map_err(run)?.json().to_string()),
        }
    }

    /// The report of the run as one HTML page; `how` it can be made again, and other names of the features in their
    /// order.
    #[pyo3(signature = (how, names=None))]
    #[expect(clippy::needless_pass_by_value, reason = "a value that Python gave")]
    fn page(&self, how: &str, names: Option<Vec<String>>) -> PyResult<String> {
        let session = self.session()?;
        // Columns without names have nothing to tell.
        let profile = if names.is_none() { Profile::of_schema(session.schema()) } else { None };
        let page = geowalk_cli::report::online(
            &session.summary(),
            &session.course(),
            Beside { names: names.as_deref(), profile: profile.as_ref(), judged: None },
            &how.into(),
        );
        Ok(page.map_err(run)?.html())
    }

    /// What was asked for, by name.
    fn settings(&self) -> PyResult<Vec<(&'static str, String)>> {
        let settings = self.session()?.settings();
        Ok(vec![
            ("kind", settings.learner.kind().to_owned()),
            ("task", settings.task.name().to_owned()),
            ("walk", settings.walk()),
            ("loss", settings.loss.clone()),
            ("rate", settings.rate()),
            ("seed", settings.seed.to_string()),
            ("average", settings.stream.average.to_string()),
        ])
    }

    /// How many examples were learned from, those of all passes.
    #[getter]
    fn examples(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.summary().seen.examples)
    }

    /// The model file, in bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.model()?.to_bytes().map_err(|error| model(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the model file, which `geowalk predict` and `geowalk.load` read; with the class and parameters of
    /// its estimator as JSON.
    #[pyo3(signature = (path, estimator=None))]
    fn save(&self, path: std::path::PathBuf, estimator: Option<String>) -> PyResult<()> {
        save(self.model()?, &path, estimator)
    }

    /// The learner of a model file's bytes; with the labels of the classes in an order of one's own.
    #[staticmethod]
    #[pyo3(signature = (bytes, classes=None))]
    fn from_bytes(bytes: &[u8], classes: Option<Vec<ClassLabel>>) -> PyResult<Self> {
        let own = Model::from_bytes(bytes).map_err(|error| model(&error))?;
        let session = Session::resume(&own).map_err(run)?;
        let settings = session.settings();
        let plan = Plan {
            walk: Some(settings.walk()),
            loss: Some(settings.loss.clone()),
            rate: settings.rate(),
            seed: settings.seed,
            ..Plan::default()
        };
        let classes = (settings.task != Task::Regression)
            .then(|| Classes::restore(session.coding().classes(), own.schema.labels(), classes));
        Ok(Self {
            plan,
            classes,
            label: None,
            schema: own.schema.clone(),
            session: Some(session),
            early: None,
            block: None,
            scores: Vec::new(),
            answer: Vec::new(),
            keys: Keys::default(),
            owner: None,
        })
    }

    fn __reduce__<'py>(slf: PyRef<'py, Self>, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let bytes = slf.to_bytes(py)?;
        let labels = slf.classes.as_ref().map(Classes::list);
        Ok((py.get_type::<Self>().getattr("from_bytes")?, (bytes, labels)))
    }
}
