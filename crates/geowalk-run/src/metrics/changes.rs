//! # Where the error changed
//! Errors are looked at 500 rows at a time. A stretch of rows begins at the first row, or where the error changed last;
//! the error changed again where the [interval](LossInterval) of a piece of 500 and that of its stretch, the piece
//! included, have nothing in common. Interval k has the confidence 1 − α/(k(k + 1)), and these α add up to α: with
//! probability 1 − α every change that is named is one of the expected error, however many pieces there are and whenever
//! one looks.

use geowalk::certify::LossInterval;
use serde_json::{Value, json};

use super::interval::ALPHA;
use crate::model::{Arrays, ModelError, array};

/// Rows of a piece.
const PIECE: u64 = 500;
/// Changes that are kept.
const MOST: usize = 64;

/// A change of the error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The first row of the piece where it was noticed, counted from 1.
    pub row: u64,
    /// The part of the rows of the stretch before it that were predicted wrongly.
    pub before: f64,
    /// The same of the piece.
    pub after: f64,
}

impl Change {
    /// For programs.
    pub fn json(&self) -> Value {
        let Self { row, before, after } = *self;
        json!({"row": row, "error_before": before, "error_after": after})
    }
}

/// Pieces so far, and the changes among them.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Changes {
    rows: u64,
    /// Intervals that were asked for.
    asked: u64,
    stretch: LossInterval,
    piece: LossInterval,
    /// Where the confidence of the stretch comes from.
    level: f64,
    found: Vec<Change>,
}

impl Changes {
    /// Sees the error of a row, 0 or 1.
    pub(super) fn see(&mut self, error: f64) {
        if self.stretch.rows() == 0 {
            self.level = self.next_level();
        }
        self.rows += 1;
        self.piece.see(error);
        self.stretch.see(error);
        if self.piece.rows() < PIECE {
            return;
        }
        let level = self.next_level();
        let piece = std::mem::take(&mut self.piece);
        let ends = (piece.bounds(level), self.stretch.bounds(self.level));
        let (Ok(now), Ok(all)) = ends else { return };
        if self.stretch.rows() > PIECE && (now.0 > all.1 || now.1 < all.0) {
            let earlier = (self.stretch.rows() - PIECE) as f64;
            let wrong = self.stretch.average() * self.stretch.rows() as f64;
            let before = (wrong - piece.average() * PIECE as f64) / earlier;
            if self.found.len() == MOST {
                self.found.remove(0);
            }
            self.found.push(Change { row: self.rows - PIECE + 1, before, after: piece.average() });
            // The new stretch begins with the piece, whose interval has been asked for.
            (self.stretch, self.level) = (piece, level);
        }
    }

    fn next_level(&mut self) -> f64 {
        self.asked += 1;
        let k = self.asked as f64;
        ALPHA / (k * (k + 1.0))
    }

    /// The changes, the last 64.
    pub(super) fn found(&self) -> &[Change] {
        &self.found
    }

    pub(super) fn save(&self, name: &str, arrays: &mut Arrays) {
        let mut numbers = vec![self.rows as f64, self.asked as f64, self.level];
        numbers.extend(self.stretch.save());
        numbers.extend(self.piece.save());
        numbers.extend(self.found.iter().flat_map(|one| [one.row as f64, one.before, one.after]));
        arrays.push((format!("{name}.changes"), numbers));
    }

    /// What `save` gave; `None` from a file without it.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2^53
    pub(super) fn load(
        name: &str,
        arrays: &[(String, Vec<f64>)],
    ) -> Result<Option<Self>, ModelError> {
        const N: usize = LossInterval::NUMBERS;
        let name = format!("{name}.changes");
        if !arrays.iter().any(|(own, _)| *own == name) {
            return Ok(None);
        }
        let numbers = array(arrays, &name, None)?;
        let (head, found) = numbers.split_at_checked(3 + 2 * N).unwrap_or((&[], &[]));
        let (found, rest) = found.as_chunks::<3>();
        if head.is_empty() || !rest.is_empty() {
            array(arrays, &name, Some(3 + 2 * N))?; // the error says how many numbers there are
        }
        let read = |from: usize| LossInterval::load(std::array::from_fn(|i| head[from + i]));
        let change = |[row, before, after]: &[f64; 3]| Change {
            row: *row as u64,
            before: *before,
            after: *after,
        };
        Ok(Some(Self {
            rows: head[0] as u64,
            asked: head[1] as u64,
            level: head[2],
            stretch: read(3),
            piece: read(3 + N),
            found: found.iter().map(change).collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use geowalk::laws::Sampler;

    use super::*;

    /// The changes in rows whose error has these probabilities, 4,000 rows each; saved and loaded on the way.
    fn changes(seed: u64, parts: &[f64]) -> Vec<Change> {
        let mut random = Sampler::new(seed);
        let mut changes = Changes::default();
        for part in parts {
            for row in 0..4000 {
                changes.see(f64::from(u8::from(random.uniform(0.0, 1.0) < *part)));
                if row % 777 == 0 {
                    let mut arrays = Arrays::new();
                    changes.save("m", &mut arrays);
                    let again = Changes::load("m", &arrays).unwrap().unwrap();
                    assert_eq!(again, changes);
                    changes = again;
                }
            }
        }
        changes.found().to_vec()
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        for seed in 0..20 {
            let found = changes(seed, &[0.1, 0.4, 0.4]);
            assert!((1..=2).contains(&found.len()), "{found:?}");
            let Change { row, before, after } = found[0];
            assert!((4001..=5001).contains(&row), "{found:?}");
            assert!((before - 0.1).abs() < 0.1 && (after - 0.4).abs() < 0.1, "{found:?}");
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_changes() {
        let found: usize = (0..40).map(|seed| changes(seed, &[0.2; 3]).len()).sum();
        assert!(found <= 2, "{found} of 40 where 2 are expected at most");
    }

    #[test]
    fn damaged_arrays_are_errors() {
        let short = vec![("m.changes".to_owned(), vec![1.0; 7])];
        assert!(Changes::load("m", &short).is_err());
        assert!(Changes::load("m", &Arrays::new()).unwrap().is_none());
    }
}
