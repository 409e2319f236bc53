//! The report of `tree`: the tree, what each split gained, how sure it is.

use geowalk::boost::tree::Tree;
use geowalk_page::{Bars, Page, Plot};
use geowalk_run::tree::Summary;

use super::COLUMNS;
use crate::report::{self, Judged};
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
    /// Margins and calibration, if there are rows to judge by.
    pub judged: Option<Judged>,
}

impl Report<'_> {
    /// The page; `how` the run can be made again.
    pub fn page(&self, how: &str) -> Page {
        let summary = self.summary;
        let mut facts = vec![
            ("examples".to_owned(), summary.examples.to_string()),
            ("columns".to_owned(), self.tree.columns().to_string()),
            ("classes".to_owned(), self.classes.join(", ")),
            ("criterion".to_owned(), summary.loss_name.clone()),
            ("leaves".to_owned(), summary.shape.0.to_string()),
            ("depth".to_owned(), summary.shape.1.to_string()),
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
        let mut page = Page::new("A decision tree").contents().facts(facts);
        page = page
        .section("What is promised")
        .prose("No theorem bounds the error of a tree that is grown greedily on rows that it has not seen. On its training data the loss per row is never below the share of rows that it misclassifies, and no split increases it; with --folds the error on rows that it has not seen is estimated.");
        page = costs(page, self);
        if let Some(judged) = &self.judged {
            let two = (self.classes.len() == 2).then(|| self.classes[1].as_str());
            page = report::probabilities(page, judged, two);
        }
        page = page.section("The tree").code(&self.text);
        report::repeat(report::reading(page, summary.profile.as_ref()), how)
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
    let mut bars = Bars::new("What each column gained, as parts of 1");
    for (name, part) in own.summary.importance.iter().take(COLUMNS) {
        bars = bars.bar(name.clone(), *part);
    }
    page.section("Growth")
        .prose("The loss falls with every split by what the split gains; it is an upper bound of the training error throughout.")
        .figure(plot)
        .figure(bars)
}
