//! Ctrl-C: the first asks a learner to stop and to hand over what it has, the second ends the process.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use geowalk::boost::Halt;
use signal_hook::consts::SIGINT;
use signal_hook::flag;

/// The exit code of a command that was interrupted, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// A way to stop that Ctrl-C calls.
pub(crate) fn halt() -> Halt {
    let called = Arc::new(AtomicBool::new(false));
    // The order matters: this one looks before the next one sets the flag.
    let second =
        flag::register_conditional_shutdown(SIGINT, INTERRUPTED.into(), Arc::clone(&called));
    match second.and_then(|_| flag::register(SIGINT, Arc::clone(&called))) {
        Ok(_) => called.into(),
        // Without a handler Ctrl-C ends the process, as everywhere.
        Err(_) => Halt::default(),
    }
}

/// Says that a learner was stopped, and what can be done with what it has.
pub(crate) fn tell(what: &str, advice: &str) {
    // Nothing can be done if standard error is closed.
    let _ = writeln!(io::stderr(), "interrupted: {what}; {advice}");
}
