//! # Held-out rows
//! Held-out rows are predicted, but never learned. `--holdout 10` holds out every tenth row. `--holdout 0.3` holds out
//! row i if ⌊0.3·i⌋ exceeds ⌊0.3·(i − 1)⌋: three rows of ten, evenly spread. Rows are counted over all files of a
//! pass, and the count continues when a run is resumed. So every pass holds out the same rows, and so does a run in
//! two halves.
//!
//! A held-out row is predicted at its place in the stream, with the weights that the model would then predict with. In
//! the first pass, its loss is comparable to the progressive losses. From the second pass on only held-out losses are
//! honest, because all other rows have been learned before.

use geowalk::ConfigError;

/// The rule that selects the held-out rows.
///
/// ```
/// use geowalk_run::holdout::Holdout;
/// let kept = |text: &str| -> Result<Vec<u64>, geowalk::ConfigError> {
///     let holdout = Holdout::parse(text)?;
///     Ok((1..=10).filter(|&row| holdout.keeps(row)).collect())
/// };
/// assert_eq!(kept("4")?, [4, 8]);
/// assert_eq!(kept("0.25")?, [4, 8]);
/// assert_eq!(kept("0.3")?, [4, 7, 10]);
/// assert!(kept("1").is_err());
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Holdout {
    /// Every n-th row.
    Every(u64),
    /// This fraction of all rows.
    Part(f64),
}

impl Holdout {
    /// Parses an integer of at least 2, or a fraction between 0 and 1.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let trimmed = text.trim();
        match (trimmed.parse(), trimmed.parse::<f64>()) {
            (Ok(n), _) if n >= 2 => Ok(Self::Every(n)),
            (_, Ok(part)) if part > 0.0 && part < 1.0 => Ok(Self::Part(part)),
            _ => Err(ConfigError::Syntax {
                text: format!("holdout={text}"),
                column: 9,
                expected: "a whole number from 2 on (every N-th row) or a fraction between 0 and 1",
            }),
        }
    }

    /// Whether this row, counted from 1, is held out.
    pub fn keeps(self, row: u64) -> bool {
        match self {
            Self::Every(n) => row.is_multiple_of(n),
            Self::Part(part) => (row as f64 * part).floor() > ((row - 1) as f64 * part).floor(),
        }
    }
}

impl std::fmt::Display for Holdout {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Every(n) => write!(f, "{n}"),
            Self::Part(part) => write!(f, "{part}"),
        }
    }
}
