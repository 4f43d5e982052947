//! The hops that adaptive routing chooses from: where a packet may go next, and on which lanes.
//!
//! A scheme lists every hop that a packet may ever take, whatever an adaptive switch chooses. So a
//! proof that the scheme is free of deadlock holds for every choice.

mod from_tables;
mod grouped;
mod minimal;
mod progressive;
mod rows;
mod up_down;
mod via;

pub use from_tables::ForwardingTableScheme;
pub use grouped::{GroupMinimalRouting, groups};
pub use minimal::MinimalAdaptiveRouting;
pub use progressive::ProgressiveAdaptiveRouting;
pub use up_down::UpDownAdaptiveRouting;
pub use via::ValiantDetourRouting;

use crate::Topology;
use base::{ChannelId, SwitchId, TerminalId};
use std::ops::Range;

/// The heading of a packet: its current goal, and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketRoutingState {
    /// The number of the packet's current goal in its scheme: the destination, or an intermediate
    /// switch.
    pub goal: u32,
    /// What the packet has done so far, as a number that the scheme defines, below
    /// [`CandidateScheme::states`].
    pub state: u32,
}

/// A hop that a packet may take next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CandidateHop {
    /// The channel of the hop. It works.
    pub channel: ChannelId,
    /// The switch that the channel leads to.
    pub to: SwitchId,
    /// The packet's state after the hop.
    pub state: u32,
    /// The lowest lane that the packet may take on this channel.
    pub lane: u8,
    /// The number of lanes that it may take, from the lowest on; at least 1.
    pub width: u8,
}

impl CandidateHop {
    /// The lanes that the packet may take.
    pub fn lanes(&self) -> Range<u8> {
        self.lane..self.lane + self.width
    }
}

/// Classes of lanes of equal width: class `c` has lanes `c * width` to `(c + 1) * width - 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneClasses {
    /// The number of classes, at least 1.
    pub classes: u8,
    /// The number of lanes of each class, at least 1.
    pub width: u8,
}

impl LaneClasses {
    /// A single class, which has all lanes.
    pub const fn any(width: u8) -> Self {
        Self { classes: 1, width }
    }

    /// The number of lanes of all classes together.
    ///
    /// # Panics
    /// When the number is above 255, or 0.
    pub fn lanes(self) -> u8 {
        let lanes = self.classes.checked_mul(self.width).filter(|lanes| *lanes > 0);
        lanes.expect("1 to 255 lanes")
    }
}

/// The paths of one leg. Their states are classes of lanes, from 0 on, which rise along every path.
pub trait RouteLegScheme: CandidateScheme {
    /// The classes of lanes.
    fn classes(&self) -> LaneClasses;

    /// The number of hops of its paths between two switches; `None` where there is no path.
    fn hops(&self, from: SwitchId, to: SwitchId) -> Option<u8>;

    /// The group of each switch where the class rises on links between groups; `None` where it
    /// rises on every link.
    fn class_groups(&self) -> Option<&[u32]>;
}

/// A scheme of routing: where each packet may go next, and on which lanes.
///
/// A packet starts at its source switch towards a goal, in one of [`CandidateScheme::starts`]. It
/// takes one hop of [`CandidateScheme::next`] after the other until it is at the goal's home
/// switch. There it leaves the network if its state [`CandidateScheme::ends`]; otherwise it
/// continues, once, to one of the goals of its destination, in one of the states of
/// [`CandidateScheme::onward`].
///
/// The methods that are called for each hop append to a buffer of the caller, so that nothing is
/// allocated.
pub trait CandidateScheme: Sync {
    /// The network.
    fn topology(&self) -> &Topology;

    /// The number of lanes: every lane is below it.
    fn lanes(&self) -> u8;

    /// The number of states: every state is below it.
    fn states(&self) -> u32;

    /// Appends the goals that a packet to a working terminal may have: its switch, unless a scheme
    /// numbers its goals otherwise.
    fn goals(&self, to: TerminalId, found: &mut Vec<u32>) {
        found.push(self.topology().terminals()[to.ix()].plug.switch.0);
    }

    /// The switch at which a goal is reached: the goal itself, unless a scheme numbers its goals
    /// otherwise.
    fn home(&self, goal: u32) -> SwitchId {
        SwitchId(goal)
    }

    /// Appends the states in which a packet may start from `source`, which is not the goal's home,
    /// towards a goal. By default that is state 0.
    fn starts(&self, source: SwitchId, goal: u32, found: &mut Vec<u32>) {
        let _ = (source, goal);
        found.push(0);
    }

    /// Appends the hops that a packet at `at`, which is not its goal's home, may take next, in port
    /// order.
    fn next(&self, at: SwitchId, heading: PacketRoutingState, found: &mut Vec<CandidateHop>);

    /// Whether a packet that has reached its goal in this state is at its destination. By default
    /// that is true, as paths have one leg.
    fn ends(&self, state: u32) -> bool {
        let _ = state;
        true
    }

    /// Appends the states in which a packet may continue to `goal`, whose home is another switch.
    /// The packet has reached `at`, the home of its previous goal, in `state`, and is not at its
    /// destination. By default there are none, as paths have one leg.
    fn onward(&self, at: SwitchId, state: u32, goal: u32, found: &mut Vec<u32>) {
        let _ = (at, state, goal, found);
    }
}
