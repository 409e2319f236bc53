//! # A way to stop from outside
//! Boosting, growing a tree and fitting go on until they are done; whoever waits for them may want to have what there is. A [`Halt`] is handed to the learner and kept: once it is called, no further round begins (but the first) and
//! no further leaf is split, and what was learned until then is the result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Can be called from another thread; the default is never called.
///
/// ```
/// use geowalk::Halt;
/// let halt = Halt::new();
/// let other = halt.clone();
/// std::thread::spawn(move || other.call()).join().unwrap();
/// assert!(halt.is_called() && !Halt::default().is_called());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Halt(Option<Arc<AtomicBool>>);

impl Halt {
    /// One that can be called.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Ends what it was handed to, as soon as that looks. The default cannot be called.
    pub fn call(&self) {
        if let Some(flag) = &self.0 {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Has it been called?
    pub fn is_called(&self) -> bool {
        self.0.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// One that is called by setting the flag, as a handler of a signal does.
impl From<Arc<AtomicBool>> for Halt {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self(Some(flag))
    }
}

/// It says nothing of what is learned: all are equal.
impl PartialEq for Halt {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
