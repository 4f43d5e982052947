//! Running a schedule as LogGOPSim does: the dialect `loggops-v1`.
//!
//! A message occupies the receiving processor when it arrives, whether or not a receive is posted.
//! A send above `S` bytes is done when its first byte has met its receive. An operation with
//! dependencies begins when the processor of its own rank is free, even if the dependency ran on
//! another processor.
//!
//! Source: Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010; the program of the same name,
//! with a stable order of operations that become free together.

use super::machine::{
    InterfaceSide, PendingScheduleEvent, ScheduleEventKind, ScheduleRunResult, ScheduleRunState,
};
use super::parameters::{LogGopsParameters, ScaledLogGopsParameters};
use base::{ComputationError, ProgressWatch};
use traffic::workload::{OperationKind, Schedule};

/// Runs `schedule`. O(events * log(events that wait for one processor)).
///
/// # Errors
/// When a parameter is out of range, or `watch` says stop. A schedule that deadlocks is no error:
/// see [`ScheduleRunResult::left`].
pub(super) fn run(
    schedule: &Schedule,
    costs: &LogGopsParameters,
    watch: &dyn ProgressWatch,
) -> Result<ScheduleRunResult, ComputationError> {
    let costs = &costs.whole()?;
    costs.check_sum(schedule)?;
    let mut run = LogGopsScheduleRun { on: ScheduleRunState::new(schedule, false), costs };
    while let Some(due) = run.on.next(watch)? {
        match (due.what, run.on.op(due.op).kind) {
            (ScheduleEventKind::Arrive, _) => run.arrive(&due),
            (_, OperationKind::Send) => run.send(&due),
            (_, OperationKind::Recv) => run.receive(&due),
            (_, OperationKind::Calc) => run.calculate(&due),
        }
    }
    Ok(run.on.found())
}

/// The state of a run of a schedule in the dialect `loggops-v1`.
struct LogGopsScheduleRun<'a> {
    on: ScheduleRunState<'a>,
    costs: &'a ScaledLogGopsParameters,
}

impl LogGopsScheduleRun<'_> {
    #[inline]
    fn calculate(&mut self, due: &PendingScheduleEvent) {
        let op = self.on.op(due.op);
        let needs = ScheduleRunState::needs(due.rank, &op, InterfaceSide::Neither);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        *self.on.cpu(due.rank, op.cpu) = due.now.wrapping_add(op.size);
        self.on.begun(due.op, false, due.now);
        self.on.done(due.op, false, due.now);
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    #[inline]
    fn send(&mut self, due: &PendingScheduleEvent) {
        let (op, c, now) = (self.on.op(due.op), self.costs, due.now);
        let needs = ScheduleRunState::needs(due.rank, &op, InterfaceSide::Out);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.on.begun(due.op, false, due.now);
        *self.on.cpu(due.rank, op.cpu) = (now + c.overhead).wrapping_add(c.wrapped_cpu(op.size));
        *self.on.sends(due.rank, op.nic) = (now + c.gap).wrapping_add(c.wrapped_nic(op.size));
        self.on.at(now + c.overhead + c.latency, ScheduleEventKind::Arrive, due.op, due.rank);
        if op.size <= c.eager {
            self.on.done(due.op, false, due.now);
        }
        self.on.happened(due, needs);
        self.on.release_all(due.rank, due.rank);
    }

    #[inline]
    fn receive(&mut self, due: &PendingScheduleEvent) {
        self.on.events += 1;
        let op = self.on.op(due.op);
        self.on.begun(due.op, false, due.now);
        let mut other = due.rank;
        if let Some((sent, sender)) = self.on.posted(due.rank, due.op) {
            if op.size > self.costs.eager {
                other = sender;
                let nic = self.on.op(sent).nic;
                self.sender_goes_on((sent, sender), due.rank, (op.cpu, nic), due.now);
            }
            self.on.done(due.op, false, due.now);
        }
        self.on.release_all(due.rank, other);
    }

    #[inline]
    fn arrive(&mut self, due: &PendingScheduleEvent) {
        let (op, c, now) = (self.on.op(due.op), self.costs, due.now);
        let (here, sender) = (op.peer, due.rank);
        let needs = ScheduleRunState::needs(here, &op, InterfaceSide::In);
        if !self.on.may(due, needs) {
            return;
        }
        self.on.events += 1;
        self.on.messages += 1;
        let bytes = c.wrapped_cpu(op.size).max(c.wrapped_nic(op.size));
        *self.on.cpu(here, op.cpu) = (now + c.overhead).wrapping_add(bytes);
        *self.on.takes(here, op.nic) = (now + c.gap).wrapping_add(c.wrapped_nic(op.size));
        let mut other = here;
        if let Some(received) = self.on.arrives(here, sender, op.tag, due.op) {
            if op.size > c.eager {
                other = sender;
                self.sender_goes_on((due.op, sender), here, (op.cpu, op.nic), now);
            }
            self.on.done(received, false, now);
        }
        self.on.happened(due, needs);
        self.on.release_all(here, other);
    }

    /// Ends a send above `S` bytes, whose first byte has met its receive at rank `here`.
    fn sender_goes_on(
        &mut self,
        (sent, sender): (u32, u32),
        here: u32,
        (cpu, nic): (u8, u8),
        now: u64,
    ) {
        let free = self.on.cpu(sender, cpu);
        *free = now.max(*free);
        let free = self.on.sends(sender, nic);
        *free = now.max(*free);
        self.on.done(sent, sender != here, now);
    }
}
