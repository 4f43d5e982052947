//! A trace as a schedule.

use super::CallTrace;
use super::agree::{ActKind, ActLists, CallMeanings, ProcessAct, agree, place};
use super::parameters::{CallRules, ReplayParameters};
use super::requests::WireMessage;
use super::tags::number;
use crate::workload::collective::CollectiveCall;
use crate::workload::parameters::MOST_RANKS;
use crate::workload::script::{RankScript, TAGS};
use crate::workload::{ANY, Op, RankProgram, Schedule, schedule_of};
use base::{Refusal, Stop, Watch};
use std::collections::HashMap;

/// The schedule of a trace.
///
/// Time between calls becomes calculations, by the factor `scale_compute`. Calls that wait are
/// waited for; nonblocking ones begin in their order and are waited for where they are completed.
/// Collective operations become messages by the algorithms asked for. With `copies` the job is
/// there so often, and collective operations of all ranks are those of all ranks of all copies.
/// With `rules=codes` calls are taken as CODES takes them: collective operations and the making of
/// communicators are nothing, all messages are of one communicator, and what completes some of its
/// requests only, or asks whether they are complete, waits for none.
/// `null`: requests that nobody began are `MPI_REQUEST_NULL`. O(operations).
///
/// # Errors
/// With file and line, where MPI would not run this; when a parameter cannot be; or when the user
/// stops it.
pub fn expand(
    trace: &CallTrace,
    null: bool,
    with: &ReplayParameters,
    watch: &dyn Watch,
) -> Result<Schedule, Stop> {
    let (ranks, copies) = (trace.processes.len() as u64, with.copies);
    if ranks == 0 || ranks * copies > MOST_RANKS {
        let why = format!("{copies} times {ranks} ranks");
        return Err(Refusal::new("copies", why, format!("1 to {MOST_RANKS} ranks in all")).into());
    }
    let rules = CallMeanings { null, codes: with.rules == CallRules::Codes };
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
    schedule_of(&CallReplay { agreed, calls, first_tag, ranks, copies, scale }, watch)
}

/// The replay of calls as a program.
struct CallReplay {
    agreed: ActLists,
    /// The call of each meeting; none where it is left out.
    calls: Vec<Option<CollectiveCall>>,
    first_tag: u32,
    /// How many ranks the trace has.
    ranks: u32,
    copies: u32,
    scale: f64,
}

/// The operations that the next operation of a process waits for.
#[derive(Debug, Clone, Default)]
pub(super) struct OperationFront {
    /// The ends of these.
    pub(super) ends: Vec<u32>,
    /// The start of this.
    pub(super) start: Option<u32>,
}

impl OperationFront {
    pub(super) fn add(&self, op: Op, to: &mut RankScript<'_>) -> u32 {
        let number = to.add(op, &self.ends);
        if let Some(start) = self.start {
            to.wait_start(number, start);
        }
        number
    }

    /// The same as ends alone, of one operation at most.
    pub(super) fn joined(&self, to: &mut RankScript<'_>) -> Vec<u32> {
        if self.start.is_some() { vec![self.add(Op::calc(0), to)] } else { to.join(&self.ends) }
    }
}

impl RankProgram for CallReplay {
    fn ranks(&self) -> u32 {
        self.ranks * self.copies
    }

    fn tell(&self, rank: u32, to: &mut RankScript<'_>) {
        let copy = rank / self.ranks;
        let mut front = OperationFront::default();
        // where acts end that nobody has waited for yet
        let mut open: HashMap<u32, Vec<u32>> = HashMap::new();
        for (at, act) in (0..).zip(&self.agreed.acts[(rank % self.ranks) as usize]) {
            if to.is_over() {
                return;
            }
            let ns = (act.gap_ns as f64 * self.scale).round() as u64;
            if ns > 0 {
                let calc = front.add(Op::calc(ns), to);
                front = OperationFront { ends: vec![calc], start: None };
            }
            match &act.does {
                ActKind::Nothing => {}
                ActKind::Message(wire) => {
                    let op = front.add(self.message(wire, copy), to);
                    if act.waits {
                        front = OperationFront { ends: vec![op], start: None };
                    } else {
                        front = OperationFront { ends: Vec::new(), start: Some(op) };
                        open.insert(at, vec![op]);
                    }
                }
                ActKind::Awaits(acts) => {
                    for act in acts {
                        front.ends.extend(open.remove(act).unwrap_or_default());
                    }
                }
                ActKind::Meets(meeting, me) => {
                    self.meet((*meeting, *me), (copy, at, act), &mut front, &mut open, to);
                }
            }
        }
    }
}

impl CallReplay {
    fn message(&self, wire: &WireMessage, copy: u32) -> Op {
        let peer = if wire.peer == ANY { ANY } else { wire.peer + copy * self.ranks };
        let tag = wire.tag.unwrap_or(ANY);
        if wire.is_send { Op::send(wire.bytes, peer, tag) } else { Op::recv(wire.bytes, peer, tag) }
    }

    /// A collective operation, as rank `me` of its communicator.
    fn meet(
        &self,
        (meeting, me): (u32, u32),
        (copy, at, act): (u32, u32, &ProcessAct),
        front: &mut OperationFront,
        open: &mut HashMap<u32, Vec<u32>>,
        to: &mut RankScript<'_>,
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
            *front = OperationFront { ends, start: None };
        } else {
            *front = OperationFront { ends: after, start: None };
            open.insert(at, ends);
        }
    }
}
