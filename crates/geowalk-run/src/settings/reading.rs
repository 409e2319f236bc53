//! # How rows were read
//! Options of a reader that change rows and that a schema does not hold. A model keeps them, so that who reads the
//! same data again (`verify`, `certify`, `--resume`) need not be asked for them again.

use geowalk_data::{Duplicates, Options};
use serde::{Deserialize, Serialize};

use super::is_default;

/// Where rows were not read in the usual way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadSettings {
    /// The first line of a table is a row.
    #[serde(skip_serializing_if = "is_default")]
    pub no_header: bool,
    /// Indices that occur twice in a row are added up.
    #[serde(skip_serializing_if = "is_default")]
    pub add_duplicates: bool,
    /// What stands before decimals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// What stands between thousands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thousands: Option<char>,
    /// What separates fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// Lines at the beginning that are passed over.
    #[serde(skip_serializing_if = "is_default")]
    pub skip_lines: usize,
}

impl ReadSettings {
    /// What these options say.
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

    /// The options for the same data once more: what they leave open is as it was.
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
