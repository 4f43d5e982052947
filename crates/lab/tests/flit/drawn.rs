//! Random routing functions that draw the same numbers in the fast and in the slow routers: a draw
//! depends on where a packet is and where it goes, not on the draws before it.

use crate::reference::{ReferenceNetwork, VirtualChannelRule};
use crate::slow::{CableEnd, Flit, Port, RouteRequest};
use base::seed::FastRandomStream;
use flit::booksim::routing::EnumerableRouting;
use formats::booksim::{SettingsSource, read};
use lab::booksim::case;
use paths::guide::{self, PacketPosition, RoutingGuide};
use paths::wiring::{self, RouterWiring};
use paths::word;

/// The draws of a packet to `to` at a router, which it entered by a port and a channel: 0 at the
/// first router, because with lookahead the packet is routed there before it has a channel.
fn draws(router: usize, input: usize, vc: usize, to: usize) -> FastRandomStream {
    let place = [router, input, vc, to].into_iter().fold(0, |sum, part| sum * 256 + part as u64);
    FastRandomStream::new(11, "draws", place)
}

/// The port number of a packet that is still at its source.
const NO_PORT: usize = 255;

/// A routing function with the draws of [`draws`].
pub(crate) struct FixedDrawRouting<'a> {
    pub(crate) guide: &'a (dyn EnumerableRouting + Send),
    pub(crate) wiring: &'a RouterWiring,
}

impl FixedDrawRouting<'_> {
    fn with<T>(
        &self,
        here: &mut PacketPosition<'_>,
        packet: &mut word::PacketHeader<'_>,
        ask: impl FnOnce(&mut PacketPosition<'_>, &mut word::PacketHeader<'_>) -> T,
    ) -> T {
        let (router, input) = (here.router as usize, usize::from(here.in_port));
        let end = self.wiring.ports(here.router)[input].end;
        let is_first = matches!(end, wiring::CableEnd::Endpoint(_));
        let vc = if is_first { 0 } else { usize::from(here.lane) };
        let mut random = draws(router, input, vc, packet.target() as usize);
        let mut here = PacketPosition {
            router: here.router,
            in_port: here.in_port,
            lane: here.lane,
            sight: here.sight,
            random: &mut random,
        };
        ask(&mut here, packet)
    }
}

impl RoutingGuide for FixedDrawRouting<'_> {
    fn lanes(&self) -> u8 {
        self.guide.lanes()
    }

    fn vias(&self) -> u32 {
        self.guide.vias()
    }

    fn sees_queues(&self) -> bool {
        self.guide.sees_queues()
    }

    fn has_choices(&self) -> bool {
        self.guide.has_choices()
    }

    fn inject(
        &self,
        source: u32,
        packet: &mut word::PacketHeader<'_>,
        _: &mut FastRandomStream,
    ) -> u32 {
        let to = packet.target() as usize;
        self.guide.inject(source, packet, &mut draws(source as usize, NO_PORT, 0, to))
    }

    fn want(
        &self,
        here: &mut PacketPosition<'_>,
        packet: &mut word::PacketHeader<'_>,
    ) -> guide::OutputRequest {
        self.with(here, packet, |here, packet| self.guide.want(here, packet))
    }

    fn wants(
        &self,
        here: &mut PacketPosition<'_>,
        packet: &mut word::PacketHeader<'_>,
        found: &mut Vec<guide::OutputRequest>,
    ) {
        self.with(here, packet, |here, packet| self.guide.wants(here, packet, found));
    }
}

/// The port of a mesh of k x k routers towards another router, along the rows first or last.
fn mesh_port(k: usize, from: usize, to: usize, rows_first: bool) -> usize {
    let along = |base: usize, a: usize, b: usize| (a != b).then_some(base + usize::from(a > b));
    let (row, column) = (along(0, from % k, to % k), along(2, from / k, to / k));
    let port = if rows_first { row.or(column) } else { column.or(row) };
    port.unwrap_or(4)
}

/// The lower or the upper half of `vcs` channels; with an odd number both have the middle one.
fn half(vcs: usize, lower: bool) -> std::ops::Range<usize> {
    if lower { 0..vcs - vcs / 2 } else { vcs / 2..vcs }
}

impl ReferenceNetwork {
    /// `xy_yx` on a mesh of k x k: rows first on the lower half of the channels, columns first on
    /// the upper half. The half is drawn at the first router; the others see it by the channel.
    pub(crate) fn xy_yx(
        &self,
        k: usize,
        vcs: usize,
        place: (usize, usize),
        flit: &Flit,
    ) -> RouteRequest {
        let ((router, input), to) = (place, flit.to as usize);
        if router == to {
            return (4, 0..vcs, 0);
        }
        let rows_first = if matches!(self.ports[router][input].end, CableEnd::Endpoint(_)) {
            draws(router, input, 0, to).below(2) > 0
        } else {
            flit.vc < vcs / 2
        };
        (mesh_port(k, router, to, rows_first), half(vcs, rows_first), 0)
    }

    /// `valiant` on a mesh of k x k: dimension by dimension to an intermediate router drawn at the
    /// first one, on the lower half of the channels, then on the upper half to the last router,
    /// where all channels are allowed. The note is twice the intermediate router, and one more
    /// behind it.
    pub(crate) fn valiant(
        &self,
        k: usize,
        vcs: usize,
        (router, input): (usize, usize),
        flit: &mut Flit,
    ) -> RouteRequest {
        let to = flit.to as usize;
        if matches!(self.ports[router][input].end, CableEnd::Endpoint(_)) {
            flit.note = 2 * draws(router, input, 0, to).below((k * k) as u32);
        }
        if router as u32 == flit.note / 2 {
            flit.note |= 1;
        }
        let is_behind = flit.note % 2 == 1;
        let goal = if is_behind { to } else { flit.note as usize / 2 };
        let channels = if router == to { 0..vcs } else { half(vcs, !is_behind) };
        (mesh_port(k, router, goal, true), channels, 0)
    }

    /// `nca` on a tree of routers with k ports up: down where the endpoint is below, else up by a
    /// random port.
    pub(crate) fn nca(
        &self,
        k: usize,
        vcs: usize,
        (router, input): (usize, usize),
        flit: &Flit,
    ) -> RouteRequest {
        let to = flit.to as usize;
        let is_first = matches!(self.ports[router][input].end, CableEnd::Endpoint(_));
        let vc = if is_first { 0 } else { flit.vc };
        let port = match self.next[router][to] {
            NOT_BELOW => k + draws(router, input, vc, to).below(k as u32) as usize,
            port => port,
        };
        (port, 0..vcs, 0)
    }
}

impl ReferenceNetwork {
    /// The virtual channels on which an endpoint sends to another one: with `ugal` a random one.
    pub(crate) fn injects(&self, vcs: usize, from: usize, to: u32) -> std::ops::Range<usize> {
        if !matches!(self.rule, VirtualChannelRule::Ugal(_)) {
            return 0..vcs;
        }
        let vc = draws(from, NO_PORT, 0, to as usize).below(vcs as u32) as usize;
        vc..vc + 1
    }

    /// `ugal` on a dragonfly with groups of 2 p routers. At the first router a packet takes the
    /// direct path if the flits before its port are at most 30 more than twice those before the
    /// port towards a random router; else it goes over that router. The channels are phases: 0
    /// before the intermediate router, 1 on the direct path, 2 from the last link between groups
    /// on. The note holds the router, and two bits of phase.
    pub(crate) fn ugal(
        &self,
        p: usize,
        (router, input): (usize, usize),
        flit: &mut Flit,
        used: &[u32],
    ) -> RouteRequest {
        let (a, to) = (2 * p, flit.to as usize);
        let last = to / p;
        if input < p {
            let via = draws(router, input, 0, to).below(self.ports.len() as u32) as usize;
            let load = |goal| used[dragonfly_port(p, router, goal)];
            let phase = if last / a == router / a {
                2
            } else {
                u32::from(via / a == router / a || load(last) <= 2 * load(via) + 30)
            };
            flit.note = 4 * via as u32 + phase;
        }
        let (via, mut phase) = (flit.note as usize / 4, flit.note % 4);
        if phase == 0 && router == via {
            phase = 1;
        }
        let goal = if phase == 0 { via } else { last };
        let port = if goal == router { to % p } else { dragonfly_port(p, router, goal) };
        if phase == 1 && port >= p + a - 1 {
            phase = 2;
        }
        flit.note = 4 * via as u32 + phase;
        (port, phase as usize..phase as usize + 1, 0)
    }
}

/// The port from a router of a dragonfly to another one: ports lead to p endpoints, then to the
/// other routers of the group in their order, then p ports to the other groups in theirs.
fn dragonfly_port(p: usize, router: usize, goal: usize) -> usize {
    let a = 2 * p;
    let (group, other) = (router / a, goal / a);
    let out = other - usize::from(other > group);
    let gate = if group == other { goal } else { group * a + out / p };
    if gate == router { p + a - 1 + out % p } else { p + gate % a - usize::from(router < gate) }
}

/// A dragonfly with p endpoints on each router, cabled like that of the fast routers.
pub(crate) fn dragonfly(p: usize) -> ReferenceNetwork {
    let keys = format!(
        "topology = dragonflynew; k = {p}; n = 1; routing_function = ugal; use_noc_latency = 0;"
    );
    let ports = ports_of(&format!("{keys} num_vcs = 3;"));
    let endpoints = p * ports.len();
    ReferenceNetwork {
        keys,
        file: None,
        next: vec![vec![0; endpoints]; ports.len()],
        ports,
        rule: VirtualChannelRule::Ugal(p),
    }
}

/// The port of a router of a tree towards an endpoint that is not below it.
const NOT_BELOW: usize = usize::MAX;

/// A k-ary n-tree, cabled like that of the fast routers; the cabling says which endpoints are below
/// a port.
pub(crate) fn fat_tree(k: usize, n: usize) -> ReferenceNetwork {
    let keys = format!(
        "topology = fattree; k = {k}; n = {n}; routing_function = nca; use_noc_latency = 0;"
    );
    let ports = ports_of(&keys);
    // below a router are its endpoints, and whatever is below its routers of the next level; the
    // first k ports of a router go down
    let endpoints =
        ports.iter().flatten().filter(|p| matches!(p.end, CableEnd::Endpoint(_))).count();
    let mut next = vec![vec![NOT_BELOW; endpoints]; ports.len()];
    for _ in 0..n {
        for (r, own) in ports.iter().enumerate() {
            for (at, port) in own.iter().enumerate().take(k) {
                for e in 0..endpoints {
                    let is_below = match port.end {
                        CableEnd::Endpoint(endpoint) => endpoint == e,
                        CableEnd::Router(below, _) => next[below][e] != NOT_BELOW,
                        CableEnd::Nothing => false,
                    };
                    if is_below {
                        next[r][e] = at;
                    }
                }
            }
        }
    }
    ReferenceNetwork { keys, file: None, ports, next, rule: VirtualChannelRule::Nca(k) }
}

/// The ports of the network of a configuration, as the fast routers number them.
fn ports_of(keys: &str) -> Vec<Vec<Port>> {
    let config = read(&[SettingsSource::File { name: "a.cfg", text: keys }]).unwrap();
    let of = case(&config, None).unwrap();
    let end = |end| match end {
        wiring::CableEnd::Router { router, port } => CableEnd::Router(router as usize, port.into()),
        wiring::CableEnd::Endpoint(endpoint) => CableEnd::Endpoint(endpoint as usize),
        wiring::CableEnd::Empty => CableEnd::Nothing,
    };
    let port = |p: &wiring::Port| Port {
        end: end(p.end),
        out: p.out_latency.into(),
        into: p.in_latency.into(),
    };
    let routers = 0..of.wiring.routers();
    routers.map(|r| of.wiring.ports(r).iter().map(port).collect()).collect()
}
