//! Simulates flows that are sent at once over tables: the load of each channel, and the share that
//! each flow gets.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
//! routing in high-performance networks", Cluster 2008: a flow gets the inverse of the largest
//! congestion on its route.

use base::{EndpointId, Refusal, SwitchId, TerminalId};
use fabric::tables::{ForwardingTree, Routing};
use traffic::sending::WeightedMessage;

/// The result of one flow: its share and the congestion on its routes.
#[derive(Debug, Clone, Copy)]
pub(super) struct FlowResult {
    /// The fraction of its amount that it gets: the mean over its routes of 1 / max(1, congestion).
    pub share: f64,
    /// The largest congestion on any of its routes, at least 1, or its amount if that is less than
    /// 1.
    pub congestion: f64,
    /// The amount that it wants to send, in units of an endpoint's full rate.
    pub amount: f64,
}

/// A routing in compact arrays, in which all data for a step along a route are close together.
///
/// Channels of links come first, by [`base::ChannelId`]; then two channels for each terminal: out
/// of its endpoint and into it.
pub(super) struct CompactRoutingTables<'a> {
    routing: &'a Routing,
    /// The time that each channel takes for the traffic of one endpoint at full rate; it is 1 if
    /// its cable is as fast as the fastest endpoint cable.
    relative: Vec<f64>,
    /// This time if all counted channels have the same; else none.
    same_for_all: Option<f64>,
    /// The number of channels that are counted: all channels, or only those of links.
    counted: usize,
    terminals: usize,
    /// For each port, switch by switch, the channel and the switch that it leads to.
    hops: Vec<HopOverPort>,
    /// For each switch, the index of its first port in `hops`; at the end, the number of all ports.
    ports: Vec<u32>,
    /// For each layer and terminal, the switch that delivers; [`NOWHERE`] if the table entry of the
    /// terminal's switch does not deliver.
    home: Vec<u32>,
    /// The working rails of all endpoints; and for each endpoint, the index of its first rail.
    rails: Vec<WorkingRail>,
    first_rail: Vec<u32>,
}

/// A working rail of an endpoint: its terminal, switch and plane.
#[derive(Clone, Copy)]
struct WorkingRail {
    terminal: u32,
    switch: u32,
    plane: u16,
}

/// The hop over one port of a switch.
#[derive(Clone, Copy)]
struct HopOverPort {
    /// The channel; [`NOWHERE`] if the port does not lead to a switch.
    channel: u32,
    next: u32,
}

/// The number of routes that advance together: their rows of the table fit in the caches.
const TOGETHER: usize = 256;

/// The index that means "no channel" or "no switch".
const NOWHERE: u32 = u32::MAX;

impl<'a> CompactRoutingTables<'a> {
    /// Copies `routing`, with or without the cables of endpoints. O(layers * terminals + ports).
    pub(super) fn new(routing: &'a Routing, endpoint_cables: bool) -> Self {
        let on = routing.topology();
        let relative = relative_cost(routing);
        let (mut hops, mut ports) = (Vec::new(), vec![0]);
        for (s, switch) in on.switches().iter().enumerate() {
            hops.extend((0..=switch.ports).map(|port| match on.hop(SwitchId::from(s), port) {
                Some((channel, next)) => HopOverPort { channel: channel.0, next: next.0 },
                None => HopOverPort { channel: NOWHERE, next: NOWHERE },
            }));
            ports.push(hops.len() as u32);
        }
        let plugs = (0..).map(TerminalId).zip(on.terminals().iter().map(|t| t.plug));
        let delivers = |layer: u32| {
            plugs.clone().map(move |(t, plug)| {
                let delivered = routing.tree(layer, t)[plug.switch.ix()] == plug.port;
                if delivered { plug.switch.0 } else { NOWHERE }
            })
        };
        let home = (0..routing.layers()).flat_map(delivers).collect();
        let mut of: Vec<Vec<WorkingRail>> = vec![Vec::new(); on.endpoints().len()];
        for (t, plug) in plugs.filter(|(t, _)| on.terminal_is_up(*t)) {
            let (terminal, switch) = (t.0, plug.switch.0);
            let rail = WorkingRail { terminal, switch, plane: on.plane_of(t) };
            of[on.terminals()[t.ix()].endpoint.ix()].push(rail);
        }
        let mut first_rail = vec![0];
        for rails in &of {
            first_rail.push(first_rail[first_rail.len() - 1] + rails.len() as u32);
        }
        let counted = if endpoint_cables { relative.len() } else { on.links().len() * 2 };
        let first = relative[..counted].first().copied();
        let same_for_all =
            first.filter(|x| relative[..counted].iter().all(|y| x.to_bits() == y.to_bits()));
        let rails = of.concat();
        let terminals = on.terminals().len();
        Self {
            routing,
            relative,
            same_for_all,
            counted,
            terminals,
            hops,
            ports,
            home,
            rails,
            first_rail,
        }
    }

    /// The channel and the switch that a port of a switch leads to.
    #[inline]
    fn hop(&self, switch: u32, port: u16) -> Result<HopOverPort, Refusal> {
        let at = self.ports[switch as usize] as usize + usize::from(port);
        match self.hops.get(at) {
            Some(hop)
                if at < self.ports[switch as usize + 1] as usize && hop.channel != NOWHERE =>
            {
                Ok(*hop)
            }
            _ => Err(self.astray(switch)),
        }
    }

    #[cold]
    fn astray(&self, switch: u32) -> Refusal {
        let name = &self.routing.topology().switches()[switch as usize].name;
        let why = format!("a route ends at switch {name}, where it must not");
        Refusal::new("", why, "verify the tables first")
    }

    /// The number of channels.
    pub(super) fn channels(&self) -> usize {
        self.relative.len()
    }

    /// The working rails of an endpoint.
    fn rails(&self, of: EndpointId) -> &[WorkingRail] {
        &self.rails[self.first_rail[of.ix()] as usize..self.first_rail[of.ix() + 1] as usize]
    }
}

/// The time that each channel takes for the traffic of one endpoint at full rate.
pub(super) fn relative_cost(routing: &Routing) -> Vec<f64> {
    let on = routing.topology();
    let injection = on.terminals().iter().map(|t| t.cable.rate_gbps()).fold(0.0, f64::max);
    let links = on.links().iter().map(|l| l.cable);
    let cables = links.chain(on.terminals().iter().map(|t| t.cable));
    cables.flat_map(|cable| [injection / cable.rate_gbps(); 2]).collect()
}

/// A simulator of flows, one level of messages after the other, that counts what channels carry.
pub(super) struct FlowCongestionCounter<'a> {
    compact: &'a CompactRoutingTables<'a>,
    load: Vec<f64>,
    /// The amount that each counted channel has carried in all levels so far.
    pub carried: Vec<f64>,
    /// The routes in progress, and the ports by which they continue.
    routes: Vec<RouteInProgress<'a>>,
    ports: Vec<u16>,
    /// The amount that each route of the level carries for its flow; the routes of a flow are
    /// consecutive.
    shares: Vec<f64>,
    /// For each flow, the number of routes up to and including its last one, and its amount.
    ends: Vec<(usize, f64)>,
    /// Pairs of a channel and a route that uses it.
    taken: Vec<(u32, u32)>,
    /// The largest congestion on each route.
    worst: Vec<f64>,
    outcomes: Vec<FlowResult>,
}

/// A route that is being followed.
#[derive(Clone, Copy)]
struct RouteInProgress<'a> {
    number: u32,
    /// The switch that it has reached.
    at: u32,
    /// The switch that delivers to the destination.
    home: u32,
    /// The entries of its layer and destination.
    tree: ForwardingTree<'a>,
}

impl<'a> FlowCongestionCounter<'a> {
    /// A simulator for flows over this routing.
    pub(super) fn new(compact: &'a CompactRoutingTables<'a>) -> Self {
        Self {
            compact,
            load: vec![0.0; compact.counted],
            carried: vec![0.0; compact.counted],
            routes: Vec::new(),
            ports: Vec::new(),
            shares: Vec::new(),
            ends: Vec::new(),
            taken: Vec::new(),
            worst: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    /// Sends all these flows between pairs of endpoints at once, and returns the result of each.
    ///
    /// # Errors
    /// When two endpoints share no plane, or a route does not arrive.
    pub(super) fn level(
        &mut self,
        mut pairs: impl Iterator<Item = WeightedMessage>,
    ) -> Result<&[FlowResult], Refusal> {
        self.shares.clear();
        self.ends.clear();
        self.taken.clear();
        loop {
            let begun = self.shares.len();
            self.routes.clear();
            while self.shares.len() - begun < TOGETHER
                && let Some((from, to, amount)) = pairs.next()
            {
                self.add(from, to, amount)?;
            }
            if self.shares.len() == begun {
                break;
            }
            self.walk()?;
        }
        self.weigh();
        let mut begin = 0;
        let worst = &self.worst;
        self.outcomes.clear();
        self.outcomes.extend(self.ends.iter().map(|&(end, amount)| {
            let routes = &worst[std::mem::replace(&mut begin, end)..end];
            let least = if amount < 1.0 { amount } else { 1.0 };
            if let [worst] = *routes {
                let congestion = if worst > least { worst } else { least };
                let share = 1.0 / if worst > 1.0 { worst } else { 1.0 };
                return FlowResult { share, congestion, amount };
            }
            let share = routes.iter().map(|w| 1.0 / w.max(1.0)).sum::<f64>() / routes.len() as f64;
            FlowResult { share, congestion: routes.iter().fold(least, |m, w| m.max(*w)), amount }
        }));
        Ok(&self.outcomes)
    }

    /// Adds a flow between two endpoints, with a route for each pair of rails in the same plane and
    /// each layer.
    fn add(&mut self, from: EndpointId, to: EndpointId, amount: f64) -> Result<(), Refusal> {
        let compact = self.compact;
        let (layers, terminals) = (compact.routing.layers(), compact.terminals);
        let begin = self.shares.len();
        let mut end = begin;
        for a in compact.rails(from) {
            for b in compact.rails(to).iter().filter(|b| b.plane == a.plane) {
                for layer in 0..layers {
                    let row = layer as usize * terminals + b.terminal as usize;
                    let (number, home) = (end as u32, compact.home[row]);
                    if a.switch != home {
                        let tree = compact.routing.tree(layer, TerminalId(b.terminal));
                        self.routes.push(RouteInProgress { number, at: a.switch, home, tree });
                    }
                    if compact.counted == compact.relative.len() {
                        let first = (compact.counted - 2 * terminals) as u32;
                        self.taken.push((number, first + 2 * a.terminal));
                        self.taken.push((number, first + 2 * b.terminal + 1));
                    }
                    end += 1;
                }
            }
        }
        if end == begin {
            let help = "every pair needs a common plane";
            return Err(Refusal::new("", "two endpoints share no plane", help));
        }
        let share = amount / (end - begin) as f64;
        for _ in begin..end {
            self.shares.push(share);
        }
        self.ends.push((end, amount));
        Ok(())
    }

    /// Follows the routes in progress to their ends and records their channels.
    ///
    /// They advance together: in each step all routes read the table before any route follows its
    /// entry, so that the waits for memory overlap.
    fn walk(&mut self) -> Result<(), Refusal> {
        let Self { compact, routes, ports, taken, .. } = self;
        for _ in 0..compact.ports.len() {
            if routes.is_empty() {
                return Ok(());
            }
            ports.clear();
            ports.extend(routes.iter().map(|route| route.tree.port(route.at as usize)));
            let mut left = 0;
            for i in 0..routes.len() {
                let route = routes[i];
                let hop = compact.hop(route.at, ports[i])?;
                taken.push((route.number, hop.channel));
                if hop.next != route.home {
                    routes[left] = RouteInProgress { at: hop.next, ..route };
                    left += 1;
                }
            }
            routes.truncate(left);
        }
        Err(Refusal::new("", "a route goes in a loop", "verify the tables first"))
    }

    /// Loads the channels, finds the largest load on each route, adds up what the channels carried,
    /// and clears their loads.
    fn weigh(&mut self) {
        let Self { compact, load, carried, shares, taken, worst, .. } = self;
        let relative =
            |c: u32| compact.same_for_all.unwrap_or_else(|| compact.relative[c as usize]);
        for &(route, channel) in &*taken {
            load[channel as usize] += shares[route as usize] * relative(channel);
        }
        worst.clear();
        worst.resize(shares.len(), 0.0);
        for &(route, channel) in &*taken {
            let (worst, load) = (&mut worst[route as usize], load[channel as usize]);
            if load > *worst {
                *worst = load;
            }
        }
        if taken.len() > load.len() / 8 {
            for (sum, load) in carried.iter_mut().zip(load) {
                *sum += std::mem::take(load);
            }
            return;
        }
        for &(_, channel) in &*taken {
            carried[channel as usize] += std::mem::take(&mut load[channel as usize]);
        }
    }
}
