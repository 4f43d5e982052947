//! The critical path of a run: the chain of waits from its end back to its beginning.
//!
//! Every step of a run begins at the latest of several times: when an operation that it depends on
//! ends, when the processor or the interface is free, or when a message arrives. Following the
//! latest cause back from the end gives a path whose lengths add up to the whole run. So the
//! numbers of latencies, overheads, gaps and bytes on the path are the derivatives of the run's
//! time by `L`, `o`, `g`, `G` and `O`. If several paths are equally long, they are the derivatives
//! along one of them.
//!
//! Source: Alexandrov, Ionescu, Schauser, Scheiman: `LogGP`, SPAA 1995 (the parameters); Yang,
//! Miller: Critical path analysis for the execution of parallel and distributed programs, ICDCS
//! 1988.

use super::parameters::{LogGopsParameters, ScaledLogGopsParameters};
use super::trace::{OperationStep, OperationStepTimes};
use base::quick::QuickHashBuilder;
use serde::Serialize;
use std::collections::HashMap;
use std::ops::AddAssign;
use traffic::workload::{OperationKind, Schedule, ScheduleOperation};

/// The numbers of costs on a path or on a part of it, by kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CriticalPathCostCounts {
    /// Number of overheads `o`: the fixed time of a processor for a message.
    pub overheads: i64,
    /// Number of latencies `L`.
    pub latencies: i64,
    /// Number of gaps `g`: the fixed time of an interface for a message.
    pub gaps: i64,
    /// Bytes that interfaces handle, each of them for `G`.
    pub interface_bytes: i64,
    /// Bytes that processors handle, each of them for `O`.
    pub processor_bytes: i64,
    /// Time of computation, picoseconds.
    pub computing_ps: i64,
    /// Latencies of routes through a network, picoseconds.
    pub route_ps: i64,
    /// Time of bytes over a network if there were no other traffic, picoseconds.
    pub alone_ps: i64,
    /// Additional time of these bytes because of other traffic, picoseconds.
    pub shared_ps: i64,
}

impl CriticalPathCostCounts {
    /// The sum of the amounts of all spans of a path.
    pub fn of(path: &[CriticalPathSpan]) -> Self {
        let mut all = Self::default();
        for span in path {
            all += span.amounts;
        }
        all
    }

    /// The parts of a run's time by their cause, in ns, if this is its critical path.
    pub fn parts_ns(&self, c: &LogGopsParameters) -> [(&'static str, f64); 6] {
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

    /// For each parameter, the time by which the run gets longer if the parameter is larger by one
    /// nanosecond, or one nanosecond for each byte.
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

impl AddAssign for CriticalPathCostCounts {
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

/// A part of a critical path, between two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CriticalPathSpan {
    /// The operation that it belongs to.
    pub op: u32,
    /// When it begins, picoseconds.
    pub begin: u64,
    /// When it ends, picoseconds.
    pub end: u64,
    /// The costs that it consists of.
    pub amounts: CriticalPathCostCounts,
}

/// The work of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcessorWorkKind {
    /// It sends a message, or a request to send.
    Sends,
    /// It answers a request to send.
    Answers,
    /// It takes a message.
    Receives,
    /// It computes.
    Computes,
}

/// A span of time in which a processor of a rank is busy, and its work in that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorBusySpan {
    /// The rank of the processor.
    pub rank: u32,
    /// The operation that the processor works on.
    pub op: u32,
    /// The processor's work.
    pub doing: ProcessorWorkKind,
    /// When it begins, picoseconds.
    pub begin: u64,
    /// When it ends, picoseconds.
    pub end: u64,
}

/// A point on a path: a step of an operation, its end, or the arrival of its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CriticalPathPoint {
    Step(OperationStep, u32),
    /// The last byte of a send's message arrives.
    Last(u32),
    /// An operation is done.
    End(u32),
}

/// A resource that one step occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct StepResource {
    rank: u32,
    number: u8,
    what: CriticalPathResource,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum CriticalPathResource {
    Processor,
    Out,
    In,
    Turn,
}

/// For each resource and time at which it becomes free, the steps that held it: their order, the
/// step, and its costs.
type ResourceHolders = HashMap<
    (StepResource, u64),
    Vec<(u32, CriticalPathPoint, CriticalPathCostCounts)>,
    QuickHashBuilder,
>;

/// The search for critical paths in the trace of a run.
pub(super) struct CriticalPathFinder<'a> {
    schedule: &'a Schedule,
    costs: &'a ScaledLogGopsParameters,
    trace: &'a OperationStepTimes,
    over_network: bool,
    holders: ResourceHolders,
    /// For each operation, the operations that it depends on, and whether on their start rather
    /// than their end.
    before: Vec<Vec<(u32, bool)>>,
}

impl<'a> CriticalPathFinder<'a> {
    /// Takes O(operations + dependencies) time and memory.
    pub(super) fn new(
        schedule: &'a Schedule,
        costs: &'a ScaledLogGopsParameters,
        trace: &'a OperationStepTimes,
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
        let holders = ResourceHolders::default();
        let mut new = Self { schedule, costs, trace, over_network, holders, before };
        for rank in 0..schedule.ranks() {
            for op in schedule.of_rank(rank) {
                new.hold_all(rank, op);
            }
        }
        new
    }

    fn op(&self, op: u32) -> ScheduleOperation {
        self.schedule.ops()[op as usize]
    }

    fn is_eager(&self, op: u32) -> bool {
        self.op(op).size <= self.costs.eager
    }

    /// The number of bytes after the first, of a message or of its request to send.
    fn bytes(&self, op: u32, is_question: bool) -> i64 {
        if is_question { 0 } else { self.op(op).size.saturating_sub(1) as i64 }
    }

    /// Records the resources that the steps of an operation hold.
    fn hold_all(&mut self, rank: u32, op: u32) {
        use self::{
            CriticalPathCostCounts as Counts, CriticalPathResource as Resource,
            OperationStep as Step,
        };
        let (it, o, g) = (self.op(op), self.costs.overhead, self.costs.gap);
        let nic = i64::from(!self.over_network);
        let none = Counts::default();
        let mut hold = |step, what, until: u64, number, of: u32, amounts| {
            if self.trace.at(step, op).is_some() {
                let key = (StepResource { rank: of, number, what }, until);
                let order = self.trace.order(step, op);
                let held = (order, CriticalPathPoint::Step(step, op), amounts);
                self.holders.entry(key).or_default().push(held);
            }
        };
        let at = |step| self.trace.at(step, op).unwrap_or(0);
        let large = it.kind == OperationKind::Send && it.size > self.costs.eager;
        match it.kind {
            OperationKind::Calc => {
                let ps = it.size * self.costs.divisor;
                let amounts = Counts { computing_ps: ps as i64, ..none };
                let until = at(Step::Begin) + ps;
                hold(Step::Begin, Resource::Processor, until, it.cpu, rank, amounts);
            }
            OperationKind::Send => {
                for (step, is_question) in [(Step::Begin, large), (Step::Data, false)] {
                    let size = if is_question { 1 } else { it.size };
                    let bytes = size.saturating_sub(1) as i64;
                    let cpu = Counts { overheads: 1, processor_bytes: bytes, ..none };
                    let until = at(step) + o + self.costs.cpu_bytes(size);
                    hold(step, Resource::Processor, until, it.cpu, rank, cpu);
                    let out = Counts { gaps: 1, interface_bytes: nic * bytes, ..none };
                    let until = at(step) + g + self.costs.nic_bytes(size);
                    hold(step, Resource::Out, until, it.nic, rank, out);
                }
                for (step, is_question) in [(Step::Arrive, large), (Step::DataArrive, false)] {
                    let size = if is_question { 1 } else { it.size };
                    let bytes = size.saturating_sub(1) as i64;
                    let comes = Counts { gaps: 1, interface_bytes: nic * bytes, ..none };
                    let until = at(step) + g + self.costs.nic_bytes(size);
                    hold(step, Resource::In, until, it.nic, it.peer, comes);
                }
                hold(Step::Sent, Resource::Turn, at(Step::Sent), it.nic, rank, none);
            }
            OperationKind::Recv => {
                let (cpu, out) = (Counts { overheads: 1, ..none }, Counts { gaps: 1, ..none });
                let until = at(Step::Answer) + o;
                hold(Step::Answer, Resource::Processor, until, it.cpu, rank, cpu);
                hold(Step::Answer, Resource::Out, at(Step::Answer) + g, it.nic, rank, out);
            }
        }
        if it.kind == OperationKind::Recv && self.trace.at(Step::Take, op).is_some() {
            let held = StepResource { rank, number: it.cpu, what: Resource::Processor };
            let key = (held, self.end_of(op));
            let order = self.trace.order(Step::Take, op);
            let held = (order, CriticalPathPoint::End(op), none);
            self.holders.entry(key).or_default().push(held);
        }
    }

    fn at(&self, step: OperationStep, op: u32) -> u64 {
        self.trace.at(step, op).unwrap_or(0)
    }

    /// The step at which the first byte of a send's message arrives.
    fn came(&self, sent: u32) -> OperationStep {
        if self.is_eager(sent) { OperationStep::Arrive } else { OperationStep::DataArrive }
    }

    /// The time at which the last byte of a send's message arrives.
    fn last(&self, sent: u32) -> u64 {
        let size = self.op(sent).size;
        if self.over_network {
            let first = self.at(
                if self.is_eager(sent) {
                    OperationStep::ArriveDue
                } else {
                    OperationStep::DataArriveDue
                },
                sent,
            );
            return self.at(OperationStep::Sent, sent) + first
                - self.at(OperationStep::Enter, sent);
        }
        let bytes = self.costs.nic_bytes(size).max(self.costs.cpu_bytes(size));
        self.at(self.came(sent), sent) + bytes
    }

    /// The time at which an operation is done.
    fn end_of(&self, op: u32) -> u64 {
        let (it, c) = (self.op(op), self.costs);
        match it.kind {
            OperationKind::Calc => self.at(OperationStep::Begin, op) + it.size * c.divisor,
            OperationKind::Send if self.is_eager(op) => {
                self.at(OperationStep::Begin, op) + c.overhead + c.cpu_bytes(it.size)
            }
            OperationKind::Send => {
                let data = self.at(OperationStep::Data, op) + c.overhead;
                let left = if self.over_network {
                    self.at(OperationStep::Sent, op)
                } else {
                    data + c.nic_bytes(it.size)
                };
                left.max(data + c.cpu_bytes(it.size))
            }
            OperationKind::Recv => {
                let Some(sent) = self.trace.partner(op) else { return 0 };
                let work = self.at(OperationStep::Work, op) + c.cpu_bytes(self.op(sent).size);
                work.max(self.last(sent)) + c.overhead
            }
        }
    }

    fn time(&self, at: CriticalPathPoint) -> u64 {
        match at {
            CriticalPathPoint::Step(step, op) => self.at(step, op),
            CriticalPathPoint::Last(op) => self.last(op),
            CriticalPathPoint::End(op) => self.end_of(op),
        }
    }

    /// The path to the end of the last operation of a rank, in order of time.
    pub(super) fn path(&self, rank: u32) -> Vec<CriticalPathSpan> {
        let done = |op: &u32| self.end_of(*op);
        let last = self.schedule.of_rank(rank).max_by_key(done);
        let mut spans = Vec::new();
        let mut here = last.map(CriticalPathPoint::End);
        while let Some(at) = here {
            let (before, amounts) = self.cause(at);
            let (end, begin) = (self.time(at), before.map_or(0, |b| self.time(b)));
            let (CriticalPathPoint::Step(_, op)
            | CriticalPathPoint::Last(op)
            | CriticalPathPoint::End(op)) = at;
            if end != begin || amounts != CriticalPathCostCounts::default() {
                spans.push(CriticalPathSpan { op, begin, end, amounts });
            }
            here = before;
        }
        spans.reverse();
        spans
    }

    /// The point that a point on a path waited for last, and the costs between the two.
    fn cause(&self, at: CriticalPathPoint) -> (Option<CriticalPathPoint>, CriticalPathCostCounts) {
        match at {
            CriticalPathPoint::End(op) => self.cause_of_end(op),
            CriticalPathPoint::Last(op) => self.cause_of_last(op),
            CriticalPathPoint::Step(step, op) => self.cause_of_step(step, op),
        }
    }

    fn cause_of_end(&self, op: u32) -> (Option<CriticalPathPoint>, CriticalPathCostCounts) {
        let (it, c) = (self.op(op), self.costs);
        let bytes = self.bytes(op, false);
        let step = |step| Some(CriticalPathPoint::Step(step, op));
        let none = CriticalPathCostCounts::default();
        match it.kind {
            OperationKind::Calc => {
                let computing_ps = (it.size * c.divisor) as i64;
                (step(OperationStep::Begin), CriticalPathCostCounts { computing_ps, ..none })
            }
            OperationKind::Send if self.is_eager(op) => (
                step(OperationStep::Begin),
                CriticalPathCostCounts { overheads: 1, processor_bytes: bytes, ..none },
            ),
            OperationKind::Send => {
                let work = self.at(OperationStep::Data, op) + c.overhead + c.cpu_bytes(it.size);
                if work == self.end_of(op) {
                    (
                        step(OperationStep::Data),
                        CriticalPathCostCounts { overheads: 1, processor_bytes: bytes, ..none },
                    )
                } else if self.over_network {
                    (step(OperationStep::Sent), none)
                } else {
                    (
                        step(OperationStep::Data),
                        CriticalPathCostCounts { overheads: 1, interface_bytes: bytes, ..none },
                    )
                }
            }
            OperationKind::Recv => {
                let Some(sent) = self.trace.partner(op) else { return (None, none) };
                let last = self.last(sent);
                if last + c.overhead == self.end_of(op) {
                    return (
                        Some(CriticalPathPoint::Last(sent)),
                        CriticalPathCostCounts { overheads: 1, ..none },
                    );
                }
                let processor_bytes = self.bytes(sent, false);
                (
                    step(OperationStep::Work),
                    CriticalPathCostCounts { overheads: 1, processor_bytes, ..none },
                )
            }
        }
    }

    fn cause_of_last(&self, sent: u32) -> (Option<CriticalPathPoint>, CriticalPathCostCounts) {
        let none = CriticalPathCostCounts::default();
        if self.over_network {
            let route = self.last(sent) - self.at(OperationStep::Sent, sent);
            let amounts = CriticalPathCostCounts { route_ps: route as i64, ..none };
            return (Some(CriticalPathPoint::Step(OperationStep::Sent, sent)), amounts);
        }
        let (size, bytes) = (self.op(sent).size, self.bytes(sent, false));
        let amounts = if self.costs.nic_bytes(size) >= self.costs.cpu_bytes(size) {
            CriticalPathCostCounts { interface_bytes: bytes, ..none }
        } else {
            CriticalPathCostCounts { processor_bytes: bytes, ..none }
        };
        (Some(CriticalPathPoint::Step(self.came(sent), sent)), amounts)
    }

    fn cause_of_step(
        &self,
        step: OperationStep,
        op: u32,
    ) -> (Option<CriticalPathPoint>, CriticalPathCostCounts) {
        let (it, time, none) = (self.op(op), self.at(step, op), CriticalPathCostCounts::default());
        let rank = self.schedule.rank_of(op);
        let order = self.trace.order(step, op);
        let held =
            |rank, number, what| self.holder(StepResource { rank, number, what }, time, order);
        let processor = || held(rank, it.cpu, CriticalPathResource::Processor);
        let out = || held(rank, it.nic, CriticalPathResource::Out);
        let on = |before, more| Some((Some(CriticalPathPoint::Step(before, op)), more));
        let one = CriticalPathCostCounts { overheads: 1, ..none };
        let found = match step {
            OperationStep::Begin => self.waited(op, time).or_else(processor).or_else(out),
            OperationStep::Arrive if self.at(OperationStep::ArriveDue, op) != time => {
                held(it.peer, it.nic, CriticalPathResource::In)
            }
            OperationStep::Arrive if self.over_network && self.is_eager(op) => {
                on(OperationStep::Enter, Self::route(time - self.at(OperationStep::Enter, op)))
            }
            OperationStep::Arrive => {
                on(OperationStep::Begin, self.flight(time - self.at(OperationStep::Begin, op)))
            }
            OperationStep::Answer => self.met(op, time, true).or_else(processor).or_else(out),
            OperationStep::Data if self.at(OperationStep::DataDue, op) == time => {
                self.trace.partner(op).map(|received| {
                    let flight = self.flight(time - self.at(OperationStep::Answer, received));
                    (Some(CriticalPathPoint::Step(OperationStep::Answer, received)), flight)
                })
            }
            OperationStep::Data => processor().or_else(out),
            OperationStep::DataArrive if self.at(OperationStep::DataArriveDue, op) != time => {
                held(it.peer, it.nic, CriticalPathResource::In)
            }
            OperationStep::DataArrive if self.over_network => {
                on(OperationStep::Enter, Self::route(time - self.at(OperationStep::Enter, op)))
            }
            OperationStep::DataArrive => {
                on(OperationStep::Data, self.flight(time - self.at(OperationStep::Data, op)))
            }
            OperationStep::Enter if self.at(OperationStep::EnterDue, op) == time => {
                on(if self.is_eager(op) { OperationStep::Begin } else { OperationStep::Data }, one)
            }
            OperationStep::Enter => held(rank, it.nic, CriticalPathResource::Turn),
            OperationStep::Sent => {
                let whole = (time - self.at(OperationStep::Enter, op)) as i64;
                let alone_ps = (self.at(OperationStep::Alone, op) as i64).min(whole);
                on(
                    OperationStep::Enter,
                    CriticalPathCostCounts { alone_ps, shared_ps: whole - alone_ps, ..none },
                )
            }
            OperationStep::Take => self.taken(op, time).or_else(processor),
            OperationStep::Work if self.at(OperationStep::Take, op) == time => {
                on(OperationStep::Take, none)
            }
            OperationStep::Work => self.met(op, time, false).or_else(processor),
            _ => None,
        };
        found.unwrap_or((None, none))
    }

    /// The latest step before step `order` that held a resource until `time`.
    fn holder(
        &self,
        held: StepResource,
        time: u64,
        order: u32,
    ) -> Option<(Option<CriticalPathPoint>, CriticalPathCostCounts)> {
        let all = self.holders.get(&(held, time))?;
        let latest = all.iter().filter(|h| h.0 < order).max_by_key(|h| h.0)?;
        Some((Some(latest.1), latest.2))
    }

    /// The dependency of an operation that ended, or began, at `time`.
    fn waited(
        &self,
        op: u32,
        time: u64,
    ) -> Option<(Option<CriticalPathPoint>, CriticalPathCostCounts)> {
        let of = |&(before, start): &(u32, bool)| {
            if start {
                CriticalPathPoint::Step(OperationStep::Begin, before)
            } else {
                CriticalPathPoint::End(before)
            }
        };
        let before = self.before[op as usize].iter().map(of).find(|b| self.time(*b) == time)?;
        Some((Some(before), CriticalPathCostCounts::default()))
    }

    /// The cause of the match of a receive with its message or request: whichever of the two was
    /// there at `time`.
    fn met(
        &self,
        received: u32,
        time: u64,
        asks: bool,
    ) -> Option<(Option<CriticalPathPoint>, CriticalPathCostCounts)> {
        let sent = self.trace.partner(received)?;
        let came = if asks { OperationStep::Arrive } else { self.came(sent) };
        let all = [
            CriticalPathPoint::Step(came, sent),
            CriticalPathPoint::Step(OperationStep::Begin, received),
        ];
        let found = all.into_iter().find(|at| self.time(*at) == time)?;
        Some((Some(found), CriticalPathCostCounts::default()))
    }

    /// The cause of the time at which a receive began to take its message.
    fn taken(
        &self,
        received: u32,
        time: u64,
    ) -> Option<(Option<CriticalPathPoint>, CriticalPathCostCounts)> {
        let sent = self.trace.partner(received)?;
        let (last, size) = (self.last(sent), self.op(sent).size);
        if self.over_network {
            if time == last {
                return Some((
                    Some(CriticalPathPoint::Last(sent)),
                    CriticalPathCostCounts::default(),
                ));
            }
        } else if time == last.saturating_sub(self.costs.cpu_bytes(size)) {
            let processor_bytes = -self.bytes(sent, false);
            let amounts =
                CriticalPathCostCounts { processor_bytes, ..CriticalPathCostCounts::default() };
            return Some((Some(CriticalPathPoint::Last(sent)), amounts));
        }
        self.met(received, time, false)
    }

    /// The costs from a processor's start of sending to the arrival of the first byte.
    fn flight(&self, ps: u64) -> CriticalPathCostCounts {
        let mut amounts =
            CriticalPathCostCounts { overheads: 1, ..CriticalPathCostCounts::default() };
        if self.over_network {
            amounts.route_ps = (ps - self.costs.overhead) as i64;
        } else {
            amounts.latencies = 1;
        }
        amounts
    }

    fn route(ps: u64) -> CriticalPathCostCounts {
        CriticalPathCostCounts { route_ps: ps as i64, ..CriticalPathCostCounts::default() }
    }

    /// The spans of work of all processors, rank after rank, each in order of time.
    pub(super) fn busy(&self) -> Vec<ProcessorBusySpan> {
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

    fn busy_with(&self, rank: u32, op: u32, all: &mut Vec<ProcessorBusySpan>) {
        let (it, c) = (self.op(op), self.costs);
        let mut add = |step, doing, length: u64| {
            if let Some(begin) = self.trace.at(step, op) {
                all.push(ProcessorBusySpan { rank, op, doing, begin, end: begin + length });
            }
        };
        match it.kind {
            OperationKind::Calc => {
                add(OperationStep::Begin, ProcessorWorkKind::Computes, it.size * c.divisor);
            }
            OperationKind::Send => {
                let question = if self.is_eager(op) { it.size } else { 1 };
                add(
                    OperationStep::Begin,
                    ProcessorWorkKind::Sends,
                    c.overhead + c.cpu_bytes(question),
                );
                add(
                    OperationStep::Data,
                    ProcessorWorkKind::Sends,
                    c.overhead + c.cpu_bytes(it.size),
                );
            }
            OperationKind::Recv => {
                add(OperationStep::Answer, ProcessorWorkKind::Answers, c.overhead);
                let begin = self.at(OperationStep::Work, op);
                add(
                    OperationStep::Work,
                    ProcessorWorkKind::Receives,
                    self.end_of(op).saturating_sub(begin),
                );
            }
        }
    }
}
