//! What help shows: `-h` the options that people use first, an example each; `--help` all of them.

use clap::{Arg, Command};

/// The options of a command that come first, each with an example.
struct First {
    command: &'static str,
    options: &'static [(&'static str, &'static str)],
}

const FIRST: [First; 5] = [
    First {
        command: "train",
        options: &[
            ("label", "--label paid"),
            ("ignore", "--ignore customer_id"),
            ("nominal", "--nominal zip"),
            ("decimal", "--decimal , --thousands ."),
            ("dry-run", "--dry-run"),
            ("passes", "--passes auto"),
            ("folds", "--folds 5"),
            ("walk", "--walk natural"),
            ("model", "--model paid.gw"),
            ("report", "--report paid.html"),
        ],
    },
    First {
        command: "boost",
        options: &[
            ("label", "--label paid"),
            ("ignore", "--ignore customer_id"),
            ("nominal", "--nominal zip"),
            ("decimal", "--decimal , --thousands ."),
            ("dry-run", "--dry-run"),
            ("weak", "--weak trees"),
            ("rounds", "--rounds 20"),
            ("folds", "--folds 5"),
            ("model", "--model rules.gw"),
            ("report", "--report rules.html"),
        ],
    },
    First {
        command: "tree",
        options: &[
            ("label", "--label paid"),
            ("ignore", "--ignore customer_id"),
            ("nominal", "--nominal zip"),
            ("decimal", "--decimal , --thousands ."),
            ("dry-run", "--dry-run"),
            ("leaves", "--leaves 8"),
            ("min-leaf", "--min-leaf 50"),
            ("folds", "--folds 5"),
            ("model", "--model tree.gw"),
            ("report", "--report tree.html"),
        ],
    },
    First {
        command: "predict",
        options: &[
            ("id", "--id customer_id"),
            ("keep", "--keep"),
            ("proba", "--proba"),
            ("explain", "--explain"),
            ("output", "--output predicted.csv"),
            ("on-error", "--on-error skip"),
            ("strict", "--strict"),
            ("decimal", "--decimal , --thousands ."),
            ("skip-lines", "--skip-lines 2"),
            ("no-header", "--no-header"),
        ],
    },
    First {
        command: "evaluate",
        options: &[
            ("label", "--label paid"),
            ("weight", "--weight amount"),
            ("on-error", "--on-error skip"),
            ("decimal", "--decimal , --thousands ."),
            ("json", "--json"),
        ],
    },
];

/// The same command with its help in order.
pub(crate) fn arranged(all: Command) -> Command {
    FIRST
        .iter()
        .fold(all, |all, first| all.mut_subcommand(first.command, |own| arrange(own, first)))
}

fn arrange(command: Command, first: &First) -> Command {
    let place = |arg: &Arg| {
        let long = arg.get_long()?;
        first.options.iter().position(|(name, _)| *name == long)
    };
    let command = command.mut_args(|arg| match place(&arg) {
        _ if arg.is_positional() => arg,
        Some(at) => {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let example = first.options[at].1;
            // The example of a flag without a value is the flag.
            let example = if example.contains(' ') {
                format!("; for example {example}")
            } else {
                String::new()
            };
            arg.help(format!("{help}{example}")).display_order(at)
        }
        None => arg.hide_short_help(true).help_heading("More options"),
    });
    let more = command.get_arguments().filter(|arg| arg.is_hide_short_help_set()).count();
    let name = first.command;
    command.after_help(format!(
        "{more} more options: geowalk {name} --help. What a word of the output means: geowalk explain WORD"
    ))
}
