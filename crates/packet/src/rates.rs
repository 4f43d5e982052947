//! The rates of links: those of the network's cables if it specifies any, else the dialect's
//! defaults.

use super::models::SimulatorDialect;
use super::plant::{LinkClass, LinkFarEnd, SimulatedNetwork};
use super::spec::{BITS_IN_GIB, PacketSimulationParameters};
use base::SwitchId;
use fabric::Topology;
use fabric::network::{Cable, PortPeer, RateSource};
use paths::wiring::RouterWiring;
use schemars::JsonSchema;
use serde::Serialize;

/// The rates of the links of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct LinkRates {
    /// Whether rates are those of the cables, where the parameters give no other; else they are
    /// those of the dialect.
    pub of_cables: bool,
    /// The lowest rate, Gbit/s.
    pub lowest_gbps: f64,
    /// The highest rate, Gbit/s.
    pub highest_gbps: f64,
    /// Where they come from: parameters, where one gives the rate of some class of links; those
    /// that it leaves have that of the network, else of the dialect.
    pub source: RateSource,
}

impl LinkRates {
    /// The lowest and highest rate in a network.
    pub(super) fn of(
        plant: &SimulatedNetwork,
        spec: &PacketSimulationParameters,
        on: &Topology,
    ) -> Self {
        let classes = [LinkClass::Local, LinkClass::Global, LinkClass::Endpoint];
        let of_cables = hold(spec, on);
        let source = if classes.iter().any(|class| spec.link.gib_per_s(*class).is_some()) {
            RateSource::Parameters
        } else if of_cables {
            on.rate_source()
        } else if on.recipe().gbps().is_some() {
            RateSource::Network
        } else {
            RateSource::Default
        };
        let is_link = |(router, behind): &(u32, LinkFarEnd)| behind.lp != *router;
        let all = (0..plant.routers).flat_map(|r| plant.all(r).map(move |b| (r, b)));
        let rates = all.filter(is_link).map(|(_, b)| plant.kind(b.kind).gib_per_s);
        let usual = plant.of(LinkClass::Endpoint).gib_per_s;
        let ends = |(low, high): (f64, f64), rate: f64| (low.min(rate), high.max(rate));
        let found = rates.fold((f64::INFINITY, 0.0), ends);
        let (lowest, highest) = if found.1 > 0.0 { found } else { (usual, usual) };
        let gbps = |gib_per_s: f64| gib_per_s * BITS_IN_GIB / 1e9;
        Self { of_cables, lowest_gbps: gbps(lowest), highest_gbps: gbps(highest), source }
    }
}

/// The rate of a cable in GiB/s; cables give it in Gbit/s, with 10^9 bits.
fn gib_per_s(cable: &Cable) -> f64 {
    cable.rate_gbps() * 1e9 / 8.0 / f64::from(1 << 30)
}

/// Whether links have the rates of their cables, each its own, under a dialect: where the network
/// says them.
pub(super) fn hold(spec: &PacketSimulationParameters, on: &Topology) -> bool {
    spec.dialect == SimulatorDialect::Physical && on.rate_source() != RateSource::Default
}

/// The rate of all links, in GiB/s, where the network says one by `gbps`: in the dialects of CODES,
/// too, which know classes of links but no cables.
pub(super) fn of_network(on: &Topology) -> Option<f64> {
    on.recipe().gbps().map(|gbps| gbps * 1e9 / BITS_IN_GIB)
}

/// The highest rate of a working rail of an endpoint, in GiB/s; none if no rail works.
pub(super) fn of_endpoints(on: &Topology) -> Option<f64> {
    let rails = on.terminals().iter().filter(|terminal| terminal.cable.up);
    rails.map(|terminal| gib_per_s(&terminal.cable)).reduce(f64::max)
}

/// The network with the rates of its cables, except for classes of links whose rate the parameters
/// set.
pub(super) fn with_cable_rates(
    plant: SimulatedNetwork,
    spec: &PacketSimulationParameters,
    on: &Topology,
) -> SimulatedNetwork {
    let given = &spec.link;
    let seats: Vec<Vec<u16>> =
        (0..plant.routers).map(|router| RouterWiring::seats(on, SwitchId(router))).collect();
    let classes: Vec<Vec<LinkClass>> =
        (0..plant.routers).map(|router| plant.all(router).map(|b| b.class).collect()).collect();
    plant.with_rates(|router, port| {
        let is_given = given.gib_per_s(classes[router as usize][port]).is_some();
        // ports of rails that are down come after those in use and have no cable
        let number = *seats[router as usize].get(port)?;
        let cable = match on.peer(SwitchId(router), number) {
            PortPeer::Switch(channel) => &on.links()[channel.link().ix()].cable,
            PortPeer::Terminal(terminal) => &on.terminals()[terminal.ix()].cable,
            PortPeer::Empty => return None,
        };
        (!is_given).then(|| gib_per_s(cable))
    })
}
