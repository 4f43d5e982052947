//! The model of the packet level: routers and endpoints as logical processes.

use super::classes::ClassPortSharingRule;
use super::endpoint::Endpoint;
use super::event::Event;
use super::models::PacketPathMethod;
use super::nic::OpenLoopTraffic;
use super::node::NodePorts;
use super::parts::parts;
use super::plant::{LinkClass, SimulatedNetwork};
use super::replay::ReplayedJobs;
use super::runs::NodeStateChange;
use super::tally::{ArrivalStatistics, ChunkArrival};
use super::timing::{DialectTimingRules, ForwardingRule, TELL_PS, VirtualChannelSendOrder};
use super::until::RecentPortTransmissions;
use super::window::MeasuredWindow;
use base::seed::FastRandomStream;
use des::{HandlerContext, LpNumber};
use paths::select::RailSelection;
use std::sync::Arc;

/// The source of the messages that endpoints send.
pub enum EndpointTrafficSource {
    /// Messages that endpoints create by themselves, for each class of traffic.
    Open(Vec<OpenLoopTraffic>),
    /// Messages of the processes of workloads.
    Replay(Arc<ReplayedJobs>),
}

/// The model of a network under load.
pub struct PacketSimulationModel {
    /// The simulated network.
    pub plant: Arc<SimulatedNetwork>,
    /// The delays and rules of the dialect.
    pub timing: DialectTimingRules,
    /// The paths of packets.
    pub route: Arc<PacketPathMethod>,
    /// The rule that assigns packets to rails.
    pub rails: RailSelection,
    /// How classes of traffic share ports, where there are several.
    pub sharing: Option<ClassPortSharingRule>,
    /// The source of the traffic that endpoints send.
    pub drive: EndpointTrafficSource,
    /// Number of endpoints of each router.
    pub concentration: u32,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The part of the run that is measured.
    pub window: MeasuredWindow,
    /// The approximate number of packets that will arrive; 0 if unknown.
    pub expected: u64,
    /// Whether the use of every link is reported.
    pub links: bool,
    /// How many of the busiest links are reported.
    pub top: u32,
    /// Whether overtaken packets are counted.
    pub overtaken: bool,
    /// The length of the time spans in which arrivals are reported, ps; 0 if spans are not
    /// reported.
    pub span_ps: u64,
}

/// The state of a router or an endpoint.
#[derive(Debug, Clone)]
pub enum NodeState {
    /// A router.
    Router(NodePorts),
    /// An endpoint.
    Endpoint(Endpoint),
}

impl<C: HandlerContext<PacketSimulationModel>> super::runs::EventHandlerContext for C {
    #[inline]
    fn me(&self) -> LpNumber {
        HandlerContext::me(self)
    }

    #[inline]
    fn now_ps(&self) -> u64 {
        HandlerContext::now_ps(self)
    }

    #[inline]
    fn send(&mut self, to: LpNumber, delay_ps: u64, event: Event) {
        HandlerContext::send(self, to, delay_ps, event);
    }

    #[inline]
    fn note(&mut self, change: impl FnOnce() -> NodeStateChange) {
        HandlerContext::note(self, change);
    }

    #[inline]
    fn record(&mut self, arrival: ChunkArrival) {
        HandlerContext::record(self, arrival);
    }
}

impl des::SimulationModel for PacketSimulationModel {
    type State = NodeState;
    type Event = Event;
    type Change = NodeStateChange;
    type Record = ChunkArrival;
    type Tally = ArrivalStatistics;

    fn lps(&self) -> u32 {
        self.plant.routers + self.plant.endpoints
    }

    fn start(&self, to: &mut impl HandlerContext<Self>) -> NodeState {
        let me = to.me();
        let dice = FastRandomStream::new(self.seed, "packet", me.into());
        if me < self.plant.routers {
            let (ports, lanes) = (self.plant.ports(me), self.plant.lanes as usize);
            let mut node = NodePorts::new(ports, lanes, dice);
            node.by_age = self.timing.order == VirtualChannelSendOrder::Oldest;
            node.tags = ClassPortSharingRule::tags(self.sharing.as_ref(), ports);
            node.recent = self.tells().then(|| Box::new(RecentPortTransmissions::new(ports)));
            return NodeState::Router(node);
        }
        let mut it = Endpoint::new(self.plant.rails, self.plant.classes, dice);
        it.node.tags = ClassPortSharingRule::tags(self.sharing.as_ref(), self.plant.rails as usize);
        match &self.drive {
            EndpointTrafficSource::Open(open) => {
                for one in (0..).zip(open) {
                    self.opens(one, &mut it, to);
                }
            }
            EndpointTrafficSource::Replay(replay) => self.starts(replay, &mut it, to),
        }
        NodeState::Endpoint(it)
    }

    #[inline]
    fn handle(&self, state: &mut NodeState, event: Event, to: &mut impl HandlerContext<Self>) {
        match state {
            NodeState::Router(node) => match event {
                Event::Arrives(packet, sender) => self.at_router(node, packet, sender, to),
                Event::Credit { bytes, port, lane } => {
                    self.router_credit(node, (port, lane), bytes, to);
                }
                Event::Sends { port } => self.router_sends(node, port, to),
                Event::Over => node.hears(to),
                _ => {}
            },
            NodeState::Endpoint(it) => match event {
                Event::Arrives(packet, sender) => self.at_endpoint(it, packet, sender, to),
                Event::Credit { bytes, port, lane } => {
                    self.endpoint_credit(it, (port, lane), bytes, to);
                }
                Event::Sends { port } => self.endpoint_sends(it, port, to),
                Event::Creates(class) => self.creates(it, class, to),
                Event::Queues(packet, class) => self.queues(it, packet, class, to),
                Event::Schedules(class) => {
                    it.schedule_comes(class, to);
                    self.schedules(it, class, to);
                }
                _ => self.plays(it, event, to),
            },
        }
    }

    fn undo(&self, state: &mut NodeState, change: NodeStateChange) {
        match state {
            NodeState::Router(node) => node.undo(change),
            NodeState::Endpoint(it) => it.undo(change),
        }
    }

    fn tally(&self) -> ArrivalStatistics {
        let jobs = match &self.drive {
            EndpointTrafficSource::Open(open) => open.len(),
            EndpointTrafficSource::Replay(replay) => replay.jobs.len(),
        };
        ArrivalStatistics::of_jobs(jobs, self.span_ps, self.window)
    }

    fn count(&self, tally: &mut ArrivalStatistics, record: ChunkArrival) {
        tally.add(record);
    }

    fn merge(&self, into: &mut ArrivalStatistics, other: ArrivalStatistics) {
        into.merge(&other);
    }

    fn progress(&self, tally: &ArrivalStatistics, parts: u64) -> (&'static str, u64, u64) {
        // background jobs send until the others are done, so that their packets cannot be predicted
        let counted: u64 = match &self.drive {
            EndpointTrafficSource::Open(_) => tally.arrived,
            EndpointTrafficSource::Replay(replay) => {
                let jobs =
                    replay.jobs.iter().zip(&tally.jobs).filter(|(job, _)| !job.is_background);
                jobs.map(|(_, sums)| sums.chunks.count).sum()
            }
        };
        let done = (counted * parts).min(self.expected);
        ("packets", done, self.expected)
    }

    fn lookahead_ps(&self, part_of: &[u16]) -> u64 {
        let apart = |a: LpNumber, b: LpNumber| part_of[a as usize] != part_of[b as usize];
        let DialectTimingRules { credit_ps, router_ps, jitter, passing, .. } = self.timing;
        let ports = (0..self.plant.routers).flat_map(|r| self.plant.all(r).map(move |b| (r, b)));
        let crossing = ports.filter(|(router, behind)| apart(*router, behind.lp));
        let least = crossing.map(|(_, behind)| {
            let chunk_ps = match passing {
                ForwardingRule::Head => 0,
                _ => self.plant.chunk_ps(behind.kind, self.least_bytes()) + jitter.least_ps,
            };
            // a chunk from an endpoint has not passed a router yet
            let router_ps = if behind.class == LinkClass::Endpoint { 0 } else { router_ps };
            u64::from(behind.latency_ps) + (credit_ps + jitter.least_ps).min(router_ps + chunk_ps)
        });
        let least_ps = least.min().unwrap_or(u64::from(u32::MAX));
        if self.tells() { least_ps.min(TELL_PS) } else { least_ps }
    }
}

impl PacketSimulationModel {
    /// Whether all endpoints must be informed when the jobs are done: background jobs then stop.
    pub(super) fn tells(&self) -> bool {
        matches!(&self.drive, EndpointTrafficSource::Replay(replay) if replay.tells())
    }

    /// Handles an event of the processes of an endpoint.
    fn plays(&self, it: &mut Endpoint, event: Event, to: &mut impl HandlerContext<Self>) {
        let EndpointTrafficSource::Replay(replay) = &self.drive else { return };
        match event {
            Event::Enters(message) => self.enters(replay, it, message, to),
            Event::Taken(message) => self.taken(replay, it, message, to),
            Event::Copied(message) => self.copied(replay, it, message, to),
            Event::Ends(op) => self.ends(replay, it, op, to),
            Event::Done => self.one_is_done(replay, it, to),
            Event::Over => Self::is_over(it, to),
            _ => {}
        }
    }

    /// The length of the shortest chunk, in bytes.
    fn least_bytes(&self) -> u32 {
        match &self.drive {
            EndpointTrafficSource::Replay(_) => 1,
            EndpointTrafficSource::Open(open) => {
                let least = |open: &OpenLoopTraffic| match open.bytes % self.plant.chunk_bytes {
                    0 => self.plant.chunk_bytes,
                    rest => rest,
                };
                open.iter().map(least).min().unwrap_or(1)
            }
        }
    }

    /// Divides the logical processes into `count` parts: routers as in [`parts`], endpoints with
    /// their router of the first plane.
    pub fn parts(&self, count: u16) -> Vec<u16> {
        let mut of = parts(&self.plant, count);
        for endpoint in 0..self.plant.endpoints {
            of.push(of[self.plant.at(endpoint, 0).router as usize]);
        }
        of
    }
}
