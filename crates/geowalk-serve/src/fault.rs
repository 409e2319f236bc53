//! # Faults
//! What a client did that cannot be done, or what the machine refuses: a status, a sentence, a place, a
//! remedy.

use geowalk_run::error::RunError;
use serde_json::{Value, json};

use crate::log::LogError;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Fault {
    /// The HTTP status.
    pub status: u16,
    /// What happened.
    pub detail: String,
    /// Line, or row, and column of the body, where there is one.
    pub place: Option<(u64, Option<u64>)>,
    /// What to do.
    pub remedy: &'static str,
}

const CORRECT: &str = "correct the row and send the request again; nothing of it was learned from";

impl Fault {
    /// A fault without a place.
    pub fn new(status: u16, detail: impl Into<String>, remedy: &'static str) -> Self {
        Self { status, detail: detail.into(), place: None, remedy }
    }

    /// A request that cannot be read.
    pub(crate) fn bad(detail: impl Into<String>, remedy: &'static str) -> Self {
        Self::new(400, detail, remedy)
    }

    /// As RFC 9457 has it.
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
