//! Endpoints: their send queues and the totals of what they have received; every change can be
//! undone.

use super::event::PacketChunk;
use super::nic::Nic;
use super::node::NodePorts;
use super::received::{EndpointReceivedTotals, PartialMessage};
use super::replay::EndpointProcesses;
use super::runs::{EventHandlerContext, NodeStateChange};
use base::seed::FastRandomStream;

/// An endpoint: it has a port for each rail and, at each port, a lane for each class of traffic,
/// whose queue is [`super::port::PortVirtualChannel::queued`].
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub(super) node: NodePorts,
    /// The network interface of each class of traffic.
    pub(super) nics: Vec<Nic>,
    /// The totals of what it has received.
    pub received: EndpointReceivedTotals,
    /// For each sender and class, the latest time at which a packet that has arrived was scheduled,
    /// ps; empty if overtaken packets are not counted.
    youngest: Vec<(u32, u64)>,
    /// Messages that have arrived in part, sorted by (sender and class, number).
    partial: Vec<PartialMessage>,
    /// The state of its processes; none if no process runs here.
    pub(super) plays: Option<Box<EndpointProcesses>>,
}

impl Endpoint {
    /// An endpoint with `rails` rails and `classes` classes of traffic.
    pub(super) fn new(rails: u32, classes: u32, dice: FastRandomStream) -> Self {
        let node = NodePorts::new(rails as usize, classes as usize, dice);
        let nics = vec![Nic::new(); classes as usize];
        Self {
            node,
            nics,
            received: EndpointReceivedTotals::default(),
            youngest: Vec::new(),
            partial: Vec::new(),
            plays: None,
        }
    }

    /// A packet with all fields unset.
    pub(super) fn plain(&self) -> PacketChunk {
        self.nics[0].plain()
    }

    /// Undoes a change.
    pub(super) fn undo(&mut self, change: NodeStateChange) {
        match change {
            NodeStateChange::Nic(class, was) => self.nics[usize::from(class)] = was,
            NodeStateChange::Received(was) => self.received = was,
            NodeStateChange::Youngest(at, Some(was)) => self.youngest[at as usize].1 = was,
            NodeStateChange::Youngest(at, None) => _ = self.youngest.remove(at as usize),
            NodeStateChange::PartCame(at, None) => _ = self.partial.remove(at as usize),
            NodeStateChange::PartCame(at, Some(was)) => self.partial[at as usize] = was,
            NodeStateChange::AllCame(at, was) => self.partial.insert(at as usize, was),
            NodeStateChange::Process(was) => {
                if let Some(plays) = &mut self.plays {
                    plays.undo(was);
                }
            }
            _ => self.node.undo(change),
        }
    }
}

impl Endpoint {
    /// Whether a packet scheduled at `began_ps` arrives behind a packet that the same sender
    /// scheduled later. O(log(senders)), for a new sender O(senders).
    pub(super) fn is_late(
        &mut self,
        from: u32,
        began_ps: u64,
        to: &mut impl EventHandlerContext,
    ) -> bool {
        match self.youngest.binary_search_by_key(&from, |youngest| youngest.0) {
            Ok(at) => {
                let youngest_ps = self.youngest[at].1;
                if began_ps > youngest_ps {
                    to.note(|| NodeStateChange::Youngest(at as u32, Some(youngest_ps)));
                    self.youngest[at].1 = began_ps;
                }
                began_ps < youngest_ps
            }
            Err(at) => {
                to.note(|| NodeStateChange::Youngest(at as u32, None));
                self.youngest.insert(at, (from, began_ps));
                false
            }
        }
    }

    /// Whether a chunk is the last one missing of its message of `whole_bytes` bytes; chunks may
    /// come in any order. O(log(parts)), for a message's first and last chunk O(parts).
    pub(super) fn is_whole(
        &mut self,
        of: (u32, u32),
        bytes: u32,
        whole_bytes: u32,
        to: &mut impl EventHandlerContext,
    ) -> bool {
        if bytes >= whole_bytes {
            return true;
        }
        match self.partial.binary_search_by_key(&of, |partial| partial.of) {
            Ok(at) => {
                let was = self.partial[at];
                if was.left > bytes {
                    to.note(|| NodeStateChange::PartCame(at as u32, Some(was)));
                    self.partial[at].left -= bytes;
                    return false;
                }
                to.note(|| NodeStateChange::AllCame(at as u32, was));
                self.partial.remove(at);
                true
            }
            Err(at) => {
                to.note(|| NodeStateChange::PartCame(at as u32, None));
                self.partial.insert(at, PartialMessage { of, left: whole_bytes - bytes });
                false
            }
        }
    }
}
