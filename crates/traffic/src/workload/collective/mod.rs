//! Collective operations as schedules: an algorithm is one file with its row of [`ALGORITHMS`].
//!
//! An algorithm tells rank by rank what it sends and receives, block by block. The same telling
//! becomes a schedule ([`make`]), and is followed with symbols for data by the tests, which check
//! that every rank ends with what MPI defines, whatever the order in which messages come.

mod allgather_bruck;
mod allgather_ring;
mod allreduce_double_tree;
mod allreduce_rabenseifner;
mod allreduce_recursive_doubling;
mod allreduce_ring;
mod allreduce_tree;
mod alltoall_bruck;
mod alltoall_linear;
mod alltoall_pairwise;
mod asked;
mod barrier_dissemination;
mod barrier_tree;
mod broadcast_binary;
mod broadcast_binomial;
mod broadcast_pipelined;
mod broadcast_scatter_allgather;
#[cfg(test)]
mod follow;
mod gather_binomial;
mod reduce_binomial;
mod reduce_scatter_halving;
mod reduce_scatter_ring;
mod scan_doubling;
mod scatter_binomial;
#[cfg(test)]
mod tests;
mod trees;

pub use asked::{Asked, Key};

use super::{Builder, OfRank, Op, Schedule};
use base::words::did_you_mean;
use base::{Refusal, Stop, Watch};
use serde_json::{Map, Value};
use std::fmt;

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
    /// Each rank gets the sum of the blocks of all ranks up to itself.
    Scan,
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
pub trait Algorithm: fmt::Debug + Sync {
    /// How many blocks the message of each rank is divided into.
    fn blocks(&self, ranks: u32) -> u64 {
        let _ = ranks;
        1
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
    /// Its parameters besides ranks and bytes.
    pub keys: &'static [Key],
    /// Checks the parameters.
    make: fn(&Asked<'_>) -> Result<Box<dyn Algorithm>, Refusal>,
}

/// All algorithms, in the order in which they are listed.
pub const ALGORITHMS: [Entry; 22] = [
    allgather_bruck::ENTRY,
    allgather_ring::ENTRY,
    allreduce_double_tree::ENTRY,
    allreduce_rabenseifner::ENTRY,
    allreduce_recursive_doubling::ENTRY,
    allreduce_ring::ENTRY,
    allreduce_tree::ENTRY,
    alltoall_bruck::ENTRY,
    alltoall_linear::ENTRY,
    alltoall_pairwise::ENTRY,
    barrier_dissemination::ENTRY,
    barrier_tree::ENTRY,
    broadcast_binary::ENTRY,
    broadcast_binomial::ENTRY,
    broadcast_pipelined::ENTRY,
    broadcast_scatter_allgather::ENTRY,
    gather_binomial::ENTRY,
    reduce_binomial::ENTRY,
    reduce_scatter_halving::ENTRY,
    reduce_scatter_ring::ENTRY,
    scan_doubling::ENTRY,
    scatter_binomial::ENTRY,
];

/// Most bytes of a message, and most operations of a schedule.
const MOST_BYTES: u64 = 1 << 40;

/// The schedule of the algorithm called `name` with its parameters: `ranks`, `bytes` and its own.
///
/// `bytes` are those of the vector that is broadcast or added; for operations with a block for
/// every rank, those of a block. O(operations).
///
/// # Errors
/// When there is no such algorithm, a parameter cannot be, or `watch` says stop.
pub fn make(name: &str, given: &Map<String, Value>, watch: &dyn Watch) -> Result<Schedule, Stop> {
    let entry = entry(name)?;
    let asked = Asked::new(given, entry).map_err(|r| r.within(name))?;
    let algorithm = (entry.make)(&asked).map_err(|r| r.within(name))?;
    let ranks = asked.ranks;
    algorithm.check(ranks).map_err(|help| {
        Refusal::new("ranks", format!("{name} is not for {ranks}"), help).within(name)
    })?;
    let blocks = algorithm.blocks(ranks);
    let mut all = Builder::new(ranks);
    for rank in 0..ranks {
        if rank % 1024 == 0 {
            watch.tick("ranks", rank.into(), ranks.into())?;
        }
        let (whole, refused) = (entry.operation.is_whole(), None);
        let into = all.rank();
        let mut writer = Writer { into, bytes: asked.bytes, blocks, whole, refused };
        algorithm.tell(rank, ranks, &mut writer);
        if let Some(refused) = writer.refused {
            return Err(refused.within(name).into());
        }
    }
    Ok(all.finish()?)
}

/// The row of an algorithm.
///
/// # Errors
/// When there is none of that name.
pub fn entry(name: &str) -> Result<&'static Entry, Refusal> {
    static ALL: [Entry; ALGORITHMS.len()] = ALGORITHMS;
    ALL.iter().find(|e| e.name == name).ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|e| e.name).collect();
        let help = did_you_mean(name, names.iter().copied()) + &names.join(", ");
        Refusal::new("workload", format!("there is no '{name}'"), help)
    })
}

impl Operation {
    /// Whether its blocks are the parts of one vector.
    fn is_whole(self) -> bool {
        matches!(
            self,
            Self::Barrier | Self::Broadcast | Self::Reduce | Self::Allreduce | Self::Scan
        )
    }
}

/// Writes what is told as operations.
struct Writer<'a> {
    into: OfRank<'a>,
    bytes: u64,
    blocks: u64,
    whole: bool,
    refused: Option<Refusal>,
}

impl Writer<'_> {
    fn size(&self, blocks: Blocks<'_>) -> u64 {
        if !self.whole {
            return blocks.count() as u64 * self.bytes;
        }
        let until =
            |b: u64| (u128::from(self.bytes) * u128::from(b) / u128::from(self.blocks)) as u64;
        blocks.map(|b| until(b + 1) - until(b)).sum()
    }

    fn add(&mut self, op: Op) -> Step {
        self.into.add(op).unwrap_or_else(|refused| {
            self.refused = Some(refused);
            0
        })
    }
}

impl Steps for Writer<'_> {
    fn send(&mut self, to: u32, tag: u32, blocks: Blocks<'_>) -> Step {
        let size = self.size(blocks);
        self.add(Op::send(size, to, tag))
    }

    fn recv(&mut self, from: u32, tag: u32, blocks: Blocks<'_>, _: How) -> Step {
        let size = self.size(blocks);
        self.add(Op::recv(size, from, tag))
    }

    fn after(&mut self, step: Step, before: Step) {
        if self.refused.is_none()
            && let Err(refused) = self.into.require(step, before)
        {
            self.refused = Some(refused);
        }
    }
}
