//! A walk on the 2-sphere, seen from far away (orthographic projection); what is behind is dashed.

use geowalk::Real;

use crate::picture::{Anchor, Canvas, Look, Picture, WIDTH, classes, legend};
use crate::text::{Pen, triple};

/// A point of space.
type Vector = [f64; 3];

/// A picture of walks and points on the sphere, under construction. Vectors count by their direction.
#[derive(Debug, Clone)]
pub struct SpherePath {
    title: String,
    /// From where it is seen.
    eye: Vector,
    paths: Vec<(String, Vec<Vector>)>,
    points: Vec<(String, Vector)>,
}

const RADIUS: f64 = 150.0;
const CENTRE: (f64, f64) = (WIDTH / 2.0, 160.0);

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn mix(a: f64, p: Vector, b: f64, q: Vector) -> Vector {
    [a * p[0] + b * q[0], a * p[1] + b * q[1], a * p[2] + b * q[2]]
}

/// The direction of a vector; none of zero or of what is not finite.
fn unit(v: Vector) -> Option<Vector> {
    let size = v.iter().fold(0.0_f64, |m, c| m.max(c.abs()));
    if size == 0.0 || v.iter().any(|c| !c.is_finite()) {
        return None;
    }
    let scaled = v.map(|c| c / size);
    let norm = dot(scaled, scaled).sqrt();
    Some(scaled.map(|c| c / norm))
}

impl SpherePath {
    /// A bare sphere, seen from (3, 1.6, 1.8).
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), eye: [3.0, 1.6, 1.8], paths: Vec::new(), points: Vec::new() }
    }

    /// Seen from this direction, the third axis upwards. A direction along it or zero changes nothing.
    #[must_use]
    pub fn eye(mut self, eye: Vector) -> Self {
        if unit(eye)
            .is_some_and(|e| dot(cross([0.0, 0.0, 1.0], e), cross([0.0, 0.0, 1.0], e)) > 1e-6)
        {
            self.eye = eye;
        }
        self
    }

    /// A walk; neighbouring points are joined by the shortest way.
    #[must_use]
    pub fn path(
        mut self,
        name: impl Into<String>,
        points: impl IntoIterator<Item = Vector>,
    ) -> Self {
        self.paths.push((name.into(), points.into_iter().collect()));
        self
    }

    /// A point with a name.
    #[must_use]
    pub fn point(mut self, name: impl Into<String>, at: Vector) -> Self {
        self.points.push((name.into(), at));
        self
    }
}

/// The directions of the paper.
struct View {
    right: Vector,
    up: Vector,
    eye: Vector,
}

impl View {
    fn of(eye: Vector) -> Self {
        let eye = unit(eye).unwrap_or([1.0, 0.0, 0.0]);
        let right = unit(cross([0.0, 0.0, 1.0], eye)).unwrap_or([0.0, 1.0, 0.0]);
        Self { right, up: cross(eye, right), eye }
    }

    fn place(&self, p: Vector) -> (f64, f64) {
        (CENTRE.0 + RADIUS * dot(self.right, p), CENTRE.1 - RADIUS * dot(self.up, p))
    }

    /// Draws the shortest ways between neighbours: (in front, behind).
    fn draw(&self, points: &[Vector]) -> (String, String) {
        let (mut front, mut back) = (Pen::new(), Pen::new());
        let mut before: Option<Vector> = None;
        for &q in points {
            let Some(p) = before.replace(q) else { continue };
            let angle = 2.0
                * Real::atan2(
                    dot(mix(1.0, p, -1.0, q), mix(1.0, p, -1.0, q)).sqrt(),
                    dot(mix(1.0, p, 1.0, q), mix(1.0, p, 1.0, q)).sqrt(),
                );
            // Pieces of at most three degrees look round.
            let pieces = (angle / 0.05).ceil().max(1.0);
            let mut from = p;
            let mut i = 1.0;
            while i <= pieces {
                let t = i / pieces;
                let to = if angle < 1e-9 {
                    q
                } else {
                    mix(
                        Real::sin((1.0 - t) * angle) / Real::sin(angle),
                        p,
                        Real::sin(t * angle) / Real::sin(angle),
                        q,
                    )
                };
                let Some(to) = unit(to) else { break };
                self.piece(&mut front, &mut back, from, to);
                from = to;
                i += 1.0;
            }
        }
        (front.d, back.d)
    }

    fn piece(&self, front: &mut Pen, back: &mut Pen, from: Vector, to: Vector) {
        let (a, b) = (dot(self.eye, from), dot(self.eye, to));
        let mut stroke = |seen: bool, p: Vector, q: Vector| {
            let (pen, other) =
                if seen { (&mut *front, &mut *back) } else { (&mut *back, &mut *front) };
            other.lift();
            let ((x, y), (x2, y2)) = (self.place(p), self.place(q));
            if !pen.is_down() {
                pen.to(x, y);
            }
            pen.to(x2, y2);
        };
        if (a >= 0.0) == (b >= 0.0) {
            stroke(a >= 0.0, from, to);
        } else if let Some(edge) =
            unit(mix(b, from, -a, to)).map(|e| if dot(e, from) < 0.0 { e.map(|c| -c) } else { e })
        {
            stroke(a >= 0.0, from, edge);
            stroke(b >= 0.0, edge, to);
        }
    }

    /// Circles of latitude and longitude.
    fn net(&self, canvas: &mut Canvas) {
        let circle = |at: &dyn Fn(f64) -> Vector| -> Vec<Vector> {
            (0..=72).map(|i| at(f64::from(i) * f64::PI / 36.0)).collect()
        };
        for latitude in [-60.0, -30.0, 0.0, 30.0, 60.0] {
            let (s, c) = Real::sin_cos(latitude * f64::PI / 180.0);
            canvas
                .path("grid", &self.draw(&circle(&|t| [c * Real::cos(t), c * Real::sin(t), s])).0);
        }
        for longitude in 0..6 {
            let (s, c) = Real::sin_cos(f64::from(longitude) * f64::PI / 6.0);
            canvas.path(
                "grid",
                &self.draw(&circle(&|t| [c * Real::cos(t), s * Real::cos(t), Real::sin(t)])).0,
            );
        }
    }

    fn mark(&self, canvas: &mut Canvas, series: usize, p: Vector, r: f64) -> (f64, f64) {
        let (x, y) = self.place(p);
        let kind = if dot(self.eye, p) >= 0.0 { "fill" } else { "ring" };
        canvas.circle(&format!("{kind} s{}", series % crate::theme::SERIES), x, y, r);
        (x, y)
    }
}

impl From<SpherePath> for Picture {
    fn from(sphere: SpherePath) -> Self {
        let mut canvas = Canvas::default();
        let view = View::of(sphere.eye);
        canvas.circle("wash", CENTRE.0, CENTRE.1, RADIUS);
        view.net(&mut canvas);
        canvas.circle("axis", CENTRE.0, CENTRE.1, RADIUS);
        let mut notes = Vec::new();
        let mut words = vec!["Sphere.".to_owned()];
        let mut entries: Vec<(usize, Look, &str)> = Vec::new();
        let mut count = |name: &str, given: usize, drawn: usize| {
            if given > drawn {
                notes.push(format!(
                    "{name}: not drawn: {} of {given} without a direction",
                    given - drawn
                ));
            }
        };
        for (i, (name, path)) in sphere.paths.iter().enumerate() {
            let points: Vec<Vector> = path.iter().filter_map(|p| unit(*p)).collect();
            let (front, back) = view.draw(&points);
            canvas.path(&format!("{} far", classes("line", i)), &back);
            canvas.path(&classes("line", i), &front);
            for p in points.first().into_iter().chain(points.last()) {
                view.mark(&mut canvas, i, *p, 3.5);
            }
            entries.push((i, Look::Line, name));
            count(name, path.len(), points.len());
            if let (Some(first), Some(last)) = (points.first(), points.last()) {
                words.push(format!(
                    "{name}: {} points from {} to {}.",
                    points.len(),
                    triple(*first),
                    triple(*last)
                ));
            }
        }
        let drawn = sphere.paths.len();
        for (i, (name, at)) in sphere.points.iter().enumerate() {
            let p = unit(*at);
            count(name, 1, usize::from(p.is_some()));
            let Some(p) = p else { continue };
            let (x, y) = view.mark(&mut canvas, drawn + i, p, 4.5);
            let side = if x > CENTRE.0 + RADIUS / 2.0 {
                (Anchor::End, x - 8.0)
            } else {
                (Anchor::Start, x + 8.0)
            };
            canvas.text("", side.0, side.1, y - 6.0, name);
            words.push(format!("{name} at {}.", triple(p)));
        }
        if sphere.paths.is_empty() && sphere.points.is_empty() {
            notes.push("no data".to_owned());
        }
        let mut bottom = CENTRE.1 + RADIUS + 8.0;
        bottom = legend(&mut canvas, bottom, &entries);
        if !entries.is_empty() {
            notes.insert(0, "solid in front, dashed behind".to_owned());
        }
        bottom = canvas.notes(bottom, &notes);
        Self::new(&sphere.title, words.join(" "), bottom + 6.0, canvas.body)
    }
}
