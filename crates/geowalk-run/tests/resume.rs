//! Bit for bit: a run that was interrupted, split over files, read in small pieces or learned in small blocks leaves the same model file as
//! one that was not. Every walk, dense and sparse rows, importance weights, features and classes that come late.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation)] // test code

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use geowalk::loss::AnyLoss;
use geowalk::row::Block;
use geowalk_data::{Indexing, Input, Options, Task, open};
use geowalk_run::holdout::Holdout;
use geowalk_run::learner::Setting;
use geowalk_run::rate::Rate;
use geowalk_run::train::{Plan, train};
use geowalk_run::walks::{self, Request};

/// Numbers that look random and are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// In [-1, 1), with few digits.
    fn signed(&mut self) -> f64 {
        self.below(2000) as f64 / 1000.0 - 1.0
    }
}

/// A data set in pieces: what stands before every file, and the rows.
struct Data {
    name: &'static str,
    task: Task,
    indexing: Indexing,
    header: &'static str,
    rows: Vec<String>,
}

impl Data {
    fn new(
        name: &'static str,
        task: Task,
        header: &'static str,
        row: impl Fn(usize, &mut Random) -> String,
    ) -> Self {
        let mut random = Random(name.len() as u64 + 1);
        let rows = (0..160).map(|k| row(k, &mut random)).collect();
        Self { name, task, indexing: Indexing::Usual, header, rows }
    }

    /// The rows from `from` to `to`, as one input.
    fn input(&self, from: usize, to: usize) -> Input {
        Input::text(self.name, format!("{}{}", self.header, self.rows[from..to].concat()))
    }

    fn options(&self, inputs: Vec<Input>) -> Options {
        Options { indexing: self.indexing, index_base: Some(1), ..Options::new(inputs) }
    }

    fn whole(&self) -> usize {
        self.rows.len()
    }
}

/// The late features of sparse rows.
fn sparse(k: usize, random: &mut Random, put: &mut dyn FnMut(u64, f64)) {
    let most = if k < 80 { 12 } else { 40 };
    let mut index = 0;
    loop {
        index += 1 + random.below(6);
        if index > most {
            break;
        }
        put(index, (random.signed() * 100.0).round() / 50.0);
    }
}

fn svm(name: &'static str, task: Task, labels: fn(usize, &mut Random) -> f64) -> Data {
    Data::new(name, task, "", move |k, random| {
        let mut line = labels(k, random).to_string();
        let positive = name.starts_with("positive");
        sparse(k, random, &mut |index, x| {
            let x = if positive { x.abs() / 2.0 } else { x };
            write!(line, " {index}:{x}").unwrap();
        });
        line.push('\n');
        line
    })
}

fn two(k: usize, random: &mut Random) -> f64 {
    if k < 2 { k as f64 } else { random.below(2) as f64 }
}

/// Only ones to begin with.
fn late(k: usize, random: &mut Random) -> f64 {
    if k < 20 { 1.0 } else { random.below(2) as f64 }
}

/// The fourth class and the fifth come late.
fn many(k: usize, random: &mut Random) -> f64 {
    (random.below(3) + if k > 70 { random.below(3) } else { 0 }) as f64
}

/// Rows of so many columns, each with one of a few categories.
fn ones(name: &'static str, columns: u64) -> Data {
    Data::new(name, Task::Multiclass, "", move |k, random| {
        let mut line = many(k, random).to_string();
        for column in 0..columns {
            write!(line, " {}:1", 1 + 6 * column + random.below(if k < 90 { 4 } else { 6 }))
                .unwrap();
        }
        line.push('\n');
        line
    })
}

fn sets() -> Vec<Data> {
    let mixed =
        Data::new("mixed.csv", Task::Multiclass, "size,weight,color,class\n", |k, random| {
            let color = ["red", "green", "blue"][random.below(1 + k as u64 / 60) as usize];
            let class = ["a", "b", "c"][random.below(3) as usize];
            format!("{},{},{color},{class}\n", random.signed(), random.signed())
        });
    // Missing values turn dense rows into sparse ones; colors appear one after the other.
    let table = Data::new("a.csv", Task::Regression, "size,weight,color,y\n", |k, random| {
        let color =
            ["red", "green", "blue", "grey", "none"][random.below(1 + k as u64 / 32) as usize];
        let size = if random.below(9) == 0 { String::new() } else { random.signed().to_string() };
        format!("{size},{},{color},{}\n", random.signed(), random.signed() * 2.0)
    });
    let numbers = Data::new("b.csv", Task::Binary, "a,b,c,class\n", |k, random| {
        let class = if late(k, random) > 0.0 { "yes" } else { "no" };
        format!("{},{},{},{class}\n", random.signed(), random.signed(), random.signed())
    });
    let mut words = Data::new("c.vw", Task::Binary, "", |k, random| {
        let y = two(k, random) * 2.0 - 1.0;
        let importance = [0.0, 0.25, 1.0, 2.5, 7.0][random.below(5) as usize];
        let mut line = format!("{y} {importance} |f");
        sparse(k, random, &mut |index, x| write!(line, " w{index}:{x}").unwrap());
        line.push('\n');
        line
    });
    words.indexing = Indexing::Hashed(5);
    vec![
        table,
        numbers,
        words,
        svm("d.svm", Task::Binary, late),
        svm("e.svm", Task::Multiclass, many),
        svm("f.svm", Task::Regression, |_, random| random.signed()),
        svm("positive.svm", Task::Binary, two),
        svm("positive-many.svm", Task::Multiclass, many),
        ones("ones.svm", 2),
        ones("single.svm", 1),
        mixed,
    ]
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

/// Every walk, its aliases and its signed form, each with a rate.
fn specs() -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    for walk in walks::entries() {
        let rates: &[&str] = match walk.entry.name {
            "free:euclidean" | "winnow" | "reparam-winnow" | "auto" | "vaw" => &["auto"],
            name if name.starts_with("natural") => &["auto", "inv(1, 3)"],
            // One constant rate: the theorems go along.
            _ => &["auto", "power(0.02, 10, 0.5)", "0.02"],
        };
        let diagonal = (1..50).map(|k| (1.0 + f64::from(k) / 10.0).to_string());
        let diagonal = diagonal.collect::<Vec<_>>().join(", ");
        let own = match walk.entry.name {
            name if name.ends_with("winnow") => "(n=50)".to_owned(),
            "mirror:mahalanobis" => format!("(sigma=diag({diagonal}))"),
            _ => String::new(),
        };
        if walk.fixed_width {
            all.extend(rates.iter().map(|&rate| (sized(walk.entry.name), rate)));
            continue;
        }
        for &rate in rates {
            for name in walk.aliases.iter().chain([&walk.entry.name]) {
                all.push((format!("{name}{own}"), rate));
            }
            if walk.entry.parameters.contains("signed") {
                all.push((format!("{}(signed=true, scale=3)", walk.entry.name), rate));
            }
        }
    }
    all.push(("reparam-eg(lo=-2, hi=2)".to_owned(), "0.01"));
    all.push((
        "natural:mixed(gaussian-shared=0-1, rest=naive-bayes, ridge=0.01)".to_owned(),
        "auto",
    ));
    all.push(("natural:gaussian-shared(average=false, cap=1)".to_owned(), "auto"));
    all.push(("ols(q=1.2)".to_owned(), "inv(0.1, 5)"));
    all.push(("gd(normalise=false)".to_owned(), "auto"));
    all.push(("gd(normalise=true)".to_owned(), "0.1"));
    all.push(("auto(members=\"adagrad; gd; vaw\")".to_owned(), "auto"));
    all
}

/// The loss that goes with a walk and a task.
fn loss(walk: &str, task: Task) -> Option<String> {
    match task {
        // Bounded slopes for `free`, and ones that positive weights survive.
        Task::Regression if walk.starts_with("free") => Some("absolute".to_owned()),
        Task::Regression if walk.contains("vaw") => Some("squared".to_owned()),
        Task::Regression => Some("huber(delta=2)".to_owned()),
        Task::Binary | Task::Multiclass => None,
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("resume-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Trains and gives the bytes of the model.
fn bytes(plan: &Plan, options: Options, path: &Path) -> Vec<u8> {
    let mut options = Some(options);
    let trained = train(plan, || options.take().unwrap(), Some(path), None, &mut |_| {});
    trained.unwrap_or_else(|error| panic!("{plan:?}: {error}"));
    std::fs::read(path).unwrap()
}

fn plan(walk: &str, rate: &str, task: Task) -> Plan {
    Plan {
        walk: Some(walk.to_owned()),
        loss: loss(walk, task),
        rate: rate.to_owned(),
        task: Some(task),
        seed: 7,
        ..Plan::default()
    }
}

/// Winnow is for features in [0, 1], the perceptron for classes.
fn fits(walk: &str, data: &Data) -> bool {
    let own = ["ones", "single", "mixed"].into_iter().find(|own| data.name.starts_with(own));
    if walk.starts_with("natural") || walk == "dsngd" {
        // What `natural` chooses depends on the first block, and two of the baselines diverge.
        let family = match walk.split(['(', ':']).nth(1).unwrap_or_default() {
            "" if matches!(walk, "natural-sgd" | "natural-adagrad" | "natural-csngd") => "numbers",
            "naive-bayes" => "ones",
            "discrete" => "single",
            _ if walk.starts_with("natural:mixed(") => "mixed",
            "bernoulli" | "poisson" | "multinomial" | "exponential" => "positive",
            name if name.starts_with("gaussian") => "numbers",
            _ => return false,
        };
        let numbers = own.is_none() && !data.name.starts_with("positive");
        let fit = if family == "numbers" { numbers } else { data.name.starts_with(family) };
        return fit && data.task != Task::Regression;
    }
    if own.is_some() {
        return false;
    }
    let name = walk.split('(').next().unwrap_or(walk);
    if walks::entries().any(|walk| walk.fixed_width && walk.entry.name == name) {
        // Three columns of numbers and the intercept.
        return data.name == "b.csv";
    }
    if walk.contains("vaw") {
        return data.task == Task::Regression;
    }
    if walk.contains("winnow") {
        return data.name.starts_with("positive");
    }
    !data.name.starts_with("positive") && (data.task != Task::Regression || walk != "perceptron")
}

#[test]
fn interrupted_runs_leave_the_same_file() {
    let folder = folder("cuts");
    let (one, part) = (folder.join("one"), folder.join("part"));
    let mut random = Random(42);
    let mut compared = 0;
    for data in sets() {
        for (k, (walk, rate)) in specs().into_iter().enumerate() {
            if !fits(&walk, &data) {
                continue;
            }
            let plan = plan(&walk, rate, data.task);
            let whole = bytes(&plan, data.options(vec![data.input(0, data.whole())]), &one);
            // Two cuts, the first perhaps before both classes have been seen.
            let first = 1 + random.below(if k % 2 == 0 { 100 } else { 20 }) as usize;
            let second = first + 1 + random.below((data.whole() - first - 1) as u64) as usize;
            bytes(&plan, data.options(vec![data.input(0, first)]), &part);
            let resumed = Plan { resume: Some(part.clone()), ..Plan::default() };
            bytes(&resumed, data.options(vec![data.input(first, second)]), &part);
            let last = bytes(&resumed, data.options(vec![data.input(second, data.whole())]), &part);
            assert!(
                last == whole,
                "{walk}, rate {rate}, {}, cut at {first} and {second}",
                data.name
            );
            compared += 1;
        }
    }
    assert!(compared > 250, "only {compared} runs were compared");
}

/// The family that tables are given, and a covariance of low rank, which begins at the 257th feature.
#[test]
fn natural_gradient_survives_early_cuts() {
    let folder = folder("natural");
    let (one, part) = (folder.join("one"), folder.join("part"));
    let wide = Data::new("wide.svm", Task::Multiclass, "", |k, random| {
        let mut line = many(k, random).to_string();
        let first = if k < 60 { 8 } else { 13 };
        let mut index = 0;
        while index < 250 + if k < 60 { 0 } else { 150 } {
            index += 1 + random.below(first);
            write!(line, " {index}:{}", random.signed()).unwrap();
        }
        line.push('\n');
        line
    });
    let tables = sets().into_iter().filter(|data| ["b.csv", "mixed.csv"].contains(&data.name));
    let mut runs: Vec<(Data, &str)> = tables.map(|data| (data, "natural")).collect();
    runs.push((wide, "natural:gaussian-shared"));
    for (data, walk) in runs {
        let plan = plan(walk, "auto", data.task);
        let whole = bytes(&plan, data.options(vec![data.input(0, data.whole())]), &one);
        for cut in [1, 2, 7, 59, 61, 140] {
            bytes(&plan, data.options(vec![data.input(0, cut)]), &part);
            let resumed = Plan { resume: Some(part.clone()), ..Plan::default() };
            let last = bytes(&resumed, data.options(vec![data.input(cut, data.whole())]), &part);
            assert!(last == whole, "{walk}, {}, cut at {cut}", data.name);
        }
    }
}

/// A class that only kept rows have is charged what is left for classes that have not come.
#[test]
fn an_unseen_class_costs_its_share() {
    let mut text = String::from("x,class\n");
    for k in 0..40 {
        // Every tenth row is kept, and one of them is of a class that no other row has.
        let class = if k == 19 { "c" } else { ["a", "b"][k % 2] };
        writeln!(text, "{}.5,{class}", k % 7).unwrap();
    }
    for walk in ["natural", "free"] {
        let holdout = Some(Holdout::parse("10").unwrap());
        let plan = Plan { holdout, ..plan(walk, "auto", Task::Multiclass) };
        let mut options = Some(Options::new([Input::text("a.csv", text.clone())]));
        let run = train(&plan, || options.take().unwrap(), None, None, &mut |_| {}).unwrap();
        let held = run.holdout.unwrap();
        // Of 18 examples and three classes 1/21 is left.
        assert!(held.examples == 4 && held.loss < 3.5, "{walk}: {}", held.loss);
    }
}

/// Rows kept from learning, averaged weights, the last examples; a first class alone for a while, whichever it is and wherever the cut is.
#[test]
fn options_and_lone_classes_survive_interruptions() {
    let folder = folder("options");
    let (one, part) = (folder.join("one"), folder.join("part"));
    let mut random = Random(7);
    let alone = |first: &'static str, second: &'static str| {
        Data::new("g.csv", Task::Binary, "a,b,class\n", move |k, random| {
            let class = if k < 30 || random.below(2) == 0 { first } else { second };
            format!("{},{},{class}\n", random.signed(), random.signed())
        })
    };
    let mut sets = sets();
    sets.extend([alone("yes", "no"), alone("no", "yes"), alone("1", "2"), alone("-1", "-2")]);
    for data in sets {
        for (walk, holdout, average) in [
            ("gd", Some("3"), true),
            ("free", Some("0.3"), true),
            ("egu(signed=true)", None, true),
            ("adagrad", Some("2"), true),
            ("egu", Some("5"), false),
            ("sphere", Some("4"), false),
            ("eg+-", None, false),
        ] {
            let plan = Plan {
                holdout: holdout.map(|text| Holdout::parse(text).unwrap()),
                average,
                window: Some(25),
                ..plan(walk, "auto", data.task)
            };
            let whole = bytes(&plan, data.options(vec![data.input(0, data.whole())]), &one);
            for _ in 0..3 {
                let cut = 1 + random.below(60) as usize;
                bytes(&plan, data.options(vec![data.input(0, cut)]), &part);
                let resumed = Plan { resume: Some(part.clone()), ..Plan::default() };
                let rest = data.options(vec![data.input(cut, data.whole())]);
                let last = bytes(&resumed, rest, &part);
                assert!(last == whole, "{walk}, {}, {:?}, cut at {cut}", data.name, data.rows[0]);
            }
        }
    }
}

/// Declared ranges, certified rates, theorems whose premises break on the way: the certificate is the same to the bit wherever the cut is.
#[test]
fn certificates_of_declared_runs_survive_interruptions() {
    let folder = folder("declared");
    let (one, part) = (folder.join("one"), folder.join("part"));
    let mut random = Random(3);
    let positive = Data::new("p.csv", Task::Regression, "a,b,c,y\n", |k, random| {
        let x = |random: &mut Random| random.below(1000) as f64 / 1000.0;
        // One row is too long for what is declared.
        let a = if k == 90 { 1.5 } else { x(random) };
        format!("{a},{},{},{}\n", x(random), x(random), x(random))
    });
    let mut sets: Vec<Data> =
        sets().into_iter().filter(|data| data.task == Task::Regression).collect();
    sets.push(positive);
    let declared = geowalk_run::theorem::Declared {
        x_norm: Some(3.0),
        x_range: Some((0.0, 1.0)),
        ..Default::default()
    };
    let (mut valid, mut void, mut epochs) = (0, 0, 0);
    for data in &sets {
        for (walk, rate, y_range) in [
            ("gd", "doubling", None),
            ("implicit:euclidean", "doubling", None),
            ("eg", "doubling", None),
            ("eg+-", "doubling", None),
            ("reparam-egu", "doubling", Some((0.0, 1.0))),
            ("gd", "certified", None),
            ("gd", "0.2", None),
            ("eg", "certified", None),
            ("eg+-", "0.05", None),
            ("egu", "certified", Some((0.0, 1.0))),
            ("reparam-egu", "0.1", Some((0.0, 1.0))),
            ("reparam-eg", "certified", None),
            ("implicit:euclidean", "0.3", None),
            ("ols", "certified", None),
        ] {
            // Without what is declared a certified rate is one of several epochs.
            let (rate, declared) = match rate {
                "doubling" => ("certified", geowalk_run::theorem::Declared::default()),
                rate => (rate, declared),
            };
            let plan = Plan {
                loss: Some("squared".to_owned()),
                declared,
                y_range,
                ..plan(walk, rate, data.task)
            };
            let whole = bytes(&plan, data.options(vec![data.input(0, data.whole())]), &one);
            let model = geowalk_run::model::Model::from_bytes(&whole).unwrap();
            for theorem in model.summary["certificate"]["theorems"].as_array().unwrap() {
                valid += u32::from(theorem["status"] == "valid");
                void += u32::from(theorem["status"] == "void");
                epochs += u32::from(theorem["epochs"].as_u64() > Some(2));
            }
            for _ in 0..3 {
                let cut = 1 + random.below(data.whole() as u64 - 1) as usize;
                bytes(&plan, data.options(vec![data.input(0, cut)]), &part);
                let resumed = Plan { resume: Some(part.clone()), ..Plan::default() };
                let rest = data.options(vec![data.input(cut, data.whole())]);
                let last = bytes(&resumed, rest, &part);
                assert!(last == whole, "{walk}, rate {rate}, {}, cut at {cut}", data.name);
            }
        }
    }
    assert!(valid > 10 && void > 10, "{valid} valid, {void} void");
    assert!(epochs > 10, "{epochs} with more than two epochs");
}

#[test]
fn neither_files_nor_buffers_matter() {
    let folder = folder("split");
    let path = folder.join("model");
    let mut random = Random(1);
    for data in sets() {
        for walk in ["free", "gd", "sphere", "eg+-", "ols", "egu"] {
            let plan = plan(walk, "auto", data.task);
            let whole = bytes(&plan, data.options(vec![data.input(0, data.whole())]), &path);
            let mut cuts: Vec<usize> =
                (0..3).map(|_| random.below(data.whole() as u64 - 1) as usize + 1).collect();
            cuts.extend([0, data.whole()]);
            cuts.sort_unstable();
            cuts.dedup();
            let inputs = cuts.windows(2).map(|cut| data.input(cut[0], cut[1])).collect();
            let buffer = 64 + random.below(500) as usize;
            let split = Options { buffer, ..data.options(inputs) };
            assert!(
                bytes(&plan, split, &path) == whole,
                "{walk}, {}, {cuts:?}, {buffer}",
                data.name
            );
        }
    }
}

/// All that a learner holds after the rows of the data, read so many at a time and learned from so many at a time.
fn state(
    data: &Data,
    walk: &str,
    rate: &str,
    read: usize,
    learn: usize,
) -> Vec<(String, Vec<u64>)> {
    let spec = loss(walk, data.task).unwrap_or_else(|| walks::usual_loss(data.task).to_owned());
    let setting = Setting::new(AnyLoss::parse(&spec).unwrap(), Rate::parse(rate).unwrap());
    let request = Request::new(data.task, Setting { intercept: true, ..setting }, 7);
    let mut learner = walks::build(walk, request).unwrap().learner;
    let mut source = open(data.options(vec![data.input(0, data.whole())])).unwrap();
    let (mut block, mut out) = (Block::new(), Vec::new());
    while source.read(&mut block, read).unwrap() > 0 {
        if data.task == Task::Binary {
            block.labels_mut().iter_mut().for_each(|y| *y = if *y > 0.0 { 1.0 } else { -1.0 });
        }
        let mut from = 0;
        while from < block.len() {
            let to = block.len().min(from + learn);
            learner.learn(&block, from..to, &mut out).unwrap();
            from = to;
        }
    }
    let mut saved = Vec::new();
    learner.save(&mut |name, values| {
        saved.push((name, values.iter().map(|value| value.to_bits()).collect()));
    });
    let losses = out.iter().map(|outcome| outcome.loss.to_bits()).collect();
    saved.push(("losses".to_owned(), losses));
    saved
}

#[test]
fn blocks_of_any_size_are_learned_alike() {
    for data in sets() {
        for (walk, rate) in specs() {
            if !fits(&walk, &data) {
                continue;
            }
            let whole = state(&data, &walk, rate, 1000, 1000);
            for (read, learn) in [(1, 1), (7, 3), (64, 1000)] {
                let pieces = state(&data, &walk, rate, read, learn);
                assert!(pieces == whole, "{walk}, rate {rate}, {}, {read}, {learn}", data.name);
            }
        }
    }
}

#[test]
fn for_a_bettor_a_weight_of_three_is_three_examples() {
    let row = |k: usize, weight: f64| {
        format!("{} {weight} |f a:{k} b\n", if k.is_multiple_of(2) { 1 } else { -1 })
    };
    for task in [Task::Binary, Task::Multiclass] {
        let mut once = Data::new("w.vw", task, "", |k, _| row(k, 3.0));
        let mut thrice = Data::new("w.vw", task, "", |k, _| row(k, 1.0).repeat(3));
        for data in [&mut once, &mut thrice] {
            data.indexing = Indexing::Exact;
            if task == Task::Multiclass {
                data.rows.iter_mut().for_each(|row| *row = row.replace("-1 ", "0 "));
            }
        }
        let (mut once, mut thrice) =
            (state(&once, "free", "auto", 64, 64), state(&thrice, "free", "auto", 64, 64));
        // The losses are those of the first predictions.
        let (heavy, light) = (once.pop().unwrap().1, thrice.pop().unwrap().1);
        assert!(once == thrice);
        for (heavy, light) in heavy.into_iter().zip(light.into_iter().step_by(3)) {
            assert_eq!(f64::from_bits(heavy), 3.0 * f64::from_bits(light));
        }
    }
}
