//! What a run records of links and buffers, and the names of both in reports.

use super::engine::BlockedPacket;
use base::SwitchId;
use fabric::Topology;
use paths::wiring::{CableEnd, RouterWiring};
use schemars::JsonSchema;
use serde::Serialize;

/// The names of switches, of their ports and of endpoints.
#[derive(Debug, Clone)]
pub struct NetworkNames {
    switches: Vec<String>,
    /// The plane of every switch; empty if there is only one plane.
    planes: Vec<u16>,
    /// For each switch, the port numbers that correspond to the ports of the wiring.
    ports: Vec<Vec<u16>>,
    endpoints: Vec<String>,
}

impl NetworkNames {
    /// The names in a network whose wiring is [`RouterWiring::of`].
    pub fn of(on: &Topology) -> Self {
        let switches = (0..on.switches().len() as u32).map(SwitchId);
        Self {
            switches: on.switches().iter().map(|s| s.name.clone()).collect(),
            planes: on.switches().iter().map(|s| s.plane).collect(),
            ports: switches.map(|s| RouterWiring::seats(on, s)).collect(),
            endpoints: endpoints(on),
        }
    }

    /// Numbers from 0 in place of names, for a wiring without names.
    pub fn numbered(wiring: &RouterWiring) -> Self {
        let routers = 0..wiring.routers();
        Self {
            planes: Vec::new(),
            switches: routers.clone().map(|r| format!("router {r}")).collect(),
            ports: routers.map(|r| (0..wiring.ports(r).len() as u16).collect()).collect(),
            endpoints: (0..wiring.endpoints().len()).map(|e| format!("endpoint {e}")).collect(),
        }
    }

    fn plane(&self, switch: u32) -> u32 {
        self.planes.get(switch as usize).copied().unwrap_or_default().into()
    }

    fn port(&self, switch: u32, port: u16) -> u16 {
        // an endpoint that is down is attached to a port that has no number
        self.ports[switch as usize].get(usize::from(port)).copied().unwrap_or(u16::MAX)
    }

    /// A description of a waiting packet in words.
    pub fn tell(&self, waiting: &BlockedPacket) -> String {
        let BlockedPacket { router, port, lane, target } = *waiting;
        let (to, at) = (&self.endpoints[target as usize], &self.switches[router as usize]);
        let port = self.port(router, port);
        format!("a packet to {to} at {at}, from port {port} on virtual channel {lane}")
    }
}

/// Names of endpoints, or of their rails if they have several, in the order of the wiring.
fn endpoints(on: &Topology) -> Vec<String> {
    let rails = on.terminals().len() / on.endpoints().len().max(1);
    let of = |name: &str, rail: usize| {
        if rails > 1 { format!("{name} rail {rail}") } else { name.to_owned() }
    };
    let all = on.endpoints().iter().flat_map(|e| (0..rails).map(move |rail| of(&e.name, rail)));
    all.collect()
}

/// The counts of channels and buffers in the measured cycles, by port of every router in order.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelCounts {
    /// The number of measured cycles.
    pub cycles: u64,
    /// Number of virtual channels of a port.
    pub lanes: u8,
    /// Flits sent by each port.
    pub sent: Vec<u64>,
    /// The number of samples of the buffers, at equal intervals.
    pub looks: u32,
    /// Flits found in the buffer of each port, by virtual channel, summed over all samples.
    pub buffered: Vec<u64>,
}

impl ChannelCounts {
    /// Zero counts, for routers with this number of virtual channels.
    pub fn none(lanes: u8) -> Self {
        Self { cycles: 0, lanes, sent: Vec::new(), looks: 0, buffered: Vec::new() }
    }

    /// Adds the counts of another run of the same routers, or of a later part of this run.
    pub fn add(&mut self, other: &Self) {
        let sum = |mine: &mut Vec<u64>, theirs: &[u64]| {
            mine.resize(theirs.len(), 0);
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        };
        (self.cycles, self.looks) = (self.cycles + other.cycles, self.looks + other.looks);
        sum(&mut self.sent, &other.sent);
        sum(&mut self.buffered, &other.buffered);
    }
}

/// A channel between two switches, which leaves by this port.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Busy")]
pub struct BusyChannel {
    /// The switch that sends.
    pub from: String,
    /// The switch that receives.
    pub to: String,
    /// The sender's port.
    pub port: u16,
    /// The receiver's port.
    pub to_port: u16,
    /// The share of the measured cycles in which it carried a flit.
    #[serde(rename = "use")]
    pub used: f64,
}

/// All channels between switches, as columns: both directions of every cable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Links")]
pub struct ChannelUseColumns {
    /// The switch that sends.
    pub from: Vec<String>,
    /// The switch that receives.
    pub to: Vec<String>,
    /// The sender's port.
    pub port: Vec<u16>,
    /// The plane.
    pub plane: Vec<u32>,
    /// Flits that it carried in the measured cycles.
    pub flits: Vec<u64>,
    /// The share of the measured cycles in which it carried a flit.
    #[serde(rename = "use")]
    pub used: Vec<f64>,
    /// Mean flits in the buffer that it leads to, over all virtual channels.
    pub buffered: Vec<f64>,
}

/// What was seen of channels between switches in the measured cycles.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ChannelUse")]
pub struct ChannelUseFigures {
    /// The share of the measured cycles in which a channel carried a flit, in the mean of all;
    /// null where there are no channels.
    pub mean_link_use: Option<f64>,
    /// The same of the channel that carried most; null likewise.
    pub busiest_link_use: Option<f64>,
    /// The ten busiest channels, the busiest first.
    pub busiest_links: Vec<BusyChannel>,
    /// By virtual channel, mean flits in a buffer that a channel leads to.
    pub mean_vc_occupancy: Vec<f64>,
    /// All channels, where `links` asks for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<ChannelUseColumns>,
}

/// The number of busiest channels that are listed.
const BUSIEST: usize = 10;

/// A channel between switches: its index among all ports, and the index of the port it leads to.
struct SwitchChannel {
    from: (u32, u16),
    to: (u32, u16),
    leaves: usize,
    enters: usize,
}

impl ChannelUseFigures {
    /// The use of the channels of `wiring`, from the counts in `traces`.
    pub fn of(
        traces: &ChannelCounts,
        wiring: &RouterWiring,
        names: &NetworkNames,
        with_all: bool,
    ) -> Self {
        let channels = channels(wiring);
        let count = channels.len() as f64;
        let use_of = |c: &SwitchChannel| traces.sent[c.leaves] as f64 / traces.cycles as f64;
        let busy = |c: &SwitchChannel| BusyChannel {
            from: names.switches[c.from.0 as usize].clone(),
            to: names.switches[c.to.0 as usize].clone(),
            port: names.port(c.from.0, c.from.1),
            to_port: names.port(c.to.0, c.to.1),
            used: use_of(c),
        };
        let mut order: Vec<&SwitchChannel> = channels.iter().collect();
        order.sort_by_key(|c| std::cmp::Reverse(traces.sent[c.leaves]));
        let total: u64 = channels.iter().map(|c| traces.sent[c.leaves]).sum();
        let mean = total as f64 / traces.cycles as f64 / count;
        let looks = f64::from(traces.looks.max(1));
        let lanes = usize::from(traces.lanes);
        let found =
            |c: &SwitchChannel, lane: usize| traces.buffered[c.enters * lanes + lane] as f64;
        let of_lane = |lane: usize| {
            let sum: f64 = channels.iter().map(|c| found(c, lane)).sum();
            if channels.is_empty() { 0.0 } else { sum / looks / count }
        };
        let all = || {
            let mut all = ChannelUseColumns::default();
            for c in &channels {
                let BusyChannel { from, to, port, used, .. } = busy(c);
                all.from.push(from);
                all.to.push(to);
                all.port.push(port);
                all.plane.push(names.plane(c.from.0));
                all.flits.push(traces.sent[c.leaves]);
                all.used.push(used);
                all.buffered.push((0..lanes).map(|lane| found(c, lane)).sum::<f64>() / looks);
            }
            all
        };
        Self {
            mean_link_use: (!channels.is_empty()).then_some(mean),
            busiest_link_use: order.first().map(|c| use_of(c)),
            busiest_links: order.iter().take(BUSIEST).map(|c| busy(c)).collect(),
            mean_vc_occupancy: (0..lanes).map(of_lane).collect(),
            links: with_all.then(all),
        }
    }
}

/// The channels between routers, by router and port.
fn channels(wiring: &RouterWiring) -> Vec<SwitchChannel> {
    let mut first = vec![0];
    for r in 0..wiring.routers() {
        first.push(first[r as usize] + wiring.ports(r).len());
    }
    let mut all = Vec::new();
    for r in 0..wiring.routers() {
        for (port, p) in (0..).zip(wiring.ports(r)) {
            if let CableEnd::Router { router: to, port: there } = p.end {
                let leaves = first[r as usize] + usize::from(port);
                let enters = first[to as usize] + usize::from(there);
                all.push(SwitchChannel { from: (r, port), to: (to, there), leaves, enters });
            }
        }
    }
    all
}
