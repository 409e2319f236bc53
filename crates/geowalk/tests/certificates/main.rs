//! Tests that certificates can fail. For every theorem: regret ≤ bound on random and adversarial streams. For each
//! premise: a stream that violates it, which makes the certificate void at that row. The wrong printed statements fail
//! on their counterexamples.

#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_possible_truncation)] // test code, and seeds below 2^32
#![allow(clippy::too_many_arguments, clippy::too_many_lines)] // a stream, a learner and a bound each time
#![allow(clippy::disallowed_methods)] // counterexamples are computed without the library

mod experts;
mod flat;
mod never;
mod order;
mod premises;
mod printed;
mod regression;
mod riemannian;
mod support;

use std::collections::BTreeSet;

use geowalk::certify;

#[test]
fn the_table_has_every_theorem_once_with_premises_bound_and_source() {
    let mut names = BTreeSet::new();
    for theorem in certify::entries() {
        assert!(names.insert(theorem.name), "{} occurs twice", theorem.name);
        assert!(!theorem.premises.is_empty() && !theorem.bound.is_empty(), "{}", theorem.name);
        assert!(!theorem.source.is_empty(), "{}", theorem.name);
        let mut texts = BTreeSet::new();
        for premise in theorem.premises {
            assert!(texts.insert(premise.text), "{}: '{}' twice", theorem.name, premise.text);
        }
    }
}

#[test]
fn every_premise_that_a_run_checks_is_broken_by_some_test() {
    let tests = [
        include_str!("experts.rs"),
        include_str!("never.rs"),
        include_str!("premises.rs"),
        include_str!("printed.rs"),
        include_str!("riemannian.rs"),
    ];
    for theorem in certify::entries().filter(|theorem| theorem.name != "first-order") {
        for premise in theorem.premises.iter().filter(|premise| !premise.declared) {
            let named = tests.iter().any(|text| text.contains(&format!("\"{}\"", premise.text)));
            assert!(named, "{}: no test breaks '{}'", theorem.name, premise.text);
        }
    }
}
