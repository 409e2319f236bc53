//! What must hold of boosted trees.

use super::loss::{Slopes, logistic};
use super::round::Run;
use super::*;
use crate::Real;
use crate::boost::Surrogate;
use crate::boost::table::{Column, MISSING};
use crate::boost::tree::{Criterion, Growth, Tree};
use crate::laws::Sampler;

const LOSSES: [&str; 4] = ["logistic", "matsushita", "gini", "exponential"];

fn margin(name: &str) -> TreeLoss {
    TreeLoss::Margin(Surrogate::parse(name).unwrap())
}

/// Numbers with gaps, names, and labels with noise.
fn example(rows: usize, seed: u64) -> (Table, Vec<f64>) {
    let mut s = Sampler::new(seed);
    let a: Vec<f64> =
        (0..rows).map(|_| if s.unit() < 0.1 { f64::NAN } else { s.normal() }).collect();
    let b: Vec<f64> = s.vector(rows);
    let c: Vec<u32> = (0..rows)
        .map(|_| if s.unit() < 0.1 { MISSING } else { u32::try_from(s.below(7)).unwrap() })
        .collect();
    let y = (0..rows)
        .map(|row| {
            let z = if a[row].is_nan() { 0.5 } else { a[row] } * b[row]
                + if matches!(c[row], 1 | 4 | MISSING) { 0.8 } else { -0.2 };
            if z + 0.5 * s.normal() > 0.0 { 1.0 } else { -1.0 }
        })
        .collect();
    let names = ["p", "q", "r", "s", "t", "u", "v"];
    let columns =
        vec![Column::numeric("a", a), Column::numeric("b", b), Column::nominal("c", c, names)];
    (Table::new(columns).unwrap(), y)
}

fn loss_of(loss: &TreeLoss, scores: &[f64], y: &[f64]) -> f64 {
    let n = y.len();
    let (mut out, mut g, mut h) = (vec![0.0; n], vec![0.0; scores.len()], vec![0.0; scores.len()]);
    loss.wide_rows(scores, y, &mut Slopes { loss: &mut out, g: &mut g, curvature: &mut h });
    out.iter().sum::<f64>() / n as f64
}

#[test]
fn risk_never_rises_and_is_that_of_the_model() {
    let (table, y) = example(700, 1);
    for name in LOSSES {
        for leaf in [LeafStep::Newton, LeafStep::Exact] {
            for (rate, lambda) in [(0.05, 1.0), (1.0, 0.01)] {
                let mut booster = TreeBooster::new(margin(name));
                (booster.rate, booster.lambda, booster.leaf) = (rate, lambda, leaf);
                let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
                let Learned { model, rounds, .. } = booster.fit(&data, 40, &mut |_| {}).unwrap();
                for round in &rounds {
                    let allowed = 1e-11 * round.before;
                    assert!(round.risk <= round.before + allowed, "{name} {leaf:?} {round:?}");
                    assert!(round.error <= round.risk / booster.loss.scale() + 1e-12);
                }
                // Predictions on the table take the same ways as training did.
                let risk = loss_of(&booster.loss, &model.scores(&table), &y);
                let last = rounds.last().unwrap().risk;
                assert!((risk - last).abs() <= 1e-9 * last, "{name}: {risk} {last}");
                assert!(model.check().is_ok());
            }
        }
    }
}

#[test]
fn a_newton_step_that_overshoots_is_halved() {
    // Ten rows at score 4 of which half are positive: the full step of the logistic loss goes to −23.
    let h = [4.0; 10];
    let y: Vec<f64> = (0..10).map(|k| if k < 5 { 1.0 } else { -1.0 }).collect();
    let loss = margin("logistic");
    let (mut value, mut g, mut c) = ([0.0; 10], [0.0; 10], [0.0; 10]);
    loss.rows(&h, &y, &mut Slopes { loss: &mut value, g: &mut g, curvature: &mut c });
    let d = g.iter().sum::<f64>() / c.iter().sum::<f64>();
    assert!((d + 27.3).abs() < 0.05, "{d}");
    let before: f64 = value.iter().sum();
    let after: f64 = y.iter().map(|y| logistic(y * (4.0 + d))[0]).sum();
    assert!((before - 20.18).abs() < 0.01 && (after - 116.45).abs() < 0.1, "{before} {after}");
    // A first round puts all positive rows at a high score, a second one meets new labels there: forced by
    // starting a run at those scores.
    let table = Table::new(vec![Column::numeric("x", vec![1.0; 10])]).unwrap();
    let mut booster = TreeBooster::new(loss);
    (booster.rate, booster.lambda, booster.rows) = (1.0, 0.0, 1.0);
    let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
    let mut run = Run::new(&booster, &data, &|_| false);
    run.begin_at(&h);
    let round = run.step();
    assert!((round.before - 2.018).abs() < 1e-3 && round.risk < round.before, "{round:?}");
    assert_eq!((round.halved, round.leaves), (1, 1));
}

#[test]
fn exact_leaves_solve_their_equations_and_satisfy_the_identity() {
    let (table, y) = example(400, 2);
    for name in LOSSES {
        let mut booster = TreeBooster::new(margin(name));
        (booster.leaf, booster.rate, booster.lambda) = (LeafStep::Exact, 1.0, 0.0);
        booster.least_rows = 40;
        let TreeLoss::Margin(loss) = &booster.loss else { unreachable!() };
        let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
        let mut scores = vec![0.0; y.len()];
        let Learned { model, rounds, .. } = booster.fit(&data, 5, &mut |_| {}).unwrap();
        scores.fill(model.start[0]);
        for (tree, round) in model.trees.iter().zip(&rounds) {
            let only =
                AdditiveTrees { trees: vec![tree.clone()], start: vec![0.0], ..model.clone() };
            let step = only.scores(&table);
            let new: Vec<f64> = scores.iter().zip(&step).map(|(a, b)| a + b).collect();
            // (70): the weights after the step are orthogonal to every leaf. Leaves are told apart by their
            // values.
            for leaf in tree.nodes.iter().filter(|node| node.branch.is_none()) {
                let own: Vec<usize> = (0..y.len()).filter(|row| step[*row] == leaf.value).collect();
                let both = own.iter().any(|i| y[*i] > 0.0) && own.iter().any(|i| y[*i] < 0.0);
                let terms = own.iter().map(|i| y[*i] * loss.weight(y[*i] * new[*i]));
                let (sum, size) = terms.fold((0.0, 0.0), |(s, z), t| (s + t, z + t.abs()));
                if both {
                    assert!(sum.abs() <= 1e-9 * Real::max(size, 1e-9), "{name} {sum} {size}");
                }
            }
            // T4: risk_j − risk_{j+1} = Σ D_F(u‖u') + (−w'ᵀMδ).
            let mut identity = 0.0;
            for i in 0..y.len() {
                let (z, z2) = (y[i] * scores[i], y[i] * new[i]);
                let w2 = loss.weight(z2);
                identity += loss.value(z) - loss.value(z2) + w2 * (z - z2);
                identity += w2 * (z2 - z);
            }
            let fell = (round.before - round.risk) * y.len() as f64;
            assert!((identity - fell).abs() <= 1e-9 * y.len() as f64, "{name}: {identity} {fell}");
            scores = new;
        }
    }
}

#[test]
fn first_tree_is_that_of_the_criterion() {
    // T5: with the squared curvature of gini the gain of second order is that of φ_B, twice.
    let (table, y) = example(600, 3);
    let table = Table::new(table.columns()[1..2].to_vec()).unwrap();
    let classes = crate::boost::table::Classes::from_signs(&y).unwrap();
    let growth = Growth { max_leaves: Some(2), ..Growth::new(Criterion::parse("gini").unwrap()) };
    let mut booster = TreeBooster::new(margin("gini"));
    (booster.rows, booster.columns, booster.leaves) = (1.0, 1.0, 2);
    (booster.lambda, booster.least_rows, booster.bins) = (0.0, 1, 254);
    let mut order: Vec<usize> = (0..600).collect();
    let crate::boost::table::Values::Numeric(values) = table.columns()[0].values() else {
        panic!()
    };
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; 600];
    for (rank, row) in order.iter().enumerate() {
        ranks[*row] = (rank / 3) as f64;
    }
    let coarse = Table::new(vec![Column::numeric("b", ranks)]).unwrap();
    let udt = Tree::exact(&coarse, &classes, None, &growth).unwrap();
    let data = TreeData::new(&coarse, &y, None, None, &booster).unwrap();
    let Learned { model, .. } = booster.fit(&data, 1, &mut |_| {}).unwrap();
    let own = udt.nodes()[0].branch.unwrap();
    let found = model.trees[0].nodes[0].branch.clone().unwrap();
    let crate::boost::split::Test::AtMost { theta, .. } = own.split.test else { panic!() };
    let Ask::AtMost { theta: other, .. } = found.ask else { panic!() };
    assert_eq!(theta, other);
    // The cost of UDT is normalised by b = ¼, and half of the gain is the decrease of the raw risk.
    assert!(
        (found.gain * 0.5 / 0.25 - own.gain).abs() < 1e-3 * own.gain,
        "{} {}",
        found.gain,
        own.gain
    );
}

#[test]
fn kl_step_falls_by_its_bound() {
    let mut s = Sampler::new(7);
    for _ in 0..500 {
        let n = 3 + s.below(30);
        let scores: Vec<f64> = (0..n).map(|_| 3.0 * s.normal()).collect();
        let y: Vec<f64> = (0..n).map(|_| s.sign()).collect();
        let kappa = s.uniform(0.1, 2.0);
        let yes = y.iter().filter(|y| **y > 0.0).count() as f64;
        let p: f64 = scores.iter().map(|h| logistic(-h)[1]).sum();
        let (no, q) = (n as f64 - yes, n as f64 - p);
        let d = Real::ln((yes + kappa) / (no + kappa)) - Real::ln((p + kappa) / (q + kappa));
        let bound = (yes + kappa) * Real::ln((yes + kappa) / (p + kappa))
            + (no + kappa) * Real::ln((no + kappa) / (q + kappa));
        for rate in [1.0, 0.1] {
            let risk = |d: f64| -> f64 {
                scores.iter().zip(&y).map(|(h, y)| logistic(y * (h + d))[0]).sum()
            };
            let fell = risk(0.0) - risk(rate * d);
            assert!(fell >= rate * bound - 1e-9 && bound >= -1e-12, "{fell} {bound}");
        }
    }
    let (table, y) = example(300, 4);
    let mut booster = TreeBooster::new(margin("logistic"));
    (booster.leaf, booster.rate) = (LeafStep::Kl, 1.0);
    let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
    let Learned { rounds, .. } = booster.fit(&data, 20, &mut |_| {}).unwrap();
    assert!(rounds.iter().all(|round| round.halved == 0 && round.risk <= round.before));
}

#[test]
fn several_classes_fall_together() {
    let (table, y) = example(500, 5);
    let mut s = Sampler::new(3);
    let y: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 2.0 } else { s.below(2) as f64 }).collect();
    for (rate, leaf) in [(0.1, LeafStep::Newton), (1.0, LeafStep::Newton), (1.0, LeafStep::Kl)] {
        let mut booster = TreeBooster::new(TreeLoss::Softmax(3));
        (booster.rate, booster.leaf, booster.least_rows) = (rate, leaf, 2);
        let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
        let Learned { model, rounds, .. } = booster.fit(&data, 30, &mut |_| {}).unwrap();
        assert!(rounds.iter().all(|round| round.risk <= round.before * (1.0 + 1e-11)));
        let scores = model.scores(&table);
        let risk = loss_of(&booster.loss, &scores, &y);
        assert!((risk - rounds[29].risk).abs() < 1e-9);
        for own in model.probabilities(&scores).chunks(3) {
            assert!((own.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(own.iter().all(|p| *p > 0.0 && *p < 1.0));
        }
    }
}

#[test]
fn numbers_have_the_closed_forms() {
    let mut s = Sampler::new(8);
    let y: Vec<f64> = (0..101).map(|_| (10.0 * s.unit()).round()).collect();
    let table = Table::new(vec![Column::numeric("x", vec![1.0; 101])]).unwrap();
    for name in ["squared", "absolute", "quantile(tau=0.25)", "huber(delta=1.5)", "poisson"] {
        let loss = NumberLoss::parse(name).unwrap();
        assert_eq!(NumberLoss::parse(&loss.spec()).unwrap(), loss);
        let mut booster = TreeBooster::new(TreeLoss::Number(loss));
        (booster.rate, booster.lambda) = (1.0, 0.0);
        let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
        let Learned { model, rounds, .. } = booster.fit(&data, 3, &mut |_| {}).unwrap();
        // One leaf: the constant of least loss, compared with a fine grid.
        let at = model.scores(&table)[0];
        let risk = |h: f64| loss_of(&booster.loss, &vec![h; 101], &y);
        let least = (0..=4000).map(|k| risk(f64::from(k) * 0.0025)).fold(f64::INFINITY, Real::min);
        assert!(risk(at) <= least + 1e-6, "{name}: {} {least}", risk(at));
        assert!((rounds[2].risk - risk(at)).abs() < 1e-12);
    }
    let (table, _) = example(300, 9);
    let y: Vec<f64> = (0..300).map(|_| (3.0 * s.unit()).floor()).collect();
    for name in ["squared", "absolute", "quantile(tau=0.9)", "huber", "poisson"] {
        let booster = TreeBooster::new(TreeLoss::Number(NumberLoss::parse(name).unwrap()));
        let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
        let Learned { rounds, .. } = booster.fit(&data, 30, &mut |_| {}).unwrap();
        let fine = |round: &TreeRound| round.risk <= round.before + 1e-11 * round.before.abs();
        assert!(rounds.iter().all(fine), "{name}");
    }
    let negative = [1.0, -1.0];
    let two = Table::new(vec![Column::numeric("x", vec![1.0, 2.0])]).unwrap();
    let booster = TreeBooster::new(TreeLoss::Number(NumberLoss::Poisson));
    assert!(TreeData::new(&two, &negative, None, None, &booster).is_err());
}

#[test]
fn probabilities_are_inside_for_every_loss() {
    for name in [
        "logistic",
        "matsushita",
        "gini",
        "exponential",
        "squared",
        "mu(mu=0.5)",
        "nu(nu=0.25)",
        "zeta(zeta=-2)",
    ] {
        let loss = margin(name);
        let mut last = 0.0;
        for h in [-1e8, -3.0, -0.2, 0.0, 0.2, 3.0, 1e8] {
            let mut p = [0.0; 2];
            loss.probabilities(&[h], 1.0, 100.0, &mut p);
            assert!(
                p[1] >= 1.0 / 202.0 - 1e-15 && p[1] <= 1.0 - 1.0 / 202.0 + 1e-15,
                "{name} {h} {p:?}"
            );
            assert!(p[1] >= last && (p[0] + p[1] - 1.0).abs() < 1e-15, "{name} {h}");
            last = p[1];
            // Inside the image of the link the probability is that of the loss.
            if h.abs() < 0.5 && !matches!(name, "gini" | "squared" | "zeta(zeta=-2)") {
                let TreeLoss::Margin(own) = &loss else { panic!() };
                assert!((p[1] - own.probability(h)).abs() < 1e-12, "{name} {h}");
            }
        }
    }
}

#[test]
fn same_seed_same_model_for_any_threads() {
    let (table, y) = example(1000, 6);
    let three: Vec<f64> =
        y.iter().zip(0..).map(|(y, k)| if *y > 0.0 { f64::from(k % 2) } else { 2.0 }).collect();
    let learn = |threads: usize, several: bool, seed: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let loss = if several { TreeLoss::Softmax(3) } else { margin("logistic") };
            let mut booster = TreeBooster::new(loss);
            (booster.seed, booster.most_rounds, booster.patience) = (seed, 20, 5);
            let y = if several { &three } else { &y };
            let data = TreeData::new(&table, y, None, None, &booster).unwrap();
            let parts: Vec<usize> = (0..1000).map(|row| row % 3).collect();
            let learned =
                booster.learn(&data, Held::Folds(&parts, 3), &mut |_| {}).unwrap().unwrap();
            let chosen = learned.chosen.unwrap();
            (learned.model.trees, learned.model.scale, chosen)
        })
    };
    for several in [false, true] {
        let one = learn(1, several, 0);
        assert_eq!(one, learn(3, several, 0));
        assert_ne!(one.0, learn(2, several, 1).0);
        assert!(one.2.best > 0 && one.2.refitted);
    }
}

#[test]
fn unique_names_are_never_asked() {
    let (table, y) = example(300, 10);
    let names: Vec<String> = (0..300).map(|k| format!("id{k}")).collect();
    let mut columns = table.columns().to_vec();
    columns.push(Column::nominal("id", (0..300).collect(), names));
    let table = Table::new(columns).unwrap();
    let booster = TreeBooster::new(margin("logistic"));
    let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
    let Learned { model, .. } = booster.fit(&data, 30, &mut |_| {}).unwrap();
    assert!(!model.used().contains(&3) && model.used().contains(&2));
}

#[test]
fn weights_are_repeated_rows() {
    let (table, y) = example(120, 11);
    let mut s = Sampler::new(2);
    let counts: Vec<usize> = (0..120).map(|_| 1 + s.below(3)).collect();
    let weights: Vec<f64> = counts.iter().map(|count| *count as f64 * 2.5).collect();
    let rows: Vec<u32> =
        (0..120_u32).flat_map(|row| std::iter::repeat_n(row, counts[row as usize])).collect();
    let mut booster = TreeBooster::new(margin("logistic"));
    booster.rows = 1.0;
    let data = TreeData::new(&table, &y, Some(&weights), Some(2.5), &booster).unwrap();
    let Learned { model: weighted, .. } = booster.fit(&data, 20, &mut |_| {}).unwrap();
    let repeated = table.select(&rows).unwrap();
    let labels: Vec<f64> = rows.iter().map(|row| y[*row as usize]).collect();
    let data = TreeData::new(&repeated, &labels, None, None, &booster).unwrap();
    let Learned { model: plain, .. } = booster.fit(&data, 20, &mut |_| {}).unwrap();
    for (a, b) in weighted.scores(&table).iter().zip(plain.scores(&table)) {
        assert!((a - b).abs() < 1e-9, "{a} {b}");
    }
}

#[test]
fn rows_that_the_caller_holds_out_are_not_learned() {
    let (table, y) = example(600, 12);
    let mut other = y.clone();
    let held: Vec<bool> = (0..600).map(|row| row % 4 == 0).collect();
    let mut booster = TreeBooster::new(margin("logistic"));
    (booster.most_rounds, booster.patience) = (200, 10);
    let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
    let first = booster.learn(&data, Held::Rows(&held), &mut |_| {}).unwrap().unwrap();
    let chosen = first.chosen.unwrap();
    assert_eq!((chosen.held, first.rounds.len(), chosen.refitted), (150, chosen.best, false));
    assert_eq!(first.model.rounds(), chosen.best);
    // Other labels of held-out rows change the number of rounds, not the rounds.
    other.iter_mut().zip(&held).filter(|(_, held)| **held).for_each(|(y, _)| *y = -*y);
    let data = TreeData::new(&table, &other, None, None, &booster).unwrap();
    let second = booster.learn(&data, Held::Rows(&held), &mut |_| {}).unwrap().unwrap();
    let both = first.model.trees.len().min(second.model.trees.len());
    assert_eq!(first.model.trees[..both], second.model.trees[..both]);
    assert!(second.chosen.unwrap().best < chosen.best);
}

/// Every test on the way to a node, from the root.
fn way(tree: &ScoreTree, mut node: usize) -> Vec<usize> {
    let mut columns = Vec::new();
    while node > 0 {
        let is_parent =
            |own: &TreeNode| own.branch.as_ref().is_some_and(|b| b.left == node || b.right == node);
        node = tree.nodes.iter().position(is_parent).unwrap();
        columns.push(tree.nodes[node].branch.as_ref().unwrap().column);
    }
    columns
}

#[test]
fn rules_have_one_value_and_few_tests() {
    let (table, y) = example(700, 13);
    for name in LOSSES {
        let mut booster = TreeBooster::rules(margin(name));
        booster.rate = 1.0;
        let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
        let Learned { model, rounds, .. } = booster.fit(&data, 60, &mut |_| {}).unwrap();
        assert!(rounds.iter().all(|round| round.risk <= round.before * (1.0 + 1e-11)), "{name}");
        let mut tests = 0;
        for tree in &model.trees {
            let leaves = || tree.nodes.iter().filter(|node| node.branch.is_none());
            assert!(leaves().filter(|leaf| leaf.value != 0.0).count() <= 1, "{name}");
            assert!(leaves().count() <= 4 && leaves().map(|leaf| leaf.rows).sum::<f64>() == 700.0);
            tests += leaves().count() - 1;
        }
        assert!(tests > 60, "{name} {tests}");
        assert!(rounds[59].risk < 0.8 * rounds[0].before, "{name} {}", rounds[59].risk);
        let risk = loss_of(&booster.loss, &model.scores(&table), &y);
        assert!((risk - rounds[59].risk).abs() < 1e-9, "{name}");
    }
}

#[test]
fn one_rule_votes_for_all_classes() {
    let (table, y) = example(500, 5);
    let mut s = Sampler::new(3);
    let y: Vec<f64> = y.iter().map(|y| if *y > 0.0 { 2.0 } else { s.below(2) as f64 }).collect();
    for (shape, leaf) in [
        (Shape::Rules, LeafStep::Newton),
        (Shape::Trees, LeafStep::Newton),
        (Shape::Trees, LeafStep::Kl),
    ] {
        let base = TreeBooster::rules(TreeLoss::Softmax(3));
        let booster = TreeBooster { shape, leaf, rate: 1.0, leaves: 8, lambda: 0.5, ..base };
        let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
        let Learned { model, rounds, .. } = booster.fit(&data, 40, &mut |_| {}).unwrap();
        assert!(rounds.iter().all(|round| round.risk <= round.before * (1.0 + 1e-11)));
        assert!(rounds[39].risk < 0.9 * rounds[0].before, "{shape:?} {}", rounds[39].risk);
        assert!((loss_of(&booster.loss, &model.scores(&table), &y) - rounds[39].risk).abs() < 1e-9);
        for round in model.trees.chunks(3) {
            assert!(round.iter().all(|tree| tree.asks_as(&round[0])));
            if leaf == LeafStep::Newton {
                // T6: votes of the classes cancel.
                for node in 0..round[0].nodes.len() {
                    let votes: Vec<f64> = round.iter().map(|t| t.nodes[node].value).collect();
                    let sizes: f64 = votes.iter().map(|vote| vote.abs()).sum();
                    assert!(votes.iter().sum::<f64>().abs() <= 1e-9 * sizes.max(1e-9), "{votes:?}");
                }
            }
        }
    }
}

#[test]
fn monotone_scores_do_not_fall() {
    let mut s = Sampler::new(21);
    let n = 800;
    let (a, b): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (s.normal(), s.normal())).unzip();
    let y: Vec<f64> = (0..n)
        .map(|row| {
            // The second column turns the first one's meaning round: without the order the score falls.
            let z = a[row] * if b[row] > 0.5 { -1.0 } else { 1.0 } + 0.7 * s.normal();
            if z > 0.0 { 1.0 } else { -1.0 }
        })
        .collect();
    let columns = || vec![Column::numeric("a", a.clone()), Column::numeric("b", b.clone())];
    let table = Table::new(columns()).unwrap();
    let grid: Vec<f64> = (-30..=30).map(|k| f64::from(k) / 10.0).collect();
    let falls = |model: &AdditiveTrees| -> f64 {
        let mut most = 0.0;
        for b in [-1.0, 0.0, 1.0, 2.0] {
            let other = vec![b; grid.len()];
            let columns = vec![Column::numeric("a", grid.clone()), Column::numeric("b", other)];
            let scores = model.scores(&Table::new(columns).unwrap());
            most = scores.windows(2).map(|two| two[0] - two[1]).fold(most, Real::max);
        }
        most
    };
    for name in LOSSES {
        for shape in [Shape::Trees, Shape::Rules] {
            let base = match shape {
                Shape::Trees => TreeBooster::new(margin(name)),
                Shape::Rules => TreeBooster::rules(margin(name)),
            };
            let mut booster = TreeBooster { rate: 0.5, ..base };
            let fit = |booster: &TreeBooster| {
                let data = TreeData::new(&table, &y, None, None, booster).unwrap();
                booster.fit(&data, 60, &mut |_| {}).unwrap()
            };
            assert!(falls(&fit(&booster).model) > 0.1, "{name} {shape:?}");
            booster.monotone = vec![1, 0];
            let learned = fit(&booster);
            assert!(falls(&learned.model) <= 1e-12, "{name} {shape:?} {}", falls(&learned.model));
            assert!(learned.rounds.iter().all(|round| round.risk <= round.before * (1.0 + 1e-11)));
            assert!(learned.rounds[59].risk < 0.95 * learned.rounds[0].before, "{name} {shape:?}");
            // The other way round it must not rise.
            booster.monotone = vec![-1, 0];
            let learned = fit(&booster);
            let rises = AdditiveTrees {
                trees: learned
                    .model
                    .trees
                    .iter()
                    .cloned()
                    .map(|mut tree| {
                        tree.nodes.iter_mut().for_each(|node| node.value = -node.value);
                        tree
                    })
                    .collect(),
                ..learned.model.clone()
            };
            assert!(falls(&rises) <= 1e-12, "{name} {shape:?}");
        }
    }
    let mut several = TreeBooster::new(TreeLoss::Softmax(3));
    several.monotone = vec![1, 0];
    assert!(several.check().is_err());
}

#[test]
fn columns_meet_in_their_groups_alone() {
    let (table, y) = example(700, 17);
    for shape in [Shape::Trees, Shape::Rules] {
        let groups = [(vec![vec![0, 1]], 2), (vec![vec![0], vec![1]], 1), (vec![vec![0, 2]], 2)];
        for (interactions, most) in groups {
            let base = TreeBooster { shape, interactions, ..TreeBooster::new(margin("logistic")) };
            let booster = TreeBooster { columns: 1.0, rate: 1.0, ..base };
            let data = TreeData::new(&table, &y, None, None, &booster).unwrap();
            let Learned { model, .. } = booster.fit(&data, 40, &mut |_| {}).unwrap();
            let mut met = 0;
            for tree in &model.trees {
                for node in 0..tree.nodes.len() {
                    let mut columns = way(tree, node);
                    columns.sort_unstable();
                    columns.dedup();
                    let fine = columns.len() < 2
                        || booster
                            .interactions
                            .iter()
                            .any(|group| columns.iter().all(|column| group.contains(column)));
                    assert!(fine, "{columns:?} {:?}", booster.interactions);
                    met = met.max(columns.len());
                }
            }
            assert_eq!(met, most, "{shape:?} {:?}", booster.interactions);
        }
    }
}
