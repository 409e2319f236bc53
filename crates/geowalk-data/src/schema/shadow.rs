use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::names::is_utf8;
use super::{Features, Hashed, Index, Namespace, Place, hashed};
use crate::error::{ErrorKind, excerpt};

/// Gives features their places out of order, and writes down what the owner of the [`Features`] has to know.
#[derive(Debug)]
pub(crate) enum Shadow {
    /// Hashed features.
    Hashed(Watch),
    /// Numbers.
    Index(Index),
}

/// Hashed features, as somebody sees them who does not decide whose a place is.
///
/// **Method** A hash is passed over if the owner is known to have given its place to one with the same bits of the hash; or if this very hash has been written down
/// before. All others are written down, in their order. So the owner, who meets what is written in the order of the text, ends as if he had read it all himself. He writes beside it
/// whose the places are, and when the watch [hears](Watch::hear) of that, nearly all that comes is passed over by one comparison.
#[derive(Debug)]
pub(crate) struct Watch {
    bits: u32,
    mask: u64,
    sparse: u32,
    /// Of every watched place: 0, or [`OWN`], or what the owner remembers.
    prints: Vec<u16>,
    /// The hashes that came first to the places that are marked as own.
    firsts: HashMap<u32, u64>,
    /// Other hashes that were written down.
    others: HashSet<u64>,
    journal: Journal,
}

/// What was written down.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal {
    /// Hashes, and where namespace and name end in the text; both are empty where the place was taken already.
    events: Vec<(u64, usize, usize)>,
    text: Vec<u8>,
    /// What the owner remembers of the places of the first of them; all, once he has met them.
    answers: Vec<u16>,
}

/// Something was written down for this place. What an owner remembers is larger.
const OWN: u16 = 1;

impl Shadow {
    /// A shadow of these features; `None` if numbers are given to names in the order in which they come.
    pub(crate) fn of(features: &Features) -> Option<Self> {
        match features {
            Features::Hashed(hashed) => Some(Self::Hashed(Watch::new(hashed))),
            Features::Index(index) => Some(Self::Index(*index)),
            Features::Exact(_) => None,
        }
    }

    /// Hears what the owner has answered.
    pub(crate) fn hear(&mut self, journal: &Journal) {
        if let Self::Hashed(watch) = self {
            watch.hear(journal);
        }
    }

    /// Hands over what was written down, and begins anew.
    pub(crate) fn note(&mut self, journal: &mut Journal) {
        journal.events.clear();
        journal.text.clear();
        journal.answers.clear();
        if let Self::Hashed(watch) = self {
            std::mem::swap(&mut watch.journal, journal);
        }
    }
}

impl Journal {
    /// Has the owner meet all of it, and answer.
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
    /// Hashes that are remembered in order not to be written down twice.
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

    /// Hears whose the places are that were written down.
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
            // Whether that is an error depends on who came first; so the piece is for the owner.
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
    fn known(&self, space: Namespace<'_>, numbers: &mut [u32]) -> usize {
        hashed::known(&self.prints, self.bits, self.sparse, space.seed, numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that crowd few places, so that many of them share one and some share its print as well.
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
                // The owner is behind by a piece or two.
                if k % 2 == 0 {
                    for mut journal in waiting.drain(..waiting.len() - 1) {
                        journal.replay(&mut features).unwrap();
                        // Now and then by another watch than wrote it down, or by none.
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
