//! Broadcast along a chain, segment by segment.
//!
//! Source: Pjesivac-Grbovic et al.: Performance analysis of MPI collective operations, Cluster
//! Computing 10 (2007), section 4.

use super::asked::ROOT;
use super::trees::{Place, down, seen_from};
use super::{Algorithm, Entry, Key, Operation, Steps};

const SEGMENTS: Key = Key {
    name: "segments",
    doc: "parts that are passed on by themselves",
    default: 8,
    range: (1, 1 << 20),
};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "broadcast_pipelined",
    doc: "from rank to rank, in segments",
    operation: Operation::Broadcast,
    keys: &[ROOT, SEGMENTS],
    make: |asked| Ok(Box::new(Pipeline { root: asked.root()?, segments: asked.own("segments")? })),
};

#[derive(Debug)]
struct Pipeline {
    root: u32,
    segments: u64,
}

impl Algorithm for Pipeline {
    fn blocks(&self, _: u32) -> u64 {
        self.segments
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let seen = seen_from(self.root, rank, ranks);
        let below = (seen + 1 < ranks).then_some(seen + 1).into_iter().collect();
        let place = Place { above: seen.checked_sub(1), below }.turned(self.root, ranks);
        for segment in 0..self.segments {
            // a tag for each, so that none can be taken for another
            down(&place, segment as u32, &[segment], None, to);
        }
    }
}
