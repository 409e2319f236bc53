//! # Queries
//! What rules and trees share when they are written as SQL: dialects, quoting, and how a value of a table is read.
//!
//! A query answers as `geowalk predict` does, whatever types the columns of the table have:
//!
//! * A value goes through text: blanks around it are taken off, empty text and the model's missing words become `NULL`.
//! * Then it is cast to a number, or compared as text. SQLite keeps values that are stored as numbers, because
//!   its texts of numbers have 15 digits.
//! * Text that is no number stops the query, as it stops `predict`. SQLite and MySQL cannot: there the answer
//!   is `NULL`.
//! * Every name is qualified, and the new columns come first, so that no column of the table can be taken for
//!   one of them.
//! * Dates are taken apart by SQLite, DuckDB and PostgreSQL. SQLite reads them only with two digits for month and
//!   day, and offsets from UTC are not read.
//! * A column of free text is split into words by a regular expression, which only DuckDB is trusted with.

use std::fmt::Write as _;

use geowalk::ConfigError;
use geowalk::boost::split::{Split, Test};

use crate::table::{Heading, Origin};

/// The SQL of one database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// SQLite 3.25 or newer; probabilities need its mathematical functions.
    #[default]
    Sqlite,
    /// DuckDB.
    Duckdb,
    /// PostgreSQL 12 or newer.
    Postgres,
    /// MySQL 8.0.17 or newer.
    Mysql,
    /// BigQuery's standard SQL.
    Bigquery,
}

impl Dialect {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Sqlite, Self::Duckdb, Self::Postgres, Self::Mysql, Self::Bigquery];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Duckdb => "duckdb",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Bigquery => "bigquery",
        }
    }

    /// The dialect of that name.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == text);
        found.ok_or_else(|| geowalk::spec::unknown("dialect", text, Self::ALL.map(Self::name)))
    }

    /// A quoted identifier.
    fn identifier(self, name: &str) -> String {
        match self {
            Self::Sqlite | Self::Duckdb | Self::Postgres => {
                format!("\"{}\"", name.replace('"', "\"\""))
            }
            Self::Mysql => format!("`{}`", name.replace('`', "``")),
            Self::Bigquery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
        }
    }

    /// A quoted text.
    pub(crate) fn text(self, value: &str) -> String {
        match self {
            Self::Sqlite | Self::Duckdb | Self::Postgres => {
                format!("'{}'", value.replace('\'', "''"))
            }
            Self::Mysql => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "''")),
            Self::Bigquery => {
                let escaped = value.replace('\\', "\\\\").replace('\'', "\\'");
                format!("'{}'", escaped.replace('\n', "\\n").replace('\r', "\\r"))
            }
        }
    }

    /// A number of double precision that is read back to the same bits.
    pub(crate) fn number(self, x: f64) -> String {
        let plain = x == 0.0 || (1e-4..1e16).contains(&x.abs());
        let digits = if plain { format!("{x:?}") } else { format!("{x:e}") };
        match self {
            // Without an exponent these would be decimals, which are rounded twice.
            Self::Duckdb | Self::Mysql if plain => digits + "e0",
            Self::Postgres => digits + "::float8",
            _ => digits,
        }
    }

    /// A cell as text without blanks around it.
    fn trimmed(self, cell: &str) -> String {
        match self {
            Self::Sqlite => format!("TRIM({cell}, char(9, 10, 12, 13, 32))"),
            Self::Duckdb => format!("TRIM(CAST({cell} AS VARCHAR), E' \\t\\n\\f\\r')"),
            Self::Postgres => format!("BTRIM(CAST({cell} AS TEXT), E' \\t\\n\\f\\r')"),
            Self::Mysql => format!(
                "REGEXP_REPLACE({}, '^[ \\\\t\\\\n\\\\f\\\\r]+|[ \\\\t\\\\n\\\\f\\\\r]+$', '')",
                self.whole(cell)
            ),
            Self::Bigquery => format!("TRIM({}, ' \\t\\n\\f\\r')", self.whole(cell)),
        }
    }

    /// A cell as text.
    fn whole(self, cell: &str) -> String {
        match self {
            // Not a CAST: that would keep the collation of the column.
            Self::Sqlite => format!("('' || {cell})"),
            Self::Duckdb => format!("CAST({cell} AS VARCHAR)"),
            Self::Postgres => format!("CAST({cell} AS TEXT)"),
            Self::Mysql => format!("CONVERT({cell} USING utf8mb4) COLLATE utf8mb4_bin"),
            Self::Bigquery => format!("CAST({cell} AS STRING)"),
        }
    }

    /// A text as a number. What is none is a number that no table holds, where the database would not refuse it.
    fn as_number(self, text: &str) -> String {
        match self {
            // A text is larger than all numbers, unless it can be taken for one.
            Self::Sqlite => format!(
                "CASE WHEN {text} <= CAST(9e999 AS REAL) THEN CAST({text} AS REAL) \
                 WHEN {text} IS NOT NULL THEN 9e999 END"
            ),
            Self::Duckdb => format!("CAST({text} AS DOUBLE)"),
            Self::Postgres => format!("CAST({text} AS DOUBLE PRECISION)"),
            Self::Mysql => format!(
                "CASE WHEN {text} REGEXP '^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$' \
                 THEN CAST({text} AS DOUBLE) WHEN {text} IS NOT NULL THEN {LARGEST} END"
            ),
            Self::Bigquery => format!("CAST({text} AS FLOAT64)"),
        }
    }

    /// A part of the date that a text is: `year`, `month` or `days` as a number, `weekday` as a name; `None` where
    /// there is no tested way. A text that is no date stops the query or, in SQLite, is a number that no table holds.
    fn date(self, text: &str, part: &str) -> Option<String> {
        const TIMES: [&str; 4] = ["", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f"];
        match self {
            Self::Sqlite => {
                // The form that its functions read.
                let digits = |count| "[0-9]".repeat(count);
                let (four, two) = (digits(4), digits(2));
                let iso = format!(
                    "CASE WHEN {text} GLOB '{four}[-/]{two}[-/]{two}*' \
                     THEN REPLACE(SUBSTR({text}, 1, 10), '/', '-') || SUBSTR({text}, 11) \
                     WHEN {text} GLOB '{two}.{two}.{four}*' THEN SUBSTR({text}, 7, 4) || '-' || \
                     SUBSTR({text}, 4, 2) || '-' || SUBSTR({text}, 1, 2) || SUBSTR({text}, 11) END"
                );
                let number = match part {
                    "year" => format!("CAST(STRFTIME('%Y', {iso}) AS REAL)"),
                    "month" => format!("CAST(STRFTIME('%m', {iso}) AS REAL)"),
                    "days" => format!("JULIANDAY({iso}) - 2440587.5"),
                    _ => {
                        let day = format!("STRFTIME('%w', {iso})");
                        return Some(format!("SUBSTR('SunMonTueWedThuFriSat', 1 + 3 * {day}, 3)"));
                    }
                };
                Some(format!("CASE WHEN {text} IS NOT NULL THEN COALESCE({number}, 9e999) END"))
            }
            Self::Duckdb => {
                let days = ["%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y"].into_iter();
                let forms = days.flat_map(|day| TIMES.map(|time| format!("'{day}{time}'")));
                let forms = forms.collect::<Vec<_>>().join(", ");
                let time = format!("STRPTIME(REPLACE({text}, 'T', ' '), [{forms}])");
                Some(match part {
                    "year" => format!("CAST(YEAR({time}) AS DOUBLE)"),
                    "month" => format!("CAST(MONTH({time}) AS DOUBLE)"),
                    "days" => format!("EPOCH({time}) / 86400e0"),
                    _ => format!("STRFTIME({time}, '%a')"),
                })
            }
            Self::Postgres => {
                let form = "^(\\d{4}([-/])\\d{1,2}\\2\\d{1,2}|\\d{1,2}\\.\\d{1,2}\\.\\d{4})\
                            ([ T]\\d{1,2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?)?$";
                let iso = "'^(\\d{1,2})\\.(\\d{1,2})\\.(\\d{4})', '\\3-\\2-\\1'";
                let time = format!("CAST(REGEXP_REPLACE({text}, {iso}) AS TIMESTAMP)");
                let number = |part: &str| format!("EXTRACT({part} FROM {time})::float8");
                let (found, otherwise) = match part {
                    "year" => (number("YEAR"), "::float8"),
                    "month" => (number("MONTH"), "::float8"),
                    "days" => (format!("{} / 86400::float8", number("EPOCH")), "::float8"),
                    // A cast that stops the query.
                    _ => (format!("TO_CHAR({time}, 'Dy')"), "::date::text"),
                };
                Some(format!("CASE WHEN {text} ~ '{form}' THEN {found} ELSE {text}{otherwise} END"))
            }
            Self::Mysql | Self::Bigquery => None,
        }
    }

    /// Does text that is no number stop a query?
    fn refuses_text(self) -> bool {
        !matches!(self, Self::Sqlite | Self::Mysql)
    }
}

/// The largest number of double precision.
const LARGEST: &str = "1.7976931348623157e308";

/// What a query is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The database.
    pub dialect: Dialect,
    /// The table; points separate schema and table.
    pub table: String,
}

impl Default for Target {
    fn default() -> Self {
        Self { dialect: Dialect::default(), table: "data".to_owned() }
    }
}

/// The alias of the table.
const INPUT: &str = "geowalk_input";

/// The alias of the rows with what was found for them.
const FOUND: &str = "geowalk_found";

/// The values that an expression needs, each read once: `v.c1`, `v.c2` and so on.
pub(crate) struct Inputs<'a> {
    dialect: Dialect,
    headings: &'a [Heading],
    /// Cells as text, or split into words.
    texts: Vec<String>,
    /// Headings and their values, made of the texts.
    values: Vec<(usize, String)>,
}

impl<'a> Inputs<'a> {
    pub(crate) fn new(dialect: Dialect, headings: &'a [Heading]) -> Self {
        Self { dialect, headings, texts: Vec::new(), values: Vec::new() }
    }

    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The value of a column of the model: a number or a text, `NULL` if missing. An error says why SQL cannot have it.
    pub(crate) fn value(&mut self, column: usize) -> Result<String, String> {
        let known = self.values.iter().position(|(heading, _)| *heading == column);
        let at = if let Some(at) = known {
            at
        } else {
            let value = self.read(column)?;
            self.values.push((column, value));
            self.values.len() - 1
        };
        Ok(format!("v.c{}", at + 1))
    }

    fn read(&mut self, column: usize) -> Result<String, String> {
        let dialect = self.dialect;
        let heading = self.headings.get(column).ok_or("a column that the model does not have")?;
        let Heading { name, names, missing, origin, .. } = heading;
        let source = match origin {
            Origin::Word { column, .. } | Origin::Date { column } => column,
            Origin::Cell | Origin::Entry => name,
        };
        let cell = format!("{INPUT}.{}", dialect.identifier(source));
        let number = |word: &&String| word.trim().parse::<f64>().ok();
        let mut words: Vec<&str> = missing.iter().map(String::as_str).collect();
        let numeric =
            names.is_none() && !matches!(origin, Origin::Word { .. } | Origin::Date { .. });
        if numeric {
            // A table that stores numbers does not keep how a missing word was written.
            words.retain(|word| word.trim().parse::<f64>().is_err());
        }
        // Blanks that are part of a name were quoted in the file, and stay.
        let blanks = names.iter().flatten().any(|name| name.trim_ascii() != name);
        let text = if blanks { dialect.whole(&cell) } else { dialect.trimmed(&cell) };
        let known = |text: String, word: &&str| format!("NULLIF({text}, {})", dialect.text(word));
        let text = words.iter().fold(format!("NULLIF({text}, '')"), known);
        if let Origin::Word { word, .. } = origin {
            if dialect != Dialect::Duckdb {
                return Err(format!(
                    "column '{source}' is free text, and {} has no tested way to split it into words; \
                     use --dialect duckdb, or train with --ignore '{source}' or --nominal '{source}'",
                    dialect.name()
                ));
            }
            let text = self.text(format!("COALESCE({}, '')", split_into_words(&text)));
            let word = dialect.text(&format!(" {word} "));
            return Ok(format!(
                "CAST((LENGTH({text}) - LENGTH(REPLACE({text}, {word}, ''))) / LENGTH({word}) AS DOUBLE)"
            ));
        }
        if let Origin::Date { .. } = origin {
            let part = name.rsplit('.').next().unwrap_or_default();
            let days = name.strip_suffix(part).map(|own| format!("{own}days"));
            if names.is_some() && dialect == Dialect::Sqlite {
                // Only numbers say of a text that it is no date.
                let found = self.headings.iter().position(|own| Some(&own.name) == days.as_ref());
                found.map(|days| self.value(days)).transpose()?;
            }
            let text = self.text(text);
            return dialect.date(&text, part).ok_or_else(|| {
                format!(
                    "column '{source}' holds dates, and {} has no tested way to take their parts; use --dialect \
                     sqlite, duckdb or postgres, or train with --nominal '{source}' or --ignore '{source}'",
                    dialect.name()
                )
            });
        }
        if names.is_some() {
            return Ok(self.text(text));
        }
        let text = if dialect == Dialect::Sqlite {
            format!("CASE WHEN typeof({cell}) = 'text' THEN {text} ELSE {cell} END")
        } else {
            text
        };
        let text = self.text(text);
        let mut value = dialect.as_number(&text);
        for number in missing.iter().filter_map(|word| number(&word)) {
            value = format!("NULLIF({value}, {})", dialect.number(number));
        }
        if *origin == Origin::Entry {
            value = format!("COALESCE({value}, {})", dialect.number(0.0));
        }
        Ok(value)
    }

    fn text(&mut self, expression: String) -> String {
        let known = self.texts.iter().position(|text| *text == expression);
        let at = known.unwrap_or_else(|| {
            self.texts.push(expression);
            self.texts.len() - 1
        });
        format!("t.c{}", at + 1)
    }

    /// One answer per row, or `NULL` where a number of the row cannot be read.
    pub(crate) fn answer(&self, expression: &str) -> String {
        if self.values.is_empty() {
            return expression.to_owned();
        }
        let is_number = |(at, (heading, _)): (usize, &(usize, String))| {
            self.headings[*heading]
                .names
                .is_none()
                .then(|| format!("ABS(v.c{}) < {LARGEST}", at + 1))
        };
        let numbers: Vec<String> = self.values.iter().enumerate().filter_map(is_number).collect();
        let expression = if numbers.is_empty() {
            expression.to_owned()
        } else {
            format!(
                "CASE WHEN NOT ({}) THEN NULL ELSE\n      {expression}\n      END",
                numbers.join(" AND ")
            )
        };
        let list = |all: &[String]| -> String {
            let named = all.iter().enumerate().map(|(at, one)| format!("{one} AS c{}", at + 1));
            named.collect::<Vec<_>>().join(",\n        ")
        };
        let values: Vec<String> = self.values.iter().map(|(_, value)| value.clone()).collect();
        format!(
            "(SELECT {expression}\n      FROM (SELECT\n        {}\n      FROM (SELECT\n        {}) AS t) AS v)",
            list(&values),
            list(&self.texts)
        )
    }

    /// The columns that are read, each with how.
    fn columns(&self) -> impl Iterator<Item = (&'a str, &'static str)> {
        let headings = self.headings;
        self.values.iter().map(move |(column, _)| {
            let Heading { name, names, origin, .. } = &headings[*column];
            match origin {
                Origin::Word { column, .. } => (column.as_str(), "words"),
                Origin::Date { column } => (column.as_str(), "dates"),
                _ if names.is_some() => (name.as_str(), "text"),
                _ => (name.as_str(), "number"),
            }
        })
    }
}

/// The words of a text, each between blanks of its own; see `words.rs` of geowalk-data.
fn split_into_words(text: &str) -> String {
    const LETTER: &str = "[\\p{L}\\p{N}\\x{300}-\\x{36f}]";
    format!(
        "' ' || ARRAY_TO_STRING(REGEXP_EXTRACT_ALL(REPLACE(LOWER({text}), '\u{2019}', ''''), \
         '{LETTER}(?:{LETTER}|''\\p{{L}})*'), '  ') || ' '"
    )
}

/// The test of a split, true where a row goes left. `name` gives the name of a code.
pub(crate) fn split<'n>(
    split: &Split,
    name: &dyn Fn(u32) -> &'n str,
    inputs: &mut Inputs<'_>,
) -> Result<String, String> {
    let (x, dialect) = (inputs.value(split.column)?, inputs.dialect());
    Ok(match split.test {
        Test::AtMost { theta, missing: false } => format!("{x} <= {}", dialect.number(theta)),
        Test::AtMost { theta, missing: true } => {
            format!("({x} <= {} OR {x} IS NULL)", dialect.number(theta))
        }
        Test::Is { code } => format!("{x} = {}", dialect.text(name(code))),
        Test::Known => format!("{x} IS NOT NULL"),
    })
}

/// A sum that is not nested deeper than SQLite allows, 1000.
pub(crate) fn sum(terms: &[String]) -> String {
    const TOGETHER: usize = 400;
    match terms {
        [] => "0.0".to_owned(),
        few if few.len() <= TOGETHER => few.join("\n      + "),
        many => {
            let parts: Vec<String> =
                many.chunks(TOGETHER).map(|part| format!("({})", sum(part))).collect();
            sum(&parts)
        }
    }
}

/// A new column: its name and what it means, in one line.
pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) meaning: String,
}

impl Output {
    /// A new column. Its name is none of the model's columns.
    pub(crate) fn new(name: &str, meaning: String, headings: &[Heading]) -> Self {
        let taken = |name: &String| headings.iter().any(|h| h.name.eq_ignore_ascii_case(name));
        let mut name = format!("geowalk_{name}");
        while taken(&name) {
            name.push('_');
        }
        Self { name, meaning }
    }

    /// The column, where it is computed already.
    pub(crate) fn found(&self) -> String {
        format!("{FOUND}.{}", self.name)
    }
}

/// A query in two steps: the first columns are found from the rows of the table, the others from them.
pub(crate) struct Query<'a> {
    pub(crate) target: &'a Target,
    /// What is asked, for the first line.
    pub(crate) title: &'static str,
    /// Where missing values go.
    pub(crate) missing: &'static str,
    pub(crate) found: Vec<(Output, String, Inputs<'a>)>,
    pub(crate) derived: Vec<(Output, String)>,
}

impl Query<'_> {
    pub(crate) fn write(&self) -> String {
        let dialect = self.target.dialect;
        let parts = self.target.table.split('.').map(|part| dialect.identifier(part));
        let table = parts.collect::<Vec<_>>().join(".");
        let mut out = self.header(&table);
        let found = self.found.iter().map(|(output, expression, inputs)| {
            format!("    {} AS {},\n", inputs.answer(expression), output.name)
        });
        let derived = self
            .derived
            .iter()
            .map(|(output, expression)| format!("  {expression} AS {},\n", output.name));
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "WITH {FOUND} AS (\n  SELECT\n{}    {INPUT}.*\n  FROM {table} AS {INPUT}\n)\n\
             SELECT\n{}  {FOUND}.*\nFROM {FOUND};\n",
            found.collect::<String>(),
            derived.collect::<String>()
        );
        out
    }

    fn header(&self, table: &str) -> String {
        let dialect = self.target.dialect;
        let mut lines = vec![format!("{} for {}, table {table}", self.title, dialect.name())];
        lines.push("New columns, before those of the table:".to_owned());
        let outputs = self.derived.iter().map(|(output, _)| output);
        for output in outputs.chain(self.found.iter().map(|(output, ..)| output)) {
            lines.push(format!("  {}: {}", output.name, output.meaning));
        }
        let mut read: Vec<(&str, &str)> =
            self.found.iter().flat_map(|(.., inputs)| inputs.columns()).collect();
        read.sort_unstable();
        read.dedup();
        for (kind, how) in [
            ("number", "Read as numbers"),
            ("text", "Compared as text, upper and lower case different"),
            (
                "dates",
                "Read as dates, as 2024-01-31, 2024/01/31 or 31.01.2024, with a time or without",
            ),
            ("words", "Split into words (letters of some Asian scripts may be cut differently)"),
        ] {
            let own: Vec<String> = read
                .iter()
                .filter(|(_, own)| *own == kind)
                .map(|(name, _)| dialect.identifier(name))
                .collect();
            if !own.is_empty() {
                lines.push(format!("{how}: {}", own.join(", ")));
            }
        }
        let headings = self.found.iter().filter_map(|(.., inputs)| inputs.headings.first());
        let words = headings.flat_map(|heading| &heading.missing).map(|word| dialect.text(word));
        let mut words: Vec<String> = words.collect();
        words.dedup();
        let words = words.iter().fold(String::new(), |list, word| format!("{list}, {word}"));
        lines.push(format!("Missing: NULL, empty or blank text{words}. {}", self.missing));
        if read.iter().any(|(_, kind)| *kind == "number") {
            lines.push(
                if dialect.refuses_text() {
                    "Text in a column of numbers stops the query."
                } else {
                    "Text in a column of numbers gives NULL in the new columns of that row."
                }
                .to_owned(),
            );
        }
        let comment = |line: String| format!("-- {}\n", line.replace(['\n', '\r'], " "));
        lines.into_iter().map(comment).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_to_the_same_bits() {
        for power in -320..308 {
            for digits in ["1", "5.228001046112028", "9.999999999999999"] {
                let x: f64 = format!("{digits}e{power}").parse().unwrap();
                for dialect in Dialect::ALL {
                    let text = dialect.number(x);
                    let digits = text.trim_end_matches("::float8");
                    assert_eq!(digits.parse(), Ok(x), "{}: {text}", dialect.name());
                    assert!(digits.matches('e').count() <= 1, "{}: {text}", dialect.name());
                }
            }
        }
    }
}
