//! The traffic that is offered to a network, and the part that the network accepts.

use paths::saturation::is_saturated;

/// The traffic that a class offers.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassOfferedTraffic {
    /// The offered load, as a fraction of the rate of one rail.
    pub(super) load: f64,
    /// Number of endpoints that send.
    pub(super) senders: f64,
    /// Expected number of messages that all of them create in the measured window.
    pub(super) messages: f64,
    /// The rate of a rail, in bytes a second.
    pub(super) rate: f64,
}

/// The accepted part of the offered traffic.
#[derive(Debug, Clone, Copy)]
pub(super) struct AcceptedTraffic {
    /// The offered load, as a fraction of the rate of one rail.
    pub(super) offered: f64,
    /// The accepted load of each endpoint that sends, as a fraction of the rate of one rail.
    pub(super) load: f64,
    /// Expected number of messages created in the measured window.
    messages: f64,
    /// Whether less arrived than was offered; none if the difference may be chance, or if the whole
    /// run was measured.
    pub(super) saturated: Option<bool>,
}

impl ClassOfferedTraffic {
    /// The accepted load if `bytes` arrive in the measured time; `is_window` says whether that is a
    /// window rather than the whole run.
    pub(super) fn accepted(&self, bytes: u64, time_ps: u64, is_window: bool) -> AcceptedTraffic {
        let all = self.senders * self.rate * time_ps as f64 / 1e12;
        let load = if all > 0.0 { bytes as f64 / all } else { 0.0 };
        let is_steady = is_window && self.senders > 0.0;
        let saturated = is_steady.then(|| is_saturated(self.load, load, self.messages)).flatten();
        AcceptedTraffic { offered: self.load, load, messages: self.messages, saturated }
    }
}

impl AcceptedTraffic {
    /// The accepted load of all classes together.
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
