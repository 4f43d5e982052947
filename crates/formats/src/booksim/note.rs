//! What a reader of a configuration is given to know: settings without effect, and why.

/// A note on something written that has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedKeyNote {
    /// File and line, or the argument.
    pub place: String,
    /// The key.
    pub key: String,
    /// What has no effect, and why.
    pub text: String,
}
