//! `geowalk list`: the tables of the library, printed.

use std::io::Write;

use geowalk::certify;
use geowalk::geometry::{generators, manifolds};
use geowalk::loss::{self, permissible};
use geowalk::spec::Entry;
use geowalk_data::FORMATS;
use geowalk_run::walks;
use serde_json::json;

use crate::Failure;
use crate::args::{Kind, List};

/// One line of a list.
struct Line {
    kind: &'static str,
    entry: Entry,
}

/// The lines of one kind, under their heading.
fn lines(kind: Kind) -> Vec<Line> {
    let of = |kind| move |&entry| Line { kind, entry };
    match kind {
        Kind::Walks => {
            walks::entries().map(|walk| Line { kind: "walk", entry: walk.entry }).collect()
        }
        Kind::Formats => {
            let line = |format: &geowalk_data::Format| Line {
                kind: "format",
                entry: Entry {
                    name: format.name,
                    parameters: "",
                    summary: format.example,
                    source: format.endings,
                },
            };
            FORMATS.iter().map(line).collect()
        }
        Kind::Geometries => {
            let generators = generators::entries().map(of("generator"));
            manifolds::entries().map(of("manifold")).chain(generators).collect()
        }
        Kind::Losses => loss::entries().map(of("loss")).collect(),
        Kind::Permissible => permissible::entries().map(of("permissible function")).collect(),
        Kind::Experiments => geowalk_papers::EXPERIMENTS
            .iter()
            .map(|experiment| Line {
                kind: "experiment",
                entry: Entry {
                    name: experiment.name,
                    parameters: "",
                    summary: experiment.what,
                    source: experiment.paper,
                },
            })
            .collect(),
        // In a list of everything a line each; asked for alone, [`theorems`].
        Kind::Theorems => certify::entries()
            .map(|theorem| Line {
                kind: "theorem",
                entry: Entry {
                    name: theorem.name,
                    parameters: "",
                    summary: theorem.bound,
                    source: theorem.source,
                },
            })
            .collect(),
    }
}

/// The theorems, with premises and corrections.
fn theorems(json: bool, out: &mut dyn Write) -> Result<(), Failure> {
    if json {
        let rows: Vec<_> = certify::entries()
            .map(|theorem| {
                let premises: Vec<_> = theorem
                    .premises
                    .iter()
                    .map(|premise| json!({"text": premise.text, "declared": premise.declared}))
                    .collect();
                json!({"kind": "theorem", "name": theorem.name, "premises": premises,
                       "bound": theorem.bound, "source": theorem.source,
                       "correction": theorem.correction})
            })
            .collect();
        writeln!(out, "{}", serde_json::Value::Array(rows))?;
        return Ok(());
    }
    for theorem in certify::entries() {
        writeln!(out, "{}  [{}]\n  {}", theorem.name, theorem.source, theorem.bound)?;
        for premise in theorem.premises {
            let mark = if premise.declared { "declared" } else { "checked " };
            writeln!(out, "    {mark}  {}", premise.text)?;
        }
        if !theorem.correction.is_empty() {
            writeln!(out, "  corrected: {}", theorem.correction)?;
        }
    }
    Ok(())
}

/// Prints the lists that were asked for.
pub(crate) fn run(list: &List, out: &mut dyn Write) -> Result<(), Failure> {
    let kinds = match list.what {
        Some(Kind::Theorems) => return theorems(list.json, out),
        Some(kind) => vec![kind],
        None => vec![
            Kind::Walks,
            Kind::Geometries,
            Kind::Losses,
            Kind::Permissible,
            Kind::Theorems,
            Kind::Formats,
            Kind::Experiments,
        ],
    };
    let lines: Vec<Line> = kinds.into_iter().flat_map(lines).collect();
    if list.json {
        let rows: Vec<_> = lines
            .iter()
            .map(|Line { kind, entry: e }| {
                json!({"kind": kind, "name": e.name, "parameters": e.parameters,
                       "summary": e.summary, "source": e.source})
            })
            .collect();
        writeln!(out, "{}", serde_json::Value::Array(rows))?;
        return Ok(());
    }
    let written = |l: &Line| match l.entry.parameters {
        "" => l.entry.name.to_owned(),
        parameters => format!("{}({parameters})", l.entry.name),
    };
    let width = lines.iter().map(|l| written(l).chars().count()).max().unwrap_or(0);
    let mut kind = "";
    for line in &lines {
        if line.kind != kind {
            let gap = if kind.is_empty() { "" } else { "\n" };
            kind = line.kind;
            writeln!(out, "{gap}{kind}")?;
        }
        writeln!(
            out,
            "  {:width$}  {}  [{}]",
            written(line),
            line.entry.summary,
            line.entry.source
        )?;
    }
    Ok(())
}
