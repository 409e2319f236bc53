//! # Ctrl-C during a long fit
//! Boosting and trees work on whole tables and know nothing of Python: they do so in a thread of their own, while the caller's listens. On Ctrl-C they are told to [halt](Halt) and hand over what they
//! have; should that take longer than [`PATIENCE`], or Ctrl-C come again, nobody waits for it any more.

use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use geowalk::boost::Halt;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::fork::divided;

/// How often signals are asked for.
const EVERY: Duration = Duration::from_millis(50);

/// How long what was told to halt may take to do so.
const PATIENCE: Duration = Duration::from_millis(800);

/// Where the result is put.
type Slot<T> = Arc<(Mutex<Option<T>>, Condvar)>;

/// Work that calls Python over and over: its thread is known to the interpreter all the while, so that a call need
/// not make it known.
pub(crate) fn known<T: Send>(calls: bool, work: impl FnOnce() -> T + Send) -> T {
    if calls { Python::attach(|py| py.detach(work)) } else { work() }
}

/// Does the work; what it gave, and the exception of the signal that stopped it, if one did.
pub(crate) fn listening<T: Send + 'static>(
    py: Python<'_>,
    halt: &Halt,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<(T, Option<PyErr>)> {
    let slot: Slot<T> = Arc::default();
    let theirs = Arc::clone(&slot);
    let worker = thread::Builder::new().spawn(move || {
        let done = divided(work);
        *theirs.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        theirs.1.notify_all();
    });
    let worker = worker.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    let mut stopped: Option<(PyErr, Instant)> = None;
    loop {
        let done = py.detach(|| {
            let mut done = slot.0.lock().unwrap_or_else(PoisonError::into_inner);
            if done.is_none() && !worker.is_finished() {
                done = slot.1.wait_timeout(done, EVERY).unwrap_or_else(PoisonError::into_inner).0;
            }
            done.take()
        });
        if let Some(done) = done {
            return Ok((done, stopped.map(|(error, _)| error)));
        }
        if worker.is_finished() && slot.0.lock().is_ok_and(|done| done.is_none()) {
            return match worker.join() {
                Err(panic) => resume_unwind(panic),
                Ok(()) => Err(PyRuntimeError::new_err("the learner ended without a result")),
            };
        }
        match (py.check_signals(), &stopped) {
            (Err(error), Some(_)) => return Err(error),
            (Err(error), None) => {
                halt.call();
                stopped = Some((error, Instant::now()));
            }
            (Ok(()), _) => {}
        }
        if let Some((error, _)) = stopped.take_if(|(_, since)| since.elapsed() > PATIENCE) {
            return Err(error);
        }
    }
}
