//! Barrier by n-way dissemination: in round k a rank tells those `j (n+1)^k` further, j = 1 to n.
//!
//! Source: Hoefler, Mehlan, Mietke, Rehm: Fast barrier synchronization for InfiniBand, IPDPS 2006,
//! section 3; n = 1: Hensgen, Finkel, Manber, IJPP 17 (1988).

use super::kind::{Algorithm, Entry, How, Operation, Step, Steps};
use crate::workload::keys::Key;

const WAYS: Key = Key::whole("ways", "messages that a rank sends in a round", 1, (1, 1024));

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "barrier_dissemination",
    doc: "in every round a rank hears from some others, ever further away",
    operation: Operation::Barrier,
    keys: &[WAYS],
    make: |asked| Ok(Box::new(Dissemination { ways: asked.whole("ways")? })),
};

struct Dissemination {
    ways: u64,
}

impl Algorithm for Dissemination {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let (mut reach, all) = (1_u64, u64::from(ranks));
        let mut heard: Vec<Step> = Vec::new();
        while reach < all {
            let distances = (1..=self.ways).map(|j| j * reach).take_while(|&d| d < all);
            let mut now = Vec::new();
            for distance in distances {
                let ahead = (u64::from(rank) + distance) % all;
                let step = to.send(ahead as u32, 0, &mut std::iter::once(0));
                let behind = (u64::from(rank) + all - distance) % all;
                let wait = to.recv(behind as u32, 0, &mut std::iter::once(0), How::Add);
                for &before in &heard {
                    to.after(step, before);
                    to.after(wait, before);
                }
                now.push(wait);
            }
            heard = now;
            reach *= self.ways + 1;
        }
    }
}
