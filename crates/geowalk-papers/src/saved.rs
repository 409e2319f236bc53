//! Writes an outcome as JSON and reads it again, so that finished experiments need not be repeated.

use geowalk_page::{Cell, Mark, Picture, Table};
use serde_json::{Value, json};

use crate::outcome::{Finding, Outcome};

/// A table cell as JSON; numbers are stored as text, because JSON has no infinity.
fn cell(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => json!({"text": text}),
        Cell::Number(value) => json!({"number": format!("{value:?}")}),
        Cell::Figures(text) => json!({"figures": text}),
        Cell::Section(text, to) => json!({"section": text, "to": to}),
        Cell::Verdict(Mark::Good, text) => json!({"good": text}),
        Cell::Verdict(Mark::Bad, text) => json!({"bad": text}),
    }
}

fn read_cell(value: &Value) -> Option<Cell> {
    let (kind, text) = value.as_object()?.iter().find(|(key, _)| *key != "to")?;
    let text = text.as_str()?;
    Some(match kind.as_str() {
        "text" => Cell::Text(text.to_owned()),
        "number" => Cell::Number(text.parse().ok()?),
        "figures" => Cell::Figures(text.to_owned()),
        "section" => {
            let to = usize::try_from(value.get("to")?.as_u64()?).ok()?;
            Cell::Section(text.to_owned(), to)
        }
        "good" => Cell::Verdict(Mark::Good, text.to_owned()),
        "bad" => Cell::Verdict(Mark::Bad, text.to_owned()),
        _ => return None,
    })
}

/// The outcome as JSON, with its stamp and the command that it came from.
pub(crate) fn write(outcome: &Outcome, stamp: &str, command: &str) -> String {
    let findings: Vec<Value> = outcome
        .findings
        .iter()
        .map(|f| {
            json!({"what": f.what, "expected": f.expected, "measured": f.measured, "met": f.met,
                "in_paper": f.in_paper, "is_disputed": f.is_disputed})
        })
        .collect();
    let tables: Vec<Value> = outcome
        .tables
        .iter()
        .map(|(file, table)| {
            let rows: Vec<Vec<Value>> =
                table.rows().iter().map(|row| row.iter().map(cell).collect()).collect();
            json!({"file": file, "caption": table.words(), "head": table.head(), "rows": rows, "stacked": table.is_stacked()})
        })
        .collect();
    let pictures: Vec<Value> = outcome
        .pictures
        .iter()
        .map(|(file, picture)| {
            let (title, description, height, body) = picture.parts();
            json!({"file": file, "title": title, "description": description, "height": height, "body": body})
        })
        .collect();
    json!({"stamp": stamp, "command": command, "findings": findings, "tables": tables, "pictures": pictures})
        .to_string()
}

/// The outcome, if the text is valid and has this stamp.
pub(crate) fn read(text: &str, stamp: &str) -> Option<Outcome> {
    let (found, _, outcome) = any(text)?;
    (found == stamp).then_some(outcome)
}

/// Stamp, command and outcome, whatever the stamp is.
pub(crate) fn any(text: &str) -> Option<(String, String, Outcome)> {
    let saved: Value = serde_json::from_str(text).ok()?;
    let string =
        |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut outcome = Outcome::new();
    for f in saved.get("findings")?.as_array()? {
        let flag = |key: &str| f.get(key)?.as_bool();
        outcome.find(Finding {
            what: string(f, "what")?,
            expected: string(f, "expected")?,
            measured: string(f, "measured")?,
            met: flag("met")?,
            in_paper: flag("in_paper")?,
            is_disputed: flag("is_disputed")?,
        });
    }
    for t in saved.get("tables")?.as_array()? {
        let head: Option<Vec<&str>> =
            t.get("head")?.as_array()?.iter().map(Value::as_str).collect();
        let mut table = Table::new(head?);
        if let Some(caption) = string(t, "caption") {
            table = table.caption(caption);
        }
        if t.get("stacked")?.as_bool()? {
            table = table.stacked();
        }
        for row in t.get("rows")?.as_array()? {
            let cells: Option<Vec<Cell>> = row.as_array()?.iter().map(read_cell).collect();
            table.push(cells?);
        }
        outcome.table(&string(t, "file")?, table);
    }
    for p in saved.get("pictures")?.as_array()? {
        let height = p.get("height")?.as_f64()?;
        let picture = Picture::from_parts(
            string(p, "title")?,
            string(p, "description")?,
            height,
            string(p, "body")?,
        );
        outcome.picture(&string(p, "file")?, picture);
    }
    Some((string(&saved, "stamp")?, string(&saved, "command")?, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;
    use geowalk_page::Plot;

    #[test]
    fn what_is_read_is_what_was_written() {
        let mut outcome = Outcome::new();
        outcome.find(Finding::at_most("a \"bound\"", 1.0, 2.0));
        outcome.find(Finding::above("not met", 1.0, 2.0).disputed());
        let rows = Table::new(["a", "b"])
            .stacked()
            .caption("c")
            .row(["x".into(), (0.1 + 0.2).into()])
            .row([Cell::Verdict(Mark::Bad, "no".into()), f64::NAN.into()]);
        outcome.table(
            "numbers",
            rows.row([Cell::Verdict(Mark::Good, "yes".into()), 7_usize.into()])
                .row([Cell::Section("s".into(), 2)]),
        );
        outcome.picture("plot", Plot::new("p").line("a", [(1.0, 2.0), (3.0, 4.0)]));
        let text = write(&outcome, "stamp 1", "repro all");
        let back = read(&text, "stamp 1").unwrap();
        assert_eq!(any(&text).unwrap().1, "repro all");
        assert_eq!(back.findings, outcome.findings);
        assert_eq!(back.tables[0].1.csv(), outcome.tables[0].1.csv());
        assert_eq!(back.pictures[0].1.svg(), outcome.pictures[0].1.svg());
        assert_eq!(write(&back, "stamp 1", "repro all"), text);
        assert!(
            read(&text, "stamp 2").is_none()
                && read("{}", "stamp 1").is_none()
                && read(&text[..text.len() / 2], "stamp 1").is_none()
        );
    }
}
