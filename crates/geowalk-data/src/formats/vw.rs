//! # VW text
//! `[label [importance]] ['tag] |namespace[:weight] name[:value] ... |namespace ...`
//!
//! **Names** are hashed with their namespace as seed. A name of digits is its number plus the hash of the namespace,
//! as in VW by default, so numbered features collide with text in the same way. Values without a name are counted: `|f
//! :2 :3` is `|f 0:2 1:3`. Exact names are `namespace^name`.
//!
//! **Labels** A row without a label gets the label NaN. The tag of a row is shown beside its prediction. After label
//! and importance, the tag needs no apostrophe. A number that touches the bar would be a tag in VW, and the row would
//! silently have no label; here that is an error.
//!
//! **Refused** A third number before the bar, which is an initial prediction; anything between a tag and the bar;
//! labels of other problems (contextual bandits, costs, lists, names); control characters, which VW takes for parts of
//! names.

use geowalk::row::Block;
use memchr::{memchr, memchr_iter};

use super::reader;
use crate::Options;
use crate::batch::Batch;
use crate::bytes::{Bytes, Record};
use crate::error::{DataError, ErrorKind, Fault, What, excerpt};
use crate::number::{self, has_control};
use crate::pairs::Pairs;
use crate::piece::{Helper, Piece, Shadowing};
use crate::schema::{Counted, Features, Hashed, Journal, Labels, Namespace, Place, Schema, Shadow};
use crate::source::{Parsed, Parser, Source};

pub(super) fn open(bytes: Bytes, options: Options) -> Result<Box<dyn Source>, DataError> {
    let hashed = Hashed::new(Hashed::BITS).map(Features::Hashed);
    let features = hashed
        .and_then(|usual| options.features(|| usual))
        .map_err(|kind| kind.of(bytes.name()))?;
    let schema = Schema::from_parts(features, Labels::Numbers, Vec::new());
    reader(bytes, Vw { schema, pairs: Pairs::default() }, options)
}

/// Whether a line has a bar, and only numbers and a tag before it.
pub(super) fn sniff(line: &[u8]) -> bool {
    let Some(bar) = memchr(b'|', line) else { return false };
    let tokens = line[..bar].split(|b| *b == b' ').filter(|t| !t.is_empty());
    // After label and importance, a tag needs no apostrophe.
    let is_head = |(k, token): (usize, &[u8])| {
        let other = || problem(token).is_some_and(|problem| problem != NAMED);
        k == 2 || token.starts_with(b"'") || number::field(token).is_some() || other()
    };
    tokens.enumerate().all(is_head)
}

struct Vw {
    schema: Schema,
    pairs: Pairs,
}

impl Parser for Vw {
    fn row(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        let pairs = &mut self.pairs;
        match &mut self.schema.features {
            Features::Hashed(hashed) => row(record, block, hashed, pairs),
            Features::Exact(names) => row(record, block, names, pairs),
            Features::Index(index) => row(record, block, &mut Counted::known(*index), pairs),
        }
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn helper(&self) -> Option<Helper> {
        let shadow = Shadow::of(&self.schema.features)?;
        Some(Helper(Box::new(Shadowed { shadow, pairs: Pairs::default() })))
    }

    fn learn(&mut self, journal: &mut Journal) -> Result<(), ErrorKind> {
        journal.replay(&mut self.schema.features)
    }
}

/// Parser of pieces, out of order.
struct Shadowed {
    shadow: Shadow,
    pairs: Pairs,
}

impl Shadowing for Shadowed {
    fn parse(&mut self, piece: &mut Piece) {
        let Self { shadow, pairs } = self;
        match shadow {
            Shadow::Hashed(watch) => piece.rows(|record, block| row(record, block, watch, pairs)),
            Shadow::Index(index) => piece.rows(|record, block| row(record, block, index, pairs)),
        }
    }

    fn shadow(&mut self) -> &mut Shadow {
        &mut self.shadow
    }
}

/// The part of a line before the bar.
struct Head<'a> {
    label: f64,
    weight: f64,
    tag: &'a [u8],
}

#[inline]
fn row<P: Place>(
    record: Record<'_>,
    block: &mut Block,
    place: &mut P,
    pairs: &mut Pairs,
) -> Result<Parsed, Fault> {
    let Record { text, end } = record;
    let bar = memchr(b'|', &text[..end]).unwrap_or(end);
    if bar == end && record.bytes().trim_ascii().is_empty() {
        return Ok(Parsed::Nothing);
    }
    if has_control(record.bytes()) {
        return Err(control_fault(record));
    }
    let head = head(record, bar)?;
    if !head.tag.is_empty() {
        block.tag(head.tag);
    }
    let mut at = bar;
    while at < end {
        at = namespace(record, at + 1, block, place, pairs)?;
    }
    block.end(head.label, head.weight);
    Ok(Parsed::Row)
}

/// Parses label, importance weight and tag.
fn head(record: Record<'_>, bar: usize) -> Result<Head<'_>, Fault> {
    let text = record.text;
    let mut numbers = [f64::NAN, 1.0];
    let mut count = 0;
    let mut at = 0;
    loop {
        while at < bar && text[at] <= b' ' {
            at += 1;
        }
        if at == bar {
            break;
        }
        let touches = || {
            let length = text[at..bar].iter().position(|b| *b <= b' ');
            length.is_none() && bar < record.end
        };
        if text[at] == b'\'' {
            // A tag, which must come last.
            let tag = text[at..bar].iter().position(|b| *b <= b' ').unwrap_or(bar - at);
            let rest = text[at + tag..bar].trim_ascii();
            if !rest.is_empty() {
                return Err(ErrorKind::AfterTag { found: excerpt(rest) }.at(at + tag + 1));
            }
            break;
        }
        match number::decimal(text, at) {
            Some((_, after)) if after == bar && bar < record.end && count == 0 => {
                return Err(ErrorKind::LabelIsTag { found: excerpt(&text[at..bar]) }.at(at));
            }
            Some((_, after)) if after == bar && bar < record.end => break, // a tag made of digits
            Some((number, after)) if text[after] <= b' ' && number.is_finite() => {
                match numbers.get_mut(count) {
                    Some(place) => *place = number,
                    None => return Err(ErrorKind::Base { found: excerpt(&text[at..after]) }.at(at)),
                }
                if count == 1 && number < 0.0 {
                    return Err(ErrorKind::Weight { found: number }.at(at));
                }
                count += 1;
                at = after;
            }
            _ if touches() => break,
            // After label and weight, a tag needs no apostrophe: 1 2 second_house | ...
            None if count == 2 && text[at..bar].trim_ascii().iter().all(|b| *b > b' ') => break,
            _ => {
                let found = text[at..bar].split(|b| *b <= b' ').next().unwrap_or_default();
                if let (0, Some(problem)) = (count, problem(found)) {
                    return Err(ErrorKind::VwLabel { found: excerpt(found), problem }.at(at));
                }
                let what = if count == 0 { What::Label } else { What::Weight };
                return Err(ErrorKind::Number { what, found: excerpt(found) }.at(at));
            }
        }
    }
    let tag = text[at..bar].trim_ascii();
    let tag = tag.strip_prefix(b"'").unwrap_or(tag);
    Ok(Head { label: numbers[0], weight: numbers[1], tag })
}

const NAMED: &str = "a name as label";

/// The problem that a label belongs to if it is not a number; `None` if VW has no such labels.
#[cold]
fn problem(label: &[u8]) -> Option<&'static str> {
    let all_numbers = |separator: u8| {
        let mut parts = label.split(|b| *b == separator);
        parts.all(|part| number::field(part).is_some_and(f64::is_finite))
    };
    let colons = memchr_iter(b':', label).count();
    match label {
        b"shared" => Some("the beginning of a contextual bandit with features of actions"),
        b"ccb" => Some("the beginning of a conditional contextual bandit"),
        b"slates" => Some("the beginning of slates"),
        b"ca" => Some("the beginning of a contextual bandit with continuous actions"),
        _ if colons == 1 && all_numbers(b':') => {
            Some("class:cost of cost-sensitive classification")
        }
        _ if colons == 2 && all_numbers(b':') => {
            Some("action:cost:probability of a contextual bandit")
        }
        _ if label.contains(&b',') && all_numbers(b',') => Some("a list of labels"),
        _ if number::field(label).is_some() => None,
        _ if label
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(b) || !b.is_ascii()) =>
        {
            Some(NAMED)
        }
        _ => None,
    }
}

#[cold]
fn control_fault(record: Record<'_>) -> Fault {
    let at = record.bytes().iter().position(|b| *b < b' ' && *b != b'\t').unwrap_or(0);
    ErrorKind::Control { found: record.bytes()[at] }.at(at)
}

/// Reads the namespace that begins at `at`, just after its bar. Returns the position of the next bar or the end.
#[inline]
fn namespace<P: Place>(
    record: Record<'_>,
    at: usize,
    block: &mut Block,
    place: &mut P,
    pairs: &mut Pairs,
) -> Result<usize, Fault> {
    let Record { text, end } = record;
    let mut at = at;
    let after = name_end(text, at);
    let space = Namespace::new(&text[at..after]);
    let mut weight = 1.0;
    at = after;
    if text[at] == b':' {
        match number::decimal(text, at + 1) {
            Some((number, after)) if ends(text[after]) && number.is_finite() => {
                weight = number;
                at = after;
            }
            _ => return Err(number_fault(record, at + 1, What::Namespace(excerpt(space.name)))),
        }
    }
    // Short numbers are below 10^8, so their product with such a weight does not overflow.
    let harmless = weight.abs() <= 1e300;
    let mut nameless = 0;
    loop {
        while at < end && text[at] <= b' ' {
            at += 1;
        }
        if at >= end || text[at] == b'|' {
            return Ok(at);
        }
        let before = at;
        if harmless && text[at].is_ascii_digit() {
            at = numbered(record, at, block, place, (space, weight), pairs)?;
        }
        if at == before {
            at = any(record, at, block, place, space, weight, &mut nameless)?;
        }
    }
}

/// Parses features `number:value` in their common form, from `at` on. A separate function, so that its constants stay
/// in registers.
#[inline(never)]
fn numbered<P: Place>(
    record: Record<'_>,
    at: usize,
    block: &mut Block,
    place: &mut P,
    (space, weight): (Namespace<'_>, f64),
    pairs: &mut Pairs,
) -> Result<usize, Fault> {
    let Record { text, end } = record;
    // Values up to `largest` do not overflow when multiplied by the weight.
    let largest = (f64::MAX / weight.abs()).min(f64::MAX);
    let bar = memchr(b'|', text.get(at..end).unwrap_or_default()).map_or(end, |bar| at + bar);
    let at = pairs.read(
        record,
        at,
        bar,
        largest,
        #[inline(always)]
        |mut found| {
            found.place(place, space)?;
            found.values.iter_mut().for_each(|value| *value *= weight);
            block.features(found.numbers, found.values);
            Ok(())
        },
    )?;
    let mut batch = Batch::new();
    let next = number::pairs(text, at, end, largest, |name, number, value| {
        batch.push(place.number(space, name, number)?, value * weight, block);
        Ok(())
    });
    batch.flush(block);
    next.map_err(|(offset, kind): (usize, ErrorKind)| kind.at(offset))
}

/// Parses a feature in any form.
fn any<P: Place>(
    record: Record<'_>,
    at: usize,
    block: &mut Block,
    place: &mut P,
    space: Namespace<'_>,
    weight: f64,
    nameless: &mut u64,
) -> Result<usize, Fault> {
    let text = record.text;
    let (index, after) = match number::whole(text, at) {
        Some((number, after)) if text[after] == b':' || ends(text[after]) => {
            (place.number(space, &text[at..after], number), after)
        }
        _ => match name_end(text, at) {
            after if after == at => {
                let number = *nameless;
                *nameless += 1;
                (place.number(space, number.to_string().as_bytes(), number), after)
            }
            after => (place.text(space, &text[at..after]), after),
        },
    };
    let index = index.map_err(|kind| kind.at(at))?;
    if text[after] != b':' {
        block.feature(index, weight);
        return Ok(after);
    }
    let value = number::separated(text, after + 1, b' ');
    match value.or_else(|| number::decimal(text, after + 1)) {
        Some((value, next)) if ends(text[next]) && (value * weight).is_finite() => {
            block.feature(index, value * weight);
            Ok(next)
        }
        _ => {
            let what = What::Value(excerpt(&text[at..after]));
            Err(number_fault(record, after + 1, what))
        }
    }
}

/// Whether this byte ends a feature.
#[inline(always)]
fn ends(byte: u8) -> bool {
    byte <= b' ' || byte == b'|'
}

/// The end of the name that begins at `at`: a blank, a colon or a bar. The line end guarantees that there is one.
#[inline]
fn name_end(text: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // Sets the high bit of bytes below `limit`. Correct up to and including the first such byte.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(bytes) = rest.first_chunk::<8>() else {
            return at + rest.iter().position(|b| *b == b':' || ends(*b)).unwrap_or(rest.len());
        };
        let word = u64::from_le_bytes(*bytes);
        let found = below(word, b' ' + 1)
            | below(word ^ (ONES * u64::from(b':')), 1)
            | below(word ^ (ONES * u64::from(b'|')), 1);
        let found = found & (ONES << 7);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
}

#[cold]
fn number_fault(record: Record<'_>, at: usize, what: What) -> Fault {
    let rest = record.bytes().get(at..).unwrap_or_default();
    let found = rest.split(|b| ends(*b)).next().unwrap_or_default();
    ErrorKind::Number { what, found: excerpt(found) }.at(at)
}
