//! Where a packet may go next, and on which lanes: the hops that adaptive routing chooses from.
//!
//! A scheme states all that packets may ever do, whatever is chosen: who proves it free of deadlock
//! has proved every choice from it.

mod from_tables;
mod grouped;
mod minimal;
mod progressive;
mod rows;
mod up_down;
mod via;

pub use from_tables::TableCandidates;
pub use grouped::{GroupedMinimal, groups};
pub use minimal::MinimalAdaptive;
pub use progressive::ProgressiveAdaptive;
pub use up_down::UpDownAdaptive;
pub use via::IntermediateDetour;

use crate::Topology;
use base::{ChannelId, SwitchId, TerminalId};
use std::ops::Range;

/// The heading of a packet: its goal, and the state in which it goes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketHeading {
    /// What it goes to now, a number of the scheme's: its destination, or an intermediate switch.
    pub goal: u32,
    /// What it did so far, a number that the scheme gives, below [`CandidateScheme::states`].
    pub state: u32,
}

/// A hop that a packet may take next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// The channel, which works.
    pub channel: ChannelId,
    /// The switch it leads to.
    pub to: SwitchId,
    /// The packet's state behind it.
    pub state: u32,
    /// The lowest lane it may take there.
    pub lane: u8,
    /// How many lanes it may take, from the lowest on; at least 1.
    pub width: u8,
}

impl Candidate {
    /// The lanes it may take.
    pub fn lanes(&self) -> Range<u8> {
        self.lane..self.lane + self.width
    }
}

/// Lanes in classes of one width: class `c` has lanes `c * width` to `(c + 1) * width - 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneClasses {
    /// How many classes there are, at least 1.
    pub classes: u8,
    /// Lanes of each, at least 1.
    pub width: u8,
}

impl LaneClasses {
    /// One class, of all lanes.
    pub const fn any(width: u8) -> Self {
        Self { classes: 1, width }
    }

    /// Lanes in all.
    ///
    /// # Panics
    /// When there are more than 255, or none.
    pub fn lanes(self) -> u8 {
        let lanes = self.classes.checked_mul(self.width).filter(|lanes| *lanes > 0);
        lanes.expect("1 to 255 lanes")
    }
}

/// The paths of one leg. Their states are classes of lanes, from 0 on, that rise along every path.
pub trait LegPaths: CandidateScheme {
    /// The classes.
    fn classes(&self) -> LaneClasses;

    /// Hops of its paths between two switches; `None` where there is no path.
    fn hops(&self, from: SwitchId, to: SwitchId) -> Option<u8>;

    /// Where classes rise: the group of each switch where it is on links between groups, `None`
    /// where it is on every link.
    fn class_groups(&self) -> Option<&[u32]>;
}

/// A scheme of routing: where each packet may go next, and on which lanes.
///
/// A packet sets off from its switch towards a goal in one of [`CandidateScheme::starts`], and
/// takes one of the hops of [`CandidateScheme::next`] after the other until it is at the goal's
/// home. There it leaves the network if its state [`CandidateScheme::ends`]; else it goes on to one
/// of its destination's goals, once, in one of the states of [`CandidateScheme::onward`].
///
/// What is asked for each hop appends to a buffer that the caller keeps: nothing is allocated.
pub trait CandidateScheme: Sync {
    /// The network.
    fn topology(&self) -> &Topology;

    /// Lanes: all are below.
    fn lanes(&self) -> u8;

    /// States: all are below.
    fn states(&self) -> u32;

    /// Appends the goals by which a packet may go to a working terminal: its switch, unless a
    /// scheme numbers its goals otherwise.
    fn goals(&self, to: TerminalId, found: &mut Vec<u32>) {
        found.push(self.topology().terminals()[to.ix()].plug.switch.0);
    }

    /// The switch that a goal is at: itself, unless a scheme numbers its goals otherwise.
    fn home(&self, goal: u32) -> SwitchId {
        SwitchId(goal)
    }

    /// Appends the states in which a packet may set off from `source`, which is not the goal's
    /// home, towards a goal: 0, unless a scheme says more.
    fn starts(&self, source: SwitchId, goal: u32, found: &mut Vec<u32>) {
        let _ = (source, goal);
        found.push(0);
    }

    /// Appends the hops that a packet at `at`, which is not its goal's home, may take next, in port
    /// order.
    fn next(&self, at: SwitchId, heading: PacketHeading, found: &mut Vec<Candidate>);

    /// Whether a packet that has come to its goal in this state is at its destination: always,
    /// where paths have one leg.
    fn ends(&self, state: u32) -> bool {
        let _ = state;
        true
    }

    /// Appends the states in which a packet that has come in `state` to `at`, its goal's home, and
    /// is not at its destination, may go on to `goal`, whose home is another switch: none, where
    /// paths have one leg.
    fn onward(&self, at: SwitchId, state: u32, goal: u32, found: &mut Vec<u32>) {
        let _ = (at, state, goal, found);
    }
}
