//! Kinds of features: a number of a column, a name or a word in it, or its missing value.
//!
//! The text of a feature is used for display, hashing and files. A missing value is `column=missing`. The name
//! `missing` has the text `column="missing"`, so the two are different features. Names that already have this form get
//! another pair of quotes.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{Column, Kind};
use crate::date::PARTS;

/// The identity of a feature.
///
/// ```
/// use geowalk_data::{Dictionary, FeatureKey, Features};
/// let mut features = Features::Exact(Dictionary::default());
/// assert_eq!(features.place(FeatureKey::Missing("color"))?, 0);
/// assert_eq!(features.place(FeatureKey::Is("color", "missing"))?, 1);
/// assert_eq!(features.name(1).as_deref(), Some("color=\"missing\""));
/// # Ok::<(), geowalk_data::ErrorKind>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureKey<'a> {
    /// A number in a column, or a feature without a column. For hashed features, `space^name` is a name in a
    /// namespace.
    Number(&'a str),
    /// A name in a column.
    Is(&'a str, &'a str),
    /// A word in a column of free text.
    Word(&'a str, &'a str),
    /// The missing value of a column.
    Missing(&'a str),
}

/// The text of a missing value.
pub(crate) const GAP: &str = "missing";

/// Whether this name could be taken for a missing value, or for a name with added quotes.
#[inline]
pub(crate) fn needs_quotes(name: &[u8]) -> bool {
    let Some(b'g' | b'"') = name.last() else { return false };
    let mut inner = name;
    while let [b'"', rest @ .., b'"'] = inner {
        inner = rest;
    }
    inner == GAP.as_bytes()
}

/// The kinds of known columns, by name. The parts of dates count as columns.
#[derive(Debug)]
pub struct ColumnKinds<'a>(HashMap<Cow<'a, str>, Kind>);

impl<'a> ColumnKinds<'a> {
    /// The kinds of these columns.
    pub fn new(columns: &'a [Column]) -> Self {
        let own = columns.iter().map(|column| (Cow::from(column.name.as_str()), column.kind));
        let dates = columns.iter().filter(|column| column.kind == Kind::Date);
        let part = |name: &str, part: &str| (Cow::from(format!("{name}.{part}")), Kind::Date);
        let parts = dates.flat_map(|column| PARTS.map(|name| part(&column.name, name)));
        Self(own.chain(parts).collect())
    }
}

impl<'a> FeatureKey<'a> {
    /// The feature with this text, as stored in files, given the known columns. The longest matching column name is
    /// taken. If no column is known by name, as in JSON, the column ends at the first `=`.
    pub fn parse(text: &'a str, kinds: &ColumnKinds<'_>) -> Self {
        let kind = |name: &str| kinds.0.get(name).copied();
        if kinds.0.is_empty() || kind(text).is_some_and(|kind| kind != Kind::Text) {
            return Self::Number(text);
        }
        let parts = |at: usize| (&text[..at], &text[at + 1..]);
        let mut known = text.rmatch_indices('=').map(|(at, _)| parts(at));
        let known = known.find(|(name, _)| kind(name).is_some());
        match known.or_else(|| text.find('=').map(parts)) {
            None => Self::Number(text),
            Some((column, word)) if kind(column) == Some(Kind::Text) => Self::Word(column, word),
            Some((column, GAP)) => Self::Missing(column),
            Some((column, name)) if name.len() > 1 && needs_quotes(name.as_bytes()) => {
                Self::Is(column, &name[1..name.len() - 1])
            }
            Some((column, name)) => Self::Is(column, name),
        }
    }

    /// The text of the feature for display, hashing and files.
    pub fn text(self) -> String {
        match self {
            Self::Number(name) => name.to_owned(),
            Self::Is(column, name) if needs_quotes(name.as_bytes()) => {
                format!("{column}=\"{name}\"")
            }
            Self::Is(column, value) | Self::Word(column, value) => format!("{column}={value}"),
            Self::Missing(column) => format!("{column}={GAP}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FeatureKey::{Is, Missing, Number, Word};
    use super::*;

    #[test]
    fn texts_come_back_as_what_they_were() {
        let column = |name: &str, kind| Column { name: name.to_owned(), kind };
        let columns = [
            column("color", Kind::Nominal),
            column("a=b", Kind::Nominal),
            column("note", Kind::Text),
            column("size", Kind::Numeric),
            column("b=c", Kind::Date),
        ];
        let kinds = ColumnKinds::new(&columns);
        for key in [
            Number("size"),
            Number("other"),
            Missing("size"),
            Missing("color"),
            Is("color", "red"),
            Is("color", "missing"),
            Is("color", "\"missing\""),
            Is("color", "\"\"missing\"\""),
            Is("color", "\"missing"),
            Is("color", "is missing"),
            Is("color", "\"red\""),
            Is("color", "\""),
            Is("color", ""),
            Is("color", "x=y"),
            Is("a=b", "missing"),
            Missing("a=b"),
            Word("note", "missing"),
            Is("job", "cook"),
            Is("b=c.weekday", "Mon"),
            Number("b=c.year"),
            Missing("b=c.days"),
        ] {
            let text = key.text();
            assert_eq!(FeatureKey::parse(&text, &kinds), key, "{text}");
        }
        assert_eq!(FeatureKey::parse("f^c=d", &ColumnKinds::new(&[])), Number("f^c=d"));
        assert_eq!(Is("color", "missing").text(), "color=\"missing\"");
        assert_eq!(Missing("color").text(), "color=missing");
    }
}
