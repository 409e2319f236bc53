//! # Flavours
//! The eleven boosters of the paper: one loss throughout, or losses chosen as the run goes.
//!
//! | flavour | losses | chosen |
//! |---|---|---|
//! | `none` | the one given | |
//! | `F1` | gini, mu, matsushita, entropy | per round, by the training error after the step |
//! | `F2` | mu, matsushita, entropy, nu | the same |
//! | `E1`, `E2` | as F1, F2 | per round, by the normalised edge |
//! | `F*` | gini, mu, matsushita, entropy, nu | once, by the training error of whole runs |
//!
//! With [`Choice::HeldOut`] and a held-out set `F1`, `F2` and `F*` choose by the normalised surrogate there instead of by the training error.
//!
//! μ = ½ and ν = ¼, which the paper does not say, unless given. **Care** φ_μ and φ_M are one booster on two scales: as losses of their own they give the
//! same rules, decisions and errors for every μ, and only the mixed flavours, which share a scale, can tell them apart.
//! **Ties of `F*`** are common (several runs without training error). They go to the smaller normalised surrogate, then to the order of the bag; how many runs tied is in [`Chosen::ties`].
//! **Cost** that of as many boosters as there are losses. **Source** \[NN09, sec. 7, eq. (7), (86)\].

use super::booster::{BoostError, Booster, Choice, Ensemble, HeldTable};
use super::state::Round;
use super::surrogate::Surrogate;
use super::weak::{Hypothesis, Weak};
use crate::error::ConfigError;
use crate::spec;

/// How losses are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flavour {
    /// One loss.
    #[default]
    None,
    /// By error, bag 1.
    F1,
    /// By error, bag 2.
    F2,
    /// By edge, bag 1.
    E1,
    /// By edge, bag 2.
    E2,
    /// The best of whole runs.
    FStar,
}

const NAMES: [(Flavour, &str); 6] = [
    (Flavour::None, "none"),
    (Flavour::F1, "F1"),
    (Flavour::F2, "F2"),
    (Flavour::E1, "E1"),
    (Flavour::E2, "E2"),
    (Flavour::FStar, "F*"),
];

impl Flavour {
    /// `none`, `F1`, `F2`, `E1`, `E2` or `F*`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let found = NAMES.iter().find(|(_, name)| name.eq_ignore_ascii_case(text));
        found
            .map(|(flavour, _)| *flavour)
            .ok_or_else(|| spec::unknown("flavour", text, NAMES.iter().map(|(_, name)| *name)))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(flavour, _)| *flavour == self).map_or("", |(_, name)| name)
    }

    /// The losses of its bag, with these μ and ν; of `none` the given one.
    pub fn bag(self, loss: &Surrogate, mu: f64, nu: f64) -> Result<Vec<Surrogate>, ConfigError> {
        let names: &[&str] = match self {
            Self::None => return Ok(vec![loss.clone()]),
            Self::F1 | Self::E1 => &["gini", "mu", "matsushita", "entropy"],
            Self::F2 | Self::E2 => &["mu", "matsushita", "entropy", "nu"],
            Self::FStar => &["gini", "mu", "matsushita", "entropy", "nu"],
        };
        let text = |name: &str| match name {
            "mu" => format!("mu(mu={mu})"),
            "nu" => format!("nu(nu={nu})"),
            _ => name.to_owned(),
        };
        names.iter().map(|name| Surrogate::parse(&text(name))).collect()
    }

    /// Boosts with `booster`, whose bag should be that of the flavour.
    pub fn fit(
        self,
        booster: &Booster,
        weak: &mut dyn Weak,
        labels: &[f64],
        weights: Option<&[f64]>,
        held_out: Option<HeldTable<'_>>,
        watch: &mut dyn FnMut(&Round, &Hypothesis),
    ) -> Result<Chosen, BoostError> {
        let choice = match self {
            Self::E1 | Self::E2 => Choice::Edge,
            _ if booster.choice == Choice::HeldOut => Choice::HeldOut,
            _ => Choice::Error,
        };
        if self != Self::FStar {
            let booster = Booster { choice, ..booster.clone() };
            let ensemble = booster.fit(weak, labels, weights, held_out, watch)?;
            return Ok(Chosen { ensemble, ties: 0 });
        }
        let mut best: Option<((f64, f64), Ensemble)> = None;
        let mut ties = 0;
        for loss in &booster.bag {
            let booster = Booster { bag: vec![loss.clone()], choice, ..booster.clone() };
            let ensemble = booster.fit(weak, labels, weights, held_out, watch)?;
            let trained =
                ensemble.last().map_or((1.0, 1.0), |round| (round.error, round.surrogate));
            let held = ensemble.held_out.filter(|_| choice == Choice::HeldOut);
            let reached = held.map_or(trained, |surrogate| (surrogate, trained.1));
            match &best {
                Some((least, _)) if reached.0 > least.0 => continue,
                Some((least, _)) if reached.0 == least.0 => {
                    ties += 1;
                    if reached.1 >= least.1 {
                        continue;
                    }
                }
                _ => ties = 0,
            }
            best = Some((reached, ensemble));
        }
        let missing = ConfigError::Missing { name: "losses", meaning: "the bag of F*" };
        let (_, ensemble) = best.ok_or(missing)?;
        Ok(Chosen { ensemble, ties })
    }
}

/// What a flavour found.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The ensemble.
    pub ensemble: Ensemble,
    /// How many other runs of `F*` were as good by what chose among them.
    pub ties: usize,
}
