//! The state of routers and endpoints when a run is over, summed up so that parts of a network that
//! ran in different processes can be added.

use super::model::{NodeState, PacketSimulationModel};
use super::node::NodePorts;
use super::plant::LinkClass;
use super::port::{NEVER_PS, Port};
use super::replay::ProcessTimes;
use base::seed::fnv1a64;
use des::LpNumber;
use message::UnfinishedOperations;

/// A port of a router and its busy time; if background jobs run, the time until all other jobs were
/// done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusyRouterPort {
    /// How long it was busy, ps.
    pub busy_ps: u64,
    /// The router that the port belongs to.
    pub router: LpNumber,
    /// The number of the port at its router.
    pub port: u16,
}

/// The use of a port of a router over a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortUse {
    /// The router that the port belongs to.
    pub router: LpNumber,
    /// The number of the port at its router.
    pub port: u16,
    /// Bytes that the port has sent.
    pub bytes: u64,
    /// How long the port was busy, ps. If background jobs run, this and the fields below are
    /// counted until all other jobs were done.
    pub busy_ps: u64,
    /// The largest number of chunks that waited for the port at once.
    pub most: u32,
    /// How long chunks waited for the port while it was free, because there was no room behind it,
    /// ps.
    pub blocked_ps: u64,
    /// The time since when chunks have been waiting for lack of room while the port is free, ps;
    /// `u64::MAX` if none waits so.
    pub since_ps: u64,
}

/// The state of some logical processes, or of all, at the end of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinalRunState {
    /// A digest of all counters of these processes: equal states have equal digests, whatever
    /// engine ran them.
    pub digest: u64,
    /// The ports between routers that were busy longest, the busiest first, of equally busy ones
    /// the first ones: as many as the model lists.
    pub busiest: Vec<BusyRouterPort>,
    /// Whether any packets still wait.
    pub waits: bool,
    /// The use of ports between routers, where the user asked for it.
    pub links: Vec<PortUse>,
    /// The times of the processes of workloads.
    pub times: Vec<ProcessTimes>,
    /// The operations that processes could not complete.
    pub left: UnfinishedOperations,
}

impl FinalRunState {
    /// The final state of these logical processes of the simulator (routers and endpoints).
    /// O(ports).
    pub fn of<'a>(
        model: &PacketSimulationModel,
        states: impl Iterator<Item = (LpNumber, &'a NodeState)>,
    ) -> Self {
        let mut all = Self::default();
        let mut bytes = Vec::new();
        for (lp, state) in states {
            bytes.clear();
            let mut word = |word: u64| bytes.extend(word.to_le_bytes());
            word(lp.into());
            let ports = match state {
                NodeState::Router(node) => {
                    all.router(model, lp, node);
                    &node.ports
                }
                NodeState::Endpoint(it) => {
                    let received = it.received;
                    let words =
                        [received.chunks, received.bytes, received.latency_ps, received.last_ps];
                    words.into_iter().for_each(&mut word);
                    if let Some(plays) = &it.plays {
                        let first = all.times.len();
                        all.times.extend(plays.times());
                        all.times[first..].iter().for_each(|time| word(time.end_ps));
                        plays.leaves(&mut all.left);
                    }
                    &it.node.ports
                }
            };
            for port in ports {
                [port.bytes, port.busy_ps, port.blocked_ps].into_iter().for_each(&mut word);
                all.waits |= port.queued + port.pending > 0;
            }
            all.digest = all.digest.wrapping_add(fnv1a64(&bytes));
        }
        all.sort();
        all.busiest_only(model.top);
        all
    }

    fn router(&mut self, model: &PacketSimulationModel, router: LpNumber, node: &NodePorts) {
        let until = node.recent.as_ref().and_then(|recent| recent.until.as_ref());
        for (at, (port, behind)) in (0..).zip(node.ports.iter().zip(model.plant.all(router))) {
            if behind.class != LinkClass::Endpoint {
                let Port { bytes, mut busy_ps, most, mut blocked_ps, mut since_ps, .. } = *port;
                if let Some(until) = until.map(|all| all[usize::from(at)]) {
                    (busy_ps, blocked_ps, since_ps) = (until.busy_ps, until.blocked_ps, NEVER_PS);
                }
                if busy_ps > 0 {
                    self.busiest.push(BusyRouterPort { busy_ps, router, port: at });
                }
                if model.links {
                    self.links.push(PortUse {
                        router,
                        port: at,
                        bytes,
                        busy_ps,
                        most,
                        blocked_ps,
                        since_ps,
                    });
                }
            }
        }
    }

    /// Keeps the `top` busiest ports alone, and at least one.
    fn busiest_only(&mut self, top: u32) {
        self.busiest.sort_by_key(|p| (std::cmp::Reverse(p.busy_ps), p.router, p.port));
        self.busiest.truncate(top.max(1) as usize);
    }

    /// Adds the state of other processes, of which the `top` busiest ports are kept.
    pub fn add(&mut self, other: &Self, top: u32) {
        self.digest = self.digest.wrapping_add(other.digest);
        self.busiest.extend(&other.busiest);
        self.busiest_only(top);
        self.waits |= other.waits;
        self.links.extend(&other.links);
        self.times.extend(&other.times);
        for (mine, theirs) in [
            (&mut self.left.stuck, &other.left.stuck),
            (&mut self.left.sends, &other.left.sends),
            (&mut self.left.receives, &other.left.receives),
            (&mut self.left.messages, &other.left.messages),
        ] {
            mine.extend(theirs);
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.links.sort_unstable();
        self.times.sort_unstable();
        let UnfinishedOperations { stuck, sends, receives, messages } = &mut self.left;
        for all in [stuck, sends, receives, messages] {
            all.sort_unstable();
        }
    }
}
