//! Processes at their endpoints: operations begin and end, and messages are matched with receives.

use super::super::endpoint::Endpoint;
use super::super::event::{Event, PacketChunk};
use super::super::model::PacketSimulationModel;
use super::super::plant::LinkClass;
use super::super::runs::EventHandlerContext;
use super::super::timing::{TELL_PS, transmission_ps};
use super::entry::{MatchingListEntry, MatchingListKind};
use super::process::{EndpointProcesses, ReplayedProcess};
use super::{OF_BACKGROUND, ProtocolMessageRole, ReplayedJobs, number, operation, sends};
use std::collections::VecDeque;
use traffic::workload::{ANY, OperationKind};

/// A step of an operation that a process still has to take.
#[derive(Debug, Clone, Copy)]
enum OperationStep {
    Begins(u32),
    Ends(u32),
}

impl ReplayedJobs {
    /// The initial state of the processes of an endpoint; none if it has no processes.
    fn plays(&self, endpoint: u32) -> Option<Box<EndpointProcesses>> {
        let background = self.background_at(endpoint);
        let ranks = self.of(endpoint);
        if ranks.is_empty() && background.is_none() {
            return None;
        }
        let process = |&rank: &u32| {
            let range = self.schedule.of_rank(rank);
            let mut counts = vec![0; range.len()];
            for op in range.clone() {
                let waiting = [self.schedule.require(op), self.schedule.require_start(op)];
                for &next in waiting.into_iter().flatten() {
                    counts[(next - range.start) as usize] += 1;
                }
            }
            ReplayedProcess::new(rank, range.start, counts, self.schedule.cpus())
        };
        let processes = ranks.iter().map(process).collect();
        Some(Box::new(EndpointProcesses { processes, background, ..EndpointProcesses::default() }))
    }
}

impl PacketSimulationModel {
    /// Starts the operations that depend on nothing.
    pub(crate) fn starts(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        to: &mut impl EventHandlerContext,
    ) {
        let Some(plays) = replay.plays(to.me() - self.plant.routers) else { return };
        let steps: Vec<VecDeque<OperationStep>> = plays
            .processes
            .iter()
            .map(|process| {
                let free = (process.first..).zip(&process.counts).filter(|(_, n)| **n == 0);
                free.map(|(op, _)| OperationStep::Begins(op)).collect()
            })
            .collect();
        it.plays = Some(plays);
        for (at, steps) in steps.into_iter().enumerate() {
            if steps.is_empty() && Self::is_done(it, at) {
                self.process_is_done(replay, it, to);
            }
            self.goes_on(replay, it, at, steps, to);
        }
        Self::background_starts(replay, it, to);
    }

    fn is_done(it: &Endpoint, at: usize) -> bool {
        it.plays.as_ref().is_some_and(|plays| plays.processes[at].clock.left == 0)
    }

    /// Performs the steps of a process until nothing else can happen at this time.
    fn goes_on(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        at: usize,
        mut steps: VecDeque<OperationStep>,
        to: &mut impl EventHandlerContext,
    ) {
        while let Some(step) = steps.pop_front() {
            let now = to.now_ps();
            let Some(plays) = &mut it.plays else { return };
            let after = match step {
                OperationStep::Begins(op) => {
                    if plays.processes[at].clock.first_ps.is_none() {
                        plays.clock(at, to).first_ps = Some(now);
                    }
                    let after = replay.schedule.require_start(op);
                    if self.begins(replay, it, at, op, to) {
                        steps.push_back(OperationStep::Ends(op));
                    }
                    after
                }
                OperationStep::Ends(op) => {
                    let clock = plays.clock(at, to);
                    clock.left -= 1;
                    clock.last_ps = now;
                    if clock.left == 0 {
                        self.process_is_done(replay, it, to);
                    }
                    replay.schedule.require(op)
                }
            };
            let Some(plays) = &mut it.plays else { return };
            for &next in after {
                if plays.counts_down(at, next, to) {
                    steps.push_back(OperationStep::Begins(next));
                }
            }
        }
    }

    /// Begins an operation; returns whether it ends at once.
    fn begins(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        at: usize,
        op: u32,
        to: &mut impl EventHandlerContext,
    ) -> bool {
        let what = replay.schedule.ops()[op as usize];
        match what.kind {
            OperationKind::Calc => {
                let takes = replay.computes && what.size > replay.mpi.least_compute_ns;
                let (true, Some(plays)) = (takes, &mut it.plays) else { return true };
                // neither sum overflows, because the calculations of a process were checked to fit
                let (now, takes_ps) = (to.now_ps(), what.size * 1000);
                let free = plays.free(at, what.cpu, to);
                *free = now.max(*free) + takes_ps;
                let ends_ps = *free;
                plays.clock(at, to).calculated_ps += takes_ps;
                to.send(to.me(), ends_ps - now, Event::Ends(op));
                false
            }
            OperationKind::Send => {
                let is_short = what.size < replay.mpi.eager_bytes;
                let part = if is_short {
                    ProtocolMessageRole::Eager
                } else {
                    ProtocolMessageRole::Request
                };
                self.posts(replay, it, number(op, part), to);
                false
            }
            OperationKind::Recv => self.receives(replay, it, at, op, to),
        }
    }

    /// Sends a message to the network interface, which it reaches after the software's delay.
    fn posts(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl EventHandlerContext,
    ) {
        let (op, part) = operation(message);
        let bytes = replay.schedule.ops()[op as usize].size;
        // so messages sent at the same time may reach the interface in any order, as in CODES
        let drawn_ps = it.node.drawn_ps(self.timing.nic, to);
        to.send(to.me(), replay.mpi.delay_ps(bytes, part) + drawn_ps, Event::Enters(message));
    }

    /// Begins a receive; returns whether its message has arrived completely.
    fn receives(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        at: usize,
        op: u32,
        to: &mut impl EventHandlerContext,
    ) -> bool {
        let what = replay.schedule.ops()[op as usize];
        let Some(plays) = &mut it.plays else { return false };
        let fits = |entry: &MatchingListEntry| {
            (what.peer == ANY || what.peer == entry.from)
                && (what.tag == ANY || what.tag == entry.tag)
        };
        let Some(found) = plays.take(at, MatchingListKind::Unexpected, fits, to) else {
            let entry = MatchingListEntry { from: what.peer, tag: what.tag, what: op };
            plays.put(at, MatchingListKind::Posted, entry, to);
            return false;
        };
        self.meets(replay, it, at, (found.what, op), to)
    }

    /// Matches a message or a request to send with its receive; returns whether that completes the
    /// receive.
    fn meets(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        at: usize,
        (message, receive): (u32, u32),
        to: &mut impl EventHandlerContext,
    ) -> bool {
        let (op, part) = operation(message);
        if part == ProtocolMessageRole::Eager {
            return true;
        }
        if let Some(plays) = &mut it.plays {
            let entry = MatchingListEntry { from: op, tag: 0, what: receive };
            plays.put(at, MatchingListKind::Agreed, entry, to);
        }
        self.posts(replay, it, number(op, ProtocolMessageRole::Answer), to);
        false
    }

    /// Handles a message that reaches the network interface, which accepts messages one after
    /// another.
    pub(crate) fn enters(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl EventHandlerContext,
    ) {
        let now = to.now_ps();
        let mut gap_ps = (replay.mpi.gap_ns * 1000.0).round() as u64;
        if self.timing.is_gap_first {
            gap_ps += it.node.drawn_ps(self.timing.nic, to);
        }
        let Some(plays) = &mut it.plays else { return };
        let host = plays.host(to);
        let free_ps = host.takes_ps.max(now);
        host.takes_ps = free_ps + gap_ps;
        let taken_ps = if self.timing.is_gap_first { host.takes_ps } else { free_ps };
        if taken_ps > now {
            to.send(to.me(), taken_ps - now, Event::Taken(message));
        } else {
            self.taken(replay, it, message, to);
        }
    }

    /// The network interface has taken a message: it goes to the network, or is copied within the
    /// endpoint.
    pub(crate) fn taken(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl EventHandlerContext,
    ) {
        let me = to.me() - self.plant.routers;
        let (op, part) = operation(message);
        let what = replay.schedule.ops()[op as usize];
        let other = match part {
            ProtocolMessageRole::Answer => replay.homes[replay.schedule.rank_of(op) as usize],
            _ => replay.homes[what.peer as usize],
        };
        let bytes = replay.bytes_of(message);
        if other == me {
            self.copies(replay, it, message, bytes, to);
            return;
        }
        let class = replay.classes[usize::from(replay.job_of(replay.schedule.rank_of(op)))];
        self.hands_over(it, (other, class), message, bytes, to);
    }

    /// Queues a message of a class at the interface, which cuts it into packets.
    pub(super) fn hands_over(
        &self,
        it: &mut Endpoint,
        (other, class): (u32, u8),
        message: u32,
        bytes: u32,
        to: &mut impl EventHandlerContext,
    ) {
        let from = to.me() - self.plant.routers;
        let packet = PacketChunk { from, to: other, message, bytes, ..it.plain() };
        self.enqueues(it, class, packet, to);
    }

    /// Copies a message to a process of the same endpoint.
    fn copies(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        message: u32,
        bytes: u32,
        to: &mut impl EventHandlerContext,
    ) {
        let now = to.now_ps();
        let Some(plays) = &mut it.plays else { return };
        if u64::from(bytes) < replay.mpi.copy_bytes {
            self.copied(replay, it, message, to);
            return;
        }
        let copy_ps = transmission_ps(bytes.into(), self.plant.of(LinkClass::Endpoint).gib_per_s);
        let host = plays.host(to);
        host.copies_ps = host.copies_ps.max(now) + copy_ps;
        let delay_ps = host.copies_ps - now;
        to.send(to.me(), delay_ps, Event::Copied(message));
    }

    /// A message between processes of one endpoint has arrived.
    pub(crate) fn copied(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl EventHandlerContext,
    ) {
        if let Some(op) = sends(message) {
            self.ends(replay, it, op, to);
        }
        self.comes(replay, it, message, to);
    }

    /// An operation is complete.
    pub(crate) fn ends(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        op: u32,
        to: &mut impl EventHandlerContext,
    ) {
        let Some(at) = process_of(it, replay.schedule.rank_of(op)) else { return };
        self.goes_on(replay, it, at, VecDeque::from([OperationStep::Ends(op)]), to);
    }

    /// The process of this endpoint that a message is addressed to.
    fn at_process(replay: &ReplayedJobs, it: &Endpoint, message: u32) -> Option<usize> {
        let (op, part) = operation(message);
        let rank = match part {
            ProtocolMessageRole::Answer => replay.schedule.rank_of(op),
            _ => replay.schedule.ops()[op as usize].peer,
        };
        process_of(it, rank)
    }

    /// Handles the complete arrival of a message; no process waits for messages of background jobs.
    pub(crate) fn comes(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl EventHandlerContext,
    ) {
        if message & OF_BACKGROUND != 0 {
            return;
        }
        let (op, part) = operation(message);
        let Some(at) = Self::at_process(replay, it, message) else { return };
        let Some(plays) = &mut it.plays else { return };
        let ends = match part {
            ProtocolMessageRole::Answer => {
                self.posts(replay, it, number(op, ProtocolMessageRole::Data), to);
                None
            }
            ProtocolMessageRole::Data => {
                let same = |entry: &MatchingListEntry| entry.from == op;
                plays.take(at, MatchingListKind::Agreed, same, to).map(|entry| entry.what)
            }
            ProtocolMessageRole::Eager | ProtocolMessageRole::Request => {
                let (from, tag) =
                    (replay.schedule.rank_of(op), replay.schedule.ops()[op as usize].tag);
                let fits = |entry: &MatchingListEntry| {
                    (entry.from == ANY || entry.from == from)
                        && (entry.tag == ANY || entry.tag == tag)
                };
                if let Some(found) = plays.take(at, MatchingListKind::Posted, fits, to) {
                    self.meets(replay, it, at, (message, found.what), to).then_some(found.what)
                } else {
                    let entry = MatchingListEntry { from, tag, what: message };
                    plays.put(at, MatchingListKind::Unexpected, entry, to);
                    None
                }
            }
        };
        if let Some(receive) = ends {
            self.goes_on(replay, it, at, VecDeque::from([OperationStep::Ends(receive)]), to);
        }
    }

    /// Handles the end of a process; once all processes of an endpoint are done, it informs the
    /// counting endpoint.
    fn process_is_done(
        &self,
        replay: &ReplayedJobs,
        it: &mut Endpoint,
        to: &mut impl EventHandlerContext,
    ) {
        let Some(plays) = &it.plays else { return };
        if replay.tells() && plays.processes.iter().all(|process| process.clock.left == 0) {
            to.send(self.plant.lp(replay.counts), TELL_PS, Event::Done);
        }
    }
}

/// The index of a rank among the processes of an endpoint.
fn process_of(it: &Endpoint, rank: u32) -> Option<usize> {
    let plays = it.plays.as_ref()?;
    plays.processes.iter().position(|process| process.rank == rank)
}
