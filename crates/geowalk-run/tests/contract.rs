//! What a change of the code must not change: the bits that every walk learns, and the model files of version 1.
//!
//! `contract/bits.csv` has a line for each row of the table of walks: its weights and the bounds of its certificate,
//! as hashes of all bits. `contract/models` has a model of each kind, `contract/predictions.csv` what each predicts.
//! Lines may be added (`GEOWALK_CONTRACT=add` writes those that are missing). A line that is there is never edited:
//! a run that differs from it has changed what users get.

#![allow(clippy::unwrap_used, clippy::panic)] // test code

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use geowalk_data::{Input, Options, Task};
use geowalk_run::experts::{self, file as experts_file};
use geowalk_run::model::{LearnerSettings, Model};
use geowalk_run::predict::{Wanted, predict, restore};
use geowalk_run::track::{self, Tracker};
use geowalk_run::train::{Plan, train};
use geowalk_run::walks;
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contract")
}

/// Are lines that are missing to be written?
fn adding() -> bool {
    std::env::var("GEOWALK_CONTRACT").is_ok_and(|text| text == "add")
}

/// FNV-1a of some numbers, by their bits.
fn hash(values: impl IntoIterator<Item = f64>) -> u64 {
    values
        .into_iter()
        .flat_map(|value| value.to_bits().to_le_bytes())
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// The lines of a kept file, by what stands before the last comma.
struct Kept {
    path: PathBuf,
    lines: BTreeMap<String, String>,
    missing: Vec<String>,
}

impl Kept {
    fn open(name: &str) -> Self {
        let path = folder().join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let split = |line: &str| {
            let (key, value) = line.rsplit_once(',').unwrap();
            (key.to_owned(), value.to_owned())
        };
        Self { path, lines: text.lines().map(split).collect(), missing: Vec::new() }
    }

    fn check(&mut self, key: &str, value: &str) {
        assert!(!key.contains('\n') && !value.contains(','));
        match self.lines.get(key) {
            Some(kept) => assert_eq!(value, kept, "{key} is not what it was"),
            None => self.missing.push(format!("{key},{value}")),
        }
    }

    fn finish(self) {
        if adding() {
            let mut text = std::fs::read_to_string(&self.path).unwrap_or_default();
            self.missing.iter().for_each(|line| writeln!(text, "{line}").unwrap());
            std::fs::write(&self.path, text).unwrap();
        } else {
            let path = self.path.display();
            assert!(self.missing.is_empty(), "not in {path}:\n{}", self.missing.join("\n"));
        }
    }
}

/// Numbers that look random and are the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// In [-1, 1), with few digits.
    fn signed(&mut self) -> f64 {
        self.below(2000) as f64 / 1000.0 - 1.0
    }
}

/// 200 rows in LIBSVM format whose later half has more features; see [`stream`] for the names.
fn rows(name: &str) -> String {
    let mut random = Random(5);
    let mut text = String::new();
    if name == "table" {
        text.push_str("a,b,c,y\n");
        for _ in 0..200 {
            let [a, b, c, y] = [(); 4].map(|()| random.signed());
            writeln!(text, "{a},{b},{c},{y}").unwrap();
        }
        return text;
    }
    for k in 0..200 {
        let label = match name {
            "numbers" => random.signed(),
            "positive" if k < 2 => f64::from(k),
            "positive" => random.below(2) as f64,
            _ => random.below(3) as f64,
        };
        write!(text, "{label}").unwrap();
        if let "ones" | "single" = name {
            for column in 0..if name == "ones" { 2 } else { 1 } {
                write!(text, " {}:1", 1 + 6 * column + random.below(6)).unwrap();
            }
        } else {
            let mut index = 0;
            loop {
                index += 1 + random.below(6);
                if index > if k < 100 { 12 } else { 40 } {
                    break;
                }
                let x = random.signed();
                let x = if name.starts_with("positive") { x.abs() } else { x };
                write!(text, " {index}:{x}").unwrap();
            }
        }
        text.push('\n');
    }
    text
}

/// A walk of fixed width with the arguments that four weights need.
fn sized(name: &str) -> String {
    let geometry = name.split(':').nth(1).unwrap_or(name);
    let arguments = match geometry {
        "spd" | "spd-log-euclidean" | "spd-bures-wasserstein" | "rotations" | "torus" => "n=2",
        "oblique" => "rows=2, columns=2",
        "product" => "sphere(n=2), euclidean(n=2)",
        "mahalanobis" => "n=4, sigma=2 0 0 0; 0 3 1 0; 0 1 2 0; 0 0 0 1",
        _ => "n=4",
    };
    format!("{name}({arguments})")
}

/// The rows that a walk learns from, the task, and the walk as it is asked for.
fn stream(walk: &walks::Named) -> (&'static str, Task, String) {
    let name = walk.entry.name;
    if walk.fixed_width {
        return ("table", Task::Regression, sized(name));
    }
    let diagonal = (1..50).map(|k| (1.0 + f64::from(k) / 10.0).to_string());
    let spec = match name {
        "winnow" | "reparam-winnow" => format!("{name}(n=50)"),
        "mirror:mahalanobis" => {
            format!("{name}(sigma=diag({}))", diagonal.collect::<Vec<_>>().join(", "))
        }
        "natural:mixed" => "natural:mixed(bernoulli=0-3, rest=poisson)".to_owned(),
        _ => name.to_owned(),
    };
    let (rows, task) = match name {
        "winnow" | "reparam-winnow" => ("positive", Task::Binary),
        "natural:discrete" => ("single", Task::Multiclass),
        "natural:naive-bayes" => ("ones", Task::Multiclass),
        "natural:bernoulli"
        | "natural:poisson"
        | "natural:multinomial"
        | "natural:mixed"
        | "natural:exponential"
        | "natural-sngd"
        | "natural-mirror" => ("positive-classes", Task::Multiclass),
        name if name.starts_with("natural") => ("classes", Task::Multiclass),
        _ => ("numbers", Task::Regression),
    };
    (rows, task, spec)
}

/// The walk on rows as they are: at a self-tuned rate they would be normalised.
fn raw(spec: &str) -> String {
    let name = spec.split('(').next().unwrap();
    let own = ["free:", "explicit:adaptive", "natural", "mirror:mahalanobis", "vaw", "auto"];
    if own.iter().any(|own| name.starts_with(own)) || name.ends_with("winnow") {
        return spec.to_owned();
    }
    match spec.strip_suffix(')') {
        Some(open) => format!("{open}, normalise=false)"),
        None => format!("{spec}(normalise=false)"),
    }
}

fn options(name: &str, text: String) -> Options {
    Options { index_base: Some(1), ..Options::new(vec![Input::text(name, text)]) }
}

/// Every bound that a certificate states, in the order of the text.
fn bounds(value: &Value, out: &mut Vec<f64>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value.as_f64() {
                    Some(bound) if key == "bound" => out.push(bound),
                    _ => bounds(value, out),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| bounds(value, out)),
        _ => {}
    }
}

fn weights(model: &Model) -> Vec<f64> {
    let learner = restore(model).unwrap().learner;
    let (mut all, mut w) = (Vec::new(), Vec::new());
    for k in 0..learner.outputs() {
        learner.weights(k, &mut w);
        all.extend(&w);
    }
    all
}

#[test]
fn every_walk_learns_the_same_bits() {
    let mut kept = Kept::open("bits.csv");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contract.gw");
    for walk in walks::entries() {
        let (data, task, spec) = stream(walk);
        let signed = walk.entry.parameters.contains("signed");
        let signed = signed.then(|| format!("{spec}(signed=true, scale=2)"));
        for spec in [spec].into_iter().chain(signed) {
            for rate in ["auto", "0.02"] {
                let plan = Plan {
                    walk: Some(raw(&spec)),
                    loss: (task == Task::Regression).then(|| "huber(delta=2)".to_owned()),
                    rate: rate.to_owned(),
                    task: Some(task),
                    seed: 7,
                    ..Plan::default()
                };
                let file = if data == "table" { "rows.csv" } else { "rows.svm" };
                let mut input = Some(options(file, rows(data)));
                let run = train(&plan, || input.take().unwrap(), Some(&path), None, &mut |_| {});
                let (mut learned, mut stated) = ("refused".to_owned(), Vec::new());
                // Two of the baselines diverge, and do so alike.
                if run.is_ok() {
                    let model = Model::load(&path).unwrap();
                    learned = format!("{:016x}", hash(weights(&model)));
                    bounds(&model.summary["certificate"], &mut stated);
                }
                let key = format!("{},{data},{rate}", spec.split("(sigma").next().unwrap());
                kept.check(&format!("{key},weights"), &learned);
                kept.check(&format!("{key},bounds"), &format!("{:016x}", hash(stated)));
            }
        }
    }
    kept.finish();
}

/// What a model of any kind predicts, as numbers.
fn answers(name: &str, model: &Model) -> Vec<f64> {
    let numbers = |text: &str| -> Vec<f64> {
        text.split([',', '\n']).filter_map(|field| field.parse().ok()).collect()
    };
    match model.settings.learner {
        LearnerSettings::Experts(_) => {
            return experts_file::load(model).unwrap().1.weights().to_vec();
        }
        LearnerSettings::Track(_) => return Tracker::of(model).unwrap().1.vector(),
        _ => {}
    }
    let file = if model.settings.task == Task::Multiclass { "classes.csv" } else { "rows.csv" };
    let data = || Options::new(vec![Input::from(folder().join(file).to_str().unwrap())]);
    let mut out = Vec::new();
    let wanted = Wanted { proba: true, ..Wanted::default() };
    predict(model, data(), &wanted, &mut out).unwrap();
    let mut values = numbers(std::str::from_utf8(&out).unwrap());
    assert!(values.len() >= 30, "{name}: {values:?}");
    if !matches!(name, "boost" | "tree") {
        // The run goes on from the file.
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("contract-resumed.gw");
        let resume = Some(folder().join("models").join(format!("{name}.gw")));
        let plan = Plan { resume, ..Plan::default() };
        let mut input = Some(data());
        train(&plan, || input.take().unwrap(), Some(&path), None, &mut |_| {}).unwrap();
        values.extend(weights(&Model::load(&path).unwrap()));
    }
    values
}

/// A game of experts and a null vector have no command that writes a model.
fn write_others(folder: &Path) {
    let text = std::fs::read_to_string(folder.join("experts.csv")).unwrap();
    let rows: Vec<Vec<f64>> = text
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|field| field.parse().unwrap()).collect())
        .collect();
    let plan = experts::Plan { walk: Some("hedge".to_owned()), ..experts::Plan::default() };
    let settings = experts::settings(&plan, experts_file::kind(&plan).unwrap()).unwrap();
    let mut game = geowalk::experts::Experts::new(3, settings).unwrap();
    let plan_of_track = track::Plan::default();
    let mut tracker = Tracker::new(&plan_of_track).unwrap();
    let names = geowalk_data::Dictionary::from_names(["alice", "bob", "carol"]).unwrap();
    for row in &rows {
        game.learn(row, f64::NAN).unwrap();
        tracker.row(geowalk::row::Dense(row), Some(row)).unwrap();
    }
    tracker.learn().unwrap();
    let models = folder.join("models");
    experts_file::model(&plan, &[], &game, Value::Null).save(&models.join("experts.gw")).unwrap();
    tracker.model(&plan_of_track, names).save(&models.join("track.gw")).unwrap();
}

#[test]
fn models_of_version_1_predict_the_same() {
    let folder = folder();
    if !folder.join("models/track.gw").exists() {
        assert!(adding(), "contract/models/track.gw is missing");
        write_others(&folder);
    }
    let mut kept = Kept::open("predictions.csv");
    let mut files: Vec<_> = std::fs::read_dir(folder.join("models"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() >= 35, "{files:?}");
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let model = Model::load(&file).unwrap();
        kept.check(&name, &format!("{:016x}", hash(answers(&name, &model))));
    }
    kept.finish();
}
