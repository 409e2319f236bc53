//! # A walk and a loss: do they go together?
//! On the manifold of the walk, with random points, rows and labels: is the loss convex along geodesics, which theorems
//! on manifolds need; and is it compatible with the geometry, so that a step of steepest descent stays one all along its
//! geodesic. What is refuted comes with its numbers; what is not was not refuted by this many tries.
//!
//! | property | asks |
//! |---|---|
//! | weakly compatible | is the loss least where the prediction is the label? |
//! | output compatible | does it depend on the distance of prediction and label alone? |
//! | compatible | does a geodesic that begins along the gradient stay along it? |
//! | strongly compatible | and do geodesics between weights that predict the label predict it? |
//! | geodesically convex | is the loss in the middle of a geodesic at most the mean of its ends? |
//!
//! The metric of a walk stands for a prior on weights: its volume, √det G(w), and the other way round a prior φ asks for
//! the metric with that volume, for independent weights φ_i(w_i)² in each direction.
//! **Source** \[KMWW07s, def. 2\]; \[KMWW07, sec. 3.1 and eq. (20)\].

use geowalk::ConfigError;
use geowalk::geometry::manifolds::AnyManifold;
use geowalk::geometry::{ExpLog, Manifold, Sign, Work};
use geowalk::laws::Sampler;
use geowalk::loss::{AnyLoss, Loss};
use geowalk_data::Task;

use crate::certificate::Against;
use crate::certify::geodesic::manifold;
use crate::model::{LearnerSettings, Settings};
use crate::walks;

/// How many geodesics are tried.
const TRIES: usize = 2000;

/// Features of the examined walk: the least number of these that its manifold can have.
const FEATURES: [usize; 6] = [3, 4, 6, 8, 9, 12];

/// What was found about one property.
#[derive(Debug, Clone, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: &'static str,
    /// It was not refuted.
    pub holds: bool,
    /// With numbers.
    pub why: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Compatibility {
    /// The geometry, in words.
    pub geometry: String,
    /// The properties of the table above.
    pub properties: Vec<Property>,
    /// Theorems, whether they hold here, and what for.
    pub theorems: Vec<Property>,
    /// The prior that the metric stands for.
    pub prior: String,
}

/// Examines a walk and a loss.
///
/// ```
/// let found = geowalk_run::compatibility::examine("sphere", "squared")?;
/// let holds = |name: &str| found.properties.iter().find(|p| p.name == name).unwrap().holds;
/// assert!(holds("compatible") && !holds("geodesically convex") && !holds("strongly compatible"));
/// let found = geowalk_run::compatibility::examine("explicit:orthant", "squared")?;
/// assert!(!found.properties.iter().find(|p| p.name == "compatible").unwrap().holds);
/// # Ok::<(), geowalk::ConfigError>(())
/// ```
pub fn examine(walk: &str, loss: &str) -> Result<Compatibility, ConfigError> {
    let learner = LearnerSettings::parse(walk, "0.1")?;
    let loss_of = AnyLoss::parse(loss)?;
    let named = walks::row(&geowalk::spec::Spec::parse(walk)?)?.entry;
    let found = FEATURES.iter().find_map(|n| manifold(walk, *n));
    // Mirror steps and their relatives are judged along straight lines, as their theorems are.
    let straight = || Ok::<_, ConfigError>((AnyManifold::for_features("euclidean", 3)?, false));
    let (m, implicit) = found.clone().map_or_else(straight, Ok)?;
    let mut examiner = Examiner::new(m, &loss_of);
    let geometry = match found {
        Some(_) => format!("{}: {}", named.name, curvature(&examiner.m)),
        None => format!("{}: judged along straight lines, as its theorems are", named.name),
    };
    let convex = examiner.convex();
    let properties = vec![
        examiner.weakly(),
        examiner.output(),
        examiner.compatible(),
        examiner.strongly(),
        convex.clone(),
    ];
    let theorems = theorems(&examiner, &convex, (found.is_some(), implicit), learner, loss);
    Ok(Compatibility { geometry, properties, theorems, prior: prior(named.name).to_owned() })
}

fn curvature(m: &AnyManifold) -> String {
    let bounds = ExpLog::<f64>::curvature(m);
    match bounds.sign() {
        Sign::Flat => "flat".to_owned(),
        _ => format!("curvature {} to {}", bounds.min, bounds.max),
    }
}

/// The prior that is the volume of the metric of a walk.
fn prior(walk: &str) -> &'static str {
    PRIORS
        .iter()
        .find(|(names, ..)| names.split(", ").any(|name| name == walk))
        .map_or("no density in closed form is known for this metric", |(_, _, words)| *words)
}

/// Walks, the prior that their metric is the volume of, and the same in words.
const PRIORS: [(&str, &str, &str); 7] = [
    (
        "explicit:euclidean, implicit:euclidean, mirror:mahalanobis",
        "uniform",
        "uniform on all weights: nothing is known beforehand",
    ),
    (
        "explicit:orthant, implicit:orthant, mirror:burg, implicit:burg",
        "log-uniform",
        "prod 1/w_i, uniform in the logarithms: positive weights whose scale is not known",
    ),
    (
        "mirror:entropy, implicit:entropy, reparam:entropy, winnow, reparam-winnow",
        "sparse",
        "prod w_i^(-1/2), uniform in the square roots: positive weights, most of them near 0",
    ),
    (
        "explicit:simplex, implicit:simplex, mirror:simplex-entropy, implicit:simplex-entropy, reparam:simplex-entropy",
        "sparse-shares",
        "Dirichlet(1/2, ..., 1/2), Jeffreys' prior: shares of one whole, most of them near 0",
    ),
    (
        "explicit:sphere, implicit:sphere, projected-sphere",
        "directions",
        "uniform on the sphere: every direction is as likely",
    ),
    (
        "explicit:hyperbolic, implicit:hyperbolic",
        "trees",
        "the hyperbolic volume, which grows exponentially: places in a tree",
    ),
    (
        "mirror:p-norm, implicit:p-norm",
        "few-large",
        "more volume where few weights are large, by the Hessian of the squared p-norm",
    ),
];

/// The walks that a prior asks for, and why. An unknown name is refused with those that are known.
pub fn of_prior(name: &str) -> Result<[&'static str; 2], ConfigError> {
    let found = PRIORS.iter().find(|(_, known, _)| *known == name);
    let unknown = || geowalk::spec::unknown("prior", name, PRIORS.iter().map(|(_, name, _)| *name));
    found.map(|(walks, _, words)| [*walks, *words]).ok_or_else(unknown)
}

/// Which theorems hold where.
fn theorems(
    examiner: &Examiner<'_>,
    convex: &Property,
    (has_manifold, implicit): (bool, bool),
    learner: LearnerSettings,
    loss: &str,
) -> Vec<Property> {
    let facts = examiner.loss.facts();
    let linear = if facts.convex {
        "convex in the prediction: against every comparator"
    } else {
        "not convex in the prediction"
    };
    let mut all =
        vec![Property { name: "first-order", holds: facts.convex, why: linear.to_owned() }];
    if has_manifold {
        let max = ExpLog::<f64>::curvature(&examiner.m).max;
        if implicit {
            let (holds, why) = match (max <= 0.0, convex.holds) {
                (false, _) => (false, format!("Theorem 8 needs curvature <= 0; it is up to {max}")),
                (true, false) => (false, "the loss is not convex along geodesics".to_owned()),
                (true, true) => {
                    (true, "curvature <= 0, convex: against one comparator, on the data".to_owned())
                }
            };
            all.push(Property { name: "proximal-before, proximal-after", holds, why });
        } else {
            let why = if convex.holds {
                "convex along geodesics: against one comparator, on the data".to_owned()
            } else {
                "the loss is not convex along geodesics".to_owned()
            };
            all.push(Property { name: "riemannian", holds: convex.holds, why });
            let why =
                "every differentiable loss; what is not convex is measured and added".to_owned();
            all.push(Property { name: "riemannian-with-defect", holds: true, why });
        }
    }
    // Those that the walk carries along, as a run would.
    let task = if facts.margin { Task::Binary } else { Task::Regression };
    let built = walks::of(&Settings::new(learner, loss, task), Some(3));
    match built.map(|built| built.learner.report(&Against::Reach, None)) {
        Ok(Some(report)) => {
            for verdict in &report.theorems {
                let why = "carried along by every run, at one constant rate".to_owned();
                all.push(Property { name: verdict.certificate.theorem, holds: true, why });
            }
            if report.theorems.is_empty() && !has_manifold {
                all.push(Property { name: "others", holds: false, why: report.reason.to_owned() });
            }
        }
        Ok(None) => {}
        Err(error) => all.push(Property { name: "others", holds: false, why: error.to_string() }),
    }
    all
}

struct Examiner<'a> {
    m: AnyManifold,
    loss: &'a AnyLoss,
    random: Sampler,
    work: Work<f64>,
}

/// A point, a row as a covector, and a label.
struct Try {
    p: Vec<f64>,
    x: Vec<f64>,
    y: f64,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<'a> Examiner<'a> {
    fn new(m: AnyManifold, loss: &'a AnyLoss) -> Self {
        Self { m, loss, random: Sampler::new(1), work: Work::new() }
    }

    fn point(&mut self) -> Vec<f64> {
        let mut p = vec![0.0; Manifold::<f64>::ambient(&self.m)];
        let random = &mut self.random;
        self.m.random(&mut || random.normal(), &mut p, &mut self.work);
        p
    }

    fn label(&mut self) -> f64 {
        let facts = self.loss.facts();
        if facts.margin {
            return self.random.sign();
        }
        let y = self.random.normal();
        if facts.labels.contains(y) { y } else { y.abs() }
    }

    fn draw(&mut self) -> Try {
        let p = self.point();
        let first = Manifold::<f64>::first_feature(&self.m);
        let mut x: Vec<f64> = self.random.vector(p.len());
        x[..first].fill(0.0);
        Try { p, x, y: self.label() }
    }

    /// The gradient of ⟨p, x⟩ and its length.
    fn gradient(&mut self, p: &[f64], x: &[f64]) -> (Vec<f64>, f64) {
        let mut v = vec![0.0; p.len()];
        self.m.gradient(p, x, &mut v, &mut self.work);
        let norm = self.m.norm(p, &v, &mut self.work);
        (v, norm)
    }

    /// How far geodesics from p may go.
    fn reach(&self, p: &[f64]) -> f64 {
        (0.45 * self.m.injectivity(p)).min(1.0)
    }

    fn weakly(&mut self) -> Property {
        let name = "weakly compatible";
        for _ in 0..200 {
            let y = self.label();
            let at = self.loss.value(y, y);
            for k in -40..=40 {
                let z = y + f64::from(k) / 8.0;
                let value = self.loss.value(z, y);
                if value < at - 1e-12 * (1.0 + at.abs()) {
                    let why = format!(
                        "at the label {y:.3} the loss {at:.4} is not least: {value:.4} at {z:.3}"
                    );
                    return Property { name, holds: false, why };
                }
            }
        }
        Property {
            name,
            holds: true,
            why: "the loss is least where the prediction is the label".to_owned(),
        }
    }

    fn output(&mut self) -> Property {
        let name = "output compatible";
        for _ in 0..200 {
            let (y, d) = (self.label(), 3.0 * self.random.unit());
            let [a, b] = [y + d, y - d].map(|z| self.loss.value(z, y));
            if (a - b).abs() > 1e-9 * (a.abs() + b.abs()) {
                let why = format!(
                    "at the label {y:.3} and the distance {d:.3} it loses {a:.4} above, {b:.4} below"
                );
                return Property { name, holds: false, why };
            }
        }
        Property {
            name,
            holds: true,
            why: "a function of the distance of prediction and label".to_owned(),
        }
    }

    fn compatible(&mut self) -> Property {
        let name = "compatible";
        let mut most = (0.0, Vec::new());
        for _ in 0..TRIES {
            let Try { p, x, .. } = self.draw();
            let (v, norm) = self.gradient(&p, &x);
            if norm < 1e-6 {
                continue;
            }
            let far = self.reach(&p) * self.random.unit() / norm;
            let mut q = p.clone();
            if self.m.exp(&mut q, &v, far, &mut self.work).is_err() {
                continue;
            }
            let (there, length) = self.gradient(&q, &x);
            let mut back = vec![0.0; p.len()];
            if self.m.log(&q, &p, &mut back, &mut self.work).is_err() {
                continue;
            }
            let way = self.m.norm(&q, &back, &mut self.work);
            if length < 1e-4 * norm || way < 1e-4 {
                continue;
            }
            let cosine = self.m.inner(&q, &there, &back, &mut self.work) / (length * way);
            let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
            if sine > most.0 {
                most = (sine, p);
            }
        }
        let angle = geowalk::Real::asin(most.0.min(1.0)) * 180.0 / std::f64::consts::PI;
        if most.0 < 1e-5 {
            let why =
                format!("gradients stay along geodesics that begin along them ({TRIES} tries)");
            return Property { name, holds: true, why };
        }
        let from: Vec<String> = most.1.iter().map(|x| format!("{x:.3}")).collect();
        let why = format!(
            "the gradient turns {angle:.1} degrees off the geodesic from ({})",
            from.join(", ")
        );
        Property { name, holds: false, why }
    }

    /// A point with the prediction y near p, by steps along the gradient.
    fn onto(&mut self, p: &[f64], x: &[f64], y: f64) -> Option<Vec<f64>> {
        let mut q = p.to_vec();
        for _ in 0..60 {
            let gap = y - dot(&q, x);
            if gap.abs() < 1e-12 {
                return Some(q);
            }
            let (v, norm) = self.gradient(&q, x);
            let step = (gap / (norm * norm)).clamp(-0.3 / norm, 0.3 / norm);
            self.m.exp(&mut q, &v, step, &mut self.work).ok()?;
        }
        ((y - dot(&q, x)).abs() < 1e-9).then_some(q)
    }

    fn middle(&mut self, p: &[f64], q: &[f64]) -> Option<(Vec<f64>, f64)> {
        let mut v = vec![0.0; p.len()];
        self.m.log(p, q, &mut v, &mut self.work).ok()?;
        let length = self.m.norm(p, &v, &mut self.work);
        let mut middle = p.to_vec();
        self.m.exp(&mut middle, &v, 0.5, &mut self.work).ok()?;
        (length < 2.0 * self.reach(p) && length > 1e-3).then_some((middle, length))
    }

    fn strongly(&mut self) -> Property {
        let name = "strongly compatible";
        let (mut tried, mut most) = (0, (0.0, 0.0));
        for _ in 0..TRIES / 4 {
            let Try { p, x, .. } = self.draw();
            let other = self.point();
            // Labels that some weights predict.
            let y = dot(&p, &x);
            let Some(q) = self.onto(&other, &x, y) else { continue };
            let Some((middle, _)) = self.middle(&p, &q) else { continue };
            tried += 1;
            let off = (dot(&middle, &x) - y).abs();
            if off > most.0 {
                most = (off, y);
            }
        }
        if most.0 < 1e-7 {
            let why = format!(
                "geodesics between weights that predict the label predict it ({tried} tries)"
            );
            return Property { name, holds: tried > 0, why };
        }
        let (off, y) = most;
        let why =
            format!("between two weights that predict {y:.3} lies one that predicts {off:.3} off");
        Property { name, holds: false, why }
    }

    fn convex(&mut self) -> Property {
        let name = "geodesically convex";
        let (mut tried, mut failed, mut least, mut example) = (0, 0, f64::INFINITY, String::new());
        for _ in 0..TRIES {
            let Try { p, x, y } = self.draw();
            let q = self.point();
            let Some((middle, length)) = self.middle(&p, &q) else { continue };
            let [a, m, b] = [&p, &middle, &q].map(|p| self.loss.value(dot(p, &x), y));
            let size = a.abs() + b.abs() + m.abs();
            if !size.is_finite() {
                continue;
            }
            tried += 1;
            let modulus = 2.0 * (a + b - 2.0 * m) / (length * length);
            if a + b - 2.0 * m < -1e-10 * size {
                failed += 1;
                if modulus < least {
                    example = format!("{a:.4} and {b:.4} at the ends, {m:.4} in the middle");
                }
            }
            least = least.min(modulus);
        }
        if failed == 0 {
            let least = if least > 1e-9 { least } else { 0.0 };
            let why = format!("in {tried} geodesics; lambda at least {least:.3e} there");
            return Property { name, holds: tried > 0, why };
        }
        let why = format!("refuted on {failed} of {tried} geodesics: {example}");
        Property { name, holds: false, why }
    }
}

impl std::fmt::Display for Compatibility {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mark = |holds: bool| if holds { "yes" } else { "no" };
        writeln!(f, "{:<21} {}", "geometry", self.geometry)?;
        for Property { name, holds, why } in &self.properties {
            writeln!(f, "{name:<21} {:<3} {why}", mark(*holds))?;
        }
        writeln!(f, "theorems")?;
        for Property { name, holds, why } in &self.theorems {
            writeln!(f, "  {name:<32} {:<3} {why}", mark(*holds))?;
        }
        write!(f, "{:<21} {}", "prior of the metric", self.prior)
    }
}
