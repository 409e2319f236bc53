//! A finished picture: SVG in a page, or a file of its own.

use std::fmt::Write;

use crate::text::{At, escape};
use crate::theme;

/// A drawn picture, its title and its description for those who cannot see it.
#[derive(Debug, Clone)]
pub struct Picture {
    title: String,
    description: String,
    width: f64,
    height: f64,
    body: String,
}

/// Width of every picture in its own units: 13-unit text is 11 px on a phone of 360 px and 17 px at the largest size.
pub(crate) const WIDTH: f64 = 400.0;

/// Roughly how wide `text` is in letters of 13 units.
pub(crate) fn width_of(text: &str) -> f64 {
    text.chars()
        .map(|c| {
            if "iIljt.,:;'|!()[] ".contains(c) {
                4.2
            } else if c.is_uppercase() || "mw—∞".contains(c) {
                9.4
            } else {
                7.5
            }
        })
        .sum()
}

/// `text` cut with an ellipsis to about `room` units.
pub(crate) fn fitted(text: &str, room: f64) -> String {
    if width_of(text) <= room {
        return text.to_owned();
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width_of(&cut) > room - 10.0 {
            cut.pop();
            break;
        }
    }
    cut + "…"
}

impl Picture {
    pub(crate) fn new(title: &str, description: String, height: f64, body: String) -> Self {
        Self { title: title.to_owned(), description, width: WIDTH, height, body }
    }

    /// One of another width: a page shows it across, and scrolls it where there is no room.
    pub(crate) fn of_width(self, width: f64) -> Self {
        Self { width, ..self }
    }

    /// Does it need the whole width of a page?
    pub(crate) fn is_wide(&self) -> bool {
        self.width > WIDTH
    }

    /// Title, description, height and drawing: for keeping a picture. The drawing is markup.
    pub fn parts(&self) -> (&str, &str, f64, &str) {
        (&self.title, &self.description, self.height, &self.body)
    }

    /// A picture that was kept.
    pub fn from_parts(title: String, description: String, height: f64, drawing: String) -> Self {
        Self { title, description, width: WIDTH, height, body: drawing }
    }

    /// What it shows, in a few words.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// What is to be seen in it, in words.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The `<svg>` element, with room for `head` above the picture; `id` is unique in the page.
    fn element(&self, id: &str, extra: &str, head: f64, style: &str) -> String {
        format!(
            "<svg{extra} viewBox=\"0 {} {} {}\" role=\"img\" aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{}</title>\n<desc id=\"{id}-desc\">{}</desc>\n{style}{}</svg>\n",
            At(-head),
            At(self.width),
            At(self.height + head),
            escape(&self.title),
            escape(&self.description),
            self.body
        )
    }

    /// Markup for a page whose style sheet has the colours.
    pub(crate) fn inline(&self, id: &str) -> String {
        let size = if self.is_wide() {
            format!(" style=\"min-width:{}px\"", At(self.width))
        } else {
            String::new()
        };
        self.element(id, &size, 0.0, "")
    }

    /// The text of a stand-alone `.svg` file, its colours inside, legible on light and dark ground.
    pub fn svg(&self) -> String {
        let head = 26.0;
        let size = format!(
            " xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\"",
            At(self.width * 1.5),
            At((self.height + head) * 1.5)
        );
        let mut title = Canvas::default();
        title.text(
            "",
            Anchor::Middle,
            self.width / 2.0,
            -8.0,
            &fitted(&self.title, self.width - 8.0),
        );
        self.element(
            "picture",
            &size,
            head,
            &format!("<style>\n{}</style>\n{}", theme::alone(), title.body),
        )
    }
}

/// Markup of one picture as it grows.
#[derive(Default)]
pub(crate) struct Canvas {
    pub(crate) body: String,
}

/// Where a text stands relative to its place.
#[derive(Clone, Copy)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub(crate) fn path(&mut self, class: &str, d: &str) {
        if !d.is_empty() {
            let _ = writeln!(self.body, "<path class=\"{class}\" d=\"{d}\"/>");
        }
    }

    pub(crate) fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            At(x),
            At(y),
            At(width),
            At(height)
        );
    }

    pub(crate) fn circle(&mut self, class: &str, x: f64, y: f64, r: f64) {
        let _ = writeln!(
            self.body,
            "<circle class=\"{class}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            At(x),
            At(y),
            At(r)
        );
    }

    /// A place that says something when the pointer rests on it.
    pub(crate) fn hint(&mut self, x: f64, y: f64, r: f64, words: &str) {
        let _ = writeln!(
            self.body,
            "<circle class=\"hint\" cx=\"{}\" cy=\"{}\" r=\"{}\"><title>{}</title></circle>",
            At(x),
            At(y),
            At(r),
            escape(words)
        );
    }

    pub(crate) fn text(&mut self, class: &str, anchor: Anchor, x: f64, y: f64, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(
            self.body,
            "<text{class}{anchor} x=\"{}\" y=\"{}\">{}</text>",
            At(x),
            At(y),
            escape(text)
        );
    }

    /// What is missing and why, below everything: the new height.
    pub(crate) fn notes(&mut self, mut y: f64, notes: &[String]) -> f64 {
        for note in notes {
            y += 15.0;
            self.text("small", Anchor::Start, 4.0, y, &fitted(note, WIDTH));
        }
        y
    }
}

/// How a series is shown, in the picture and in its legend.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    Line,
    Dot,
    Area,
    Bar,
    Dashed,
    Ring,
}

/// The classes of series number `i`: a colour, and dashes after the colours have been used up.
pub(crate) fn classes(kind: &str, i: usize) -> String {
    let dash = if kind == "line" && (i / theme::SERIES) % 2 == 1 { " dash" } else { "" };
    format!("{kind} s{}{dash}", i % theme::SERIES)
}

/// Draws the names of the series in as many lines as they need, beginning at height `y`; returns the height below.
pub(crate) fn legend(canvas: &mut Canvas, mut y: f64, entries: &[(usize, Look, &str)]) -> f64 {
    let mut x = 4.0;
    for (row, (series, look, name)) in entries.iter().enumerate() {
        let name = fitted(name, WIDTH - 40.0);
        let width = 24.0 + width_of(&name) + 14.0;
        if row > 0 && x + width > WIDTH {
            x = 4.0;
            y += 17.0;
        }
        let middle = y + 8.0;
        match look {
            Look::Line => {
                canvas.path(&classes("line", *series), &format!("M{} {}h18", At(x), At(middle)));
            }
            Look::Dashed => canvas.path(
                &format!("line s{} dash", series % theme::SERIES),
                &format!("M{} {}h18", At(x), At(middle)),
            ),
            Look::Dot => canvas.circle(&classes("fill", *series), x + 9.0, middle, 3.5),
            Look::Ring => canvas.circle(&classes("ring", *series), x + 9.0, middle, 3.5),
            Look::Bar => {
                canvas.rect(
                    &format!("bar {}", classes("fill", *series)),
                    x + 2.0,
                    middle - 6.0,
                    14.0,
                    12.0,
                );
            }
            Look::Area => canvas.rect(
                &format!("band {}", classes("fill", *series)),
                x,
                middle - 6.0,
                18.0,
                12.0,
            ),
        }
        canvas.text("", Anchor::Start, x + 23.0, middle + 4.0, &name);
        x += width;
    }
    if entries.is_empty() { y } else { y + 19.0 }
}
