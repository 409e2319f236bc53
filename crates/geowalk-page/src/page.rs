//! The page: parts in the order they were added, one file.

use std::fmt::Write;

use crate::picture::Picture;
use crate::table::Table;
use crate::text::escape;
use crate::theme;

/// A page under construction.
#[derive(Debug, Clone)]
pub struct Page {
    title: String,
    language: &'static str,
    body: String,
    /// Sections so far, for the list of contents.
    sections: Vec<String>,
    figures: usize,
    /// Is the `<div>` that holds neighbouring figures open?
    open: bool,
    contents: bool,
}

impl Page {
    /// An empty page.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            language: "en",
            body: String::new(),
            sections: Vec::new(),
            figures: 0,
            open: false,
            contents: false,
        }
    }

    /// With links to its sections at the top.
    #[must_use]
    pub fn contents(mut self) -> Self {
        self.contents = true;
        self
    }

    fn close(&mut self) {
        if self.open {
            self.body.push_str("</div>\n");
            self.open = false;
        }
    }

    fn add(mut self, markup: &str) -> Self {
        self.close();
        self.body.push_str(markup);
        self
    }

    /// A new section.
    #[must_use]
    pub fn section(mut self, heading: &str) -> Self {
        self.sections.push(heading.to_owned());
        let id = self.sections.len();
        self.add(&format!("<h2 id=\"s{id}\">{}</h2>\n", escape(heading)))
    }

    /// A heading inside a section.
    #[must_use]
    pub fn heading(self, heading: &str) -> Self {
        self.add(&format!("<h3>{}</h3>\n", escape(heading)))
    }

    /// Paragraphs, with a blank line between them.
    #[must_use]
    pub fn prose(self, text: &str) -> Self {
        let paragraphs = text.split("\n\n").map(str::trim).filter(|p| !p.is_empty());
        let markup: Vec<String> = paragraphs.map(|p| format!("<p>{}</p>\n", escape(p))).collect();
        self.add(&markup.concat())
    }

    /// Text as it is, such as a command to type.
    #[must_use]
    pub fn code(self, text: &str) -> Self {
        self.add(&format!("<pre>{}</pre>\n", escape(text)))
    }

    /// Terms and what they are.
    #[must_use]
    pub fn facts<K: AsRef<str>, V: AsRef<str>>(
        self,
        facts: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let mut markup = String::from("<dl>\n");
        for (term, what) in facts {
            let _ = writeln!(
                markup,
                "<dt>{}</dt><dd>{}</dd>",
                escape(term.as_ref()),
                escape(what.as_ref())
            );
        }
        self.add(&(markup + "</dl>\n"))
    }

    /// A table.
    #[must_use]
    pub fn table(self, table: impl std::borrow::Borrow<Table>) -> Self {
        self.add(&table.borrow().html())
    }

    /// A picture under its title; neighbours stand side by side where there is room.
    #[must_use]
    pub fn figure(mut self, picture: impl Into<Picture>) -> Self {
        let picture = picture.into();
        if !self.open {
            self.body.push_str("<div class=\"figures\">\n");
            self.open = true;
        }
        self.figures += 1;
        let drawing = picture.inline(&format!("f{}", self.figures));
        let _ = write!(
            self.body,
            "<figure>\n<figcaption>{}</figcaption>\n{drawing}</figure>\n",
            escape(picture.title())
        );
        self
    }

    /// The file: no network, no script.
    pub fn html(&self) -> String {
        let mut nav = String::new();
        if self.contents && !self.sections.is_empty() {
            nav.push_str("<nav aria-label=\"Contents\"><ul>\n");
            for (i, heading) in self.sections.iter().enumerate() {
                let _ = writeln!(nav, "<li><a href=\"#s{}\">{}</a></li>", i + 1, escape(heading));
            }
            nav.push_str("</ul></nav>\n");
        }
        let end = if self.open { "</div>\n" } else { "" };
        let title = escape(&self.title);
        format!(
            "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{nav}{}{end}</main>\n</body>\n</html>\n",
            self.language,
            theme::page(),
            self.body
        )
    }
}
