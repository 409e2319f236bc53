//! How numbers are written in tables, and which words stand for a missing one.

use crate::error::ErrorKind;
use crate::flag::{Advice, Flag};
use crate::number;

/// The number format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) struct Spelling {
    decimal: u8,
    thousands: Option<u8>,
}

impl Spelling {
    pub(in crate::formats) const PLAIN: Self = Self { decimal: b'.', thousands: None };

    /// Refuses marks that are part of a number, and equal marks.
    pub(in crate::formats) fn new(
        decimal: char,
        thousands: Option<char>,
    ) -> Result<Self, ErrorKind> {
        let mark = |option, found: char| match u8::try_from(found) {
            Ok(c) if c == b' ' || c.is_ascii_punctuation() && !b"+-\"".contains(&c) => Ok(c),
            _ => Err(ErrorKind::Mark { option, found }),
        };
        let decimal = mark(Flag::Decimal, decimal)?;
        let thousands = thousands.map(|found| match mark(Flag::Thousands, found) {
            Ok(c) if c == decimal => Err(ErrorKind::Mark { option: Flag::Thousands, found }),
            mark => mark,
        });
        Ok(Self { decimal, thousands: thousands.transpose()? })
    }

    /// The number in a field, if it holds nothing else.
    pub(in crate::formats) fn number(self, text: &[u8]) -> Option<f64> {
        if self == Self::PLAIN {
            return number::field(text);
        }
        let text = text.trim_ascii();
        let mut plain = [0; 64];
        let mut length = 0;
        let (mut fraction, mut groups, mut digits) = (false, false, 0);
        for &c in text {
            let c = match c {
                c if Some(c) == self.thousands => {
                    // Each group after the first has three digits; the first may be shorter.
                    if fraction || digits == 0 || digits > 3 || groups && digits != 3 {
                        return None;
                    }
                    (groups, digits) = (true, 0);
                    continue;
                }
                c if c == self.decimal && !fraction && (!groups || digits == 3) => {
                    fraction = true;
                    b'.'
                }
                c if c == self.decimal || c == b'.' => return None,
                c => c,
            };
            digits += usize::from(c.is_ascii_digit());
            *plain.get_mut(length)? = c;
            length += 1;
        }
        if groups && !fraction && digits != 3 {
            return None;
        }
        number::field(&plain[..length])
    }
}

/// Whether this is a usual word for a missing number.
pub(in crate::formats) fn is_missing_word(text: &[u8]) -> bool {
    const WORDS: [&[u8]; 11] =
        [b"na", b"n/a", b"nan", b"null", b"none", b"?", b"-", b"<na>", b"#n/a", b"#na", b"-nan"];
    // Most fields are numbers.
    !text.first().is_some_and(u8::is_ascii_digit)
        && text.len() <= 4
        && WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Advice for a text that a person would take for a number.
pub(in crate::formats) fn advice(text: &[u8]) -> Option<Advice> {
    const CURRENCIES: [&str; 8] = ["$", "€", "£", "¥", "USD", "EUR", "GBP", "CHF"];
    let text = std::str::from_utf8(text).ok()?.trim();
    let is = |text: &str, decimal, thousands| {
        Spelling { decimal, thousands }.number(text.as_bytes()).is_some_and(f64::is_finite)
    };
    let any = |text: &str| {
        let text = text.trim();
        [(b'.', Some(b',')), (b',', Some(b'.'))]
            .iter()
            .any(|&(decimal, thousands)| is(text, decimal, thousands))
    };
    let without =
        |sign: &str| text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)).is_some_and(any);
    match () {
        () if is(text, b'.', None) => None,
        () if text.strip_suffix('%').is_some_and(any) => {
            Some(Advice::Words("percent signs are not read: remove them from the column"))
        }
        () if CURRENCIES.iter().any(|sign| without(sign)) => {
            Some(Advice::Words("signs of currencies are not read: remove them from the column"))
        }
        () if is(text, b'.', Some(b',')) && is(text, b',', None) => {
            Some(Advice::One(&[(Flag::Thousands, ","), (Flag::Decimal, ",")]))
        }
        () if is(text, b',', None) => Some(Advice::All(&[(Flag::Decimal, ",")])),
        () if is(text, b'.', Some(b',')) => Some(Advice::All(&[(Flag::Thousands, ",")])),
        () if is(text, b',', Some(b'.')) => {
            Some(Advice::All(&[(Flag::Decimal, ","), (Flag::Thousands, ".")]))
        }
        () if is(text, b'.', Some(b' ')) => Some(Advice::All(&[(Flag::Thousands, "' '")])),
        () if is(text, b',', Some(b' ')) => {
            Some(Advice::All(&[(Flag::Decimal, ","), (Flag::Thousands, "' '")]))
        }
        () if is(text, b'.', Some(b'\'')) => Some(Advice::All(&[(Flag::Thousands, "\"'\"")])),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        let german = Spelling::new(',', Some('.')).unwrap();
        for (text, value) in [
            ("1.234,5", Some(1234.5)),
            ("-12,25", Some(-12.25)),
            ("1.234.567", Some(1_234_567.0)),
            ("7", Some(7.0)),
            ("1,5e3", Some(1500.0)),
            ("12.34", None),
            ("1.2345,0", None),
            ("1,2,3", None),
            (".123", None),
            ("1.234.", None),
            ("", None),
        ] {
            assert_eq!(german.number(text.as_bytes()), value, "{text}");
        }
        assert_eq!(Spelling::new(',', None).unwrap().number(b"1.5"), None);
        assert_eq!(Spelling::new('.', Some(',')).unwrap().number(b"1,234.5"), Some(1234.5));
        assert!(Spelling::new(',', Some(',')).is_err());
        assert!(Spelling::new('e', None).is_err() && Spelling::new('.', Some('-')).is_err());
    }

    #[test]
    fn words_for_missing() {
        for word in ["NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"] {
            assert!(is_missing_word(word.as_bytes()), "{word}");
        }
        for word in ["0", "-1", "Nadia", "no", "nonex", "."] {
            assert!(!is_missing_word(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn what_to_do_about_a_number() {
        for (text, says) in [
            ("1,234", Some("--thousands , or --decimal ,")),
            ("12,5", Some("say --decimal ,")),
            ("1,234,567", Some("say --thousands ,")),
            ("1.234,50", Some("--decimal , --thousands .")),
            ("1 234", Some("--thousands ' '")),
            ("12%", Some("percent")),
            ("$1,200.50", Some("currencies")),
            ("12,50 €", Some("currencies")),
            ("12.5", None),
            ("red", None),
            ("2024-05-01", None),
        ] {
            match (advice(text.as_bytes()).map(|own| own.to_string()), says) {
                (Some(found), Some(says)) => assert!(found.contains(says), "{text}: {found}"),
                (found, says) => assert_eq!(found.as_deref(), says, "{text}"),
            }
        }
    }
}
