//! # Which family?
//! Chosen from the schema and the first rows, written into the model as the family's name, and said with the reason:
//!
//! | the data | the family |
//! |---|---|
//! | a table of numbers | `gaussian-shared` |
//! | a table of one nominal column; rows with one feature of value 1 each | `discrete` |
//! | a table of nominal columns; rows of as many ones each | `naive-bayes` |
//! | a table of both | `mixed`: `gaussian-shared` for the numbers, `naive-bayes` for the rest |
//! | other sparse rows | `gaussian-sparse` |
//! | other rows | as for a table of numbers |
//!
//! **Care** Not more than 1000 rows are looked at. A model says what was chosen and never chooses again: of sparse rows,
//! a run that ends after fewer and is resumed may have another family than one that saw them at once.

use geowalk::row::{Block, Row};
use geowalk::spec::Spec;
use geowalk_data::{Features, Kind, Schema};

use super::text::ranges;

/// The family of numbers; past 256 of them its covariance is a diagonal and a matrix of low rank.
const GAUSSIAN: &str = "gaussian-shared";
/// The most features of `gaussian`.
const PAIRS: usize = 256;
/// The rows that are looked at.
const ROWS: usize = 1000;

/// What was chosen, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The walk with the family's name in place of `auto`.
    pub(crate) walk: String,
    /// A sentence.
    pub(crate) reason: String,
}

/// The walk that a text without a family, or with `auto`, stands for; `None` if it names its family.
pub(crate) fn choose(walk: &str, schema: &Schema, block: &Block) -> Option<Choice> {
    let spec = Spec::parse(walk).ok()?;
    let named = spec.name().split_once(':').map(|(_, family)| family);
    let asked = named.or_else(|| spec.args().text("family"));
    if !crate::walks::chooses_family(&spec) {
        return None;
    }
    match asked {
        None | Some("auto") => {}
        Some("gaussian") => return split(&spec, block),
        Some(_) => return None,
    }
    let (family, reason) = look(schema, block);
    let (family, own) = match family.split_once('(') {
        Some((family, own)) => (family.to_owned(), own.trim_end_matches(')').to_owned()),
        None => (family, String::new()),
    };
    let mut inside = if own.is_empty() { Vec::new() } else { vec![own] };
    let family_itself = |argument: &String| argument == "family=auto" || argument == "auto";
    inside.extend(spec.arguments().into_iter().filter(|argument| !family_itself(argument)));
    let inside = if inside.is_empty() { String::new() } else { format!("({})", inside.join(", ")) };
    Some(Choice { walk: format!("natural:{family}{inside}"), reason })
}

/// One full covariance for each class of the first features, and variances for each class of the others: all pairs of many features are too many.
fn split(spec: &Spec, block: &Block) -> Option<Choice> {
    let arguments = spec.arguments();
    let is_of_family = |argument: &String| argument.starts_with("kappa");
    if block.bound() <= PAIRS || arguments.iter().any(is_of_family) {
        return None;
    }
    let family = format!("gaussian=0-{}, rest=gaussian-diagonal", PAIRS - 1);
    let own = arguments.into_iter().filter(|argument| argument != "family=gaussian");
    let inside: Vec<String> = std::iter::once(family).chain(own).collect();
    let reason = format!("{} features: pairs of the first {PAIRS} only", block.bound());
    Some(Choice { walk: format!("natural:mixed({})", inside.join(", ")), reason })
}

/// The family and the reason.
fn look(schema: &Schema, block: &Block) -> (String, String) {
    let of = |kind: Kind| schema.columns().iter().filter(move |column| column.kind == kind);
    let (numeric, nominal) = (of(Kind::Numeric).count(), of(Kind::Nominal).count());
    let seen = Seen::of(block);
    if numeric + nominal > 0 && !matches!(schema.features(), Features::Hashed(_)) {
        return match (numeric, nominal) {
            (_, 0) => (GAUSSIAN.to_owned(), format!("{numeric} columns of numbers")),
            (0, 1) if seen.single() => ("discrete".to_owned(), "one nominal column".to_owned()),
            (0, _) => ("naive-bayes".to_owned(), format!("{nominal} nominal columns")),
            _ => {
                let name = |i: u32| schema.features().name(i).map(std::borrow::Cow::into_owned);
                let is_numeric = |i: u32| {
                    name(i).is_some_and(|name| of(Kind::Numeric).any(|column| column.name == name))
                };
                let bound = u32::try_from(block.bound()).unwrap_or(u32::MAX);
                let numbers: Vec<usize> =
                    (0..bound).filter(|&i| is_numeric(i)).map(|i| i as usize).collect();
                (
                    format!("mixed({GAUSSIAN}={}, rest=naive-bayes)", ranges(&numbers)),
                    format!("{numeric} columns of numbers and {nominal} nominal ones"),
                )
            }
        };
    }
    match seen {
        _ if seen.single() => {
            ("discrete".to_owned(), "each of the first rows has one feature of value 1".to_owned())
        }
        _ if seen.rows > 0 && seen.ones && 10 * (seen.most - seen.least) <= seen.most => (
            "naive-bayes".to_owned(),
            "the first rows have about the same number of features, all of value 1".to_owned(),
        ),
        _ if 2 * seen.stored < seen.rows * seen.bound => {
            ("gaussian-sparse".to_owned(), "most values of the first rows are zero".to_owned())
        }
        _ => (GAUSSIAN.to_owned(), "most values of the first rows are not zero".to_owned()),
    }
}

/// What the first rows look like; zeros do not count.
struct Seen {
    rows: usize,
    stored: usize,
    bound: usize,
    ones: bool,
    least: usize,
    most: usize,
}

impl Seen {
    fn of(block: &Block) -> Self {
        let rows = block.len().min(ROWS);
        let mut seen = Self { rows, stored: 0, bound: 0, ones: true, least: usize::MAX, most: 0 };
        for i in 0..rows {
            let mut count = 0;
            let mut look = |j: usize, x: f64| {
                if x != 0.0 {
                    count += 1;
                    seen.bound = seen.bound.max(j + 1);
                    seen.ones &= x == 1.0;
                }
            };
            if block.columns().is_some() {
                block.dense(i).each(&mut look);
            } else {
                block.sparse(i).each(&mut look);
            }
            seen.stored += count;
            seen.least = seen.least.min(count);
            seen.most = seen.most.max(count);
        }
        seen
    }

    /// One feature of value 1 in every row.
    fn single(&self) -> bool {
        self.ones && self.least == 1 && self.most == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use geowalk_data::{Input, Options, open};

    fn chosen(walk: &str, name: &str, text: &str) -> Option<String> {
        let mut source = open(Options::new([Input::text(name, text)])).unwrap();
        let mut block = Block::new();
        source.read(&mut block, 100).unwrap();
        choose(walk, source.schema(), &block).map(|choice| choice.walk)
    }

    #[test]
    fn the_data_say_which_family() {
        for (name, text, family) in [
            ("a.csv", "x,y,class\n1,2.5,a\n2,3,b\n", "natural:gaussian-shared"),
            ("a.csv", "color,class\nred,a\nblue,b\n", "natural:discrete"),
            ("a.csv", "color,form,class\nred,o,a\nblue,l,b\n", "natural:naive-bayes"),
            (
                "a.csv",
                "x,color,class\n1.5,red,a\n2.5,blue,b\n",
                "natural:mixed(gaussian-shared=0, rest=naive-bayes)",
            ),
            ("a.svm", "1 1:1 5:1\n0 2:1 7:1\n", "natural:naive-bayes"),
            ("a.svm", "1 1:3\n0 2:1 7:1 9:1\n", "natural:gaussian-sparse"),
            ("a.svm", "1 1:-3 2:4\n0 1:2 2:1\n", "natural:gaussian-shared"),
            ("a.svm", "1 1:1\n0 2:1\n", "natural:discrete"),
        ] {
            assert_eq!(chosen("natural:auto", name, text).as_deref(), Some(family), "{text}");
        }
        let text = "1 1:1\n0 2:1\n";
        let walk = chosen("dsngd(family=auto, ridge=0.1)", "a.svm", text);
        assert_eq!(walk.as_deref(), Some("natural:discrete(ridge=0.1)"));
        let walk = chosen("natural(schedule=inv(1, 3), cap=1)", "a.svm", text);
        assert_eq!(walk.as_deref(), Some("natural:discrete(schedule=inv(1, 3), cap=1)"));
        let walk = chosen("natural:auto(cap=1, schedule=warm(10))", "a.svm", text);
        assert_eq!(walk.as_deref(), Some("natural:discrete(cap=1, schedule=warm(10))"));
        assert_eq!(chosen("natural:poisson", "a.svm", text), None);
        assert_eq!(chosen("natural:gaussian", "a.svm", text), None);
        let wide = "1 1:3 300:1\n0 2:1 7:1 9:1\n";
        let walk = chosen("natural:gaussian(cap=1)", "a.svm", wide);
        let split = "natural:mixed(gaussian=0-255, rest=gaussian-diagonal, cap=1)";
        assert_eq!(walk.as_deref(), Some(split));
        assert_eq!(chosen("free", "a.svm", text), None);
    }
}
