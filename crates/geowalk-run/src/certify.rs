//! # Certificates for another comparator
//! A model holds the sums of its run, so any comparator is answered without the data; what the comparator itself lost, and the best one in hindsight, need the data once more.
//!
//! **The file of a comparator** One weight per line, `name,value`, with the names that `geowalk show` prints, `(intercept)` for the constant; for several classes `class,name,value`. Features
//! that are not named have weight 0. The text before the first comma is the class, that after the last one the value: names may have commas in them.

pub(crate) mod geodesic;

use std::collections::HashMap;
use std::path::Path;

use geowalk::boost::Halt;
use geowalk::row::Block;
use geowalk_data::Task;

use crate::certificate::{Against, Known, Report};
use crate::digest::Digest;
use crate::error::RunError;
use crate::hindsight::{Form, Problem};
use crate::input::Rows;
use crate::label::Coding;
use crate::learner::Learner;
use crate::model::Model;
use crate::predict::restore;
use crate::pump::ROWS;
use crate::train::replay;
use crate::walks::{self, Built};

/// Which comparator.
#[derive(Debug, Clone, PartialEq)]
pub enum Which {
    /// The best fixed weights in hindsight.
    Best,
    /// That of a file.
    Given {
        /// Its name, for messages.
        name: String,
        /// What is in it.
        text: String,
    },
    /// These weights, one vector for each output in the order of the coding, the intercept first if there is one.
    Weights(Vec<Vec<f64>>),
}

impl Which {
    /// `best`, or the name of a file, which is read.
    pub fn read(text: &str) -> Result<Self, RunError> {
        if text == "best" {
            return Ok(Self::Best);
        }
        let read = std::fs::read_to_string(Path::new(text));
        let text_of = read.map_err(|error| RunError::Comparator {
            file: text.to_owned(),
            line: None,
            what: format!(
                "{error}; a file with a line name,value for each weight is expected, or best"
            ),
        })?;
        Ok(Self::Given { name: text.to_owned(), text: text_of })
    }
}

/// Opens the data once more.
pub type Open<'a> = &'a mut dyn FnMut() -> Rows;

/// What the certificates of a model say: against a comparator, or against the [set](crate::learner::Reach) of its walk.
pub fn certify(
    model: &Model,
    which: Option<&Which>,
    data: Option<Open<'_>>,
) -> Result<Report, RunError> {
    certify_until(&Halt::default(), model, which, data)
}

/// The same, unless it is halted: the best comparator of many rows is a search of minutes.
pub fn certify_until(
    halt: &Halt,
    model: &Model,
    which: Option<&Which>,
    data: Option<Open<'_>>,
) -> Result<Report, RunError> {
    let built = restore(model)?;
    let learner = built.learner.as_ref();
    let none = RunError::NoCertificate {
        why: if model.settings.certificate {
            "the log-odds are not linear in the features"
        } else {
            "they were off"
        },
    };
    let Some(which) = which else {
        let report = learner.report(&Against::Reach, None).ok_or(none)?;
        report.check()?;
        return Ok(report);
    };
    if learner.report(&Against::Reach, None).is_none() {
        return Err(none);
    }
    if data.is_some() {
        model.settings.check_repeatable()?;
    }
    let problem = |open: &mut dyn FnMut() -> Rows| read(halt, model, &built, open());
    let given = match which {
        Which::Best => None,
        Which::Given { name, text } => {
            Some((parse(model, learner, name, text)?, format!("the comparator of {name}")))
        }
        Which::Weights(u) => Some((u.clone(), "the comparator".to_owned())),
    };
    let mut seen = None;
    let (u, known, words, data) = match (given, data) {
        (Some((u, words)), None) => (u, None, words, None),
        (Some((u, words)), Some(open)) => {
            let problem = seen.insert(problem(open)?);
            let (loss, rounding) = (problem.loss_of(&u), problem.rounding_of(&u));
            (u, Some(Known { loss, rounding, gap: None }), words, Some(open))
        }
        (None, None) => {
            return Err(RunError::Comparator {
                file: "best".to_owned(),
                line: None,
                what: "the best comparator is sought on the data: give them (--data), from files"
                    .to_owned(),
            });
        }
        (None, Some(open)) => {
            let problem = seen.insert(problem(open)?);
            let best = problem.best(learner.domain(), &weights(learner));
            let best = best.ok_or(RunError::Halted)?;
            let rounding = problem.rounding_of(&best.u);
            let known = Known { loss: best.loss, rounding, gap: Some(best.words) };
            let with =
                ", with a ridge (half their squared length in standard deviations of the features)";
            let with = if best.ridge { with } else { "" };
            (best.u, Some(known), format!("the best fixed weights in hindsight{with}"), Some(open))
        }
    };
    let loss = known.as_ref().map(|known| known.loss);
    let ask = |learner: &dyn Learner| learner.report(&Against::Given(&u), loss);
    let mut report = ask(learner).ok_or(none)?;
    // Theorems that must see the comparator in every round.
    let facing = walks::against(&model.settings, walks::width(&model.schema), u.first().cloned());
    if let (Some(open), true, 1, Ok(facing)) = (data, report.theorems.is_empty(), u.len(), facing)
        && ask(facing.learner.as_ref()).is_some_and(|fresh| !fresh.theorems.is_empty())
    {
        report.theorems = replay(model, open, u[0].clone(), ask)?;
    }
    if let (Some(problem), 1) = (&seen, u.len()) {
        match geodesic::again(model, problem, &u[0])? {
            Ok(found) => {
                report.theorems.extend(found.verdicts);
                report.parts = found.parts;
            }
            Err(geodesic::NO_MANIFOLD) => {}
            Err(reason) if report.theorems.is_empty() => report.reason = reason,
            Err(_) => {}
        }
    }
    Ok(report.facing(words, known)?)
}

/// The bounds against all weights within a distance, for distances around that of the model's own: in closed form, no data needed.
pub fn curve(model: &Model) -> Result<Vec<(f64, Report)>, RunError> {
    let built = restore(model)?;
    let learner = built.learner.as_ref();
    let own = match learner.reach() {
        crate::learner::Reach::Ball(norm) => {
            weights(learner).iter().map(|w| norm.above(w)).fold(0.0, f64::max)
        }
        crate::learner::Reach::Positive => {
            weights(learner).iter().map(|w| w.iter().sum()).fold(0.0, f64::max)
        }
        _ => 1.0,
    };
    let unit = if own > 0.0 { own } else { 1.0 };
    let distances = (0..13_u32).map(|k| unit * f64::from(1_u32 << k) / 64.0);
    distances
        .map(|u| {
            let none = RunError::NoCertificate { why: "they were off" };
            Ok((u, learner.report(&Against::Within(u), None).ok_or(none)?))
        })
        .collect()
}

/// The weights of every output.
fn weights(learner: &dyn Learner) -> Vec<Vec<f64>> {
    let one = |k: usize| {
        let mut w = Vec::new();
        learner.weights(k, &mut w);
        w
    };
    (0..learner.outputs()).map(one).collect()
}

/// The comparator of a file.
fn parse(
    model: &Model,
    learner: &dyn Learner,
    file: &str,
    text: &str,
) -> Result<Vec<Vec<f64>>, RunError> {
    let shift = usize::from(model.settings.intercept);
    let own = weights(learner);
    let n = own.iter().map(Vec::len).max().unwrap_or(0);
    let mut places: HashMap<String, usize> = HashMap::new();
    for i in shift..n {
        let index = u32::try_from(i - shift).unwrap_or(u32::MAX);
        let name = model.schema.features().name(index);
        places.insert(name.map_or_else(|| format!("#{index}"), std::borrow::Cow::into_owned), i);
    }
    if shift == 1 {
        places.insert("(intercept)".to_owned(), 0);
    }
    let coding = Coding::restore(model.settings.task, model.classes.clone());
    let classes = coding.texts(model.schema.labels());
    let several = model.settings.task == Task::Multiclass;
    let mut u = vec![vec![0.0; n]; own.len()];
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() {
            continue;
        }
        let fail =
            |what: String| RunError::Comparator { file: file.to_owned(), line: Some(at + 1), what };
        let form = if several { "class,name,value" } else { "name,value" };
        let (rest, value) = line
            .rsplit_once(',')
            .ok_or_else(|| fail(format!("'{line}' is not {form}; write a weight per line")))?;
        let weight: f64 =
            value.trim().parse().ok().filter(|weight: &f64| weight.is_finite()).ok_or_else(
                || fail(format!("the weight '{}' is not a number; write {form}", value.trim())),
            )?;
        let (class, name) = match (several, rest.split_once(',')) {
            (false, _) => (0, rest),
            (true, None) => return Err(fail(format!("'{line}' has no class; write {form}"))),
            (true, Some((class, name))) => {
                let place = classes.iter().position(|known| known == class);
                let unknown = || {
                    fail(format!("unknown class '{class}'; the classes are {}", classes.join(", ")))
                };
                (place.ok_or_else(unknown)?, name)
            }
        };
        let place = *places.get(name).ok_or_else(|| {
            fail(format!("the model has no feature '{name}'; geowalk show --top prints the names, '(intercept)' is the constant"))
        })?;
        if let Some(u) = u.get_mut(class) {
            u[place] = weight;
        }
    }
    Ok(u)
}

/// The rows that the model was learned from, once more.
fn read<'a>(
    halt: &Halt,
    model: &Model,
    built: &'a Built,
    rows: Rows,
) -> Result<Problem<'a>, RunError> {
    let mut source = rows.open(&model.schema)?;
    let mut coding = Coding::restore(model.settings.task, model.classes.clone());
    let (holdout, labels) = (model.settings.stream.holdout, model.schema.labels().clone());
    let (mut blocks, mut hashes) = (Vec::new(), Vec::new());
    let mut learned = 0_u64;
    loop {
        let mut block = Block::new();
        if source.read(&mut block, ROWS)? == 0 {
            break;
        }
        if halt.is_called() {
            return Err(RunError::Halted);
        }
        let before = hashes.len() as u64;
        hashes.extend((0..block.len()).map(|i| block.fingerprint(i)));
        coding.code(block.labels_mut(), &labels).map_err(|(i, cause)| RunError::Label {
            row: before + i as u64 + 1,
            place: source.places().get(i),
            cause,
        })?;
        let kept = |i: &usize| {
            let row = before + *i as u64 + 1;
            !block.labels()[*i].is_nan() && !holdout.is_some_and(|holdout| holdout.keeps(row))
        };
        let rows: Vec<usize> = (0..block.len()).filter(kept).collect();
        learned += rows.len() as u64;
        blocks.push((block, rows));
    }
    let rows = hashes.len() as u64;
    if learned == 0 || !model.examples.is_multiple_of(learned) {
        let what = format!("it has learned from {} examples, here are {learned}", model.examples);
        return Err(RunError::OtherData { what });
    }
    let passes = model.examples / learned;
    if let Some(known) = model.find(Model::DIGEST).and_then(|saved| Digest::load(&saved)) {
        let mut digest = Digest::default();
        (0..passes).for_each(|_| hashes.iter().for_each(|row| digest.add(*row)));
        if digest.to_string() != known.to_string() {
            let what = format!(
                "the digest of its {} rows is {known}, that of these {rows} is {digest}",
                known.rows()
            );
            return Err(RunError::OtherData { what });
        }
    }
    let learner = built.learner.as_ref();
    let form = match (model.settings.task, built.joint) {
        (Task::Multiclass, true) => Form::Joint,
        (Task::Multiclass, false) => Form::Apart,
        _ => Form::One,
    };
    Ok(Problem {
        blocks,
        loss: &built.loss,
        form,
        intercept: model.settings.intercept,
        features: weights(learner).iter().map(Vec::len).max().unwrap_or(0),
        outputs: learner.outputs(),
        passes: passes as f64,
        halt: halt.clone(),
    })
}
