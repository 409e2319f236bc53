//! From a plot to a picture.

use super::axis::{Axis, Scale};
use super::{Kind, Plot, Point, Series};
use crate::picture::{Anchor, Canvas, Look, Picture, WIDTH, classes, legend, width_of};
use crate::text::{At, Pen, number};

/// The place of the axes, in the units of a picture.
const TOP: f64 = 24.0;
const HEIGHT: f64 = 210.0;
const RIGHT: f64 = 12.0;

/// Points of a series that show their values, at most.
const HINTS: usize = 50;

/// Where the data of a plot stand on paper.
struct Frame {
    left: f64,
    x: Axis,
    y: Axis,
}

impl Frame {
    fn across(&self, x: f64) -> f64 {
        self.left + (WIDTH - RIGHT - self.left) * self.x.place(x)
    }

    fn up(&self, y: f64) -> f64 {
        TOP + HEIGHT * (1.0 - self.y.place(y))
    }

    fn axes(&self, canvas: &mut Canvas, plot: &Plot) -> f64 {
        let (floor, right) = (TOP + HEIGHT, WIDTH - RIGHT);
        for tick in self.y.ticks(5) {
            let y = self.up(tick.value);
            canvas.path("grid", &format!("M{} {}H{}", At(self.left), At(y), At(right)));
            canvas.text("small", Anchor::End, self.left - 5.0, y + 4.0, &tick.label);
        }
        let mut free = f64::NEG_INFINITY;
        for tick in self.x.ticks(6) {
            let (x, half) = (self.across(tick.value), width_of(&tick.label) / 2.0);
            canvas.path("axis", &format!("M{} {}v4", At(x), At(floor)));
            // A label that would run into its neighbour is left out; its tick stays. That at the edge moves inwards.
            let middle = x.min(WIDTH - half - 1.0);
            if middle - half > free {
                canvas.text("small", Anchor::Middle, middle, floor + 16.0, &tick.label);
                free = middle + half + 6.0;
            }
        }
        canvas.path("axis", &format!("M{} {}V{}H{}", At(self.left), At(TOP), At(floor), At(right)));
        if !plot.y.is_empty() {
            canvas.text("small", Anchor::Start, 4.0, 13.0, &plot.y);
        }
        if plot.x.is_empty() {
            return floor + 22.0;
        }
        canvas.text(
            "small",
            Anchor::Middle,
            f64::midpoint(self.left, right),
            floor + 32.0,
            &plot.x,
        );
        floor + 38.0
    }

    /// A line through the points that have a place; a column of the screen gets at most four of them: first, lowest, highest, last.
    fn line(&self, plot: &Plot, points: &[Point], steps: bool, upper: bool) -> Pen {
        let mut pen = Pen::new();
        let mut column: Vec<(f64, f64)> = Vec::new();
        let mut height = None;
        let thin = points.len() > 1000 && !steps;
        let flush = |pen: &mut Pen, column: &mut Vec<(f64, f64)>| {
            let key = |i: &usize, j: &usize| column[*i].1.total_cmp(&column[*j].1);
            let last = column.len().saturating_sub(1);
            let low = (0..column.len()).min_by(key).unwrap_or(0);
            let high = (0..column.len()).max_by(key).unwrap_or(0);
            let mut kept = vec![0, low, high, last];
            kept.sort_unstable();
            kept.dedup();
            for i in kept.into_iter().filter(|i| *i < column.len()) {
                pen.to(column[i].0, column[i].1);
            }
            column.clear();
        };
        for p in points {
            if !plot.shows(p) {
                flush(&mut pen, &mut column);
                pen.lift();
                height = None;
                continue;
            }
            let (x, y) = (self.across(p.x), self.up(if upper { p.y2 } else { p.y }));
            if thin {
                if column.first().is_some_and(|first| first.0.floor() != x.floor()) {
                    flush(&mut pen, &mut column);
                }
                column.push((x, y));
            } else {
                if let Some(before) = height.filter(|_| steps) {
                    pen.to(x, before);
                }
                pen.to(x, y);
                height = Some(y);
            }
        }
        flush(&mut pen, &mut column);
        pen
    }

    fn series(&self, canvas: &mut Canvas, plot: &Plot, i: usize, series: &Series) {
        let shown: Vec<Point> = series.points.iter().filter(|p| plot.shows(p)).copied().collect();
        let floor = if self.y.scale() == Scale::Linear
            && self.y.ends().0 <= 0.0
            && self.y.ends().1 >= 0.0
        {
            self.up(0.0)
        } else {
            TOP + HEIGHT
        };
        let steps = series.kind == Kind::Steps;
        match series.kind {
            Kind::Line | Kind::Steps => {
                canvas.path(&classes("line", i), &self.line(plot, &series.points, steps, false).d);
            }
            Kind::Dashed => canvas.path(
                &format!("{} dash", classes("line", i)),
                &self.line(plot, &series.points, false, false).d,
            ),
            Kind::Dots | Kind::Rings => {
                let kind = if series.kind == Kind::Dots { "fill" } else { "ring" };
                for p in &shown {
                    canvas.circle(&classes(kind, i), self.across(p.x), self.up(p.y), 2.6);
                }
            }
            Kind::Bound | Kind::Band => {
                let upper = self.line(plot, &shown, false, true).d;
                if let (Some(first), Some(last)) = (shown.first(), shown.last()) {
                    let back = if series.kind == Kind::Bound {
                        format!("V{}H{}", At(TOP + HEIGHT), At(self.across(first.x)))
                    } else {
                        let reversed: Vec<Point> = shown.iter().rev().copied().collect();
                        self.line(plot, &reversed, false, false).d.replacen('M', "L", 1)
                    };
                    debug_assert!(last.x >= first.x || series.kind == Kind::Band);
                    canvas
                        .path(&format!("band {}", classes("fill", i)), &format!("{upper}{back}Z"));
                }
                if series.kind == Kind::Bound {
                    canvas.path(
                        &format!("{} dash", classes("line", i)),
                        &self.line(plot, &series.points, false, false).d,
                    );
                }
            }
            Kind::Bars => {
                for p in &shown {
                    let (a, b) = (self.across(p.x.min(p.x2)), self.across(p.x.max(p.x2)));
                    let (top, bottom) = (self.up(p.y).min(floor), self.up(p.y).max(floor));
                    let gap = if b - a > 4.0 { 0.5 } else { 0.0 };
                    canvas.rect(
                        &format!("bar {}", classes("fill", i)),
                        a + gap,
                        top,
                        (b - a - 2.0 * gap).max(0.3),
                        bottom - top,
                    );
                }
            }
        }
        // A line of one point would be nothing.
        if let ([p], Kind::Line | Kind::Steps | Kind::Dashed | Kind::Bound) =
            (shown.as_slice(), series.kind)
        {
            canvas.circle(&classes("fill", i), self.across(p.x), self.up(p.y), 3.0);
        }
    }

    /// The values of a series, shown where the pointer rests; of a long one, of some points.
    fn hints(&self, canvas: &mut Canvas, plot: &Plot, series: &Series) {
        let shown: Vec<&Point> = series.points.iter().filter(|p| plot.shows(p)).collect();
        let step = shown.len().div_ceil(HINTS).max(1);
        for p in shown.iter().rev().step_by(step) {
            let (x, y) = (number(p.x, 4), number(p.y, 4));
            let (words, middle) = match series.kind {
                Kind::Bars => {
                    (format!("{x} to {}: {y}", number(p.x2, 4)), f64::midpoint(p.x, p.x2))
                }
                _ if plot.x.is_empty() => (format!("{x}: {y}"), p.x),
                _ => (format!("{} {x}: {y}", plot.x), p.x),
            };
            let words = match series.name.as_str() {
                "" => words,
                name => format!("{name}, {words}"),
            };
            canvas.hint(self.across(middle), self.up(p.y), 5.0, &words);
        }
    }
}

impl From<Plot> for Picture {
    fn from(plot: Plot) -> Self {
        let mut canvas = Canvas::default();
        let axes = plot.axes();
        let words = plot.words(axes.as_ref());
        let mut bottom = TOP + HEIGHT;
        if let Some((x, y)) = axes {
            let labels = y.ticks(5).iter().map(|tick| width_of(&tick.label)).fold(0.0, f64::max);
            let frame = Frame { left: labels + 10.0, x, y };
            bottom = frame.axes(&mut canvas, &plot);
            for (i, series) in plot.series.iter().enumerate() {
                frame.series(&mut canvas, &plot, i, series);
            }
            for series in &plot.series {
                frame.hints(&mut canvas, &plot, series);
            }
        } else {
            canvas.rect("wash", 4.0, TOP, WIDTH - RIGHT, HEIGHT);
            canvas.text("", Anchor::Middle, WIDTH / 2.0, TOP + HEIGHT / 2.0, "no data");
        }
        let entries: Vec<(usize, Look, &str)> = plot
            .series
            .iter()
            .enumerate()
            .filter(|(_, series)| !series.name.is_empty())
            .map(|(i, series)| {
                let look = match series.kind {
                    Kind::Line | Kind::Steps => Look::Line,
                    Kind::Dashed | Kind::Bound => Look::Dashed,
                    Kind::Dots => Look::Dot,
                    Kind::Rings => Look::Ring,
                    Kind::Band => Look::Area,
                    Kind::Bars => Look::Bar,
                };
                (i, look, series.name.as_str())
            })
            .collect();
        bottom = legend(&mut canvas, bottom, &entries);
        bottom = canvas.notes(bottom, &plot.notes());
        Self::new(&plot.title, words, bottom + 6.0, canvas.body)
    }
}
