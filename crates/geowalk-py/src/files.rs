//! # Files
//! The readers of the command line as arrays, model files as learners, and the command itself.

use std::path::Path;

use geowalk::loss::AnyLoss;
use geowalk::row::{Block, Row};
use geowalk_data::{Features, Label, Labels, Options, open};
use geowalk_run::link::probability;
use geowalk_run::merge::{Part, merge};
use geowalk_run::model::Model;
use geowalk_run::pump::ROWS;
use geowalk_run::{error::RunError, walks};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::error::{model, run};
use crate::fork::divided;

/// Reads data as the command line does. A dictionary: `y` and `weight` of each row; `labels`, the names of classes or None; `names` of the features, None where they are
/// numbers; and `x`, a table, or `indptr`, `indices`, `data` and `columns` of a sparse one.
#[pyfunction]
#[pyo3(signature = (
    paths, label=None, format=None, header=true, unlabelled=false, nominal=None, text=None, missing=None, decimal='.',
    thousands=None, separator=None, skip_lines=0
))]
#[allow(clippy::too_many_arguments)] // the options of the command line
pub(crate) fn read(
    py: Python<'_>,
    paths: Vec<String>,
    label: Option<String>,
    format: Option<String>,
    header: bool,
    unlabelled: bool,
    nominal: Option<Vec<String>>,
    text: Option<Vec<String>>,
    missing: Option<Vec<String>>,
    decimal: char,
    thousands: Option<char>,
    separator: Option<char>,
    skip_lines: usize,
) -> PyResult<Bound<'_, PyDict>> {
    let options = Options {
        nominal: nominal.unwrap_or_default(),
        text: text.unwrap_or_default(),
        label: label.map_or(Label::Guess, Label::Named),
        format,
        header,
        unlabelled,
        missing: missing.unwrap_or_default(),
        decimal,
        thousands,
        separator,
        skip_lines,
        ..Options::new(paths.iter().map(String::as_str))
    };
    let mut all = Read::default();
    let mut source = py.detach(|| open(options)).map_err(|error| run(error.into()))?;
    let mut block = Block::new();
    while py.detach(|| source.read(&mut block, ROWS)).map_err(|error| run(error.into()))? > 0 {
        all.take(&block);
        py.check_signals()?;
    }
    let schema = source.schema();
    let names: Option<Vec<String>> = match schema.features() {
        Features::Exact(names) => Some(names.names().map(str::to_owned).collect()),
        Features::Hashed(_) | Features::Index(_) => None,
    };
    let columns = match schema.features() {
        Features::Exact(names) => names.len(),
        Features::Hashed(hashed) => 1 << hashed.bits(),
        Features::Index(_) => all.bound,
    };
    let labels: Option<Vec<String>> = match schema.labels() {
        Labels::Names(names) => Some(names.names().map(str::to_owned).collect()),
        Labels::Numbers => None,
    };
    let out = PyDict::new(py);
    out.set_item("y", PyArray1::from_vec(py, std::mem::take(&mut all.y)))?;
    out.set_item("weight", PyArray1::from_vec(py, std::mem::take(&mut all.weight)))?;
    out.set_item("labels", labels)?;
    out.set_item("names", names)?;
    if let Some(width) = all.dense {
        let rows = all.values.len().checked_div(width).unwrap_or(0);
        out.set_item("x", PyArray1::from_vec(py, all.values).reshape([rows, width])?)?;
    } else {
        out.set_item("indptr", PyArray1::from_vec(py, all.ends))?;
        out.set_item("indices", PyArray1::from_vec(py, all.indices))?;
        out.set_item("data", PyArray1::from_vec(py, all.values))?;
        out.set_item("columns", columns)?;
    }
    Ok(out)
}

/// All rows of a source.
#[derive(Default)]
struct Read {
    y: Vec<f64>,
    weight: Vec<f64>,
    values: Vec<f64>,
    indices: Vec<u32>,
    ends: Vec<i64>,
    bound: usize,
    /// The width, while all rows are dense.
    dense: Option<usize>,
}

impl Read {
    fn take(&mut self, block: &Block) {
        if self.y.is_empty() {
            self.dense = block.columns();
            self.ends.push(0);
        }
        if self.dense.is_some() && block.columns().is_none() {
            self.spread();
        }
        self.y.extend_from_slice(block.labels());
        self.weight.extend_from_slice(block.weights());
        self.bound = self.bound.max(block.bound());
        for i in 0..block.len() {
            if self.dense.is_some() {
                self.values.extend_from_slice(block.dense(i).0);
                continue;
            }
            let Self { indices, values, ends, .. } = self;
            let mut each = |index: usize, value: f64| {
                if value != 0.0 {
                    indices.push(u32::try_from(index).unwrap_or(u32::MAX));
                    values.push(value);
                }
            };
            if block.columns().is_some() {
                block.dense(i).each(&mut each);
            } else {
                block.sparse(i).each(&mut each);
            }
            ends.push(i64::try_from(values.len()).unwrap_or(i64::MAX));
        }
    }

    /// The first missing value of a table makes sparse rows of all.
    fn spread(&mut self) {
        let width = self.dense.take().unwrap_or(0).max(1);
        let values = std::mem::take(&mut self.values);
        for row in values.chunks_exact(width) {
            for (index, value) in (0..).zip(row).filter(|(_, value)| **value != 0.0) {
                self.indices.push(index);
                self.values.push(*value);
            }
            self.ends.push(i64::try_from(self.values.len()).unwrap_or(i64::MAX));
        }
    }
}

/// Writes a model file, with the class and the parameters of its estimator.
pub(crate) fn save(mut own: Model, path: &Path, estimator: Option<String>) -> PyResult<()> {
    own.settings.estimator = estimator.or(own.settings.estimator);
    own.save(path).map_err(|error| model(&error))
}

/// Kind and bytes of a model file, and the estimator that wrote it.
type Loaded<'py> = (&'static str, Bound<'py, PyBytes>, Option<String>);

/// The kind of a model file, `walk`, `natural`, `boost`, `tree`, `experts` or `track`; its bytes; and what the estimator
/// that wrote it said of itself, if one did.
#[pyfunction]
pub(crate) fn load_bytes(py: Python<'_>, path: std::path::PathBuf) -> PyResult<Loaded<'_>> {
    let own = Model::load(&path).map_err(|error| model(&error))?;
    let kind = own.settings.learner.kind();
    let bytes = own.to_bytes().map_err(|error| run(RunError::from(error)))?;
    let estimator = own.settings.estimator;
    Ok((kind, PyBytes::new(py, &bytes), estimator))
}

/// Merges models, each given by its name and the bytes of its file.
#[pyfunction]
#[pyo3(signature = (models, weights=None, since=None))]
#[allow(clippy::needless_pass_by_value)] // pyo3 hands over values
pub(crate) fn merge_bytes(
    py: Python<'_>,
    models: Vec<(String, Vec<u8>)>,
    weights: Option<Vec<f64>>,
    since: Option<Vec<u8>>,
) -> PyResult<Bound<'_, PyBytes>> {
    let merged = py.detach(|| {
        let read = |bytes: &[u8]| Model::from_bytes(bytes).map_err(RunError::from);
        let mut parts = Vec::new();
        for (name, bytes) in &models {
            parts.push((name.as_str(), read(bytes)?));
        }
        let base = since.as_deref().map(read).transpose()?;
        let parts: Vec<Part<'_>> = parts
            .iter()
            .enumerate()
            .map(|(k, (name, model))| {
                let weight = weights.as_ref().and_then(|weights| weights.get(k).copied());
                Part { name, model, weight }
            })
            .collect();
        let since = base.as_ref().map(|model| Part { name: "since", model, weight: None });
        merge(&parts, since)?.to_bytes().map_err(RunError::from)
    });
    Ok(PyBytes::new(py, &merged.map_err(run)?))
}

/// Does a loss estimate probabilities? True for a name that is no loss, which is an error of its own.
#[pyfunction]
pub(crate) fn probabilistic(loss: &str) -> bool {
    AnyLoss::parse(loss).map_or(true, |loss| probability(&loss, 0.0).is_some())
}

/// Name, other names, parameters, summary and source of every walk.
#[pyfunction]
pub(crate) fn walk_list()
-> Vec<(&'static str, Vec<&'static str>, &'static str, &'static str, &'static str)> {
    walks::entries()
        .map(|walk| {
            let entry = walk.entry;
            (entry.name, walk.aliases.to_vec(), entry.parameters, entry.summary, entry.source)
        })
        .collect()
}

/// The command `geowalk` with these arguments, the first being its name; gives the exit code.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<String>) -> u8 {
    py.detach(|| divided(|| geowalk_cli::run(arguments)))
}
