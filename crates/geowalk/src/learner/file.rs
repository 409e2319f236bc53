//! # The file of a learner, version 1
//! Lines of text, then numbers: `geowalk learner 1`, `walk TEXT`, `loss TEXT`, `rate BITS`, `array NAME LENGTH` for each
//! array, `end`; the arrays one after the other as little-endian `f64`; eight bytes with the FNV-1a hash of all before.
//! Names and texts have no line ends. The first line and the hash stay as they are in all versions.

use std::fmt::Write as _;

use super::Learner;
use crate::certify::FirstOrder;
use crate::loss::{AnyLoss, Loss};
use crate::sum::Sum;

const MAGIC: &str = "geowalk learner ";
const VERSION: &str = "1";

/// Detects accidents; not a cryptographic hash.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

pub(super) fn write(learner: &Learner) -> Vec<u8> {
    let mut arrays: Vec<(String, Vec<f64>)> = Vec::new();
    learner.walk.save(&mut |name, values| arrays.push((format!("walk.{name}"), values.to_vec())));
    learner.bound.save(&mut |name, values| arrays.push((format!("bound.{name}"), values.to_vec())));
    arrays.push(("total".to_owned(), learner.total.save().to_vec()));
    let mut head =
        format!("{MAGIC}{VERSION}\nwalk {}\nloss {}\n", learner.text, learner.loss.spec());
    let _ = writeln!(head, "rate {:016x}", learner.rate.to_bits());
    for (name, values) in &arrays {
        let _ = writeln!(head, "array {name} {}", values.len());
    }
    head.push_str("end\n");
    let mut bytes = head.into_bytes();
    let numbers = arrays.iter().flat_map(|(_, values)| values);
    bytes.extend(numbers.flat_map(|value| value.to_le_bytes()));
    let check = hash(&bytes);
    bytes.extend(check.to_le_bytes());
    bytes
}

pub(super) fn read(bytes: &[u8]) -> Result<Learner, String> {
    let damaged = || "the file is damaged: use a copy, or train again".to_owned();
    let Some(rest) = bytes.strip_prefix(MAGIC.as_bytes()) else {
        return Err("this is not a file that geowalk::Learner saved".to_owned());
    };
    let (body, check) = bytes.split_last_chunk::<8>().ok_or_else(damaged)?;
    let version = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if version != VERSION.as_bytes() {
        let version = String::from_utf8_lossy(&version[..version.len().min(20)]);
        return Err(format!("version {version} of the file; this geowalk reads version {VERSION}"));
    }
    if u64::from_le_bytes(*check) != hash(body) {
        return Err(damaged());
    }
    parse(body).ok_or_else(damaged)?
}

/// `None` where the lines are not as they are written.
fn parse(body: &[u8]) -> Option<Result<Learner, String>> {
    const END: &[u8] = b"\nend\n";
    let end = body.windows(END.len()).position(|window| window == END)? + END.len();
    let mut lines = std::str::from_utf8(&body[..end]).ok()?.lines().skip(1);
    let walk = lines.next()?.strip_prefix("walk ")?;
    let loss = lines.next()?.strip_prefix("loss ")?;
    let rate = u64::from_str_radix(lines.next()?.strip_prefix("rate ")?, 16).ok()?;
    let mut numbers = body[end..].chunks_exact(8);
    let mut arrays: Vec<(&str, Vec<f64>)> = Vec::new();
    for line in lines.take_while(|line| *line != "end") {
        let (name, length) = line.strip_prefix("array ")?.split_once(' ')?;
        let length: usize = length.parse().ok()?;
        let values: Vec<f64> = numbers
            .by_ref()
            .take(length)
            .filter_map(|number| Some(f64::from_le_bytes(number.try_into().ok()?)))
            .collect();
        (values.len() == length).then_some(())?;
        arrays.push((name, values));
    }
    (numbers.next().is_none() && numbers.remainder().is_empty()).then_some(())?;
    let find = |name: &str| arrays.iter().find(|a| a.0 == name).map(|a| a.1.clone());
    let total: [f64; 4] = find("total")?.try_into().ok()?;
    let made = || -> Result<Learner, String> {
        let loss = AnyLoss::parse(loss).map_err(|error| error.to_string())?;
        let mut learner = Learner::build(walk, loss, f64::from_bits(rate), None)
            .map_err(|error| error.to_string())?;
        let walk = learner.walk.load(&mut |name| find(&format!("walk.{name}")));
        walk.map_err(|error| error.to_string())?;
        learner.bound = FirstOrder::new(&learner.loss.facts());
        let bound = learner.bound.load(&mut |name| find(&format!("bound.{name}")));
        bound.map_err(|error| error.to_string())?;
        learner.total = Sum::load(total);
        learner.extend(learner.walk.features());
        Ok(learner)
    };
    Some(made())
}
