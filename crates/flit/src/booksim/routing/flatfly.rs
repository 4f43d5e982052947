//! Routing on flattened butterflies: dimension-ordered, xy-yx, Valiant's and UGAL.

use super::super::networks::{digit, flatfly_port};
use super::kind::{
    EndpointAttachments, EnumerableRouting, PossibleRoutingStep, RoutingSearchPosition,
    VirtualChannelHalves, few, unknown, want,
};
use base::Refusal;
use paths::guide::{OutputRequest, PacketPosition, RoutingGuide};
use paths::word::PacketHeader;
use std::cmp::Ordering;

/// The rule by which a routing function of a flattened butterfly chooses a path.
#[derive(PartialEq)]
enum FlatFlyRoutingRule {
    Min,
    XyYx { adaptive: bool },
    Valiant,
    Ugal,
}

/// A routing function of a flattened butterfly.
struct FlatFlyRouting {
    k: u32,
    n: u32,
    c: u32,
    routers: u32,
    homes: EndpointAttachments,
    vcs: VirtualChannelHalves,
    rule: FlatFlyRoutingRule,
}

/// The note of a packet that has not yet reached its intermediate router.
const DETOUR: u32 = 1;
/// The note of a packet that goes to its last router.
const LAST: u32 = 2;
/// UGAL takes the longer path only if it is better by this number: `BookSim`'s constant.
const BIAS: u64 = 2;

const NAMES: [&str; 5] = ["ran_min", "xyyx", "adaptive_xyyx", "valiant", "ugal"];

pub(super) fn guide(
    k: u32,
    n: u32,
    c: u32,
    homes: EndpointAttachments,
    name: &str,
    vcs: u8,
) -> Result<Box<dyn EnumerableRouting + Send>, Refusal> {
    let rule = match name {
        "ran_min" => FlatFlyRoutingRule::Min,
        "xyyx" => FlatFlyRoutingRule::XyYx { adaptive: false },
        "adaptive_xyyx" => FlatFlyRoutingRule::XyYx { adaptive: true },
        "valiant" => FlatFlyRoutingRule::Valiant,
        "ugal" => FlatFlyRoutingRule::Ugal,
        _ => return Err(unknown(name, &NAMES)),
    };
    few(vcs, if rule == FlatFlyRoutingRule::Min { 1 } else { 2 }, name)?;
    Ok(Box::new(FlatFlyRouting {
        k,
        n,
        c,
        routers: k.pow(n),
        homes,
        vcs: VirtualChannelHalves::new(vcs),
        rule,
    }))
}

impl FlatFlyRouting {
    /// The port to another router in the lowest dimension in which they differ; with `highest`, in
    /// the highest one.
    #[inline]
    fn port(&self, from: u32, to: u32, highest: bool) -> u16 {
        let differs = |d: &u32| digit(from, self.k, *d) != digit(to, self.k, *d);
        let mut of = 0..self.n;
        let found = if highest { of.rfind(differs) } else { of.find(differs) };
        let d = found.expect("the other router is another one");
        flatfly_port(self.k, self.c, d, digit(from, self.k, d), digit(to, self.k, d))
    }

    fn distance(&self, a: u32, b: u32) -> u64 {
        (0..self.n).filter(|&d| digit(a, self.k, d) != digit(b, self.k, d)).count() as u64
    }

    /// Draws an intermediate router that shares the coordinates in which both ends agree, and
    /// decides whether the packet goes over it.
    fn decide(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>, last: u32) {
        let mut via = 0;
        for d in 0..self.n {
            let (a, b) = (digit(here.router, self.k, d), digit(last, self.k, d));
            let drawn = if a == b { a } else { here.random.below(self.k) };
            via += drawn * self.k.pow(d);
        }
        packet.set_note(LAST);
        if via == here.router {
            return;
        }
        let used = |to: u32| u64::from(here.sight.used(self.port(here.router, to, false)));
        let short = self.distance(here.router, last) * used(last);
        let long = self.distance(here.router, via) + self.distance(via, last);
        if short > long * used(via) + BIAS {
            packet.set_note(DETOUR);
            packet.set_via(via);
        }
    }

    /// The router that the packet goes to now, intermediate or last; sets its note.
    fn goal(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>, last: u32) -> u32 {
        let first = u32::from(here.in_port) < self.c;
        if first && self.rule == FlatFlyRoutingRule::Valiant {
            packet.set_note(DETOUR);
            packet.set_via(here.random.below(self.routers));
        } else if first {
            self.decide(here, packet, last);
        }
        if packet.note() == DETOUR && packet.via() == here.router {
            packet.set_note(LAST);
        }
        if packet.note() == DETOUR { packet.via() } else { last }
    }

    fn half(&self, note: u32) -> u32 {
        if note == DETOUR { self.vcs.lower } else { self.vcs.upper }
    }
}

impl RoutingGuide for FlatFlyRouting {
    fn sees_queues(&self) -> bool {
        matches!(self.rule, FlatFlyRoutingRule::XyYx { adaptive: true } | FlatFlyRoutingRule::Ugal)
    }

    fn lanes(&self) -> u8 {
        self.vcs.count
    }

    fn vias(&self) -> u32 {
        if matches!(self.rule, FlatFlyRoutingRule::Valiant | FlatFlyRoutingRule::Ugal) {
            self.routers
        } else {
            1
        }
    }

    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        let target = packet.target();
        let last = self.homes.router(target);
        // UGAL goes on where a detour leads through the last router
        let passes = self.rule == FlatFlyRoutingRule::Ugal
            && u32::from(here.in_port) >= self.c
            && packet.note() == DETOUR
            && packet.via() != here.router;
        if last == here.router && !passes {
            return want(self.homes.port(target), self.vcs.all);
        }
        match self.rule {
            FlatFlyRoutingRule::Min => want(self.port(here.router, last, false), self.vcs.all),
            FlatFlyRoutingRule::XyYx { adaptive } => {
                let xy = self.port(here.router, last, false);
                let yx = self.port(here.router, last, true);
                let first = u32::from(here.in_port) < self.c;
                let order = if first && adaptive {
                    here.sight.used(xy).cmp(&here.sight.used(yx))
                } else {
                    Ordering::Equal
                };
                let by_xy = match order {
                    Ordering::Greater => false,
                    Ordering::Less => true,
                    Ordering::Equal if first => here.random.below(2) == 1,
                    Ordering::Equal => self.vcs.is_low(here.lane),
                };
                if by_xy { want(xy, self.vcs.lower) } else { want(yx, self.vcs.upper) }
            }
            FlatFlyRoutingRule::Valiant | FlatFlyRoutingRule::Ugal => {
                let goal = self.goal(here, packet, last);
                want(self.port(here.router, goal, false), self.half(packet.note()))
            }
        }
    }
}

impl EnumerableRouting for FlatFlyRouting {
    fn starts(&self, _: u32, _: u32, found: &mut Vec<u32>) {
        let over = matches!(self.rule, FlatFlyRoutingRule::Valiant | FlatFlyRoutingRule::Ugal);
        found.extend(if over { &[LAST, DETOUR][..] } else { &[0] });
    }

    fn then(&self, note: u32) -> Option<u32> {
        (note == DETOUR).then_some(LAST)
    }

    fn steps(&self, at: &RoutingSearchPosition, found: &mut Vec<PossibleRoutingStep>) {
        let port = self.port(at.router, at.goal, false);
        let all = self.vcs.all;
        let mut add = |on, want| found.push(PossibleRoutingStep { on, want, note: at.note });
        match self.rule {
            FlatFlyRoutingRule::Min => add(all, want(port, all)),
            FlatFlyRoutingRule::XyYx { .. } => {
                let other = self.port(at.router, at.goal, true);
                let first = at.in_port.is_none();
                add(if first { all } else { self.vcs.low() }, want(port, self.vcs.lower));
                add(if first { all } else { self.vcs.upper }, want(other, self.vcs.upper));
            }
            FlatFlyRoutingRule::Valiant | FlatFlyRoutingRule::Ugal => {
                add(all, want(port, self.half(at.note)));
            }
        }
    }
}
