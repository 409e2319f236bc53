//! From names and a sample to types and indices.

use super::{Csv, Role};
use crate::Label;
use crate::error::ErrorKind;
use crate::number;
use crate::schema::{Column, Dictionary, Features, Kind, Labels};

/// What the first rows show of each column.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// Number of fields of the first row.
    pub(super) width: usize,
    rows: usize,
    columns: Vec<Seen>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    numbers: usize,
    texts: usize,
    missing: usize,
}

impl Sample {
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Counts a row. Rows of another width than the first are faults, found later.
    pub(super) fn add<'a>(
        &mut self,
        fields: impl ExactSizeIterator<Item = &'a [u8]>,
        missing: &[String],
    ) {
        if self.rows == 0 {
            self.width = fields.len();
            self.columns = vec![Seen::default(); self.width];
        }
        if fields.len() != self.width {
            return;
        }
        self.rows += 1;
        for (seen, field) in self.columns.iter_mut().zip(fields) {
            if field.is_empty() || missing.iter().any(|m| m.as_bytes() == field) {
                seen.missing += 1;
            } else if number::field(field).is_some() {
                seen.numbers += 1;
            } else {
                seen.texts += 1;
            }
        }
    }

    fn kind(&self, column: usize) -> Kind {
        match self.columns.get(column) {
            Some(Seen { texts: 1.., .. }) => Kind::Nominal,
            Some(Seen { numbers: 1.., .. }) => Kind::Numeric,
            _ => Kind::Undecided,
        }
    }

    fn has_missing(&self, column: usize) -> bool {
        self.columns.get(column).is_none_or(|seen| seen.missing > 0)
    }
}

impl Csv {
    /// Takes the names of the file's columns; finds the label among them.
    pub(super) fn name_columns(&mut self, names: Vec<String>) -> Result<(), ErrorKind> {
        if let Some(k) = (1..names.len()).find(|&k| names[..k].contains(&names[k])) {
            return Err(ErrorKind::DuplicateColumn { name: names[k].clone() });
        }
        for asked in self.rules.nominal.iter().chain(&self.rules.ignore) {
            if !names.contains(asked) {
                return Err(ErrorKind::NoColumn { name: asked.clone(), columns: names });
            }
        }
        if self.inferred {
            self.match_columns(&names)?;
        } else {
            let label = self.find_label(&names)?;
            let kind = |k: usize, name: &String| match () {
                () if Some(k) == label => Kind::Label,
                () if self.rules.ignore.contains(name) => Kind::Ignored,
                () if self.rules.nominal.contains(name) => Kind::Nominal,
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

    fn find_label(&self, names: &[String]) -> Result<Option<usize>, ErrorKind> {
        let find = |wanted: &str| names.iter().position(|name| name == wanted);
        let (found, wanted) = match &self.rules.label {
            Label::Absent => return Ok(None),
            Label::Named(wanted) => (find(wanted), Some(wanted.clone())),
            Label::Guess => (Labels::GUESSES.into_iter().find_map(find), None),
        };
        if found.is_none() && !(self.rules.unlabelled && wanted.is_none()) {
            return Err(ErrorKind::NoLabelColumn { wanted, columns: names.to_vec() });
        }
        Ok(found)
    }

    /// The columns of an earlier reading must all be there, in whatever order; others must be ignored by name.
    fn match_columns(&self, names: &[String]) -> Result<(), ErrorKind> {
        let columns = &self.schema.columns;
        for column in columns {
            let optional = match column.kind {
                Kind::Ignored => true,
                Kind::Label => self.rules.unlabelled || self.rules.label == Label::Absent,
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
        match names.iter().find(extra) {
            Some(name) => Err(ErrorKind::ExtraColumn {
                name: name.clone(),
                columns: columns.iter().map(|c| c.name.clone()).collect(),
            }),
            None => Ok(()),
        }
    }

    /// Types from the sample.
    pub(super) fn infer(&mut self) {
        for (k, column) in self.schema.columns.iter_mut().enumerate() {
            match column.kind {
                Kind::Undecided => column.kind = self.sample.kind(k),
                Kind::Label => {
                    let names = self.rules.nominal.contains(&column.name);
                    if names || self.sample.kind(k) == Kind::Nominal {
                        self.schema.labels = Labels::Names(Dictionary::default());
                    }
                }
                _ => {}
            }
        }
        self.inferred = true;
    }

    /// What each field of the file is for. Numeric columns get their indices now, in their order.
    pub(super) fn assign_roles(&mut self) -> Result<(), ErrorKind> {
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
            Role::Label | Role::Ignored => true,
            _ => false,
        };
        let exact =
            matches!(&self.schema.features, Features::Exact(names) if names.len() == features);
        self.dense = (exact && features > 0 && roles.iter().enumerate().all(plain))
            .then(|| vec![0.0; features]);
        self.roles = roles;
        Ok(())
    }

    /// What a column of the schema is for.
    pub(super) fn role(&mut self, column: usize) -> Result<Role, ErrorKind> {
        Ok(match self.schema.columns[column].kind {
            Kind::Label if self.rules.label == Label::Absent => Role::Ignored,
            Kind::Label => Role::Label,
            Kind::Ignored => Role::Ignored,
            Kind::Nominal => Role::Name { column },
            Kind::Undecided => Role::Undecided { column },
            Kind::Numeric => {
                let name = self.schema.columns[column].name.as_bytes();
                Role::Number { column, index: self.schema.features.joined(name, None)? }
            }
        })
    }
}
