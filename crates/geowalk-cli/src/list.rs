//! `geowalk list`: the tables of the library, printed.

use std::io::Write;

use geowalk::geometry::{generators, manifolds};
use geowalk::loss::{self, permissible};
use serde_json::json;

use crate::Failure;
use crate::args::{Kind, List};

/// One line of a list.
struct Line {
    kind: &'static str,
    name: &'static str,
    parameters: &'static str,
    summary: &'static str,
    source: &'static str,
}

/// The lines of one kind, under their heading.
fn lines(kind: Kind) -> Vec<Line> {
    macro_rules! from {
        ($entries:expr, $kind:literal) => {
            $entries.iter().map(|e| Line {
                kind: $kind,
                name: e.name,
                parameters: e.parameters,
                summary: e.summary,
                source: e.source,
            })
        };
    }
    match kind {
        Kind::Geometries => from!(manifolds::entries(), "manifold")
            .chain(from!(generators::entries(), "generator"))
            .collect(),
        Kind::Losses => from!(loss::entries(), "loss").collect(),
        Kind::Permissible => from!(permissible::entries(), "permissible").collect(),
    }
}

/// Prints the lists that were asked for.
pub(crate) fn run(list: &List, out: &mut dyn Write) -> Result<(), Failure> {
    let kinds = match list.what {
        Some(kind) => vec![kind],
        None => vec![Kind::Geometries, Kind::Losses, Kind::Permissible],
    };
    let lines: Vec<Line> = kinds.into_iter().flat_map(lines).collect();
    if list.json {
        let rows: Vec<_> = lines
            .iter()
            .map(|l| {
                json!({"kind": l.kind, "name": l.name, "parameters": l.parameters,
                       "summary": l.summary, "source": l.source})
            })
            .collect();
        writeln!(out, "{}", serde_json::Value::Array(rows))?;
        return Ok(());
    }
    let written = |l: &Line| match l.parameters {
        "" => l.name.to_owned(),
        parameters => format!("{}({parameters})", l.name),
    };
    let width = lines.iter().map(|l| written(l).chars().count()).max().unwrap_or(0);
    let mut kind = "";
    for line in &lines {
        if line.kind != kind {
            let gap = if kind.is_empty() { "" } else { "\n" };
            kind = line.kind;
            writeln!(out, "{gap}{kind}")?;
        }
        writeln!(out, "  {:width$}  {}  [{}]", written(line), line.summary, line.source)?;
    }
    Ok(())
}
