//! Text that goes into markup: escaped, and numbers as people read them.

use std::fmt::Write;

/// `text` with the five characters that mean something in HTML and XML replaced, and without the control characters
/// that XML forbids. Marks that turn the direction of text are written out.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(c),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.extend(c.escape_default());
            }
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// `value` to `digits` significant digits (whole digits are never cut), without trailing zeros, with a true minus sign; scientific from a million on and below 10⁻⁴.
///
/// ```
/// use geowalk_page::number;
/// assert_eq!(number(0.30000000000000004, 5), "0.3");
/// assert_eq!(number(-1234567.0, 3), "−1.23e6");
/// assert_eq!(number(f64::INFINITY, 3), "∞");
/// ```
pub fn number(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    let digits = digits.max(1);
    // Rounding first decides the exponent: 9.9996 to four digits is 1.000e1.
    let rounded = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = if (-4..=5).contains(&exponent) {
        let before = i32::try_from(digits).unwrap_or(i32::MAX);
        let places = usize::try_from(before - 1 - exponent).unwrap_or(0);
        trimmed(&format!("{value:.places$}"))
    } else {
        format!("{}e{exponent}", trimmed(mantissa))
    };
    minus(if text == "-0" { "0" } else { &text })
}

/// Three coordinates, to three digits.
pub(crate) fn triple(p: [f64; 3]) -> String {
    format!("({}, {}, {})", number(p[0], 3), number(p[1], 3), number(p[2], 3))
}

/// Without zeros at the end of a fraction.
pub(crate) fn trimmed(text: &str) -> String {
    if !text.contains('.') {
        return text.to_owned();
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// With the sign that typesetters use.
fn minus(text: &str) -> String {
    text.replacen('-', "−", 1).replace("e-", "e−")
}

/// A coordinate of a picture: a hundredth of a unit is finer than any screen.
pub(crate) struct At(pub(crate) f64);

impl std::fmt::Display for At {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = trimmed(&format!("{:.2}", self.0));
        f.write_str(if text == "-0" { "0" } else { &text })
    }
}

/// The points of a line as SVG's `d` attribute; a pen that is up moves.
pub(crate) struct Pen {
    pub(crate) d: String,
    down: bool,
}

impl Pen {
    pub(crate) fn new() -> Self {
        Self { d: String::new(), down: false }
    }

    pub(crate) fn lift(&mut self) {
        self.down = false;
    }

    pub(crate) fn is_down(&self) -> bool {
        self.down
    }

    pub(crate) fn to(&mut self, x: f64, y: f64) {
        let letter = if self.down { 'L' } else { 'M' };
        // Writing to a string cannot fail.
        let _ = write!(self.d, "{letter}{} {}", At(x), At(y));
        self.down = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escape("<a href=\"x\">'&'</a>\u{1}"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;\u{fffd}"
        );
    }

    #[test]
    fn numbers_are_short_and_honest() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "−2.5"),
            (0.1 + 0.2, "0.3"),
            (9.99996, "10"),
            (123_456.7, "123457"),
            (1e-5, "1e−5"),
            (0.000_123_456, "0.00012346"),
            (1e300, "1e300"),
            (-1.5e-9, "−1.5e−9"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "−∞"),
            (5e-324, "4.9407e−324"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value, 5), text, "{value:e}");
        }
    }
}
