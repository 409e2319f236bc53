//! # LIBSVM
//! `label index:value index:value ... # comment`
//!
//! **Indices** begin at 0 or at 1. If 0 occurs in the first rows, they begin at 0, otherwise at 1. A later index 0 is
//! then an error that says how to fix it. Indices may come in any order. An index that occurs twice in a row is an
//! error, unless the user asks for duplicates to be added.
//!
//! **Wide files** Learners keep weights for all indices up to the largest. From the first index of 2²⁴ or more on,
//! features are numbered as they are met, behind those up to the largest index so far: memory grows with the
//! features that occur. A model whose features are numbers refuses indices above 2²⁵.
//!
//! **Refused** `qid:` (ranking) and lists of labels (`3,7`).
//!
//! **Cost** One pass over the line. In rows with increasing indices, no search for duplicates is needed.

use geowalk::row::Block;

use super::reader;
use crate::batch::Batch;
use crate::bytes::{Bytes, Record};
use crate::decision::Decision;
use crate::error::{Base, DataError, ErrorKind, Fault, What, excerpt};
use crate::number;
use crate::pairs::Pairs;
use crate::piece::{Helper, Piece, Shadowing};
use crate::schema::{
    Counted, Dictionary, Features, Index, Journal, Labels, Namespace, Place, Schema, Shadow,
};
use crate::source::{Parsed, Parser, Source};
use crate::{Duplicates, Indexing, Options};

pub(super) fn open(bytes: Bytes, options: Options) -> Result<Box<dyn Source>, DataError> {
    let index =
        Index { base: options.index_base.unwrap_or(1), detected: options.index_base.is_none() };
    if index.base > 1 {
        let error = geowalk::ConfigError::OutOfRange {
            name: "index-base",
            value: f64::from(index.base),
            allowed: geowalk::error::Allowed::Closed(0.0, 1.0),
        };
        return Err(ErrorKind::Config(error).of(bytes.name()));
    }
    // The indices in the file identify features as exactly as a dictionary would.
    let features = match (&options.schema, options.indexing) {
        (None, Indexing::Exact) => Ok(Features::Index(index)),
        _ => options.features(|| Features::Index(index)),
    };
    let features = features.map_err(|kind| kind.of(bytes.name()))?;
    let parser = Libsvm {
        known: options.schema.is_some(),
        sampled: 0,
        largest: 0,
        bound: 0,
        widened: None,
        decisions: Vec::new(),
        infer: matches!(features, Features::Index(_)) && options.schema.is_none() && index.detected,
        schema: Schema::from_parts(features, Labels::Numbers, Vec::new()),
        rules: Rules { unlabelled: options.unlabelled, duplicates: options.duplicates },
        scratch: Scratch::default(),
    };
    reader(bytes, parser, options)
}

/// Whether a line is a number followed only by `index:value` pairs.
pub(super) fn sniff(line: &[u8]) -> bool {
    let mut tokens = line.split(u8::is_ascii_whitespace).filter(|t| !t.is_empty());
    let label = tokens.next().is_some_and(|label| number::field(label).is_some());
    let mut pairs = tokens.take_while(|t| !t.starts_with(b"#")).peekable();
    label
        && pairs.peek().is_some()
        && pairs.all(|pair| {
            pair.starts_with(b"qid:")
                || matches!(number::whole(pair, 0), Some((_, end)) if pair.get(end) == Some(&b':'))
        })
}

struct Libsvm {
    schema: Schema,
    rules: Rules,
    infer: bool,
    /// Whether the schema comes from an earlier reading.
    known: bool,
    /// Number of rows in the sample, and the largest index in them.
    sampled: usize,
    largest: u64,
    /// One more than the largest place so far.
    bound: u32,
    /// The first index that was too large for a weight of every index below it.
    widened: Option<u64>,
    decisions: Vec<Decision>,
    scratch: Scratch,
}

/// Memory that is reused.
#[derive(Default)]
struct Scratch {
    pairs: Pairs,
    /// Indices and offsets of a row whose order does not exclude duplicates.
    sorted: Vec<(u64, usize)>,
}

#[derive(Clone, Copy)]
struct Rules {
    unlabelled: bool,
    duplicates: Duplicates,
}

impl Parser for Libsvm {
    fn wants_sample(&self) -> bool {
        matches!(self.schema.features, Features::Index(_)) && !self.known
    }

    fn sample(&mut self, record: Record<'_>) {
        if !self.wants_sample() {
            return;
        }
        self.sampled += 1;
        let index = |token: &[u8]| {
            let found = number::whole(token, 0).filter(|(_, end)| token.get(*end) == Some(&b':'));
            found.map(|(index, _)| index)
        };
        let tokens = record.bytes().split(u8::is_ascii_whitespace);
        for found in tokens.take_while(|token| !token.starts_with(b"#")).filter_map(index) {
            self.largest = self.largest.max(found);
            if let (0, true, Features::Index(index)) =
                (found, self.infer, &mut self.schema.features)
            {
                index.base = 0;
            }
        }
    }

    fn settle(&mut self) -> Result<(), ErrorKind> {
        let Features::Index(Index { base, .. }) = self.schema.features else { return Ok(()) };
        if self.wants_sample() && self.largest >= Index::WIDE {
            // Feature names do not depend on the base.
            self.schema.features = Features::Exact(Dictionary::default());
            self.decisions.push(Decision::Wide { largest: self.largest });
        } else if self.infer {
            self.decisions.push(Decision::Base { base, rows: self.sampled });
        }
        Ok(())
    }

    fn row(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        let found = self.parse(record, block);
        let found = match found {
            Err(fault) if self.is_first_wide(&fault) => {
                block.abandon();
                self.number_as_met(&fault).map_err(|kind| kind.at(fault.offset))?;
                self.parse(record, block)
            }
            found => found,
        };
        found.map_err(|fault| self.explain(fault))
    }

    fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    fn remarks(&self) -> Vec<Decision> {
        self.widened.map(|found| Decision::Widened { found }).into_iter().collect()
    }

    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn helper(&self) -> Option<Helper> {
        let shadow = Shadow::of(&self.schema.features)?;
        Some(Helper(Box::new(Shadowed { shadow, rules: self.rules, scratch: Scratch::default() })))
    }

    fn trusts(&self, journal: &Journal) -> bool {
        // Places beyond the bound are given in the order of the rows.
        !matches!(self.schema.features, Features::Exact(_)) || journal.bound <= self.bound
    }

    fn learn(&mut self, journal: &mut Journal) -> Result<(), ErrorKind> {
        if matches!(self.schema.features, Features::Index(_)) {
            self.bound = self.bound.max(journal.bound);
        }
        journal.replay(&mut self.schema.features)
    }
}

impl Libsvm {
    #[inline]
    fn parse(&mut self, record: Record<'_>, block: &mut Block) -> Result<Parsed, Fault> {
        let Self { rules, scratch, .. } = self;
        match &mut self.schema.features {
            Features::Index(index) => {
                let mut counted =
                    if self.known { Counted::known(*index) } else { Counted::fresh(*index) };
                let found = row(record, block, &mut counted, *rules, scratch);
                self.bound = self.bound.max(counted.bound);
                found
            }
            Features::Hashed(hashed) => row(record, block, hashed, *rules, scratch),
            Features::Exact(names) => row(record, block, &mut Met(names), *rules, scratch),
        }
    }

    /// Is this the first index that is too large to keep weights for all below it?
    #[cold]
    fn is_first_wide(&self, fault: &Fault) -> bool {
        let numbered = matches!(self.schema.features, Features::Index(_));
        numbered && !self.known && matches!(*fault.kind, ErrorKind::IndexTooLarge { .. })
    }

    /// Numbers the features from here on as they are met; those so far keep their places.
    #[cold]
    fn number_as_met(&mut self, fault: &Fault) -> Result<(), ErrorKind> {
        let mut names = Dictionary::default();
        for place in 0..self.bound {
            names.insert(self.schema.features.name(place).unwrap_or_default().as_bytes())?;
        }
        self.schema.features = Features::Exact(names);
        if let ErrorKind::IndexTooLarge { found, .. } = *fault.kind {
            self.widened = Some(found);
        }
        Ok(())
    }

    /// Adds to an index-0 fault how the base is known.
    #[cold]
    fn explain(&self, mut fault: Fault) -> Fault {
        if let ErrorKind::IndexZero { told } = &mut *fault.kind {
            *told = match self.known {
                true => Base::Model,
                false if self.infer => Base::Rows(self.sampled),
                false => Base::Option,
            };
        }
        fault
    }
}

/// Indices that are numbered as they are met; zeros in front of one do not count.
struct Met<'a>(&'a mut Dictionary);

impl Place for Met<'_> {
    #[inline]
    fn number(&mut self, space: Namespace<'_>, name: &[u8], _: u64) -> Result<u32, ErrorKind> {
        let zeros = name.iter().take_while(|digit| **digit == b'0').count();
        self.text(space, &name[zeros.min(name.len() - 1)..])
    }

    fn text(&mut self, space: Namespace<'_>, name: &[u8]) -> Result<u32, ErrorKind> {
        self.0.text(space, name)
    }
}

/// Parser of pieces, out of order.
struct Shadowed {
    shadow: Shadow,
    rules: Rules,
    scratch: Scratch,
}

impl Shadowing for Shadowed {
    fn parse(&mut self, piece: &mut Piece) {
        let Self { shadow, rules, scratch } = self;
        match shadow {
            Shadow::Hashed(watch) => {
                piece.rows(|record, block| row(record, block, watch, *rules, scratch));
            }
            Shadow::Index(index) => {
                piece.rows(|record, block| row(record, block, index, *rules, scratch));
            }
        }
    }

    fn shadow(&mut self) -> &mut Shadow {
        &mut self.shadow
    }
}

#[inline]
fn row<P: Place>(
    record: Record<'_>,
    block: &mut Block,
    place: &mut P,
    rules: Rules,
    scratch: &mut Scratch,
) -> Result<Parsed, Fault> {
    let Record { text, end } = record;
    let mut at = blank(text, 0);
    if at >= end || text[at] == b'#' {
        return Ok(Parsed::Nothing);
    }
    let mut label = f64::NAN;
    match number::decimal(text, at) {
        Some((number, after)) if text[after] <= b' ' && number.is_finite() => {
            label = number;
            at = after;
        }
        _ => label_fault(record, at, rules)?,
    }
    let first = at;
    let mut order = Order { next: 0, increasing: true };
    loop {
        at = blank(text, at);
        if at >= end || text[at] == b'#' {
            break;
        }
        let before = at;
        at = common(record, at, block, place, &mut order, &mut scratch.pairs)?;
        if at == before {
            at = any(record, at, block, place, &mut order)?;
        }
    }
    if !order.increasing && rules.duplicates == Duplicates::Refuse {
        distinct(record, first, &mut scratch.sorted)?;
    }
    block.end(label, 1.0);
    Ok(Parsed::Row)
}

/// Tracks whether the indices increase; then none occurs twice.
struct Order {
    next: u64,
    increasing: bool,
}

impl Order {
    #[inline(always)]
    fn add(&mut self, index: u64) {
        self.increasing &= index >= self.next;
        self.next = index.wrapping_add(1);
    }

    /// Adds many indices.
    #[inline(always)]
    fn extend(&mut self, indices: &[u32]) {
        let ([first, ..], [.., last]) = (indices, indices) else { return };
        // Count the descents without branches, one comparison each.
        let falls = indices.iter().zip(&indices[1..]).filter(|(a, b)| a >= b).count();
        self.increasing &= falls == 0 && u64::from(*first) >= self.next;
        self.next = u64::from(*last) + 1;
    }
}

/// Parses features in their common form, from `at` on. A separate function, so that its constants stay in registers.
#[inline(never)]
fn common<P: Place>(
    record: Record<'_>,
    at: usize,
    block: &mut Block,
    place: &mut P,
    order: &mut Order,
    pairs: &mut Pairs,
) -> Result<usize, Fault> {
    let mut now = Order { ..*order };
    let at = pairs.read(
        record,
        at,
        record.end,
        f64::MAX,
        #[inline(always)]
        |mut found| {
            now.extend(found.numbers);
            found.place(place, Namespace::NONE)?;
            block.features(found.numbers, found.values);
            Ok(())
        },
    )?;
    let mut batch = Batch::new();
    let next = number::pairs(record.text, at, record.end, f64::MAX, |name, index, value| {
        batch.push(place.number(Namespace::NONE, name, index)?, value, block);
        now.add(index);
        Ok(())
    });
    batch.flush(block);
    *order = now;
    next.map_err(|(offset, kind): (usize, ErrorKind)| kind.at(offset))
}

/// Parses a feature in any form.
fn any<P: Place>(
    record: Record<'_>,
    at: usize,
    block: &mut Block,
    place: &mut P,
    order: &mut Order,
) -> Result<usize, Fault> {
    let text = record.text;
    let Some((index, colon)) = number::whole(text, at).filter(|(_, colon)| text[*colon] == b':')
    else {
        return Err(feature_fault(record, at));
    };
    let place = place.number(Namespace::NONE, &text[at..colon], index);
    let place = place.map_err(|kind| kind.at(at))?;
    match number::decimal(text, colon + 1) {
        Some((value, after))
            if (text[after] <= b' ' || text[after] == b'#') && value.is_finite() =>
        {
            block.feature(place, value);
            order.add(index);
            Ok(after)
        }
        _ => Err(value_fault(record, at, colon + 1)),
    }
}

fn blank(text: &[u8], mut at: usize) -> usize {
    while matches!(text.get(at), Some(b' ' | b'\t')) {
        at += 1;
    }
    at
}

/// The token at `at`.
fn token(record: Record<'_>, at: usize) -> &[u8] {
    let rest = &record.bytes()[at.min(record.end)..];
    rest.split(u8::is_ascii_whitespace).next().unwrap_or_default()
}

/// The fault of the label; no fault if there is no label and none is needed.
#[cold]
fn label_fault(record: Record<'_>, at: usize, rules: Rules) -> Result<(), Fault> {
    let found = token(record, at);
    let is_feature =
        matches!(number::whole(found, 0), Some((_, end)) if found.get(end) == Some(&b':'));
    if is_feature && rules.unlabelled {
        return Ok(());
    }
    let list = found.contains(&b',')
        && found.split(|b| *b == b',').all(|part| number::field(part).is_some());
    Err(match () {
        () if is_feature => ErrorKind::NoLabel,
        () if list => ErrorKind::ManyLabels { found: excerpt(found) },
        () => ErrorKind::Number { what: What::Label, found: excerpt(found) },
    }
    .at(at))
}

#[cold]
fn feature_fault(record: Record<'_>, at: usize) -> Fault {
    let found = excerpt(token(record, at));
    if found.starts_with("qid:") {
        return ErrorKind::QueryId { found }.at(at);
    }
    ErrorKind::NotAFeature { found }.at(at)
}

#[cold]
fn value_fault(record: Record<'_>, name: usize, at: usize) -> Fault {
    let what = What::Value(excerpt(&record.text[name..at - 1]));
    ErrorKind::Number { what, found: excerpt(token(record, at)) }.at(at)
}

/// Refuses a row with a duplicate index.
#[cold]
fn distinct(record: Record<'_>, first: usize, sorted: &mut Vec<(u64, usize)>) -> Result<(), Fault> {
    sorted.clear();
    let mut at = first;
    while let Some((index, colon)) = number::whole(record.text, blank(record.text, at)) {
        sorted.push((index, blank(record.text, at)));
        let value = token(record, colon);
        if value.contains(&b'#') {
            break;
        }
        at = colon + value.len();
    }
    sorted.sort_unstable();
    let twice = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1]);
    match twice.min_by_key(|(_, offset)| *offset) {
        Some((index, offset)) => Err(ErrorKind::DuplicateIndex { index }.at(offset)),
        None => Ok(()),
    }
}
