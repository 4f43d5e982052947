//! Routing on k-ary n-trees: up to the nearest common ancestors at random, then down.

use super::kind::{
    EnumerableRouting, PossibleRoutingStep, RoutingSearchPosition, VirtualChannelHalves, unknown,
    want,
};
use base::Refusal;
use paths::guide::{OutputRequest, PacketPosition, RoutingGuide};
use paths::word::PacketHeader;

/// The nearest-common-ancestor routing functions of a fat tree.
struct FatTreeRouting {
    k: u32,
    n: u32,
    /// Number of routers of a level.
    across: u32,
    vcs: VirtualChannelHalves,
    /// Whether two up ports are drawn and the less used one is taken.
    adaptive: bool,
}

pub(super) fn guide(
    k: u32,
    n: u32,
    name: &str,
    vcs: u8,
) -> Result<Box<dyn EnumerableRouting + Send>, Refusal> {
    let adaptive = match name {
        "nca" => false,
        "anca" => true,
        _ => return Err(unknown(name, &["nca", "anca"])),
    };
    Ok(Box::new(FatTreeRouting {
        k,
        n,
        across: k.pow(n - 1),
        vcs: VirtualChannelHalves::new(vcs),
        adaptive,
    }))
}

impl FatTreeRouting {
    /// The port down towards an endpoint; none if the endpoint is not below this router.
    #[inline]
    fn down(&self, router: u32, endpoint: u32) -> Option<u16> {
        let (level, position) = (router / self.across, router % self.across);
        let below = self.k.pow(self.n - 1 - level);
        let branch = endpoint / below;
        (branch / self.k == position / below).then_some((branch % self.k) as u16)
    }
}

impl RoutingGuide for FatTreeRouting {
    fn sees_queues(&self) -> bool {
        self.adaptive
    }

    fn lanes(&self) -> u8 {
        self.vcs.count
    }

    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        if let Some(port) = self.down(here.router, packet.target()) {
            return want(port, self.vcs.all);
        }
        let mut draw = || (self.k + here.random.below(self.k)) as u16;
        let mut port = draw();
        if self.adaptive {
            let other = draw();
            if here.sight.used(port) > here.sight.used(other) {
                port = other;
            }
        }
        want(port, self.vcs.all)
    }
}

impl EnumerableRouting for FatTreeRouting {
    fn starts(&self, _: u32, goal: u32, found: &mut Vec<u32>) {
        if goal / self.across == self.n - 1 {
            found.push(0);
        }
    }

    fn steps(&self, at: &RoutingSearchPosition, found: &mut Vec<PossibleRoutingStep>) {
        let endpoint = at.goal % self.across * self.k;
        let all = self.vcs.all;
        let mut add =
            |port| found.push(PossibleRoutingStep { on: all, want: want(port, all), note: 0 });
        match self.down(at.router, endpoint) {
            Some(port) => add(port),
            None => (self.k..2 * self.k).for_each(|port| add(port as u16)),
        }
    }
}
