//! Limits and faults of the lines of a fabric: forms of nodes, port numbers, and what is wrong.

use base::Refusal;

/// Highest port number of a switch or an adapter.
pub(super) const MAX_PORT: u16 = 254;

/// The kind of device that a line describes, by its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeviceLineKind {
    Switch,
    Adapter,
    Router,
}

/// A fault of a line, before it is known which line of which file that is.
pub(super) struct LineFault {
    why: String,
    help: String,
}

impl LineFault {
    pub(super) fn new(why: impl Into<String>, help: impl Into<String>) -> Self {
        Self { why: why.into(), help: help.into() }
    }

    /// The fault of the last line of a file, which does not end in a line feed.
    pub(super) fn in_a_line_cut_off(self) -> Self {
        Self {
            why: format!("{}: the file ends within this line and looks cut off", self.why),
            ..self
        }
    }

    pub(super) fn at(self, file: &str, line: usize) -> Refusal {
        Refusal::new(format!("{file}: line {line}"), self.why, self.help)
    }
}
