//! Infers types and indices from column names and a sample.

use super::spelling::{Spelling, advice, is_missing_word};
use super::{Role, Table};
use crate::date::PARTS;
use crate::decision::Decision;
use crate::error::{ErrorKind, excerpt};
use crate::schema::{Column, Dictionary, Features, Kind, Labels};
use crate::words::Texts;
use crate::{Carry, Label};

/// Statistics of the first rows, by column.
#[derive(Debug, Default)]
pub(in crate::formats) struct Sample {
    /// Number of cells in the first row.
    pub(in crate::formats) width: usize,
    rows: usize,
    columns: Vec<Seen>,
}

#[derive(Debug, Clone, Default)]
struct Seen {
    numbers: usize,
    missing: usize,
    texts: Texts,
    /// Number of texts that are usual words for a missing number.
    words: usize,
    /// The first other text and its row, from 1.
    first: Option<(Vec<u8>, usize)>,
    /// Number of texts that a person would take for numbers.
    nearly: usize,
}

/// A cell as counted in the sample.
pub(in crate::formats) enum Sight<'a> {
    Missing,
    /// A number of any value.
    Number,
    Text(&'a [u8]),
    /// A usual word for a missing number.
    Word(&'a [u8]),
}

impl<'a> Sight<'a> {
    /// Classifies a text in a file that does not declare types.
    pub(in crate::formats) fn of(text: &'a [u8], spelling: Spelling) -> Self {
        match () {
            () if is_missing_word(text) => Self::Word(text),
            () if spelling.number(text).is_some() => Self::Number,
            () => Self::Text(text),
        }
    }
}

impl Sample {
    pub(in crate::formats) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Counts a row. Rows with another width than the first are faults and are reported when the row is read.
    pub(in crate::formats) fn add<'a>(&mut self, cells: impl ExactSizeIterator<Item = Sight<'a>>) {
        if self.rows == 0 {
            self.width = cells.len();
            self.columns = vec![Seen::default(); self.width];
        }
        if cells.len() != self.width {
            return;
        }
        self.rows += 1;
        for (seen, cell) in self.columns.iter_mut().zip(cells) {
            match cell {
                Sight::Missing => seen.missing += 1,
                Sight::Number => seen.numbers += 1,
                Sight::Word(text) => {
                    seen.words += 1;
                    seen.texts.add(text);
                }
                Sight::Text(text) => {
                    seen.texts.add(text);
                    seen.nearly += usize::from(advice(text).is_some());
                    seen.first.get_or_insert_with(|| (text.to_vec(), self.rows));
                }
            }
        }
    }

    fn kind(&self, column: usize) -> Kind {
        match self.columns.get(column) {
            Some(Seen { numbers: 1.., first: None, .. }) => Kind::Numeric,
            Some(Seen { first: None, .. }) | None => Kind::Undecided,
            Some(Seen { numbers: 0, texts, words, .. })
                if texts.dates > 0 && texts.dates == texts.values - words =>
            {
                Kind::Date
            }
            Some(Seen { texts, .. }) if texts.are_free() => Kind::Text,
            Some(_) => Kind::Nominal,
        }
    }

    fn has_missing(&self, column: usize) -> bool {
        self.columns.get(column).is_none_or(|seen| seen.missing + seen.words > 0)
    }

    /// A warning about a column of names that was perhaps meant to hold numbers, because most of its fields are, or
    /// look like, numbers.
    fn doubt(&self, k: usize, column: &str) -> Option<Decision> {
        let Seen { numbers, texts, words, first, nearly, .. } = self.columns.get(k)?;
        let (found, row) = first.as_ref()?;
        let others = texts.values - words;
        let meant = *numbers > others || 10 * nearly > 9 * others;
        meant.then(|| Decision::Names {
            column: column.to_owned(),
            found: excerpt(found),
            row: *row,
            others,
            numbers: *numbers,
            advice: advice(found),
        })
    }
}

impl Table {
    /// Takes the names of the file's columns and finds the label among them.
    pub(in crate::formats) fn name_columns(&mut self, names: Vec<String>) -> Result<(), ErrorKind> {
        if self.inferred && self.schema.is_by_name() {
            return self.name_features(names);
        }
        self.name_table(names)
    }

    /// Takes the column names of a file. The features of its schema, if there is one, belong to columns.
    pub(in crate::formats) fn name_table(&mut self, names: Vec<String>) -> Result<(), ErrorKind> {
        self.check_asked(&names)?;
        if self.inferred {
            self.match_columns(&names)?;
        } else {
            let label = self.find_label(&names)?;
            let rules = &self.rules;
            let kind = |k: usize, name: &String| match () {
                () if Some(k) == label => Kind::Label,
                () if rules.weight.as_ref() == Some(name) => Kind::Weight,
                () if rules.ignore.contains(name) => Kind::Ignored,
                () if rules.nominal.contains(name) => Kind::Nominal,
                () if rules.text.contains(name) => Kind::Text,
                () => Kind::Undecided,
            };
            self.schema.columns = names
                .iter()
                .enumerate()
                .map(|(k, name)| Column { name: name.clone(), kind: kind(k, name) })
                .collect();
        }
        self.names = names;
        Ok(())
    }

    /// Takes the column names of a file whose schema knows features by name, not by column. Types are inferred, except
    /// for nominal and text columns that the schema knows.
    pub(in crate::formats) fn name_features(
        &mut self,
        names: Vec<String>,
    ) -> Result<(), ErrorKind> {
        self.check_asked(&names)?;
        if let Features::Exact(own) = &self.schema.features {
            let columns =
                names.iter().map(String::as_str).collect::<std::collections::HashSet<_>>();
            let column = |name: &str| {
                let parts = name.match_indices('=').map(|(at, _)| &name[..at]);
                parts.chain([name]).any(|part| columns.contains(part))
            };
            if !own.is_empty() && !own.names().any(column) {
                let columns = own.names().take(10).map(str::to_owned).collect();
                let name = names.first().cloned().unwrap_or_default();
                return Err(ErrorKind::ExtraColumn { name, columns });
            }
        }
        let known = std::mem::take(&mut self.schema.columns);
        let kind = |name: &String| {
            let known = known.iter().find(|column| column.name == *name);
            known.map_or(Kind::Undecided, |column| column.kind)
        };
        let columns = names.iter().map(|name| Column { name: name.clone(), kind: kind(name) });
        self.schema.columns = columns.collect();
        self.inferred = false;
        self.names = names;
        Ok(())
    }

    /// Takes the column names of a later file. It must have the same columns, in any order.
    pub(in crate::formats) fn later_names(&mut self, names: Vec<String>) -> Result<(), ErrorKind> {
        let known = &self.names;
        if names == *known {
            return Ok(());
        }
        let mut order: Vec<usize> =
            names.iter().filter_map(|name| known.iter().position(|k| k == name)).collect();
        let mut distinct = order.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() != known.len() || names.len() != known.len() {
            let differs = |k: &usize| names.get(*k) != known.get(*k);
            let k = (0..names.len().max(known.len())).find(differs).unwrap_or(0);
            return Err(ErrorKind::Header {
                column: k + 1,
                found: names.get(k).cloned().unwrap_or_default(),
                expected: known.get(k).cloned().unwrap_or_default(),
            });
        }
        if self.roles.is_empty() {
            // No row was read yet. If types are still to be inferred, number the columns as in the file with the rows.
            if !self.inferred {
                self.schema.columns =
                    order.iter().map(|&k| self.schema.columns[k].clone()).collect();
            }
            order.clear();
        }
        self.roles = order.into_iter().map(|k| self.roles[k]).collect();
        self.names = names;
        Ok(())
    }

    /// Checks that column names are distinct, that requested columns exist, and that each has only one requested role.
    fn check_asked(&self, names: &[String]) -> Result<(), ErrorKind> {
        if let Some(k) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return Err(ErrorKind::DuplicateColumn { name: names[k].clone() });
        }
        let rules = &self.rules;
        let label = match &rules.label {
            Label::Named(name) => Some(name),
            _ => None,
        };
        let lists = [(&rules.nominal, "nominal"), (&rules.text, "text"), (&rules.ignore, "ignore")];
        let listed =
            lists.iter().flat_map(|(list, flag)| list.iter().map(move |name| (name, *flag)));
        let weight = rules.weight.iter().map(|name| (name, "weight"));
        let asked: Vec<(&String, &'static str)> = weight.chain(listed).collect();
        for (k, &(name, flag)) in asked.iter().enumerate() {
            // A label may hold names, even if they look like numbers.
            let as_label = (label == Some(name) && flag != "nominal").then_some("label");
            let before =
                asked[..k].iter().find(|(other, as_what)| *other == name && *as_what != flag);
            if let Some(first) = as_label.or(before.map(|(_, flag)| *flag)) {
                return Err(ErrorKind::TwoRoles { column: name.clone(), first, second: flag });
            }
            let optional = flag == "weight" && rules.unlabelled;
            if !optional && !names.contains(name) {
                return Err(ErrorKind::NoColumn { name: name.clone(), columns: names.to_vec() });
            }
        }
        Ok(())
    }

    fn find_label(&self, names: &[String]) -> Result<Option<usize>, ErrorKind> {
        let find = |wanted: &str| names.iter().position(|name| name == wanted);
        let free = |guess: &&str| {
            let taken = self.rules.ignore.iter().chain(&self.rules.weight).chain(&self.rules.text);
            !taken.into_iter().any(|name| name == guess)
        };
        let (found, wanted) = match &self.rules.label {
            Label::Absent => return Ok(None),
            Label::Named(wanted) => (find(wanted), Some(wanted.clone())),
            Label::Guess => (Labels::GUESSES.into_iter().filter(free).find_map(find), None),
        };
        if found.is_none() && !(self.rules.unlabelled && wanted.is_none()) {
            return Err(ErrorKind::NoLabelColumn { wanted, columns: names.to_vec() });
        }
        Ok(found)
    }

    /// Checks that all columns of an earlier reading exist, in any order, and that all others are ignored by name.
    fn match_columns(&mut self, names: &[String]) -> Result<(), ErrorKind> {
        let columns = &self.schema.columns;
        let may_be_absent = self.rules.optional.as_deref().unwrap_or_default();
        for column in columns {
            let optional = match column.kind {
                _ if may_be_absent.contains(&column.name) => true,
                Kind::Ignored => true,
                Kind::Label => self.rules.unlabelled || self.rules.label == Label::Absent,
                Kind::Weight => self.rules.unlabelled,
                _ => false,
            };
            if !optional && !names.contains(&column.name) {
                return Err(ErrorKind::NoColumn {
                    name: column.name.clone(),
                    columns: names.to_vec(),
                });
            }
        }
        let extra = |name: &&String| {
            !columns.iter().any(|c| c.name == **name) && !self.rules.ignore.contains(*name)
        };
        let carried = |name: &&String| matches!(&self.rules.carry, Carry::Named(names) if names.contains(*name));
        if self.rules.optional.is_some() {
            let extra: Vec<String> =
                names.iter().filter(extra).filter(|name| !carried(name)).cloned().collect();
            let absent = |column: &&Column| {
                !names.contains(&column.name) && may_be_absent.contains(&column.name)
            };
            let absent: Vec<String> =
                columns.iter().filter(absent).map(|column| column.name.clone()).collect();
            if !extra.is_empty() || !absent.is_empty() {
                self.decisions.push(Decision::Columns { extra, absent });
            }
        } else if let Some(name) = names.iter().filter(extra).find(|name| !carried(name)) {
            return Err(ErrorKind::ExtraColumn {
                name: name.clone(),
                columns: columns.iter().map(|c| c.name.clone()).collect(),
            });
        }
        self.schema.agrees(&self.rules.nominal, &self.rules.text, self.rules.weight.as_ref())
    }

    /// Infers types from the sample.
    fn infer(&mut self) {
        let names: Vec<String> = self.schema.columns.iter().map(|c| c.name.clone()).collect();
        let is_free =
            |column: &str| PARTS.iter().all(|part| !names.contains(&format!("{column}.{part}")));
        for (k, column) in self.schema.columns.iter_mut().enumerate() {
            match column.kind {
                Kind::Undecided => {
                    column.kind = self.sample.kind(k);
                    let given = self.dates.contains(&k) && column.kind != Kind::Nominal;
                    if given || column.kind == Kind::Date {
                        column.kind = Kind::Date;
                        if is_free(&column.name) {
                            self.decisions.push(Decision::Dates { column: column.name.clone() });
                        } else {
                            // The names of its parts are in use.
                            column.kind = if given { Kind::Numeric } else { Kind::Nominal };
                        }
                    }
                    if column.kind == Kind::Text {
                        let texts = &self.sample.columns[k].texts;
                        self.decisions.push(Decision::text(&column.name, texts));
                    }
                    if column.kind == Kind::Nominal {
                        self.decisions.extend(self.sample.doubt(k, &column.name));
                    }
                }
                Kind::Label => {
                    let names = self.rules.nominal.contains(&column.name);
                    if names
                        || matches!(self.sample.kind(k), Kind::Nominal | Kind::Text | Kind::Date)
                    {
                        self.schema.labels = Labels::Names(Dictionary::default());
                    }
                }
                _ => {}
            }
        }
        self.inferred = true;
    }

    /// Determines the role of each of the file's columns from names and sample. Numeric columns get their indices now,
    /// in order.
    pub(in crate::formats) fn settle(&mut self) -> Result<(), ErrorKind> {
        if !self.inferred {
            self.infer();
        }
        self.carried = self.find_carried()?;
        let mut roles = Vec::with_capacity(self.names.len());
        for k in 0..self.names.len() {
            let column = self.schema.columns.iter().position(|c| c.name == self.names[k]);
            roles.push(match column {
                Some(column) if !self.rules.ignore.contains(&self.names[k]) => self.role(column)?,
                _ => Role::Ignored,
            });
        }
        let features = roles.iter().filter(|role| matches!(role, Role::Number { .. })).count();
        let plain = |(k, role): (usize, &Role)| match role {
            Role::Number { .. } => self.sample.is_empty() || !self.sample.has_missing(k),
            Role::Label | Role::Weight | Role::Ignored => true,
            _ => false,
        };
        let exact =
            matches!(&self.schema.features, Features::Exact(names) if names.len() == features);
        self.dense = (exact && features > 0 && roles.iter().enumerate().all(plain))
            .then(|| vec![0.0; features]);
        self.roles = roles;
        // Columns declared as nominal stay nominal.
        let watched = |column: &Column| {
            let names = matches!(column.kind, Kind::Nominal | Kind::Undecided);
            (names && !self.rules.nominal.contains(&column.name)).then(Texts::default)
        };
        self.recent = self.schema.columns.iter().map(watched).collect();
        Ok(())
    }

    /// The columns that are carried.
    fn find_carried(&self) -> Result<Vec<usize>, ErrorKind> {
        let find = |name: &String| {
            let columns = || self.names.clone();
            let at = self.names.iter().position(|own| own == name);
            at.ok_or_else(|| ErrorKind::NoColumn { name: name.clone(), columns: columns() })
        };
        match &self.rules.carry {
            Carry::Nothing => Ok(Vec::new()),
            Carry::Named(names) => names.iter().map(find).collect(),
            Carry::All => Ok((0..self.names.len()).collect()),
        }
    }

    /// Whether this column of the file is not read, regardless of its content.
    pub(in crate::formats) fn ignores(&self, k: usize) -> bool {
        let Some(name) = self.names.get(k) else { return true };
        let known = self.schema.columns.iter().find(|column| column.name == *name);
        self.rules.ignore.contains(name)
            || known.is_none_or(|column| match column.kind {
                Kind::Ignored => true,
                Kind::Label => self.rules.label == Label::Absent,
                _ => false,
            })
    }

    /// Fixes the kind of a column that is still undecided.
    pub(in crate::formats) fn decide(&mut self, k: usize, kind: Kind) -> Result<(), ErrorKind> {
        if let Some(&Role::Undecided { column }) = self.roles.get(k) {
            self.schema.columns[column].kind = kind;
            self.roles[k] = self.role(column)?;
        }
        Ok(())
    }

    /// The role of a column of the schema.
    pub(super) fn role(&mut self, column: usize) -> Result<Role, ErrorKind> {
        Ok(match self.schema.columns[column].kind {
            Kind::Label if self.rules.label == Label::Absent => Role::Ignored,
            Kind::Label => Role::Label,
            Kind::Weight => Role::Weight,
            Kind::Ignored => Role::Ignored,
            Kind::Nominal => Role::Name { column },
            Kind::Text => Role::Text { column },
            Kind::Date => {
                let name = &self.schema.columns[column].name;
                self.parts.insert(column, PARTS.map(|part| format!("{name}.{part}")));
                Role::Date { column }
            }
            Kind::Undecided => Role::Undecided { column },
            Kind::Numeric => {
                let name = self.schema.columns[column].name.as_bytes();
                Role::Number { column, index: self.schema.features.named(name)? }
            }
        })
    }
}
