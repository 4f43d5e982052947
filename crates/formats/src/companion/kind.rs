//! What a format of companion files is, and what their readers share.

use crate::graph_file::kind::example_network;
use base::Refusal;
use base::part::PartDescription;
use fabric::network::Topology;

/// A file: its name and what is in it.
pub type NamedFile<'a> = (&'a str, &'a [u8]);

/// The files of an example, by name and content.
pub type ExampleFiles = Vec<(String, Vec<u8>)>;

/// A row of the table of formats.
#[derive(Debug, Clone, Copy)]
pub struct CompanionFileFormat {
    /// Its name, and what its files hold.
    pub part: PartDescription,
    /// Reads files and drops what they hold. A file that is read beside a network is read beside a
    /// small one.
    pub(crate) read: fn(&[NamedFile<'_>]) -> Result<(), Refusal>,
    /// Small files that it reads: tests damage them.
    pub(crate) example: fn() -> ExampleFiles,
}

impl CompanionFileFormat {
    /// Small files that it reads, by name and content.
    pub fn example(&self) -> ExampleFiles {
        (self.example)()
    }

    /// Whether files can be read: as many as the example has, in its order.
    ///
    /// # Errors
    /// As the reader of the format refuses them.
    pub fn check(&self, files: &[NamedFile<'_>]) -> Result<(), Refusal> {
        (self.read)(files)
    }
}

/// Reads a format that is one text by `read`, which gets the text and the name of the file.
pub(crate) fn one_text<T>(
    files: &[NamedFile<'_>],
    read: impl FnOnce(&str, &str) -> Result<T, Refusal>,
) -> Result<(), Refusal> {
    let (name, _) = files[0];
    read(text(files[0])?, name).map(drop)
}

/// As [`one_text`], for a reader that gets the small network besides, and does not know the file.
pub(crate) fn beside_network<T>(
    files: &[NamedFile<'_>],
    read: impl FnOnce(&Topology, &str) -> Result<T, Refusal>,
) -> Result<(), Refusal> {
    one_text(files, |text, name| {
        read(&example_network(), text).map_err(|refused| refused.within(name))
    })
}

/// The text of a file.
pub(crate) fn text((name, content): NamedFile<'_>) -> Result<&str, Refusal> {
    std::str::from_utf8(content).map_err(|at| {
        let why = format!("byte {} is no text in UTF-8", at.valid_up_to());
        Refusal::new(name, why, "a file of text")
    })
}

/// An example that is one file of text.
pub(crate) fn one_file(name: &str, text: impl Into<Vec<u8>>) -> ExampleFiles {
    vec![(name.to_owned(), text.into())]
}
