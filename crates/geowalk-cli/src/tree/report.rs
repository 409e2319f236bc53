//! The report of `tree`: the tree, what each split gained, how sure it is.

use geowalk_page::{Bars, Page, Plot};
use geowalk_run::calibration::Calibration;
use geowalk_run::tree::{Form, Grown, Plan};

use super::COLUMNS;
use crate::report;
use crate::train::number;

/// The page.
pub(super) fn page(plan: &Plan, grown: &Grown) -> Page {
    let summary = &grown.summary;
    let mut facts = vec![
        ("examples".to_owned(), summary.examples.to_string()),
        ("columns".to_owned(), grown.examples.table.columns().len().to_string()),
        ("classes".to_owned(), grown.examples.classes.names().join(", ")),
        ("criterion".to_owned(), summary.loss_name.clone()),
        ("leaves".to_owned(), summary.shape.0.to_string()),
        ("depth".to_owned(), summary.shape.1.to_string()),
        ("loss in training".to_owned(), number(summary.loss)),
    ];
    let validated = summary.validated();
    for (name, value) in &summary.metrics {
        let folds = validated.iter().find(|(own, ..)| own == name).map(|(_, mean, deviation)| {
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
    page = costs(page, grown);
    let seen = match summary.folds.len() {
        0 => "the rows that it was grown on (--folds K holds them out)".to_owned(),
        folds => format!("rows held out by {folds} folds"),
    };
    let classes = &grown.examples.classes;
    let found = Calibration::new(&grown.probabilities, classes.names().len(), classes.codes());
    let two = (classes.names().len() == 2).then(|| classes.names()[1].as_str());
    page = report::probabilities(page, &found, two, &seen);
    page = page.section("The tree").code(&grown.shown(plan).write(Form::Text));
    report::repeat(page)
}

/// Loss and training error as the tree grew, split by split in the order of its nodes; and what the columns gained.
fn costs(page: Page, grown: &Grown) -> Page {
    let tree = &grown.tree;
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
    for (name, part) in grown.summary.importance.iter().take(COLUMNS) {
        bars = bars.bar(name.clone(), *part);
    }
    page.section("Growth")
        .prose("The loss falls with every split by what the split gains; it is an upper bound of the training error throughout.")
        .figure(plot)
        .figure(bars)
}
