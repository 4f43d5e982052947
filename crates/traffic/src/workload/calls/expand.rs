//! The schedule of a trace.

use super::CallTrace;
use super::agree::{
    CallInterpretationSettings, ProcessAction, ProcessActionKind, ProcessActionLists, agree, place,
};
use super::parameters::{CallReplayParameters, CallSemantics};
use super::requests::ProcessMessage;
use super::tags::number;
use crate::workload::collective::CollectiveCall;
use crate::workload::parameters::MOST_RANKS;
use crate::workload::script::{RankScriptWriter, TAGS};
use crate::workload::{ANY, RankProgram, Schedule, ScheduleOperation, schedule_of};
use base::{ComputationError, ProgressWatch, Refusal};
use std::collections::HashMap;

/// The schedule of a trace.
///
/// Time between calls becomes calculations, multiplied by `scale_compute`. Blocking calls are
/// waited for; nonblocking operations begin in order and are waited for by the calls that complete
/// them. Collective operations become messages by the selected algorithms. With `copies` the job
/// runs that number of times side by side, and collective operations of all ranks span the ranks of
/// all copies.
///
/// With `rules=codes` calls are interpreted as CODES does: collective operations and the creation
/// of communicators are ignored, all messages are in one communicator, and calls that complete only
/// some of their requests, or test them, do not wait.
///
/// With `null`, requests that no call began are `MPI_REQUEST_NULL`. O(operations).
///
/// # Errors
/// With file and line, when MPI would not run these calls; when a parameter is invalid; or when
/// `watch` says stop.
pub fn expand(
    trace: &CallTrace,
    null: bool,
    with: &CallReplayParameters,
    watch: &dyn ProgressWatch,
) -> Result<Schedule, ComputationError> {
    let (ranks, copies) = (trace.processes.len() as u64, with.copies);
    if ranks == 0 || ranks * copies > MOST_RANKS {
        let why = format!("{copies} times {ranks} ranks");
        return Err(Refusal::new("copies", why, format!("1 to {MOST_RANKS} ranks in all")).into());
    }
    let rules = CallInterpretationSettings { null, codes: with.rules == CallSemantics::Codes };
    let mut agreed = agree(trace, rules, watch)?;
    let tags = number(trace, &mut agreed)?;
    let mut calls = Vec::with_capacity(agreed.meetings.len());
    for meeting in &agreed.meetings {
        let everybody = agreed.communicators.size(meeting.comm) == ranks as u32;
        let call = meeting.call(with, if everybody { copies as u32 } else { 1 });
        let first = || place(trace, meeting.first.rank, meeting.first.call);
        calls.push(call.map_err(|stop| stop.within(&first()))?);
    }
    let first_tag = tags.next_multiple_of(TAGS);
    if (u64::from(first_tag) / u64::from(TAGS) + calls.len() as u64) * u64::from(TAGS)
        > u64::from(ANY)
    {
        let why = format!("{} collective operations", calls.len());
        return Err(Refusal::new("trace", why, "fewer, by tags of 32 bits").into());
    }
    let (scale, copies) = (with.scale_compute, copies as u32);
    let ranks = ranks as u32;
    schedule_of(&CallReplayProgram { agreed, calls, first_tag, ranks, copies, scale }, watch)
}

/// The program that replays the calls of a trace.
struct CallReplayProgram {
    agreed: ProcessActionLists,
    /// The collective operation of each meeting; none if it is left out.
    calls: Vec<Option<CollectiveCall>>,
    first_tag: u32,
    /// The number of ranks of the trace.
    ranks: u32,
    copies: u32,
    scale: f64,
}

/// The operations that the next operation of a process depends on.
#[derive(Debug, Clone, Default)]
pub(super) struct OperationFrontier {
    /// The operations whose end it waits for.
    pub(super) ends: Vec<u32>,
    /// The operation whose start it waits for; none if there is no such operation.
    pub(super) start: Option<u32>,
}

impl OperationFrontier {
    pub(super) fn add(&self, op: ScheduleOperation, to: &mut RankScriptWriter<'_>) -> u32 {
        let number = to.add(op, &self.ends);
        if let Some(start) = self.start {
            to.wait_start(number, start);
        }
        number
    }

    /// The same dependencies as ends only, of at most one operation.
    pub(super) fn joined(&self, to: &mut RankScriptWriter<'_>) -> Vec<u32> {
        if self.start.is_some() {
            vec![self.add(ScheduleOperation::calc(0), to)]
        } else {
            to.join(&self.ends)
        }
    }
}

impl RankProgram for CallReplayProgram {
    fn ranks(&self) -> u32 {
        self.ranks * self.copies
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let copy = rank / self.ranks;
        let mut front = OperationFrontier::default();
        // for each act that nothing has waited for yet, the operations at whose end it ends
        let mut open: HashMap<u32, Vec<u32>> = HashMap::new();
        for (at, act) in (0..).zip(&self.agreed.acts[(rank % self.ranks) as usize]) {
            if to.is_over() {
                return;
            }
            let ns = (act.gap_ns as f64 * self.scale).round() as u64;
            if ns > 0 {
                let calc = front.add(ScheduleOperation::calc(ns), to);
                front = OperationFrontier { ends: vec![calc], start: None };
            }
            match &act.does {
                ProcessActionKind::Nothing => {}
                ProcessActionKind::Message(wire) => {
                    let op = front.add(self.message(wire, copy), to);
                    if act.waits {
                        front = OperationFrontier { ends: vec![op], start: None };
                    } else {
                        front = OperationFrontier { ends: Vec::new(), start: Some(op) };
                        open.insert(at, vec![op]);
                    }
                }
                ProcessActionKind::Awaits(acts) => {
                    for act in acts {
                        front.ends.extend(open.remove(act).unwrap_or_default());
                    }
                }
                ProcessActionKind::Meets(meeting, me) => {
                    self.meet((*meeting, *me), (copy, at, act), &mut front, &mut open, to);
                }
            }
        }
    }
}

impl CallReplayProgram {
    fn message(&self, wire: &ProcessMessage, copy: u32) -> ScheduleOperation {
        let peer = if wire.peer == ANY { ANY } else { wire.peer + copy * self.ranks };
        let tag = wire.tag.unwrap_or(ANY);
        if wire.is_send {
            ScheduleOperation::send(wire.bytes, peer, tag)
        } else {
            ScheduleOperation::recv(wire.bytes, peer, tag)
        }
    }

    /// Writes a collective operation, as rank `me` of its communicator.
    fn meet(
        &self,
        (meeting, me): (u32, u32),
        (copy, at, act): (u32, u32, &ProcessAction),
        front: &mut OperationFrontier,
        open: &mut HashMap<u32, Vec<u32>>,
        to: &mut RankScriptWriter<'_>,
    ) {
        let Some(call) = &self.calls[meeting as usize] else { return };
        let comm = self.agreed.meetings[meeting as usize].comm;
        let members = &self.agreed.communicators.members[comm as usize];
        let size = members.len() as u32;
        let everybody = size == self.ranks;
        let named = |rank: u32| {
            let copy = if everybody { rank / size } else { copy };
            members[(rank % size) as usize] + copy * self.ranks
        };
        let me = if everybody { me + copy * size } else { me };
        let after = front.joined(to);
        let ends = to.collective(call, me, &named, self.first_tag + meeting * TAGS, &after);
        if act.waits {
            *front = OperationFrontier { ends, start: None };
        } else {
            *front = OperationFrontier { ends: after, start: None };
            open.insert(at, ends);
        }
    }
}
