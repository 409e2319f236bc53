//! Translates the numbering of a file to that of the reader. Features and classes are matched by name.

use std::collections::HashMap;

use geowalk::row::{Block, Row};

use super::broken;
use super::known::{self, Kinds, News};
use crate::error::ErrorKind;
use crate::schema::{Column, Dictionary, Features, Hashed, Kind, Labels, Schema};
use crate::{Indexing, Label, Options};

/// The schema of the reader, and the mapping from the numbers of the file to it.
pub(super) struct Translation {
    schema: Option<Schema>,
    /// Whether the schema comes from the first file and grows with it.
    own: bool,
    options: Options,
    features: Numbers,
    labels: Numbers,
    /// Number of hash bits of this file.
    bits: Option<u32>,
    empty: Schema,
}

/// The new number of each name, indexed by its number in the file.
#[derive(Debug, Default)]
struct Numbers {
    new: Vec<u32>,
    /// Column of each gap that is replaced by a number.
    gaps: HashMap<usize, String>,
    /// Whether all numbers are unchanged.
    same: bool,
}

impl Numbers {
    fn clear(&mut self) {
        self.new.clear();
        self.gaps.clear();
        self.same = true;
    }

    fn add(&mut self, number: u32) {
        self.same &= number as usize == self.new.len();
        self.new.push(number);
    }
}

impl Translation {
    pub(super) fn new(mut options: Options) -> Self {
        let schema = options.schema.take();
        Self {
            schema,
            own: false,
            options,
            features: Numbers::default(),
            labels: Numbers::default(),
            bits: None,
            empty: Schema::from_parts(
                Features::Exact(Dictionary::default()),
                Labels::Numbers,
                Vec::new(),
            ),
        }
    }

    /// The schema of the reader.
    pub(super) fn schema(&self) -> &Schema {
        self.schema.as_ref().unwrap_or(&self.empty)
    }

    /// Starts a new file.
    pub(super) fn begin(&mut self, payload: &[u8]) -> Result<(), ErrorKind> {
        self.features.clear();
        self.labels.clear();
        let news = known::news(payload)?;
        self.agrees(&news)?;
        self.own = self.schema.is_none();
        if self.own {
            let labels = match &news.labels {
                None => Labels::Numbers,
                Some(_) => Labels::Names(Dictionary::default()),
            };
            let features = match &news.features {
                Kinds::Hashed(bits) => Features::Hashed(Hashed::new(*bits)?),
                Kinds::Exact(_) => Features::Exact(Dictionary::default()),
                Kinds::Index(index) => Features::Index(*index),
            };
            let schema = Schema::from_parts(features, labels, news.columns.clone());
            self.schema = Some(schema.with_missing(news.missing.iter().cloned()));
        }
        self.bits = match news.features {
            Kinds::Hashed(bits) => Some(bits),
            Kinds::Exact(_) | Kinds::Index(_) => None,
        };
        self.take(news)
    }

    /// Adds what became known.
    pub(super) fn learn(&mut self, payload: &[u8]) -> Result<(), ErrorKind> {
        self.take(known::news(payload)?)
    }

    /// Ends the file. Returns the number of rows that were skipped during conversion.
    pub(super) fn end(&mut self, payload: &[u8]) -> Result<u64, ErrorKind> {
        let (skipped, hashed) = known::end(payload, self.bits)?;
        if let (Some(hashed), Some(schema)) = (hashed, &mut self.schema)
            && let Features::Hashed(own) = &mut schema.features
        {
            own.absorb(hashed)?;
        }
        Ok(skipped)
    }

    /// Checks that options for reading text agree with those of the conversion.
    fn agrees(&self, news: &News<'_>) -> Result<(), ErrorKind> {
        let refuse =
            |option: &'static str, found: String| Err(ErrorKind::Converted { option, found });
        let label = news.columns.iter().find(|column| column.kind == Kind::Label);
        if let (Label::Named(asked), Some(label)) = (&self.options.label, label)
            && *asked != label.name
        {
            return refuse("--label", format!("the label '{}'", label.name));
        }
        let bits = match (self.options.indexing, &news.features) {
            (Indexing::Hashed(asked), Kinds::Hashed(bits)) => (asked != *bits).then_some(*bits),
            (Indexing::Hashed(_), _) => return refuse("--bits", "exact indices".to_owned()),
            (Indexing::Exact, Kinds::Hashed(bits)) => Some(*bits),
            _ => None,
        };
        if let Some(bits) = bits {
            return refuse("--bits", format!("{bits} bits of hash"));
        }
        if let (Some(asked), Kinds::Index(index)) = (self.options.index_base, &news.features)
            && asked != index.base
        {
            return refuse("--index-base", format!("indices from {}", index.base));
        }
        let roles = [
            ("--nominal", &self.options.nominal, Kind::Nominal),
            ("--text", &self.options.text, Kind::Text),
            ("--ignore", &self.options.ignore, Kind::Ignored),
        ];
        for (option, names, kind) in roles {
            for name in names {
                let column = news.columns.iter().find(|column| column.name == *name);
                match column.map(|column| column.kind) {
                    Some(known) if known == kind => {}
                    Some(Kind::Label) if kind == Kind::Nominal => {}
                    Some(known) => return refuse(option, format!("'{name}' as {}", known.name())),
                    None => return refuse(option, format!("no column '{name}'")),
                }
            }
        }
        let weight = news.columns.iter().find(|column| column.kind == Kind::Weight);
        match (&self.options.weight, weight) {
            (Some(asked), known) if known.is_none_or(|known| known.name != *asked) => {
                refuse("--weight", format!("another weight than '{asked}'"))
            }
            _ => match self.options.missing.iter().find(|text| !news.missing.contains(text)) {
                Some(text) => refuse("--missing", format!("'{text}' as a value")),
                None => Ok(()),
            },
        }
    }

    /// Adds the news to the schema.
    fn take(&mut self, news: News<'_>) -> Result<(), ErrorKind> {
        let Some(schema) = &mut self.schema else { return Ok(()) };
        if self.own {
            schema.columns = news.columns;
        } else {
            same_columns(schema, &news.columns, self.options.unlabelled)?;
        }
        match (&mut schema.labels, news.labels) {
            (Labels::Names(own), Some(names)) => {
                for name in names {
                    self.labels.add(own.insert(name.as_bytes())?);
                }
            }
            (Labels::Numbers, None) => {}
            _ if self.options.unlabelled => {}
            (Labels::Numbers, Some(_)) => return Err(other("names as labels", "numbers")),
            (Labels::Names(_), None) => return Err(other("numbers as labels", "names")),
        }
        let is_filling = schema.is_filling();
        match (&mut schema.features, news.features) {
            (Features::Exact(own), Kinds::Exact(names)) => {
                for name in names {
                    if is_filling
                        && let Some(column) = name.strip_suffix("=missing")
                        && own.find(column).is_some()
                        && own.find(name).is_none()
                    {
                        self.features.gaps.insert(self.features.new.len(), column.to_owned());
                    }
                    self.features.add(own.insert(name.as_bytes())?);
                }
                Ok(())
            }
            (Features::Hashed(own), Kinds::Hashed(bits)) if own.bits() == bits => Ok(()),
            (Features::Index(own), Kinds::Index(index)) if own.base == index.base => Ok(()),
            (own, found) => {
                let found = match found {
                    Kinds::Hashed(bits) => format!("{bits} bits of hash"),
                    Kinds::Exact(_) => "exact names".to_owned(),
                    Kinds::Index(index) => format!("indices from {}", index.base),
                };
                let own = match own {
                    Features::Hashed(hashed) => format!("{} bits of hash", hashed.bits()),
                    Features::Exact(_) => "exact names".to_owned(),
                    Features::Index(index) => format!("indices from {}", index.base),
                };
                Err(other(&found, &own))
            }
        }
    }

    /// Renumbers the features and labels of a block.
    pub(super) fn apply(&mut self, block: &mut Block) -> Result<(), ErrorKind> {
        let unknown = || broken("a feature or class without a name");
        if !self.labels.new.is_empty() {
            for label in block.labels_mut() {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a number of a class"
                )]
                if !label.is_nan() {
                    let new = self.labels.new.get(*label as usize).ok_or_else(unknown)?;
                    *label = f64::from(*new);
                }
            }
        }
        let Some(schema) = &mut self.schema else { return Ok(()) };
        let limit = match &schema.features {
            Features::Exact(_) => self.features.new.len(),
            Features::Hashed(hashed) => 1 << hashed.bits(),
            Features::Index(_) => usize::MAX,
        };
        if block.bound() > limit {
            return Err(unknown());
        }
        if self.features.same && self.features.gaps.is_empty() {
            return Ok(());
        }
        let old = std::mem::take(block);
        for row in 0..old.len() {
            // The index is within the limit, so it has a new number.
            let mut put = |index: usize, value| {
                let column = self.features.gaps.get(&index).filter(|_| value != 0.0);
                match column.and_then(|column| schema.fill(column)) {
                    Some((index, mean)) => block.feature(index, mean),
                    None => block.feature(self.features.new[index], value),
                }
            };
            if old.columns().is_some() {
                old.dense(row).each(&mut put);
            } else {
                old.sparse(row).each(&mut put);
            }
            block.end(old.labels()[row], old.weights()[row]);
        }
        Ok(())
    }
}

/// The error for a file whose conversion does not match the schema.
fn other(found: &str, known: &str) -> ErrorKind {
    ErrorKind::OtherForm { found: found.to_owned(), known: known.to_owned() }
}

/// Checks that the columns are those of the schema, in any order. Undecided columns of the schema may be decided here.
fn same_columns(schema: &mut Schema, found: &[Column], unlabelled: bool) -> Result<(), ErrorKind> {
    let names = |columns: &[Column]| columns.iter().map(|column| column.name.clone()).collect();
    let matters = |kind| match kind {
        Kind::Ignored => false,
        Kind::Label | Kind::Weight => !unlabelled,
        _ => true,
    };
    for column in found {
        let own = schema.columns.iter().position(|own| own.name == column.name);
        match own.map(|at| &mut schema.columns[at]) {
            None if !matters(column.kind) => {}
            None => {
                let columns = names(&schema.columns);
                return Err(ErrorKind::ExtraColumn { name: column.name.clone(), columns });
            }
            Some(own) if own.kind == column.kind || !matters(column.kind) => {}
            Some(own) if own.kind == Kind::Undecided => own.kind = column.kind,
            Some(_) if column.kind == Kind::Undecided => {}
            Some(own) => {
                return Err(ErrorKind::OtherKind {
                    column: column.name.clone(),
                    asked: column.kind.name(),
                    known: own.kind.name(),
                });
            }
        }
    }
    let gone = |own: &&Column| matters(own.kind) && !found.iter().any(|c| c.name == own.name);
    match schema.columns.iter().find(gone) {
        Some(own) => Err(ErrorKind::NoColumn { name: own.name.clone(), columns: names(found) }),
        None => Ok(()),
    }
}
