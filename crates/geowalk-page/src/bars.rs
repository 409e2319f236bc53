//! Named values as horizontal bars: there is room for the names, on a phone too.

use crate::picture::{Anchor, Canvas, Picture, WIDTH, fitted, width_of};
use crate::text::number;

/// Bars under construction, drawn in the order they are added.
#[derive(Debug, Clone)]
pub struct Bars {
    title: String,
    bars: Vec<(String, f64)>,
}

impl Bars {
    /// No bars yet.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), bars: Vec::new() }
    }

    /// One more bar; to the left of zero where the value is negative.
    #[must_use]
    pub fn bar(mut self, name: impl Into<String>, value: f64) -> Self {
        self.bars.push((name.into(), value));
        self
    }
}

impl From<Bars> for Picture {
    fn from(bars: Bars) -> Self {
        let mut canvas = Canvas::default();
        let written: Vec<String> = bars.bars.iter().map(|(_, value)| number(*value, 4)).collect();
        let names = bars.bars.iter().map(|(name, _)| width_of(name)).fold(0.0, f64::max).min(150.0);
        let numbers = written.iter().map(|text| width_of(text)).fold(0.0, f64::max) + 6.0;
        let finite = || bars.bars.iter().map(|(_, value)| *value).filter(|value| value.is_finite());
        let (low, high) = (finite().fold(0.0, f64::min), finite().fold(0.0, f64::max));
        // Halves, so that the difference of huge values does not overflow.
        let span = (high / 2.0 - low / 2.0).max(f64::MIN_POSITIVE);
        // Fonts differ: where wide letters come together a name is longer than the average says.
        let left = 1.15 * names + 12.0;
        let room = WIDTH - left - numbers - 8.0;
        let at = |value: f64| left + room * ((value / 2.0 - low / 2.0) / span);
        let mut y = 4.0;
        for ((name, value), text) in bars.bars.iter().zip(&written) {
            canvas.text("", Anchor::End, left - 6.0, y + 14.0, &fitted(name, names + 2.0));
            let end = if value.is_finite() {
                let (a, b) = (at(value.min(0.0)), at(value.max(0.0)));
                let series = usize::from(*value < 0.0);
                canvas.rect(&format!("bar fill s{series}"), a, y + 3.0, b - a, 14.0);
                b
            } else {
                at(0.0)
            };
            canvas.text("small", Anchor::Start, end + 5.0, y + 14.0, text);
            y += 21.0;
        }
        canvas.path("axis", &format!("M{0:.2} 2V{y:.2}", at(0.0)));
        let mut notes = Vec::new();
        if bars.bars.is_empty() {
            notes.push("no data".to_owned());
        }
        let missing = bars.bars.len() - finite().count();
        if missing > 0 {
            notes.push(format!("{missing} not finite: no bar"));
        }
        let height = canvas.notes(y, &notes) + 6.0;
        let list: Vec<String> = bars
            .bars
            .iter()
            .zip(&written)
            .map(|((name, _), text)| format!("{name} {text}"))
            .collect();
        let words = if list.is_empty() {
            "Bars; no data.".to_owned()
        } else {
            format!("Bars: {}.", list.join("; "))
        };
        Self::new(&bars.title, words, height, canvas.body)
    }
}
