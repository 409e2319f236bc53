//! # Features four at a time
//! Reads `number:0.decimals number:0.decimals …`, the form of most sparse text. Read one by one, each feature would
//! have to wait for the previous one, because it begins where that one ends.
//!
//! **Method** First, all colons in a kilobyte of the line are found, 64 bytes per comparison. Then four features are
//! read together. The eight bytes before a colon hold the name, and the eight after `:0.` the decimals, possibly with
//! other bytes before or after. If d is the mask of digits among them, `d & !(d + 1)` keeps those up to the first byte
//! that is not a digit. Products of neighbours join digits to pairs, fours and eights.
//!
//! All decimals are treated as eight digits and divided by 10⁸. An integer below 2⁵³ divided by an exact power rounds
//! once, correctly, so the bits are the same as without the added zeros. One more comparison of four checks that each
//! feature begins where the previous one ended.
//!
//! **Fallback** Anything else (a sign, a number ≥ 1, more digits, two blanks) is left to [`number`](crate::number),
//! one feature at a time. If that happens often, this method is suspended for some lines. The result does not depend
//! on the method. Without AVX2, this module does nothing.
//!
//! **Source** \[Langdale19\] for the two passes.

use crate::bytes::Record;
use crate::error::Fault;
use crate::schema::{Namespace, Place};

/// Features that were found, in the order of the text.
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "there are no such vectors, so nothing is ever found")
)]
pub(crate) struct Found<'a> {
    /// Numbers of the features.
    pub(crate) numbers: &'a mut [u32],
    /// Values of the features.
    pub(crate) values: &'a mut [f64],
    /// Positions of their colons in this part of the line.
    colons: &'a [u32],
    text: &'a [u8],
    /// Beginning of this part of the line.
    offset: usize,
}

impl Found<'_> {
    /// Replaces the numbers of the features by their indices in rows.
    #[inline(always)]
    pub(crate) fn place<P: Place>(
        &mut self,
        place: &mut P,
        space: Namespace<'_>,
    ) -> Result<(), Fault> {
        let mut done = 0;
        loop {
            let left = self.numbers.get_mut(done..).unwrap_or_default();
            done += place.known(space, left);
            let Some(number) = self.numbers.get_mut(done) else { return Ok(()) };
            let colon = self.colons.get(done).map_or(0, |colon| *colon as usize);
            let before = self.text.get(..colon).unwrap_or_default();
            let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let start = before.len() - digits;
            let index = place.number(space, &before[start..], u64::from(*number));
            *number = index.map_err(|kind| kind.at(self.offset + start))?;
            done += 1;
        }
    }
}

/// Reads features four at a time; keeps the memory for it.
#[derive(Default)]
pub(crate) struct Pairs {
    #[cfg(target_arch = "x86_64")]
    memory: Box<wide::Memory>,
    /// Number of calls for which the method stays suspended.
    resting: u32,
}

impl Pairs {
    /// Shorter text is not worth the setup.
    const LEAST: usize = 64;
    /// Number of calls for which the method is suspended after a failure.
    #[cfg(target_arch = "x86_64")]
    const REST: u32 = 32;

    /// Reads features from `at` to at most `end`, hundreds at a time. Returns the position of the first feature that
    /// does not have the form `digits:number` or is beyond `largest` (≥ 1e7), or an earlier position. The rest is left
    /// to [`number::pairs`](crate::number::pairs).
    #[inline(always)]
    pub(crate) fn read(
        &mut self,
        record: Record<'_>,
        at: usize,
        end: usize,
        largest: f64,
        take: impl FnMut(Found<'_>) -> Result<(), Fault>,
    ) -> Result<usize, Fault> {
        if end < at + Self::LEAST {
            return Ok(at);
        }
        if self.resting > 0 {
            self.resting -= 1;
            return Ok(at);
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = pulp::x86::V3::try_new() {
            let memory = &mut *self.memory;
            let text = record.text;
            let work = wide::Work { simd, memory, text, at, end, largest, take };
            let wide::Done { next, fruitful } = simd.vectorize(work)?;
            self.resting = if fruitful { 0 } else { Self::REST };
            return Ok(next);
        }
        let _ = (record, largest, take);
        Ok(at)
    }
}

#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{__m128i, __m256d, __m256i};

    use pulp::cast;
    use pulp::x86::V3;

    use super::Found;
    use crate::error::Fault;
    use crate::number;

    /// Number of bytes in which colons are found in one pass.
    const SEGMENT: usize = 1024;
    /// Number of bytes per comparison.
    const STEP: usize = 64;
    /// Blanks before the segment, so that eight bytes before a colon always exist.
    const BEFORE: usize = 8;
    /// A colon, "0.", eight bytes.
    const REACH: usize = 11;
    /// A feature has at least four bytes; plus four as a margin.
    const MOST: usize = SEGMENT / 4 + 4;

    pub(super) struct Memory {
        /// The segment.
        text: [u8; BEFORE + SEGMENT + STEP],
        /// The positions of its colons.
        marks: [u32; SEGMENT + STEP],
        /// The features found, as in [`Found`].
        colons: [u32; MOST],
        numbers: [u32; MOST],
        values: [f64; MOST],
    }

    impl Default for Memory {
        fn default() -> Self {
            Self {
                text: [b' '; _],
                marks: [0; _],
                colons: [0; _],
                numbers: [0; _],
                values: [0.0; _],
            }
        }
    }

    /// The loop that reads features.
    pub(super) struct Work<'a, F> {
        pub(super) simd: V3,
        pub(super) memory: &'a mut Memory,
        pub(super) text: &'a [u8],
        pub(super) at: usize,
        pub(super) end: usize,
        pub(super) largest: f64,
        pub(super) take: F,
    }

    /// The result of the loop.
    pub(super) struct Done {
        pub(super) next: usize,
        /// Whether the method was faster than reading one by one.
        pub(super) fruitful: bool,
    }

    impl<F: FnMut(Found<'_>) -> Result<(), Fault>> pulp::NullaryFnOnce for Work<'_, F> {
        type Output = Result<Done, Fault>;

        #[inline(always)]
        fn call(self) -> Self::Output {
            let Self { simd, memory, text, at, end, largest, mut take } = self;
            let mut begin = at;
            // Number of features read, and of those without the common form.
            let (mut total, mut strange) = (0, 0);
            loop {
                let segment = text.get(begin..).unwrap_or_default();
                let marks = memory.mark(simd, segment, end + 1 - begin);
                let (mut mark, mut count) = (0, 0);
                // The beginning of the next feature.
                let mut ends = Ends::at(simd, 0);
                let stopped = loop {
                    if mark >= marks {
                        break false;
                    }
                    let Some(four) = Four::read(simd, memory, mark, ends) else { break true };
                    if !four.store(memory, count) {
                        break true;
                    }
                    let here = (marks - mark).min(4);
                    if four.all(here) {
                        ends = four.ends;
                        (mark, count) = (mark + here, count + here);
                        continue;
                    }
                    let right = four.right(memory, here);
                    let mut next = if right == 0 { ends.last() } else { four.ends.of(right - 1) };
                    count += right;
                    let rest = segment.get(next..).unwrap_or_default();
                    let Some(pair) = number::pair(rest, largest).filter(|_| count < MOST) else {
                        ends = Ends::at(simd, next);
                        break true;
                    };
                    memory.colons[count] = small(next + pair.name);
                    memory.numbers[count] = pair.number;
                    memory.values[count] = pair.value;
                    count += 1;
                    strange += 1;
                    next += pair.length;
                    ends = Ends::at(simd, next);
                    while mark < marks && (memory.marks[mark] as usize) < next {
                        mark += 1;
                    }
                    if 4 * strange > total + count + 16 {
                        break true;
                    }
                };
                let next = ends.last();
                let found = count.min(MOST);
                take(Found {
                    numbers: &mut memory.numbers[..found],
                    values: &mut memory.values[..found],
                    colons: &memory.colons[..found],
                    text: segment,
                    offset: begin,
                })?;
                total += count;
                begin += next;
                if stopped || next == 0 || begin >= end {
                    let fruitful = !stopped || total > 4 * strange + 8;
                    return Ok(Done { next: begin, fruitful });
                }
            }
        }
    }

    impl Memory {
        /// Copies the next segment of a text of this length and finds its colons; returns their number. Colons too
        /// near to the end of the segment are left for the next one, unless the text ends there.
        #[inline(always)]
        fn mark(&mut self, simd: V3, text: &[u8], length: usize) -> usize {
            let wanted = length.min(SEGMENT);
            let colon = simd.avx._mm256_set1_epi8(b':'.cast_signed());
            let colons = |half| {
                let equal = simd.avx2._mm256_cmpeq_epi8(half, colon);
                u64::from(simd.avx2._mm256_movemask_epi8(equal).cast_unsigned())
            };
            let (mut count, mut base) = (0, 0);
            while base < wanted {
                let (Some(block), Some(to)) =
                    (chunk::<_, STEP>(text, base), chunk_mut(&mut self.text, BEFORE + base))
                else {
                    return 0;
                };
                *to = *block;
                let [low, high]: [__m256i; 2] = cast(*block);
                let mut bits = colons(low) | (colons(high) << 32);
                if wanted - base < STEP {
                    bits &= (1 << (wanted - base)) - 1;
                }
                let Some(room) = chunk_mut::<_, STEP>(&mut self.marks, count) else { return 0 };
                // Six per iteration, because the exit of a loop over the bits would be mispredicted nearly every time.
                let total = bits.count_ones() as usize;
                let mut next = || {
                    let mark = small(base) + bits.trailing_zeros();
                    bits &= bits.wrapping_sub(1);
                    mark
                };
                for mark in &mut room[..6] {
                    *mark = next();
                }
                if total > 6 {
                    room[6..total].fill_with(next);
                }
                count += total;
                base += STEP;
            }
            let cut = |mark: u32| wanted < length && mark as usize + REACH > SEGMENT;
            while count > 0 && cut(self.marks[count - 1]) {
                count -= 1;
            }
            // Lanes without a colon repeat the last one.
            let last = if count == 0 { 0 } else { self.marks[count - 1] };
            if let Some(repeated) = chunk_mut(&mut self.marks, count) {
                *repeated = [last; 4];
            }
            count
        }
    }

    /// The ends of features, which are the beginnings of the next ones, minus [`Ends::REST`]. Each lane holds the end
    /// of the lane before it; lane 0 holds that of the last lane.
    #[derive(Clone, Copy)]
    struct Ends(__m256i);

    impl Ends {
        /// The bytes of a colon, "0." and a blank.
        const REST: i64 = 4;

        /// As if a feature had ended here.
        #[inline(always)]
        fn at(simd: V3, end: usize) -> Self {
            Self(simd.avx._mm256_set1_epi64x(i64::from(small(end)) - Self::REST))
        }

        /// The end of the last feature.
        #[inline(always)]
        fn last(self) -> usize {
            self.of(3)
        }

        /// The end of the feature in a lane.
        #[inline(always)]
        #[expect(clippy::cast_possible_truncation, reason = "a place in a segment, or after it")]
        fn of(self, lane: usize) -> usize {
            let ends: [i64; 4] = cast(self.0);
            (ends[(lane + 1) & 3] + Self::REST).cast_unsigned() as usize
        }
    }

    /// Four features.
    struct Four {
        marks: [u32; 4],
        numbers: __m128i,
        values: __m256d,
        ends: Ends,
        /// One bit per feature, set if the feature has the common form, provided that "0." follows its colon.
        bits: u32,
        /// Whether "0." follows every colon.
        zeros: bool,
    }

    impl Four {
        /// Reads the four features at these marks. The preceding feature ended at `before`.
        #[inline(always)]
        fn read(simd: V3, memory: &Memory, mark: usize, before: Ends) -> Option<Self> {
            let V3 { sse4_1: _, avx, avx2, .. } = simd;
            let marks = *chunk::<_, 4>(&memory.marks, mark)?;
            let [c0, c1, c2, c3] = marks.map(|mark| mark as usize & (SEGMENT - 1));
            let word =
                |at: usize| chunk(&memory.text, at).map_or(0, |bytes| i64::from_le_bytes(*bytes));
            let zeros = memory.zero(c0) && memory.zero(c1) && memory.zero(c2) && memory.zero(c3);
            let names = avx._mm256_setr_epi64x(word(c0), word(c1), word(c2), word(c3));
            let decimals = |c: usize| word(BEFORE + c + 3);
            let decimals =
                avx._mm256_setr_epi64x(decimals(c0), decimals(c1), decimals(c2), decimals(c3));
            // Reversed, so that the last digit of a name comes first, as the first decimal does.
            let names = avx2._mm256_shuffle_epi8(names, cast(REVERSE));
            let bytes = |byte: u8| avx._mm256_set1_epi8(byte.cast_signed());
            let nothing = avx._mm256_setzero_si256();
            // Shifted, so that digits become the ten largest signed bytes.
            let digits = |text| {
                let shifted = avx2._mm256_add_epi8(text, bytes(0x7f - b'9'));
                avx2._mm256_cmpgt_epi8(shifted, bytes(0x7f - 10))
            };
            let one_more = |x| avx2._mm256_sub_epi64(x, bytes(0xff));
            let (name_digits, decimal_digits) = (digits(names), digits(decimals));
            let (name_more, decimal_more) = (one_more(name_digits), one_more(decimal_digits));
            let name = avx2._mm256_andnot_si256(name_more, name_digits);
            let fraction = avx2._mm256_andnot_si256(decimal_more, decimal_digits);
            // Checks for at least one digit in each number, and a blank at the end.
            let blanks =
                avx2._mm256_cmpeq_epi8(avx2._mm256_min_epu8(decimals, bytes(b' ')), decimals);
            let behind = avx2._mm256_andnot_si256(decimal_digits, decimal_more);
            let blank = avx2._mm256_cmpeq_epi64(avx2._mm256_and_si256(behind, blanks), nothing);
            let none = avx2._mm256_cmpeq_epi64(avx2._mm256_and_si256(name, fraction), nothing);
            let wrong = avx2._mm256_or_si256(blank, none);
            // Checks that each feature begins where the previous one ended.
            let length = |run| avx2._mm256_sad_epu8(avx2._mm256_and_si256(run, bytes(1)), nothing);
            let colons = avx2._mm256_cvtepu32_epi64(cast(marks));
            let starts = avx2._mm256_sub_epi64(colons, length(name));
            let ends = avx2._mm256_add_epi64(colons, length(fraction));
            let ends = avx2._mm256_permute4x64_epi64::<0b10_01_00_11>(ends);
            let begins = avx2._mm256_blend_epi32::<0b0000_0011>(ends, before.0);
            let begins = avx2._mm256_add_epi64(begins, avx._mm256_set1_epi64x(Ends::REST));
            let right = avx2._mm256_andnot_si256(wrong, avx2._mm256_cmpeq_epi64(begins, starts));
            let bits = avx._mm256_movemask_pd(cast(right)).cast_unsigned();
            // Joins digits to pairs and fours, and both kinds together to eights.
            let of = |text, run| avx2._mm256_and_si256(avx2._mm256_and_si256(text, run), bytes(15));
            let pairs = |x, ten: [u8; 2]| avx2._mm256_maddubs_epi16(x, cast([ten; 16]));
            let fours = |x, hundred: [u16; 2]| avx2._mm256_madd_epi16(x, cast([hundred; 8]));
            let names = fours(pairs(of(names, name), [1, 10]), [1, 100]);
            let decimals = fours(pairs(of(decimals, fraction), [10, 1]), [100, 1]);
            let both = avx2._mm256_packus_epi32(names, decimals);
            let both = avx2._mm256_madd_epi16(both, cast(EIGHTS));
            let both = avx2._mm256_permute4x64_epi64::<0b11_01_10_00>(both);
            let [numbers, decimals]: [__m128i; 2] = cast(both);
            let values = avx
                ._mm256_div_pd(avx._mm256_cvtepi32_pd(decimals), avx._mm256_set1_pd(100_000_000.0));
            Some(Self { marks, numbers, values, ends: Ends(ends), bits, zeros })
        }

        /// Appends the features to those found; `false` if there is no room.
        #[inline(always)]
        fn store(&self, memory: &mut Memory, count: usize) -> bool {
            let Memory { colons, numbers, values, .. } = memory;
            let (Some(colons), Some(numbers), Some(values)) =
                (chunk_mut(colons, count), chunk_mut(numbers, count), chunk_mut(values, count))
            else {
                return false;
            };
            *colons = self.marks;
            *numbers = cast::<_, [u32; 4]>(self.numbers);
            *values = cast::<_, [f64; 4]>(self.values);
            true
        }

        /// Whether the first `here` features have the common form.
        #[inline(always)]
        fn all(&self, here: usize) -> bool {
            self.zeros && (self.bits | (u32::MAX << here)) == u32::MAX
        }

        /// The number of features before the first one without the common form.
        fn right(&self, memory: &Memory, here: usize) -> usize {
            let zero = |mark: &u32| memory.zero(*mark as usize & (SEGMENT - 1));
            let zeros = self.marks.iter().take_while(|mark| zero(mark)).count();
            zeros.min(here).min(self.bits.trailing_ones() as usize)
        }
    }

    impl Memory {
        /// Whether "0." follows a colon.
        #[inline(always)]
        fn zero(&self, colon: usize) -> bool {
            chunk::<_, 2>(&self.text, BEFORE + colon + 1).is_some_and(|two| two == b"0.")
        }
    }

    /// Reverses each group of eight bytes.
    const REVERSE: [u8; 32] = {
        let mut places = [0; 32];
        let mut k = 0;
        while k < 32 {
            places[k as usize] = (k & 8) + 7 - (k & 7);
            k += 1;
        }
        places
    };
    /// Weights of two groups of four digits: in names the first group is the lower, in decimals the second.
    const EIGHTS: [[u16; 4]; 4] = [
        [1, 10_000, 1, 10_000],
        [10_000, 1, 10_000, 1],
        [1, 10_000, 1, 10_000],
        [10_000, 1, 10_000, 1],
    ];

    #[inline(always)]
    fn chunk<T, const N: usize>(all: &[T], at: usize) -> Option<&[T; N]> {
        all.get(at..)?.first_chunk()
    }

    #[inline(always)]
    fn chunk_mut<T, const N: usize>(all: &mut [T], at: usize) -> Option<&mut [T; N]> {
        all.get_mut(at..)?.first_chunk_mut()
    }

    /// A position in a segment.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "far below 2^32")]
    fn small(place: usize) -> u32 {
        place as u32
    }
}

#[cfg(test)]
mod tests {
    use geowalk::laws::Sampler;

    use super::*;
    use crate::number;
    use crate::schema::{Counted, Hashed, Index};

    struct Bits(Sampler);

    impl Bits {
        fn below(&mut self, n: usize) -> usize {
            self.0.below(n)
        }

        fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
            all[self.below(all.len())]
        }

        fn digits(&mut self, most: usize, line: &mut Vec<u8>) {
            for _ in 0..=self.below(most) {
                line.push(b'0' + u8::try_from(self.below(10)).unwrap());
            }
        }

        /// Random features; `odd` of a thousand do not have the common form.
        fn line(&mut self, odd: usize) -> Vec<u8> {
            let mut line = Vec::new();
            let longest = if odd > 0 { 9 } else { 7 };
            for _ in 0..self.below(300) {
                let mut is_odd = || self.below(1000) < odd;
                let (colon, value, blank) = (is_odd(), is_odd(), is_odd());
                self.digits(longest, &mut line);
                let colon = if colon { self.one_of(&["::", "", " ", ".", "a"]) } else { ":" };
                line.extend(colon.bytes());
                if value {
                    let values = [
                        "-0.5",
                        "1",
                        "12.25",
                        "1e400",
                        "nan",
                        "inf",
                        "-",
                        "",
                        "0.",
                        ".5",
                        "5.",
                        "+5",
                        "1e5",
                        "0.12345678901234567",
                        "0.5e-3",
                        "é",
                        "00.5",
                        "0..5",
                        "0.1.2",
                        "0",
                        "1234567890",
                    ];
                    line.extend(self.one_of(&values).bytes());
                } else {
                    line.extend(b"0.");
                    self.digits(longest, &mut line);
                }
                let blanks = ["  ", "\t", "|g ", "#", "", "\r", "é", ":", "a b "];
                line.extend(if blank { self.one_of(&blanks) } else { " " }.bytes());
            }
            line
        }
    }

    /// The features read, and how reading ended.
    #[derive(Debug, PartialEq)]
    struct Seen {
        indices: Vec<u32>,
        values: Vec<u64>,
        next: Result<usize, String>,
    }

    fn seen<P: Place>(
        pairs: Option<&mut Pairs>,
        record: Record<'_>,
        at: usize,
        place: &mut P,
    ) -> Seen {
        let Record { text, end } = record;
        let space = Namespace::new(b"f");
        let (mut indices, mut values) = (Vec::new(), Vec::new());
        let mut next = Ok(at);
        if let Some(pairs) = pairs {
            next = pairs.read(record, at, end, 1e7, |mut found| {
                found.place(place, space)?;
                indices.extend_from_slice(found.numbers);
                values.extend(found.values.iter().map(|value| value.to_bits()));
                Ok(())
            });
        }
        let next = next.and_then(|at| {
            let narrow = number::pairs(text, at, end, 1e7, |name, number, value| {
                indices.push(place.number(space, name, number)?);
                values.push(value.to_bits());
                Ok(())
            });
            narrow.map_err(|(offset, kind): (usize, crate::error::ErrorKind)| kind.at(offset))
        });
        let next = next.map_err(|fault| format!("{} {:?}", fault.offset, fault.kind));
        if next.is_err() {
            (indices, values) = (Vec::new(), Vec::new()); // the row is abandoned
        }
        Seen { indices, values, next }
    }

    #[test]
    fn four_at_a_time_are_the_same_as_one_at_a_time() {
        let mut bits = Bits(Sampler::new(5));
        let mut pairs = Pairs::default();
        let mut features = 0;
        for round in 0..6000 {
            let odd = [0, 0, 3, 20, 200][bits.below(5)];
            let mut text =
                bits.one_of(&["", " ", "1 ", "-1 |f ", "1 2 'a long tag |f "]).as_bytes().to_vec();
            let at = text.len();
            text.extend(bits.line(odd));
            if bits.below(2) == 0 && text.len() > at {
                text.pop(); // the last feature ends with the line
            }
            let end = text.len();
            text.extend(bits.one_of(&["\n", "\r\n"]).bytes());
            // The line is not the whole text: other lines, or old data, follow.
            let rest = bits.one_of(&["\n", "7", "1:0.5 2:0.25\n"]);
            text.extend(rest.bytes().cycle().take(crate::bytes::PADDING + bits.below(3)));
            let record = Record { text: &text, end };
            pairs.resting = 0;
            let line = || String::from_utf8_lossy(&text[..end]);
            features += if round % 2 == 0 {
                let mut places = [(); 2].map(|()| Hashed::new(6).unwrap());
                let one = seen(None, record, at, &mut places[0]);
                let four = seen(Some(&mut pairs), record, at, &mut places[1]);
                assert_eq!(four, one, "{}", line());
                let taken = four.indices.len();
                let [one, four] = places;
                assert!(
                    one.names().eq(four.names()) && one.prints().eq(four.prints()),
                    "{}",
                    line()
                );
                assert_eq!(one.strangers(), four.strangers(), "{}", line());
                taken
            } else {
                let mut index = Counted::known(Index { base: 1, detected: false });
                let one = seen(None, record, at, &mut index);
                let four = seen(Some(&mut pairs), record, at, &mut index);
                assert_eq!(four, one, "{}", line());
                four.indices.len()
            };
        }
        assert!(features > 50_000, "{features}");
    }

    #[test]
    fn it_rests_where_it_is_in_vain() {
        let mut pairs = Pairs::default();
        let mut index = Counted::known(Index { base: 1, detected: false });
        let mut try_it = |feature: &str, rests: bool| {
            let line = feature.repeat(100);
            let (text, end) = (line.clone() + &"\n".repeat(crate::bytes::PADDING), line.len());
            pairs.resting = 0;
            let found =
                seen(Some(&mut pairs), Record { text: text.as_bytes(), end }, 0, &mut index);
            assert_eq!(found.next, Ok(end));
            assert_eq!(pairs.resting > 0, rests, "{feature}");
        };
        try_it("7:0.25 ", false);
        try_it("7:0.25 8:0.5 9:0.125 1:0.5 2:0.25 3:0.75 4:1 ", false);
        #[cfg(target_arch = "x86_64")]
        if pulp::x86::V3::is_available() {
            try_it("7:1 ", true);
            try_it("7:-0.5 ", true);
        }
    }
}
