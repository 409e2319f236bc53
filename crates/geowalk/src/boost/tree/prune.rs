//! # Pruning
//! Two ways to make a tree smaller after it was grown.
//!
//! **By a held-out set** From the leaves up, a node becomes a leaf if that makes no more errors on rows that training has not seen than the subtree below it does. Of all subtrees with the root of the tree it is the
//! smallest among those with the fewest errors there. Errors are counted by weight, if rows have any.
//!
//! **By length** From the leaves up, a node becomes a leaf unless the subtree below it tells the classes of its rows in
//! fewer nats. A leaf costs its rows' entropy and ½ (K − 1) ln(n + 1) for the K shares; a question costs the logarithm
//! of how many could have been asked: of each column its names, or the gaps between its values, n − 1 at most. No row is
//! held out, rows with whole weights count as so many rows, and there is no constant to choose.
//!
//! **Cost** one prediction per row; by length none, but each column of numbers is sorted. **Care** a subtree that no held-out row reaches is cut: nothing speaks for it. Probabilities stay those of the training data.
//! **Source** \[Quinlan87, sec. 2.2\]; by length \[MAR95\].

use super::{Tree, TreeError};
use crate::boost::table::{Table, TableError, Values};
use crate::real::Real;

impl Tree {
    /// Prunes by the errors on a held-out table, whose rows have the classes `codes`, counted as in training, and weights >= 0; how many leaves are gone. The table may have rows of one class only.
    pub fn prune(
        &mut self,
        table: &Table,
        codes: &[u32],
        weights: Option<&[f64]>,
    ) -> Result<usize, TreeError> {
        let rows = table.rows();
        let lists = [("classes", codes.len()), ("weights", weights.map_or(rows, <[f64]>::len))];
        if let Some((what, found)) = lists.into_iter().find(|(_, found)| *found != rows) {
            return Err(
                TableError::Length { what: format!("the list of {what}"), found, rows }.into()
            );
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        // Sums of the same weights in another order.
        let rounding = weights.map_or(0.0, |weights| 1e-12 * weights.iter().sum::<f64>());
        // What reaches each leaf, then each node: children come after their parents.
        let count = self.nodes.len();
        let mut reached = vec![0.0; count * self.classes];
        for (row, (leaf, code)) in self.leaves_of(table).into_iter().zip(codes).enumerate() {
            if (*code as usize) < self.classes {
                reached[leaf * self.classes + *code as usize] += weight(row);
            }
        }
        let mut errors = vec![0.0; count];
        let mut cut = vec![false; count];
        for node in (0..count).rev() {
            let branch = self.nodes[node].branch;
            if let Some(branch) = branch {
                for class in 0..self.classes {
                    let below = [branch.left, branch.right];
                    let sum = below.iter().map(|child| reached[child * self.classes + class]);
                    reached[node * self.classes + class] = sum.sum();
                }
            }
            let own = &reached[node * self.classes..(node + 1) * self.classes];
            let said = self.class(node);
            let others = own.iter().enumerate().filter(|(class, _)| *class != said);
            let wrong: f64 = others.map(|(_, reached)| reached).sum();
            let below = branch.map(|branch| errors[branch.left] + errors[branch.right]);
            cut[node] = below.is_some_and(|below| wrong <= below + rounding);
            errors[node] = below.filter(|_| !cut[node]).unwrap_or(wrong);
        }
        let before = self.leaves().count();
        self.keep(&cut);
        Ok(before - self.leaves().count())
    }

    /// Prunes by length, of a tree that was grown on this table; how many leaves are gone. `unit` is the weight of one
    /// row.
    pub fn shorten(&mut self, table: &Table, unit: f64) -> usize {
        let choices: Vec<f64> = table.columns().iter().map(|own| choices(own.values())).collect();
        let mut lengths = vec![0.0; self.nodes.len()];
        let mut cut = vec![false; self.nodes.len()];
        for node in (0..self.nodes.len()).rev() {
            let masses = self.masses(node);
            let rows = masses.iter().sum::<f64>() / unit;
            let share = |mass: f64| mass / unit / rows;
            let entropy: f64 = masses
                .iter()
                .filter(|mass| **mass > 0.0)
                .map(|mass| -(mass / unit) * Real::ln(share(*mass)))
                .sum();
            let leaf = entropy + 0.5 * (self.classes as f64 - 1.0) * Real::ln_1p(rows);
            let below = self.nodes[node].branch.map(|branch| {
                let gaps = (rows - 1.0).max(1.0);
                let asked: f64 = choices.iter().map(|own| own.min(gaps)).sum();
                lengths[branch.left] + lengths[branch.right] + Real::ln(asked.max(1.0))
            });
            cut[node] = below.is_some_and(|below| leaf <= below);
            lengths[node] = below.filter(|_| !cut[node]).unwrap_or(leaf);
        }
        let before = self.leaves().count();
        self.keep(&cut);
        before - self.leaves().count()
    }

    /// Makes leaves of the nodes that are cut and drops what was below them; the others keep their order.
    fn keep(&mut self, cut: &[bool]) {
        let mut alive = vec![false; self.nodes.len()];
        alive[0] = true;
        for node in 0..alive.len() {
            if cut[node] || !alive[node] {
                self.nodes[node].branch = None;
            }
            if let Some(branch) = self.nodes[node].branch {
                alive[branch.left] = true;
                alive[branch.right] = true;
            }
        }
        let places: Vec<usize> = alive
            .iter()
            .scan(0, |next, alive| {
                let place = *next;
                *next += usize::from(*alive);
                Some(place)
            })
            .collect();
        let kept = || (0..alive.len()).filter(|node| alive[*node]);
        let masses = kept().flat_map(|node| self.masses(node)).copied().collect();
        let nodes = kept().map(|node| {
            let mut own = self.nodes[node];
            if let Some(branch) = &mut own.branch {
                branch.left = places[branch.left];
                branch.right = places[branch.right];
            }
            own
        });
        self.nodes = nodes.collect();
        self.masses = masses;
    }
}

/// How many questions a column can be asked.
fn choices(values: &Values) -> f64 {
    let gaps = |values: &mut Vec<f64>| {
        values.retain(|value| !value.is_nan());
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.len().saturating_sub(1) as f64
    };
    match values {
        Values::Numeric(values) => gaps(&mut values.clone()),
        Values::Nominal { names, .. } => names.len() as f64,
        Values::Boolean(_) => 1.0,
        Values::Sparse(values) => {
            let mut stored = values.values().to_vec();
            stored.push(0.0);
            gaps(&mut stored)
        }
    }
}
