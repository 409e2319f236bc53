//! # The features and classes of several models
//! The merged schema, and where each feature and class of a model is in it.

use geowalk_data::{Column, Dictionary, Features, Kind, Labels, Schema, Task};

use super::{Source, refused};
use crate::error::RunError;

/// What the models know together.
pub(super) struct Union {
    schema: Schema,
    /// As in a model file.
    pub(super) classes: Vec<f64>,
    /// Of each model the place of its features; none where they are where they were.
    places: Vec<Option<Vec<usize>>>,
    /// Of each model its code of each merged class.
    codes: Vec<Vec<Option<usize>>>,
}

impl Union {
    pub(super) fn of(sources: &[Source<'_>]) -> Result<Self, RunError> {
        let first = &sources[0];
        let mut features = first.model.schema.features().clone();
        let mut labels = first.model.schema.labels().clone();
        let mut columns = first.model.schema.columns().to_vec();
        let mut missing = Vec::new();
        let (mut places, mut names) = (Vec::new(), Vec::new());
        for (at, source) in sources.iter().enumerate() {
            let schema = &source.model.schema;
            let differ = |what: &str| {
                refused(
                    format!("{what} of {} and {} differ", first.name, source.name),
                    "merge models of the same columns",
                )
            };
            places.push(match (&mut features, schema.features()) {
                (Features::Exact(all), Features::Exact(own)) => {
                    let insert = |name: &str| all.insert(name.as_bytes()).map(|at| at as usize);
                    let found: Result<Vec<usize>, _> = own.names().map(insert).collect();
                    Some(found.map_err(|_| differ("the numbers of features"))?)
                }
                (Features::Hashed(all), Features::Hashed(own)) if all.bits() == own.bits() => {
                    if at > 0 {
                        all.absorb(own.clone()).map_err(|_| differ("the hashes"))?;
                    }
                    None
                }
                (Features::Index(all), Features::Index(own)) if all.base == own.base => None,
                _ => return Err(differ("the kinds of features")),
            });
            for column in schema.columns() {
                add(&mut columns, column).map_err(|known| {
                    refused(
                        format!(
                            "column '{}' is {} in {} and {} in {}",
                            column.name,
                            known.name(),
                            first.name,
                            column.kind.name(),
                            source.name
                        ),
                        "merge models of the same columns",
                    )
                })?;
            }
            missing.extend(schema.missing().iter().cloned());
            match (&mut labels, schema.labels()) {
                (Labels::Names(all), Labels::Names(own)) => {
                    for name in own.names() {
                        all.insert(name.as_bytes())
                            .map_err(|_| differ("the numbers of classes"))?;
                    }
                }
                (Labels::Numbers, Labels::Numbers) => {}
                _ => return Err(differ("the kinds of labels")),
            }
            names.push(codes_of(source, &labels));
        }
        let mut classes = names[0].clone();
        let binary = first.model.settings.task == Task::Binary;
        for (source, own) in sources.iter().zip(&names) {
            if binary && *own != classes {
                let why = format!("the classes of {} and {} differ", first.name, source.name);
                return Err(refused(why, "merge models of the same two classes"));
            }
            classes.extend(own.iter().filter(|class| !classes.contains(class)).collect::<Vec<_>>());
        }
        let code = |own: &Vec<f64>| {
            classes.iter().map(|class| own.iter().position(|known| known == class)).collect()
        };
        let codes = names.iter().map(code).collect();
        let schema = Schema::from_parts(features, labels, columns).with_missing(missing);
        Ok(Self { schema, classes, places, codes })
    }

    /// Where the features of a model are; `None` where they were.
    pub(super) fn places(&self, model: usize) -> Option<&[usize]> {
        self.places[model].as_deref()
    }

    /// What the model calls a merged class, if it has it.
    pub(super) fn class(&self, model: usize, class: usize) -> Option<usize> {
        self.codes[model][class]
    }

    pub(super) fn into_schema(self) -> Schema {
        self.schema
    }
}

/// The classes of a model as labels of the merged schema.
fn codes_of(source: &Source<'_>, merged: &Labels) -> Vec<f64> {
    let own = source.model.schema.labels();
    let find = |names: &Dictionary, name: &str| names.find(name).map(f64::from);
    let code = |class: &f64| match (merged, own.name(*class)) {
        (Labels::Names(names), Some(name)) => find(names, name).unwrap_or(f64::NAN),
        _ => *class,
    };
    source.model.classes.iter().map(code).collect()
}

/// Adds a column; gives the kind that is known if it is another one.
fn add(columns: &mut Vec<Column>, column: &Column) -> Result<(), Kind> {
    match columns.iter_mut().find(|known| known.name == column.name) {
        None => columns.push(column.clone()),
        Some(known) if known.kind == Kind::Undecided => known.kind = column.kind,
        Some(known) if known.kind == column.kind || column.kind == Kind::Undecided => {}
        Some(known) => return Err(known.kind),
    }
    Ok(())
}
