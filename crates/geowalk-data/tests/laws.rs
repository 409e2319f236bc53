//! Neither the number of rows per read nor the size of the buffer changes the rows; garbage gives an error, never a panic.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests")]

use geowalk::laws::Sampler;
use geowalk::row::{Block, Row};
use geowalk_data::{Input, OnError, Options, open};

/// The rows without their zeros, what was skipped, and how it ended.
fn trace(name: &str, inputs: &[Vec<u8>], rows: usize, buffer: usize, skip: bool) -> Vec<String> {
    let files = inputs
        .iter()
        .enumerate()
        .map(|(k, text)| Input::text(&format!("{k}.{name}"), text.clone()));
    let on_error = if skip { OnError::Skip } else { OnError::Fail };
    let options = Options { format: Some(name.into()), on_error, buffer, ..Options::new(files) };
    let mut out = Vec::new();
    let mut source = match open(options) {
        Ok(source) => source,
        Err(error) => return vec![error.to_string()],
    };
    let mut block = Block::new();
    loop {
        match source.read(&mut block, rows) {
            Ok(0) => break,
            Ok(n) => assert_eq!(n, block.len()),
            Err(error) => {
                out.push(error.to_string());
                break;
            }
        }
        for i in 0..block.len() {
            let mut features = Vec::new();
            let mut add = |index: usize, value: f64| {
                if value != 0.0 {
                    features.push((index, value.to_bits()));
                }
            };
            match block.columns() {
                Some(_) => block.dense(i).each(&mut add),
                None => block.sparse(i).each(&mut add),
            }
            features.sort_unstable();
            out.push(format!("{} {} {features:?}", block.labels()[i], block.weights()[i]));
        }
    }
    out.push(format!("{}", source.skipped().rows()));
    out.extend(source.skipped().first().iter().map(ToString::to_string));
    out
}

fn check(name: &str, inputs: &[Vec<u8>]) -> usize {
    let mut rows = 0;
    for skip in [false, true] {
        let whole = trace(name, inputs, usize::MAX, 4 << 20, skip);
        rows = whole.len();
        for (rows, buffer) in [(1, 4 << 20), (usize::MAX, 1), (7, 13), (100, 4096)] {
            assert_eq!(
                trace(name, inputs, rows, buffer, skip),
                whole,
                "{name} {rows} {buffer} {skip}"
            );
        }
    }
    rows
}

const SAMPLES: &[(&str, &str)] = &[
    ("libsvm", "+1 1:0.5 3:2 # c\r\n-1 2:1e-3 1:4\n\n0 9:1.2345678 10:99999999\n2 7:x\n"),
    ("vw", "1 2 't |a x:0.5 17:0.25 y |b:2 12 :3\n|c z\n-1 |a x:1e-3\n1|bad q\n0 | 1:1 2:2 3:3\n"),
    ("csv", "a,b,class\n1,red,x\n2.5,\"b\nlue\",y\n,green,x\n3,\"q\"\"q\",z\n1,2\n"),
    ("csv", "a,b,y\n1,2,3\n4,5,6\n0.25,1e3,-7\n8,,9\n1,\"2\",3\n"),
    ("tsv", "a\tclass\n1\tx\n\"\ty\n2\tx\n"),
    // Free text, of which a word occurs twice.
    (
        "tsv",
        "t\tclass\nan a or A\tx\nor b c é\ty\na b d\tx\nthe a the b\ty\n\tx\nno é or c\ty\na c x\tx\nb b b\ty\nc d e\tx\nwhat é is\ty\nno é d\tx\n",
    ),
    (
        "jsonl",
        "{\"y\":1,\"a\":{\"b\":[1,2]},\"s\":\"t\"}\n{\"y\":2,\"s\":null}\n{\"y\":3,}\n{\"y\":4}\n",
    ),
];

#[test]
fn blocks_and_buffers_do_not_matter() {
    for (name, text) in SAMPLES {
        let (head, body) = match *name {
            "csv" | "tsv" => text.split_once('\n').map(|(h, b)| (format!("{h}\n"), b)).unwrap(),
            _ => (String::new(), *text),
        };
        // Longer than the sample, so that what is inferred is inferred from a part.
        let long = format!("{head}{}", body.repeat(400)).into_bytes();
        let rows = check(name, &[text.as_bytes().to_vec(), Vec::new(), long]);
        assert!(rows > 800, "{name}: {rows}");
    }
}

#[test]
fn garbage_is_an_error_never_a_panic() {
    let mut bits = Sampler::new(3);
    for (name, text) in SAMPLES {
        for _ in 0..400 {
            let mut bytes = text.repeat(1 + bits.below(3)).into_bytes();
            for _ in 0..=bits.below(6) {
                let at = bits.below(bytes.len());
                match bits.below(4) {
                    0 => bytes[at] = u8::try_from(bits.below(256)).unwrap(),
                    1 => bytes.truncate(at.max(1)),
                    2 => bytes.insert(at, b"\"|:,.#{}[]\n\r\t e-0\\"[bits.below(18)]),
                    _ => drop(bytes.remove(at)),
                }
                if bytes.is_empty() {
                    bytes.push(b'1');
                }
            }
            let whole = trace(name, &[bytes.clone()], usize::MAX, 4 << 20, true);
            assert_eq!(
                trace(name, &[bytes.clone()], 1, 5, true),
                whole,
                "{name} {:?}",
                String::from_utf8_lossy(&bytes)
            );
        }
    }
}
