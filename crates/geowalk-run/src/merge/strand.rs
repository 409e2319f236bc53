//! # The weights of several models
//! One output of each model, a walk with its certificate, becomes one output of the merged model.

use geowalk::Real;

use super::{Source, refused, total};
use crate::error::RunError;
use crate::model::{Arrays, Settings};

/// One output of one model.
pub(super) struct Piece<'a> {
    name: &'a str,
    count: f64,
    share: f64,
    given: bool,
    arrays: Vec<(&'a str, &'a [f64])>,
    places: Option<&'a [usize]>,
    intercept: bool,
    /// Its weights, that of the constant feature first if there is one.
    weights: Vec<f64>,
    gamma: Option<Vec<f64>>,
}

impl<'a> Piece<'a> {
    pub(super) fn new(
        source: &Source<'a>,
        places: Option<&'a [usize]>,
        output: usize,
        intercept: bool,
    ) -> Self {
        let prefix = format!("walk.{output}.");
        let arrays = source.model.arrays.iter();
        let own = |(name, values): &'a (String, Vec<f64>)| {
            Some((name.strip_prefix(&prefix)?, values.as_slice()))
        };
        let mut weights = Vec::new();
        source.learner.weights(output, &mut weights);
        Self {
            name: source.name,
            count: source.count,
            share: source.share,
            given: source.given,
            arrays: arrays.filter_map(own).collect(),
            places,
            intercept,
            weights,
            gamma: source.learner.gamma(output),
        }
    }

    fn get(&self, name: &str) -> Result<&'a [f64], RunError> {
        self.find(name).ok_or_else(|| {
            let why = format!("{}: the array '{name}' of its walk is missing", self.name);
            refused(why, "train the model again")
        })
    }

    fn find(&self, name: &str) -> Option<&'a [f64]> {
        self.arrays.iter().find(|(own, _)| *own == name).map(|(_, values)| *values)
    }

    /// A number of an array.
    fn number(&self, name: &str, at: usize) -> f64 {
        self.find(name).and_then(|values| values.get(at)).copied().unwrap_or(0.0)
    }

    /// Four numbers that are a compensated sum.
    fn sum(&self, name: &str) -> [f64; 4] {
        std::array::from_fn(|at| self.number(name, at))
    }

    /// Where the coordinate of an array of so many is in the merged one. Two-sided walks have two for each feature.
    fn place(&self, coordinate: usize, length: usize) -> usize {
        let copies = length.checked_div(self.weights.len()).unwrap_or(1).max(1);
        let (feature, copy) = (coordinate / copies, coordinate % copies);
        let first = usize::from(self.intercept);
        let place = match self.places {
            Some(places) if feature >= first => {
                places.get(feature - first).map_or(feature, |place| place + first)
            }
            _ => feature,
        };
        copies * place + copy
    }

    /// The array with each coordinate at its merged place; none where this model does not have the coordinate.
    fn spread(&self, name: &str) -> Result<Vec<Option<f64>>, RunError> {
        Ok(self.spread_values(self.get(name)?))
    }

    fn spread_values(&self, values: &[f64]) -> Vec<Option<f64>> {
        let mut out = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let place = self.place(at, values.len());
            if place >= out.len() {
                out.resize(place + 1, None);
            }
            out[place] = Some(*value);
        }
        out
    }
}

/// Arrays that each way to merge understands.
const FREE: [&str; 9] =
    ["scale", "squares", "sum", "wealth", "common", "last", "a", "bets", "first"];
const ADAPTIVE: [&str; 5] = ["w", "scale", "squares", "gamma", "linear"];
const LOGARITHMS: [&str; 9] =
    ["log_w", "untouched", "sum", "e", "cut.places", "cut", "cut.blur", "folds", "scales"];
const SCALED: [&str; 4] = ["v", "factors", "square", "scales"];
const PLAIN: [&str; 5] = ["w", "theta", "reference", "mass", "scales"];

/// The arrays of the merged walk and its certificate.
pub(super) fn merged_strand(
    pieces: &[Piece<'_>],
    settings: &Settings,
    out: &mut Arrays,
) -> Result<(), RunError> {
    let Some(first) = pieces.first() else { return Ok(()) };
    let has = |name: &str| first.find(name).is_some();
    let (known, make): (&[&str], Make) = match () {
        () if has("wealth") => (&FREE, free),
        () if has("gamma") => (&ADAPTIVE, adaptive),
        () if has("log_w") => (&LOGARITHMS, logarithms),
        () if has("factors") => (&SCALED, scaled),
        () => (&PLAIN, plain),
    };
    for piece in pieces {
        let own = |name: &&str| {
            let apart = ["certificate.", "theorem.", "second."];
            !apart.iter().any(|prefix| name.starts_with(prefix)) && !known.contains(name)
        };
        if let Some(name) = piece.arrays.iter().map(|(name, _)| *name).find(own) {
            return Err(refused(
                format!("the walk '{}' keeps '{name}', which has no mean", settings.walk()),
                "train with another walk, such as --walk free",
            ));
        }
    }
    make(pieces, settings, out)?;
    if settings.certificate {
        certificate(pieces, out)?;
    }
    Ok(())
}

type Make = fn(&[Piece<'_>], &Settings, &mut Arrays) -> Result<(), RunError>;

/// Σ share·value / Σ share over the models that have the coordinate; the plain mean if all their shares are 0.
fn mean(columns: &[(f64, Vec<Option<f64>>)]) -> Vec<f64> {
    let n = columns.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let at = |i: usize| {
        let there =
            || columns.iter().filter_map(move |(share, values)| Some((*share, (*values.get(i)?)?)));
        let total: f64 = there().map(|(share, _)| share).sum();
        if total > 0.0 {
            there().map(|(share, value)| share / total * value).sum()
        } else {
            let count = there().count().max(1) as f64;
            there().map(|(_, value)| value).sum::<f64>() / count
        }
    };
    (0..n).map(at).collect()
}

fn means(pieces: &[Piece<'_>], name: &str) -> Result<Vec<f64>, RunError> {
    let column = |piece: &Piece<'_>| Ok((piece.share, piece.spread(name)?));
    Ok(mean(&pieces.iter().map(column).collect::<Result<Vec<_>, RunError>>()?))
}

/// The largest value of each coordinate.
fn largest(pieces: &[Piece<'_>], name: &str) -> Result<Vec<f64>, RunError> {
    let mut out: Vec<f64> = Vec::new();
    for piece in pieces {
        let values = piece.spread(name)?;
        out.resize(out.len().max(values.len()), 0.0);
        out.iter_mut().zip(values).for_each(|(top, value)| *top = top.max(value.unwrap_or(0.0)));
    }
    Ok(out)
}

/// Σ count·value of each coordinate.
fn add(total: &mut Vec<f64>, count: f64, values: &[Option<f64>]) {
    total.resize(total.len().max(values.len()), 0.0);
    total.iter_mut().zip(values).for_each(|(all, value)| *all += count * value.unwrap_or(0.0));
}

fn linear(pieces: &[Piece<'_>], name: &str) -> Result<Vec<f64>, RunError> {
    let mut out = Vec::new();
    for piece in pieces {
        add(&mut out, piece.count, &piece.spread(name)?);
    }
    Ok(out)
}

fn sums(pieces: &[Piece<'_>], name: &str) -> Vec<f64> {
    total(pieces.iter().map(|piece| (piece.count, piece.sum(name)))).to_vec()
}

fn put(out: &mut Arrays, name: &str, values: Vec<f64>) {
    out.push((name.to_owned(), values));
}

fn not_negative(mut values: Vec<f64>) -> Vec<f64> {
    values.iter_mut().for_each(|value| *value = value.max(0.0));
    values
}

/// The scales of normalised rows, if the walk has them, and what a weight in the units of a piece is multiplied by.
fn scales(pieces: &[Piece<'_>], out: &mut Arrays) -> Result<Vec<f64>, RunError> {
    if pieces.iter().any(|piece| piece.find("scales").is_none()) {
        return Ok(Vec::new());
    }
    let all = largest(pieces, "scales")?;
    put(out, "scales", all.clone());
    Ok(all)
}

/// Coordinates of the plane, or dual ones that are anywhere.
fn plain(pieces: &[Piece<'_>], _: &Settings, out: &mut Arrays) -> Result<(), RunError> {
    let all = scales(pieces, out)?;
    let name = if pieces[0].find("w").is_some() { "w" } else { "theta" };
    let mut columns = Vec::new();
    for piece in pieces {
        let mut values = piece.spread(name)?;
        if !all.is_empty() {
            // The same weight of rows as they are, in units of the largest scale.
            for ((value, own), top) in values.iter_mut().zip(piece.spread("scales")?).zip(&all) {
                if let (Some(value), Some(own)) = (value, own)
                    && own > 0.0
                {
                    *value *= top / own;
                }
            }
        }
        columns.push((piece.share, values));
    }
    let merged = mean(&columns);
    if pieces[0].find("reference").is_some() {
        let any = merged.iter().any(|theta| *theta != 0.0);
        put(out, "reference", vec![f64::from(u8::from(any))]);
        // A sum that has lost its digits: the walk sums anew when it is loaded.
        put(out, "mass", vec![1.0, 0.0, 1.0]);
    }
    put(out, name, merged);
    Ok(())
}

/// Logarithms of positive weights, with or without their sum.
fn logarithms(pieces: &[Piece<'_>], _: &Settings, out: &mut Arrays) -> Result<(), RunError> {
    scales(pieces, out)?;
    let parted = pieces[0].find("sum").is_some();
    let shift = |piece: &Piece<'_>| {
        if parted { Real::ln(piece.number("sum", 0) + piece.number("sum", 1)) } else { 0.0 }
    };
    let mut columns = Vec::new();
    for piece in pieces {
        let mut values = piece.spread("log_w")?;
        values.iter_mut().flatten().for_each(|value| *value -= shift(piece));
        columns.push((piece.share, values));
    }
    let log = mean(&columns);
    if parted {
        let untouched =
            |piece: &Piece<'_>| piece.share * (piece.number("untouched", 0) - shift(piece));
        put(out, "untouched", vec![pieces.iter().map(untouched).sum()]);
        let sum: f64 = log.iter().map(|log| Real::exp(*log)).sum();
        put(out, "sum", vec![sum, 0.0, 2.0 * f64::EPSILON * sum * log.len() as f64]);
    }
    put(out, "log_w", log);
    put(out, "cut.places", Vec::new());
    put(out, "cut", Vec::new());
    put(out, "cut.blur", vec![0.0]);
    if pieces[0].find("folds").is_some() {
        put(out, "folds", not_negative(linear(pieces, "folds")?));
    }
    Ok(())
}

/// Weights with a common factor, on the sphere or in hyperbolic space.
fn scaled(pieces: &[Piece<'_>], settings: &Settings, out: &mut Arrays) -> Result<(), RunError> {
    scales(pieces, out)?;
    let mut columns = Vec::new();
    let mut radius = 0.0;
    for piece in pieces {
        let mut values = piece.spread("v")?;
        let factor = piece.number("factors", 0);
        values.iter_mut().flatten().for_each(|value| *value *= factor);
        let square: f64 = values.iter().flatten().map(|value| value * value).sum();
        radius += piece.share * square.sqrt();
        columns.push((piece.share, values));
    }
    let mut v = mean(&columns);
    let length = v.iter().map(|v| v * v).sum::<f64>().sqrt();
    if settings.walk().contains("sphere") {
        if length <= 1e-9 * radius {
            return Err(refused(
                "the weights of the models are opposite points of the sphere".to_owned(),
                "give --weights, or train on all rows in one run",
            ));
        }
        v.iter_mut().for_each(|v| *v *= radius / length);
    }
    let square = v.iter().map(|v| v * v).sum::<f64>();
    put(out, "square", vec![square, 0.0, 2.0 * f64::EPSILON * square * v.len() as f64]);
    put(out, "v", v);
    put(out, "factors", vec![1.0, 0.0]);
    Ok(())
}

/// Each weight by its sum of squared slopes.
fn adaptive(pieces: &[Piece<'_>], _: &Settings, out: &mut Arrays) -> Result<(), RunError> {
    let scale = largest(pieces, "scale")?;
    let (mut w, mut sure) = (vec![0.0; scale.len()], vec![0.0; scale.len()]);
    let (mut squares, mut plain) = (Vec::new(), Vec::new());
    for piece in pieces {
        let (own, weight, square) =
            (piece.spread("scale")?, piece.spread("w")?, piece.spread("squares")?);
        let ratio = |i: usize| own[i].filter(|own| *own > 0.0).map(|own| own / scale[i]);
        // Both in units of the largest scale.
        let square: Vec<Option<f64>> = (0..square.len())
            .map(|i| Some(square[i]? * ratio(i).map_or(1.0, |ratio| ratio * ratio)))
            .collect();
        let weight: Vec<Option<f64>> =
            (0..weight.len()).map(|i| Some(weight[i]? / ratio(i)?)).collect();
        let share = if piece.given { piece.share } else { f64::from(u8::from(piece.share > 0.0)) };
        for (i, (weight, square)) in weight.iter().zip(&square).enumerate() {
            let certainty = share * square.unwrap_or(0.0);
            w[i] += certainty * weight.unwrap_or(0.0);
            sure[i] += certainty;
        }
        squares.push((piece.share, square));
        plain.push((piece.share, weight));
    }
    let plain = mean(&plain);
    for (i, (w, sure)) in w.iter_mut().zip(&sure).enumerate() {
        *w = if *sure > 0.0 { *w / sure } else { plain.get(i).copied().unwrap_or(0.0) };
    }
    put(out, "w", w);
    put(out, "scale", scale);
    // Those of a mean model: with the sums of all, steps after the merge would be too short for a part.
    put(out, "squares", mean(&squares));
    put(out, "gamma", linear(pieces, "gamma")?);
    if pieces[0].find("linear").is_some() {
        put(out, "linear", vec![1.0]);
    }
    Ok(())
}

/// Bettors: one that has seen the slopes of a mean model, with the wealth at which its weight is the mean of the
/// weights. With the sums of all slopes instead, rounds over many parts diverge.
fn free(pieces: &[Piece<'_>], _: &Settings, out: &mut Arrays) -> Result<(), RunError> {
    let scale = largest(pieces, "scale")?;
    let (squares, sum) = (means(pieces, "squares")?, means(pieces, "sum")?);
    let mut wealth = means(pieces, "wealth")?;
    let log = pieces.iter().map(|piece| piece.share * Real::ln(piece.number("common", 0)));
    let shares: f64 = pieces.iter().map(|piece| piece.share).sum();
    let common = Real::exp(log.sum::<f64>() / if shares > 0.0 { shares } else { 1.0 });
    let steps = pieces.iter().map(|piece| piece.share * piece.number("common", 1));
    let steps = steps.sum::<f64>() / if shares > 0.0 { shares } else { 1.0 };
    let column = |piece: &Piece<'_>| (piece.share, piece.spread_values(&piece.weights));
    let weights = mean(&pieces.iter().map(column).collect::<Vec<_>>());
    for (i, wealth) in wealth.iter_mut().enumerate() {
        // The bet of a bettor of wealth 1. A mean of the other sign than all slopes is left to them.
        let root = (squares[i] + scale[i] * scale[i]).sqrt();
        let bet = if root > 0.0 { (sum[i] / root).clamp(-1.0, 1.0) / (2.0 * root) } else { 0.0 };
        let needed = weights[i] / (common * bet);
        if needed.is_finite() && needed > 0.0 {
            *wealth = needed.min(1e150);
        }
    }
    put(out, "scale", scale);
    put(out, "squares", squares);
    put(out, "sum", sum);
    put(out, "wealth", wealth);
    put(out, "common", vec![common, steps]);
    put(out, "last", vec![0.0, common, steps]);
    put(out, "a", sums(pieces, "a"));
    put(out, "bets", sums(pieces, "bets"));
    let mut first = pieces[0].spread("first")?;
    for piece in &pieces[1..] {
        let own = piece.spread("first")?;
        first.resize(first.len().max(own.len()), None);
        for (first, own) in first.iter_mut().zip(own) {
            *first = first.filter(|value| *value > 0.0).or(own);
        }
    }
    put(out, "first", first.into_iter().map(|value| value.unwrap_or(0.0)).collect());
    Ok(())
}

/// A, Γ and what bounds their rounding errors.
fn certificate(pieces: &[Piece<'_>], out: &mut Arrays) -> Result<(), RunError> {
    let mut gamma = Vec::new();
    let mut state = [0.0, 0.0, -1.0, 0.0, 0.0];
    for piece in pieces {
        if piece.find("certificate.far").is_some_and(|far| !far.is_empty()) {
            return Err(refused(
                format!("{}: it has features beyond 2^24", piece.name),
                "train with --bits 24 or fewer",
            ));
        }
        add(&mut gamma, piece.count, &piece.spread_values(piece.gamma.as_deref().unwrap_or(&[])));
        let own = |at| piece.number("certificate.state", at);
        state[0] += piece.count * own(0);
        state[1] += piece.count.abs() * own(1);
        state[4] += piece.count.abs() * own(4);
        if own(2) > 0.0 && state[2] < 0.0 {
            (state[2], state[3]) = (own(2), own(3));
        }
    }
    put(out, "certificate.loss", sums(pieces, "certificate.loss"));
    put(out, "certificate.a", sums(pieces, "certificate.a"));
    put(out, "certificate.near", gamma);
    put(out, "certificate.far.places", Vec::new());
    put(out, "certificate.far", Vec::new());
    put(out, "certificate.state", state.to_vec());
    Ok(())
}
