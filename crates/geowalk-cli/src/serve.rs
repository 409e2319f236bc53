//! `geowalk serve`: the service, the rows of its log, and the audit of its folder.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use geowalk_serve::fault::Fault;
use geowalk_serve::server::{Config, serve};
use geowalk_serve::store;
use geowalk_serve::worker::Limits;
use serde_json::json;

use crate::Failure;
use crate::args::Serve;

fn refused(fault: &Fault) -> Failure {
    Failure::Use(format!("{}; {}", fault.detail, fault.remedy))
}

/// Serves until a signal comes.
pub(crate) fn run(args: &Serve, out: &mut dyn Write) -> Result<u8, Failure> {
    if let Some(name) = &args.rows {
        let models = store::models(&args.dir).map_err(|error| Failure::Use(error.to_string()))?;
        let is = |folder: &Path| store::name(folder).is_ok_and(|known| known == *name);
        let Some((_, folder)) = models.iter().find(|(_, folder)| is(folder)) else {
            return Err(Failure::Use(format!(
                "there is no model '{name}' in {}",
                args.dir.display()
            )));
        };
        store::rows(folder, out).map_err(|fault| refused(&fault))?;
        return Ok(0);
    }
    let config = Config {
        dir: args.dir.clone(),
        models: args.model.clone(),
        listen: args.listen.clone(),
        tokens: args.tokens.clone(),
        insecure: args.insecure,
        limits: Limits {
            body: args.max_body,
            rows: args.max_rows,
            features: args.max_features,
            models: args.max_models,
            connections: args.max_connections.max(1),
            queue: args.queue.max(1),
            pending: args.waiting,
            pending_time: Duration::from_secs(args.waiting_seconds),
            time: Duration::from_secs(args.timeout.max(1)),
            snapshot_rows: args.snapshot_rows.max(1),
            snapshot_time: Duration::from_secs(args.snapshot_seconds.max(1)),
            keep_log: args.keep_log,
            ..Limits::default()
        },
    };
    // Nothing can be done if standard error is closed.
    let mut say = |line: &str| drop(writeln!(io::stderr(), "{line}"));
    serve(&config, &mut say).map_err(Failure::Use)?;
    Ok(0)
}

/// Makes every snapshot of a folder again from its log, and compares.
pub(crate) fn audit(state: &Path, as_json: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    let models = store::models(state).map_err(|error| Failure::Use(error.to_string()))?;
    let (mut verified, mut objects) = (true, Vec::new());
    for (_, folder) in models {
        let audit = match store::audit(&folder) {
            Ok(audit) => audit,
            Err(fault) => {
                verified = false;
                let what = format!("{}: {}", folder.display(), fault.detail);
                if as_json {
                    objects.push(json!({ "differs": [what] }));
                } else {
                    writeln!(out, "not verified   {what}")?;
                }
                continue;
            }
        };
        verified &= audit.differs.is_empty();
        if as_json {
            objects.push(json!({
                "model": audit.name, "sequence": audit.sequence, "from": audit.from,
                "requests": audit.records, "snapshots": audit.equal, "differs": audit.differs,
            }));
            continue;
        }
        for what in &audit.differs {
            writeln!(out, "differs        model '{}': {what}", audit.name)?;
        }
        if audit.differs.is_empty() {
            writeln!(
                out,
                "verified       model '{}': {} snapshots made again to the bit, {} requests replayed, \
                 sequence {} to {}",
                audit.name, audit.equal, audit.records, audit.from, audit.sequence
            )?;
        }
    }
    if as_json {
        writeln!(out, "{}", json!({ "verified": verified, "models": objects }))?;
    }
    Ok(u8::from(!verified))
}
