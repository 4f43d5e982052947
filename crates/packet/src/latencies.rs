//! Latencies and accepted rates in the units that users read.

use super::tally::{ArrivalSums, TimeHistogram};
use schemars::JsonSchema;
use serde::Serialize;

/// Latencies in ns, null where nothing arrived: of packets, from when an endpoint's interface
/// schedules them until all of a packet has arrived; of messages, from when they are handed to the
/// interface until all of a message has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "names of columns end in what they are, and unit")]
#[schemars(rename = "Latencies")]
pub struct LatencyFigures {
    /// Mean latency of packets, ns.
    pub mean_latency_ns: Option<f64>,
    /// Latency that half of the packets do not exceed, at most 1/64 too large, ns.
    pub p50_latency_ns: Option<f64>,
    /// Latency that 99 % of the packets do not exceed, at most 1/64 too large, ns.
    pub p99_latency_ns: Option<f64>,
    /// Largest latency of a packet, ns.
    pub max_latency_ns: Option<f64>,
    /// Mean latency of messages, ns.
    pub mean_message_latency_ns: Option<f64>,
    /// Latency that half of the messages do not exceed, at most 1/64 too large, ns.
    pub p50_message_latency_ns: Option<f64>,
    /// Latency that 99 % of the messages do not exceed, at most 1/64 too large, ns.
    pub p99_message_latency_ns: Option<f64>,
    /// Largest latency of a message, ns.
    pub max_message_latency_ns: Option<f64>,
}

impl LatencyFigures {
    /// The latencies of everything that arrived.
    pub(super) fn of(sums: &ArrivalSums) -> Self {
        let in_ns = |ps: f64| ps / 1e3;
        let mean = |of: &TimeHistogram| of.mean_ps().map(in_ns);
        let quantile = |of: &TimeHistogram, share| of.quantile_ps(share).map(|ps| in_ns(ps as f64));
        let max = |of: &TimeHistogram| of.max_ps().map(|ps| in_ns(ps as f64));
        let ArrivalSums { chunks, messages, .. } = sums;
        Self {
            mean_latency_ns: mean(chunks),
            p50_latency_ns: quantile(chunks, 0.5),
            p99_latency_ns: quantile(chunks, 0.99),
            max_latency_ns: max(chunks),
            mean_message_latency_ns: mean(messages),
            p50_message_latency_ns: quantile(messages, 0.5),
            p99_message_latency_ns: quantile(messages, 0.99),
            max_message_latency_ns: max(messages),
        }
    }
}

/// Accepted rate in Gbit/s: `bytes` over `ps`, divided by the `each` endpoints or processes that
/// receive them; 0 over no time.
pub(super) fn accepted(bytes: u64, each: f64, ps: u64) -> f64 {
    let share = each * ps as f64 / 1e12;
    if share > 0.0 { bytes as f64 * 8.0 / 1e9 / share } else { 0.0 }
}
