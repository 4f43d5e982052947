//! Routing on the balanced dragonfly: minimal, and UGAL, with a channel for each phase.

use super::kind::{
    EnumerableRouting, PossibleRoutingStep, RoutingSearchPosition, few, unknown, want,
};
use base::Refusal;
use base::seed::FastRandomStream;
use paths::guide::{OutputRequest, PacketPosition, RoutingGuide, lanes};
use paths::word::PacketHeader;

/// The minimal and the UGAL routing function of a dragonfly.
struct DragonflyRouting {
    p: u32,
    /// Number of routers of a group.
    a: u32,
    routers: u32,
    vcs: u8,
    ugal: bool,
}

/// UGAL takes the longer path only if it is better by this number of flits: `BookSim`'s constant.
const BIAS: u32 = 30;

pub(super) fn guide(
    p: u32,
    name: &str,
    vcs: u8,
) -> Result<Box<dyn EnumerableRouting + Send>, Refusal> {
    let ugal = match name {
        "min" => false,
        "ugal" => true,
        _ => return Err(unknown(name, &["min", "ugal"])),
    };
    few(vcs, if ugal { 3 } else { 2 }, name)?;
    if ugal && vcs > 3 {
        let why = format!("{vcs} with ugal");
        return Err(Refusal::new("num_vcs", why, "exactly 3: one for each phase"));
    }
    let a = 2 * p;
    Ok(Box::new(DragonflyRouting { p, a, routers: a * (a * p + 1), vcs, ugal }))
}

impl DragonflyRouting {
    /// The port from a router towards another: directly in its group, else over the one global
    /// link.
    #[inline]
    fn port(&self, from: u32, to: u32) -> u16 {
        let (group, other) = (from / self.a, to / self.a);
        let out = if other < group { other } else { other.wrapping_sub(1) };
        let at = from % self.a;
        let gate = if group == other { to % self.a } else { out / self.p };
        let port = match at.cmp(&gate) {
            std::cmp::Ordering::Equal => self.p + self.a - 1 + out % self.p,
            std::cmp::Ordering::Less => self.p + gate - 1,
            std::cmp::Ordering::Greater => self.p + gate,
        };
        port as u16
    }

    fn is_global(&self, port: u16) -> bool {
        u32::from(port) >= self.p + self.a - 1
    }

    /// The packet's note after a hop, which is also its channel: the packet's last global link
    /// increases it.
    #[inline]
    fn channel(&self, note: u32, port: u16) -> u32 {
        match (self.ugal, note, self.is_global(port)) {
            (false, 0, true) => 1,
            (true, 1, true) => 2,
            _ => note,
        }
    }

    /// The note of a packet at its first router.
    fn begin(
        &self,
        here: &mut PacketPosition<'_>,
        packet: &mut PacketHeader<'_>,
        last: u32,
    ) -> u32 {
        let group = here.router / self.a;
        if !self.ugal {
            return 0;
        }
        if last / self.a == group {
            return 2;
        }
        let via = here.random.below(self.routers);
        if via / self.a == group {
            return 1;
        }
        let used = |to: u32| here.sight.used(self.port(here.router, to));
        if used(last) <= 2 * used(via) + BIAS {
            return 1;
        }
        packet.set_via(via);
        0
    }
}

impl RoutingGuide for DragonflyRouting {
    fn sees_queues(&self) -> bool {
        self.ugal
    }

    fn lanes(&self) -> u8 {
        self.vcs
    }

    fn vias(&self) -> u32 {
        if self.ugal { self.routers } else { 1 }
    }

    fn inject(&self, _: u32, _: &mut PacketHeader<'_>, random: &mut FastRandomStream) -> u32 {
        1 << random.below(u32::from(self.vcs))
    }

    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        let target = packet.target();
        let last = target / self.p;
        let mut note = packet.note();
        if u32::from(here.in_port) < self.p {
            note = self.begin(here, packet, last);
        }
        if self.ugal && note == 0 && here.router == packet.via() {
            note = 1;
        }
        let goal = if self.ugal && note == 0 { packet.via() } else { last };
        if goal == here.router {
            packet.set_note(note);
            return want((target % self.p) as u16, 1 << note);
        }
        let port = self.port(here.router, goal);
        note = self.channel(note, port);
        packet.set_note(note);
        want(port, 1 << note)
    }
}

impl EnumerableRouting for DragonflyRouting {
    fn starts(&self, source: u32, goal: u32, found: &mut Vec<u32>) {
        let inside = source / self.a == goal / self.a;
        found.extend(match (self.ugal, inside) {
            (false, _) => &[0][..],
            (true, true) => &[2],
            (true, false) => &[0, 1],
        });
    }

    fn then(&self, note: u32) -> Option<u32> {
        (self.ugal && note == 0).then_some(1)
    }

    fn steps(&self, at: &RoutingSearchPosition, found: &mut Vec<PossibleRoutingStep>) {
        let port = self.port(at.router, at.goal);
        let note = self.channel(at.note, port);
        found.push(PossibleRoutingStep {
            on: lanes(0, self.vcs - 1),
            want: want(port, 1 << note),
            note,
        });
    }
}
