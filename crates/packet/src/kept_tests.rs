//! Tests of queues ordered by age and of overtaken packets: against slow computations, and with
//! every change undone.

use super::endpoint::Endpoint;
use super::event::{ChunkSender, Event, PacketChunk};
use super::model::PacketSimulationModel;
use super::node::NodePorts;
use super::port::VirtualChannelQueue;
use super::runs::NodeStateChange;
use super::tally::ChunkArrival;
use base::seed::FastRandomStream;
use des::{HandlerContext, LpNumber};
use proptest::prelude::*;

/// A context that records changes and can undo them.
struct ChangeRecordingContext(Vec<NodeStateChange>);

impl HandlerContext<PacketSimulationModel> for ChangeRecordingContext {
    const KEEPS: bool = true;

    fn me(&self) -> LpNumber {
        0
    }

    fn now_ps(&self) -> u64 {
        7
    }

    fn send(&mut self, _: LpNumber, _: u64, _: Event) {}

    fn note(&mut self, was: impl FnOnce() -> NodeStateChange) {
        self.0.push(was());
    }

    fn record(&mut self, _: ChunkArrival) {}
}

fn packet(from: u32, began_ps: u64, bytes: u32) -> PacketChunk {
    PacketChunk {
        created_ps: 0,
        began_ps,
        word: 0,
        tail_ps: 0,
        from,
        to: 0,
        bytes,
        message: 0,
        hops: 0,
        rail: 0,
        is_detour: false,
        is_last: true,
    }
}

proptest! {
    /// A queue is sorted by age, with equally old packets in order of arrival; undoing all changes
    /// empties it.
    #[test]
    fn the_oldest_is_first(
        steps in proptest::collection::vec(proptest::option::of((0_u32..4, 0_u64..6)), 1..60)
    ) {
        let mut node = NodePorts::new(1, 1, FastRandomStream::new(0, "test", 0));
        node.by_age = true;
        let (mut due, mut kept) = (Vec::<PacketChunk>::new(), ChangeRecordingContext(Vec::new()));
        for (number, step) in (1..).zip(steps) {
            if let Some((from, began_ps)) = step {
                let new = packet(from, began_ps, number);
                let sender = ChunkSender { lp: 0, port: 0, lane: 0 };
                node.put(0, 0, VirtualChannelQueue::Queued, (new, sender), &mut kept);
                due.push(new);
                due.sort_by_key(|p| (p.began_ps, p.from, p.bytes));
            } else if !due.is_empty() {
                prop_assert_eq!(node.take_queued(0, 0, &mut kept).packet, due.remove(0));
            }
            let waiting = node.waiting(node.lanes[0].queued);
            let all: Vec<PacketChunk> = waiting.map(|w| w.packet).collect();
            prop_assert_eq!(&all, &due);
        }
        for change in kept.0.into_iter().rev() {
            node.undo(change);
        }
        prop_assert_eq!(node.waiting(node.lanes[0].queued).count(), 0);
        let port = node.ports[0];
        prop_assert_eq!((port.queued, port.most, node.lanes[0].waiting), (0, 0, 0));
    }

    /// A packet counts as overtaken exactly if a packet of the same sender that was scheduled later
    /// came before it.
    #[test]
    fn overtaken_packets_are_found(
        came in proptest::collection::vec((0_u32..5, 0_u64..20), 1..60)
    ) {
        let mut it = Endpoint::new(1, 1, FastRandomStream::new(0, "test", 0));
        let mut kept = ChangeRecordingContext(Vec::new());
        for (at, &(from, began_ps)) in came.iter().enumerate() {
            let due = came[..at].iter().any(|other| other.0 == from && other.1 > began_ps);
            prop_assert_eq!(it.is_late(from, began_ps, &mut kept), due);
        }
        for change in kept.0.into_iter().rev() {
            it.undo(change);
        }
        for from in 0..5 {
            prop_assert!(!it.is_late(from, 0, &mut ChangeRecordingContext(Vec::new())));
        }
    }
}
