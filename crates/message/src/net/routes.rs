//! The routes of messages: their channels, with the share of each, and the latency of the first
//! byte.

use super::detours::{DetourChooser, DetourRequest};
use super::flows::{FlowChannelShare, FlowSet, joined};
use super::parameters::{
    MessageChoosingParameters, MessageRouteSelection, NetworkTimeParameters, RailSelection,
};
use base::seed::FastRandomStream;
use base::{ComputationError, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::Topology;
use fabric::network::Cable;
use fabric::tables::Routing;
use fabric::tables::candidates::{
    CandidateHop, CandidateScheme, LaneClasses, MinimalAdaptiveRouting, PacketRoutingState,
};
use paths::PathSource;
use std::collections::HashMap;
use std::sync::Arc;

/// Loads that exceed another by less than this factor are equal but for rounding.
const SLOWER: f64 = 1.0 + 1e-9;

/// The paths that messages may take: those of tables, or minimal ones.
#[derive(Debug)]
enum MessagePathSource {
    Tables(Box<Routing>),
    Minimal(MinimalAdaptiveRouting),
}

/// A message of an operation, from an interface of one rank to another rank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentMessage {
    pub(crate) op: u32,
    pub(crate) nic: u8,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) bytes: u64,
}

/// The channels of a route with their shares, and the latency of the slowest path over them in
/// picoseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MessageChannelRoute {
    pub(super) parts: Vec<FlowChannelShare>,
    pub(super) latency: u64,
}

/// The finder of routes between endpoints.
///
/// Channels are numbered: first those of links, as in the network; then, for every terminal, the
/// channel into the network and the one out of it.
#[derive(Debug)]
pub(super) struct MessageRouteFinder {
    on: Arc<Topology>,
    paths: MessagePathSource,
    how: NetworkTimeParameters,
    /// For each endpoint, its working terminals in the order of rails.
    rails: Vec<Vec<TerminalId>>,
    seed: u64,
    /// Routes between switches that do not depend on the message, by their switches.
    known: HashMap<(u32, u32), MessageChannelRoute>,
    /// The chooser of detours, for selections that take them.
    detours: Option<DetourChooser>,
    /// Scratch memory: the candidates for the next hop.
    next: Vec<CandidateHop>,
}

impl MessageRouteFinder {
    pub(super) fn new(
        on: &PathSource,
        how: &NetworkTimeParameters,
        seed: u64,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        if how.selection.takes_detours() && matches!(on, PathSource::Tables(_)) {
            let why = format!("{} on tables, whose paths are given", how.selection.name());
            let help = "spread (all layers), one (a layer at random) or adaptive (the layer with \
                        most room)";
            return Err(Refusal::new("selection", why, help).into());
        }
        let paths = match on {
            PathSource::Tables(routing) => MessagePathSource::Tables(routing.clone()),
            PathSource::Network(topology) => MessagePathSource::Minimal(
                MinimalAdaptiveRouting::new(topology.clone(), LaneClasses::any(1), watch)?,
            ),
        };
        let on = on.topology().clone();
        let mut rails = vec![Vec::new(); on.endpoints().len()];
        for (i, terminal) in (0..).zip(on.terminals()) {
            if on.terminal_is_up(TerminalId(i)) {
                rails[terminal.endpoint.ix()].push(TerminalId(i));
            }
        }
        for of in &mut rails {
            of.sort_by_key(|t| on.terminals()[t.ix()].rail);
        }
        let known = HashMap::new();
        let (how, next) = (how.clone(), Vec::new());
        let mut new = Self { on, paths, how, rails, seed, known, detours: None, next };
        if new.how.selection.takes_detours() {
            let hop = |cable| new.cable_ps(cable) + picoseconds(new.how.switch.delay_ns);
            let hops = new.on.links().iter().map(|link| hop(&link.cable)).collect();
            let MessageChoosingParameters { candidates, parts } = new.how.choosing;
            let always = new.how.selection == MessageRouteSelection::Valiant;
            new.detours = Some(DetourChooser::new(&new.on, (candidates, parts, always), hops));
        }
        Ok(new)
    }

    /// The rate of every channel, in bytes per picosecond.
    pub(super) fn rates(&self) -> Vec<f64> {
        let rate = |cable: &Cable| {
            self.how.link.rate_gbps.unwrap_or_else(|| cable.rate_gbps()) / 8.0 / 1000.0
        };
        let links = self.on.links().iter().map(|link| &link.cable);
        let terminals = self.on.terminals().iter().map(|terminal| &terminal.cable);
        links.chain(terminals).flat_map(|cable| [rate(cable), rate(cable)]).collect()
    }

    fn cable_ps(&self, cable: &Cable) -> u64 {
        self.how.link.latency_ns.map_or_else(|| cable.latency().0, picoseconds)
    }

    /// An upper bound of a route's latency, in picoseconds.
    pub(super) fn longest(&self) -> u64 {
        let links = self.on.links().iter().map(|link| &link.cable);
        let cables = links.chain(self.on.terminals().iter().map(|terminal| &terminal.cable));
        let cable = cables.map(|cable| self.cable_ps(cable)).max().unwrap_or(0);
        let hop = cable + picoseconds(self.how.switch.delay_ns);
        let local = picoseconds(self.how.network.local_ns);
        local.max(
            2 * picoseconds(self.how.network.nic_ns) + hop * (self.on.switches().len() as u64 + 1),
        )
    }

    /// The route of the message `sent` between two different endpoints.
    ///
    /// # Errors
    /// When there is no route.
    pub(super) fn find(
        &mut self,
        (from, to): (u32, u32),
        sent: SentMessage,
        flows: &FlowSet,
    ) -> Result<MessageChannelRoute, Refusal> {
        let pairs = self.pairs(from, to, sent.nic)?;
        let part = 1.0 / pairs.len() as f64;
        let mut all = MessageChannelRoute::default();
        for (i, &(from, to)) in pairs.iter().enumerate() {
            let [s, t] = [from, to].map(|t| self.on.terminals()[t.ix()]);
            let first = 2 * self.on.links().len() as u32;
            let ends = [first + 2 * from.0, first + 2 * to.0 + 1];
            all.parts.extend(ends.map(|channel| FlowChannelShare { channel, share: part }));
            let route = if self.detours.is_some() {
                self.over_detours((from, to), ends, (sent, i, part), flows)?
            } else {
                self.between_switches(from, to, (sent.op, i), flows)?
            };
            let ends = self.cable_ps(&s.cable) + self.cable_ps(&t.cable);
            all.latency = all.latency.max(route.latency + ends);
            all.parts.extend(
                route.parts.iter().map(|p| FlowChannelShare { share: p.share * part, ..*p }),
            );
        }
        if pairs.len() > 1 {
            // rails in the same plane share channels
            all.parts = joined(all.parts);
        }
        all.latency += 2 * picoseconds(self.how.network.nic_ns);
        Ok(all)
    }

    /// The pairs of terminals at which a message leaves and arrives, one for each rail that it
    /// uses.
    fn pairs(&self, from: u32, to: u32, nic: u8) -> Result<Vec<(TerminalId, TerminalId)>, Refusal> {
        let plane = |t: &TerminalId| self.on.plane_of(*t);
        let [ours, theirs] = [from, to].map(|e| &self.rails[e as usize]);
        let rail = |t: &TerminalId| self.on.terminals()[t.ix()].rail;
        let mut pairs: Vec<(TerminalId, TerminalId)> = Vec::new();
        for s in ours {
            let fits = |t: &&TerminalId| plane(t) == plane(s);
            // a rail is paired with the rail of the same number in its plane if there is one, else
            // with any
            let own = theirs.iter().filter(fits).find(|t| rail(t) == rail(s));
            if let Some(t) = own.or_else(|| theirs.iter().find(fits)) {
                pairs.push((*s, *t));
            }
        }
        if pairs.is_empty() {
            let [a, b] = [from, to].map(|e| &self.on.endpoints()[e as usize].name);
            let why = format!("no rail that works leads from {a} to {b}");
            return Err(Refusal::new("network", why, "endpoints with a plane in common"));
        }
        if self.how.rail == RailSelection::ByInterface {
            let one = pairs[usize::from(nic) % pairs.len()];
            pairs = vec![one];
        }
        Ok(pairs)
    }

    /// The random numbers of the message of an operation on one rail.
    fn random(&self, op: u32, rail: usize) -> FastRandomStream {
        FastRandomStream::new(self.seed, "paths of messages", u64::from(op) << 8 | rail as u64)
    }

    /// The route from the switch of one terminal to the switch of another, with detours. `ends` are
    /// the channels of the terminals, `part` the part of the message that the rail carries.
    fn over_detours(
        &mut self,
        (from, to): (TerminalId, TerminalId),
        ends: [u32; 2],
        (sent, rail, part): (SentMessage, usize, f64),
        flows: &FlowSet,
    ) -> Result<MessageChannelRoute, Refusal> {
        let [from, to] = [from, to].map(|t| self.on.terminals()[t.ix()].plug.switch);
        let bytes = sent.bytes.saturating_sub(1) as f64;
        let loads = ends.map(|channel| flows.load(channel, part));
        let ends = loads[0].max(loads[1]) * SLOWER;
        if self.how.selection == MessageRouteSelection::UgalG {
            let spread = self.spread(from, to)?;
            let load = |p: &FlowChannelShare| flows.load(p.channel, p.share * part);
            if bytes <= 0.0 || spread.parts.iter().all(|p| load(p) <= ends) {
                // no path is faster than the message's own terminals
                return Ok(spread.clone());
            }
        }
        let draw = self.random(sent.op, rail);
        let request = DetourRequest { from, to, ends, part, bytes, draw };
        if let (Some(detours), MessagePathSource::Minimal(minimal)) =
            (&mut self.detours, &self.paths)
            && let Some((parts, latency)) = detours.route(minimal, flows, request)
        {
            let latency = latency + picoseconds(self.how.switch.delay_ns);
            return Ok(MessageChannelRoute { parts, latency });
        }
        Err(self.no_path(from, to, "there is no path"))
    }

    /// The route from the switch of one terminal to the switch of another.
    fn between_switches(
        &mut self,
        from: TerminalId,
        to: TerminalId,
        (op, rail): (u32, usize),
        flows: &FlowSet,
    ) -> Result<MessageChannelRoute, Refusal> {
        let [s, t] = [from, to].map(|t| self.on.terminals()[t.ix()].plug.switch);
        let draw = || self.random(op, rail);
        if let MessagePathSource::Tables(tables) = &self.paths {
            let layers = tables.layers();
            return match self.how.selection {
                MessageRouteSelection::Spread => self.over_layers(from, to),
                MessageRouteSelection::One => self.of_layer(draw().below(layers), from, to),
                _ => {
                    let mut best = (0.0, MessageChannelRoute::default());
                    for layer in 0..layers {
                        let route = self.of_layer(layer, from, to)?;
                        let rooms = route.parts.iter().map(|p| flows.room(p.channel));
                        let room = rooms.fold(f64::INFINITY, f64::min);
                        if room > best.0 {
                            best = (room, route);
                        }
                    }
                    Ok(best.1)
                }
            };
        }
        match self.how.selection {
            MessageRouteSelection::Spread => self.spread(s, t).cloned(),
            MessageRouteSelection::One => {
                let mut draw = draw();
                self.step_by_step(s, t, |next| draw.below(next.len() as u32) as usize)
            }
            _ => self.step_by_step(s, t, |next| {
                let room = |c: &CandidateHop| flows.room(c.channel.0);
                let best = next.iter().map(room).fold(0.0, f64::max);
                next.iter().position(|c| room(c) >= best).unwrap_or(0)
            }),
        }
    }

    /// The route by one layer of the tables.
    fn of_layer(
        &self,
        layer: u32,
        from: TerminalId,
        to: TerminalId,
    ) -> Result<MessageChannelRoute, Refusal> {
        let MessagePathSource::Tables(tables) = &self.paths else {
            return Ok(MessageChannelRoute::default());
        };
        let [s, t] = [from, to].map(|t| self.on.terminals()[t.ix()].plug.switch);
        let mut walk = tables.walk(layer, to, s);
        let mut route = MessageChannelRoute {
            parts: Vec::new(),
            latency: picoseconds(self.how.switch.delay_ns),
        };
        for hop in walk.by_ref().take(self.on.switches().len()) {
            self.add_hop(&mut route, hop.channel.0);
        }
        let plug = self.on.terminals()[to.ix()].plug;
        let delivers = walk.at() == t && tables.tree(layer, to).port(t.ix()) == plug.port;
        let works = |p: &FlowChannelShare| self.on.link_is_up(base::LinkId(p.channel / 2));
        if delivers && route.parts.iter().all(works) {
            return Ok(route);
        }
        Err(self.no_path(s, t, &format!("layer {layer} of the tables does not lead")))
    }

    fn add_hop(&self, route: &mut MessageChannelRoute, channel: u32) {
        route.parts.push(FlowChannelShare { channel, share: 1.0 });
        let cable = &self.on.links()[channel as usize / 2].cable;
        route.latency += self.cable_ps(cable) + picoseconds(self.how.switch.delay_ns);
    }

    /// The route over all layers of the tables, with equal shares.
    fn over_layers(
        &self,
        from: TerminalId,
        to: TerminalId,
    ) -> Result<MessageChannelRoute, Refusal> {
        let MessagePathSource::Tables(tables) = &self.paths else {
            return Ok(MessageChannelRoute::default());
        };
        if tables.layers() == 1 {
            return self.of_layer(0, from, to);
        }
        let share = 1.0 / f64::from(tables.layers());
        let mut all = MessageChannelRoute::default();
        for layer in 0..tables.layers() {
            let route = self.of_layer(layer, from, to)?;
            all.latency = all.latency.max(route.latency);
            for part in route.parts {
                match all.parts.iter_mut().find(|p| p.channel == part.channel) {
                    Some(known) => known.share += share,
                    None => all.parts.push(FlowChannelShare { share, ..part }),
                }
            }
        }
        Ok(all)
    }

    /// The route over all shortest paths, which is found once.
    fn spread(&mut self, from: SwitchId, to: SwitchId) -> Result<&MessageChannelRoute, Refusal> {
        if !self.known.contains_key(&(from.0, to.0)) {
            let route = self.over_all(from, to)?;
            self.known.insert((from.0, to.0), route);
        }
        Ok(&self.known[&(from.0, to.0)])
    }

    /// The route over all shortest paths: every switch splits its share equally among all next
    /// hops.
    fn over_all(&mut self, from: SwitchId, to: SwitchId) -> Result<MessageChannelRoute, Refusal> {
        let mut parts = Vec::new();
        // switches at the same distance, each with its share and the latency of the slowest path to
        // it
        let mut front = vec![(from, 1.0, picoseconds(self.how.switch.delay_ns))];
        while front.iter().any(|&(at, ..)| at != to) {
            let mut ahead: Vec<(SwitchId, f64, u64)> = Vec::new();
            for &(at, part, latency) in &front {
                self.nearer(at, to)?;
                let share = part / self.next.len() as f64;
                for hop in &self.next {
                    parts.push(FlowChannelShare { channel: hop.channel.0, share });
                    let cable = &self.on.links()[hop.channel.link().ix()].cable;
                    let late =
                        latency + self.cable_ps(cable) + picoseconds(self.how.switch.delay_ns);
                    match ahead.iter_mut().find(|(at, ..)| *at == hop.to) {
                        Some(known) => *known = (hop.to, known.1 + share, known.2.max(late)),
                        None => ahead.push((hop.to, share, late)),
                    }
                }
            }
            front = ahead;
        }
        Ok(MessageChannelRoute { parts, latency: front.first().map_or(0, |f| f.2) })
    }

    /// A route of a single path, whose hops `choose` selects one by one.
    fn step_by_step(
        &mut self,
        from: SwitchId,
        to: SwitchId,
        mut choose: impl FnMut(&[CandidateHop]) -> usize,
    ) -> Result<MessageChannelRoute, Refusal> {
        let mut route = MessageChannelRoute {
            parts: Vec::new(),
            latency: picoseconds(self.how.switch.delay_ns),
        };
        let mut at = from;
        while at != to {
            self.nearer(at, to)?;
            let hop = self.next[choose(&self.next)];
            self.add_hop(&mut route, hop.channel.0);
            at = hop.to;
        }
        Ok(route)
    }

    /// Stores the hops from `at` that are nearer to `to` in [`MessageRouteFinder::next`]; there is
    /// at least one.
    fn nearer(&mut self, at: SwitchId, to: SwitchId) -> Result<(), Refusal> {
        self.next.clear();
        if let MessagePathSource::Minimal(minimal) = &self.paths {
            minimal.next(at, PacketRoutingState { goal: to.0, state: 0 }, &mut self.next);
        }
        if self.next.is_empty() {
            return Err(self.no_path(at, to, "there is no path"));
        }
        Ok(())
    }

    fn no_path(&self, from: SwitchId, to: SwitchId, why: &str) -> Refusal {
        let [a, b] = [from, to].map(|s| &self.on.switches()[s.ix()].name);
        Refusal::new("network", format!("{why} from {a} to {b}"), "a path between all ranks")
    }
}

/// Converts nanoseconds to picoseconds, rounded.
pub(super) fn picoseconds(ns: f64) -> u64 {
    (ns * 1000.0).round() as u64
}
