//! # Predictions while learning
//! One line for each example, made before it is learned from.

use std::io::{self, Write};

use geowalk::row::Block;

use crate::learner::{Learner, softmax};

/// Where predictions go, and in which form.
pub(super) struct Predictions<'a> {
    out: &'a mut dyn Write,
    /// Score and probability stand beside each class.
    proba: bool,
    headed: bool,
    /// One row, and its scores: of several classes they are asked for before the row is learned from.
    row: Block,
    scores: Vec<f64>,
}

impl<'a> Predictions<'a> {
    pub(super) fn new(out: &'a mut dyn Write, proba: bool) -> Self {
        Self { out, proba, headed: false, row: Block::new(), scores: Vec::new() }
    }

    /// Are score and probability wanted?
    pub(super) fn with_probabilities(&self) -> bool {
        self.proba
    }

    /// Asks for the scores of a row of which several classes are predicted.
    pub(super) fn look_at(&mut self, learner: &dyn Learner, block: &Block, row: usize) {
        self.row.clear();
        self.row.append(block, row..row + 1);
        self.scores.clear();
        learner.predict(&self.row, &mut self.scores);
    }

    /// Score and probability of a class of the row that was looked at.
    pub(super) fn of_class(&mut self, class: usize) -> (Option<f64>, Option<f64>) {
        let score = self.scores.get(class).copied();
        softmax(&mut self.scores);
        (score, self.scores.get(class).copied())
    }

    /// A prediction, with the score and probability of a class where they are wanted, and the tag of its row.
    pub(super) fn line(
        &mut self,
        text: &str,
        measures: Option<(Option<f64>, Option<f64>)>,
        tag: Option<&[u8]>,
    ) -> io::Result<()> {
        if measures.is_some() && !std::mem::replace(&mut self.headed, true) {
            writeln!(self.out, "prediction,score,probability")?;
        }
        write!(self.out, "{text}")?;
        if let Some((score, probability)) = measures {
            let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
            write!(self.out, ",{},{}", number(score), number(probability))?;
        }
        end_line(self.out, tag)
    }

    /// The next row may be sent only when this answer has come.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Ends the line of a row: its tag, if it has one, stands behind a blank.
pub(crate) fn end_line(out: &mut dyn Write, tag: Option<&[u8]>) -> io::Result<()> {
    if let Some(tag) = tag {
        out.write_all(b" ")?;
        out.write_all(tag)?;
    }
    out.write_all(b"\n")
}
