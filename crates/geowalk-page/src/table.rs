//! Tables: HTML with numbers right-aligned, and CSV with all their digits.

use std::fmt::Write;

use crate::text::{escape, number};

/// Was something as it should be?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Yes.
    Good,
    /// No.
    Bad,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A number: five digits on the page, all of them in CSV.
    Number(f64),
    /// A number already written, right-aligned.
    Figures(String),
    /// Words that lead to the section of this number (from 1) in the same page.
    Section(String, usize),
    /// A verdict, with a tick or a cross.
    Verdict(Mark, String),
}

impl Cell {
    fn html(&self) -> String {
        match self {
            Self::Text(text) => format!("<td>{}</td>", escape(text)),
            Self::Number(value) => format!("<td class=\"n\">{}</td>", number(*value, 5)),
            Self::Figures(text) => format!("<td class=\"n\">{}</td>", escape(text)),
            Self::Section(text, to) => format!("<td><a href=\"#s{to}\">{}</a></td>", escape(text)),
            Self::Verdict(Mark::Good, text) => {
                format!("<td class=\"good\">✓ {}</td>", escape(text))
            }
            Self::Verdict(Mark::Bad, text) => format!("<td class=\"bad\">✗ {}</td>", escape(text)),
        }
    }

    fn plain(&self) -> String {
        match self {
            Self::Text(text)
            | Self::Figures(text)
            | Self::Section(text, _)
            | Self::Verdict(_, text) => text.clone(),
            Self::Number(value) => format!("{value}"),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Figures(_))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Self::Figures(value.to_string())
    }
}

/// A table with a head, filled row by row.
#[derive(Debug, Clone, Default)]
pub struct Table {
    head: Vec<String>,
    caption: Option<String>,
    rows: Vec<Vec<Cell>>,
    stacked: bool,
}

impl Table {
    /// A table with these columns.
    pub fn new<S: Into<String>>(head: impl IntoIterator<Item = S>) -> Self {
        Self { head: head.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Words above it.
    #[must_use]
    pub fn caption(mut self, text: impl Into<String>) -> Self {
        self.caption = Some(text.into());
        self
    }

    /// On a phone, each row as a few lines: for a first column of sentences.
    #[must_use]
    pub fn stacked(mut self) -> Self {
        self.stacked = true;
        self
    }

    /// With one more row.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.push(cells);
        self
    }

    /// Adds a row. One that is too short is filled with empty cells, so that columns stay in place.
    pub fn push(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = cells.into_iter().collect();
        while row.len() < self.head.len() {
            row.push(Cell::Text(String::new()));
        }
        self.rows.push(row);
    }

    /// The names of the columns.
    pub fn head(&self) -> &[String] {
        &self.head
    }

    /// The words above it.
    pub fn words(&self) -> Option<&str> {
        self.caption.as_deref()
    }

    /// Is it shown in lines on a phone?
    pub fn is_stacked(&self) -> bool {
        self.stacked
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Is there no row?
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// As an HTML table that scrolls sideways where it is too wide.
    pub(crate) fn html(&self) -> String {
        let class = if self.stacked { " class=\"stack\"" } else { "" };
        let mut out = format!("<div class=\"scroll\" tabindex=\"0\"><table{class}>\n");
        if let Some(caption) = &self.caption {
            let _ = writeln!(out, "<caption><span>{}</span></caption>", escape(caption));
        }
        out.push_str("<thead><tr>");
        for (i, name) in self.head.iter().enumerate() {
            let numbers = !self.rows.is_empty()
                && self.rows.iter().all(|row| row.get(i).is_some_and(Cell::is_number));
            let class = if numbers { " class=\"n\"" } else { "" };
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape(name));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (i, cell) in row.iter().enumerate() {
                let html = cell.html();
                match self.head.get(i).filter(|_| self.stacked && i > 0) {
                    Some(name) => {
                        let label = format!("<td data-label=\"{}\"", escape(name));
                        out.push_str(&html.replacen("<td", &label, 1));
                    }
                    None => out.push_str(&html),
                }
            }
            out.push_str("</tr>\n");
        }
        if self.rows.is_empty() {
            let _ =
                writeln!(out, "<tr><td colspan=\"{}\">no rows</td></tr>", self.head.len().max(1));
        }
        out.push_str("</tbody></table></div>\n");
        out
    }

    /// As CSV (RFC 4180 with plain line ends): numbers with all their digits, so that reading them gives the same numbers.
    ///
    /// ```
    /// use geowalk_page::Table;
    /// let table = Table::new(["name", "loss"]).row(["a, \"b\"".into(), 0.1.into()]);
    /// assert_eq!(table.csv(), "name,loss\n\"a, \"\"b\"\"\",0.1\n");
    /// ```
    pub fn csv(&self) -> String {
        let field = |text: &str| {
            if text.contains(['"', ',', '\n', '\r']) {
                format!("\"{}\"", text.replace('"', "\"\""))
            } else {
                text.to_owned()
            }
        };
        let line = |fields: Vec<String>| fields.join(",") + "\n";
        let mut out = line(self.head.iter().map(|name| field(name)).collect());
        for row in &self.rows {
            out.push_str(&line(row.iter().map(|cell| field(&cell.plain())).collect()));
        }
        out
    }
}
