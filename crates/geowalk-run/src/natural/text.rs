//! # `natural:FAMILY(...)` and its relatives
//! | text | walk |
//! |---|---|
//! | `natural:FAMILY(...)`, `dsngd(family=FAMILY, ...)` | dual stochastic natural gradient |
//! | `natural:mixed(FAMILY=0-3+7, ..., rest=FAMILY)` | a family for each set of features, by their numbers |
//! | `natural:auto`, `natural` | the family is chosen from the first block, and said |
//! | `natural-sgd:FAMILY`, `natural-adagrad:…`, `natural-csngd:…`, `natural-sngd:…`, `natural-mirror:…` | the baselines |
//!
//! Parameters: those of the family; `schedule` (`power(c, t0, p)`, `inv(c, t0)`, `counting`, `warm(c)`; `--rate` does the same), `cap` (a number or `none`), `average`
//! (`true`, `false`), `ridge`, `a` (pseudo-examples of every class).

use geowalk::ConfigError;
use geowalk::loss::AnyLoss;
use geowalk::natural::{AnyFamily, Baseline, Method, Natural, Schedule, Settings};
use geowalk::spec::{Args, Spec};
use geowalk_data::Task;

use super::{NaturalLearner, Walk};
use crate::rate::Rate;
use crate::walks::{Built, Request};

/// The families that need the name of the family alone.
const MIXED: &str = "mixed";

/// The families whose log-odds are not linear in the features.
const QUADRATIC: [&str; 2] = ["gaussian", "gaussian-diagonal"];

/// Builds natural gradient, or a baseline by this method.
pub(crate) fn build(
    spec: &Spec,
    method: Option<Method>,
    request: &Request,
) -> Result<Built, ConfigError> {
    if request.task == Task::Regression {
        return Err(ConfigError::Missing {
            name: "classes",
            meaning: "natural gradient learns classes, not numbers; use another walk",
        });
    }
    if request.setting.rate == Rate::Certified {
        return Err(ConfigError::Missing {
            name: "a theorem that prescribes the rate",
            meaning: "natural gradient has none; leave the rate out",
        });
    }
    let mut args = spec.args();
    let family = named(spec, method, &mut args);
    let own = parameters(&mut args)?;
    let certificate = request.setting.certificate;
    let (walk, rate, linear) = if method.is_none() && family == MIXED {
        let settings = own.settings(request.setting.rate, "mixed")?;
        let rate = settings.schedule.to_string();
        let squares = |argument: &String| {
            let (name, value) = argument.split_once('=').unwrap_or((argument, ""));
            let name = if name == "rest" { value } else { name };
            QUADRATIC.contains(&name)
        };
        let linear = !spec.arguments().iter().any(squares);
        (Walk::Dual(Box::new(mixed(&mut args, settings)?)), rate, linear)
    } else {
        let family = AnyFamily::read(family, &mut args)?;
        let linear = !QUADRATIC.contains(&family.name());
        let settings = match method {
            None => own.settings(request.setting.rate, family.name())?,
            Some(method) => own.baseline(request.setting.rate, method)?,
        };
        let rate = settings.schedule.to_string();
        let walk = match method {
            None => Walk::Dual(Box::new(Natural::new(family, settings)?)),
            Some(method) => Walk::Other(Box::new(Baseline::new(method, family, settings)?)),
        };
        (walk, rate, linear)
    };
    args.finish()?;
    let learner = NaturalLearner::new(walk, request.task, certificate && linear)?;
    Ok(Built {
        learner: Box::new(learner),
        joint: true,
        loss: AnyLoss::parse("logistic")?,
        rate,
        rated: true,
        tuned: false,
    })
}

/// The name of the family: behind the name of the walk, or as its argument.
fn named<'a>(spec: &'a Spec, method: Option<Method>, args: &mut Args<'a>) -> &'a str {
    let behind = spec.name().split_once(':').map(|(_, family)| family);
    let asked = behind.or_else(|| args.text("family"));
    // Where there are no data to choose from: what fits any numbers, and what those two know.
    let usual = match method {
        Some(Method::Sngd | Method::Mirror) => "bernoulli",
        _ => "gaussian-shared",
    };
    asked.filter(|&family| family != "auto" && !family.is_empty()).unwrap_or(usual)
}

/// What is said about the cap.
#[derive(Clone, Copy)]
enum Cap {
    Usual,
    Off,
    At(f64),
}

/// What all walks of this kind take.
struct Own {
    schedule: Option<Schedule>,
    cap: Cap,
    average: Option<bool>,
    ridge: f64,
    a: f64,
    guard: bool,
}

fn parameters(args: &mut Args<'_>) -> Result<Own, ConfigError> {
    let schedule = args.text("schedule").map(Schedule::parse).transpose()?;
    let cap = match args.text("cap") {
        None => Cap::Usual,
        Some("none") => Cap::Off,
        Some(_) => args.optional_number("cap")?.map_or(Cap::Usual, Cap::At),
    };
    let average = truth(args, "average")?;
    let guard = truth(args, "guard")?.unwrap_or(true);
    let ridge = args.number("ridge", 0.0)?;
    Ok(Own { schedule, cap, average, ridge, a: args.number("a", 1.0)?, guard })
}

fn truth(args: &mut Args<'_>, name: &'static str) -> Result<Option<bool>, ConfigError> {
    match args.text(name) {
        None => Ok(None),
        Some("true") => Ok(Some(true)),
        Some("false") => Ok(Some(false)),
        Some(text) => {
            let text = format!("{name}={text}");
            Err(ConfigError::Syntax { text, column: name.len() + 2, expected: "true or false" })
        }
    }
}

impl Own {
    /// The schedule that was asked for, here or by `--rate`.
    fn schedule(&self, rate: Rate) -> Result<Option<Schedule>, ConfigError> {
        match (self.schedule, rate) {
            (Some(schedule), _) => Ok(Some(schedule)),
            (None, Rate::Auto) => Ok(None),
            (None, rate) => Schedule::parse(&rate.to_string()).map(Some),
        }
    }

    fn settings(&self, rate: Rate, family: &str) -> Result<Settings, ConfigError> {
        let asked = self.schedule(rate)?;
        let usual = usual(family);
        let cap = match self.cap {
            Cap::Usual => usual.cap,
            Cap::Off => None,
            Cap::At(cap) => Some(cap),
        };
        // Averages belong to slowly falling rates.
        let average = match asked {
            None => usual.average,
            Some(Schedule::Power { p, .. }) => p < 1.0,
            Some(_) => false,
        };
        let average = self.average.unwrap_or(average);
        let schedule = asked.unwrap_or(usual.schedule);
        Ok(Settings { a: self.a, schedule, cap, average, ridge: self.ridge, guard: self.guard })
    }

    fn baseline(&self, rate: Rate, method: Method) -> Result<Settings, ConfigError> {
        let schedule = match method {
            Method::Sgd => Schedule::Power { c: 0.1, t0: 1000.0, p: 0.6 },
            Method::Adagrad => Schedule::Constant { rate: 0.5 },
            Method::Csngd => return self.settings(rate, ""),
            Method::Sngd | Method::Mirror => Schedule::Power { c: 1.0, t0: 1.0, p: 1.0 },
        };
        let schedule = self.schedule(rate)?.unwrap_or(schedule);
        let average = self.average.unwrap_or(method == Method::Sgd);
        Ok(Settings {
            a: self.a,
            schedule,
            cap: None,
            average,
            ridge: self.ridge,
            guard: self.guard,
        })
    }
}

/// What a family does where nothing else is asked for.
fn usual(family: &str) -> Settings {
    match family {
        // The step is (q − e)/N, which needs neither cap nor average.
        "discrete" => Settings {
            schedule: Schedule::Counting,
            cap: None,
            average: false,
            ..Settings::default()
        },
        // Far more coefficients than examples: an average would lag behind.
        "gaussian-sparse" => Settings { cap: Some(3.0), average: false, ..Settings::default() },
        _ => Settings::default(),
    }
}

/// `mixed(FAMILY=0-3+7, ..., rest=FAMILY)`.
fn mixed(args: &mut Args<'_>, settings: Settings) -> Result<Natural, ConfigError> {
    let mut parts = Vec::new();
    for entry in AnyFamily::entries() {
        if let Some(text) = args.text(entry.name) {
            parts.push((AnyFamily::parse(entry.name)?, numbers(entry.name, text)?));
        }
    }
    let rest = AnyFamily::parse(args.text("rest").unwrap_or("naive-bayes"))?;
    Natural::mixed(parts, rest, settings)
}

/// `0-3+7` is 0, 1, 2, 3, 7.
fn numbers(name: &str, text: &str) -> Result<Vec<usize>, ConfigError> {
    let wrong = || ConfigError::Syntax {
        text: format!("{name}={text}"),
        column: name.chars().count() + 2,
        expected: "numbers of features such as 0-3+7",
    };
    let mut all = Vec::new();
    for part in text.split('+') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let read = |text: &str| text.trim().parse::<usize>().ok().filter(|&n| n < 1 << 24);
        let (Some(from), Some(to)) = (read(from), read(to)) else { return Err(wrong()) };
        if from > to {
            return Err(wrong());
        }
        all.extend(from..=to);
    }
    Ok(all)
}

/// The text of [`numbers`]: 0, 1, 2, 3, 7 is `0-3+7`.
pub(super) fn ranges(numbers: &[usize]) -> String {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for &n in numbers {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == n => *last = n,
            _ => parts.push((n, n)),
        }
    }
    let text = |&(a, b): &(usize, usize)| if a == b { a.to_string() } else { format!("{a}-{b}") };
    parts.iter().map(text).collect::<Vec<_>>().join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_features_are_read_as_they_are_written() {
        assert_eq!(numbers("poisson", "0-3+7").unwrap(), [0, 1, 2, 3, 7]);
        assert_eq!(ranges(&[0, 1, 2, 3, 7]), "0-3+7");
        for bad in ["", "3-1", "x", "1+", "-2"] {
            let error = numbers("poisson", bad).unwrap_err().to_string();
            assert!(error.contains("numbers of features"), "{error}");
        }
    }
}
