//! # Faults
//! A request that cannot be served: a status, a sentence, a position in the body, and a remedy.

use geowalk_run::error::RunError;
use serde_json::{Value, json};

use crate::log::LogError;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The HTTP status.
    pub status: u16,
    /// The error.
    pub detail: String,
    /// Line (or row) and column in the body, if the error has a position.
    pub place: Option<(u64, Option<u64>)>,
    /// How to fix it.
    pub remedy: &'static str,
}

const CORRECT: &str = "correct the row and send the request again; nothing of it was learned from";

impl Fault {
    /// A fault without a position.
    pub fn new(status: u16, detail: impl Into<String>, remedy: &'static str) -> Self {
        Self { status, detail: detail.into(), place: None, remedy }
    }

    /// A malformed request.
    pub(crate) fn bad(detail: impl Into<String>, remedy: &'static str) -> Self {
        Self::new(400, detail, remedy)
    }

    /// The fault in the format of RFC 9457.
    pub fn json(&self) -> Value {
        let title = match self.status {
            400 => "Bad request",
            401 => "No valid token",
            403 => "Not allowed",
            404 => "Not found",
            405 => "Method not allowed",
            408 => "Too slow",
            409 => "Conflict",
            410 => "Gone",
            413 => "Too large",
            415 => "Unknown content type",
            422 => "Rows refused",
            429 => "Too many requests",
            507 => "Disk full",
            503 => "Not available",
            _ => "Internal error",
        };
        let mut object = json!({
            "type": "about:blank", "title": title, "status": self.status,
            "detail": self.detail, "remedy": self.remedy,
        });
        if let Some((line, column)) = self.place {
            object["line"] = line.into();
            if let Some(column) = column {
                object["column"] = column.into();
            }
        }
        object
    }
}

impl From<RunError> for Fault {
    fn from(error: RunError) -> Self {
        let place = match &error {
            RunError::Data(error) => error.position.map(|p| (p.line, Some(p.column))),
            RunError::Label { row, .. } | RunError::Diverged { row, .. } => Some((*row, None)),
            _ => None,
        };
        Self { status: 422, detail: error.to_string(), place, remedy: CORRECT }
    }
}

impl From<geowalk_data::DataError> for Fault {
    fn from(error: geowalk_data::DataError) -> Self {
        RunError::from(error).into()
    }
}

impl From<LogError> for Fault {
    fn from(error: LogError) -> Self {
        if error.is_full() {
            let remedy =
                "make room on the disk and send the request again; nothing of it was learned from";
            return Self::new(507, "the disk of the service is full", remedy);
        }
        Self::new(503, error.to_string(), "ask the operator of the service to look at its disk")
    }
}
