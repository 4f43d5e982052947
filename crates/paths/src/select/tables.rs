//! Paths of forwarding tables: a packet draws its layer, or compares layers, and follows the table.

use super::candidate_paths::CandidatePaths;
use super::{CompiledCustomSelection, PathSelection, PathSelectionParameters, PathSelectionSpec};
use crate::guide::{OutputRequest, PacketPosition, RoutingGuide, lanes};
use crate::wiring::{EndpointAttachment, RouterWiring, numbered};
use crate::word::PacketHeader;
use base::seed::FastRandomStream;
use base::{Refusal, SwitchId, TerminalId};
use fabric::tables::Routing;
use std::sync::Arc;

/// Forwarding tables with their layers, service levels and lanes.
///
/// With [`PathSelection::Minimal`] each packet draws one of the layers; with
/// [`PathSelection::UgalL`] it compares layer 0 with some drawn layers, by hops x queue at the
/// first hop; with a selection of the user's it compares them by that score.
#[derive(Debug, Clone)]
pub struct ForwardingTableGuide {
    routing: Routing,
    selection: PathSelection,
    /// The selection of the user's own; `None` for a built-in one.
    custom: Option<Arc<CompiledCustomSelection>>,
    choosing: PathSelectionParameters,
    wiring: Arc<RouterWiring>,
    /// For each switch and port of the network, the port of the wiring. `port` is the inverse.
    seat: Vec<Vec<u16>>,
    port: Vec<Vec<u16>>,
    /// The terminal of each endpoint of the wiring.
    terminal: Vec<TerminalId>,
    /// The number of virtual channels for each lane of the tables.
    width: u8,
    lanes: u8,
}

impl ForwardingTableGuide {
    /// The guide of the tables of `routing`, which the caller has proved, on routers with this
    /// number of virtual channels.
    ///
    /// # Errors
    /// When the tables use more lanes than there are virtual channels, or the selection does not
    /// work on tables.
    pub fn new(
        routing: Routing,
        selection: &PathSelectionSpec,
        choosing: PathSelectionParameters,
        virtual_channels: u8,
        wiring: &Arc<RouterWiring>,
    ) -> Result<Self, Refusal> {
        choosing.check()?;
        let kind = selection.kind();
        if !kind.entry().on_tables || !selection.is_at_source() {
            let help = "minimal (a layer at random) or ugal_l (compares layers), or custom with a \
                        decision at the source";
            let why = format!("{} on tables", kind.name());
            return Err(Refusal::new("selection", why, help));
        }
        let used = routing.lanes().count();
        let width = virtual_channels / used;
        if width == 0 {
            let why = format!("the tables use {used} lanes, the router has {virtual_channels}");
            return Err(Refusal::new("switch.virtual_channels", why, format!("at least {used}")));
        }
        let on = routing.topology();
        let port: Vec<Vec<u16>> =
            (0..wiring.routers()).map(|s| RouterWiring::seats(on, SwitchId(s))).collect();
        let seat = port.iter().map(|ports| {
            let most = ports.iter().copied().max().unwrap_or(0);
            let mut seat = vec![u16::MAX; usize::from(most) + 1];
            (0..).zip(ports).for_each(|(i, p)| seat[usize::from(*p)] = i);
            seat
        });
        let mut terminal = vec![TerminalId(0); on.terminals().len()];
        for (t, number) in (0..).zip(numbered(on)?.1) {
            terminal[number as usize] = TerminalId(t);
        }
        let (wiring, lanes) = (wiring.clone(), virtual_channels);
        let (selection, custom) =
            (kind, selection.custom().map(|one| Arc::new(CompiledCustomSelection::clone(one))));
        let seat = seat.collect();
        Ok(Self {
            routing,
            selection,
            custom,
            choosing,
            wiring,
            seat,
            port,
            terminal,
            width,
            lanes,
        })
    }

    /// The port of the wiring by which switch `at` forwards to endpoint `to` in a layer.
    #[inline]
    fn next(&self, layer: u32, to: u32, at: u32) -> u16 {
        let port = self.routing.tree(layer, self.terminal[to as usize]).port(at as usize);
        self.seat[at as usize].get(usize::from(port)).copied().unwrap_or(u16::MAX)
    }

    fn hops(&self, layer: u32, to: u32, at: u32) -> u32 {
        let to = self.terminal[to as usize];
        self.routing.walk(layer, to, SwitchId(at)).take(255).count() as u32
    }

    /// The layer that a packet takes. It is chosen at the first switch of the packet.
    fn layer(&self, here: &mut PacketPosition<'_>, to: u32) -> u32 {
        let all = self.routing.layers();
        if all == 1 {
            return 0;
        }
        if self.selection.entry().paths == CandidatePaths::Minimal {
            return here.random.below(all);
        }
        if let Some(custom) = &self.custom {
            return self.scored(custom, here, to);
        }
        let cost = |layer: u32, here: &PacketPosition<'_>| {
            let queue = here.sight.used(self.next(layer, to, here.router));
            i64::from(self.hops(layer, to, here.router) * queue)
        };
        let mut best = (i64::MAX, 0);
        for _ in 0..self.choosing.candidates {
            let layer = 1 + here.random.below(all - 1);
            best = best.min((cost(layer, here), layer));
        }
        let queue = here.sight.used(self.next(0, to, here.router));
        let is_better = cost(0, here) > best.0.saturating_add(self.choosing.margin());
        if is_better && !self.choosing.is_short(queue.into()) { best.1 } else { 0 }
    }

    /// The layer with the lowest score of a selection of the user's: layer 0 stands for the minimal
    /// path. Among layers with equal scores it is the lowest.
    fn scored(
        &self,
        custom: &CompiledCustomSelection,
        here: &mut PacketPosition<'_>,
        to: u32,
    ) -> u32 {
        let (written, at) = (custom.written(), here.router);
        let mut values = custom.score.registers();
        let queue =
            |layer: u32, here: &PacketPosition<'_>| here.sight.used(self.next(layer, to, at));
        values.begin(self.hops(0, to, at), queue(0, here), 0);
        let own = if written.minimal > 0 { custom.score.of(&mut values) } else { f64::INFINITY };
        let mut best = (f64::INFINITY, 0);
        for _ in 0..written.detours {
            let layer = 1 + here.random.below(self.routing.layers() - 1);
            values.detour(self.hops(layer, to, at), 0, queue(layer, here));
            let found = (custom.score.of(&mut values), layer);
            best = if found < best { found } else { best };
        }
        custom.decided(&values);
        if best.0 < own { best.1 } else { 0 }
    }
}

impl RoutingGuide for ForwardingTableGuide {
    fn undefined_decisions(&self) -> Option<u64> {
        self.custom.as_ref().map(|custom| custom.undefined())
    }

    fn lanes(&self) -> u8 {
        self.lanes
    }

    fn vias(&self) -> u32 {
        self.wiring.endpoints().len() as u32 * self.routing.layers()
    }

    fn inject(&self, source: u32, packet: &mut PacketHeader<'_>, _: &mut FastRandomStream) -> u32 {
        packet.set_via(source);
        lanes(0, self.lanes - 1)
    }

    fn want(&self, here: &mut PacketPosition<'_>, packet: &mut PacketHeader<'_>) -> OutputRequest {
        let (at, to) = (here.router, packet.target());
        let EndpointAttachment { router: home, port } = self.wiring.endpoints()[to as usize];
        if at == home {
            return OutputRequest { port, lanes: lanes(0, self.lanes - 1), rank: 0 };
        }
        let ends = self.wiring.endpoints().len() as u32;
        if packet.hops() == 0 {
            let layer = self.layer(here, to);
            packet.set_via(layer * ends + packet.via() % ends);
        }
        let (layer, source) = (packet.via() / ends, packet.via() % ends);
        let seat = self.next(layer, to, at);
        let [from, terminal] = [source, to].map(|e| self.terminal[e as usize]);
        let level = self.routing.service_level(from, layer, terminal);
        let physical = |seat: u16| self.port[at as usize][usize::from(seat)];
        let (in_port, out_port) = (physical(here.in_port), physical(seat));
        let sl2vl = self.routing.lanes().sl2vl();
        let lane = sl2vl.lane(SwitchId(at), in_port, out_port, level) * self.width;
        OutputRequest { port: seat, lanes: lanes(lane, lane + self.width - 1), rank: 0 }
    }
}
