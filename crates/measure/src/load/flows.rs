//! Flows that are sent at once over tables: what each channel carries, what each flow gets.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
//! routing in high-performance networks", Cluster 2008: a flow gets the inverse of the largest
//! congestion on its route.

use base::{EndpointId, Refusal, SwitchId, TerminalId};
use fabric::tables::{Routing, Tree};
use traffic::sending::Weighted;

/// What a flow meets on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Met {
    /// Part of its amount that it gets: the mean over its routes of 1 / max(1, congestion).
    pub share: f64,
    /// Largest congestion on any of its routes, at least 1, or its amount where that is less.
    pub congestion: f64,
    /// What it wants to send, in units of an endpoint's full rate.
    pub amount: f64,
}

/// A routing as walks read it: what a step needs lies close together.
///
/// Channels of links come first, by [`base::ChannelId`]; then two for each terminal: out of its
/// endpoint and into it.
pub(super) struct Ways<'a> {
    routing: &'a Routing,
    /// Time each channel takes for one endpoint's worth of traffic, 1 where its cable is as fast
    /// as the fastest endpoint cable.
    relative: Vec<f64>,
    /// The same where all that count are alike.
    alike: Option<f64>,
    /// Channels that count: all, or those of links.
    counted: usize,
    terminals: usize,
    /// Where each port leads, switch by switch.
    hops: Vec<Hop>,
    /// Where the ports of each switch begin in `hops`, and where the last ones end.
    ports: Vec<u32>,
    /// By layer and terminal, the switch that delivers; [`NOWHERE`] where its entry does not.
    home: Vec<u32>,
    /// The working rails of the endpoints, and where those of each begin and the last ones end.
    rails: Vec<Rail>,
    first_rail: Vec<u32>,
}

#[derive(Clone, Copy)]
struct Rail {
    terminal: u32,
    switch: u32,
    plane: u16,
}

#[derive(Clone, Copy)]
struct Hop {
    /// [`NOWHERE`] where no other switch is.
    channel: u32,
    next: u32,
}

/// Routes that take their steps together: their rows of the table are in the caches.
const TOGETHER: usize = 256;

/// No channel, no switch.
const NOWHERE: u32 = u32::MAX;

impl<'a> Ways<'a> {
    /// Those of `routing`, with the cables of endpoints or without. O(layers * terminals + ports).
    pub(super) fn new(routing: &'a Routing, endpoint_cables: bool) -> Self {
        let on = routing.topology();
        let relative = relative_cost(routing);
        let (mut hops, mut ports) = (Vec::new(), vec![0]);
        for (s, switch) in on.switches().iter().enumerate() {
            hops.extend((0..=switch.ports).map(|port| match on.hop(SwitchId::from(s), port) {
                Some((channel, next)) => Hop { channel: channel.0, next: next.0 },
                None => Hop { channel: NOWHERE, next: NOWHERE },
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
        let mut of: Vec<Vec<Rail>> = vec![Vec::new(); on.endpoints().len()];
        for (t, plug) in plugs.filter(|(t, _)| on.terminal_is_up(*t)) {
            let (terminal, switch) = (t.0, plug.switch.0);
            let rail = Rail { terminal, switch, plane: on.plane_of(t) };
            of[on.terminals()[t.ix()].endpoint.ix()].push(rail);
        }
        let mut first_rail = vec![0];
        for rails in &of {
            first_rail.push(first_rail[first_rail.len() - 1] + rails.len() as u32);
        }
        let counted = if endpoint_cables { relative.len() } else { on.links().len() * 2 };
        let first = relative[..counted].first().copied();
        let alike =
            first.filter(|x| relative[..counted].iter().all(|y| x.to_bits() == y.to_bits()));
        let rails = of.concat();
        let terminals = on.terminals().len();
        Self { routing, relative, alike, counted, terminals, hops, ports, home, rails, first_rail }
    }

    /// Where the port of a switch leads.
    #[inline]
    fn hop(&self, switch: u32, port: u16) -> Result<Hop, Refusal> {
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

    /// How many channels there are.
    pub(super) fn channels(&self) -> usize {
        self.relative.len()
    }

    /// The working rails of an endpoint.
    fn rails(&self, of: EndpointId) -> &[Rail] {
        &self.rails[self.first_rail[of.ix()] as usize..self.first_rail[of.ix() + 1] as usize]
    }
}

/// Time a channel takes for one endpoint's worth of traffic, by channel.
fn relative_cost(routing: &Routing) -> Vec<f64> {
    let on = routing.topology();
    let injection = on.terminals().iter().map(|t| t.cable.rate_gbps()).fold(0.0, f64::max);
    let links = on.links().iter().map(|l| l.cable);
    let cables = links.chain(on.terminals().iter().map(|t| t.cable));
    cables.flat_map(|cable| [injection / cable.rate_gbps(); 2]).collect()
}

/// Room to send flows and to count what channels carry, used level after level.
pub(super) struct Flows<'a> {
    ways: &'a Ways<'a>,
    load: Vec<f64>,
    /// What each channel that counts has carried in all levels so far.
    pub carried: Vec<f64>,
    /// Routes under way, and the ports by which they go on.
    routes: Vec<Route<'a>>,
    ports: Vec<u16>,
    /// What each route of the level carries of its flow, one flow after the other.
    shares: Vec<f64>,
    /// Number of routes up to the end of each flow, and its amount.
    ends: Vec<(usize, f64)>,
    /// The channels that the routes take, each with the number of the route.
    taken: Vec<(u32, u32)>,
    /// Largest congestion on each route.
    worst: Vec<f64>,
    met: Vec<Met>,
}

/// A route under way.
#[derive(Clone, Copy)]
struct Route<'a> {
    number: u32,
    /// Switch that it has come to.
    at: u32,
    /// Switch that delivers.
    home: u32,
    /// The entries of its layer and destination.
    tree: Tree<'a>,
}

impl<'a> Flows<'a> {
    /// Room for flows over `ways`.
    pub(super) fn new(ways: &'a Ways<'a>) -> Self {
        Self {
            ways,
            load: vec![0.0; ways.counted],
            carried: vec![0.0; ways.counted],
            routes: Vec::new(),
            ports: Vec::new(),
            shares: Vec::new(),
            ends: Vec::new(),
            taken: Vec::new(),
            worst: Vec::new(),
            met: Vec::new(),
        }
    }

    /// What each flow meets when all these pairs of endpoints send so much at once.
    ///
    /// # Errors
    /// When two endpoints share no plane, or a route does not arrive.
    pub(super) fn level(
        &mut self,
        mut pairs: impl Iterator<Item = Weighted>,
    ) -> Result<&[Met], Refusal> {
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
        self.met.clear();
        self.met.extend(self.ends.iter().map(|&(end, amount)| {
            let routes = &worst[std::mem::replace(&mut begin, end)..end];
            let least = if amount < 1.0 { amount } else { 1.0 };
            if let [worst] = *routes {
                let congestion = if worst > least { worst } else { least };
                let share = 1.0 / if worst > 1.0 { worst } else { 1.0 };
                return Met { share, congestion, amount };
            }
            let share = routes.iter().map(|w| 1.0 / w.max(1.0)).sum::<f64>() / routes.len() as f64;
            Met { share, congestion: routes.iter().fold(least, |m, w| m.max(*w)), amount }
        }));
        Ok(&self.met)
    }

    /// Adds a flow between two endpoints: their rails paired plane by plane, in every layer.
    fn add(&mut self, from: EndpointId, to: EndpointId, amount: f64) -> Result<(), Refusal> {
        let ways = self.ways;
        let (layers, terminals) = (ways.routing.layers(), ways.terminals);
        let begin = self.shares.len();
        let mut end = begin;
        for a in ways.rails(from) {
            for b in ways.rails(to).iter().filter(|b| b.plane == a.plane) {
                for layer in 0..layers {
                    let row = layer as usize * terminals + b.terminal as usize;
                    let (number, home) = (end as u32, ways.home[row]);
                    if a.switch != home {
                        let tree = ways.routing.tree(layer, TerminalId(b.terminal));
                        self.routes.push(Route { number, at: a.switch, home, tree });
                    }
                    if ways.counted == ways.relative.len() {
                        let first = (ways.counted - 2 * terminals) as u32;
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

    /// Walks the routes under way to their ends and notes their channels.
    ///
    /// They take their steps together, and of a step all read the table before any looks where
    /// that leads: so the waits for memory overlap.
    fn walk(&mut self) -> Result<(), Refusal> {
        let Self { ways, routes, ports, taken, .. } = self;
        for _ in 0..ways.ports.len() {
            if routes.is_empty() {
                return Ok(());
            }
            ports.clear();
            ports.extend(routes.iter().map(|route| route.tree.port(route.at as usize)));
            let mut left = 0;
            for i in 0..routes.len() {
                let route = routes[i];
                let hop = ways.hop(route.at, ports[i])?;
                taken.push((route.number, hop.channel));
                if hop.next != route.home {
                    routes[left] = Route { at: hop.next, ..route };
                    left += 1;
                }
            }
            routes.truncate(left);
        }
        Err(Refusal::new("", "a route goes in a loop", "verify the tables first"))
    }

    /// Loads the channels, finds the largest load on each route, adds up what the channels carried
    /// and clears their loads.
    fn weigh(&mut self) {
        let Self { ways, load, carried, shares, taken, worst, .. } = self;
        let relative = |c: u32| ways.alike.unwrap_or_else(|| ways.relative[c as usize]);
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
