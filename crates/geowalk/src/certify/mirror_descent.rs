//! # Mirror descent
//! For a generator ψ that is σ-strongly convex in a norm ‖·‖ with dual norm ‖·‖_⋆, and a loss convex in the prediction:
//! $$\text{regret} \;\le\; \frac{D_\psi(u \Vert w_0)}{\eta} + \frac{\eta}{2\sigma}\sum_t g_t^2 \Vert x_t\Vert_\star^2$$
//! **Proof** The linearised regret is $(D(u\Vert w_0) - D(u\Vert w_k) + \sum_t D(w_t\Vert w_{t+1}))/\eta$ exactly, and $D(w_t \Vert w_{t+1}) \le \eta^2 g^2\Vert x\Vert_\star^2/2\sigma$.
//! **Cost** O(nnz). **Care** where ψ is strongly convex only on ‖w‖₁ ≤ r (the unnormalised entropy), that the weights stay there is declared by the user.
//! **Source** standard, \[SS12, sec. 2.7\]; for p-norms \[NN09, lemma 9\].

use super::theorem::{
    AS_WRITTEN, CONSTANT, CONVEX, Declared, FINITE, Members, PROBABILITIES, Theorem, Watch,
    checked, declared, outward, underflow,
};
use super::{Bound, Certificate, Comparator};
use crate::Real;
use crate::error::ConfigError;
use crate::geometry::{Generator, Modulus};
use crate::loss::Facts;
use crate::row::Row;
use crate::sum::Sum;
use crate::update::Round;

const STRONG: &str = "a strongly convex generator";
const WITHIN: &str = "the sum of |w_i| at most r";
const CLOSE: &str = "steps with D(w_t, w_t+1) <= (rate slope |x|*)^2/(2 sigma)";

pub(super) const THEOREM: Theorem = Theorem {
    name: "mirror-descent",
    premises: &[
        declared(CONVEX),
        checked(STRONG),
        checked(CONSTANT),
        checked(CLOSE),
        checked(PROBABILITIES),
        checked(AS_WRITTEN),
        checked(FINITE),
        declared(WITHIN),
        declared("the rounds are mirror steps of this generator"),
    ],
    bound: "D(u, w0)/eta + eta/(2 sigma) sum g^2 |x|*^2",
    source: "SS12, sec. 2.7",
    correction: "",
};

/// The bound of mirror descent with a strongly convex generator.
///
/// ```
/// use geowalk::certify::{Bound, Comparator, MirrorDescent};
/// use geowalk::geometry::generators::PNorm;
/// use geowalk::loss::{Absolute, Loss};
/// use geowalk::row::Dense;
/// use geowalk::walk::{self, Walk};
///
/// let mut walk = walk::PNorm::new(1.5)?;
/// let mut bound = MirrorDescent::new(PNorm::new(1.5)?, &[0.0; 2], &Absolute.facts())?;
/// let round = walk.step(Dense(&[1.0, 0.0]), 1.0.into(), &Absolute, 0.5)?;
/// bound.observe(&round, Dense(&[1.0, 0.0]));
/// // ½/0.5 + 0.5/(2·½)
/// let certificate = bound.certify(&Comparator::Given(&[1.0, 0.0]));
/// assert!((certificate.bound - 1.5).abs() < 1e-9, "{certificate}");
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct MirrorDescent<G> {
    generator: G,
    start: Vec<f64>,
    modulus: Modulus,
    radius: Option<f64>,
    /// The generator's points sum to 1, as those of the entropy on the simplex do.
    simplex: bool,
    watch: Watch,
    squares: Sum,
}

impl<G: Generator<f64>> MirrorDescent<G> {
    /// From the weights `start`; void from the beginning if ψ is not strongly convex on its whole domain.
    pub fn new(generator: G, start: &[f64], facts: &Facts) -> Result<Self, ConfigError> {
        let modulus = generator.modulus();
        Self::build(generator, start, facts, modulus, None)
    }

    /// For weights with ‖w‖₁ ≤ `radius` throughout, which the user vouches for.
    pub fn within(
        generator: G,
        start: &[f64],
        facts: &Facts,
        radius: f64,
    ) -> Result<Self, ConfigError> {
        crate::error::parameter("radius", radius, crate::error::Allowed::Positive)?;
        let modulus = generator.modulus_within(radius);
        Self::build(generator, start, facts, modulus, Some(radius))
    }

    fn build(
        generator: G,
        start: &[f64],
        facts: &Facts,
        modulus: Option<Modulus>,
        radius: Option<f64>,
    ) -> Result<Self, ConfigError> {
        generator.check(start)?;
        let mut watch = Watch::convex(&THEOREM, facts);
        let found = modulus.map_or(0.0, |modulus| modulus.sigma);
        watch.demand(STRONG, found > 0.0, found);
        let modulus = modulus.unwrap_or(Modulus { sigma: f64::NAN, norm: crate::row::Norm::L2 });
        let larger: Vec<f64> = start.iter().map(|w| 1.001 * w).collect();
        let simplex = generator.check(&larger).is_err();
        let (start, squares) = (start.to_vec(), Sum::default());
        Ok(Self { generator, start, modulus, radius, simplex, watch, squares })
    }

    /// sup D(u‖w₀) over the comparators.
    fn farthest(&self, u: &Comparator<'_>) -> f64 {
        let n = self.start.len();
        let from = |u: &[f64]| self.generator.divergence(u, &self.start);
        let vertex = |i: usize, size: f64| {
            let mut u = vec![0.0; n];
            if let Some(place) = u.get_mut(i) {
                *place = size;
            }
            from(&u)
        };
        match *u {
            Comparator::Given(u) if u.len() <= n => {
                let mut all = u.to_vec();
                all.resize(n, 0.0);
                from(&all)
            }
            // A divergence is convex in u: the farthest point of the simplex is a vertex.
            Comparator::Simplex { n: coordinates } if coordinates == n => {
                (0..n).map(|i| vertex(i, 1.0)).fold(0.0, Real::max)
            }
            // ψ = ½‖·‖² in its own norm, from 0.
            Comparator::Ball { norm, radius }
                if norm == self.modulus.norm
                    && radius >= 0.0
                    && self.start.iter().all(|w| *w == 0.0) =>
            {
                vertex(0, radius)
            }
            _ => f64::NAN,
        }
    }
}

impl<G: Generator<f64>> Bound for MirrorDescent<G> {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        self.watch.round(round);
        self.watch.constant_rate(round.rate);
        let step = round.slope * x.norm(self.modulus.norm.dual()).f64();
        let most = (round.rate * step) * (round.rate * step) / self.modulus.sigma;
        let square = round.length * round.length;
        self.watch.demand(CLOSE, square <= most * (1.0 + 1e-6) + 1e-15, square);
        self.squares.add(step * step);
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        self.watch.compare(round, prediction, loss);
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        let members = Members::Probabilities;
        if let Some(refused) = self.watch.outside(u, members).filter(|_| self.simplex) {
            return refused;
        }
        let farthest = self.farthest(u);
        if self.watch.rounds == 0 && !farthest.is_nan() {
            return self.watch.issue(0.0);
        }
        let eta = self.watch.rate;
        // The divergence itself is good to 1e-13 of its terms.
        let first = farthest * (1.0 + 1e-12) / eta;
        let second =
            0.5 * eta / self.modulus.sigma * (self.squares.upper() + underflow(self.watch.rounds));
        self.watch.issue(outward(first + second, 0.0))
    }

    fn declared(&self) -> Vec<Declared> {
        self.radius.map(|value| Declared { premise: WITHIN, value }).into_iter().collect()
    }
}
