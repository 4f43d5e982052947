//! All shortest paths: a packet may take each next hop that is nearer to the destination.

use super::rows::{NO_PATH, rows};
use super::{CandidateHop, CandidateScheme, LaneClasses, PacketRoutingState, RouteLegScheme};
use crate::Topology;
use base::{ComputationError, ProgressWatch, SwitchId};
use std::sync::Arc;

/// Minimal adaptive routing: a packet may take any hop of any shortest path; the number of hops
/// taken so far gives its lanes.
///
/// Source: Gunther, "Prevention of deadlocks in packet-switched data transport systems", IEEE
/// Transactions on Communications 29(4), 1981: with a class of buffers for each hop, a packet waits
/// for higher classes alone. Hop `h`, counted from 0, takes class `h`, or the last class where
/// there are fewer classes. With a single class a packet may take any lane. A goal is a switch, a
/// state is the class of the next hop. O(switches^2) bytes.
#[derive(Debug, Clone)]
pub struct MinimalAdaptiveRouting {
    on: Arc<Topology>,
    lanes: LaneClasses,
    /// For each destination, a row: the hops from every switch to it.
    hops: Vec<u8>,
}

impl MinimalAdaptiveRouting {
    /// The scheme of all shortest paths of `on`. O(switches * arcs), in parallel.
    ///
    /// # Errors
    /// When a shortest path has more than 254 hops, or `watch` asks to stop.
    pub fn new(
        on: Arc<Topology>,
        lanes: LaneClasses,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let graph = on.graph();
        let fill = |to: usize, row: &mut [u8], queue: &mut Vec<u32>| {
            row[to] = 0;
            queue.push(to as u32);
            let mut head = 0;
            while queue.len() < graph.switches()
                && let Some(&v) = queue.get(head)
            {
                head += 1;
                let farther = row[v as usize] + 1;
                for &w in graph.neighbours(v as usize) {
                    if row[w as usize] == NO_PATH {
                        if farther == NO_PATH {
                            return false;
                        }
                        row[w as usize] = farther;
                        queue.push(w);
                    }
                }
            }
            true
        };
        let hops = rows(graph.switches(), graph.switches(), fill, watch)?;
        Ok(Self { on, lanes, hops })
    }

    /// The same paths on other lanes.
    #[must_use]
    pub fn with_lanes(self, lanes: LaneClasses) -> Self {
        Self { lanes, ..self }
    }

    #[inline]
    fn row(&self, goal: u32) -> &[u8] {
        let switches = self.on.switches().len();
        &self.hops[goal as usize * switches..(goal as usize + 1) * switches]
    }
}

impl CandidateScheme for MinimalAdaptiveRouting {
    fn topology(&self) -> &Topology {
        &self.on
    }

    fn lanes(&self) -> u8 {
        self.lanes.lanes()
    }

    fn states(&self) -> u32 {
        self.lanes.classes.into()
    }

    #[inline]
    fn next(&self, at: SwitchId, heading: PacketRoutingState, found: &mut Vec<CandidateHop>) {
        let (graph, row) = (self.on.graph(), self.row(heading.goal));
        let here = row[at.ix()];
        let state = (heading.state + 1).min(self.states() - 1);
        let LaneClasses { width, .. } = self.lanes;
        let lane = heading.state as u8 * width;
        for (&to, &channel) in graph.neighbours(at.ix()).iter().zip(graph.channels(at.ix())) {
            if row[to as usize] < here {
                found.push(CandidateHop { channel, to: SwitchId(to), state, lane, width });
            }
        }
    }
}

impl RouteLegScheme for MinimalAdaptiveRouting {
    fn classes(&self) -> LaneClasses {
        self.lanes
    }

    #[inline]
    fn hops(&self, from: SwitchId, to: SwitchId) -> Option<u8> {
        let hops = self.row(to.0)[from.ix()];
        (hops != NO_PATH).then_some(hops)
    }

    fn class_groups(&self) -> Option<&[u32]> {
        None
    }
}
