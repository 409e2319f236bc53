//! The gain at every node of trees grown by scikit-learn; `golden/make_trees.py` documents how the file was made.

#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a test may stop

use std::path::Path;

use geowalk::boost::table::{Classes, Column, Table};
use geowalk::boost::tree::{Criterion, Growth, Tree};
use serde_json::Value;

type Data = (Vec<Vec<f64>>, Vec<u32>);

fn breast() -> Data {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/breast-cancer.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |line: &str| {
        let (numbers, class) = line.rsplit_once(',').unwrap();
        let numbers = numbers.split(',').map(|x| x.parse().unwrap()).collect();
        (numbers, u32::from(class == "benign"))
    };
    text.lines().skip(1).map(row).unzip()
}

fn inside(set: &Value) -> Data {
    let numbers =
        |row: &Value| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    let x = set["x"].as_array().unwrap().iter().map(numbers).collect();
    (x, set["y"].as_array().unwrap().iter().map(|y| y.as_u64().unwrap() as u32).collect())
}

fn table(x: &[Vec<f64>], rows: &[usize]) -> Table {
    let column =
        |k: usize| Column::numeric(format!("x{k}"), rows.iter().map(|r| x[*r][k]).collect());
    Table::new((0..x[0].len()).map(column).collect()).unwrap()
}

#[test]
fn gains_are_those_of_scikit_learn_at_every_node() {
    let file: Value = serde_json::from_str(include_str!("golden/trees.json")).unwrap();
    let mut compared = 0;
    for set in file["sets"].as_array().unwrap() {
        let (x, y) = if set["x"].is_null() { breast() } else { inside(set) };
        let names: Vec<String> =
            (0..set["classes"].as_u64().unwrap()).map(|k| k.to_string()).collect();
        for theirs in set["trees"].as_array().unwrap() {
            let criterion = theirs["criterion"].as_str().unwrap();
            let what = format!("{} by {criterion}", set["name"]);
            // scikit-learn uses 1 − Σp² and bits; this library's criteria are both 1 at p = ½.
            let scale = if criterion == "gini" { 2.0 } else { 1.0 };
            let growth =
                Growth { max_depth: Some(1), ..Growth::new(Criterion::parse(criterion).unwrap()) };
            let number = |key: &str, node: usize| theirs[key][node].as_f64().unwrap();
            let count = theirs["feature"].as_array().unwrap().len();
            let mut reached: Vec<Vec<usize>> = vec![Vec::new(); count];
            reached[0] = (0..y.len()).collect();
            let mut cost = vec![0.0; count];
            for node in 0..count {
                let rows = reached[node].clone();
                cost[node] = scale * rows.len() as f64 * number("impurity", node);
                if number("feature", node) < 0.0 {
                    continue;
                }
                let feature = number("feature", node) as usize;
                let theta = number("threshold", node);
                let (left, right) = (number("left", node) as usize, number("right", node) as usize);
                #[expect(clippy::cast_lossless, reason = "rounded to 32 bits on purpose")]
                let passes = |row: &&usize| (x[**row][feature] as f32) as f64 <= theta;
                (reached[left], reached[right]) = rows.iter().partition(|row| passes(row));
            }
            let mut rest = 0.0;
            for node in 0..count {
                let rows = &reached[node];
                let codes: Vec<u32> = rows.iter().map(|row| y[*row]).collect();
                let Ok(classes) = Classes::new(codes, names.clone()) else {
                    assert!(cost[node].abs() < 1e-9, "{what}: a pure leaf costs {}", cost[node]);
                    continue;
                };
                let tree = Tree::exact(&table(&x, rows), &classes, None, &growth).unwrap();
                let own = tree.criterion().cost(tree.masses(0));
                assert!((own - cost[node]).abs() < 1e-9 * own, "{what}: {own} {}", cost[node]);
                let (left, right) = (number("left", node) as usize, number("right", node) as usize);
                let gain = cost[node] - cost[left] - cost[right];
                let found = tree.nodes()[0].branch.unwrap().gain;
                assert!((found - gain).abs() < 1e-9 * own, "{what}, node {node}: {found} {gain}");
                compared += 1;
                rest += found;
            }
            // The leaves of the fully grown tree have cost 0, as in scikit-learn.
            let whole = Growth::new(Criterion::parse(criterion).unwrap());
            let all: Vec<usize> = (0..y.len()).collect();
            let classes = Classes::new(y.clone(), names.clone()).unwrap();
            let tree = Tree::exact(&table(&x, &all), &classes, None, &whole).unwrap();
            assert!(tree.cost() < 1e-9 && (rest - cost[0]).abs() < 1e-8 * cost[0], "{what}");
        }
    }
    assert!(compared > 90, "only {compared} nodes were compared");
}
