//! Progress and cancellation of long loops: one hook for both.

use crate::error::Interrupted;

/// The receiver of progress reports of a long loop, which can also stop it. Implementations must be
/// cheap: loops call it every few milliseconds.
pub trait ProgressWatch: Sync {
    /// `done` of `total` units of the stage `what` are finished.
    ///
    /// # Errors
    /// [`Interrupted`] when the user wants the loop to stop; the loop returns it at once.
    fn tick(&self, what: &str, done: u64, total: u64) -> Result<(), Interrupted>;
}

/// A watch that shows nothing and never stops anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuietWatch;

impl ProgressWatch for QuietWatch {
    fn tick(&self, _what: &str, _done: u64, _total: u64) -> Result<(), Interrupted> {
        Ok(())
    }
}
