//! # Oblique manifold
//! $$\{W \in \mathbb{R}^{r \times c} : \Vert W e_j \Vert = 1 \text{ for all } j\} =
//!   S^{r-1} \times \dots \times S^{r-1}$$
//! Matrices whose columns are unit vectors, stored column by column. Every operation is that of the unit
//! [sphere](super::Sphere), column by column; the squares of the distances add up.
//!
//! **Cost** O(rc). **Care** As for the sphere, opposite columns are joined by every great circle.
//! **Source** \[Boumal23, sec. 7.2\].

use super::{Product, Sphere};
use crate::Real;
use crate::error::{self, Allowed, ConfigError, DomainError};
use crate::geometry::forward::forward;
use crate::geometry::mean::Mean;
use crate::geometry::{Curvature, ExpLog, Manifold, Step, Work};

/// The matrices with the given rows and columns whose columns have norm 1.
///
/// ```
/// use geowalk::geometry::{ExpLog, Work, manifolds::Oblique};
/// let oblique = Oblique::new(2, 2)?;
/// // The first column turns by a right angle, the second stays.
/// let d: f64 = oblique.distance(&[1.0, 0.0, 0.0, 1.0], &[0.0, 1.0, 0.0, 1.0], &mut Work::new());
/// assert_eq!(d, std::f64::consts::FRAC_PI_2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Oblique {
    columns: Product<Sphere>,
    rows: usize,
}

impl Oblique {
    /// Matrices of at least 2 rows and 1 column.
    pub fn new(rows: usize, columns: usize) -> Result<Self, ConfigError> {
        error::parameter("rows", rows as f64, Allowed::Whole(2))?;
        // Each column is stored as a sphere, so a mistyped size must not exhaust memory.
        error::parameter("columns", columns as f64, Allowed::Closed(1.0, 16_777_216.0))?;
        let columns = Product::new(vec![Sphere::new(rows, 1.0)?; columns])?;
        Ok(Self { columns, rows })
    }

    /// Number of rows of a matrix.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns of a matrix.
    pub fn columns(&self) -> usize {
        self.columns.factors().len()
    }
}

macro_rules! columns {
    ($this:ident, $m:ident => $body:expr) => {{
        let $m = &$this.columns;
        $body
    }};
}

forward!([] Manifold for Oblique, columns);
forward!([] ExpLog for Oblique, columns);
