//! Where the settings of a configuration come from, and how refusals name the place.

/// Where settings come from: they are taken in order, the last one of a key wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// A file.
    File {
        /// Its name in refusals.
        name: &'a str,
        /// What it contains.
        text: &'a str,
    },
    /// `key=value` of a command line.
    Argument(&'a str),
}

impl Source<'_> {
    pub(super) fn place(&self, line: usize) -> String {
        match self {
            Self::File { name, .. } => format!("{name}: line {line}"),
            Self::Argument(text) => {
                let shown: String = text.chars().take(60).collect();
                format!("argument {shown}")
            }
        }
    }
}
