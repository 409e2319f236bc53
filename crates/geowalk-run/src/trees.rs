//! # Boosted trees, from data to a model
//! Reads a table, boosts trees or rules for classes or numbers ([`geowalk::boost::trees`]), measures them by
//! cross-validation if asked, writes the model, and predicts with it.
//!
//! * [`TreesPlan`]: what is asked for. [`Target`]: the data. [`BoostedTrees`]: what was learned.
//! * Without a number of rounds held-out rows choose it: 5 folds of fewer than 2,500 rows (3 folds of fewer
//!   than 1,000 if there are more than two classes), otherwise, and of more than 2 million cells, a fifth of
//!   the rows. Then all rows are learned from.
//! * Of fewer than [`FEW`] rows none can be spared: [`FEW_ROUNDS`] rounds, without sampling.

mod dependence;
mod export;
mod file;
mod rules;
mod target;

use geowalk::boost::table::{Column, Table, Values};
use geowalk::boost::trees::{
    AdditiveTrees, Chosen, Held, LeafStep, Learned, NumberLoss, Progress, Shape, TreeBooster,
    TreeData, TreeLoss, TreeRound,
};
use geowalk::boost::{Halt, Surrogate};
use geowalk::certify::{Certificate, Status};
use geowalk::error::Allowed;
use geowalk::{ConfigError, Real};
use geowalk_data::Task;
use serde_json::{Value, json};

pub use dependence::{Dependence, Grid};
pub use export::Shown;
pub use file::KIND;
pub use rules::TreeRule;
pub use target::Target;

use crate::error::RunError;
use crate::folds;
use crate::verdict::{Numbers, Verdict, likeliest};

/// With fewer rows none are held out.
pub const FEW: u64 = 50;

/// Of tables with more cells rows are held out once: folds would take long, and say little more.
const MOST_CELLS: usize = 1 << 21;

/// Rounds where no rows are held out.
pub const FEW_ROUNDS: usize = 50;

/// Pairs of columns in a summary.
const PAIRS: usize = 20;

/// What is asked for. `None` is the default of the task.
#[derive(Debug, Clone, Default)]
pub struct TreesPlan {
    /// The loss; otherwise logistic, softmax or squared.
    pub loss: Option<String>,
    /// A user's loss of two classes, instead of that.
    pub custom: Option<Surrogate>,
    /// Trees or rules.
    pub shape: Shape,
    /// Of several classes: one tree votes for all of them. Rules always do.
    pub vector: bool,
    /// Columns in which the score must not fall.
    pub increasing: Vec<String>,
    /// Columns in which it must not rise.
    pub decreasing: Vec<String>,
    /// Groups of columns that may meet in a rule, or on the way to a leaf; empty: all may.
    pub interactions: Vec<Vec<String>>,
    /// Exactly so many rounds.
    pub rounds: Option<usize>,
    /// ν.
    pub rate: Option<f64>,
    /// Leaves of a tree at most.
    pub leaves: Option<usize>,
    /// Depth of a tree at most.
    pub depth: Option<usize>,
    /// λ.
    pub lambda: Option<f64>,
    /// Bins of a column.
    pub bins: Option<usize>,
    /// The share of rows of each round.
    pub row_share: Option<f64>,
    /// The share of columns of each node.
    pub column_share: Option<f64>,
    /// Rows of a leaf at least.
    pub min_leaf: Option<usize>,
    /// Count the rows of a leaf by their curvature.
    pub effective: Option<bool>,
    /// How leaf values are found.
    pub leaf: LeafStep,
    /// Rounds without improvement on held-out rows.
    pub patience: Option<usize>,
    /// Hold out this share once, instead of the usual folds.
    pub held_out: Option<f64>,
    /// The seed of folds and of what is sampled.
    pub seed: u64,
    /// Stops it from outside.
    pub halt: Halt,
}

/// What was learned.
#[derive(Debug, Clone)]
pub struct BoostedTrees {
    /// The trees.
    pub model: AdditiveTrees,
    /// The names of the classes; none for numbers.
    pub classes: Vec<String>,
    /// Trees or rules.
    pub shape: Shape,
    /// The rounds.
    pub rounds: Vec<TreeRound>,
    /// How their number was chosen.
    pub chosen: Option<Chosen>,
    /// The scores of the rows it has learned from, if these are all rows; none after loading.
    scores: Option<Vec<f64>>,
}

/// Predictions of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Predicted {
    /// Classes, and the probabilities of all, row by row.
    Classes(Vec<usize>, Vec<f64>),
    /// Numbers.
    Numbers(Vec<f64>),
}

/// How good predictions are.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// Of classes.
    Classes(Verdict),
    /// Of numbers.
    Numbers(Numbers),
}

impl Judgement {
    /// For people: a head and a text on each line.
    pub fn lines(&self) -> Vec<(String, String)> {
        match self {
            Self::Classes(verdict) => verdict.lines(),
            Self::Numbers(numbers) => numbers.lines(),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        match self {
            Self::Classes(verdict) => verdict.json(),
            Self::Numbers(numbers) => numbers.json(),
        }
    }
}

/// The place of the column of that name.
fn column(target: &Target, name: &str) -> Result<usize, ConfigError> {
    let columns = target.table.columns();
    let found = columns.iter().position(|column| column.name() == name);
    found.ok_or_else(|| geowalk::spec::unknown("column", name, columns.iter().map(Column::name)))
}

impl TreesPlan {
    /// The loss for a target.
    fn loss(&self, target: &Target) -> Result<TreeLoss, ConfigError> {
        let classes = target.classes.len();
        if classes == 0 {
            let name = self.loss.as_deref().unwrap_or("squared");
            return NumberLoss::parse(name).map(TreeLoss::Number);
        }
        if classes == 2 {
            let named = || Surrogate::parse(self.loss.as_deref().unwrap_or("logistic"));
            let loss = self.custom.clone().map_or_else(named, Ok)?;
            if loss.renormalises() {
                return Err(geowalk::spec::unknown("loss for trees", "renorm", ["gini"]));
            }
            return Ok(TreeLoss::Margin(loss));
        }
        match self.loss.as_deref() {
            None | Some("logistic" | "entropy" | "softmax") if self.custom.is_none() => {
                Ok(TreeLoss::Softmax(classes))
            }
            other => Err(geowalk::spec::unknown(
                "loss for trees with more than two classes",
                other.unwrap_or("custom"),
                ["logistic"],
            )),
        }
    }

    /// The settings for a target.
    pub fn booster(&self, target: &Target) -> Result<TreeBooster, ConfigError> {
        let loss = self.loss(target)?;
        let base = match self.shape {
            Shape::Trees => TreeBooster { vector: self.vector, ..TreeBooster::new(loss) },
            Shape::Rules => TreeBooster::rules(loss),
        };
        let rounds = self.rounds.map(|rounds| rounds as f64);
        if let Some(value) = rounds.filter(|rounds| *rounds < 1.0) {
            return Err(ConfigError::OutOfRange {
                name: "rounds",
                value,
                allowed: Allowed::Whole(1),
            });
        }
        if let Some(value) = self.held_out.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            let allowed = Allowed::Open(0.0, 1.0);
            return Err(ConfigError::OutOfRange { name: "hold-out", value, allowed });
        }
        if self.shape == Shape::Rules && self.depth == Some(0) {
            let allowed = Allowed::Whole(1);
            return Err(ConfigError::OutOfRange { name: "literals", value: 0.0, allowed });
        }
        // A sample of few rows would say little, and rules of few rows may be true of one.
        let few = target.count() < FEW;
        let (least_rows, least_names) = match self.shape {
            Shape::Rules if few => (1, 1),
            _ => (base.least_rows, base.least_names),
        };
        let booster = TreeBooster {
            rate: self.rate.unwrap_or(base.rate),
            leaves: self.leaves.unwrap_or(base.leaves),
            depth: self.depth.unwrap_or(base.depth),
            lambda: self.lambda.unwrap_or(base.lambda),
            bins: self.bins.unwrap_or(base.bins),
            rows: self.row_share.unwrap_or(if few { 1.0 } else { base.rows }),
            columns: self.column_share.unwrap_or(base.columns),
            least_rows: self.min_leaf.map_or(least_rows, |rows| rows as u64),
            least_names,
            effective: self.effective.unwrap_or(base.effective),
            leaf: self.leaf,
            patience: self.patience.unwrap_or(base.patience),
            seed: self.seed,
            halt: self.halt.clone(),
            monotone: self.monotone(target)?,
            interactions: self.groups(target)?,
            ..base
        };
        booster.check()?;
        Ok(booster)
    }

    /// Of each column 1 or −1 where the score must not fall or rise in it; empty if that is asked of none.
    fn monotone(&self, target: &Target) -> Result<Vec<i8>, ConfigError> {
        if self.increasing.is_empty() && self.decreasing.is_empty() {
            return Ok(Vec::new());
        }
        let mut signs = vec![0; target.table.columns().len()];
        for (names, sign) in [(&self.increasing, 1), (&self.decreasing, -1)] {
            for name in names {
                let at = column(target, name)?;
                let is_number = matches!(
                    target.table.columns()[at].values(),
                    Values::Numeric(_) | Values::Sparse(_)
                );
                if !is_number || signs[at] == -sign {
                    let what =
                        if is_number { "column in two directions" } else { "column of numbers" };
                    let numbers = target.table.columns().iter();
                    let numbers = numbers.filter(|c| matches!(c.values(), Values::Numeric(_)));
                    return Err(geowalk::spec::unknown(what, name, numbers.map(Column::name)));
                }
                signs[at] = sign;
            }
        }
        Ok(signs)
    }

    fn groups(&self, target: &Target) -> Result<Vec<Vec<usize>>, ConfigError> {
        let group = |names: &Vec<String>| names.iter().map(|name| column(target, name)).collect();
        self.interactions.iter().map(group).collect()
    }

    /// Rounds at most, of the models that choose and of the one that is kept.
    pub fn steps(&self, target: &Target) -> usize {
        let most = self.booster(target).map_or(0, |booster| booster.most_rounds);
        self.rounds.unwrap_or(if target.count() < FEW { FEW_ROUNDS } else { 2 * most })
    }

    /// Learns from all rows.
    pub fn fit(
        &self,
        target: &Target,
        watch: &mut dyn FnMut(Progress<'_>),
    ) -> Result<BoostedTrees, RunError> {
        self.fit_on(target, None, watch)
    }

    /// The same with rows that choose the number of rounds and are never learned from.
    pub fn fit_on(
        &self,
        target: &Target,
        held: Option<&[bool]>,
        watch: &mut dyn FnMut(Progress<'_>),
    ) -> Result<BoostedTrees, RunError> {
        let booster = self.booster(target)?;
        let weights = target.weights.as_deref();
        let unit = Some(target.unit);
        let data = TreeData::new(&target.table, &target.y, weights, unit, &booster)?;
        let classes = target.classes.clone();
        let rounds = self.rounds.or((held.is_none() && target.count() < FEW).then_some(FEW_ROUNDS));
        if let Some(rounds) = rounds.filter(|_| held.is_none()) {
            return Ok(self.learned(booster.fit(&data, rounds, watch)?, classes));
        }
        let parts;
        let held = if let Some(rows) = held {
            Held::Rows(rows)
        } else {
            let count;
            (parts, count) = self.parts(target)?;
            Held::Folds(&parts, count)
        };
        let learned = booster.learn(&data, held, watch)?.ok_or(RunError::Halted)?;
        Ok(self.learned(learned, classes))
    }

    fn learned(&self, learned: Learned, classes: Vec<String>) -> BoostedTrees {
        let Learned { model, rounds, chosen, scores } = learned;
        BoostedTrees { model, classes, shape: self.shape, rounds, chosen, scores }
    }

    /// The fold of each row, and how many folds are held out in turn.
    fn parts(&self, target: &Target) -> Result<(Vec<usize>, usize), RunError> {
        let rows = target.y.len();
        let several = target.classes.len() > 2;
        let wide = rows * target.table.columns().len() > MOST_CELLS;
        let folds = match (several, rows) {
            _ if wide => 1,
            (false, ..2_500) => 5,
            (true, ..1_000) => 3,
            _ => 1,
        };
        if folds == 1 || self.held_out.is_some() {
            let share = self.held_out.unwrap_or(0.2);
            let (_, held) = folds::hold_out(&target.codes, share, self.seed);
            if held.is_empty() {
                let allowed = Allowed::Open(folds::none_below(&target.codes), 1.0);
                let name = "hold-out";
                return Err(ConfigError::OutOfRange { name, value: share, allowed }.into());
            }
            let mut parts = vec![1; rows];
            held.iter().for_each(|row| parts[*row as usize] = 0);
            return Ok((parts, 1));
        }
        Ok((folds::stratified_codes(&target.codes, folds, self.seed), folds))
    }

    /// Refuses what cannot be, before anything is learned.
    pub fn check(&self, target: &Target, folds: Option<usize>) -> Result<(), ConfigError> {
        self.booster(target)?;
        let rows = target.y.len();
        match folds.filter(|count| !(2..=rows).contains(count)) {
            None => Ok(()),
            Some(count) => {
                let allowed = Allowed::Closed(2.0, rows as f64);
                Err(ConfigError::OutOfRange { name: "folds", value: count as f64, allowed })
            }
        }
    }

    /// Predictions of every row by models of `count` folds that have not seen it.
    pub fn validate(
        &self,
        target: &Target,
        count: usize,
        watch: &mut dyn FnMut(usize),
    ) -> Result<Predicted, RunError> {
        self.check(target, Some(count))?;
        let rows = target.y.len();
        let parts = folds::stratified_codes(&target.codes, count, self.seed);
        let k = target.classes.len().max(1);
        let (mut found, mut all) = (vec![0.0; rows], vec![0.0; rows * k]);
        for part in 0..count {
            let (others, own) = folds::divide(&parts, part);
            let failed = |cause| RunError::Fold { fold: part + 1, cause: Box::new(cause) };
            let train = target.select(&others).map_err(failed)?;
            let learned = self.fit(&train, &mut |_| {}).map_err(failed)?;
            match learned.predict(&target.table.select(&own)?) {
                Predicted::Classes(_, shares) => {
                    for (row, own) in own.iter().zip(shares.chunks_exact(k)) {
                        all[*row as usize * k..][..k].copy_from_slice(own);
                    }
                }
                Predicted::Numbers(numbers) => {
                    own.iter().zip(numbers).for_each(|(row, x)| found[*row as usize] = x);
                }
            }
            watch(part + 1);
        }
        Ok(if target.classes.is_empty() {
            Predicted::Numbers(found)
        } else {
            Predicted::Classes(likeliest(&all, k), all)
        })
    }
}

impl Predicted {
    /// How good they are.
    pub fn judge(&self, target: &Target) -> Judgement {
        let weights = target.weights.as_deref();
        match self {
            Self::Classes(_, shares) => {
                let (classes, codes) = (&target.classes, &target.codes);
                Judgement::Classes(Verdict::of_probabilities(classes, codes, weights, shares))
            }
            Self::Numbers(found) => {
                let ones = vec![1.0; found.len()];
                let weights = weights.unwrap_or(&ones);
                Judgement::Numbers(Numbers::new(&target.y, found, weights))
            }
        }
    }
}

impl BoostedTrees {
    /// Predictions of the rows of a table.
    pub fn predict(&self, table: &Table) -> Predicted {
        self.predicted(self.model.scores(table))
    }

    /// The same of the table it was fitted to, whose scores are mostly known from the last round.
    pub fn predict_training(&self, table: &Table) -> Predicted {
        self.predicted(self.scores.clone().unwrap_or_else(|| self.model.scores(table)))
    }

    fn predicted(&self, scores: Vec<f64>) -> Predicted {
        if self.classes.is_empty() {
            return Predicted::Numbers(self.model.numbers(scores));
        }
        let all = self.model.probabilities(&scores);
        Predicted::Classes(likeliest(&all, self.classes.len()), all)
    }

    /// Predictions after each round, in turn.
    pub fn staged(&self, table: &Table, say: &mut dyn FnMut(Predicted)) {
        let k = self.model.outputs();
        let mut scores = self.model.first(0).scores(table);
        for trees in self.model.trees.chunks(k) {
            let round = AdditiveTrees { trees: trees.to_vec(), ..self.model.first(0) };
            round.add(table, &mut scores);
            say(self.predicted(scores.clone()));
        }
    }

    /// The training error and its bound, for classes.
    pub fn certificate(&self) -> Option<Certificate> {
        let last = self.rounds.last().filter(|_| !self.classes.is_empty())?;
        let bound = last.risk / self.model.loss.scale() * (1.0 + 1e-12);
        Some(Certificate {
            theorem: "training-error",
            status: Status::Valid,
            rounds: self.rounds.len() as u64,
            loss: last.error,
            bound: bound.next_up(),
        })
    }

    /// The decrease of the training loss in one sentence.
    pub fn descent(&self) -> String {
        let (Some(first), Some(last)) = (self.rounds.first(), self.rounds.last()) else {
            return "no rounds were made: held-out rows are predicted best by a constant"
                .to_owned();
        };
        let rose = self.rounds.iter().filter(|r| r.risk > r.before + 1e-9 * r.before.abs()).count();
        let halved: usize = self.rounds.iter().map(|round| round.halved).sum();
        format!(
            "training loss {:.4} -> {:.4}, measured after each round; it rose in {rose} rounds, {halved} steps were \
             halved to prevent that",
            first.before, last.risk
        )
    }

    /// How the number of rounds was chosen, in one sentence.
    pub fn choice(&self) -> String {
        let Some(chosen) = &self.chosen else {
            return format!("{} rounds, as asked; no rows were held out", self.rounds.len());
        };
        let Chosen { best, folds, held, rounds, .. } = chosen;
        let by =
            if *folds > 1 { format!("{folds} folds") } else { format!("{held} held-out rows") };
        let loss = chosen.curve.get(*best).copied().unwrap_or(f64::NAN);
        if !chosen.refitted {
            return format!("{best} rounds, best on {by} (loss {loss:.4})");
        }
        let made = self.rounds.len();
        let cut = if made < *rounds { format!(" ({made} made)") } else { String::new() };
        format!(
            "{best} rounds are best on {by} (loss {loss:.4}); then refitted on all rows for {rounds} rounds{cut}"
        )
    }

    /// What came out, as JSON.
    pub fn summary(&self, plan: &TreesPlan, target: &Target, judged: &Judgement) -> Value {
        let certificate = self.certificate().map_or_else(
            || {
                json!({"theorem": null, "status": "none",
                    "reason": "no theorem bounds the error of trees on numbers",
                    "loss": null, "comparator_loss": null, "regret": null, "bound": null})
            },
            |c| {
                json!({"theorem": c.theorem, "status": "valid", "reason": null, "loss": c.loss,
                    "comparator_loss": 0.0, "regret": c.loss, "bound": c.bound})
            },
        );
        let finite = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
        let round = |r: &TreeRound| {
            json!({"round": r.round, "risk": r.risk, "decrease": r.before - r.risk, "error": finite(r.error),
                "leaves": r.leaves, "halved": r.halved})
        };
        let chosen = self.chosen.as_ref().map(|chosen| {
            json!({"best": chosen.best, "folds": chosen.folds, "held_out": chosen.held, "scale": chosen.scale,
                "rounds": chosen.rounds, "refitted": chosen.refitted,
                "curve": chosen.curve.iter().map(|loss| finite(*loss)).collect::<Vec<_>>()})
        });
        let importance: Vec<Value> = self
            .ranked(target)
            .into_iter()
            .map(|(column, part)| json!({"column": column, "part": part}))
            .collect();
        let metric = match (judged, self.rounds.last()) {
            (Judgement::Classes(_), Some(last)) => json!({"training_error": last.error}),
            (Judgement::Classes(_), None) => json!({}),
            (Judgement::Numbers(numbers), _) => json!({"rmse": numbers.rmse, "mae": numbers.mae}),
        };
        json!({
            "examples": target.y.len(), "columns": target.table.columns().len(), "classes": self.classes,
            "loss": self.model.loss.spec(), "weak": shape_name(self.shape), "walk": KIND,
            "rate": plan.rate, "seed": plan.seed, "metrics": metric, "training": judged.json(),
            "table": target.profile.as_ref().map(crate::profile::Profile::json),
            "certificate": certificate, "descent": self.descent(), "choice": self.choice(), "chosen": chosen,
            "importance": importance, "pairs": self.pairs(target), "rounds": self.rounds.iter().map(round).collect::<Vec<_>>(),
        })
    }

    /// Columns and what they gained, as parts of 1, largest first.
    pub fn ranked(&self, target: &Target) -> Vec<(String, f64)> {
        let names = target.table.columns().iter().map(|column| column.name().to_owned());
        let mut all: Vec<(String, f64)> = names.zip(self.model.importance()).collect();
        all.retain(|(_, part)| *part > 0.0);
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        all
    }

    /// Pairs of columns and what they gained together, as parts of all, largest first.
    fn pairs(&self, target: &Target) -> Vec<Value> {
        let name = |at: usize| target.table.columns()[at].name();
        let all = self.model.pairs().into_iter().take(PAIRS);
        all.map(|(a, b, part)| json!({"columns": [name(a), name(b)], "part": part})).collect()
    }

    /// The task of the model.
    pub fn task(&self) -> Task {
        match self.classes.len() {
            0 => Task::Regression,
            2 => Task::Binary,
            _ => Task::Multiclass,
        }
    }
}

/// The name of what a round adds.
pub fn shape_name(shape: Shape) -> &'static str {
    match shape {
        Shape::Trees => "trees",
        Shape::Rules => "rules",
    }
}

/// Groups of rows with labels near each other, so that folds of numbers have the same spread.
pub(crate) fn spread(y: &[f64]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..y.len()).collect();
    order.sort_by(|a, b| y[*a].total_cmp(&y[*b]).then(a.cmp(b)));
    let groups = Real::max(1.0, Real::min(10.0, y.len() as f64 / 20.0));
    let mut codes = vec![0; y.len()];
    for (rank, row) in order.into_iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 10")]
        let group = (rank as f64 * groups / y.len() as f64) as u32;
        codes[row] = group;
    }
    codes
}

/// The certificate of a summary in one sentence.
pub fn guarantee(summary: &Value) -> String {
    let own = &summary["certificate"];
    let (Some(error), Some(bound)) = (own["loss"].as_f64(), own["bound"].as_f64()) else {
        return own["reason"].as_str().unwrap_or("none: no rounds were made").to_owned();
    };
    let weak = if bound >= 1.0 { ", too weak to say anything" } else { "" };
    format!(
        "training error {:.1} %, proved to be at most {:.1} %{weak}; nothing is guaranteed for new rows",
        100.0 * error,
        100.0 * bound
    )
}
