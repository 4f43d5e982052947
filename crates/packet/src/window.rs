//! The part of a run that is measured: a window of time after a warm-up, or all of it.

use super::nic::OpenLoopTraffic;
use base::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a run is that is measured in a steady state; by default a run of generated traffic in
/// `physical` for which no number of messages and no end is given.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RunLength")]
pub struct RunLengthParameters {
    /// Time before anything counts, ns; by default the time of 100 messages at the rate of a rail.
    pub warmup_ns: Option<f64>,
    /// Time that counts, ns; by default the time of 500 messages at the rate of a rail, and longer
    /// where few endpoints send.
    pub measure_ns: Option<f64>,
    /// Most time after that, in which nothing is created, for what counts to arrive, ns; by default
    /// as long as all of the time before.
    pub drain_ns: Option<f64>,
}

/// By default, the measured time is at least that of this number of packets of an endpoint, one
/// after the other.
const PACKETS: f64 = 500.0;
/// By default, the measured time is at least that of this number of messages, one after the other.
const MESSAGES: f64 = 100.0;
/// By default, at least this number of packets of all endpoints together is measured, so that
/// accepted rates hardly depend on chance.
const OF_ALL: f64 = 1e5;
/// The default warm-up is shorter than these times by this factor.
const WARMUP: f64 = 5.0;
/// The least time that a message counts for, ns: the network's own time constants do not shrink
/// with short messages.
const LEAST_NS: f64 = 100.0;
/// The longest time that a parameter can give, ns.
const MOST_NS: f64 = 1e12;

impl RunLengthParameters {
    /// Whether it gives any time.
    pub(super) fn is_given(&self) -> bool {
        self.times().iter().any(|(_, ns)| ns.is_some())
    }

    fn times(&self) -> [(&'static str, Option<f64>); 3] {
        [
            ("run.warmup_ns", self.warmup_ns),
            ("run.measure_ns", self.measure_ns),
            ("run.drain_ns", self.drain_ns),
        ]
    }

    /// Checks the times.
    ///
    /// # Errors
    /// When a time is out of its range.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        for (name, ns) in self.times() {
            let least = if name == "run.measure_ns" { 1.0 } else { 0.0 };
            if let Some(ns) = ns.filter(|ns| !(least..=MOST_NS).contains(ns)) {
                let why = format!("{ns} is out of range");
                return Err(Refusal::new(name, why, format!("{least} to {MOST_NS}")));
            }
        }
        Ok(())
    }

    /// The refusal of these times if another parameter, `other`, sets the length of the run.
    pub(super) fn refuse_beside(&self, other: &str) -> Result<(), Refusal> {
        match self.times().into_iter().find(|(_, ns)| ns.is_some()) {
            Some((name, _)) => {
                let why = format!("{other} says how long the run is");
                Err(Refusal::new(name, why, format!("leave it out, or {other}")))
            }
            None => Ok(()),
        }
    }

    /// The times with their defaults. A message takes `message_ns` at the rate of a rail and is cut
    /// into `packets` packets; `senders` endpoints send.
    pub(super) fn with_defaults(&self, message_ns: f64, packets: f64, senders: f64) -> Self {
        let each = message_ns.max(LEAST_NS);
        let least = MESSAGES.max(PACKETS / packets);
        let usual = least.max(OF_ALL / packets / senders.max(1.0));
        let rounded = |ns: f64| ns.ceil().min(MOST_NS);
        let warmup_ns = self.warmup_ns.unwrap_or(rounded(least * each / WARMUP));
        let measure_ns = self.measure_ns.unwrap_or(rounded(usual * each));
        let drain_ns = self.drain_ns.unwrap_or(warmup_ns + measure_ns);
        Self { warmup_ns: Some(warmup_ns), measure_ns: Some(measure_ns), drain_ns: Some(drain_ns) }
    }

    /// The measured window, and the time at which the run is stopped, ps; all times must be set.
    pub(super) fn window(&self) -> (MeasuredWindow, u64) {
        let ps = |ns: Option<f64>| (ns.unwrap_or(0.0) * 1e3).round() as u64;
        let start_ps = ps(self.warmup_ns);
        let end_ps = start_ps + ps(self.measure_ns).max(1);
        (MeasuredWindow { start_ps, end_ps }, end_ps + ps(self.drain_ns).max(1))
    }

    /// The mean number of messages that an endpoint creates until the end of the window, if a
    /// message takes `message_ns` at the rate of a rail and endpoints offer `load`.
    pub(super) fn messages(&self, message_ns: f64, load: f64) -> f64 {
        (self.warmup_ns.unwrap_or(0.0) + self.measure_ns.unwrap_or(0.0)) * load / message_ns
    }
}

/// The part of a run that is measured. Latencies are those of packets that their interface
/// schedules in it, and of messages created in it, whenever they arrive. The accepted rate counts
/// bytes that arrive in it, whenever they were sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeasuredWindow {
    /// The begin of the window, ps.
    pub(super) start_ps: u64,
    /// The end of the window, ps; endpoints create no messages from then on.
    pub(super) end_ps: u64,
}

impl MeasuredWindow {
    /// All of a run, however long it takes.
    pub const WHOLE: Self = Self { start_ps: 0, end_ps: u64::MAX };

    /// Whether a time is in it.
    #[inline]
    pub(super) fn has(self, at_ps: u64) -> bool {
        (self.start_ps..self.end_ps).contains(&at_ps)
    }

    /// The length of the part of a time span that is in the window, ps; 0 if the span ends before
    /// it begins.
    #[inline]
    pub(super) fn overlap_ps(self, from_ps: u64, to_ps: u64) -> u64 {
        to_ps.min(self.end_ps).saturating_sub(from_ps.max(self.start_ps))
    }

    /// The window's length, ps; none if it is the whole run.
    pub(super) fn length_ps(self) -> Option<u64> {
        (self != Self::WHOLE).then_some(self.end_ps - self.start_ps)
    }

    /// The mean number of messages that an endpoint of this traffic creates in the window.
    pub(super) fn messages(self, of: &OpenLoopTraffic) -> f64 {
        self.length_ps().unwrap_or(0) as f64 / of.interval_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_what_overlaps_it() {
        let it = MeasuredWindow { start_ps: 10, end_ps: 20 };
        assert_eq!([9, 10, 19, 20].map(|at| it.has(at)), [false, true, true, false]);
        for (from, to, due) in [(0, 10, 0), (0, 15, 5), (12, 14, 2), (15, 99, 5), (14, 12, 0)] {
            assert_eq!(it.overlap_ps(from, to), due, "{from} {to}");
        }
        assert_eq!(MeasuredWindow::WHOLE.overlap_ps(3, 7), 4);
        assert_eq!(MeasuredWindow::WHOLE.overlap_ps(u64::MAX, 7), 0);
        assert_eq!((it.length_ps(), MeasuredWindow::WHOLE.length_ps()), (Some(10), None));
    }

    #[test]
    fn defaults_are_times_of_messages() {
        let none = RunLengthParameters::default();
        let of = |message_ns, packets, senders| {
            let found = none.with_defaults(message_ns, packets, senders);
            (found.warmup_ns.unwrap(), found.measure_ns.unwrap(), found.drain_ns.unwrap())
        };
        // 500 messages of a packet each, after a warm-up of a fifth of that time
        assert_eq!(of(300.0, 1.0, 200.0), (30_000.0, 150_000.0, 180_000.0));
        // 100,000 packets of all endpoints together: 25,000 of each of four
        assert_eq!(of(300.0, 1.0, 4.0), (30_000.0, 7_500_000.0, 7_530_000.0));
        // messages of 100 packets each: 100 messages
        assert_eq!(of(30_000.0, 100.0, 200.0), (600_000.0, 3_000_000.0, 3_600_000.0));
        // short messages count for 100 ns each
        assert_eq!(of(5.0, 1.0, 200.0), (10_000.0, 50_000.0, 60_000.0));
        let given = RunLengthParameters { measure_ns: Some(7.0), ..none };
        assert_eq!(given.with_defaults(300.0, 1.0, 200.0).measure_ns, Some(7.0));
    }
}
