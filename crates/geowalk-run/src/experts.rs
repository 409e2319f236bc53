//! # Experts on a table
//! The numeric columns of a table are experts, a row is a round: what they lost, what they forecast of the label, what probabilities or odds they gave, or by what factor
//! prices changed. An empty field is an expert that says nothing.

mod columns;
mod course;
pub mod file;
mod game;
mod predict;
mod summary;
mod values;

pub use course::Point;
pub(crate) use predict::predict;
pub use summary::{Named, Summary};

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use geowalk::ConfigError;
use geowalk::experts::{Experts, Kind, Rule, Settings, Standing, Tuning};
use geowalk::loss::AnyLoss;
use geowalk::row::Block;
use geowalk::spec::{self, Spec};
use geowalk_data::{Kind as Column, Label, Options, Schema};

use crate::error::RunError;
use crate::model::{Model, Stamp};
use crate::pump::ROWS;
use crate::replace::target;
use columns::Columns;
use game::{Game, Out};

/// Whom to weigh, and how. What is left out is inferred and said.
#[derive(Debug, Clone)]
pub struct Plan {
    /// `hedge`, `reparam-hedge`, `prod`, `eg`, `reparam-eg`, `ml-poly` or `boa`; otherwise `eg` where there are
    /// forecasts or prices, `hedge` elsewhere.
    pub walk: Option<String>,
    /// `squared`, `absolute`, `log`, `portfolio`, or any loss of the table; otherwise squared where there is a label, and the numbers themselves are losses where there is none.
    pub loss: Option<String>,
    /// `auto`, a number, `tuned(loss=L)` or `doubling`.
    pub rate: String,
    /// The part of the weight that is spread evenly after each round.
    pub share: f64,
    /// The range of losses, or of forecasts for rules on gradients.
    pub range: Option<(f64, f64)>,
    /// The columns are decimal odds, named expert and outcome: the outcomes.
    pub odds: Vec<String>,
    /// The column of the outcome, of a game that is continued.
    pub label: Option<String>,
    /// Write the game here as a model file.
    pub model: Option<PathBuf>,
    /// Go on with the game of this model file, whose settings replace those above.
    pub resume: Option<PathBuf>,
    /// Solve for the best convex combination.
    pub combination: bool,
    /// Track the best sequence of experts with up to so many switches.
    pub switches: usize,
    /// Keep points for pictures.
    pub trace: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            walk: None,
            loss: None,
            rate: "auto".to_owned(),
            share: 0.0,
            range: None,
            odds: Vec::new(),
            label: None,
            model: None,
            resume: None,
            combination: true,
            switches: 0,
            trace: false,
        }
    }
}

/// A row of the progress table.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Average loss so far.
    pub average: f64,
    /// Average loss since the last row.
    pub since_last: f64,
    /// Rounds played.
    pub rounds: u64,
    /// The last outcome.
    pub outcome: String,
    /// What was predicted.
    pub prediction: f64,
    /// The best expert so far.
    pub best: String,
    /// The theorem against that expert.
    pub standing: Standing,
}

/// What is said meanwhile.
#[derive(Debug)]
pub enum Said<'a> {
    /// Something was inferred or decided.
    Note(String),
    /// A row of the progress table.
    Progress(&'a Progress),
}

/// A game that is continued.
struct Resumed {
    plan: Plan,
    experts: Experts,
    names: Vec<String>,
    stamp: Stamp,
}

impl Resumed {
    /// That of the plan, if it has one.
    fn of(plan: &Plan) -> Result<Option<Self>, RunError> {
        let Some(path) = &plan.resume else { return Ok(None) };
        let (model, stamp) = Model::load_stamped(path)?;
        let names = file::of(&model)?.names.clone();
        if names.is_empty() {
            return Err(RunError::Apart { kind: LEARNED_FROM_ARRAYS.to_owned() });
        }
        let (old, experts) = file::load(&model)?;
        Ok(Some(Self { plan: continued(plan, old), experts, names, stamp }))
    }
}

/// Plays the table that `options` opens.
pub fn play<'a>(
    plan: &Plan,
    options: Options,
    predictions: Option<&'a mut dyn Write>,
    said: &'a mut dyn FnMut(Said<'_>),
) -> Result<Summary, RunError> {
    let start = Instant::now();
    let mut resumed = Resumed::of(plan)?;
    let plan = &resumed.as_ref().map_or(plan, |own| &own.plan).clone();
    let wanted = Wanted::of(plan)?;
    let label = match &plan.label {
        Some(name) => Label::Named(name.clone()),
        None if resumed.is_some() || wanted.without_label() => Label::Absent,
        None => options.label.clone(),
    };
    let mut source = geowalk_data::open(Options { unlabelled: true, label, ..options })?;
    let mut block = Block::new();
    if source.read(&mut block, ROWS)? == 0 {
        return Err(RunError::Empty);
    }
    let file = source.place().0.to_owned();
    let names = resumed.as_mut().map(|own| std::mem::take(&mut own.names)).unwrap_or_default();
    let mut columns = Columns::new(&file, source.schema(), &plan.odds, &names)?;
    let kind = wanted.kind(source.schema().label().is_some(), &columns)?;
    let mut notes = Vec::new();
    if resumed.is_none() {
        let dates = columns.without_dates(&block, source.schema())?;
        notes.extend(no_experts(source.schema(), &plan.odds, &dates));
        values::check(&kind, &wanted, &mut columns, &block, source.schema())?;
    }
    let settings = settings(plan, kind.clone())?;
    let (rule, n) = (name(settings.rule), columns.experts().len());
    let (experts, stamp) = match resumed {
        Some(own) => (own.experts, Some(own.stamp)),
        None => (Experts::new(n, settings)?, None),
    };
    said(Said::Note(format!(
        "{n} experts: {}; {}; walk {rule}, rate {}",
        columns.shown(),
        meaning(&kind),
        plan.rate
    )));
    let mut game = Game::new(plan, kind, columns, experts);
    let mut out = Out { predictions, said };
    loop {
        game.block(&block, source.schema(), &mut out)?;
        if source.read(&mut block, ROWS)? == 0 {
            break;
        }
    }
    let mut summary = game.summary(rule, notes)?;
    summary.skipped = source.skipped().rows();
    summary.seconds = start.elapsed().as_secs_f64();
    if let Some(path) = &plan.model {
        let label = source.schema().label().map(str::to_owned);
        let (walk, loss) = (Some(rule.to_owned()), spelled(&game.kind, plan));
        let plan = Plan { walk, loss, label, ..plan.clone() };
        let made = file::model(&plan, game.columns.experts(), &game.experts, summary.json());
        match (&plan.resume, &stamp) {
            (Some(old), Some(stamp)) if target(old) == target(path) => made.save_over(path, stamp),
            _ => made.save(path),
        }?;
    }
    Ok(summary)
}

/// How the plan weighs experts whose rows are of this kind.
pub fn settings(plan: &Plan, kind: Kind) -> Result<Settings, ConfigError> {
    let (rule, tuning) = (rule(plan, &kind)?, tuning(&plan.rate)?);
    Ok(Settings { kind, rule, tuning, share: plan.share, range: plan.range })
}

/// What the kind of a model is called that has no names of experts.
const LEARNED_FROM_ARRAYS: &str = "experts without names";

/// The plan of a game that is continued, with what concerns this run alone.
fn continued(run: &Plan, game: Plan) -> Plan {
    Plan {
        model: run.model.clone(),
        resume: run.resume.clone(),
        combination: run.combination,
        trace: run.trace,
        ..game
    }
}

/// What rows mean, as a model file has it.
fn spelled(kind: &Kind, plan: &Plan) -> Option<String> {
    match kind {
        Kind::Losses => None,
        Kind::Probabilities if !plan.odds.is_empty() => None,
        Kind::Probabilities => Some("log".to_owned()),
        Kind::Relatives => Some("portfolio".to_owned()),
        Kind::Forecasts(_) => Some(kind.loss().spec()),
    }
}

/// Which columns are no experts, and why.
fn no_experts(schema: &Schema, odds: &[String], dates: &[String]) -> Vec<String> {
    if !odds.is_empty() {
        return Vec::new();
    }
    let list = |names: Vec<&str>, why: &str| {
        (!names.is_empty()).then(|| format!("not experts: {} ({why})", names.join(", ")))
    };
    let of = |kind| schema.of_kind(kind).take(6).collect();
    let counted = "it counts the rows, as dates do; rename the column if it is an expert";
    [
        list(dates.iter().map(String::as_str).collect(), counted),
        list(of(Column::Date), "dates"),
        list(of(Column::Nominal), "names"),
        list(of(Column::Text), "text"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What the numbers mean, as far as the flags say.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "there is one in a game")]
enum Wanted {
    Infer,
    Log,
    Portfolio,
    Losses,
    Loss(AnyLoss),
}

impl Wanted {
    fn of(plan: &Plan) -> Result<Self, ConfigError> {
        Ok(match plan.loss.as_deref() {
            None if plan.odds.is_empty() => Self::Infer,
            None | Some("log") => Self::Log,
            Some("portfolio") => Self::Portfolio,
            Some("given") => Self::Losses,
            Some(text) => Self::Loss(AnyLoss::parse(text)?),
        })
    }

    fn without_label(&self) -> bool {
        matches!(self, Self::Portfolio | Self::Losses)
    }

    fn kind(&self, labelled: bool, columns: &Columns) -> Result<Kind, RunError> {
        Ok(match self {
            Self::Portfolio => Kind::Relatives,
            Self::Log => Kind::Probabilities,
            Self::Infer if labelled => Kind::Forecasts(AnyLoss::from(geowalk::loss::Squared)),
            Self::Infer | Self::Losses => Kind::Losses,
            Self::Loss(loss) if labelled => Kind::Forecasts(loss.clone()),
            Self::Loss(_) => {
                return Err(RunError::Experts {
                    file: columns.file().to_owned(),
                    found: "there is no label to judge forecasts by".to_owned(),
                    advice: "name its column with --label, or use --loss given, log or portfolio",
                });
            }
        })
    }
}

/// What a row means, in words.
fn meaning(kind: &Kind) -> String {
    match kind {
        Kind::Losses => "losses as given".to_owned(),
        Kind::Forecasts(_) => format!("forecasts, {} loss", kind.loss().spec()),
        Kind::Probabilities => "probabilities, log loss".to_owned(),
        Kind::Relatives => "price relatives, log of wealth".to_owned(),
    }
}

const RULES: [(&str, Rule); 9] = [
    ("hedge", Rule::Hedge),
    ("reparam-hedge", Rule::ReparamHedge),
    ("prod", Rule::Prod),
    ("eg", Rule::Eg),
    ("reparam-eg", Rule::ReparamEg),
    ("ml-poly", Rule::MlPoly),
    ("boa", Rule::Boa),
    ("mirror:simplex-entropy", Rule::Eg),
    ("reparam:simplex-entropy", Rule::ReparamEg),
];

fn name(rule: Rule) -> &'static str {
    RULES.iter().find(|(_, known)| *known == rule).map_or("", |(name, _)| name)
}

fn rule(plan: &Plan, kind: &Kind) -> Result<Rule, ConfigError> {
    let gradients = matches!(kind, Kind::Forecasts(_) | Kind::Relatives);
    let asked = match plan.walk.as_deref() {
        None if gradients => Rule::Eg,
        None => Rule::Hedge,
        Some(text) => RULES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, rule)| *rule)
            .ok_or_else(|| {
                spec::unknown("walk of experts", text, RULES.iter().map(|(name, _)| *name).take(7))
            })?,
    };
    // On losses the gradient is the loss itself: EG is Hedge.
    Ok(match (asked, kind) {
        (Rule::Eg, Kind::Losses) => Rule::Hedge,
        (Rule::ReparamEg, Kind::Losses) => Rule::ReparamHedge,
        (rule, _) => rule,
    })
}

fn tuning(text: &str) -> Result<Tuning, ConfigError> {
    if let Ok(rate) = text.trim().parse::<f64>() {
        return Ok(Tuning::Rate(rate));
    }
    let spec = Spec::parse(text)?;
    let mut args = spec.args();
    let tuning = match spec.name() {
        "auto" => Tuning::Auto,
        "doubling" => Tuning::Doubling,
        "tuned" => {
            let missing = ConfigError::Missing {
                name: "loss",
                meaning: "tuned(loss=L) needs the most that the best comparator loses",
            };
            Tuning::Tuned { loss: args.optional_number("loss")?.ok_or(missing)? }
        }
        other => return Err(spec::unknown("rate", other, ["auto", "doubling", "tuned"])),
    };
    args.finish()?;
    Ok(tuning)
}
