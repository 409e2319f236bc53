//! `geowalk explain`: what a word of the output means. The words are those of `docs/glossary.md`.

use std::io::Write;

use geowalk::spec;
use geowalk_run::walks;

use crate::Failure;
use crate::args::Explain;

/// The glossary of the documentation.
const GLOSSARY: &str = include_str!("../../../docs/glossary.md");

/// The longest line that is printed.
const WIDTH: usize = 100;

/// A word and what it means.
struct Word<'a> {
    /// The word, and others for the same.
    names: Vec<&'a str>,
    meaning: String,
}

/// Prints what a word means, or all words.
pub(crate) fn run(args: &Explain, out: &mut dyn Write) -> Result<(), Failure> {
    let words = words();
    let asked = plain(&args.term.join(" "));
    if asked.is_empty() {
        for word in &words {
            writeln!(out, "{}", word.names.join(", "))?;
        }
        return Ok(());
    }
    if let Some(word) = words.iter().find(|word| word.names.iter().any(|name| plain(name) == asked))
    {
        return Ok(print(word, out)?);
    }
    // Walks, losses and theorems are described where they are listed.
    if let Some(walk) = walks::entries().find(|walk| plain(walk.entry.name) == asked) {
        writeln!(out, "{}: {} (geowalk list walks)", walk.entry.name, walk.entry.summary)?;
        return Ok(());
    }
    let holding: Vec<&Word<'_>> = words
        .iter()
        .filter(|word| word.names.iter().any(|name| plain(name).contains(&asked)))
        .collect();
    if holding.is_empty() {
        let names = words.iter().flat_map(|word| word.names.iter().copied());
        return Err(spec::unknown("term", &args.term.join(" "), names).into());
    }
    Ok(holding.into_iter().try_for_each(|word| print(word, out))?)
}

fn words() -> Vec<Word<'static>> {
    let entries = GLOSSARY.split("\n- **").skip(1).filter_map(|entry| {
        let entry = entry.split("\n\n").next()?;
        let (names, meaning) = entry.split_once("**: ")?;
        let meaning = meaning.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Word { names: names.split(", ").collect(), meaning })
    });
    entries.collect()
}

/// As words are compared.
fn plain(text: &str) -> String {
    text.to_lowercase().replace(['_', '-'], " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn print(word: &Word<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let mut line = format!("{}:", word.names.join(", "));
    for part in word.meaning.split(' ') {
        if line.chars().count() + 1 + part.chars().count() > WIDTH {
            writeln!(out, "{line}")?;
            line.clear();
            line.push(' ');
        }
        line.push(' ');
        line.push_str(part);
    }
    writeln!(out, "{line}")
}
