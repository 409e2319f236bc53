//! Properties of rules, of boosting with them, and of flavours and reductions.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::range_plus_one,
    clippy::unwrap_used,
    clippy::panic
)] // test helpers may do these

use geowalk::Real;
use geowalk::boost::columns::PlainColumns;
use geowalk::boost::line::{self, Separable};
use geowalk::boost::multiclass::{expand, expand_labels};
use geowalk::boost::rule::{Asks, Literal, Rule};
use geowalk::boost::rules::{RuleOptions, Rules, Search};
use geowalk::boost::table::{Column, MISSING, Table};
use geowalk::boost::weak::{Hypothesis, View, Weak};
use geowalk::boost::{
    BoostError, Booster, Choice, Ended, Ensemble, Flavour, Halt, HeldTable, Leverage, Outcome,
    Stop, Surrogate,
};
use geowalk::laws::Sampler;

const LOSSES: [&str; 9] = [
    "exponential",
    "squared",
    "gini",
    "matsushita",
    "entropy",
    "mu(mu=0.3)",
    "nu(nu=0.25)",
    "zeta(zeta=-4)",
    "renorm",
];

const SEARCHES: [Search; 3] = [Search::Edge, Search::Screened(8), Search::Exact];

fn options(literals: usize, search: Search) -> RuleOptions {
    RuleOptions { literals, search, ..RuleOptions::default() }
}

/// All combinations of four truth values, with repetitions so that all combinations have different frequencies.
fn truths() -> Table {
    let mut rows = Vec::new();
    for bits in 0..16_usize {
        for _ in 0..1 + (bits * 7) % 5 {
            rows.push(bits);
        }
    }
    let column = |k: usize| {
        Column::boolean(format!("x{k}"), rows.iter().map(|bits| Some(bits >> k & 1 == 1)).collect())
    };
    Table::new((0..4).map(column).collect()).unwrap()
}

fn bit(table: &Table, column: usize, row: usize) -> bool {
    Literal { column, asks: Asks::Truth(true) }.holds(table, row)
}

fn first(table: &Table, labels: &[f64], loss: &Surrogate, options: RuleOptions) -> (Rule, f64) {
    let mut rules = Rules::new(table, options).unwrap();
    let n = labels.len();
    let (u, c) = (vec![0.0; n], vec![1.0; n]);
    let w = vec![loss.weight(0.0); n];
    let mut h = vec![0.0; n];
    let view = View { loss, y: labels, c: &c, u: &u, w: &w };
    let Some(Hypothesis::Rule(rule)) = rules.learn(&view, &mut h) else { panic!("no rule") };
    for (row, h) in h.iter().enumerate() {
        assert_eq!(rule.value(table, row), *h, "bins and values agree");
    }
    let edge: f64 = h.iter().zip(labels).map(|(h, y)| h * y).sum();
    (rule, edge / n as f64)
}

#[test]
fn clean_conjunctions_are_found_for_every_loss() {
    let table = truths();
    let rows = table.rows();
    let sign = |yes: bool| if yes { 1.0 } else { -1.0 };
    let and_not: Vec<f64> =
        (0..rows).map(|r| sign(bit(&table, 0, r) && !bit(&table, 2, r))).collect();
    let nand: Vec<f64> =
        (0..rows).map(|r| sign(!(bit(&table, 1, r) && bit(&table, 3, r)))).collect();
    for name in LOSSES {
        let loss = Surrogate::parse(name).unwrap();
        for search in SEARCHES {
            for (labels, asks) in [
                (&and_not, [(0, Asks::Truth(true)), (2, Asks::Truth(false))]),
                (&nand, [(1, Asks::Truth(true)), (3, Asks::Truth(true))]),
            ] {
                let (rule, edge) = first(&table, labels, &loss, options(2, search));
                let mut found: Vec<_> = rule.literals.iter().map(|l| (l.column, l.asks)).collect();
                found.sort_by_key(|(column, _)| *column);
                assert_eq!(found, asks, "{name} {search:?}");
                assert!((edge.abs() - 1.0).abs() < 1e-15, "{name} {search:?}");
            }
        }
    }
}

fn mixed(s: &mut Sampler, rows: usize) -> (Table, Vec<f64>) {
    let number = |s: &mut Sampler, levels: f64| -> Vec<f64> {
        (0..rows)
            .map(|_| if s.unit() < 0.1 { f64::NAN } else { (s.uniform(0.0, levels)).floor() })
            .collect()
    };
    let (a, b) = (number(s, 9.0), number(s, 400.0));
    let names: Vec<u32> =
        (0..rows).map(|_| if s.unit() < 0.05 { MISSING } else { s.below(5) as u32 }).collect();
    let truth: Vec<Option<bool>> = (0..rows).map(|_| Some(s.unit() < 0.4)).collect();
    let labels = (0..rows).map(|row| {
        let score = one(a[row] > 4.0) + one(names[row] == 2) - one(b[row] < 150.0)
            + one(truth[row] == Some(true));
        let y = if score > 0.5 { 1.0 } else { -1.0 };
        if s.unit() < 0.15 { -y } else { y }
    });
    let labels: Vec<f64> = labels.collect();
    let table = Table::new(vec![
        Column::numeric("a", a),
        Column::numeric("b", b),
        Column::nominal("names", names, ["p", "q", "r", "s", "t"]),
        Column::boolean("truth", truth),
        Column::numeric("constant", vec![3.0; rows]),
        Column::numeric("nothing", vec![f64::NAN; rows]),
    ]);
    (table.unwrap(), labels)
}

fn one(yes: bool) -> f64 {
    if yes { 1.0 } else { 0.0 }
}

/// Every literal of a table, in the order used to break ties.
fn literals(table: &Table) -> Vec<Literal> {
    use geowalk::boost::table::Values;
    let mut all = Vec::new();
    for (column, own) in table.columns().iter().enumerate() {
        let mut push = |asks| all.push(Literal { column, asks });
        match own.values() {
            Values::Boolean(_) => {
                push(Asks::Truth(true));
                push(Asks::Truth(false));
            }
            Values::Nominal { names, .. } => {
                for code in 0..names.len() as u32 {
                    push(Asks::Is(code));
                    push(Asks::Not(code));
                }
            }
            Values::Sparse(_) => {}
            Values::Numeric(values) => {
                let mut values: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
                values.sort_by(f64::total_cmp);
                values.dedup();
                for pair in values.windows(2) {
                    let theta = 0.5 * pair[0] + 0.5 * pair[1];
                    push(Asks::AtMost(theta));
                    push(Asks::Above(theta));
                }
            }
        }
        if (0..table.rows()).any(|row| own.values().missing(row)) {
            push(Asks::Missing);
        }
    }
    all
}

/// The definition: for each polarity the literal with the smallest risk, up to l times.
fn by_definition(
    table: &Table,
    y: &[f64],
    u: &[f64],
    loss: &Surrogate,
    l: usize,
    abstains: bool,
) -> (Rule, f64) {
    let n = y.len();
    let risk = |rule: &Rule, s: f64| -> f64 {
        let m: Vec<f64> = (0..n).map(|row| -y[row] * rule.value(table, row)).collect();
        let value = |delta: f64| (0..n).map(|i| loss.value(-(u[i] + delta * m[i]))).sum::<f64>();
        let step = line::leverage(loss, u, &m, &vec![1.0; n], Separable::Cap).unwrap();
        if step.delta * s > 0.0 { value(step.delta) } else { value(0.0) }
    };
    let mut best: Option<(Rule, f64)> = None;
    for s in [1.0, -1.0] {
        let mut rule = Rule { literals: Vec::new(), abstains };
        let mut now = risk(&rule, s);
        for _ in 0..l {
            let mut next: Option<(Rule, f64)> = None;
            for literal in literals(table) {
                let mut longer = rule.clone();
                longer.literals.push(literal);
                let value = risk(&longer, s);
                if next.as_ref().is_none_or(|(_, least)| value < least * (1.0 - 1e-9)) {
                    next = Some((longer, value));
                }
            }
            let Some((longer, value)) = next else { break };
            if value >= now * (1.0 - 1e-9) {
                break;
            }
            (rule, now) = (longer, value);
        }
        if best.as_ref().is_none_or(|(_, least)| now < least * (1.0 - 1e-9)) {
            best = Some((rule, now));
        }
    }
    best.unwrap()
}

#[test]
fn the_exact_search_is_the_definition() {
    let mut s = Sampler::new(77);
    for round in 0..3 {
        let (table, labels) = mixed(&mut s, 60);
        for name in ["matsushita", "entropy", "exponential", "squared", "gini"] {
            let loss = Surrogate::parse(name).unwrap();
            let u: Vec<f64> = (0..60).map(|_| s.uniform(-1.0, 1.0)).collect();
            let w: Vec<f64> = u.iter().map(|u| loss.weight(-u)).collect();
            let c = vec![1.0; 60];
            for abstains in [false, true] {
                let expected = by_definition(&table, &labels, &u, &loss, 3, abstains);
                let searches: &[Search] = if round == 0 {
                    &[Search::Exact, Search::Screened(2000)]
                } else {
                    &[Search::Exact]
                };
                for &search in searches {
                    let bins = if search == Search::Exact { None } else { Some(255) };
                    let options = RuleOptions { literals: 3, search, bins, abstains };
                    let mut rules = Rules::new(&table, options).unwrap();
                    let mut h = vec![0.0; 60];
                    let view = View { loss: &loss, y: &labels, c: &c, u: &u, w: &w };
                    let Some(Hypothesis::Rule(rule)) = rules.learn(&view, &mut h) else { panic!() };
                    let m: Vec<f64> = h.iter().zip(&labels).map(|(h, y)| -y * h).collect();
                    let step = line::leverage(&loss, &u, &m, &c, Separable::Cap).unwrap();
                    let risk: f64 = (0..60).map(|i| loss.value(-(u[i] + step.delta * m[i]))).sum();
                    assert!(
                        (risk - expected.1).abs() <= 1e-7 * risk,
                        "{name} {search:?} {abstains}: {rule:?} {risk}, by definition {expected:?}"
                    );
                    for (row, h) in h.iter().enumerate() {
                        assert_eq!(rule.value(&table, row), *h);
                    }
                }
            }
        }
    }
}

#[test]
fn missing_values_make_rules() {
    // All rows with a missing value are positive.
    let x: Vec<f64> = (0..40).map(|i| if i % 4 == 0 { f64::NAN } else { f64::from(i) }).collect();
    let labels: Vec<f64> = x.iter().map(|x| if x.is_nan() { 1.0 } else { -1.0 }).collect();
    let table = Table::new(vec![Column::numeric("x", x)]).unwrap();
    for search in SEARCHES {
        let loss = Surrogate::parse("matsushita").unwrap();
        let (rule, edge) = first(&table, &labels, &loss, options(1, search));
        assert_eq!(rule.literals, [Literal { column: 0, asks: Asks::Missing }]);
        assert_eq!(edge, 1.0);
    }
}

#[test]
fn a_column_may_recur_and_names_may_be_excluded() {
    let x: Vec<f64> = (0..30).map(f64::from).collect();
    let inside: Vec<f64> =
        x.iter().map(|x| if (10.0..20.0).contains(x) { 1.0 } else { -1.0 }).collect();
    let table = Table::new(vec![Column::numeric("x", x)]).unwrap();
    let loss = Surrogate::parse("entropy").unwrap();
    let booster = Booster::new(loss.clone(), Stop::after(10).unwrap());
    let ensemble = fit(&booster, &table, &inside, options(2, Search::Exact));
    assert_eq!(ensemble.training_error(), 0.0);
    let codes: Vec<u32> = (0..30).map(|i| i % 6).collect();
    let labels: Vec<f64> = codes.iter().map(|c| if *c == 4 { -1.0 } else { 1.0 }).collect();
    let names = ["a", "b", "c", "d", "e", "f"];
    let table = Table::new(vec![Column::nominal("n", codes, names)]).unwrap();
    let (rule, edge) = first(&table, &labels, &loss, options(3, Search::Edge));
    assert_eq!((rule.literals, edge), (vec![Literal { column: 0, asks: Asks::Not(4) }], 1.0));
}

fn fit(booster: &Booster, table: &Table, labels: &[f64], options: RuleOptions) -> Ensemble {
    let mut rules = Rules::new(table, options).unwrap();
    booster.fit(&mut rules, labels, None, None, &mut |_, _| {}).unwrap()
}

fn same(a: &Ensemble, b: &Ensemble) -> bool {
    let bits = |e: &Ensemble| e.alpha.iter().map(|a| a.to_bits()).collect::<Vec<_>>();
    a.hypotheses == b.hypotheses && bits(a) == bits(b)
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let mut s = Sampler::new(1);
    let (table, labels) = mixed(&mut s, 6000);
    for search in [Search::Edge, Search::Screened(5)] {
        let booster =
            Booster::new(Surrogate::parse("matsushita").unwrap(), Stop::after(12).unwrap());
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&booster, &table, &labels, options(3, search)))
        };
        let single = run(1);
        assert!(same(&single, &run(2)) && same(&single, &run(5)), "{search:?}");
        assert!(single.training_error() < 0.3);
    }
}

/// With enough rows to be worth a thread, sums over rows are distributed as well.
#[test]
fn the_number_of_threads_changes_nothing_on_many_rows() {
    let mut s = Sampler::new(3);
    let (table, labels) = mixed(&mut s, 40_000);
    for loss in ["matsushita", "entropy", "exponential", "gini"] {
        let booster = Booster::new(Surrogate::parse(loss).unwrap(), Stop::after(4).unwrap());
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&booster, &table, &labels, options(2, Search::Edge)))
        };
        let single = run(1);
        assert!(same(&single, &run(2)) && same(&single, &run(4)), "{loss}");
        assert_eq!(single.rounds, run(2).rounds, "{loss}");
    }
}

#[test]
fn every_loss_boosts_rules_and_keeps_its_promises() {
    let mut s = Sampler::new(4);
    let (table, labels) = mixed(&mut s, 300);
    for name in LOSSES {
        for leverage in [Leverage::One, Leverage::Some(3), Leverage::All] {
            let loss = Surrogate::parse(name).unwrap();
            let mut booster = Booster::new(loss, Stop::after(70).unwrap());
            booster.leverage = leverage;
            let ensemble = fit(&booster, &table, &labels, options(2, Search::Edge));
            // For capped steps, only the absence of an increase is guaranteed.
            for round in ensemble.rounds.iter().filter(|round| round.outcome == Outcome::Solved) {
                assert!(
                    round.residual <= 1e-10 || name == "renorm",
                    "{name} {leverage:?} {round:?}"
                );
                assert!(round.slip <= 1e-8 || name == "renorm", "{name} {leverage:?} {round:?}");
                if name != "renorm" {
                    let decrease = round.before - round.surrogate;
                    assert!(
                        decrease >= round.guaranteed * (1.0 - 1e-6) - 1e-12,
                        "{name} {round:?}"
                    );
                }
                assert!(round.error <= round.surrogate + 1e-12);
            }
            // The scores computed from the table are those of the rounds.
            let scores = ensemble.scores(&table);
            let wrong = scores.iter().zip(&labels).filter(|(h, y)| (**h >= 0.0) != (**y > 0.0));
            let error = wrong.count() as f64 / 300.0;
            // Scores that are 0 up to rounding may have either sign.
            let open = scores.iter().filter(|h| h.abs() < 1e-12).count() as f64 / 300.0;
            let off = (error - ensemble.training_error()).abs();
            assert!(off <= open + 1e-12, "{name} {leverage:?} {off} {open}");
            assert!(error < 0.25, "{name} {leverage:?} {error}");
        }
    }
}

#[test]
fn mu_and_matsushita_are_one_booster() {
    let mut s = Sampler::new(14);
    let (table, labels) = mixed(&mut s, 200);
    let run = |name: &str| {
        let booster = Booster::new(Surrogate::parse(name).unwrap(), Stop::after(25).unwrap());
        fit(&booster, &table, &labels, options(2, Search::Screened(8)))
    };
    let matsushita = run("matsushita");
    for mu in [0.25, 0.5] {
        let other = run(&format!("mu(mu={mu})"));
        assert_eq!(other.hypotheses, matsushita.hypotheses);
        for (a, b) in other.alpha.iter().zip(&matsushita.alpha) {
            assert!((a - (1.0 - mu) * b).abs() < 1e-8);
        }
    }
}

#[test]
fn xor_has_no_first_literal() {
    let bits = |k: usize| {
        Column::boolean(format!("x{k}"), (0..4).map(|i| Some(i >> k & 1 == 1)).collect())
    };
    let table = Table::new(vec![bits(0), bits(1)]).unwrap();
    let booster = Booster::new(Surrogate::parse("matsushita").unwrap(), Stop::after(5).unwrap());
    let ensemble = fit(&booster, &table, &[-1.0, 1.0, 1.0, -1.0], options(2, Search::Exact));
    assert_eq!((ensemble.ended, ensemble.kept), (Ended::Converged, 0));
    assert_eq!(ensemble.scores(&table), [0.0; 4]);
    assert!(ensemble.training_error().is_nan());
}

#[test]
fn a_held_out_set_chooses_the_prefix() {
    let mut s = Sampler::new(6);
    let (table, labels) = mixed(&mut s, 400);
    let half = |from: u32| table.select(&(from..from + 200).collect::<Vec<_>>()).unwrap();
    let (train, held) = (half(0), half(200));
    let mut booster = Booster::new(Surrogate::parse("entropy").unwrap(), Stop::after(80).unwrap());
    booster.stop.patience = Some(10);
    let set = HeldTable { table: &held, labels: &labels[200..], weights: None };
    let mut rules = Rules::new(&train, options(2, Search::Edge)).unwrap();
    let ensemble =
        booster.fit(&mut rules, &labels[..200], None, Some(set), &mut |_, _| {}).unwrap();
    assert_eq!((ensemble.ended, ensemble.kept + 10), (Ended::Patience, ensemble.rounds.len()));
    booster.stop = Stop::after(ensemble.kept).unwrap();
    let short = fit(&booster, &train, &labels[..200], options(2, Search::Edge));
    assert!(same(&short, &ensemble));
}

#[test]
fn weights_of_held_out_rows_count() {
    let mut s = Sampler::new(16);
    let (table, labels) = mixed(&mut s, 400);
    let rows = |from: u32, to: u32| table.select(&(from..to).collect::<Vec<_>>()).unwrap();
    let (train, held, part) = (rows(0, 200), rows(200, 400), rows(200, 260));
    let mut booster = Booster::new(Surrogate::parse("entropy").unwrap(), Stop::after(60).unwrap());
    booster.stop.patience = Some(15);
    let kept = |table: &Table, labels: &[f64], weights: Option<&[f64]>, own: &[f64]| {
        let set = HeldTable { table, labels, weights };
        let mut rules = Rules::new(&train, options(2, Search::Edge)).unwrap();
        booster.fit(&mut rules, own, None, Some(set), &mut |_, _| {}).map(|found| found.kept)
    };
    // Rows of weight 0 have no effect, and neither has a common factor of the weights.
    let weights: Vec<f64> = (0..200).map(|row| if row < 60 { 4.0 } else { 0.0 }).collect();
    let own = &labels[..200];
    let few = kept(&part, &labels[200..260], None, own).unwrap();
    assert_eq!(kept(&held, &labels[200..], Some(&weights), own).unwrap(), few);
    assert_ne!(kept(&held, &labels[200..], None, own).unwrap(), few, "or this tests nothing");
    for (weights, says) in [
        (vec![0.0; 200], "all its weights are 0"),
        (vec![-1.0; 200], "the list of held-out weights"),
        (vec![f64::NAN; 200], "the list of held-out weights"),
        (vec![1.0; 3], "the list of held-out weights"),
    ] {
        let error = kept(&held, &labels[200..], Some(&weights), own).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// The loss of a bag that gives the probabilities is the one with the smallest risk for the kept rounds.
#[test]
fn the_loss_of_probabilities_is_chosen_for_what_is_kept() {
    let mut forgetful = 0;
    for seed in 0..12 {
        let mut s = Sampler::new(seed);
        let (table, labels) = mixed(&mut s, 200);
        let half = |from: u32| table.select(&(from..from + 100).collect::<Vec<_>>()).unwrap();
        let (train, held) = (half(0), half(100));
        let loss = Surrogate::parse("matsushita").unwrap();
        let mut booster = Booster::new(loss.clone(), Stop::after(40).unwrap());
        booster.bag = Flavour::F1.bag(&loss, 0.5, 0.25).unwrap();
        let set = HeldTable { table: &held, labels: &labels[100..], weights: None };
        let mut rules = Rules::new(&train, options(2, Search::Edge)).unwrap();
        let found =
            booster.fit(&mut rules, &labels[..100], None, Some(set), &mut |_, _| {}).unwrap();
        forgetful += usize::from(found.kept < found.rounds.len());
        let scores = found.scores(&train);
        let risk = |loss: &Surrogate| -> f64 {
            scores.iter().zip(&labels).map(|(h, y)| loss.normalised(y * h)).sum()
        };
        let least = booster.bag.iter().map(risk).fold(f64::INFINITY, f64::min);
        assert!(risk(&found.loss) <= least * (1.0 + 1e-9), "seed {seed}: {}", found.loss.spec());
    }
    assert!(forgetful > 5, "{forgetful}");
}

/// A learner that returns the stumps of a list, one after another.
struct Listed<'a> {
    table: &'a Table,
    next: std::vec::IntoIter<Hypothesis>,
}

impl Weak for Listed<'_> {
    fn learn(&mut self, _: &View<'_>, h: &mut [f64]) -> Option<Hypothesis> {
        let next = self.next.next()?;
        next.values(self.table, h);
        Some(next)
    }

    fn table(&self) -> &Table {
        self.table
    }
}

#[test]
fn a_feature_that_stands_alone_is_kept_and_told_of() {
    let column = |a: [bool; 4], b: [bool; 4]| {
        let truths = |x: [bool; 4]| x.iter().map(|x| Some(*x)).collect();
        Table::new(vec![Column::boolean("errs", truths(a)), Column::boolean("never", truths(b))])
    };
    let never = [true, true, false, false];
    let table = column([true, false, false, false], never).unwrap();
    let rule = |column| {
        let literals = vec![Literal { column, asks: Asks::Truth(true) }];
        Hypothesis::Rule(Rule { literals, abstains: false })
    };
    let labels = [1.0, 1.0, -1.0, -1.0];
    let loss = Surrogate::parse("entropy").unwrap();
    let mut booster = Booster::new(loss.clone(), Stop::after(5).unwrap());
    booster.separable = Separable::Stop;
    let fit = |held: Option<HeldTable<'_>>| {
        let next = vec![rule(0), rule(1)].into_iter();
        let mut weak = Listed { table: &table, next };
        booster.fit(&mut weak, &labels, None, held, &mut |_, _| {}).unwrap()
    };
    let found = fit(None);
    assert_eq!((found.ended, found.kept, found.alpha[0]), (Ended::Separable, 2, 0.0));
    let last = found.rounds[1];
    assert!((last.surrogate - loss.normalised(found.alpha[1])).abs() < 1e-15, "{last:?}");
    assert_eq!(last.error, 0.0);
    // With errors on a held-out set, the earlier model is preferred.
    let held = column([true, false, false, false], [false, false, true, true]).unwrap();
    let found = fit(Some(HeldTable { table: &held, labels: &labels, weights: None }));
    assert_eq!((found.kept, found.alpha.len()), (1, 1));
    assert!(found.alpha[0] > 0.0);
}

/// Of the runs of F* with the smallest training error, the one with the smallest surrogate is kept.
#[test]
fn ties_of_f_star_go_to_the_smaller_surrogate() {
    let mut tied = 0;
    for seed in 0..6 {
        let (table, labels) = mixed(&mut Sampler::new(seed), 40);
        let loss = Surrogate::parse("matsushita").unwrap();
        let mut booster = Booster::new(loss.clone(), Stop::after(25).unwrap());
        booster.bag = Flavour::FStar.bag(&loss, 0.5, 0.25).unwrap();
        let runs: Vec<(f64, f64)> = (booster.bag.iter())
            .map(|loss| {
                let own = Booster { bag: vec![loss.clone()], ..booster.clone() };
                let last = *fit(&own, &table, &labels, options(2, Search::Edge)).last().unwrap();
                (last.error, last.surrogate)
            })
            .collect();
        let mut rules = Rules::new(&table, options(2, Search::Edge)).unwrap();
        let chosen =
            Flavour::FStar.fit(&booster, &mut rules, &labels, None, None, &mut |_, _| {}).unwrap();
        let best = runs.iter().copied().reduce(|a, b| if b < a { b } else { a }).unwrap();
        let last = chosen.ensemble.last().unwrap();
        assert_eq!((last.error, last.surrogate), best);
        let equal = runs.iter().filter(|run| run.0 == best.0).count();
        assert_eq!(chosen.ties, equal - 1);
        tied += usize::from(equal > 1);
    }
    assert!(tied > 1, "{tied}");
}

#[test]
fn columns_are_a_linear_model() {
    let mut s = Sampler::new(12);
    let x: Vec<f64> = (0..200).map(|_| s.normal()).collect();
    let z: Vec<f64> = (0..200).map(|_| s.normal()).collect();
    let labels: Vec<f64> = x
        .iter()
        .zip(&z)
        .map(|(x, z)| if 0.7 + 2.0 * x - z + 1.5 * s.normal() > 0.0 { 1.0 } else { -1.0 })
        .collect();
    let table = Table::new(vec![Column::numeric("x", x), Column::numeric("z", z)]).unwrap();
    let run = |leverage| {
        let mut booster =
            Booster::new(Surrogate::parse("logistic").unwrap(), Stop::after(400).unwrap());
        booster.leverage = leverage;
        booster.fit(&mut PlainColumns::new(&table), &labels, None, None, &mut |_, _| {}).unwrap()
    };
    let (one, all) = (run(Leverage::One), run(Leverage::All));
    assert_eq!((one.ended, all.ended), (Ended::Converged, Ended::Converged));
    assert!(all.rounds.len() < 6 && one.hypotheses.len() == 3);
    for (a, b) in one.scores(&table).iter().zip(all.scores(&table)) {
        assert!((a - b).abs() < 1e-5);
    }
}

#[test]
fn mh_with_the_exponential_loss_is_adaboost_mh() {
    let mut s = Sampler::new(20);
    let n = 60;
    let x: Vec<f64> = (0..n).map(|_| s.uniform(0.0, 3.0)).collect();
    let codes: Vec<u32> =
        x.iter().map(|x| if s.unit() < 0.2 { s.below(3) as u32 } else { *x as u32 }).collect();
    let table = Table::new(vec![Column::numeric("x", x.clone())]).unwrap();
    let classes = ["a", "b", "c"].map(str::to_owned);
    let wide = expand(&table, &classes).unwrap();
    let labels = expand_labels(&codes, 3);
    let booster = Booster::new(Surrogate::parse("exponential").unwrap(), Stop::after(30).unwrap());
    let ensemble = fit(&booster, &wide, &labels, options(2, Search::Edge));
    // AdaBoost.MH with the same weak hypotheses: a distribution over pairs (example, label).
    let mut d = vec![1.0 / (3 * n) as f64; 3 * n];
    let mut h = vec![0.0; 3 * n];
    let mut product = 1.0;
    for round in &ensemble.rounds {
        ensemble.hypotheses[round.feature].values(&wide, &mut h);
        let r: f64 = (0..3 * n).map(|i| d[i] * labels[i] * h[i]).sum();
        let alpha = 0.5 * Real::ln((1.0 + r) / (1.0 - r));
        let mut z = 0.0;
        for i in 0..3 * n {
            d[i] *= Real::exp(-alpha * labels[i] * h[i]);
            z += d[i];
        }
        for d in &mut d {
            *d /= z;
        }
        product *= z;
        assert!((round.edge - r).abs() < 1e-12 && (round.leverage - alpha).abs() < 1e-11);
        assert!((round.surrogate - product).abs() < 1e-12);
    }
    // It predicts the class with the largest score.
    let scores = ensemble.scores(&wide);
    let right = (0..n).filter(|&i| {
        let own: Vec<f64> = (0..3).map(|k| scores[k * n + i]).collect();
        geowalk::boost::multiclass::largest(&own) == codes[i] as usize
    });
    assert!(right.count() > 45);
}

#[test]
fn flavours() {
    let mut s = Sampler::new(30);
    let (table, labels) = mixed(&mut s, 250);
    let plain = Surrogate::parse("matsushita").unwrap();
    let booster = Booster::new(plain.clone(), Stop::after(15).unwrap());
    let mut weak = Rules::new(&table, options(2, Search::Edge)).unwrap();
    let mut run = |flavour: Flavour| {
        let bag = flavour.bag(&plain, 0.5, 0.25).unwrap();
        let booster = Booster { bag, ..booster.clone() };
        flavour.fit(&booster, &mut weak, &labels, None, None, &mut |_, _| {}).unwrap()
    };
    let single = run(Flavour::None);
    assert!(same(&single.ensemble, &fit(&booster, &table, &labels, options(2, Search::Edge))));
    for name in ["F1", "F2", "E1", "E2"] {
        let found = run(Flavour::parse(name).unwrap()).ensemble;
        let used: std::collections::BTreeSet<usize> = found.rounds.iter().map(|r| r.loss).collect();
        assert!(used.len() > 1, "{name} used {used:?}");
        assert!(found.training_error() < 0.25, "{name}");
    }
    // The first round of F1: the loss with the smallest error after its step; of equal ones the first in the bag.
    let bag = Flavour::F1.bag(&plain, 0.5, 0.25).unwrap();
    let after = |loss: &Surrogate| {
        let one = Booster::new(loss.clone(), Stop::after(1).unwrap());
        fit(&one, &table, &labels, options(2, Search::Edge)).rounds[0]
    };
    let errors: Vec<f64> = bag.iter().map(|loss| after(loss).error).collect();
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let expected = errors.iter().position(|e| *e == least).unwrap();
    assert_eq!(run(Flavour::F1).ensemble.rounds[0].loss, expected);
    let edges: Vec<f64> = bag.iter().map(|loss| after(loss).edge.abs()).collect();
    let first = run(Flavour::E1).ensemble.rounds[0];
    assert!(edges.iter().all(|edge| first.edge.abs() >= edge - 1e-15));
    // F*: the best of five whole runs.
    let star = run(Flavour::FStar).ensemble;
    let bag = Flavour::FStar.bag(&plain, 0.5, 0.25).unwrap();
    for loss in bag {
        let own = Booster::new(loss, Stop::after(15).unwrap());
        let error = fit(&own, &table, &labels, options(2, Search::Edge)).training_error();
        assert!(star.training_error() <= error);
    }
    assert!(
        Flavour::parse("F3").unwrap_err().to_string().contains("known: none, F1, F2, E1, E2, F*")
    );
    assert_eq!((Flavour::parse("f*").unwrap(), Choice::default()), (Flavour::FStar, Choice::Error));
}

#[test]
fn weights_are_repetitions() {
    let mut s = Sampler::new(50);
    let (table, labels) = mixed(&mut s, 80);
    let times: Vec<u32> = (0..80).map(|_| 1 + s.below(3) as u32).collect();
    let rows: Vec<u32> =
        (0..80).flat_map(|row| std::iter::repeat_n(row, times[row as usize] as usize)).collect();
    let many = table.select(&rows).unwrap();
    let more: Vec<f64> = rows.iter().map(|row| labels[*row as usize]).collect();
    let weights: Vec<f64> = times.iter().map(|t| f64::from(*t)).collect();
    for name in ["exponential", "matsushita", "gini"] {
        let booster = Booster::new(Surrogate::parse(name).unwrap(), Stop::after(10).unwrap());
        let mut rules = Rules::new(&table, options(2, Search::Exact)).unwrap();
        let weighted =
            booster.fit(&mut rules, &labels, Some(&weights), None, &mut |_, _| {}).unwrap();
        let repeated = fit(&booster, &many, &more, options(2, Search::Exact));
        assert_eq!(weighted.hypotheses, repeated.hypotheses, "{name}");
        for (a, b) in weighted.alpha.iter().zip(&repeated.alpha) {
            assert!((a - b).abs() < 1e-9);
        }
    }
}

#[test]
fn bad_input_is_named() {
    let mut s = Sampler::new(2);
    let (table, labels) = mixed(&mut s, 20);
    let booster = Booster::new(Surrogate::parse("entropy").unwrap(), Stop::after(3).unwrap());
    let message = |labels: &[f64], weights: Option<&[f64]>| {
        let mut rules = Rules::new(&table, RuleOptions::default()).unwrap();
        let error: BoostError =
            booster.fit(&mut rules, labels, weights, None, &mut |_, _| {}).unwrap_err();
        error.to_string()
    };
    assert!(message(&[1.0; 20], None).starts_with("all 20 rows have the class '+1'"));
    assert!(message(&labels[..5], None).contains("the list of labels has 5 values"));
    let mut bad = labels.clone();
    bad[3] = 2.0;
    assert!(message(&bad, None).contains("coordinate 3 of the labels is 2"));
    assert!(message(&labels, Some(&[0.0; 20])).starts_with("only 0 of the classes have weight"));
    let mut weights = [1.0; 20];
    weights[7] = -1.0;
    assert!(message(&labels, Some(&weights)).starts_with("the weight of row 8 is -1"));
    let none = Rules::new(&table, RuleOptions { literals: 0, ..RuleOptions::default() });
    assert_eq!(none.unwrap_err().to_string(), "literals = 0; it must be a whole number >= 1");
    assert!(Stop::after(0).is_err() && Search::parse("screened(0)").is_err());
    assert!(
        Search::parse("quick").unwrap_err().to_string().contains("known: edge, screened, exact")
    );
    assert_eq!(Search::parse("screened(3)").unwrap().spec(), "screened(k=3)");
}

#[test]
fn what_was_halted_has_the_rounds_until_then() {
    let mut s = Sampler::new(2);
    let (table, labels) = mixed(&mut s, 300);
    let loss = Surrogate::parse("matsushita").unwrap();
    let whole = Booster::new(loss.clone(), Stop::after(8).unwrap());
    let whole = fit(&whole, &table, &labels, options(2, Search::Edge));
    for after in 0..8 {
        let halt = Halt::new();
        let booster =
            Booster { halt: halt.clone(), ..Booster::new(loss.clone(), Stop::after(8).unwrap()) };
        if after == 0 {
            halt.call();
        }
        let mut rules = Rules::new(&table, options(2, Search::Edge)).unwrap();
        let mut watch = |round: &geowalk::boost::Round, _: &Hypothesis| {
            if round.round == after {
                halt.call();
            }
        };
        let found = booster.fit(&mut rules, &labels, None, None, &mut watch).unwrap();
        // The first round is always completed.
        let rounds = after.max(1);
        assert_eq!((found.rounds.len(), found.ended), (rounds, Ended::Halted));
        let short = Booster::new(loss.clone(), Stop::after(rounds).unwrap());
        assert!(same(&found, &fit(&short, &table, &labels, options(2, Search::Edge))));
        assert_eq!(found.rounds[..], whole.rounds[..rounds]);
    }
}
