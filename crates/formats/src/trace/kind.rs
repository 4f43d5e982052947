//! What a format of workloads is: how its files are named and known, how they are read and written.

use base::part::PartDescription;
use base::{ComputationError, ProgressWatch, QuietWatch, Refusal};
use serde_json::{Map, Value, json};
use traffic::workload::{Schedule, WorkloadRequest, make};

/// Most ranks of a schedule.
pub(super) const MOST_RANKS: u64 = 1 << 28;

/// A file: its name and what is in it.
pub type NamedFile<'a> = (String, &'a [u8]);

/// Parameters by their names.
pub type GivenParameters = Map<String, Value>;

/// The files of a small run, by name and content.
pub type ExampleFiles = Vec<(String, Vec<u8>)>;

/// The naming of the files of a run. All but an index may have `.gz` behind their names.
#[derive(Debug, Clone, Copy)]
pub enum TraceFileNaming {
    /// One file has all ranks; its name has one of these endings.
    One(&'static [&'static str]),
    /// Every rank has a file: the name of the run, the text before the number of the rank, the
    /// number, an end. The file of rank 0 stands for the run.
    PerRank {
        /// The text before the number.
        before: &'static str,
        /// The ends.
        ends: &'static [&'static str],
        /// More ends, which files of other programs have as well: the content decides.
        shared: &'static [&'static str],
    },
    /// A file stands for the run, and beside it every rank has a file.
    Indexed {
        /// What follows the name of the run in the file that stands for it.
        index: &'static str,
        /// The text between the name of the run and the number of a rank.
        before: &'static str,
        /// How many digits the number has at least.
        digits: usize,
        /// What follows the number.
        end: &'static str,
        /// How many ranks there are, by the text of the index.
        ranks: fn(&str) -> Result<u32, Refusal>,
    },
}

/// A workload as it is written to files.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkloadFileContents {
    /// The files, by name and content; one without a name where the format has one file.
    pub files: Vec<(String, Vec<u8>)>,
    /// How many ranks there are.
    pub ranks: u32,
    /// How many operations, or calls, are in them.
    pub operations: u64,
    /// Their bytes, without those of an index.
    pub bytes: u64,
    /// In a format whose ranks do one thing after another, the ranks that did several at once.
    pub at_once: Option<u32>,
}

/// A function that writes a schedule; the text is the name of the run.
type WriteFn =
    fn(&Schedule, &str, &dyn ProgressWatch) -> Result<WorkloadFileContents, ComputationError>;
/// A function that writes what a generator makes with these parameters.
type GenerateFn = fn(
    &str,
    &GivenParameters,
    &str,
    &dyn ProgressWatch,
) -> Result<WorkloadFileContents, ComputationError>;
/// A function that writes files of the format again, in the form that is written today.
type RewriteFn = fn(
    &[NamedFile<'_>],
    &str,
    &dyn ProgressWatch,
) -> Result<WorkloadFileContents, ComputationError>;
/// A function that reads the files of a run.
type ReadFn = fn(&[NamedFile<'_>], &WorkloadRequest<'_>) -> Result<Schedule, ComputationError>;
/// A function that says whether the beginning of a file looks like the format.
type RecognizeFn = fn(&[u8]) -> bool;
/// A function that counts what is in files of the format.
type CountFn = fn(&[NamedFile<'_>], &dyn ProgressWatch) -> Result<Value, ComputationError>;

/// The writer of a format.
#[derive(Debug, Clone, Copy)]
pub struct TraceFormatWriter {
    /// The end of a name that asks for the format.
    pub end: &'static str,
    /// Whether the name is that of a folder of files.
    pub is_folder: bool,
    write: WriteFn,
    /// Writers that keep calls which a schedule does not have: of what a generator makes, and of a
    /// run that was read in this format. `None` where the format has no such calls.
    keeps: Option<(GenerateFn, RewriteFn)>,
}

impl TraceFormatWriter {
    /// A writer of one file, whose name ends in `end`.
    pub(super) const fn file(end: &'static str, write: WriteFn) -> Self {
        Self { end, is_folder: false, write, keeps: None }
    }

    /// A writer of a folder of files, whose name ends in `end`.
    pub(super) const fn folder(end: &'static str, write: WriteFn) -> Self {
        Self { is_folder: true, ..Self::file(end, write) }
    }

    /// The same writer with functions that keep calls which a schedule does not have: those of a
    /// generator, and those of a run in the same format.
    pub(super) const fn keeps(self, make: GenerateFn, rewrite: RewriteFn) -> Self {
        Self { keeps: Some((make, rewrite)), ..self }
    }

    /// Whether it can write calls that a schedule would lose: those that a generator makes, and
    /// those of a trace that is in this format already.
    pub fn keeps_calls(&self) -> bool {
        self.keeps.is_some()
    }

    /// The files of a schedule; `prefix` is the name of the run.
    ///
    /// # Errors
    /// When the format cannot hold the schedule, or `watch` asks to stop.
    pub fn write(
        &self,
        schedule: &Schedule,
        prefix: &str,
        watch: &dyn ProgressWatch,
    ) -> Result<WorkloadFileContents, ComputationError> {
        (self.write)(schedule, prefix, watch)
    }

    /// The files of what the generator `name` makes with these parameters.
    ///
    /// # Errors
    /// As [`Self::write`], and those of the generator.
    pub fn made(
        &self,
        name: &str,
        given: &GivenParameters,
        prefix: &str,
        watch: &dyn ProgressWatch,
    ) -> Result<WorkloadFileContents, ComputationError> {
        match self.keeps {
            Some((made, _)) => made(name, given, prefix, watch),
            None => self.write(&make(name, given, watch)?, prefix, watch),
        }
    }

    /// The files of a run that was read in this format, written in it again; `None` where the
    /// format holds no more than a schedule.
    ///
    /// # Errors
    /// As [`Self::write`], and those of reading.
    pub fn rewritten(
        &self,
        files: &[NamedFile<'_>],
        prefix: &str,
        watch: &dyn ProgressWatch,
    ) -> Option<Result<WorkloadFileContents, ComputationError>> {
        self.keeps.map(|(_, rewrite)| rewrite(files, prefix, watch))
    }
}

impl WorkloadFileContents {
    /// A schedule in one file.
    pub(super) fn one(schedule: &Schedule, content: Vec<u8>) -> Self {
        let (operations, bytes) = (schedule.ops().len() as u64, content.len() as u64);
        let (files, ranks) = (vec![(String::new(), content)], schedule.ranks());
        Self { files, ranks, operations, bytes, at_once: None }
    }
}

/// A row of the table of formats.
#[derive(Debug, Clone, Copy)]
pub struct TraceFormat {
    /// Its name, what it is, and its parameters.
    pub part: PartDescription,
    /// How its files are named.
    pub naming: TraceFileNaming,
    /// Whether its files are text, and nothing else.
    pub is_text: bool,
    /// How it is written; none where it is read alone.
    pub writer: Option<TraceFormatWriter>,
    looks: RecognizeFn,
    read: ReadFn,
    counts: Option<CountFn>,
    example: fn() -> ExampleFiles,
}

impl TraceFormat {
    /// A format whose files are named as `naming` says. `read` makes the schedule of its files,
    /// rank by rank; `example` is a small run that it reads, from which tests make damaged ones.
    pub(super) const fn new(
        part: PartDescription,
        naming: TraceFileNaming,
        read: ReadFn,
        example: fn() -> ExampleFiles,
    ) -> Self {
        let (is_text, writer, counts, looks): (_, _, _, RecognizeFn) =
            (false, None, None, |_| false);
        Self { part, naming, is_text, writer, looks, read, counts, example }
    }

    /// The same format, which is recognised by the content of a file, whatever the name.
    pub(super) const fn known_by(self, looks: RecognizeFn) -> Self {
        Self { looks, ..self }
    }

    /// The same format, whose files are text: a file that is no text is refused before it is read,
    /// and a byte order mark is left out.
    pub(super) const fn text(self) -> Self {
        Self { is_text: true, ..self }
    }

    /// The same format with a writer.
    pub(super) const fn writes(self, writer: TraceFormatWriter) -> Self {
        Self { writer: Some(writer), ..self }
    }

    /// The same format with a function that counts what a run holds beyond its schedule.
    pub(super) const fn counts(self, counts: CountFn) -> Self {
        Self { counts: Some(counts), ..self }
    }

    /// Whether a file has the content of this format.
    pub fn looks(&self, content: &[u8]) -> bool {
        (self.looks)(content)
    }

    /// Whether the name of a file has an end of this format.
    pub fn is_named(&self, name: &str) -> bool {
        let plain = name.strip_suffix(".gz").unwrap_or(name);
        match self.naming {
            TraceFileNaming::One(ends) => ends.iter().any(|end| plain.ends_with(end)),
            TraceFileNaming::PerRank { ends, .. } => ends.iter().any(|end| plain.ends_with(end)),
            TraceFileNaming::Indexed { index, .. } => plain.ends_with(index),
        }
    }

    /// How its files are named, in words.
    pub fn named(&self) -> String {
        let all = |before: &str, ends: &[&[&str]]| {
            let each = ends.concat().into_iter().map(|end| format!("NAME{before}{end}"));
            each.collect::<Vec<_>>().join(", ")
        };
        match self.naming {
            TraceFileNaming::One(ends) => all("", &[ends]),
            TraceFileNaming::PerRank { before, ends, shared } => {
                all(&format!("{before}RANK"), &[ends, shared])
            }
            TraceFileNaming::Indexed { index, before, end, .. } => {
                format!("NAME{index} with NAME{before}RANK{end}")
            }
        }
    }

    /// The schedule of a run: the files of all ranks in their order, without an index.
    ///
    /// # Errors
    /// With the file and the place in it, where the content is not of this format; for a parameter
    /// that the format does not have, or a value out of range; when `watch` asks to stop.
    pub fn read(
        &self,
        files: &[NamedFile<'_>],
        given: &GivenParameters,
        watch: &dyn ProgressWatch,
    ) -> Result<Schedule, ComputationError> {
        let takes_none = self.part.schema()["properties"].is_null();
        if let (true, Some(key)) = (takes_none, given.keys().next()) {
            let why = format!("{} is no trace, and takes no options", self.part.name);
            return Err(Refusal::new(key, why, "leave it out").into());
        }
        let found = (self.read)(files, &WorkloadRequest::new(self.part, given, watch)?);
        match (self.naming, files) {
            (TraceFileNaming::One(_), [(name, _)]) if !name.is_empty() => {
                found.map_err(|stop| stop.within(name))
            }
            _ => found,
        }
    }

    /// Counts what a run holds beyond its schedule; `None` where the format holds no more than
    /// that.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn count(
        &self,
        files: &[NamedFile<'_>],
        watch: &dyn ProgressWatch,
    ) -> Option<Result<Value, ComputationError>> {
        self.counts.map(|counts| counts(files, watch))
    }

    /// Whether [`Self::count`] gives something.
    pub fn is_counted(&self) -> bool {
        self.counts.is_some()
    }

    /// The files of a small run that this format reads, with its index where it has one.
    pub fn example(&self) -> ExampleFiles {
        (self.example)()
    }

    /// The files of `files` that belong to ranks, without an index.
    pub fn of_ranks<'a>(&self, files: &'a [(String, Vec<u8>)]) -> Vec<NamedFile<'a>> {
        let is_index = |name: &str| match self.naming {
            TraceFileNaming::Indexed { index, .. } => name.ends_with(index),
            _ => false,
        };
        let ranks = files.iter().filter(|(name, _)| !is_index(name));
        ranks.map(|(name, content)| (name.clone(), content.as_slice())).collect()
    }
}

/// The content of a file as text; refused where it is not UTF-8.
pub(super) fn text(content: &[u8]) -> Result<&str, Refusal> {
    std::str::from_utf8(content).map_err(|e| {
        let why = format!("byte {} is not UTF-8", e.valid_up_to());
        Refusal::new("", why, "a file of text")
    })
}

/// A small schedule, for examples of formats.
pub(super) fn example_schedule() -> Schedule {
    let given = json!({ "ranks": 4, "bytes": 4096 });
    make("allreduce_ring", given.as_object().expect("a table"), &QuietWatch).expect("it is small")
}
