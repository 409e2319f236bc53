//! What can be typed. Help, error messages and completions come from these definitions.

mod help;
mod models;
mod serve;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use models::{Compare, Evaluate, Format, Merge, Predict, Show};
pub(crate) use serve::Serve;
use serve::checkpoint;

/// Learning that respects the geometry of its parameters.
#[derive(Debug, Parser)]
#[command(name = "geowalk", version, about, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Args {
    /// The command as it parses and explains itself.
    pub(crate) fn arranged() -> clap::Command {
        help::arranged(Self::command())
    }

    /// What was typed.
    pub(crate) fn read<T>(arguments: impl IntoIterator<Item = T>) -> Result<Self, clap::Error>
    where
        T: Into<OsString> + Clone,
    {
        let mut command = Self::arranged();
        let matches = command.try_get_matches_from_mut(arguments)?;
        Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Learn from a stream or table in one pass, and write a model.
    Train(Train),
    /// Boost rules, stumps, trees or columns, with any convex loss.
    Boost(Boost),
    /// Grow a decision tree on a table, and write a model.
    Tree(Tree),
    /// Weigh experts: Hedge and its relatives on a table of losses, forecasts, probabilities, odds or price relatives.
    Experts(Experts),
    /// Predict with a model.
    Predict(Predict),
    /// Measure a model on rows with labels: accuracy beside always guessing the same, confusion, recall, AUC.
    Evaluate(Evaluate),
    /// Which of two predicts better on the same rows: model files as they are, or walks that learn on the way.
    Compare(Compare),
    /// Merge models that were trained apart on rows of the same columns into one.
    Merge(Merge),
    /// Write data in binary form: read several times faster, with the same result to the last bit.
    Convert(Convert),
    /// What is in a model: settings, metrics, certificate, largest weights by name, trees.
    Show(Show),
    /// Replay the run of a model on its data and compare every number; exit code 1 if one differs.
    Verify(Verify),
    /// Print a model's guarantees: against weights no larger than its own (each weight no larger than the same
    /// weight at the end, for the default walks), a given comparator, or the best in hindsight.
    Certify(Certify),
    /// What there is: walks, geometries, losses, theorems, formats, experiments.
    List(List),
    /// What a word of the output means, such as leverage or AUC; without a word, all there are.
    Explain(Explain),
    /// The null vector of a stream, or the recurrence of a series, learned on the sphere.
    Track(Track),
    /// Repeat the papers' experiments: tables, pictures, and a page with what was measured beside what was expected.
    Repro(Repro),
    /// Learn and predict over HTTP; every row that is acknowledged is on disk.
    Serve(Serve),
    /// Examine a loss: which facts hold, and which theorems apply; or a walk with a loss: do they go together.
    Doctor(Doctor),
    /// Completions for a shell, on standard output.
    Completions(Completions),
    /// The manual page of geowalk or of one command, on standard output.
    Man(Man),
}

/// What to read and how.
#[derive(Debug, ClapArgs)]
pub(crate) struct Data {
    /// Paths, patterns, or - for standard input; read one after the other.
    #[arg(required = true, value_name = "DATA")]
    pub(crate) inputs: Vec<String>,
    #[command(flatten)]
    pub(crate) how: How,
}

/// How to read it.
#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools)] // flags that have nothing to do with each other
pub(crate) struct How {
    /// Format; otherwise told by the name and the content: see `geowalk list formats`.
    #[arg(long)]
    pub(crate) format: Option<String>,
    /// Label column; otherwise class, label, target or y.
    #[arg(long)]
    pub(crate) label: Option<String>,
    /// A table without header row: columns are named 1, 2, …
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Column that holds names even if they look like numbers (repeatable).
    #[arg(long, value_name = "COL")]
    pub(crate) nominal: Vec<String>,
    /// Column of free text, split into lower-case words (repeatable).
    #[arg(long, value_name = "COL")]
    pub(crate) text: Vec<String>,
    /// Column of the importance weight.
    #[arg(long, value_name = "COL")]
    pub(crate) weight: Option<String>,
    /// Column that is not read (repeatable).
    #[arg(long, value_name = "COL")]
    pub(crate) ignore: Vec<String>,
    /// Field that counts as missing, besides the empty one (repeatable).
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    pub(crate) missing: Vec<String>,
    /// Character before the decimals of numbers in a table, such as ',' in 1,5 [default: a point, or what the model
    /// was trained with]
    #[arg(long, value_name = "CHAR")]
    pub(crate) decimal: Option<char>,
    /// Character between the thousands of numbers in a table, such as ',' in 1,234 [default: none, or what the model
    /// was trained with if --decimal is not given either]
    #[arg(long, value_name = "CHAR")]
    pub(crate) thousands: Option<char>,
    /// Character between the fields of CSV [default: a comma, or a semicolon if the first line has no comma].
    #[arg(long, value_name = "CHAR")]
    pub(crate) separator: Option<char>,
    /// Lines at the beginning of each text file that are passed over, such as a title above the header.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip_lines: usize,
    /// Smallest LIBSVM index; otherwise told by the first rows.
    #[arg(long, value_name = "0|1")]
    pub(crate) index_base: Option<u32>,
    /// What becomes of an index that occurs twice in a LIBSVM row.
    #[arg(long, value_enum, default_value_t = Twice::Refuse)]
    pub(crate) duplicates: Twice,
    /// Hash features into 2^BITS places.
    #[arg(long, conflicts_with = "exact")]
    pub(crate) bits: Option<u32>,
    /// Keep a dictionary of feature names: no collisions.
    #[arg(long)]
    pub(crate) exact: bool,
    /// What becomes of a row that cannot be read: fail, skip, or quarantine=FILE.
    #[arg(long, default_value = "fail", value_name = "POLICY")]
    pub(crate) on_error: String,
    /// Keep the data in binary form beside the first file, under its name with .gwd, and read that as long as the text and these options stay as they are.
    #[arg(long)]
    pub(crate) cache: bool,
    /// Replace output files of another kind: a model in place of other files, or other files in place of a model.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Convert {
    #[command(flatten)]
    pub(crate) data: Data,
    /// The file to write; its name may end in .gwd.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Twice {
    /// The row is an error.
    Refuse,
    /// The values are added up.
    Add,
}

#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools)] // flags that have nothing to do with each other
pub(crate) struct Train {
    #[command(flatten)]
    pub(crate) data: Data,
    /// The walk, UPDATE:GEOMETRY(param=value, …) or an alias: see `geowalk list walks`.
    #[arg(long)]
    pub(crate) walk: Option<String>,
    /// The loss: see `geowalk list losses`.
    #[arg(long)]
    pub(crate) loss: Option<String>,
    /// auto, a number, inv(c, t0), power(c, t0, p), or certified: what the theorem of the walk prescribes for the numbers below, or in epochs for what is seen.
    #[arg(long, default_value = "auto", allow_negative_numbers = true)]
    pub(crate) rate: String,
    #[command(flatten)]
    pub(crate) declared: Declare,
    /// Answer about this comparator at the end: a file with a line name,value for each weight, or best, the best fixed weights in hindsight.
    #[arg(long, value_name = "FILE|best")]
    pub(crate) comparator: Option<String>,
    /// What is to be learned; otherwise told by the labels. With --resume, two classes can become several.
    #[arg(long, value_enum)]
    pub(crate) task: Option<What>,
    /// How often to go through the data; auto reads all rows into memory and fits the best linear model of
    /// them, whatever their order, or with a walk that is named goes through them until nothing is gained.
    #[arg(long, value_name = "N|auto", default_value = "1", value_parser = passes)]
    pub(crate) passes: Passes,
    /// Also learn K times from all rows but one of K folds, and judge predictions of that fold; the folds are those of
    /// boost and tree. All rows are read into memory.
    #[arg(long, value_name = "K", conflicts_with_all = ["resume", "follow", "dry_run"])]
    pub(crate) folds: Option<usize>,
    /// With --passes auto and a walk that is named: go through the rows in an order that the seed decides.
    #[arg(long)]
    pub(crate) shuffle: bool,
    /// Never learn from every N-th row, or from this FRACTION of the rows: their losses and metrics are reported by
    /// themselves. With --resume from here on.
    #[arg(long, value_name = "N|FRACTION")]
    pub(crate) holdout: Option<String>,
    /// With --passes and --holdout: stop when the loss of the rows held out has not fallen for N passes, and keep the
    /// model of the best pass.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) patience: Option<u32>,
    /// Predict with the average of the weights of the whole run (Polyak's) instead of the last ones.
    #[arg(long)]
    pub(crate) average: bool,
    /// Also measure the last N examples by themselves; with --resume those of this run.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub(crate) window: Option<u32>,
    /// Read the first rows, say how each column is read, and stop.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the model here.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Continue this model, with its settings: the same bits as if there had been no interruption.
    #[arg(long, value_name = "MODEL", conflicts_with_all =
        ["dry_run", "walk", "loss", "rate", "seed", "y_range", "no_intercept", "certificate", "bits", "exact",
        "average", "x_norm", "x_range", "distance", "comparator_loss", "rounds", "interval", "delay"])]
    pub(crate) resume: Option<PathBuf>,
    /// Write a model file here while the run goes on, each 60 seconds or so many; the same command goes on from it.
    #[arg(long, value_name = "FILE[:SECONDS]", value_parser = checkpoint)]
    pub(crate) checkpoint: Option<(PathBuf, u64)>,
    /// Read a file as it grows, until Ctrl-C or SIGTERM.
    #[arg(long)]
    pub(crate) follow: bool,
    /// Write a report with pictures here: one HTML file.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write the prediction made for each example before it was learned from; - is standard output, and moves the
    /// summary to standard error. With --resume or --task, rows that come through a pipe are answered as they come.
    #[arg(long, value_name = "FILE")]
    pub(crate) predictions: Option<PathBuf>,
    /// With --predictions: CSV of the predicted class, its score and its probability.
    #[arg(long, requires = "predictions")]
    pub(crate) proba: bool,
    /// For numbers, also learn an interval that holds this PART of the labels, such as 0.9: predictions, here and in
    /// `predict`, have the columns low and high, and the summary says how many labels were inside.
    #[arg(long, value_name = "PART")]
    pub(crate) interval: Option<f64>,
    /// Learn from a row only when N more have come, as where labels come late. The last N wait in the model, and are
    /// learned from with --resume. There is no certificate.
    #[arg(long, value_name = "N", default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(0..=1 << 20))]
    pub(crate) delay: u32,
    /// Clip predictions to LO,HI.
    #[arg(long, value_name = "LO,HI", value_parser = range, allow_hyphen_values = true)]
    pub(crate) y_range: Option<(f64, f64)>,
    /// Seed of random starting points.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Threads; otherwise 2 if there are two cores. The result is the same.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    /// Stop with a message before weights, sums and names of features take more memory, such as 500M or 64G. Checked
    /// when the number of rows doubles.
    #[arg(long, value_name = "SIZE", value_parser = memory, default_value = "8G")]
    pub(crate) memory: u64,
    /// No constant feature.
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Keep the sums of the certificates and the digest of the rows: off is faster; full keeps those of the
    /// second-order certificate too (logistic or squared loss, at most 1024 features, O(nnz²) per row).
    #[arg(long, value_enum, default_value_t = Sums::On)]
    pub(crate) certificate: Sums,
    /// Progress table on standard error, and if that is a terminal a bar below it.
    #[arg(long, value_enum, default_value_t = Shown::Auto)]
    pub(crate) progress: Shown,
    /// The summary as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What the user vouches for; a theorem that relies on it is void as soon as a row refutes it.
#[derive(Debug, ClapArgs)]
pub(crate) struct Declare {
    /// Declare: no row of features is longer, in the norm of the theorem.
    #[arg(long, value_name = "R")]
    pub(crate) x_norm: Option<f64>,
    /// Declare: all features lie between LO and HI.
    #[arg(long, value_name = "LO,HI", value_parser = range, allow_hyphen_values = true)]
    pub(crate) x_range: Option<(f64, f64)>,
    /// Declare: comparators are no farther than this from the start, in the norm (or divergence) of the walk.
    #[arg(long, value_name = "U")]
    pub(crate) distance: Option<f64>,
    /// Declare: comparators lose no more than this in total.
    #[arg(long, value_name = "L")]
    pub(crate) comparator_loss: Option<f64>,
    /// Declare: there are at most so many examples.
    #[arg(long, value_name = "K")]
    pub(crate) rounds: Option<u64>,
}

impl Declare {
    pub(crate) fn read(&self) -> geowalk_run::theorem::Declared {
        let Self { x_norm, x_range, distance, comparator_loss, rounds } = *self;
        geowalk_run::theorem::Declared { x_norm, x_range, distance, comparator_loss, rounds }
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Verify {
    /// The model; or the folder of a service, whose logs are the data.
    pub(crate) model: PathBuf,
    /// Paths or patterns; read one after the other. None for the folder of a service.
    #[arg(value_name = "DATA")]
    pub(crate) inputs: Vec<String>,
    #[command(flatten)]
    pub(crate) how: How,
    /// The result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Certify {
    /// The model.
    pub(crate) model: PathBuf,
    /// A file with a line name,value for each weight (class,name,value for several classes), or best: the best fixed weights in hindsight, sought on --data.
    #[arg(long, value_name = "FILE|best")]
    pub(crate) comparator: Option<String>,
    /// The data that the model was trained on: for what the comparator lost.
    #[arg(long, value_name = "DATA", num_args = 1..)]
    pub(crate) data: Vec<String>,
    /// The bound against all weights within a distance, for distances around that of the model.
    #[arg(long, conflicts_with_all = ["comparator", "data"])]
    pub(crate) curve: bool,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Experts {
    #[command(flatten)]
    pub(crate) data: Data,
    /// hedge, reparam-hedge, prod, eg, reparam-eg, ml-poly or boa; otherwise eg for forecasts and prices, hedge for
    /// losses and probabilities.
    #[arg(long)]
    pub(crate) walk: Option<String>,
    /// What the numbers mean: forecasts of the label under a loss of `geowalk list losses`, given (losses), log (probabilities),
    /// portfolio (price relatives); otherwise squared where there is a label, else given.
    #[arg(long)]
    pub(crate) loss: Option<String>,
    /// auto (of prices .05, otherwise found on the way), a number, tuned(loss=L) for a comparator that loses at most
    /// L, or doubling.
    #[arg(long, default_value = "auto", allow_negative_numbers = true)]
    pub(crate) rate: String,
    /// Spread this part of the weight evenly after each round: for experts that change.
    #[arg(long, default_value_t = 0.0, value_name = "PART")]
    pub(crate) share: f64,
    /// Compare with the best sequence of experts with so many switches, too (with --share).
    #[arg(long, default_value_t = 0, value_name = "M", value_parser = clap::value_parser!(u16))]
    pub(crate) switches: u16,
    /// Range of the losses (of the forecasts, for eg and reparam-eg); losses are in 0,1 otherwise.
    #[arg(long, value_name = "LO,HI", value_parser = range, allow_hyphen_values = true)]
    pub(crate) range: Option<(f64, f64)>,
    /// Columns are decimal odds, named expert and outcome, and the label is the outcome: the outcomes, as H,D,A.
    #[arg(long, value_name = "OUTCOMES", value_delimiter = ',')]
    pub(crate) odds: Vec<String>,
    /// Write the game here as a model: for --resume, predict and show.
    #[arg(long, value_name = "FILE.gw")]
    pub(crate) model: Option<PathBuf>,
    /// Go on with the game of this model, with its experts, walk, loss and rate. An expert that is absent has empty
    /// fields.
    #[arg(long, value_name = "FILE.gw",
        conflicts_with_all = ["walk", "loss", "rate", "share", "switches", "range", "odds", "label"])]
    pub(crate) resume: Option<PathBuf>,
    /// Do not solve for the best convex combination in hindsight (it keeps all rows in memory).
    #[arg(long)]
    pub(crate) no_combination: bool,
    /// Write a report with pictures here: one HTML file.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Write the prediction of each round; - is standard output, and moves the summary to standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) predictions: Option<PathBuf>,
    /// Progress table on standard error.
    #[arg(long, value_enum, default_value_t = Shown::Auto)]
    pub(crate) progress: Shown,
    /// The summary as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Tree {
    #[command(flatten)]
    pub(crate) data: Data,
    /// The criterion: a permissible function (see `geowalk list permissible`), or exponential, squared, logistic.
    #[arg(long, default_value = "matsushita")]
    pub(crate) loss: String,
    /// At most so many leaves.
    #[arg(long, value_name = "N")]
    pub(crate) leaves: Option<usize>,
    /// At most so many tests on the way to a leaf.
    #[arg(long, value_name = "D")]
    pub(crate) depth: Option<usize>,
    /// At least so many rows in each leaf.
    #[arg(long, value_name = "M", default_value_t = 1)]
    pub(crate) min_leaf: usize,
    /// Which leaf is split next; it matters only with --leaves.
    #[arg(long, value_enum, default_value_t = Order::Best)]
    pub(crate) order: Order,
    /// Allow splits that gain nothing: XOR needs them.
    #[arg(long)]
    pub(crate) zero_gain: bool,
    /// Bins of a column, 2 to 255, between which thresholds are sought, which is faster; or exact: thresholds between all values.
    #[arg(long, default_value = "exact")]
    pub(crate) bins: String,
    /// How the tree is made smaller: length takes back questions that tell less than it takes to ask them; a part of the data (at most 0.5) is kept aside, and errors there decide; off; auto is length unless --leaves, --depth or --min-leaf limit the tree.
    #[arg(long, value_name = "HOW", default_value = "auto", allow_negative_numbers = true)]
    pub(crate) prune: String,
    /// Added to the weight of each class in a leaf when it gives probabilities.
    #[arg(long, value_name = "K", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) smoothing: f64,
    /// Cross-validation with so many folds, stratified.
    #[arg(long, value_name = "K")]
    pub(crate) folds: Option<usize>,
    /// Seed of folds and of the part for pruning.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Two classes or more; otherwise told by the labels.
    #[arg(long, value_enum)]
    pub(crate) task: Option<What>,
    /// Read the table, say how each column was read, and stop.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write the model here.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Write a report with pictures here: one HTML file.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// What is decided, and the folds, on standard error.
    #[arg(long, value_enum, default_value_t = Shown::Auto)]
    pub(crate) progress: Shown,
    /// The summary as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Order {
    /// The one that gains most.
    Best,
    /// The leftmost.
    Depth,
}

fn range(text: &str) -> Result<(f64, f64), String> {
    let parts = text.split_once(',').map(|(lo, hi)| (lo.trim().parse(), hi.trim().parse()));
    match parts {
        Some((Ok(lo), Ok(hi))) if lo < hi => Ok((lo, hi)),
        _ => Err("two numbers LO,HI with LO < HI expected".to_owned()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    Regression,
    Binary,
    Multiclass,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sums {
    Off,
    On,
    Full,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shown {
    Auto,
    None,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Track {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Track the recurrence of a series, looking back so many values; the series is the label column.
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u16).range(1..=511))]
    pub(crate) order: Option<u16>,
    /// Subtract the mean of the series first.
    #[arg(long, requires = "order")]
    pub(crate) center: bool,
    /// The series is disturbed by a moving average of so many terms (ARMA): find the recurrence from autocovariances,
    /// which such noise does not bias.
    #[arg(long, value_name = "Q", requires = "order", default_value_t = 0,
        value_parser = clap::value_parser!(u16).range(..=511))]
    pub(crate) ma: u16,
    /// sphere, implicit:sphere or projected-sphere.
    #[arg(long, default_value = "sphere")]
    pub(crate) walk: String,
    /// auto, a number, inv(c, t0) or power(c, t0, p).
    #[arg(long, default_value = "inv(0.5, 10)")]
    pub(crate) rate: String,
    /// Seed of the starting point.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print the result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools)] // flags that have nothing to do with each other
pub(crate) struct Boost {
    #[command(flatten)]
    pub(crate) data: Data,
    /// Loss of classes: exponential, squared, logistic, gini, matsushita, entropy, mu, nu, zeta, renorm. Of numbers:
    /// squared, absolute, quantile(tau), huber(delta), poisson [default: logistic or squared; with --plain matsushita]
    #[arg(long)]
    pub(crate) loss: Option<String>,
    /// What is boosted: rules, trees (usually the most accurate), or, always as with --plain, stumps, small-trees (one
    /// vote each), columns.
    #[arg(long, default_value = "rules")]
    pub(crate) weak: String,
    /// Rules by the paper's plain algorithm: full steps, no sampling, as many rounds as asked. Without this flag it is
    /// taken if --rounds is given, or an option that only it has.
    #[arg(long)]
    pub(crate) plain: bool,
    /// Tests of a rule at most [default: 3, with --plain 2]
    #[arg(long)]
    pub(crate) literals: Option<usize>,
    /// Maximum leaves of a tree [default: 16, of small-trees 4]
    #[arg(long)]
    pub(crate) leaves: Option<usize>,
    /// Maximum depth of a tree, with --weak trees [default: 6]
    #[arg(long)]
    pub(crate) depth: Option<usize>,
    /// Several classes: one tree votes for all of them, instead of one tree for each; rules always do.
    #[arg(long)]
    pub(crate) vector: bool,
    /// Part of each step that is taken, 0 to 1 [default: 0.05, of rules and several classes 0.1]
    #[arg(long)]
    pub(crate) rate: Option<f64>,
    /// Ridge of leaf values, or of what a rule adds [default: 1]
    #[arg(long)]
    pub(crate) ridge: Option<f64>,
    /// Minimum rows of a leaf or rule [default: 5, of several classes 20]
    #[arg(long, value_name = "ROWS")]
    pub(crate) min_leaf: Option<usize>,
    /// Count the rows of a leaf by how hard they are to tell [default: false]
    #[arg(long, value_name = "true|false")]
    pub(crate) effective_rows: Option<bool>,
    /// Share of the rows each tree or rule is found on [default: 0.8]
    #[arg(long, value_name = "SHARE")]
    pub(crate) row_share: Option<f64>,
    /// Share of the columns each node looks at [default: 0.7, of several classes 0.8]
    #[arg(long, value_name = "SHARE")]
    pub(crate) column_share: Option<f64>,
    /// How leaf values are found.
    #[arg(long, default_value = "newton", value_name = "newton|exact|kl")]
    pub(crate) leaf_step: String,
    /// Column in which the score must not fall: a larger number never speaks against the second class (repeatable).
    #[arg(long, value_name = "COL", value_delimiter = ',')]
    pub(crate) increasing: Vec<String>,
    /// Column in which the score must not rise (repeatable).
    #[arg(long, value_name = "COL", value_delimiter = ',')]
    pub(crate) decreasing: Vec<String>,
    /// Columns that may meet in a rule or on the way to a leaf, as A,B,C (repeatable); others stay alone.
    #[arg(long, value_name = "COLS")]
    pub(crate) interact: Vec<String>,
    /// Exactly so many rounds [default: chosen by held-out rows; with --plain 10; or those of --resume]
    #[arg(long)]
    pub(crate) rounds: Option<usize>,
    /// How many leverages move in a round: one, all, or a number (the newest); --plain.
    #[arg(long, default_value = "one")]
    pub(crate) leverage: String,
    /// Choose the loss as the run goes: none, F1, F2, E1, E2 or F*.
    #[arg(long, default_value = "none")]
    pub(crate) adapt: String,
    /// What --adapt chooses losses by: the surrogate of held-out rows (a fifth of them, then all rows are learned from),
    /// or the training error as in the paper.
    #[arg(long, default_value = "held-out", value_name = "held-out|training")]
    pub(crate) by: String,
    /// μ of the flavours.
    #[arg(long, default_value_t = 0.5)]
    pub(crate) mu: f64,
    /// ν of the flavours.
    #[arg(long, default_value_t = 0.25)]
    pub(crate) nu: f64,
    /// How tests of a rule are compared: edge, screened(K) or exact; --plain.
    #[arg(long, default_value = "edge")]
    pub(crate) search: String,
    /// Bins of a column, 2 to 255, or exact: thresholds between all values [default: 255, of trees 254]
    #[arg(long)]
    pub(crate) bins: Option<String>,
    /// Rules abstain where a value is missing.
    #[arg(long)]
    pub(crate) abstain: bool,
    /// A feature that never errs: cap its leverage, stop there, or error.
    #[arg(long, default_value = "cap", value_name = "cap|stop|error")]
    pub(crate) separable: String,
    /// Several classes, --plain: one against the rest, or one row per class, a single list of rules that needs many more
    /// rounds (the paper's baseline: usually far less accurate than the default).
    #[arg(long, default_value = "ova", value_name = "ova|mh")]
    pub(crate) reduction: String,
    /// Stop when the bound on the training error is this small.
    #[arg(long, value_name = "ERROR")]
    pub(crate) until: Option<f64>,
    /// Hold out this share of the examples, and keep the rounds up to the best on them.
    #[arg(long, value_name = "SHARE")]
    pub(crate) hold_out: Option<f64>,
    /// Stop after so many rounds without improvement (on what is held out, if anything is).
    #[arg(long, value_name = "ROUNDS")]
    pub(crate) patience: Option<usize>,
    /// Estimate the error by stratified cross-validation.
    #[arg(long, value_name = "K")]
    pub(crate) folds: Option<usize>,
    /// What is to be learned; otherwise told by the labels.
    #[arg(long, value_enum)]
    pub(crate) task: Option<What>,
    /// Seed of the folds and of what is held out.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Read the table, say how each column was read, and stop.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Continue the rounds of this model on the same data, with its settings: the same bits as without an interruption.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["loss", "weak", "literals", "leaves", "depth", "rate", "ridge",
        "min_leaf", "effective_rows", "row_share", "column_share", "leaf_step", "leverage", "plain", "vector",
        "increasing", "decreasing", "interact",
        "adapt", "by", "mu", "nu", "search", "bins", "abstain", "separable", "reduction", "until", "hold_out",
        "patience", "seed", "task"])]
    pub(crate) resume: Option<PathBuf>,
    /// Write the model here.
    #[arg(long, value_name = "FILE")]
    pub(crate) model: Option<PathBuf>,
    /// Write a report with pictures here: one HTML file.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// Log of the rounds on standard error.
    #[arg(long, value_enum, default_value_t = Shown::Auto)]
    pub(crate) progress: Shown,
    /// The summary as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct List {
    /// What to list; everything if left out.
    pub(crate) what: Option<Kind>,
    /// One JSON array instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Learners: an update in a geometry.
    Walks,
    /// Manifolds and generators.
    Geometries,
    /// Losses.
    Losses,
    /// Permissible functions, each with its balanced convex loss.
    Permissible,
    /// Theorems that certificates evaluate, with their premises.
    Theorems,
    /// Formats of data.
    Formats,
    /// The papers' experiments, for `geowalk repro`.
    Experiments,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Explain {
    /// The word, or several that belong together: log loss.
    pub(crate) term: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Repro {
    /// Experiments, or all: see `geowalk list experiments`.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Where tables, pictures and index.html are written. What is finished there is not done again.
    #[arg(long, value_name = "DIR", default_value = "repro")]
    pub(crate) out: PathBuf,
    /// Seconds instead of minutes: fewer samples, the same statements.
    #[arg(long)]
    pub(crate) small: bool,
    /// Seed of everything random.
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..1_000_000))]
    pub(crate) seed: u64,
    /// Folder of tables (.csv, .csv.gz; the class in a column of that name) for the experiment that compares learners on many.
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Leave out tables with more rows than this.
    #[arg(long, value_name = "N", requires = "data")]
    pub(crate) rows: Option<usize>,
    /// Do everything again, even what is finished.
    #[arg(long)]
    pub(crate) again: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: Shell,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Man {
    /// The command; geowalk itself if left out.
    pub(crate) command: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Doctor {
    /// The loss: `logistic`, `huber(delta=0.5)`, …, see `geowalk list losses`; or a walk, with the loss behind it.
    #[arg(required_unless_present = "prior", value_name = "LOSS | WALK LOSS", num_args = 1..=2)]
    pub(crate) what: Vec<String>,
    /// The walks whose metric stands for a prior on the weights: uniform, log-uniform, sparse, sparse-shares,
    /// directions, trees, few-large.
    #[arg(long, conflicts_with = "what")]
    pub(crate) prior: Option<String>,
}

/// A number of bytes, with K, M, G or T behind it for thousands, millions and so on.
fn memory(text: &str) -> Result<u64, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[number.len()..].to_ascii_uppercase().trim_end_matches('B') {
        "" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        _ => f64::NAN,
    };
    let bytes = number.parse().map_or(f64::NAN, |number: f64| number * unit);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in range
    match bytes {
        1.0..1e18 => Ok(bytes as u64),
        _ => Err("a size such as 500M or 8G expected".to_owned()),
    }
}

/// A number of threads.
fn threads(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| "a number from 1 on expected".to_owned())
}

/// How often to go through the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passes {
    /// Until nothing is gained.
    Auto,
    /// So often.
    Number(u64),
}

fn passes(text: &str) -> Result<Passes, String> {
    match text.parse() {
        _ if text == "auto" => Ok(Passes::Auto),
        Ok(number @ 1..) => Ok(Passes::Number(number)),
        _ => Err("use a whole number >= 1, or auto".to_owned()),
    }
}
