//! # The ledger: theorems that are formulas of running sums
//! A run whose steps are those of a geometry keeps one [`Ledger`]. Each row is looked at once, for all theorems of the
//! ledger; a [`LedgerRule`] says what a theorem assumes, what it adds up, and the formula of its bound. The rules
//! are constants beside the geometry they belong to, see [`rules`](super::rules).
//!
//! | formula | bound, with η the rate, D the distance from the start, A and L the losses of learner and comparator |
//! |---|---|
//! | [`Formula::Steps`] | regret ≤ a function of η, D, a sum over steps and the number of rounds |
//! | [`Formula::Discounted`] | A ≤ L/(1 − c) + p |
//! | [`Formula::Root`] | f·A − √(LA) ≤ W²/4η |
//!
//! **Cost** O(nnz), or O(1) where a walk's own report of its steps is [trusted](Ledger::trusting_lengths).
//! **Source** of each theorem: at the head of the file that its rule is in.

use super::losses::NO_MORE;
use super::origin::{Origin, Start};
use super::theorem::{
    Get, KNOWN, Members, Watch, farthest, keep, outward, restore_all, size, sum_of_gaps, underflow,
};
use super::{
    Bound, Broken, Certificate, Comparator, Declared, Metric, Quantity, Status, Theorem, Verdict,
};
use crate::Real;
use crate::error::{self, Allowed, ConfigError};
use crate::geometry::generators::gap;
use crate::loss::Facts;
use crate::row::{Norm, Row};
use crate::sum::Sum;
use crate::update::Round;
use crate::walk::Both;

pub(crate) const SMOOTH: &str = "a loss with slope^2 <= 2 S loss";
pub(crate) const POSITIVE: &str = "a comparator with positive weights, one for each of the start";

/// How far comparators are from the weights at the start.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Divergence {
    /// ‖u − w₀‖₂.
    Euclidean,
    /// ‖ln u − ln w₀‖₂.
    Logarithm,
    /// Relative entropy, on the simplex or unnormalised.
    Entropy,
    /// ½‖u‖_q² from 0.
    PNorm {
        /// q.
        q: f64,
    },
    /// Itakura's and Saito's.
    Burg,
    /// uᵀΣu from 0.
    Mahalanobis(Metric),
}

impl Divergence {
    /// The norm in which rows are measured.
    fn row_norm(&self) -> Norm {
        match self {
            Self::PNorm { q } => Norm::Lp(*q).dual(),
            _ => Norm::L2,
        }
    }
}

/// What a theorem assumes of the run it speaks of. Those that do not need clipped predictions need unclipped ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// A loss that is convex in the prediction.
    Convex,
    /// The squared loss.
    Squared,
    /// A loss ≥ 0 of bounded curvature.
    Smooth,
    /// Predictions that are clipped to [0, Y].
    Clipped,
    /// A walk that is not two-sided.
    OneSided,
    /// Steps of length rate·|slope|·‖x‖, as those of gradient descent are.
    Lengths,
}

/// The rate that a theorem prescribes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prescription {
    /// None: the bound follows from the steps that were made.
    None,
    /// From the slopes, the rows and how many there will be.
    Descent,
    /// The same for steps of relative entropy.
    Entropy,
    /// From the longest row, for the squared loss.
    LeastSquares,
    /// From the longest row, for smooth losses.
    Smooth,
    /// That of EG for the squared loss.
    Eg,
    /// That of its twin.
    ReparamEg,
    /// That of EGU and its twin.
    Egu,
}

/// What a ledger measures of a row.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RowFacts {
    /// The least and the greatest feature; those that the row leaves out are 0.
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    /// ‖x‖; infinite where it does not matter and was not measured.
    pub(crate) norm: f64,
    /// It follows from the step that was reported.
    pub(crate) reported: bool,
    /// The label, by the squared loss, and by how much it may be off.
    pub(crate) label: f64,
    pub(crate) slack: f64,
    /// One more than the last feature.
    pub(crate) bound: usize,
}

impl RowFacts {
    pub(crate) fn width(&self) -> f64 {
        self.hi - self.lo
    }

    /// The largest distance of a feature from this number.
    pub(crate) fn reach(&self, middle: f64) -> f64 {
        Real::max(self.hi - middle, middle - self.lo)
    }
}

/// One round, as a rule sees it.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) round: &'a Round,
    pub(crate) row: &'a RowFacts,
    pub(crate) ledger: &'a Terms,
    /// S of the loss; NaN if it is not smooth.
    pub(crate) smooth: f64,
    /// The sizes up to this round, this round's among them once [`LedgerRule::sizes`] was asked.
    pub(crate) sizes: [f64; 2],
}

impl View<'_> {
    /// The length that the step has if it is rate·|slope|·‖x‖.
    pub(crate) fn length(&self) -> f64 {
        if self.row.reported {
            self.round.length
        } else {
            self.round.rate * self.round.slope.abs() * self.row.norm
        }
    }
}

/// What a bound is a function of.
#[derive(Debug)]
pub(crate) struct Totals<'a> {
    pub(crate) u: &'a Comparator<'a>,
    pub(crate) ledger: &'a Terms,
    /// η.
    pub(crate) eta: f64,
    /// How far the comparators are from the start.
    pub(crate) far: f64,
    /// No less than what was added up.
    pub(crate) squares: f64,
    pub(crate) rounds: u64,
    pub(crate) sizes: [f64; 2],
    pub(crate) smooth: f64,
}

/// The bound of a theorem.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Formula {
    /// The regret.
    Steps(fn(&Totals<'_>) -> f64),
    /// c and p; the premise that breaks where c ≥ 1.
    Discounted(&'static str, fn(&Totals<'_>) -> (f64, f64)),
    /// f; the premise that breaks where f ≤ 0.
    Root(&'static str, fn(&Totals<'_>) -> f64),
}

/// The comparators of which a theorem speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaks {
    /// Those to which a distance is known.
    All,
    /// These.
    Of(Members),
    /// Those of the set that the start is in.
    OfStart,
}

/// A theorem as premises, sums and a formula.
#[derive(Debug)]
pub struct LedgerRule {
    pub(crate) theorem: &'static Theorem,
    pub(crate) quantity: Quantity,
    pub(crate) needs: &'static [Need],
    pub(crate) rate: Prescription,
    /// Are the features at the start part of it, so that a row must not have more?
    pub(crate) starts: bool,
    /// Does it look at the least and the greatest feature of rows?
    pub(crate) span: bool,
    /// Does it look at the length of rows? A length in L2 may be taken from the step that the walk reports.
    pub(crate) norm: bool,
    pub(crate) speaks: Speaks,
    /// The sizes before the first round, and how many of them there are.
    pub(crate) nothing: &'static [f64],
    /// The sizes after a round: of rows and labels, the largest so far.
    pub(crate) sizes: fn(&View<'_>) -> [f64; 2],
    /// The premises that sizes are declared by; empty for those that cannot be.
    pub(crate) declares: [&'static str; 2],
    pub(crate) demands: fn(&mut Watch, &View<'_>),
    /// What is added up.
    pub(crate) step: fn(&View<'_>) -> f64,
    pub(crate) formula: Formula,
}

impl LedgerRule {
    /// A theorem about steps, against all comparators, with nothing to check but what all of them check.
    pub(crate) const fn steps(theorem: &'static Theorem, bound: fn(&Totals<'_>) -> f64) -> Self {
        Self {
            theorem,
            quantity: Quantity::Regret,
            needs: &[Need::Convex, Need::OneSided],
            rate: Prescription::None,
            starts: false,
            span: false,
            norm: false,
            speaks: Speaks::All,
            nothing: &[],
            sizes: |view| view.sizes,
            declares: ["", ""],
            demands: |_, _| {},
            step: |view| view.round.length * view.round.length,
            formula: Formula::Steps(bound),
        }
    }

    /// A theorem about the squared loss.
    pub(crate) const fn squared(theorem: &'static Theorem, formula: Formula) -> Self {
        let needs = &[Need::Squared, Need::OneSided];
        Self { needs, formula, ..Self::steps(theorem, |_| f64::NAN) }
    }

    /// The theorem, in words.
    pub fn theorem(&self) -> &'static Theorem {
        self.theorem
    }

    /// Does it assume this of a run?
    pub fn needs(&self, need: Need) -> bool {
        self.needs.contains(&need)
    }

    /// Which rate it prescribes.
    pub fn prescription(&self) -> Prescription {
        self.rate
    }

    /// Does it bound what follows from the sum of steps, which files keep?
    fn sums(&self) -> bool {
        matches!(self.formula, Formula::Steps(_))
    }
}

/// What the theorems of a ledger have in common.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) divergence: Divergence,
    pub(crate) origin: Origin,
    /// The middle of a centred twin.
    pub(crate) middle: f64,
}

impl Terms {
    /// The exponent of the norm of weights.
    pub(crate) fn q(&self) -> f64 {
        if let Divergence::PNorm { q } = self.divergence { q } else { 2.0 }
    }

    /// The exponent of the norm of rows.
    pub(crate) fn p(&self) -> f64 {
        self.q() / (self.q() - 1.0)
    }
}

/// One theorem, with what it has added up.
#[derive(Debug, Clone)]
struct Line {
    rule: &'static LedgerRule,
    watch: Watch,
    smooth: f64,
    squares: Sum,
    sizes: [f64; 2],
    declared: [bool; 2],
    squared: bool,
}

/// The running sums of a run, and its theorems.
///
/// ```
/// use geowalk::certify::{Comparator, Ledger, rules};
/// use geowalk::certify::{Divergence, Start, Status};
/// use geowalk::loss::{Loss, Squared};
/// use geowalk::row::Dense;
/// use geowalk::walk::{Euclidean, Walk};
///
/// let facts = Squared.facts();
/// let mut ledger = Ledger::new(Divergence::Euclidean, Start::Given(Vec::new()))?;
/// for rule in rules::GRADIENT_STEPS {
///     ledger = ledger.with(rule, &facts);
/// }
/// let mut walk = Euclidean::new();
/// let round = walk.step(Dense(&[1.0]), 1.0.into(), &Squared, 0.25)?;
/// ledger.observe(&round, Dense(&[1.0]));
/// let verdicts = ledger.certify_all(&Comparator::Given(&[1.0]), None);
/// assert_eq!(verdicts.len(), 2);
/// assert!(verdicts.iter().all(|verdict| verdict.certificate.status == Status::Valid));
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Ledger {
    terms: Terms,
    lines: Vec<Line>,
    /// U of a two-sided walk.
    scale: Option<f64>,
    /// Steps are rate·|slope|·‖x‖ long: the walk says so.
    trusting: bool,
}

impl Ledger {
    /// A ledger without theorems, for steps from this start: 0 for p-norms and metrics, positive for the others.
    pub fn new(divergence: Divergence, start: Start) -> Result<Self, ConfigError> {
        let allowed = match &divergence {
            Divergence::PNorm { q } => {
                error::parameter("q", *q, Allowed::OpenClosed(1.0, 2.0))?;
                Allowed::Closed(0.0, 0.0)
            }
            Divergence::Mahalanobis(_) => Allowed::Closed(0.0, 0.0),
            Divergence::Euclidean => Allowed::Finite,
            Divergence::Entropy => Allowed::NonNegative,
            Divergence::Burg | Divergence::Logarithm => Allowed::Positive,
        };
        match &start {
            Start::Given(w) => error::each("the start", w, allowed)?,
            Start::Each(w) => error::each("the start", &[*w], allowed)?,
            Start::Even => {}
        }
        Ok(Self::at(divergence, start))
    }

    /// The same from any start.
    pub(crate) fn at(divergence: Divergence, start: Start) -> Self {
        let terms = Terms { divergence, origin: Origin::new(start), middle: 0.0 };
        Self { terms, lines: Vec::new(), scale: None, trusting: false }
    }

    /// With one more theorem, for losses with these facts.
    #[must_use]
    pub fn with(mut self, rule: &'static LedgerRule, facts: &Facts) -> Self {
        let mut watch = if rule.needs(Need::Convex) {
            Watch::convex(rule.theorem, facts)
        } else {
            Watch::new(rule.theorem)
        };
        if rule.needs(Need::Smooth) {
            watch.demand(SMOOTH, facts.smooth.is_some(), f64::INFINITY);
        }
        let mut sizes = [0.0; 2];
        sizes.iter_mut().zip(rule.nothing).for_each(|(size, nothing)| *size = *nothing);
        let smooth = facts.smooth.unwrap_or(f64::NAN);
        let (squares, declared) = (Sum::default(), [false; 2]);
        let squared = rule.needs(Need::Squared);
        self.lines.push(Line { rule, watch, smooth, squares, sizes, declared, squared });
        self
    }

    /// The last theorem with sizes that are declared beforehand: a row or label beyond them breaks it.
    pub fn declare(mut self, sizes: [Option<f64>; 2]) -> Result<Self, ConfigError> {
        if let Some(Line { rule, sizes: most, declared, .. }) = self.lines.last_mut() {
            for (i, size) in sizes.into_iter().enumerate() {
                if let Some(size) = size {
                    error::parameter(rule.declares[i], size, Allowed::Positive)?;
                    (most[i], declared[i]) = (size, true);
                }
            }
        }
        Ok(self)
    }

    /// From another start: for features that come at any time.
    #[must_use]
    pub fn starting(mut self, start: Start) -> Self {
        self.terms.origin = Origin::new(start);
        self
    }

    /// With features measured from this middle.
    #[must_use]
    pub fn centred(mut self, middle: f64) -> Self {
        self.terms.middle = middle;
        self
    }

    /// The theorems on the rows (Ux, −Ux), U = `scale`.
    #[must_use]
    pub fn signed(mut self, scale: f64) -> Self {
        self.scale = Some(scale);
        self
    }

    /// For walks whose steps are known to be rate·|slope|·‖x‖ long, as those of gradient descent: O(1) per round.
    #[must_use]
    pub fn trusting_lengths(mut self) -> Self {
        self.trusting = true;
        self
    }

    /// How many theorems there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Sees one round.
    #[inline]
    pub fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        if self.trusting {
            self.note(round, RowFacts { bound: x.bound(), ..RowFacts::default() });
        } else {
            self.look(round, x);
        }
    }

    /// The theorems that look at the row.
    #[inline(never)]
    fn look<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        match self.scale {
            Some(scale) => self.measure(round, Both { x, scale }),
            None => self.measure(round, x),
        }
    }

    #[inline]
    fn measure<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        let mut row = RowFacts { bound: x.bound(), ..RowFacts::default() };
        // A theorem that is void looks at no more rows.
        let asked = |asks: fn(&LedgerRule) -> bool| {
            self.lines.iter().any(|line| asks(line.rule) && line.watch.stands())
        };
        if asked(|rule| rule.span) {
            let count;
            (row.lo, row.hi, count) = x.span();
            if count < row.bound.max(self.terms.origin.features()) || count == 0 {
                (row.lo, row.hi) = (Real::min(row.lo, 0.0), Real::max(row.hi, 0.0));
            }
        }
        if asked(|rule| rule.norm) {
            row.norm = match self.terms.divergence.row_norm() {
                Norm::L2 => x.norm(Norm::L2).f64(),
                norm => x.above(norm),
            };
        }
        self.note(round, row);
    }

    fn note(&mut self, round: &Round, mut row: RowFacts) {
        if self.trusting {
            let pull = round.rate * round.slope.abs();
            row.norm = if pull > 0.0 { round.length / pull } else { f64::INFINITY };
            row.reported = true;
        }
        row.label = round.z - 0.5 * round.slope;
        row.slack = 4.0 * f64::EPSILON * (round.z.abs() + round.slope.abs());
        let rounds = self.lines.first().map_or(0, |line| line.watch.rounds + 1);
        let place = self.terms.origin.takes(row.bound, rounds);
        for line in &mut self.lines {
            let Line { rule, watch, smooth, squares, sizes, declared, squared } = line;
            let (before, later) = (round, rule.quantity == Quantity::After);
            let after = later.then(|| after(round, row.norm));
            let round = after.as_ref().unwrap_or(before);
            watch.round(round);
            watch.constant_rate(round.rate);
            if *squared {
                watch.squared(round, if later { 1e-9 } else { 1e-14 });
            }
            if rule.starts {
                watch.demand(NO_MORE, place, row.bound as f64);
            }
            let (ledger, smooth, row) = (&self.terms, *smooth, &row);
            let mut view = View { round, row, ledger, smooth, sizes: *sizes };
            let met = (rule.sizes)(&view);
            for ((size, met), declared) in sizes.iter_mut().zip(met).zip(declared) {
                if !*declared {
                    *size = met;
                }
            }
            view.sizes = *sizes;
            (rule.demands)(watch, &view);
            if later {
                watch.squared(before, 1e-14);
            }
            if rule.sums() {
                squares.add((rule.step)(&view));
            }
        }
        if place {
            self.terms.origin.extend(row.bound);
        }
    }

    /// What each theorem says of the comparators, sharper where what they lost is known.
    pub fn certify_all(&self, u: &Comparator<'_>, loss: Option<f64>) -> Vec<Verdict> {
        let radius = [if let Comparator::Ball { radius, .. } = u { *radius } else { 0.0 }];
        let u = self.scale.map_or(*u, |scale| self.two_sided(u, scale, &radius));
        let verdict = |line: &Line| {
            // What is true without the comparator's loss is true with it.
            let any = self.line(line, &u, None);
            let known = loss.map(|loss| self.line(line, &u, Some(loss)));
            let certificate = known.filter(|known| known.bound < any.bound).unwrap_or(any);
            let (quantity, declared) = (line.rule.quantity, line.declared());
            Verdict { certificate, quantity, declared, epochs: 1 }
        };
        self.lines.iter().map(verdict).collect()
    }

    /// The comparators as weights of (Ux, −Ux); `radius` is that of a ball.
    fn two_sided<'a>(
        &self,
        u: &Comparator<'a>,
        scale: f64,
        radius: &'a [f64; 1],
    ) -> Comparator<'a> {
        let origin = &self.terms.origin;
        let simplex = origin.members() == Members::Probabilities;
        match *u {
            Comparator::Given(u) => Comparator::Signed { u, scale },
            // All of them are on the simplex, or a vertex is not, which the theorem says.
            Comparator::Ball { norm: Norm::L1, radius: most } if simplex && most <= scale => {
                Comparator::Simplex { n: origin.features() }
            }
            Comparator::Ball { norm: Norm::L1, .. } if simplex => {
                Comparator::Signed { u: radius, scale }
            }
            Comparator::Ball { norm: Norm::L1, radius } => {
                Comparator::Positive { total: (radius / scale).next_up() }
            }
            // Of which no theorem with two sides knows anything.
            _ => Comparator::Ball { norm: Norm::L2, radius: f64::NAN },
        }
    }

    /// sup D(u, w₀) over the comparators, NaN where it is not known; or the premise that they break.
    fn farthest(&self, u: &Comparator<'_>) -> Result<f64, (&'static str, f64)> {
        let Terms { divergence, origin, .. } = &self.terms;
        let given = |u: &Comparator<'_>| {
            let Comparator::Given(u) = *u else { return None };
            let start = origin.weights(u.len());
            let positive = u.iter().all(|u| *u > 0.0 && u.is_finite());
            Some((u.to_vec(), positive && u.len() == start.len(), start))
        };
        Ok(match divergence {
            Divergence::Euclidean => farthest(u, &origin.weights(0)),
            Divergence::Entropy => origin.farthest_entropy(u),
            Divergence::PNorm { q } => half_square(u, *q),
            Divergence::Mahalanobis(metric) => metric.divergence(u),
            Divergence::Burg => match given(u) {
                Some((u, true, start)) => {
                    sum_of_gaps(u.iter().zip(start.iter()).map(|(u, w)| gap::burg(*u, *w)))
                }
                _ => f64::NAN,
            },
            Divergence::Logarithm => match given(u) {
                Some((u, true, start)) => {
                    // Next to the start u/w is rounded to much less than u − w says.
                    let log = |(u, w): (&f64, &f64)| {
                        let d = u - w;
                        if d.abs() < 0.5 * w { Real::ln_1p(d / w) } else { gap::ln_ratio(*u, *w) }
                    };
                    Norm::L2.of(&u.iter().zip(start.iter()).map(log).collect::<Vec<f64>>())
                }
                Some((u, false, _)) => return Err((POSITIVE, u.len() as f64)),
                None => f64::NAN,
            },
        })
    }

    /// What one theorem says, with the comparator's loss or without it.
    fn line(&self, line: &Line, u: &Comparator<'_>, loss: Option<f64>) -> Certificate {
        let Line { rule, watch, smooth, squares, sizes, .. } = line;
        let members = match rule.speaks {
            Speaks::All => None,
            Speaks::Of(members) => Some(members),
            Speaks::OfStart => Some(self.terms.origin.members()),
        };
        if let Some(refused) = members.and_then(|members| watch.outside(u, members)) {
            return refused;
        }
        let far = match self.farthest(u) {
            Ok(far) => far,
            Err((premise, found)) => return watch.refuse(premise, found),
        };
        let discounted = matches!(rule.formula, Formula::Discounted(..));
        if watch.rounds == 0 && (discounted || !far.is_nan()) {
            return watch.issue(0.0);
        }
        let totals = Totals {
            u,
            ledger: &self.terms,
            eta: watch.rate,
            far,
            squares: squares.upper() + underflow(watch.rounds),
            rounds: watch.rounds,
            sizes: *sizes,
            smooth: *smooth,
        };
        match rule.formula {
            Formula::Steps(bound) => watch.issue(bound(&totals)),
            Formula::Discounted(premise, terms) => {
                let (c, p) = terms(&totals);
                watch.discount(premise, c, p, loss)
            }
            Formula::Root(premise, factor) => {
                let factor = factor(&totals) * (1.0 - 8.0 * f64::EPSILON);
                if factor <= 0.0 {
                    return watch.refuse(premise, 1.0 - factor);
                }
                watch.issue(root(factor, far, watch.rate, watch.loss.upper(), loss))
            }
        }
    }

    /// Gives away everything that changes: of which theorem, as an array with a name.
    pub fn save_all(&self, put: &mut dyn FnMut(usize, &'static str, &[f64])) {
        for (j, line) in self.lines.iter().enumerate() {
            let rule = line.rule;
            let mut more = Vec::new();
            if rule.sums() {
                more.extend(line.squares.save());
            }
            // A least size that is not known yet is infinite, which is no number for a file.
            let sizes = line.sizes.iter().take(rule.nothing.len());
            more.extend(sizes.map(|size| if size.is_finite() { *size } else { -1.0 }));
            if rule.starts {
                more.push(self.terms.origin.save());
            }
            keep(&line.watch, &more, &mut |name, values| put(j, name, values));
        }
    }

    /// Continues from what `save_all` gave, with the same bits.
    pub fn load_all(
        &mut self,
        get: &mut dyn FnMut(usize, &'static str) -> Option<Vec<f64>>,
    ) -> Result<(), ConfigError> {
        for (j, line) in self.lines.iter_mut().enumerate() {
            let rule = line.rule;
            let sums = if rule.sums() { 4 } else { 0 };
            let count = sums + rule.nothing.len() + usize::from(rule.starts);
            let get: Get<'_> = &mut |name| get(j, name);
            let mut rest = restore_all(&mut line.watch, count, get)?.into_iter();
            let mut next = || rest.next().unwrap_or(f64::NAN);
            if rule.sums() {
                line.squares = Sum::load([next(), next(), next(), next()]);
            }
            for size in line.sizes.iter_mut().take(rule.nothing.len()) {
                let saved = next();
                *size = if saved < 0.0 { f64::INFINITY } else { saved };
            }
            if rule.starts {
                self.terms.origin.load(next());
            }
        }
        Ok(())
    }
}

impl Line {
    fn declared(&self) -> Vec<Declared> {
        let all = self.rule.declares.iter().zip(self.sizes).zip(self.declared);
        let all = all.filter(|((premise, _), declared)| *declared && !premise.is_empty());
        all.map(|((premise, value), _)| Declared { premise, value }).collect()
    }
}

/// The least valid bound, or the first certificate if none is valid.
fn best(certificates: impl Iterator<Item = Certificate>) -> Option<Certificate> {
    certificates.reduce(|best, next| {
        let valid = next.status == Status::Valid;
        if valid && !(best.status == Status::Valid && best.bound <= next.bound) {
            next
        } else {
            best
        }
    })
}

/// The sharpest of its theorems.
impl Bound for Ledger {
    fn observe<F: Real, X: Row<F>>(&mut self, round: &Round, x: X) {
        Self::observe(self, round, x);
    }

    fn compare(&mut self, round: &Round, prediction: f64, loss: f64) {
        for line in self.lines.iter_mut().filter(|line| line.rule.needs(Need::Convex)) {
            line.watch.compare(round, prediction, loss);
        }
    }

    fn certify(&self, u: &Comparator<'_>) -> Certificate {
        best(self.lines.iter().map(|line| self.line(line, u, None))).unwrap_or_else(nothing)
    }

    fn certify_known(&self, u: &Comparator<'_>, loss: f64) -> Certificate {
        best(self.lines.iter().map(|line| self.line(line, u, Some(loss)))).unwrap_or_else(nothing)
    }

    fn declared(&self) -> Vec<Declared> {
        self.lines.iter().flat_map(Line::declared).collect()
    }
}

/// A round of implicit steps for the squared loss, with loss, prediction and slope after the step.
fn after(round: &Round, norm: f64) -> Round {
    let (residual, factor) = (0.5 * round.slope, 1.0 + 2.0 * round.rate * norm * norm);
    let after = residual / factor;
    // A loss that is no number stays one.
    let loss = if round.loss.is_finite() { after * after } else { round.loss };
    Round { z: round.z - (residual - after), loss, slope: 2.0 * after, ..*round }
}

/// Of a ledger without theorems.
fn nothing() -> Certificate {
    let broken = Broken { premise: KNOWN, row: 0, found: f64::NAN };
    let (theorem, status) = ("none", Status::Void(broken));
    Certificate { theorem, status, rounds: 0, loss: f64::NAN, bound: f64::NAN }
}

/// sup ½‖u‖_q² over the comparators, rounded up; NaN where it is not known.
pub(crate) fn half_square(u: &Comparator<'_>, q: f64) -> f64 {
    let most = match *u {
        Comparator::Given(u) => Norm::Lp(q).of(u),
        Comparator::Ball { norm: Norm::L1, radius } => size(radius),
        Comparator::Ball { norm: Norm::Lp(r), radius } if r <= q * (1.0 + 1e-12) => size(radius),
        Comparator::Ball { norm: Norm::L2, radius } if q == 2.0 => size(radius),
        Comparator::Simplex { .. } => 1.0,
        Comparator::Positive { total } => size(total),
        _ => f64::NAN,
    };
    outward(0.5 * most * most * (1.0 + 1e-12), 0.0)
}

/// The regret, of factor·A − √(LA) ≤ W²/4η, for the learner's loss A and the comparator's L if it is known.
fn root(factor: f64, w: f64, eta: f64, a: f64, loss: Option<f64>) -> f64 {
    let w = outward(w * w / (4.0 * eta), 0.0);
    let Some(loss) = loss else {
        // √L ≥ (factor·A − W²/4η)/√A.
        let root = Real::max((factor * a - w) / a.sqrt(), 0.0);
        let bound = outward(a - root * root * (1.0 - 1e-14), a);
        // Nothing lost, nothing to regret, against any comparator.
        return if a > 0.0 || w.is_nan() { bound } else { 0.0 };
    };
    let loss = Real::max(loss, 0.0);
    let root = (loss.sqrt() + (loss + 4.0 * w * factor).sqrt()) / (2.0 * factor);
    outward(root * root - loss, loss)
}
