//! Running a schedule causally: the dialect `causal`.
//!
//! - An operation begins when all that it requires has ended, and started, whatever processors
//!   these ran on; and when its processor is free.
//! - A send of `s` bytes, at most `S`, occupies its processor for `o + (s-1) O` and its interface
//!   for `g + (s-1) G`; then it is done. Its first byte arrives `o + L` after it began.
//! - The receiving interface takes messages one after another, each for `g + (s-1) G`; the last
//!   byte is there `(s-1) max(G, O)` after the first. No processor is needed until the receive.
//! - A receive is posted as soon as it may begin. Once the message is there, its processor works on
//!   it for `o + (s-1) O`, not done before `o` after the last byte.
//! - A larger send first asks: a message of a byte, `o` and `g` at the sender; when the receive
//!   is posted the receiver answers, `o` on its processor and `g` at its interface; `o + L` later
//!   the sender sends as above. It is done when its last byte has left.
//!
//! Bytes after the first of an empty message are none.
//!
//! Source: the costs of Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010, section 2; the rules
//! above are flyloom's own.

use super::machine::{Due, Found, Machine, Side, What};
use super::parameters::{Costs, LogGops};
use base::{Stop, Watch};
use traffic::workload::{Kind, Op, Schedule};

/// Events between two looks at whether the user wants to stop.
const STRIDE: u64 = 1 << 16;
/// No operation.
const NONE: u32 = u32::MAX;

/// Runs `schedule`; times are picoseconds. O(events * log(events that wait for one processor)).
///
/// # Errors
/// When a parameter is out of range, or `watch` says stop. A schedule that cannot come to its end
/// is a finding: [`Found::left`].
pub(super) fn run(schedule: &Schedule, costs: &LogGops, watch: &dyn Watch) -> Result<Found, Stop> {
    let costs = &costs.picoseconds()?;
    costs.check_sum(schedule)?;
    let mut run = Run {
        on: Machine::new(schedule, true),
        costs,
        partner: vec![NONE; schedule.ops().len()],
        left: vec![0; schedule.ranks() as usize],
        events: 0,
        messages: 0,
    };
    let total = schedule.ops().len() as u64 + schedule.messages();
    let mut looks = 0_u64;
    while let Some(due) = run.on.next() {
        match due.what {
            What::Begin => match run.on.op(due.op).kind {
                Kind::Send => run.send(&due),
                Kind::Recv => run.post(&due),
                Kind::Calc => run.calculate(&due),
            },
            What::Arrive => run.arrive(&due),
            What::Answer => run.answer(&due),
            What::Data => run.data(&due),
            What::DataArrive => run.data_arrives(&due),
            What::Take => run.take(&due),
        }
        looks += 1;
        if looks.is_multiple_of(STRIDE) {
            watch.tick("events", run.events, total)?;
        }
    }
    let cpus = run.on.finish();
    Ok(Found {
        finish: cpus.into_iter().zip(run.left).map(|(cpu, left)| cpu.max(left)).collect(),
        events: run.events,
        messages: run.messages,
        left: run.on.left(),
    })
}

struct Run<'a> {
    on: Machine<'a>,
    costs: &'a Costs,
    /// The receive of a send, and the other way round, once they have met.
    partner: Vec<u32>,
    /// When the last byte of a large message has left each rank.
    left: Vec<u64>,
    events: u64,
    messages: u64,
}

impl Run<'_> {
    fn calculate(&mut self, due: &Due) {
        let op = self.on.op(due.op);
        let needs = Machine::needs(due.rank, &op, Side::Neither);
        if !self.on.may(due, needs) {
            return;
        }
        self.events += 1;
        let end = due.now + op.size * self.costs.divisor;
        *self.on.cpu(due.rank, op.cpu) = end;
        self.on.begun(due.op, false, due.now);
        self.on.done(due.op, false, end);
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    /// A send that is small goes; a large one asks.
    fn send(&mut self, due: &Due) {
        let (op, c) = (self.on.op(due.op), self.costs);
        let needs = Machine::needs(due.rank, &op, Side::Out);
        if !self.on.may(due, needs) {
            return;
        }
        self.events += 1;
        self.on.begun(due.op, false, due.now);
        let is_eager = op.size <= c.eager;
        let size = if is_eager { op.size } else { 1 };
        let end = self.leaves(due.rank, &op, size, due.now);
        self.on.at(due.now + c.overhead + c.latency, What::Arrive, due.op, due.rank);
        if is_eager {
            self.on.done(due.op, false, end);
        }
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    /// Occupies processor and interface of a rank with a message that leaves; when the processor is
    /// free again.
    fn leaves(&mut self, rank: u32, op: &Op, size: u64, now: u64) -> u64 {
        let c = self.costs;
        let end = now + c.overhead + c.cpu_bytes(size);
        *self.on.cpu(rank, op.cpu) = end;
        *self.on.sends(rank, op.nic) = now + c.gap + c.nic_bytes(size);
        end
    }

    /// Occupies the interface that a message comes to; when the last byte is there.
    fn comes(&mut self, rank: u32, op: &Op, size: u64, now: u64) -> u64 {
        let c = self.costs;
        *self.on.takes(rank, op.nic) = now + c.gap + c.nic_bytes(size);
        now + c.nic_bytes(size).max(c.cpu_bytes(size))
    }

    fn post(&mut self, due: &Due) {
        self.events += 1;
        let op = self.on.op(due.op);
        self.on.begun(due.op, false, due.now);
        if let Some((sent, _)) = self.on.matching.post(due.rank, op.peer, op.tag, due.op) {
            self.meet(sent, due.op, due.rank, due.now);
        }
        self.on.release_all(due.rank, due.rank);
    }

    fn arrive(&mut self, due: &Due) {
        let op = self.on.op(due.op);
        let (here, size) = (op.peer, if op.size <= self.costs.eager { op.size } else { 1 });
        let needs = Machine::needs(here, &op, Side::InAlone);
        if !self.on.may(due, needs) {
            return;
        }
        self.events += 1;
        self.messages += u64::from(op.size <= self.costs.eager);
        // a send that has begun waits for nothing: its place holds when its last byte is there
        self.on.ready[due.op as usize] = self.comes(here, &op, size, due.now);
        if let Some(received) = self.on.matching.arrive(here, due.rank, op.tag, due.op) {
            self.meet(due.op, received, here, due.now);
        }
        self.on.happened(due, needs);
    }

    /// A message, or its question, has met its receive: it is taken, or answered.
    fn meet(&mut self, sent: u32, received: u32, here: u32, now: u64) {
        self.partner[sent as usize] = received;
        self.partner[received as usize] = sent;
        if self.on.op(sent).size <= self.costs.eager {
            self.taken_from(sent, received, here, now);
        } else {
            self.on.at(now, What::Answer, received, here);
        }
    }

    /// The processor may begin to take a message so late that it keeps up with the bytes.
    fn taken_from(&mut self, sent: u32, received: u32, here: u32, now: u64) {
        let last = self.on.ready[sent as usize];
        let begin = last.saturating_sub(self.costs.cpu_bytes(self.on.op(sent).size));
        self.on.at(begin.max(now), What::Take, received, here);
    }

    /// The receiver says that the message may come.
    fn answer(&mut self, due: &Due) {
        let (op, c) = (self.on.op(due.op), self.costs);
        let needs = Machine::needs(due.rank, &op, Side::Out);
        if !self.on.may(due, needs) {
            return;
        }
        self.events += 1;
        self.leaves(due.rank, &op, 1, due.now);
        let sent = self.partner[due.op as usize];
        let sender = self.on.schedule.rank_of(sent);
        self.on.at(due.now + c.overhead + c.latency, What::Data, sent, sender);
        self.on.happened(due, needs);
    }

    /// The sender sends.
    fn data(&mut self, due: &Due) {
        let (op, c) = (self.on.op(due.op), self.costs);
        let needs = Machine::needs(due.rank, &op, Side::Out);
        if !self.on.may(due, needs) {
            return;
        }
        self.events += 1;
        let end = self.leaves(due.rank, &op, op.size, due.now);
        self.on.at(due.now + c.overhead + c.latency, What::DataArrive, due.op, due.rank);
        let left = due.now + c.overhead + c.nic_bytes(op.size);
        self.left[due.rank as usize] = left.max(self.left[due.rank as usize]);
        self.on.done(due.op, false, end.max(left));
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    fn data_arrives(&mut self, due: &Due) {
        let op = self.on.op(due.op);
        let needs = Machine::needs(op.peer, &op, Side::InAlone);
        if !self.on.may(due, needs) {
            return;
        }
        self.events += 1;
        self.messages += 1;
        self.on.ready[due.op as usize] = self.comes(op.peer, &op, op.size, due.now);
        self.taken_from(due.op, self.partner[due.op as usize], op.peer, due.now);
        self.on.happened(due, needs);
    }

    /// The receiver's processor takes the message, which is there or keeps coming.
    fn take(&mut self, due: &Due) {
        let op = self.on.op(due.op);
        let needs = Machine::needs(due.rank, &op, Side::Neither);
        if !self.on.may(due, needs) {
            return;
        }
        self.events += 1;
        let sent = self.partner[due.op as usize];
        let (size, last) = (self.on.op(sent).size, self.on.ready[sent as usize]);
        let end = (due.now + self.costs.cpu_bytes(size)).max(last) + self.costs.overhead;
        *self.on.cpu(due.rank, op.cpu) = end;
        self.on.done(due.op, false, end);
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }
}
