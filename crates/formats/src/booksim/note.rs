//! Notes for the reader of a configuration: settings without effect, and why they have none.

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
