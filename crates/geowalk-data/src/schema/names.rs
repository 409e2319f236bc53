use std::ops::Range;
use std::sync::OnceLock;

/// The names of places, stored contiguously: about 8 bytes each in addition to their text.
///
/// Names are added in any order and never removed. They are sorted by place at the first query.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// All names, concatenated, in UTF-8. The k-th name added ends at `ends[k]` and belongs to `places[k]`. Stored as
    /// bytes, because checking that a name is ASCII is faster than decoding it.
    text: Vec<u8>,
    ends: Vec<u32>,
    places: Vec<u32>,
    /// The names sorted by place: the place in the high half, the index of the name in the low half.
    sorted: OnceLock<Vec<u64>>,
}

impl Names {
    /// The largest number of names kept.
    const MOST: usize = 1 << 20;
    /// The largest total length of the names kept, in bytes.
    const LONGEST: usize = 1 << 24;

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is room for a name of this many bytes.
    pub(super) fn admits(&self, length: usize) -> bool {
        self.len() < Self::MOST && self.text.len() + length <= Self::LONGEST
    }

    /// Adds a name, with its namespace if there is one, for a place that has none. A name without room is dropped.
    /// Returns `false` if the name is not UTF-8.
    #[expect(clippy::cast_possible_truncation, reason = "the text is far below 2^32")]
    pub(super) fn add(&mut self, place: u32, space: &[u8], name: &[u8]) -> bool {
        if !is_utf8(name) {
            return false;
        }
        let lossy;
        let space = if is_utf8(space) {
            space
        } else {
            lossy = String::from_utf8_lossy(space);
            lossy.as_bytes()
        };
        let mark: &[u8] = if space.is_empty() { b"" } else { b"^" };
        if self.admits(space.len() + mark.len() + name.len()) {
            self.text.reserve(space.len() + mark.len() + name.len());
            for part in [space, mark, name] {
                self.text.extend_from_slice(part);
            }
            self.ends.push(self.text.len() as u32);
            self.places.push(place);
            self.sorted.take();
        }
        true
    }

    /// The range of the text of a name.
    fn range(&self, k: usize) -> Range<usize> {
        let start = k.checked_sub(1).and_then(|before| self.ends.get(before));
        let (start, end) = (start.copied().unwrap_or(0), self.ends.get(k).copied().unwrap_or(0));
        start as usize..end as usize
    }

    fn sorted(&self) -> &[u64] {
        self.sorted.get_or_init(|| {
            let entry = |(&place, number)| (u64::from(place) << 32) | number;
            let mut sorted: Vec<u64> = self.places.iter().zip(0..).map(entry).collect();
            sorted.sort_unstable();
            sorted
        })
    }

    /// The name of a place.
    pub(super) fn find(&self, place: u32) -> Option<&str> {
        let sorted = self.sorted();
        let at = sorted.partition_point(|entry| (entry >> 32) < u64::from(place));
        let entry = sorted.get(at).filter(|entry| **entry >> 32 == u64::from(place))?;
        let text = self.text.get(self.range(number(*entry)))?;
        std::str::from_utf8(text).ok()
    }

    /// All names with their places, ordered by place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        // Validated as one text, which is faster than name by name.
        let text = std::str::from_utf8(&self.text).unwrap_or_default();
        let name = |entry| text.get(self.range(number(entry))).unwrap_or_default();
        self.sorted().iter().map(move |&entry| ((entry >> 32) as u32, name(entry)))
    }
}

/// The index of the name in an entry of the sorted list.
#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn number(entry: u64) -> usize {
    (entry & u64::from(u32::MAX)) as usize
}

/// Whether the bytes are UTF-8.
#[inline]
pub(super) fn is_utf8(text: &[u8]) -> bool {
    text.iter().fold(0, |all, byte| all | byte) < 0x80 || std::str::from_utf8(text).is_ok()
}
