//! Routing on meshes and tori: dimension-ordered, xy-yx, Valiant's and adaptive.

use super::super::networks::digit;
use super::kind::{
    EnumerableRouting, PossibleRoutingStep, RoutingSearchPosition, VirtualChannelHalves, few,
    unknown, want,
};
use base::Refusal;
use base::seed::FastRandomStream;
use paths::guide::{OutputRequest, PacketPosition, RoutingGuide, lanes};
use paths::word::PacketHeader;
use std::cmp::Ordering;

/// The coordinates of the routers of a mesh or torus.
struct RouterCoordinates {
    k: u32,
    n: usize,
    routers: u32,
    coordinates: Vec<u32>,
}

impl RouterCoordinates {
    fn new(k: u32, n: u32) -> Self {
        let routers = k.pow(n);
        let coordinates = (0..routers).flat_map(|r| (0..n).map(move |d| digit(r, k, d))).collect();
        Self { k, n: n as usize, routers, coordinates }
    }

    #[inline]
    fn of(&self, router: u32) -> &[u32] {
        &self.coordinates[router as usize * self.n..][..self.n]
    }

    /// The port to the router's endpoint.
    #[inline]
    fn home(&self) -> u16 {
        2 * self.n as u16
    }

    /// The port from a router to another in the lowest dimension in which they differ; with
    /// `highest`, in the highest one.
    #[inline]
    fn mesh_port(&self, from: u32, to: u32, highest: bool) -> u16 {
        let (a, b) = (self.of(from), self.of(to));
        let differs = |d: &usize| a[*d] != b[*d];
        let mut of = 0..self.n;
        let found = if highest { of.rfind(differs) } else { of.find(differs) };
        found.map_or(self.home(), |d| (2 * d + usize::from(a[d] > b[d])) as u16)
    }
}

/// The rule by which a routing function of a mesh chooses dimensions and channels.
enum MeshRoutingRule {
    DimOrder,
    /// Each endpoint has this many channels of its own.
    PerEndpoint(u32),
    XyYx {
        adaptive: bool,
    },
    Valiant,
    MinAdapt,
}

/// A routing function of a mesh.
struct MeshRouting {
    cube: RouterCoordinates,
    vcs: VirtualChannelHalves,
    rule: MeshRoutingRule,
}

const MESH: [&str; 7] =
    ["dor", "dim_order", "dim_order_ni", "xy_yx", "adaptive_xy_yx", "valiant", "min_adapt"];

pub(super) fn mesh(
    k: u32,
    n: u32,
    name: &str,
    vcs: u8,
) -> Result<Box<dyn EnumerableRouting + Send>, Refusal> {
    let cube = RouterCoordinates::new(k, n);
    let (rule, least) = match name {
        "dor" | "dim_order" => (MeshRoutingRule::DimOrder, 1),
        "dim_order_ni" => {
            (MeshRoutingRule::PerEndpoint(u32::from(vcs) / cube.routers), cube.routers)
        }
        "xy_yx" => (MeshRoutingRule::XyYx { adaptive: false }, 2),
        "adaptive_xy_yx" => (MeshRoutingRule::XyYx { adaptive: true }, 2),
        "valiant" => (MeshRoutingRule::Valiant, 2),
        "min_adapt" => (MeshRoutingRule::MinAdapt, 2),
        _ => return Err(unknown(name, &MESH)),
    };
    few(vcs, least, name)?;
    Ok(Box::new(MeshRouting { cube, vcs: VirtualChannelHalves::new(vcs), rule }))
}

/// The channels of an endpoint that has `each` channels of its own, a bit each.
fn own(each: u32, endpoint: u32) -> u32 {
    let first = endpoint * each;
    lanes(first as u8, (first + each - 1) as u8)
}

impl MeshRouting {
    /// The channels that a packet may request after it has come in on one of `lanes`: from the
    /// escape channel only the escape channel.
    ///
    /// `BookSim` keeps the requests of a packet in a set with one entry for each priority. So only
    /// the lowest productive dimension is left, and that is the dimension of the escape channel.
    fn after(&self, lanes: u32) -> u32 {
        if lanes & !1 == 0 { 1 } else { self.vcs.all }
    }

    fn valiant(
        &self,
        here: &mut PacketPosition<'_>,
        packet: &mut PacketHeader<'_>,
    ) -> OutputRequest {
        let target = packet.target();
        if here.in_port == self.cube.home() {
            packet.set_note(0);
            packet.set_via(here.random.below(self.cube.routers));
        }
        if packet.note() == 0 && here.router == packet.via() {
            packet.set_note(1);
        }
        let (goal, half) = match packet.note() {
            0 => (packet.via(), self.vcs.lower),
            _ => (target, self.vcs.upper),
        };
        // BookSim does not separate the phases at the router of the packet's endpoint, even if it
        // is only passed
        let lanes = if here.router == target { self.vcs.all } else { half };
        want(self.cube.mesh_port(here.router, goal, false), lanes)
    }
}

impl RoutingGuide for MeshRouting {
    fn sees_queues(&self) -> bool {
        matches!(self.rule, MeshRoutingRule::XyYx { adaptive: true })
    }

    fn lanes(&self) -> u8 {
        self.vcs.count
    }

    fn vias(&self) -> u32 {
        if matches!(self.rule, MeshRoutingRule::Valiant) { self.cube.routers } else { 1 }
    }

    fn has_choices(&self) -> bool {
        matches!(self.rule, MeshRoutingRule::MinAdapt)
    }

    fn inject(&self, _: u32, packet: &mut PacketHeader<'_>, _: &mut FastRandomStream) -> u32 {
        match self.rule {
            MeshRoutingRule::PerEndpoint(each) => own(each, packet.target()),
            _ => self.vcs.all,
        }
    }

    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        let target = packet.target();
        if matches!(self.rule, MeshRoutingRule::Valiant) {
            return self.valiant(here, packet);
        }
        let port = self.cube.mesh_port(here.router, target, false);
        if here.router == target {
            return want(port, self.vcs.all);
        }
        match self.rule {
            MeshRoutingRule::PerEndpoint(each) => want(port, own(each, target)),
            MeshRoutingRule::MinAdapt if here.in_port == self.cube.home() => {
                want(port, self.vcs.all)
            }
            MeshRoutingRule::MinAdapt => want(port, self.after(1 << here.lane)),
            MeshRoutingRule::XyYx { adaptive } => {
                let other = self.cube.mesh_port(here.router, target, true);
                let first = here.in_port == self.cube.home();
                let (used, other_used) = if first && adaptive {
                    (here.sight.used(port), here.sight.used(other))
                } else {
                    (0, 0)
                };
                let xy = match used.cmp(&other_used) {
                    Ordering::Greater => false,
                    Ordering::Less => true,
                    Ordering::Equal if first => here.random.below(2) == 1,
                    Ordering::Equal => self.vcs.is_low(here.lane),
                };
                if xy { want(port, self.vcs.lower) } else { want(other, self.vcs.upper) }
            }
            _ => want(port, self.vcs.all),
        }
    }

    fn wants(
        &self,
        here: &mut PacketPosition<'_>,
        packet: &mut PacketHeader<'_>,
        found: &mut Vec<OutputRequest>,
    ) {
        let all = self.want(here, packet);
        // to its endpoint a packet takes any channel, all of the same rank
        if !self.has_choices() || here.router == packet.target() {
            return found.push(all);
        }
        found.push(OutputRequest { lanes: all.lanes & 1, ..all });
        if all.lanes & !1 != 0 {
            found.push(OutputRequest { lanes: all.lanes & !1, rank: 1, ..all });
        }
    }
}

impl EnumerableRouting for MeshRouting {
    fn starts(&self, _: u32, _: u32, found: &mut Vec<u32>) {
        found.push(0);
        if matches!(self.rule, MeshRoutingRule::Valiant) {
            found.push(1);
        }
    }

    fn then(&self, note: u32) -> Option<u32> {
        (matches!(self.rule, MeshRoutingRule::Valiant) && note == 0).then_some(1)
    }

    fn steps(&self, at: &RoutingSearchPosition, found: &mut Vec<PossibleRoutingStep>) {
        let port = self.cube.mesh_port(at.router, at.goal, false);
        let all = self.vcs.all;
        let mut add = |on, want| found.push(PossibleRoutingStep { on, want, note: at.note });
        match self.rule {
            MeshRoutingRule::DimOrder => add(all, want(port, all)),
            MeshRoutingRule::PerEndpoint(each) => add(all, want(port, own(each, at.goal))),
            MeshRoutingRule::XyYx { .. } => {
                let other = self.cube.mesh_port(at.router, at.goal, true);
                let first = at.in_port.is_none();
                add(if first { all } else { self.vcs.low() }, want(port, self.vcs.lower));
                add(if first { all } else { self.vcs.upper }, want(other, self.vcs.upper));
            }
            // a packet that has not reached its intermediate router may pass through its last one
            MeshRoutingRule::Valiant if at.note == 0 => add(all, want(port, all)),
            MeshRoutingRule::Valiant => add(all, want(port, self.vcs.upper)),
            MeshRoutingRule::MinAdapt if at.in_port.is_none() => add(all, want(port, all)),
            MeshRoutingRule::MinAdapt => {
                add(1, want(port, 1));
                add(all & !1, want(port, self.after(all)));
            }
        }
    }
}

/// Dimension-order routing of a torus.
struct TorusRouting {
    cube: RouterCoordinates,
    vcs: VirtualChannelHalves,
}

pub(super) fn torus(
    k: u32,
    n: u32,
    name: &str,
    vcs: u8,
) -> Result<Box<dyn EnumerableRouting + Send>, Refusal> {
    if name != "dim_order" {
        return Err(unknown(name, &["dim_order"]));
    }
    few(vcs, 2, name)?;
    Ok(Box::new(TorusRouting {
        cube: RouterCoordinates::new(k, n),
        vcs: VirtualChannelHalves::new(vcs),
    }))
}

/// The next step of dimension order on a torus.
enum TorusRoutingStep {
    /// The last router.
    Home,
    /// The packet continues in the same direction.
    On,
    /// The packet enters `dimension`, in a direction that is shortest: `up`, `down` or either.
    /// `upper` says which half of the channels it takes.
    Into { dimension: u16, up: bool, down: bool, upper: bool },
}

impl TorusRouting {
    /// The next step; `in_dimension` is the dimension of the port that the packet came in by.
    #[inline]
    fn turn(&self, router: u32, to: u32, in_dimension: u16) -> TorusRoutingStep {
        let (a, b) = (self.cube.of(router), self.cube.of(to));
        let Some(d) = (0..self.cube.n).find(|&d| a[d] != b[d]) else {
            return TorusRoutingStep::Home;
        };
        if usize::from(in_dimension) == d {
            return TorusRoutingStep::On;
        }
        let up = (b[d] + self.cube.k - a[d]) % self.cube.k;
        let k = self.cube.k;
        TorusRoutingStep::Into {
            dimension: d as u16,
            up: 2 * up <= k,
            down: 2 * up >= k,
            upper: a[d] > b[d],
        }
    }

    fn half(&self, upper: bool) -> u32 {
        if upper { self.vcs.upper } else { self.vcs.lower }
    }
}

impl RoutingGuide for TorusRouting {
    fn sees_queues(&self) -> bool {
        false
    }

    fn lanes(&self) -> u8 {
        self.vcs.count
    }

    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        match self.turn(here.router, packet.target(), here.in_port / 2) {
            TorusRoutingStep::Home => want(self.cube.home(), self.vcs.all),
            TorusRoutingStep::On => want(here.in_port ^ 1, self.half(packet.note() == 1)),
            TorusRoutingStep::Into { dimension, up, down, upper } => {
                packet.set_note(u32::from(upper));
                let up = up && (!down || here.random.below(2) == 1);
                want(2 * dimension + u16::from(!up), self.half(upper))
            }
        }
    }
}

impl EnumerableRouting for TorusRouting {
    fn starts(&self, _: u32, _: u32, found: &mut Vec<u32>) {
        found.push(0);
    }

    fn steps(&self, at: &RoutingSearchPosition, found: &mut Vec<PossibleRoutingStep>) {
        let in_port = at.in_port.unwrap_or(self.cube.home());
        match self.turn(at.router, at.goal, in_port / 2) {
            TorusRoutingStep::Home => {}
            TorusRoutingStep::On => {
                let want = want(in_port ^ 1, self.half(at.note == 1));
                found.push(PossibleRoutingStep { on: self.vcs.all, want, note: at.note });
            }
            TorusRoutingStep::Into { dimension, up, down, upper } => {
                for (_, port) in [(up, 0), (down, 1)].into_iter().filter(|(goes, _)| *goes) {
                    let want = want(2 * dimension + port, self.half(upper));
                    found.push(PossibleRoutingStep {
                        on: self.vcs.all,
                        want,
                        note: u32::from(upper),
                    });
                }
            }
        }
    }
}
