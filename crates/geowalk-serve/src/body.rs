//! # Request bodies
//! Selects the reader of a body, and converts JSON to lines.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::engine::Engine;
use crate::fault::Fault;

/// Content types with their formats.
pub const TYPES: [(&str, &str); 13] = [
    ("application/json", "json"),
    ("application/x-ndjson", "jsonl"),
    ("application/ndjson", "jsonl"),
    ("application/jsonl", "jsonl"),
    ("text/csv", "csv"),
    ("text/tab-separated-values", "tsv"),
    ("text/x-vw", "vw"),
    ("application/x-vw", "vw"),
    ("text/x-libsvm", "libsvm"),
    ("application/x-libsvm", "libsvm"),
    ("application/vnd.apache.arrow.stream", "arrow"),
    ("application/vnd.apache.arrow.file", "arrow"),
    ("application/vnd.apache.parquet", "parquet"),
];

/// The format of a body, and the body in the form that its reader needs.
pub fn rows(
    content_type: Option<&str>,
    mut body: Vec<u8>,
) -> Result<(&'static str, Vec<u8>), Fault> {
    let name = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    match TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((_, "json")) => {
            lines(&mut body);
            Ok(("jsonl", body))
        }
        Some((_, format)) => Ok((format, body)),
        None => {
            let detail = format!("the content type '{}' is not known", geowalk_data::visible(name));
            let remedy = "send application/json, application/x-ndjson, text/csv, text/x-vw, text/x-libsvm, \
                or application/vnd.apache.arrow.stream";
            Err(Fault::new(415, detail, remedy))
        }
    }
}

/// Puts each object of a JSON array, or a single object, on one line, in place. Invalid JSON remains invalid.
///
/// ```
/// let mut text = b"[{\"a\": [1,\n2]},\n {\"b\": \"x,]\"}]".to_vec();
/// geowalk_serve::body::lines(&mut text);
/// assert_eq!(text, b" {\"a\": [1, 2]}\n  {\"b\": \"x,]\"} ");
/// ```
pub fn lines(text: &mut [u8]) {
    let array = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let (mut depth, mut quoted, mut escaped) = (0_u32, false, false);
    for byte in text.iter_mut() {
        match *byte {
            b'\n' | b'\r' => *byte = b' ',
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'[' | b'{' => {
                if array && depth == 0 {
                    *byte = b' ';
                }
                depth += 1;
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                if array && depth == 0 {
                    *byte = b' ';
                }
            }
            b',' if array && depth == 1 => *byte = b'\n',
            _ => {}
        }
    }
}

/// Rows of the Open Inference Protocol: one tensor of all columns, or one tensor per column.
pub fn inference(engine: &Engine, body: &[u8]) -> Result<(&'static str, Vec<u8>, Value), Fault> {
    let bad =
        |detail: String| Fault::bad(detail, "send inputs as the Open Inference Protocol says");
    let request: Value = serde_json::from_slice(body).map_err(|error| bad(error.to_string()))?;
    let inputs = request["inputs"].as_array().filter(|inputs| !inputs.is_empty());
    let inputs = inputs.ok_or_else(|| bad("there are no inputs".to_owned()))?;
    let (names, table) = engine.columns();
    let mut columns: Vec<(String, Vec<&Value>)> = Vec::new();
    for input in inputs {
        let name = input["name"].as_str().unwrap_or("input");
        let shape: Option<Vec<usize>> = input["shape"]
            .as_array()
            .and_then(|s| s.iter().map(|n| usize::try_from(n.as_u64()?).ok()).collect());
        let mut data = Vec::new();
        flatten(&input["data"], &mut data);
        let (rows, width) = match shape.as_deref() {
            Some([rows]) => (*rows, 1),
            Some([rows, width]) => (*rows, *width),
            _ => return Err(bad(format!("the shape of '{name}' must have one or two numbers"))),
        };
        if rows.checked_mul(width) != Some(data.len()) || data.is_empty() {
            return Err(bad(format!(
                "'{name}' has {} numbers, not as many as its shape",
                data.len()
            )));
        }
        let column = |k: usize| data.iter().skip(k).step_by(width).copied().collect();
        if width == 1 {
            columns.push((name.to_owned(), column(0)));
        } else {
            if !names.is_empty() && names.len() != width {
                return Err(bad(format!(
                    "'{name}' has {width} columns, and the model {}",
                    names.len()
                )));
            }
            let name_of = |k: usize| names.get(k).cloned().unwrap_or_else(|| (k + 1).to_string());
            columns.extend((0..width).map(|k| (name_of(k), column(k))));
        }
    }
    let rows = columns.first().map_or(0, |(_, values)| values.len());
    if columns.iter().any(|(_, values)| values.len() != rows) {
        return Err(bad("the inputs have different numbers of rows".to_owned()));
    }
    let numbers = table && names.is_empty();
    let mut text = String::new();
    for row in 0..rows {
        if numbers {
            text.push('0');
            for (name, values) in &columns {
                let _ = write!(text, " {name}:{}", values[row]);
            }
        } else {
            let object = columns.iter().map(|(name, values)| (name.clone(), values[row].clone()));
            text.push_str(&Value::Object(object.collect()).to_string());
        }
        text.push('\n');
    }
    Ok((if numbers { "libsvm" } else { "jsonl" }, text.into_bytes(), request["id"].clone()))
}

fn flatten<'a>(value: &'a Value, out: &mut Vec<&'a Value>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| flatten(value, out)),
        Value::Null => {}
        value => out.push(value),
    }
}

/// The response of the Open Inference Protocol.
pub fn inferred(name: &str, answer: &str, id: &Value) -> Value {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let data = answer["predictions"].clone();
    let all = data.as_array();
    let number = all.is_some_and(|values| values.iter().all(Value::is_number));
    let outputs = json!([{
        "name": "predictions", "shape": [all.map_or(0, Vec::len)],
        "datatype": if number { "FP64" } else { "BYTES" }, "data": data,
    }]);
    let mut object = json!({ "model_name": name, "outputs": outputs });
    if !id.is_null() {
        object["id"] = id.clone();
    }
    object
}
