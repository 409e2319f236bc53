//! # The language of walks
//! `UPDATE:GEOMETRY(param=value, ...)`, or an alias. One table: `geowalk list walks` prints it, [`build`] reads it.

mod builder;
mod generic;

use std::sync::OnceLock;

use geowalk::ConfigError;
use geowalk::loss::{AnyLoss, Loss, WinnowHinge};
use geowalk::natural::Method;
use geowalk::row::{Block, Norm};
use geowalk::spec::{self, Args, Entry, Spec};
use geowalk::walk::{Burg, Entropy, Hyperbolic, Implicit, Orthant, Simplex, SimplexEntropy, Walk};
use geowalk_data::{Features, Schema, Task};

use crate::error::RunError;
use crate::learner::{Banded, Delayed, Learner, Reach, Setting};
use crate::model::{LearnerSettings, Settings, StreamSettings};
use crate::rate::Rate;
use crate::sigma::Sigma;
use crate::team;
use crate::theorem::{Declared, Kind};
use builder::Builder;

/// A walk with its other names.
#[derive(Debug, Clone, Copy)]
pub struct Named {
    /// Name, parameters, summary, source.
    pub entry: Entry,
    /// Other names, with the parameters they stand for.
    pub aliases: &'static [&'static str],
    /// Must the number of features be known before the first row?
    pub fixed_width: bool,
    construct: Construct,
}

const SCHEDULED: &str = "schedule=, cap=2, average=true, ridge=0, a=1, guard=true";
const SIGNED: &str = "signed=false, scale=1";

/// What makes the learner of a row.
#[derive(Debug, Clone, Copy)]
enum Construct {
    Walk(Make),
    /// Natural gradient, or a baseline by this method. It reads its arguments itself.
    Natural(Option<Method>),
}

/// Makes the learner of a walk.
type Make = fn(Builder, &mut Args<'_>) -> Result<Built, ConfigError>;

/// A row is `"name"(parameters) [aliases] "summary" "source" => constructor;`, or for natural gradient with the
/// method of a baseline in the place of the constructor. Without it a row does not compile.
macro_rules! walks {
    (walks { $($walks:tt)* } natural { $($natural:tt)* }) => {
        const TABLE: &[Named] = rows!(Construct::Walk; $($walks)*);
        const NATURAL: &[Named] = rows!(Construct::Natural; $($natural)*);
    };
}

macro_rules! rows {
    ($kind:path; $($name:literal($parameters:expr) [$($alias:literal),*] $summary:literal $source:literal
        => $construct:expr;)*) => {
        &[$(Named {
            entry: Entry { name: $name, parameters: $parameters, summary: $summary, source: $source },
            aliases: &[$($alias),*],
            fixed_width: false,
            construct: $kind($construct),
        },)*]
    };
}

walks! {
walks {
    "free:euclidean"("epsilon=0.125, step=0.5") ["free"] "a bet on each coordinate, the stakes follow the stream: no rate, any scale of the features; the default for losses with bounded slope; step=0: stakes stay" "KKW19"
        => Builder::free;
    "explicit:adaptive"("centre=false") ["adagrad"] "diagonal metric learned from the stream, normalised by each feature's scale; centre=true: labels in their own units, too" "DHS11; RML13"
        => Builder::adaptive;
    "explicit:euclidean"("") ["gd", "mirror:euclidean", "reparam:euclidean", "perceptron"] "gradient descent (Widrow-Hoff); perceptron: with the loss winnow-hinge(theta=0)" "KMWW07, ex. 4"
        => Builder::descent;
    "explicit:sphere"("radius=1") ["sphere"] "geodesic step on the sphere" "KMWW07s, eq. (11)"
        => Builder::sphere;
    "projected-sphere"("radius=1") [] "straight step, then back to the sphere: the heuristic to compare with" "KMWW07s"
        => Builder::projected_sphere;
    "explicit:simplex"(SIGNED) [] "geodesic step on the probability simplex, Fisher metric" "KMWW07, ex. 3"
        => |builder, args| builder.positive(Simplex::new(), args, Reach::Simplex);
    "explicit:orthant"("start=0.1, signed=false, scale=1") ["neg"] "geodesic step on positive weights (natural EG)" "KMWW07, ex. 7"
        => Builder::orthant;
    "explicit:hyperbolic"("") [] "geodesic step in hyperbolic space" "KMWW07"
        => |builder, _| builder.constrained(Hyperbolic::new(), BALL);
    "mirror:entropy"("start=0.0001, signed=false, scale=1") ["egu"] "multiplicative step on positive weights" "AW20; KW97"
        => Builder::entropy;
    "mirror:simplex-entropy"(SIGNED) ["eg", "eg+-"] "exponentiated gradient on the simplex; eg+- is the signed form" "AW20; KW97"
        => Builder::simplex_entropy;
    "mirror:p-norm"("q=1.5") ["ols"] "p-norm step; ols: with the balanced convex loss of matsushita unless told otherwise" "NN09, alg. 2; GLS01"
        => Builder::p_norm;
    "mirror:mahalanobis"("sigma=") ["mahalanobis"] "natural gradient of a constant metric: sigma=FILE, a matrix or its diagonal, or sigma=diag(1, 2, ...)" "NN09, table 1"
        => Builder::mahalanobis;
    "mirror:burg"("start=0.1, signed=false, scale=1") [] "mirror step of Burg's entropy" "NN09, table 1"
        => Builder::burg;
    "implicit:euclidean"("") [] "proximal step: the loss after the step, not before; robust at large rates" "KMWW07, eq. (9); CDKSS06"
        => Builder::implicit_descent;
    "implicit:sphere"("radius=1") [] "implicit geodesic step on the sphere" "KMWW07, eq. (9)"
        => Builder::implicit_sphere;
    "implicit:simplex"(SIGNED) [] "implicit geodesic step on the probability simplex, Fisher metric" "KMWW07, eq. (9)"
        => |builder, args| builder.positive(Implicit::new(Simplex::new()), args, Reach::Simplex);
    "implicit:orthant"("start=0.1, signed=false, scale=1") [] "implicit geodesic step on positive weights" "KMWW07, eq. (9)"
        => |builder, args| {
        let walk = Orthant::new(args.number("start", 0.1)?)?;
        builder.positive(Implicit::new(walk), args, Reach::Positive)
    };
    "implicit:hyperbolic"("") [] "implicit geodesic step in hyperbolic space" "KMWW07, eq. (9)"
        => |builder, _| builder.constrained(Implicit::new(Hyperbolic::new()), BALL);
    "implicit:entropy"("start=0.0001, signed=false, scale=1") [] "proximal step of the unnormalised relative entropy" "KW97"
        => |builder, args| {
        let walk = Entropy::new(args.number("start", Entropy::START)?)?;
        builder.positive(Implicit::new(walk), args, Reach::Positive)
    };
    "implicit:simplex-entropy"(SIGNED) [] "proximal step of the relative entropy on the simplex" "KW97"
        => |builder, args| {
        builder.positive(Implicit::new(SimplexEntropy::new()), args, Reach::Simplex)
    };
    "implicit:p-norm"("q=1.5") [] "proximal p-norm step" "GLS01"
        => |builder, args| {
        let walk = builder.in_norm(args)?;
        let norm = Norm::Lp(walk.q());
        builder.constrained(Implicit::new(walk), Reach::Ball(norm))
    };
    "implicit:burg"("start=0.1, signed=false, scale=1") [] "proximal step of Burg's entropy" "NN09, table 1"
        => |builder, args| {
        let walk = Burg::new(args.number("start", 0.1)?)?;
        builder.positive(Implicit::new(walk), args, Reach::Positive)
    };
    "reparam:entropy"("start=0.0001, signed=false, scale=1") ["reparam-egu"] "gradient descent on u, w = u^2" "AW20, sec. 5"
        => Builder::reparam_entropy;
    "reparam:simplex-entropy"("lo=, hi=, signed=false, scale=1") ["reparam-eg"] "gradient descent on u, w = u^2 on the simplex; centred if the range lo, hi of the features is given" "AW20, sec. 6"
        => Builder::reparam_simplex;
    "approximated-eg"(SIGNED) [] "first-order EG: w(1 - rate g (x - z))" "AW20"
        => |builder, args| {
        builder.positive(SimplexEntropy::approximated(), args, Reach::Simplex)
    };
    "prod"(SIGNED) [] "w(1 - rate g x) / sum" "CMS07"
        => Builder::prod;
    "vaw"("ridge=1, most=512, first=false") [] "the Vovk-Azoury-Warmuth forecaster: ridge regression after every row, for the squared loss and few features; no rate; first=true: weights for the first features only" "Vovk01; AW01"
        => Builder::vaw;
    "auto"("members=, share=0.01") [] "a team of walks and the mixture of their predictions: never far from the best of them; members=\"free; adagrad(rate=0.1)\" names them" "Vovk90"
        => |builder, args| {
        args.take_all();
        team::build(&builder.spec, &builder.request)
    };
    "winnow"("margin=0.5, k=1, n=") [] "Winnow with its exact rate and threshold" "AW20, thm 2"
        => |builder, args| builder.winnow(false, args);
    "reparam-winnow"("margin=0.5, k=1, n=") [] "Winnow's gradient-descent twin with its exact rate and threshold" "AW20, thm 3"
        => |builder, args| builder.winnow(true, args);
}
natural {
    "natural:auto"(SCHEDULED) ["natural", "dsngd"] "dual stochastic natural gradient for classes; the family is chosen from the data" "SC21"
        => None;
    "natural:discrete"(SCHEDULED) [] "one categorical variable: a=1; counting rates" "SC21, sec. 4"
        => None;
    "natural:naive-bayes"(SCHEDULED) [] "independent categorical columns: a=1" "SC21"
        => None;
    "natural:bernoulli"(SCHEDULED) [] "independent features in [0, 1]: kappa=1" "SC21"
        => None;
    "natural:poisson"(SCHEDULED) [] "independent counts: kappa=1, start=1" "SC21"
        => None;
    "natural:multinomial"(SCHEDULED) [] "counts of words: pseudo=1" "SC21"
        => None;
    "natural:exponential"(SCHEDULED) [] "independent positive features: kappa=1" "SC21"
        => None;
    "natural:gaussian-shared"(SCHEDULED) [] "numbers, one full covariance: kappa=0.05; scales and correlations do not matter" "SC21"
        => None;
    "natural:gaussian-shared-diagonal"(SCHEDULED) [] "numbers, one variance per feature: kappa=0.05" "SC21"
        => None;
    "natural:gaussian-sparse"(SCHEDULED) [] "numbers that are mostly zero, one scale per feature: delta=0.1; texts" "SC21"
        => None;
    "natural:gaussian-diagonal"(SCHEDULED) [] "numbers, variances of each class: quadratic in each feature: kappa=1" "SC21"
        => None;
    "natural:gaussian"(SCHEDULED) [] "numbers, covariance of each class: quadratic in all features: kappa=1" "SC21"
        => None;
    "natural:mixed"("FAMILY=0-3+7, rest=naive-bayes") [] "a family for each set of features, by their numbers" "SC21"
        => None;
    "natural-sgd"("family=gaussian-shared") [] "baseline of natural gradient: plain gradient descent on the same model" "SC21, eq. (1)"
        => Some(Method::Sgd);
    "natural-adagrad"("family=gaussian-shared") [] "baseline: a rate per coordinate" "DHS11"
        => Some(Method::Adagrad);
    "natural-csngd"("family=gaussian-shared") [] "baseline: the same metric by a dense solve; few parameters" "SC21, eq. (9)"
        => Some(Method::Csngd);
    "natural-sngd"("family=bernoulli") [] "baseline: the metric at the parameters themselves; overflows" "SC21, eq. (4)"
        => Some(Method::Sngd);
    "natural-mirror"("family=bernoulli") [] "baseline: gradient descent in the dual coordinates; leaves its domain" "SC21, eq. (8)"
        => Some(Method::Mirror);
}
}

/// The L2 ball.
const BALL: Reach = Reach::Ball(Norm::L2);

impl Named {
    /// Natural gradient or one of its baselines?
    pub fn is_natural(&self) -> bool {
        matches!(self.construct, Construct::Natural(_))
    }

    /// Has the row this name?
    fn is_called(&self, name: &str) -> bool {
        self.entry.name == name || self.aliases.contains(&name)
    }
}

/// The table of walks, natural gradient, and a row for each geometry of the library that has no O(nnz) form.
pub fn entries() -> impl Iterator<Item = &'static Named> + Clone {
    static GENERIC: OnceLock<Vec<Named>> = OnceLock::new();
    TABLE.iter().chain(NATURAL).chain(GENERIC.get_or_init(generic::rows))
}

/// The row of a name or alias; of natural gradient also where a family stands behind the name.
pub(crate) fn find(name: &str) -> Option<&'static Named> {
    let family = || {
        let (method, _) = name.split_once(':')?;
        NATURAL.iter().find(|row| row.is_called(method))
    };
    let listed = entries().find(|row| row.is_called(name));
    listed.or_else(family).or_else(|| generic::own(name))
}

/// Is this natural gradient, which chooses its family from the data where none is named?
pub(crate) fn chooses_family(spec: &Spec) -> bool {
    find(spec.name()).is_some_and(|row| matches!(row.construct, Construct::Natural(None)))
}

/// The row of a walk that was asked for.
pub(crate) fn row(spec: &Spec) -> Result<&'static Named, ConfigError> {
    let known = || entries().flat_map(|w| w.aliases.iter().copied().chain([w.entry.name]));
    find(spec.name()).ok_or_else(|| spec::unknown("walk", spec.name(), known()))
}

/// Walks that do not take `normalise=`: they have scales or bounds of features in them, or rows of another kind.
const RAW: [&str; 7] = [
    "free:euclidean",
    "explicit:adaptive",
    "mirror:mahalanobis",
    "vaw",
    "auto",
    "winnow",
    "reparam-winnow",
];

/// Does the walk take `normalise=`?
fn can_normalise(row: &Named, name: &str) -> bool {
    !RAW.contains(&row.entry.name) && !row.is_natural() && name != "perceptron"
}

/// A text without `normalise=`, and what that was.
fn split_normalise(text: &str) -> Result<(String, Option<bool>), ConfigError> {
    let spec = Spec::parse(text)?;
    let value = |argument: &str| {
        let (key, value) = argument.split_once('=')?;
        (key == "normalise").then(|| value.to_owned())
    };
    let arguments = spec.arguments();
    let Some(found) = arguments.iter().find_map(|argument| value(argument)) else {
        return Ok((text.to_owned(), None));
    };
    let normalise = match found.as_str() {
        "true" => true,
        "false" => false,
        _ => {
            let text = format!("normalise={found}");
            return Err(ConfigError::Syntax { text, column: 11, expected: "true or false" });
        }
    };
    if !can_normalise(row(&spec)?, spec.name()) {
        return Err(ConfigError::Missing {
            name: "a walk whose rows can be normalised",
            meaning: "this one has units already; leave normalise= out",
        });
    }
    let rest: Vec<String> = arguments.into_iter().filter(|a| value(a).is_none()).collect();
    let inside = if rest.is_empty() { String::new() } else { format!("({})", rest.join(", ")) };
    Ok((format!("{}{inside}", spec.name()), Some(normalise)))
}

/// The walk with `normalise=true` in its text, if it says nothing about that and can have it: what a new run at
/// a self-tuned rate gets.
pub(crate) fn with_normalised_rows(text: &str) -> Result<String, ConfigError> {
    let (spec, asked) = (Spec::parse(text)?, split_normalise(text)?.1);
    // A declared range of features is one of rows as they are.
    let ranged = text.contains("lo=") || text.contains("hi=");
    if asked.is_some() || ranged || !can_normalise(row(&spec)?, spec.name()) {
        return Ok(text.to_owned());
    }
    Ok(team::with_argument(text, "normalise", "true"))
}

/// A walk with what follows from the schema and the first rows in its text, as a model file needs it.
pub(crate) fn stated(
    text: &str,
    schema: &Schema,
    block: &Block,
    intercept: bool,
) -> Result<String, ConfigError> {
    let (text, normalise) = split_normalise(text)?;
    let sized = generic::stated(&text, schema, block, intercept)?;
    Ok(match normalise {
        None => sized,
        Some(normalise) => team::with_argument(&sized, "normalise", &normalise.to_string()),
    })
}

/// One walk to use where none is named: `free` for losses with bounded slope, `adagrad` for others.
pub fn usual(task: Task, loss: Option<&AnyLoss>) -> &'static str {
    let bounded = match loss {
        Some(loss) => loss.facts().lipschitz.is_some(),
        None => task != Task::Regression,
    };
    if bounded { "free" } else { "adagrad" }
}

/// The loss to use with a walk where none is named: `ols` is defined with a balanced convex one.
pub fn usual_loss_of(walk: &str, task: Task) -> Result<&'static str, ConfigError> {
    let ols = Spec::parse(walk)?.name() == "ols";
    match task {
        Task::Binary | Task::Multiclass if ols => Ok("matsushita"),
        Task::Regression if ols => Err(ConfigError::Missing {
            name: "a loss for numbers",
            meaning: "ols has balanced convex losses, which are for classes; name a loss, or use the walk mirror:p-norm",
        }),
        _ => Ok(usual_loss(task)),
    }
}

/// The text of the matrix that a walk names, if it names a file.
pub(crate) fn sigma(walk: &str) -> Result<Option<String>, RunError> {
    Spec::parse(walk)?; // an error of spelling comes before a missing file
    matrix_file(walk).map(|path| Sigma::text(&path)).transpose()
}

/// The file of the matrix that a walk names, if it names one.
pub fn matrix_file(walk: &str) -> Option<String> {
    let spec = Spec::parse(walk).ok()?;
    find(spec.name()).filter(|row| row.is_called("mahalanobis"))?;
    let mut args = spec.args();
    let text = args.text("sigma")?;
    // A diagonal that is written down badly is refused where the walk is built.
    matches!(Sigma::inline(text), Ok(None)).then(|| text.to_owned())
}

/// The loss to use where none is named.
pub fn usual_loss(task: Task) -> &'static str {
    match task {
        Task::Regression => "squared",
        Task::Binary | Task::Multiclass => "logistic",
    }
}

/// What a walk needs besides its own text.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is to be learned.
    pub task: Task,
    /// Loss, rate, intercept, certificate.
    pub setting: Setting,
    /// Seed of random starting points.
    pub seed: u64,
    /// How many features there are, where that is known at the beginning.
    pub features: Option<usize>,
    /// Predictions are clipped to this range.
    pub y_range: Option<(f64, f64)>,
    /// The text of the file with the matrix of the walk, where it has one.
    pub sigma: Option<String>,
    /// What the user vouches for.
    pub declared: Declared,
    /// A comparator that is known beforehand, with the intercept first if there is one: some theorems must see it in every round.
    pub comparator: Option<Vec<f64>>,
}

impl Request {
    /// A walk with this setting, and nothing else said.
    pub fn new(task: Task, setting: Setting, seed: u64) -> Self {
        let (features, y_range, sigma, comparator) = (None, None, None, None);
        let declared = Declared::default();
        Self { task, setting, seed, features, y_range, sigma, declared, comparator }
    }
}

/// A learner, and what was decided while building it.
pub struct Built {
    /// The learner.
    pub learner: Box<dyn Learner>,
    /// One of several classes: one joint softmax (true) or each class against the rest.
    pub joint: bool,
    /// The loss it uses.
    pub loss: AnyLoss,
    /// The rate it uses, as text.
    pub rate: String,
    /// Does the rate that was asked for matter? Some walks need none, or prescribe their own.
    pub rated: bool,
    /// Does the rate follow what the run has seen?
    pub tuned: bool,
}

impl std::fmt::Debug for Built {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { joint, loss, rate, rated, .. } = self;
        f.debug_struct("Built")
            .field("joint", joint)
            .field("loss", loss)
            .field("rate", rate)
            .field("rated", rated)
            .finish_non_exhaustive()
    }
}

/// How many features there are, where that is known at the beginning.
pub fn width(schema: &Schema) -> Option<usize> {
    match schema.features() {
        Features::Hashed(hashed) => Some(1 << hashed.bits()),
        Features::Exact(_) | Features::Index(_) => None,
    }
}

/// A run without a second-order certificate.
fn no_second_order() -> ConfigError {
    ConfigError::Missing {
        name: "a run with a second-order certificate",
        meaning: "it is known for one walk with the logistic loss of one score or the squared loss: use --certificate on",
    }
}

/// Builds the learner of a run with these settings, on data with so many features.
pub fn of(settings: &Settings, width: Option<usize>) -> Result<Built, ConfigError> {
    against(settings, width, None)
}

/// The same, with a comparator that the theorems of the walk see in every round.
pub(crate) fn against(
    settings: &Settings,
    width: Option<usize>,
    comparator: Option<Vec<f64>>,
) -> Result<Built, ConfigError> {
    let (walk, rate, sigma, declared) = match &settings.learner {
        LearnerSettings::Walk(own) => (&own.walk, &own.rate, own.sigma.clone(), own.declared),
        LearnerSettings::Natural(own) => (&own.walk, &own.rate, None, Declared::default()),
        other => return Err(spec::unknown("walk", &other.walk(), ["free", "natural"])),
    };
    let everything = (f64::NEG_INFINITY, f64::INFINITY);
    let setting = Setting {
        intercept: settings.intercept,
        certificate: settings.certificate,
        second_order: settings.stream.second_order,
        merged: settings.stream.merged > 0,
        average: settings.stream.average.then_some(settings.y_range.unwrap_or(everything)),
        ..Setting::new(AnyLoss::parse(&settings.loss)?, Rate::parse(rate)?)
    };
    let Settings { task, seed, y_range, .. } = *settings;
    let features = width;
    let team = Spec::parse(walk)?.name() == team::NAME;
    let one = matches!(settings.learner, LearnerSettings::Walk(_)) && !team;
    if setting.certificate && setting.second_order && !one {
        return Err(no_second_order());
    }
    let request = Request { task, setting, seed, features, y_range, sigma, declared, comparator };
    let StreamSettings { interval, delay, .. } = settings.stream;
    let mut built = build(walk, request.clone())?;
    if let Some(part) = interval {
        built.learner = Box::new(Banded::new(built.learner, part, &request)?);
    }
    if delay > 0 {
        built.learner = Box::new(Delayed::new(built.learner, delay));
    }
    Ok(built)
}

/// Builds the learner that a text names. What a [`Setting`] says of reach, theorems, domain, split weights and values is decided here.
pub fn build(text: &str, request: Request) -> Result<Built, ConfigError> {
    let (text, normalise) = split_normalise(text)?;
    let normalise = normalise == Some(true);
    let spec = Spec::parse(&text)?;
    let make = match row(&spec)?.construct {
        Construct::Walk(make) => make,
        Construct::Natural(method) => return crate::natural::build(&spec, method, &request),
    };
    let mut args = spec.args();
    let mut request = request;
    if spec.name() == "perceptron" {
        request.setting.loss = AnyLoss::from(WinnowHinge::new(0.0)?);
        request.setting.rate = Rate::Constant(1.0);
    }
    let kind = Kind::Without("no theorem of regret is known for this walk");
    let signed = spec.name() == "eg+-";
    let builder =
        Builder { text, spec: spec.clone(), request, signed, kind, scale: None, normalise };
    let mut built = make(builder, &mut args)?;
    args.finish()?;
    // Its rate is fixed.
    built.rated &= spec.name() != "perceptron";
    Ok(built)
}

/// The learner of any walk, with what every walk has: certificates of the first order, averages where it allows
/// them, saved states. For walks that have no name, as those on a manifold from outside the library.
pub fn of_walk<W: Walk + Clone + 'static>(walk: W, request: Request) -> Result<Built, ConfigError> {
    let kind = Kind::Without("no theorem of regret is known for this walk");
    let (text, spec) = (String::new(), Spec::parse("walk")?);
    let normalise = false;
    let builder = Builder { text, spec, request, signed: false, kind, scale: None, normalise };
    builder.constrained(walk, BALL)
}

fn number(name: &'static str, text: &str) -> Result<f64, ConfigError> {
    text.parse().map_err(|_| ConfigError::Syntax {
        text: format!("{name}={text}"),
        column: name.chars().count() + 2,
        expected: "a number",
    })
}
