//! # Boosting, from data to a model
//! Reads a table, boosts a weak learner for two or more classes, estimates the error by cross-validation, writes the model, and predicts with it.
//!
//! * [`Plan`]: what is asked for. [`Boosted`]: what was learned; [`Said`]: what happens in between.
//! * [`validate`](mod@validate): cross-validation, held-out rows. [`words`]: rules as sentences; SQL, JSON, Graphviz.
//!
//! **Determinism** the same data, plan and seed give the same model, for any number of threads.

mod course;
mod explain;
mod file;
mod resume;
mod summary;
pub mod support;
pub mod validate;
pub mod words;

use geowalk::boost::columns::PlainColumns;
use geowalk::boost::line::Separable;
use geowalk::boost::multiclass::{Reduction, expand, expand_labels};
use geowalk::boost::rules::{RuleOptions, Rules, Search};
use geowalk::boost::stumps::{Stumps, Trees};
use geowalk::boost::table::{Classes, Table};
use geowalk::boost::weak::{self, Hypothesis, Weak};
use geowalk::boost::{
    Booster, Choice, Ensemble, Flavour, Halt, HeldTable, Leverage, Round, Stop, Surrogate,
};
use geowalk::certify::Certificate;
use geowalk::error::Allowed;
use geowalk::{ConfigError, Real};

pub(crate) use explain::explain;
pub use resume::Known;
use serde::{Deserialize, Serialize};
pub use summary::summary;

use crate::error::RunError;
use crate::folds;
use crate::settings::text;

/// Which features are boosted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Conjunctions of literals.
    #[default]
    Rules,
    /// Single tests.
    Stumps,
    /// Small trees whose leaves vote ±1, each tree one feature with one leverage.
    Trees,
    /// The columns themselves.
    Columns,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rules, Self::Stumps, Self::Trees, Self::Columns];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rules => "rules",
            Self::Stumps => "stumps",
            Self::Trees => "small-trees",
            Self::Columns => "columns",
        }
    }

    /// The kind of that name.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == text);
        // Boosted trees are models of another kind, which `boost` also makes.
        let names = Self::ALL.map(Self::name).into_iter().chain(["trees"]);
        found.ok_or_else(|| geowalk::spec::unknown("weak learner", text, names))
    }
}

/// What the flavours choose losses by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// The training error, as the paper.
    #[default]
    Training,
    /// The surrogate of rows that are held out; where none were asked for a fifth of the rows, and all rows
    /// are learned from with the losses that were chosen.
    HeldOut,
}

impl By {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Training => "training",
            Self::HeldOut => "held-out",
        }
    }

    /// `training` or `held-out`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let all = [Self::Training, Self::HeldOut];
        let found = all.into_iter().find(|by| by.name() == text);
        found.ok_or_else(|| geowalk::spec::unknown("choice of losses", text, all.map(Self::name)))
    }
}

/// The share of the rows that losses are chosen by.
const CHOOSING: f64 = 0.2;

/// With fewer rows losses are chosen by the training error.
const FEW: usize = 50;

/// The class that is learned against the rest, if one is, and the losses of the rounds, numbers in the bag; of
/// `F*` one.
pub type Schedule = (Option<String>, Vec<usize>);

/// What is asked for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct Plan {
    /// The loss, where no flavour chooses.
    #[serde(skip)]
    pub loss: String,
    /// A loss that no name tells, a user's own, instead of that.
    #[serde(skip)]
    pub own: Option<Surrogate>,
    /// How losses are chosen.
    #[serde(with = "text")]
    pub adapt: Flavour,
    /// What they are chosen by.
    #[serde(with = "text")]
    pub by: By,
    /// μ of the flavours.
    pub mu: f64,
    /// ν of the flavours.
    pub nu: f64,
    /// Which features.
    #[serde(with = "text")]
    pub weak: Kind,
    /// Literals of a rule.
    pub literals: usize,
    /// Leaves of a small tree.
    pub leaves: usize,
    /// How literals are compared.
    #[serde(with = "text")]
    pub search: Search,
    /// Bins of a column; `None`: thresholds between all values.
    pub bins: Option<usize>,
    /// Rules abstain where a value is missing.
    pub abstains: bool,
    /// Leverages per round.
    #[serde(with = "text")]
    pub leverage: Leverage,
    /// What to do with a feature that never errs.
    #[serde(with = "text")]
    pub separable: Separable,
    /// Rounds.
    pub rounds: usize,
    /// Stop when the bound on the training error is no larger.
    pub bound: Option<f64>,
    /// The share of the examples that is held out to choose the number of rounds.
    pub held_out: Option<f64>,
    /// Rounds without improvement.
    pub patience: Option<usize>,
    /// How several classes become two.
    #[serde(with = "text")]
    pub reduction: Reduction,
    /// Seed of folds and of what is held out.
    #[serde(skip)]
    pub seed: u64,
    /// Stops it from outside, after a round of each class that is left.
    #[serde(skip)]
    pub halt: Halt,
    /// Rounds that were made before and are repeated, of each training; see [`resumed`](Plan::resumed).
    #[serde(skip)]
    pub known: Vec<Vec<Known>>,
    /// The losses that another run has chosen.
    #[serde(skip)]
    pub schedules: Vec<Schedule>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            loss: "matsushita".to_owned(),
            own: None,
            adapt: Flavour::None,
            by: By::Training,
            mu: 0.5,
            nu: 0.25,
            weak: Kind::Rules,
            literals: 2,
            leaves: 4,
            search: Search::Edge,
            bins: Some(255),
            abstains: false,
            leverage: Leverage::One,
            separable: Separable::Cap,
            rounds: 10,
            bound: None,
            held_out: None,
            patience: None,
            reduction: Reduction::Ova,
            seed: 0,
            halt: Halt::default(),
            known: Vec::new(),
            schedules: Vec::new(),
        }
    }
}

/// What happens while boosting.
#[derive(Debug)]
pub enum Said<'a> {
    /// A class begins, of several that are learned one against the rest.
    Class(&'a str),
    /// A round was made.
    Round {
        /// The round.
        round: &'a Round,
        /// The feature that it added to.
        feature: &'a Hypothesis,
        /// The name of the loss.
        loss: &'a str,
    },
}

/// A sum of features, for two classes or one of several.
#[derive(Debug, Clone)]
pub struct Member {
    /// The loss that turns scores into probabilities.
    pub loss: Surrogate,
    /// The features.
    pub hypotheses: Vec<Hypothesis>,
    /// Their leverages.
    pub alpha: Vec<f64>,
}

/// What was learned.
#[derive(Debug, Clone)]
pub struct Boosted {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// How several classes became two; of no meaning for two.
    pub reduction: Reduction,
    /// One sum of features; one per class where each was learned against the rest.
    pub members: Vec<Member>,
    /// How many columns the table had.
    pub columns: usize,
}

/// What is known of a training.
#[derive(Debug, Clone)]
pub struct History {
    /// The class that was learned against the rest, if one was.
    pub class: Option<String>,
    /// The loss at the end, which gives the probabilities.
    pub loss: String,
    /// The loss of the first round, which the certificates are about; they are void if another round had another.
    pub stepped: String,
    /// The rounds that were kept.
    pub rounds: Vec<Round>,
    /// Why it ended.
    pub ended: &'static str,
    /// Rounds that were made after the best and forgotten.
    pub forgotten: usize,
    /// Other runs of F* that were as good.
    pub ties: usize,
    /// Steps that were capped.
    pub capped: usize,
    /// Risk, training error, weak learning.
    pub certificates: Vec<Certificate>,
}

impl History {
    fn new(
        ensemble: &Ensemble,
        stepped: &Surrogate,
        class: Option<&String>,
        ties: usize,
    ) -> Result<Self, RunError> {
        let rounds: Vec<Round> = ensemble.rounds.iter().take(ensemble.kept).copied().collect();
        let capped = |round: &&Round| round.outcome == geowalk::boost::Outcome::Separable;
        Ok(Self {
            class: class.cloned(),
            loss: ensemble.loss.spec(),
            stepped: stepped.spec(),
            ended: ensemble.ended.text(),
            forgotten: ensemble.rounds.len() - ensemble.kept,
            ties,
            capped: ensemble.rounds.iter().filter(capped).count(),
            certificates: course::certificates(stepped, &rounds)?,
            rounds,
        })
    }
}

impl Plan {
    /// The booster, its losses, and whether everything that was asked for can be.
    fn booster(&self) -> Result<(Booster, Vec<Surrogate>), RunError> {
        let loss = self.own.clone().map_or_else(|| Surrogate::parse(&self.loss), Ok)?;
        let mut stop = Stop::after(self.rounds)?;
        let out_of_range = |name, value: f64, allowed: Allowed| {
            if allowed.contains(value) {
                Ok(())
            } else {
                Err(ConfigError::OutOfRange { name, value, allowed })
            }
        };
        if let Some(bound) = self.bound {
            out_of_range("until", bound, Allowed::Open(0.0, 1.0))?;
        }
        if let Some(share) = self.held_out {
            out_of_range("hold-out", share, Allowed::Open(0.0, 1.0))?;
        }
        if let Some(patience) = self.patience {
            out_of_range("patience", patience as f64, Allowed::Whole(1))?;
        }
        (stop.bound, stop.patience) = (self.bound, self.patience);
        // Also where no flavour uses them: a parameter that cannot be is a mistake.
        Flavour::FStar.bag(&loss, self.mu, self.nu)?;
        let bag = self.adapt.bag(&loss, self.mu, self.nu)?;
        let mut booster = Booster::new(loss, stop);
        booster.bag.clone_from(&bag);
        (booster.leverage, booster.separable) = (self.leverage, self.separable);
        if self.by == By::HeldOut {
            booster.choice = Choice::HeldOut;
        }
        booster.halt = self.halt.clone();
        Ok((booster, bag))
    }

    /// A feature that asks one question cannot speak of a column and of a class.
    fn check_mh(&self) -> Result<(), ConfigError> {
        match self.weak {
            Kind::Rules if self.literals < 2 => Err(ConfigError::OutOfRange {
                name: "literals (with mh)",
                value: self.literals as f64,
                allowed: Allowed::Whole(2),
            }),
            Kind::Rules | Kind::Trees => Ok(()),
            kind => {
                let known = [Kind::Rules.name(), Kind::Trees.name()];
                Err(geowalk::spec::unknown("weak learner for mh", kind.name(), known))
            }
        }
    }

    fn weak<'a>(&self, table: &'a Table) -> Result<Box<dyn Weak + 'a>, RunError> {
        let options = RuleOptions {
            literals: self.literals,
            search: self.search,
            bins: self.bins,
            abstains: self.abstains,
        };
        Ok(match self.weak {
            Kind::Rules => Box::new(Rules::new(table, options)?),
            Kind::Stumps => Box::new(Stumps::new(table, self.bins)?),
            Kind::Trees => Box::new(Trees::new(table, self.leaves, self.bins)?),
            Kind::Columns => Box::new(PlainColumns::new(table)),
        })
    }

    /// Learns from a table.
    pub fn fit(
        &self,
        table: &Table,
        classes: &Classes,
        weights: Option<&[f64]>,
        say: &mut dyn FnMut(&Said<'_>),
    ) -> Result<(Boosted, Vec<History>), RunError> {
        if let Some(weights) = weights {
            classes.check_weights(weights)?;
        }
        // E1 and E2 choose by edges, which are those of the training rows.
        let chooses = matches!(self.adapt, Flavour::F1 | Flavour::F2 | Flavour::FStar);
        let free = self.held_out.is_none() && self.schedules.is_empty();
        if self.by == By::HeldOut && chooses && free && classes.rows() >= FEW {
            let chooser = Self { held_out: Some(CHOOSING), known: Vec::new(), ..self.clone() };
            let (_, found) = chooser.fit(table, classes, weights, &mut |_| {})?;
            let bag = self.booster()?.1;
            let schedule = |own: &History| -> Vec<usize> {
                if self.adapt == Flavour::FStar {
                    bag.iter().position(|loss| loss.spec() == own.loss).into_iter().collect()
                } else {
                    own.rounds.iter().map(|round| round.loss).collect()
                }
            };
            let schedules =
                found.into_iter().map(|own| (own.class.clone(), schedule(&own))).collect();
            return Self { schedules, ..self.clone() }.fit(table, classes, weights, say);
        }
        if let Some(share) = self.held_out {
            let (kept, held) = folds::hold_out(classes.codes(), share, self.seed);
            if held.is_empty() {
                let allowed = Allowed::Open(folds::none_below(classes.codes()), 1.0);
                let name = "hold-out";
                return Err(ConfigError::OutOfRange { name, value: share, allowed }.into());
            }
            let part = |rows: &[u32]| -> Result<_, RunError> {
                let codes = rows.iter().map(|row| classes.codes()[*row as usize]).collect();
                let own = |weights: &[f64]| rows.iter().map(|row| weights[*row as usize]).collect();
                Ok(Part { table: table.select(rows)?, codes, weights: weights.map(own) })
            };
            let (train, held) = (part(&kept)?, part(&held)?);
            let train_classes = Classes::new(train.codes, classes.names().to_vec())?;
            let weights = train.weights.as_deref();
            return self.learn(&train.table, &train_classes, weights, Some(&held), say);
        }
        self.learn(table, classes, weights, None, say)
    }

    /// The error of what was learned on the rows that it was learned from, and on those that were held out.
    pub fn errors(
        &self,
        boosted: &Boosted,
        table: &Table,
        classes: &Classes,
        weights: Option<&[f64]>,
    ) -> Result<(f64, Option<f64>), RunError> {
        let (codes, found) = (classes.codes(), boosted.predict(table)?.0);
        let Some(share) = self.held_out else { return Ok((wrong(&found, codes, weights), None)) };
        let part = |rows: &[u32]| {
            let of = |all: &[f64]| rows.iter().map(|row| all[*row as usize]).collect::<Vec<_>>();
            let found: Vec<usize> = rows.iter().map(|row| found[*row as usize]).collect();
            let codes: Vec<u32> = rows.iter().map(|row| codes[*row as usize]).collect();
            wrong(&found, &codes, weights.map(of).as_deref())
        };
        let (own, held) = folds::hold_out(codes, share, self.seed);
        Ok((part(&own), Some(part(&held))))
    }

    #[expect(clippy::too_many_lines, reason = "three reductions, one after the other")]
    fn learn(
        &self,
        table: &Table,
        classes: &Classes,
        weights: Option<&[f64]>,
        held: Option<&Part>,
        say: &mut dyn FnMut(&Said<'_>),
    ) -> Result<(Boosted, Vec<History>), RunError> {
        let (booster, bag) = self.booster()?;
        let names = classes.names();
        let mut boosted = Boosted {
            classes: names.to_vec(),
            reduction: self.reduction,
            members: Vec::new(),
            columns: table.columns().len(),
        };
        let mut histories = Vec::new();
        let mut one = |weak: &mut dyn Weak,
                       labels: &[f64],
                       weights: Option<&[f64]>,
                       held: Option<HeldTable<'_>>,
                       class: Option<&String>|
         -> Result<Member, RunError> {
            if let Some(class) = class {
                say(&Said::Class(class));
            }
            let chosen = self.schedules.iter().find(|(own, _)| own.as_ref() == class);
            let mut booster = booster.clone();
            let mut flavour = self.adapt;
            if let Some((_, schedule)) = chosen {
                flavour = Flavour::None;
                match schedule.first() {
                    Some(at) if self.adapt == Flavour::FStar => {
                        booster.bag = bag[*at..=*at].to_vec();
                    }
                    _ => booster.schedule.clone_from(schedule),
                }
            }
            let bag = booster.bag.clone();
            let losses: Vec<String> = bag.iter().map(Surrogate::spec).collect();
            let mut star = 0;
            let known = self.known.get(histories.len()).map(Vec::as_slice).unwrap_or_default();
            let mut replay = resume::Replay { inner: weak, known: known.iter() };
            let mut differs = false;
            let chosen = flavour.fit(
                &booster,
                &mut replay,
                labels,
                weights,
                held,
                &mut |round, feature| {
                    // F* runs one loss after the other.
                    if flavour == Flavour::FStar && round.round == 1 {
                        star += 1;
                    }
                    let before = known.get(round.round - 1);
                    differs |= before.is_some_and(|own| own.surrogate != round.surrogate);
                    let at = if star > 0 { star - 1 } else { round.loss };
                    let loss = losses.get(at).map_or("", String::as_str);
                    say(&Said::Round { round, feature, loss });
                },
            )?;
            if differs {
                let why = "the data or the version of geowalk are not those that it was made with";
                return Err(RunError::NotResumed { why });
            }
            let ensemble = chosen.ensemble;
            // F* has one loss per run, and that is the ensemble's.
            let first = ensemble.rounds.first().filter(|_| flavour != Flavour::FStar);
            let stepped = first.and_then(|round| bag.get(round.loss)).unwrap_or(&ensemble.loss);
            histories.push(History::new(&ensemble, stepped, class, chosen.ties)?);
            let Ensemble { loss, hypotheses, alpha, .. } = ensemble;
            Ok(Member { loss, hypotheses, alpha })
        };
        let members = &mut boosted.members;
        if names.len() == 2 {
            let labels = classes.signs()?;
            let held_labels = held.map(|held| against(&held.codes, 1)).unwrap_or_default();
            let held = held.map(|held| held.with(&held_labels));
            members.push(one(self.weak(table)?.as_mut(), &labels, weights, held, None)?);
        } else if self.reduction == Reduction::Mh {
            self.check_mh()?;
            let wide = expand(table, names)?;
            let labels = expand_labels(classes.codes(), names.len());
            let weights = weights.map(|weights| weights.repeat(names.len()));
            let wide_part = |Part { table, codes, weights }: &Part| -> Result<Part, RunError> {
                let weights = weights.as_ref().map(|weights| weights.repeat(names.len()));
                Ok(Part { table: expand(table, names)?, codes: codes.clone(), weights })
            };
            let held_labels = held.map(|held| expand_labels(&held.codes, names.len()));
            let held_labels = held_labels.unwrap_or_default();
            let held = held.map(wide_part).transpose()?;
            let held = held.as_ref().map(|held| held.with(&held_labels));
            let mut weak = self.weak(&wide)?;
            members.push(one(weak.as_mut(), &labels, weights.as_deref(), held, None)?);
        } else {
            // The columns are prepared once for all classes.
            let mut weak = self.weak(table)?;
            for (class, name) in (0..).zip(names) {
                let labels = classes.against(class);
                let occurs = |(row, y): (usize, &f64)| {
                    *y > 0.0 && weights.is_none_or(|weights| weights[row] > 0.0)
                };
                if !labels.iter().enumerate().any(occurs) {
                    members.push(never(&bag)?);
                    continue;
                }
                let held_labels = held.map(|held| against(&held.codes, class)).unwrap_or_default();
                let held = held.map(|held| held.with(&held_labels));
                members.push(one(weak.as_mut(), &labels, weights, held, Some(name))?);
            }
        }
        Ok((boosted, histories))
    }
}

fn against(codes: &[u32], class: u32) -> Vec<f64> {
    codes.iter().map(|code| if *code == class { 1.0 } else { -1.0 }).collect()
}

/// Some of the rows, maybe all of one class.
struct Part {
    table: Table,
    codes: Vec<u32>,
    weights: Option<Vec<f64>>,
}

impl Part {
    fn with<'a>(&'a self, labels: &'a [f64]) -> HeldTable<'a> {
        HeldTable { table: &self.table, labels, weights: self.weights.as_deref() }
    }
}

/// A class that this part of the data does not have, or without weight: its score is below all others.
fn never(bag: &[Surrogate]) -> Result<Member, ConfigError> {
    let loss = bag.first().cloned().map_or_else(|| Surrogate::parse("matsushita"), Ok)?;
    let always = Hypothesis::Rule(geowalk::boost::rule::Rule::default());
    Ok(Member { loss, hypotheses: vec![always], alpha: vec![-1e300] })
}

impl Boosted {
    /// The scores of all classes but the first if there are two, else of all; one vector per score.
    pub fn scores(&self, table: &Table) -> Result<Vec<Vec<f64>>, RunError> {
        let (rows, k) = (table.rows(), self.classes.len());
        if k > 2 && self.reduction == Reduction::Mh {
            let wide = expand(table, &self.classes)?;
            let scores = self.members.first().map(|member| member.scores(&wide));
            let scores = scores.unwrap_or_else(|| vec![0.0; rows * k]);
            return Ok(scores.chunks(rows).map(<[f64]>::to_vec).collect());
        }
        Ok(self.members.iter().map(|member| member.scores(table)).collect())
    }

    /// The class of each row, and the probabilities of all classes, row by row.
    pub fn predict(&self, table: &Table) -> Result<(Vec<usize>, Vec<f64>), RunError> {
        let scores = self.scores(table)?;
        let k = self.classes.len();
        let (mut found, mut all) = (Vec::new(), Vec::new());
        for row in 0..table.rows() {
            if k == 2 {
                let score = scores.first().map_or(0.0, |scores| scores[row]);
                let p = self.members.first().map_or(0.5, |member| member.loss.probability(score));
                found.push(usize::from(score >= 0.0));
                all.extend([1.0 - p, p]);
                continue;
            }
            let loss = |class: usize| &self.members[class.min(self.members.len() - 1)].loss;
            let own: Vec<(f64, f64)> = scores
                .iter()
                .enumerate()
                .map(|(class, scores)| (loss(class).probability(scores[row]), scores[row]))
                .collect();
            // Probabilities that saturate are told apart by their scores.
            let mut best = 0;
            for (class, value) in own.iter().enumerate() {
                if *value > own[best] {
                    best = class;
                }
            }
            found.push(best);
            let sum: f64 = own.iter().map(|(p, _)| p).sum();
            let share = |p: f64| if sum > 0.0 { p / sum } else { 1.0 / k as f64 };
            all.extend(own.iter().map(|(p, _)| share(*p)));
        }
        Ok((found, all))
    }

    /// The share of rows on which the prediction is not the class, weighted.
    pub fn error(
        &self,
        table: &Table,
        codes: &[u32],
        weights: Option<&[f64]>,
    ) -> Result<f64, RunError> {
        Ok(wrong(&self.predict(table)?.0, codes, weights))
    }
}

/// The share of rows on which what was found is not the class, weighted.
fn wrong(found: &[usize], codes: &[u32], weights: Option<&[f64]>) -> f64 {
    let (mut wrong, mut total) = (0.0, 0.0);
    for (row, (found, code)) in found.iter().zip(codes).enumerate() {
        let weight = weights.and_then(|weights| weights.get(row)).copied().unwrap_or(1.0);
        total += weight;
        if *found != *code as usize {
            wrong += weight;
        }
    }
    wrong / Real::max(total, f64::MIN_POSITIVE)
}

impl Member {
    fn scores(&self, table: &Table) -> Vec<f64> {
        weak::scores(&self.hypotheses, &self.alpha, table)
    }
}
