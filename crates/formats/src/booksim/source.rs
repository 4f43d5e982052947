//! Where the settings of a configuration come from, and how refusals name the place.

/// A source of settings: sources are taken in order, and the last setting of a key counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsSource<'a> {
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

impl SettingsSource<'_> {
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
