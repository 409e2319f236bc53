use xxhash_rust::xxh3::xxh3_64;

use crate::error::{ErrorKind, excerpt};

/// Distinct names, numbered in order of first appearance.
///
/// ```
/// use geowalk_data::Dictionary;
/// let colors = Dictionary::from_names(["red", "green"])?;
/// assert_eq!(colors.find("green"), Some(1));
/// assert_eq!(colors.name(0), Some("red"));
/// assert_eq!(colors.len(), 2);
/// # Ok::<(), geowalk_data::ErrorKind>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dictionary {
    /// All names, concatenated; name `k` ends at `ends[k]`.
    text: String,
    ends: Vec<usize>,
    hashes: Vec<u64>,
    /// A hash table with open addressing. Entries are 1 + the number of a name, or 0.
    table: Vec<u32>,
    limit: usize,
    scratch: Vec<u8>,
}

impl Default for Dictionary {
    fn default() -> Self {
        Self::with_limit(Self::LIMIT)
    }
}

impl Dictionary {
    /// The default limit on the number of names. With weights, that many names take some gigabytes.
    pub const LIMIT: usize = 1 << 26;

    /// An empty dictionary that refuses to grow beyond `limit` names.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            text: String::new(),
            ends: Vec::new(),
            hashes: Vec::new(),
            table: vec![0; 64],
            limit: limit.min(u32::MAX as usize - 1),
            scratch: Vec::new(),
        }
    }

    /// The dictionary in which the k-th of these names has number k. Refuses duplicate names.
    pub fn from_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, ErrorKind> {
        let mut dictionary = Self::default();
        for (k, name) in names.into_iter().enumerate() {
            if dictionary.insert(name.as_bytes())? as usize != k {
                return Err(ErrorKind::DuplicateColumn { name: name.to_owned() });
            }
        }
        Ok(dictionary)
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name with this number.
    pub fn name(&self, number: u32) -> Option<&str> {
        let k = number as usize;
        let end = *self.ends.get(k)?;
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        self.text.get(start..end)
    }

    /// All names, in the order of their numbers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..).map_while(|k| self.name(k))
    }

    /// The number of a name.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.find_bytes(name.as_bytes())
    }

    /// The number of a name given as bytes.
    pub(crate) fn find_bytes(&self, name: &[u8]) -> Option<u32> {
        self.slot(xxh3_64(name), name).ok()
    }

    /// The number of a name; a new name gets a new number. Fails if the name is not UTF-8 or the dictionary is full.
    pub fn insert(&mut self, name: &[u8]) -> Result<u32, ErrorKind> {
        let hash = xxh3_64(name);
        match self.slot(hash, name) {
            Ok(number) => Ok(number),
            Err(slot) => self.add(slot, hash, name),
        }
    }

    /// The number of the concatenation of these parts.
    pub(crate) fn insert_joined(&mut self, parts: &[&[u8]]) -> Result<u32, ErrorKind> {
        let mut name = std::mem::take(&mut self.scratch);
        name.clear();
        for part in parts {
            name.extend_from_slice(part);
        }
        let number = self.insert(&name);
        self.scratch = name;
        number
    }

    /// The number of a name, or the free slot for it.
    #[inline]
    fn slot(&self, hash: u64, name: &[u8]) -> Result<u32, usize> {
        let mask = self.table.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "the mask takes the low bits anyway")]
        let mut slot = hash as usize & mask;
        loop {
            match self.table[slot] {
                0 => return Err(slot),
                entry => {
                    let number = entry - 1;
                    if self.hashes[number as usize] == hash
                        && self.name(number).is_some_and(|known| known.as_bytes() == name)
                    {
                        return Ok(number);
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    #[cold]
    fn add(&mut self, slot: usize, hash: u64, name: &[u8]) -> Result<u32, ErrorKind> {
        let Ok(text) = std::str::from_utf8(name) else {
            return Err(ErrorKind::Utf8 { found: excerpt(name) });
        };
        let number = match u32::try_from(self.len()) {
            Ok(number) if self.len() < self.limit => number,
            _ => return Err(ErrorKind::DictionaryFull { limit: self.limit }),
        };
        self.text.push_str(text);
        self.ends.push(self.text.len());
        self.hashes.push(hash);
        self.table[slot] = number + 1;
        if 2 * self.len() > self.table.len() {
            self.grow();
        }
        Ok(number)
    }

    fn grow(&mut self) {
        let mask = 2 * self.table.len() - 1;
        self.table.clear();
        self.table.resize(mask + 1, 0);
        for (entry, &hash) in (1..).zip(&self.hashes) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the mask takes the low bits anyway"
            )]
            let mut slot = hash as usize & mask;
            while self.table[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.table[slot] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_while_it_grows() {
        let mut dictionary = Dictionary::default();
        for k in 0..10_000 {
            assert_eq!(dictionary.insert(format!("name {k}").as_bytes()).unwrap(), k);
        }
        for k in 0..10_000 {
            assert_eq!(dictionary.find(&format!("name {k}")), Some(k));
            assert_eq!(dictionary.name(k), Some(format!("name {k}").as_str()));
        }
        assert_eq!(dictionary.find("other"), None);
        assert_eq!(dictionary.name(10_000), None);
        let again = Dictionary::from_names(dictionary.names()).unwrap();
        assert_eq!(again.find("name 9999"), Some(9999));
        assert_eq!(again.names().count(), 10_000);
    }

    #[test]
    fn what_it_refuses() {
        let mut dictionary = Dictionary::with_limit(1);
        assert!(matches!(dictionary.insert(b"\xff"), Err(ErrorKind::Utf8 { .. })));
        assert_eq!(dictionary.insert_joined(&[b"a", b"=", b"b"]).unwrap(), 0);
        assert_eq!(dictionary.insert(b"a=b").unwrap(), 0);
        assert!(matches!(dictionary.insert(b"c"), Err(ErrorKind::DictionaryFull { limit: 1 })));
        assert!(Dictionary::from_names(["a", "a"]).is_err());
    }
}
