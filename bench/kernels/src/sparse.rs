//! A lower bound on the cost of learning from sparse text: digits are read eight at a time, nothing is checked, and
//! gradient descent uses a table of fixed size.
//!
//! It reads only what `bench/workloads.py` writes: `-1 |f 17:0.25 …`, at most seven decimals, at most 512 features.

/// Number of places in the table. The mask makes every index valid, so no index is checked.
pub const PLACES: usize = 1 << 18;
/// Number of bytes that must follow the text, so that eight bytes can be read at its end.
pub const PADDING: usize = 16;
const MOST: usize = 512;
const TENTHS: [f64; 9] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];

/// The number written in up to eight digits at `at`, and the number of digits.
#[inline(always)]
fn digits(text: &[u8], at: usize) -> (u32, usize) {
    let Some(eight) = text[at..].first_chunk::<8>() else { return (0, 0) };
    // Sets the high bit of each byte that is not a digit: '0' … '9' become 0 … 9, to which adding 118 gives no carry.
    let values = u64::from_le_bytes(*eight) ^ 0x3030_3030_3030_3030;
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return (0, 0);
    }
    // Shifts the digits to the end of the word, with zeros before them; then joins pairs, pairs of pairs, and both
    // halves.
    let word = values << (64 - 8 * count);
    let pairs = word.wrapping_mul(10).wrapping_add(word >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_ffff_0000_ffff;
    let number = fours.wrapping_mul(10_000).wrapping_add(fours >> 32) as u32;
    (number, count)
}

/// Passes on every row of `text[..len]`: the label, the places, the values.
#[inline(always)]
pub fn rows(text: &[u8], len: usize, mut each: impl FnMut(f32, &[u32], &[f32])) {
    let (mut places, mut values) = ([0_u32; MOST], [0_f32; MOST]);
    let mut at = 0;
    while at < len {
        let negative = text[at] == b'-';
        at += usize::from(negative) + 4; // the digit, and " |f"
        let mut count = 0;
        while text[at] == b' ' {
            let (place, width) = digits(text, at + 1);
            at += width + 2; // the blank and the colon
            let (whole, width) = digits(text, at);
            at += width;
            let mut value = f64::from(whole);
            if text[at] == b'.' {
                let (fraction, width) = digits(text, at + 1);
                at += width + 1;
                value += f64::from(fraction) * TENTHS[width];
            }
            places[count & (MOST - 1)] = place;
            values[count & (MOST - 1)] = value as f32;
            count += 1;
        }
        at += 1;
        let count = count.min(MOST);
        each(if negative { -1.0 } else { 1.0 }, &places[..count], &values[..count]);
    }
}

/// ⟨w, x⟩ in four partial sums.
#[inline(always)]
pub fn score(weights: &[f32; PLACES], places: &[u32], values: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 4];
    let (four, rest) = places.as_chunks::<4>();
    let (four_values, rest_values) = values.as_chunks::<4>();
    for (p, x) in four.iter().zip(four_values) {
        for lane in 0..4 {
            sums[lane] += weights[p[lane] as usize & (PLACES - 1)] * x[lane];
        }
    }
    for (p, x) in rest.iter().zip(rest_values) {
        sums[0] += weights[*p as usize & (PLACES - 1)] * x;
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// A step of gradient descent on the logistic loss; returns the loss before it.
#[inline(always)]
pub fn step(weights: &mut [f32; PLACES], rate: f32, y: f32, places: &[u32], values: &[f32]) -> f32 {
    let margin = y * score(weights, places, values);
    let gain = rate * y / (1.0 + margin.exp());
    for (p, x) in places.iter().zip(values) {
        weights[*p as usize & (PLACES - 1)] += gain * x;
    }
    (1.0 + (-margin).exp()).ln()
}

/// All weights zero.
pub fn zeros() -> Box<[f32; PLACES]> {
    vec![0.0; PLACES].into_boxed_slice().try_into().expect("so many were asked for")
}

/// Rows in memory, as a parser would have made them from the text.
#[derive(Default)]
pub struct Csr {
    /// The end of each row.
    pub ends: Vec<usize>,
    /// The labels, −1 or 1.
    pub labels: Vec<f32>,
    /// Places of all features, row after row.
    pub places: Vec<u32>,
    /// Values of all features.
    pub values: Vec<f32>,
}

impl Csr {
    /// Parses the text.
    pub fn parse(text: &[u8], len: usize) -> Self {
        let mut csr = Self::default();
        rows(text, len, |y, places, values| {
            csr.labels.push(y);
            csr.places.extend_from_slice(places);
            csr.values.extend_from_slice(values);
            csr.ends.push(csr.places.len());
        });
        csr
    }

    /// Makes one pass of gradient descent; returns the sum of the progressive losses.
    pub fn learn(&self, weights: &mut [f32; PLACES], rate: f32) -> f64 {
        let (mut start, mut loss) = (0, 0.0);
        for (end, y) in self.ends.iter().zip(&self.labels) {
            let own = start..*end;
            loss +=
                f64::from(step(weights, rate, *y, &self.places[own.clone()], &self.values[own]));
            start = *end;
        }
        loss
    }

    /// Encodes the rows: for each row its length and label, then places, then values, four bytes each.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 * (self.places.len() + self.ends.len()));
        let mut start = 0;
        for (end, y) in self.ends.iter().zip(&self.labels) {
            bytes.extend(((end - start) as u32).to_le_bytes());
            bytes.extend(y.to_le_bytes());
            self.places[start..*end].iter().for_each(|p| bytes.extend(p.to_le_bytes()));
            self.values[start..*end].iter().for_each(|x| bytes.extend(x.to_le_bytes()));
            start = *end;
        }
        bytes
    }
}
