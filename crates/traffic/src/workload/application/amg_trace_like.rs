//! Exchanges fitted to a trace of AMG: 27 processes, one iteration of two V-cycles.
//!
//! Ranks are a cube, x the slowest. A cycle has 26 exchanges, in each of which a rank receives
//! from and sends to its neighbours at once and waits for all: across faces, edges and corners,
//! and four times, on the coarsest grids, from the border of the box to ranks two away. Sizes are
//! the means of the trace; a kind of neighbour takes part where most do there. So each place in
//! the box, corner, edge, face and inside, has about the messages and bytes that it has in the
//! trace, however large the box.
//!
//! Source: the trace of AMG on 27 ranks in the DUMPI collection of Sandia's SST project and the
//! Design Forward characterisation of DOE mini-apps (2014).

use super::kind::ApplicationEntry;
use crate::workload::{RankProgram, RankScriptWriter, ScriptMessage, tag};
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "amg_trace_like",
        "exchanges of an iteration of AMG, fitted to a trace of 27 processes",
    )
    .takes::<AmgParameters>(),
    make: |request| {
        let AmgParameters { p, cycles } = request.read()?;
        Ok(Box::new(AmgProgram { p: p as i32, cycles }))
    },
};

#[derive(Deserialize, JsonSchema)]
struct AmgParameters {
    /// Ranks on a side of the cube.
    #[serde(default = "whole::<12>")]
    #[schemars(range(min = 1, max = 256))]
    p: u64,
    /// Cycles from the finest grid to the coarsest and back.
    #[serde(default = "whole::<2>")]
    #[schemars(range(min = 1, max = 1 << 20))]
    cycles: u64,
}

/// For each exchange of a cycle, the number of elements sent across a face, across an edge, across
/// a corner, and to a rank two away; 0 means that no message is sent.
const EXCHANGES: [[u64; 4]; 26] = [
    [1600, 0, 0, 0],
    [1600, 0, 0, 0],
    [198, 3, 0, 0],
    [433, 15, 0, 0],
    [433, 15, 0, 0],
    [56, 3, 0, 0],
    [202, 30, 3, 0],
    [202, 30, 3, 0],
    [14, 2, 0, 0],
    [63, 22, 5, 0],
    [63, 22, 5, 0],
    [4, 1, 0, 0],
    [14, 10, 6, 0],
    [14, 10, 6, 0],
    [2, 2, 2, 2],
    [2, 2, 2, 2],
    [2, 2, 2, 2],
    [14, 10, 6, 2],
    [4, 0, 0, 0],
    [63, 22, 5, 0],
    [14, 2, 0, 0],
    [202, 30, 3, 0],
    [56, 3, 0, 0],
    [433, 15, 1, 0],
    [198, 3, 0, 0],
    [1600, 0, 0, 0],
];

/// Bytes of an element.
const ELEMENT: u64 = 8;

/// The program of an algebraic multigrid solver.
struct AmgProgram {
    p: i32,
    cycles: u64,
}

/// A neighbour: its rank, and the column of `EXCHANGES` for its kind.
type ColumnNeighbour = (u32, usize);

impl AmgProgram {
    fn at(&self, rank: u32) -> [i32; 3] {
        let (p, rank) = (self.p, rank as i32);
        [rank / p / p, rank / p % p, rank % p]
    }

    /// The column of `EXCHANGES` for the message from the rank at `from` to the one at `to`; none
    /// if it sends nothing there.
    fn kind(&self, from: [i32; 3], to: [i32; 3]) -> Option<usize> {
        let steps: Vec<i32> = from.iter().zip(to).map(|(a, b)| b - a).collect();
        let turns = steps.iter().filter(|&&step| step != 0).count();
        if steps.iter().all(|step| step.abs() < 2) {
            return turns.checked_sub(1);
        }
        // a neighbour two away differs in one coordinate only, in the direction away from the
        // border
        let leaves = |(&x, &step): (&i32, &i32)| match step {
            2 => x == 0,
            -2 => x == self.p - 1,
            _ => true,
        };
        let far = steps.iter().filter(|step| step.abs() == 2).count();
        (far == 1 && from.iter().zip(&steps).all(leaves)).then_some(3)
    }

    /// The neighbours that a rank sends to, and those that it receives from; in ascending order.
    fn neighbours(&self, rank: u32) -> [Vec<ColumnNeighbour>; 2] {
        let me = self.at(rank);
        let mut found = [Vec::new(), Vec::new()];
        let side = |x: i32| (x - 2).max(0)..(x + 3).min(self.p);
        for x in side(me[0]) {
            for y in side(me[1]) {
                for z in side(me[2]) {
                    let other = ((x * self.p + y) * self.p + z) as u32;
                    let kinds = [self.kind(me, [x, y, z]), self.kind([x, y, z], me)];
                    for (list, kind) in found.iter_mut().zip(kinds) {
                        list.extend(kind.map(|kind| (other, kind)));
                    }
                }
            }
        }
        found
    }
}

impl RankProgram for AmgProgram {
    fn ranks(&self) -> u32 {
        (self.p as u32).pow(3)
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let neighbours = self.neighbours(rank);
        let mut ends = Vec::new();
        for cycle in 0..self.cycles {
            for (number, sizes) in (0..).zip(&EXCHANGES) {
                if to.is_over() {
                    return;
                }
                let tag = tag(cycle * EXCHANGES.len() as u64 + number);
                let [leaving, coming] = neighbours.each_ref().map(|list| {
                    let of = |&(other, kind): &ColumnNeighbour| (other, sizes[kind] * ELEMENT, tag);
                    list.iter()
                        .map(of)
                        .filter(|message| message.1 > 0)
                        .collect::<Vec<ScriptMessage>>()
                });
                if !leaving.is_empty() || !coming.is_empty() {
                    ends = to.exchange(&leaving, &coming, &ends);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::workload::{OperationKind, Schedule, make};
    use base::QuietWatch;
    use serde_json::json;
    use std::collections::{BTreeMap, BTreeSet};

    fn made(p: u64) -> Schedule {
        let given = json!({ "p": p });
        make("amg_trace_like", given.as_object().expect("a table"), &QuietWatch)
            .expect("it is made")
    }

    /// Messages, bytes and number of peers of each rank, by the number of its coordinates inside
    /// the box.
    fn places(of: &Schedule, p: u32) -> BTreeMap<usize, BTreeSet<(u64, u64, usize)>> {
        let mut found: BTreeMap<usize, BTreeSet<(u64, u64, usize)>> = BTreeMap::new();
        for rank in 0..of.ranks() {
            let range = of.of_rank(rank);
            let ops = &of.ops()[range.start as usize..range.end as usize];
            let sends: Vec<_> = ops.iter().filter(|op| op.kind == OperationKind::Send).collect();
            let bytes = sends.iter().map(|op| op.size).sum();
            let peers: BTreeSet<u32> = sends.iter().map(|op| op.peer).collect();
            let inside = |x: &u32| *x > 0 && *x < p - 1;
            let place = [rank / p / p, rank / p % p, rank % p].iter().filter(|x| inside(x)).count();
            found.entry(place).or_default().insert((sends.len() as u64, bytes, peers.len()));
        }
        found
    }

    /// The trace: messages and bytes of a rank, by the number of its coordinates inside the box.
    const TRACE: [(f64, f64); 4] = [(421., 377e3), (549., 502e3), (751., 631e3), (1060., 760e3)];

    #[test]
    fn each_place_has_what_it_has_in_the_trace() {
        for p in [3, 5] {
            let found = places(&made(p.into()), p);
            assert_eq!(found.len(), 4);
            for (place, ranks) in found {
                assert_eq!(ranks.len(), 1, "all ranks of a place are alike");
                let &(messages, bytes, peers) = ranks.first().expect("one");
                let (due, due_bytes) = TRACE[place];
                assert!((messages as f64 / due - 1.0).abs() < 0.05, "{place}: {messages} messages");
                assert!((bytes as f64 / due_bytes - 1.0).abs() < 0.02, "{place}: {bytes} bytes");
                // in the trace, corner ranks have 13 to 20 peers, and the rank inside has 26
                assert!([13..=20, 12..=26, 18..=26, 26..=26][place].contains(&peers), "{peers}");
            }
        }
    }

    #[test]
    fn sizes_are_spread_as_in_the_trace() {
        let of = made(3);
        let sends = of.ops().iter().filter(|op| op.kind == OperationKind::Send);
        let mut sizes: Vec<u64> = sends.map(|op| op.size).collect();
        sizes.sort_unstable();
        let at = |percent: usize| sizes[sizes.len() * percent / 100] as f64;
        for (percent, due) in [(50, 72.0), (75, 248.0), (90, 1648.0)] {
            assert!((at(percent) / due - 1.0).abs() < 0.4, "{percent} %: {}", at(percent));
        }
        assert_eq!((at(99), sizes.last().copied()), (12_800.0, Some(12_800)));
    }

    #[test]
    fn a_box_of_1728_has_what_its_places_add_up_to() {
        let of = made(12);
        assert!((of.messages() as f64 / 1.58e6 - 1.0).abs() < 0.01, "{}", of.messages());
        assert!((of.sent_bytes() / 1.2e9 - 1.0).abs() < 0.02, "{}", of.sent_bytes());
        let receives = of.ops().iter().filter(|op| op.kind == OperationKind::Recv).count();
        assert_eq!(receives as u64, of.messages());
    }
}
