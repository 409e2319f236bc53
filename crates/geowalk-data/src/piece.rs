//! # Text in pieces
//! So that several threads can parse one file. Whoever is free cuts the next piece off the [text](crate::Text) (whole lines, no look at them), parses it with a helper of its own,
//! and the source takes the pieces back in order, when it is known how many lines were before them.
//!
//! **Same bits** A helper does not change what the source knows. It notes which names it saw for the first time, and the source meets them in the order of the
//! pieces, as if it had read them itself: what a helper passes over as known, it has noted in an earlier piece or the source had known before. A piece in which anything is unusual
//! (a bad row) is parsed again by the source, in order: errors, their places and what becomes of them are those of one thread.

use geowalk::row::Block;

use crate::bytes::Record;
use crate::error::Fault;
use crate::place::Places;
use crate::schema::{Journal, Shadow};
use crate::source::Parsed;
use crate::text::Text;

/// Whole lines of text, and the rows in them.
#[derive(Default)]
pub struct Piece {
    pub(crate) text: Text,
    pub(crate) journal: Journal,
    pub(crate) state: State,
    /// The rows, after the source has taken them.
    pub block: Block,
    /// Where they come from.
    pub places: Places,
}

impl std::fmt::Debug for Piece {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Piece")
            .field("text", &self.text)
            .field("rows", &self.block.len())
            .finish_non_exhaustive()
    }
}

/// How far a piece has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    /// Text alone.
    #[default]
    Cut,
    /// No text: the file cannot be read from here on.
    Broken,
    /// All rows are there.
    Parsed,
    /// The source has to look for itself.
    Unusual,
    /// It does.
    Again,
    /// All rows were taken.
    Taken,
}

/// Parses pieces of a source, in a thread of its own.
pub struct Helper(pub(crate) Box<dyn Shadowing>);

impl Helper {
    /// Turns the text of a piece into rows.
    pub fn parse(&mut self, piece: &mut Piece) {
        self.0.shadow().hear(&piece.journal);
        if piece.state == State::Cut {
            self.0.parse(piece);
        }
        self.0.shadow().note(&mut piece.journal);
    }
}

impl std::fmt::Debug for Helper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Helper")
    }
}

/// The parser of a format, out of order.
pub(crate) trait Shadowing: Send {
    /// Turns the text of a piece into rows.
    fn parse(&mut self, piece: &mut Piece);

    /// What it knows of features.
    fn shadow(&mut self) -> &mut Shadow;
}

impl Piece {
    /// Parses all lines of the text, up to the first that is unusual.
    #[inline]
    pub(crate) fn rows(
        &mut self,
        mut row: impl FnMut(Record<'_>, &mut Block) -> Result<Parsed, Fault>,
    ) {
        self.block.clear();
        self.places.clear();
        self.state = State::Parsed;
        // Text in memory cannot fail to be read.
        while matches!(self.text.bytes.advance(), Ok(true)) {
            match row(self.text.bytes.record(), &mut self.block) {
                Ok(Parsed::Row) => self.places.push(&self.text.file, self.text.bytes.line()),
                Ok(Parsed::Nothing) => {}
                Ok(Parsed::Empty | Parsed::NextBlock) | Err(_) => {
                    self.state = State::Unusual;
                    return;
                }
            }
        }
    }
}
