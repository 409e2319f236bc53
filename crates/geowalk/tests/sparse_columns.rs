//! Sparse columns give the same results as dense ones, for every learner and every kind of search.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a test may stop

mod table_support;

use geowalk::boost::binned::Binned;
use geowalk::boost::columns::PlainColumns;
use geowalk::boost::multiclass::expand;
use geowalk::boost::rules::{RuleOptions, Rules, Search};
use geowalk::boost::sorted::Sorted;
use geowalk::boost::stump::{best_binned, best_exact};
use geowalk::boost::stumps::{Stumps, Trees};
use geowalk::boost::table::{Classes, Column, SparseValues, Table, Values};
use geowalk::boost::tree::{Criterion, Growth, Tree};
use geowalk::boost::weak::Weak;
use geowalk::boost::{Booster, Ensemble, Stop, Surrogate};
use geowalk::laws::Sampler;

/// Word counts, word weights of both signs, and a few columns that are not sparse.
fn table(s: &mut Sampler, rows: usize) -> Table {
    let own = table_support::table(s, rows, 12);
    let mut columns = own.columns().to_vec();
    for k in 0..25 {
        let often = 0.02 + 0.03 * f64::from(k % 5);
        let number = |s: &mut Sampler| match k % 4 {
            0 => 1.0,
            1 => (1 + s.below(3)) as f64,
            2 => s.normal(),
            _ => s.below(400) as f64 - 200.0,
        };
        let value = |s: &mut Sampler| match s.unit() {
            u if u < 0.01 && k % 3 == 0 => f64::NAN,
            u if u < often => number(s),
            _ => 0.0,
        };
        columns.push(Column::numeric(format!("word {k}"), (0..rows).map(|_| value(s)).collect()));
    }
    Table::new(columns).unwrap()
}

/// The table with all its numeric columns converted to sparse ones.
fn sparse(table: &Table) -> Table {
    let rows: Vec<u32> = (0..).take(table.rows()).collect();
    let columns = table.columns().iter().map(|column| match column.values() {
        Values::Numeric(values) => {
            let values = SparseValues::new(values.len(), rows.clone(), values.clone());
            Column::sparse(column.name(), values)
        }
        _ => column.clone(),
    });
    Table::new(columns.collect()).unwrap()
}

/// A few words decide the class of most rows.
fn classes(s: &mut Sampler, table: &Table, count: usize) -> Classes {
    let value = |row: usize, at: usize| match table.columns()[at].values() {
        Values::Numeric(values) if !values[row].is_nan() => values[row].clamp(-3.0, 3.0),
        _ => 0.0,
    };
    let code = |row: usize, s: &mut Sampler| {
        let sum: f64 = (8..14).map(|at| value(row, at)).sum::<f64>() + value(row, 0) + s.normal();
        (sum.abs() as usize % count) as u32
    };
    let mut codes: Vec<u32> = (0..table.rows()).map(|row| code(row, s)).collect();
    (0..count).for_each(|k| codes[k] = k as u32);
    Classes::new(codes, (0..count).map(|k| k.to_string())).unwrap()
}

#[test]
fn bins_and_copies_are_those_written_out() {
    let mut s = Sampler::new(40);
    for bins in [2, 7, 255] {
        let table = table(&mut s, 700);
        let other = sparse(&table);
        let (a, b) = (Binned::new(&table, bins).unwrap(), Binned::new(&other, bins).unwrap());
        for (a, b) in a.columns().iter().zip(b.columns()) {
            assert_eq!(
                (a.bins(), a.codes(), a.missing_rows()),
                (b.bins(), b.codes(), b.missing_rows())
            );
            assert_eq!((a.len(), a.rows(0)), (b.len(), b.rows(0)));
        }
        let some: Vec<u32> = (0..300).map(|_| s.below(700) as u32).collect();
        assert!(equal(&sparse(&table.select(&some).unwrap()), &other.select(&some).unwrap()));
        let names = ["a", "b", "c"].map(str::to_owned);
        assert!(equal(&sparse(&expand(&table, &names).unwrap()), &expand(&other, &names).unwrap()));
    }
}

/// Compares tables; here NaN equals NaN.
fn equal(a: &Table, b: &Table) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

#[test]
fn stumps_are_those_written_out() {
    let mut s = Sampler::new(41);
    for case in 0..30 {
        let table = table(&mut s, 60 + 20 * case);
        let other = sparse(&table);
        let signed: Vec<f64> = (0..table.rows()).map(|_| s.normal()).collect();
        for bins in [5, 255] {
            let binned = |table| Binned::new(table, bins).unwrap();
            let a = best_binned(&binned(&table), &signed).unwrap().unwrap();
            let b = best_binned(&binned(&other), &signed).unwrap().unwrap();
            assert_eq!((a.split, a.sign), (b.split, b.sign));
            assert!((a.edge - b.edge).abs() < 1e-9);
        }
        let a = best_exact(&table, &Sorted::new(&table), &signed).unwrap().unwrap();
        let b = best_exact(&other, &Sorted::new(&other), &signed).unwrap().unwrap();
        assert_eq!((a.split, a.sign), (b.split, b.sign));
        for row in 0..table.rows() {
            assert_eq!(a.value(&table, row), b.value(&other, row));
        }
    }
}

fn fit(weak: &mut dyn Weak, labels: &[f64], loss: &str, rounds: usize) -> Ensemble {
    let booster = Booster::new(Surrogate::parse(loss).unwrap(), Stop::after(rounds).unwrap());
    booster.fit(weak, labels, None, None, &mut |_, _| {}).unwrap()
}

fn same(a: &Ensemble, b: &Ensemble, table: &Table, other: &Table) {
    assert_eq!(a.hypotheses, b.hypotheses);
    for (x, y) in a.scores(table).iter().zip(b.scores(other)) {
        assert!((x - y).abs() < 1e-9, "{x} {y}");
    }
}

#[test]
fn boosted_rules_stumps_and_trees_are_those_written_out() {
    let mut s = Sampler::new(42);
    for case in 0..2 {
        let table = table(&mut s, 250 + 90 * case);
        let other = sparse(&table);
        let labels = classes(&mut s, &table, 2).signs().unwrap();
        for bins in [None, Some(255), Some(9)] {
            for loss in ["exponential", "matsushita", "logistic"] {
                for search in [Search::Edge, Search::Screened(4), Search::Exact] {
                    for abstains in [false, true] {
                        let options = RuleOptions { literals: 3, search, bins, abstains };
                        let a = fit(&mut Rules::new(&table, options).unwrap(), &labels, loss, 4);
                        let b = fit(&mut Rules::new(&other, options).unwrap(), &labels, loss, 4);
                        same(&a, &b, &table, &other);
                    }
                }
                let a = fit(&mut Stumps::new(&table, bins).unwrap(), &labels, loss, 4);
                let b = fit(&mut Stumps::new(&other, bins).unwrap(), &labels, loss, 4);
                same(&a, &b, &table, &other);
                let a = fit(&mut Trees::new(&table, 4, bins).unwrap(), &labels, loss, 2);
                let b = fit(&mut Trees::new(&other, 4, bins).unwrap(), &labels, loss, 2);
                same(&a, &b, &table, &other);
            }
        }
        let a = fit(&mut PlainColumns::new(&table), &labels, "logistic", 4);
        let b = fit(&mut PlainColumns::new(&other), &labels, "logistic", 4);
        same(&a, &b, &table, &other);
    }
}

#[test]
fn trees_are_those_written_out() {
    let mut s = Sampler::new(43);
    for case in 0..30 {
        let table = table(&mut s, 100 + 40 * case);
        let other = sparse(&table);
        let classes = classes(&mut s, &table, 2 + case % 3);
        let weights: Vec<f64> =
            (0..table.rows()).map(|_| if s.unit() < 0.1 { 0.0 } else { 1.0 + s.unit() }).collect();
        let growth = Growth {
            min_leaf: 1 + case % 4,
            max_leaves: (case % 2 == 0).then_some(20),
            ..Growth::new(Criterion::parse(["gini", "entropy"][case % 2]).unwrap())
        };
        for weights in [None, Some(weights.as_slice())] {
            let exact = |table| Tree::exact(table, &classes, weights, &growth).unwrap();
            let binned = |table, bins| {
                Tree::binned(&Binned::new(table, bins).unwrap(), &classes, weights, &growth)
                    .unwrap()
            };
            for (a, b) in [
                (exact(&table), exact(&other)),
                (binned(&table, 255), binned(&other, 255)),
                (binned(&table, 6), binned(&other, 6)),
            ] {
                assert!(a.nodes().len() > 5);
                assert_eq!(a.nodes().len(), b.nodes().len());
                for (a, b) in a.nodes().iter().zip(b.nodes()) {
                    assert_eq!(a.rows, b.rows);
                    let split =
                        |node: &geowalk::boost::tree::Node| node.branch.map(|own| own.split);
                    assert_eq!(split(a), split(b));
                }
                assert_eq!(a.leaves_of(&table), b.leaves_of(&other));
            }
        }
    }
}
