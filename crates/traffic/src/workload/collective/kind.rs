//! What an algorithm of a collective operation is, and how it is asked for.

use crate::workload::keys::{Asked, Key, MOST_BYTES, MOST_NS, MOST_RANKS, RANKS};
use base::{Quiet, Stop};
use serde_json::Map;

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
    pub(super) make: fn(&Asked<'_>) -> Result<Box<dyn Algorithm>, Stop>,
}

/// The rank that has, or gets, the data.
pub(super) const ROOT: Key =
    Key::whole("root", "the rank that has or gets the data", 0, (0, MOST_RANKS));

/// Parameters of all algorithms: what is computed meanwhile.
pub const OVERLAP: [Key; 3] = [
    Key::whole("overlap_ns", "computation of every rank meanwhile, ns", 0, (0, MOST_NS)),
    Key::whole("chunks", "parts of it, between which messages get on", 1, (1, 1 << 20)),
    Key::whole("overlap_cpu", "its processor: 0 that of the messages, 1 another", 0, (0, 1)),
];

/// What adding up costs, of operations that do.
pub(super) const ADD: Key =
    Key::whole("add_ns_per_kib", "adding a KiB of blocks, ns", 0, (0, 1 << 30));

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
    pub(super) fn is_whole(self) -> bool {
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
