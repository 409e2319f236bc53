//! Null vectors and recurrences, from a file to the answer.

#![allow(clippy::unwrap_used)] // test code

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use geowalk::Real;
use geowalk::certify::Status;
use geowalk::laws::Sampler;
use geowalk_data::Options;
use geowalk_run::error::RunError;
use geowalk_run::track::{Found, Plan, track};

fn file(name: &str, text: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn run(plan: &Plan, path: &Path) -> Result<Found, RunError> {
    track(plan, Options::new([path.to_str().unwrap()]))
}

/// An oscillation of frequency 0.7 with noise of this size.
fn oscillation(name: &str, noise: f64) -> PathBuf {
    let mut random = Sampler::new(5);
    let mut text = "target\n".to_owned();
    for t in 0..2000 {
        writeln!(text, "{}", Real::cos(0.7 * f64::from(t)) + noise * random.normal()).unwrap();
    }
    file(name, &text)
}

#[test]
fn the_recurrence_of_an_oscillation() {
    let path = oscillation("clean.csv", 0.0);
    for walk in ["sphere", "implicit:sphere", "projected-sphere"] {
        let plan =
            Plan { walk: walk.into(), rate: "0.5".into(), order: Some(2), ..Plan::default() };
        let found = run(&plan, &path).unwrap();
        assert_eq!((found.rows, found.left_out), (1998, 0));
        assert!(found.degrees.unwrap() < 1e-6, "{walk}: {:?}", found.degrees);
        let recurrence = found.recurrence.unwrap();
        assert!((recurrence.coefficients[0] - 2.0 * Real::cos(0.7)).abs() < 1e-8);
        assert!((recurrence.roots.unwrap()[0].frequency - 0.7).abs() < 1e-8);
        // What was lost is within the certificate: the best unit vector loses nothing.
        let certificate = found.certificate.unwrap().first_order;
        assert_eq!(certificate.status, Status::Valid);
        assert!(found.loss <= certificate.bound, "{} {}", found.loss, certificate.bound);
    }
}

/// An ARMA(2, 1): the null vector of its noisy values is another recurrence; autocovariances find it.
#[test]
fn a_moving_average_does_not_bias() {
    let mut random = Sampler::new(1);
    let (mut y, mut last) = (vec![0.0, 0.0], 0.0);
    for t in 2..20_000 {
        let e = random.normal();
        y.push(1.2 * y[t - 1] - 0.6 * y[t - 2] + e + 0.5 * last);
        last = e;
    }
    let lines: Vec<String> = y.iter().map(f64::to_string).collect();
    let path = file("arma.csv", &format!("target\n{}\n", lines.join("\n")));
    let plain = run(&Plan { order: Some(2), ..Plan::default() }, &path).unwrap();
    let plain = plain.recurrence.unwrap();
    assert!(plain.is_biased && (plain.coefficients[0] - 1.2).abs() > 0.2, "{plain:?}");
    let plan = Plan { order: Some(2), moving: 1, ..Plan::default() };
    let found = run(&plan, &path).unwrap().recurrence.unwrap();
    for (a, exact) in found.coefficients.iter().zip([1.2, -0.6]) {
        assert!((a - exact).abs() < 0.03 && !found.is_biased, "{found:?}");
    }
}

#[test]
fn a_falling_rate_comes_as_near_as_the_batch_method_with_noise() {
    let path = oscillation("noisy.csv", 0.05);
    let falling = run(&Plan { order: Some(2), ..Plan::default() }, &path).unwrap();
    let steady = Plan { rate: "0.5".into(), order: Some(2), ..Plan::default() };
    let steady = run(&steady, &path).unwrap();
    let (falling, steady) = (falling.degrees.unwrap(), steady.degrees.unwrap());
    assert!(falling < 0.2 && steady > 2.0 * falling, "{falling} {steady}");
}

#[test]
fn rows_missing_values_and_what_is_refused() {
    // 2a − b = 0; one row of zeros.
    let rows = file("rows.csv", "a,b,label\n1,2,5\n0,0,5\n-3,-6,5\n2,4,5\n");
    let found = run(&Plan::default(), &rows).unwrap();
    assert_eq!(
        (found.rows, found.left_out, found.names.as_slice()),
        (3, 1, &["a".into(), "b".into()][..])
    );
    let batch = found.batch.unwrap();
    assert!((batch.vector[0] + 2.0 * batch.vector[1]).abs() < 1e-12 && batch.share[0] < 1e-15);
    // Windows with a missing value in them are left out.
    let gap = file("gap.csv", "target,other\n1,1\n2,1\n,1\n4,1\n5,1\n6,1\n");
    let found = run(&Plan { order: Some(1), ..Plan::default() }, &gap).unwrap();
    assert_eq!((found.rows, found.left_out), (3, 2));
    let names = file("names.csv", "target\nx\ny\nz\n");
    let error = run(&Plan { order: Some(1), ..Plan::default() }, &names).unwrap_err();
    assert!(matches!(error, RunError::NotASeries), "{error}");
    let error = run(&Plan { walk: "gd".into(), ..Plan::default() }, &rows).unwrap_err();
    assert!(error.to_string().contains("implicit:sphere"), "{error}");
    let short = file("short.csv", "target\n1\n2\n");
    let error = run(&Plan { order: Some(5), ..Plan::default() }, &short).unwrap_err();
    assert!(matches!(error, RunError::Empty), "{error}");
}
