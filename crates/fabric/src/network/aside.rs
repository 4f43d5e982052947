//! What the file of a network had that is no part of the network.

use super::plug::Plug;

/// The rest of a network's file that is no part of the network, with remarks on it. Failures keep
/// it; it is no part of what makes two networks the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileRemainder {
    /// What was left out, or understood otherwise than written: a line each.
    pub remarks: Vec<String>,
    /// Cables with both ends in one switch; nothing is carried by them.
    pub loops: Vec<[Plug; 2]>,
    /// How many cables lead from each switch to devices that are no endpoints, without aggregation
    /// nodes: they show that a switch without endpoints is a leaf. Empty where there are none.
    pub left_out: Vec<u32>,
}
