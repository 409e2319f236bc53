//! # A run that is fed by hand
//! The loop of [`train`](super::train()) without a source: whoever has examples in memory, a block at a time or one by one, learns with the same steps and gets the same
//! bits as from a file.

use std::sync::Arc;

use geowalk::boost::Halt;
use geowalk::row::Block;
use geowalk_data::{Places, Schema, Skipped, Task};

use super::run::{Run, Sink};
use super::{Course, Plan, Summary};
use crate::certificate::Report;
use crate::certify::{Open, Which, certify_until};
use crate::error::RunError;
use crate::fit;
use crate::input::Rows;
use crate::label::Coding;
use crate::learner::{Learner, largest, softmax};
use crate::link;
use crate::metrics::Seen;
use crate::model::{Model, ReadSettings, Settings, StreamSettings};
use crate::predict;

/// A run that is fed by hand.
///
/// ```
/// use geowalk::row::Block;
/// use geowalk_data::{Dictionary, Features, Labels, Schema, Task};
/// use geowalk_run::train::{Plan, Session};
/// let names = Dictionary::from_names(["a", "b"])?;
/// let schema = Schema::from_parts(Features::Exact(names), Labels::Numbers, vec![]);
/// let mut block = Block::new();
/// block.push_dense(&[1.0, 0.0], 3.0, 1.0)?;
/// block.push_dense(&[0.0, 1.0], 1.0, 1.0)?;
/// let plan = Plan { task: Some(Task::Regression), ..Plan::default() };
/// let mut session = Session::new(&plan, schema, &block)?;
/// session.learn(&mut block)?;
/// assert_eq!(session.summary().seen.examples, 2);
/// let again = Session::resume(&session.model())?;
/// assert_eq!(again.model().arrays, session.model().arrays);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Session {
    run: Run,
    schema: Schema,
    places: Places,
    /// Rows before those that errors count from.
    origin: u64,
    floor: link::Floor,
}

impl Session {
    /// A new run on examples with this schema, of which these are the first; they are only looked at.
    pub fn new(plan: &Plan, schema: Schema, first: &Block) -> Result<Self, RunError> {
        let run = Run::new(plan, None, &schema, first, &mut |_| {})?;
        Ok(Self::of(run, schema))
    }

    /// Goes on where the model stands. Models of anything but a walk are refused.
    pub fn resume(model: &Model) -> Result<Self, RunError> {
        predict::check_walk(model)?;
        let (plan, none) = (Plan::default(), Block::new());
        let run = Run::new(&plan, Some(model), &model.schema, &none, &mut |_| {})?;
        Ok(Self::of(run, model.schema.clone()))
    }

    /// The best linear model of all rows at once, in blocks with labels as in the schema; of two classes both
    /// may be known beforehand, the negative one first. `None` if it was halted. Settings that cannot be fitted
    /// are refused: see [`is_fittable`](fit::is_fittable).
    ///
    /// ```
    /// use geowalk::row::Block;
    /// use geowalk_data::{Dictionary, Features, Labels, Schema, Task};
    /// use geowalk_run::train::{Plan, Session, Wanted};
    /// let features = Features::Exact(Dictionary::from_names(["a"])?);
    /// let schema = Schema::from_parts(features, Labels::Numbers, vec![]);
    /// let mut block = Block::new();
    /// for i in 0..50 {
    ///     block.push_dense(&[f64::from(i)], f64::from(i / 25), 1.0)?; // sorted by class
    /// }
    /// let plan = Plan { task: Some(Task::Binary), ..Plan::default() };
    /// let session = Session::fit(&plan, schema, vec![block.clone()], None, &Default::default())?;
    /// let mut classes = Vec::new();
    /// session.unwrap().answer(&block, Wanted::Classes, &mut classes);
    /// assert!(classes.iter().zip(block.labels()).all(|(class, y)| class == y));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::needless_pass_by_value)] // as `new` takes it
    pub fn fit(
        plan: &Plan,
        schema: Schema,
        blocks: Vec<Block>,
        both: Option<[f64; 2]>,
        halt: &Halt,
    ) -> Result<Option<Self>, RunError> {
        let labels: Vec<f64> = blocks.iter().flat_map(Block::labels).copied().collect();
        let plan = Plan { walk: Some(fit::WALK.to_owned()), ..plan.clone() };
        let (settings, _) = plan.decide(schema.labels(), &labels, &mut |_| {})?;
        let classes = both.map_or_else(Vec::new, |both| both.to_vec());
        let coding = match settings.task {
            Task::Binary => Coding::restore(Task::Binary, classes),
            task => Coding::new(task),
        };
        let made = fit::fit(&settings, &schema, blocks, coding, halt)?;
        made.as_ref().map(Self::resume).transpose()
    }

    fn of(mut run: Run, schema: Schema) -> Self {
        run.begin_pass();
        run.trace_sparsely();
        let floor = link::Floor::of_model(&run.settings);
        Self { run, schema, places: Places::default(), origin: 0, floor }
    }

    /// What the model says of its run.
    pub(crate) fn stream_mut(&mut self) -> &mut StreamSettings {
        &mut self.run.settings.stream
    }

    /// Keeps in the model how its rows were read.
    pub(crate) fn read_with(&mut self, reading: ReadSettings) {
        self.run.settings.reading = reading;
    }

    /// Both of two classes are known, the negative one first: labels as in the schema. Without this, learning begins with both signs and one is dropped when the second class comes;
    /// the weights are the same.
    pub fn know(&mut self, classes: [f64; 2]) {
        if self.run.settings.task == Task::Binary && !self.run.coding().is_open() {
            self.run.know(classes);
        }
    }

    /// A further pass through the same examples begins.
    pub fn begin_pass(&mut self) {
        self.run.end_pass();
        self.run.begin_pass();
        self.origin = 0;
    }

    /// The rows that errors name are counted from here.
    pub fn count_from_here(&mut self) {
        self.origin = self.run.passed();
    }

    /// Learns from a block whose labels are as in the schema; they are coded in place. On an error the rows before it have been learned.
    pub fn learn(&mut self, block: &mut Block) -> Result<(), RunError> {
        let mut sink = Sink { said: &mut |_| {}, predictions: None };
        let learned = self.run.block(block, &self.places, self.schema.labels(), &mut sink);
        learned.map_err(|error| {
            let intercept = self.run.settings.intercept;
            error.named(self.schema.features(), intercept).counted_from(self.origin)
        })
    }

    /// Keeps what is measured of every row from now on, for [`take_rows`](Self::take_rows).
    pub fn keep_rows(&mut self) {
        self.run.keep_rows();
    }

    /// Hands over what was measured of the rows since the last call, if they are [kept](Self::keep_rows).
    pub fn take_rows(&mut self) -> Vec<Seen> {
        self.run.take_rows()
    }

    /// How many examples were learned from, those of all passes.
    pub fn examples(&self) -> u64 {
        self.run.examples()
    }

    /// What was asked for.
    pub fn settings(&self) -> &Settings {
        &self.run.settings
    }

    /// What features and labels mean.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The same, to be added to.
    pub fn schema_mut(&mut self) -> &mut Schema {
        &mut self.schema
    }

    /// How labels are coded.
    pub fn coding(&self) -> &Coding {
        self.run.coding()
    }

    /// The learner.
    pub fn learner(&self) -> &dyn Learner {
        self.run.built().learner.as_ref()
    }

    /// Scores, probabilities or classes of the rows of a block, one row after the other. The score of two classes is positive for the second.
    pub fn answer(&self, block: &Block, wanted: Wanted, out: &mut Vec<f64>) {
        self.answer_with(block, wanted, &mut Vec::new(), out);
    }

    /// The same with memory for scores, so that nothing has to be allocated for a row.
    pub fn answer_with(
        &self,
        block: &Block,
        wanted: Wanted,
        memory: &mut Vec<f64>,
        out: &mut Vec<f64>,
    ) {
        let (learner, task) = (self.learner(), self.run.settings.task);
        let theta = self.threshold();
        memory.clear();
        match wanted {
            Wanted::Probabilities => learner.predict(block, memory),
            Wanted::Scores | Wanted::Classes => learner.scores(block, memory),
        }
        for scores in memory.chunks_exact_mut(learner.outputs().max(1)) {
            match (wanted, task) {
                (Wanted::Scores, Task::Binary) => out.push(scores[0] - theta),
                (Wanted::Scores, _) | (_, Task::Regression) => out.extend_from_slice(scores),
                (Wanted::Classes, Task::Binary) => {
                    out.push(f64::from(u8::from(scores[0] >= theta)));
                }
                (Wanted::Classes, Task::Multiclass) => out.push(largest(scores)),
                (Wanted::Probabilities, Task::Binary) => {
                    let p = link::probability(&self.run.built().loss, scores[0]);
                    let p = self.floor.of(p.unwrap_or(f64::NAN), 2);
                    out.extend([1.0 - p, p]);
                }
                (Wanted::Probabilities, Task::Multiclass) => {
                    softmax(scores);
                    let classes = scores.len();
                    out.extend(scores.iter().map(|p| self.floor.of(*p, classes)));
                }
            }
        }
    }

    /// The score from which on the second of two classes is predicted.
    pub fn threshold(&self) -> f64 {
        link::threshold(&self.run.built().loss)
    }

    /// Does the loss estimate probabilities?
    pub fn has_probabilities(&self) -> bool {
        link::probability(&self.run.built().loss, 0.0).is_some()
    }

    /// What came out of it so far.
    pub fn summary(&self) -> Summary {
        self.run.summary(&self.schema, &Skipped::default(), 0.0)
    }

    /// What the certificates say of a comparator; what it lost, and the best one in hindsight, from the rows that were learned from, in blocks with labels as in the schema.
    ///
    /// ```
    /// # use geowalk::row::Block;
    /// # use geowalk_data::{Dictionary, Features, Labels, Schema, Task};
    /// # use geowalk_run::train::{Plan, Session};
    /// use geowalk_run::certify::Which;
    /// # let schema = Schema::from_parts(Features::Exact(Dictionary::from_names(["a"])?), Labels::Numbers, vec![]);
    /// # let mut block = Block::new();
    /// # block.push_dense(&[1.0], 3.0, 1.0)?;
    /// # block.push_dense(&[2.0], 5.0, 1.0)?;
    /// # let plan = Plan { task: Some(Task::Regression), ..Plan::default() };
    /// # let mut session = Session::new(&plan, schema, &block)?;
    /// # let rows = vec![block.clone()];
    /// # session.learn(&mut block)?;
    /// let report = session.certify(&Which::Weights(vec![vec![1.0, 2.0]]), Some(rows))?; // y = 1 + 2a
    /// assert_eq!(report.known.as_ref().unwrap().loss, 0.0);
    /// assert!(report.regret().unwrap() <= report.best().bound);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn certify(&self, which: &Which, rows: Option<Vec<Block>>) -> Result<Report, RunError> {
        self.certifying(which.clone(), rows, Halt::default())()
    }

    /// The same as work that can be done in a thread of its own, and halted.
    pub fn certifying(
        &self,
        which: Which,
        rows: Option<Vec<Block>>,
        halt: Halt,
    ) -> impl FnOnce() -> Result<Report, RunError> + Send + 'static {
        let model = self.model();
        let mut again = rows.map(Arc::new).map(|rows| move || Rows::Memory(Arc::clone(&rows)));
        move || {
            let open = again.as_mut().map(|again| again as Open<'_>);
            certify_until(&halt, &model, Some(&which), open)
        }
    }

    /// The course of the run so far, and what it led to.
    pub fn course(&self) -> Course {
        Course { points: self.run.points_so_far(), model: self.model() }
    }

    /// The model as it is now.
    pub fn model(&self) -> Model {
        self.run.model(&self.schema, &self.summary())
    }
}

/// What is wanted of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The scores: one, or one of each class.
    Scores,
    /// The probability of every class, in the order of their codes.
    Probabilities,
    /// The place of the class in the order of codes.
    Classes,
}
