//! Paths up towards a root, then down: the shortest of these, on any lane.

use super::rows::{NO_PATH, rows};
use super::{CandidateHop, CandidateScheme, PacketRoutingState};
use crate::Topology;
use base::{ComputationError, ProgressWatch, SwitchId};
use std::sync::Arc;

/// Adaptive up*/down* routing: a packet may take every hop of every shortest path that goes up,
/// then down.
///
/// Source: Schroeder et al., "Autonet: a high-speed, self-configuring local area network using
/// point-to-point links", IEEE Journal on Selected Areas in Communications 9(8), 1991. A hop goes
/// up when it leads to a switch of lower rank, or of equal rank and lower number. On a tree these
/// are all paths over a nearest common ancestor. A goal is a switch; in state 0 a packet may still
/// go up, in state 1 it goes down. O(switches^2) bytes.
#[derive(Debug, Clone)]
pub struct UpDownAdaptiveRouting {
    on: Arc<Topology>,
    rank: Vec<u32>,
    lanes: u8,
    /// For each destination, a row: from every switch the hops of the shortest path up and down,
    /// then the hops of the shortest path that only goes down.
    hops: Vec<u8>,
}

/// The state of a packet that may still go up.
const UP: u32 = 0;
/// The state of a packet that may only go down.
const DOWN: u32 = 1;

impl UpDownAdaptiveRouting {
    /// The scheme for `on`. `rank[switch]` is lower farther up: the distance from a root, or from
    /// the top level of a tree. O(switches * arcs), in parallel.
    ///
    /// # Errors
    /// When a path has more than 254 hops, or `watch` asks to stop.
    ///
    /// # Panics
    /// When not every switch has a rank, or there is no lane.
    pub fn new(
        on: Arc<Topology>,
        rank: Vec<u32>,
        lanes: u8,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let switches = on.switches().len();
        assert_eq!(rank.len(), switches, "a rank a switch");
        assert!(lanes > 0, "a lane at least");
        let mut new = Self { on, rank, lanes, hops: Vec::new() };
        new.hops = rows(switches, switches * 2, |to, row, queue| new.fill(to, row, queue), watch)?;
        Ok(new)
    }

    #[inline]
    fn is_up(&self, from: u32, to: u32) -> bool {
        (self.rank[to as usize], to) < (self.rank[from as usize], from)
    }

    /// Fills the row of destination `to` by a search from it. An entry of the queue is
    /// `switch * 2 + state`.
    fn fill(&self, to: usize, row: &mut [u8], queue: &mut Vec<u32>) -> bool {
        let (legal, down) = row.split_at_mut(self.rank.len());
        (legal[to], down[to]) = (0, 0);
        queue.extend([to as u32 * 2 + DOWN, to as u32 * 2 + UP]);
        let mut head = 0;
        while let Some(&v) = queue.get(head) {
            head += 1;
            let (v, state) = (v / 2, v % 2);
            let farther = 1 + if state == UP { legal[v as usize] } else { down[v as usize] };
            for &w in self.on.graph().neighbours(v as usize) {
                // a packet in state UP at v has come up; one in state DOWN has come down, from
                // either state
                let comes_up = self.is_up(w, v);
                if comes_up != (state == UP) {
                    continue;
                }
                let (legal, down) = (&mut legal[w as usize], &mut down[w as usize]);
                let is_new = [*legal == NO_PATH, !comes_up && *down == NO_PATH];
                if farther == NO_PATH && is_new != [false; 2] {
                    return false;
                }
                if is_new[0] {
                    *legal = farther;
                    queue.push(w * 2 + UP);
                }
                if is_new[1] {
                    *down = farther;
                    queue.push(w * 2 + DOWN);
                }
            }
        }
        true
    }
}

impl CandidateScheme for UpDownAdaptiveRouting {
    fn topology(&self) -> &Topology {
        &self.on
    }

    fn lanes(&self) -> u8 {
        self.lanes
    }

    fn states(&self) -> u32 {
        2
    }

    fn starts(&self, _: SwitchId, _: u32, found: &mut Vec<u32>) {
        found.push(UP);
    }

    #[inline]
    fn next(&self, at: SwitchId, heading: PacketRoutingState, found: &mut Vec<CandidateHop>) {
        let (graph, switches) = (self.on.graph(), self.rank.len());
        let row = &self.hops[heading.goal as usize * switches * 2..][..switches * 2];
        let (legal, down) = row.split_at(switches);
        let here = if heading.state == UP { legal[at.ix()] } else { down[at.ix()] };
        if here == NO_PATH {
            return;
        }
        let (lane, width) = (0, self.lanes);
        for (&to, &channel) in graph.neighbours(at.ix()).iter().zip(graph.channels(at.ix())) {
            let up = self.is_up(at.0, to);
            let left = if up { legal[to as usize] } else { down[to as usize] };
            if left < here && !(up && heading.state == DOWN) {
                let state = if up { UP } else { DOWN };
                found.push(CandidateHop { channel, to: SwitchId(to), state, lane, width });
            }
        }
    }
}
