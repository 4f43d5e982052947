//! What a format of communication graphs is, and what its readers share.

use base::Refusal;
use base::part::PartDescription;
use traffic::communication::{
    CommunicationGraph, MOST_PROCESSES, ProcessPairTraffic, check_amount, check_total,
};

/// A row of the table of formats.
#[derive(Debug)]
pub struct CommunicationFormat {
    /// Its name, with the words on what it is recognised by.
    pub part: PartDescription,
    /// How names of its files end.
    pub ends: &'static [&'static str],
    /// Formats of small numbers are asked first whether a text is theirs.
    pub(super) rank: u32,
    /// Whether a text is of this format, whatever its file's name says.
    pub(super) is: fn(&str) -> bool,
    /// Whether a name with one of these ends is of this format for certain.
    pub(super) sure: bool,
    /// Whether a text looks like this format; the second argument says whether the name of the file
    /// has the end of some format.
    pub(super) looks: fn(&str, bool) -> bool,
    /// The reader of the files: of a single one, or of a file for each rank.
    pub(super) read: CommunicationMatrixReader,
    /// The name and the text of a small file that it reads: tests damage it.
    pub(super) example: (&'static str, &'static str),
}

impl CommunicationFormat {
    /// A small file that it reads, by name and content.
    pub fn example(&self) -> (String, String) {
        (self.example.0.to_owned(), self.example.1.to_owned())
    }
}

/// A file: its name and text.
type NamedText<'a> = (String, &'a str);

/// A reader of one file, or of a file a rank.
#[derive(Debug, Clone, Copy)]
pub(super) enum CommunicationMatrixReader {
    /// Reads one file.
    One(fn(&str) -> Result<MatrixEntries, Refusal>),
    /// Reads the files of all ranks.
    All(fn(&[NamedText<'_>]) -> Result<MatrixEntries, Refusal>),
}

/// The end of a refusal where values are no numbers of bytes: what is valid, and what is possible.
pub(super) const BYTES: &str = "a number from 0, finite; of other matrices only the pattern \
                                counts: map the halo exchange of parts of it (--partition)";
/// Processes that a graph may have however short its file is.
pub(super) const SMALL: u64 = 1 << 16;

/// The communication matrix that files hold.
#[derive(Debug, Clone, PartialEq)]
pub struct CommunicationMatrix {
    /// The pairs; each sends 1 byte an entry where the values are no bytes.
    pub pattern: CommunicationGraph,
    /// Why the values are no numbers of bytes, where they are not. The matrix is then no
    /// communication graph, and only its pattern counts.
    pub unfit: Option<Refusal>,
}

impl CommunicationMatrix {
    /// The communication graph.
    ///
    /// # Errors
    /// When the values are no bytes.
    pub fn graph(self) -> Result<CommunicationGraph, Refusal> {
        match self.unfit {
            None => Ok(self.pattern),
            Some(refused) => Err(refused),
        }
    }

    /// The matrix of entries, whatever their values are.
    ///
    /// # Errors
    /// When the number of processes is out of range, or a process has a number that is not below
    /// it.
    pub fn of(processes: u32, sent: Vec<ProcessPairTraffic>) -> Result<Self, Refusal> {
        let mut found = MatrixEntries::new(processes);
        for one in sent {
            found.add(0, one);
        }
        found.matrix()
    }
}

/// The entries of a matrix that a reader finds.
pub(super) struct MatrixEntries {
    pub(super) processes: u32,
    pub(super) entries: Vec<ProcessPairTraffic>,
    pub(super) sum: f64,
    pub(super) unfit: Option<Refusal>,
}

impl MatrixEntries {
    pub(super) fn new(processes: u32) -> Self {
        Self { processes, entries: Vec::new(), sum: 0.0, unfit: None }
    }

    /// Adds an entry that stands in line `line`; 0 where it stands in no line of a file.
    pub(super) fn add(&mut self, line: usize, one: ProcessPairTraffic) {
        let at = |refused: Refusal| match line {
            0 => refused,
            _ => refused.within(&format!("line {line}")),
        };
        if self.unfit.is_none() {
            self.sum += one.bytes;
            let why = if one.bytes.is_nan() || one.bytes < 0.0 {
                format!("{} is no amount", one.bytes)
            } else {
                format!("{:e} in all", self.sum)
            };
            let fits = check_amount("bytes", one.bytes).and_then(|_| check_total(self.sum));
            let refused = fits.err().map(|_| at(Refusal::new("bytes", why, BYTES)));
            self.unfit = refused;
        }
        self.entries.push(one);
    }

    /// Records why the values are no numbers of bytes; the first reason stays.
    pub(super) fn unfit(&mut self, why: impl FnOnce() -> Refusal) {
        self.unfit.get_or_insert_with(why);
    }

    pub(super) fn matrix(mut self) -> Result<CommunicationMatrix, Refusal> {
        if self.unfit.is_some() {
            self.entries.iter_mut().for_each(|one| one.bytes = 1.0);
        }
        let pattern = CommunicationGraph::new(self.processes, self.entries)?;
        Ok(CommunicationMatrix { pattern, unfit: self.unfit })
    }
}

/// The number of processes that a line of a text states. It is at most [`SMALL`] or the length of
/// the text, because a graph takes memory for each process.
pub(super) fn processes(line: usize, count: u64, text: &str) -> Result<u32, Refusal> {
    let most = SMALL.max(text.len() as u64).min(MOST_PROCESSES.into());
    let fits = u32::try_from(count).ok().filter(|n| (1..=most).contains(&u64::from(*n)));
    fits.ok_or_else(|| {
        let help = format!("1 to {most} in a file of {} bytes", text.len());
        Refusal::new(format!("line {line}"), format!("{count} processes"), help)
    })
}

pub(super) fn one(from: u32, to: u32, bytes: f64) -> ProcessPairTraffic {
    ProcessPairTraffic { from, to, bytes, messages: 1.0 }
}
