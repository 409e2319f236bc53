//! Checks that ten thousand random runs contain no false certificate. `cargo run -p geowalk-lab --bin search --
//! 1000000` makes a million runs.

use geowalk_lab::search::search;

#[test]
fn ten_thousand_runs_find_no_false_certificate() {
    let found = search(0, 10_000);
    let shown: Vec<_> = found.violations.iter().take(5).collect();
    assert!(found.violations.is_empty(), "{} violations: {shown:#?}", found.violations.len());
    // The search covers every theorem that a run can evaluate.
    for name in [
        "ada-hedge",
        "eg",
        "egu",
        "first-order",
        "free",
        "gradient-descent",
        "hedge",
        "least-squares",
        "linear-eg",
        "mirror-descent",
        "mirror-steps",
        "mixture",
        "natural-eg",
        "ols",
        "prod",
        "proximal-flat",
        "reparam-eg",
        "reparam-egu",
        "reparam-hedge",
        "reparam-winnow",
        "winnow",
    ] {
        let count = found.theorems.get(name).copied().unwrap_or_default();
        assert!(count.valid > 50, "{name}: {count:?}");
    }
}
