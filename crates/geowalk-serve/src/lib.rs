//! # geowalk-serve
//! The learner as a service: learn and predict over HTTP. Every accepted row is on disk before it is acknowledged.
//!
//! ```text
//! http     paths, limits, tokens          access.rs body.rs http.rs page.rs server.rs
//!   │  Job
//! worker   one thread per model: learn, log, publish, answer
//!   │  Record                │  Batch
//! log      segments, CRC     engine       the only file that knows learning
//!   │
//! store    snapshots, replay, rollback, audit
//! ```
//!
//! The state is the newest snapshot plus the log after it. The steps are deterministic, so a process that was killed
//! restarts with the same bits as one that was not, and as `geowalk train` on the same rows.

pub mod access;
pub mod body;
pub mod duel;
pub mod engine;
pub mod fault;
pub mod http;
pub mod log;
pub mod page;
pub mod server;
pub mod store;
pub mod worker;
