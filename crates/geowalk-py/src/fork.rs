//! # Processes that were forked
//! Of a process that is forked, only the thread that asked for it goes on. The threads among which work on tables is
//! divided are gone, and work that is handed to them is never done. So a process that was forked makes threads of its
//! own when it first needs them. The result does not depend on threads.

use std::process;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// The process that imported the package.
static HOME: OnceLock<u32> = OnceLock::new();

/// The threads of a process that was forked.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Remembers the process that imports the package.
pub(crate) fn remember_home() {
    HOME.get_or_init(process::id);
}

/// Does work that may be divided among threads.
pub(crate) fn divided<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    match pool() {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// The threads of this process, if it was forked.
fn pool() -> Option<Arc<ThreadPool>> {
    let here = process::id();
    if *HOME.get_or_init(process::id) == here {
        return None;
    }
    let mut own = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((process, pool)) = own.as_ref()
        && *process == here
    {
        return Some(Arc::clone(pool));
    }
    let pool = Arc::new(ThreadPoolBuilder::new().build().ok()?);
    let before = own.replace((here, Arc::clone(&pool)));
    // Threads of a parent that was forked itself: there is nobody to end them.
    std::mem::forget(before);
    Some(pool)
}
