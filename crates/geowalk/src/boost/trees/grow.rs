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
//! * A rule is a tree of which one child alone is split further, that with the larger $\frac{G^2}{H +
//!   \lambda}$; only its last leaf has a value.
//! * A tree for several scores sums the gains of all of them.
//! * Where the score must not fall in a column, the values of children are in order, and all values below
//!   them stay on their side of the middle.
//!
//! **Ties** the first column, then the first threshold. **Cost** O(rows × columns / 2) per level after the
//! root; no allocation per node after the first tree.

use rayon::prelude::*;

use super::histogram::{CODES, Cell, Panels, Sums, Units, subtract};
use super::model::{Ask, Branch};
use crate::Real;
use crate::boost::binned::{Bin, Binned, BinnedColumn};
use crate::sampler::Sampler;

/// Histograms that are kept need at most this many bytes; of the nodes beyond both children are counted.
const MOST_BYTES: usize = 1 << 28;

/// The limits of a tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits<'a> {
    pub(super) leaves: usize,
    pub(super) depth: usize,
    pub(super) lambda: f64,
    pub(super) least_rows: u64,
    /// The share of the columns that each node looks at.
    pub(super) columns: f64,
    pub(super) least_gain: f64,
    /// Rows of a leaf are counted by their curvature: as many as have it on average in the whole tree.
    pub(super) effective: bool,
    /// A rule: one leaf alone has a value.
    pub(super) rule: bool,
    /// Of each column 1 or −1 where the score must not fall or rise in it, otherwise 0; empty for none.
    pub(super) monotone: &'a [i8],
    /// Of each column the groups that it is in, as bits; empty if all columns may meet on a path.
    pub(super) groups: &'a [u64],
}

/// What may follow on a path: the columns of the groups that all of its columns are in, or its only column.
#[derive(Debug, Clone, Copy)]
struct Path {
    groups: u64,
    only: Option<usize>,
    empty: bool,
}

impl Path {
    const ROOT: Self = Self { groups: u64::MAX, only: None, empty: true };

    fn allows(self, groups: &[u64], column: usize) -> bool {
        groups.is_empty()
            || self.empty
            || self.only == Some(column)
            || self.groups & groups.get(column).copied().unwrap_or(0) != 0
    }

    fn then(self, groups: &[u64], column: usize) -> Self {
        let own = groups.get(column).copied().unwrap_or(0);
        let only = (self.empty || self.only == Some(column)).then_some(column);
        Self { groups: self.groups & own, only, empty: false }
    }
}

/// What values a leaf may have.
pub(super) type Bounds = (f64, f64);

/// Any value.
const FREE: Bounds = (f64::NEG_INFINITY, f64::INFINITY);

/// The least Σh of a child.
const LEAST_CURVATURE: f64 = 1e-3;

/// Codes that go left.
type Mask = [u64; 4];

/// A split of a node.
#[derive(Debug, Clone, Copy)]
struct Cut {
    gain: f64,
    /// What rounding may add to the gain or take from it.
    noise: f64,
    column: usize,
    left: Mask,
    /// Missing values go left.
    missing: bool,
    /// The last bin below the threshold; of no meaning for names.
    bin: usize,
    /// Of a rule: those that go left go on.
    left_goes_on: bool,
    /// The values that the children may have.
    bounds: [Bounds; 2],
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
    bounds: Bounds,
    path: Path,
}

/// A node of a tree that is grown.
#[derive(Debug, Clone)]
pub(super) struct Grown {
    pub(super) branch: Option<Branch>,
    /// Of a leaf: its number among the leaves.
    pub(super) leaf: usize,
    /// Of a leaf: the values that it may have.
    pub(super) bounds: Bounds,
}

impl Grown {
    fn leaf() -> Self {
        Self { branch: None, leaf: 0, bounds: FREE }
    }
}

/// Grows trees on one table, and keeps the room that it needs.
pub(super) struct Grower<'a> {
    binned: &'a Binned,
    panels: &'a Panels,
    /// Rows that take part, rows that do not; leaf by leaf once a tree is grown.
    pub(super) fit: Vec<u32>,
    pub(super) ride: Vec<u32>,
    spare: Vec<u32>,
    /// Of each output that a tree is for, one after the other.
    pub(super) cells: Vec<Cell>,
    histograms: Vec<Vec<Cell>>,
    free: Vec<usize>,
    leaves: Vec<Leaf>,
    chosen: Vec<usize>,
    cuts: Vec<Option<Cut>>,
    /// Rows per curvature, if rows are counted by it.
    per_curvature: Option<f64>,
}

impl<'a> Grower<'a> {
    /// For trees that are for so many outputs.
    pub(super) fn new(binned: &'a Binned, panels: &'a Panels, outputs: usize) -> Self {
        Self {
            binned,
            panels,
            fit: Vec::new(),
            ride: Vec::new(),
            spare: Vec::new(),
            cells: vec![Cell::default(); outputs * binned.rows()],
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
        units: &[Units],
        limits: Limits<'_>,
        sampler: &mut Sampler,
        leaf_of: &mut [u16],
    ) -> Vec<Grown> {
        self.leaves.clear();
        self.free.clear();
        self.free.extend((0..self.histograms.len()).rev());
        let mut nodes = vec![Grown::leaf()];
        let (fit, ride) = ((0, self.fit.len()), (0, self.ride.len()));
        let slot = self.slot(units.len(), limits);
        let mut root = Leaf {
            node: 0,
            depth: 0,
            fit,
            ride,
            histogram: slot,
            cut: None,
            bounds: FREE,
            path: Path::ROOT,
        };
        if let Some(slot) = slot {
            self.count(fit, slot);
            let sums = self.total(units, slot);
            let curvature: f64 = sums.iter().map(|sums| sums.h).sum();
            self.per_curvature = limits.effective.then_some(sums[0].rows as f64 / curvature);
            root.cut = self.search(units, limits, slot, &root, &sums, sampler);
        }
        self.leaves.push(root);
        while self.leaves.len() < limits.leaves {
            let mut best: Option<(usize, Cut)> = None;
            for (at, leaf) in self.leaves.iter().enumerate() {
                if let Some(cut) = leaf.cut
                    && best.is_none_or(|(_, most)| cut.beats(&most))
                {
                    best = Some((at, cut));
                }
            }
            let Some((at, _)) = best else { break };
            self.split(at, units, limits, sampler, &mut nodes);
        }
        for (number, leaf) in self.leaves.iter().enumerate() {
            nodes[leaf.node].leaf = number;
            nodes[leaf.node].bounds = leaf.bounds;
            let rows = self.fit[leaf.fit.0..leaf.fit.1].iter();
            #[expect(clippy::cast_possible_truncation, reason = "at most 65535 leaves")]
            for row in rows.chain(&self.ride[leaf.ride.0..leaf.ride.1]) {
                leaf_of[*row as usize] = number as u16;
            }
        }
        nodes
    }

    /// Room for the histograms of all outputs; none if that would be too much.
    fn slot(&mut self, outputs: usize, limits: Limits<'_>) -> Option<usize> {
        if let Some(slot) = self.free.pop() {
            return Some(slot);
        }
        let cells = self.panels.cells * outputs;
        let most = (MOST_BYTES / (cells * size_of::<Cell>()).max(1)).max(3);
        if self.histograms.len() >= most.min(limits.leaves + 2) {
            return None;
        }
        self.histograms.push(vec![Cell::default(); cells]);
        Some(self.histograms.len() - 1)
    }

    /// Counts some of the rows that take part.
    fn count(&mut self, (first, end): (usize, usize), slot: usize) {
        let outputs = self.histograms[slot].chunks_mut(self.panels.cells.max(1));
        for (into, cells) in outputs.zip(self.cells.chunks(self.binned.rows().max(1))) {
            self.panels.count(&self.fit[first..end], cells, into);
        }
    }

    /// The sums of each output.
    fn total(&self, units: &[Units], slot: usize) -> Vec<Sums> {
        let outputs = self.histograms[slot].chunks(self.panels.cells.max(1)).zip(units);
        outputs
            .map(|(own, units)| {
                let mut sum = Cell::default();
                self.panels.column(own, 0).iter().for_each(|cell| sum += *cell);
                units.sums(sum)
            })
            .collect()
    }

    fn split(
        &mut self,
        at: usize,
        units: &[Units],
        limits: Limits<'_>,
        sampler: &mut Sampler,
        nodes: &mut Vec<Grown>,
    ) {
        let leaf = &self.leaves[at];
        let (Some(cut), depth, histogram) = (leaf.cut, leaf.depth + 1, leaf.histogram) else {
            return;
        };
        let (node, fit, ride) = (leaf.node, leaf.fit, leaf.ride);
        let path = leaf.path.then(limits.groups, cut.column);
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
        nodes.push(Grown::leaf());
        nodes.push(Grown::leaf());
        let child = |node, fit, ride, bounds| Leaf {
            node,
            depth,
            fit,
            ride,
            histogram: None,
            cut: None,
            bounds,
            path,
        };
        let mut children = [
            child(left, (fit.0, middle_fit), (ride.0, middle_ride), cut.bounds[0]),
            child(right, (middle_fit, fit.1), (middle_ride, ride.1), cut.bounds[1]),
        ];
        // The last leaves are not split any more: nothing is counted for them.
        let ends = depth >= limits.depth || self.leaves.len() + 1 >= limits.leaves;
        if ends {
            self.free.extend(histogram);
        } else {
            let small = usize::from(middle_fit - fit.0 > fit.1 - middle_fit);
            let large = 1 - small;
            if let Some(slot) = self.slot(units.len(), limits) {
                self.count(children[small].fit, slot);
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
                    self.count(children[small].fit, slot);
                }
            }
            for child in [small, large] {
                let found = children[child].histogram.take();
                if limits.rule && cut.left_goes_on != (child == 0) {
                    self.free.extend(found);
                    continue;
                }
                let found = found.or_else(|| {
                    let slot = self.slot(units.len(), limits)?;
                    self.count(children[child].fit, slot);
                    Some(slot)
                });
                let Some(slot) = found else { continue };
                let sums = self.total(units, slot);
                children[child].cut =
                    self.search(units, limits, slot, &children[child], &sums, sampler);
                // What cannot be split, or must make room, gives its histogram back.
                let crowded = self.free.is_empty() && self.crowded(units.len(), limits);
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
    fn crowded(&self, outputs: usize, limits: Limits<'_>) -> bool {
        let most = MOST_BYTES / (self.panels.cells * outputs * size_of::<Cell>()).max(1);
        most < limits.leaves + 2 && self.histograms.len() >= most.max(3)
    }

    /// The best split of a leaf with this histogram.
    fn search(
        &mut self,
        units: &[Units],
        limits: Limits<'_>,
        slot: usize,
        leaf: &Leaf,
        sums: &[Sums],
        sampler: &mut Sampler,
    ) -> Option<Cut> {
        let path = leaf.path;
        self.chosen.clear();
        let all = 0..self.panels.columns();
        self.chosen.extend(all.filter(|column| path.allows(limits.groups, *column)));
        let count = self.chosen.len();
        // Drawn for every node, so that what a node sees does not depend on others.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let wanted = ((count as f64 * limits.columns).ceil() as usize).max(1);
        if wanted < count {
            for at in 0..wanted {
                let other = at + sampler.below(count - at);
                self.chosen.swap(at, other);
            }
            self.chosen.truncate(wanted);
            self.chosen.sort_unstable();
        }
        let least = if limits.rule { limits.least_rows } else { 2 * limits.least_rows };
        if !limits.effective && sums[0].rows < least {
            return None;
        }
        let node =
            Node { units, limits, per_curvature: self.per_curvature, sums, bounds: leaf.bounds };
        let (histogram, panels) = (&self.histograms[slot], self.panels);
        let own = |at: usize| {
            let binned = &self.binned.columns()[at];
            if units.len() == 1 {
                return best_of::<1>(at, binned, &[panels.column(histogram, at)], &node);
            }
            let outputs = histogram.chunks(panels.cells.max(1));
            let cells: Vec<&[Cell]> = outputs.map(|own| panels.column(own, at)).collect();
            best_of::<0>(at, binned, &cells, &node)
        };
        // A column has at most 256 cells: threads pay for wide tables alone.
        if wanted >= 256 {
            self.cuts.clear();
            self.cuts.resize(self.chosen.len(), None);
            let chosen = &self.chosen;
            self.cuts.par_iter_mut().zip(chosen).for_each(|(cut, at)| *cut = own(*at));
            return self.cuts.iter().flatten().copied().reduce(better);
        }
        self.chosen.iter().filter_map(|at| own(*at)).reduce(better)
    }
}

fn better(a: Cut, b: Cut) -> Cut {
    if b.beats(&a) { b } else { a }
}

impl Cut {
    fn beats(&self, other: &Self) -> bool {
        beats(self.gain, other.gain, Real::max(self.noise, other.noise))
    }
}

/// Is this gain larger by more than rounding? Splits that part the rows alike tie, and the first one is taken,
/// also where a row stands for several.
fn beats(gain: f64, most: f64, noise: f64) -> bool {
    gain > most * (1.0 + 1e-9) + noise
}

/// Sums of slopes are exact to this part of what a node gains unsplit.
const NOISE: f64 = 1e-11;

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

/// A node whose splits are compared.
struct Node<'a> {
    units: &'a [Units],
    limits: Limits<'a>,
    per_curvature: Option<f64>,
    sums: &'a [Sums],
    bounds: Bounds,
}

/// Gains of splits of a node by one column.
struct Gains<'a> {
    node: &'a Node<'a>,
    lambda: f64,
    /// What its rows gain unsplit, and what rounding may make of the difference to it.
    base: f64,
    noise: f64,
    /// 1 or −1 where the score must not fall or rise in the column.
    sign: i8,
    /// Values are free: gains need no values.
    free: bool,
}

impl<'a> Gains<'a> {
    fn new(node: &'a Node<'a>, lambda: f64, sign: i8) -> Self {
        let free = node.bounds == FREE && sign == 0;
        let mut gains = Self { node, lambda, base: 0.0, noise: 0.0, sign, free };
        gains.base = node.sums.iter().map(|own| gains.alone(own.g, own.h, node.bounds)).sum();
        gains.noise = NOISE * gains.base.abs();
        gains
    }

    /// What one step gains for slopes and curvatures, if its value may be as it wants.
    #[inline(always)]
    fn alone(&self, g: f64, h: f64, bounds: Bounds) -> f64 {
        if self.free {
            return g * g / (h + self.lambda);
        }
        let value = self.value(g, h, bounds);
        2.0 * g * value - (h + self.lambda) * value * value
    }

    #[inline(always)]
    fn value(&self, g: f64, h: f64, (least, most): Bounds) -> f64 {
        let value = g / (h + self.lambda);
        if value.is_nan() { 0.0 } else { value.clamp(least, most) }
    }

    /// The values that the children may have: in a column with a sign those of one stay below those of the
    /// other; a rule has a value on one side alone.
    fn bounds(&self, left: Sums, right: Sums, left_goes_on: bool) -> [Bounds; 2] {
        let own = self.node.bounds;
        if self.node.limits.rule {
            let (up, down) = ((Real::max(own.0, 0.0), own.1), (own.0, Real::min(own.1, 0.0)));
            let goes_on = match (self.sign, left_goes_on) {
                (0, _) => own,
                (1.., false) | (..=-1, true) => up,
                _ => down,
            };
            let ends = (0.0, 0.0);
            return if left_goes_on { [goes_on, ends] } else { [ends, goes_on] };
        }
        if self.sign == 0 {
            return [own; 2];
        }
        let values = self.value(left.g, left.h, own) + self.value(right.g, right.h, own);
        let (below, above) = ((own.0, 0.5 * values), (0.5 * values, own.1));
        if self.sign > 0 { [below, above] } else { [above, below] }
    }

    /// Sums of what goes left and of what goes right, output by output.
    #[inline(always)]
    fn sides(&self, k: usize, left: &[Cell], more: Option<&[Cell]>) -> (Sums, Sums) {
        let mut cell = left[k];
        if let Some(more) = more {
            cell += more[k];
        }
        let (left, all) = (self.node.units[k].sums(cell), &self.node.sums[k]);
        let rows = all.rows - left.rows.min(all.rows);
        (left, Sums { g: all.g - left.g, h: all.h - left.h, rows })
    }

    /// The gain of sending these rows left, and of a rule whether they go on; none if that is not allowed.
    #[inline(always)]
    fn of<const W: usize>(&self, left: &[Cell], more: Option<&[Cell]>) -> Option<(f64, bool)> {
        let outputs = if W == 1 { 1 } else { self.node.units.len() };
        let limits = &self.node.limits;
        let (mut gain, mut gains, mut curvature, mut rows) = (0.0, [0.0; 2], [0.0; 2], [0; 2]);
        for k in 0..outputs {
            let (left, right) = self.sides(k, left, more);
            curvature[0] += left.h;
            curvature[1] += right.h;
            rows = [left.rows, right.rows];
            if limits.rule {
                let bounds = |side: usize| self.bounds(left, right, side == 0)[side];
                gains[0] += self.alone(left.g, left.h, bounds(0));
                gains[1] += self.alone(right.g, right.h, bounds(1));
                continue;
            }
            let bounds = self.node.bounds;
            if self.sign != 0 {
                let rise =
                    self.value(right.g, right.h, bounds) - self.value(left.g, left.h, bounds);
                if rise * f64::from(self.sign) < 0.0 {
                    return None;
                }
            }
            gain += self.alone(left.g, left.h, bounds) + self.alone(right.g, right.h, bounds);
        }
        let few = |side: usize| {
            let few = match self.node.per_curvature {
                None => rows[side] < limits.least_rows,
                Some(per) => curvature[side] * per < limits.least_rows as f64 || rows[side] == 0,
            };
            few || curvature[side] < LEAST_CURVATURE
        };
        let mut left_goes_on = true;
        if limits.rule {
            let allowed = |side: usize| if few(side) { f64::NEG_INFINITY } else { gains[side] };
            left_goes_on = !beats(allowed(1), allowed(0), self.noise);
            gain = if left_goes_on { allowed(0) } else { allowed(1) };
        } else if few(0) || few(1) {
            return None;
        }
        let gain = gain - self.base;
        (gain > Real::max(limits.least_gain, self.noise)).then_some((gain, left_goes_on))
    }
}

/// The best split by a column, from the cells of each output.
#[expect(clippy::too_many_lines, reason = "numbers, then names")]
fn best_of<const W: usize>(
    at: usize,
    binned: &BinnedColumn,
    cells: &[&[Cell]],
    node: &Node<'_>,
) -> Option<Cut> {
    let bins = binned.bins().len();
    if bins == 0 {
        return None;
    }
    let (limits, units, all) = (node.limits, node.units, node.sums);
    let first = cells.first()?;
    let outputs = if W == 1 { 1 } else { cells.len() };
    let (mut one, mut other) = ([Cell::default(); W], [Cell::default(); W]);
    let (mut several, mut others) = (Vec::new(), Vec::new());
    if let Some(other) = other.first_mut() {
        *other = first[bins];
    } else {
        several.resize(outputs, Cell::default());
        others.extend(cells.iter().map(|cells| cells[bins]));
    }
    let left: &mut [Cell] = if W == 1 { &mut one } else { &mut several };
    let missing: &[Cell] = if W == 1 { &other } else { &others };
    let gaps = units[0].sums(missing[0]).rows > 0;
    let is_number = matches!(binned.bins()[0], Bin::Interval { .. });
    let lambda = if is_number { limits.lambda } else { limits.lambda + 1.0 };
    let sign = if is_number { limits.monotone.get(at).copied().unwrap_or(0) } else { 0 };
    let gains = Gains::new(node, lambda, sign);
    let mut best: Option<(f64, usize, bool, bool)> = None;
    // Is it the best so far?
    let mut consider = |left: &[Cell], place: usize| {
        let mut found = false;
        for with in [false, true] {
            if with && !gaps {
                continue;
            }
            if let Some((gain, goes_on)) = gains.of::<W>(left, with.then_some(missing))
                && best.is_none_or(|(most, ..)| beats(gain, most, gains.noise))
            {
                best = Some((gain, place, with, goes_on));
                found = true;
            }
        }
        found
    };
    // Where more than half of the rows go left, missing values do, of which there were none.
    let mostly = |own: &mut dyn Iterator<Item = usize>| {
        let mut left = Cell::default();
        own.for_each(|code| left += first[code]);
        2 * units[0].sums(left).rows > all[0].rows
    };
    let bounds = |left_goes_on: bool, goes: &dyn Fn(usize) -> bool| {
        if W != 1 || gains.free && !limits.rule {
            // Several outputs have no order that could be kept.
            let ends = (0.0, 0.0);
            return match (limits.rule, left_goes_on) {
                (false, _) => [node.bounds; 2],
                (true, true) => [node.bounds, ends],
                (true, false) => [ends, node.bounds],
            };
        }
        let mut left = Cell::default();
        (0..=bins).filter(|code| goes(*code)).for_each(|code| left += first[code]);
        let (left, right) = gains.sides(0, &[left], None);
        gains.bounds(left, right, left_goes_on)
    };
    if is_number {
        // The last bin alone says "known".
        let last = if gaps { bins } else { bins - 1 };
        for bin in 0..last {
            if first[bin] != Cell::default() {
                for (left, cells) in left.iter_mut().zip(cells) {
                    *left += cells[bin];
                }
                consider(left, bin);
            }
        }
        let (gain, bin, with, left_goes_on) = best?;
        let mut mask = first_bits(bin + 1);
        let with = if gaps { with } else { mostly(&mut (0..=bin)) };
        set(&mut mask, bins, with);
        let goes = |code: usize| if code == bins { with } else { code <= bin };
        let bounds = bounds(left_goes_on, &goes);
        return Some(Cut {
            gain,
            noise: gains.noise,
            column: at,
            left: mask,
            missing: with,
            bin,
            left_goes_on,
            bounds,
        });
    }
    // Names of the node in the order of the slopes of each output in turn.
    let mut order = [(0.0, 0_u8); CODES];
    let (mut mask, mut present) = (Mask::default(), Mask::default());
    for (units, own) in units.iter().zip(cells).take(outputs) {
        let mut names = 0;
        for (code, cell) in own.iter().enumerate().take(bins) {
            let sums = units.sums(*cell);
            if sums.rows > 0 {
                set(&mut present, code, true);
                #[expect(clippy::cast_possible_truncation, reason = "a code")]
                let code = code as u8;
                order[names] = (sums.g / (sums.h + 1.0), code);
                names += 1;
            }
        }
        let order = &mut order[..names];
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        left.fill(Cell::default());
        let mut prefix = Mask::default();
        for (place, (_, code)) in order.iter().enumerate() {
            let code = usize::from(*code);
            for (left, cells) in left.iter_mut().zip(cells) {
                *left += cells[code];
            }
            set(&mut prefix, code, true);
            if (place + 1 < names || gaps) && consider(left, 0) {
                mask = prefix;
            }
        }
        if names <= 4 {
            for (_, code) in order.iter() {
                let code = usize::from(*code);
                for (left, cells) in left.iter_mut().zip(cells) {
                    *left = cells[code];
                }
                if consider(left, 0) {
                    mask = Mask::default();
                    set(&mut mask, code, true);
                }
            }
        }
    }
    let (gain, _, with, left_goes_on) = best?;
    let goes = |mask: &Mask, code: usize| mask[code >> 6] >> (code & 63) & 1 == 1;
    let with = if gaps { with } else { mostly(&mut (0..bins).filter(|code| goes(&mask, *code))) };
    if with {
        // Names that the node does not have go where missing values go.
        mask.iter_mut().zip(present).for_each(|(mask, present)| *mask |= !present);
    }
    let bounds = bounds(left_goes_on, &|code| goes(&mask, code));
    let noise = gains.noise;
    Some(Cut { gain, noise, column: at, left: mask, missing: with, bin: 0, left_goes_on, bounds })
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
