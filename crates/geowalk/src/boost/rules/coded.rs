//! # Columns for the search of literals
//! Each value as the number of its bin, of its distinct value or of its name; the literals of the column in the order of ties; the sums of signed weights by bin, from which the edges of all its
//! literals follow.

use rayon::prelude::*;

use super::Candidate;
use crate::boost::binned::{Bin, Binned, code_of, midpoint, sort_distinct};
use crate::boost::rule::{Asks, Literal};
use crate::boost::table::{MISSING, SparseValues, Table, Values};
use crate::error::ConfigError;

/// Numbers of bins, in the fewest bytes.
#[derive(Debug)]
enum Codes {
    Bytes(Vec<u8>),
    Words(Vec<u32>),
    /// Of rows that are listed; all others have the bin `zero`.
    Sparse {
        rows: Vec<u32>,
        codes: Vec<u32>,
        zero: u32,
    },
}

impl Codes {
    /// The bin of a row.
    fn get(&self, row: usize) -> usize {
        match self {
            Self::Bytes(codes) => usize::from(codes[row]),
            Self::Words(codes) => codes[row] as usize,
            Self::Sparse { rows, codes, zero } => {
                let found = u32::try_from(row).ok().and_then(|row| rows.binary_search(&row).ok());
                found.map_or(*zero, |at| codes[at]) as usize
            }
        }
    }
}

/// What the bins of a column are.
#[derive(Debug)]
enum Kind {
    /// Thresholds between neighbouring bins.
    Numeric(Vec<f64>),
    /// Codes of names; `MISSING` for the bin of all rare names.
    Nominal(Vec<u32>),
    /// False, true.
    Boolean,
}

/// A column of bin numbers; the number after the last bin is that of missing values.
#[derive(Debug)]
pub(super) struct Coded {
    codes: Codes,
    kind: Kind,
    bins: usize,
    /// How many rows there are.
    rows: usize,
    /// The rows in which the value is missing.
    missing: Vec<u32>,
}

/// The columns of a table, in `bins` bins or by distinct value.
pub(super) fn columns(table: &Table, bins: Option<usize>) -> Result<Vec<Coded>, ConfigError> {
    let binned = Binned::new(table, bins.unwrap_or(255))?;
    let pairs = table.columns().par_iter().zip(binned.columns());
    Ok(pairs
        .map(|(column, binned)| {
            let own = binned.bins();
            // Bins of one value each are exact already.
            let single = |bin: &Bin| match bin {
                Bin::Interval { least, most } => least == most,
                Bin::Name(_) | Bin::Truth(_) => true,
                Bin::Rest => false,
            };
            if bins.is_none() && !own.iter().all(single) {
                match column.values() {
                    Values::Numeric(values) => return distinct(values),
                    Values::Nominal { codes, names } => return named(codes, names.len()),
                    Values::Sparse(values) => return distinct_sparse(values),
                    Values::Boolean(_) => {}
                }
            }
            let kind = match column.values() {
                Values::Numeric(_) | Values::Sparse(_) => {
                    let cuts = (0..own.len().saturating_sub(1)).filter_map(|bin| binned.cut(bin));
                    Kind::Numeric(cuts.collect())
                }
                Values::Boolean(_) => Kind::Boolean,
                Values::Nominal { .. } => Kind::Nominal(
                    own.iter()
                        .map(|bin| if let Bin::Name(code) = bin { *code } else { MISSING })
                        .collect(),
                ),
            };
            let codes = match binned.sparse_codes() {
                Some(sparse) => Codes::Sparse {
                    rows: sparse.rows.clone(),
                    codes: sparse.codes.iter().map(|code| u32::from(*code)).collect(),
                    zero: u32::from(sparse.zero),
                },
                None => Codes::Bytes(binned.codes().to_vec()),
            };
            coded(codes, kind, own.len(), table.rows())
        })
        .collect())
}

#[expect(clippy::cast_possible_truncation, reason = "a table has fewer than 2^32 rows")]
fn coded(codes: Codes, kind: Kind, bins: usize, rows: usize) -> Coded {
    let missing = match &codes {
        Codes::Bytes(codes) => (0..codes.len())
            .filter(|row| usize::from(codes[*row]) == bins)
            .map(|row| row as u32)
            .collect(),
        Codes::Words(codes) => (0..codes.len())
            .filter(|row| codes[*row] as usize == bins)
            .map(|row| row as u32)
            .collect(),
        Codes::Sparse { rows, codes, .. } => {
            let pairs = rows.iter().zip(codes).filter(|(_, code)| **code as usize == bins);
            pairs.map(|(row, _)| *row).collect()
        }
    };
    Coded { codes, kind, bins, rows, missing }
}

fn distinct(values: &[f64]) -> Coded {
    let sorted = sort_distinct(values.iter().copied());
    let codes = values.iter().map(|x| code_of(*x, &sorted)).collect();
    coded(Codes::Words(codes), Kind::Numeric(cuts(&sorted)), sorted.len(), values.len())
}

fn distinct_sparse(values: &SparseValues) -> Coded {
    let some_zero = (values.rows().len() < values.len()).then_some(0.0);
    let sorted = sort_distinct(values.values().iter().copied().chain(some_zero));
    let codes = Codes::Sparse {
        rows: values.rows().to_vec(),
        codes: values.values().iter().map(|x| code_of(*x, &sorted)).collect(),
        zero: code_of(0.0, &sorted),
    };
    coded(codes, Kind::Numeric(cuts(&sorted)), sorted.len(), values.len())
}

fn cuts(sorted: &[f64]) -> Vec<f64> {
    sorted.windows(2).map(|pair| midpoint(pair[0], pair[1])).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "codes are 32 bits wide")]
fn named(codes: &[u32], names: usize) -> Coded {
    let own =
        codes.iter().map(|code| if *code == MISSING { names as u32 } else { *code }).collect();
    coded(Codes::Words(own), Kind::Nominal((0..names as u32).collect()), names, codes.len())
}

/// The bins in which a literal holds: one, all but one, or a range.
#[derive(Debug, Clone, Copy)]
struct Held {
    from: usize,
    to: usize,
    /// Bins *outside* of the range, missing values excepted.
    outside: bool,
}

impl Coded {
    /// How many literals there are.
    pub(super) fn places(&self) -> usize {
        self.ordinary() + usize::from(!self.missing.is_empty())
    }

    fn ordinary(&self) -> usize {
        match &self.kind {
            Kind::Numeric(cuts) => 2 * cuts.len(),
            Kind::Nominal(names) => 2 * names.len(),
            Kind::Boolean => 2,
        }
    }

    /// Does the literal ask for a value, and not for its absence?
    pub(super) fn asks_for_value(&self, place: usize) -> bool {
        place < self.ordinary()
    }

    /// The literal at a place of the order.
    pub(super) fn literal(&self, column: usize, place: usize) -> Literal {
        let (at, second) = (place / 2, place % 2 == 1);
        let asks = match &self.kind {
            _ if place >= self.ordinary() => Asks::Missing,
            Kind::Numeric(cuts) if second => Asks::Above(cuts[at]),
            Kind::Numeric(cuts) => Asks::AtMost(cuts[at]),
            Kind::Nominal(names) if second => Asks::Not(names[at]),
            Kind::Nominal(names) => Asks::Is(names[at]),
            Kind::Boolean => Asks::Truth(!second),
        };
        Literal { column, asks }
    }

    /// A bin without a name of its own has no literals.
    pub(super) fn exists(&self, place: usize) -> bool {
        match &self.kind {
            Kind::Nominal(names) => names.get(place / 2).is_none_or(|code| *code != MISSING),
            _ => true,
        }
    }

    fn held(&self, place: usize) -> Held {
        let (at, outside) = (place / 2, place % 2 == 1);
        match &self.kind {
            _ if place >= self.ordinary() => {
                Held { from: self.bins, to: self.bins + 1, outside: false }
            }
            Kind::Numeric(_) => Held { from: 0, to: at + 1, outside },
            Kind::Nominal(_) => Held { from: at, to: at + 1, outside },
            Kind::Boolean => Held { from: 1, to: 2, outside },
        }
    }

    /// Are only the values that are not 0 stored?
    pub(super) fn is_sparse(&self) -> bool {
        matches!(self.codes, Codes::Sparse { .. })
    }

    pub(super) fn is_missing(&self, row: usize) -> bool {
        self.codes.get(row) == self.bins
    }

    fn test(&self, place: usize) -> impl Fn(usize) -> bool {
        let Held { from, to, outside } = self.held(place);
        let bins = self.bins;
        move |code: usize| {
            let inside = code >= from && code < to;
            if outside { !inside && code < bins } else { inside }
        }
    }

    /// Calls `f` for every row, of all or of some, in which the literal holds.
    pub(super) fn each_held(
        &self,
        place: usize,
        rows: Option<&Vec<u32>>,
        mut f: impl FnMut(usize),
    ) {
        fn go<C: Copy>(
            codes: &[C],
            number: impl Fn(C) -> usize,
            rows: Option<&Vec<u32>>,
            holds: impl Fn(usize) -> bool,
            f: &mut impl FnMut(usize),
        ) {
            match rows {
                None => {
                    for (row, &code) in codes.iter().enumerate() {
                        if holds(number(code)) {
                            f(row);
                        }
                    }
                }
                Some(rows) => {
                    for &row in rows {
                        if holds(number(codes[row as usize])) {
                            f(row as usize);
                        }
                    }
                }
            }
        }
        let holds = self.test(place);
        match &self.codes {
            Codes::Bytes(codes) => go(codes, usize::from, rows, holds, &mut f),
            Codes::Words(codes) => go(codes, |code| code as usize, rows, holds, &mut f),
            Codes::Sparse { rows: stored, codes, zero } => {
                let mut next = stored.iter().zip(codes).peekable();
                let mut holds_at = |row: usize| {
                    while next.next_if(|(at, _)| (**at as usize) < row).is_some() {}
                    let own = next.peek().filter(|(at, _)| **at as usize == row);
                    if holds(own.map_or(*zero, |(_, code)| **code) as usize) {
                        f(row);
                    }
                };
                match rows {
                    None => (0..self.rows).for_each(holds_at),
                    Some(rows) => rows.iter().for_each(|row| holds_at(*row as usize)),
                }
            }
        }
    }

    /// Keeps the rows in which the literal holds.
    pub(super) fn retain(&self, place: usize, rows: &mut Vec<u32>) {
        let holds = self.test(place);
        match &self.codes {
            Codes::Bytes(codes) => rows.retain(|row| holds(usize::from(codes[*row as usize]))),
            Codes::Words(codes) => rows.retain(|row| holds(codes[*row as usize] as usize)),
            Codes::Sparse { .. } => rows.retain(|row| holds(self.codes.get(*row as usize))),
        }
    }
}

/// Sums by bin, side by side in four lanes so that one addition need not wait for the last one of the same bin.
const LANES: usize = 4;

/// What the search keeps per column.
#[derive(Debug)]
pub(super) struct Scratch {
    sums: Vec<f64>,
    /// The signed weights of known rows on which this column is missing.
    unknown: f64,
    /// The best literals so far.
    pub(super) best: Vec<Candidate>,
}

impl Scratch {
    pub(super) fn new(column: &Coded, most: usize) -> Self {
        let lanes = if matches!(column.codes, Codes::Bytes(_)) { LANES } else { 1 };
        Self {
            sums: vec![0.0; lanes * (column.bins + 1)],
            unknown: 0.0,
            best: Vec::with_capacity(most + 1),
        }
    }

    /// Sums the signed weights by bin, over all rows or the rows given (with their weights beside them). `by_row` has
    /// the weight of every row, 0 of those that are not given, and their sum; it is read for sparse columns only.
    pub(super) fn sum(
        &mut self,
        column: &Coded,
        rows: Option<&[u32]>,
        signed: &[f64],
        (by_row, total): (&[f64], f64),
    ) {
        self.sums.fill(0.0);
        let width = column.bins + 1;
        match (&column.codes, rows) {
            (Codes::Sparse { rows, codes, zero }, _) => {
                let mut stored = 0.0;
                for (row, code) in rows.iter().zip(codes) {
                    let v = by_row[*row as usize];
                    self.sums[*code as usize] += v;
                    stored += v;
                }
                if rows.len() < column.rows {
                    self.sums[*zero as usize] += total - stored;
                }
            }
            (Codes::Bytes(codes), None) => {
                let (four, rest) = codes.as_chunks::<LANES>();
                let (values, tail) = signed.as_chunks::<LANES>();
                for (codes, values) in four.iter().zip(values) {
                    for lane in 0..LANES {
                        self.sums[lane * width + usize::from(codes[lane])] += values[lane];
                    }
                }
                for (code, v) in rest.iter().zip(tail) {
                    self.sums[usize::from(*code)] += v;
                }
            }
            (Codes::Bytes(codes), Some(rows)) => {
                let (four, rest) = rows.as_chunks::<LANES>();
                let (values, tail) = signed.as_chunks::<LANES>();
                for (rows, values) in four.iter().zip(values) {
                    for lane in 0..LANES {
                        let code = codes[rows[lane] as usize];
                        self.sums[lane * width + usize::from(code)] += values[lane];
                    }
                }
                for (row, v) in rest.iter().zip(tail) {
                    self.sums[usize::from(codes[*row as usize])] += v;
                }
            }
            (Codes::Words(codes), None) => {
                for (code, v) in codes.iter().zip(signed) {
                    self.sums[*code as usize] += v;
                }
            }
            (Codes::Words(codes), Some(rows)) => {
                for (row, v) in rows.iter().zip(signed) {
                    self.sums[codes[*row as usize] as usize] += v;
                }
            }
        }
        let (first, others) = self.sums.split_at_mut(width);
        for lane in others.chunks_exact(width) {
            for (sum, more) in first.iter_mut().zip(lane) {
                *sum += more;
            }
        }
    }

    /// If rules abstain: the signed weights of known rows that would become unknown.
    pub(super) fn sum_unknown(&mut self, column: &Coded, signed: &[f64], known: &[bool]) {
        self.unknown = 0.0;
        if !known.is_empty() {
            let rows = column.missing.iter().map(|row| *row as usize);
            self.unknown = rows.filter(|row| known[*row]).map(|row| signed[row]).sum();
        }
    }

    /// Keeps the `most` literals of largest edge; edges nearer than `margin` are equal, and of equal ones the first stays before the others.
    pub(super) fn keep_best(
        &mut self,
        column: &Coded,
        at: usize,
        sign: f64,
        base: f64,
        margin: f64,
        most: usize,
    ) {
        self.best.clear();
        let (sums, best) = (&self.sums, &mut self.best);
        let present: f64 = sums[..column.bins].iter().sum();
        let known = base - self.unknown;
        let mut offer = |place: usize, covered: f64, base: f64| {
            let value = sign * (2.0 * covered - base);
            let candidate = Candidate { value, column: at, place };
            if best.len() == most {
                match best.last() {
                    Some(last) if value > last.value + margin => {
                        best.pop();
                    }
                    _ => return,
                }
            }
            let place = best.partition_point(|other| other.value + margin >= value);
            best.insert(place, candidate);
        };
        match &column.kind {
            Kind::Numeric(cuts) => {
                let mut below = 0.0;
                for (cut, sum) in sums.iter().enumerate().take(cuts.len()) {
                    below += sum;
                    offer(2 * cut, below, known);
                    offer(2 * cut + 1, present - below, known);
                }
            }
            Kind::Nominal(names) => {
                for (name, sum) in sums.iter().enumerate().take(names.len()) {
                    if column.exists(2 * name) {
                        offer(2 * name, *sum, known);
                        offer(2 * name + 1, present - sum, known);
                    }
                }
            }
            Kind::Boolean => {
                offer(0, sums[1], known);
                offer(1, sums[0], known);
            }
        }
        if !column.missing.is_empty() {
            offer(column.ordinary(), sums[column.bins], base);
        }
    }
}
