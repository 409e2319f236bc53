//! # ULS on given features
//! $$\min_\alpha \sum_i c_i\,\psi(y_i H_\alpha(o_i)), \qquad H_\alpha = \sum_t \alpha_t h_t$$
//! Universal Linear Separators: in each round a set of features is chosen, and the loss is minimised over their leverages, exactly. One feature at a time is
//! boosting by coordinate; all at once is totally corrective.
//!
//! | | |
//! |---|---|
//! | [`Leverage`] | one feature per round, k, or all |
//! | [`Order`] | cyclic, greedy (largest guaranteed decrease $|m^\top w|/\Vert m\Vert$), or the user's list of sets |
//!
//! **Converges** to the infimum of the risk for cyclic and greedy orders and every such list in which each feature recurs for ever; the infimum need not be attained.
//! **Ends** when no feature has a scaled edge $|m^\top w|/\sum|m|w$ above the tolerance, or as [`Stop`] says.
//! **Cost** O(m) per feature for the edges of a greedy order, and that of a [line search](super::line) or a [block of features](super::block).
//! **Source** \[NN09, alg. 1, theorem 1\], as corrected.

use super::block;
use super::dual::{self, Gap};
use super::line::{Outcome, Separable};
use super::state::{Edge, REFRESH, Round, State};
use super::stop::{Ended, Path, Stop, Watch, judge};
use super::surrogate::Surrogate;
use crate::Real;
use crate::error::{Allowed, ConfigError, DomainError, parameter};

/// How many leverages move in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Leverage {
    /// One feature.
    #[default]
    One,
    /// This many: the newest ones where features are learned.
    Some(usize),
    /// All: totally corrective.
    All,
}

impl Leverage {
    /// `one`, `all` or a number.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        match (text, text.parse::<usize>()) {
            ("one", _) => Ok(Self::One),
            ("all", _) => Ok(Self::All),
            (_, Ok(0)) => Err(ConfigError::OutOfRange {
                name: "leverage",
                value: 0.0,
                allowed: Allowed::Whole(1),
            }),
            (_, Ok(1)) => Ok(Self::One),
            (_, Ok(k)) => Ok(Self::Some(k)),
            _ => Err(crate::spec::unknown("leverage", text, ["one", "all", "a number"])),
        }
    }

    /// As it is written.
    pub fn spec(self) -> String {
        match self {
            Self::One => "one".to_owned(),
            Self::Some(k) => k.to_string(),
            Self::All => "all".to_owned(),
        }
    }
}

/// Which features come next.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Order {
    /// One after the other.
    #[default]
    Cyclic,
    /// Those with the largest guaranteed decrease.
    Greedy,
    /// These sets, and again from the first.
    Given(Vec<Vec<usize>>),
}

/// ULS on given features.
///
/// ```
/// use geowalk::boost::{Stop, Surrogate, Uls};
/// // Two features; the first errs once, the second twice.
/// let features = vec![vec![1.0, 1.0, -1.0, 1.0], vec![1.0, -1.0, 1.0, -1.0]];
/// let labels = [1.0, 1.0, -1.0, -1.0];
/// let uls = Uls::new(Surrogate::parse("exponential")?, Stop::after(1)?);
/// let fit = uls.fit(&features, &labels, None, None)?;
/// assert!((fit.alpha()[0] - 0.5 * 3.0_f64.ln()).abs() < 1e-9);
/// assert_eq!(fit.rounds.last().map(|round| round.error), Some(0.25));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Uls {
    /// The loss.
    pub loss: Surrogate,
    /// How many leverages move in a round.
    pub leverage: Leverage,
    /// Which.
    pub order: Order,
    /// What to do with a feature that never errs.
    pub separable: Separable,
    /// When to stop.
    pub stop: Stop,
}

/// What ULS found.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The rounds, in order, also those that were not kept.
    pub rounds: Vec<Round>,
    /// Why it ended.
    pub ended: Ended,
    /// How many rounds were kept: all, or up to the best on the held-out set.
    pub kept: usize,
    /// The leverages, round by round.
    pub path: Path,
    pub(crate) features: usize,
    /// The feature that stands alone, if the policy was to stop at it.
    pub(crate) alone: Option<(usize, f64)>,
}

impl Fit {
    /// The leverages of the kept rounds.
    pub fn alpha(&self) -> Vec<f64> {
        if let Some((feature, delta)) = self.alone {
            let mut alpha = vec![0.0; self.features];
            if let Some(alpha) = alpha.get_mut(feature) {
                *alpha = delta;
            }
            return alpha;
        }
        self.path.leverages(self.kept, self.features)
    }
}

/// Features and labels of a held-out set.
#[derive(Debug, Clone, Copy)]
pub struct HeldOut<'a> {
    /// The same features, on other examples.
    pub features: &'a [Vec<f64>],
    /// ±1.
    pub labels: &'a [f64],
    /// Weights of the examples; 1 without.
    pub weights: Option<&'a [f64]>,
}

/// Refuses labels that are not ±1, weights that cannot be weights, features of another length or with values that are not finite.
fn check(features: &[Vec<f64>], y: &[f64], c: Option<&[f64]>) -> Result<(), DomainError> {
    if y.is_empty() || features.is_empty() {
        return Err(DomainError::Empty { what: "the table of features" });
    }
    crate::error::each("the labels", y, Allowed::Sign)?;
    for feature in features {
        crate::error::finite("a feature", feature, y.len())?;
    }
    if let Some(c) = c {
        crate::error::finite("the weights of the examples", c, y.len())?;
        crate::error::each("the weights of the examples", c, Allowed::NonNegative)?;
    }
    Ok(())
}

/// Refuses weights of a held-out set that are all 0: nothing could be judged by it.
pub(super) fn weighty(c: Option<&[f64]>) -> Result<(), DomainError> {
    match c {
        Some(c) if c.iter().all(|c| *c == 0.0) => {
            Err(DomainError::Empty { what: "the held-out set, as all its weights are 0," })
        }
        _ => Ok(()),
    }
}

impl Uls {
    /// One feature at a time, cyclically.
    pub fn new(loss: Surrogate, stop: Stop) -> Self {
        Self {
            loss,
            leverage: Leverage::One,
            order: Order::Cyclic,
            separable: Separable::Cap,
            stop,
        }
    }

    /// Minimises over the leverages of `features` (h of every example, one vector per feature) for labels ±1 and weights of examples.
    pub fn fit(
        &self,
        features: &[Vec<f64>],
        labels: &[f64],
        weights: Option<&[f64]>,
        held_out: Option<HeldOut<'_>>,
    ) -> Result<Fit, ConfigError> {
        check(features, labels, weights)?;
        if let Some(held) = held_out {
            check(held.features, held.labels, held.weights)?;
            weighty(held.weights)?;
            let (found, expected) = (held.features.len(), features.len());
            if found != expected {
                let what = "the list of held-out features";
                return Err(DomainError::Dimension { what, found, expected }.into());
            }
        }
        if let Order::Given(sets) = &self.order {
            parameter("sets", sets.len() as f64, Allowed::Whole(1))?;
            let bad = sets.iter().flatten().find(|t| **t >= features.len());
            if let Some(&bad) = bad {
                let most = features.len() as f64 - 1.0;
                let allowed = Allowed::Closed(0.0, most);
                return Err(ConfigError::OutOfRange {
                    name: "feature",
                    value: bad as f64,
                    allowed,
                });
            }
        }
        let ones;
        let c = if let Some(weights) = weights {
            weights
        } else {
            ones = vec![1.0; labels.len()];
            &ones
        };
        let m: Vec<Vec<f64>> =
            features.iter().map(|h| h.iter().zip(labels).map(|(h, y)| -y * h).collect()).collect();
        self.run(&m, labels, c, held_out).map_err(ConfigError::from)
    }

    fn run(
        &self,
        m: &[Vec<f64>],
        y: &[f64],
        c: &[f64],
        held_out: Option<HeldOut<'_>>,
    ) -> Result<Fit, DomainError> {
        let loss = &self.loss;
        let mut state = State::new(y, c);
        state.weigh(loss);
        let mut fit = Fit {
            rounds: Vec::new(),
            ended: Ended::Rounds,
            kept: 0,
            path: Path::default(),
            features: m.len(),
            alone: None,
        };
        let mut alpha = vec![0.0; m.len()];
        let mut watch = Watch::new();
        let mut cyclic = 0;
        let mut idle = 0;
        for round in 1..=self.stop.rounds {
            let set = self.choose(m, &state, round, &mut cyclic);
            let edges: Vec<Edge> = set.iter().map(|&t| state.edge(&m[t])).collect();
            let best = (0..set.len()).max_by(|&a, &b| {
                let value = |k: usize| edges[k].guaranteed(loss, &state);
                value(a).total_cmp(&value(b)).then(b.cmp(&a))
            });
            let Some(best) = best else { continue };
            let columns: Vec<&[f64]> = set.iter().map(|&t| m[t].as_slice()).collect();
            let before = state.normalised(loss);
            let edge = edges[best];
            let guaranteed = edge.guaranteed(loss, &state);
            let found = block::leverages(loss, &state.u, &columns, c, self.separable)?;
            let slip = state.advance(loss, &found.change);
            for (&t, delta) in set.iter().zip(&found.delta) {
                alpha[t] += delta;
            }
            let factor = state.renormalise(loss, &mut alpha);
            fit.path.push(set.iter().copied().zip(found.delta.iter().copied()).collect(), factor);
            let stops = found.outcome == Outcome::Separable && self.separable == Separable::Stop;
            let whole = stops && columns.len() == 1 && columns[0].iter().all(|m| *m != 0.0);
            if whole {
                // What is kept is that feature alone, and so is what the round tells of.
                alpha.fill(0.0);
                alpha[set[0]] = found.delta[0];
            }
            if whole || round.is_multiple_of(REFRESH) {
                scores(m, &alpha, &mut state.u);
                state.weigh(loss);
            }
            let surrogate = state.normalised(loss);
            fit.rounds.push(Round {
                round,
                loss: 0,
                feature: set[best],
                edge: -edge.g / edge.sum,
                norm: edge.norm / state.total,
                largest: edge.largest,
                weight: edge.sum / state.total,
                leverage: found.delta[best],
                outcome: found.outcome,
                residual: found.residual,
                before,
                surrogate,
                guaranteed,
                slip,
                error: state.error(),
            });
            fit.kept = round;
            let watched = match held_out {
                Some(held) => self.judge(held, &alpha),
                None => (surrogate, 0.0),
            };
            if watch.see(round, watched, self.stop.patience) {
                fit.ended = Ended::Patience;
                break;
            }
            if stops {
                fit.ended = Ended::Separable;
                fit.alone = whole.then(|| (set[0], found.delta[0]));
                break;
            }
            if self.stop.bound.is_some_and(|bound| surrogate <= bound) {
                fit.ended = Ended::Bound;
                break;
            }
            // Looking at all features after every step would double the cost: once per cycle is enough.
            idle += set.len();
            if idle >= m.len() {
                idle = 0;
                if self.converged(m, &state) {
                    fit.ended = Ended::Converged;
                    break;
                }
            }
        }
        if held_out.is_some() {
            // A held-out set may prefer what was before a feature that stands alone.
            fit.alone = fit.alone.filter(|_| watch.round == fit.rounds.len());
            fit.kept = watch.round;
        }
        Ok(fit)
    }

    /// What is watched of a held-out set.
    fn judge(&self, held: HeldOut<'_>, alpha: &[f64]) -> (f64, f64) {
        let mut u = vec![0.0; held.labels.len()];
        scores(held.features, alpha, &mut u);
        for (u, y) in u.iter_mut().zip(held.labels) {
            *u *= -y;
        }
        judge(self.stop.watched, &self.loss, held.labels, held.weights, &u)
    }

    /// The features of this round.
    fn choose(
        &self,
        m: &[Vec<f64>],
        state: &State<'_>,
        round: usize,
        cyclic: &mut usize,
    ) -> Vec<usize> {
        let count = match self.leverage {
            Leverage::One => 1,
            Leverage::Some(k) => k.clamp(1, m.len()),
            Leverage::All => m.len(),
        };
        match &self.order {
            Order::Given(sets) => sets[(round - 1) % sets.len()].clone(),
            Order::Cyclic => {
                let set = (0..count).map(|k| (*cyclic + k) % m.len()).collect();
                *cyclic = (*cyclic + count) % m.len();
                set
            }
            Order::Greedy => {
                let value = |edge: Edge| {
                    if edge.norm == 0.0 { 0.0 } else { edge.g.abs() / edge.norm.sqrt() }
                };
                let values: Vec<f64> = m.iter().map(|m| value(state.edge(m))).collect();
                let mut order: Vec<usize> = (0..m.len()).collect();
                order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
                order.truncate(count);
                order
            }
        }
    }

    fn converged(&self, m: &[Vec<f64>], state: &State<'_>) -> bool {
        m.iter().all(|m| {
            let (mut g, mut scale) = (0.0, 0.0);
            for ((&m, &w), &c) in m.iter().zip(&state.w).zip(state.c) {
                g += c * m * w;
                scale += (c * m * w).abs();
            }
            g.abs() <= self.stop.tolerance * scale
        })
    }

    /// How far the risk of leverages is from the infimum over all leverages.
    pub fn gap(
        &self,
        features: &[Vec<f64>],
        labels: &[f64],
        weights: Option<&[f64]>,
        alpha: &[f64],
    ) -> Result<Gap, DomainError> {
        check(features, labels, weights)?;
        crate::error::finite("the leverages", alpha, features.len())?;
        let m: Vec<Vec<f64>> =
            features.iter().map(|h| h.iter().zip(labels).map(|(h, y)| -y * h).collect()).collect();
        let mut u = vec![0.0; labels.len()];
        scores(&m, alpha, &mut u);
        let ones = vec![1.0; labels.len()];
        let columns: Vec<&[f64]> = m.iter().map(Vec::as_slice).collect();
        dual::gap(&self.loss, &u, &columns, weights.unwrap_or(&ones))
    }
}

/// Σ α_t m_t.
fn scores(m: &[Vec<f64>], alpha: &[f64], u: &mut [f64]) {
    u.fill(0.0);
    for (m, &alpha) in m.iter().zip(alpha) {
        if alpha != 0.0 {
            for (u, m) in u.iter_mut().zip(m) {
                *u += alpha * m;
            }
        }
    }
}

/// The classical margin y Σ α h / Σ|α| of every example, in [−1, 1] for |h| ≤ 1; 0 if all leverages are.
pub fn classical_margins(features: &[Vec<f64>], labels: &[f64], alpha: &[f64]) -> Vec<f64> {
    let size: f64 = alpha.iter().map(|alpha| alpha.abs()).sum();
    let mut h = vec![0.0; labels.len()];
    scores(features, alpha, &mut h);
    let divide = |x: f64| if size == 0.0 { 0.0 } else { Real::clamp(x / size, -1.0, 1.0) };
    h.iter().zip(labels).map(|(h, y)| divide(y * h)).collect()
}
