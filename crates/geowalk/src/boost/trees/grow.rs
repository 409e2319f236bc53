//! # Growing a tree on slopes
//! Best first: of all leaves the one whose best split gains most is split next, until there are as many
//! leaves as allowed or nothing gains. A split gains $\frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R +
//! \lambda} - \frac{G^2}{H + \lambda}$.
//!
//! * Numbers: every threshold between bins. Names: ordered by G/(H + 1), every prefix with ridge λ + 1; with
//!   at most four names also each against the rest. Missing values go to the side where they gain most, and
//!   where a node has none of them to the larger child.
//! * Of two siblings only the one with fewer rows is counted; the other is the parent less its sibling.
//! * Rows that do not take part (not sampled, or held out) are sent along, so that every row ends in its
//!   leaf.
//!
//! **Ties** the first column, then the first threshold. **Cost** O(rows × columns / 2) per level after the
//! root; no allocation per node after the first tree.

use rayon::prelude::*;

use super::histogram::{Block, CODES, Cell, Panels, Sums, Units, column, subtract};
use super::model::{Ask, Branch};
use crate::boost::binned::{Bin, Binned, BinnedColumn};
use crate::sampler::Sampler;

/// Histograms that are kept need at most this many bytes; of the nodes beyond both children are counted.
const MOST_BYTES: usize = 1 << 28;

/// The limits of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) leaves: usize,
    pub(super) depth: usize,
    pub(super) lambda: f64,
    pub(super) least_rows: u64,
    /// The share of the columns that each node looks at.
    pub(super) columns: f64,
    pub(super) least_gain: f64,
    /// Rows of a leaf are counted by their curvature: as many as have it on average in the whole tree.
    pub(super) effective: bool,
}

/// The least Σh of a child.
const LEAST_CURVATURE: f64 = 1e-3;

/// Codes that go left.
type Mask = [u64; 4];

/// A split of a node.
#[derive(Debug, Clone, Copy)]
struct Cut {
    gain: f64,
    column: usize,
    left: Mask,
    /// Missing values go left.
    missing: bool,
    /// The last bin below the threshold; of no meaning for names.
    bin: usize,
}

/// A leaf that may be split.
#[derive(Debug)]
struct Leaf {
    node: usize,
    depth: usize,
    /// Its rows among those that take part, and among the others.
    fit: (usize, usize),
    ride: (usize, usize),
    histogram: Option<usize>,
    cut: Option<Cut>,
}

/// A node of a tree that is grown.
#[derive(Debug, Clone)]
pub(super) struct Grown {
    pub(super) branch: Option<Branch>,
    /// Of a leaf: its number among the leaves.
    pub(super) leaf: usize,
}

/// Grows trees on one table, and keeps the room that it needs.
pub(super) struct Grower<'a> {
    binned: &'a Binned,
    panels: &'a Panels,
    /// Rows that take part, rows that do not; leaf by leaf once a tree is grown.
    pub(super) fit: Vec<u32>,
    pub(super) ride: Vec<u32>,
    spare: Vec<u32>,
    pub(super) cells: Vec<Cell>,
    histograms: Vec<Vec<Block>>,
    free: Vec<usize>,
    leaves: Vec<Leaf>,
    chosen: Vec<usize>,
    cuts: Vec<Option<Cut>>,
    /// Rows per curvature, if rows are counted by it.
    per_curvature: Option<f64>,
}

impl<'a> Grower<'a> {
    pub(super) fn new(binned: &'a Binned, panels: &'a Panels) -> Self {
        Self {
            binned,
            panels,
            fit: Vec::new(),
            ride: Vec::new(),
            spare: Vec::new(),
            cells: vec![Cell::default(); binned.rows()],
            histograms: Vec::new(),
            free: Vec::new(),
            leaves: Vec::new(),
            chosen: Vec::new(),
            cuts: Vec::new(),
            per_curvature: None,
        }
    }

    /// Grows a tree from `fit` and `cells`. Gives each row of `fit` and `ride` the number of its leaf.
    pub(super) fn grow(
        &mut self,
        units: Units,
        limits: Limits,
        sampler: &mut Sampler,
        leaf_of: &mut [u16],
    ) -> Vec<Grown> {
        self.leaves.clear();
        self.free.clear();
        self.free.extend((0..self.histograms.len()).rev());
        let mut nodes = vec![Grown { branch: None, leaf: 0 }];
        let (fit, ride) = ((0, self.fit.len()), (0, self.ride.len()));
        let slot = self.slot(limits);
        let mut root = Leaf { node: 0, depth: 0, fit, ride, histogram: slot, cut: None };
        if let Some(slot) = slot {
            self.panels.count(&self.fit, &self.cells, &mut self.histograms[slot]);
            let root_sums = self.total(units, slot);
            let rows = root_sums.rows as f64;
            self.per_curvature = limits.effective.then_some(rows / root_sums.h);
            root.cut = self.search(units, limits, slot, root_sums, sampler);
        }
        self.leaves.push(root);
        while self.leaves.len() < limits.leaves {
            let mut best: Option<(usize, f64)> = None;
            for (at, leaf) in self.leaves.iter().enumerate() {
                if let Some(cut) = &leaf.cut
                    && best.is_none_or(|(_, gain)| beats(cut.gain, gain))
                {
                    best = Some((at, cut.gain));
                }
            }
            let Some((at, _)) = best else { break };
            self.split(at, units, limits, sampler, &mut nodes);
        }
        for (number, leaf) in self.leaves.iter().enumerate() {
            nodes[leaf.node].leaf = number;
            let rows = self.fit[leaf.fit.0..leaf.fit.1].iter();
            #[expect(clippy::cast_possible_truncation, reason = "at most 65535 leaves")]
            for row in rows.chain(&self.ride[leaf.ride.0..leaf.ride.1]) {
                leaf_of[*row as usize] = number as u16;
            }
        }
        nodes
    }

    /// Room for a histogram; none if that would be too much.
    fn slot(&mut self, limits: Limits) -> Option<usize> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        let size = self.panels.blocks() * size_of::<Block>();
        let most = (MOST_BYTES / size.max(1)).max(3);
        if self.histograms.len() >= most.min(limits.leaves + 2) {
            return None;
        }
        #[expect(clippy::large_stack_arrays, reason = "the compiler fills the heap with it")]
        self.histograms.push(vec![[[Cell::default(); CODES]; 8]; self.panels.blocks()]);
        Some(self.histograms.len() - 1)
    }

    fn total(&self, units: Units, slot: usize) -> Sums {
        let mut sum = Cell::default();
        column(&self.histograms[slot], 0).iter().for_each(|cell| sum += *cell);
        units.sums(sum)
    }

    fn split(
        &mut self,
        at: usize,
        units: Units,
        limits: Limits,
        sampler: &mut Sampler,
        nodes: &mut Vec<Grown>,
    ) {
        let leaf = &self.leaves[at];
        let (Some(cut), depth, histogram) = (leaf.cut, leaf.depth + 1, leaf.histogram) else {
            return;
        };
        let (node, fit, ride) = (leaf.node, leaf.fit, leaf.ride);
        let codes = self.binned.columns()[cut.column].codes();
        let mut goes = [false; CODES];
        for (code, goes) in goes.iter_mut().enumerate() {
            *goes = cut.left[code >> 6] >> (code & 63) & 1 == 1;
        }
        let middle_fit = partition(&mut self.fit[fit.0..fit.1], &mut self.spare, codes, &goes);
        let middle_ride = partition(&mut self.ride[ride.0..ride.1], &mut self.spare, codes, &goes);
        let (middle_fit, middle_ride) = (fit.0 + middle_fit, ride.0 + middle_ride);
        let (left, right) = (nodes.len(), nodes.len() + 1);
        nodes[node].branch = Some(Branch {
            column: cut.column,
            ask: ask(&self.binned.columns()[cut.column], &cut),
            left,
            right,
            gain: cut.gain,
        });
        nodes.push(Grown { branch: None, leaf: 0 });
        nodes.push(Grown { branch: None, leaf: 0 });
        let mut children = [
            Leaf {
                node: left,
                depth,
                fit: (fit.0, middle_fit),
                ride: (ride.0, middle_ride),
                histogram: None,
                cut: None,
            },
            Leaf {
                node: right,
                depth,
                fit: (middle_fit, fit.1),
                ride: (middle_ride, ride.1),
                histogram: None,
                cut: None,
            },
        ];
        // The last leaves are not split any more: nothing is counted for them.
        let ends = depth >= limits.depth || self.leaves.len() + 1 >= limits.leaves;
        if ends {
            self.free.extend(histogram);
        } else {
            let small = usize::from(middle_fit - fit.0 > fit.1 - middle_fit);
            let large = 1 - small;
            if let Some(slot) = self.slot(limits) {
                let rows = children[small].fit;
                let rows = &self.fit[rows.0..rows.1];
                self.panels.count(rows, &self.cells, &mut self.histograms[slot]);
                children[small].histogram = Some(slot);
                if let Some(parent) = histogram {
                    if let Ok([a, b]) = self.histograms.get_disjoint_mut([parent, slot]) {
                        subtract(a, b);
                    }
                    children[large].histogram = Some(parent);
                }
            } else {
                // One room for both, one after the other.
                children[small].histogram = histogram;
                if let Some(slot) = histogram {
                    let rows = children[small].fit;
                    let rows = &self.fit[rows.0..rows.1];
                    self.panels.count(rows, &self.cells, &mut self.histograms[slot]);
                }
            }
            for child in [small, large] {
                let found = children[child].histogram.take();
                let found = found.or_else(|| {
                    let slot = self.slot(limits)?;
                    let rows = children[child].fit;
                    let rows = &self.fit[rows.0..rows.1];
                    self.panels.count(rows, &self.cells, &mut self.histograms[slot]);
                    Some(slot)
                });
                let Some(slot) = found else { continue };
                let sums = self.total(units, slot);
                children[child].cut = self.search(units, limits, slot, sums, sampler);
                // What cannot be split, or must make room, gives its histogram back.
                let crowded = self.free.is_empty() && self.crowded(limits);
                if children[child].cut.is_none() || crowded {
                    self.free.push(slot);
                } else {
                    children[child].histogram = Some(slot);
                }
            }
        }
        let [left, right] = children;
        self.leaves[at] = left;
        self.leaves.push(right);
    }

    /// Is there no room for a histogram per leaf?
    fn crowded(&self, limits: Limits) -> bool {
        let size = self.panels.blocks() * size_of::<Block>();
        MOST_BYTES / size.max(1) < limits.leaves + 2
            && self.histograms.len() >= (MOST_BYTES / size.max(1)).max(3)
    }

    /// The best split of a node with this histogram.
    fn search(
        &mut self,
        units: Units,
        limits: Limits,
        slot: usize,
        sums: Sums,
        sampler: &mut Sampler,
    ) -> Option<Cut> {
        let count = self.panels.columns;
        // Drawn for every node, so that what a node sees does not depend on others.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let wanted = ((count as f64 * limits.columns).ceil() as usize).clamp(1, count);
        self.chosen.clear();
        self.chosen.extend(0..count);
        if wanted < count {
            for at in 0..wanted {
                let other = at + sampler.below(count - at);
                self.chosen.swap(at, other);
            }
            self.chosen.truncate(wanted);
            self.chosen.sort_unstable();
        }
        if !limits.effective && sums.rows < 2 * limits.least_rows {
            return None;
        }
        let (histogram, per) = (&self.histograms[slot], self.per_curvature);
        let own = |at: usize| {
            let binned = &self.binned.columns()[at];
            best_of(at, binned, column(histogram, at), units, (limits, per), sums)
        };
        // A column has at most 256 cells: threads pay for wide tables alone.
        if wanted >= 256 {
            self.cuts.clear();
            self.cuts.resize(wanted, None);
            let chosen = &self.chosen;
            self.cuts.par_iter_mut().zip(chosen).for_each(|(cut, at)| *cut = own(*at));
            return self.cuts.iter().flatten().copied().reduce(better);
        }
        self.chosen.iter().filter_map(|at| own(*at)).reduce(better)
    }
}

fn better(a: Cut, b: Cut) -> Cut {
    if beats(b.gain, a.gain) { b } else { a }
}

/// Is this gain larger by more than rounding? Splits that part the rows alike tie, and the first one is taken,
/// also where a row stands for several.
fn beats(gain: f64, most: f64) -> bool {
    gain > most * (1.0 + 1e-9)
}

/// Puts the rows that go left first, in their order; how many there are.
fn partition(rows: &mut [u32], spare: &mut Vec<u32>, codes: &[u8], goes: &[bool; CODES]) -> usize {
    if spare.len() < rows.len() {
        spare.resize(rows.len(), 0);
    }
    let (mut left, mut right) = (0, 0);
    for at in 0..rows.len() {
        let row = rows[at];
        let goes = usize::from(goes[usize::from(codes[row as usize])]);
        // Both are written; only one of the two ends moves on.
        rows[left] = row;
        spare[right] = row;
        left += goes;
        right += 1 - goes;
    }
    rows[left..].copy_from_slice(&spare[..right]);
    left
}

/// The question that a split asks of new data.
fn ask(binned: &BinnedColumn, cut: &Cut) -> Ask {
    let goes = |code: usize| cut.left[code >> 6] >> (code & 63) & 1 == 1;
    if let Some(Bin::Interval { .. }) = binned.bins().first() {
        let theta = binned.cut(cut.bin).unwrap_or(f64::MAX);
        return Ask::AtMost { theta, missing: cut.missing };
    }
    // The names that do not go where missing values go.
    let name = |bin: &Bin| match bin {
        Bin::Name(code) => *code,
        Bin::Truth(truth) => u32::from(*truth),
        Bin::Interval { .. } | Bin::Rest => u32::MAX,
    };
    let bins = binned.bins().iter().enumerate();
    let names = bins.filter(|(code, _)| goes(*code) != cut.missing).map(|(_, bin)| name(bin));
    Ask::Among { names: names.collect(), left: !cut.missing }
}

/// Gains of splits of a node.
struct Gains {
    units: Units,
    lambda: f64,
    least_rows: u64,
    least_gain: f64,
    per_curvature: Option<f64>,
    all: Sums,
    base: f64,
}

impl Gains {
    /// The gain of sending these rows left; none if that is not allowed.
    #[inline(always)]
    fn of(&self, left: Cell) -> Option<f64> {
        let left = self.units.sums(left);
        let (g, h) = (self.all.g - left.g, self.all.h - left.h);
        let rows = self.all.rows - left.rows.min(self.all.rows);
        let few = match self.per_curvature {
            None => left.rows < self.least_rows || rows < self.least_rows,
            Some(per) => {
                let least = self.least_rows as f64;
                left.h * per < least || h * per < least || left.rows == 0 || rows == 0
            }
        };
        if few || left.h < LEAST_CURVATURE || h < LEAST_CURVATURE {
            return None;
        }
        let gain = left.g * left.g / (left.h + self.lambda) + g * g / (h + self.lambda) - self.base;
        (gain > self.least_gain).then_some(gain)
    }
}

fn best_of(
    at: usize,
    binned: &BinnedColumn,
    cells: &[Cell; CODES],
    units: Units,
    (limits, per_curvature): (Limits, Option<f64>),
    all: Sums,
) -> Option<Cut> {
    let bins = binned.bins().len();
    if bins == 0 {
        return None;
    }
    let missing = cells[bins];
    let gaps = units.sums(missing).rows > 0;
    let is_number = matches!(binned.bins()[0], Bin::Interval { .. });
    let lambda = if is_number { limits.lambda } else { limits.lambda + 1.0 };
    let gains = Gains {
        units,
        lambda,
        least_rows: limits.least_rows,
        least_gain: limits.least_gain,
        per_curvature,
        all,
        base: all.g * all.g / (all.h + lambda),
    };
    let mut best: Option<(f64, usize, bool)> = None;
    let mut consider = |left: Cell, place: usize| {
        for with in [false, true] {
            if with && !gaps {
                continue;
            }
            let mut left = left;
            if with {
                left += missing;
            }
            if let Some(gain) = gains.of(left)
                && best.is_none_or(|(most, ..)| beats(gain, most))
            {
                best = Some((gain, place, with));
            }
        }
    };
    if is_number {
        let mut left = Cell::default();
        // The last bin alone says "known".
        let last = if gaps { bins } else { bins - 1 };
        for (bin, cell) in cells.iter().enumerate().take(last) {
            if *cell != Cell::default() {
                left += *cell;
                consider(left, bin);
            }
        }
        let (gain, bin, with) = best?;
        let mut mask = first_bits(bin + 1);
        let with = if gaps {
            with
        } else {
            let mut left = Cell::default();
            cells[..=bin].iter().for_each(|cell| left += *cell);
            2 * units.sums(left).rows > all.rows
        };
        set(&mut mask, bins, with);
        return Some(Cut { gain, column: at, left: mask, missing: with, bin });
    }
    // Names of the node in the order of their slopes.
    let mut order = [(0.0, 0_u8); CODES];
    let mut names = 0;
    for (code, cell) in cells.iter().enumerate().take(bins) {
        let own = units.sums(*cell);
        if own.rows > 0 {
            #[expect(clippy::cast_possible_truncation, reason = "a code")]
            let code = code as u8;
            order[names] = (own.g / (own.h + 1.0), code);
            names += 1;
        }
    }
    let order = &mut order[..names];
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut left = Cell::default();
    for (place, (_, code)) in order.iter().enumerate() {
        left += cells[usize::from(*code)];
        if place + 1 < names || gaps {
            consider(left, place);
        }
    }
    if names <= 4 {
        for (place, (_, code)) in order.iter().enumerate() {
            consider(cells[usize::from(*code)], CODES + place);
        }
    }
    let (gain, place, with) = best?;
    let own = if place >= CODES { &order[place - CODES..=place - CODES] } else { &order[..=place] };
    let (mut mask, mut left) = (Mask::default(), Cell::default());
    for (_, code) in own {
        set(&mut mask, usize::from(*code), true);
        left += cells[usize::from(*code)];
    }
    let with = if gaps { with } else { 2 * units.sums(left).rows > all.rows };
    if with {
        // Names that the node does not have go where missing values go.
        let mut others = [u64::MAX; 4];
        for (_, code) in order.iter() {
            let goes = mask[usize::from(*code) >> 6] >> (code & 63) & 1 == 1;
            set(&mut others, usize::from(*code), goes);
        }
        mask = others;
    }
    Some(Cut { gain, column: at, left: mask, missing: with, bin: 0 })
}

/// The first bits set.
fn first_bits(count: usize) -> Mask {
    let mut mask = Mask::default();
    for (at, word) in mask.iter_mut().enumerate() {
        let own = count.saturating_sub(64 * at).min(64);
        *word = if own == 64 { u64::MAX } else { (1 << own) - 1 };
    }
    mask
}

fn set(mask: &mut Mask, at: usize, on: bool) {
    let bit = 1 << (at & 63);
    if on {
        mask[at >> 6] |= bit;
    } else {
        mask[at >> 6] &= !bit;
    }
}
