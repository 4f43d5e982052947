//! Limits on the memory that a file may ask for, in proportion to its own length.
//!
//! A reader allocates at most [`FACTOR`] bytes for each byte of a file, and [`FREE`] bytes besides.
//! Only networks may be larger, because a few digits can rightly ask for many endpoints, ports and
//! cables: their memory is estimated, and a network that does not fit is refused.

use base::Refusal;
use fabric::size::NetworkSize;

/// Bytes of memory that a reader may allocate for each byte of a file.
pub const FACTOR: usize = 1024;
/// Bytes of memory that a reader may allocate for a file of any length.
pub const FREE: usize = 1 << 24;

/// The most digits of a number in a range of names.
const MOST_DIGITS: usize = 20;

/// The memory that a file may still take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileReaderMemoryBudget {
    left: usize,
}

impl FileReaderMemoryBudget {
    /// The whole budget of a file of this length in bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        Self { left: FREE.saturating_add(bytes.saturating_mul(FACTOR)) }
    }

    /// Takes memory for `count` items of `each` bytes; `None` where less than that is left.
    pub(crate) fn take(&mut self, count: usize, each: usize) -> Option<()> {
        self.left = count.checked_mul(each).and_then(|bytes| self.left.checked_sub(bytes))?;
        Some(())
    }

    /// The names that a word with ranges in brackets stands for, such as `n[1-3,7]` or
    /// `r[0-1]n[01-16]`, in their order. Numbers have the leading zeros of the first one of their
    /// range.
    ///
    /// # Errors
    /// The reason, where a bracket or a range is not valid or has no end, or the names take more
    /// memory than is left.
    pub(crate) fn names(&mut self, word: &str) -> Result<Vec<String>, String> {
        let mut heads = vec![String::new()];
        let mut rest = word;
        while let Some((head, tail)) = rest.split_once('[') {
            let end = tail.split_once(']');
            let (ranges, tail) = end.ok_or_else(|| format!("{:?} has no ]", short(word)))?;
            let mut numbers = Vec::new();
            for range in ranges.split(',') {
                numbers.extend(self.numbers(range)?);
            }
            let each = size_of::<String>() + heads[0].len() + head.len() + MOST_DIGITS;
            let count = heads.len().saturating_mul(numbers.len());
            self.take(count, each).ok_or_else(|| too_many(word))?;
            let with = |before: &String| {
                numbers.iter().map(|n| format!("{before}{head}{n}")).collect::<Vec<_>>()
            };
            heads = heads.iter().flat_map(with).collect();
            rest = tail;
        }
        self.take(heads.len(), rest.len()).ok_or_else(|| too_many(word))?;
        Ok(heads.into_iter().map(|before| before + rest).collect())
    }

    /// The numbers of a range, each with at least as many digits as its first.
    fn numbers(&mut self, range: &str) -> Result<impl Iterator<Item = String> + use<>, String> {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let number = |text: &str| {
            let plain = text.len() <= MOST_DIGITS && text.bytes().all(|b| b.is_ascii_digit());
            text.parse::<u64>().ok().filter(|_| plain)
        };
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(format!("{:?} is no range", short(range)));
        };
        let count = last.checked_sub(first).and_then(|more| usize::try_from(more).ok());
        let each = size_of::<String>() + MOST_DIGITS;
        let taken = count.and_then(|more| self.take(more.checked_add(1)?, each));
        taken.ok_or_else(|| too_many(range))?;
        Ok((first..=last).map(move |n| format!("{n:0width$}")))
    }
}

fn short(word: &str) -> String {
    word.chars().take(60).collect()
}

fn too_many(word: &str) -> String {
    format!("{:?} has no end, or too many", short(word))
}

/// The options that users give beside a file of a network.
#[derive(Debug, Clone, Copy)]
pub struct NetworkFileOptions {
    /// Endpoints on every switch, where the file has none.
    pub p: Option<u32>,
    /// Memory that the network may take, bytes.
    pub room_bytes: f64,
}

impl From<Option<u32>> for NetworkFileOptions {
    fn from(p: Option<u32>) -> Self {
        Self { p, room_bytes: f64::INFINITY }
    }
}

impl NetworkFileOptions {
    /// Refuses a network whose numbers of switches, links and endpoints need more memory than there
    /// is room for.
    ///
    /// # Errors
    /// With the memory that it needs and the memory that is left.
    pub(crate) fn fits(
        self,
        name: &str,
        (switches, links, endpoints): (u64, u64, u64),
    ) -> Result<(), Refusal> {
        let size = NetworkSize {
            switches: switches as f64,
            edge: switches as f64,
            links: links as f64,
            terminals: endpoints as f64,
            radix: 0.0,
            depth: 0.0,
            sources: 0.0,
            threads: 1.0,
        };
        let need = size.build().bytes;
        if need <= self.room_bytes {
            return Ok(());
        }
        let mebibytes = |bytes: f64| (bytes / f64::from(1 << 20)).round();
        let why = format!(
            "{switches} switches, {links} links and {endpoints} endpoints need about {} MiB of \
             memory, {} MiB are free",
            mebibytes(need),
            mebibytes(self.room_bytes)
        );
        Err(Refusal::new(name, why, "a smaller network, or more memory"))
    }
}
