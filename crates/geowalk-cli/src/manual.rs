//! `geowalk completions` and `geowalk man`: made from the definitions that also parse, so that they cannot differ.

use std::io::Write;

use geowalk::spec;

use crate::Failure;
use crate::args::{Args, Completions, Man};

/// Prints the completions of a shell.
pub(crate) fn completions(what: &Completions, out: &mut dyn Write) -> Result<(), Failure> {
    // The generator writes to memory, so that a closed pipe is an error here and not a panic there.
    let mut script = Vec::new();
    clap_complete::generate(what.shell, &mut Args::arranged(), "geowalk", &mut script);
    out.write_all(&script)?;
    Ok(())
}

/// Prints a manual page.
pub(crate) fn man(what: &Man, out: &mut dyn Write) -> Result<(), Failure> {
    let mut all = Args::arranged();
    all.build();
    let command = match &what.command {
        None => &all,
        Some(name) => all.find_subcommand(name).ok_or_else(|| {
            spec::unknown("command", name, all.get_subcommands().map(clap::Command::get_name))
        })?,
    };
    clap_mangen::Man::new(command.clone()).render(out)?;
    Ok(())
}
