//! A walk on the simplex of three probabilities, as a path in a triangle: each corner is certainty.

use crate::picture::{Anchor, Canvas, Look, Picture, WIDTH, classes, fitted, legend};
use crate::text::{At, Pen, triple};

/// A picture of walks and points in the triangle, under construction.
#[derive(Debug, Clone)]
pub struct TrianglePath {
    title: String,
    corners: [String; 3],
    paths: Vec<(String, Vec<[f64; 3]>)>,
    points: Vec<(String, [f64; 3])>,
}

/// The corners on paper: left, right, top.
const CORNERS: [(f64, f64); 3] = [(40.0, 305.0), (360.0, 305.0), (200.0, 28.0)];

/// Is it a point of the simplex, up to rounding?
fn on_simplex(p: &[f64; 3]) -> bool {
    p.iter().all(|c| *c >= -1e-9) && (p[0] + p[1] + p[2] - 1.0).abs() <= 1e-6
}

fn place(p: &[f64; 3]) -> (f64, f64) {
    let sum =
        |f: fn(&(f64, f64)) -> f64| CORNERS.iter().zip(p).map(|(corner, c)| f(corner) * c).sum();
    (sum(|corner| corner.0), sum(|corner| corner.1))
}

impl TrianglePath {
    /// An empty triangle with the names of its corners: left, right, top.
    pub fn new(title: impl Into<String>, corners: [&str; 3]) -> Self {
        Self {
            title: title.into(),
            corners: corners.map(str::to_owned),
            paths: Vec::new(),
            points: Vec::new(),
        }
    }

    /// A walk, its points joined by straight lines.
    #[must_use]
    pub fn path(
        mut self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = [f64; 3]>,
    ) -> Self {
        self.paths.push((name.into(), points.into_iter().collect()));
        self
    }

    /// A point with a name.
    #[must_use]
    pub fn point(mut self, name: impl Into<String>, at: [f64; 3]) -> Self {
        self.points.push((name.into(), at));
        self
    }
}

fn frame(canvas: &mut Canvas, corners: &[String; 3]) {
    let line = |a: [f64; 3], b: [f64; 3]| {
        let ((x, y), (x2, y2)) = (place(&a), place(&b));
        format!("M{} {}L{} {}", At(x), At(y), At(x2), At(y2))
    };
    for t in [0.25, 0.5, 0.75] {
        canvas.path("grid", &line([t, 1.0 - t, 0.0], [t, 0.0, 1.0 - t]));
        canvas.path("grid", &line([1.0 - t, t, 0.0], [0.0, t, 1.0 - t]));
        canvas.path("grid", &line([1.0 - t, 0.0, t], [0.0, 1.0 - t, t]));
    }
    let [(ax, ay), (bx, by), (cx, cy)] = CORNERS.map(|(x, y)| (At(x), At(y)));
    canvas.path("axis", &format!("M{ax} {ay}L{bx} {by}L{cx} {cy}Z"));
    canvas.text("", Anchor::Start, 4.0, 322.0, &fitted(&corners[0], 180.0));
    canvas.text("", Anchor::End, WIDTH - 4.0, 322.0, &fitted(&corners[1], 180.0));
    canvas.text("", Anchor::Middle, 200.0, 18.0, &fitted(&corners[2], 300.0));
}

impl From<TrianglePath> for Picture {
    fn from(triangle: TrianglePath) -> Self {
        let mut canvas = Canvas::default();
        frame(&mut canvas, &triangle.corners);
        let mut words = vec![format!(
            "Triangle of probabilities with corners {}.",
            triangle.corners.join(", ")
        )];
        let mut notes = Vec::new();
        let mut entries: Vec<(usize, Look, &str)> = Vec::new();
        for (i, (name, path)) in triangle.paths.iter().enumerate() {
            let points: Vec<&[f64; 3]> = path.iter().filter(|p| on_simplex(p)).collect();
            let mut pen = Pen::new();
            for p in &points {
                let (x, y) = place(p);
                pen.to(x, y);
            }
            canvas.path(&classes("line", i), &pen.d);
            if let (Some(first), Some(last)) = (points.first(), points.last()) {
                for (p, kind) in [(first, "ring"), (last, "fill")] {
                    let (x, y) = place(p);
                    canvas.circle(&format!("{kind} s{}", i % crate::theme::SERIES), x, y, 3.5);
                }
                words.push(format!(
                    "{name}: {} points from {} to {}.",
                    points.len(),
                    triple(**first),
                    triple(**last)
                ));
            }
            entries.push((i, Look::Line, name));
            if path.len() > points.len() {
                notes.push(format!(
                    "{name}: not drawn: {} of {} that are no probabilities",
                    path.len() - points.len(),
                    path.len()
                ));
            }
        }
        for (i, (name, p)) in triangle.points.iter().enumerate() {
            if !on_simplex(p) {
                notes.push(format!("{name}: not drawn: no probabilities"));
                continue;
            }
            let (x, y) = place(p);
            canvas.circle(
                &format!("fill s{}", (triangle.paths.len() + i) % crate::theme::SERIES),
                x,
                y,
                4.5,
            );
            canvas.text("", Anchor::Middle, x.clamp(30.0, WIDTH - 30.0), y - 9.0, name);
            words.push(format!("{name} at {}.", triple(*p)));
        }
        if triangle.paths.is_empty() && triangle.points.is_empty() {
            notes.push("no data".to_owned());
        }
        let bottom = legend(&mut canvas, 330.0, &entries);
        let bottom = canvas.notes(bottom, &notes);
        Self::new(&triangle.title, words.join(" "), bottom + 6.0, canvas.body)
    }
}
