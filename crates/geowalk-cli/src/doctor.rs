//! `geowalk doctor`: the loss doctor on a loss of the table.

use std::io::Write;

use geowalk::loss::AnyLoss;
use geowalk::loss::doctor;

use crate::Failure;
use crate::args::Doctor;

/// Prints the diagnosis; exit code 1 if a declared fact is contradicted.
pub(crate) fn run(what: &Doctor, out: &mut dyn Write) -> Result<u8, Failure> {
    let loss = AnyLoss::parse(&what.loss)?;
    let diagnosis = doctor::examine(&loss, &doctor::Range::of(&loss));
    writeln!(out, "{diagnosis}")?;
    Ok(u8::from(!diagnosis.consistent()))
}
