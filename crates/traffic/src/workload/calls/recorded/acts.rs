//! The recorded events of every process as acts: groups get numbers that are common to all
//! processes, and operations are found by the calls that complete them.

use super::super::meeting::{
    CollectiveCallMismatch, CollectiveCaller, MatchedCollectiveCalls, MatchedCollectiveKind,
};
use super::super::{CommunicatorMembership, NamedCommunicator, TracedCollectiveCall};
use super::action::{
    NeighbourExchange, OneSidedTransferPurpose, RecordedActionKind, WindowTransfer,
};
use super::walker::{RecordedActionLists, RecordedEventInterpreter};
use super::{CallEvent, CallRecording, GroupMembers, OperationStart};
use base::Refusal;
use std::collections::HashMap;

/// The file and byte of a rank's event.
fn place(recording: &CallRecording, rank: u32, event: usize) -> String {
    let process = &recording.processes[rank as usize];
    format!("{}: byte {}", process.file, process.events[event].byte)
}

/// Interprets the events of all processes. O(events + members of groups).
///
/// # Errors
/// With files and bytes, when ranks of a communicator call different operations, or an event refers
/// to something that does not exist.
pub(super) fn acts(recording: &CallRecording) -> Result<RecordedActionLists, Refusal> {
    let mut all = RecordedActionLists::default();
    for (rank, process) in (0..).zip(&recording.processes) {
        let Some(first) = process.events.first() else {
            all.cut.push(rank);
            all.acts.push(Vec::new());
            continue;
        };
        let mut walker = RecordedEventInterpreter::new(rank, first);
        for (at, event) in process.events.iter().enumerate() {
            (walker.event, walker.at) = (event, at);
            walker.clock();
            all.event(recording, &mut walker).map_err(|refused| {
                if refused.param.is_empty() {
                    Refusal { param: place(recording, rank, at), ..refused }
                } else {
                    refused
                }
            })?;
        }
        if !matches!(process.events.last().map(|last| &last.what), Some(CallEvent::Ends)) {
            all.cut.push(rank);
        }
        all.acts.push(walker.acts);
    }
    Ok(all)
}

impl RecordedActionLists {
    fn event(
        &mut self,
        recording: &CallRecording,
        walker: &mut RecordedEventInterpreter<'_>,
    ) -> Result<(), Refusal> {
        match &walker.event.what {
            CallEvent::Begins | CallEvent::Waits | CallEvent::Ends | CallEvent::Polls => {
                walker.act(RecordedActionKind::Nothing, true);
            }
            CallEvent::Aborts(code) => {
                self.aborted.get_or_insert((walker.rank, *code));
                walker.act(RecordedActionKind::Nothing, true);
            }
            CallEvent::ThreadEnds => walker.act(RecordedActionKind::ThreadEnds, true),
            CallEvent::Group(number, members) => self.group(walker, *number, members),
            CallEvent::Send(message, later) => walker.message(message, true, *later)?,
            CallEvent::Recv(message, later) => walker.message(message, false, *later)?,
            CallEvent::Joint(begun, operation, root, sizes) => {
                let group = walker.group(begun.group)?;
                let comm = NamedCommunicator {
                    handle: begun.group,
                    shape: CommunicatorMembership::Unsaid,
                };
                let sizes = sizes.clone();
                let joint =
                    TracedCollectiveCall { comm, operation: *operation, root: *root, sizes };
                self.join(recording, walker, group, *begun, &joint)?;
            }
            CallEvent::Exchange(begun, sent) => {
                let group = walker.group(begun.group)?;
                let key = (group, walker.next_joined(group));
                let exchanges = &mut self.exchanges;
                let number = *self.exchanged.entry(key).or_insert_with(|| {
                    exchanges.push(NeighbourExchange { group, rows: HashMap::new() });
                    exchanges.len() as u32 - 1
                });
                self.exchanges[number as usize].rows.insert(walker.rank, sent.clone());
                walker.begin(*begun, RecordedActionKind::Exchanges(number));
            }
            CallEvent::Transfer(begun, target, out, back) => {
                let window = walker.group(begun.group)?;
                let epoch = (window, walker.fences.get(&window).copied().unwrap_or(0));
                let (origin, target) = (walker.rank, *target);
                self.transfers.push(WindowTransfer {
                    origin,
                    target,
                    out: *out,
                    back: *back,
                    epoch,
                    purpose: OneSidedTransferPurpose::Window,
                });
                let act = walker.acts.len() as u32;
                walker.moving.entry(window).or_default().push((act, target));
                walker
                    .begin(*begun, RecordedActionKind::Transfers(self.transfers.len() as u32 - 1));
            }
            CallEvent::Awaits(completed) => walker.completed(completed),
            CallEvent::Probes(group, source, tag) => {
                let group = walker.group(*group)?;
                walker.act(RecordedActionKind::Probes(group, *source, *tag), true);
            }
            CallEvent::Syncs(window, target, is_fence) => {
                walker.sync(*window, *target, *is_fence)?;
            }
            CallEvent::Library(event) => self.library_event(walker, event)?,
        }
        Ok(())
    }

    /// Gives a group a number that is the same at all its members. Groups with the same members in
    /// the same order are created in the same order by all of them.
    fn group(
        &mut self,
        walker: &mut RecordedEventInterpreter<'_>,
        number: u64,
        members: &GroupMembers,
    ) {
        let mut same = members.clone();
        if !same.other.is_empty() && same.other < same.own {
            std::mem::swap(&mut same.own, &mut same.other);
        }
        let count = walker.made.entry(same.clone()).or_insert(0);
        let groups = &mut self.groups;
        let found = *self.identified.entry((same.clone(), *count)).or_insert_with(|| {
            groups.push([same.own, same.other].concat());
            groups.len() as u32 - 1
        });
        *count += 1;
        walker.groups.insert(number, found);
    }

    fn join(
        &mut self,
        recording: &CallRecording,
        walker: &mut RecordedEventInterpreter<'_>,
        group: u32,
        begun: OperationStart,
        joint: &TracedCollectiveCall,
    ) -> Result<(), Refusal> {
        let members = &self.groups[group as usize];
        let size = members.len() as u32;
        let me = members.iter().position(|&rank| rank == walker.rank);
        let Some(me) = me.filter(|_| joint.root.is_none_or(|root| root < size)) else {
            return Err(Refusal::new("", "a rank outside of the communicator", "a whole record"));
        };
        let who = CollectiveCaller { rank: walker.rank, call: walker.at };
        let kind = MatchedCollectiveKind::Operation(joint.operation, joint.root, begun.later);
        let key = (group, walker.next_joined(group));
        let meetings = &mut self.meetings;
        let number = *self.met.entry(key).or_insert_with(|| {
            meetings.push(MatchedCollectiveCalls::new(group, size, kind, who));
            meetings.len() as u32 - 1
        });
        let meeting = &mut self.meetings[number as usize];
        let first = meeting.first;
        meeting.join(me as u32, joint, begun.later).map_err(
            |CollectiveCallMismatch { here, there }| {
                let place = |who: CollectiveCaller| place(recording, who.rank, who.call);
                let why = format!("it has {here}, where {} has {there}", place(first));
                Refusal::new(place(who), why, "the same at all ranks of the communicator")
            },
        )?;
        walker.begin(begun, RecordedActionKind::Meets(number, me as u32));
        Ok(())
    }
}
