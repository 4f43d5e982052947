//! Directly, or over an intermediate switch that is chosen at the source or one hop later.

use super::{
    CandidateHop, CandidateScheme, LaneClasses, PacketRoutingState, RouteLegScheme,
    ValiantDetourRouting, groups,
};
use crate::Topology;
use base::{SwitchId, TerminalId};

/// Progressive adaptive routing: a packet that started directly may still change to a path over an
/// intermediate switch after its first hop; in networks of groups only if that hop stayed in its
/// group.
///
/// Source: Jiang, Kim & Dally, "Indirect adaptive routing on large scale interconnection networks",
/// ISCA 2009. The lanes of both legs are those of [`ValiantDetourRouting`]. A packet that changes
/// its path takes one class above that of its first hop, so that one more class is needed. Where it
/// can change only to neighbours, paths are shorter and need no more classes than those of
/// [`ValiantDetourRouting`]; where lanes rise between groups these are neighbours in other groups,
/// and the packet goes to them on the class of its first hop. The states are those of
/// [`ValiantDetourRouting`], and one for packets that will change their path: their first hop may
/// be any hop of a direct path, since a packet may change its path after it.
#[derive(Debug, Clone)]
pub struct ProgressiveAdaptiveRouting<B> {
    via: ValiantDetourRouting<B>,
    reach: u8,
    group: Option<Vec<u32>>,
}

impl<B: RouteLegScheme> ProgressiveAdaptiveRouting<B> {
    /// Both legs follow `via`, with at most `longest` hops between switches with endpoints. Packets
    /// may change their path to intermediate switches that are at most `reach` hops away:
    /// `longest`, 1, or 0 for none.
    ///
    /// Groups restrict the first hop where lanes rise between groups, or where paths have three
    /// hops or more: in a network of diameter 2 no part of a path is inside a group.
    pub fn new(via: ValiantDetourRouting<B>, longest: u8, reach: u8) -> Self {
        let rising = via.beneath().class_groups().map(<[u32]>::to_vec);
        let group = rising.or_else(|| groups(via.topology()).filter(|_| longest > 2));
        Self { via, reach, group }
    }

    /// Whether a packet that takes this hop first may still change its path.
    #[inline]
    fn wavers_after(&self, from: SwitchId, to: SwitchId) -> bool {
        self.group.as_ref().is_none_or(|group| group[from.ix()] == group[to.ix()])
    }

    /// The groups that a first hop must stay in; `None` where it may be any hop.
    pub fn groups(&self) -> Option<&[u32]> {
        self.group.as_deref()
    }

    /// Whether packets change only to neighbours in other groups, because lanes rise between
    /// groups.
    fn is_crossing(&self) -> bool {
        self.reach == 1 && self.via.beneath().class_groups().is_some()
    }

    /// Whether a packet at `at` may change to the intermediate switch `goal`.
    #[inline]
    fn may_turn(&self, at: SwitchId, goal: SwitchId) -> bool {
        let far = self.via.beneath().hops(at, goal);
        at != goal
            && far.is_some_and(|far| far <= self.reach)
            && !(self.is_crossing() && self.wavers_after(at, goal))
    }

    /// The most hops to an intermediate switch to which a packet changes after its first hop.
    pub fn reach(&self) -> u8 {
        self.reach
    }

    /// The scheme without changes of path after the first hop.
    pub fn via(&self) -> &ValiantDetourRouting<B> {
        &self.via
    }

    /// The state of a packet that will change its path after its first hop.
    fn wavers(&self) -> u32 {
        self.via.states()
    }
}

impl<B: RouteLegScheme> CandidateScheme for ProgressiveAdaptiveRouting<B> {
    fn topology(&self) -> &Topology {
        self.via.topology()
    }

    fn lanes(&self) -> u8 {
        self.via.lanes()
    }

    fn states(&self) -> u32 {
        self.via.states() + 1
    }

    fn goals(&self, to: TerminalId, found: &mut Vec<u32>) {
        self.via.goals(to, found);
    }

    fn home(&self, goal: u32) -> SwitchId {
        self.via.home(goal)
    }

    fn starts(&self, source: SwitchId, goal: u32, found: &mut Vec<u32>) {
        self.via.starts(source, goal, found);
        let mut hops = Vec::new();
        self.next(source, PacketRoutingState { goal, state: self.wavers() }, &mut hops);
        if !hops.is_empty() {
            found.push(self.wavers());
        }
    }

    #[inline]
    fn next(&self, at: SwitchId, heading: PacketRoutingState, found: &mut Vec<CandidateHop>) {
        if heading.state != self.wavers() {
            return self.via.next(at, heading, found);
        }
        let LaneClasses { classes, width } = self.via.beneath().classes();
        let state = if self.is_crossing() { 0 } else { u32::from(classes - 1).min(1) };
        let (graph, home) = (self.topology().graph(), self.home(heading.goal));
        for (&to, &channel) in graph.neighbours(at.ix()).iter().zip(graph.channels(at.ix())) {
            let to = SwitchId(to);
            if self.wavers_after(at, to) && self.may_turn(to, home) {
                found.push(CandidateHop { channel, to, state, lane: 0, width });
            }
        }
    }

    fn ends(&self, state: u32) -> bool {
        state < self.wavers() && self.via.ends(state)
    }

    fn onward(&self, at: SwitchId, state: u32, goal: u32, found: &mut Vec<u32>) {
        self.via.onward(at, state, goal, found);
    }
}
