//! Boundaries of records and fields.

use std::borrow::Cow;

use memchr::memchr;

use super::Dialect;
use crate::bytes::Record;
use crate::error::{ErrorKind, Fault, excerpt};
use crate::source::Scan;

/// Whether every quote of the record is closed. Resumes at the position reached when the record was shorter.
#[inline]
pub(super) fn complete(record: Record<'_>, separator: u8, scan: &mut Scan) -> bool {
    let bytes = record.bytes();
    if scan.at == 0 && memchr(b'"', bytes).is_none() {
        return true;
    }
    closes(bytes, separator, scan)
}

fn closes(bytes: &[u8], separator: u8, scan: &mut Scan) -> bool {
    loop {
        let rest = bytes.get(scan.at..).unwrap_or_default();
        if scan.quoted {
            let Some(quote) = memchr(b'"', rest) else {
                scan.at = bytes.len();
                return false;
            };
            let doubled = rest.get(quote + 1) == Some(&b'"');
            scan.quoted = doubled;
            scan.at += quote + 1 + usize::from(doubled);
        } else {
            // Only a quote at the beginning of a field opens a quoted field.
            let begins = scan.at == 0 || bytes[scan.at - 1] == separator;
            if begins && rest.first() == Some(&b'"') {
                scan.quoted = true;
                scan.at += 1;
                continue;
            }
            let Some(end) = memchr(separator, rest) else { return true };
            scan.at += end + 1;
        }
    }
}

/// The fields of a record with their offsets, without quotes and surrounding blanks.
pub(super) fn fields(record: Record<'_>, dialect: Dialect) -> Fields<'_> {
    Fields { bytes: record.bytes(), at: Some(0), dialect }
}

pub(super) struct Fields<'a> {
    bytes: &'a [u8],
    /// Position of the next field, if there is one.
    at: Option<usize>,
    dialect: Dialect,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(usize, Cow<'a, [u8]>), Fault>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at?;
        let rest = &self.bytes[at..];
        if self.dialect.quotes && rest.first() == Some(&b'"') {
            return Some(self.quoted(at));
        }
        let length = memchr(self.dialect.separator, rest);
        self.at = length.map(|length| at + length + 1);
        Some(Ok((at, Cow::Borrowed(rest[..length.unwrap_or(rest.len())].trim_ascii()))))
    }
}

impl<'a> Fields<'a> {
    fn quoted(&mut self, at: usize) -> Result<(usize, Cow<'a, [u8]>), Fault> {
        let start = at + 1;
        let mut end = start;
        let mut doubled = false;
        loop {
            let Some(quote) = memchr(b'"', &self.bytes[end..]) else {
                return Err(ErrorKind::UnclosedQuote.at(at));
            };
            end += quote;
            if self.bytes.get(end + 1) != Some(&b'"') {
                break;
            }
            doubled = true;
            end += 2;
        }
        self.at = match self.bytes.get(end + 1) {
            None => None,
            Some(byte) if *byte == self.dialect.separator => Some(end + 2),
            Some(_) => {
                let rest = &self.bytes[end + 1..];
                let length = memchr(self.dialect.separator, rest).unwrap_or(rest.len());
                return Err(ErrorKind::AfterQuote { found: excerpt(&rest[..length]) }.at(end + 1));
            }
        };
        let inside = &self.bytes[start..end];
        if !doubled {
            return Ok((at, Cow::Borrowed(inside)));
        }
        let mut text = Vec::with_capacity(inside.len());
        let mut rest = inside;
        while let Some(quote) = memchr(b'"', rest) {
            text.extend_from_slice(&rest[..=quote]);
            rest = &rest[(quote + 2).min(rest.len())..];
        }
        text.extend_from_slice(rest);
        Ok((at, Cow::Owned(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<String> {
        let text = format!("{line}\n{}", " ".repeat(64));
        let record = Record { text: text.as_bytes(), end: line.len() };
        assert!(complete(record, b',', &mut Scan::default()), "{line}");
        fields(record, Dialect::CSV)
            .map(|field| String::from_utf8(field.unwrap().1.into_owned()).unwrap())
            .collect()
    }

    #[test]
    fn quotes_as_in_rfc_4180() {
        assert_eq!(split("a,b"), ["a", "b"]);
        assert_eq!(split(" a , b\t"), ["a", "b"]);
        assert_eq!(split(",,"), ["", "", ""]);
        assert_eq!(split(r#""a,b"," c ","""d"" e""#), ["a,b", " c ", r#""d" e"#]);
        assert_eq!(split("\"two\nlines\",x"), ["two\nlines", "x"]);
        assert_eq!(split(r#"5" disk,"""""#), [r#"5" disk"#, r#"""#]);
    }

    #[test]
    fn open_quotes_ask_for_more() {
        for line in ["\"a", "x,\"a", "x,\"a\"\",", "\"\"\""] {
            let text = format!("{line}\n{}", " ".repeat(64));
            let record = Record { text: text.as_bytes(), end: line.len() };
            assert!(!complete(record, b',', &mut Scan::default()), "{line}");
        }
    }
}
