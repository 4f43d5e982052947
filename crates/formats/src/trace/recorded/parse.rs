//! The file of a rank, event by event.

use base::Refusal;
use traffic::workload::calls::CollectiveBytes;
use traffic::workload::calls::recorded::{
    CallEvent, CompletedOperation, GroupMembers, LibflyloomEvent, LibflyloomEventKind,
    OperationStart, RankGroupKind, RecordedEvent, RecordedMessage, RecordedProcess,
};
use traffic::workload::collective::CollectiveOperation;

/// The first word of a file.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"FLCALLS1");

const ANY: u64 = u64::MAX;
const CANCELLED: u64 = u64::MAX - 1;
/// Number of words that every event begins with, before its own.
const HEAD: usize = 3;
const HELP: &str = "the file of a rank as flyloom record keeps it";

/// The operations by the numbers that the recorder gives them.
const OPERATIONS: [CollectiveOperation; 12] = [
    CollectiveOperation::Barrier,
    CollectiveOperation::Broadcast,
    CollectiveOperation::Reduce,
    CollectiveOperation::Allreduce,
    CollectiveOperation::Allgather,
    CollectiveOperation::ReduceScatter,
    CollectiveOperation::Alltoall,
    CollectiveOperation::Alltoallv,
    CollectiveOperation::Scan,
    CollectiveOperation::Exscan,
    CollectiveOperation::Gather,
    CollectiveOperation::Scatter,
];

/// The events of libflyloom by their numbers, of which the first one is 1.
const LIBRARY: [LibflyloomEventKind; 14] = [
    LibflyloomEventKind::Send,
    LibflyloomEventKind::Recv,
    LibflyloomEventKind::Put,
    LibflyloomEventKind::Ask,
    LibflyloomEventKind::Answer,
    LibflyloomEventKind::Answers,
    LibflyloomEventKind::Took,
    LibflyloomEventKind::Done,
    LibflyloomEventKind::CollectiveBegins,
    LibflyloomEventKind::Local,
    LibflyloomEventKind::Out,
    LibflyloomEventKind::In,
    LibflyloomEventKind::CollectiveEnds,
    LibflyloomEventKind::Joins,
];

/// A reader of the own words of an event, one by one.
struct EventWordReader<'a> {
    left: &'a [u64],
    ranks: u64,
}

fn refuse(why: impl Into<String>) -> Refusal {
    Refusal::new("", why.into(), HELP)
}

/// Reads the file of a rank. An event that the end of the file cuts off is left out.
///
/// # Errors
/// With the byte, where it is no such file, or one of another run.
pub(super) fn process(
    name: &str,
    content: &[u8],
    rank: u64,
    ranks: u64,
) -> Result<RecordedProcess, Refusal> {
    let words: Vec<u64> = content
        .chunks_exact(8)
        .map(|chunk| u64::from_le_bytes(chunk.try_into().expect("a chunk has 8 bytes")))
        .collect();
    let said = match words.as_slice() {
        [MAGIC, said @ ..] => said,
        [first, ..] if *first == MAGIC.swap_bytes() => {
            return Err(refuse("its bytes are in the order of another machine"));
        }
        _ => return Err(refuse("it does not begin as one")),
    };
    match *said {
        [its, all, ..] if (its, all) == (rank, ranks) => {}
        [its, all, ..] => {
            return Err(refuse(format!(
                "it is of rank {its} of {all}, and read as {rank} of {ranks}"
            )));
        }
        _ => return Err(refuse("it ends within its head")),
    }
    let (mut events, mut at) = (Vec::new(), HEAD);
    while let Some(&head) = words.get(at).filter(|head| **head != 0) {
        let count = (head >> 32) as usize;
        let Some(event) = words.get(at..at.saturating_add(HEAD + count)) else { break };
        let byte = 8 * at as u64;
        let mut own = EventWordReader { left: &event[HEAD..], ranks };
        let what = own.happening(head as u8, (head >> 16) as u16);
        let what = what.map_err(|refused| refused.within(&format!("byte {byte}")))?;
        let (start_ns, end_ns) = (event[1], event[2]);
        events.push(RecordedEvent { byte, thread: (head >> 8) as u8, start_ns, end_ns, what });
        at += HEAD + count;
    }
    Ok(RecordedProcess { file: name.to_owned(), events })
}

impl EventWordReader<'_> {
    fn next(&mut self) -> Result<u64, Refusal> {
        let [first, left @ ..] = self.left else {
            return Err(refuse("an event has too few words"));
        };
        self.left = left;
        Ok(*first)
    }

    fn rank(&mut self) -> Result<u32, Refusal> {
        match self.next()? {
            rank if rank < self.ranks => Ok(rank as u32),
            rank => Err(refuse(format!("there is no rank {rank} of {}", self.ranks))),
        }
    }

    /// Reads a number below 2^32; `None` where the word stands for no number.
    fn optional(&mut self) -> Result<Option<u32>, Refusal> {
        match self.next()? {
            ANY => Ok(None),
            number => match u32::try_from(number) {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(refuse(format!("{number} is too large"))),
            },
        }
    }

    fn peer(&mut self) -> Result<Option<u32>, Refusal> {
        if self.left.first() == Some(&ANY) {
            self.left = &self.left[1..];
            return Ok(None);
        }
        self.rank().map(Some)
    }

    fn bytes(&mut self) -> Result<Option<u64>, Refusal> {
        match self.next()? {
            ANY => Ok(None),
            bytes if bytes < 1 << 62 => Ok(Some(bytes)),
            bytes => Err(refuse(format!("{bytes} bytes"))),
        }
    }

    fn size(&mut self) -> Result<u64, Refusal> {
        self.bytes()?.ok_or_else(|| refuse("a size is missing"))
    }

    fn begun(&mut self, later: bool) -> Result<OperationStart, Refusal> {
        Ok(OperationStart { number: self.next()?, group: self.next()?, later })
    }

    fn message(&mut self) -> Result<RecordedMessage, Refusal> {
        let (number, group) = (self.next()?, self.next()?);
        let (peer, tag, bytes) = (self.peer()?, self.optional()?, self.size()?);
        Ok(RecordedMessage { number, group, peer, tag, bytes })
    }

    fn members(&mut self, kind: RankGroupKind) -> Result<GroupMembers, Refusal> {
        let (own, other) = (self.next()? as usize, self.next()? as usize);
        if own.checked_add(other) != Some(self.left.len()) {
            return Err(refuse("a group has another number of members"));
        }
        // processes of MPI_Comm_spawn have no rank among all
        let known = |all: &[u64]| {
            let known = all.iter().filter(|&&rank| rank < self.ranks);
            known.map(|&rank| rank as u32).collect()
        };
        let (own, other) = self.left.split_at(own);
        Ok(GroupMembers { own: known(own), other: known(other), kind })
    }

    fn joint(&mut self, flags: u16) -> Result<CallEvent, Refusal> {
        let begun = self.begun(flags & 4 != 0)?;
        let what = self.next()?;
        let operation = usize::try_from(what).ok().and_then(|what| OPERATIONS.get(what));
        let Some(&operation) = operation else {
            return Err(refuse(format!("there is no collective operation {what}")));
        };
        let root = self.optional()?;
        let sizes = match flags & 3 {
            _ if operation == CollectiveOperation::Barrier => CollectiveBytes::Same(0),
            0 => CollectiveBytes::Same(self.size()?),
            1 => {
                let count = self.left.len();
                CollectiveBytes::Each((0..count).map(|_| self.size()).collect::<Result<_, _>>()?)
            }
            _ => CollectiveBytes::Own(self.size()?),
        };
        Ok(CallEvent::Joint(begun, operation, root, sizes))
    }

    fn completed(&mut self) -> Result<Vec<CompletedOperation>, Refusal> {
        let mut all = Vec::with_capacity(self.left.len() / 3);
        while !self.left.is_empty() {
            let number = self.next()?;
            all.push(match (self.left.first(), self.left.get(1)) {
                (Some(&CANCELLED), _) => CompletedOperation::Cancelled(number),
                (Some(&ANY), _) => CompletedOperation::AsBegun(number),
                _ => {
                    let mut said = EventWordReader { left: self.left, ranks: self.ranks };
                    let (source, tag) = (said.rank()?, said.optional()?);
                    CompletedOperation::From(
                        number,
                        source,
                        tag.ok_or_else(|| refuse("a tag is missing"))?,
                    )
                }
            });
            self.left = self.left.get(2..).ok_or_else(|| refuse("an event has too few words"))?;
        }
        Ok(all)
    }

    fn small(&mut self) -> Result<u32, Refusal> {
        self.optional()?.ok_or_else(|| refuse("a number is missing"))
    }

    fn library(&mut self, flags: u16) -> Result<LibflyloomEvent, Refusal> {
        let (runtime, number) = (self.next()?, self.next()?);
        let kind = usize::try_from(number).ok().and_then(|it| LIBRARY.get(it.wrapping_sub(1)));
        let Some(&kind) = kind else {
            return Err(refuse(format!("libflyloom has no event {number}")));
        };
        let (peer, tag, object) = (self.peer()?, self.small()?, self.small()?);
        let (is_beside, brings, flushes) = (flags & 1 != 0, flags & 2 != 0, flags & 8 != 0);
        let (value, answer) = (self.size()?, self.size()?);
        Ok(LibflyloomEvent {
            runtime,
            kind,
            is_beside,
            brings,
            flushes,
            peer,
            tag,
            object,
            value,
            answer,
        })
    }

    fn happening(&mut self, kind: u8, flags: u16) -> Result<CallEvent, Refusal> {
        let later = flags & 4 != 0;
        Ok(match kind {
            1 => CallEvent::Begins,
            2 => CallEvent::Ends,
            3 => CallEvent::Aborts(self.next()? as i64),
            4 => {
                let kind = match flags & 3 {
                    0 => RankGroupKind::Communicator,
                    1 => RankGroupKind::Window,
                    _ => RankGroupKind::Library,
                };
                CallEvent::Group(self.next()?, self.members(kind)?)
            }
            5 => CallEvent::Send(self.message()?, later),
            6 => CallEvent::Recv(self.message()?, later),
            7 => self.joint(flags)?,
            8 => {
                let begun = self.begun(later)?;
                let pairs = self.left.len() / 2;
                let pair = |words: &mut Self| Ok((words.rank()?, words.size()?));
                CallEvent::Exchange(
                    begun,
                    (0..pairs).map(|_| pair(self)).collect::<Result<_, _>>()?,
                )
            }
            9 => {
                CallEvent::Transfer(self.begun(later)?, self.rank()?, self.bytes()?, self.bytes()?)
            }
            10 => CallEvent::Awaits(self.completed()?),
            11 => CallEvent::Polls,
            12 => {
                let (group, source, tag) = (self.next()?, self.rank()?, self.optional()?);
                CallEvent::Probes(group, source, tag.ok_or_else(|| refuse("a tag is missing"))?)
            }
            13 => CallEvent::Syncs(self.next()?, self.peer()?, flags & 1 != 0),
            14 => CallEvent::Waits,
            15 => CallEvent::ThreadEnds,
            16 => CallEvent::Library(self.library(flags)?),
            _ => return Err(refuse(format!("there is no event of kind {kind}"))),
        })
    }
}
