//! The proof that packets in dialects of CODES cannot deadlock: channels are of few kinds, which
//! are ordered, and a packet in a channel of one kind only requests channels of later kinds.
//!
//! Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
//! networks", IEEE Transactions on Computers C-36(5), 1987.

use crate::plant::SimulatedNetwork;
use base::Refusal;

/// Where a channel between routers leads: within its group, up, down or to another group. With the
/// virtual channel it is the channel's kind in a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChannelDirection {
    /// To any router, where directions are not distinguished.
    On,
    /// To another router of the group; in groups of two levels, upwards.
    Near,
    /// Down to a router with endpoints.
    Down,
    /// To another group.
    Across,
}

/// A kind of channels between routers: the direction in which they lead, and their virtual channel.
pub(crate) type ChannelKind = (ChannelDirection, u8);

/// The kinds of channels that a packet may request next, for each kind of channel that it is in.
pub(crate) type KindSuccessors = &'static [(ChannelKind, &'static [ChannelKind])];

/// Proves that the steps of a dialect have no cycle, and checks that routers have the virtual
/// channels that they need.
///
/// # Errors
/// When routers have too few virtual channels.
///
/// # Panics
/// When the steps have a cycle, which is a programming error because they are constants.
pub(crate) fn check_order(
    first: &[ChannelKind],
    steps: KindSuccessors,
    plant: &SimulatedNetwork,
) -> Result<(), Refusal> {
    let mut ended: Vec<ChannelKind> = Vec::new();
    // repeatedly marks kinds whose successors are all marked; if some remain, the kinds form a
    // cycle
    loop {
        let ends = |kinds: &[ChannelKind]| kinds.iter().all(|kind| ended.contains(kind));
        let next = steps.iter().find(|(kind, after)| !ended.contains(kind) && ends(after));
        match next {
            Some((kind, _)) => ended.push(*kind),
            None => break,
        }
    }
    let all = steps.iter().all(|(kind, _)| ended.contains(kind));
    assert!(all && first.iter().all(|kind| ended.contains(kind)), "a cycle among {steps:?}");
    let lanes = steps.iter().map(|((_, lane), _)| u32::from(*lane) + 1).max().unwrap_or(1);
    if plant.lanes >= lanes {
        return Ok(());
    }
    let why = format!("{} virtual channels", plant.lanes);
    Err(Refusal::new("router.virtual_channels", why, format!("{lanes} or more in this dialect")))
}

#[cfg(test)]
mod tests {
    use super::super::{PacketPathMethod, SimulatorDialect};
    use super::*;
    use crate::case::{PreparedPacketSimulation, UserSuppliedTraffic};
    use crate::event::{ChunkSender, NONE, PacketChunk};
    use crate::model::PacketSimulationModel;
    use crate::node::NodePorts;
    use crate::plant::LinkClass;
    use crate::spec::PacketSimulationParameters;
    use crate::tally::ChunkArrival;
    use base::QuietWatch;
    use base::seed::FastRandomStream;
    use des::HandlerContext;
    use fabric::network::parse_inline;
    use paths::PathSource;
    use paths::select::PathSelection;
    use serde_json::{Value, json};
    use std::sync::Arc;

    impl PacketPathMethod {
        /// The kind of a channel that leaves a router; none if it leads to an endpoint.
        fn kind(
            &self,
            plant: &SimulatedNetwork,
            router: u32,
            port: u16,
            lane: u8,
        ) -> Option<ChannelKind> {
            let class = plant.behind(router, port).class;
            (class != LinkClass::Endpoint).then(|| (self.leads(router, class), lane))
        }

        /// Whether a packet that came from `sender` may take this channel next, by its model's
        /// `KindSuccessors`.
        pub(crate) fn follows(
            &self,
            plant: &SimulatedNetwork,
            sender: ChunkSender,
            at: u32,
            to: (u16, u8),
        ) -> bool {
            let Some((first, steps)) = self.dialect().entry().order else { return true };
            let Some(next) = self.kind(plant, at, to.0, to.1) else { return true };
            if sender.lp >= plant.routers {
                return first.contains(&next);
            }
            let last = self.kind(plant, sender.lp, sender.port, sender.lane);
            steps.iter().any(|(kind, after)| Some(*kind) == last && after.contains(&next))
        }
    }

    /// A context for a single router, without any engine.
    struct SingleRouterContext(u32);

    impl HandlerContext<PacketSimulationModel> for SingleRouterContext {
        const KEEPS: bool = false;

        fn me(&self) -> u32 {
            self.0
        }

        fn now_ps(&self) -> u64 {
            0
        }

        fn send(&mut self, _: u32, _: u64, _: crate::event::Event) {}

        fn note(&mut self, _: impl FnOnce() -> crate::runs::NodeStateChange) {}

        fn record(&mut self, _: ChunkArrival) {}
    }

    /// Follows packets from router to router, with random queues at each router: every step must be
    /// allowed, and all packets must arrive. Returns the number of packets on detours.
    fn detours(inline: &str, given: &Value) -> u32 {
        let recipe = parse_inline(inline).expect("it is written so");
        let family = families::family(&recipe.family).expect("there is one");
        let on =
            PathSource::Network(Arc::new(family.build(&recipe.params).expect("it can be built")));
        let spec: PacketSimulationParameters =
            serde_json::from_value(given.clone()).expect("parameters");
        let case =
            PreparedPacketSimulation::new(on, &spec, UserSuppliedTraffic::default(), &QuietWatch)
                .expect("a case");
        let model = case.model(0.5);
        let (plant, route) = (&*model.plant, &*model.route);
        let mut dice = FastRandomStream::new(1, "walk", 0);
        let mut found = 0;
        for _ in 0..4000 {
            let from = dice.below(plant.endpoints);
            let to = (from + 1 + dice.below(plant.endpoints - 1)) % plant.endpoints;
            let rail = dice.below(plant.rails) as u8;
            let mut packet = PacketChunk {
                created_ps: 0,
                began_ps: 0,
                word: NONE.into(),
                tail_ps: 0,
                from,
                to,
                bytes: 4096,
                message: 0,
                hops: 0,
                rail,
                is_detour: false,
                is_last: true,
            };
            let mut at = plant.at(from, rail).router;
            let mut sender = ChunkSender { lp: plant.lp(from), port: rail.into(), lane: 0 };
            loop {
                let node_dice = FastRandomStream::new(dice.next_u64(), "node", 0);
                let mut node = NodePorts::new(plant.ports(at), plant.lanes as usize, node_dice);
                for lane in &mut node.lanes {
                    lane.chunks = dice.below(4) * dice.below(5);
                }
                let hop = route.next_hop(
                    plant,
                    &mut packet,
                    sender,
                    &mut node,
                    &mut SingleRouterContext(at),
                );
                assert!(u32::from(hop.1) < plant.lanes, "{inline} {given}: {hop:?}");
                assert!(route.follows(plant, sender, at, hop), "{inline} {given}: {sender:?}");
                packet.hops += 1;
                let behind = plant.behind(at, hop.0);
                if behind.class == LinkClass::Endpoint {
                    assert_eq!(behind.lp, plant.lp(to));
                    break;
                }
                assert!(packet.hops < 8, "{inline} {given}: it does not arrive");
                sender = ChunkSender { lp: at, port: hop.0, lane: hop.1 };
                at = behind.lp;
            }
            found += u32::from(packet.is_detour);
        }
        found
    }

    #[test]
    fn packets_of_every_model_take_the_steps_of_its_order() {
        for dialect in SimulatorDialect::ALL {
            for inline in dialect.networks() {
                for selection in dialect.entry().selections.into_iter().flatten() {
                    let mut given = json!({"dialect": dialect, "selection": selection});
                    if dialect.entry().threshold_bytes.is_some() {
                        given["switch"] = json!({"adaptive_threshold_bytes": 0});
                    }
                    let has_detours = *selection != PathSelection::Minimal;
                    assert_eq!(detours(inline, &given) > 0, has_detours, "{inline} {given}");
                }
            }
        }
    }
}
