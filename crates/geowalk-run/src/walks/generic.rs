//! # Walks of all geometries at O(n)
//! A row for each manifold and generator of the library that has no O(nnz) form. Points do not grow, so these
//! walks need the number of features before the first row.

use geowalk::ConfigError;
use geowalk::error::Allowed;
use geowalk::geometry::generators::{self, AnyGenerator};
use geowalk::geometry::manifolds::{self, AnyManifold};
use geowalk::learn::{OnManifold, WithGenerator};
use geowalk::row::Block;
use geowalk::spec::{Args, Entry, Spec};
use geowalk_data::Schema;

use super::{BALL, Builder, Built, Construct, Make, Named, TABLE, find, width};

/// Its geodesics reach singular matrices after a finite time, so a learner would end there. `minimize` and the
/// operations of the manifold take it.
const INCOMPLETE: &str = "spd-bures-wasserstein";

/// The walks at O(n): `explicit:` and `implicit:` of every manifold, `mirror:` and `implicit:` of every
/// generator, as far as the table has no walk of that name.
pub(super) fn rows() -> Vec<Named> {
    let mut rows: Vec<Named> = Vec::new();
    let mut add = |update: &str, geometry: &Entry, what: &str, make: Make| {
        let name = format!("{update}:{}", geometry.name);
        let known = |row: &Named| row.is_called(&name);
        if TABLE.iter().chain(&rows).any(known) {
            return;
        }
        let parameters = match (geometry.name, geometry.parameters) {
            ("product", parameters) => parameters.to_owned(),
            (_, "") => "n=".to_owned(),
            (_, parameters) => format!("{parameters}, n="),
        };
        // Once per process, so that rows of both kinds are of one type.
        let kept = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
        let entry = Entry {
            name: kept(name),
            parameters: kept(parameters),
            summary: kept(format!("{what}: {}", geometry.summary)),
            source: geometry.source,
        };
        let construct = Construct::Walk(make);
        rows.push(Named { entry, aliases: &[], fixed_width: true, construct });
    };
    for manifold in manifolds::entries().filter(|entry| entry.name != INCOMPLETE) {
        let what = "geodesic step at O(n), for a known number of features";
        add("explicit", manifold, what, |builder, args| builder.on_manifold(false, args));
        let what = "implicit geodesic step at O(n), for a known number of features";
        add("implicit", manifold, what, |builder, args| builder.on_manifold(true, args));
    }
    for generator in generators::entries() {
        let what = "mirror step at O(n), for a known number of features";
        add("mirror", generator, what, |builder, args| builder.with_generator(false, args));
        let what = "proximal step at O(n), for a known number of features";
        add("implicit", generator, what, |builder, args| builder.with_generator(true, args));
    }
    rows
}

/// The row of a manifold that the user registered: `explicit:custom(NAME)`. It is in no list.
pub(super) fn own(name: &str) -> Option<&'static Named> {
    const fn row(name: &'static str, make: Make) -> Named {
        let summary = "step on a manifold of your own at O(n), for a known number of features";
        let entry = Entry { name, parameters: "NAME", summary, source: "" };
        Named { entry, aliases: &[], fixed_width: true, construct: Construct::Walk(make) }
    }
    static ROWS: [Named; 2] = [
        row("explicit:custom", |builder, args| builder.on_manifold(false, args)),
        row("implicit:custom", |builder, args| builder.on_manifold(true, args)),
    ];
    ROWS.iter().find(|row| row.is_called(name))
}

/// A walk of fixed width with its number of features in its text, as a model file needs it. The number is that
/// of `--bits`, of rows of numbers, or stated; without it the walk is refused.
pub(super) fn stated(
    text: &str,
    schema: &Schema,
    block: &Block,
    intercept: bool,
) -> Result<String, ConfigError> {
    let spec = Spec::parse(text)?;
    let Some(walk) = find(spec.name()).filter(|walk| walk.fixed_width) else {
        return Ok(text.to_owned());
    };
    let width = width(schema).or_else(|| block.columns());
    let features = width.map(|width| width + usize::from(intercept));
    let Some((update, geometry)) = text.split_once(':') else { return Ok(text.to_owned()) };
    let names = manifolds::entries().map(|entry| entry.name).chain(["custom"]);
    if names.into_iter().any(|name| walk.entry.name.ends_with(&format!(":{name}"))) {
        let manifold = manifold(geometry, features)?;
        return Ok(format!("{update}:{}", manifold.sized_spec()));
    }
    let (n, rest) = generator_size(&spec, features)?;
    let name = geometry.split('(').next().unwrap_or(geometry);
    let arguments: Vec<String> = [format!("n={n}")].into_iter().chain(rest).collect();
    Ok(format!("{update}:{name}({})", arguments.join(", ")))
}

/// The manifold of a text, on rows of so many features with the intercept if that is known.
fn manifold(text: &str, features: Option<usize>) -> Result<AnyManifold, ConfigError> {
    // A size that is stated, or follows from what is stated, does not depend on the one given beside it.
    let sized = |n| AnyManifold::parse(text, n).ok().map(|manifold| manifold.features());
    let known = sized(2).filter(|stated| sized(7) == Some(*stated));
    if let Some(features) = features.or(known) {
        return AnyManifold::for_features(text, features);
    }
    // What is wrong with the text itself comes first.
    AnyManifold::parse(text, 4)?;
    Err(NO_WIDTH)
}

const NO_WIDTH: ConfigError = ConfigError::Missing {
    name: "the number of features",
    meaning: "this walk needs it before the first row: use a table of numbers, or --bits B, or state it as in explicit:spd(n=3)",
};

/// The n of a generator, and its other arguments.
fn generator_size(
    spec: &Spec,
    features: Option<usize>,
) -> Result<(usize, Vec<String>), ConfigError> {
    let stated = spec.args().optional_number("n")?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole, at least 1
    let stated = match stated {
        Some(n) if Allowed::Whole(1).contains(n) => Some(n as usize),
        Some(value) => {
            return Err(ConfigError::OutOfRange { name: "n", value, allowed: Allowed::Whole(1) });
        }
        None => None,
    };
    let others = spec.arguments().into_iter().filter(|argument| !argument.starts_with("n="));
    match (stated, features) {
        (Some(n), Some(features)) if n != features => {
            Err(ConfigError::Width { spec: spec.name().to_owned(), features, fits: n.to_string() })
        }
        (Some(n), _) | (None, Some(n)) => Ok((n, others.collect())),
        (None, None) => Err(NO_WIDTH),
    }
}

impl Builder {
    /// Steps at O(n) on a manifold of the library.
    pub(super) fn on_manifold(
        self,
        implicit: bool,
        args: &mut Args<'_>,
    ) -> Result<Built, ConfigError> {
        // The manifold reads its own arguments.
        args.take_all();
        let geometry = self.text.split_once(':').map_or("", |(_, geometry)| geometry);
        let intercept = usize::from(self.request.setting.intercept);
        let manifold = manifold(geometry, self.request.features.map(|n| n + intercept))?;
        let walk =
            if implicit { OnManifold::implicit(manifold) } else { OnManifold::explicit(manifold) };
        self.constrained(walk?, BALL)
    }

    /// Steps at O(n) with a generator of the library.
    pub(super) fn with_generator(
        self,
        implicit: bool,
        args: &mut Args<'_>,
    ) -> Result<Built, ConfigError> {
        args.take_all();
        let intercept = usize::from(self.request.setting.intercept);
        let features = self.request.features.map(|n| n + intercept);
        let (n, others) = generator_size(&self.spec, features)?;
        let name = self.spec.name().split_once(':').map_or("", |(_, name)| name);
        let text = if others.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({})", others.join(", "))
        };
        let generator = AnyGenerator::parse(&text, n)?;
        let walk = if implicit {
            WithGenerator::implicit(generator, n)
        } else {
            WithGenerator::mirror(generator, n)
        };
        self.constrained(walk?, BALL)
    }
}
