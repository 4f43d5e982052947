//! GOAL in binary: what LogGOPSim reads, byte for byte.
//!
//! Little endian, without padding. A magic number of 8 bytes; then, all offsets from here:
//! `u32` ranks, `u8` largest cpu, `u8` largest nic; for every rank `u64` start and `u64` end; at
//! each start `u32` operations, `u32` roots, `u32` the roots; 39 bytes an operation; `u32` the
//! operations that wait: for each its end, then its start.
//! Source: LogGOPSim's Goal.hpp and txt2bin (Hoefler, Schneider, Lumsdaine, LSAP 2010).

use super::kind::{
    ExampleFiles, MOST_RANKS, TraceFileNaming, TraceFormat, TraceFormatWriter,
    WorkloadFileContents, example_schedule,
};
use base::part::PartDescription;
use base::{ComputationError, ProgressWatch, Refusal};
use traffic::workload::{
    OperationKind, RankScheduleBuilder, Schedule, ScheduleBuilder, ScheduleOperation,
};

pub(super) const ENTRY: TraceFormat = TraceFormat::new(
    PartDescription::new("goal-binary", "GOAL in binary, as LogGOPSim reads it"),
    TraceFileNaming::One(&[".bin"]),
    |files, request| parse(files[0].1, request.watch),
    example,
)
.known_by(is_binary)
.writes(TraceFormatWriter::file(".bin", |schedule, _, _| {
    Ok(WorkloadFileContents::one(schedule, write(schedule)))
}));

fn example() -> ExampleFiles {
    vec![("run.bin".to_owned(), write(&example_schedule()))]
}

/// The first eight bytes.
const MAGIC: u64 = 4223;
/// The first eight bytes of a file that a simulation has written into.
const USED: u64 = 2342;
/// Bytes of an operation.
const NODE: usize = 39;
/// Operations, or ranks, between two looks at whether the user wants to stop.
const STRIDE: u32 = 1 << 12;

/// Whether these are the first bytes of a file in binary.
pub fn is_binary(bytes: &[u8]) -> bool {
    let magic = bytes.first_chunk::<8>().map(|b| u64::from_le_bytes(*b));
    magic.is_some_and(|m| m == MAGIC || m == USED)
}

/// The bytes of a schedule.
pub fn write(schedule: &Schedule) -> Vec<u8> {
    let ranks = schedule.ranks();
    let counts = schedule.counts();
    let table = 6 + 16 * ranks as usize;
    let mut out = MAGIC.to_le_bytes().to_vec();
    out.extend(ranks.to_le_bytes());
    out.extend([(schedule.cpus() - 1) as u8, (schedule.nics() - 1) as u8]);
    out.resize(8 + table, 0);
    for rank in 0..ranks {
        let start = (out.len() - 8) as u64;
        of_rank(schedule, rank, &counts, &mut out);
        let end = (out.len() - 8) as u64;
        let at = 8 + 6 + 16 * rank as usize;
        out[at..at + 8].copy_from_slice(&start.to_le_bytes());
        out[at + 8..at + 16].copy_from_slice(&end.to_le_bytes());
    }
    out
}

fn of_rank(schedule: &Schedule, rank: u32, counts: &[u32], out: &mut Vec<u8>) {
    let ops = schedule.of_rank(rank);
    let roots = ops.clone().filter(|&op| counts[op as usize] == 0);
    out.extend((ops.len() as u32).to_le_bytes());
    out.extend((roots.clone().count() as u32).to_le_bytes());
    roots.for_each(|op| out.extend((op - ops.start).to_le_bytes()));
    let mut listed = 0_u32;
    for op in ops.clone() {
        let it = &schedule.ops()[op as usize];
        out.extend(counts[op as usize].to_le_bytes());
        out.push(it.kind as u8);
        out.extend(it.peer.to_le_bytes());
        out.extend(it.size.to_le_bytes());
        out.extend(it.tag.to_le_bytes());
        out.extend([it.cpu, it.nic]);
        for list in [schedule.require(op), schedule.require_start(op)] {
            out.extend((list.len() as u32).to_le_bytes());
            out.extend(listed.to_le_bytes());
            listed += list.len() as u32;
        }
    }
    for op in ops.clone() {
        let all = schedule.require(op).iter().chain(schedule.require_start(op));
        all.for_each(|after| out.extend((after - ops.start).to_le_bytes()));
    }
}

/// A reader of numbers from bytes.
struct NumberReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl NumberReader<'_> {
    fn take<const N: usize>(&mut self, what: &str) -> Result<[u8; N], Refusal> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(found) = rest.first_chunk::<N>() else {
            let why = format!("the file ends within {what}");
            return Err(Refusal::new(format!("byte {}", self.at), why, "a whole file"));
        };
        self.at += N;
        Ok(*found)
    }

    fn u32(&mut self, what: &str) -> Result<u32, Refusal> {
        self.take(what).map(u32::from_le_bytes)
    }

    fn u64(&mut self, what: &str) -> Result<u64, Refusal> {
        self.take(what).map(u64::from_le_bytes)
    }

    fn refuse(&self, why: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal::new(format!("byte {}", self.at), why, help)
    }
}

/// Reads a schedule. O(bytes).
///
/// # Errors
/// With the byte that is not as it should be; or when `watch` asks to stop.
pub fn parse(bytes: &[u8], watch: &dyn ProgressWatch) -> Result<Schedule, ComputationError> {
    let mut from = NumberReader { bytes, at: 0 };
    match from.u64("the magic number")? {
        MAGIC => {}
        USED => {
            let why = "a simulation has counted down its dependencies: it is not whole";
            return Err(Refusal::new("byte 0", why, "the file as it was written").into());
        }
        other => {
            let why = format!("it begins with {other}");
            return Err(Refusal::new("byte 0", why, format!("GOAL in binary: {MAGIC}")).into());
        }
    }
    let ranks = from.u32("the number of ranks")?;
    if u64::from(ranks) > MOST_RANKS || 16 * u64::from(ranks) > bytes.len() as u64 {
        let why = format!("{ranks} ranks in {} bytes", bytes.len());
        return Err(from.refuse(why, "16 bytes a rank at least").into());
    }
    let largest = from.take::<2>("the largest cpu and nic")?;
    let table = from.at;
    let mut all = ScheduleBuilder::new(ranks);
    let mut room = (bytes.len() as u64).saturating_sub(table as u64 + 16 * u64::from(ranks));
    for rank in 0..ranks {
        if rank % STRIDE == 0 {
            watch.tick("ranks", rank.into(), ranks.into())?;
        }
        from.at = table + 16 * rank as usize;
        let (start, end) = (from.u64("a rank's place")?, from.u64("a rank's place")?);
        if end < start || end > bytes.len() as u64 - 8 {
            let why = format!("rank {rank} is from {start} to {end}");
            return Err(from.refuse(why, format!("within {} bytes", bytes.len() - 8)).into());
        }
        // each byte is of one rank: else a small file could say any number of operations
        room = room.checked_sub(end - start).ok_or_else(|| {
            let why = format!("rank {rank} and those before it share bytes");
            from.refuse(why, "a place of its own for each rank")
        })?;
        let mut of = NumberReader { bytes: &bytes[..end as usize + 8], at: start as usize + 8 };
        read_rank(&mut of, all.rank(), watch)
            .map_err(|stop| stop.within(&format!("rank {rank}")))?;
    }
    let made = all.finish()?;
    let used = [(made.cpus() - 1) as u8, (made.nics() - 1) as u8];
    if used != largest {
        let [(cpu, nic), (had_cpu, had_nic)] = [largest, used].map(|[cpu, nic]| (cpu, nic));
        let why = format!("the largest cpu is {cpu} and the largest nic {nic}");
        let help = format!("those of its operations: {had_cpu} and {had_nic}");
        return Err(Refusal::new(format!("byte {}", table - 2), why, help).into());
    }
    Ok(made)
}

/// The two lists of an operation, each as its length and its beginning.
type OperationLists = [(u32, u32); 2];

fn read_rank(
    from: &mut NumberReader<'_>,
    mut into: RankScheduleBuilder<'_>,
    watch: &dyn ProgressWatch,
) -> Result<(), ComputationError> {
    let (ops, roots) = (from.u32("a rank")?, from.u32("a rank")?);
    let left = from.bytes.len().saturating_sub(from.at);
    if roots > ops || roots as usize * 4 + ops as usize * NODE > left {
        let why = format!("{ops} operations, {roots} roots in {left} bytes");
        return Err(from.refuse(why, "39 bytes an operation, 4 a root").into());
    }
    let said: Vec<u32> = (0..roots).map(|_| from.u32("the roots")).collect::<Result<_, _>>()?;
    let mut counts = Vec::with_capacity(ops as usize);
    let mut lists: Vec<OperationLists> = Vec::with_capacity(ops as usize);
    for op in 0..ops {
        if op % STRIDE == 0 {
            watch.tick("operations", op.into(), ops.into())?;
        }
        let at = from.at;
        counts.push(from.u32("an operation")?);
        let op = read_op(from)?;
        into.add(op).map_err(|r| r.within(&format!("byte {at}")))?;
        let mut list = || Ok::<_, Refusal>((from.u32("an operation")?, from.u32("an operation")?));
        lists.push([list()?, list()?]);
    }
    let appendix = from.at;
    check_lists(from, &lists)?;
    for (before, both) in (0..).zip(&lists) {
        if before % STRIDE == 0 {
            watch.tick("dependencies", before.into(), ops.into())?;
        }
        for (of_start, &(count, first)) in both.iter().enumerate() {
            from.at = appendix.saturating_add(4 * first as usize);
            for _ in 0..count {
                let after = from.u32("the dependencies")?;
                if after >= ops {
                    let why = format!("operation {after} waits, of {ops}");
                    return Err(from.refuse(why, "operations of the same rank").into());
                }
                let count = &mut counts[after as usize];
                *count = count.wrapping_sub(1);
                match of_start {
                    0 => into.require(after, before)?,
                    _ => into.require_start(after, before)?,
                }
            }
        }
    }
    if counts.iter().any(|&left| left != 0) {
        let why = "an operation has another number of dependencies than the lists say";
        return Err(from.refuse(why, "a file as it was written").into());
    }
    Ok(check_roots(from, &said, &lists, appendix)?)
}

/// Refuses lists that name more operations than the bytes behind the operations have room for:
/// lists that share bytes make gigabytes of a small file.
fn check_lists(from: &NumberReader<'_>, lists: &[OperationLists]) -> Result<(), Refusal> {
    let entries = (from.bytes.len().saturating_sub(from.at) / 4) as u64;
    let due: u64 = lists.iter().flatten().map(|&(count, _)| u64::from(count)).sum();
    if due <= entries {
        return Ok(());
    }
    let why = format!("{due} dependencies in {} bytes", 4 * entries);
    Err(from.refuse(why, "4 bytes for each: lists of operations do not overlap"))
}

/// Whether the roots are the operations that wait for nothing, in order.
fn check_roots(
    from: &mut NumberReader<'_>,
    said: &[u32],
    lists: &[OperationLists],
    appendix: usize,
) -> Result<(), Refusal> {
    let mut waits = vec![false; lists.len()];
    for &(count, first) in lists.iter().flatten() {
        from.at = appendix + 4 * first as usize;
        for _ in 0..count {
            waits[from.u32("the dependencies")? as usize] = true;
        }
    }
    let free = (0..lists.len() as u32).filter(|&op| !waits[op as usize]);
    if free.eq(said.iter().copied()) {
        return Ok(());
    }
    Err(from.refuse("its roots are not the operations that wait for nothing", ""))
}

fn read_op(from: &mut NumberReader<'_>) -> Result<ScheduleOperation, Refusal> {
    let kind = match from.take::<1>("an operation")?[0] {
        1 => OperationKind::Send,
        2 => OperationKind::Recv,
        3 => OperationKind::Calc,
        other => {
            let why = format!("an operation of type {other}");
            return Err(from.refuse(why, "1 send, 2 receive, 3 calculation"));
        }
    };
    let (peer, size) = (from.u32("an operation")?, from.u64("an operation")?);
    let tag = from.u32("an operation")?;
    let [cpu, nic] = from.take("an operation")?;
    if kind == OperationKind::Calc && (peer, tag, nic) != (0, 0, 0) {
        let why = format!("a calculation with peer {peer}, tag {tag} and nic {nic}");
        return Err(from.refuse(why, "0 for each: only messages have them"));
    }
    Ok(ScheduleOperation { size, peer, tag, kind, cpu, nic })
}
