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
    /// Is the `<details>` of a folded section open?
    folded: bool,
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
            folded: false,
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

    fn begin(mut self, heading: &str) -> (Self, String) {
        self.close();
        if std::mem::take(&mut self.folded) {
            self.body.push_str("</details>\n");
        }
        self.sections.push(heading.to_owned());
        let markup = format!("<h2 id=\"s{}\">{}</h2>", self.sections.len(), escape(heading));
        (self, markup)
    }

    /// A new section.
    #[must_use]
    pub fn section(self, heading: &str) -> Self {
        let (page, markup) = self.begin(heading);
        page.add(&(markup + "\n"))
    }

    /// A new section that is shut until its heading is clicked: for what few readers need.
    #[must_use]
    pub fn folded(self, heading: &str) -> Self {
        let (mut page, markup) = self.begin(heading);
        page.folded = true;
        page.add(&format!("<details>\n<summary>{markup}</summary>\n"))
    }

    /// The sentence that the page is about, in larger letters; and what it speaks of, below.
    #[must_use]
    pub fn lead(self, sentence: &str, under: &str) -> Self {
        self.add(&format!(
            "<p class=\"lead\">{}</p>\n<p class=\"under\">{}</p>\n",
            escape(sentence),
            escape(under)
        ))
    }

    /// Figures that matter most: each a value and what it is.
    #[must_use]
    pub fn tiles<K: AsRef<str>, V: AsRef<str>>(
        self,
        tiles: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let tile = |(name, value): (K, V)| {
            let (name, value) = (escape(name.as_ref()), escape(value.as_ref()));
            format!("<li><b>{value}</b><span>{name}</span></li>\n")
        };
        let all: String = tiles.into_iter().map(tile).collect();
        self.add(&format!("<ul class=\"tiles\">\n{all}</ul>\n"))
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
        let title = escape(picture.title());
        let _ = if picture.is_wide() {
            write!(
                self.body,
                "<figure class=\"wide\">\n<figcaption>{title}</figcaption>\n<div class=\"scroll\" tabindex=\"0\">{drawing}</div></figure>\n"
            )
        } else {
            write!(self.body, "<figure>\n<figcaption>{title}</figcaption>\n{drawing}</figure>\n")
        };
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
        let end = [(self.open, "</div>\n"), (self.folded, "</details>\n")];
        let end: String = end.iter().filter(|(open, _)| *open).map(|(_, tag)| *tag).collect();
        let title = escape(&self.title);
        format!(
            "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{nav}{}{end}</main>\n</body>\n</html>\n",
            self.language,
            theme::page(),
            self.body
        )
    }
}
