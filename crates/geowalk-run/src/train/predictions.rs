//! # Predictions while learning
//! One line for each example, made before it is learned from.

use std::io::{self, Write};

use geowalk::row::Block;

use crate::learner::{Learner, softmax};

/// What stands beside a prediction.
#[derive(Debug, Clone, Copy)]
pub(super) enum Measures {
    /// Score and probability of a class, where it has them.
    Class(Option<f64>, Option<f64>),
    /// Both ends.
    Interval([f64; 2]),
}

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
    pub(super) fn of_class(&mut self, class: usize) -> Measures {
        let score = self.scores.get(class).copied();
        softmax(&mut self.scores);
        Measures::Class(score, self.scores.get(class).copied())
    }

    /// A prediction, with the score and probability of a class or the interval of a number where they are wanted,
    /// and the tag of its row.
    pub(super) fn line(
        &mut self,
        text: &str,
        measures: Option<Measures>,
        tag: Option<&[u8]>,
    ) -> io::Result<()> {
        if let Some(measures) = &measures
            && !std::mem::replace(&mut self.headed, true)
        {
            let names = match measures {
                Measures::Class(..) => "score,probability",
                Measures::Interval(_) => "low,high",
            };
            writeln!(self.out, "prediction,{names}")?;
        }
        write!(self.out, "{text}")?;
        let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
        match measures {
            None => {}
            Some(Measures::Class(score, probability)) => {
                write!(self.out, ",{},{}", number(score), number(probability))?;
            }
            Some(Measures::Interval([low, high])) => write!(self.out, ",{low},{high}")?,
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
