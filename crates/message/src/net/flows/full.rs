//! The rates at which channels fill, least first.

/// A rate at which a channel is full, or a flow can rise no more; the least is first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FullChannel {
    pub(super) rate: f64,
    /// A channel, or a flow where `is_flow`.
    pub(super) number: u32,
    pub(super) is_flow: bool,
}

impl Eq for FullChannel {}

impl PartialOrd for FullChannel {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FullChannel {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |f: &Self| (f.is_flow, f.number);
        self.rate.total_cmp(&other.rate).then(key(self).cmp(&key(other)))
    }
}
