//! # Text
//! The files of a source, line by line. A source reads the text itself, or lends it to be [cut](Text::cut) into
//! pieces.

use std::sync::Arc;

use crate::bytes::Bytes;
use crate::error::DataError;
use crate::piece::{Piece, State};

/// Lines, and the state of reading.
#[derive(Default)]
pub struct Text {
    pub(crate) bytes: Bytes,
    /// Name of the current file.
    pub(crate) file: Arc<str>,
    /// An error that is reported after the rows before it.
    pub(crate) failure: Option<DataError>,
    /// An error met while sampling; reported at the end of the file.
    pub(crate) sampled: Option<DataError>,
    pub(crate) over: bool,
}

impl Text {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self { file: bytes.name().into(), bytes, ..Self::default() }
    }

    /// Opens the next file; `false` if there is none.
    pub(crate) fn next_file(&mut self) -> Result<bool, DataError> {
        let more = self.bytes.next_file()?;
        if more {
            self.file = self.bytes.name().into();
        }
        Ok(more)
    }

    /// Cuts off the next piece for a [helper](crate::Helper); `false` at the end.
    pub fn cut(&mut self, piece: &mut Piece) -> Result<bool, DataError> {
        if let Some(error) = self.failure.take() {
            self.over = true;
            return Err(error);
        }
        while !self.over {
            let cut = self.bytes.cut(&mut piece.text.bytes);
            if !matches!(cut, Ok(false)) {
                piece.text.file = Arc::clone(&self.file);
                piece.text.failure = cut.err();
                self.over = piece.text.failure.is_some();
                piece.state = if self.over { State::Broken } else { State::Cut };
                return Ok(true);
            }
            if let Some(error) = self.sampled.take() {
                self.over = true;
                return Err(error);
            }
            self.over = !self.next_file()?;
        }
        Ok(false)
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Text").field("file", &self.file).finish_non_exhaustive()
    }
}
