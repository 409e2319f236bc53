//! # Pruning by a held-out set
//! From the leaves up, a node becomes a leaf if that makes no more errors on rows that training has not seen than the subtree below it does. Of all subtrees with the root of the tree it is the
//! smallest among those with the fewest errors there.
//!
//! **Cost** one prediction per row. **Care** a subtree that no held-out row reaches is cut: nothing speaks for it. Probabilities stay those of the training data.
//! **Source** \[Quinlan87, sec. 2.2\].

use super::{Tree, TreeError};
use crate::boost::table::{Classes, Table, TableError};

impl Tree {
    /// Prunes by the errors on a held-out table; how many leaves are gone. Classes are counted as in training.
    pub fn prune(&mut self, table: &Table, classes: &Classes) -> Result<usize, TreeError> {
        if classes.rows() != table.rows() {
            let (found, rows) = (classes.rows(), table.rows());
            let what = "the list of classes".to_owned();
            return Err(TableError::Length { what, found, rows }.into());
        }
        // What reaches each leaf, then each node: children come after their parents.
        let count = self.nodes.len();
        let mut reached = vec![0_u64; count * self.classes];
        for (leaf, code) in self.leaves_of(table).into_iter().zip(classes.codes()) {
            if (*code as usize) < self.classes {
                reached[leaf * self.classes + *code as usize] += 1;
            }
        }
        let mut errors = vec![0_u64; count];
        let mut cut = vec![false; count];
        for node in (0..count).rev() {
            let branch = self.nodes[node].branch;
            if let Some(branch) = branch {
                for class in 0..self.classes {
                    let below = [branch.left, branch.right];
                    let sum = below.iter().map(|child| reached[child * self.classes + class]).sum();
                    reached[node * self.classes + class] = sum;
                }
            }
            let own = &reached[node * self.classes..(node + 1) * self.classes];
            let wrong = own.iter().sum::<u64>() - own[self.class(node)];
            let below = branch.map(|branch| errors[branch.left] + errors[branch.right]);
            cut[node] = below.is_some_and(|below| wrong <= below);
            errors[node] = below.map_or(wrong, |below| below.min(wrong));
        }
        let before = self.leaves().count();
        self.keep(&cut);
        Ok(before - self.leaves().count())
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
