//! Trees against their definition, implemented without any shortcuts.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a test may stop

mod table_support;

use geowalk::boost::Halt;
use geowalk::boost::binned::Binned;
use geowalk::boost::table::{Classes, Column, MISSING, Table};
use geowalk::boost::tree::{Criterion, Growth, Order, Tree};
use geowalk::laws::Sampler;
use table_support::{classes, splits, table};

const CRITERIA: [&str; 6] =
    ["gini", "matsushita", "entropy", "mu(mu=0.5)", "nu(nu=0.25)", "zeta(zeta=-4)"];

fn growth(name: &str) -> Growth {
    Growth::new(Criterion::parse(name).unwrap())
}

/// The rows that reach each node.
fn reach(tree: &Tree, table: &Table, rows: impl Iterator<Item = usize>) -> Vec<Vec<usize>> {
    let mut reached = vec![Vec::new(); tree.nodes().len()];
    reached[0] = rows.collect();
    for node in 0..reached.len() {
        if let Some(branch) = tree.nodes()[node].branch {
            let (left, right) =
                reached[node].iter().partition(|row| branch.split.left(table, **row));
            (reached[branch.left], reached[branch.right]) = (left, right);
        }
    }
    reached
}

fn masses(classes: &Classes, weights: Option<&[f64]>, rows: &[usize]) -> Vec<f64> {
    let mut masses = vec![0.0; classes.names().len()];
    for row in rows {
        masses[classes.codes()[*row] as usize] += weights.map_or(1.0, |weights| weights[*row]);
    }
    masses
}

/// Every node has the best of all splits, with its gain, and every leaf has a reason to be a leaf.
fn check(tree: &Tree, table: &Table, classes: &Classes, weights: Option<&[f64]>, growth: &Growth) {
    let present = |row: &usize| weights.is_none_or(|weights| weights[*row] > 0.0);
    let reached = reach(tree, table, (0..table.rows()).filter(present));
    let criterion = tree.criterion();
    for (node, rows) in reached.iter().enumerate() {
        let own = &tree.nodes()[node];
        assert_eq!(own.rows, rows.len() as u64);
        let total = masses(classes, weights, rows);
        for (found, expected) in tree.masses(node).iter().zip(&total) {
            assert!((found - expected).abs() <= 1e-12 * expected, "{found} {expected}");
        }
        let parent = criterion.cost(&total);
        let cost = |split: &geowalk::boost::split::Split| {
            let (left, right): (Vec<usize>, Vec<usize>) =
                rows.iter().partition(|row| split.left(table, **row));
            let few = left.len().min(right.len()) < growth.min_leaf;
            let sides = [left, right].map(|side| criterion.cost(&masses(classes, weights, &side)));
            if few { f64::INFINITY } else { sides[0] + sides[1] }
        };
        let all = splits(table, rows);
        let costs: Vec<f64> = all.iter().map(cost).collect();
        let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
        match own.branch {
            Some(branch) => {
                let gain = parent - least;
                assert!((branch.gain - gain).abs() <= 1e-10 * parent, "{} {gain}", branch.gain);
                assert!(branch.gain >= -1e-10 * parent);
                let first = costs.iter().position(|cost| *cost <= least + 1e-12 * parent).unwrap();
                assert_eq!(branch.split, all[first], "node {node} of {} rows", rows.len());
            }
            None => assert!(
                parent == 0.0 || parent - least <= 1e-10 * parent,
                "a leaf of {} rows could gain {}",
                rows.len(),
                parent - least
            ),
        }
    }
}

#[test]
fn every_node_has_the_best_split() {
    for seed in 0..24 {
        let mut s = Sampler::new(seed);
        let (rows, distinct) = ([9, 60, 400][seed as usize % 3], [4, 30, 5000][s.below(3)]);
        let table = table(&mut s, rows, distinct);
        for (at, name) in CRITERIA.iter().enumerate() {
            let count = [2, 2, 3, 5][s.below(4)];
            let classes = classes(&mut s, &table, count);
            let weights: Vec<f64> =
                (0..rows).map(|row| if row < 2 { 1.0 } else { s.below(4) as f64 / 3.0 }).collect();
            let weights = (at % 2 == 0).then_some(weights.as_slice());
            let growth = Growth { min_leaf: [1, 3][s.below(2)], ..growth(name) };
            let tree = Tree::exact(&table, &classes, weights, &growth).unwrap();
            check(&tree, &table, &classes, weights, &growth);
            assert!(tree.nodes().len() > 1 || rows < 10, "{name} {seed}: nothing was learned");
        }
    }
}

/// More rows than a block: most blocks are skipped, and the result is the same.
#[test]
fn blocks_that_are_not_opened_lose_nothing() {
    for seed in 0..3 {
        let mut s = Sampler::new(100 + seed);
        let table = table(&mut s, 3000, [5000, 300, 100_000][seed as usize]);
        for (name, count) in [("gini", 2), ("entropy", 2), ("nu(nu=0.25)", 2), ("matsushita", 3)] {
            let classes = classes(&mut s, &table, count);
            let growth = Growth { max_depth: Some(2), min_leaf: 5, ..growth(name) };
            let tree = Tree::exact(&table, &classes, None, &growth).unwrap();
            let whole = Growth { max_depth: None, ..growth };
            let reached = reach(&tree, &table, 0..3000);
            for (node, rows) in reached.iter().enumerate() {
                // Nodes at the limit are leaves for a different reason.
                let rows: Vec<u32> = rows.iter().map(|row| *row as u32).collect();
                if tree.nodes()[node].branch.is_some() {
                    let part = table.select(&rows).unwrap();
                    let codes = rows.iter().map(|row| classes.codes()[*row as usize]).collect();
                    let part_classes = Classes::new(codes, classes.names().to_vec()).unwrap();
                    let stump = Growth { max_depth: Some(1), ..whole.clone() };
                    let tree = Tree::exact(&part, &part_classes, None, &stump).unwrap();
                    let branch = tree.nodes()[0].branch.unwrap();
                    let all = splits(&part, &(0..rows.len()).collect::<Vec<_>>());
                    assert!(all.contains(&branch.split));
                    let cost = |split: &geowalk::boost::split::Split| {
                        let (left, right): (Vec<usize>, Vec<usize>) =
                            (0..rows.len()).partition(|row| split.left(&part, *row));
                        let few = left.len().min(right.len()) < 5;
                        let sides = [left, right]
                            .map(|side| tree.criterion().cost(&masses(&part_classes, None, &side)));
                        if few { f64::INFINITY } else { sides[0] + sides[1] }
                    };
                    let least = all.iter().map(cost).fold(f64::INFINITY, f64::min);
                    let found = cost(&branch.split);
                    assert!(found <= least * (1.0 + 1e-12), "{name}: {found} {least}");
                }
            }
        }
    }
}

#[test]
fn bins_give_the_same_tree_where_there_are_few_values() {
    for seed in 0..12 {
        let mut s = Sampler::new(seed);
        let rows = [50, 600, 5000][seed as usize % 3];
        let table = table(&mut s, rows, 200);
        let binned = Binned::new(&table, 255).unwrap();
        for (name, count) in [("gini", 2), ("entropy", 3), ("matsushita", 2)] {
            let classes = classes(&mut s, &table, count);
            let weights: Vec<f64> = (0..rows).map(|_| s.uniform(0.1, 2.0)).collect();
            for weights in [None, Some(weights.as_slice())] {
                let growth = Growth { max_leaves: Some(40), ..growth(name) };
                let exact = Tree::exact(&table, &classes, weights, &growth).unwrap();
                let bins = Tree::binned(&binned, &classes, weights, &growth).unwrap();
                assert_eq!(exact.nodes().len(), bins.nodes().len());
                for (a, b) in exact.nodes().iter().zip(bins.nodes()) {
                    assert_eq!(a.rows, b.rows);
                    assert_eq!(a.branch.map(|a| a.split), b.branch.map(|b| b.split));
                    let (a, b) =
                        (a.branch.map_or(0.0, |a| a.gain), b.branch.map_or(0.0, |b| b.gain));
                    assert!((a - b).abs() < 1e-9, "{a} {b}");
                }
            }
        }
    }
}

/// Few bins: every threshold lies between values of the data, and no gain is better than the exact one.
#[test]
fn fewer_bins_are_coarser_not_wrong() {
    let mut s = Sampler::new(5);
    let table = table(&mut s, 4000, 100_000);
    let classes = classes(&mut s, &table, 2);
    let exact = Tree::exact(&table, &classes, None, &growth("gini")).unwrap();
    let mut before = f64::INFINITY;
    for bins in [4, 16, 64, 255] {
        let binned = Binned::new(&table, bins).unwrap();
        let limited = Growth { max_depth: Some(1), ..growth("gini") };
        let tree = Tree::binned(&binned, &classes, None, &limited).unwrap();
        let gain = tree.nodes()[0].branch.unwrap().gain;
        assert!(gain <= exact.nodes()[0].branch.unwrap().gain * (1.0 + 1e-12));
        let cost = tree.cost();
        assert!(cost <= before * 1.01, "{bins} bins: {cost} after {before}");
        before = cost;
        // The counts of a tree grown on bins are correct for the table.
        let whole = Tree::binned(&binned, &classes, None, &growth("gini")).unwrap();
        for (node, rows) in reach(&whole, &table, 0..4000).iter().enumerate() {
            assert_eq!(whole.nodes()[node].rows, rows.len() as u64);
            assert_eq!(whole.masses(node), masses(&classes, None, rows));
        }
    }
}

#[test]
fn gains_add_up_to_the_cost_and_none_is_negative() {
    for seed in 0..10 {
        let mut s = Sampler::new(seed);
        let table = table(&mut s, 300, 50);
        let count = 2 + s.below(3);
        let classes = classes(&mut s, &table, count);
        for name in CRITERIA {
            let growth = Growth { zero_gain: seed % 2 == 0, ..growth(name) };
            let tree = Tree::exact(&table, &classes, None, &growth).unwrap();
            let root = tree.criterion().cost(tree.masses(0));
            let gains = tree.nodes().iter().filter_map(|node| node.branch).map(|b| b.gain);
            assert!(gains.clone().all(|gain| gain >= -1e-10 * root));
            assert!((root - gains.sum::<f64>() - tree.cost()).abs() < 1e-9 * root, "{name}");
            // Eq. (31): the cost is the sum over the examples of the loss at the score of their leaf.
            if classes.names().len() == 2 && !growth.zero_gain {
                use geowalk::loss::permissible::Permissible;
                let phi = tree.criterion().phi();
                let sum: f64 = (0..300)
                    .map(|row| {
                        let leaf = tree.leaf(&table, row);
                        let p = tree.probability(leaf, 1, 0.0);
                        let y = if classes.codes()[row] == 1 { 1.0 } else { -1.0 };
                        if p == 0.0 || p == 1.0 { 0.0 } else { phi.surrogate(y * phi.gradient(p)) }
                    })
                    .sum();
                assert!((sum - tree.cost()).abs() <= 1e-9 * root, "{name}: {sum} {}", tree.cost());
            }
            let importance = tree.importance();
            assert!((importance.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(importance[5..], [0.0; 3], "nothing comes from idle columns");
        }
    }
}

#[test]
fn xor_halts_strictly_and_is_solved_with_zero_gain() {
    let a = vec![0.0, 0.0, 1.0, 1.0];
    let b = vec![0.0, 1.0, 0.0, 1.0];
    let table = Table::new(vec![Column::numeric("a", a), Column::numeric("b", b)]).unwrap();
    let classes = Classes::new(vec![0, 1, 1, 0], ["0", "1"]).unwrap();
    let binned = Binned::new(&table, 255).unwrap();
    for name in CRITERIA {
        let strict = growth(name);
        let zero = Growth { zero_gain: true, ..strict.clone() };
        for (growth, leaves, cost) in [(strict, 1, 4.0), (zero, 4, 0.0)] {
            for tree in [
                Tree::exact(&table, &classes, None, &growth).unwrap(),
                Tree::binned(&binned, &classes, None, &growth).unwrap(),
            ] {
                assert_eq!(tree.leaves().count(), leaves, "{name}");
                assert!((tree.cost() - cost).abs() < 1e-14, "{name}: {}", tree.cost());
            }
        }
    }
}

/// φ_μ is φ_M on a different scale: the tree is the same for every μ (erratum 23).
#[test]
fn mu_and_matsushita_grow_the_same_tree() {
    for seed in 0..6 {
        let mut s = Sampler::new(seed);
        let table = table(&mut s, 500, 5000);
        let classes = classes(&mut s, &table, 2);
        let limited = |name: &str| Growth { max_leaves: Some(25), ..growth(name) };
        let m = Tree::exact(&table, &classes, None, &limited("matsushita")).unwrap();
        for mu in ["mu(mu=0)", "mu(mu=0.5)", "mu(mu=0.99)"] {
            let tree = Tree::exact(&table, &classes, None, &limited(mu)).unwrap();
            let splits = |tree: &Tree| -> Vec<_> {
                tree.nodes().iter().map(|node| node.branch.map(|branch| branch.split)).collect()
            };
            assert_eq!(splits(&tree), splits(&m), "{mu}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let mut s = Sampler::new(3);
    let table = table(&mut s, 20_000, 100_000);
    let classes = classes(&mut s, &table, 2);
    let weights: Vec<f64> = (0..20_000).map(|_| s.unit()).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let binned = Binned::new(&table, 255).unwrap();
            let growth = Growth { max_leaves: Some(60), ..growth("entropy") };
            let bins = Tree::binned(&binned, &classes, Some(&weights), &growth).unwrap();
            (Tree::exact(&table, &classes, Some(&weights), &growth).unwrap(), bins)
        })
    };
    let one = run(1);
    for threads in [2, 3, 7] {
        assert!(run(threads) == one, "{threads} threads");
    }
}

#[test]
fn order_matters_only_under_a_limit_of_leaves() {
    for seed in 0..6 {
        let mut s = Sampler::new(seed);
        let table = table(&mut s, 400, 300);
        let classes = classes(&mut s, &table, 2);
        let best = growth("matsushita");
        let deep = Growth { order: Order::DepthFirst, ..best.clone() };
        let grow = |growth: &Growth| Tree::exact(&table, &classes, None, growth).unwrap();
        let (a, b) = (grow(&best), grow(&deep));
        assert_eq!(a.nodes().len(), b.nodes().len());
        // Every leaf contains the same rows. Leaf numbers may differ; partitions do not.
        let (a, b) = (a.leaves_of(&table), b.leaves_of(&table));
        let mut pairs: Vec<(usize, usize)> = a.into_iter().zip(b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let distinct = |f: fn(&(usize, usize)) -> usize| {
            let mut all: Vec<usize> = pairs.iter().map(f).collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        assert_eq!((distinct(|p| p.0), distinct(|p| p.1)), (pairs.len(), pairs.len()));
        let mut before = f64::INFINITY;
        for leaves in [1, 2, 3, 5, 8, 13] {
            let tree = grow(&Growth { max_leaves: Some(leaves), ..best.clone() });
            assert_eq!(tree.leaves().count(), leaves);
            assert!(tree.cost() < before);
            before = tree.cost();
            let tree = grow(&Growth { max_leaves: Some(leaves), ..deep.clone() });
            assert_eq!(tree.leaves().count(), leaves);
        }
        for depth in [0, 1, 3] {
            let tree = grow(&Growth { max_depth: Some(depth), ..best.clone() });
            assert_eq!(tree.depth(), depth);
        }
    }
}

/// The order of the rows does not matter. Repeating the rows changes only the scale. Flipped labels flip the
/// probabilities.
#[test]
fn permuted_doubled_and_flipped_data() {
    let mut s = Sampler::new(8);
    let (table, rows) = (table(&mut s, 300, 60), 300_usize);
    let classes = classes(&mut s, &table, 2);
    let grow = |table: &Table, codes: Vec<u32>, growth: &Growth| {
        let classes = Classes::new(codes, ["0", "1"]).unwrap();
        Tree::exact(table, &classes, None, growth).unwrap()
    };
    let splits = |tree: &Tree| -> Vec<_> {
        tree.nodes().iter().map(|node| node.branch.map(|branch| branch.split)).collect()
    };
    for name in CRITERIA {
        let growth = growth(name);
        let tree = grow(&table, classes.codes().to_vec(), &growth);
        let mut order: Vec<u32> = (0..rows as u32).collect();
        for k in (1..rows).rev() {
            order.swap(k, s.below(k + 1));
        }
        let codes = |order: &[u32]| order.iter().map(|r| classes.codes()[*r as usize]).collect();
        let permuted = grow(&table.select(&order).unwrap(), codes(&order), &growth);
        assert_eq!(splits(&permuted), splits(&tree), "{name}");
        let twice = [&order[..], &order[..]].concat();
        let doubled = grow(&table.select(&twice).unwrap(), codes(&twice), &growth);
        assert_eq!(splits(&doubled), splits(&tree), "{name}");
        assert!((doubled.cost() - 2.0 * tree.cost()).abs() < 1e-9 * (1.0 + tree.cost()));
        let flipped = grow(&table, classes.codes().iter().map(|c| 1 - c).collect(), &growth);
        assert_eq!(splits(&flipped), splits(&tree), "{name}");
        for leaf in tree.leaves() {
            assert_eq!(flipped.probability(leaf, 0, 1.0), tree.probability(leaf, 1, 1.0));
        }
    }
}

#[test]
fn leaves_say_probabilities_and_scores() {
    let column = Column::nominal("c", vec![0, 0, 0, 0, 1, 1], ["x", "y"]);
    let table = Table::new(vec![column]).unwrap();
    let classes = Classes::new(vec![1, 1, 1, 0, 0, 0], ["-", "+"]).unwrap();
    let tree = Tree::exact(&table, &classes, None, &growth("entropy")).unwrap();
    let (mixed, pure) = (tree.leaf(&table, 0), tree.leaf(&table, 5));
    assert_eq!(tree.probability(mixed, 1, 0.0), 0.75);
    assert!((tree.score(mixed, 1, 0.0) - geowalk::Real::ln(3.0)).abs() < 1e-15);
    assert!((tree.score(mixed, 1, 1.0) - geowalk::Real::ln(2.0)).abs() < 1e-15);
    assert_eq!(tree.score(pure, 1, 0.0), f64::NEG_INFINITY);
    assert!((tree.score(pure, 1, 1.0) + geowalk::Real::ln(3.0)).abs() < 1e-15);
    assert_eq!((tree.class(mixed), tree.class(pure)), (1, 0));
    let gini = Tree::exact(&table, &classes, None, &growth("gini")).unwrap();
    assert_eq!(gini.score(gini.leaf(&table, 5), 1, 0.0), -1.0);
    // A leaf with equal class weights abstains, which counts as positive.
    let even = Growth { max_depth: Some(0), ..growth("gini") };
    assert_eq!(Tree::exact(&table, &classes, None, &even).unwrap().class(0), 1);
}

#[test]
fn names_and_gaps_that_training_has_not_seen() {
    let table = Table::new(vec![
        Column::nominal("c", vec![0, 1, 2, 0, 1, 2, 0, 0], ["x", "y", "z"]),
        Column::numeric("n", vec![1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0]),
    ])
    .unwrap();
    let classes = Classes::new(vec![1, 0, 0, 1, 0, 0, 1, 1], ["-", "+"]).unwrap();
    let tree = Tree::exact(&table, &classes, None, &growth("gini")).unwrap();
    let new = Table::new(vec![
        Column::nominal("c", vec![3, MISSING, 0], ["x", "y", "z", "new"]),
        Column::numeric("n", vec![1.0, 1.0, f64::NAN]),
    ])
    .unwrap();
    let said: Vec<usize> = (0..3).map(|row| tree.class(tree.leaf(&new, row))).collect();
    assert_eq!(said, [0, 0, 1], "what is not x goes with what was not x");
    let numbers = Table::new(vec![table.columns()[1].clone()]).unwrap();
    let classes = Classes::new(vec![0, 0, 0, 0, 1, 1, 0, 1], ["-", "+"]).unwrap();
    let tree = Tree::exact(&numbers, &classes, None, &growth("gini")).unwrap();
    let new = Table::new(vec![Column::numeric("n", vec![f64::NAN, 9.0])]).unwrap();
    assert_eq!((0..2).map(|row| tree.class(tree.leaf(&new, row))).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn pruning_keeps_what_a_held_out_set_supports() {
    let mut s = Sampler::new(11);
    let (training, held) = (table(&mut s, 600, 5000), table(&mut s, 600, 5000));
    let (training_classes, held_classes) =
        (classes(&mut s, &training, 3), classes(&mut s, &held, 3));
    let errors = |tree: &Tree| {
        let leaves = tree.leaves_of(&held);
        let wrong = leaves.iter().zip(held_classes.codes());
        wrong.filter(|(leaf, code)| tree.class(**leaf) != **code as usize).count()
    };
    let full = Tree::exact(&training, &training_classes, None, &growth("entropy")).unwrap();
    let mut pruned = full.clone();
    let gone = pruned.prune(&held, held_classes.codes(), None).unwrap();
    assert_eq!(gone, full.leaves().count() - pruned.leaves().count());
    assert!(gone > 0 && pruned.leaves().count() > 1, "{gone}");
    assert!(errors(&pruned) < errors(&full));
    check_shape(&pruned);
    // A second pruning removes nothing, and no smaller pruned tree is as good.
    let again = pruned.clone();
    assert_eq!(pruned.prune(&held, held_classes.codes(), None).unwrap(), 0);
    assert!(pruned == again);
    // On its training data, pruning removes only splits that did not lower the errors.
    let mut own = full.clone();
    own.prune(&training, training_classes.codes(), None).unwrap();
    let training_errors = |tree: &Tree| {
        let pairs = tree.leaves_of(&training).into_iter().zip(training_classes.codes());
        pairs.filter(|(leaf, code)| tree.class(*leaf) != **code as usize).count()
    };
    assert_eq!(training_errors(&own), training_errors(&full));
    assert!(own.prune(&training, held_classes.codes(), None).is_ok());
    let few = own.prune(&training, &[0, 1], None).unwrap_err().to_string();
    assert!(few.contains("the list of classes has 2 values"), "{few}");
    let few = own.prune(&training, training_classes.codes(), Some(&[1.0])).unwrap_err().to_string();
    assert!(few.contains("the list of weights has 1 values"), "{few}");
}

#[test]
fn pruning_counts_weights_and_takes_rows_of_one_class() {
    let x = Table::new(vec![Column::numeric("x", vec![1.0, 2.0, 3.0, 4.0])]).unwrap();
    let classes = Classes::new(vec![0, 0, 1, 1], ["no", "yes"]).unwrap();
    let full = Tree::exact(&x, &classes, None, &growth("gini")).unwrap();
    let left = |codes: &[u32], weights: Option<&[f64]>| {
        let mut tree = full.clone();
        tree.prune(&x, codes, weights).unwrap();
        tree.leaves().count()
    };
    assert_eq!(left(&[0, 0, 1, 1], None), 2);
    // If all rows are positive, as in the whole table, the split has no support.
    assert_eq!(left(&[1; 4], None), 1);
    assert_eq!(left(&[0; 4], None), 2);
    // By count the split makes as many errors as the leaf; by weight it is better, or the other way round.
    let codes = [0, 1, 1, 1];
    assert_eq!(left(&codes, None), 1);
    assert_eq!(left(&codes, Some(&[2.0, 1.0, 1.0, 1.0])), 2);
    assert_eq!(left(&[0, 0, 1, 1], Some(&[0.0, 0.0, 1.0, 1.0])), 1);
}

#[test]
fn pruning_by_length_keeps_questions_that_pay() {
    let mut s = Sampler::new(5);
    let noise = table(&mut s, 400, 5000);
    let codes: Vec<u32> = (0..400).map(|_| u32::from(s.unit() < 0.3)).collect();
    let grown = |table: &Table, codes: &[u32], weights: Option<&[f64]>| {
        let classes = Classes::new(codes.to_vec(), ["no", "yes"]).unwrap();
        Tree::exact(table, &classes, weights, &growth("entropy")).unwrap()
    };
    // Classes independent of the columns: a single leaf remains.
    let mut tree = grown(&noise, &codes, None);
    let full = tree.leaves().count();
    assert!(full > 30);
    assert_eq!(tree.shorten(&noise, 1.0), full - 1);
    // A split that the classes follow remains, although one row in ten contradicts it.
    let values: Vec<f64> = (0..400).map(|_| s.unit()).collect();
    let follow = |x: &f64| u32::from((*x > 0.6) != (s.unit() < 0.1));
    let codes: Vec<u32> = values.iter().map(follow).collect();
    let column = Table::new(vec![Column::numeric("x", values.clone())]).unwrap();
    let mut tree = grown(&column, &codes, None);
    tree.shorten(&column, 1.0);
    let branch = tree.nodes()[0].branch.unwrap();
    assert_eq!(tree.leaves().count(), 2);
    let geowalk::boost::split::Test::AtMost { theta, .. } = branch.split.test else { panic!() };
    assert!((theta - 0.6).abs() < 0.05, "{theta}");
    check_shape(&tree);
    let again = tree.clone();
    assert_eq!(tree.shorten(&column, 1.0), 0);
    assert!(tree == again);
    // Integer weights are equivalent to repeated rows, in any unit.
    let weights: Vec<f64> = (0..400).map(|k| f64::from(1 + k % 3)).collect();
    let rows: Vec<u32> = (0..400_u32).flat_map(|k| vec![k; 1 + k as usize % 3]).collect();
    let repeated: Vec<u32> = rows.iter().map(|row| codes[*row as usize]).collect();
    let mut one = grown(&column, &codes, Some(&weights));
    let mut other = grown(&column.select(&rows).unwrap(), &repeated, None);
    one.shorten(&column, 1.0);
    other.shorten(&column.select(&rows).unwrap(), 1.0);
    assert_eq!(one.leaves_of(&column), other.leaves_of(&column));
    let tripled: Vec<f64> = weights.iter().map(|weight| 3.0 * weight).collect();
    let mut third = grown(&column, &codes, Some(&tripled));
    third.shorten(&column, 3.0);
    assert_eq!(one.leaves_of(&column), third.leaves_of(&column));
}

fn check_shape(tree: &Tree) {
    let parts = (tree.criterion().clone(), tree.classes(), tree.columns(), tree.nodes().to_vec());
    let masses = (0..tree.nodes().len()).flat_map(|node| tree.masses(node).to_vec()).collect();
    let again = Tree::from_parts(parts.0, parts.1, parts.2, parts.3, masses).unwrap();
    assert!(&again == tree);
}

#[test]
fn parts_that_are_no_tree() {
    let mut s = Sampler::new(1);
    let table = table(&mut s, 100, 20);
    let classes = classes(&mut s, &table, 2);
    let tree = Tree::exact(&table, &classes, None, &growth("gini")).unwrap();
    check_shape(&tree);
    let masses: Vec<f64> =
        (0..tree.nodes().len()).flat_map(|node| tree.masses(node).to_vec()).collect();
    let make = |change: &dyn Fn(&mut Vec<geowalk::boost::tree::Node>, &mut Vec<f64>)| {
        let (mut nodes, mut masses) = (tree.nodes().to_vec(), masses.clone());
        change(&mut nodes, &mut masses);
        let criterion = tree.criterion().clone();
        Tree::from_parts(criterion, 2, 8, nodes, masses).map_err(|error| error.to_string())
    };
    let branch = |nodes: &mut Vec<geowalk::boost::tree::Node>| nodes[0].branch.unwrap();
    assert!(make(&|_, _| {}).is_ok());
    for (change, says) in [
        (
            (&|nodes: &mut Vec<_>, _: &mut Vec<f64>| {
                let mut b = branch(nodes);
                b.left = 0;
                nodes[0].branch = Some(b);
            }) as &dyn Fn(&mut Vec<geowalk::boost::tree::Node>, &mut Vec<f64>),
            "a child is node 0",
        ),
        (
            &|nodes, _| {
                let mut b = branch(nodes);
                b.left = b.right;
                nodes[0].branch = Some(b);
            },
            "its parents are",
        ),
        (
            &|nodes, _| {
                let mut b = branch(nodes);
                b.split.column = 8;
                nodes[0].branch = Some(b);
            },
            "its column is 8",
        ),
        (
            &|nodes, _| {
                let mut b = branch(nodes);
                b.gain = f64::NAN;
                nodes[0].branch = Some(b);
            },
            "its gain is NaN",
        ),
        (&|_, masses| masses[3] = -1.0, "a weight is -1"),
        (&|_, masses| masses.truncate(3), "the number of weights is 3"),
    ] {
        let error = make(change).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn bad_input_is_refused_with_numbers() {
    let table = Table::new(vec![Column::numeric("x", vec![1.0, 2.0, 3.0])]).unwrap();
    let classes = Classes::new(vec![0, 1, 0], ["a", "b"]).unwrap();
    let message = |weights: Option<&[f64]>, growth: &Growth| {
        Tree::exact(&table, &classes, weights, growth).unwrap_err().to_string()
    };
    let plain = growth("gini");
    assert!(message(Some(&[1.0, -0.5, 1.0]), &plain).contains("row 2 is -0.5"));
    assert!(message(Some(&[0.0, 0.0, 0.0]), &plain).contains("sum to 0"));
    assert!(message(Some(&[1.0]), &plain).contains("1 values; the table has 3 rows"));
    let none = Growth { min_leaf: 0, ..plain.clone() };
    assert!(message(None, &none).contains("min_leaf = 0; it must be a whole number >= 1"));
    let none = Growth { max_leaves: Some(0), ..plain.clone() };
    assert!(message(None, &none).contains("max_leaves = 0"));
    let other = Classes::new(vec![0, 1], ["a", "b"]).unwrap();
    let error = Tree::exact(&table, &other, None, &plain).unwrap_err().to_string();
    assert_eq!(error, "the list of classes has 2 values; the table has 3 rows");
    // No usable columns: the result is a leaf, not an error.
    let idle = Table::new(vec![
        Column::numeric("c", vec![7.0; 3]),
        Column::numeric("m", vec![f64::NAN; 3]),
    ])
    .unwrap();
    for zero_gain in [false, true] {
        let growth = Growth { zero_gain, ..plain.clone() };
        let tree = Tree::exact(&idle, &classes, None, &growth).unwrap();
        assert_eq!((tree.nodes().len(), tree.importance()), (1, vec![0.0; 2]));
        let binned = Binned::new(&idle, 255).unwrap();
        assert_eq!(Tree::binned(&binned, &classes, None, &growth).unwrap(), tree);
    }
}

/// A weight of 2 is equivalent to repeating the row; a weight of 0 to removing it.
#[test]
fn weights_are_repetitions() {
    let mut s = Sampler::new(21);
    let table = table(&mut s, 200, 40);
    let classes = classes(&mut s, &table, 3);
    let times: Vec<usize> = (0..200).map(|row| if row < 2 { 1 } else { s.below(3) }).collect();
    let rows: Vec<u32> =
        times.iter().enumerate().flat_map(|(row, k)| vec![row as u32; *k]).collect();
    let codes = rows.iter().map(|row| classes.codes()[*row as usize]).collect();
    let repeated = Classes::new(codes, classes.names().to_vec()).unwrap();
    let weights: Vec<f64> = times.iter().map(|k| *k as f64).collect();
    for name in CRITERIA {
        let weighted = Tree::exact(&table, &classes, Some(&weights), &growth(name)).unwrap();
        let selected = table.select(&rows).unwrap();
        let plain = Tree::exact(&selected, &repeated, None, &growth(name)).unwrap();
        // Missing values that training did not see go to the larger side, counted in rows.
        let plainly = |tree: &Tree| -> Vec<_> {
            tree.nodes()
                .iter()
                .map(|n| n.branch.map(|b| (b.split.column, b.gain.round())))
                .collect()
        };
        assert_eq!(plainly(&weighted), plainly(&plain), "{name}");
        assert!((weighted.cost() - plain.cost()).abs() < 1e-9 * (1.0 + plain.cost()));
    }
}

#[test]
fn what_was_halted_grows_no_further() {
    let mut s = Sampler::new(9);
    let table = table(&mut s, 60, 20);
    let classes = classes(&mut s, &table, 2);
    let halt = Halt::new();
    let growth = Growth { halt: halt.clone(), ..growth("gini") };
    let whole = Tree::exact(&table, &classes, None, &growth).unwrap();
    halt.call();
    let halted = Tree::exact(&table, &classes, None, &growth).unwrap();
    assert!(whole.nodes().len() > 1);
    assert_eq!((halted.nodes().len(), halted.masses(0)), (1, whole.masses(0)));
}
