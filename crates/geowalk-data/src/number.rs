//! # Numbers
//! Converts decimal text to the nearest f64, eight characters at a time.
//!
//! **Method** A word of eight bytes is tested for digits in one step. Its decimal point is removed, and its digits are
//! combined by three multiplications. Up to 15 digits make an integer below 2^53. A power of ten up to 10^22 is exact,
//! so one multiplication or division rounds once, correctly. All other numbers (more digits, larger exponents, `inf`,
//! `nan`) go to the standard library, which also rounds correctly. So the bits do not depend on the path.
//!
//! **Padding** Eight bytes are loaded together, so the text should continue for eight bytes after the number. If it
//! does not, the slow path is taken.
//!
//! **Source** \[Clinger90\]; \[Lemire21, sec. 9\] for combining digits.

const ZEROS: u64 = 0x3030_3030_3030_3030;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// 10^0 … 10^22, each exact. The remaining entries are never used; they allow a masked index instead of a bounds
/// check.
const POWERS: [f64; 32] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,
];
const WHOLE_POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Eight bytes from `at` on, the first one lowest, with `'0'` subtracted from each, so that a digit becomes its value.
#[inline(always)]
fn word(text: &[u8], at: usize) -> Option<u64> {
    let bytes = text.get(at..)?.first_chunk::<8>()?;
    Some(u64::from_le_bytes(*bytes) ^ ZEROS)
}

/// The high bit of each byte of a [`word`] that is not a digit. A byte outside ASCII may carry into later bytes, so
/// only bits up to the first such byte are valid.
#[inline(always)]
const fn stops(x: u64) -> u64 {
    (x.wrapping_add(0x7676_7676_7676_7676) | x) & HIGH
}

/// The number written by the first `count` digits (1 to 8) of a [`word`]. Neighbours are joined to pairs, fours and
/// eights.
#[inline(always)]
const fn fold(x: u64, count: u32) -> u64 {
    let x = x << ((64 - 8 * count) & 63);
    let x = (x.wrapping_mul(1 + (10 << 8)) >> 8) & 0x00FF_00FF_00FF_00FF;
    let x = (x.wrapping_mul(1 + (100 << 16)) >> 16) & 0x0000_FFFF_0000_FFFF;
    x.wrapping_mul(1 + (10_000 << 32)) >> 32
}

/// The number at the beginning of a [`word`] and its length, if it has at most seven digits and at most one point. The
/// caller must check the next byte, because another digit means that the number is longer.
#[inline(always)]
fn unsigned(x: u64) -> Option<(f64, usize)> {
    let stop = stops(x);
    let whole = stop.trailing_zeros() / 8;
    if whole == 8 {
        return None;
    }
    if (x >> (8 * whole)) & 0xff != u64::from(b'.' ^ b'0') {
        return (whole > 0).then(|| (float(fold(x, whole)), whole as usize));
    }
    let before = (stop ^ (stop - 1)) >> 8;
    let joined = (x & before) | ((x >> 8) & !before);
    // 8 if the next stop is outside the word.
    let length = (stop & (stop - 1)).trailing_zeros() / 8;
    let count = length - 1;
    let scale = POWERS[(count - whole) as usize & 7];
    (count > 0).then(|| (float(fold(joined, count)) / scale, length as usize))
}

/// Number of bytes from the beginning of a feature or field after which the end of the text need not be checked: 8
/// digits, ':', a sign, "0.", 8 bytes, a blank, and a margin.
const WINDOW: usize = 24;

/// The number at a position of the window and its length, as in [`unsigned`]. The sign is handled without a branch,
/// because in many files it is unpredictable.
#[inline(always)]
fn short(window: &[u8; WINDOW], at: usize) -> Option<(f64, usize)> {
    let negative = window.get(at) == Some(&b'-');
    let (size, length) = word(window, at + usize::from(negative)).and_then(unsigned)?;
    let value = f64::from_bits(size.to_bits() | (u64::from(negative) << 63));
    Some((value, usize::from(negative) + length))
}

/// Converts an integer of at most 15 digits. Signed conversion is one instruction, unsigned conversion is not.
#[inline(always)]
#[expect(clippy::cast_possible_wrap, reason = "far below 2^63")]
const fn float(x: u64) -> f64 {
    x as i64 as f64
}

/// A number, a colon, a number.
pub(crate) struct Pair {
    /// Number of digits of the first number.
    pub(crate) name: usize,
    /// The first number.
    pub(crate) number: u32,
    /// The second number.
    pub(crate) value: f64,
    /// Length in bytes, including the blank at the end.
    pub(crate) length: usize,
}

/// The `index:value` at the beginning of a text, if it has the common form: an index of at most eight digits, a number
/// with
/// |value| ≤ `largest` (≥ 1e7), a blank or line end. Also `None` if the end of the text is too near.
#[inline(always)]
pub(crate) fn pair(text: &[u8], largest: f64) -> Option<Pair> {
    let window = text.first_chunk::<WINDOW>()?;
    let x = word(window, 0)?;
    let name = stops(x).trailing_zeros() / 8;
    let number = fold(x, name);
    let name = name as usize;
    if name == 0 || window[name] != b':' {
        return None;
    }
    // Most numbers are below 1, so that only decimals remain.
    let near = if window[name + 1] == b'0' && window[name + 2] == b'.' {
        word(window, name + 3).and_then(|y| {
            let count = stops(y).trailing_zeros() / 8;
            let value = || float(fold(y, count)) / POWERS[count as usize & 7];
            (1..8).contains(&count).then(|| (value(), count as usize + 2))
        })
    } else {
        short(window, name + 1)
    };
    let (value, length) = match near {
        Some((value, length)) if window[name + 1 + length] <= b' ' => (value, name + 2 + length),
        _ => match decimal(text, name + 1) {
            Some((value, end))
                if value.abs() <= largest && matches!(text.get(end), Some(0..=b' ')) =>
            {
                (value, end + 1)
            }
            _ => return None,
        },
    };
    #[expect(clippy::cast_possible_truncation, reason = "eight digits")]
    Some(Pair { name, number: number as u32, value, length })
}

/// Reads one [`pair`] after the other, up to `end`. Returns the position of the first one that does not have the
/// common form.
#[inline(always)]
pub(crate) fn pairs<E>(
    text: &[u8],
    at: usize,
    end: usize,
    largest: f64,
    mut take: impl FnMut(&[u8], u64, f64) -> Result<(), E>,
) -> Result<usize, (usize, E)> {
    let mut rest = text.get(at..).unwrap_or_default();
    let tail = text.len().saturating_sub(end);
    while rest.len() > tail
        && let Some(Pair { name, number, value, length }) = pair(rest, largest)
    {
        if let Err(error) = take(&rest[..name], u64::from(number), value) {
            return Err((text.len() - rest.len(), error));
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(text.len() - rest.len())
}

/// The finite number between `at` and the next separator, and the position of the separator.
#[inline(always)]
pub(crate) fn separated(text: &[u8], at: usize, separator: u8) -> Option<(f64, usize)> {
    if let Some(window) = text.get(at..)?.first_chunk::<WINDOW>()
        && let Some((value, length)) = short(window, 0)
        && window[length] == separator
    {
        return Some((value, at + length));
    }
    decimal(text, at)
        .filter(|(value, after)| value.is_finite() && text.get(*after) == Some(&separator))
}

/// The finite number between `at` and `end`.
#[inline(always)]
pub(crate) fn ending(text: &[u8], at: usize, end: usize) -> Option<f64> {
    if let Some(window) = text.get(at..)?.first_chunk::<WINDOW>()
        && let Some((value, length)) = short(window, 0)
        && at + length == end
    {
        return Some(value);
    }
    let (value, after) = decimal(text, at)?;
    (value.is_finite() && after == end).then_some(value)
}

/// The number that begins at `at`, and its end. The caller must check the next byte.
#[inline(never)]
pub(crate) fn decimal(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let negative = text.get(at) == Some(&b'-');
    let start = at + usize::from(negative);
    let Some(x) = word(text, start) else { return slow(text, at) };
    let stop = stops(x);
    let whole = stop.trailing_zeros() / 8;
    if whole == 8 {
        return slow(text, at);
    }
    let (mut mantissa, mut scale, mut end);
    if (x >> (8 * whole)) & 0xff == u64::from(b'.' ^ b'0') {
        let before = (1_u64 << (8 * whole)) - 1;
        let joined = (x & before) | ((x >> 8) & !before);
        let next = stop & (stop - 1);
        let count = next.trailing_zeros() / 8 - 1;
        if count == 0 {
            return slow(text, at);
        }
        mantissa = fold(joined, count);
        scale = count - whole;
        end = start + count as usize + 1;
        if next == 0 {
            let Some(x) = word(text, end) else { return slow(text, at) };
            let more = stops(x).trailing_zeros() / 8;
            if more == 8 {
                return slow(text, at);
            }
            if more > 0 {
                mantissa = mantissa * WHOLE_POWERS[more as usize & 7] + fold(x, more);
                scale += more;
                end += more as usize;
            }
        }
    } else {
        if whole == 0 {
            return slow(text, at);
        }
        mantissa = fold(x, whole);
        scale = 0;
        end = start + whole as usize;
    }
    let mantissa = float(mantissa);
    let size = match text.get(end) {
        Some(b'e' | b'E') => match exponent(text, end + 1, scale) {
            Some((power @ 0..=22, after)) => {
                end = after;
                mantissa * POWERS[power.unsigned_abs() as usize & 31]
            }
            Some((power @ -22..=-1, after)) => {
                end = after;
                mantissa / POWERS[power.unsigned_abs() as usize & 31]
            }
            _ => return slow(text, at),
        },
        _ => mantissa / POWERS[scale as usize & 31],
    };
    Some((if negative { -size } else { size }, end))
}

/// The power of ten given by an exponent at `at` and `scale` decimal places, and the end of the exponent.
fn exponent(text: &[u8], at: usize, scale: u32) -> Option<(i32, usize)> {
    let negative = text.get(at) == Some(&b'-');
    let start = at + usize::from(negative || text.get(at) == Some(&b'+'));
    let mut power = 0_i32;
    let mut end = start;
    while let Some(digit) = text.get(end).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        power = power.saturating_mul(10).saturating_add(i32::from(digit));
        end += 1;
    }
    if end == start {
        return None;
    }
    let power = if negative { -power } else { power };
    Some((power.saturating_sub_unsigned(scale), end))
}

/// As [`decimal`], by the standard library. Also reads numbers that are not finite.
#[cold]
#[inline(never)]
fn slow(text: &[u8], at: usize) -> Option<(f64, usize)> {
    let rest = text.get(at..)?;
    let length = rest
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')))
        .unwrap_or(rest.len());
    let number = std::str::from_utf8(&rest[..length]).ok()?.parse().ok()?;
    Some((number, at + length))
}

/// The integer of at least one digit that begins at `at`, and its end; `None` also if it exceeds 2^64.
#[inline]
pub(crate) fn whole(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let Some(x) = word(text, at) else { return whole_slow(text, at) };
    let count = stops(x).trailing_zeros() / 8;
    match count {
        0 => None,
        8 => whole_slow(text, at),
        _ => Some((fold(x, count), at + count as usize)),
    }
}

#[cold]
fn whole_slow(text: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    let mut end = at;
    while let Some(digit) = text.get(end).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10) {
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
        end += 1;
    }
    (end > at).then_some((number, end))
}

/// Whether there is a control character other than a tab.
#[inline]
pub(crate) fn has_control(text: &[u8]) -> bool {
    // The minimum is fast to compute; a check of each byte is rarely needed.
    let least = text.iter().fold(u8::MAX, |least, b| least.min(*b));
    least < b' ' && text.iter().any(|b| *b < b' ' && *b != b'\t')
}

/// The number in a field that holds nothing else except surrounding blanks.
pub(crate) fn field(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    let mut padded = [b' '; 40];
    let parsed = match padded.get_mut(..text.len()) {
        Some(head) if text.len() <= 24 => {
            head.copy_from_slice(text); // padded, so that whole words can be loaded
            decimal(&padded, 0)
        }
        _ => decimal(text, 0),
    };
    parsed.filter(|(_, end)| *end == text.len()).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    /// SplitMix64; the tests do not need random numbers of high quality.
    struct Bits(u64);

    impl Bits {
        fn next(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }

        fn below(&mut self, n: u64) -> u64 {
            self.next() % n
        }
    }

    fn check(text: &str, padded: &mut Vec<u8>) {
        padded.clear();
        padded.extend_from_slice(text.as_bytes());
        padded.extend_from_slice(b" 77777777");
        let expected: f64 = text.parse().unwrap();
        let (found, end) = decimal(padded, 0).unwrap();
        assert_eq!(found.to_bits(), expected.to_bits(), "{text}");
        assert_eq!(end, text.len(), "{text}");
        let finite = |found: Option<(f64, usize)>| found.map(|(found, end)| (found.to_bits(), end));
        let wanted = expected.is_finite().then_some((expected.to_bits(), text.len()));
        assert_eq!(finite(separated(padded, 0, b' ')), wanted, "{text}");
        let whole = ending(padded, 0, text.len()).map(|found| (found, text.len()));
        assert_eq!(finite(whole), wanted, "{text}");
        assert_eq!(ending(padded, 0, text.len() + 1), None, "{text}");
    }

    #[test]
    fn the_bits_are_those_of_the_standard_library() {
        let mut bits = Bits(7);
        let mut padded = Vec::new();
        let mut text = String::new();
        for _ in 0..3_000_000 {
            text.clear();
            if bits.below(3) == 0 {
                text.push('-');
            }
            let (before, after) = (bits.below(10), bits.below(13));
            for _ in 0..before {
                text.push(char::from(b'0' + u8::try_from(bits.below(10)).unwrap()));
            }
            if after > 0 {
                text.push('.');
            }
            for _ in 0..after {
                text.push(char::from(b'0' + u8::try_from(bits.below(10)).unwrap()));
            }
            if before + after == 0 {
                text.push('7');
            }
            match bits.below(6) {
                0 => write!(text, "e{}", bits.below(30)).unwrap(),
                1 => write!(text, "E-{:02}", bits.below(40)).unwrap(),
                2 if bits.below(8) == 0 => write!(text, "e+{}", bits.below(400)).unwrap(),
                _ => {}
            }
            check(&text, &mut padded);
        }
        for _ in 0..300_000 {
            let number = f64::from_bits(bits.next());
            if number.is_finite() {
                check(&format!("{number:e}"), &mut padded);
            }
        }
    }

    #[test]
    fn edges() {
        let mut padded = Vec::new();
        for text in [
            "0",
            "-0",
            "-0.0",
            "+1",
            "1.",
            ".5",
            "-.5",
            "1e22",
            "1e23",
            "9007199254740993",
            "1e-22",
            "1e-23",
            "1e-400",
            "1e400",
            "inf",
            "-inf",
            "123456789012345678901234567890",
            "4.9e-324",
            "12345678",
            "1234567.",
            "0.1234567",
            "0.12345678",
            "0.12345678901234",
            "0.123456789012345",
            "0.1234567890123456",
        ] {
            check(text, &mut padded);
            assert_eq!(
                field(text.as_bytes()).map(f64::to_bits),
                Some(text.parse::<f64>().unwrap().to_bits())
            );
        }
        assert!(decimal(b"nan ", 0).unwrap().0.is_nan());
        for text in
            ["", ".", "-", "+", "e5", "x", "--1", "1e", "1e+", "1x", "1 2", "0x10", "1_0", "."]
        {
            assert_eq!(field(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(field(b" 1.5\t"), Some(1.5));
        assert_eq!(decimal(b"1.5:2         ", 0), Some((1.5, 3)));
        for (text, length) in [
            ("0.5,", 3),
            ("1234567,", 7),
            ("0.123456,", 8),
            ("0.1234567,", 9),
            ("-1.5,", 4),
            ("-12.34567,", 9),
            ("-123456789.5,", 12),
        ] {
            let padded = format!("{text}12345678");
            let expected: f64 = text[..length].parse().unwrap();
            assert_eq!(separated(padded.as_bytes(), 0, b','), Some((expected, length)), "{text}");
        }
        for text in ["12.5\n,      ", "1.2.3,      ", ",        ", "inf,       ", "1 ,       "] {
            assert_eq!(separated(text.as_bytes(), 0, b','), None, "{text}");
        }
    }

    #[test]
    fn pairs_stop_where_the_common_form_does() {
        let tail = " ".repeat(64);
        for (text, expected, stop) in [
            (
                "1:0.5 23:7 1234567:0.123456 ",
                &[(1, 0.5), (23, 7.0), (1_234_567, 0.123_456)][..],
                28,
            ),
            ("1:2\n", &[(1, 2.0)], 4),
            ("1:2 1234567:1 ", &[(1, 2.0), (1_234_567, 1.0)], 14),
            ("1:2 12345678:1 ", &[(1, 2.0), (12_345_678, 1.0)], 15),
            ("1:2 123456789:1 ", &[(1, 2.0)], 4),
            ("1:2 3:12.5 ", &[(1, 2.0), (3, 12.5)], 11),
            ("1:-2 2:-0.123456 3:-123456 ", &[(1, -2.0), (2, -0.123_456), (3, -123_456.0)], 27),
            ("1234567:12345678 ", &[(1_234_567, 12_345_678.0)], 17),
            ("1234567:123456789 ", &[(1_234_567, 123_456_789.0)], 18),
            ("1234567:-12345678\r", &[(1_234_567, -12_345_678.0)], 18),
            ("1:-12345.678901 2:1e9\t", &[(1, -12_345.678_901), (2, 1e9)], 22),
            ("1:.5 2:5. 3:-0 ", &[(1, 0.5), (2, 5.0), (3, -0.0)], 15),
            ("1:1e10 2:1e11 ", &[(1, 1e10)], 7),
            ("1:2 2:inf ", &[(1, 2.0)], 4),
            ("1:nan ", &[], 0),
            ("1:- ", &[], 0),
            ("1:--1 ", &[], 0),
            ("1:1.2.3 ", &[], 0),
            ("1:2|", &[], 0),
            ("1:2#3 ", &[], 0),
            ("1: ", &[], 0),
            ("1:. ", &[], 0),
            ("1:-. ", &[], 0),
            (":1 ", &[], 0),
            ("é:1 ", &[], 0),
            ("1:é1 ", &[], 0),
        ] {
            let mut found = Vec::new();
            let padded = format!("{text}{tail}");
            let at = pairs(padded.as_bytes(), 0, text.len(), 1e10, |name, index, value| {
                assert_eq!(name, index.to_string().as_bytes());
                found.push((index, value));
                Ok::<(), ()>(())
            });
            assert_eq!((found.as_slice(), at), (expected, Ok(stop)), "{text}");
        }
    }

    #[test]
    fn whole_numbers() {
        for (text, expected) in [
            ("0:         ", Some((0, 1))),
            ("1234567:         ", Some((1_234_567, 7))),
            ("12345678:         ", Some((12_345_678, 8))),
            ("18446744073709551615 ", Some((u64::MAX, 20))),
            ("18446744073709551616 ", None),
            ("7", Some((7, 1))),
            ("x         ", None),
            ("-1         ", None),
            ("", None),
        ] {
            assert_eq!(whole(text.as_bytes(), 0), expected, "{text:?}");
        }
    }
}
