//! # A verdict
//! How good predictions of classes or numbers are on rows with labels, beside what always guessing the same
//! would give. One place for all learners: summaries, `evaluate` and `show` print it.

use geowalk::Real;
use serde_json::{Value, json};

use crate::metrics::log_loss;

/// How good predictions of classes are.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// The classes.
    pub classes: Vec<String>,
    /// The weight of each class (first) that was predicted as each class (second), row by row; 1 per row
    /// without weights.
    pub confusion: Vec<f64>,
    /// How many rows.
    pub rows: usize,
    /// Rows have different weights.
    pub weighted: bool,
    /// The area under the ROC curve, of two classes that both occur.
    pub auc: Option<f64>,
    /// The average of −ln P(class), if there are probabilities.
    pub log_loss: Option<f64>,
}

/// The class of the largest probability, of each row: of two equal ones the second, of several the first.
pub fn likeliest(probabilities: &[f64], classes: usize) -> Vec<usize> {
    let best = |shares: &[f64]| match shares {
        [no, yes] => usize::from(yes >= no),
        _ => (0..shares.len()).fold(0, |best, k| if shares[k] > shares[best] { k } else { best }),
    };
    probabilities.chunks_exact(classes.max(1)).map(best).collect()
}

impl Verdict {
    /// Judges what was `found` for rows of the classes `codes`. `scores` grow with the second of two classes.
    pub fn new(
        classes: &[String],
        codes: &[u32],
        found: &[usize],
        weights: Option<&[f64]>,
        probabilities: Option<&[f64]>,
        scores: Option<&[f64]>,
    ) -> Self {
        let k = classes.len();
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let mut confusion = vec![0.0; k * k];
        let (mut total, mut lost) = (0.0, 0.0);
        for (row, (code, found)) in codes.iter().zip(found).enumerate() {
            confusion[*code as usize * k + found] += weight(row);
            total += weight(row);
            if let Some(all) = probabilities {
                lost += log_loss(all[row * k + *code as usize], weight(row));
            }
        }
        let second: Option<Vec<f64>> =
            probabilities.map(|all| all.iter().skip(1).step_by(k.max(1)).copied().collect());
        let scores = scores.or(second.as_deref()).filter(|_| k == 2);
        Self {
            classes: classes.to_vec(),
            confusion,
            rows: codes.len(),
            weighted: weights.is_some_and(|weights| weights.iter().any(|weight| *weight != 1.0)),
            auc: scores.and_then(|scores| auc(scores, codes, &weight)),
            log_loss: probabilities.map(|_| lost / total).filter(|loss| loss.is_finite()),
        }
    }

    /// Judges probabilities, row by row.
    pub fn of_probabilities(
        classes: &[String],
        codes: &[u32],
        weights: Option<&[f64]>,
        probabilities: &[f64],
    ) -> Self {
        let found = likeliest(probabilities, classes.len());
        Self::new(classes, codes, &found, weights, Some(probabilities), None)
    }

    /// The weight of a class that was predicted as another, or as itself.
    pub fn cell(&self, class: usize, found: usize) -> f64 {
        self.confusion[class * self.classes.len() + found]
    }

    fn total(&self) -> f64 {
        self.confusion.iter().sum()
    }

    /// The weight of a class.
    pub fn of_class(&self, class: usize) -> f64 {
        (0..self.classes.len()).map(|found| self.cell(class, found)).sum()
    }

    /// The share of rows whose class was found.
    pub fn accuracy(&self) -> f64 {
        (0..self.classes.len()).map(|class| self.cell(class, class)).sum::<f64>() / self.total()
    }

    /// The most frequent class, and the share of rows that always guessing it would get right.
    pub fn baseline(&self) -> (usize, f64) {
        let larger = |best: usize, class: usize| {
            if self.of_class(class) > self.of_class(best) { class } else { best }
        };
        let best = (0..self.classes.len()).fold(0, larger);
        (best, self.of_class(best) / self.total())
    }

    /// Of the rows of a class, the share that was found; `None` if there are none.
    pub fn recall(&self, class: usize) -> Option<f64> {
        let all = self.of_class(class);
        (all > 0.0).then(|| self.cell(class, class) / all)
    }

    /// Of the rows that were predicted as a class, the share that is of it; `None` if there are none.
    pub fn precision(&self, class: usize) -> Option<f64> {
        let all: f64 = (0..self.classes.len()).map(|own| self.cell(own, class)).sum();
        (all > 0.0).then(|| self.cell(class, class) / all)
    }

    /// The accuracy beside always guessing the same, in one sentence.
    pub fn sentence(&self) -> String {
        let (class, share) = self.baseline();
        let weighted = if self.weighted { ", weighted" } else { "" };
        let mut text = format!(
            "{} of {} rows{weighted}; always '{}' has {}",
            percent(Some(self.accuracy())),
            self.rows,
            self.classes.get(class).map_or("", String::as_str),
            percent(Some(share))
        );
        if self.accuracy() <= share {
            text.push_str(", so the model is of no use for accuracy");
        }
        text
    }

    /// For people: a head and a text on each line.
    pub fn lines(&self) -> Vec<(String, String)> {
        let mut lines = vec![("accuracy".to_owned(), self.sentence())];
        if let Some(auc) = self.auc {
            lines.push(("AUC".to_owned(), format!("{auc:.3}")));
        }
        if let Some(loss) = self.log_loss {
            lines.push(("log loss".to_owned(), format!("{loss:.4}")));
        }
        let k = self.classes.len();
        // A wide matrix cannot be read; programs have it as JSON.
        let shown = k <= 12;
        let width = |found: usize| self.classes[found].chars().count().max(6);
        let row = |cells: Vec<String>| -> String {
            let pad = |(found, cell): (usize, String)| format!("  {cell:>0$}", width(found));
            cells.into_iter().enumerate().map(pad).collect()
        };
        let matrix = if shown { row(self.classes.clone()) } else { String::new() };
        let predicted = if shown { "  predicted as:" } else { "" };
        lines.push(("class".to_owned(), format!("   rows   recall  precision{predicted}{matrix}")));
        for class in 0..k {
            let cells = (0..k).map(|found| short(self.cell(class, found))).collect();
            let blank = if shown { "               " } else { "" };
            let matrix = if shown { row(cells) } else { String::new() };
            lines.push((
                self.classes[class].clone(),
                format!(
                    "{:>7}  {:>7}  {:>9}{blank}{matrix}",
                    short(self.of_class(class)),
                    percent(self.recall(class)),
                    percent(self.precision(class))
                ),
            ));
        }
        lines
    }

    /// For programs, and for the model file.
    pub fn json(&self) -> Value {
        let k = self.classes.len();
        let (class, share) = self.baseline();
        let own = |class: usize| {
            json!({
                "class": self.classes[class], "weight": self.of_class(class),
                "recall": self.recall(class), "precision": self.precision(class),
                "predicted_as": (0..k).map(|found| self.cell(class, found)).collect::<Vec<_>>(),
            })
        };
        json!({
            "rows": self.rows, "weighted": self.weighted, "accuracy": self.accuracy(),
            "baseline": {"class": self.classes.get(class), "accuracy": share},
            "auc": self.auc, "log_loss": self.log_loss,
            "classes": (0..k).map(own).collect::<Vec<_>>(),
        })
    }
}

/// A share in percent.
pub fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}

/// A weight: whole if it is one.
fn short(weight: f64) -> String {
    if weight.fract() == 0.0 { weight.to_string() } else { format!("{weight:.2}") }
}

/// The chance that a row of the second class has a larger score than one of the first; half of it where they are equal.
fn auc(scores: &[f64], codes: &[u32], weight: &dyn Fn(usize) -> f64) -> Option<f64> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*a].total_cmp(&scores[*b]));
    let (mut below, mut pairs, mut positive) = (0.0, 0.0, 0.0);
    for run in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
        let of = |class: u32| -> f64 {
            run.iter().filter(|row| codes[**row] == class).map(|row| weight(*row)).sum()
        };
        let (no, yes) = (of(0), of(1));
        pairs += yes * (below + 0.5 * no);
        below += no;
        positive += yes;
    }
    (below > 0.0 && positive > 0.0).then(|| pairs / (below * positive))
}

/// What is found when rows whose score is at least some threshold are taken for the second of two classes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The share of the first class that is taken for the second.
    pub false_alarms: f64,
    /// The share of the second class that is found.
    pub recall: f64,
    /// The share of the second class among those that are taken for it.
    pub precision: f64,
}

/// Every threshold between scores that differ, from the strictest to that which takes all rows; none unless both
/// classes occur.
pub fn thresholds(scores: &[f64], codes: &[u32], weights: Option<&[f64]>) -> Vec<Threshold> {
    let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
    let all = |class: u32| -> f64 {
        (0..codes.len()).filter(|row| codes[*row] == class).map(weight).sum()
    };
    let (no, yes) = (all(0), all(1));
    if !(no > 0.0 && yes > 0.0) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    let (mut alarms, mut found) = (0.0, 0.0);
    let mut out = Vec::new();
    for run in order.chunk_by(|a, b| scores[*a] == scores[*b]) {
        for row in run {
            if codes[*row] == 1 { found += weight(*row) } else { alarms += weight(*row) }
        }
        out.push(Threshold {
            false_alarms: alarms / no,
            recall: found / yes,
            precision: found / (found + alarms),
        });
    }
    out
}

/// How good predictions of numbers are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Numbers {
    /// How many rows.
    pub rows: usize,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The root of the mean squared error of always guessing the mean of these labels.
    pub baseline: f64,
}

impl Numbers {
    /// Judges predictions.
    pub fn new(labels: &[f64], found: &[f64], weights: &[f64]) -> Self {
        let total: f64 = weights.iter().sum();
        let average = |f: &dyn Fn(usize) -> f64| {
            (0..labels.len()).map(|row| weights[row] * f(row)).sum::<f64>() / total
        };
        let mean = average(&|row| labels[row]);
        let square = |x: f64| x * x;
        Self {
            rows: labels.len(),
            rmse: Real::sqrt(average(&|row| square(found[row] - labels[row]))),
            mae: average(&|row| (found[row] - labels[row]).abs()),
            baseline: Real::sqrt(average(&|row| square(mean - labels[row]))),
        }
    }

    /// For people: a head and a text on each line.
    pub fn lines(&self) -> Vec<(String, String)> {
        let Self { rows, rmse, mae, baseline } = self;
        let rmse =
            format!("{rmse:.4} on {rows} rows; always guessing their mean has {baseline:.4}");
        vec![("RMSE".to_owned(), rmse), ("MAE".to_owned(), format!("{mae:.4}"))]
    }

    /// What it comes to, in one sentence.
    pub fn sentence(&self) -> String {
        let Self { rows, rmse, mae, baseline } = self;
        format!(
            "On {rows} training rows predictions are off by {mae:.4} on average; the root of the mean squared error is {rmse:.4}, where always guessing the mean has {baseline:.4}."
        )
    }

    /// The figures that matter most, each with its name.
    pub fn tiles(&self) -> Vec<(String, String)> {
        let Self { rmse, mae, baseline, .. } = self;
        let explained = 1.0 - (rmse / baseline) * (rmse / baseline);
        [
            ("root of the mean squared error", format!("{rmse:.4}")),
            ("the same of always guessing the mean", format!("{baseline:.4}")),
            ("mean absolute error", format!("{mae:.4}")),
            ("of the variance explained (R²)", percent(Some(explained))),
        ]
        .into_iter()
        .filter(|(_, text)| !text.contains("NaN"))
        .map(|(name, text)| (name.to_owned(), text))
        .collect()
    }

    /// For programs.
    pub fn json(&self) -> Value {
        json!({"rows": self.rows, "rmse": self.rmse, "mae": self.mae, "baseline": {"rmse": self.baseline}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_their_definitions() {
        let names = ["bad", "good"].map(String::from);
        let p = [0.1, 0.4, 0.35, 0.8, 0.35];
        let shares: Vec<f64> = p.iter().flat_map(|p| [1.0 - p, *p]).collect();
        let verdict = Verdict::of_probabilities(&names, &[0, 0, 1, 1, 0], None, &shares);
        assert_eq!(verdict.confusion, [3.0, 0.0, 1.0, 1.0]);
        assert_eq!((verdict.accuracy(), verdict.baseline()), (0.8, (0, 0.6)));
        assert_eq!((verdict.recall(1), verdict.precision(0)), (Some(0.5), Some(0.75)));
        // Of 6 pairs one is wrong and one is equal.
        assert_eq!(verdict.auc, Some(4.5 / 6.0));
        let curve = thresholds(&p, &[0, 0, 1, 1, 0], None);
        assert_eq!(curve.len(), 4);
        let area: f64 = [(0.0, 0.0)]
            .into_iter()
            .chain(curve.iter().map(|t| (t.false_alarms, t.recall)))
            .collect::<Vec<_>>()
            .windows(2)
            .map(|two| (two[1].0 - two[0].0) * f64::midpoint(two[0].1, two[1].1))
            .sum();
        assert!((area - 4.5 / 6.0).abs() < 1e-12, "the area below the curve is the AUC");
        assert_eq!((curve[0].precision, curve[3].recall), (1.0, 1.0));
        assert!(thresholds(&p, &[0; 5], None).is_empty());
        let loss = -[0.9f64, 0.6, 0.35, 0.8, 0.65].iter().map(|p| Real::ln(*p)).sum::<f64>() / 5.0;
        assert!((verdict.log_loss.unwrap() - loss).abs() < 1e-12);
        assert_eq!(verdict.sentence(), "80.0 % of 5 rows; always 'bad' has 60.0 %");
        let weights = [1.0, 1.0, 5.0, 1.0, 1.0];
        let heavy = Verdict::of_probabilities(&names, &[0, 0, 1, 1, 0], Some(&weights), &shares);
        assert!(heavy.sentence().contains("44.4 % of 5 rows, weighted; always 'good' has 66.7 %"));
        assert!(heavy.sentence().ends_with("of no use for accuracy"));
        assert_eq!(likeliest(&[0.5, 0.5], 2), [1]);
        assert_eq!(likeliest(&[0.3, 0.3, 0.3], 3), [0]);
        let one = Verdict::of_probabilities(&names, &[0], None, &[0.9, 0.1]);
        assert_eq!((one.auc, one.recall(1), one.precision(1)), (None, None, None));
        let numbers = Numbers::new(&[1.0, 3.0], &[1.0, 5.0], &[1.0, 1.0]);
        assert_eq!((numbers.rmse, numbers.mae, numbers.baseline), (2.0f64.sqrt(), 1.0, 1.0));
    }
}
