//! # Learning rules
//! Greedy, for each polarity s = ±1 by itself: from the empty rule, up to l times, the literal is added for which
//! $$\min_{s\delta > 0} \sum_i c_i\,\psi(z_i + \delta y_i h(o_i))$$
//! is least, as long as that is a strict gain (1e-12); the better polarity is kept, of equal ones +1. A column may occur more than once, which makes intervals.
//!
//! **Why by polarity** one literal L and its negation have the same least risk, h and −h. A search that does not keep the sign of δ lets the order of
//! literals decide which conjunctions it can reach; it does not find x₀ ∧ ¬x₂ in clean data, for any loss.
//!
//! **Search** [`Search::Edge`] takes the literal with the largest edge $s\,(2\sum_{\text{rule} \wedge L} c\,w\,y - \sum c\,w\,y)$: one sum per value of a column and row
//! that the rule still covers. It is exact for the exponential and the squared loss, whose risk falls with the edge of a feature ±1; for others the risks may be
//! ordered otherwise. [`Search::Screened`] solves for δ for the K literals of largest edge, [`Search::Exact`] for all.
//!
//! **Cost** Edge: O(rows × columns) for the first literal, for the others only the rows that are covered; nothing is allocated per round. Screened: K line
//! searches more per literal. Exact: one line search per literal of the table. In parallel over columns or candidates, the same bits for every number of threads.
//! **Care** a threshold is fixed before the next literal is chosen: with numeric columns the greedy rule need not be the best rule of l literals. Edges nearer than 1e-12 of Σ c|w| are equal, and
//! the first literal wins. **Source** \[NN09, sec. 7\].

mod coded;

use rayon::prelude::*;

use super::line::least_risk;
use super::rule::{Literal, Rule};
use super::surrogate::with_psi;
use super::table::Table;
use super::weak::{Hypothesis, View, Weak};
use crate::Real;
use crate::error::{Allowed, ConfigError, parameter};
use coded::{Coded, Scratch};

/// How the literals are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Search {
    /// By their edges.
    Edge,
    /// By the risk, for this many of largest edge.
    Screened(usize),
    /// By the risk, all of them.
    Exact,
}

impl Search {
    /// `edge`, `exact`, `screened` or `screened(K)`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let spec = crate::spec::Spec::parse(text)?;
        let mut args = spec.args();
        let found = match spec.name() {
            "edge" => Self::Edge,
            "exact" => Self::Exact,
            "screened" => {
                let k = parameter("k", args.number("k", 8.0)?, Allowed::Whole(1))?;
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "whole, and at least 1"
                )]
                Self::Screened(k as usize)
            }
            name => {
                return Err(crate::spec::unknown("search", name, ["edge", "screened", "exact"]));
            }
        };
        args.finish()?;
        Ok(found)
    }

    /// As it is written.
    pub fn spec(self) -> String {
        match self {
            Self::Edge => "edge".to_owned(),
            Self::Screened(k) => format!("screened(k={k})"),
            Self::Exact => "exact".to_owned(),
        }
    }
}

/// What a rule learner may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleOptions {
    /// The largest number of literals, l ≥ 1.
    pub literals: usize,
    /// How they are compared.
    pub search: Search,
    /// Bins of a numeric column, 2 to 255; `None`: thresholds between all values.
    pub bins: Option<usize>,
    /// Rules abstain where a value is missing, instead of being false.
    pub abstains: bool,
}

impl Default for RuleOptions {
    fn default() -> Self {
        Self { literals: 2, search: Search::Edge, bins: Some(255), abstains: false }
    }
}

/// A literal with its value: an edge (larger is better) or a risk (smaller is better).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) value: f64,
    pub(crate) column: usize,
    /// The place of the literal in the order of its column.
    pub(crate) place: usize,
}

/// The rule learner of a table.
///
/// ```
/// use geowalk::boost::rules::{RuleOptions, Rules};
/// use geowalk::boost::table::{Column, Table};
/// use geowalk::boost::weak::{Hypothesis, View, Weak};
/// use geowalk::boost::{Surrogate, rule::Asks};
/// let a = Column::boolean("a", [0, 0, 1, 1].map(|bit| Some(bit == 1)).to_vec());
/// let b = Column::boolean("b", [0, 1, 0, 1].map(|bit| Some(bit == 1)).to_vec());
/// let table = Table::new(vec![a, b])?;
/// let mut rules = Rules::new(&table, RuleOptions::default())?;
/// let (loss, u, w, c) = (Surrogate::parse("matsushita")?, [0.0; 4], [0.5; 4], [1.0; 4]);
/// // a and not b
/// let view = View { loss: &loss, y: &[-1.0, -1.0, 1.0, -1.0], c: &c, u: &u, w: &w };
/// let mut h = [0.0; 4];
/// let Some(Hypothesis::Rule(rule)) = rules.learn(&view, &mut h) else { panic!() };
/// let asks: Vec<_> = rule.literals.iter().map(|l| (l.column, l.asks)).collect();
/// assert_eq!(asks, [(0, Asks::Truth(true)), (1, Asks::Truth(false))]);
/// assert_eq!(h, [-1.0, -1.0, 1.0, -1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Rules<'a> {
    table: &'a Table,
    options: RuleOptions,
    columns: Vec<Coded>,
    /// Some columns are sparse.
    sparse: bool,
    /// The signed weight of every row, 0 of those that are not covered; used if some columns are sparse.
    by_row: Vec<f64>,
    scratch: Vec<Scratch>,
    /// c w y.
    signed: Vec<f64>,
    sides: [Side; 2],
    /// The m of each candidate that is solved for.
    trials: Vec<Vec<f64>>,
    chosen: Vec<Candidate>,
    /// The scores without their largest, for losses that need it.
    shifted: Vec<f64>,
}

/// The rule of one polarity as it grows.
#[derive(Debug, Default)]
struct Side {
    literals: Vec<Literal>,
    /// The rows that it covers, and their signed weights; unused as long as it covers all.
    rows: Vec<u32>,
    signed: Vec<f64>,
    whole: bool,
    /// Rows on which no column that it asks for is missing; only kept if rules abstain.
    known: Vec<bool>,
    /// Edge or risk.
    value: f64,
}

const SIGNS: [f64; 2] = [1.0, -1.0];

/// Below this many sums threads cost more than they save.
const WORTH: usize = 1 << 14;

impl<'a> Rules<'a> {
    /// Prepares the columns of a table.
    pub fn new(table: &'a Table, options: RuleOptions) -> Result<Self, ConfigError> {
        parameter("literals", options.literals as f64, Allowed::Whole(1))?;
        if let Search::Screened(k) = options.search {
            parameter("k", k as f64, Allowed::Whole(1))?;
        }
        let columns = coded::columns(table, options.bins)?;
        let most = match options.search {
            Search::Edge => 1,
            Search::Screened(k) => k,
            Search::Exact => 0,
        };
        let scratch = columns.iter().map(|column| Scratch::new(column, most)).collect();
        Ok(Self {
            table,
            options,
            sparse: columns.iter().any(Coded::is_sparse),
            columns,
            by_row: Vec::new(),
            scratch,
            signed: Vec::new(),
            sides: [Side::default(), Side::default()],
            trials: Vec::new(),
            chosen: Vec::new(),
            shifted: Vec::new(),
        })
    }

    /// The rules of both polarities; their values are in the sides.
    fn grow(&mut self, view: &View<'_>, by_edge: bool) {
        let scale: f64 = self.signed.iter().map(|v| v.abs()).sum();
        let total: f64 = self.signed.iter().sum();
        for (side, sign) in SIGNS.into_iter().enumerate() {
            let value = if by_edge { sign * total } else { self.risk_of_constant(view, sign) };
            let known = if self.options.abstains { self.signed.len() } else { 0 };
            let own = &mut self.sides[side];
            (own.whole, own.value) = (true, value);
            own.literals.clear();
            own.known.clear();
            own.known.resize(known, true);
        }
        // The first literals of both polarities come from the same sums.
        self.sum(0);
        let grows = [0, 1].map(|side| self.extend(view, side, by_edge, total, scale));
        for (side, grows) in grows.into_iter().enumerate() {
            if !grows {
                continue;
            }
            for _ in 1..self.options.literals {
                self.sum(side);
                if !self.extend(view, side, by_edge, total, scale) {
                    break;
                }
            }
        }
    }

    /// Adds the best literal, if it is a gain.
    fn extend(
        &mut self,
        view: &View<'_>,
        side: usize,
        by_edge: bool,
        total: f64,
        scale: f64,
    ) -> bool {
        let sign = SIGNS[side];
        let found = if by_edge {
            self.best_edge(side, sign, total, scale)
        } else if self.options.search == Search::Exact {
            self.best_exact(view, side, sign)
        } else {
            self.best_screened(view, side, sign, total)
        };
        let own = &mut self.sides[side];
        let Some(best) = found else { return false };
        let gains = if by_edge {
            best.value > own.value + 1e-12 * scale
        } else {
            best.value < own.value * (1.0 - 1e-12)
        };
        if gains {
            own.value = best.value;
            let column = &self.columns[best.column];
            own.literals.push(column.literal(best.column, best.place));
            own.shrink(column, best.place, &self.signed);
        }
        gains
    }

    /// The sums of signed weights by bin, for the rows that the side covers.
    fn sum(&mut self, side: usize) {
        let own = &self.sides[side];
        let (rows, signed) = if own.whole {
            (None, self.signed.as_slice())
        } else {
            (Some(own.rows.as_slice()), own.signed.as_slice())
        };
        let (all, known) = (self.signed.as_slice(), own.known.as_slice());
        let mut total = 0.0;
        if self.sparse {
            total = signed.iter().sum();
            self.by_row.clear();
            match rows {
                None => self.by_row.extend_from_slice(signed),
                Some(rows) => {
                    self.by_row.resize(all.len(), 0.0);
                    for (row, weight) in rows.iter().zip(signed) {
                        self.by_row[*row as usize] = *weight;
                    }
                }
            }
        }
        let by_row = (self.by_row.as_slice(), total);
        let work = |(column, scratch): (&Coded, &mut Scratch)| {
            scratch.sum(column, rows, signed, by_row);
            scratch.sum_unknown(column, all, known);
        };
        if signed.len() * self.columns.len() >= WORTH {
            self.columns.par_iter().zip(&mut self.scratch).for_each(work);
        } else {
            self.columns.iter().zip(&mut self.scratch).for_each(work);
        }
    }

    /// The sum of the signed weights of rows on which the side does not abstain.
    fn known_total(&self, side: usize, total: f64) -> f64 {
        if !self.options.abstains {
            return total;
        }
        let known = self.sides[side].known.iter().zip(&self.signed);
        known.map(|(known, v)| if *known { *v } else { 0.0 }).sum()
    }

    fn best_edge(&mut self, side: usize, sign: f64, total: f64, scale: f64) -> Option<Candidate> {
        let base = self.known_total(side, total);
        let margin = 1e-12 * scale;
        let mut best: Option<Candidate> = None;
        for (at, (column, scratch)) in self.columns.iter().zip(&mut self.scratch).enumerate() {
            scratch.keep_best(column, at, sign, base, margin, 1);
            for &found in &scratch.best {
                if best.is_none_or(|best| found.value > best.value + margin) {
                    best = Some(found);
                }
            }
        }
        best
    }

    fn best_screened(
        &mut self,
        view: &View<'_>,
        side: usize,
        sign: f64,
        total: f64,
    ) -> Option<Candidate> {
        let Search::Screened(k) = self.options.search else { return None };
        let base = self.known_total(side, total);
        self.chosen.clear();
        for (at, (column, scratch)) in self.columns.iter().zip(&mut self.scratch).enumerate() {
            scratch.keep_best(column, at, sign, base, 0.0, k);
            self.chosen.extend_from_slice(&scratch.best);
        }
        // The largest edges; of equal ones the first. Without an edge on this side there is nothing to gain.
        self.chosen.retain(|candidate| candidate.value > 0.0);
        self.chosen.sort_by(|a, b| {
            b.value.total_cmp(&a.value).then(a.column.cmp(&b.column)).then(a.place.cmp(&b.place))
        });
        self.chosen.truncate(k);
        self.chosen.sort_by_key(|candidate| (candidate.column, candidate.place));
        let mut chosen = std::mem::take(&mut self.chosen);
        let mut trials = std::mem::take(&mut self.trials);
        trials.resize_with(chosen.len().max(trials.len()), Vec::new);
        let work = |(candidate, m): (&mut Candidate, &mut Vec<f64>)| {
            candidate.value = self.risk_with(view, side, sign, candidate, m);
        };
        if view.y.len() * chosen.len() >= WORTH {
            chosen.par_iter_mut().zip(&mut trials[..]).for_each(work);
        } else {
            chosen.iter_mut().zip(&mut trials[..]).for_each(work);
        }
        let best = least(&chosen);
        (self.chosen, self.trials) = (chosen, trials);
        best
    }

    fn best_exact(&mut self, view: &View<'_>, side: usize, sign: f64) -> Option<Candidate> {
        let own = &*self;
        let found: Vec<Option<Candidate>> = (0..self.columns.len())
            .into_par_iter()
            .map_init(Vec::new, |m, column| {
                let coded = &own.columns[column];
                let all: Vec<Candidate> = (0..coded.places())
                    .filter(|place| coded.exists(*place))
                    .map(|place| {
                        let mut candidate = Candidate { value: 0.0, column, place };
                        candidate.value = own.risk_with(view, side, sign, &candidate, m);
                        candidate
                    })
                    .collect();
                least(&all)
            })
            .collect();
        least(&found.into_iter().flatten().collect::<Vec<_>>())
    }

    /// The least risk of the rule with one more literal.
    fn risk_with(
        &self,
        view: &View<'_>,
        side: usize,
        sign: f64,
        candidate: &Candidate,
        m: &mut Vec<f64>,
    ) -> f64 {
        let own = &self.sides[side];
        let column = &self.columns[candidate.column];
        m.clear();
        m.extend_from_slice(view.y);
        column.each_held(candidate.place, (!own.whole).then_some(&own.rows), |row| {
            m[row] = -view.y[row];
        });
        if self.options.abstains {
            let asked = column.asks_for_value(candidate.place);
            for (row, m) in m.iter_mut().enumerate() {
                if !own.known[row] || (asked && column.is_missing(row)) {
                    *m = 0.0;
                }
            }
        }
        self.risk(view, m, sign)
    }

    fn risk_of_constant(&self, view: &View<'_>, sign: f64) -> f64 {
        let m: Vec<f64> = view.y.iter().map(|y| -y).collect();
        self.risk(view, &m, sign)
    }

    fn risk(&self, view: &View<'_>, m: &[f64], sign: f64) -> f64 {
        let cap = if view.loss.minimizer().is_finite() {
            // The minimum is never far, but a booster of several losses may come from far.
            1e6
        } else {
            4.0 * view.loss.cap(view.y.len())
        };
        let u = if self.shifted.is_empty() { view.u } else { &self.shifted };
        with_psi!(view.loss, psi => least_risk(&psi, u, m, view.c, sign, cap).0)
    }
}

/// The candidate of least risk; of equal ones the first.
fn least(candidates: &[Candidate]) -> Option<Candidate> {
    let mut best: Option<Candidate> = None;
    for &candidate in candidates {
        if best.is_none_or(|best| candidate.value < best.value * (1.0 - 1e-12)) {
            best = Some(candidate);
        }
    }
    best
}

impl Side {
    /// Keeps the rows in which the literal holds.
    #[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
    fn shrink(&mut self, column: &Coded, place: usize, signed: &[f64]) {
        if !self.known.is_empty() && column.asks_for_value(place) {
            for (row, known) in self.known.iter_mut().enumerate() {
                *known &= !column.is_missing(row);
            }
        }
        if self.whole {
            self.rows.clear();
            let rows = &mut self.rows;
            column.each_held(place, None, |row| rows.push(row as u32));
            self.whole = false;
        } else {
            column.retain(place, &mut self.rows);
        }
        // Signed weights beside their rows, so that the next sums read them in order.
        self.signed.clear();
        self.signed.extend(self.rows.iter().map(|row| signed[*row as usize]));
    }
}

impl Weak for Rules<'_> {
    fn learn(&mut self, view: &View<'_>, h: &mut [f64]) -> Option<Hypothesis> {
        if view.y.len() != self.table.rows() {
            return None;
        }
        self.signed.clear();
        let terms = view.c.iter().zip(view.w).zip(view.y);
        self.signed.extend(terms.map(|((c, w), y)| c * w * y));
        self.shifted.clear();
        if view.loss.is_exponential() {
            let shift = view.u.iter().copied().fold(f64::NEG_INFINITY, Real::max);
            self.shifted.extend(view.u.iter().map(|u| u - shift));
        }
        // Of features ±1 the exponential and the squared loss see nothing but the edge.
        let simple =
            (view.loss.is_exponential() || view.loss.is_squared()) && !self.options.abstains;
        let by_edge = simple || self.options.search == Search::Edge;
        self.grow(view, by_edge);
        let [plus, minus] = &self.sides;
        let second = if by_edge { minus.value > plus.value } else { minus.value < plus.value };
        let own = &self.sides[usize::from(second)];
        let rule = Rule { literals: own.literals.clone(), abstains: self.options.abstains };
        if own.whole {
            h.fill(1.0);
        } else {
            h.fill(-1.0);
            for &row in &own.rows {
                h[row as usize] = 1.0;
            }
        }
        for (h, known) in h.iter_mut().zip(&own.known) {
            if !known {
                *h = 0.0;
            }
        }
        Some(Hypothesis::Rule(rule))
    }

    fn table(&self) -> &Table {
        self.table
    }
}
