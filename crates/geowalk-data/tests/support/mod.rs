//! Rows as text.

use geowalk::row::{Block, Row};
use geowalk_data::{DataError, Source};

/// All rows, each as `label * weight | name value ...`, and everything the reader has to say. A weight of 1 is
/// left out.
pub(crate) fn rows(mut source: Box<dyn Source>) -> Result<(Vec<String>, Vec<String>), DataError> {
    let mut block = Block::new();
    let mut out = Vec::new();
    while source.read(&mut block, 7)? > 0 {
        for i in 0..block.len() {
            let (label, weight) = (block.labels()[i], block.weights()[i]);
            let name = source.schema().labels().name(label);
            let mut line = name.map_or_else(|| label.to_string(), str::to_owned);
            if weight != 1.0 {
                line += &format!(" * {weight}");
            }
            line += " |";
            let mut add = |index: usize, value: f64| {
                let name = source.schema().features().name(u32::try_from(index).unwrap());
                line += &format!(" {} {value}", name.unwrap());
            };
            match block.columns() {
                Some(_) => block.dense(i).each(&mut add),
                None => block.sparse(i).each(&mut add),
            }
            out.push(line);
        }
    }
    let said = source.decisions().iter().cloned().chain(source.remarks());
    let said = said.map(|decision| decision.to_string()).collect();
    Ok((out, said))
}
