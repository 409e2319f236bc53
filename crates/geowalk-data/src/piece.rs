//! # Text in pieces
//! Lets several threads parse one file. A free thread cuts the next piece, made of whole lines, off the
//! [text](crate::Text), and parses it with its helper. The source takes the pieces back in order; only then the number
//! of lines before a piece is known.
//!
//! **Same bits** A helper does not change the state of the source. It records the names that it meets for the first
//! time, and the source processes these records in the order of the pieces, as if it had read the names itself. A name
//! that a helper skips as known is in an earlier record, or was known to the source before. If anything in a piece is
//! unusual, such as a bad row, the source parses the piece again, in order. So errors, their positions and their
//! handling are the same as with one thread.

use geowalk::row::Block;

use crate::bytes::Record;
use crate::error::Fault;
use crate::place::Places;
use crate::schema::{Journal, Shadow};
use crate::source::Parsed;
use crate::text::Text;

/// Whole lines of text, and their rows.
#[derive(Default)]
pub struct Piece {
    pub(crate) text: Text,
    pub(crate) journal: Journal,
    pub(crate) state: State,
    /// The rows, once the source has taken them.
    pub block: Block,
    /// File and line of each row.
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

/// The progress of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    /// Only text.
    #[default]
    Cut,
    /// No text: the file cannot be read from here on.
    Broken,
    /// All rows are parsed.
    Parsed,
    /// The source has to parse the piece again.
    Unusual,
    /// The source is parsing the piece again.
    Again,
    /// The source has taken all rows.
    Taken,
}

/// Parses pieces of a source, in another thread.
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

/// The parser of a format for pieces out of order.
pub(crate) trait Shadowing: Send {
    /// Turns the text of a piece into rows.
    fn parse(&mut self, piece: &mut Piece);

    /// Its knowledge of features.
    fn shadow(&mut self) -> &mut Shadow;
}

impl Piece {
    /// Parses the lines of the text, up to the first that is unusual.
    #[inline]
    pub(crate) fn rows(
        &mut self,
        mut row: impl FnMut(Record<'_>, &mut Block) -> Result<Parsed, Fault>,
    ) {
        self.block.clear();
        self.places.clear();
        self.state = State::Parsed;
        // Reading from memory cannot fail.
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
