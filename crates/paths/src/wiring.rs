//! A network as routers see it: numbered ports, the other end of each port's cable, and the latency
//! of each channel.

use crate::side_by_side::paying;
use base::{Refusal, SwitchId, TerminalId};
use fabric::Topology;
use fabric::network::{Cable, CablePlug, PortPeer};
use std::ops::Range;

/// The device at the end of the cable in a router's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CableEnd {
    /// A port of another router, or of the same one.
    Router {
        /// The router at the far end.
        router: u32,
        /// The port of that router.
        port: u16,
    },
    /// An endpoint, which sends and receives through the port.
    Endpoint(u32),
    /// No cable: no flit leaves or arrives through this port.
    Empty,
}

/// The router and port that an endpoint is plugged into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointAttachment {
    /// The router that the endpoint is plugged into.
    pub router: u32,
    /// The port of that router.
    pub port: u16,
}

/// A port of a router: the other end of its cable, and the latency of its channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    /// The other end of the port's cable.
    pub end: CableEnd,
    /// Latency of the channel that leaves through this port, in cycles, at least 1.
    pub out_latency: u32,
    /// Latency of the channel that comes in from an endpoint, in cycles, at least 1. The latency of
    /// a channel that comes from a router is that router's `out_latency`.
    pub in_latency: u32,
}

impl Port {
    /// The router at the other end of the cable; `None` where there is no router.
    pub fn leads_to(&self) -> Option<u32> {
        match self.end {
            CableEnd::Router { router, .. } => Some(router),
            _ => None,
        }
    }
}

/// All routers with their ports, and the router and port of each endpoint.
///
/// A channel of latency L delivers what is sent in cycle t in cycle t + 1 + L.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouterWiring {
    /// The index of each router's first port in `ports`, then the number of all ports.
    offsets: Vec<u32>,
    ports: Vec<Port>,
    endpoints: Vec<EndpointAttachment>,
}

/// The number of router ports for which one more thread is worth starting.
///
/// Million flit-hops per second with one thread and with two, medians of 7 runs in turn on two
/// cores that others use too, at loads of 0.5 and 0.1. 16 ports: 3.0 and 0.3 with one thread, 1.8
/// and 0.1 with two; 126 ports: 4.3 and 2.1, 2.2 and 0.5; 288 ports: 4.9 and 3.1, 4.5 and 1.7; 550
/// ports: 5.0 and 4.4, 2.5 and 1.2; 1,666 ports: 3.5 and 3.3 (at best 4.5 and 4.6), 1.4 and 0.9.
/// Below some 1,000 ports a second thread makes a run slower; above, it pays where it has a core to
/// itself.
const PORTS_A_THREAD: usize = 512;

impl RouterWiring {
    /// The number of threads, out of `threads`, that are worth using for one run, cycle by cycle.
    pub fn paying(&self, threads: usize) -> usize {
        let ports = (0..self.routers()).map(|router| self.ports(router).len()).sum();
        paying(threads, ports, PORTS_A_THREAD)
    }

    /// A wiring of routers with these ports; the routers are numbered in the order of the list.
    ///
    /// # Panics
    /// When a cable's ends do not name one another, a latency is 0, or the endpoints are not
    /// numbered from 0 without gaps.
    pub fn new(routers: &[Vec<Port>]) -> Self {
        let mut offsets = vec![0];
        let mut ports = Vec::new();
        let mut ends = Vec::new();
        for (router, of) in (0..).zip(routers) {
            for (port, p) in (0..).zip(of) {
                assert!(p.out_latency > 0 && p.in_latency > 0, "a wire takes a cycle at least");
                match p.end {
                    CableEnd::Router { router: other, port: back } => {
                        let there = routers[other as usize][usize::from(back)].end;
                        assert_eq!(
                            there,
                            CableEnd::Router { router, port },
                            "a cable has two ends"
                        );
                    }
                    CableEnd::Endpoint(e) => ends.push((e, EndpointAttachment { router, port })),
                    CableEnd::Empty => {}
                }
            }
            ports.extend_from_slice(of);
            offsets.push(ports.len() as u32);
        }
        ends.sort_unstable_by_key(|(e, _)| *e);
        assert!((0..).zip(&ends).all(|(i, (e, _))| i == *e), "endpoints 0 to n - 1, each once");
        Self { offsets, ports, endpoints: ends.into_iter().map(|(_, at)| at).collect() }
    }

    /// The wiring of a network: one port for each switch port in use, in port order. What has
    /// failed is left out. `latency` returns the latency of a cable in cycles, at least 1.
    ///
    /// Where endpoints have several rails, rail r of endpoint e is number `e * rails + r`.
    ///
    /// # Errors
    /// See [`numbered`].
    pub fn of(on: &Topology, latency: impl Fn(&Cable) -> u32) -> Result<Self, Refusal> {
        let (_, rail_of) = numbered(on)?;
        let seats: Vec<Vec<u16>> = (0..on.switches().len() as u32).map(|s| used(on, s)).collect();
        let at = |plug: CablePlug| {
            let seats = &seats[plug.switch.ix()];
            seats.binary_search(&plug.port).expect("a working cable's port is in use") as u16
        };
        let port = |s: u32, number: u16| match on.peer(SwitchId(s), number) {
            PortPeer::Switch(channel) => {
                let (head, cable) = (on.head(channel), &on.links()[channel.link().ix()].cable);
                let end = CableEnd::Router { router: head.switch.0, port: at(head) };
                Port { end, out_latency: latency(cable), in_latency: 1 }
            }
            PortPeer::Terminal(t) => {
                let terminal = &on.terminals()[t.ix()];
                let cycles = latency(&terminal.cable);
                let end = CableEnd::Endpoint(rail_of[t.ix()]);
                Port { end, out_latency: cycles, in_latency: cycles }
            }
            PortPeer::Empty => Port { end: CableEnd::Empty, out_latency: 1, in_latency: 1 },
        };
        let of = |(s, seats): (u32, &Vec<u16>)| seats.iter().map(|&n| port(s, n)).collect();
        let mut routers: Vec<Vec<Port>> = (0..).zip(&seats).map(of).collect();
        // a terminal that has failed keeps its number: it gets a port behind those of its router,
        // which neither sends nor receives
        for t in (0..on.terminals().len()).map(TerminalId::from) {
            if !on.terminal_is_up(t) {
                let terminal = &on.terminals()[t.ix()];
                let end = CableEnd::Endpoint(rail_of[t.ix()]);
                let alone = Port { end, out_latency: 1, in_latency: 1 };
                routers[terminal.plug.switch.ix()].push(alone);
            }
        }
        Ok(Self::new(&routers))
    }

    /// The port numbers of a switch for which [`RouterWiring::of`] makes ports, in order.
    pub fn seats(on: &Topology, switch: SwitchId) -> Vec<u16> {
        used(on, switch.0)
    }

    /// The number of routers.
    pub fn routers(&self) -> u32 {
        self.offsets.len() as u32 - 1
    }

    /// The ports of a router, in order.
    pub fn ports(&self, router: u32) -> &[Port] {
        &self.ports[self.range(router)]
    }

    /// The largest number of ports of a router.
    pub fn most_ports(&self) -> usize {
        (0..self.routers()).map(|r| self.ports(r).len()).max().unwrap_or(0)
    }

    /// The router and port of each endpoint, by its number.
    pub fn endpoints(&self) -> &[EndpointAttachment] {
        &self.endpoints
    }

    /// Latency of the channel that comes in through a port, in cycles.
    pub fn in_latency(&self, router: u32, port: u16) -> u32 {
        let here = self.ports(router)[usize::from(port)];
        match here.end {
            CableEnd::Router { router, port } => self.ports(router)[usize::from(port)].out_latency,
            _ => here.in_latency,
        }
    }

    /// The mean latency of the channels between routers, in cycles; 1 where there are none.
    pub fn mean_latency(&self) -> f64 {
        let between = self.ports.iter().filter(|port| port.leads_to().is_some());
        let (count, sum) =
            between.fold((0_u64, 0), |(count, sum), p| (count + 1, sum + u64::from(p.out_latency)));
        if count > 0 { sum as f64 / count as f64 } else { 1.0 }
    }

    /// The first port of `router` that leads to router `other`.
    pub fn port_to(&self, router: u32, other: u32) -> Option<u16> {
        let leads = |p: &Port| matches!(p.end, CableEnd::Router { router, .. } if router == other);
        self.ports(router).iter().position(leads).map(|p| p as u16)
    }

    fn range(&self, router: u32) -> Range<usize> {
        let at = router as usize;
        self.offsets[at] as usize..self.offsets[at + 1] as usize
    }
}

/// The number of rails of each endpoint.
///
/// # Errors
/// The errors of [`numbered`].
pub fn rails(on: &Topology) -> Result<u32, Refusal> {
    Ok(numbered(on)?.0)
}

/// Advice for a network whose endpoints have different numbers of rails, without the options that
/// the user has given already.
fn alike(on: &Topology) -> String {
    let recipe = on.recipe();
    let mut help = "as many rails for each endpoint".to_owned();
    if recipe.is_of_fabric() && recipe.asked("adapters") != Some("first") {
        help += "; --adapters first reads a fabric with one port of each host";
    }
    if recipe.is_of_fabric() && recipe.asked("only").is_none() {
        help += "; --only with those that have as many";
    }
    help
}

/// The number of rails of each endpoint, and the number of each terminal: rail r of endpoint e is
/// `e * rails + r`. The rails of an endpoint count from 0 in the order of its adapter's ports, even
/// if some ports between them are not in use.
///
/// # Errors
/// When endpoints have different numbers of rails, rails of the same number lead into different
/// planes, or some rails of one endpoint work and others do not.
pub fn numbered(on: &Topology) -> Result<(u32, Vec<u32>), Refusal> {
    let mut of = vec![Vec::new(); on.endpoints().len()];
    for (t, terminal) in (0..).map(TerminalId).zip(on.terminals()) {
        of[terminal.endpoint.ix()].push((terminal.rail, t));
    }
    let rails = of.first().map_or(1, Vec::len);
    let mut number = vec![0; on.terminals().len()];
    let mut planes: Vec<Option<u16>> = vec![None; rails];
    for (e, (name, of)) in on.endpoints().iter().map(|e| &e.name).zip(&mut of).enumerate() {
        of.sort_unstable();
        if of.len() != rails {
            let first = &on.endpoints()[0].name;
            let why = format!("{name} has {} rails, {first} {rails}", of.len());
            return Err(Refusal::new("network", why, alike(on)));
        }
        for (r, ((_, t), plane)) in of.iter().zip(&mut planes).enumerate() {
            number[t.ix()] = (e * rails + r) as u32;
            let own = on.plane_of(*t);
            if *plane.get_or_insert(own) != own {
                let why = format!("{name} has no rail in plane {}", plane.unwrap_or_default());
                return Err(Refusal::new("network", why, "a rail of each endpoint in each plane"));
            }
        }
        let works = |(_, t): &(u16, TerminalId)| on.terminal_is_up(*t);
        if of.iter().any(|rail| works(rail) != works(&of[0])) {
            let why = format!("some rails of {name} are down, others are not");
            return Err(Refusal::new("network", why, "endpoints whose rails all work, or none"));
        }
    }
    Ok(((rails as u32).max(1), number))
}

/// The ports of a switch whose cable works and leads to a working device, ascending.
fn used(on: &Topology, switch: u32) -> Vec<u16> {
    let s = SwitchId(switch);
    let works = |&port: &u16| match on.peer(s, port) {
        PortPeer::Switch(channel) => on.link_is_up(channel.link()),
        PortPeer::Terminal(t) => on.terminal_is_up(t),
        PortPeer::Empty => false,
    };
    (1..=on.switches()[s.ix()].ports).filter(works).collect()
}
