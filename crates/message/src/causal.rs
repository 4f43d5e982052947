//! Running a schedule causally: the dialect `causal`.
//!
//! - An operation begins when all operations that it requires have ended (or, if only their start
//!   is required, have begun), whatever processors they ran on, and when its processor is free.
//! - A send of `s` bytes, at most `S`, occupies its processor for `o + (s-1) O` and its interface
//!   for `g + (s-1) G`; then it is done. Its first byte arrives `o + L` after it began.
//! - The receiving interface takes messages one after another, each for `g + (s-1) G`; the last
//!   byte arrives `(s-1) max(G, O)` after the first. No processor is needed until the receive.
//! - A receive is posted as soon as it may begin. Once the message arrives, its processor works on
//!   it for `o + (s-1) O`, and ends no earlier than `o` after the last byte.
//! - A larger send first sends a request: a message of one byte, with `o` and `g` at the sender.
//!   When the receive is posted the receiver answers, with `o` on its processor and `g` at its
//!   interface; `o + L` later the sender sends the message as above. The send is done when its last
//!   byte has left.
//!
//! An empty message costs as much as one of a single byte.
//!
//! Over a network the interface is occupied for `g` alone, and the `s - 1` bytes after the first
//! are a flow. It begins when the first byte leaves, `o` after the sender's processor began, and
//! each byte arrives a route's latency after it left. The receiver's processor works on the bytes
//! as they arrive, once it is free and the receive is posted.
//!
//! Source: the costs of Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010, section 2; the rules
//! above are flyloom's own.

use super::machine::{
    InterfaceSide, PendingScheduleEvent, ScheduleEventKind, ScheduleRunResult, ScheduleRunState,
};
use super::net::{NetworkRunState, NetworkWithRanks, SentMessage};
use super::parameters::{LogGopsParameters, ScaledLogGopsParameters};
use super::trace::{OperationStep, OperationStepTimes};
use base::{ComputationError, ProgressWatch, Refusal};
use traffic::workload::{OperationKind, Schedule, ScheduleOperation};

/// Bits of a message over a network: it has been matched with its receive; its last byte has left.
const MET: u8 = 1;
const SENT: u8 = 2;

/// Runs `schedule`, over a network if there is one; times are picoseconds. O(events * log(events
/// that wait for one processor)), plus the time for flows.
///
/// # Errors
/// When a parameter is out of range, there is no path between two ranks, or `watch` says stop. A
/// schedule that deadlocks is no error: see [`ScheduleRunResult::left`].
pub(super) fn run(
    schedule: &Schedule,
    costs: &LogGopsParameters,
    under: Option<&NetworkWithRanks<'_>>,
    is_traced: bool,
    watch: &dyn ProgressWatch,
) -> Result<ScheduleRunResult, ComputationError> {
    let mut costs = costs.picoseconds()?;
    let ops = schedule.ops().len();
    let net = match under {
        None => None,
        Some(under) => {
            let net = NetworkRunState::new(under, (ops, schedule.nics()), costs.cpu_rate(), watch)?;
            (costs.latency, costs.byte) = net.largest();
            Some(net)
        }
    };
    costs.check_sum(schedule)?;
    if net.is_some() {
        costs.byte = 0;
    }
    let on = ScheduleRunState::new(schedule, true);
    let mut run = CausalScheduleRun {
        on: if net.is_some() { on.over_network() } else { on },
        costs: &costs,
        left: vec![0; schedule.ranks() as usize],
        news: vec![0; if net.is_some() { ops } else { 0 }],
        net,
        fault: None,
        trace: OperationStepTimes::new(if is_traced { ops } else { 0 }),
    };
    while let Some(due) = run.on.next(watch)? {
        match due.what {
            ScheduleEventKind::Begin => match run.on.op(due.op).kind {
                OperationKind::Send => run.send(&due),
                OperationKind::Recv => run.post(&due),
                OperationKind::Calc => run.calculate(&due),
            },
            ScheduleEventKind::Arrive => run.arrive(&due),
            ScheduleEventKind::Answer => run.answer(&due),
            ScheduleEventKind::Data => run.data(&due),
            ScheduleEventKind::DataArrive => run.data_arrives(&due),
            ScheduleEventKind::Take => run.take(&due),
            ScheduleEventKind::Enter => run.enter(due.op, due.rank, due.now),
            ScheduleEventKind::Net => run.look_at_network(&due),
        }
        if let Some(fault) = run.fault {
            return Err(fault.into());
        }
    }
    let mut found = run.on.found();
    for (finish, left) in found.finish.iter_mut().zip(run.left) {
        *finish = left.max(*finish);
    }
    found.trace = is_traced.then_some(run.trace);
    found.used = run.net.map(NetworkRunState::used);
    Ok(found)
}

/// The state of a run of a schedule in the dialect `causal`.
struct CausalScheduleRun<'a> {
    on: ScheduleRunState<'a>,
    costs: &'a ScaledLogGopsParameters,
    /// For each rank, the time at which the last byte of a large message left it most recently.
    left: Vec<u64>,
    /// The state of the message of every send, for runs over a network: the bits [`MET`] and
    /// [`SENT`].
    news: Vec<u8>,
    net: Option<NetworkRunState>,
    /// A refusal that ends the run; none so far.
    fault: Option<Refusal>,
    /// The times of all steps; empty unless a trace was requested.
    trace: OperationStepTimes,
}

impl CausalScheduleRun<'_> {
    fn calculate(&mut self, due: &PendingScheduleEvent) {
        let op = self.on.op(due.op);
        let needs = ScheduleRunState::needs(due.rank, &op, InterfaceSide::Neither);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.trace.note(OperationStep::Begin, due.op, due.now);
        let end = due.now + op.size * self.costs.divisor;
        *self.on.cpu(due.rank, op.cpu) = end;
        self.on.begun(due.op, false, due.now);
        self.on.done(due.op, false, end);
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    /// Begins a send: a small message is sent, a large one requested.
    fn send(&mut self, due: &PendingScheduleEvent) {
        let (op, c) = (self.on.op(due.op), self.costs);
        let needs = ScheduleRunState::needs(due.rank, &op, InterfaceSide::Out);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.trace.note(OperationStep::Begin, due.op, due.now);
        self.on.begun(due.op, false, due.now);
        let is_eager = op.size <= c.eager;
        let size = if is_eager { op.size } else { 1 };
        let end = self.leaves(due.rank, &op, size, due.now);
        if is_eager {
            self.goes(due, ScheduleEventKind::Arrive);
            self.on.done(due.op, false, end);
        } else {
            let latency = self.latency_of(due.op, due.rank, op.peer);
            self.comes_at(
                due.now + c.overhead + latency,
                ScheduleEventKind::Arrive,
                due.op,
                due.rank,
            );
        }
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    /// Occupies the processor and the interface of a rank with a message that leaves. Returns the
    /// time at which the processor is free again.
    fn leaves(&mut self, rank: u32, op: &ScheduleOperation, size: u64, now: u64) -> u64 {
        let c = self.costs;
        let end = now + c.overhead + c.cpu_bytes(size);
        *self.on.cpu(rank, op.cpu) = end;
        *self.on.sends(rank, op.nic) = now + c.gap + c.nic_bytes(size);
        end
    }

    /// Occupies the interface at which a message arrives. Returns the time at which its last byte
    /// arrives.
    fn comes(&mut self, rank: u32, op: &ScheduleOperation, size: u64, now: u64) -> u64 {
        let c = self.costs;
        *self.on.takes(rank, op.nic) = now + c.gap + c.nic_bytes(size);
        now + c.nic_bytes(size).max(c.cpu_bytes(size))
    }

    fn post(&mut self, due: &PendingScheduleEvent) {
        self.on.events += 1;
        self.trace.note(OperationStep::Begin, due.op, due.now);
        self.on.begun(due.op, false, due.now);
        if let Some((sent, _)) = self.on.posted(due.rank, due.op) {
            self.meet(sent, due.op, due.rank, due.now);
        }
        self.on.release_all(due.rank, due.rank);
    }

    fn arrive(&mut self, due: &PendingScheduleEvent) {
        let op = self.on.op(due.op);
        let (here, size) = (op.peer, if op.size <= self.costs.eager { op.size } else { 1 });
        let needs = ScheduleRunState::needs(here, &op, InterfaceSide::InAlone);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.trace.note(OperationStep::Arrive, due.op, due.now);
        self.on.messages += u64::from(op.size <= self.costs.eager);
        // once a send has begun its `time` is free: here it becomes the arrival of its last byte
        let last = self.comes(here, &op, size, due.now);
        if self.net.is_none() {
            self.on.own(due.op).time = last;
        }
        if let Some(received) = self.on.arrives(here, due.rank, op.tag, due.op) {
            self.meet(due.op, received, here, due.now);
        }
        self.on.happened(due, needs);
    }

    /// Matches a message, or a request to send, with its receive: it is then taken, or answered.
    fn meet(&mut self, sent: u32, received: u32, here: u32, now: u64) {
        self.on.own(sent).partner = received;
        self.on.own(received).partner = sent;
        self.trace.meet(sent, received);
        if self.on.op(sent).size <= self.costs.eager {
            self.taken_from(sent, received, here, now);
        } else {
            self.on.at(now, ScheduleEventKind::Answer, received, here);
        }
    }

    /// Schedules the time at which the processor takes a message: as early as it need not wait for
    /// bytes.
    fn taken_from(&mut self, sent: u32, received: u32, here: u32, now: u64) {
        if self.net.is_some() {
            // once a receive has begun its `time` is free: here it becomes the time of the match
            self.on.own(received).time = now;
            self.learns(sent, MET, now);
            return;
        }
        let last = self.on.own(sent).time;
        let begin = last.saturating_sub(self.costs.cpu_bytes(self.on.op(sent).size));
        self.on.at(begin.max(now), ScheduleEventKind::Take, received, here);
    }

    /// Answers a request: the receiver allows the message to be sent.
    fn answer(&mut self, due: &PendingScheduleEvent) {
        let (op, c) = (self.on.op(due.op), self.costs);
        let needs = ScheduleRunState::needs(due.rank, &op, InterfaceSide::Out);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.trace.note(OperationStep::Answer, due.op, due.now);
        self.leaves(due.rank, &op, 1, due.now);
        let sent = self.on.own(due.op).partner;
        let sender = self.on.schedule.rank_of(sent);
        let latency = self.latency_of(due.op, due.rank, sender);
        let time = due.now + c.overhead + latency;
        self.trace.note(OperationStep::DataDue, sent, time);
        self.on.at(time, ScheduleEventKind::Data, sent, sender);
        self.on.happened(due, needs);
    }

    /// Sends a large message after the answer.
    fn data(&mut self, due: &PendingScheduleEvent) {
        let (op, c) = (self.on.op(due.op), self.costs);
        let needs = ScheduleRunState::needs(due.rank, &op, InterfaceSide::Out);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.trace.note(OperationStep::Data, due.op, due.now);
        let end = self.leaves(due.rank, &op, op.size, due.now);
        self.goes(due, ScheduleEventKind::DataArrive);
        if self.net.is_some() {
            // until its last byte leaves, the `time` of a send is the time at which its processor
            // was done
            self.on.own(due.op).time = end;
        } else {
            self.has_left(due.op, due.rank, end, due.now + c.overhead + c.nic_bytes(op.size));
        }
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    fn data_arrives(&mut self, due: &PendingScheduleEvent) {
        let op = self.on.op(due.op);
        let needs = ScheduleRunState::needs(op.peer, &op, InterfaceSide::InAlone);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.trace.note(OperationStep::DataArrive, due.op, due.now);
        self.on.messages += 1;
        let last = self.comes(op.peer, &op, op.size, due.now);
        if self.net.is_none() {
            self.on.own(due.op).time = last;
        }
        let received = self.on.own(due.op).partner;
        self.taken_from(due.op, received, op.peer, due.now);
        self.on.happened(due, needs);
    }

    /// Takes a message on the receiver's processor, after or while its bytes arrive.
    fn take(&mut self, due: &PendingScheduleEvent) {
        let op = self.on.op(due.op);
        let needs = ScheduleRunState::needs(due.rank, &op, InterfaceSide::Neither);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.trace.note(OperationStep::Take, due.op, due.now);
        let sent = self.on.own(due.op).partner;
        let (size, last) = (self.on.op(sent).size, self.on.own(sent).time);
        let bytes = self.costs.cpu_bytes(size);
        let mut begin = due.now;
        if self.net.is_some() {
            // all bytes have arrived: the processor has worked on them since it was free
            let free = (*self.on.cpu(due.rank, op.cpu)).max(self.on.own(due.op).time);
            begin = free.max(last.saturating_sub(bytes)).min(begin);
        }
        self.trace.note(OperationStep::Work, due.op, begin);
        let end = (begin + bytes).max(last) + self.costs.overhead;
        *self.on.cpu(due.rank, op.cpu) = end;
        self.on.done(due.op, false, end);
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    /// Sends the bytes of a message, `o` after the processor began; its first byte arrives as event
    /// `what`.
    fn goes(&mut self, due: &PendingScheduleEvent, what: ScheduleEventKind) {
        let leaves = due.now + self.costs.overhead;
        if self.net.is_some() {
            self.trace.note(OperationStep::EnterDue, due.op, leaves);
            self.on.at(leaves, ScheduleEventKind::Enter, due.op, due.rank);
        } else {
            self.comes_at(leaves + self.costs.latency, what, due.op, due.rank);
        }
    }

    /// Schedules the arrival of the first byte of a message, or of a request, at `time`.
    fn comes_at(&mut self, time: u64, what: ScheduleEventKind, op: u32, rank: u32) {
        let due = if what == ScheduleEventKind::Arrive {
            OperationStep::ArriveDue
        } else {
            OperationStep::DataArriveDue
        };
        self.trace.note(due, op, time);
        self.on.at(time, what, op, rank);
    }

    /// The latency of a request or an answer.
    fn latency_of(&mut self, op: u32, from: u32, to: u32) -> u64 {
        let Some(net) = &mut self.net else { return self.costs.latency };
        let nic = self.on.schedule.ops()[op as usize].nic;
        net.latency(SentMessage { op, nic, from, to, bytes: 1 }).unwrap_or_else(|fault| {
            self.fault = Some(fault);
            0
        })
    }

    /// Ends the send of a large message, whose last byte has left.
    fn has_left(&mut self, op: u32, rank: u32, end: u64, left: u64) {
        self.left[rank as usize] = left.max(self.left[rank as usize]);
        self.on.done(op, false, end.max(left));
    }

    /// Lets a message enter the network, or wait at its interface.
    fn enter(&mut self, op: u32, rank: u32, now: u64) {
        let it = self.on.op(op);
        let Some(net) = &mut self.net else { return };
        let sent = SentMessage { op, nic: it.nic, from: rank, to: it.peer, bytes: it.size };
        let entered = net.enter(now, sent);
        let alone = net.alone_ps();
        match entered {
            Err(fault) => self.fault = Some(fault),
            Ok(None) => {}
            Ok(Some((latency, is_short))) => {
                self.trace.note(OperationStep::Enter, op, now);
                let what = if it.size <= self.costs.eager {
                    ScheduleEventKind::Arrive
                } else {
                    ScheduleEventKind::DataArrive
                };
                self.trace.note(OperationStep::Alone, op, alone);
                self.comes_at(now + latency, what, op, rank);
                if is_short {
                    self.all_sent(op, rank, now, latency);
                }
            }
        }
        self.look_again(now);
    }

    /// Handles the last byte of a message, which leaves at `now` and arrives after `latency`.
    fn all_sent(&mut self, op: u32, rank: u32, now: u64, latency: u64) {
        self.trace.note(OperationStep::Sent, op, now);
        if self.on.op(op).size > self.costs.eager {
            let end = self.on.own(op).time;
            self.has_left(op, rank, end, now);
        }
        self.on.own(op).time = now + latency;
        self.learns(op, SENT, now);
        self.on.release_all(rank, rank);
    }

    /// Adds the bit `news` to a message's state. Once it has met its receive and its last byte has
    /// left, the receive takes it.
    fn learns(&mut self, sent: u32, news: u8, now: u64) {
        let known = &mut self.news[sent as usize];
        *known |= news;
        if *known == MET | SENT {
            let time = now.max(self.on.own(sent).time);
            let here = self.on.op(sent).peer;
            let received = self.on.own(sent).partner;
            self.on.at(time, ScheduleEventKind::Take, received, here);
        }
    }

    /// Ends the flows whose last byte leaves at this time; if there are none, settles the rates of
    /// flows.
    fn look_at_network(&mut self, due: &PendingScheduleEvent) {
        if self.net.as_ref().is_some_and(|net| !net.is_asked(due.now)) {
            return;
        }
        let mut any = false;
        while let Some((op, latency)) = self.net.as_mut().and_then(|net| net.ended(due.now)) {
            any = true;
            let rank = self.on.schedule.rank_of(op);
            self.all_sent(op, rank, due.now, latency);
            let nic = self.on.op(op).nic;
            if let Some(next) = self.net.as_mut().and_then(|net| net.turn(rank, nic)) {
                self.enter(next.op, next.from, due.now);
            }
        }
        if let Some(net) = &mut self.net {
            net.looked(due.now, !any);
        }
        self.look_again(due.now);
    }

    /// Schedules an event for the time at which flows next end or change their rates.
    fn look_again(&mut self, now: u64) {
        if let Some(time) = self.net.as_mut().and_then(|net| net.look(now)) {
            self.on.last_at(time, ScheduleEventKind::Net);
        }
    }
}
