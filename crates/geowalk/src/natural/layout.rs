//! # Assignment of features to families
//! One family for all features, or one for each of several sets of features; used by `mixed`. The statistics of the
//! families are concatenated, and so is g.
//!
//! **Cost** A row is read once per family. **Care** Features in no set belong to the last family, in ascending order.

use crate::error::{ConfigError, DomainError};
use crate::row::Row;

/// The family of each feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layout {
    /// All features belong to one family.
    One,
    /// Each feature belongs to one of several families.
    Split {
        /// Family, and index within it, of every feature.
        of: Vec<(usize, usize)>,
        /// Number of features of each family.
        counts: Vec<usize>,
    },
}

impl Layout {
    /// A layout from the sets of all families except the last, which gets the rest. Refuses a feature named twice.
    pub(crate) fn split(sets: &[Vec<usize>]) -> Result<Self, ConfigError> {
        let last = sets.iter().flatten().max().map_or(0, |most| most + 1);
        let mut owner = vec![sets.len(); last];
        for (k, set) in sets.iter().enumerate() {
            for &feature in set {
                if owner[feature] != sets.len() {
                    return Err(ConfigError::Twice { name: format!("feature {feature}") });
                }
                owner[feature] = k;
            }
        }
        let mut layout = Self::Split { of: Vec::new(), counts: vec![0; sets.len() + 1] };
        if let Self::Split { of, counts } = &mut layout {
            for k in owner {
                of.push((k, counts[k]));
                counts[k] += 1;
            }
        }
        Ok(layout)
    }

    /// Makes room for the features below `features`.
    pub(crate) fn grow(&mut self, features: usize) {
        if let Self::Split { of, counts } = self {
            let last = counts.len() - 1;
            while of.len() < features {
                of.push((last, counts[last]));
                counts[last] += 1;
            }
        }
    }

    /// Number of features of a family, if there are `features` in total.
    pub(crate) fn count(&self, part: usize, features: usize) -> usize {
        match self {
            Self::One => features,
            Self::Split { counts, .. } => counts.get(part).copied().unwrap_or(0),
        }
    }

    /// The overall indices of the features of a family.
    pub(crate) fn inside(&self, part: usize) -> Vec<usize> {
        match self {
            Self::One => Vec::new(),
            Self::Split { of, .. } => (0..of.len()).filter(|&i| of[i].0 == part).collect(),
        }
    }

    /// Changes the feature index of an error from that within the family to that within the row.
    pub(crate) fn outside(&self, part: usize, error: DomainError) -> DomainError {
        match error {
            DomainError::Coordinate { what, index, value, allowed } if *self != Self::One => {
                let index = self.inside(part).get(index).copied().unwrap_or(index);
                DomainError::Coordinate { what, index, value, allowed }
            }
            other => other,
        }
    }
}

/// The features of a row that belong to one family.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Picked<'a, X> {
    pub(crate) row: X,
    pub(crate) of: &'a [(usize, usize)],
    pub(crate) part: usize,
}

impl<X: Row<f64>> Row<f64> for Picked<'_, X> {
    #[inline]
    fn each(self, mut f: impl FnMut(usize, f64)) {
        self.row.each(|i, x| match self.of.get(i) {
            Some(&(part, place)) if part == self.part => f(place, x),
            _ => {}
        });
    }

    fn bound(self) -> usize {
        let mut bound = 0;
        self.each(|i, _| bound = bound.max(i + 1));
        bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::Dense;

    #[test]
    fn the_last_family_has_the_rest() {
        let mut layout = Layout::split(&[vec![3, 0], vec![2]]).unwrap();
        layout.grow(6);
        assert_eq!((layout.count(0, 6), layout.count(1, 6), layout.count(2, 6)), (2, 1, 3));
        assert_eq!(layout.inside(2), [1, 4, 5]);
        let Layout::Split { of, .. } = &layout else { panic!("split") };
        let mut seen = Vec::new();
        let row = Dense(&[10.0, 11.0, 12.0, 13.0, 14.0, 15.0]);
        Picked { row, of, part: 2 }.each(|i, x| seen.push((i, x)));
        assert_eq!(seen, [(0, 11.0), (1, 14.0), (2, 15.0)]);
        assert!(Layout::split(&[vec![1], vec![1]]).is_err());
    }
}
