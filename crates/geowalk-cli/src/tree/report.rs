//! The report of `tree`: the tree, what each split gained, how sure it is.

use geowalk::boost::tree::{Node, Tree};
use geowalk_page::{Bars, Page, Plot, TreeNode, TreePicture};
use geowalk_run::tree::Summary;
use geowalk_run::verdict::percent;

use super::COLUMNS;
use crate::report::{self, Judged, Origin};
use crate::train::number;

/// Everything that the report speaks of.
#[derive(Debug)]
pub struct Report<'a> {
    /// What came out.
    pub summary: &'a Summary,
    /// The tree.
    pub tree: &'a Tree,
    /// The names of the classes.
    pub classes: &'a [String],
    /// The tree for people.
    pub text: String,
    /// What each node asks, or the class of a leaf.
    pub captions: Vec<String>,
    /// Margins and calibration, if there are rows to judge by.
    pub judged: Option<Judged>,
}

impl Report<'_> {
    /// The page, and where it comes from.
    pub fn page(&self, from: &Origin) -> Page {
        let summary = self.summary;
        let label = summary.profile.as_ref().and_then(|profile| profile.label.as_deref());
        let (leaves, depth) = summary.shape;
        let known = format!("A tree of {leaves} leaves, at most {depth} questions deep.");
        let rows = summary.examples as u64;
        let mut page = report::of_classes(
            label,
            "A decision tree",
            (rows, from),
            self.judged.as_ref(),
            &known,
        );
        for warning in summary.profile.iter().flat_map(|profile| &profile.warnings) {
            page = page.prose(&format!("Please check: {warning}."));
        }
        page = self.tree(page);
        if let Some(judged) = &self.judged {
            page = report::quality(page, judged);
        }
        page = report::reading(page, summary.profile.as_ref());
        if let Some(judged) = &self.judged {
            page = report::margins(page, judged);
        }
        page = costs(page.folded("How it was grown").facts(self.facts()), self);
        page = page.folded("The whole tree as text").code(&self.text);
        report::repeat(page, from)
    }

    fn facts(&self) -> Vec<(String, String)> {
        let summary = self.summary;
        let mut facts = vec![
            ("columns".to_owned(), self.tree.columns().to_string()),
            ("classes".to_owned(), self.classes.join(", ")),
            ("criterion".to_owned(), summary.loss_name.clone()),
            ("loss in training".to_owned(), number(summary.loss)),
        ];
        let validated = summary.validated();
        for (name, value) in &summary.metrics {
            let folds =
                validated.iter().find(|(own, ..)| own == name).map(|(_, mean, deviation)| {
                    let folds = summary.folds.len();
                    format!(", {} ± {} in {folds} folds", number(*mean), number(*deviation))
                });
            facts.push((
                (*name).to_owned(),
                format!("{} in training{}", number(*value), folds.unwrap_or_default()),
            ));
        }
        facts.extend(summary.notes.iter().map(|note| ("note".to_owned(), note.clone())));
        facts
    }

    /// The tree as a picture, and what its columns gained.
    fn tree(&self, page: Page) -> Page {
        let tree = self.tree;
        let node = |(at, own): (usize, &Node)| {
            let masses = tree.masses(at);
            let total: f64 = masses.iter().sum();
            // Of two classes the share of the second, of several that of the largest.
            let class = if masses.len() == 2 { 1 } else { tree.class(at) };
            let share = masses.get(class).map_or(0.0, |own| own / total);
            let name = self.classes.get(class).map_or("", String::as_str);
            TreeNode {
                text: self.captions.get(at).cloned().unwrap_or_default(),
                note: format!("{} rows, {} {name}", own.rows, percent(Some(share))),
                share: Some((share, class)),
                mass: total,
                children: own.branch.map(|branch| (branch.left, branch.right)),
            }
        };
        let nodes = tree.nodes().iter().enumerate().map(node).collect();
        let mut bars = Bars::new("What each column gained, in percent of all");
        for (name, part) in self.summary.importance.iter().take(COLUMNS) {
            bars = bars.bar(name.clone(), (1000.0 * part).round() / 10.0);
        }
        page.section("The tree")
            .prose(&format!(
                "{} leaves, at most {} questions to a leaf. A missing value goes to 'no', unless the question says 'or missing'.",
                self.summary.shape.0, self.summary.shape.1
            ))
            .figure(TreePicture::new("Questions from left to right", nodes))
            .figure(bars)
    }
}

/// Loss and training error as the tree grew, split by split in the order of its nodes; and what the columns gained.
fn costs(page: Page, own: &Report<'_>) -> Page {
    let tree = own.tree;
    let total: f64 = tree.masses(0).iter().sum();
    let wrong = |node: usize| {
        let masses = tree.masses(node);
        masses.iter().sum::<f64>() - masses.get(tree.class(node)).copied().unwrap_or(0.0)
    };
    let mut at = (tree.criterion().cost(tree.masses(0)), wrong(0));
    let (mut losses, mut errors) = (vec![(1.0, at.0 / total)], vec![(1.0, at.1 / total)]);
    for (node, branch) in
        tree.nodes().iter().enumerate().filter_map(|(k, node)| Some((k, node.branch?)))
    {
        at.0 -= branch.gain;
        at.1 += wrong(branch.left) + wrong(branch.right) - wrong(node);
        let leaves = losses.len() as f64 + 1.0;
        losses.push((leaves, at.0 / total));
        errors.push((leaves, at.1 / total));
    }
    let plot = Plot::new("Loss and training error as the tree grows")
        .x("leaves")
        .y("per row")
        .line("loss", losses)
        .steps("training error", errors);
    page.prose("The loss falls with every split by what the split gains; it is an upper bound of the training error throughout. No theorem bounds the error of such a tree on rows that it has not seen; --folds estimates it.")
        .figure(plot)
}
