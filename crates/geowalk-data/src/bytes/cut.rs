//! Cuts off whole lines for parsing by another thread.

use memchr::{memchr, memrchr};

use super::{Bytes, PADDING, Pin};
use crate::error::DataError;

impl Bytes {
    /// Bytes in a piece, unless the buffer is smaller or a line longer. A piece is large enough to amortise the
    /// handover, and small enough to stay in the cache together with its rows.
    pub(super) const PIECE: usize = 1 << 19;

    /// Moves the next whole lines into a piece, which can then be read like a separate file; `false` at the end of the
    /// file.
    ///
    /// Lines are not counted here. Line numbers in a piece, and in an error, start as if the piece came first. The
    /// caller that takes the pieces in order must add the [number of lines](Bytes::lines) before it.
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
                self.filled = self.next; // an incomplete line is dropped
                return Err(error);
            } else if waiting.is_empty() {
                return Ok(false);
            } else {
                break self.filled; // the last line has no line end; `fill` has put one after it
            }
        };
        piece.name.clone_from(&self.name);
        let rest = self.filled - after;
        if rest <= self.piece / 4 && self.buffer.len() <= 2 * self.piece + PADDING {
            // Nearly the whole buffer: swap the buffers and move the short rest to the front of the other one.
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

    /// Number of lines read from a piece.
    pub(crate) fn lines(&self) -> u64 {
        self.next_line - self.first.line
    }

    /// Restarts a piece, after this number of additional lines.
    pub(crate) fn restart(&mut self, lines: u64) {
        self.first.line += lines;
        let Pin { next, line } = self.first;
        (self.start, self.end, self.next) = (next, next, next);
        (self.line, self.next_line) = (line, line);
    }

    /// Shrinks the buffer to the size of a piece if it is nearly empty.
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
