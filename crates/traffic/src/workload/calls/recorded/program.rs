//! The schedule of a recording.

use super::super::expand::OperationFrontier;
use super::super::parameters::{CallReplayParameters, RecordingReplayParameters};
use super::CallRecording;
use super::action::{
    LibflyloomArrival, LibflyloomStep, OneSidedTransferPurpose, RecordedAction, RecordedActionKind,
    ResolvedMessage, WindowTransfer,
};
use super::acts::acts;
use super::matched::matched;
use super::walker::RecordedActionLists;
use crate::workload::collective::CollectiveCall;
use crate::workload::parameters::MOST_RANKS;
use crate::workload::script::{RankScriptWriter, TAGS};
use crate::workload::{ANY, RankProgram, Schedule, ScheduleOperation, schedule_of};
use base::{ComputationError, ProgressWatch, Refusal};
use std::collections::{BTreeMap, HashMap};

/// Remarks on the schedule of a recording, which users should know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordingRemarks {
    /// The ranks whose recording ends before `MPI_Finalize`.
    pub cut: Vec<u32>,
    /// The rank that called `MPI_Abort`, and its code; none if no rank did.
    pub aborted: Option<(u32, i64)>,
    /// Number of messages that were left out because no receive took them.
    pub sends: u64,
    /// Number of receives that were left out because they got no message.
    pub receives: u64,
    /// Number of collective operations that were left out because not all ranks called them.
    pub collectives: u64,
    /// Number of one-sided transfers of windows of MPI, in which the target's program takes no
    /// part.
    pub transfers: u64,
    /// Number of one-sided transfers of libflyloom.
    pub puts: u64,
    /// The time from the end of `MPI_Init` to the beginning of `MPI_Finalize`, or as much of it as
    /// was recorded, ns; that of the rank with the longest time.
    pub measured_ns: u64,
}

/// The schedule of a recording, and remarks on what was left out.
///
/// Each thread of a process is a processor, and one more processor handles one-sided transfers of
/// other processes. Time between the calls of a thread becomes calculations, multiplied by
/// `scale_compute`. O(operations).
///
/// # Errors
/// With file and byte, when the ranks of a communicator call different operations; when there would
/// be too many operations; when `watch` says stop.
pub fn replayed(
    recording: &CallRecording,
    with: RecordingReplayParameters,
    watch: &dyn ProgressWatch,
) -> Result<(Schedule, RecordingRemarks), ComputationError> {
    let ranks = recording.processes.len() as u64;
    if ranks == 0 || ranks > MOST_RANKS {
        let help = format!("1 to {MOST_RANKS}");
        return Err(Refusal::new("recording", format!("{ranks} ranks"), help).into());
    }
    let mut all = acts(recording)?;
    watch.tick("calls", 1, 3)?;
    let lost = matched(&mut all);
    watch.tick("calls", 2, 3)?;
    let with = CallReplayParameters::from(with);
    let is_of_mpi = |one: &&WindowTransfer| one.purpose == OneSidedTransferPurpose::Window;
    let transfers = all.transfers.iter().filter(is_of_mpi).count() as u64;
    let mut remarks = RecordingRemarks {
        cut: std::mem::take(&mut all.cut),
        aborted: all.aborted,
        sends: lost.sends,
        receives: lost.receives,
        collectives: 0,
        transfers,
        puts: all.transfers.len() as u64 - transfers,
        measured_ns: recording
            .processes
            .iter()
            .map(super::RecordedProcess::took_ns)
            .max()
            .unwrap_or(0),
    };
    let mut calls = Vec::with_capacity(all.meetings.len());
    for meeting in &all.meetings {
        let call = if meeting.is_full() { meeting.call(&with, 1)? } else { None };
        remarks.collectives += u64::from(call.is_none());
        calls.push(call);
    }
    let replay = RecordingReplayProgram::new(all, calls, &with, &mut remarks)?;
    Ok((schedule_of(&replay, watch)?, remarks))
}

impl super::RecordedProcess {
    /// The duration of the process's recording, ns.
    fn took_ns(&self) -> u64 {
        let first = self.events.first().map_or(0, |first| first.end_ns);
        let last = self.events.last().map_or(0, |last| match last.what {
            super::CallEvent::Ends => last.start_ns,
            _ => last.end_ns,
        });
        last.saturating_sub(first)
    }
}

/// The messages that each rank receives in a neighbour exchange: sender and bytes.
type InboundMessages = HashMap<u32, Vec<(u32, u64)>>;

/// The replay of a recording as a program.
struct RecordingReplayProgram {
    all: RecordedActionLists,
    /// The collective operation of each meeting; none if it is left out.
    calls: Vec<Option<CollectiveCall>>,
    /// The messages received in each neighbour exchange; none if the exchange is left out.
    received: Vec<Option<InboundMessages>>,
    /// The tag in the schedule for each pair of group and tag.
    tags: BTreeMap<(u32, u32), u32>,
    /// The first tags in the schedule of meetings, of neighbour exchanges and of transfers.
    first: [u32; 3],
    /// For each rank, the indices of the one-sided transfers to it.
    to: HashMap<u32, Vec<u32>>,
    /// The processor that handles one-sided transfers to a rank's memory.
    beside: u8,
    scale: f64,
}

impl RecordingReplayProgram {
    fn new(
        mut all: RecordedActionLists,
        calls: Vec<Option<CollectiveCall>>,
        with: &CallReplayParameters,
        remarks: &mut RecordingRemarks,
    ) -> Result<Self, Refusal> {
        let mut tags = BTreeMap::new();
        for act in all.acts.iter_mut().flatten() {
            for message in act.does.messages() {
                let Some(tag) = message.tag else { continue };
                let next = tags.len() as u32;
                tags.entry((message.group, tag)).or_insert(next);
            }
        }
        let mut received = Vec::with_capacity(all.exchanges.len());
        for exchange in &all.exchanges {
            let members = &all.groups[exchange.group as usize];
            let is_full = members.iter().all(|rank| exchange.rows.contains_key(rank));
            remarks.collectives += u64::from(!is_full);
            received.push(is_full.then(|| {
                let mut into = InboundMessages::new();
                for &from in members {
                    for &(to, bytes) in &exchange.rows[&from] {
                        into.entry(to).or_default().push((from, bytes));
                    }
                }
                into
            }));
        }
        let mut to: HashMap<u32, Vec<u32>> = HashMap::new();
        for (number, transfer) in (0..).zip(&all.transfers) {
            to.entry(transfer.target).or_default().push(number);
        }
        let meetings = (tags.len() as u64).next_multiple_of(u64::from(TAGS));
        let exchanges = meetings + calls.len() as u64 * u64::from(TAGS);
        let transfers = exchanges + received.len() as u64;
        if transfers + all.transfers.len() as u64 > u64::from(ANY) {
            let why = format!("{} collective operations", calls.len());
            return Err(Refusal::new("recording", why, "fewer, by tags of 32 bits"));
        }
        let first = [meetings as u32, exchanges as u32, transfers as u32];
        let threads = all.acts.iter().flatten().map(|act| act.thread).max().unwrap_or(0);
        let (beside, scale) = (threads.saturating_add(1), with.scale_compute);
        Ok(Self { all, calls, received, tags, first, to, beside, scale })
    }

    fn transfer_tag(&self, number: u32) -> u32 {
        self.first[2] + number
    }

    /// Writes the arrivals of one-sided transfers to a rank; returns the operation at whose end
    /// each transfer has arrived.
    fn arrivals(&self, rank: u32, to: &mut RankScriptWriter<'_>) -> HashMap<u32, u32> {
        to.on(self.beside);
        let mut there = HashMap::new();
        // the puts of libflyloom of an origin since its last flush
        let (mut puts, mut before) = (Vec::new(), None);
        for &number in self.to.get(&rank).into_iter().flatten() {
            let transfer = self.all.transfers[number as usize];
            let WindowTransfer { origin, out, back, purpose, .. } = transfer;
            if before.replace(origin) != Some(origin) {
                puts.clear();
            }
            let tag = self.transfer_tag(number);
            let came = to.add(ScheduleOperation::recv(out.unwrap_or(0), origin, tag), &[]);
            if let Some(bytes) = back {
                let mut after = vec![came];
                if purpose == OneSidedTransferPurpose::Flush {
                    after.append(&mut puts);
                }
                to.add(ScheduleOperation::send(bytes, origin, tag), &after);
            } else if purpose == OneSidedTransferPurpose::Library {
                puts.push(came);
            }
            there.insert(number, came);
        }
        there
    }
}

/// The state of a rank while its acts are written.
#[derive(Default)]
struct RankReplayState {
    fronts: BTreeMap<u8, OperationFrontier>,
    /// The dependencies at the ends of threads that nothing has waited for yet.
    ended: Vec<OperationFrontier>,
    /// For each act that nothing has waited for yet, the operations at whose end it ends.
    open: HashMap<u32, Vec<u32>>,
    /// For each transfer to this rank, the operation at whose end it has arrived.
    there: HashMap<u32, u32>,
    /// For each origin, the number of its transfers by libflyloom that were waited for.
    covered: HashMap<u32, usize>,
    /// The dependencies of the program while a thread is in a collective operation of libflyloom.
    branched: HashMap<u8, OperationFrontier>,
}

impl RankProgram for RecordingReplayProgram {
    fn ranks(&self) -> u32 {
        self.all.acts.len() as u32
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let there = self.arrivals(rank, to);
        let mut state = RankReplayState { there, ..RankReplayState::default() };
        for (at, act) in (0..).zip(&self.all.acts[rank as usize]) {
            if to.is_over() {
                return;
            }
            to.on(act.thread);
            let mut front = state.front(act.thread);
            let ns = (act.gap_ns as f64 * self.scale).round() as u64;
            if ns > 0 {
                let calc = front.add(ScheduleOperation::calc(ns), to);
                front = OperationFrontier { ends: vec![calc], start: None };
            }
            if act.does == RecordedActionKind::ThreadEnds {
                state.ended.push(front);
                continue;
            }
            self.act(rank, (at, act), &mut front, &mut state, to);
            state.fronts.insert(act.thread, front);
        }
    }
}

impl RankReplayState {
    /// The dependencies of the next operation of a thread. A new thread depends on what the first
    /// thread has reached, and the first thread on the ends of threads that have ended.
    fn front(&mut self, thread: u8) -> OperationFrontier {
        let mut front = match self.fronts.remove(&thread) {
            Some(front) => front,
            None => self.fronts.get(&0).cloned().unwrap_or_default(),
        };
        if thread == 0 {
            for ended in self.ended.drain(..) {
                front.ends.extend(ended.ends);
                front.ends.extend(ended.start);
            }
        }
        front
    }

    /// The operations at whose end the first transfers of an origin have arrived, without those
    /// that were waited for before.
    fn arrived(&mut self, transfers: &[u32], arrival: &LibflyloomArrival) -> Vec<u32> {
        let covered = self.covered.entry(arrival.origin).or_default();
        let new = transfers.get(*covered..).unwrap_or_default();
        *covered = transfers.len().max(*covered);
        new.iter().filter_map(|number| self.there.get(number)).copied().collect()
    }
}

impl RecordingReplayProgram {
    fn act(
        &self,
        rank: u32,
        (at, act): (u32, &RecordedAction),
        front: &mut OperationFrontier,
        state: &mut RankReplayState,
        to: &mut RankScriptWriter<'_>,
    ) {
        let ends = match &act.does {
            RecordedActionKind::Nothing
            | RecordedActionKind::Probes(..)
            | RecordedActionKind::ThreadEnds => return,
            RecordedActionKind::Awaits(acts) => {
                for act in acts {
                    front.ends.extend(state.open.remove(act).unwrap_or_default());
                }
                return;
            }
            RecordedActionKind::Fences(window, epoch) => {
                for number in self.to.get(&rank).into_iter().flatten() {
                    let transfer = &self.all.transfers[*number as usize];
                    if transfer.epoch == (*window, *epoch) {
                        front.ends.extend(state.there.get(number));
                    }
                }
                return;
            }
            RecordedActionKind::Library(step) => {
                self.step(rank, step, front, state, to);
                return;
            }
            RecordedActionKind::Branches => {
                state.branched.insert(act.thread, front.clone());
                return;
            }
            RecordedActionKind::Local => vec![front.add(ScheduleOperation::calc(0), to)],
            RecordedActionKind::Returns => {
                let program = state.branched.remove(&act.thread).unwrap_or_default();
                std::mem::replace(front, program).ends
            }
            RecordedActionKind::Message(wire) => {
                let op = front.add(self.message(wire), to);
                if !act.waits {
                    *front = OperationFrontier { ends: Vec::new(), start: Some(op) };
                }
                vec![op]
            }
            RecordedActionKind::Transfers(number) => self.transfer(*number, act.thread, front, to),
            RecordedActionKind::Meets(meeting, me) => {
                let Some(call) = &self.calls[*meeting as usize] else { return };
                let members = &self.all.groups[self.all.meetings[*meeting as usize].comm as usize];
                let named = |rank: u32| members[rank as usize];
                let after = front.joined(to);
                let tag = self.first[0] + meeting * TAGS;
                let ends = to.collective(call, *me, &named, tag, &after);
                *front = OperationFrontier { ends: after, start: None };
                ends
            }
            RecordedActionKind::Exchanges(number) => {
                let Some(received) = &self.received[*number as usize] else { return };
                let after = front.joined(to);
                let ends = self.exchange(*number, rank, received, &after, to);
                *front = OperationFrontier { ends: after, start: None };
                ends
            }
        };
        if act.waits {
            *front = OperationFrontier { ends, start: None };
        } else {
            state.open.insert(at, ends);
        }
    }

    /// Writes a one-sided transfer at its origin; returns the operation at whose end it ends.
    fn transfer(
        &self,
        number: u32,
        thread: u8,
        front: &mut OperationFrontier,
        to: &mut RankScriptWriter<'_>,
    ) -> Vec<u32> {
        let transfer = &self.all.transfers[number as usize];
        let (target, tag) = (transfer.target, self.transfer_tag(number));
        let op = front.add(ScheduleOperation::send(transfer.out.unwrap_or(0), target, tag), to);
        let before = std::mem::take(front);
        front.start = Some(op);
        let Some(bytes) = transfer.back else { return vec![op] };
        let after = before.joined(to);
        to.on(self.beside);
        let answer = to.add(ScheduleOperation::recv(bytes, target, tag), &after);
        to.on(thread);
        vec![answer]
    }

    /// Writes messages of libflyloom that begin together, and waits for what others put.
    fn step(
        &self,
        rank: u32,
        step: &LibflyloomStep,
        front: &mut OperationFrontier,
        state: &mut RankReplayState,
        to: &mut RankScriptWriter<'_>,
    ) {
        let mut ends = Vec::with_capacity(step.messages.len());
        for (message, brought) in step.messages.iter().zip(&step.brought) {
            if message.tag.is_none() {
                continue;
            }
            let mut before = front.clone();
            if let Some(arrival) = brought {
                before.ends.extend(state.arrived(self.all.library.arrived(rank, arrival), arrival));
            }
            ends.push(before.add(self.message(message), to));
        }
        if !ends.is_empty() {
            *front = OperationFrontier { ends, start: None };
        }
        for arrival in &step.took {
            front.ends.extend(state.arrived(self.all.library.arrived(rank, arrival), arrival));
        }
    }

    /// Writes the messages that a rank sends and receives in a neighbour exchange.
    fn exchange(
        &self,
        number: u32,
        rank: u32,
        received: &InboundMessages,
        after: &[u32],
        to: &mut RankScriptWriter<'_>,
    ) -> Vec<u32> {
        let tag = self.first[1] + number;
        let tagged = |all: &Vec<(u32, u64)>| -> Vec<(u32, u64, u32)> {
            all.iter().map(|&(peer, bytes)| (peer, bytes, tag)).collect()
        };
        let sent = &self.all.exchanges[number as usize].rows[&rank];
        let came = received.get(&rank).map(tagged).unwrap_or_default();
        let begin = to.len();
        let ends = to.exchange(&tagged(sent), &came, after);
        to.name_from(begin, "neighbour_linear");
        ends
    }

    fn message(&self, wire: &ResolvedMessage) -> ScheduleOperation {
        let (peer, tag) = (wire.peer.unwrap_or(ANY), wire.tag.unwrap_or(ANY));
        let tag = self.tags.get(&(wire.group, tag)).copied().unwrap_or(ANY);
        if wire.is_send {
            ScheduleOperation::send(wire.bytes, peer, tag)
        } else {
            ScheduleOperation::recv(wire.bytes, peer, tag)
        }
    }
}
