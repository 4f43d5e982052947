//! Collective operations as schedules: an algorithm is one file with its row of [`ALGORITHMS`].
//!
//! An algorithm tells rank by rank what it sends and receives, block by block. The same telling
//! becomes a schedule ([`make`]), and is followed with symbols for data by the tests, which check
//! that every rank ends with what MPI defines, whatever the order in which messages come.

mod allgather_bruck;
mod allgather_recursive_doubling;
mod allgather_ring;
mod allreduce_double_tree;
mod allreduce_rabenseifner;
mod allreduce_recursive_doubling;
mod allreduce_ring;
mod allreduce_tree;
mod alltoall_bruck;
mod alltoall_linear;
mod alltoall_pairwise;
mod alltoallv;
mod alltoallv_linear;
mod alltoallv_pairwise;
mod barrier_dissemination;
mod barrier_linear;
mod barrier_tree;
mod broadcast_binary;
mod broadcast_binomial;
mod broadcast_linear;
mod broadcast_multicast;
mod broadcast_pipelined;
mod broadcast_scatter_allgather;
pub(super) mod exchange;
mod exscan_doubling;
#[cfg(test)]
mod follow;
mod gather_binomial;
mod gather_linear;
mod neighbour;
mod neighbour_coloured;
mod neighbour_linear;
mod reduce_binomial;
mod reduce_linear;
mod reduce_pipelined;
mod reduce_scatter_halving;
mod reduce_scatter_ring;
mod rooted;
mod scan_doubling;
mod scatter_binomial;
mod scatter_linear;
#[cfg(test)]
mod tests;
mod trees;

use super::Op;
use super::keys::{Asked, Key, MOST_BYTES, MOST_RANKS, RANKS};
use super::make::Program;
use super::script::Script;
use base::words::did_you_mean;
use base::{Quiet, Refusal, Stop};
use serde_json::Map;
use std::sync::Arc;

/// What all ranks do together, as MPI defines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Nobody leaves before everybody has come.
    Barrier,
    /// All get the root's blocks.
    Broadcast,
    /// The root gets the sum of everybody's blocks.
    Reduce,
    /// All get it.
    Allreduce,
    /// All get the block of each rank.
    Allgather,
    /// Each rank gets its block of the sum.
    ReduceScatter,
    /// Each rank gets a block from each.
    Alltoall,
    /// The same with blocks of different sizes, none among them.
    Alltoallv,
    /// Each rank gets a block from each of its neighbours.
    Neighbours,
    /// Each rank gets the sum of the blocks of all ranks up to itself.
    Scan,
    /// Each rank but the first gets the sum of the blocks of all ranks before it.
    Exscan,
    /// The root gets the block of each rank.
    Gather,
    /// Each rank gets its block from the root.
    Scatter,
}

/// What a received block does to the one that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Takes its place.
    Store,
    /// Is added to it.
    Add,
}

/// The number of a step of a rank.
pub type Step = u32;

/// Blocks of a message. Those of a vector that is divided are numbered from 0; a block for a rank,
/// or of one, has its number; one from `a` for `b` of `n` ranks is `a n + b`.
pub type Blocks<'a> = &'a mut dyn Iterator<Item = u64>;

/// Who is told what a rank does, step by step.
pub trait Steps {
    /// Sends blocks as the steps have made them that this one waits for, itself or through others;
    /// what others receive meanwhile stands beside.
    fn send(&mut self, to: u32, tag: u32, blocks: Blocks<'_>) -> Step;

    /// Receives the blocks that `from` sends with this tag; such messages come in order.
    fn recv(&mut self, from: u32, tag: u32, blocks: Blocks<'_>, how: How) -> Step;

    /// `step` waits for the end of `before`.
    fn after(&mut self, step: Step, before: Step);
}

/// An algorithm with its parameters, for so many ranks.
pub trait Algorithm: Send + Sync {
    /// How many blocks the message of each rank is divided into.
    fn blocks(&self, ranks: u32) -> u64 {
        let _ = ranks;
        1
    }

    /// Bytes of a block that is not a part of one vector.
    fn bytes(&self, block: u64, ranks: u32, bytes: u64) -> u64 {
        let _ = (block, ranks);
        bytes
    }

    /// Why it does not work for so many ranks.
    ///
    /// # Errors
    /// For how many it does.
    fn check(&self, ranks: u32) -> Result<(), String> {
        let _ = ranks;
        Ok(())
    }

    /// What `rank` does.
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps);
}

/// How an algorithm is asked for.
pub struct Entry {
    /// The name that users type: the operation and the algorithm.
    pub name: &'static str,
    /// What it does, with its source.
    pub doc: &'static str,
    /// The operation.
    pub operation: Operation,
    /// Its own parameters.
    pub keys: &'static [Key],
    /// Checks the parameters.
    make: fn(&Asked<'_>) -> Result<Box<dyn Algorithm>, Stop>,
}

/// Most ranks of a call that has a list of all.
const MOST_LISTED: u32 = 4096;

/// The rank that has, or gets, the data.
const ROOT: Key = Key::whole("root", "the rank that has or gets the data", 0, (0, MOST_RANKS));

/// Parameters of all algorithms: what is computed meanwhile.
pub const OVERLAP: [Key; 3] = [
    Key::whole(
        "overlap_ns",
        "computation of every rank meanwhile, ns",
        0,
        (0, super::keys::MOST_NS),
    ),
    Key::whole("chunks", "parts of it, between which messages get on", 1, (1, 1 << 20)),
    Key::whole("overlap_cpu", "its processor: 0 that of the messages, 1 another", 0, (0, 1)),
];

/// What adding up costs, of operations that do.
const ADD: Key = Key::whole("add_ns_per_kib", "adding a KiB of blocks, ns", 0, (0, 1 << 30));

/// All algorithms, in the order in which they are listed.
pub const ALGORITHMS: &[Entry] = &[
    allgather_bruck::ENTRY,
    allgather_recursive_doubling::ENTRY,
    allgather_ring::ENTRY,
    allreduce_double_tree::ENTRY,
    allreduce_rabenseifner::ENTRY,
    allreduce_recursive_doubling::ENTRY,
    allreduce_ring::ENTRY,
    allreduce_tree::ENTRY,
    alltoall_bruck::ENTRY,
    alltoall_linear::ENTRY,
    alltoall_pairwise::ENTRY,
    alltoallv_linear::ENTRY,
    alltoallv_pairwise::ENTRY,
    barrier_dissemination::ENTRY,
    barrier_linear::ENTRY,
    barrier_tree::ENTRY,
    broadcast_binary::ENTRY,
    broadcast_binomial::ENTRY,
    broadcast_linear::ENTRY,
    broadcast_multicast::ENTRY,
    broadcast_pipelined::ENTRY,
    broadcast_scatter_allgather::ENTRY,
    exscan_doubling::ENTRY,
    gather_binomial::ENTRY,
    gather_linear::ENTRY,
    neighbour_coloured::ENTRY,
    neighbour_linear::ENTRY,
    reduce_binomial::ENTRY,
    reduce_linear::ENTRY,
    reduce_pipelined::ENTRY,
    reduce_scatter_halving::ENTRY,
    reduce_scatter_ring::ENTRY,
    scan_doubling::ENTRY,
    scatter_binomial::ENTRY,
    scatter_linear::ENTRY,
];

/// The row of an algorithm.
///
/// # Errors
/// When there is none of that name.
pub fn entry(name: &str) -> Result<&'static Entry, Refusal> {
    ALGORITHMS.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALGORITHMS.iter().map(|e| e.name).collect();
        let help = did_you_mean(name, names.iter().copied()) + &names.join(", ");
        Refusal::new("algorithm", format!("there is no '{name}'"), help)
    })
}

impl Entry {
    /// All its parameters: `bytes` are those of the vector that is broadcast or added; for
    /// operations with a block for every rank, those of a block.
    pub fn all_keys(&self) -> Vec<Key> {
        let doc = if self.operation.is_whole() { "of the vector" } else { "of a block" };
        let range = (0, MOST_BYTES);
        let bytes = match self.operation {
            Operation::Alltoallv => Key::needed("bytes", "of a message in the mean", range),
            Operation::Barrier | Operation::Neighbours => {
                Key::whole("bytes", "of a message", 1, range)
            }
            _ => Key::needed("bytes", doc, range),
        };
        let mut all = vec![RANKS, bytes];
        all.extend(self.keys);
        all.extend(self.operation.adds().then_some(ADD));
        all.extend(OVERLAP);
        all
    }
}

impl Entry {
    /// Whether it works for so many ranks.
    pub fn is_for(&self, ranks: u32) -> bool {
        let given =
            Map::from_iter([("ranks".to_owned(), ranks.into()), ("bytes".to_owned(), 1.into())]);
        let asked = Asked::new(&given, self.all_keys(), &Quiet);
        let made = asked.map_err(Stop::from).and_then(|asked| (self.make)(&asked));
        made.is_ok_and(|algorithm| algorithm.check(ranks).is_ok())
    }
}

impl Operation {
    /// Whether its blocks are the parts of one vector.
    fn is_whole(self) -> bool {
        use Operation::{Allreduce, Barrier, Broadcast, Exscan, Reduce, Scan};
        matches!(self, Barrier | Broadcast | Reduce | Allreduce | Scan | Exscan)
    }

    /// Whether blocks are added up.
    pub fn adds(self) -> bool {
        use Operation::{Allreduce, Exscan, Reduce, ReduceScatter, Scan};
        matches!(self, Reduce | Allreduce | ReduceScatter | Scan | Exscan)
    }

    /// What the names of its algorithms begin with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Allgather => "allgather",
            Self::ReduceScatter => "reduce_scatter",
            Self::Alltoall => "alltoall",
            Self::Alltoallv => "alltoallv",
            Self::Neighbours => "neighbour",
            Self::Scan => "scan",
            Self::Exscan => "exscan",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
        }
    }
}

/// A collective operation of so many ranks, ready to be told.
#[derive(Clone)]
pub struct Call {
    algorithm: Arc<dyn Algorithm>,
    /// What MPI has a call for, and its root.
    known: Option<(Operation, u32)>,
    is_whole: bool,
    ranks: u32,
    bytes: u64,
    /// Bytes of the block of each rank, counted around; where there are none all are alike.
    sizes: Option<Arc<Vec<u64>>>,
    /// What adding up costs.
    pub add_ns_per_kib: u64,
}

impl Call {
    /// By name, with the defaults of the algorithm's own parameters; `bytes` as for
    /// [`Entry::all_keys`].
    ///
    /// # Errors
    /// When there is no such algorithm, or it is not for so many ranks.
    pub fn new(name: &str, ranks: u32, bytes: u64) -> Result<Self, Stop> {
        Self::rooted(name, ranks, 0, bytes)
    }

    /// The same with a root, of those that have one.
    ///
    /// # Errors
    /// As [`Call::new`], and when there is no such rank.
    pub fn rooted(name: &str, ranks: u32, root: u32, bytes: u64) -> Result<Self, Stop> {
        let entry = entry(name)?;
        let mut given = Map::new();
        given.insert("ranks".to_owned(), ranks.into());
        given.insert("bytes".to_owned(), bytes.into());
        if entry.keys.iter().any(|key| key.name == "root") {
            given.insert("root".to_owned(), root.into());
        }
        Self::asked(entry, &Asked::new(&given, entry.all_keys(), &Quiet)?)
    }

    /// Blocks from every rank to every other, whose sizes are given; empty ones are not sent.
    /// In rounds a rank sends to the one that is as many further as the round's number, else all at
    /// once. O(ranks^2).
    pub(super) fn exchange(ranks: u32, bytes: &dyn Fn(u32, u32) -> u64, rounds: bool) -> Self {
        let pairs = (0..ranks).flat_map(|from| (0..ranks).map(move |to| (from, to)));
        let all = pairs.map(|(from, to)| (from, to, bytes(from, to)));
        let all: Vec<exchange::Edge> = all.filter(|e| e.0 != e.1 && e.2 > 0).collect();
        let round = |i: usize| (all[i].1 + ranks - all[i].0) % ranks;
        let messages = Some(exchange::Messages::new(ranks, &all, round));
        Self::of(exchange::Exchange { messages, rounds }, ranks)
    }

    /// As asked for.
    fn asked(entry: &Entry, asked: &Asked<'_>) -> Result<Self, Stop> {
        let (ranks, bytes) = (asked.ranks()?, asked.whole("bytes")?);
        let algorithm: Arc<dyn Algorithm> = (entry.make)(asked)?.into();
        algorithm.check(ranks).map_err(|help| {
            Refusal::new("ranks", format!("{} is not for {ranks}", entry.name), help)
        })?;
        let adds = entry.operation.adds();
        let add_ns_per_kib = if adds { asked.whole("add_ns_per_kib")? } else { 0 };
        let is_whole = entry.operation.is_whole();
        let has_root = entry.keys.iter().any(|key| key.name == ROOT.name);
        let root = if has_root { asked.whole(ROOT.name)? as u32 } else { 0 };
        let known = Some((entry.operation, root));
        Ok(Self { algorithm, known, is_whole, ranks, bytes, sizes: None, add_ns_per_kib })
    }

    /// Of so many ranks, and none does anything.
    pub(super) fn nothing(ranks: u32) -> Self {
        Self::of(Nothing, ranks)
    }

    /// An algorithm whose blocks have sizes of their own.
    pub(super) fn of(algorithm: impl Algorithm + 'static, ranks: u32) -> Self {
        let algorithm = Arc::new(algorithm);
        Self {
            algorithm,
            known: None,
            is_whole: false,
            ranks,
            bytes: 0,
            sizes: None,
            add_ns_per_kib: 0,
        }
    }

    /// The same with other bytes.
    #[must_use]
    pub fn with_bytes(&self, bytes: u64) -> Self {
        Self { bytes, ..self.clone() }
    }

    /// The same with a size for the block of each rank; ranks beyond the list count around. Of
    /// operations with a block for every rank.
    #[must_use]
    pub(super) fn with_sizes(self, sizes: Vec<u64>) -> Self {
        Self { sizes: Some(Arc::new(sizes)), ..self }
    }

    /// How many ranks take part.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// The operation, its root, and the bytes of the vector or of every block; none where ranks
    /// have blocks of their own, or it is no one of MPI's.
    pub(super) fn uniform(&self) -> Option<(Operation, u32, u64)> {
        let known = self.known.filter(|(it, _)| match it {
            Operation::Alltoallv | Operation::Neighbours => false,
            // MPI's call has a list of all ranks
            Operation::ReduceScatter => self.sizes.is_none() && self.ranks <= MOST_LISTED,
            _ => self.sizes.is_none(),
        });
        known.map(|(operation, root)| (operation, root, self.bytes))
    }

    pub(super) fn tell(&self, rank: u32, to: &mut dyn Steps) {
        self.algorithm.tell(rank, self.ranks, to);
    }

    /// Bytes of a message of these blocks.
    fn size(&self, blocks: Blocks<'_>) -> u64 {
        if let Some(sizes) = &self.sizes {
            return blocks.map(|b| sizes[(b % sizes.len() as u64) as usize]).sum();
        }
        if !self.is_whole {
            return blocks.map(|b| self.algorithm.bytes(b, self.ranks, self.bytes)).sum();
        }
        let parts = u128::from(self.algorithm.blocks(self.ranks));
        let until = |b: u64| (u128::from(self.bytes) * u128::from(b) / parts) as u64;
        blocks.map(|b| until(b + 1) - until(b)).sum()
    }
}

/// What is left out: no rank sends, receives, or waits.
struct Nothing;

impl Algorithm for Nothing {
    fn tell(&self, _: u32, _: u32, _: &mut dyn Steps) {}
}

/// A collective operation alone, with computation meanwhile.
struct Alone {
    call: Call,
    overlap_ns: u64,
    chunks: u64,
    cpu: u8,
}

/// The program of `entry` with its parameters.
pub(super) fn alone(entry: &Entry, asked: &Asked<'_>) -> Result<Box<dyn Program>, Stop> {
    Ok(Box::new(Alone {
        call: Call::asked(entry, asked)?,
        overlap_ns: asked.whole("overlap_ns")?,
        chunks: asked.whole("chunks")?,
        cpu: asked.whole("overlap_cpu")? as u8,
    }))
}

impl Program for Alone {
    fn ranks(&self) -> u32 {
        self.call.ranks
    }

    fn tell(&self, rank: u32, to: &mut Script<'_>) {
        to.collective(&self.call, rank, &|r| r, 0, &[]);
        to.on(self.cpu);
        let until = |chunk: u64| {
            (u128::from(self.overlap_ns) * u128::from(chunk) / u128::from(self.chunks)) as u64
        };
        let mut before = Vec::new();
        for chunk in 0..self.chunks {
            before = to.calc(until(chunk + 1) - until(chunk), &before);
        }
    }
}

/// Writes what is told as operations.
pub(super) struct Writer<'w, 's> {
    into: &'w mut Script<'s>,
    call: &'w Call,
    named: &'w dyn Fn(u32) -> u32,
    tag: u32,
    first: u32,
    /// Of each operation whether it waits for another, and whether another waits for it.
    marks: Vec<(bool, bool)>,
}

impl<'w, 's> Writer<'w, 's> {
    pub(super) fn new(
        into: &'w mut Script<'s>,
        call: &'w Call,
        named: &'w dyn Fn(u32) -> u32,
        tag: u32,
    ) -> Self {
        let first = into.len();
        Self { into, call, named, tag, first, marks: Vec::new() }
    }

    /// The operations that wait for none of the others, and those that none of them waits for.
    pub(super) fn ends(self) -> (Vec<u32>, Vec<u32>) {
        let of = |wanted: fn(&(bool, bool)) -> bool| {
            let all = (self.first..).zip(&self.marks).filter(|(_, mark)| !wanted(mark));
            all.map(|(op, _)| op).collect()
        };
        (of(|mark| mark.0), of(|mark| mark.1))
    }

    fn add(&mut self, op: Op) -> Step {
        let step = self.into.add(op, &[]);
        // after a refusal there are no more, and no number means one
        if self.into.len() as usize > self.first as usize + self.marks.len() {
            self.marks.push((false, false));
        }
        step
    }
}

impl Steps for Writer<'_, '_> {
    fn send(&mut self, to: u32, tag: u32, blocks: Blocks<'_>) -> Step {
        let size = self.call.size(blocks);
        self.add(Op::send(size, (self.named)(to), self.tag + tag))
    }

    fn recv(&mut self, from: u32, tag: u32, blocks: Blocks<'_>, how: How) -> Step {
        let size = self.call.size(blocks);
        let step = self.add(Op::recv(size, (self.named)(from), self.tag + tag));
        let work = u128::from(size) * u128::from(self.call.add_ns_per_kib);
        if how == How::Store || work == 0 {
            return step;
        }
        let sum = self.add(Op::calc(work.div_ceil(1024) as u64));
        self.after(sum, step);
        sum
    }

    fn after(&mut self, step: Step, before: Step) {
        self.into.wait(step, before);
        let marks = &mut self.marks;
        if let Some(mark) = marks.get_mut(step.wrapping_sub(self.first) as usize) {
            mark.0 = true;
        }
        if let Some(mark) = marks.get_mut(before.wrapping_sub(self.first) as usize) {
            mark.1 = true;
        }
    }
}
