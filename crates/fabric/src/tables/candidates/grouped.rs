//! Paths with the fewest links between groups: what dragonflies and megaflies call minimal.

use super::rows::{NO_PATH, rows};
use super::{CandidateHop, CandidateScheme, LaneClasses, PacketRoutingState, RouteLegScheme};
use crate::Topology;
use crate::geometry::PlaneStructure;
use base::{ComputationError, ProgressWatch, Refusal, SwitchId};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// Hierarchical minimal routing: among the paths that cross the fewest links between groups, a
/// packet takes a shortest; the links between groups crossed so far give its lanes.
///
/// Source: Kim, Dally, Scott & Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA
/// 2008, section 4: lanes rise with each global link, and the one local hop before and after it
/// needs no others. A goal is a switch, a state the class of the next hop. O(switches^2) bytes.
#[derive(Debug, Clone)]
pub struct GroupMinimalRouting {
    on: Arc<Topology>,
    lanes: LaneClasses,
    group: Vec<u32>,
    /// For each destination, a row: the hops of the path from every switch, then its number of
    /// links between groups.
    rows: Vec<u8>,
}

/// The group of each switch; `None` where groups have no meaning, or where there is only one.
pub fn groups(on: &Topology) -> Option<Vec<u32>> {
    let group: Vec<u32> = on.switches().iter().map(|s| s.group).collect();
    let several = group.windows(2).any(|two| two[0] != two[1]);
    (on.geometry().form == PlaneStructure::Groups && several).then_some(group)
}

impl GroupMinimalRouting {
    /// The scheme of these paths on the network `on`. O(switches * arcs * log), in parallel.
    ///
    /// # Errors
    /// When the network has no groups, a path has more than 254 hops, or `watch` asks to stop.
    pub fn new(
        on: Arc<Topology>,
        lanes: LaneClasses,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let Some(group) = groups(&on) else {
            let help = "one of groups that belong together: dragonfly, megafly";
            return Err(Refusal::new("network", "its switches have no groups", help).into());
        };
        let switches = on.switches().len();
        let fill = |to: usize, row: &mut [u8], _: &mut Vec<u32>| fill(&on, &group, to, row);
        let rows = rows(switches, switches * 2, fill, watch)?;
        Ok(Self { on, lanes, group, rows })
    }

    /// The same paths on other lanes.
    #[must_use]
    pub fn with_lanes(self, lanes: LaneClasses) -> Self {
        Self { lanes, ..self }
    }

    /// Links between groups on the paths from one switch to another; `None` where there is no path.
    pub fn crossings(&self, from: SwitchId, to: SwitchId) -> Option<u8> {
        let (hops, crossings) = self.row(to.0);
        (hops[from.ix()] != NO_PATH).then(|| crossings[from.ix()])
    }

    #[inline]
    fn row(&self, goal: u32) -> (&[u8], &[u8]) {
        let switches = self.group.len();
        self.rows[goal as usize * switches * 2..][..switches * 2].split_at(switches)
    }
}

/// Fills the row of destination `to`: for each switch the fewest links between groups, and then the
/// fewest hops. Returns whether all hops fit.
fn fill(on: &Topology, group: &[u32], to: usize, row: &mut [u8]) -> bool {
    let (hops, crossings) = row.split_at_mut(group.len());
    let mut open = BinaryHeap::from([Reverse((0_u8, 0_u8, to))]);
    (hops[to], crossings[to]) = (0, 0);
    while let Some(Reverse((crossed, far, v))) = open.pop() {
        if (crossed, far) != (crossings[v], hops[v]) {
            continue;
        }
        for w in on.graph().neighbours(v).iter().map(|&w| w as usize) {
            let (farther, more) = (far + 1, crossed + u8::from(group[v] != group[w]));
            if farther == NO_PATH {
                return false;
            }
            if (more, farther) < (crossings[w], hops[w]) {
                (crossings[w], hops[w]) = (more, farther);
                open.push(Reverse((more, farther, w)));
            }
        }
    }
    true
}

impl CandidateScheme for GroupMinimalRouting {
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
        let (graph, (hops, crossings)) = (self.on.graph(), self.row(heading.goal));
        let here = (u32::from(crossings[at.ix()]), u32::from(hops[at.ix()]));
        let (LaneClasses { width, .. }, last) = (self.lanes, self.states() - 1);
        let lane = heading.state as u8 * width;
        for (&to, &channel) in graph.neighbours(at.ix()).iter().zip(graph.channels(at.ix())) {
            let crosses = u32::from(self.group[at.ix()] != self.group[to as usize]);
            let left = (crossings[to as usize], hops[to as usize]);
            if (u32::from(left.0) + crosses, u32::from(left.1) + 1) == here {
                let state = (heading.state + crosses).min(last);
                found.push(CandidateHop { channel, to: SwitchId(to), state, lane, width });
            }
        }
    }
}

impl RouteLegScheme for GroupMinimalRouting {
    fn classes(&self) -> LaneClasses {
        self.lanes
    }

    fn hops(&self, from: SwitchId, to: SwitchId) -> Option<u8> {
        let hops = self.row(to.0).0[from.ix()];
        (hops != NO_PATH).then_some(hops)
    }

    fn class_groups(&self) -> Option<&[u32]> {
        Some(&self.group)
    }
}
