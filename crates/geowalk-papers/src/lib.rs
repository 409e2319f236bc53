//! # The papers' experiments
//! Every experiment and every counterexample of the papers that geowalk implements, as a reproducible run. `geowalk
//! repro` writes tables, pictures and one page that compares measured with expected values and gives a verdict for
//! each.
//!
//! Each experiment is one file with one [`Experiment`], and one row of [`EXPERIMENTS`]. It draws its data from a seed,
//! uses the public API of the library, and returns an [`Outcome`]: tables, pictures, [`Finding`]s. The tolerance of a
//! finding depends on its statement. Exact constants must agree up to rounding, bounds must hold as bounds. Orders and
//! ratios are checked where only those are the same for different random samples.
//!
//! ```
//! use geowalk_papers::{Run, Size, find};
//! let experiment = find("theorem-8").unwrap();
//! let outcome = (experiment.run)(&mut Run::new(Size::Small, 0))?;
//! assert!(outcome.findings.iter().all(|finding| finding.met));
//! # Ok::<(), geowalk::ConfigError>(())
//! ```

pub mod boosting;
mod errata;
mod experiment;
mod geodesic;
mod multiplicative;
mod natural;
mod outcome;
pub mod repro;
mod saved;
mod stream;

pub use experiment::{Experiment, Run, Size};
pub use outcome::{Finding, Outcome};

/// All experiments, in the order of the report page.
pub static EXPERIMENTS: &[Experiment] = &[
    // Geodesic walks, explicit and implicit, and walks on the sphere.
    geodesic::hankel::EXPERIMENT,
    geodesic::projection::EXPERIMENT,
    geodesic::null_starts::EXPERIMENT,
    geodesic::large_rates::EXPERIMENT,
    geodesic::simplex_or_eg::EXPERIMENT,
    geodesic::natural_eg::EXPERIMENT,
    // Multiplicative updates and their twins.
    multiplicative::continuous_time::EXPERIMENT,
    multiplicative::hadamard::EXPERIMENT,
    multiplicative::one_pass::EXPERIMENT,
    multiplicative::sparse_regression::EXPERIMENT,
    multiplicative::signed_regression::EXPERIMENT,
    multiplicative::winnow::EXPERIMENT,
    multiplicative::hedge::EXPERIMENT,
    // Natural gradient.
    natural::sequences::EXPERIMENT,
    natural::discrete::EXPERIMENT,
    natural::condition::EXPERIMENT,
    natural::misspecified::EXPERIMENT,
    natural::families::EXPERIMENT,
    natural::spectrum::EXPERIMENT,
    natural::cost::EXPERIMENT,
    natural::warm_up::EXPERIMENT,
    // Boosting.
    boosting::figure15::EXPERIMENT,
    // Corrections of printed statements.
    errata::theorem_6::EXPERIMENT,
    errata::lambda_convexity::EXPERIMENT,
    errata::curvature::EXPERIMENT,
    errata::simplex_edge::EXPERIMENT,
    errata::example_4::EXPERIMENT,
    errata::proposition_7::EXPERIMENT,
    errata::theorem_8::EXPERIMENT,
    errata::example_5::EXPERIMENT,
    errata::example_6::EXPERIMENT,
    errata::example_7::EXPERIMENT,
    errata::antipode::EXPERIMENT,
    errata::one_formula::EXPERIMENT,
    errata::lemma_7::EXPERIMENT,
    errata::lemma_9::EXPERIMENT,
    errata::null_norms::EXPERIMENT,
    errata::p_norm_loss::EXPERIMENT,
    errata::winnow_start::EXPERIMENT,
    errata::winnow_agnostic::EXPERIMENT,
    errata::hedge_comparator::EXPERIMENT,
    errata::egu_clipping::EXPERIMENT,
    errata::reparam_eg_rate::EXPERIMENT,
    errata::claim_1::EXPERIMENT,
    errata::twin_scale::EXPERIMENT,
];

/// The experiment with this name.
pub fn find(name: &str) -> Option<&'static Experiment> {
    EXPERIMENTS.iter().find(|experiment| experiment.name == name)
}
