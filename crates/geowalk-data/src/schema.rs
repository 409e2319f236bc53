//! # Schema
//! The meaning of the numbers in a block: columns and their types, the feature of each index, the class of each label.
//!
//! A schema is plain data and can be built from its parts. So a model can store it, and a later run gives the same
//! indices to the same names.

mod dictionary;
mod hashed;
mod key;
mod names;
mod shadow;
mod task;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

pub use dictionary::Dictionary;
pub use hashed::{Collisions, Hashed};
pub use key::{ColumnKinds, FeatureKey};
pub(crate) use key::{GAP, needs_quotes};
pub(crate) use shadow::{Journal, Shadow};
pub use task::{Inference, Reason, Task};

use crate::decision::Decision;
use crate::error::{Base, ErrorKind, excerpt};

/// The meaning of the numbers in a block.
///
/// ```
/// use geowalk_data::{Features, Input, Options, open};
/// let csv = "size,color,class\n1.5,red,yes\n2,blue,no\n";
/// let mut source = open(Options::new([Input::text("a.csv", csv)]))?;
/// source.read(&mut geowalk::row::Block::new(), 10)?;
/// let schema = source.schema();
/// assert_eq!(schema.features().name(0).as_deref(), Some("size"));
/// assert_eq!(schema.features().name(2).as_deref(), Some("color=blue"));
/// assert_eq!(schema.labels().name(1.0), Some("no"));
/// # Ok::<(), geowalk_data::DataError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Schema {
    pub(crate) features: Features,
    pub(crate) labels: Labels,
    pub(crate) columns: Vec<Column>,
    pub(crate) missing: Vec<String>,
    filling: Option<Filling>,
}

/// Replacements for missing numbers in columns that had none when a model was fitted.
#[derive(Debug, Clone)]
struct Filling {
    /// The mean of each such feature.
    means: HashMap<u32, f64>,
    /// How often each mean was used.
    used: BTreeMap<u32, u64>,
}

impl Schema {
    /// A schema with the given parts.
    pub fn from_parts(features: Features, labels: Labels, columns: Vec<Column>) -> Self {
        Self { features, labels, columns, missing: Vec::new(), filling: None }
    }

    /// A copy in which these fields of a table also count as missing.
    #[must_use]
    pub fn with_missing(mut self, missing: impl IntoIterator<Item = String>) -> Self {
        for field in missing {
            if !self.missing.contains(&field) {
                self.missing.push(field);
            }
        }
        self
    }

    /// A copy in which missing numbers of these columns are replaced by the mean. A fitted model needs this: a column
    /// without missing numbers in training has no weight for a gap.
    #[must_use]
    pub fn filling_gaps(mut self, means: &BTreeMap<String, f64>) -> Self {
        let feature = |(name, mean): (&String, &f64)| {
            let gap = self.features.find(FeatureKey::Missing(name));
            self.features
                .find(FeatureKey::Number(name))
                .filter(|_| gap.is_none())
                .map(|index| (index, *mean))
        };
        let means = means.iter().filter_map(feature).collect();
        self.filling = Some(Filling { means, used: BTreeMap::new() });
        self
    }

    pub(crate) fn is_filling(&self) -> bool {
        self.filling.is_some()
    }

    /// The feature and value that replace a missing number of this column, if it is one of [`Self::filling_gaps`].
    /// Every call is counted.
    pub fn fill(&mut self, column: &str) -> Option<(u32, f64)> {
        let index =
            self.filling.as_ref().and_then(|_| self.features.find(FeatureKey::Number(column)))?;
        let filling = self.filling.as_mut()?;
        let mean = *filling.means.get(&index)?;
        *filling.used.entry(index).or_default() += 1;
        Some((index, mean))
    }

    /// Summary of the replacements made by [`Self::fill`].
    pub fn filled(&self) -> Option<Decision> {
        let used = &self.filling.as_ref()?.used;
        Some(Decision::Filled {
            fields: used.values().sum(),
            column: self.features.name(*used.first_key_value()?.0)?.into_owned(),
            columns: used.len(),
        })
    }

    /// Fields of a table that count as missing, in addition to the empty field.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// The features.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Mutable features, for callers that do not read a file.
    pub fn features_mut(&mut self) -> &mut Features {
        &mut self.features
    }

    /// The meaning of labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Mutable labels, for callers that do not read a file.
    pub fn labels_mut(&mut self) -> &mut Labels {
        &mut self.labels
    }

    /// The columns of a table, in order. For JSON: the label, the weight, text, and names that look like numbers. None
    /// for LIBSVM and VW.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Appends a column, unless the name is in use.
    pub fn add_column(&mut self, name: &str, kind: Kind) {
        if self.columns.iter().all(|column| column.name != name) {
            self.columns.push(Column { name: name.to_owned(), kind });
        }
    }

    /// Name of the label column.
    pub fn label(&self) -> Option<&str> {
        self.of_kind(Kind::Label).next()
    }

    /// Names of the columns of this kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.columns.iter().filter(move |c| c.kind == kind).map(|c| c.name.as_str())
    }

    /// Refuses options that give a column another kind than it has here.
    pub(crate) fn agrees(
        &self,
        nominal: &[String],
        text: &[String],
        weight: Option<&String>,
    ) -> Result<(), ErrorKind> {
        let nominal = nominal.iter().map(|name| (name, Kind::Nominal));
        let text = text.iter().map(|name| (name, Kind::Text));
        for (name, asked) in nominal.chain(text).chain(weight.map(|name| (name, Kind::Weight))) {
            let known = self.columns.iter().find(|c| c.name == *name);
            let known = known.map_or(Kind::Undecided, |column| column.kind);
            if known != asked && (known, asked) != (Kind::Label, Kind::Nominal) {
                return Err(ErrorKind::OtherKind {
                    column: name.clone(),
                    asked: asked.name(),
                    known: known.name(),
                });
            }
        }
        Ok(())
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name of the column.
    pub name: String,
    /// Kind of the values.
    pub kind: Kind,
}

/// The kind of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Numbers: one feature with the name of the column.
    Numeric,
    /// Names: one feature `column=value` per value.
    Nominal,
    /// Free text: one feature `column=word` per word.
    Text,
    /// Dates: numeric features `column.year`, `column.month` and `column.days` (since 1970-01-01), and a feature
    /// `column.weekday=Mon` for each day of the week.
    Date,
    /// No value yet; the first one decides.
    Undecided,
    /// The label.
    Label,
    /// The importance weight.
    Weight,
    /// Not read.
    Ignored,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Numeric,
        Self::Nominal,
        Self::Text,
        Self::Date,
        Self::Undecided,
        Self::Label,
        Self::Weight,
        Self::Ignored,
    ];

    /// Name of the kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Numeric => "numeric",
            Self::Nominal => "nominal",
            Self::Text => "text",
            Self::Date => "date",
            Self::Undecided => "undecided",
            Self::Label => "label",
            Self::Weight => "weight",
            Self::Ignored => "ignored",
        }
    }

    /// The kind with this name.
    ///
    /// ```
    /// use geowalk_data::Kind;
    /// assert_eq!(Kind::named("text"), Some(Kind::Text));
    /// assert_eq!(Kind::named("prose"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The meaning of a label.
#[derive(Debug, Clone)]
pub enum Labels {
    /// The label is a number.
    Numbers,
    /// The label is the index of a class name, in order of first appearance.
    Names(Dictionary),
}

impl Labels {
    /// Names of columns that are taken for the label, in order of preference.
    pub const GUESSES: [&str; 4] = ["class", "label", "target", "y"];

    /// The class name of a label, if labels are names.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "saturates; such names do not exist"
    )]
    pub fn name(&self, label: f64) -> Option<&str> {
        match self {
            Self::Names(names) if label == label.floor() && label >= 0.0 => {
                names.name(label as u32)
            }
            Self::Names(_) | Self::Numbers => None,
        }
    }
}

/// How features are indexed.
#[derive(Debug, Clone)]
pub enum Features {
    /// By the hash of the name.
    Hashed(Hashed),
    /// By the index of the name in a dictionary.
    Exact(Dictionary),
    /// By the index in the file, minus the base.
    Index(Index),
}

impl Features {
    /// The name of a feature, if it is known.
    pub fn name(&self, index: u32) -> Option<Cow<'_, str>> {
        match self {
            Self::Hashed(hashed) => hashed.name(index).map(Cow::Borrowed),
            Self::Exact(names) => names.name(index).map(Cow::Borrowed),
            Self::Index(Index { base, .. }) => {
                Some(Cow::Owned((u64::from(index) + u64::from(*base)).to_string()))
            }
        }
    }

    /// For hashed features, the number of bits and the count of collisions.
    pub fn collisions(&self) -> Option<(u32, Collisions)> {
        match self {
            Self::Hashed(hashed) => Some((hashed.bits(), hashed.collisions())),
            Self::Exact(_) | Self::Index(_) => None,
        }
    }

    /// The index of a feature; a new feature gets a new index.
    ///
    /// ```
    /// use geowalk_data::{Dictionary, FeatureKey, Features};
    /// let mut features = Features::Exact(Dictionary::default());
    /// let (size, red) = (FeatureKey::Number("size"), FeatureKey::Is("color", "red"));
    /// assert_eq!((features.place(size)?, features.place(red)?), (0, 1));
    /// assert_eq!((features.find(red), features.find(FeatureKey::Number("color"))), (Some(1), None));
    /// # Ok::<(), geowalk_data::ErrorKind>(())
    /// ```
    pub fn place(&mut self, key: FeatureKey<'_>) -> Result<u32, ErrorKind> {
        match (self, key) {
            (Self::Hashed(hashed), FeatureKey::Number(name)) if name.contains('^') => {
                let (space, name) = name.split_once('^').unwrap_or(("", name));
                hashed.place(space, name)
            }
            (Self::Index(index), FeatureKey::Number(name)) => {
                match hashed::whole(name.as_bytes()) {
                    Some(number) => Counted::known(*index).number(Namespace::NONE, b"", number),
                    None => Err(ErrorKind::NotAFeature { found: excerpt(name.as_bytes()) }),
                }
            }
            (own, FeatureKey::Number(name)) => own.named(name.as_bytes()),
            (own, FeatureKey::Is(column, name)) => own.is(column.as_bytes(), name.as_bytes()),
            (own, FeatureKey::Word(column, word)) => own.joined(column.as_bytes(), word.as_bytes()),
            (own, FeatureKey::Missing(column)) => own.gap(column.as_bytes()),
        }
    }

    /// The index of a feature, if it has one. Adds nothing.
    pub fn find(&self, key: FeatureKey<'_>) -> Option<u32> {
        let text;
        let name = if let FeatureKey::Number(name) = key {
            name
        } else {
            text = key.text();
            &text
        };
        match self {
            Self::Exact(names) => names.find(name),
            Self::Hashed(hashed) => Some(match (name.split_once('^'), key) {
                (Some((space, name)), FeatureKey::Number(_)) => hashed.peek(space, name),
                _ => hashed.peek("", name),
            }),
            Self::Index(index) => {
                let number = hashed::whole(name.as_bytes())?;
                Counted::known(*index).number(Namespace::NONE, b"", number).ok()
            }
        }
    }

    /// The index of a name in a column.
    #[inline]
    pub(crate) fn is(&mut self, column: &[u8], name: &[u8]) -> Result<u32, ErrorKind> {
        if needs_quotes(name) {
            return self.joined(column, &[b"\"", name, b"\""].concat());
        }
        self.joined(column, name)
    }

    /// The index of the missing value of a column.
    pub(crate) fn gap(&mut self, column: &[u8]) -> Result<u32, ErrorKind> {
        self.joined(column, GAP.as_bytes())
    }

    /// The index of the feature `column=value`.
    pub(crate) fn joined(&mut self, column: &[u8], value: &[u8]) -> Result<u32, ErrorKind> {
        let parts = [column, b"=", value];
        match self {
            Self::Exact(names) => names.insert_joined(&parts),
            _ => self.named(&parts.concat()),
        }
    }

    /// The index of the feature with this name.
    pub(crate) fn named(&mut self, name: &[u8]) -> Result<u32, ErrorKind> {
        match self {
            Self::Exact(names) => names.insert(name),
            Self::Hashed(hashed) => match hashed::whole(name) {
                Some(number) => hashed.claim(number, b"", name),
                None => hashed.hash(0, b"", name),
            },
            Self::Index(_) => Err(ErrorKind::NotAFeature { found: excerpt(name) }),
        }
    }
}

/// Features that are identified by an index in the file.
///
/// ```
/// use geowalk_data::{Features, Index};
/// let features = Features::Index(Index { base: 1, detected: true });
/// assert_eq!(features.name(6).as_deref(), Some("7"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// The smallest index, 0 or 1.
    pub base: u32,
    /// Whether the base was inferred from the first rows.
    pub detected: bool,
}

impl Index {
    /// The largest index that is read for a model with such features: learners keep weights for all below it.
    pub const LIMIT: u64 = 1 << 25;
    /// From the first index of this size on, features are numbered as they are met.
    pub const WIDE: u64 = 1 << 24;
}

/// Features that are numbers in the file, and how far they go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    index: Index,
    /// The largest place that is given.
    limit: u64,
    /// One more than the largest place that was given.
    pub(crate) bound: u32,
}

impl Counted {
    /// For rows of a new file, whose features can still be numbered as they are met.
    pub(crate) fn fresh(index: Index) -> Self {
        Self { index, limit: Index::WIDE - 1 - u64::from(index.base), bound: 0 }
    }

    /// For a model that has such features.
    pub(crate) fn known(index: Index) -> Self {
        Self { index, limit: Index::LIMIT, bound: 0 }
    }

    #[cold]
    fn refuse(number: u64) -> ErrorKind {
        match number {
            0 => ErrorKind::IndexZero { told: Base::Option },
            found => ErrorKind::IndexTooLarge { found, limit: Index::LIMIT },
        }
    }
}

/// The prefix of the names that follow it in a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Namespace<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) seed: u64,
}

impl<'a> Namespace<'a> {
    pub(crate) const NONE: Self = Self { name: b"", seed: 0 };

    #[inline]
    pub(crate) fn new(name: &'a [u8]) -> Self {
        Self { name, seed: Hashed::seed(name) }
    }
}

/// Static dispatch over [`Features`], which keeps branches out of the loop over a row.
pub(crate) trait Place {
    /// The index of a feature whose name is a number.
    fn number(&mut self, space: Namespace<'_>, name: &[u8], number: u64) -> Result<u32, ErrorKind>;

    /// The index of any other feature.
    fn text(&mut self, space: Namespace<'_>, name: &[u8]) -> Result<u32, ErrorKind>;

    /// Replaces numbers by their indices, up to the first that needs more work. Returns how many were replaced.
    #[inline(always)]
    fn known(&mut self, _space: Namespace<'_>, _numbers: &mut [u32]) -> usize {
        0
    }
}

impl Place for Hashed {
    #[inline(always)]
    fn number(&mut self, space: Namespace<'_>, name: &[u8], number: u64) -> Result<u32, ErrorKind> {
        self.claim(space.seed.wrapping_add(number), space.name, name)
    }

    #[inline]
    fn text(&mut self, space: Namespace<'_>, name: &[u8]) -> Result<u32, ErrorKind> {
        self.hash(space.seed, space.name, name)
    }

    #[inline(always)]
    fn known(&mut self, space: Namespace<'_>, numbers: &mut [u32]) -> usize {
        hashed::known(self.all_prints(), self.bits(), self.sparse(), space.seed, numbers)
    }
}

impl Place for Dictionary {
    #[inline]
    fn number(
        &mut self,
        space: Namespace<'_>,
        name: &[u8],
        _number: u64,
    ) -> Result<u32, ErrorKind> {
        self.text(space, name)
    }

    #[inline]
    fn text(&mut self, space: Namespace<'_>, name: &[u8]) -> Result<u32, ErrorKind> {
        match space.name {
            [] => self.insert(name),
            prefix => self.insert_joined(&[prefix, b"^", name]),
        }
    }
}

impl Place for Counted {
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "the limit is below 2^32")]
    fn number(&mut self, _: Namespace<'_>, _: &[u8], number: u64) -> Result<u32, ErrorKind> {
        let place = number.wrapping_sub(u64::from(self.index.base));
        if place > self.limit {
            return Err(Self::refuse(number));
        }
        self.bound = self.bound.max(place as u32 + 1);
        Ok(place as u32)
    }

    #[cold]
    fn text(&mut self, _: Namespace<'_>, name: &[u8]) -> Result<u32, ErrorKind> {
        Err(ErrorKind::NotAFeature { found: excerpt(name) })
    }

    #[inline(always)]
    fn known(&mut self, _: Namespace<'_>, numbers: &mut [u32]) -> usize {
        let base = self.index.base;
        let least = numbers.iter().fold(u32::MAX, |least, number| least.min(*number));
        let most = numbers.iter().fold(0, |most, number| most.max(*number));
        if least < base || u64::from(most) > self.limit || numbers.is_empty() {
            return 0;
        }
        self.bound = self.bound.max(most - base + 1);
        for number in numbers.iter_mut() {
            *number -= base;
        }
        numbers.len()
    }
}
