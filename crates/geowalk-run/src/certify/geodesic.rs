//! # The theorems on manifolds, on the run itself
//! The regret of geodesic steps against one comparator is bounded by distances and lengths along the run, which must
//! see the comparator in every round. So the run is made again, row by row, with the theorems of explicit or implicit
//! steps before it. Every step is compared with the one that the definition makes on the manifold; one that differs
//! voids the theorem. **Cost** O(n) per row, of a dense comparator.

use geowalk::certify::{Certificate, Parts, Proximal, Quantity, Riemannian, Verdict};
use geowalk::geometry::manifolds::AnyManifold;
use geowalk::geometry::{Event, ExpLog, Manifold, Work};
use geowalk::loss::Loss;
use geowalk::row::{Block, Dense, Row};
use geowalk::spec::Spec;
use geowalk::update::Round;
use geowalk::walk::After;

use crate::error::RunError;
use crate::hindsight::Problem;
use crate::learner::Learner;
use crate::model::Model;
use crate::walks;

/// What the theorems say.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) verdicts: Vec<Verdict>,
    /// Of explicit steps.
    pub(super) parts: Option<Parts>,
}

/// Why there are no theorems of this kind.
pub(super) type Reason = &'static str;

/// The theorem that fits the steps.
enum Theorem {
    Explicit(Box<Riemannian<AnyManifold>>),
    Implicit(Box<Proximal<AnyManifold>>),
}

/// The manifold of a walk with so many weights, and whether its steps are implicit. `None` if it is none, flat, or one
/// whose weights stand for others.
fn curved(walk: &str, features: usize) -> Option<(AnyManifold, bool)> {
    let (manifold, implicit) = manifold(walk, features)?;
    let flat = matches!(manifold, AnyManifold::Euclidean(_));
    let few = Manifold::<f64>::first_feature(&manifold) <= 1;
    (!flat && few).then_some((manifold, implicit))
}

/// The same, flat or not.
pub(crate) fn manifold(walk: &str, features: usize) -> Option<(AnyManifold, bool)> {
    let spec = Spec::parse(walk).ok()?;
    let name = walks::find(spec.name())?.entry.name;
    let (update, geometry) = name.split_once(':')?;
    let stands = |argument: &String| {
        let changed = ["signed=true", "normalise=true"];
        changed.contains(&argument.replace(' ', "").as_str())
    };
    if !matches!(update, "explicit" | "implicit") || spec.arguments().iter().any(stands) {
        return None;
    }
    // The start of positive weights is no parameter of their manifold.
    let text = match (geometry, walk.split_once(':')) {
        ("orthant" | "simplex", _) => geometry.to_owned(),
        (_, Some((_, text))) => text.to_owned(),
        _ => walk.replacen(spec.name(), geometry, 1),
    };
    let manifold = AnyManifold::for_features(&text, features).ok()?;
    Some((manifold, update == "implicit"))
}

/// Weights as a point of the manifold.
fn point(m: &AnyManifold, w: &[f64], work: &mut Work<f64>) -> Option<Vec<f64>> {
    let first = Manifold::<f64>::first_feature(m);
    let mut p = vec![0.0; first];
    p.extend_from_slice(w);
    if first > 0 {
        m.nearest(&mut p, work).ok()?;
    }
    Some(p)
}

/// Makes the run of a model again, and asks the theorems about the comparator u.
pub(super) fn again(
    model: &Model,
    problem: &Problem<'_>,
    u: &[f64],
) -> Result<Result<Found, Reason>, RunError> {
    let Some((m, implicit)) = curved(&model.settings.walk(), u.len()) else {
        return Ok(Err(NO_MANIFOLD));
    };
    let width = walks::width(&model.schema);
    let mut built = walks::of(&model.settings, width)?;
    if built.learner.outputs() != 1 {
        return Ok(Err("the theorems on manifolds are about one score"));
    }
    let mut work = Work::new();
    let Some(target) = point(&m, u, &mut work) else { return Ok(Err(OUTSIDE)) };
    let theorem = if implicit {
        Proximal::new(m.clone(), &target, 0.0).map(|own| Theorem::Implicit(Box::new(own)))
    } else {
        Riemannian::new(m.clone(), &target, 0.0).map(|own| Theorem::Explicit(Box::new(own)))
    };
    let Ok(mut theorem) = theorem else { return Ok(Err(OUTSIDE)) };
    let first = Manifold::<f64>::first_feature(&m);
    let mut run = Run {
        start: start(model, u.len())?,
        m,
        work,
        row: vec![0.0; target.len()],
        direction: vec![0.0; target.len()],
        first,
        target,
    };
    let mut last = None;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    for _ in 0..problem.passes as u64 {
        for (block, rows) in &problem.blocks {
            for &i in rows {
                if problem.halt.is_called() {
                    return Err(RunError::Halted);
                }
                last = run.round(problem, block, i, built.learner.as_mut(), &mut theorem);
                if last.is_none() {
                    return Ok(Err("a step of the run could not be made again"));
                }
            }
        }
    }
    let (mut own, mut known) = (Vec::new(), Vec::new());
    built.learner.weights(0, &mut own);
    super::restore(model)?.learner.weights(0, &mut known);
    if own != known {
        return Ok(Err("the run made again on these rows ends elsewhere"));
    }
    let verdict = |certificate: Certificate, quantity| Verdict {
        certificate,
        quantity,
        declared: Vec::new(),
        epochs: 1,
    };
    Ok(Ok(match theorem {
        Theorem::Explicit(mut bound) => {
            bound.arrive(&last.unwrap_or_default());
            let both = [bound.certificate(), bound.with_defect()];
            let verdicts = both.map(|own| verdict(own, Quantity::Regret)).to_vec();
            Found { verdicts, parts: Some(bound.parts()) }
        }
        Theorem::Implicit(bound) => {
            let before = verdict(bound.before(), Quantity::Regret);
            let after = verdict(bound.after(), Quantity::After);
            Found { verdicts: vec![before, after], parts: None }
        }
    }))
}

pub(super) const NO_MANIFOLD: Reason = "no theorem on manifolds is about this walk";
const OUTSIDE: Reason = "the comparator is no point of the manifold of the walk";

/// The weights before the first row, of so many features.
fn start(model: &Model, features: usize) -> Result<Vec<f64>, RunError> {
    let mut scout = walks::of(&model.settings, walks::width(&model.schema))?;
    let mut block = Block::new();
    let shift = usize::from(model.settings.intercept);
    for i in 0..features.saturating_sub(shift) {
        block.feature(u32::try_from(i).unwrap_or(u32::MAX), 0.0);
    }
    block.end(1.0, 0.0);
    // A row without weight makes room and moves nothing.
    let _ = scout.learner.learn(&block, 0..1, &mut Vec::new());
    let mut w = Vec::new();
    scout.learner.weights(0, &mut w);
    w.resize(features, 0.0);
    Ok(w)
}

struct Run {
    m: AnyManifold,
    target: Vec<f64>,
    start: Vec<f64>,
    first: usize,
    /// The row as a covector, and a tangent vector.
    row: Vec<f64>,
    direction: Vec<f64>,
    work: Work<f64>,
}

impl Run {
    /// The point of the learner; features that have not come have their starting weights.
    fn here(&mut self, learner: &dyn Learner) -> Option<Vec<f64>> {
        let mut w = Vec::new();
        learner.weights(0, &mut w);
        let missing = self.start.get(w.len()..).unwrap_or_default();
        w.extend_from_slice(missing);
        point(&self.m, &w, &mut self.work)
    }

    /// One row; gives the point after it, or nothing if there is none.
    fn round(
        &mut self,
        problem: &Problem<'_>,
        block: &Block,
        i: usize,
        learner: &mut dyn Learner,
        theorem: &mut Theorem,
    ) -> Option<Vec<f64>> {
        let from = self.here(learner)?;
        let mut outcomes = Vec::new();
        learner.learn(block, i..i + 1, &mut outcomes).ok()?;
        let to = self.here(learner)?;
        self.row.fill(0.0);
        let shift = self.first + usize::from(problem.intercept);
        if problem.intercept {
            self.row[self.first] = 1.0;
        }
        let row = &mut self.row;
        let mut put = |k: usize, x: f64| {
            if let Some(place) = row.get_mut(k + shift) {
                *place = x;
            }
        };
        if block.columns().is_some() {
            block.dense(i).each(&mut put);
        } else {
            block.sparse(i).each(&mut put);
        }
        let (y, weight) = (block.labels()[i], block.weights()[i]);
        let at = |p: &[f64]| {
            let z = Dense(&self.row).dot(p);
            (z, weight * problem.loss.value(z, y), weight * problem.loss.slope(z, y))
        };
        let ((z, loss, slope), (ahead, later, after)) = (at(&from), at(&to));
        let (_, comparator, _) = at(&self.target);
        let lost = outcomes.first().map_or(f64::NAN, |outcome| outcome.loss);
        let rate = learner.rate();
        let (length, event) = match theorem {
            Theorem::Explicit(_) => self.explicit(&from, &to, rate * slope),
            Theorem::Implicit(_) => self.implicit(&from, &to, rate * after),
        };
        // Clipped predictions and weights that are learned in parts are no single step.
        let same = (lost - loss).abs() <= 1e-9 * (lost.abs() + loss.abs() + f64::MIN_POSITIVE);
        let event = if same { event } else { Event::FellBack };
        let round = Round { z, loss, slope, rate, length, event };
        match theorem {
            Theorem::Explicit(bound) => {
                bound.observe(&from, &round, Dense(&self.row), comparator);
            }
            Theorem::Implicit(bound) => {
                let after = After { z: ahead, loss: later, slope: after, evaluations: 0 };
                let x = Dense(self.row.as_slice());
                bound.observe(&from, &to, &round, &after, x, comparator).ok()?;
            }
        }
        Some(to)
    }

    /// The length of the explicit step along κ = ηg, and what happened on it.
    fn explicit(&mut self, from: &[f64], to: &[f64], kappa: f64) -> (f64, Event) {
        self.m.gradient(from, &self.row, &mut self.direction, &mut self.work);
        let norm = self.m.norm(from, &self.direction, &mut self.work);
        let mut reached = from.to_vec();
        let step = self.m.exp(&mut reached, &self.direction, -kappa, &mut self.work);
        let event = step.map_or(Event::FellBack, |step| step.event);
        let event = if near(&reached, to) { event } else { Event::FellBack };
        (kappa.abs() * norm, event)
    }

    /// The length of the implicit step that ends with κ = ηg′, and what happened on it.
    fn implicit(&mut self, from: &[f64], to: &[f64], kappa: f64) -> (f64, Event) {
        let length = self.m.distance(from, to, &mut self.work);
        self.m.gradient(to, &self.row, &mut self.direction, &mut self.work);
        let mut reached = to.to_vec();
        let step = self.m.exp(&mut reached, &self.direction, kappa, &mut self.work);
        let event = step.map_or(Event::FellBack, |step| step.event);
        (length, if near(&reached, from) { event } else { Event::FellBack })
    }
}

/// Equal points, but for the rounding of two ways to compute them.
fn near(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().chain(b).fold(0.0_f64, |size, x| size.max(x.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-7 * size)
}
