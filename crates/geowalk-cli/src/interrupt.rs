//! Ctrl-C: the first asks a learner to stop and to hand over what it has, the second ends the process.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use geowalk::boost::Halt;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The exit code of a command that was interrupted, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

/// A way to stop that Ctrl-C calls.
pub(crate) fn halt() -> Halt {
    on(&[SIGINT])
}

/// A way to stop that Ctrl-C and SIGTERM call.
pub(crate) fn halt_or_end() -> Halt {
    on(&[SIGINT, SIGTERM])
}

fn on(signals: &[i32]) -> Halt {
    let called = Arc::new(AtomicBool::new(false));
    for signal in signals {
        // The order matters: this one looks before the next one sets the flag.
        let again = Arc::clone(&called);
        let second = flag::register_conditional_shutdown(*signal, INTERRUPTED.into(), again);
        if second.and_then(|_| flag::register(*signal, Arc::clone(&called))).is_err() {
            // Without a handler the signal ends the process, as everywhere.
            return Halt::default();
        }
    }
    called.into()
}

/// Says that a learner was stopped, and what can be done with what it has.
pub(crate) fn tell(what: &str, advice: &str) {
    // Nothing can be done if standard error is closed.
    let _ = writeln!(io::stderr(), "interrupted: {what}; {advice}");
}
