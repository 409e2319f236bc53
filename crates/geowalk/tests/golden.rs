//! Golden values: the results of the crate against multiple-precision arithmetic.
//!
//! `golden/make_golden.py` writes the files in `golden/` and documents how. Every case has a tolerance and the reason
//! for it. Each test prints one line per object and one for the file (`cargo test --test golden -- --nocapture`).

use std::collections::BTreeMap;
use std::fmt::Display;

use geowalk::certify::{AdaHedge, Bound, Certificate, Comparator, Divergence, Ledger, Start};
use geowalk::geometry::Event;
use geowalk::geometry::generators::AnyGenerator;
use geowalk::geometry::manifolds::AnyManifold;
use geowalk::geometry::{ExpLog, Generator, Manifold, Work};
use geowalk::loss::permissible::{AnyPermissible, Permissible};
use geowalk::loss::{Absolute, AnyLoss, Loss};
use geowalk::row::Dense;
use geowalk::update::Round;
use geowalk::walk::{Entropy, SimplexEntropy, Walk};
use serde_json::Value;

/// One case of a file. Numbers are stored as text, because some JSON readers lose the last bit of a number.
struct Case<'a>(&'a Value);

impl Case<'_> {
    fn text(&self, key: &str) -> &str {
        self.0[key].as_str().expect(key)
    }

    fn number(&self, key: &str) -> f64 {
        parse(&self.0[key])
    }

    /// A list of numbers; a single number becomes a list of one, an absent key an empty list.
    fn vector(&self, key: &str) -> Vec<f64> {
        match &self.0[key] {
            Value::Null => Vec::new(),
            Value::Array(values) => values.iter().map(parse).collect(),
            value => vec![parse(value)],
        }
    }

    fn n(&self) -> usize {
        usize::try_from(self.0["n"].as_u64().expect("n is a whole number")).expect("n is small")
    }
}

fn parse(value: &Value) -> f64 {
    value.as_str().and_then(|text| text.parse().ok()).expect("a number as text")
}

/// The relative error: relative to the largest coordinate, or coordinate by coordinate. Below the smallest normal
/// number it is absolute, in units of that number. A NaN is an infinite error.
fn relative_error(found: &[f64], expected: &[f64], compare: &str) -> f64 {
    if found.len() != expected.len() {
        return f64::INFINITY;
    }
    // Coordinates that are defined only up to a constant.
    let gauge = |x: &[f64]| if compare == "gauge" { x[0] } else { 0.0 };
    let (a, b) = (gauge(found), gauge(expected));
    let size = expected.iter().fold(f64::MIN_POSITIVE, |size, e| size.max((e - b).abs()));
    let mut worst = 0.0;
    for (&x, &e) in found.iter().zip(expected) {
        let unit = if compare == "coordinatewise" { e.abs().max(f64::MIN_POSITIVE) } else { size };
        let error = ((x - a) - (e - b)).abs() / unit;
        if error.is_nan() {
            return f64::INFINITY;
        }
        worst = f64::max(worst, error);
    }
    worst
}

/// The largest errors of a file or of one object in it, by part of the domain.
#[derive(Default)]
struct Score {
    values: usize,
    worst: BTreeMap<String, f64>,
}

impl Score {
    fn add(&mut self, values: usize, error: f64, tag: &str) {
        self.values += values;
        let worst = self.worst.entry(tag.to_owned()).or_default();
        *worst = worst.max(error);
    }
}

impl Display for Score {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} values, worst relative error", self.values)?;
        self.worst.iter().try_for_each(|(tag, error)| write!(f, " {error:.1e} {tag},"))
    }
}

/// Runs every case of a file through `answer` and checks its tolerance. `kind` is the key that names the object.
#[allow(clippy::print_stdout)] // the documentation quotes these lines
fn run(file: &str, text: &str, kind: &str, answer: impl Fn(&Case) -> Result<Vec<f64>, String>) {
    let json: Value = serde_json::from_str(text).expect("the file is JSON");
    assert!(json["header"]["digits"].as_u64() >= Some(60), "{file}: {}", json["header"]);
    let (mut total, mut objects, mut failures) = (Score::default(), BTreeMap::new(), Vec::new());
    for case in json["cases"].as_array().expect("a list of cases").iter().map(Case) {
        let expected = case.vector("expected");
        let compare = case.0["compare"].as_str().unwrap_or("norm");
        let result = answer(&case);
        let error =
            result.as_ref().map_or(f64::INFINITY, |x| relative_error(x, &expected, compare));
        total.add(expected.len(), error, case.text("tag"));
        let object: &mut Score = objects.entry(case.text(kind).to_owned()).or_default();
        object.add(expected.len(), error, case.text("tag"));
        if error > case.number("tolerance") {
            failures.push(format!("error {error:.2e}, found {result:?}\n    {}", case.0));
        }
    }
    for (name, score) in &objects {
        println!("{file}: {name}: {score}");
    }
    let (inside, edges): (Vec<_>, Vec<_>) =
        total.worst.iter().partition(|(tag, _)| *tag == "interior");
    let worst =
        |of: Vec<(&String, &f64)>| of.iter().fold(0.0, |worst, (_, e)| f64::max(worst, **e));
    let (values, inside, edges) = (total.values, worst(inside), worst(edges));
    println!(
        "{file}: {values} values, worst relative error {inside:.1e} inside, {edges:.1e} at the edges"
    );
    assert!(total.values > 200, "{file}: only {} cases", total.values);
    assert!(failures.is_empty(), "{file}: {} failed\n  {}", failures.len(), failures.join("\n  "));
}

fn words(error: impl Display) -> String {
    error.to_string()
}

/// Checks that every name of a table has cases in its file.
fn covers<'a>(file: &str, text: &str, kind: &str, names: impl Iterator<Item = &'a str>) {
    let json: Value = serde_json::from_str(text).expect("the file is JSON");
    let cases = json["cases"].as_array().expect("a list of cases");
    let covered: Vec<&str> = cases
        .iter()
        .filter_map(|case| case[kind].as_str())
        .map(|text| text.split('(').next().unwrap_or(text))
        .collect();
    let missing: Vec<&str> = names.filter(|name| !covered.contains(name)).collect();
    assert!(
        missing.is_empty(),
        "{file} has no values of {missing:?}: add cases to make_golden.py and run it"
    );
}

#[test]
fn every_registered_name_has_golden_values() {
    use geowalk::geometry::{generators, manifolds};
    use geowalk::loss::{self, permissible};
    let names = manifolds::entries().map(|entry| entry.name);
    covers("manifolds.json", include_str!("golden/manifolds.json"), "geometry", names);
    let names = generators::entries().map(|entry| entry.name);
    covers("generators.json", include_str!("golden/generators.json"), "generator", names);
    // A balanced convex loss is defined by its permissible function, which has a separate file.
    let of_phi = |name: &str| permissible::entries().any(|entry| entry.name == name);
    let names = loss::entries().map(|entry| entry.name).filter(|name| !of_phi(name));
    covers("losses.json", include_str!("golden/losses.json"), "loss", names);
    let names = permissible::entries().map(|entry| entry.name);
    covers("permissible.json", include_str!("golden/permissible.json"), "permissible", names);
}

#[test]
#[should_panic(expected = "has no values of [\"oblate\"]")]
fn a_name_without_golden_values_fails() {
    let text = include_str!("golden/manifolds.json");
    covers("manifolds.json", text, "geometry", ["sphere", "oblate"].into_iter());
}

#[test]
fn manifolds() {
    run("manifolds.json", include_str!("golden/manifolds.json"), "geometry", |case| {
        let manifold = AnyManifold::parse(case.text("geometry"), case.n()).map_err(words)?;
        let mut work = Work::new();
        let [mut p, q, u, mut v, covector] =
            ["p", "q", "u", "v", "covector"].map(|key| case.vector(key));
        // The edges are points of the manifold too, so `check` must accept them.
        manifold.check(&p).map_err(words)?;
        if !q.is_empty() {
            manifold.check(&q).map_err(words)?;
        }
        for v in [&u, &v] {
            if !v.is_empty() {
                manifold.check_tangent(&p, v).map_err(words)?;
            }
        }
        let mut out = vec![f64::NAN; p.len()];
        match case.text("op") {
            "exp" => {
                manifold.exp(&mut p, &v, case.number("t"), &mut work).map_err(words)?;
                Ok(p)
            }
            "log" => manifold.log(&p, &q, &mut out, &mut work).map(|()| out).map_err(words),
            "distance" => Ok(vec![manifold.distance(&p, &q, &mut work)]),
            "inner" => Ok(vec![manifold.inner(&p, &u, &v, &mut work)]),
            "gradient" => {
                manifold.gradient(&p, &covector, &mut out, &mut work);
                Ok(out)
            }
            "transport" => manifold.transport(&p, &q, &mut v, &mut work).map(|()| v).map_err(words),
            op => Err(format!("no operation {op}")),
        }
    });
}

fn generator(case: &Case) -> Result<AnyGenerator, String> {
    let (n, sigma) = (case.n(), case.vector("sigma"));
    let mut spec = case.text("generator").to_owned();
    if !sigma.is_empty() {
        let row = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        let rows = sigma.chunks(n).map(row).collect::<Vec<_>>().join("; ");
        spec = format!("{spec}(sigma={rows})");
    }
    AnyGenerator::parse(&spec, n).map_err(words)
}

#[test]
fn generators() {
    run("generators.json", include_str!("golden/generators.json"), "generator", |case| {
        let generator = generator(case)?;
        let [w, theta, u, p] = ["w", "theta", "u", "p"].map(|key| case.vector(key));
        let mut out = vec![f64::NAN; case.n()];
        match case.text("op") {
            "value" => Ok(vec![generator.value(&w)]),
            "link" => {
                generator.link(&w, &mut out);
                Ok(out)
            }
            "unlink" => {
                generator.check_dual(&theta).map_err(words)?;
                generator.unlink(&theta, &mut out);
                Ok(out)
            }
            "conjugate" => Ok(vec![generator.conjugate(&theta)]),
            "divergence" => Ok(vec![generator.divergence(&u, &w)]),
            "legendre_dual" => {
                generator.legendre_dual(&u, &p, &mut out, &mut Work::new());
                Ok(out)
            }
            op => Err(format!("no operation {op}")),
        }
    });
}

#[test]
fn losses() {
    run("losses.json", include_str!("golden/losses.json"), "loss", |case| {
        let loss = AnyLoss::parse(case.text("loss")).map_err(words)?;
        let function: fn(&AnyLoss, f64, f64) -> f64 = match case.text("op") {
            "value" => Loss::value,
            "slope" => Loss::slope,
            "curvature" => Loss::curvature,
            op => return Err(format!("no operation {op}")),
        };
        let (z, y) = (case.vector("z"), case.vector("y"));
        Ok(z.iter().zip(&y).map(|(&z, &y)| function(&loss, z, y)).collect())
    });
}

#[test]
fn permissible() {
    run("permissible.json", include_str!("golden/permissible.json"), "permissible", |case| {
        let phi = AnyPermissible::parse(case.text("permissible")).map_err(words)?;
        let (key, function): (_, fn(&AnyPermissible, f64) -> f64) = match case.text("op") {
            "a" => return Ok(vec![phi.a()]),
            "b" => return Ok(vec![phi.b()]),
            "curvature_floor" => return Ok(vec![phi.curvature_floor()]),
            "phi" => ("p", Permissible::phi),
            "impurity" => ("p", Permissible::impurity),
            "gradient" => ("p", Permissible::gradient),
            "curvature" => ("p", Permissible::curvature),
            "transfer" => ("h", Permissible::transfer),
            "complement" => ("h", Permissible::complement),
            "conjugate" => ("h", Permissible::conjugate),
            "surrogate" => ("h", Permissible::surrogate),
            "margin" => ("h", |phi, h| phi.margin(h, -1.0)),
            op => return Err(format!("no operation {op}")),
        };
        Ok(case.vector(key).iter().map(|&x| function(&phi, x)).collect())
    });
}

/// The bound at rate 1 after one round on a row of zeros is the distance from the start, rounded up.
fn distance(case: &Case) -> Result<Certificate, String> {
    let [u, w, scale] = ["u", "w", "scale"].map(|key| case.vector(key));
    let each = w.first().copied().unwrap_or(0.0);
    let (facts, given) = (Absolute.facts(), Comparator::Given(&u));
    let row = vec![0.0; u.len()];
    let steps = |divergence: Divergence, start: Start| {
        Ledger::mirror_steps(divergence, start, &facts).map_err(words)
    };
    let eg = || Ledger::eg(&[1.0]).map(|eg| eg.starting(Start::Even)).map_err(words);
    let egu = || Ledger::egu(&[each]).map(|egu| egu.starting(Start::Each(each))).map_err(words);
    let mut bound = match case.text("divergence") {
        "even" | "signed-even" => eg()?,
        "each" | "signed-each" => egu()?,
        "burg" => steps(Divergence::Burg, Start::Each(each))?,
        "p-norm" => {
            let q = case.vector("q")[0];
            steps(Divergence::PNorm { q }, Start::Each(0.0))?
        }
        "orthant" => Ledger::natural_eg(&vec![each; u.len()], &facts).map_err(words)?,
        "euclidean" => Ledger::implicit_descent(&w, &facts),
        kind => return Err(format!("no divergence {kind}")),
    };
    if let Some(scale) = scale.first() {
        bound = bound.signed(*scale);
    }
    // The loss is so large that it caps no bound; the comparator's loss is 0.
    let (loss, slope) = (1e304, -2e152);
    let round = Round { z: 0.0, loss, slope, rate: 1.0, length: 0.0, event: Event::Inside };
    bound.observe(&round, Dense(&row));
    Ok(bound.certify_all(&given, Some(0.0)).remove(0).certificate)
}

/// ½·length² of the last step of a stream.
fn step(mut walk: impl Walk, case: &Case) -> Result<f64, String> {
    let [rate, x, y] = ["rate", "x", "y"].map(|key| case.vector(key));
    let mut length = f64::NAN;
    for (x, y) in x.chunks(2).zip(y) {
        length = walk.step(Dense(x), y.into(), &Absolute, rate[0]).map_err(words)?.length;
    }
    Ok(0.5 * length * length)
}

#[test]
fn divergences() {
    run("divergences.json", include_str!("golden/divergences.json"), "divergence", |case| {
        Ok(vec![match case.text("divergence") {
            "step-simplex" => step(SimplexEntropy::new(), case)?,
            "step-entropy" => step(Entropy::new(0.125).map_err(words)?, case)?,
            "gaps" => {
                let (mut hedge, mut w) = (AdaHedge::new(3).map_err(words)?, Vec::new());
                for losses in case.vector("x").chunks(3) {
                    hedge.weights(&mut w);
                    let z = w.iter().zip(losses).map(|(w, x)| w * x).sum();
                    let (rate, length, event) = (hedge.rate(), 0.0, Event::Inside);
                    hedge.observe(
                        &Round { z, loss: z, slope: 1.0, rate, length, event },
                        Dense(losses),
                    );
                }
                hedge.certify(&Comparator::Simplex { n: 3 }).bound
            }
            _ => {
                let certificate = distance(case)?;
                let expected = case.number("expected");
                if certificate.bound < expected {
                    return Err(format!("{certificate}, below {expected:e}"));
                }
                certificate.bound
            }
        }])
    });
}

#[test]
fn the_comparison_can_fail() {
    assert_eq!(relative_error(&[1.0, 2.0], &[1.0, 4.0], "norm"), 0.5);
    assert_eq!(relative_error(&[1e-9, 4.0], &[1e-3, 4.0], "norm"), (1e-3 - 1e-9) / 4.0);
    assert!(relative_error(&[1e-9, 4.0], &[1e-3, 4.0], "coordinatewise") > 0.9);
    assert_eq!(relative_error(&[5.0, 6.0, 8.0], &[1.0, 2.0, 4.0], "gauge"), 0.0);
    assert_eq!(relative_error(&[f64::NAN], &[1.0], "norm"), f64::INFINITY);
    assert_eq!(relative_error(&[f64::INFINITY], &[1.0], "norm"), f64::INFINITY);
    assert_eq!(relative_error(&[1.0], &[1.0, 1.0], "norm"), f64::INFINITY);
    assert!(relative_error(&[1e-300], &[0.0], "coordinatewise") > 1e7);
}
