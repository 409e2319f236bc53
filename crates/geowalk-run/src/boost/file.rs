//! # Boosters in model files
//! The features of member k are the array `boost.k.features`, numbers one after the other, and their leverages `boost.k.alpha`; `docs/model-format.md` defines the numbers.

use geowalk::boost::Surrogate;
use geowalk::boost::columns::Plain;
use geowalk::boost::multiclass::Reduction;
use geowalk::boost::rule::{Asks, Literal, Rule};
use geowalk::boost::split::{Split, Test};
use geowalk::boost::stumps::{Vote, Votes};
use geowalk::boost::weak::Hypothesis;
use geowalk_data::Task;
use serde_json::Value;

use super::{Boosted, History, Member, Plan, course};
use crate::error::RunError;
use crate::label::Coding;
use crate::model::{BoostSettings, LearnerSettings, Model, ModelError, Settings};
use crate::table::Examples;

impl Plan {
    /// What is written of the plan.
    fn settings(&self, task: Task, boosted: &Boosted) -> Settings {
        let learner = LearnerSettings::Boost(Box::new(BoostSettings {
            plan: Self { reduction: boosted.reduction, ..self.clone() },
            columns: boosted.columns,
            losses: boosted.members.iter().map(|member| member.loss.spec()).collect(),
        }));
        let loss = self.own.as_ref().map_or_else(|| self.loss.clone(), Surrogate::spec);
        Settings { seed: self.seed, intercept: false, ..Settings::new(learner, loss, task) }
    }

    /// What was asked for, of a model of boosting.
    pub fn of(model: &Model) -> Option<Self> {
        let LearnerSettings::Boost(own) = &model.settings.learner else { return None };
        let Settings { loss, seed, .. } = &model.settings;
        Some(Self { loss: loss.clone(), seed: *seed, ..own.plan.clone() })
    }

    /// The model file of what was learned.
    pub fn model(
        &self,
        examples: &Examples,
        boosted: &Boosted,
        histories: &[History],
        summary: Value,
    ) -> Model {
        let task = if boosted.classes.len() == 2 { Task::Binary } else { Task::Multiclass };
        let mut arrays = Vec::new();
        for (k, member) in boosted.members.iter().enumerate() {
            let mut out = Vec::new();
            member.hypotheses.iter().for_each(|hypothesis| write(hypothesis, &mut out));
            arrays.push((format!("boost.{k}.alpha"), member.alpha.clone()));
            arrays.push((format!("boost.{k}.features"), out));
        }
        arrays.extend(course::arrays(histories));
        Model {
            settings: Settings {
                reading: examples.reading.settings.clone(),
                ..self.settings(task, boosted)
            },
            schema: examples.schema.clone(),
            classes: examples.coding.classes().to_vec(),
            examples: examples.classes.rows() as u64,
            arrays,
            summary,
        }
    }
}

impl Boosted {
    /// What a model file holds.
    pub fn of(model: &Model) -> Result<Self, RunError> {
        Self::with(model, None)
    }

    /// The same where the loss may be a user's own, which no file holds.
    pub fn with(model: &Model, own: Option<&Surrogate>) -> Result<Self, RunError> {
        let coding = Coding::restore(model.settings.task, model.classes.clone());
        Self::from_model(model, coding.texts(model.schema.labels()), own)
    }

    /// What a model file holds; the names of the classes are the reader's, and so is a loss that no name tells.
    pub fn from_model(
        model: &Model,
        classes: Vec<String>,
        own: Option<&Surrogate>,
    ) -> Result<Self, RunError> {
        let missing = |what: &str| ModelError::Missing { what: what.to_owned() };
        let LearnerSettings::Boost(settings) = &model.settings.learner else {
            return Err(missing("boost").into());
        };
        let (reduction, columns) = (settings.plan.reduction, settings.columns);
        let count = settings.losses.len();
        let expected =
            if classes.len() == 2 || reduction == Reduction::Mh { 1 } else { classes.len() };
        if count != expected || classes.len() < 2 {
            return Err(missing("members").into());
        }
        let mut members = Vec::new();
        for k in 0..count {
            let name = format!("boost.{k}.features");
            let numbers = model.find(&name).ok_or_else(|| missing(&name))?;
            // The last column of several classes at once says the class.
            let most = columns + usize::from(reduction == Reduction::Mh && classes.len() > 2);
            let hypotheses = read(&numbers, most).ok_or_else(|| missing(&name))?;
            let alpha = model.array(&format!("boost.{k}.alpha"), hypotheses.len())?.to_vec();
            let name = &settings.losses[k];
            let loss = match own.filter(|own| own.spec() == *name) {
                Some(own) => own.clone(),
                None => Surrogate::parse(name)?,
            };
            members.push(Member { loss, hypotheses, alpha });
        }
        Ok(Self { classes, reduction, members, columns })
    }
}

fn write(hypothesis: &Hypothesis, out: &mut Vec<f64>) {
    match hypothesis {
        Hypothesis::Rule(rule) => {
            out.extend([0.0, f64::from(u8::from(rule.abstains)), rule.literals.len() as f64]);
            for Literal { column, asks } in &rule.literals {
                let (kind, value) = match *asks {
                    Asks::Truth(truth) => (0.0, f64::from(u8::from(truth))),
                    Asks::Is(code) => (1.0, f64::from(code)),
                    Asks::Not(code) => (2.0, f64::from(code)),
                    Asks::AtMost(theta) => (3.0, theta),
                    Asks::Above(theta) => (4.0, theta),
                    Asks::Missing => (5.0, 0.0),
                };
                out.extend([*column as f64, kind, value]);
            }
        }
        Hypothesis::Stump(split) => {
            out.push(1.0);
            write_split(split, out);
        }
        Hypothesis::Tree(votes) => {
            out.extend([2.0, votes.nodes().len() as f64]);
            for node in votes.nodes() {
                match node {
                    Vote::Ask(split, left, right) => {
                        out.push(0.0);
                        write_split(split, out);
                        out.extend([*left as f64, *right as f64]);
                    }
                    Vote::Say(vote) => out.extend([1.0, *vote]),
                }
            }
        }
        Hypothesis::Plain(plain) => match *plain {
            Plain::Constant => out.extend([3.0, 0.0, 0.0, 0.0]),
            Plain::Value(column) => out.extend([3.0, 1.0, column as f64, 0.0]),
            Plain::Name(column, code) => out.extend([3.0, 2.0, column as f64, f64::from(code)]),
        },
        _ => {}
    }
}

fn write_split(split: &Split, out: &mut Vec<f64>) {
    let (kind, value, missing) = match split.test {
        Test::AtMost { theta, missing } => (0.0, theta, f64::from(u8::from(missing))),
        Test::Is { code } => (1.0, f64::from(code), 0.0),
        Test::Known => (2.0, 0.0, 0.0),
    };
    out.extend([split.column as f64, kind, value, missing]);
}

/// Numbers, one after the other.
struct Numbers<'a> {
    rest: std::slice::Iter<'a, f64>,
    columns: usize,
}

impl Numbers<'_> {
    fn number(&mut self) -> Option<f64> {
        self.rest.next().copied()
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked
    fn count(&mut self) -> Option<usize> {
        let x = self.number()?;
        (x >= 0.0 && x.fract() == 0.0 && x < f64::from(u32::MAX)).then_some(x as usize)
    }

    fn code(&mut self) -> Option<u32> {
        self.count().and_then(|code| u32::try_from(code).ok())
    }

    fn flag(&mut self) -> Option<bool> {
        match self.number()? {
            0.0 => Some(false),
            1.0 => Some(true),
            _ => None,
        }
    }

    fn column(&mut self) -> Option<usize> {
        self.count().filter(|column| *column < self.columns)
    }

    fn split(&mut self) -> Option<Split> {
        let (column, kind) = (self.column()?, self.count()?);
        let test = match kind {
            0 => Test::AtMost { theta: self.number()?, missing: self.flag()? },
            1 => {
                let test = Test::Is { code: self.code()? };
                self.number()?;
                test
            }
            2 => {
                self.number()?;
                self.number()?;
                Test::Known
            }
            _ => return None,
        };
        Some(Split { column, test })
    }

    fn literal(&mut self) -> Option<Literal> {
        let (column, kind) = (self.column()?, self.count()?);
        let asks = match kind {
            0 => Asks::Truth(self.flag()?),
            1 => Asks::Is(self.code()?),
            2 => Asks::Not(self.code()?),
            3 => Asks::AtMost(self.number()?),
            4 => Asks::Above(self.number()?),
            5 => {
                self.number()?;
                Asks::Missing
            }
            _ => return None,
        };
        Some(Literal { column, asks })
    }

    fn hypothesis(&mut self) -> Option<Hypothesis> {
        match self.count()? {
            0 => {
                let (abstains, count) = (self.flag()?, self.count()?);
                let literals = (0..count).map(|_| self.literal()).collect::<Option<_>>()?;
                Some(Hypothesis::Rule(Rule { literals, abstains }))
            }
            1 => self.split().map(Hypothesis::Stump),
            2 => {
                let count = self.count()?;
                let node = |own: &mut Self| match own.count()? {
                    0 => Some(Vote::Ask(own.split()?, own.count()?, own.count()?)),
                    1 => own.number().map(Vote::Say),
                    _ => None,
                };
                let nodes = (0..count).map(|_| node(self)).collect::<Option<_>>()?;
                Votes::new(nodes).map(Hypothesis::Tree)
            }
            3 => {
                let (kind, column, code) = (self.count()?, self.count()?, self.code()?);
                let known = column < self.columns;
                match kind {
                    0 => Some(Plain::Constant),
                    1 if known => Some(Plain::Value(column)),
                    2 if known => Some(Plain::Name(column, code)),
                    _ => None,
                }
                .map(Hypothesis::Plain)
            }
            _ => None,
        }
    }
}

fn read(numbers: &[f64], columns: usize) -> Option<Vec<Hypothesis>> {
    let mut numbers = Numbers { rest: numbers.iter(), columns };
    let mut found = Vec::new();
    while !numbers.rest.as_slice().is_empty() {
        found.push(numbers.hypothesis()?);
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_come_back_and_nonsense_does_not() {
        let split = |test| Split { column: 1, test };
        let literal = |asks| Literal { column: 2, asks };
        let all = [
            Hypothesis::Rule(Rule::default()),
            Hypothesis::Rule(Rule {
                literals: [
                    Asks::Truth(true),
                    Asks::Is(3),
                    Asks::Not(0),
                    Asks::AtMost(-1.5),
                    Asks::Above(1e-300),
                    Asks::Missing,
                ]
                .map(literal)
                .to_vec(),
                abstains: true,
            }),
            Hypothesis::Stump(split(Test::AtMost { theta: 0.1, missing: true })),
            Hypothesis::Stump(split(Test::Is { code: 7 })),
            Hypothesis::Tree(
                Votes::new(vec![
                    Vote::Ask(split(Test::Known), 1, 2),
                    Vote::Say(1.0),
                    Vote::Say(-1.0),
                ])
                .unwrap(),
            ),
            Hypothesis::Plain(Plain::Constant),
            Hypothesis::Plain(Plain::Value(0)),
            Hypothesis::Plain(Plain::Name(2, 4)),
        ];
        let mut numbers = Vec::new();
        for hypothesis in &all {
            write(hypothesis, &mut numbers);
        }
        assert_eq!(read(&numbers, 3).unwrap(), all);
        assert!(read(&numbers, 2).is_none(), "a column that does not exist");
        assert!(read(&numbers[..numbers.len() - 1], 3).is_none());
        for bad in
            [&[9.0][..], &[0.0, 2.0, 0.0], &[2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0], &[0.5]]
        {
            assert!(read(bad, 3).is_none(), "{bad:?}");
        }
    }
}
