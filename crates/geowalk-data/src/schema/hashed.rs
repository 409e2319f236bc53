use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::names::Names;
use crate::error::{ErrorKind, excerpt};

/// Features indexed by a hash of their name: any number of names share 2^bits places. The object counts collisions.
///
/// **Method** The hash of a name of digits is its number plus the hash of its namespace, as in VW. Any other name is
/// hashed with that as seed. A place stores 15 more bits of the hash that took it first, so another name in the same
/// place is detected by one comparison. The names themselves are stored up to a limit.
///
/// ```
/// use geowalk_data::Hashed;
/// let mut hashed = Hashed::new(18)?;
/// let color = hashed.place("", "color=red")?;
/// assert_eq!(hashed.name(color), Some("color=red"));
/// assert_eq!(hashed.place("", "17")?, 17);
/// assert_eq!((hashed.collisions().names, hashed.collisions().shared), (2, 0));
/// # Ok::<(), geowalk_data::ErrorKind>(())
/// ```
#[derive(Debug, Clone)]
pub struct Hashed {
    bits: u32,
    mask: u64,
    /// For each place: 0, or a set high bit and 15 bits of the first hash.
    prints: Vec<u16>,
    /// Only every 2^`sparse`-th place has a print, to bound the memory.
    sparse: u32,
    used: u64,
    /// Hashes of names whose place was taken by another name.
    strangers: HashSet<u64>,
    names: Names,
    /// Whether names were added without the prints of their places.
    unprinted: bool,
}

/// Counts of names that share places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collisions {
    /// Distinct names seen.
    pub names: u64,
    /// Names whose place was already taken.
    pub shared: u64,
    /// Whether the counts are exact; otherwise they are lower bounds.
    pub exact: bool,
    /// The counts cover only every n-th place.
    pub every: u64,
}

impl Hashed {
    /// The default number of bits.
    pub const BITS: u32 = 18;
    const MOST_PRINTS: u32 = 22;
    const MOST_STRANGERS: usize = 1 << 18;

    /// Features with 2^bits places, 1 ≤ bits ≤ 30.
    pub fn new(bits: u32) -> Result<Self, ErrorKind> {
        if !(1..=30).contains(&bits) {
            return Err(ErrorKind::Config(geowalk::ConfigError::OutOfRange {
                name: "bits",
                value: f64::from(bits),
                allowed: geowalk::error::Allowed::Closed(1.0, 30.0),
            }));
        }
        let sparse = bits.saturating_sub(Self::MOST_PRINTS);
        Ok(Self {
            bits,
            mask: (1 << bits) - 1,
            prints: vec![0; 1 << (bits - sparse)],
            sparse,
            used: 0,
            strangers: HashSet::new(),
            names: Names::default(),
            unprinted: false,
        })
    }

    /// Features with names already known, as stored in a model. A place given twice keeps its first name.
    pub fn from_parts<N: AsRef<str>>(
        bits: u32,
        names: impl IntoIterator<Item = (u32, N)>,
    ) -> Result<Self, ErrorKind> {
        let mut hashed = Self::new(bits)?;
        let mut names: Vec<(u32, N)> = names.into_iter().collect();
        names.sort_by_key(|entry| entry.0);
        names.dedup_by_key(|entry| entry.0);
        for (place, name) in &names {
            hashed.names.add(*place, b"", name.as_ref().as_bytes());
        }
        hashed.unprinted = !names.is_empty();
        Ok(hashed)
    }

    /// Adds the collision data of an earlier reading: its [`prints`](Self::prints) and [`strangers`](Self::strangers).
    pub fn remember(
        mut self,
        prints: impl IntoIterator<Item = (u32, u16)>,
        strangers: impl IntoIterator<Item = u64>,
    ) -> Result<Self, ErrorKind> {
        for (place, print) in prints {
            let Some(known) = self.prints.get_mut((place >> self.sparse) as usize) else {
                return Err(ErrorKind::IndexTooLarge { found: u64::from(place), limit: self.mask });
            };
            self.used += u64::from(*known == 0);
            *known = print | 0x8000;
        }
        self.strangers.extend(strangers.into_iter().take(Self::MOST_STRANGERS));
        Ok(self)
    }

    /// Adds everything that `other` has seen, as if it had come later. Exact as long as `other` still has its names;
    /// for names it did not keep, only some bits of the hash are known.
    pub fn absorb(&mut self, other: Self) -> Result<(), ErrorKind> {
        if self.used == 0 && self.names.len() == 0 && self.strangers.is_empty() {
            *self = other;
            return Ok(());
        }
        let bits = self.bits;
        for (place, print) in other.prints() {
            let name = other.names.find(place).unwrap_or_default();
            let own =
                |hash: u64| (hash & self.mask, Self::print(hash, bits)) == (place.into(), print);
            // The hash determines which of the marks ends the namespace.
            let marks = name.match_indices('^').map(|(at, _)| (&name[..at], &name[at + 1..]));
            match std::iter::once(("", name))
                .chain(marks)
                .find(|(space, name)| own(Self::hash_of(space, name)))
            {
                Some((space, part)) if !name.is_empty() => {
                    let hash = Self::hash_of(space, part);
                    self.claim(hash, space.as_bytes(), part.as_bytes())?;
                }
                _ => self.meet(u64::from(place) | u64::from(print & 0x7fff) << bits),
            }
        }
        other.strangers().into_iter().for_each(|hash| self.meet(hash));
        Ok(())
    }

    /// Counts a hash whose name is not known.
    fn meet(&mut self, hash: u64) {
        let print = Self::print(hash, self.bits);
        #[expect(clippy::cast_possible_truncation, reason = "masked")]
        let known = &mut self.prints[((hash & self.mask) >> self.sparse) as usize];
        if *known == 0 {
            *known = print;
            self.used += 1;
        } else if *known != print && self.strangers.len() < Self::MOST_STRANGERS {
            self.strangers.insert(hash);
        }
    }

    /// The hash of a name.
    fn hash_of(space: &str, name: &str) -> u64 {
        let seed = Self::seed(space.as_bytes());
        match whole(name.as_bytes()) {
            Some(number) => seed.wrapping_add(number),
            None => xxh3_64_with_seed(name.as_bytes(), seed),
        }
    }

    /// The bits that a place stores of the hash that took it first.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "15 bits are kept")]
    pub(super) fn print(hash: u64, bits: u32) -> u16 {
        (hash >> bits) as u16 | 0x8000
    }

    /// The places known to be taken, in order, each with the stored bits of its first hash.
    pub fn prints(&self) -> impl Iterator<Item = (u32, u16)> {
        let places = (0..).map(|k: u32| k << self.sparse);
        places.zip(self.prints.iter().copied()).filter(|(_, print)| *print != 0)
    }

    /// The hashes of names whose place was taken by another, in order.
    pub fn strangers(&self) -> Vec<u64> {
        let mut hashes: Vec<u64> = self.strangers.iter().copied().collect();
        hashes.sort_unstable();
        hashes
    }

    /// The stored bits of the first hash of every watched place; 0 if it is free.
    pub(super) fn all_prints(&self) -> &[u16] {
        &self.prints
    }

    /// The stored bits of the first hash at the place of this hash, which must be watched.
    #[expect(clippy::cast_possible_truncation, reason = "masked")]
    pub(super) fn print_of(&self, hash: u64) -> u16 {
        self.prints[((hash & self.mask) >> self.sparse) as usize]
    }

    /// Only every 2^`sparse`-th place is watched.
    pub(super) fn sparse(&self) -> u32 {
        self.sparse
    }

    /// Number of bits of the hash.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The known names, ordered by place. The first name keeps the place. At most 2²⁰ names with 2²⁴ bytes are kept.
    pub fn names(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter()
    }

    /// Number of known names.
    pub fn known(&self) -> usize {
        self.names.len()
    }

    /// The first name of a place, if it is known.
    pub fn name(&self, place: u32) -> Option<&str> {
        self.names.find(place)
    }

    /// The collisions since this source was opened, or since the first reading that it [remembers](Self::remember).
    pub fn collisions(&self) -> Collisions {
        let shared = self.strangers.len() as u64;
        Collisions {
            names: self.used + shared,
            shared,
            exact: self.strangers.len() < Self::MOST_STRANGERS,
            every: 1 << self.sparse,
        }
    }

    /// The place of a name.
    pub fn place(&mut self, namespace: &str, name: &str) -> Result<u32, ErrorKind> {
        let seed = Self::seed(namespace.as_bytes());
        let name = name.as_bytes();
        match whole(name) {
            Some(number) => self.claim(seed.wrapping_add(number), namespace.as_bytes(), name),
            None => self.hash(seed, namespace.as_bytes(), name),
        }
    }

    /// The place of a name, without recording it.
    #[expect(clippy::cast_possible_truncation, reason = "masked")]
    pub(crate) fn peek(&self, namespace: &str, name: &str) -> u32 {
        (Self::hash_of(namespace, name) & self.mask) as u32
    }

    /// The hash of a namespace, added to or used as a seed for the hashes of its names. It is 0 for the empty
    /// namespace.
    #[inline]
    pub(crate) fn seed(namespace: &[u8]) -> u64 {
        match namespace {
            [] => 0,
            name => whole(name).unwrap_or_else(|| xxh3_64_with_seed(name, 0)),
        }
    }

    /// The place of a name that is not a number.
    #[inline]
    pub(crate) fn hash(&mut self, seed: u64, space: &[u8], name: &[u8]) -> Result<u32, ErrorKind> {
        self.claim(xxh3_64_with_seed(name, seed), space, name)
    }

    /// The place of a hash. Records the name, or a collision.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "both are masked")]
    pub(crate) fn claim(&mut self, hash: u64, space: &[u8], name: &[u8]) -> Result<u32, ErrorKind> {
        let place = (hash & self.mask) as u32;
        if self.sparse == 0 || place & ((1 << self.sparse) - 1) == 0 {
            let print = Self::print(hash, self.bits);
            let known = self.prints.get((place >> self.sparse) as usize);
            if known != Some(&print) {
                self.first_sight(hash, place, print, space, name)?;
            }
        }
        Ok(place)
    }

    #[cold]
    #[inline(never)]
    fn first_sight(
        &mut self,
        hash: u64,
        place: u32,
        print: u16,
        space: &[u8],
        name: &[u8],
    ) -> Result<(), ErrorKind> {
        let known = &mut self.prints[(place >> self.sparse) as usize];
        if *known != 0 {
            if self.strangers.len() < Self::MOST_STRANGERS {
                self.strangers.insert(hash);
            }
            return Ok(());
        }
        *known = print;
        self.used += 1;
        if self.unprinted && self.names.find(place).is_some() {
            return match std::str::from_utf8(name) {
                Ok(_) => Ok(()),
                Err(_) => Err(ErrorKind::Utf8 { found: excerpt(name) }),
            };
        }
        if !self.names.add(place, space, name) {
            return Err(ErrorKind::Utf8 { found: excerpt(name) });
        }
        Ok(())
    }
}

/// Replaces numbers by their places, up to the first whose print differs. Returns how many were replaced.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "masked")]
pub(super) fn known(
    prints: &[u16],
    bits: u32,
    sparse: u32,
    seed: u64,
    numbers: &mut [u32],
) -> usize {
    let (mask, between) = ((1 << bits) - 1, (1 << sparse) - 1);
    let length = numbers.len();
    let unknown = numbers.iter_mut().position(|number| {
        let hash = seed.wrapping_add(u64::from(*number));
        let place = hash & mask;
        let print = prints.get((place >> sparse) as usize);
        if place & between == 0 && print != Some(&Hashed::print(hash, bits)) {
            return true;
        }
        *number = place as u32;
        false
    });
    unknown.unwrap_or(length)
}

/// The number written by a name of digits; more than 19 digits are text.
pub(crate) fn whole(name: &[u8]) -> Option<u64> {
    match crate::number::whole(name, 0) {
        Some((number, end)) if end == name.len() && end < 20 => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_distance_within_a_namespace() {
        let mut hashed = Hashed::new(18).unwrap();
        let first = hashed.place("f", "1").unwrap();
        let second = hashed.place("f", "2").unwrap();
        assert_eq!((first + 1) & ((1 << 18) - 1), second);
        assert_ne!(hashed.place("g", "1").unwrap(), first);
        assert_eq!(hashed.name(first), Some("f^1"));
        assert_eq!(Hashed::seed(b""), 0);
        assert_eq!(Hashed::seed(b"12"), 12);
    }

    #[test]
    fn shared_places_are_counted_once_per_name() {
        let mut hashed = Hashed::new(1).unwrap();
        for _ in 0..3 {
            for name in ["0", "1", "2", "3", "4"] {
                hashed.place("", name).unwrap();
            }
        }
        assert_eq!(hashed.collisions(), Collisions { names: 5, shared: 3, exact: true, every: 1 });
    }

    #[test]
    fn the_count_goes_on_where_it_stopped() {
        for bits in [4, 24] {
            let names: Vec<String> = (0..400).map(|k| format!("name {k}")).collect();
            let (first, second) = names.split_at(150);
            let mut whole = Hashed::new(bits).unwrap();
            let mut half = Hashed::new(bits).unwrap();
            for name in first {
                whole.place("", name).unwrap();
                half.place("", name).unwrap();
            }
            let again = Hashed::from_parts(bits, half.names()).unwrap();
            let mut again = again.remember(half.prints(), half.strangers()).unwrap();
            for name in second.iter().chain(first) {
                whole.place("", name).unwrap();
                again.place("", name).unwrap();
            }
            assert_eq!(again.collisions(), whole.collisions());
            assert!(again.names().eq(whole.names()) && again.known() == whole.known());
            assert!(again.prints().eq(whole.prints()) && again.strangers() == whole.strangers());
        }
        assert!(Hashed::new(4).unwrap().remember([(16, 1)], []).is_err());
    }

    #[test]
    fn names_are_kept_first_come_first_served_within_limits() {
        let mut hashed = Hashed::from_parts(4, [(3, "b"), (1, "a"), (3, "c")]).unwrap();
        assert_eq!(hashed.place("", "1").unwrap(), 1);
        assert_eq!(hashed.place("", "2").unwrap(), 2);
        let names: Vec<_> = hashed.names().collect();
        assert_eq!(names, [(1, "a"), (2, "2"), (3, "b")]);
        assert_eq!((hashed.name(3), hashed.name(4), hashed.known()), (Some("b"), None, 3));
        let mut hashed = Hashed::new(22).unwrap();
        let long = "x".repeat(1 << 23);
        for k in 0..3 {
            hashed.place("", &format!("{long}{k}")).unwrap();
        }
        assert_eq!((hashed.known(), hashed.collisions().names), (1, 3), "a limit of bytes");
        let after = hashed.place("n", "7").unwrap();
        assert_eq!(hashed.name(after), Some("n^7"), "short names still fit");
    }

    #[test]
    fn large_tables_watch_every_few_places() {
        let mut hashed = Hashed::new(24).unwrap();
        for number in 0..4000_u32 {
            assert_eq!(hashed.place("", &number.to_string()).unwrap(), number);
        }
        assert_eq!(
            hashed.collisions(),
            Collisions { names: 1000, shared: 0, exact: true, every: 4 }
        );
        assert!(Hashed::new(0).is_err() && Hashed::new(31).is_err());
    }
}
