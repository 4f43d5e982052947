//! All-to-all with everything at once: each rank posts all receives and all sends.
//!
//! Source: Thakur, Rabenseifner, Gropp: Optimization of collective communication in MPICH,
//! IJHPCA 19 (2005), section 4.6.

use super::{Algorithm, Entry, How, Operation, Steps};

/// How it is asked for.
pub(super) const ENTRY: Entry = Entry {
    name: "alltoall_linear",
    doc: "everything at once",
    operation: Operation::Alltoall,
    keys: &[],
    make: |asked| {
        let _ = asked;
        Ok(Box::new(Linear))
    },
};

#[derive(Debug)]
struct Linear;

impl Algorithm for Linear {
    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let block = |from: u32, to: u32| u64::from(from) * u64::from(ranks) + u64::from(to);
        for i in 1..ranks {
            let from = (rank + ranks - i) % ranks;
            to.recv(from, 0, &mut std::iter::once(block(from, rank)), How::Store);
        }
        for i in 1..ranks {
            let other = (rank + i) % ranks;
            to.send(other, 0, &mut std::iter::once(block(rank, other)));
        }
    }
}
