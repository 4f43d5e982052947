//! Routing on networks of files: minimal, and the `PolarFly` variant's Valiant, UGAL-L and UGAL-G.

use super::kind::{
    EndpointAttachments, EnumerableRouting, PossibleRoutingStep, RoutingSearchPosition,
    VirtualChannelHalves, few, unknown, want,
};
use base::Refusal;
use paths::guide::{OutputRequest, PacketPosition, RoutingGuide};
use paths::wiring::RouterWiring;
use paths::word::PacketHeader;
use std::any::Any;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The rule by which a routing function of anynet chooses a path.
#[derive(Clone, Copy, PartialEq)]
enum AnynetRoutingRule {
    Min,
    Valiant,
    Local,
    Global,
}

/// A routing function of a network that a file describes.
pub(crate) struct AnynetRouting {
    routers: u32,
    homes: EndpointAttachments,
    /// For each pair of routers, row by row, the port from the first towards the second.
    next: Vec<u16>,
    /// For each pair of routers, row by row, their lowest common neighbour; empty without UGAL.
    between: Vec<Option<CommonNeighbour>>,
    /// For each pair of routers, row by row, whether they are linked; empty without UGAL.
    linked: Vec<bool>,
    vcs: VirtualChannelHalves,
    rule: AnynetRoutingRule,
    hops: bool,
}

/// A common neighbour of two routers.
#[derive(Clone, Copy)]
struct CommonNeighbour {
    router: u32,
    /// Whether the two are linked as well.
    linked: bool,
}

/// Most pairs of routers for which tables are built.
const MOST_PAIRS: u64 = 1 << 28;

/// The note of a packet that has not yet reached its intermediate router.
const DETOUR: u32 = 1;
/// The note of a packet that goes to its last router.
const LAST: u32 = 2;
/// The number of intermediate routers that UGAL draws and compares.
const DRAWN: usize = 4;

const NAMES: [&str; 4] = ["min", "val", "ugallnew", "ugalgnew"];

pub(super) fn guide(
    neighbours: &[Vec<(u32, u32)>],
    wiring: &RouterWiring,
    homes: EndpointAttachments,
    name: &str,
    vcs: u8,
    hops: bool,
) -> Result<Box<dyn EnumerableRouting + Send>, Refusal> {
    let rule = match name {
        "min" => AnynetRoutingRule::Min,
        "val" => AnynetRoutingRule::Valiant,
        "ugallnew" => AnynetRoutingRule::Local,
        "ugalgnew" => AnynetRoutingRule::Global,
        _ => return Err(unknown(name, &NAMES)),
    };
    let routers = neighbours.len() as u32;
    let with = homes.on.iter().filter(|on| **on > 0).count() as u32;
    let needs = "three routers with endpoints at least, to go over one that is neither end";
    if rule != AnynetRoutingRule::Min && with < 3 {
        let why = format!("{name} where {with} routers have endpoints");
        return Err(Refusal::new("routing_function", why, needs));
    }
    if matches!(rule, AnynetRoutingRule::Local | AnynetRoutingRule::Global) && with < routers {
        let why = format!("{name} where {} routers have no endpoint", routers - with);
        return Err(Refusal::new("routing_function", why, "endpoints on every router"));
    }
    if u64::from(routers).pow(2) > MOST_PAIRS {
        let help = format!("at most {MOST_PAIRS} pairs of routers");
        return Err(Refusal::new("network_file", format!("{routers} routers"), help));
    }
    if hops {
        few(vcs, LAST_LANE + 1, "vc_policy hops")?;
    }
    let (mut linked, mut middles) = (Vec::new(), Vec::new());
    if matches!(rule, AnynetRoutingRule::Local | AnynetRoutingRule::Global) {
        linked.resize((routers as usize).pow(2), false);
        for (row, from) in linked.chunks_mut(routers as usize).zip(neighbours) {
            for (to, _) in from {
                row[*to as usize] = true;
            }
        }
        middles = between(neighbours, &linked);
    }
    let far = |i: usize| i / routers as usize != i % routers as usize && !linked[i];
    if rule == AnynetRoutingRule::Global
        && (0..linked.len()).any(|i| far(i) && middles[i].is_none())
    {
        let why = "ugalgnew where two routers have neither link nor common neighbour";
        return Err(Refusal::new("routing_function", why, "a network of diameter 2"));
    }
    let next = tables(neighbours, wiring);
    let vcs = VirtualChannelHalves::new(vcs);
    Ok(Box::new(AnynetRouting { routers, homes, next, between: middles, linked, vcs, rule, hops }))
}

/// For each pair of routers, row by row, the first port of the shortest path by latency.
///
/// If two paths are equally short, the predecessor that was settled first counts: the nearest one,
/// and among equally near ones that of the lowest number. O(routers links log routers).
fn tables(neighbours: &[Vec<(u32, u32)>], wiring: &RouterWiring) -> Vec<u16> {
    let size = neighbours.len();
    let mut next = vec![0; size * size];
    let mut far = vec![u64::MAX; size];
    for (start, row) in (0_u32..).zip(next.chunks_mut(size.max(1))) {
        far.fill(u64::MAX);
        far[start as usize] = 0;
        let mut open = BinaryHeap::from([Reverse((0, start))]);
        while let Some(Reverse((at, router))) = open.pop() {
            if at > far[router as usize] {
                continue;
            }
            for &(to, latency) in &neighbours[router as usize] {
                let length = at + u64::from(latency);
                if length >= far[to as usize] {
                    continue;
                }
                far[to as usize] = length;
                row[to as usize] = if router == start {
                    wiring.port_to(start, to).expect("neighbours are cabled")
                } else {
                    row[router as usize]
                };
                open.push(Reverse((length, to)));
            }
        }
    }
    next
}

/// For each pair of routers, row by row, their lowest common neighbour, if they have one.
fn between(neighbours: &[Vec<(u32, u32)>], linked: &[bool]) -> Vec<Option<CommonNeighbour>> {
    let size = neighbours.len();
    let mut found: Vec<Option<CommonNeighbour>> = vec![None; size * size];
    for (router, row) in (0..size as u32).zip(neighbours) {
        for &(a, _) in row {
            for &(b, _) in row.iter().filter(|(b, _)| *b != a) {
                let at = a as usize * size + b as usize;
                found[at].get_or_insert(CommonNeighbour { router, linked: linked[at] });
            }
        }
    }
    found
}

impl AnynetRouting {
    #[inline]
    fn port(&self, from: u32, to: u32) -> u16 {
        self.next[(from * self.routers + to) as usize]
    }

    /// The router that the variant assumes between two others when it estimates a path, if any.
    ///
    /// For linked routers that also share a neighbour, the variant assumes that neighbour with
    /// probability one half. If the neighbour is router 0, it is always assumed: the variant throws
    /// no coin for it.
    fn middle(&self, here: &mut PacketPosition<'_>, from: u32, to: u32) -> Option<u32> {
        let middle = self.between[(from * self.routers + to) as usize]?;
        let coin = middle.linked && middle.router > 0;
        (!coin || here.random.below(2) == 1).then_some(middle.router)
    }

    /// The used buffer space of the path from a router to another: the sum over its one or two
    /// links.
    fn used(&self, here: &mut PacketPosition<'_>, from: u32, to: u32, middle: Option<u32>) -> u64 {
        let legs = match middle {
            Some(middle) => [Some((from, middle)), Some((middle, to))],
            None => [Some((from, to)), None],
        };
        let used = |(a, b)| {
            let port = self.port(a, b);
            if a == here.router { here.sight.used(port) } else { here.sight.used_at(a, port) }
        };
        legs.into_iter().flatten().map(|leg| u64::from(used(leg))).sum()
    }

    /// UGAL's cost of the path over the intermediate router `via`.
    fn long(&self, here: &mut PacketPosition<'_>, via: u32, last: u32) -> u64 {
        let first = self.middle(here, here.router, via);
        let second = self.middle(here, via, last);
        if self.rule == AnynetRoutingRule::Global {
            return self.used(here, here.router, via, first) + self.used(here, via, last, second);
        }
        let hops = 2 + u64::from(first.is_some()) + u64::from(second.is_some());
        hops * u64::from(here.sight.used(self.port(here.router, via)))
    }

    /// UGAL's cost of the path without an intermediate router.
    fn short(&self, here: &mut PacketPosition<'_>, last: u32) -> u64 {
        if here.router == last {
            return 0;
        }
        let middle = self.between[(here.router * self.routers + last) as usize];
        let middle = middle.filter(|m| !m.linked).map(|m| m.router);
        if self.rule == AnynetRoutingRule::Global {
            return self.used(here, here.router, last, middle);
        }
        let linked = self.linked[(here.router * self.routers + last) as usize];
        let hops = if linked { 1 } else { 2 };
        hops * u64::from(here.sight.used(self.port(here.router, last)))
    }

    /// Draws an intermediate router, which is neither the current nor the last one.
    fn draw(&self, here: &mut PacketPosition<'_>, last: u32) -> u32 {
        loop {
            let via = match self.rule {
                AnynetRoutingRule::Valiant => {
                    self.homes.router(here.random.below(self.homes.at.len() as u32))
                }
                _ => here.random.below(self.routers),
            };
            if via != here.router && via != last {
                return via;
            }
        }
    }

    /// Sets the note of a packet at its first router, and chooses its intermediate router.
    fn begin(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>, last: u32) {
        packet.set_note(if self.rule == AnynetRoutingRule::Min { LAST } else { DETOUR });
        match self.rule {
            AnynetRoutingRule::Min => {}
            AnynetRoutingRule::Valiant => {
                let via = self.draw(here, last);
                packet.set_via(via);
            }
            AnynetRoutingRule::Local | AnynetRoutingRule::Global => {
                let mut least = (u64::MAX, 0);
                for _ in 0..DRAWN {
                    let via = self.draw(here, last);
                    let cost = self.long(here, via, last);
                    if cost < least.0 {
                        least = (cost, via);
                    }
                }
                if self.short(here, last) <= least.0 {
                    packet.set_note(LAST);
                }
                packet.set_via(least.1);
            }
        }
    }
}

impl RoutingGuide for AnynetRouting {
    fn itself(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn sees_queues(&self) -> bool {
        matches!(self.rule, AnynetRoutingRule::Local | AnynetRoutingRule::Global)
    }

    fn lanes(&self) -> u8 {
        self.vcs.count
    }

    fn vias(&self) -> u32 {
        if self.rule == AnynetRoutingRule::Min { 1 } else { self.routers }
    }

    fn sees_far(&self) -> bool {
        self.rule == AnynetRoutingRule::Global
    }

    #[inline]
    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        let target = packet.target();
        let last = self.homes.router(target);
        let first = here.in_port < self.homes.on[here.router as usize];
        if first {
            self.begin(here, packet, last);
        }
        if packet.note() == DETOUR && packet.via() == here.router {
            packet.set_note(LAST);
        }
        let goal = if packet.note() == DETOUR { packet.via() } else { last };
        if goal == here.router {
            return want(self.homes.port(target), self.vcs.all);
        }
        let lanes = match (self.hops, first) {
            (false, _) => self.vcs.all,
            (true, true) => 1,
            (true, false) => next_lane(1 << here.lane, self.vcs),
        };
        want(self.port(here.router, goal), lanes)
    }
}

/// The channels on the next link, after `lanes` on this one, if the channel is the number of links
/// crossed before, at most 3.
fn next_lane(lanes: u32, vcs: VirtualChannelHalves) -> u32 {
    let kept = lanes >> LAST_LANE & 1;
    (lanes << 1 | kept << LAST_LANE) & ((1 << (LAST_LANE + 1)) - 1) & vcs.all
}

/// The channel of all links from the fourth on.
const LAST_LANE: u32 = 3;

impl EnumerableRouting for AnynetRouting {
    fn starts(&self, _: u32, goal: u32, found: &mut Vec<u32>) {
        if self.homes.on[goal as usize] == 0 {
            return;
        }
        if self.rule != AnynetRoutingRule::Valiant {
            found.push(LAST);
        }
        if self.rule != AnynetRoutingRule::Min {
            found.push(DETOUR);
        }
    }

    fn then(&self, note: u32) -> Option<u32> {
        (note == DETOUR).then_some(LAST)
    }

    fn steps(&self, at: &RoutingSearchPosition, found: &mut Vec<PossibleRoutingStep>) {
        let port = self.port(at.router, at.goal);
        let mut add = |on, lanes| {
            found.push(PossibleRoutingStep { on, want: want(port, lanes), note: at.note });
        };
        if !self.hops {
            return add(self.vcs.all, self.vcs.all);
        }
        if at.in_port.is_none() {
            return add(self.vcs.all, 1);
        }
        for lane in (0..u32::from(self.vcs.count)).map(|lane| 1 << lane) {
            if at.lanes & lane != 0 {
                add(lane, next_lane(lane, self.vcs));
            }
        }
    }
}
