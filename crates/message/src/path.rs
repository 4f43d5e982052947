//! The critical path of a run: what its end waited for, back to the beginning.
//!
//! Every step of a run begins at the latest of some times: the end of an operation that it waits
//! for, the processor or interface that is free, a message that comes. Going back from the end by
//! the one that was latest gives a path whose lengths add up to the whole run, so that the number
//! of latencies, overheads, gaps and bytes on it are the derivatives of the run's time by `L`, `o`,
//! `g`, `G` and `O` (where another path is as long, those of one of them).
//!
//! Source: Alexandrov, Ionescu, Schauser, Scheiman: `LogGP`, SPAA 1995 (the parameters); Yang,
//! Miller: Critical path analysis for the execution of parallel and distributed programs, ICDCS
//! 1988.

use super::parameters::{Costs, LogGops};
use super::trace::{Step, Trace};
use base::quick::QuickHash;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::AddAssign;
use traffic::workload::{Kind, Op, Schedule};

/// What is on a path, or on a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Amounts {
    /// Times of a processor for a message.
    pub overheads: i64,
    /// Latencies `L`.
    pub latencies: i64,
    /// Times of an interface for a message.
    pub gaps: i64,
    /// Bytes that interfaces take one after the other.
    pub interface_bytes: i64,
    /// Bytes that processors take one after the other.
    pub processor_bytes: i64,
    /// Computation, picoseconds.
    pub computing_ps: i64,
    /// Through a network without others, picoseconds: latencies of routes.
    pub route_ps: i64,
    /// Bytes through a network without others, picoseconds.
    pub alone_ps: i64,
    /// What they took longer because of others, picoseconds.
    pub shared_ps: i64,
}

impl Amounts {
    /// The sum of those of a path.
    pub fn of(path: &[Span]) -> Self {
        let mut all = Self::default();
        for span in path {
            all += span.amounts;
        }
        all
    }

    /// What a run with this critical path spends its time on, ns.
    pub fn parts_ns(&self, c: &LogGops) -> [(&'static str, f64); 6] {
        let ns = |ps: i64| ps as f64 / 1000.0;
        let times = |amount: i64, ns: f64| amount as f64 * ns;
        [
            ("computing", ns(self.computing_ps)),
            ("overhead", times(self.overheads, c.o) + times(self.processor_bytes, c.O)),
            ("latency", times(self.latencies, c.L) + ns(self.route_ps)),
            ("gap", times(self.gaps, c.g)),
            ("bandwidth", times(self.interface_bytes, c.G) + ns(self.alone_ps)),
            ("sharing", ns(self.shared_ps)),
        ]
    }

    /// How much longer a run with this critical path takes for each nanosecond, or nanosecond a
    /// byte, that a parameter is more.
    pub fn derivatives(&self) -> [(&'static str, i64); 5] {
        [
            ("L", self.latencies),
            ("o", self.overheads),
            ("g", self.gaps),
            ("G", self.interface_bytes),
            ("O", self.processor_bytes),
        ]
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, more: Self) {
        self.overheads += more.overheads;
        self.latencies += more.latencies;
        self.gaps += more.gaps;
        self.interface_bytes += more.interface_bytes;
        self.processor_bytes += more.processor_bytes;
        self.computing_ps += more.computing_ps;
        self.route_ps += more.route_ps;
        self.alone_ps += more.alone_ps;
        self.shared_ps += more.shared_ps;
    }
}

/// A part of a critical path: from one time to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The operation.
    pub op: u32,
    /// When it begins, picoseconds.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
    /// What it is made of.
    pub amounts: Amounts,
}

/// What a processor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It sends a message, or asks whether it may.
    Sends,
    /// It answers that a message may come.
    Answers,
    /// It takes a message.
    Receives,
    /// It computes.
    Computes,
}

/// What a processor of a rank does in a span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy {
    /// The rank.
    pub rank: u32,
    /// The operation.
    pub op: u32,
    /// What it does.
    pub doing: Doing,
    /// When it begins, picoseconds.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
}

/// A point on a path: a step of an operation, or its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Step(Step, u32),
    /// The last byte of a send's message is there.
    Last(u32),
    /// An operation is done.
    End(u32),
}

/// What one step occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Held {
    rank: u32,
    number: u8,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    Processor,
    Out,
    In,
    Turn,
}

/// Who holds something until a time: a step, and what it costs.
type Holders = HashMap<(Held, u64), Vec<(u32, At, Amounts)>, QuickHash>;

/// Finds critical paths in the trace of a run.
pub(super) struct Finder<'a> {
    schedule: &'a Schedule,
    costs: &'a Costs,
    trace: &'a Trace,
    over_network: bool,
    holders: Holders,
    /// What each operation waits for: operations, and whether their start is meant.
    before: Vec<Vec<(u32, bool)>>,
}

impl<'a> Finder<'a> {
    /// O(operations + dependencies) time and memory.
    pub(super) fn new(
        schedule: &'a Schedule,
        costs: &'a Costs,
        trace: &'a Trace,
        over_network: bool,
    ) -> Self {
        let mut before = vec![Vec::new(); schedule.ops().len()];
        for op in 0..schedule.ops().len() as u32 {
            for (list, start) in [(schedule.require(op), false), (schedule.require_start(op), true)]
            {
                for &after in list {
                    before[after as usize].push((op, start));
                }
            }
        }
        let holders = Holders::default();
        let mut new = Self { schedule, costs, trace, over_network, holders, before };
        for rank in 0..schedule.ranks() {
            for op in schedule.of_rank(rank) {
                new.hold_all(rank, op);
            }
        }
        new
    }

    fn op(&self, op: u32) -> Op {
        self.schedule.ops()[op as usize]
    }

    fn is_eager(&self, op: u32) -> bool {
        self.op(op).size <= self.costs.eager
    }

    /// Bytes after the first of a message, or of its question.
    fn bytes(&self, op: u32, is_question: bool) -> i64 {
        if is_question { 0 } else { self.op(op).size.saturating_sub(1) as i64 }
    }

    /// Notes what the steps of an operation occupy.
    fn hold_all(&mut self, rank: u32, op: u32) {
        let (it, o, g) = (self.op(op), self.costs.overhead, self.costs.gap);
        let nic = i64::from(!self.over_network);
        let mut hold = |step, what, until: u64, number, of: u32, amounts| {
            if self.trace.at(step, op).is_some() {
                let key = (Held { rank: of, number, what }, until);
                let order = self.trace.order(step, op);
                self.holders.entry(key).or_default().push((order, At::Step(step, op), amounts));
            }
        };
        let at = |step| self.trace.at(step, op).unwrap_or(0);
        let large = it.kind == Kind::Send && it.size > self.costs.eager;
        match it.kind {
            Kind::Calc => {
                let ps = it.size * self.costs.divisor;
                let amounts = Amounts { computing_ps: ps as i64, ..Amounts::default() };
                hold(Step::Begin, What::Processor, at(Step::Begin) + ps, it.cpu, rank, amounts);
            }
            Kind::Send => {
                for (step, is_question) in [(Step::Begin, large), (Step::Data, false)] {
                    let size = if is_question { 1 } else { it.size };
                    let bytes = size.saturating_sub(1) as i64;
                    let cpu =
                        Amounts { overheads: 1, processor_bytes: bytes, ..Amounts::default() };
                    let until = at(step) + o + self.costs.cpu_bytes(size);
                    hold(step, What::Processor, until, it.cpu, rank, cpu);
                    let out =
                        Amounts { gaps: 1, interface_bytes: nic * bytes, ..Amounts::default() };
                    let until = at(step) + g + self.costs.nic_bytes(size);
                    hold(step, What::Out, until, it.nic, rank, out);
                }
                for (step, is_question) in [(Step::Arrive, large), (Step::DataArrive, false)] {
                    let size = if is_question { 1 } else { it.size };
                    let bytes = size.saturating_sub(1) as i64;
                    let comes =
                        Amounts { gaps: 1, interface_bytes: nic * bytes, ..Amounts::default() };
                    let until = at(step) + g + self.costs.nic_bytes(size);
                    hold(step, What::In, until, it.nic, it.peer, comes);
                }
                hold(Step::Sent, What::Turn, at(Step::Sent), it.nic, rank, Amounts::default());
            }
            Kind::Recv => {
                let (cpu, out) = (
                    Amounts { overheads: 1, ..Amounts::default() },
                    Amounts { gaps: 1, ..Amounts::default() },
                );
                hold(Step::Answer, What::Processor, at(Step::Answer) + o, it.cpu, rank, cpu);
                hold(Step::Answer, What::Out, at(Step::Answer) + g, it.nic, rank, out);
            }
        }
        if it.kind == Kind::Recv && self.trace.at(Step::Take, op).is_some() {
            let key = (Held { rank, number: it.cpu, what: What::Processor }, self.end_of(op));
            let order = self.trace.order(Step::Take, op);
            let held = (order, At::End(op), Amounts::default());
            self.holders.entry(key).or_default().push(held);
        }
    }

    fn at(&self, step: Step, op: u32) -> u64 {
        self.trace.at(step, op).unwrap_or(0)
    }

    /// The step at which the first byte of a send's message is there.
    fn came(&self, sent: u32) -> Step {
        if self.is_eager(sent) { Step::Arrive } else { Step::DataArrive }
    }

    /// When the last byte of a send's message is there.
    fn last(&self, sent: u32) -> u64 {
        let size = self.op(sent).size;
        if self.over_network {
            let first = self
                .at(if self.is_eager(sent) { Step::ArriveDue } else { Step::DataArriveDue }, sent);
            return self.at(Step::Sent, sent) + first - self.at(Step::Enter, sent);
        }
        let bytes = self.costs.nic_bytes(size).max(self.costs.cpu_bytes(size));
        self.at(self.came(sent), sent) + bytes
    }

    /// When an operation is done.
    fn end_of(&self, op: u32) -> u64 {
        let (it, c) = (self.op(op), self.costs);
        match it.kind {
            Kind::Calc => self.at(Step::Begin, op) + it.size * c.divisor,
            Kind::Send if self.is_eager(op) => {
                self.at(Step::Begin, op) + c.overhead + c.cpu_bytes(it.size)
            }
            Kind::Send => {
                let data = self.at(Step::Data, op) + c.overhead;
                let left = if self.over_network {
                    self.at(Step::Sent, op)
                } else {
                    data + c.nic_bytes(it.size)
                };
                left.max(data + c.cpu_bytes(it.size))
            }
            Kind::Recv => {
                let Some(sent) = self.trace.partner(op) else { return 0 };
                let work = self.at(Step::Work, op) + c.cpu_bytes(self.op(sent).size);
                work.max(self.last(sent)) + c.overhead
            }
        }
    }

    fn time(&self, at: At) -> u64 {
        match at {
            At::Step(step, op) => self.at(step, op),
            At::Last(op) => self.last(op),
            At::End(op) => self.end_of(op),
        }
    }

    /// The path to the end of the last operation of a rank, from its beginning on.
    pub(super) fn path(&self, rank: u32) -> Vec<Span> {
        let done = |op: &u32| self.end_of(*op);
        let last = self.schedule.of_rank(rank).max_by_key(done);
        let mut spans = Vec::new();
        let mut here = last.map(At::End);
        while let Some(at) = here {
            let (before, amounts) = self.cause(at);
            let (end, begin) = (self.time(at), before.map_or(0, |b| self.time(b)));
            let (At::Step(_, op) | At::Last(op) | At::End(op)) = at;
            if end != begin || amounts != Amounts::default() {
                spans.push(Span { op, begin, end, amounts });
            }
            here = before;
        }
        spans.reverse();
        spans
    }

    /// What a point on a path waited for last, and what is between the two.
    fn cause(&self, at: At) -> (Option<At>, Amounts) {
        match at {
            At::End(op) => self.cause_of_end(op),
            At::Last(op) => self.cause_of_last(op),
            At::Step(step, op) => self.cause_of_step(step, op),
        }
    }

    fn cause_of_end(&self, op: u32) -> (Option<At>, Amounts) {
        let (it, c) = (self.op(op), self.costs);
        let bytes = self.bytes(op, false);
        let step = |step| Some(At::Step(step, op));
        let none = Amounts::default();
        match it.kind {
            Kind::Calc => {
                let computing_ps = (it.size * c.divisor) as i64;
                (step(Step::Begin), Amounts { computing_ps, ..none })
            }
            Kind::Send if self.is_eager(op) => {
                (step(Step::Begin), Amounts { overheads: 1, processor_bytes: bytes, ..none })
            }
            Kind::Send => {
                let work = self.at(Step::Data, op) + c.overhead + c.cpu_bytes(it.size);
                if work == self.end_of(op) {
                    (step(Step::Data), Amounts { overheads: 1, processor_bytes: bytes, ..none })
                } else if self.over_network {
                    (step(Step::Sent), none)
                } else {
                    (step(Step::Data), Amounts { overheads: 1, interface_bytes: bytes, ..none })
                }
            }
            Kind::Recv => {
                let Some(sent) = self.trace.partner(op) else { return (None, none) };
                let last = self.last(sent);
                if last + c.overhead == self.end_of(op) {
                    return (Some(At::Last(sent)), Amounts { overheads: 1, ..none });
                }
                let processor_bytes = self.bytes(sent, false);
                (step(Step::Work), Amounts { overheads: 1, processor_bytes, ..none })
            }
        }
    }

    fn cause_of_last(&self, sent: u32) -> (Option<At>, Amounts) {
        let none = Amounts::default();
        if self.over_network {
            let route = self.last(sent) - self.at(Step::Sent, sent);
            let amounts = Amounts { route_ps: route as i64, ..none };
            return (Some(At::Step(Step::Sent, sent)), amounts);
        }
        let (size, bytes) = (self.op(sent).size, self.bytes(sent, false));
        let amounts = if self.costs.nic_bytes(size) >= self.costs.cpu_bytes(size) {
            Amounts { interface_bytes: bytes, ..none }
        } else {
            Amounts { processor_bytes: bytes, ..none }
        };
        (Some(At::Step(self.came(sent), sent)), amounts)
    }

    fn cause_of_step(&self, step: Step, op: u32) -> (Option<At>, Amounts) {
        let (it, time, none) = (self.op(op), self.at(step, op), Amounts::default());
        let rank = self.schedule.rank_of(op);
        let order = self.trace.order(step, op);
        let held = |rank, number, what| self.holder(Held { rank, number, what }, time, order);
        let processor = || held(rank, it.cpu, What::Processor);
        let out = || held(rank, it.nic, What::Out);
        let on = |before, more| Some((Some(At::Step(before, op)), more));
        let one = Amounts { overheads: 1, ..none };
        let found = match step {
            Step::Begin => self.waited(op, time).or_else(processor).or_else(out),
            Step::Arrive if self.at(Step::ArriveDue, op) != time => held(it.peer, it.nic, What::In),
            Step::Arrive if self.over_network && self.is_eager(op) => {
                on(Step::Enter, Self::route(time - self.at(Step::Enter, op)))
            }
            Step::Arrive => on(Step::Begin, self.flight(time - self.at(Step::Begin, op))),
            Step::Answer => self.met(op, time, true).or_else(processor).or_else(out),
            Step::Data if self.at(Step::DataDue, op) == time => {
                self.trace.partner(op).map(|received| {
                    let flight = self.flight(time - self.at(Step::Answer, received));
                    (Some(At::Step(Step::Answer, received)), flight)
                })
            }
            Step::Data => processor().or_else(out),
            Step::DataArrive if self.at(Step::DataArriveDue, op) != time => {
                held(it.peer, it.nic, What::In)
            }
            Step::DataArrive if self.over_network => {
                on(Step::Enter, Self::route(time - self.at(Step::Enter, op)))
            }
            Step::DataArrive => on(Step::Data, self.flight(time - self.at(Step::Data, op))),
            Step::Enter if self.at(Step::EnterDue, op) == time => {
                on(if self.is_eager(op) { Step::Begin } else { Step::Data }, one)
            }
            Step::Enter => held(rank, it.nic, What::Turn),
            Step::Sent => {
                let whole = (time - self.at(Step::Enter, op)) as i64;
                let alone_ps = (self.at(Step::Alone, op) as i64).min(whole);
                on(Step::Enter, Amounts { alone_ps, shared_ps: whole - alone_ps, ..none })
            }
            Step::Take => self.taken(op, time).or_else(processor),
            Step::Work if self.at(Step::Take, op) == time => on(Step::Take, none),
            Step::Work => self.met(op, time, false).or_else(processor),
            _ => None,
        };
        found.unwrap_or((None, none))
    }

    /// Who held something until `time`, before the step of this order.
    fn holder(&self, held: Held, time: u64, order: u32) -> Option<(Option<At>, Amounts)> {
        let all = self.holders.get(&(held, time))?;
        let latest = all.iter().filter(|h| h.0 < order).max_by_key(|h| h.0)?;
        Some((Some(latest.1), latest.2))
    }

    /// The operation that one waited for.
    fn waited(&self, op: u32, time: u64) -> Option<(Option<At>, Amounts)> {
        let of = |&(before, start): &(u32, bool)| {
            if start { At::Step(Step::Begin, before) } else { At::End(before) }
        };
        let before = self.before[op as usize].iter().map(of).find(|b| self.time(*b) == time)?;
        Some((Some(before), Amounts::default()))
    }

    /// What a receive and its message, or question, met by: the later of the two.
    fn met(&self, received: u32, time: u64, asks: bool) -> Option<(Option<At>, Amounts)> {
        let sent = self.trace.partner(received)?;
        let came = if asks { Step::Arrive } else { self.came(sent) };
        let all = [At::Step(came, sent), At::Step(Step::Begin, received)];
        let found = all.into_iter().find(|at| self.time(*at) == time)?;
        Some((Some(found), Amounts::default()))
    }

    /// What a receive began to take its message by.
    fn taken(&self, received: u32, time: u64) -> Option<(Option<At>, Amounts)> {
        let sent = self.trace.partner(received)?;
        let (last, size) = (self.last(sent), self.op(sent).size);
        if self.over_network {
            if time == last {
                return Some((Some(At::Last(sent)), Amounts::default()));
            }
        } else if time == last.saturating_sub(self.costs.cpu_bytes(size)) {
            let processor_bytes = -self.bytes(sent, false);
            let amounts = Amounts { processor_bytes, ..Amounts::default() };
            return Some((Some(At::Last(sent)), amounts));
        }
        self.met(received, time, false)
    }

    /// From a processor that begins to send to the first byte's arrival.
    fn flight(&self, ps: u64) -> Amounts {
        let mut amounts = Amounts { overheads: 1, ..Amounts::default() };
        if self.over_network {
            amounts.route_ps = (ps - self.costs.overhead) as i64;
        } else {
            amounts.latencies = 1;
        }
        amounts
    }

    fn route(ps: u64) -> Amounts {
        Amounts { route_ps: ps as i64, ..Amounts::default() }
    }

    /// What the processors of all ranks do, rank after rank, each in the order of time.
    pub(super) fn busy(&self) -> Vec<Busy> {
        let mut all = Vec::new();
        for rank in 0..self.schedule.ranks() {
            let first = all.len();
            for op in self.schedule.of_rank(rank) {
                self.busy_with(rank, op, &mut all);
            }
            all[first..].sort_by_key(|busy| (busy.begin, busy.end, busy.op));
        }
        all
    }

    fn busy_with(&self, rank: u32, op: u32, all: &mut Vec<Busy>) {
        let (it, c) = (self.op(op), self.costs);
        let mut add = |step, doing, length: u64| {
            if let Some(begin) = self.trace.at(step, op) {
                all.push(Busy { rank, op, doing, begin, end: begin + length });
            }
        };
        match it.kind {
            Kind::Calc => add(Step::Begin, Doing::Computes, it.size * c.divisor),
            Kind::Send => {
                let question = if self.is_eager(op) { it.size } else { 1 };
                add(Step::Begin, Doing::Sends, c.overhead + c.cpu_bytes(question));
                add(Step::Data, Doing::Sends, c.overhead + c.cpu_bytes(it.size));
            }
            Kind::Recv => {
                add(Step::Answer, Doing::Answers, c.overhead);
                let begin = self.at(Step::Work, op);
                add(Step::Work, Doing::Receives, self.end_of(op).saturating_sub(begin));
            }
        }
    }
}
