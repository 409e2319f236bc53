use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::names::is_utf8;
use super::{Counted, Features, Hashed, Namespace, Place, hashed};
use crate::error::{ErrorKind, excerpt};

/// Computes the indices of features out of order, and records what the owner of the [`Features`] must process later.
#[derive(Debug)]
pub(crate) enum Shadow {
    /// Hashed features.
    Hashed(Watch),
    /// Features identified by an index.
    Index(Counted),
}

/// Hashed features as seen by a helper thread, which does not decide which name owns a place.
///
/// **Method** A hash is skipped in two cases: the owner has given its place to a hash with the same stored bits, or
/// this very hash was recorded before. All other hashes are recorded in order. The owner processes the records in the
/// order of the text, so its final state is as if it had read everything itself. The owner adds the owners of the
/// places to each record. Once the watch has [read](Watch::hear) that, nearly all hashes are skipped after one
/// comparison.
#[derive(Debug)]
pub(crate) struct Watch {
    bits: u32,
    mask: u64,
    sparse: u32,
    /// For every watched place: 0, or [`OWN`], or the bits stored by the owner.
    prints: Vec<u16>,
    /// The first hash at each place that is marked [`OWN`].
    firsts: HashMap<u32, u64>,
    /// Other recorded hashes.
    others: HashSet<u64>,
    journal: Journal,
}

/// A record of new features.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    /// For each hash, the ends of its namespace and name in the text. Both are empty if the place was already taken.
    events: Vec<(u64, usize, usize)>,
    text: Vec<u8>,
    /// The bits stored by the owner for the places of the first hashes; for all hashes, once the owner has processed
    /// them.
    answers: Vec<u16>,
    /// One more than the largest number, of features that are numbers.
    pub(crate) bound: u32,
}

/// Marks a place with a recorded hash. The bits stored by an owner are larger numbers.
const OWN: u16 = 1;

impl Shadow {
    /// A shadow of these features; `None` if indices depend on the order of names.
    pub(crate) fn of(features: &Features) -> Option<Self> {
        match features {
            Features::Hashed(hashed) => Some(Self::Hashed(Watch::new(hashed))),
            Features::Index(index) => Some(Self::Index(Counted::fresh(*index))),
            Features::Exact(_) => None,
        }
    }

    /// Takes the answers of the owner from a journal.
    pub(crate) fn hear(&mut self, journal: &Journal) {
        if let Self::Hashed(watch) = self {
            watch.hear(journal);
        }
    }

    /// Moves the record into `journal` and starts a new one.
    pub(crate) fn note(&mut self, journal: &mut Journal) {
        journal.events.clear();
        journal.text.clear();
        journal.answers.clear();
        match self {
            Self::Hashed(watch) => std::mem::swap(&mut watch.journal, journal),
            Self::Index(counted) => journal.bound = std::mem::take(&mut counted.bound),
        }
    }
}

impl Journal {
    /// Passes all recorded features to the owner and stores its answers.
    pub(crate) fn replay(&mut self, features: &mut Features) -> Result<(), ErrorKind> {
        let Features::Hashed(hashed) = features else { return Ok(()) };
        let mut start = 0;
        self.answers.clear();
        for &(hash, between, end) in &self.events {
            hashed.claim(hash, &self.text[start..between], &self.text[between..end])?;
            self.answers.push(hashed.print_of(hash));
            start = end;
        }
        Ok(())
    }

    fn add(&mut self, hash: u64, space: &[u8], name: &[u8]) {
        self.text.extend_from_slice(space);
        let between = self.text.len();
        self.text.extend_from_slice(name);
        self.events.push((hash, between, self.text.len()));
    }
}

impl Watch {
    /// Maximum number of hashes remembered to avoid recording them twice.
    const MOST: usize = 1 << 18;

    fn new(hashed: &Hashed) -> Self {
        let (bits, sparse) = (hashed.bits(), hashed.sparse());
        Self {
            bits,
            mask: (1 << bits) - 1,
            sparse,
            prints: hashed.all_prints().to_vec(),
            firsts: HashMap::new(),
            others: HashSet::new(),
            journal: Journal::default(),
        }
    }

    /// Takes the owner's answers for the recorded hashes.
    #[expect(clippy::cast_possible_truncation, reason = "masked")]
    fn hear(&mut self, journal: &Journal) {
        for (&(hash, ..), &answer) in journal.events.iter().zip(&journal.answers) {
            let slot = (hash & self.mask) as u32 >> self.sparse;
            let print = &mut self.prints[slot as usize];
            if *print == OWN {
                self.firsts.remove(&slot);
            }
            *print = answer;
        }
    }

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "masked")]
    fn claim(&mut self, hash: u64, space: &[u8], name: &[u8]) -> Result<u32, ErrorKind> {
        let place = (hash & self.mask) as u32;
        if self.sparse == 0 || place & ((1 << self.sparse) - 1) == 0 {
            let slot = place >> self.sparse;
            if self.prints.get(slot as usize) != Some(&Hashed::print(hash, self.bits)) {
                self.meet(hash, slot, space, name)?;
            }
        }
        Ok(place)
    }

    #[cold]
    #[inline(never)]
    fn meet(&mut self, hash: u64, slot: u32, space: &[u8], name: &[u8]) -> Result<(), ErrorKind> {
        let print = &mut self.prints[slot as usize];
        if *print == 0 {
            *print = OWN;
            self.firsts.insert(slot, hash);
            self.journal.add(hash, space, name);
            // Whether this is an error depends on which name came first, so the owner must process the piece.
            let fault = || ErrorKind::Utf8 { found: excerpt(name) };
            return is_utf8(name).then_some(()).ok_or_else(fault);
        }
        if *print == OWN && self.firsts.get(&slot) == Some(&hash) {
            return Ok(());
        }
        if self.others.len() == Self::MOST {
            self.others.clear();
        }
        if self.others.insert(hash) {
            self.journal.add(hash, b"", b"");
        }
        Ok(())
    }
}

impl Place for Watch {
    #[inline(always)]
    fn number(&mut self, space: Namespace<'_>, name: &[u8], number: u64) -> Result<u32, ErrorKind> {
        self.claim(space.seed.wrapping_add(number), space.name, name)
    }

    #[inline]
    fn text(&mut self, space: Namespace<'_>, name: &[u8]) -> Result<u32, ErrorKind> {
        self.claim(xxh3_64_with_seed(name, space.seed), space.name, name)
    }

    #[inline(always)]
    fn known(&mut self, space: Namespace<'_>, numbers: &mut [u32]) -> usize {
        hashed::known(&self.prints, self.bits, self.sparse, space.seed, numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that crowd into few places, so that many share a place, and some also share its print.
    #[test]
    fn the_owner_ends_as_if_it_had_seen_everything_itself() {
        for bits in [1, 3, 12, 24] {
            let names: Vec<u64> = (0..60_000_u64).map(|k| (k * k) % 40_009 * 977).collect();
            let mut owner = Hashed::new(bits).unwrap();
            let mut alone = owner.clone();
            for number in &names[..500] {
                owner.claim(*number, b"", number.to_string().as_bytes()).unwrap();
            }
            let mut watches = [Watch::new(&owner), Watch::new(&owner)];
            let mut features = Features::Hashed(owner);
            let mut waiting: Vec<Journal> = Vec::new();
            for number in &names[..500] {
                alone.claim(*number, b"", number.to_string().as_bytes()).unwrap();
            }
            for (k, piece) in names[500..].chunks(700).enumerate() {
                let watch = &mut watches[usize::from(k % 3 == 0)];
                for number in piece {
                    let name = number.to_string();
                    let place = watch.claim(*number, b"", name.as_bytes()).unwrap();
                    assert_eq!(place, alone.claim(*number, b"", name.as_bytes()).unwrap());
                }
                waiting.push(std::mem::take(&mut watch.journal));
                // The owner is one or two pieces behind.
                if k % 2 == 0 {
                    for mut journal in waiting.drain(..waiting.len() - 1) {
                        journal.replay(&mut features).unwrap();
                        // Sometimes by another watch than the one that recorded it, or by none.
                        if k % 6 != 0 {
                            watches[usize::from(k % 4 == 0)].hear(&journal);
                        }
                    }
                }
            }
            for mut journal in waiting {
                journal.replay(&mut features).unwrap();
            }
            let Features::Hashed(owner) = &features else { panic!("hashed") };
            assert_eq!(owner.collisions(), alone.collisions());
            assert!(owner.prints().eq(alone.prints()) && owner.names().eq(alone.names()));
            assert_eq!(owner.strangers(), alone.strangers());
        }
    }
}
