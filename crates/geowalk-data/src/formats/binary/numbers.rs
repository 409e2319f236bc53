//! Rows of numbers as bytes, in the shortest lossless form.
//!
//! | first word | then |
//! |---|---|
//! | 0 | one number, repeated for all |
//! | 1 + 256k | i32 values; each number is its value divided by 10^k |
//! | 2 | f64 values |
//!
//! The second form suits text with few digits. The quotient has the same bits as the result of a decimal parser,
//! because both are correctly rounded.
//!
//! Anything shorter than a word is padded with zeros. After the values comes the [fingerprint](Block::fingerprint) of
//! every row, one word each, because recomputing it would take longer than reading it.

use geowalk::row::Block;

use super::broken;
use super::tenths::Reciprocal;
use crate::error::ErrorKind;

const SAME: u64 = 0;
const DECIMAL: u64 = 1;
const PLAIN: u64 = 2;

/// The powers 10^k in use.
const POWERS: [f64; 10] = [1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// The largest number of copies of one number in a block.
const MOST_COPIES: usize = 1 << 26;

const DAMAGED: &str = "rows that are shorter than they say";

/// Writes the rows of a block.
pub(super) fn put_block(block: &Block, out: &mut Vec<u8>) {
    let parts = block.parts();
    out.clear();
    if let Some(columns) = parts.columns {
        put(out, columns as u64);
    } else {
        put(out, parts.indices.len() as u64);
        let mut start = 0;
        for &end in parts.ends {
            // The length of a row fits, because it is at most the number of indices.
            out.extend_from_slice(&u32::try_from(end - start).unwrap_or(u32::MAX).to_le_bytes());
            start = end;
        }
        pad(out);
    }
    put_numbers(parts.labels, out);
    put_numbers(parts.weights, out);
    for index in parts.indices {
        out.extend_from_slice(&index.to_le_bytes());
    }
    pad(out);
    put_numbers(parts.values, out);
    for row in 0..block.len() {
        put(out, block.fingerprint(row));
    }
}

/// Reads the rows of a block, with their fingerprints.
pub(super) fn block(
    dense: bool,
    rows: usize,
    payload: &[u8],
    block: &mut Block,
) -> Result<(), ErrorKind> {
    let mut rest = payload;
    let first = usize::try_from(word(&mut rest)?).map_err(|_| broken(DAMAGED))?;
    let (columns, stored) =
        if dense { (Some(first), first.checked_mul(rows)) } else { (None, Some(first)) };
    // Copies of one number take no bytes, so limit the memory reserved because of a count in the file.
    let room = payload.len().max(MOST_COPIES);
    let stored = stored.filter(|stored| rows.max(*stored) <= room);
    let stored = stored.ok_or_else(|| broken(DAMAGED))?;
    let (mut lengths, mut indices): (&[u8], &[u8]) = (&[], &[]);
    if !dense {
        lengths = take(&mut rest, 4 * rows)?;
    }
    let labels = Numbers::read(&mut rest, rows)?;
    let weights = Numbers::read(&mut rest, rows)?;
    if !dense {
        indices = take(&mut rest, stored.checked_mul(4).ok_or_else(|| broken(DAMAGED))?)?;
    }
    let values = Numbers::read(&mut rest, stored)?;
    let fingerprints = take(&mut rest, 8 * rows)?.as_chunks().0.iter();
    let filled = block.refill(columns, rows, stored, |parts| {
        labels.fill(parts.labels);
        weights.fill(parts.weights);
        let mut end = 0_usize;
        let lengths = lengths.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes) as usize);
        for (place, length) in
            parts.ends.iter_mut().zip(lengths.chain(std::iter::repeat(columns.unwrap_or(0))))
        {
            end = end.saturating_add(length);
            *place = end;
        }
        for (index, bytes) in parts.indices.iter_mut().zip(indices.as_chunks().0) {
            *index = u32::from_le_bytes(*bytes);
        }
        values.fill(parts.values);
    });
    filled.map_err(|error| broken(error.to_string()))?;
    block.know_fingerprints(fingerprints.map(|bytes| u64::from_le_bytes(*bytes)));
    Ok(())
}

/// Packed numbers.
enum Numbers<'a> {
    Same(f64),
    Decimal { digits: &'a [u8], power: f64 },
    Plain(&'a [u8]),
}

impl<'a> Numbers<'a> {
    fn read(rest: &mut &'a [u8], count: usize) -> Result<Self, ErrorKind> {
        let size = |bytes: usize| count.checked_mul(bytes).ok_or_else(|| broken(DAMAGED));
        let code = word(rest)?;
        Ok(match (code & 255, POWERS.get(usize::try_from(code >> 8).unwrap_or(usize::MAX))) {
            (SAME, _) => Self::Same(f64::from_bits(word(rest)?)),
            (DECIMAL, Some(&power)) => Self::Decimal { digits: take(rest, size(4)?)?, power },
            (PLAIN, _) => Self::Plain(take(rest, size(8)?)?),
            _ => return Err(broken("numbers in a form that is not known")),
        })
    }

    fn fill(&self, numbers: &mut [f64]) {
        match self {
            Self::Same(number) => numbers.fill(*number),
            Self::Decimal { digits, power } => {
                Reciprocal::of(*power).divide(digits.as_chunks().0, numbers);
            }
            Self::Plain(bytes) => {
                for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
                    *number = f64::from_le_bytes(*bytes);
                }
            }
        }
    }
}

/// Packs numbers in the shortest form that preserves their bits.
fn put_numbers(numbers: &[f64], out: &mut Vec<u8>) {
    let first = numbers.first().copied().unwrap_or(0.0);
    if numbers.iter().all(|number| number.to_bits() == first.to_bits()) {
        put(out, SAME);
        put(out, first.to_bits());
        return;
    }
    let start = out.len();
    for (k, power) in (0_u64..).zip(POWERS) {
        put(out, DECIMAL + (k << 8));
        let fits = numbers.iter().all(|&number| {
            let digits = (number * power).round();
            #[expect(clippy::cast_possible_truncation, reason = "what is lost is noticed")]
            let short = digits as i32;
            out.extend_from_slice(&short.to_le_bytes());
            (f64::from(short) / power).to_bits() == number.to_bits()
        });
        if fits {
            pad(out);
            return;
        }
        out.truncate(start);
    }
    put(out, PLAIN);
    for number in numbers {
        out.extend_from_slice(&number.to_le_bytes());
    }
}

/// Writes a word.
pub(super) fn put(out: &mut Vec<u8>, word: u64) {
    out.extend_from_slice(&word.to_le_bytes());
}

/// Pads the last word with zeros.
pub(super) fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}

/// Removes a word from the front.
pub(super) fn word(rest: &mut &[u8]) -> Result<u64, ErrorKind> {
    let (bytes, after) = rest.split_first_chunk::<8>().ok_or_else(|| broken(DAMAGED))?;
    *rest = after;
    Ok(u64::from_le_bytes(*bytes))
}

/// Removes `count` bytes and their padding from the front.
pub(super) fn take<'a>(rest: &mut &'a [u8], count: usize) -> Result<&'a [u8], ErrorKind> {
    let padded = count.checked_next_multiple_of(8);
    let Some((bytes, after)) = padded.and_then(|padded| rest.split_at_checked(padded)) else {
        return Err(broken(DAMAGED));
    };
    *rest = after;
    Ok(&bytes[..count])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(numbers: &[f64]) -> (usize, Vec<f64>) {
        let mut out = Vec::new();
        put_numbers(numbers, &mut out);
        let mut rest = out.as_slice();
        let packed = Numbers::read(&mut rest, numbers.len()).unwrap();
        assert!(rest.is_empty());
        let mut back = vec![9.0; numbers.len()];
        packed.fill(&mut back);
        (out.len(), back)
    }

    #[test]
    fn every_bit_comes_back_in_few_bytes() {
        for (numbers, size) in [
            (&[][..], 16),
            (&[1.0; 100], 16),
            (&[f64::NAN; 3], 16),
            (&[-1.0, 1.0, 1.0, 7.0], 8 + 16),
            (&[0.12345, 0.5, -3.0, 0.00001], 8 + 16),
            (&[0.1, 0.2, 0.3], 8 + 16),
            (&[0.0, -0.0], 8 + 16),
            (&[1.0 / 3.0, 0.5, 1.0], 8 + 24),
            (&[1e10, 0.5], 8 + 16),
            (&[f64::NAN, 1.0, f64::MIN_POSITIVE], 8 + 24),
        ] {
            let (bytes, back) = round(numbers);
            let same = back.iter().zip(numbers).all(|(a, b)| a.to_bits() == b.to_bits());
            assert!(same, "{numbers:?} {back:?}");
            assert_eq!(bytes, size, "{numbers:?}");
        }
    }

    #[test]
    fn decimals_of_text_are_always_short() {
        let texts = (0..20_000).map(|k: u64| format!("0.{:07}", (k * 7919) % 10_000_000));
        let numbers: Vec<f64> = texts.map(|text| text.parse().unwrap()).collect();
        assert_eq!(round(&numbers), (8 + 80_000, numbers));
    }
}
