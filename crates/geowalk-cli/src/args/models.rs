//! Arguments of the commands on models: predict, evaluate, compare, merge, show.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::{Data, How, What, range, threads};

#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools)] // four flags that have nothing to do with each other
pub(crate) struct Predict {
    /// The model.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: Data,
    /// Probabilities of all classes, with a header of class names.
    #[arg(long)]
    pub(crate) proba: bool,
    /// Column of the data to write before the prediction (repeatable); the output then has a header.
    #[arg(long, value_name = "COL", conflicts_with = "keep")]
    pub(crate) id: Vec<String>,
    /// Write all columns of the data before the prediction; the output then has a header.
    #[arg(long)]
    pub(crate) keep: bool,
    /// Add a column that says in one sentence why, or why a row has no prediction.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Refuse data with columns that the model does not know, or without columns that it does not use.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Write here instead of to standard output. Rows that come through a pipe are answered as they come.
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Threads; otherwise 2 if there are two cores. The result is the same.
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Evaluate {
    /// The model.
    pub(crate) model: PathBuf,
    #[command(flatten)]
    pub(crate) data: Data,
    /// The result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Compare {
    /// A model file, or a walk with loss= and rate= behind it if they are not the usual ones: 'gd rate=0.1'.
    pub(crate) a: String,
    /// The other one.
    pub(crate) b: String,
    /// Files to read, or patterns (repeatable).
    #[arg(long, required = true, value_name = "DATA")]
    pub(crate) data: Vec<String>,
    #[command(flatten)]
    pub(crate) how: How,
    /// What walks learn; otherwise told by the labels.
    #[arg(long, value_enum)]
    pub(crate) task: Option<What>,
    /// Range of numbers to predict: errors are parts of it.
    #[arg(long, value_name = "LO,HI", value_parser = range, allow_hyphen_values = true)]
    pub(crate) y_range: Option<(f64, f64)>,
    /// Seed of walks that begin at random.
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// The result as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Merge {
    /// The models, all of one walk, loss and set of columns.
    #[arg(required = true, value_name = "MODEL")]
    pub(crate) models: Vec<PathBuf>,
    /// Write the merged model here.
    #[arg(long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// What the weights of each model count [default: the rows that it learned from]
    #[arg(long, value_name = "W,W,...", value_delimiter = ',')]
    pub(crate) weights: Vec<f64>,
    /// The model that all of them were resumed from: its rows count once.
    #[arg(long, value_name = "MODEL")]
    pub(crate) since: Option<PathBuf>,
    /// Replace a file that is not a geowalk model.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Show {
    /// The model.
    pub(crate) model: PathBuf,
    /// Show one member of a team by itself, counted from 1.
    #[arg(long, value_name = "K")]
    pub(crate) member: Option<usize>,
    /// With --member: write it to a model file.
    #[arg(long, value_name = "MODEL", requires = "member")]
    pub(crate) export: Option<PathBuf>,
    /// How many of the largest weights to print, per class.
    #[arg(long, default_value_t = 10)]
    pub(crate) top: usize,
    /// One JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// What is learned, and nothing else, in this form.
    #[arg(long, value_enum, conflicts_with = "json")]
    pub(crate) format: Option<Format>,
    /// Table that the query of --format sql reads; SCHEMA.TABLE is allowed [default: data]
    #[arg(long, value_name = "NAME")]
    pub(crate) table: Option<String>,
    /// Database that the query of --format sql is for: sqlite, duckdb, postgres, mysql or bigquery [default: sqlite]
    #[arg(long, value_name = "DATABASE")]
    pub(crate) dialect: Option<String>,
}

/// A form in which rules and trees can be taken elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// A query for a database.
    Sql,
    /// For programs.
    Json,
    /// A drawing for Graphviz.
    Dot,
}
