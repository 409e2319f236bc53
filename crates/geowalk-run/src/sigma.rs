//! # Matrices from files
//! A matrix file holds rows of numbers, separated by commas, semicolons, spaces or tabs. n rows of n numbers are a
//! matrix; one row or one column is its diagonal. In a walk specification, `diag(1, 2, 3)` gives the diagonal
//! directly.

use std::path::Path;

use geowalk::ConfigError;
use geowalk::spec::Spec;

use crate::error::RunError;

/// The entries of a symmetric matrix: its diagonal, or all entries by rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sigma {
    Diagonal(Vec<f64>),
    Full(Vec<f64>, usize),
}

/// The required shape, used in error messages.
const SHAPE: &str = "as many rows as numbers in a row, or one row or column for a diagonal";

impl Sigma {
    /// Reads a file. The model stores its text.
    pub(crate) fn text(path: &str) -> Result<String, RunError> {
        std::fs::read_to_string(Path::new(path))
            .map_err(|source| RunError::Sigma { path: path.to_owned(), source })
    }

    /// The diagonal of a text of the form `diag(...)`; `None` for any other text.
    pub(crate) fn inline(text: &str) -> Result<Option<Self>, ConfigError> {
        let Some(spec) = Spec::parse(text).ok().filter(|spec| spec.name() == "diag") else {
            return Ok(None);
        };
        let mut args = spec.args();
        let entries = args.rest().into_iter().map(|entry| number(text, entry));
        let entries = entries.collect::<Result<_, _>>()?;
        args.finish()?;
        Ok(Some(Self::Diagonal(entries)))
    }

    /// Parses the text of a matrix file; `name` is used in errors.
    pub(crate) fn parse(name: &str, text: &str) -> Result<Self, ConfigError> {
        let mut rows: Vec<Vec<f64>> = Vec::new();
        for (line, content) in text.lines().enumerate() {
            let place = format!("{name}:{}", line + 1);
            let fields = content.split([',', ';', ' ', '\t']).filter(|field| !field.is_empty());
            let row: Vec<f64> =
                fields.map(|field| number(&place, field)).collect::<Result<_, _>>()?;
            if let Some(first) =
                rows.first().filter(|first| !row.is_empty() && first.len() != row.len())
            {
                let text = format!("{place}: {} numbers after rows of {}", row.len(), first.len());
                return Err(ConfigError::Syntax { text, column: 1, expected: SHAPE });
            }
            rows.extend((!row.is_empty()).then_some(row));
        }
        let (n, width) = (rows.len(), rows.first().map_or(0, Vec::len));
        match (n, width) {
            (1, _) | (2.., 1) => Ok(Self::Diagonal(rows.concat())),
            _ if n > 0 && n == width => Ok(Self::Full(rows.concat(), n)),
            _ => {
                let text = format!("{name}: {n} rows of {width} numbers");
                Err(ConfigError::Syntax { text, column: 1, expected: SHAPE })
            }
        }
    }

    /// The matrix with one more coordinate in front, of variance 1 and uncorrelated with the others.
    pub(crate) fn with_intercept(self) -> Self {
        match self {
            Self::Diagonal(mut entries) => {
                entries.insert(0, 1.0);
                Self::Diagonal(entries)
            }
            Self::Full(entries, n) => {
                let mut all = vec![0.0; n + 1];
                all[0] = 1.0;
                for row in entries.chunks_exact(n) {
                    all.push(0.0);
                    all.extend(row);
                }
                Self::Full(all, n + 1)
            }
        }
    }
}

fn number(place: &str, field: &str) -> Result<f64, ConfigError> {
    field.trim().parse().map_err(|_| ConfigError::Syntax {
        text: format!("{place}: {field}"),
        column: place.chars().count() + 3,
        expected: "a number",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_and_diagonals() {
        let full = Sigma::parse("s", "2, 1\n1, 3\n\n").unwrap();
        assert_eq!(full, Sigma::Full(vec![2.0, 1.0, 1.0, 3.0], 2));
        let more = full.with_intercept();
        assert_eq!(more, Sigma::Full(vec![1.0, 0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 3.0], 3));
        let diagonal = Sigma::Diagonal(vec![2.0, 3.0]);
        for text in ["2 3\n", "2\n3\n", "2,3"] {
            assert_eq!(Sigma::parse("s", text).unwrap(), diagonal);
        }
        assert_eq!(Sigma::inline("diag(2, 3)").unwrap(), Some(diagonal.clone()));
        assert_eq!(diagonal.with_intercept(), Sigma::Diagonal(vec![1.0, 2.0, 3.0]));
        assert_eq!(Sigma::inline("sigma.csv").unwrap(), None);
    }

    #[test]
    fn errors_say_where() {
        let says = |text: &str| Sigma::parse("s.csv", text).unwrap_err().to_string();
        assert!(
            says("1,2\n3,x\n").contains("s.csv:2: x': a number expected"),
            "{}",
            says("1,2\n3,x\n")
        );
        assert!(says("1,2\n3\n").contains("s.csv:2: 1 numbers after rows of 2"));
        assert!(says("1,2,3\n4,5,6\n").contains("s.csv: 2 rows of 3 numbers"));
        assert!(says("").contains("0 rows"));
        assert!(Sigma::inline("diag(1, a)").is_err());
    }
}
