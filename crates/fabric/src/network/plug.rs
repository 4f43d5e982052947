//! A port of a switch.

use base::SwitchId;

/// One end of a cable: a port of a switch. Ports count from 1; port 0 is the switch itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CablePlug {
    /// The switch.
    pub switch: SwitchId,
    /// The number of the port, 1 to [`Switch::ports`](super::Switch::ports).
    pub port: u16,
}
