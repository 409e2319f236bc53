//! `geowalk doctor`: the loss doctor on a loss of the table; a walk with a loss; the walks of a prior.

use std::io::Write;

use geowalk::loss::AnyLoss;
use geowalk::loss::doctor;
use geowalk_run::compatibility;

use crate::Failure;
use crate::args::Doctor;

/// Prints the diagnosis; exit code 1 if a declared fact is contradicted.
pub(crate) fn run(what: &Doctor, out: &mut dyn Write) -> Result<u8, Failure> {
    if let Some(prior) = &what.prior {
        let [walks, words] = compatibility::of_prior(prior)?;
        writeln!(out, "{:<21} {words}", "prior")?;
        writeln!(out, "{:<21} {walks}", "walks")?;
        return Ok(0);
    }
    let [loss] = what.what.as_slice() else {
        let (walk, loss) = (&what.what[0], &what.what[1]);
        writeln!(out, "{}", compatibility::examine(walk, loss)?)?;
        return Ok(0);
    };
    let loss = AnyLoss::parse(loss)?;
    let diagnosis = doctor::examine(&loss, &doctor::Range::of(&loss));
    writeln!(out, "{diagnosis}")?;
    Ok(u8::from(!diagnosis.consistent()))
}
