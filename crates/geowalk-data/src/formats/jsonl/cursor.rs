//! Reads one line of JSON.

use std::borrow::Cow;

use super::keys::Keys;
use crate::bytes::Record;
use crate::error::{ErrorKind, Fault, excerpt};
use crate::number;

/// A value that is neither object nor array.
pub(super) enum Token<'a> {
    Number { value: f64, text: &'a [u8] },
    Bool(bool),
    Text(Cow<'a, [u8]>),
    Null,
}

pub(super) struct Cursor<'a> {
    record: Record<'a>,
    at: usize,
    mode: Mode<'a>,
}

/// How keys are treated.
pub(super) enum Mode<'a> {
    /// Visit all.
    Plain,
    /// Visit all and record them.
    Watch(&'a mut Keys),
    /// If a key occurs several times in an object, visit only the last.
    Last,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(record: Record<'a>, mode: Mode<'a>) -> Self {
        Self { record, at: 0, mode }
    }

    /// A cursor that starts at this byte.
    pub(super) fn from(record: Record<'a>, at: usize) -> Self {
        Self { record, at, mode: Mode::Plain }
    }

    /// Skips blanks; returns the offset of the next byte.
    pub(super) fn at(&mut self) -> usize {
        while self.at < self.record.end && self.record.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.at
    }

    /// The next byte that is not blank.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let at = self.at();
        self.record.bytes().get(at).copied()
    }

    /// An error at this position.
    #[cold]
    pub(super) fn unexpected(&mut self, expected: &'static str) -> Fault {
        let at = self.at();
        let rest = &self.record.bytes()[at..];
        let end = rest.iter().position(|b| b" \t,:{}[]".contains(b)).unwrap_or(rest.len()).max(1);
        let found = match rest {
            [] => "the end of the line".to_owned(),
            rest => excerpt(&rest[..end.min(rest.len())]),
        };
        ErrorKind::Json { expected, found }.at(at)
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Reads a comma (true) or the closing byte (false).
    fn goes_on(&mut self, close: u8, expected: &'static str) -> Result<bool, Fault> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Calls `visit` at the value of each member of an object. `visit` must move past the value.
    pub(super) fn members(
        &mut self,
        mut visit: impl FnMut(&mut Self, &[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.expect(b'{', "an object")?;
        let start = self.at;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        let keys = if let Mode::Last = self.mode { self.keys()? } else { Vec::new() };
        for k in 1.. {
            let key = self.text("a name in quotes")?;
            self.expect(b':', "':'")?;
            if let Mode::Watch(keys) = &mut self.mode {
                keys.add(&key, start);
            }
            if !keys.is_empty() && keys.iter().skip(k).any(|later| *later == *key) {
                self.skip(0)?;
            } else {
                visit(self, &key)?;
            }
            if !self.goes_on(b'}', "',' or '}'")? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The keys from here to the end of the object. Does not move the cursor.
    fn keys(&mut self) -> Result<Vec<Vec<u8>>, Fault> {
        let mut ahead = Self::from(self.record, self.at);
        let mut keys = Vec::new();
        loop {
            keys.push(ahead.text("a name in quotes")?.into_owned());
            ahead.expect(b':', "':'")?;
            ahead.skip(0)?;
            if !ahead.goes_on(b'}', "',' or '}'")? {
                return Ok(keys);
            }
        }
    }

    /// Calls `visit` at each element of an array. `visit` must move past the element.
    pub(super) fn elements(
        &mut self,
        mut visit: impl FnMut(&mut Self, usize) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.expect(b'[', "an array")?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        for k in 0.. {
            visit(self, k)?;
            if !self.goes_on(b']', "',' or ']'")? {
                break;
            }
        }
        Ok(())
    }

    /// Skips a value.
    pub(super) fn skip(&mut self, depth: usize) -> Result<(), Fault> {
        if depth > super::DEEPEST {
            return Err(self.unexpected("nesting of at most 64 levels"));
        }
        match self.peek() {
            Some(b'{') => self.members(|cursor, _| cursor.skip(depth + 1)),
            Some(b'[') => self.elements(|cursor, _| cursor.skip(depth + 1)),
            _ => self.scalar().map(|_| ()),
        }
    }

    /// Fails if anything follows.
    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        if self.peek().is_some() { Err(self.unexpected("the end of the line")) } else { Ok(()) }
    }

    pub(super) fn scalar(&mut self) -> Result<Token<'a>, Fault> {
        let Some(first) = self.peek() else { return Err(self.unexpected("a value")) };
        if first == b'"' {
            return self.text("a string").map(Token::Text);
        }
        let rest = &self.record.bytes()[self.at..];
        for (word, token) in [
            (&b"true"[..], Token::Bool(true)),
            (b"false", Token::Bool(false)),
            (b"null", Token::Null),
        ] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok(token);
            }
        }
        let Some((value, end)) = number::decimal(self.record.text, self.at) else {
            return Err(self.unexpected("a value"));
        };
        let text = &self.record.text[self.at..end];
        self.at = end;
        if value.is_nan() {
            return Ok(Token::Null); // what Python writes for a missing number
        }
        Ok(Token::Number { value, text })
    }

    fn text(&mut self, expected: &'static str) -> Result<Cow<'a, [u8]>, Fault> {
        self.expect(b'"', expected)?;
        let start = self.at;
        let bytes = self.record.bytes();
        let rest = &bytes[start..];
        let Some(stop) = memchr::memchr2(b'"', b'\\', rest) else {
            self.at = bytes.len();
            return Err(self.unexpected("a closing '\"'"));
        };
        if rest[stop] == b'"' {
            self.at = start + stop + 1;
            return Ok(Cow::Borrowed(&rest[..stop]));
        }
        let mut text = rest[..stop].to_vec();
        self.at = start + stop;
        loop {
            match bytes.get(self.at) {
                None => return Err(self.unexpected("a closing '\"'")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Cow::Owned(text));
                }
                Some(b'\\') => {
                    let start = self.at;
                    match self.escape()? {
                        Some(c) => text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                        // Keep the escape as written, so that different names stay different.
                        None => text.extend_from_slice(&bytes[start..self.at]),
                    }
                }
                Some(byte) => {
                    text.push(*byte);
                    self.at += 1;
                }
            }
        }
    }

    /// The character of an escape sequence; `None` for an unpaired surrogate.
    fn escape(&mut self) -> Result<Option<char>, Fault> {
        let c = match self.record.bytes().get(self.at + 1) {
            Some(c @ (b'"' | b'\\' | b'/')) => char::from(*c),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.hex(2)?;
                self.at += 6;
                // A character outside the basic plane is written as two escapes.
                if (0xD800..0xDC00).contains(&first)
                    && self.record.bytes().get(self.at..self.at + 2) == Some(b"\\u")
                {
                    let second = self.hex(2)?;
                    if (0xDC00..0xE000).contains(&second) {
                        self.at += 6;
                        let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                        return Ok(char::from_u32(code));
                    }
                }
                return Ok(char::from_u32(first));
            }
            _ => return Err(self.unexpected("an escape sequence of JSON")),
        };
        self.at += 2;
        Ok(Some(c))
    }

    fn hex(&mut self, offset: usize) -> Result<u32, Fault> {
        let start = self.at + offset;
        let digits = self.record.bytes().get(start..start + 4);
        let code = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        code.ok_or_else(|| self.unexpected("four hexadecimal digits after \\u"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: &str) -> Option<String> {
        let padded = format!("{json}\n{}", " ".repeat(64));
        let mut cursor = Cursor::from(Record { text: padded.as_bytes(), end: json.len() }, 0);
        match cursor.scalar() {
            Ok(Token::Text(text)) => Some(String::from_utf8(text.into_owned()).unwrap()),
            _ => None,
        }
    }

    #[test]
    fn strings() {
        assert_eq!(text(r#""plain""#).as_deref(), Some("plain"));
        assert_eq!(text(r#""a\"b\\\/\n\u00e9""#).as_deref(), Some("a\"b\\/\né"));
        assert_eq!(text(r#""\ud83d\ude00!""#).as_deref(), Some("😀!"));
        assert_eq!(text(r#""\ud83dx\udc00""#).as_deref(), Some(r"\ud83dx\udc00"));
        for bad in [r#""open"#, r#""\"#, r#""\x""#, r#""\u12""#, r#""\u12g4""#, "\"a\\"] {
            assert_eq!(text(bad), None, "{bad}");
        }
    }
}
