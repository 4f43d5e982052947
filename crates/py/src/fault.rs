//! Faults of flyloom: a panic of any thread is noticed when it happens, whoever waits for whom.

use pyo3::create_exception;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::cell::Cell;
use std::panic::{PanicHookInfo, UnwindSafe, catch_unwind, set_hook};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

create_exception!(
    flyloom._core,
    FaultError,
    PyRuntimeError,
    "A fault of flyloom itself: one of its threads broke off."
);

/// How many threads of this process have panicked, and what the latest said.
static COUNT: AtomicU64 = AtomicU64::new(0);
static LATEST: Mutex<String> = Mutex::new(String::new());

thread_local! {
    /// Whether this thread expects a panic, which is no fault then.
    static EXPECTS: Cell<bool> = const { Cell::new(false) };
}

/// Makes this process notice all panics from now on. They print nothing: the thread that began the
/// work reports what happened, in one line. With `RUST_BACKTRACE=full` that includes the backtrace.
pub fn listen() {
    set_hook(Box::new(|info: &PanicHookInfo<'_>| {
        if EXPECTS.get() {
            return;
        }
        let mut words = words_of(info.payload()).to_owned();
        if let Some(place) = info.location() {
            words = format!("{words} ({}:{})", place.file(), place.line());
        }
        if std::env::var_os("RUST_BACKTRACE").is_some_and(|value| value == "full") {
            let trace = Backtrace::capture();
            if trace.status() == BacktraceStatus::Captured {
                words = format!("{words}\n{trace}\n");
            }
        }
        *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = words;
        COUNT.fetch_add(1, Ordering::Release);
    }));
}

/// The number of faults so far.
pub fn count() -> u64 {
    COUNT.load(Ordering::Acquire)
}

/// The words of the latest fault, where there were more than `before`.
pub fn since(before: u64) -> Option<String> {
    (count() > before).then(|| LATEST.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// The message of a panic.
pub fn words_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a thread broke off")
}

/// The whole line that reports a fault.
pub fn line(words: &str) -> String {
    format!("flyloom has a fault: {words}; please report it with the command and its input")
}

/// The exception for a fault.
pub fn error(words: &str) -> PyErr {
    FaultError::new_err(line(words))
}

/// The result of `work`; `None` where it panics, which is no fault here.
pub fn unless_it_panics<T>(work: impl FnOnce() -> T + UnwindSafe) -> Option<T> {
    EXPECTS.set(true);
    let done = catch_unwind(work).ok();
    EXPECTS.set(false);
    done
}
