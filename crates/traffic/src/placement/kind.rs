//! The table of placements, each an order in which processes take the endpoints of a network.

use base::part::PartDescription;
use base::seed::RandomStream;
use base::{Refusal, TerminalId};
use fabric::Topology;

/// The working endpoints of a network, with the switch and group of each, from which placements
/// compute their order.
pub(super) struct WorkingEndpoints<'a> {
    /// The network.
    pub(super) on: &'a Topology,
    /// The switch of each endpoint's first working rail; none if the endpoint does not work.
    homes: Vec<Option<u32>>,
    /// The endpoints that work, in the order of the network.
    pub(super) endpoints: Vec<u32>,
}

impl<'a> WorkingEndpoints<'a> {
    fn of(on: &'a Topology) -> Self {
        let homes = homes(on);
        let endpoints = (0..).zip(&homes).filter(|h| h.1.is_some()).map(|h| h.0).collect();
        Self { on, homes, endpoints }
    }

    /// The switch of an endpoint's first working rail.
    pub(super) fn switch(&self, endpoint: u32) -> usize {
        self.homes[endpoint as usize].unwrap_or(0) as usize
    }

    /// The group of the switch of an endpoint's first working rail.
    pub(super) fn group(&self, endpoint: u32) -> usize {
        self.on.switches()[self.switch(endpoint)].group as usize
    }
}

/// The switch of the first working rail of each endpoint.
fn homes(on: &Topology) -> Vec<Option<u32>> {
    let mut homes = vec![None; on.endpoints().len()];
    for (i, terminal) in (0..).zip(on.terminals()) {
        if on.terminal_is_up(TerminalId(i)) {
            homes[terminal.endpoint.ix()].get_or_insert(terminal.plug.switch.0);
        }
    }
    homes
}

/// The numbers `0..count` in random order.
pub(super) fn shuffled(count: usize, draw: &mut RandomStream) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count as u32).collect();
    draw.shuffle(&mut all);
    all
}

/// A row of the table of placements.
#[derive(Debug)]
pub struct PlacementMethodEntry {
    /// Its name, and a description of the order in which endpoints get processes.
    pub part: PartDescription,
    /// The working endpoints in the order in which they get a process.
    pub(super) order: fn(&WorkingEndpoints<'_>, &mut RandomStream) -> Vec<u32>,
}

impl PlacementMethodEntry {
    /// The endpoint of each of `processes` processes. `per_endpoint` consecutive processes are on
    /// the same endpoint, which works. O(endpoints).
    ///
    /// # Errors
    /// When the working endpoints do not have room for all processes.
    pub fn place(
        &self,
        on: &Topology,
        processes: u32,
        per_endpoint: u32,
        seed: u64,
    ) -> Result<Vec<u32>, Refusal> {
        let seats = WorkingEndpoints::of(on);
        let order = (self.order)(&seats, &mut RandomStream::new(seed, "placement", 0));
        let places = order.len() as u64 * u64::from(per_endpoint);
        if u64::from(processes) > places {
            let why = format!("{processes} processes for {} endpoints", order.len());
            let help = format!("no more than {places} with {per_endpoint} an endpoint");
            return Err(Refusal::new("placement", why, help));
        }
        Ok((0..processes).map(|rank| order[(rank / per_endpoint.max(1)) as usize]).collect())
    }
}
