//! Plots on two axes.

mod axis;
mod draw;

use axis::{Axis, Scale};

use crate::text::number;

/// What is drawn of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Line,
    Dashed,
    Steps,
    Dots,
    /// Dots that are empty inside, for what is known less well.
    Rings,
    /// Filled between the two heights.
    Band,
    /// A dashed line, everything below it shaded: what a theorem allows.
    Bound,
    /// Rectangles from `x` to `x2`.
    Bars,
}

/// One point; `x2` and `y2` are the other end, where there is one.
#[derive(Debug, Clone, Copy)]
struct Point {
    x: f64,
    y: f64,
    x2: f64,
    y2: f64,
}

#[derive(Debug, Clone)]
struct Series {
    kind: Kind,
    name: String,
    points: Vec<Point>,
}

/// A plot under construction. Series are drawn in the order they are added, each in the next colour.
///
/// ```
/// use geowalk_page::{Picture, Plot};
/// let regret = (1..=100).map(|t| (f64::from(t), f64::from(t).sqrt()));
/// let bound = (1..=100).map(|t| (f64::from(t), 2.0 * f64::from(t).sqrt()));
/// let picture: Picture = Plot::new("Regret").x("round").log_x().bound("bound", bound).line("regret", regret).into();
/// assert!(picture.svg().contains("<title"));
/// ```
#[derive(Debug, Clone)]
pub struct Plot {
    title: String,
    x: String,
    y: String,
    x_scale: Scale,
    y_scale: Scale,
    series: Vec<Series>,
}

impl Plot {
    /// No data yet, both axes linear.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            x: String::new(),
            y: String::new(),
            x_scale: Scale::Linear,
            y_scale: Scale::Linear,
            series: Vec::new(),
        }
    }

    /// What is along the horizontal axis.
    #[must_use]
    pub fn x(mut self, label: impl Into<String>) -> Self {
        self.x = label.into();
        self
    }

    /// What is along the vertical axis.
    #[must_use]
    pub fn y(mut self, label: impl Into<String>) -> Self {
        self.y = label.into();
        self
    }

    /// A logarithmic horizontal axis.
    #[must_use]
    pub fn log_x(mut self) -> Self {
        self.x_scale = Scale::Log;
        self
    }

    /// A logarithmic vertical axis.
    #[must_use]
    pub fn log_y(mut self) -> Self {
        self.y_scale = Scale::Log;
        self
    }

    fn with(
        mut self,
        kind: Kind,
        name: impl Into<String>,
        points: impl Iterator<Item = Point>,
    ) -> Self {
        self.series.push(Series { kind, name: name.into(), points: points.collect() });
        self
    }

    fn simple(
        self,
        kind: Kind,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.with(kind, name, points.into_iter().map(|(x, y)| Point { x, y, x2: x, y2: y }))
    }

    /// Points joined by a line, interrupted where a value has no place; without a note where both have none.
    #[must_use]
    pub fn line(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.simple(Kind::Line, name, points)
    }

    /// Many lines of one name and colour, such as all weights of a model.
    #[must_use]
    pub fn lines<C: IntoIterator<Item = (f64, f64)>>(
        self,
        name: impl Into<String>,
        curves: impl IntoIterator<Item = C>,
    ) -> Self {
        // A point without any place lifts the pen.
        let lift = || std::iter::once((f64::NAN, f64::NAN));
        let points = curves.into_iter().flat_map(|curve| curve.into_iter().chain(lift()));
        self.simple(Kind::Line, name, points)
    }

    /// The same, dashed.
    #[must_use]
    pub fn dashed(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.simple(Kind::Dashed, name, points)
    }

    /// A line that keeps each height until the next point.
    #[must_use]
    pub fn steps(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.simple(Kind::Steps, name, points)
    }

    /// Points.
    #[must_use]
    pub fn dots(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.simple(Kind::Dots, name, points)
    }

    /// Points that are known less well: rings.
    #[must_use]
    pub fn rings(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.simple(Kind::Rings, name, points)
    }

    /// A bound: dashed, and shaded below.
    #[must_use]
    pub fn bound(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        self.simple(Kind::Bound, name, points)
    }

    /// A band of (x, lower, upper).
    #[must_use]
    pub fn band(
        self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        self.with(Kind::Band, name, points.into_iter().map(|(x, y, y2)| Point { x, y, x2: x, y2 }))
    }

    /// Bars of (from, to, height), such as the counts of a histogram.
    #[must_use]
    pub fn bars(
        self,
        name: impl Into<String>,
        bars: impl IntoIterator<Item = (f64, f64, f64)>,
    ) -> Self {
        self.with(Kind::Bars, name, bars.into_iter().map(|(x, x2, y)| Point { x, y, x2, y2: y }))
    }

    fn shows(&self, p: &Point) -> bool {
        self.x_scale.shows(p.x)
            && self.x_scale.shows(p.x2)
            && self.y_scale.shows(p.y)
            && self.y_scale.shows(p.y2)
    }

    fn axes(&self) -> Option<(Axis, Axis)> {
        let shown = || self.series.iter().flat_map(|s| s.points.iter()).filter(|p| self.shows(p));
        let floor =
            self.series.iter().any(|s| s.kind == Kind::Bars) && self.y_scale == Scale::Linear;
        let x = Axis::over(self.x_scale, shown().flat_map(|p| [p.x, p.x2]))?;
        let y = Axis::over(
            self.y_scale,
            shown().flat_map(|p| [p.y, p.y2]).chain(floor.then_some(0.0)),
        )?;
        Some((x, y.airy()))
    }

    /// What could not be drawn, and why.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for series in &self.series {
            let lifts = series.points.iter().filter(|p| p.x.is_nan() && p.y.is_nan()).count();
            let missing = series.points.iter().filter(|p| !self.shows(p)).count() - lifts;
            if missing == 0 {
                continue;
            }
            let finite = |p: &&Point| [p.x, p.y, p.x2, p.y2].iter().all(|v| v.is_finite());
            let infinite =
                missing - series.points.iter().filter(|p| !self.shows(p)).filter(finite).count();
            let mut why = Vec::new();
            if infinite > 0 {
                why.push(format!("{infinite} not finite"));
            }
            if missing > infinite {
                why.push(format!("{} not positive", missing - infinite));
            }
            notes.push(format!(
                "{}: not drawn: {} of {}",
                series.name,
                why.join(", "),
                series.points.len()
            ));
        }
        notes
    }

    fn words(&self, axes: Option<&(Axis, Axis)>) -> String {
        let Some((x, y)) = axes else { return "Plot; no data.".to_owned() };
        let along = |label: &str, axis: &Axis| {
            let (low, high) = axis.ends();
            let log = if axis.scale() == Scale::Log { ", logarithmic" } else { "" };
            format!(
                "{} from {} to {}{log}",
                if label.is_empty() { "values" } else { label },
                number(low, 3),
                number(high, 3)
            )
        };
        let mut words = vec![format!(
            "Plot. Horizontal: {}. Vertical: {}.",
            along(&self.x, x),
            along(&self.y, y)
        )];
        for series in &self.series {
            let mut shown = series.points.iter().filter(|p| self.shows(p));
            let Some(first) = shown.next() else { continue };
            let last = shown.next_back().unwrap_or(first);
            words.push(format!(
                "{}: {} at {} to {} at {}.",
                series.name,
                number(first.y, 4),
                number(first.x, 4),
                number(last.y, 4),
                number(last.x, 4)
            ));
        }
        words.join(" ")
    }
}
