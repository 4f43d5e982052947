//! The contents of a network's file that are no part of the network.

use super::plug::CablePlug;

/// The contents of a network's file that are no part of the network, with remarks on them. A
/// network with more failures has the same ones. The comparison of two networks ignores them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OmittedFileContents {
    /// What was left out, or understood otherwise than it is written: one line each.
    pub remarks: Vec<String>,
    /// Cables with both ends at one switch. They carry no traffic.
    pub loops: Vec<[CablePlug; 2]>,
    /// For each switch, the number of cables to devices that are no endpoints, aggregation nodes
    /// not counted. Such cables show that a switch without endpoints is a leaf. Empty where there
    /// are none.
    pub left_out: Vec<u32>,
}
