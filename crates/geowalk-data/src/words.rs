//! # Words
//! Turns free text into features: `column=word`, valued by the count of the word.
//!
//! **Rule** A word is a maximal run of letters and digits in lower case. Letters and digits are those of Unicode
//! (`char::is_alphanumeric`, and the combining accents U+0300 to U+036F). Lower case is Unicode's mapping without
//! context. An apostrophe, `'` or `’`, between a letter or digit and a letter is part of the word and is written `'`:
//! *Don’t* is `don't`. Everything else separates words. Scripts without word separators (Chinese, Thai) are not split;
//! segment such text first.
//!
//! **Cost** One pass over the text. No allocation once the buffer has held the longest word.

use std::collections::HashSet;

use xxhash_rust::xxh3::xxh3_64;

use crate::date::Date;

/// Splits texts into words by the rule of the readers. Keeps the buffer in which feature names are built.
///
/// ```
/// use geowalk_data::Words;
/// let mut names = Vec::new();
/// let taken = Words::default().each(b"text", "Don't panic!", |name| {
///     names.push(String::from_utf8_lossy(name).into_owned());
///     Ok::<(), ()>(())
/// });
/// assert_eq!((taken, names), (Ok(()), vec!["text=don't".to_owned(), "text=panic".to_owned()]));
/// ```
#[derive(Debug, Default)]
pub struct Words {
    name: Vec<u8>,
}

impl Words {
    /// Calls `take` with `column=word` for each word of the text, in order.
    pub fn each<E>(
        &mut self,
        column: &[u8],
        text: &str,
        mut take: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.name.clear();
        self.name.extend_from_slice(column);
        self.name.push(b'=');
        let stem = self.name.len();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            let inside = self.name.len() > stem;
            if c.is_ascii_alphanumeric() {
                self.name.push(c.to_ascii_lowercase() as u8);
            } else if !c.is_ascii() && belongs(c) {
                for small in c.to_lowercase() {
                    self.name.extend_from_slice(small.encode_utf8(&mut [0; 4]).as_bytes());
                }
            } else if inside
                && matches!(c, '\'' | '\u{2019}')
                && chars.peek().is_some_and(|next| next.is_alphabetic())
            {
                self.name.push(b'\'');
            } else if inside {
                take(&self.name)?;
                self.name.truncate(stem);
            }
        }
        if self.name.len() > stem { take(&self.name) } else { Ok(()) }
    }
}

fn belongs(c: char) -> bool {
    c.is_alphanumeric() || ('\u{300}'..='\u{36f}').contains(&c)
}

/// Statistics of the texts of a column in the sample.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    /// Number of texts.
    pub(crate) values: usize,
    /// Number of blank-separated parts with a letter, over all texts.
    pub(crate) words: usize,
    /// Number of texts that are dates.
    pub(crate) dates: usize,
    distinct: HashSet<u64>,
}

impl Texts {
    /// Columns with fewer values are not taken for free text.
    const FEWEST: usize = 10;
    /// Minimum average number of words per text for free text.
    const WORDS: usize = 3;

    pub(crate) fn add(&mut self, text: &[u8]) {
        self.values += 1;
        self.dates += usize::from(Date::parse(text).is_some());
        self.distinct.insert(xxh3_64(text));
        let text = std::str::from_utf8(text).unwrap_or_default();
        let parts = text.split_whitespace();
        self.words += parts.filter(|part| part.chars().any(char::is_alphabetic)).count();
    }

    /// Adds a text of one word, without examining it.
    pub(crate) fn add_one_word(&mut self) {
        self.values += 1;
        self.words += 1;
    }

    /// Number of distinct texts.
    pub(crate) fn distinct(&self) -> usize {
        self.distinct.len()
    }

    /// Whether there are texts and all of them are dates.
    pub(crate) fn are_dates(&self) -> bool {
        self.values > 0 && self.dates == self.values
    }

    /// Whether the texts are free text: mostly distinct, with several words each.
    pub(crate) fn are_free(&self) -> bool {
        self.values >= Self::FEWEST
            && 2 * self.distinct() > self.values
            && self.words >= Self::WORDS * self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        let taken: Result<(), ()> = Words::default().each(b"t", text, |name| {
            out.push(String::from_utf8(name.to_vec()).unwrap());
            Ok(())
        });
        assert_eq!(taken, Ok(()));
        out
    }

    #[test]
    fn the_rule() {
        assert_eq!(split("Go, until 2morrow!"), ["t=go", "t=until", "t=2morrow"]);
        assert_eq!(
            split("Don\u{2019}t 'quote' rock'n'roll x'"),
            ["t=don't", "t=quote", "t=rock'n'roll", "t=x"]
        );
        assert_eq!(
            split("ÉTÉ e\u{301}te\u{301} Straße ΣΑΣ"),
            ["t=été", "t=e\u{301}te\u{301}", "t=straße", "t=σασ"]
        );
        assert_eq!(split("a\u{a0}b—c_d 漢字"), ["t=a", "t=b", "t=c", "t=d", "t=漢字"]);
        assert_eq!(split(" ... ''"), [""; 0]);
    }

    #[test]
    fn free_text_is_told_from_names() {
        let free = |value: &dyn Fn(usize) -> String, n: usize| {
            let mut texts = Texts::default();
            (0..n).for_each(|k| texts.add(value(k).as_bytes()));
            texts.are_free()
        };
        assert!(free(&|k| format!("the message number {k}"), 10));
        assert!(!free(&|k| format!("the message number {k}"), 9), "too few to tell");
        assert!(!free(&|k| format!("the message number {}", k % 5), 10), "names of several words");
        assert!(!free(&|k| format!("user {k}"), 100), "too few words");
        assert!(!free(&|k| format!("2024-01-02 10:20:{k} +01:00"), 100), "no letters");
    }
}
