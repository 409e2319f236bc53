//! Arguments of `geowalk serve`, and of a run that writes checkpoints.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
pub(crate) struct Serve {
    /// Folder of models, their logs and snapshots; made if it is not there.
    #[arg(long, value_name = "STATE")]
    pub(crate) dir: PathBuf,
    /// Create this model unless it exists: a walk, settings as JSON, or a model file (repeatable).
    #[arg(long, value_name = "NAME=SPEC|FILE", value_parser = named)]
    pub(crate) model: Vec<(String, String)>,
    /// Where to listen; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) listen: String,
    /// File of tokens, a line TOKEN RIGHTS MODEL for each; needed to listen beyond this machine.
    #[arg(long, value_name = "FILE")]
    pub(crate) tokens: Option<PathBuf>,
    /// Listen beyond this machine without tokens.
    #[arg(long)]
    pub(crate) insecure: bool,
    /// Keep all of the log, for rollback to any sequence number and for verify.
    #[arg(long)]
    pub(crate) keep_log: bool,
    /// Rows after which a snapshot is written.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) snapshot_rows: u64,
    /// Seconds after which a snapshot is written, if rows came.
    #[arg(long, value_name = "S", default_value_t = 60)]
    pub(crate) snapshot_seconds: u64,
    /// Bytes of the largest body.
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20)]
    pub(crate) max_body: usize,
    /// Rows of the largest request.
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub(crate) max_rows: u64,
    /// Features of the largest model.
    #[arg(long, value_name = "N", default_value_t = 1 << 22)]
    pub(crate) max_features: usize,
    /// Models.
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) max_models: usize,
    /// Connections at the same time.
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub(crate) max_connections: usize,
    /// Requests that wait for a learner before others are refused.
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub(crate) queue: usize,
    /// Seconds in which a request must arrive.
    #[arg(long, value_name = "S", default_value_t = 30)]
    pub(crate) timeout: u64,
    /// Predictions that wait for a label.
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub(crate) waiting: usize,
    /// Seconds that a prediction waits for its label.
    #[arg(long, value_name = "S", default_value_t = 86_400)]
    pub(crate) waiting_seconds: u64,
    /// Write the accepted rows of this model as they were sent, and end; --dir may be in use.
    #[arg(long, value_name = "NAME")]
    pub(crate) rows: Option<String>,
}

/// FILE, or FILE:SECONDS.
pub(super) fn checkpoint(text: &str) -> Result<(PathBuf, u64), String> {
    match text.rsplit_once(':').map(|(file, seconds)| (file, seconds.parse())) {
        Some((file, Ok(seconds))) if !file.is_empty() => Ok((PathBuf::from(file), seconds)),
        _ if text.is_empty() => Err("give a file".to_owned()),
        _ => Ok((PathBuf::from(text), geowalk_run::train::SECONDS)),
    }
}

/// NAME=VALUE.
fn named(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').ok_or("write NAME=SPEC or NAME=FILE")?;
    Ok((pair.0.to_owned(), pair.1.to_owned()))
}
