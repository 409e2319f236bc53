//! # Destinations of typed cells
//! Readers pass on each cell with its type. [`OneHot`] turns it into features of a block; [`ColumnBuffer`] collects
//! columns.
//!
//! | cell | one-hot | columns |
//! |---|---|---|
//! | number | `column`; zeros are omitted from sparse rows | its value |
//! | name | `column=name`, as 1 | the code of the name |
//! | word | `column=word`, valued by its count | a column of counts per word |
//! | missing | `column=missing`, as 1 | a missing value |

use geowalk::row::Block;

use crate::columns::ColumnBuffer;
use crate::error::ErrorKind;
use crate::schema::Features;

/// A cell with its type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Typed<'a> {
    Missing,
    Number(f64),
    Name(&'a [u8]),
    /// One of several names in a cell; each counts.
    Item(&'a [u8]),
    /// A word of a text, written `column=word`.
    Word(&'a [u8]),
}

/// Receives the cells of rows.
pub(crate) enum Sink<'a> {
    Rows(&'a mut Block),
    Columns(&'a mut ColumnBuffer),
}

impl Sink<'_> {
    /// Takes a cell of the column with this name.
    #[inline]
    pub(crate) fn cell(
        &mut self,
        column: &[u8],
        cell: Typed<'_>,
        features: &mut Features,
    ) -> Result<(), ErrorKind> {
        match self {
            Self::Rows(block) => OneHot { features, block }.cell(column, cell),
            Self::Columns(columns) => columns.cell(column, cell),
        }
    }

    /// Drops the current row.
    pub(crate) fn abandon(&mut self) {
        match self {
            Self::Rows(block) => block.abandon(),
            Self::Columns(columns) => columns.abandon(),
        }
    }

    /// Ends the row.
    #[inline]
    pub(crate) fn end(&mut self, label: f64, weight: f64) {
        match self {
            Self::Rows(block) => block.end(label, weight),
            Self::Columns(columns) => columns.end(label, weight),
        }
    }
}

/// Turns cells into features; the only place where a name becomes a feature.
pub(crate) struct OneHot<'a> {
    pub(crate) features: &'a mut Features,
    pub(crate) block: &'a mut Block,
}

impl OneHot<'_> {
    #[inline]
    pub(crate) fn cell(&mut self, column: &[u8], cell: Typed<'_>) -> Result<(), ErrorKind> {
        let (index, value) = match cell {
            Typed::Number(0.0) => return Ok(()),
            Typed::Number(value) => (self.features.named(column)?, value),
            Typed::Name(name) => (self.features.is(column, name)?, 1.0),
            Typed::Item(name) => (self.features.joined(column, name)?, 1.0),
            Typed::Word(word) => (self.features.named(word)?, 1.0),
            Typed::Missing => (self.features.gap(column)?, 1.0),
        };
        self.block.feature(index, value);
        Ok(())
    }
}
