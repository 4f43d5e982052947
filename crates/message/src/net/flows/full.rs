//! Events in raising the rates of flows: a channel fills, or a flow reaches its limit.

/// A rate at which a channel becomes full or a flow reaches its limit; the least comes first in a
/// heap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SaturationRate {
    pub(super) rate: f64,
    /// The number of the channel or, if `is_flow`, of the flow.
    pub(super) number: u32,
    pub(super) is_flow: bool,
}

impl Eq for SaturationRate {}

impl PartialOrd for SaturationRate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SaturationRate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |f: &Self| (f.is_flow, f.number);
        self.rate.total_cmp(&other.rate).then(key(self).cmp(&key(other)))
    }
}
