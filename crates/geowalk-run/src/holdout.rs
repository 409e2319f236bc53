//! # Examples that are never learned from
//! `--holdout 10` keeps every tenth row of the data for judging; `--holdout 0.3` keeps row i if ⌊0.3·i⌋ exceeds ⌊0.3·(i − 1)⌋, which are three of
//! ten, evenly spread. Rows are counted over all files of a pass, and on through a resumed run: the same rows are kept in every pass, and in
//! one run or two halves of it.
//!
//! A kept row is predicted where it stands in the stream, with the weights that the model would predict with then. With one pass these losses are of the same kind as the
//! progressive ones. From the second pass on only they are honest: the others are of examples that have been seen.

use geowalk::ConfigError;

/// Which rows are kept.
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
    /// Every n-th.
    Every(u64),
    /// This part of all.
    Part(f64),
}

impl Holdout {
    /// Parses a whole number from 2 on, or a fraction between 0 and 1.
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

    /// Is this row, counted from 1, kept?
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
