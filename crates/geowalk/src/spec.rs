//! # The specification language
//! `name`, or `name(value, key=value, ...)`. A value may itself be a specification. Geometries, losses, rates and
//! walks are written this way on the command line, in Python and in model files. All of them are parsed here.
//!
//! ```
//! use geowalk::spec::Spec;
//! let spec = Spec::parse("huber(delta = 0.5)")?;
//! assert_eq!(spec.name(), "huber");
//! let mut args = spec.args();
//! assert_eq!(args.number("delta", 1.0)?, 0.5);
//! args.finish()?;
//!
//! let error = Spec::parse("huber(delta=").unwrap_err();
//! assert_eq!(error.to_string(), "'huber(delta=': a value expected at column 13");
//! # Ok::<(), geowalk::ConfigError>(())
//! ```

use std::collections::BTreeSet;

use crate::error::ConfigError;

/// One row of a table of names: front ends print it for a manifold, generator, loss or permissible function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Name used in specifications.
    pub name: &'static str,
    /// Its parameters with their defaults, as text: `delta=1`. Empty if it has none.
    pub parameters: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Reference to the paper.
    pub source: &'static str,
}

/// A parsed specification: a name and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    name: String,
    args: Vec<Arg>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Arg {
    key: Option<String>,
    value: String,
}

impl Spec {
    /// Parses `name` or `name(value, key=value, ...)`.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let error = |byte: usize, expected: &'static str| ConfigError::Syntax {
            text: text.to_owned(),
            column: text[..byte].chars().count() + 1,
            expected,
        };
        let open = text.find('(');
        let name = text[..open.unwrap_or(text.len())].trim();
        if name.is_empty() {
            return Err(error(0, "a name"));
        }
        if let Some(bad) = name.find(|c: char| !(c.is_alphanumeric() || "-_+*.:".contains(c))) {
            let start = text.len() - text.trim_start().len();
            return Err(error(start + bad, "'(' or the end"));
        }
        let Some(open) = open else {
            return Ok(Self { name: name.to_owned(), args: Vec::new() });
        };
        let mut args = Vec::new();
        let mut depth = 0_usize;
        let mut start = open + 1;
        let mut closed = None;
        for (byte, c) in text.char_indices().skip_while(|&(byte, _)| byte <= open) {
            match c {
                _ if closed.is_some() && !c.is_whitespace() => return Err(error(byte, "the end")),
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                ')' => {
                    closed = Some(byte);
                    // `name()` means `name`. A trailing comma is a missing argument.
                    if !(args.is_empty() && text[start..byte].trim().is_empty()) {
                        args.push(Self::argument(text, start, byte, &error)?);
                    }
                }
                ',' if depth == 0 => {
                    args.push(Self::argument(text, start, byte, &error)?);
                    start = byte + 1;
                }
                _ => {}
            }
        }
        if closed.is_none() {
            let rest = &text[start..];
            let blank = rest.rsplit('=').next().is_none_or(|r| r.trim().is_empty());
            return Err(error(text.len(), if blank { "a value" } else { "')'" }));
        }
        let mut keys = BTreeSet::new();
        if let Some(name) =
            args.iter().filter_map(|arg| arg.key.as_ref()).find(|&key| !keys.insert(key))
        {
            return Err(ConfigError::Twice { name: name.clone() });
        }
        Ok(Self { name: name.to_owned(), args })
    }

    fn argument(
        text: &str,
        start: usize,
        end: usize,
        error: &dyn Fn(usize, &'static str) -> ConfigError,
    ) -> Result<Arg, ConfigError> {
        let part = &text[start..end];
        // An '=' inside parentheses belongs to a nested specification.
        let equals = part.find('=').filter(|&e| part.find('(').is_none_or(|p| e < p));
        let (key, value) = match equals {
            Some(e) => (Some(part[..e].trim()), part[e + 1..].trim()),
            None => (None, part.trim()),
        };
        if value.is_empty() {
            return Err(error(end, "a value"));
        }
        if key == Some("") {
            return Err(error(start, "the name of a parameter"));
        }
        Ok(Arg { key: key.map(str::to_owned), value: value.to_owned() })
    }

    /// The name before the parentheses.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as text: `value` or `name=value`.
    pub fn arguments(&self) -> Vec<String> {
        let text = |arg: &Arg| match &arg.key {
            Some(key) => format!("{key}={}", arg.value),
            None => arg.value.clone(),
        };
        self.args.iter().map(text).collect()
    }

    /// An iterator-like view from which the arguments are taken one by one.
    pub fn args(&self) -> Args<'_> {
        Args { spec: self, used: vec![false; self.args.len()], names: Vec::new() }
    }
}

/// The arguments of a [`Spec`], taken by name in the order in which they are declared: the k-th unnamed argument
/// is the k-th parameter asked for.
#[derive(Debug)]
pub struct Args<'a> {
    spec: &'a Spec,
    used: Vec<bool>,
    names: Vec<&'static str>,
}

impl<'a> Args<'a> {
    /// Marks all arguments as used.
    pub fn take_all(&mut self) {
        self.used.fill(true);
    }

    /// The text of a parameter, if the user gave one.
    pub fn text(&mut self, name: &'static str) -> Option<&'a str> {
        self.names.push(name);
        let named = self.spec.args.iter().position(|a| a.key.as_deref() == Some(name));
        let place = named.or_else(|| {
            // Positional arguments: only the argument at this parameter's position counts.
            let k = self.names.len() - 1;
            self.spec.args.get(k).filter(|a| a.key.is_none()).map(|_| k)
        })?;
        self.used[place] = true;
        Some(&self.spec.args[place].value)
    }

    /// All unused unnamed arguments, in order.
    pub fn rest(&mut self) -> Vec<&'a str> {
        let mut rest = Vec::new();
        for (used, arg) in self.used.iter_mut().zip(&self.spec.args) {
            if !*used && arg.key.is_none() {
                *used = true;
                rest.push(arg.value.as_str());
            }
        }
        rest
    }

    /// A numeric parameter, or `default` if it is absent.
    pub fn number(&mut self, name: &'static str, default: f64) -> Result<f64, ConfigError> {
        Ok(self.optional_number(name)?.unwrap_or(default))
    }

    /// A numeric parameter, if the user gave one.
    pub fn optional_number(&mut self, name: &'static str) -> Result<Option<f64>, ConfigError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(ConfigError::Syntax {
                text: format!("{name}={text}"),
                column: name.chars().count() + 2,
                expected: "a number",
            }),
        }
    }

    /// Returns an error if any argument was not used.
    pub fn finish(self) -> Result<(), ConfigError> {
        let Some(place) = self.used.iter().position(|used| !used) else { return Ok(()) };
        let arg = &self.spec.args[place];
        Err(unknown(
            "parameter",
            arg.key.as_deref().unwrap_or(&arg.value),
            self.names.iter().copied(),
        ))
    }
}

/// The error for an unknown name, with the nearest known name.
pub fn unknown<'a>(
    kind: &'static str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> ConfigError {
    let known: Vec<&str> = known.into_iter().collect();
    // Users often type only the second part of names such as `explicit:simplex`.
    let part = |k: &'a str| k.split_once(':').map(|(_, part)| (1 + edits(name, part), part));
    let near = |k: &&'a str| {
        let whole = (edits(name, k), *k);
        let (distance, like) = part(k).map_or(whole, |part| part.min(whole));
        // Suggest a name only if less than half of its letters differ, or if it has the same letters in another order.
        let count = like.chars().count().max(name.chars().count());
        let close = distance <= 1 + count / 3;
        (close && (2 * distance < count || letters(name) == letters(like)))
            .then_some((distance, *k))
    };
    let nearest = known.iter().filter_map(near).min().map(|(_, k)| k.to_owned());
    let known = match known.len() {
        0 => "none".to_owned(),
        _ => known.join(", "),
    };
    ConfigError::Unknown { kind, name: name.to_owned(), nearest, known }
}

/// The letters of a word, sorted.
fn letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &d) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(c != d);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions_are_near() {
        let nearest = |name: &str, known: &str| unknown("form", name, [known]).to_string();
        for (name, known, near) in
            [("foo", "dot", false), ("cvs", "csv", true), ("egg", "eg", true)]
        {
            assert_eq!(nearest(name, known).contains("did you mean"), near, "{name} {known}");
        }
    }

    #[test]
    fn nested_specifications_stay_whole() {
        let spec = Spec::parse("product(sphere(n=3, radius=2), simplex(n=4))").unwrap();
        let mut args = spec.args();
        assert_eq!(args.rest(), ["sphere(n=3, radius=2)", "simplex(n=4)"]);
        args.finish().unwrap();
    }

    #[test]
    fn positional_and_named_arguments_mix() {
        let spec = Spec::parse("power(0.5, p=2)").unwrap();
        let mut args = spec.args();
        assert_eq!(args.number("c", 1.0).unwrap(), 0.5);
        assert_eq!(args.number("t0", 7.0).unwrap(), 7.0);
        assert_eq!(args.number("p", 1.0).unwrap(), 2.0);
        args.finish().unwrap();
    }

    #[test]
    fn errors_say_where_and_what() {
        for (text, message) in [
            ("", "'': a name expected at column 1"),
            ("(1)", "'(1)': a name expected at column 1"),
            ("a b", "'a b': '(' or the end expected at column 2"),
            ("a(1", "'a(1': ')' expected at column 4"),
            ("a(1) b", "'a(1) b': the end expected at column 6"),
            ("a(1,)", "'a(1,)': a value expected at column 5"),
            ("a(=1)", "'a(=1)': the name of a parameter expected at column 3"),
            ("a(k=)", "'a(k=)': a value expected at column 5"),
        ] {
            assert_eq!(Spec::parse(text).unwrap_err().to_string(), message);
        }
        let spec = Spec::parse("huber(delat=1)").unwrap();
        let mut args = spec.args();
        args.number("delta", 1.0).unwrap();
        let message = args.finish().unwrap_err().to_string();
        assert_eq!(message, "unknown parameter 'delat' (did you mean 'delta'?); known: delta");
        let spec = Spec::parse("huber(delta=x)").unwrap();
        let message = spec.args().number("delta", 1.0).unwrap_err().to_string();
        assert_eq!(message, "'delta=x': a number expected at column 7");
    }
}
