//! # From two classes to several
//! A model of two classes has one score z, the log-odds of the second class. As one of several, the second class keeps
//! that score and the first has score 0, so every prediction stays as it was. A third class can then join.
//!
//! The certificate ends there: the sums of the first class were never kept. The model cannot be replayed either.

use geowalk::row::Block;
use geowalk::sum::Sum;
use geowalk_data::Task;

use crate::error::RunError;
use crate::learner::largest;
use crate::link::threshold;
use crate::model::{Model, Settings};
use crate::predict::restore;
use crate::walks;

/// The model as one of this task, if it is not already. `block` holds rows on which predictions are compared.
pub(super) fn with_task(
    model: &Model,
    asked: Task,
    block: &Block,
) -> Result<Option<Model>, RunError> {
    let refuse =
        |why: &str| RunError::OtherTask { model: model.settings.task, asked, why: why.to_owned() };
    match (model.settings.task, asked) {
        (same, asked) if same == asked => return Ok(None),
        (Task::Binary, Task::Multiclass) => {}
        _ => return Err(refuse("its weights mean something else")),
    }
    if model.classes.iter().filter(|class| !class.is_nan()).count() < 2 {
        return Err(refuse("it has seen one class only"));
    }
    if model.settings.stream.delay > 0 {
        return Err(refuse("rows wait in it to be learned from"));
    }
    if model.settings.stream.average {
        return Err(refuse("its averaged weights cannot be divided among classes"));
    }
    let two = restore(model)?;
    if threshold(&two.loss) != 0.0 {
        return Err(refuse("its score is not 0 between the classes"));
    }
    let mut several = widened(model)?;
    several.settings.change("task");
    let made = restore(&several).map_err(|_| refuse("its walk does not learn several classes"))?;
    let (mut one, mut scores) = (Vec::new(), Vec::new());
    two.learner.predict(block, &mut one);
    made.learner.predict(block, &mut scores);
    let same = |(z, scores): (&f64, &[f64])| *z == 0.0 || (*z > 0.0) == (largest(scores) > 0.0);
    if !one.iter().zip(scores.chunks_exact(2)).all(same) {
        return Err(refuse("its walk does not begin with a score of 0"));
    }
    Ok(Some(several))
}

/// The same weights, with a first class that has learned nothing.
fn widened(model: &Model) -> Result<Model, RunError> {
    let fresh = walks::of(&model.settings, walks::width(&model.schema))?;
    let mut arrays = Vec::new();
    fresh.learner.save(&mut |name, values| {
        if name.starts_with("walk.0.") {
            arrays.push((name, values.to_vec()));
        }
    });
    for (name, values) in &model.arrays {
        match name.strip_prefix("walk.0.") {
            Some(rest) => arrays.push((format!("walk.1.{rest}"), values.clone())),
            None if name == Model::DIGEST => {}
            None => arrays.push((name.clone(), values.clone())),
        }
    }
    arrays.push(("classes".to_owned(), vec![2.0]));
    arrays.push(("loss".to_owned(), Sum::default().save().to_vec()));
    let settings =
        Settings { task: Task::Multiclass, certificate: false, ..model.settings.clone() };
    Ok(Model { settings, arrays, ..model.clone() })
}
