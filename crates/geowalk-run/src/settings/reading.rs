//! # Reader options in a model
//! Reader options that change rows and are not part of the schema. A model stores them, so that the user need not
//! repeat them when the same data are read again by `verify`, `certify` or `--resume`.

use geowalk_data::{Duplicates, Options};
use serde::{Deserialize, Serialize};

use super::is_default;

/// Reader options that differ from the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadSettings {
    /// The first line of a table is a row and not a header.
    #[serde(skip_serializing_if = "is_default")]
    pub no_header: bool,
    /// Values of an index that occurs twice in a row are added.
    #[serde(skip_serializing_if = "is_default")]
    pub add_duplicates: bool,
    /// The decimal mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// The thousands separator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// The field separator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// Number of lines skipped at the beginning.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_lines: usize,
}

impl ReadSettings {
    /// The part of these options that differs from the defaults.
    pub fn of(options: &Options) -> Self {
        Self {
            no_header: !options.header,
            add_duplicates: options.duplicates == Duplicates::Add,
            decimal: (options.decimal != '.').then_some(options.decimal),
            thousands: options.thousands,
            separator: options.separator,
            skip_lines: options.skip_lines,
        }
    }

    /// Options for reading the same data again: options left at their defaults are taken from the model.
    #[must_use]
    pub fn again(&self, options: Options) -> Options {
        let asked = Self::of(&options);
        let lines = if asked.skip_lines == 0 { self.skip_lines } else { asked.skip_lines };
        Options {
            header: !(asked.no_header || self.no_header),
            duplicates: if self.add_duplicates { Duplicates::Add } else { options.duplicates },
            decimal: asked.decimal.or(self.decimal).unwrap_or('.'),
            thousands: asked.thousands.or(self.thousands),
            separator: asked.separator.or(self.separator),
            skip_lines: lines,
            ..options
        }
    }
}
