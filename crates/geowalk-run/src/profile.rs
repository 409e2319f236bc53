//! # How a table was read
//! Each column with its type, its values, what is missing, and why it was taken for that; with warnings of what
//! is often a mistake. Computed here once; summaries, `show`, reports and `--dry-run` print it, and model files
//! keep it.
//!
//! **Cost** One pass over the table.

use std::collections::{BTreeMap, HashSet};

use geowalk::boost::table::{MISSING, Table, Values};
use geowalk_data::{Features, Indexing, Kind, Labels, Looks, Options, Schema, Source, Task};
use serde_json::{Value, json};

use crate::boost::words::threshold;
use crate::error::RunError;
use crate::model::{Model, ReadSettings};
use crate::table::{Examples, Origin, Reader, examples_of, headings};

/// With fewer rows, values that all differ and columns that separate the classes say nothing.
const FEW: usize = 20;

/// So many classes that are whole numbers are suspicious.
const MANY_CLASSES: usize = 20;

/// Names that are listed.
const LISTED: usize = 5;

/// Rows and values that [`Profile::of_first_rows`] looks at, at most.
const FIRST_ROWS: usize = 10_000;
const FIRST_VALUES: usize = 1 << 19;

/// How a table was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Rows that are learned from.
    pub rows: usize,
    /// Only the first rows were looked at.
    pub first: bool,
    /// The columns that are learned from.
    pub columns: Vec<ColumnProfile>,
    /// The label's column, if it has a name.
    pub label: Option<String>,
    /// The classes, each with its number of rows; none where numbers are learned.
    pub classes: Vec<(String, usize)>,
    /// The least and the largest label, where numbers are learned.
    pub range: Option<(f64, f64)>,
    /// What is often a mistake, a sentence each.
    pub warnings: Vec<String>,
}

/// How a column was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnProfile {
    /// Its name.
    pub name: String,
    /// Numbers, names, words or nothing.
    pub kind: String,
    /// The range, or how many names and the first of them.
    pub values: String,
    /// Rows without a value, if they were counted.
    pub missing: Option<usize>,
    /// Why it was taken for that.
    pub why: String,
}

/// What a reader knows besides the table.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// What values look like in the first rows, by column.
    pub looks: BTreeMap<String, Looks>,
    /// Columns that were declared to be names or text.
    pub declared: Vec<String>,
    /// Options of the reader that models keep.
    pub settings: ReadSettings,
}

impl Reading {
    /// What is asked of a reader.
    pub(crate) fn asked(options: &Options) -> Self {
        Self {
            looks: BTreeMap::new(),
            declared: options.nominal.iter().chain(&options.text).cloned().collect(),
            settings: ReadSettings::of(options),
        }
    }

    /// The same with what the reader has found.
    #[must_use]
    pub(crate) fn found(self, source: &dyn Source) -> Self {
        let looks = source.looks().into_iter();
        let looks = looks.map(|(name, looks)| (name.to_owned(), looks.clone()));
        Self { looks: looks.collect(), ..self }
    }
}

/// What is learned from the rows of a table.
#[derive(Debug, Clone, Copy)]
enum Learned<'a> {
    /// The class of each row, and the names of all classes.
    Classes(&'a [u32], &'a [String]),
    /// The number of each row; NaN if there is none.
    Numbers(&'a [f64]),
}

impl Profile {
    /// How these examples were read.
    pub fn new(examples: &Examples) -> Self {
        let Examples { table, classes, schema, reading, .. } = examples;
        Self::of_table(table, Learned::Classes(classes.codes(), classes.names()), schema, reading)
    }

    /// The same of rows whose labels are numbers.
    pub(crate) fn of_numbers(
        table: &Table,
        labels: &[f64],
        schema: &Schema,
        reading: &Reading,
    ) -> Self {
        Self::of_table(table, Learned::Numbers(labels), schema, reading)
    }

    /// How the first rows of files are read, of which a stream is learned row by row; `None` if they have no columns.
    pub fn of_first_rows(options: Options, task: Option<Task>) -> Result<Option<Self>, RunError> {
        let reading = Reading::asked(&options);
        let indexing = Indexing::Exact;
        let mut reader = Reader::open(Options { indexing, unlabelled: true, ..options })?;
        let columns = reader.source().schema().columns().len();
        if columns == 0 {
            return Ok(None);
        }
        let most = (FIRST_VALUES / columns).clamp(1, FIRST_ROWS);
        let Some(rows) = reader.read(most)? else { return Ok(None) };
        let first = rows.labels.len() == most;
        let task =
            task.unwrap_or(Task::infer(reader.source().schema().labels(), &rows.labels).task);
        let mut found = if task == Task::Regression || rows.labels.iter().all(|y| y.is_nan()) {
            let schema = reader.schema()?;
            let reading = reading.found(reader.source());
            Self::of_numbers(&rows.table, &rows.labels, &schema, &reading)
        } else {
            Self::new(&examples_of(&reader, rows, reading, Some(Task::Multiclass))?)
        };
        found.first = first;
        Ok(Some(found))
    }

    /// What a schema alone says: of a model that saw its rows only once.
    pub fn of_schema(schema: &Schema) -> Option<Self> {
        let mut columns = Vec::new();
        for column in schema.columns() {
            let values = match (column.kind, schema.features()) {
                (Kind::Nominal | Kind::Text, Features::Exact(dictionary)) => {
                    let own = |feature: &str| {
                        let value =
                            feature.strip_prefix(column.name.as_str())?.strip_prefix('=')?;
                        Some(value.to_owned())
                    };
                    listed(&dictionary.names().filter_map(own).collect::<Vec<_>>())
                }
                _ => String::new(),
            };
            let (kind, why) = match column.kind {
                Kind::Numeric => ("numbers", ""),
                Kind::Nominal => ("names", ""),
                Kind::Text => ("words", ""),
                Kind::Date => ("dates", "year, month, weekday and days are learned from"),
                Kind::Undecided => ("nothing", "no row has a value"),
                Kind::Label | Kind::Weight | Kind::Ignored => continue,
            };
            let (name, kind, why) = (column.name.clone(), kind.to_owned(), why.to_owned());
            columns.push(ColumnProfile { name, kind, values, missing: None, why });
        }
        let label = schema.label().map(str::to_owned);
        let (classes, warnings) = (Vec::new(), Vec::new());
        let profile =
            Self { rows: 0, first: false, columns, label, classes, range: None, warnings };
        (!profile.columns.is_empty()).then_some(profile)
    }

    fn of_table(table: &Table, learned: Learned<'_>, schema: &Schema, reading: &Reading) -> Self {
        let mut warnings = Vec::new();
        let mut columns: Vec<ColumnProfile> = Vec::new();
        let mut words: BTreeMap<String, usize> = BTreeMap::new();
        for (heading, column) in headings(schema, table.columns().len()).iter().zip(table.columns())
        {
            if let Origin::Word { column, .. } = &heading.origin {
                *words.entry(column.clone()).or_default() += 1;
                continue;
            }
            let name = column.name();
            let looks = reading.looks.get(name);
            let declared = reading.declared.iter().any(|own| own == name);
            let missing = column.values().gaps();
            let known = table.rows() - missing;
            let (kind, values, why) = match column.values() {
                _ if known == 0 => ("nothing", String::new(), "no row has a value"),
                Values::Numeric(_) | Values::Sparse(_) => {
                    let (least, most) = span(column.values());
                    let range = format!("{} to {}", threshold(least), threshold(most));
                    let is_date = matches!(heading.origin, Origin::Date { .. });
                    let why = if is_date {
                        "part of a column of dates"
                    } else {
                        "all values are numbers"
                    };
                    ("numbers", range, why)
                }
                Values::Nominal { names, .. } => {
                    let list = listed(names);
                    let why = match heading.origin {
                        Origin::Date { .. } => "part of a column of dates",
                        _ if declared => "declared",
                        _ => "a value is no number",
                    };
                    ("names", list, why)
                }
                Values::Boolean(_) => ("truth values", String::new(), "declared"),
            };
            warnings.extend(looks.and_then(|looks| form(name, kind, looks)));
            warnings.extend(identifies(name, column.values(), known));
            warnings.extend(case(&format!("column '{name}'"), column_names(column.values())));
            if let Learned::Classes(codes, names) = learned {
                warnings.extend(tells_class(name, column.values(), codes, names.len()));
            }
            columns.push(ColumnProfile {
                name: name.to_owned(),
                kind: kind.to_owned(),
                values,
                missing: Some(missing),
                why: why.to_owned(),
            });
        }
        for name in schema.of_kind(Kind::Text) {
            let count = words.get(name).copied().unwrap_or(0);
            let declared = reading.declared.iter().any(|own| own == name);
            let why = if declared { "declared" } else { "values differ and have several words" };
            columns.push(ColumnProfile {
                name: name.to_owned(),
                kind: "words".to_owned(),
                values: format!("{count} different words"),
                missing: None,
                why: why.to_owned(),
            });
        }
        let (classes, range) = match learned {
            Learned::Classes(codes, names) => {
                let mut counts = vec![0; names.len()];
                codes.iter().for_each(|code| counts[*code as usize] += 1);
                let all = names.iter().cloned().zip(counts);
                (all.filter(|(_, count)| *count > 0).collect::<Vec<_>>(), None)
            }
            Learned::Numbers(labels) => {
                let range = range(labels, NOTHING);
                (Vec::new(), (range.0 <= range.1).then_some(range))
            }
        };
        warnings.extend(case("the label", classes.iter().map(|(name, _)| name.as_str()).collect()));
        if classes.len() > MANY_CLASSES && matches!(schema.labels(), Labels::Numbers) {
            warnings.push(format!(
                "the label has {} different whole numbers, each taken for a class; for amounts use geowalk train --task regression",
                classes.len()
            ));
        }
        let label = schema.label().map(str::to_owned);
        Self { rows: table.rows(), first: false, columns, label, classes, range, warnings }
    }

    /// The profile that a model file keeps. Older ones have none.
    pub fn of(model: &Model) -> Option<Self> {
        let own = model.summary.get("table")?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let count = |value: &Value| usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0);
        let list = |key: &str| own[key].as_array().into_iter().flatten();
        Some(Self {
            rows: count(&own["rows"]),
            first: own["first"].as_bool().unwrap_or(false),
            range: own["range"][0].as_f64().zip(own["range"][1].as_f64()),
            columns: list("columns")
                .map(|column| ColumnProfile {
                    name: text(&column["column"]),
                    kind: text(&column["kind"]),
                    values: text(&column["values"]),
                    missing: column["missing"].as_u64().and_then(|n| usize::try_from(n).ok()),
                    why: text(&column["why"]),
                })
                .collect(),
            label: own["label"].as_str().map(str::to_owned),
            classes: list("classes").map(|c| (text(&c["class"]), count(&c["rows"]))).collect(),
            warnings: list("warnings").map(text).collect(),
        })
    }

    /// For programs, and for the model file.
    pub fn json(&self) -> Value {
        let column = |column: &ColumnProfile| {
            json!({
                "column": column.name, "kind": column.kind, "values": column.values,
                "missing": column.missing, "why": column.why,
            })
        };
        let class = |(name, rows): &(String, usize)| json!({"class": name, "rows": rows});
        let mut object = json!({
            "rows": self.rows, "label": self.label, "warnings": self.warnings,
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "classes": self.classes.iter().map(class).collect::<Vec<_>>(),
        });
        if self.first {
            object["first"] = true.into();
        }
        if let Some((least, most)) = self.range {
            object["range"] = json!([least, most]);
        }
        object
    }

    /// The table in one sentence.
    pub fn sentence(&self) -> String {
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for column in &self.columns {
            *kinds.entry(&column.kind).or_default() += 1;
        }
        let kinds: Vec<String> =
            kinds.iter().map(|(kind, count)| format!("{count} of {kind}")).collect();
        let mut classes: Vec<String> =
            self.classes.iter().take(LISTED).map(|(name, rows)| format!("{name} {rows}")).collect();
        if self.classes.len() > LISTED {
            classes.push(format!("and {} more", self.classes.len() - LISTED));
        }
        let label =
            self.label.as_ref().map_or("labels".to_owned(), |name| format!("label '{name}'"));
        let missing: usize = self.columns.iter().filter_map(|column| column.missing).sum();
        let missing =
            if missing > 0 { format!(", {missing} values missing") } else { String::new() };
        let values = match self.range {
            Some((least, most)) => format!(": {} to {}", threshold(least), threshold(most)),
            None if classes.is_empty() => String::new(),
            None => format!(": {}", classes.join(", ")),
        };
        let first = if self.first { "first " } else { "" };
        let rows =
            if self.rows > 0 { format!("{first}{} rows, ", self.rows) } else { String::new() };
        format!("{rows}columns: {}{missing}; {label}{values}", kinds.join(", "))
    }

    /// What deserves notice: the sentence, then the warnings.
    pub fn short(&self) -> Vec<(&'static str, String)> {
        let warnings = self.warnings.iter().map(|text| ("warning", text.clone()));
        std::iter::once(("data", self.sentence())).chain(warnings).collect()
    }

    /// Column by column, as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let width = |of: &dyn Fn(&ColumnProfile) -> usize, head: &str| {
            self.columns.iter().map(of).max().unwrap_or(0).max(head.len())
        };
        let (name, kind) =
            (width(&|c| c.name.chars().count(), "column"), width(&|c| c.kind.len(), "read as"));
        let values = width(&|c| c.values.chars().count(), "values").min(40);
        let line = |a: &str, b: &str, c: &str, d: &str, e: &str| {
            format!("{a:<name$}  {b:<kind$}  {c:<values$}  {d:>7}  {e}").trim_end().to_owned()
        };
        let head = line("column", "read as", "values", "missing", "because");
        let row = |column: &ColumnProfile| {
            let missing = column.missing.map_or(String::new(), |count| count.to_string());
            let mut shown: String = column.values.chars().take(values).collect();
            if column.values.chars().count() > values {
                shown.truncate(shown.char_indices().nth_back(2).map_or(0, |(at, _)| at));
                shown.push_str("...");
            }
            line(&column.name, &column.kind, &shown, &missing, &column.why)
        };
        std::iter::once(head).chain(self.columns.iter().map(row)).collect()
    }
}

fn column_names(values: &Values) -> Vec<&str> {
    match values {
        Values::Nominal { names, .. } => names.iter().map(String::as_str).collect(),
        Values::Numeric(_) | Values::Sparse(_) | Values::Boolean(_) => Vec::new(),
    }
}

/// How many names, and the first of them.
fn listed(names: &[String]) -> String {
    let first: Vec<&str> = names.iter().take(LISTED).map(String::as_str).collect();
    let more = if names.len() > LISTED { ", ..." } else { "" };
    format!("{}: {}{more}", names.len(), first.join(", "))
}

/// A range without a number in it.
const NOTHING: (f64, f64) = (f64::INFINITY, f64::NEG_INFINITY);

/// The least and the largest of these numbers and of those in `first`.
fn range(values: &[f64], first: (f64, f64)) -> (f64, f64) {
    let known = values.iter().filter(|x| !x.is_nan());
    known.fold(first, |range, x| (range.0.min(*x), range.1.max(*x)))
}

/// The least and the largest number.
fn span(values: &Values) -> (f64, f64) {
    match values {
        Values::Numeric(values) => range(values, NOTHING),
        Values::Sparse(own) if own.rows().len() < own.len() => range(own.values(), (0.0, 0.0)),
        Values::Sparse(own) => range(own.values(), NOTHING),
        Values::Nominal { .. } | Values::Boolean(_) => NOTHING,
    }
}

/// Values in a form that is not read as what it means.
fn form(name: &str, kind: &str, looks: &Looks) -> Option<String> {
    let example = looks.example.as_deref().unwrap_or_default();
    let numbers = kind == "numbers";
    let (what, advice) = match () {
        () if numbers && looks.leading_zeros > 0 => (
            "has values with leading zeros, which numbers lose",
            format!("--nominal '{name}' keeps them"),
        ),
        () if numbers
            && looks.thousands >= 2
            && looks.thousands == looks.points
            && looks.points < looks.values =>
        {
            (
                "may use points between thousands, which are read as decimal points",
                "if so, use --decimal , --thousands .".to_owned(),
            )
        }
        () if numbers => return None,
        () if looks.mostly(looks.dates) => (
            "holds dates, each read as a name",
            "write them as 2024-01-31 to have year, month, weekday and days".to_owned(),
        ),
        () if looks.mostly(looks.commas) => {
            ("holds numbers with commas, read as names", commas(example).to_owned())
        }
        () if looks.mostly(looks.percents) => (
            "holds numbers with percent signs, read as names",
            "write them without the sign".to_owned(),
        ),
        () if looks.mostly(looks.currencies) => {
            ("holds amounts with a currency, read as names", "write the numbers alone".to_owned())
        }
        () => return None,
    };
    Some(format!("column '{name}' {what} ('{example}'); {advice}"))
}

/// What to do about a number with commas.
fn commas(example: &str) -> &'static str {
    match (example.rfind('.'), example.rfind(',')) {
        (Some(point), Some(comma)) if point < comma => "use --decimal , --thousands .",
        (Some(_), _) => "use --thousands ,",
        _ => "use --decimal , or, if they stand between thousands, --thousands ,",
    }
}

/// A column in which all values differ tells rows apart, and nothing about new ones.
fn identifies(name: &str, values: &Values, known: usize) -> Option<String> {
    let all_differ = known >= FEW
        && match values {
            Values::Nominal { codes, .. } => {
                let mut seen = HashSet::new();
                codes.iter().filter(|code| **code != MISSING).all(|code| seen.insert(*code))
            }
            Values::Numeric(values) => {
                let mut seen = HashSet::new();
                let mut known = values.iter().filter(|x| !x.is_nan());
                known.all(|x| x.fract() == 0.0 && seen.insert(x.to_bits()))
            }
            // Most values are 0.
            Values::Sparse(_) | Values::Boolean(_) => false,
        };
    all_differ.then(|| {
        format!("column '{name}' has a different value in every row, like an id; if it is one, use --ignore '{name}'")
    })
}

/// Names that differ in upper and lower case only.
fn case(whose: &str, names: Vec<&str>) -> Option<String> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    names.into_iter().find_map(|name| {
        let before = seen.insert(name.trim().to_lowercase(), name)?;
        Some(format!("{whose} has '{before}' and '{name}', which count as different; make them equal if they are not"))
    })
}

/// A column that alone tells the class of every row.
fn tells_class(name: &str, values: &Values, codes: &[u32], classes: usize) -> Option<String> {
    if codes.len() < FEW {
        return None;
    }
    let tells = match values {
        Values::Nominal { codes: names, names: all } => {
            // With few rows of each name this may be chance.
            let mut class = vec![None; all.len()];
            all.len() * FEW / 2 <= codes.len()
                && names.iter().zip(codes).all(|(name, code)| {
                    let Some(own) = class.get_mut(*name as usize) else { return false };
                    *own.get_or_insert(*code) == *code
                })
                && all.len() > 1
        }
        Values::Numeric(values) => {
            let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); classes];
            for (x, code) in values.iter().zip(codes) {
                let range = &mut ranges[*code as usize];
                *range = (range.0.min(*x), if x.is_nan() { f64::NAN } else { range.1.max(*x) });
            }
            ranges.retain(|range| range.0 < f64::INFINITY);
            ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
            ranges.len() > 1
                && !values.iter().any(|x| x.is_nan())
                && ranges.windows(2).all(|pair| pair[0].1 < pair[1].0)
        }
        Values::Sparse(_) | Values::Boolean(_) => false,
    };
    tells.then(|| {
        format!("column '{name}' alone tells the class of every row; if it is known only after the class, use --ignore '{name}'")
    })
}

#[cfg(test)]
mod tests {
    use geowalk_data::{Input, Options, Task};

    use super::*;
    use crate::table::examples;

    fn profile(head: &str, row: impl Fn(usize) -> String) -> Profile {
        let rows: String = (0..60).map(|k| row(k) + "\n").collect();
        let options = Options::new([Input::text("a.csv", format!("{head}\n{rows}"))]);
        Profile::new(&examples(options, None).unwrap())
    }

    fn warns(column: &str, value: impl Fn(usize) -> String, says: &str) {
        let found = profile(&format!("{column},class"), |k| {
            format!("{},{}", value(k), ["a", "b", "c"][k % 7 % 3])
        });
        let all = found.warnings.join("\n");
        let right = if says.is_empty() { all.is_empty() } else { all.contains(says) };
        assert!(right, "{says}: {all}");
    }

    #[test]
    fn common_mistakes_are_named() {
        warns("id", |k| (1000 + k).to_string(), "column 'id' has a different value in every row");
        warns("name", |k| format!("p{k}"), "column 'name' has a different value in every row");
        warns("day", |k| format!("1/{}/2024", k % 28 + 1), "column 'day' holds dates");
        warns("day", |k| format!("2024-01-{:02}", k % 28 + 1), "");
        warns("x", |k| format!("\"{},5\"", k % 9), "numbers with commas, read as names ('0,5')");
        warns(
            "x",
            |k| if k % 3 == 0 { "500".into() } else { format!("{}.905", k % 9 + 1) },
            "between thousands",
        );
        warns("plz", |k| format!("0106{}", k % 9), "leading zeros, which numbers lose ('01060')");
        warns("x", |k| format!("{}%", k % 9), "percent signs");
        warns("x", |k| format!("{} €", k % 9), "a currency");
        warns("job", |k| ["cook", "Cook"][k % 2].to_owned(), "column 'job' has 'cook' and 'Cook'");
        warns("x", |k| format!("{}.{}", k % 9, k % 5), "");
        warns("x", |k| format!("0.{:03}", k % 9 + 100), "");
    }

    #[test]
    fn labels_and_leaks_are_named() {
        let found = profile("x,class", |k| format!("{},{}", k % 5, ["yes", "Yes", "no"][k % 3]));
        assert!(found.warnings[0].starts_with("the label has 'Yes' and 'yes'"), "{found:?}");
        let rows: Vec<String> = (0..60).map(|k| format!("{},{}", k % 5, k % 53)).collect();
        let text = format!("x,class\n{}\n", rows.join("\n"));
        let options = Options::new([Input::text("a.csv", text)]);
        let found = Profile::new(&examples(options, Some(Task::Multiclass)).unwrap());
        assert!(found.warnings[0].contains("53 different whole numbers"), "{found:?}");
        let found = profile("x,paid,class", |k| {
            format!("{},{},{}", k % 5, ["0", "70"][k % 2], ["good", "bad"][k % 2])
        });
        assert_eq!(found.warnings.len(), 1);
        assert!(found.warnings[0].contains("column 'paid' alone tells the class"), "{found:?}");
        let found = profile("state,class", |k| format!("s{},{}", k % 4, ["good", "bad"][k % 2]));
        assert!(found.warnings[0].contains("column 'state' alone tells the class"), "{found:?}");
    }

    #[test]
    fn every_column_is_described() {
        let found = profile("age,job,late,class", |k| {
            format!(
                "{},{},,{}",
                if k == 3 { String::new() } else { (20 + k % 7).to_string() },
                ["cook", "clerk"][k % 2],
                ["a", "b", "c"][k % 7 % 3]
            )
        });
        let lines = found.lines().join("\n");
        let expected = "\
column  read as  values          missing  because
age     numbers  20 to 26              1  all values are numbers
job     names    2: cook, clerk        0  a value is no number
late    nothing                       60  no row has a value";
        assert_eq!(lines, expected);
        let sentence = "60 rows, columns: 1 of names, 1 of nothing, 1 of numbers, 61 values missing; \
            label 'class': a 26, b 17, c 17";
        assert_eq!(found.sentence(), sentence);
    }
}
