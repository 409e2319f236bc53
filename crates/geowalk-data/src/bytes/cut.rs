//! Cutting off whole lines, to be parsed elsewhere.

use memchr::{memchr, memrchr};

use super::{Bytes, PADDING, Pin};
use crate::error::DataError;

impl Bytes {
    /// Bytes of a piece, unless the buffer is smaller or a line longer: enough to amortise handing it over, few enough to stay in the cache with the rows made of them.
    pub(super) const PIECE: usize = 1 << 19;

    /// Moves the next whole lines into a piece, which then reads like a file of its own; `false` at the end of the file.
    ///
    /// Lines are not looked at: the lines of a piece, and of an error, count as if there had been no piece before it. Who takes the pieces in order knows [how many](Bytes::lines) there were.
    pub(crate) fn cut(&mut self, piece: &mut Self) -> Result<bool, DataError> {
        (self.start, self.end, self.line) = (self.next, self.next, self.next_line);
        let after = loop {
            let waiting = &self.buffer[self.next..self.filled];
            let few = &waiting[..waiting.len().min(self.piece)];
            let whole = few.len() == self.piece || self.exhausted;
            if let Some(newline) = memrchr(b'\n', few).filter(|_| whole) {
                break self.next + newline + 1;
            }
            if let Some(newline) = memchr(b'\n', waiting).filter(|_| whole) {
                break self.next + newline + 1; // a long line
            }
            if !self.exhausted {
                self.shrink();
                self.fill();
            } else if let Some(kind) = self.failure.take() {
                let error = self.failed(kind);
                self.filled = self.next; // half a line is no line
                return Err(error);
            } else if waiting.is_empty() {
                return Ok(false);
            } else {
                break self.filled; // the last line has no end; `fill` has put one behind it
            }
        };
        piece.name.clone_from(&self.name);
        let rest = self.filled - after;
        if rest <= self.piece / 4 && self.buffer.len() <= 2 * self.piece + PADDING {
            // Nearly all of the buffer: it goes along, and the little that is left comes to the front of the other.
            if piece.buffer.len() < self.buffer.len() {
                piece.buffer.resize(self.buffer.len(), 0);
            }
            piece.buffer[..rest].copy_from_slice(&self.buffer[after..self.filled]);
            piece.buffer[rest] = b'\n';
            std::mem::swap(&mut self.buffer, &mut piece.buffer);
            piece.first = Pin { next: self.next, line: self.next_line };
            (piece.filled, piece.before) = (after, self.before);
            self.before += after as u64;
            (self.next, self.filled) = (0, rest);
        } else {
            let length = after - self.next;
            if piece.buffer.len() < length + PADDING {
                piece.buffer.resize(length + PADDING, 0);
            }
            piece.buffer[..length].copy_from_slice(&self.buffer[self.next..after]);
            piece.buffer[length] = b'\n';
            piece.first = Pin { next: 0, line: self.next_line };
            (piece.filled, piece.before) = (length, self.before + self.next as u64);
            self.next = after;
        }
        (self.start, self.end) = (self.next, self.next);
        piece.restart(0);
        Ok(true)
    }

    /// How many lines of a piece have been read.
    pub(crate) fn lines(&self) -> u64 {
        self.next_line - self.first.line
    }

    /// Begins a piece again, after so many more lines.
    pub(crate) fn restart(&mut self, lines: u64) {
        self.first.line += lines;
        let Pin { next, line } = self.first;
        (self.start, self.end, self.next) = (next, next, next);
        (self.line, self.next_line) = (line, line);
    }

    /// Makes the buffer as small as pieces are, when little is left in it.
    fn shrink(&mut self) {
        let waiting = self.filled - self.next;
        let size = self.piece + PADDING;
        if self.buffer.len() > size && waiting < self.piece {
            let mut small = vec![0; size];
            small[..waiting].copy_from_slice(&self.buffer[self.next..self.filled]);
            self.buffer = small;
            self.before += self.next as u64;
            (self.start, self.end, self.next, self.filled) = (0, 0, 0, waiting);
        }
    }
}
