//! What generated traffic offers to a network, and what of it the network accepts.

use paths::saturation::is_saturated;

/// What a class of generated traffic offers.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassOffer {
    /// As part of the rate of one rail.
    pub(super) load: f64,
    /// Endpoints that send.
    pub(super) senders: f64,
    /// Messages that all of them create in the measured window, in the mean.
    pub(super) messages: f64,
    /// The rate of a rail, bytes a second.
    pub(super) rate: f64,
}

/// What was accepted of what was offered.
#[derive(Debug, Clone, Copy)]
pub(super) struct AcceptedRate {
    /// What was offered, as part of the rate of one rail.
    pub(super) offered: f64,
    /// What arrived of that, for each endpoint that sends.
    pub(super) load: f64,
    /// Messages that were to be created in the measured window, in the mean.
    messages: f64,
    /// Whether less arrived than was offered; none where it may be chance, or where the run was
    /// measured as a whole.
    pub(super) saturated: Option<bool>,
}

impl ClassOffer {
    /// What is accepted where `bytes` arrive in the measured time, which may be a window.
    pub(super) fn accepted(&self, bytes: u64, time_ps: u64, is_window: bool) -> AcceptedRate {
        let all = self.senders * self.rate * time_ps as f64 / 1e12;
        let load = if all > 0.0 { bytes as f64 / all } else { 0.0 };
        let is_steady = is_window && self.senders > 0.0;
        let saturated = is_steady.then(|| is_saturated(self.load, load, self.messages)).flatten();
        AcceptedRate { offered: self.load, load, messages: self.messages, saturated }
    }
}

impl AcceptedRate {
    /// What was accepted of all classes together.
    pub(super) fn of_all(classes: &[Self]) -> Self {
        if let [one] = classes {
            return *one;
        }
        let sum = |of: fn(&Self) -> f64| classes.iter().map(of).sum::<f64>();
        let [offered, load, messages] =
            [sum(|one| one.offered), sum(|one| one.load), sum(|one| one.messages)];
        let is_steady = messages > 0.0;
        let saturated = is_steady.then(|| is_saturated(offered, load, messages)).flatten();
        Self { offered, load, messages, saturated }
    }
}
