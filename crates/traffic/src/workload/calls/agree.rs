//! Interpretation of a trace's calls: every call becomes an act with ranks of `MPI_COMM_WORLD`, and
//! the calls of a collective operation are matched over all ranks of its communicator.

use super::communicators::{CommunicatorRank, CommunicatorTable, KnownCommunicators};
use super::meeting::{
    CollectiveCallMismatch, CollectiveCaller, MatchedCollectiveCalls, MatchedCollectiveKind,
};
use super::requests::{ProcessMessage, ProcessRequests};
use super::{
    CallAction, CallMessage, CallPeer, CallTrace, CommunicatorCreation, CompletedRequests,
    NamedCommunicator, RequestHandle, TracedCall, TracedCollectiveCall, TransferMode,
};
use crate::workload::ANY;
use base::{ComputationError, ProgressWatch, Refusal};
use std::collections::HashMap;

/// Calls between two checks for an interrupt by the user.
const STRIDE: u64 = 1 << 16;

/// The kind of an act, which is what a process does in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProcessActionKind {
    /// A message to or from `MPI_PROC_NULL`: nothing happens.
    Nothing,
    /// Sends or receives.
    Message(ProcessMessage),
    /// Takes part in a collective operation: the index of the meeting, and the rank in it.
    Meets(u32, u32),
    /// Waits for the end of the acts with these indices.
    Awaits(Vec<u32>),
}

/// An act of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProcessAction {
    /// Time of computation since the last act, ns.
    pub(super) gap_ns: u64,
    pub(super) does: ProcessActionKind,
    /// Whether the next act waits for the end of this one.
    pub(super) waits: bool,
    /// The index of the call that it comes from.
    pub(super) call: u32,
}

/// The acts of all processes, and what they refer to.
pub(super) struct ProcessActionLists {
    pub(super) acts: Vec<Vec<ProcessAction>>,
    pub(super) meetings: Vec<MatchedCollectiveCalls>,
    pub(super) communicators: CommunicatorTable,
}

/// The state of a process while its calls are interpreted.
struct CallInterpreter {
    known: KnownCommunicators,
    requests: ProcessRequests,
    /// For each communicator, the number of collective operations that the process has called so
    /// far.
    counts: HashMap<u32, u32>,
    acts: Vec<ProcessAction>,
    /// The index of the next call.
    at: usize,
    /// The meeting at which it waits for other ranks: its index, the rank in it, and the handle of
    /// the communicator that will be created.
    waits: Option<(u32, u32, u64)>,
    gap_ns: u64,
    /// The time at which the last call ended that does not count as computation, ns.
    over_ns: Option<u64>,
    /// The time at which the last call ended, ns.
    last_ns: u64,
}

/// The matching of all processes' calls to meetings and communicators.
struct CallMatchingState<'a> {
    trace: &'a CallTrace,
    communicators: CommunicatorTable,
    meetings: Vec<MatchedCollectiveCalls>,
    /// The index of each meeting, by communicator and number of collective operations before it.
    found: HashMap<(u32, u32), u32>,
    /// Whether calls are interpreted as CODES does.
    codes: bool,
}

/// Settings for the interpretation of calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallInterpretationSettings {
    /// Whether requests that no call began are `MPI_REQUEST_NULL`, rather than an error.
    pub(super) null: bool,
    /// Whether calls are interpreted as CODES does: collective operations and the creation of
    /// communicators are ignored, a message has a rank and a tag but no communicator, and only
    /// calls that wait for all requests of a list wait at all.
    pub(super) codes: bool,
}

/// The file and line, or byte, of a rank's call.
pub(super) fn place(trace: &CallTrace, rank: u32, call: usize) -> String {
    let process = &trace.processes[rank as usize];
    let line = process.calls.get(call).map_or(0, |call| call.line);
    format!("{}: {} {line}", process.file, process.counts)
}

/// Interprets all calls. O(calls + ranks * depth of communicators).
///
/// # Errors
/// With files and lines, when MPI would not run these calls; or when `watch` says stop.
pub(super) fn agree(
    trace: &CallTrace,
    rules: CallInterpretationSettings,
    watch: &dyn ProgressWatch,
) -> Result<ProcessActionLists, ComputationError> {
    let ranks = trace.processes.len() as u32;
    let mut all = CallMatchingState {
        trace,
        communicators: CommunicatorTable::new(ranks),
        meetings: Vec::new(),
        found: HashMap::new(),
        codes: rules.codes,
    };
    let walker = |process: &super::ProcessCalls| CallInterpreter {
        known: KnownCommunicators::default(),
        requests: ProcessRequests::new(&process.calls, rules.null),
        counts: HashMap::new(),
        acts: Vec::new(),
        at: 0,
        waits: None,
        gap_ns: 0,
        over_ns: None,
        last_ns: 0,
    };
    let mut walkers: Vec<CallInterpreter> = trace.processes.iter().map(walker).collect();
    let mut done = 0_u64;
    loop {
        let before = done;
        for (rank, walker) in (0..).zip(&mut walkers) {
            while all.step(rank, walker)? {
                if done.is_multiple_of(STRIDE) {
                    watch.tick("calls", done, 0)?;
                }
                done += 1;
            }
        }
        if done == before {
            break;
        }
    }
    all.check_ends(&walkers)?;
    let CallMatchingState { communicators, meetings, .. } = all;
    let acts = walkers.into_iter().map(|walker| walker.acts).collect();
    Ok(ProcessActionLists { acts, meetings, communicators })
}

impl CallMatchingState<'_> {
    /// Interprets the next call of a rank. Returns false if it has no further call, or must wait
    /// for other ranks.
    fn step(&mut self, rank: u32, walker: &mut CallInterpreter) -> Result<bool, Refusal> {
        if let Some((meeting, me, said)) = walker.waits {
            let Some(made) = &self.meetings[meeting as usize].made else { return Ok(false) };
            if let Some(place) = made[me as usize] {
                walker.known.made(said, place);
            }
            walker.waits = None;
            return Ok(true);
        }
        let calls = &self.trace.processes[rank as usize].calls;
        let Some(call) = calls.get(walker.at) else { return Ok(false) };
        let at = walker.at;
        self.call(rank, walker, call).map_err(|refused| {
            if refused.param.is_empty() {
                Refusal { param: place(self.trace, rank, at), ..refused }
            } else {
                refused
            }
        })?;
        walker.at += 1;
        Ok(true)
    }

    fn call(
        &mut self,
        rank: u32,
        walker: &mut CallInterpreter,
        call: &TracedCall,
    ) -> Result<(), Refusal> {
        let since = walker.clock(call)?;
        let computes =
            matches!(call.what, CallAction::Local | CallAction::Asks(_) | CallAction::FreeComm(_));
        if !computes {
            walker.gap_ns += since;
            walker.over_ns = Some(call.end_ns);
        }
        match &call.what {
            CallAction::Local => {}
            CallAction::Waits => walker.act(ProcessActionKind::Nothing, true),
            CallAction::Asks(comm) => drop(self.meant(rank, walker, comm)?),
            CallAction::FreeComm(comm) => walker.known.freed(comm.handle),
            CallAction::Send(message, mode) => {
                let wire = self.wire(rank, walker, message, true)?;
                walker.message(wire, *mode)?;
            }
            CallAction::Recv(message, mode) => {
                let wire = self.wire(rank, walker, message, false)?;
                walker.message(wire, *mode)?;
            }
            CallAction::Both(out, back) => {
                let wires =
                    [self.wire(rank, walker, out, true)?, self.wire(rank, walker, back, false)?];
                let first = walker.acts.len() as u32;
                for wire in wires {
                    walker.message(wire, TransferMode::Buffered)?;
                }
                walker.act(ProcessActionKind::Awaits(vec![first, first + 1]), true);
            }
            CallAction::Start(requests) => {
                for &request in walker.requests.named(requests, true)?.iter() {
                    let act = walker.acts.len() as u32;
                    let wire = walker.requests.start(request, act)?;
                    walker.act(
                        wire.map_or(ProcessActionKind::Nothing, ProcessActionKind::Message),
                        false,
                    );
                }
            }
            CallAction::Complete(requests, which) => {
                let number = walker.at as u32;
                let requests = walker.requests.named(requests, false)?;
                let done = walker.requests.complete(number, &requests, *which)?;
                let waits = !self.codes || *which == CompletedRequests::All;
                walker.act(
                    if waits {
                        ProcessActionKind::Awaits(done)
                    } else {
                        ProcessActionKind::Nothing
                    },
                    true,
                );
            }
            CallAction::Free(request) => walker.requests.give_back(*request)?,
            CallAction::Joint(_, request) if self.codes => {
                if let Some(request) = request {
                    walker.requests.begin(*request, walker.acts.len() as u32)?;
                }
                walker.act(ProcessActionKind::Nothing, request.is_none());
            }
            CallAction::Joint(joint, request) => self.join(rank, walker, joint, *request)?,
            CallAction::Make(..) if self.codes => walker.act(ProcessActionKind::Nothing, true),
            CallAction::Make(comm, make, said) => self.make(rank, walker, comm, make, *said)?,
        }
        Ok(())
    }

    fn meant(
        &mut self,
        rank: u32,
        walker: &mut CallInterpreter,
        comm: &NamedCommunicator,
    ) -> Result<CommunicatorRank, Refusal> {
        if self.codes {
            return Ok(CommunicatorRank { comm: 0, me: rank });
        }
        self.communicators.meant(&mut walker.known, rank, comm)
    }

    /// A message with ranks of `MPI_COMM_WORLD`; none if its other end is `MPI_PROC_NULL`.
    fn wire(
        &mut self,
        rank: u32,
        walker: &mut CallInterpreter,
        message: &CallMessage,
        is_send: bool,
    ) -> Result<Option<ProcessMessage>, Refusal> {
        let place = self.meant(rank, walker, &message.comm)?;
        let members = &self.communicators.members[place.comm as usize];
        let peer = match message.peer {
            CallPeer::Null => return Ok(None),
            CallPeer::Any if !is_send => ANY,
            CallPeer::Rank(other) if (other as usize) < members.len() => members[other as usize],
            CallPeer::Rank(other) => {
                let why = format!("there is no rank {other} in the communicator");
                return Err(Refusal::new("", why, format!("0 to {}", members.len() - 1)));
            }
            CallPeer::Any => return Err(Refusal::new("", "it is sent to any rank", "a rank")),
        };
        if is_send && message.tag.is_none() {
            return Err(Refusal::new("", "it is sent with any tag", "a tag"));
        }
        let bytes = message.bytes;
        Ok(Some(ProcessMessage { is_send, peer, bytes, comm: place.comm, tag: message.tag }))
    }

    /// The index of the meeting that a rank's next collective operation on a communicator belongs
    /// to.
    fn meeting(
        &mut self,
        walker: &mut CallInterpreter,
        at: CommunicatorRank,
        kind: MatchedCollectiveKind,
        who: CollectiveCaller,
    ) -> u32 {
        let count = walker.counts.entry(at.comm).or_insert(0);
        let key = (at.comm, *count);
        *count += 1;
        let (meetings, size) = (&mut self.meetings, self.communicators.size(at.comm));
        *self.found.entry(key).or_insert_with(|| {
            meetings.push(MatchedCollectiveCalls::new(at.comm, size, kind, who));
            meetings.len() as u32 - 1
        })
    }

    fn join(
        &mut self,
        rank: u32,
        walker: &mut CallInterpreter,
        joint: &TracedCollectiveCall,
        request: Option<RequestHandle>,
    ) -> Result<(), Refusal> {
        let at = self.meant(rank, walker, &joint.comm)?;
        let size = self.communicators.size(at.comm);
        if let Some(root) = joint.root.filter(|&root| root >= size) {
            let why = format!("there is no rank {root} in the communicator");
            return Err(Refusal::new("", why, format!("a root, 0 to {}", size - 1)));
        }
        let who = CollectiveCaller { rank, call: walker.at };
        let kind = MatchedCollectiveKind::Operation(joint.operation, joint.root, request.is_some());
        let meeting = self.meeting(walker, at, kind, who);
        let it = &mut self.meetings[meeting as usize];
        let joined = it.join(at.me, joint, request.is_some());
        let first = it.first;
        joined.map_err(|differ| self.differ(who, first, &differ))?;
        if let Some(request) = request {
            walker.requests.begin(request, walker.acts.len() as u32)?;
        }
        walker.act(ProcessActionKind::Meets(meeting, at.me), request.is_none());
        Ok(())
    }

    fn make(
        &mut self,
        rank: u32,
        walker: &mut CallInterpreter,
        comm: &NamedCommunicator,
        make: &CommunicatorCreation,
        said: u64,
    ) -> Result<(), Refusal> {
        let at = self.meant(rank, walker, comm)?;
        let who = CollectiveCaller { rank, call: walker.at };
        let meeting = self.meeting(walker, at, MatchedCollectiveKind::of(make), who);
        let it = &mut self.meetings[meeting as usize];
        let (came, first) = (it.make(at.me, make), it.first);
        came.map_err(|differ| self.differ(who, first, &differ))?;
        walker.act(ProcessActionKind::Nothing, true);
        walker.waits = Some((meeting, at.me, said));
        let it = &mut self.meetings[meeting as usize];
        if it.is_full() {
            it.made = Some(self.communicators.make(at.comm, it.asked())?);
        }
        Ok(())
    }

    fn differ(
        &self,
        who: CollectiveCaller,
        first: CollectiveCaller,
        differ: &CollectiveCallMismatch,
    ) -> Refusal {
        let here = place(self.trace, who.rank, who.call);
        let there = place(self.trace, first.rank, first.call);
        let why = format!("it has {}, where {there} has {}", differ.here, differ.there);
        Refusal::new(here, why, "the same at all ranks of the communicator")
    }

    /// Checks that all ranks have come to every meeting.
    fn check_ends(&self, walkers: &[CallInterpreter]) -> Result<(), Refusal> {
        let Some(open) = self.meetings.iter().find(|meeting| !meeting.is_full()) else {
            return Ok(());
        };
        let first = open.first;
        let mut why = "not all ranks of the communicator come to this".to_owned();
        if let Some(absent) = open.absent() {
            let rank = self.communicators.members[open.comm as usize][absent as usize];
            let walker = &walkers[rank as usize];
            let more = match walker.waits {
                Some((meeting, ..)) => {
                    let other = self.meetings[meeting as usize].first;
                    let at = place(self.trace, other.rank, other.call);
                    format!(": rank {rank} is at what {at} begins")
                }
                None => format!(": {} does not", self.trace.processes[rank as usize].file),
            };
            why.push_str(&more);
        }
        let help = "every rank's calls to the end of the run";
        Err(Refusal::new(place(self.trace, first.rank, first.call), why, help))
    }
}

impl CallInterpreter {
    /// Checks the times of a call, and returns the time of computation before it, ns.
    fn clock(&mut self, call: &TracedCall) -> Result<u64, Refusal> {
        let (start, end) = (call.start_ns, call.end_ns);
        let over = *self.over_ns.get_or_insert(start);
        if end < start || start < self.last_ns {
            let last = self.last_ns;
            let why = format!("it is from {start} to {end} ns, after a call that ended at {last}");
            return Err(Refusal::new("", why, "times that go forward"));
        }
        self.last_ns = end;
        Ok(start - over)
    }

    fn act(&mut self, does: ProcessActionKind, waits: bool) {
        if does == ProcessActionKind::Nothing && self.gap_ns == 0 && waits {
            return;
        }
        let gap_ns = std::mem::take(&mut self.gap_ns);
        self.acts.push(ProcessAction { gap_ns, does, waits, call: self.at as u32 });
    }

    fn message(&mut self, wire: Option<ProcessMessage>, mode: TransferMode) -> Result<(), Refusal> {
        let act = self.acts.len() as u32;
        match mode {
            TransferMode::Prepared(request) => return self.requests.prepare(request, wire),
            TransferMode::Nonblocking(request) => self.requests.begin(request, act)?,
            TransferMode::Blocking | TransferMode::Buffered => {}
        }
        self.act(
            wire.map_or(ProcessActionKind::Nothing, ProcessActionKind::Message),
            mode == TransferMode::Blocking,
        );
        Ok(())
    }
}
