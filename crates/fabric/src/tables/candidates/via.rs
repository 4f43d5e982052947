//! Paths over an intermediate switch: two legs, each by another scheme.

use super::{
    CandidateHop, CandidateScheme, GroupMinimalRouting, MinimalAdaptiveRouting, PacketRoutingState,
};
use crate::Topology;
use base::{SwitchId, TerminalId};

/// Valiant's routing, or the choice between it and the direct path (UGAL): a packet goes first to
/// an intermediate switch, which may be any goal of the scheme `beneath`, then to its destination;
/// or it goes to its destination directly.
///
/// Source: Valiant, "A scheme for fast parallel communication", SIAM Journal on Computing 11(2),
/// 1982; Singh, "Load-balanced routing in interconnection networks", thesis, Stanford 2005 (UGAL).
/// A state on the first leg is a state of `beneath`; on the second leg it is that plus the number
/// of states of `beneath`. A packet that goes directly is on the second leg from the start.
#[derive(Debug, Clone)]
pub struct ValiantDetourRouting<B> {
    beneath: B,
    lanes: SecondLegLanes,
}

/// The lanes of the second leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SecondLegLanes {
    /// Other lanes than those of the first leg.
    Apart,
    /// The classes continue those of the first leg: at the intermediate switch the class of a
    /// packet rises by this number.
    Counted(u32),
}

impl<B: CandidateScheme> ValiantDetourRouting<B> {
    /// Both legs follow `beneath`; the second leg has its own lanes, above those of the first.
    ///
    /// # Panics
    /// When that makes more than 255 lanes.
    pub fn by_leg(beneath: B) -> Self {
        assert!(beneath.lanes() <= 127, "at most 127 lanes a leg");
        Self { beneath, lanes: SecondLegLanes::Apart }
    }

    /// The scheme of each leg.
    pub fn beneath(&self) -> &B {
        &self.beneath
    }

    fn second(&self) -> u32 {
        self.beneath.states()
    }
}

impl ValiantDetourRouting<MinimalAdaptiveRouting> {
    /// Both legs follow shortest paths, and the class is the number of hops since the source:
    /// `beneath` must have enough classes for the hops of both legs.
    pub fn by_hop(beneath: MinimalAdaptiveRouting) -> Self {
        Self { beneath, lanes: SecondLegLanes::Counted(0) }
    }
}

impl ValiantDetourRouting<GroupMinimalRouting> {
    /// Both legs take the fewest links between groups. The class is the number of links between
    /// groups since the source, plus one after the intermediate switch.
    ///
    /// Source: Kim, Dally, Scott & Abts, ISCA 2008, section 4, whose packets go over an
    /// intermediate group and need three classes. Here they go over one switch of that group, so
    /// that there is one more local hop, and a fourth class.
    pub fn by_group(beneath: GroupMinimalRouting) -> Self {
        Self { beneath, lanes: SecondLegLanes::Counted(1) }
    }
}

impl<B: CandidateScheme> CandidateScheme for ValiantDetourRouting<B> {
    fn topology(&self) -> &Topology {
        self.beneath.topology()
    }

    fn lanes(&self) -> u8 {
        match self.lanes {
            SecondLegLanes::Apart => self.beneath.lanes() * 2,
            SecondLegLanes::Counted(_) => self.beneath.lanes(),
        }
    }

    fn states(&self) -> u32 {
        self.second() * 2
    }

    fn goals(&self, to: TerminalId, found: &mut Vec<u32>) {
        self.beneath.goals(to, found);
    }

    fn home(&self, goal: u32) -> SwitchId {
        self.beneath.home(goal)
    }

    fn starts(&self, source: SwitchId, goal: u32, found: &mut Vec<u32>) {
        let first = found.len();
        self.beneath.starts(source, goal, found);
        for i in first..found.len() {
            found.push(found[i] + self.second());
        }
    }

    #[inline]
    fn next(&self, at: SwitchId, heading: PacketRoutingState, found: &mut Vec<CandidateHop>) {
        let Some(state) = heading.state.checked_sub(self.second()) else {
            return self.beneath.next(at, heading, found);
        };
        let first = found.len();
        self.beneath.next(at, PacketRoutingState { state, ..heading }, found);
        let above = if self.lanes == SecondLegLanes::Apart { self.beneath.lanes() } else { 0 };
        for candidate in &mut found[first..] {
            candidate.state += self.second();
            candidate.lane += above;
        }
    }

    fn ends(&self, state: u32) -> bool {
        state >= self.second()
    }

    fn onward(&self, at: SwitchId, state: u32, goal: u32, found: &mut Vec<u32>) {
        if let SecondLegLanes::Counted(step) = self.lanes {
            return found.push(self.second() + (state + step).min(self.second() - 1));
        }
        let first = found.len();
        self.beneath.starts(at, goal, found);
        for state in &mut found[first..] {
            *state += self.second();
        }
    }
}
