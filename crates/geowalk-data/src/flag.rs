//! # Options in messages
//! An option of the user is a flag of the command and a parameter in Python. A message names the option by [`Flag`];
//! the [`Door`] through which the message is shown determines the spelling.

use std::cell::Cell;
use std::fmt;

/// The interface that shows a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Door {
    /// The command line.
    #[default]
    Command,
    /// The Python package.
    Python,
}

thread_local! {
    static DOOR: Cell<Door> = const { Cell::new(Door::Command) };
}

impl Door {
    /// The text of a message for this interface.
    ///
    /// ```
    /// use geowalk_data::{Door, Flag};
    /// let message = Flag::Missing.with("'?'");
    /// assert_eq!(Door::Command.words(&message), "--missing '?'");
    /// assert_eq!(Door::Python.words(&message), "missing=['?']");
    /// ```
    pub fn words(self, message: &dyn fmt::Display) -> String {
        let before = DOOR.replace(self);
        let words = message.to_string();
        DOOR.set(before);
        words
    }
}

/// An option of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // each is named like its flag
pub enum Flag {
    Bits,
    Decimal,
    Duplicates,
    Folds,
    Format,
    Ignore,
    IndexBase,
    Label,
    Loss,
    Memory,
    Missing,
    NoHeader,
    Nominal,
    Range,
    Rate,
    Separator,
    SkipLines,
    Task,
    Thousands,
    Walk,
}

impl Flag {
    /// The flag, and the parameter in Python.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Bits => ("--bits", "bits="),
            Self::Decimal => ("--decimal", "decimal="),
            Self::Duplicates => ("--duplicates", "duplicates="),
            Self::Folds => ("--folds", "folds="),
            Self::Format => ("--format", "format="),
            Self::Ignore => ("--ignore", "ignore="),
            Self::IndexBase => ("--index-base", "index_base="),
            Self::Label => ("--label", "label="),
            Self::Loss => ("--loss", "loss="),
            Self::Memory => ("--memory", "memory="),
            Self::Missing => ("--missing", "missing="),
            Self::NoHeader => ("--no-header", "header=False"),
            Self::Nominal => ("--nominal", "nominal="),
            Self::Range => ("--range", "range="),
            Self::Rate => ("--rate", "rate="),
            Self::Separator => ("--separator", "separator="),
            Self::SkipLines => ("--skip-lines", "skip_lines="),
            Self::Task => ("--task", "task="),
            Self::Thousands => ("--thousands", "thousands="),
            Self::Walk => ("--walk", "walk="),
        }
    }

    /// The option with a value. Pass a text of the user in quotes.
    pub fn with<T>(self, value: T) -> Given<T> {
        Given { flag: self, value }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (flag, parameter) = self.names();
        f.write_str(if DOOR.get() == Door::Python { parameter } else { flag })
    }
}

/// An option with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given<T> {
    flag: Flag,
    value: T,
}

impl<T: fmt::Display> fmt::Display for Given<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { flag, value } = self;
        match (DOOR.get(), flag) {
            (Door::Command, _) => write!(f, "{flag} {value}"),
            // In Python, the user chooses an estimator instead.
            (Door::Python, Flag::Task) => match value.to_string().as_str() {
                "multiclass" => write!(f, "partial_fit with all classes"),
                "binary" => write!(f, "OnlineClassifier"),
                _ => write!(f, "OnlineRegressor"),
            },
            (Door::Python, Flag::Missing | Flag::Nominal | Flag::Ignore) => {
                write!(f, "{flag}[{value}]")
            }
            (Door::Python, _) => write!(f, "{flag}{value}"),
        }
    }
}

/// The hint about skipping bad rows, for interfaces that offer it; appended to advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OrSkip;

impl fmt::Display for OrSkip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match DOOR.get() {
            Door::Command => f.write_str(", or skip bad rows with --on-error skip"),
            Door::Python => Ok(()),
        }
    }
}

/// How to make the reader accept a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Advice as text.
    Words(&'static str),
    /// Set all of these options.
    All(&'static [(Flag, &'static str)]),
    /// Set one of these options.
    One(&'static [(Flag, &'static str)]),
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (between, flags) = match self {
            Self::Words(words) => return f.write_str(words),
            Self::All(flags) => (" ", flags),
            Self::One(flags) => (" or ", flags),
        };
        write!(f, "say ")?;
        flags.iter().enumerate().try_for_each(|(at, (flag, value))| {
            let between = if at > 0 { between } else { "" };
            write!(f, "{between}{}", flag.with(value))
        })
    }
}
