//! What a format is in which a network is two files that lie side by side.

use crate::backed::NetworkFileOptions;
use crate::companion::kind::{ExampleFiles, NamedFile};
use base::Refusal;
use base::part::PartDescription;
use fabric::network::Topology;

/// A row of the table of formats in which a network is two files that lie side by side.
#[derive(Debug)]
pub struct GraphFilePairFormat {
    /// Its name, and what is read.
    pub part: PartDescription,
    /// The words in which the names of the two files differ.
    pub words: [&'static str; 2],
    /// What each of the two files holds, for refusals.
    pub holds: [&'static str; 2],
    /// Whether the first bytes of a file look like those of this format.
    pub(super) looks: fn(&[u8]) -> bool,
    /// Reads the network of the two files, in the order of the words.
    pub(super) read: fn([NamedFile<'_>; 2], NetworkFileOptions) -> Result<Topology, Refusal>,
    /// Two small files that it reads: tests damage them.
    pub(super) example: fn() -> ExampleFiles,
}

/// A file that is one of two: which of them it is, and what the other is called.
#[derive(Debug)]
pub struct GraphFilePairHalf {
    /// The format.
    pub format: &'static GraphFilePairFormat,
    /// The place of the file's word among those of the format.
    pub place: usize,
    /// The name of the other file.
    pub other: String,
}

impl GraphFilePairFormat {
    /// Two small files that it reads, by name and content, in the order of the words.
    pub fn example(&self) -> ExampleFiles {
        (self.example)()
    }

    /// Reads the network of the two files, in the order of the words.
    ///
    /// # Errors
    /// As the reader of the format refuses them.
    pub fn read(
        &self,
        files: [NamedFile<'_>; 2],
        p: impl Into<NetworkFileOptions>,
    ) -> Result<Topology, Refusal> {
        (self.read)(files, p.into())
    }

    /// What a file is of this format, by its name and its first bytes; the last of the words in the
    /// name is the one that counts.
    pub(super) fn half(&'static self, name: &str, start: &[u8]) -> Option<GraphFilePairHalf> {
        let lower = name.to_ascii_lowercase();
        let found = self.words.iter().enumerate();
        let found = found.filter_map(|(place, word)| Some((lower.rfind(word)?, place)));
        let (at, place) = found.max().filter(|_| (self.looks)(start))?;
        let (word, twin) = (self.words[place], self.words[1 - place]);
        let given = &name[at..at + word.len()];
        let twin = if given == word {
            twin.to_owned()
        } else if given.bytes().all(|letter| letter.is_ascii_uppercase()) {
            twin.to_ascii_uppercase()
        } else {
            twin[..1].to_ascii_uppercase() + &twin[1..]
        };
        let other = format!("{}{twin}{}", &name[..at], &name[at + word.len()..]);
        Some(GraphFilePairHalf { format: self, place, other })
    }
}
