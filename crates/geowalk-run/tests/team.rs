//! Teams of walks and normalised rows as a user has them: through the loop, in any pieces, saved, resumed,
//! verified.

#![allow(clippy::unwrap_used, clippy::panic)] // test code

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use geowalk::laws::Sampler;
use geowalk::row::Block;
use geowalk_data::{Dictionary, Features, Input, Labels, Options, Schema, Task};
use geowalk_run::certify::Which;
use geowalk_run::holdout::Holdout;
use geowalk_run::input::Rows;
use geowalk_run::model::Model;
use geowalk_run::predict::{Wanted, predict, restore};
use geowalk_run::team;
use geowalk_run::train::{Plan, Session, Summary, train, verify};

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("team");
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

/// Rows of a table: two numbers of very different units, a name, and a label of the task.
fn table(task: Task, rows: usize) -> String {
    let mut random = Sampler::new(11);
    let mut text = String::from("width,mass,color,class\n");
    for k in 0..rows {
        let (a, b) = (random.normal(), 1e4 * random.normal());
        let color = ["red", "green", "blue"][random.below(3)];
        let score = a - 1e-4 * b + if color == "red" { 1.0 } else { 0.0 } + 0.3 * random.normal();
        let label = match task {
            Task::Regression => format!("{}", 100.0 + 50.0 * score),
            Task::Binary => if score > 0.0 { "yes" } else { "no" }.to_owned(),
            // The third class comes late.
            Task::Multiclass if k > 40 && score > 1.0 => "most".to_owned(),
            Task::Multiclass => if score > 0.0 { "some" } else { "none" }.to_owned(),
        };
        let mass = if k % 17 == 3 { String::new() } else { b.to_string() };
        writeln!(text, "{a},{mass},{color},{label}").unwrap();
    }
    text
}

fn plan(walk: &str, task: Task) -> Plan {
    Plan { walk: Some(walk.to_owned()), task: Some(task), threads: 1, ..Plan::default() }
}

fn run(plan: &Plan, text: &str, model: &Path) -> Summary {
    let open = || Options::new(vec![Input::text("rows.csv", text)]);
    train(plan, open, Some(model), None, &mut |_| {}).unwrap()
}

const TASKS: [Task; 3] = [Task::Binary, Task::Multiclass, Task::Regression];

#[test]
fn threads_and_pieces_leave_the_same_bits() {
    for task in TASKS {
        let text = table(task, 3000);
        let (one, two) = (file("one.gw"), file("two.gw"));
        run(&plan("auto", task), &text, &one);
        run(&Plan { threads: 4, ..plan("auto", task) }, &text, &two);
        assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap(), "{task:?}");
        // The rest another day.
        let cut = text.match_indices('\n').nth(1500).unwrap().0 + 1;
        let head = text.split_inclusive('\n').next().unwrap();
        run(&plan("auto", task), &text[..cut], &two);
        let resumed = Plan { resume: Some(two.clone()), ..Plan::default() };
        run(&resumed, &format!("{head}{}", &text[cut..]), &two);
        assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap(), "{task:?}");
        let model = Model::load(&one).unwrap();
        let found = verify(&model, || {
            Rows::from(Options::new(vec![Input::text("rows.csv", text.as_str())]))
        });
        let found = found.unwrap();
        assert!(found.mismatches.is_empty(), "{:?}", found.mismatches);
    }
}

#[test]
fn an_absurd_count_of_rows_ends_a_replay() {
    let text = table(Task::Binary, 60);
    let path = file("absurd.gw");
    run(&plan("gd", Task::Binary), &text, &path);
    let model = Model::load(&path).unwrap();
    for rows in [1e18, 61.0, 6e15] {
        let mut model = model.clone();
        let digest = model.arrays.iter_mut().find(|(name, _)| name == "data.digest").unwrap();
        digest.1[0] = rows;
        let found = verify(&model, || {
            Rows::from(Options::new(vec![Input::text("rows.csv", text.as_str())]))
        });
        let found = found.unwrap();
        assert_eq!((found.passes, found.mismatches[0].what.as_str()), (1, "rows of the data"));
    }
}

#[test]
fn the_team_owes_its_best_member_little() {
    for task in TASKS {
        let text = table(task, 2000);
        let summary = run(&plan("auto", task), &text, &file("owes.gw"));
        let total = summary.seen.loss * 2000.0;
        assert!(summary.members.len() >= 4);
        for member in &summary.members {
            assert!((total - member.loss - member.overhead).abs() < 1e-6 * (1.0 + total));
            assert!(member.overhead <= member.bound, "{task:?}: {member:?}");
        }
        let weights: f64 = summary.members.iter().map(|member| member.weight).sum();
        assert!((weights - 1.0).abs() < 1e-9);
        // What a member loses in the team it loses alone.
        for walk in ["adagrad", "gd(normalise=true)"] {
            let Some(member) = summary.members.iter().find(|member| member.walk == walk) else {
                continue;
            };
            let alone = run(&plan(walk, task), &text, &file("alone.gw"));
            assert!((alone.seen.loss * 2000.0 - member.loss).abs() < 1e-9 * member.loss, "{walk}");
        }
    }
}

#[test]
fn the_certificate_holds_for_given_weights() {
    let text = table(Task::Binary, 1500);
    let path = file("certified.gw");
    let summary = run(&plan("auto", Task::Binary), &text, &path);
    let report = summary.certificate.unwrap();
    assert!(report.comparators.contains("member '"), "{}", report.comparators);
    assert!((report.first_order.loss - summary.seen.loss * 1500.0).abs() < 1e-6);
    let model = Model::load(&path).unwrap();
    let data = || Rows::from(Options::new(vec![Input::text("rows.csv", text.as_str())]));
    let mut random = Sampler::new(3);
    for k in 0..20 {
        let n = 6;
        let scale = if k % 2 == 0 { 1.0 } else { 0.1 };
        let mut u: Vec<f64> = (0..n).map(|_| scale * random.normal()).collect();
        u[2] *= 1e-4;
        let mut open = data;
        let which = Which::Weights(vec![u]);
        let report = geowalk_run::certify::certify(&model, Some(&which), Some(&mut open)).unwrap();
        assert!(report.regret().unwrap() <= report.best().bound);
    }
}

#[test]
fn predictions_are_those_of_the_finished_team() {
    for task in TASKS {
        let text = table(task, 600);
        let path = file("predicts.gw");
        run(&plan("auto", task), &text, &path);
        let model = Model::load(&path).unwrap();
        let answer = |text: &str| {
            let mut out = Vec::new();
            let wanted = Wanted { proba: true, ..Wanted::default() };
            let options = Options::new(vec![Input::text("rows.csv", text)]);
            predict(&model, options, &wanted, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let all = answer(&text);
        let head = text.split_inclusive('\n').next().unwrap();
        let rows: Vec<&str> = text.split_inclusive('\n').skip(1).collect();
        let skip = usize::from(task != Task::Regression);
        for k in [0, 7, 599] {
            let one = answer(&format!("{head}{}", rows[k]));
            assert_eq!(one.lines().nth(skip), all.lines().nth(k + skip));
        }
        if task != Task::Regression {
            let line = all.lines().nth(3).unwrap();
            let sum: f64 = line.split(',').map(|p| p.parse::<f64>().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{line}");
        }
    }
}

#[test]
fn members_are_models_of_their_own() {
    let text = table(Task::Binary, 500);
    let path = file("members.gw");
    let summary = run(&plan("auto", Task::Binary), &text, &path);
    let model = Model::load(&path).unwrap();
    for k in 0..summary.members.len() {
        let member = team::member(&model, k).unwrap();
        let bytes = member.to_bytes().unwrap();
        let member = Model::from_bytes(&bytes).unwrap();
        let built = restore(&member).unwrap();
        let mut w = Vec::new();
        built.learner.weights(0, &mut w);
        assert!(w.iter().any(|w| *w != 0.0), "{}", member.settings.walk());
    }
    let error = team::member(&model, 99).unwrap_err().to_string();
    assert!(error.contains("--member = 100"), "{error}");
}

/// Labels, weights and features that are wrong, and a member that cannot go on.
#[test]
fn bad_rows_are_refused_and_bad_members_stop() {
    let train_on = |walk: &str, task, text: &str| {
        let mut options = Some(Options::new(vec![Input::text("rows.csv", text)]));
        let path = file("bad.gw");
        train(&plan(walk, task), || options.take().unwrap(), Some(&path), None, &mut |_| {})
    };
    let error = train_on("auto", Task::Binary, "a,class\n1,x\n2,y\n1e200,x\n").unwrap_err();
    let error = error.to_string();
    assert!(error.contains("1e200") && error.contains('4'), "{error}");
    for (walk, what) in [
        ("auto(members=\"free; auto\")", "no teams"),
        ("auto(members=\"\")", "members"),
        ("auto(members=\"fre\")", "unknown walk 'fre'"),
        ("gd(normalise=maybe)", "true or false"),
        ("free(normalise=true)", "normalised"),
    ] {
        let error = train_on(walk, Task::Binary, "a,class\n1,x\n2,y\n").unwrap_err().to_string();
        assert!(error.contains(what), "{walk}: {error}");
    }
    let rates = Plan { rate: "0.1".to_owned(), ..plan("auto", Task::Binary) };
    let mut options = Some(Options::new(vec![Input::text("rows.csv", "a,class\n1,x\n2,y\n")]));
    let error = train(&rates, || options.take().unwrap(), None, None, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("rates of its members"), "{error}");
    // Burg's entropy leaves its domain at a large rate.
    let text = table(Task::Binary, 200);
    let walk = "auto(members=\"adagrad; mirror:burg(rate=100)\")";
    let summary = train_on(walk, Task::Binary, &text).unwrap();
    assert!(summary.members[1].stopped.is_some(), "{:?}", summary.members);
    assert!(summary.notes.iter().any(|note| note.contains("stopped at row")));
    assert!(summary.members[0].overhead <= summary.members[0].bound);
}

/// The certificate of a walk on normalised rows, against weights of rows as they are; units do not matter.
#[test]
fn normalised_rows_are_certified_and_averaged() {
    let blocks = |unit: f64, random: &mut Sampler| {
        let mut block = Block::new();
        for t in 0..300 {
            let late = if t < 100 { 0.0 } else { random.normal() * f64::from(t) };
            let x = [random.normal() * (1.0 + f64::from(t) / 50.0), unit * late];
            let y = (x[0] - 0.01 * late).signum();
            block.push_dense(&x, y, 1.0).unwrap();
        }
        block
    };
    for walk in ["gd", "egu(signed=true)", "explicit:hyperbolic", "implicit:euclidean", "sphere"] {
        let mut predictions = Vec::new();
        for unit in [1.0, 1024.0] {
            let mut random = Sampler::new(6);
            let mut block = blocks(unit, &mut random);
            let names = Dictionary::from_names(["a", "b"]).unwrap();
            let schema = Schema::from_parts(Features::Exact(names), Labels::Numbers, vec![]);
            let plan = Plan { average: true, ..plan(walk, Task::Binary) };
            let mut session = Session::new(&plan, schema, &block).unwrap();
            assert!(session.settings().walk().contains("normalise=true"));
            let rows = block.clone();
            session.learn(&mut block).unwrap();
            let mut w = Vec::new();
            session.learner().weights(0, &mut w);
            predictions.push((session.summary().seen.loss, w[1], w[2] * unit));
            for _ in 0..20 {
                let u = vec![vec![random.normal(), random.normal(), random.normal() / unit]];
                let report = session.certify(&Which::Weights(u), Some(vec![rows.clone()])).unwrap();
                assert!(report.regret().unwrap() <= report.best().bound, "{walk}");
            }
        }
        let [a, b] = [predictions[0], predictions[1]];
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * (1.0 + a.abs());
        assert!(near(a.0, b.0) && near(a.1, b.1) && near(a.2, b.2), "{walk}: {a:?} {b:?}");
    }
}

/// What `train` writes as predictions.
fn predictions(plan: &Plan, text: &str) -> String {
    let mut out = Vec::new();
    let open = || Options::new(vec![Input::text("rows.csv", text)]);
    train(plan, open, None, Some(&mut out), &mut |_| {}).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn numbers_far_from_0_are_found_at_once() {
    let mut random = Sampler::new(2);
    let mut text = String::from("day,height,kind,y\n");
    for t in 0..300 {
        let (a, kind) = (random.normal(), ["x", "y"][random.below(2)]);
        let y = 736_000.0 + 20.0 * a + if kind == "x" { 5.0 } else { 0.0 } + random.normal();
        writeln!(text, "{},{a},{kind},{y}", 736_389 + t).unwrap();
    }
    let plan = Plan { task: Some(Task::Regression), threads: 1, ..Plan::default() };
    let summary = run(&plan, &text, &file("far.gw"));
    assert!(summary.walk.starts_with("auto("), "{}", summary.walk);
    // Nothing can be known of the first row. Labels have a deviation of about 20.
    let first: f64 = text.lines().nth(1).unwrap().rsplit(',').next().unwrap().parse().unwrap();
    let rest = summary.seen.loss * 300.0 - first * first;
    assert!(rest < 300.0 * 100.0, "{rest}");
    let adagrad = "adagrad(centre=true)";
    let member = summary.members.iter().find(|member| member.walk == adagrad).unwrap();
    let alone = run(&Plan { walk: Some(adagrad.to_owned()), ..plan }, &text, &file("alone.gw"));
    assert!((alone.seen.loss * 300.0 / member.loss - 1.0).abs() < 1e-12);
    // Its certificate is that of the weights as they are.
    let report = alone.certificate.unwrap();
    assert!(report.first_order.bound.is_finite());
}

#[test]
fn intervals_hold_the_part_that_is_wanted() {
    let text = table(Task::Regression, 3000);
    let plan =
        Plan { interval: Some(0.8), task: Some(Task::Regression), threads: 1, ..Plan::default() };
    let (one, two) = (file("interval.gw"), file("interval2.gw"));
    let summary = run(&plan, &text, &one);
    let coverage = summary.coverage.unwrap();
    assert!((coverage.found - 0.8).abs() < 0.02, "{coverage:?}");
    // Labels have a deviation of about 80, and noise of about 15 around what can be known.
    assert!(coverage.width < 100.0 && coverage.examples == 3000, "{coverage:?}");
    let plain = run(&Plan { interval: None, ..plan.clone() }, &text, &two);
    assert_eq!(plain.seen.loss, summary.seen.loss);
    let (head, rest) = (text.split_inclusive('\n').next().unwrap(), text.match_indices('\n'));
    let cut = rest.clone().nth(1100).unwrap().0 + 1;
    run(&plan, &text[..cut], &two);
    let resumed = Plan { resume: Some(two.clone()), ..Plan::default() };
    run(&resumed, &format!("{head}{}", &text[cut..]), &two);
    assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap());
    let model = Model::load(&one).unwrap();
    let mut out = Vec::new();
    let options = Options::new(vec![Input::text("rows.csv", text.as_str())]);
    predict(&model, options, &Wanted::default(), &mut out).unwrap();
    for lines in [String::from_utf8(out).unwrap(), predictions(&plan, &text)] {
        assert!(lines.starts_with("prediction,low,high\n"), "{}", &lines[..40]);
        for line in lines.lines().skip(1) {
            let three: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
            assert!(three[1] <= three[0] && three[0] <= three[2], "{line}");
        }
    }
    let wrong = Plan { interval: Some(0.8), ..Plan::default() };
    let open = || Options::new(vec![Input::text("rows.csv", table(Task::Binary, 50))]);
    let error = train(&wrong, open, None, None, &mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("--interval"), "{error}");
}

#[test]
fn late_labels_are_learned_from_later() {
    for task in TASKS {
        let text = table(task, 400);
        let walk = if task == Task::Regression { "adagrad" } else { "free" };
        let late = Plan { delay: 30, ..plan(walk, task) };
        let lines = predictions(&late, &text);
        let head = text.split_inclusive('\n').next().unwrap();
        let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        // Row 201 was predicted by a model of the first 170.
        let path = file("early.gw");
        run(&plan(walk, task), &text[..ends[170]], &path);
        let row = format!("{head}{}", &text[ends[200]..ends[201]]);
        let mut out = Vec::new();
        let options = Options::new(vec![Input::text("rows.csv", row)]);
        predict(&Model::load(&path).unwrap(), options, &Wanted::default(), &mut out).unwrap();
        assert_eq!(lines.lines().nth(200), std::str::from_utf8(&out).unwrap().lines().next());
        // Rows that wait are part of the model.
        let (one, two) = (file("late.gw"), file("late2.gw"));
        let summary = run(&late, &text, &one);
        assert!(summary.certificate.is_none());
        run(&late, &text[..ends[150]], &two);
        let resumed = Plan { resume: Some(two.clone()), ..Plan::default() };
        run(&resumed, &format!("{head}{}", &text[ends[150]..]), &two);
        assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap(), "{task:?}");
    }
}

#[test]
fn the_final_model_is_judged_by_earlier_rows() {
    // Labels come in stretches: each is easy after the last.
    let mut text = String::from("x,y\n");
    for t in 0..600 {
        writeln!(text, "{},{}", t % 7, if t / 100 % 2 == 0 { "up" } else { "down" }).unwrap();
    }
    let summary = run(&Plan { threads: 1, ..Plan::default() }, &text, &file("frozen.gw"));
    let frozen = summary.frozen.unwrap();
    let of =
        |metrics: &[(&str, f64)]| metrics.iter().find(|(name, _)| *name == "accuracy").unwrap().1;
    let (then, now) = (of(&summary.seen.metrics), of(&frozen.now.metrics));
    assert!(then > 0.7 && now < 0.6, "{then} {now}");
    assert!(frozen.loss_then < frozen.now.loss && frozen.now.examples >= 300);
}

#[test]
fn patience_keeps_the_model_of_the_best_pass() {
    // A few rows with labels that mean nothing: what is learned of the others is noise.
    let mut random = Sampler::new(8);
    let mut text = String::from("a,b,c,d,e,y\n");
    for _ in 0..60 {
        let x: Vec<String> = (0..5).map(|_| random.normal().to_string()).collect();
        writeln!(text, "{},{}", x.join(","), random.below(2)).unwrap();
    }
    let holdout = Some(Holdout::parse("3").unwrap());
    let (one, two) = (file("patient.gw"), file("passes.gw"));
    let plan = Plan { passes: 40, holdout, ..plan("free", Task::Binary) };
    let summary = run(&Plan { patience: Some(3), ..plan.clone() }, &text, &one);
    let passes = &summary.holdout_passes;
    let best = (0..passes.len()).min_by(|a, b| passes[*a].total_cmp(&passes[*b])).unwrap();
    assert!(passes.len() == best + 4 && passes.len() < 40, "{passes:?}");
    assert_eq!(summary.holdout.as_ref().unwrap().loss, passes[best]);
    assert!(summary.notes.iter().any(|note| note.contains("the model is that of pass")));
    run(&Plan { passes: best as u64 + 1, ..plan.clone() }, &text, &two);
    assert!(std::fs::read(&one).unwrap() == std::fs::read(&two).unwrap());
    let alone = Plan { patience: Some(3), holdout: None, ..plan };
    assert!(alone.check().unwrap_err().to_string().contains("--holdout"));
}
