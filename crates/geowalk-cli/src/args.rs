//! What can be typed. Help and error messages come from these definitions.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// Learning that respects the geometry of its parameters.
#[derive(Debug, Parser)]
#[command(name = "geowalk", version, about, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// What there is: geometries, losses.
    List(List),
    /// Examine a loss: which facts hold, and which theorems apply.
    Doctor(Doctor),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct List {
    /// What to list; everything if left out.
    pub(crate) what: Option<Kind>,
    /// One JSON array instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Kind {
    /// Manifolds and generators.
    Geometries,
    /// Losses.
    Losses,
    /// Permissible functions, each with its balanced convex loss.
    Permissible,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Doctor {
    /// The loss: `logistic`, `huber(delta=0.5)`, …; see `geowalk list losses`.
    pub(crate) loss: String,
}
