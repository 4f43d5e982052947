//! What processes do together, found out: every call becomes an act that names ranks among all, and
//! collective operations are met by all ranks of their communicator.

use super::communicators::{Communicators, Known, Place};
use super::meeting::{Differ, Kind, Meeting, Who};
use super::requests::{Requests, Wire};
use super::{Called, Comm, Joint, Make, Message, Mode, Peer, Request, Trace, What, Which};
use crate::workload::ANY;
use base::{Refusal, Stop, Watch};
use std::collections::HashMap;

/// Calls between two looks at whether the user wants to stop.
const STRIDE: u64 = 1 << 16;

/// What a process does in a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Does {
    /// Nothing: a message to nobody.
    Nothing,
    /// Sends or receives.
    Message(Wire),
    /// Takes part in a meeting as this rank.
    Meets(u32, u32),
    /// Waits for the end of these acts.
    Awaits(Vec<u32>),
}

/// One of a process, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Act {
    /// Computing since the last one, ns.
    pub(super) gap_ns: u64,
    pub(super) does: Does,
    /// Whether the next waits for its end.
    pub(super) waits: bool,
    /// The call it is of.
    pub(super) call: u32,
}

/// All acts, and what they refer to.
pub(super) struct Agreed {
    pub(super) acts: Vec<Vec<Act>>,
    pub(super) meetings: Vec<Meeting>,
    pub(super) communicators: Communicators,
}

/// One process while its calls are gone through.
struct Walker {
    known: Known,
    requests: Requests,
    /// How many collective operations it has come to on each communicator.
    counts: HashMap<u32, u32>,
    acts: Vec<Act>,
    /// The next call.
    at: usize,
    /// The meeting at which it waits for the others, and the name of what will be made.
    waits: Option<(u32, u32, u64)>,
    gap_ns: u64,
    /// When the last call that was not computing was over.
    over_ns: Option<u64>,
    /// When the last call was over.
    last_ns: u64,
}

struct Agreeing<'a> {
    trace: &'a Trace,
    communicators: Communicators,
    meetings: Vec<Meeting>,
    /// By communicator and count.
    found: HashMap<(u32, u32), u32>,
    /// As CODES replays traces.
    codes: bool,
}

/// How calls are taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// Requests that nobody began are `MPI_REQUEST_NULL`.
    pub(super) null: bool,
    /// As CODES replays them: collective operations and the making of communicators are nothing,
    /// a message has its rank and tag and no communicator, and only what waits for all requests
    /// of a list waits at all.
    pub(super) codes: bool,
}

/// A place in the files: of a rank's call.
pub(super) fn place(trace: &Trace, rank: u32, call: usize) -> String {
    let process = &trace.processes[rank as usize];
    let line = process.calls.get(call).map_or(0, |call| call.line);
    format!("{}: {} {line}", process.file, process.counts)
}

/// Finds out what all calls mean. O(calls + ranks * depth of communicators).
///
/// # Errors
/// With files and lines, where MPI would not run this; or when `watch` says stop.
pub(super) fn agree(trace: &Trace, rules: Rules, watch: &dyn Watch) -> Result<Agreed, Stop> {
    let ranks = trace.processes.len() as u32;
    let mut all = Agreeing {
        trace,
        communicators: Communicators::new(ranks),
        meetings: Vec::new(),
        found: HashMap::new(),
        codes: rules.codes,
    };
    let walker = |process: &super::Process| Walker {
        known: Known::default(),
        requests: Requests::new(&process.calls, rules.null),
        counts: HashMap::new(),
        acts: Vec::new(),
        at: 0,
        waits: None,
        gap_ns: 0,
        over_ns: None,
        last_ns: 0,
    };
    let mut walkers: Vec<Walker> = trace.processes.iter().map(walker).collect();
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
    let Agreeing { communicators, meetings, .. } = all;
    let acts = walkers.into_iter().map(|walker| walker.acts).collect();
    Ok(Agreed { acts, meetings, communicators })
}

impl Agreeing<'_> {
    /// Goes through the next call of a rank; false where there is none, or others must come first.
    fn step(&mut self, rank: u32, walker: &mut Walker) -> Result<bool, Refusal> {
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

    fn call(&mut self, rank: u32, walker: &mut Walker, call: &Called) -> Result<(), Refusal> {
        let since = walker.clock(call)?;
        let computes = matches!(call.what, What::Local | What::Asks(_) | What::FreeComm(_));
        if !computes {
            walker.gap_ns += since;
            walker.over_ns = Some(call.end_ns);
        }
        match &call.what {
            What::Local => {}
            What::Waits => walker.act(Does::Nothing, true),
            What::Asks(comm) => drop(self.meant(rank, walker, comm)?),
            What::FreeComm(comm) => walker.known.freed(comm.handle),
            What::Send(message, mode) => {
                let wire = self.wire(rank, walker, message, true)?;
                walker.message(wire, *mode)?;
            }
            What::Recv(message, mode) => {
                let wire = self.wire(rank, walker, message, false)?;
                walker.message(wire, *mode)?;
            }
            What::Both(out, back) => {
                let wires =
                    [self.wire(rank, walker, out, true)?, self.wire(rank, walker, back, false)?];
                let first = walker.acts.len() as u32;
                for wire in wires {
                    walker.message(wire, Mode::Buffered)?;
                }
                walker.act(Does::Awaits(vec![first, first + 1]), true);
            }
            What::Start(requests) => {
                for &request in walker.requests.named(requests, true)?.iter() {
                    let act = walker.acts.len() as u32;
                    let wire = walker.requests.start(request, act)?;
                    walker.act(wire.map_or(Does::Nothing, Does::Message), false);
                }
            }
            What::Complete(requests, which) => {
                let number = walker.at as u32;
                let requests = walker.requests.named(requests, false)?;
                let done = walker.requests.complete(number, &requests, *which)?;
                let waits = !self.codes || *which == Which::All;
                walker.act(if waits { Does::Awaits(done) } else { Does::Nothing }, true);
            }
            What::Free(request) => walker.requests.give_back(*request)?,
            What::Joint(_, request) if self.codes => {
                if let Some(request) = request {
                    walker.requests.begin(*request, walker.acts.len() as u32)?;
                }
                walker.act(Does::Nothing, request.is_none());
            }
            What::Joint(joint, request) => self.join(rank, walker, joint, *request)?,
            What::Make(..) if self.codes => walker.act(Does::Nothing, true),
            What::Make(comm, make, said) => self.make(rank, walker, comm, make, *said)?,
        }
        Ok(())
    }

    fn meant(&mut self, rank: u32, walker: &mut Walker, comm: &Comm) -> Result<Place, Refusal> {
        if self.codes {
            return Ok(Place { comm: 0, me: rank });
        }
        self.communicators.meant(&mut walker.known, rank, comm)
    }

    /// A message as the schedule has it; none where nobody is at its other end.
    fn wire(
        &mut self,
        rank: u32,
        walker: &mut Walker,
        message: &Message,
        is_send: bool,
    ) -> Result<Option<Wire>, Refusal> {
        let place = self.meant(rank, walker, &message.comm)?;
        let members = &self.communicators.members[place.comm as usize];
        let peer = match message.peer {
            Peer::Null => return Ok(None),
            Peer::Any if !is_send => ANY,
            Peer::Rank(other) if (other as usize) < members.len() => members[other as usize],
            Peer::Rank(other) => {
                let why = format!("there is no rank {other} in the communicator");
                return Err(Refusal::new("", why, format!("0 to {}", members.len() - 1)));
            }
            Peer::Any => return Err(Refusal::new("", "it is sent to any rank", "a rank")),
        };
        if is_send && message.tag.is_none() {
            return Err(Refusal::new("", "it is sent with any tag", "a tag"));
        }
        let bytes = message.bytes;
        Ok(Some(Wire { is_send, peer, bytes, comm: place.comm, tag: message.tag }))
    }

    /// The meeting that a rank comes to next on a communicator.
    fn meeting(&mut self, walker: &mut Walker, at: Place, kind: Kind, who: Who) -> u32 {
        let count = walker.counts.entry(at.comm).or_insert(0);
        let key = (at.comm, *count);
        *count += 1;
        let (meetings, size) = (&mut self.meetings, self.communicators.size(at.comm));
        *self.found.entry(key).or_insert_with(|| {
            meetings.push(Meeting::new(at.comm, size, kind, who));
            meetings.len() as u32 - 1
        })
    }

    fn join(
        &mut self,
        rank: u32,
        walker: &mut Walker,
        joint: &Joint,
        request: Option<Request>,
    ) -> Result<(), Refusal> {
        let at = self.meant(rank, walker, &joint.comm)?;
        let size = self.communicators.size(at.comm);
        if let Some(root) = joint.root.filter(|&root| root >= size) {
            let why = format!("there is no rank {root} in the communicator");
            return Err(Refusal::new("", why, format!("a root, 0 to {}", size - 1)));
        }
        let who = Who { rank, call: walker.at };
        let kind = Kind::Operation(joint.operation, joint.root, request.is_some());
        let meeting = self.meeting(walker, at, kind, who);
        let it = &mut self.meetings[meeting as usize];
        let joined = it.join(at.me, joint, request.is_some());
        let first = it.first;
        joined.map_err(|differ| self.differ(who, first, &differ))?;
        if let Some(request) = request {
            walker.requests.begin(request, walker.acts.len() as u32)?;
        }
        walker.act(Does::Meets(meeting, at.me), request.is_none());
        Ok(())
    }

    fn make(
        &mut self,
        rank: u32,
        walker: &mut Walker,
        comm: &Comm,
        make: &Make,
        said: u64,
    ) -> Result<(), Refusal> {
        let at = self.meant(rank, walker, comm)?;
        let who = Who { rank, call: walker.at };
        let meeting = self.meeting(walker, at, Kind::of(make), who);
        let it = &mut self.meetings[meeting as usize];
        let (came, first) = (it.make(at.me, make), it.first);
        came.map_err(|differ| self.differ(who, first, &differ))?;
        walker.act(Does::Nothing, true);
        walker.waits = Some((meeting, at.me, said));
        let it = &mut self.meetings[meeting as usize];
        if it.is_full() {
            it.made = Some(self.communicators.make(at.comm, it.asked())?);
        }
        Ok(())
    }

    fn differ(&self, who: Who, first: Who, differ: &Differ) -> Refusal {
        let here = place(self.trace, who.rank, who.call);
        let there = place(self.trace, first.rank, first.call);
        let why = format!("it has {}, where {there} has {}", differ.here, differ.there);
        Refusal::new(here, why, "the same at all ranks of the communicator")
    }

    /// Whether everybody has come to every meeting.
    fn check_ends(&self, walkers: &[Walker]) -> Result<(), Refusal> {
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

impl Walker {
    /// Looks at the times of a call; the computing before it, ns.
    fn clock(&mut self, call: &Called) -> Result<u64, Refusal> {
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

    fn act(&mut self, does: Does, waits: bool) {
        if does == Does::Nothing && self.gap_ns == 0 && waits {
            return;
        }
        let gap_ns = std::mem::take(&mut self.gap_ns);
        self.acts.push(Act { gap_ns, does, waits, call: self.at as u32 });
    }

    fn message(&mut self, wire: Option<Wire>, mode: Mode) -> Result<(), Refusal> {
        let act = self.acts.len() as u32;
        match mode {
            Mode::Prepared(request) => return self.requests.prepare(request, wire),
            Mode::Nonblocking(request) => self.requests.begin(request, act)?,
            Mode::Blocking | Mode::Buffered => {}
        }
        self.act(wire.map_or(Does::Nothing, Does::Message), mode == Mode::Blocking);
        Ok(())
    }
}
