//! From the arguments of a walk to its learner.

use geowalk::ConfigError;
use geowalk::certify::{Divergence, Metric, Start, rules};
use geowalk::error::Allowed;
use geowalk::loss::{AnyLoss, Loss, WinnowHinge};
use geowalk::row::Norm;
use geowalk::spec::{Args, Spec};
use geowalk::walk::{
    Adaptive, Burg, Centred, Clipped, Entropy, Euclidean, Free, Implicit, Mahalanobis, Normalised,
    Orthant, PNorm, ReparamEntropy, ReparamSimplex, Signed, SimplexEntropy, Sphere, Vaw, Walk,
    winnow,
};
use geowalk_data::Task;

use crate::hindsight::Domain;
use crate::learner::{Given, Learner, Reach, Several, Single, Whole};
use crate::rate::Rate;
use crate::sigma::Sigma;
use crate::theorem::{Case, Kind};

use super::{BALL, Built, Request, no_second_order, number};

pub(super) struct Builder {
    /// The walk as it was asked for.
    pub(super) text: String,
    pub(super) spec: Spec,
    pub(super) request: Request,
    pub(super) signed: bool,
    /// What the walk is to the theorems.
    pub(super) kind: Kind,
    /// U of a two-sided walk.
    pub(super) scale: Option<f64>,
    /// Rows are in units of the largest magnitudes so far.
    pub(super) normalise: bool,
}

impl Builder {
    /// Bets on each coordinate: the loss must have a bounded slope.
    pub(super) fn free(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let epsilon = args.number("epsilon", Free::WEALTH)?;
        let step = args.number("step", Free::STEP)?;
        let Some(slope) = self.request.setting.loss.facts().lipschitz else {
            return Err(ConfigError::Missing {
                name: "a bound on the slope of the loss",
                meaning: "free bets against it; use the walk adagrad, or a loss such as absolute or huber",
            });
        };
        self.request.setting.splits_weights = true;
        // It has no use for a rate that looks at every example.
        self.request.setting.rate = Rate::Constant(1.0);
        self.kind = Kind::Free { lipschitz: slope };
        let built = self.plain(Free::new(epsilon, step, slope)?, "none needed", Reach::Box)?;
        Ok(Built { rated: false, ..built })
    }

    /// Ridge regression after every row.
    pub(super) fn vaw(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let ridge = args.number("ridge", Vaw::RIDGE)?;
        let most = args.number("most", Vaw::MOST as f64)?;
        let allowed = Allowed::Closed(1.0, Vaw::MOST as f64);
        if !allowed.contains(most) {
            return Err(ConfigError::OutOfRange { name: "most", value: most, allowed });
        }
        if !matches!(self.request.setting.loss, AnyLoss::Squared(_)) {
            return Err(ConfigError::Missing {
                name: "the squared loss",
                meaning: "vaw is ridge regression; leave --loss out, or use another walk",
            });
        }
        self.request.setting.rate = Rate::Constant(1.0);
        self.kind = Kind::Without(
            "its theorem bounds the regret and a ridge together, and is not evaluated here",
        );
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // just checked
        let most = most as usize;
        let first = flag(args, "first", false)?;
        let walk = if first { Vaw::of_first(ridge, most)? } else { Vaw::new(ridge, most)? };
        let built = self.plain(walk, "none needed", Reach::Box)?;
        Ok(Built { rated: false, ..built })
    }

    /// AdaGrad.
    pub(super) fn adaptive(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let centre = flag(args, "centre", false)?;
        let rate = match self.request.setting.rate {
            Rate::Auto => Rate::Constant(Adaptive::RATE),
            rate => rate,
        };
        self.request.setting.rate = rate;
        self.kind = Kind::Without(
            "the metric is learned from the stream: no theorem of this library speaks of it",
        );
        if !centre {
            return self.plain(Adaptive::new(), &rate.to_string(), Reach::Box);
        }
        let Request { task, setting, .. } = &self.request;
        let keeps_units = matches!(
            setting.loss,
            AnyLoss::Squared(_) | AnyLoss::Absolute(_) | AnyLoss::Quantile(_)
        );
        if *task != Task::Regression || !keeps_units {
            return Err(ConfigError::Missing {
                name: "numbers under the squared, absolute or quantile loss",
                meaning: "centre=true counts labels from their mean in units of their deviation; leave it out",
            });
        }
        let walk = Centred::new(Adaptive::new(), setting.intercept);
        self.plain(walk, &rate.to_string(), Reach::Box)
    }

    /// Gradient descent.
    pub(super) fn descent(mut self, _: &mut Args<'_>) -> Result<Built, ConfigError> {
        self.kind = Kind::flat(rules::GRADIENT_STEPS);
        let rate = self.request.setting.rate.to_string();
        self.plain(Euclidean::new(), &rate, Reach::Ball(Norm::L2))
    }

    /// Geodesic steps on the sphere.
    pub(super) fn sphere(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let radius = args.number("radius", 1.0)?;
        let sphere = Sphere::new(radius, self.request.seed)?;
        if radius == 1.0 {
            self.kind = Kind::Sphere;
        }
        self.constrained(sphere, Reach::Sphere(radius))
    }

    /// Projected steps on the sphere.
    pub(super) fn projected_sphere(self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let radius = args.number("radius", 1.0)?;
        let sphere = Sphere::projected(radius, self.request.seed)?;
        self.constrained(sphere, Reach::Sphere(radius))
    }

    /// Mirror steps in a q-norm.
    pub(super) fn p_norm(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let walk = self.in_norm(args)?;
        let rate = self.request.setting.rate.to_string();
        let norm = Norm::Lp(walk.q());
        let divergence = Divergence::PNorm { q: walk.q() };
        self.kind = Kind::steps(rules::P_NORM_STEPS, divergence, Start::Each(0.0));
        self.plain(walk, &rate, Reach::Ball(norm))
    }

    /// Mirror steps in a constant metric.
    pub(super) fn mahalanobis(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let (walk, metric) = self.in_metric(args)?;
        let divergence = Divergence::Mahalanobis(metric);
        self.kind = Kind::steps(rules::METRIC_STEPS, divergence, Start::Each(0.0));
        let rate = self.request.setting.rate.to_string();
        self.plain(walk, &rate, Reach::Ball(Norm::L2))
    }

    /// Geodesic steps on positive weights.
    pub(super) fn orthant(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let start = args.number("start", 0.1)?;
        let walk = Orthant::new(start)?;
        let from = Start::Each(start);
        self.kind = Kind::steps(rules::ORTHANT_STEPS, Divergence::Logarithm, from);
        self.positive(walk, args, Reach::Positive)
    }

    /// EGU.
    pub(super) fn entropy(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let start = args.number("start", Entropy::START)?;
        let walk = Entropy::new(start)?;
        self.kind = Kind::steps(rules::EGU_STEPS, Divergence::Entropy, Start::Each(start));
        self.positive(walk, args, Reach::Positive)
    }

    /// Mirror steps with Burg's entropy.
    pub(super) fn burg(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let start = args.number("start", 0.1)?;
        let walk = Burg::new(start)?;
        self.kind = Kind::steps(rules::BURG_STEPS, Divergence::Burg, Start::Each(start));
        self.positive(walk, args, Reach::Positive)
    }

    /// The twin of EGU.
    pub(super) fn reparam_entropy(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let start = args.number("start", Entropy::START)?;
        let walk = ReparamEntropy::new(start)?;
        let from = Start::Each(start);
        self.kind = Kind::steps(rules::REPARAM_EGU_STEPS, Divergence::Entropy, from);
        self.positive(walk, args, Reach::Positive)
    }

    /// The twin of EG.
    pub(super) fn reparam_simplex(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let (lo, hi) = (args.optional_number("lo")?, args.optional_number("hi")?);
        let (walk, middle) = match (lo, hi) {
            (Some(lo), Some(hi)) => (ReparamSimplex::centred(lo, hi)?, 0.5 * (lo + hi)),
            _ => (ReparamSimplex::new(), 0.0),
        };
        let (rules, divergence) = (rules::REPARAM_EG_STEPS, Divergence::Entropy);
        self.kind = Kind::Steps { rules, divergence, start: Start::Even, middle };
        self.positive(walk, args, Reach::Simplex)
    }

    /// EG.
    pub(super) fn simplex_entropy(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        self.kind = Kind::steps(rules::EG_STEPS, Divergence::Entropy, Start::Even);
        self.positive(SimplexEntropy::new(), args, Reach::Simplex)
    }

    /// Prod.
    pub(super) fn prod(mut self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        self.kind =
            Kind::Without("its theorem speaks of the losses of experts: see geowalk experts");
        self.positive(SimplexEntropy::prod(), args, Reach::Simplex)
    }

    /// Implicit gradient descent.
    pub(super) fn implicit_descent(mut self, _: &mut Args<'_>) -> Result<Built, ConfigError> {
        self.kind = Kind::flat(rules::IMPLICIT_STEPS);
        self.constrained(Implicit::new(Euclidean::new()), BALL)
    }

    /// Implicit geodesic steps on the sphere. Classes of implicit walks are learned apart: a joint softmax
    /// gives a slope, not a loss to look ahead in.
    pub(super) fn implicit_sphere(self, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let radius = args.number("radius", 1.0)?;
        let sphere = Sphere::new(radius, self.request.seed)?;
        self.constrained(Implicit::new(sphere), Reach::Sphere(radius))
    }

    /// The p-norm walk that the arguments ask for.
    pub(super) fn in_norm(&self, args: &mut Args<'_>) -> Result<PNorm, ConfigError> {
        match (args.text("q"), self.request.features) {
            (Some("auto"), Some(n)) => PNorm::auto(n),
            (Some("auto"), None) => Err(ConfigError::Missing {
                name: "q",
                meaning: "q=auto needs the number of features beforehand: use --bits",
            }),
            (Some(text), _) => PNorm::new(number("q", text)?),
            (None, _) => PNorm::new(1.5),
        }
    }

    /// The walk in the metric that the arguments ask for.
    pub(super) fn in_metric(
        &self,
        args: &mut Args<'_>,
    ) -> Result<(Mahalanobis, Metric), ConfigError> {
        let missing = ConfigError::Missing {
            name: "sigma",
            meaning: "the metric: mahalanobis(sigma=FILE) or mahalanobis(sigma=diag(1, 2, ...)), a number for each feature",
        };
        let text = args.text("sigma").ok_or(missing.clone())?;
        let sigma = match Sigma::inline(text)? {
            Some(sigma) => sigma,
            None => Sigma::parse(text, self.request.sigma.as_deref().ok_or(missing)?)?,
        };
        let sigma = if self.request.setting.intercept { sigma.with_intercept() } else { sigma };
        let (walk, entries) = match sigma {
            Sigma::Diagonal(entries) => (Mahalanobis::diagonal(&entries)?, entries),
            Sigma::Full(entries, n) => (Mahalanobis::new(entries.clone(), n)?, entries),
        };
        let metric = Metric::new(&entries, &walk);
        Ok((walk, metric))
    }

    /// A walk on all of ℝⁿ whose rate is known.
    pub(super) fn plain<W: Walk + Clone + 'static>(
        mut self,
        walk: W,
        rate: &str,
        reach: Reach,
    ) -> Result<Built, ConfigError> {
        let rate = rate.to_owned();
        self.request.setting.reach = reach;
        let built = self.finish(walk, true)?;
        let rate = if rate == "certified" { built.rate.clone() } else { rate };
        Ok(Built { rate, ..built })
    }

    /// A walk on constrained weights: classes are learned apart.
    pub(super) fn constrained<W: Walk + Clone + 'static>(
        mut self,
        walk: W,
        reach: Reach,
    ) -> Result<Built, ConfigError> {
        self.request.setting.reach = reach;
        self.request.setting.domain = match (reach, self.scale) {
            (Reach::Sphere(radius), _) => Domain::Sphere(radius),
            (Reach::Simplex, _) => Domain::Simplex,
            (Reach::Positive, _) => Domain::Positive,
            _ => self.request.setting.domain,
        };
        self.finish(walk, false)
    }

    /// A walk on positive weights, or its two-sided form.
    pub(super) fn positive<W: Walk + Clone + 'static>(
        mut self,
        walk: W,
        args: &mut Args<'_>,
        reach: Reach,
    ) -> Result<Built, ConfigError> {
        let signed = flag(args, "signed", self.signed)?;
        let scale = args.number("scale", 1.0)?;
        if signed {
            self.scale = Some(scale);
            if reach == Reach::Simplex {
                self.request.setting.domain = Domain::Cross(scale);
            }
            // What is positive or sums to 1 in two halves is any vector with that sum of magnitudes.
            self.constrained(Signed::new(walk, scale)?, Reach::Ball(Norm::L1))
        } else {
            self.constrained(walk, reach)
        }
    }

    /// Winnow or its twin: rate, loss and start are those of the theorem.
    pub(super) fn winnow(mut self, twin: bool, args: &mut Args<'_>) -> Result<Built, ConfigError> {
        let margin = args.number("margin", 0.5)?;
        let k = args.number("k", 1.0)?;
        let n = match (args.optional_number("n")?, self.request.features) {
            (Some(n), _) => n,
            (None, Some(n)) => n as f64,
            (None, None) => {
                return Err(ConfigError::Missing {
                    name: "n",
                    meaning: "the number of features, for the starting weight k/n: winnow(n=...) or --bits",
                });
            }
        };
        let constants = if twin { winnow::twin(margin)? } else { winnow::winnow(margin)? };
        self.request.setting.loss = AnyLoss::from(WinnowHinge::new(constants.threshold)?);
        self.request.setting.rate = Rate::Constant(constants.rate);
        self.request.setting.values = Some(Allowed::Closed(0.0, 1.0));
        self.kind = Kind::Winnow { margin, start: k / n, twin };
        let built = if twin {
            self.constrained(ReparamEntropy::new(k / n)?, Reach::Positive)?
        } else {
            self.constrained(Entropy::new(k / n)?, Reach::Positive)?
        };
        Ok(Built { rated: false, ..built })
    }

    pub(super) fn finish<W: Walk + Clone + 'static>(
        mut self,
        walk: W,
        joint: bool,
    ) -> Result<Built, ConfigError> {
        if self.request.setting.merged {
            self.kind = Kind::Without(
                "the model was merged from several runs, and theorems are about one run in one order",
            );
        }
        if self.normalise {
            // The weights of rows as they are can be anywhere.
            (self.request.setting.reach, self.request.setting.domain) = (Reach::Box, Domain::Space);
            self.kind = Kind::Without(
                "rows are in units that change during the run, and theorems are about rows as they are: use normalise=false",
            );
        }
        if self.request.setting.average.is_some() && walk.local(0).is_none() {
            return Err(ConfigError::Missing {
                name: "a walk that can be averaged",
                meaning: "a step of this one changes each weight in its own way; --average goes with all walks but this one",
            });
        }
        // One learner for all: compiling each walk twice would cost minutes, three comparisons per example cost nothing.
        let walk = Normalised::<W, Whole>::shaped(walk, self.normalise);
        let walk = match self.request.y_range {
            Some((lo, hi)) => Clipped::new(walk, lo, hi)?,
            None => Clipped::unbounded(walk),
        };
        self.learner(walk, joint)
    }

    pub(super) fn learner<W: Walk + Clone + 'static>(
        mut self,
        walk: W,
        joint: bool,
    ) -> Result<Built, ConfigError> {
        // The softmax is the logistic loss of several classes; other losses have no such form.
        let joint = joint && matches!(self.request.setting.loss, AnyLoss::Logistic(_));
        let softmax = joint && self.request.task == Task::Multiclass;
        let setting = &self.request.setting;
        if setting.certificate && setting.second_order && (softmax || setting.curvature().is_none())
        {
            return Err(no_second_order());
        }
        let rate = self.promise(&walk, joint)?;
        let Request { task, setting, .. } = self.request;
        let tuned = matches!(setting.rate, Rate::Auto | Rate::Doubling(_));
        let loss = setting.loss.clone();
        let (learner, joint): (Box<dyn Learner>, bool) = match task {
            Task::Regression | Task::Binary => (Box::new(Single::new(walk, setting)), false),
            Task::Multiclass => (Box::new(Several::new(walk, joint, setting)), joint),
        };
        Ok(Built { learner, joint, loss, rate, rated: true, tuned })
    }

    /// Chooses the theorems, and the rate if they are to prescribe it; gives the text of the rate.
    pub(super) fn promise<W: Walk + Clone>(
        &mut self,
        walk: &W,
        joint: bool,
    ) -> Result<String, ConfigError> {
        let Request { task, setting, y_range, declared, comparator, .. } = &self.request;
        let softmax = joint && *task == Task::Multiclass;
        // Where the walk begins, for a theorem that speaks of one comparator.
        let known = comparator.clone().map(|u| {
            let (mut walk, mut start) = (walk.clone(), Vec::new());
            walk.grow(u.len());
            walk.read(&mut start);
            (start, u)
        });
        let mut case = Case {
            kind: &self.kind,
            loss: &setting.loss,
            joint: softmax,
            facts: if softmax { Given.facts() } else { setting.loss.facts() },
            rate: setting.rate,
            y_range: *y_range,
            scale: self.scale,
            intercept: setting.intercept,
            declared: *declared,
            known,
        };
        let mut text = setting.rate.to_string();
        if setting.rate == Rate::Certified {
            let (rate, theorem) = case.rate()?;
            case.rate = rate;
            text = format!("{rate} (certified by {theorem})");
        }
        if let (Rate::Doubling(scheme), Some(_)) = (case.rate, setting.average)
            && scheme.restarts()
        {
            return Err(ConfigError::Missing {
                name: "--x-range LO,HI, --distance D and --rounds K",
                meaning: "without them the certified rate needs epochs that begin at the start again, of which there is no average",
            });
        }
        let rate = case.rate;
        let (theorems, without) = case.theorems()?;
        let setting = &mut self.request.setting;
        (setting.theorems, setting.without, setting.rate) = (theorems, without, rate);
        Ok(text)
    }
}

/// An argument that is true or false.
fn flag(args: &mut Args<'_>, name: &'static str, usual: bool) -> Result<bool, ConfigError> {
    match args.text(name) {
        None => Ok(usual),
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        Some(text) => Err(ConfigError::Syntax {
            text: format!("{name}={text}"),
            column: name.len() + 2,
            expected: "true or false",
        }),
    }
}
