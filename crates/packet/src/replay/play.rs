//! Processes at their endpoints: operations begin and end, messages meet their receives.

use super::super::endpoint::Endpoint;
use super::super::event::{Happens, Packet};
use super::super::model::Model;
use super::super::plant::Class;
use super::super::runs::Runs;
use super::super::timing::{TELL_PS, transmission_ps};
use super::entry::{Entry, List};
use super::process::{Plays, Process};
use super::{OF_BACKGROUND, Part, Replay, number, operation, sends};
use std::collections::VecDeque;
use traffic::workload::{ANY, Kind};

/// What becomes of an operation.
#[derive(Debug, Clone, Copy)]
enum Step {
    Begins(u32),
    Ends(u32),
}

impl Replay {
    /// The processes of an endpoint before anything happens; none where it has none.
    fn plays(&self, endpoint: u32) -> Option<Box<Plays>> {
        let background = self.background_at(endpoint);
        let ranks = self.of(endpoint);
        if ranks.is_empty() && background.is_none() {
            return None;
        }
        let process = |&rank: &u32| {
            let range = self.schedule.of_rank(rank);
            let mut counts = vec![0; range.len()];
            for op in range.clone() {
                let waiting = [self.schedule.require(op), self.schedule.require_start(op)];
                for &next in waiting.into_iter().flatten() {
                    counts[(next - range.start) as usize] += 1;
                }
            }
            Process::new(rank, range.start, counts, self.schedule.cpus())
        };
        let processes = ranks.iter().map(process).collect();
        Some(Box::new(Plays { processes, background, ..Plays::default() }))
    }
}

impl Model {
    /// Begins what waits for nothing.
    pub(crate) fn starts(&self, replay: &Replay, it: &mut Endpoint, to: &mut impl Runs) {
        let Some(plays) = replay.plays(to.me() - self.plant.routers) else { return };
        let steps: Vec<VecDeque<Step>> = plays
            .processes
            .iter()
            .map(|process| {
                let free = (process.first..).zip(&process.counts).filter(|(_, n)| **n == 0);
                free.map(|(op, _)| Step::Begins(op)).collect()
            })
            .collect();
        it.plays = Some(plays);
        for (at, steps) in steps.into_iter().enumerate() {
            if steps.is_empty() && Self::is_done(it, at) {
                self.process_is_done(replay, it, to);
            }
            self.goes_on(replay, it, at, steps, to);
        }
        Self::background_starts(replay, it, to);
    }

    fn is_done(it: &Endpoint, at: usize) -> bool {
        it.plays.as_ref().is_some_and(|plays| plays.processes[at].clock.left == 0)
    }

    /// Takes steps of a process until nothing follows at once.
    fn goes_on(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        at: usize,
        mut steps: VecDeque<Step>,
        to: &mut impl Runs,
    ) {
        while let Some(step) = steps.pop_front() {
            let now = to.now_ps();
            let Some(plays) = &mut it.plays else { return };
            let after = match step {
                Step::Begins(op) => {
                    if plays.processes[at].clock.first_ps.is_none() {
                        plays.clock(at, to).first_ps = Some(now);
                    }
                    let after = replay.schedule.require_start(op);
                    if self.begins(replay, it, at, op, to) {
                        steps.push_back(Step::Ends(op));
                    }
                    after
                }
                Step::Ends(op) => {
                    let clock = plays.clock(at, to);
                    clock.left -= 1;
                    clock.last_ps = now;
                    if clock.left == 0 {
                        self.process_is_done(replay, it, to);
                    }
                    replay.schedule.require(op)
                }
            };
            let Some(plays) = &mut it.plays else { return };
            for &next in after {
                if plays.counts_down(at, next, to) {
                    steps.push_back(Step::Begins(next));
                }
            }
        }
    }

    /// An operation begins; whether it ends at once.
    fn begins(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        at: usize,
        op: u32,
        to: &mut impl Runs,
    ) -> bool {
        let what = replay.schedule.ops()[op as usize];
        match what.kind {
            Kind::Calc => {
                let takes = replay.computes && what.size > replay.mpi.least_compute_ns.unwrap_or(0);
                let (true, Some(plays)) = (takes, &mut it.plays) else { return true };
                // all of a process are in range: neither overflows
                let (now, takes_ps) = (to.now_ps(), what.size * 1000);
                let free = plays.free(at, what.cpu, to);
                *free = now.max(*free) + takes_ps;
                let ends_ps = *free;
                plays.clock(at, to).calculated_ps += takes_ps;
                to.send(to.me(), ends_ps - now, Happens::Ends(op));
                false
            }
            Kind::Send => {
                let is_short = what.size < replay.mpi.eager_bytes;
                let part = if is_short { Part::Eager } else { Part::Question };
                self.posts(replay, it, number(op, part), to);
                false
            }
            Kind::Recv => self.receives(replay, it, at, op, to),
        }
    }

    /// A message is on its way to the interface.
    fn posts(&self, replay: &Replay, it: &mut Endpoint, message: u32, to: &mut impl Runs) {
        let (op, part) = operation(message);
        let bytes = replay.schedule.ops()[op as usize].size;
        // in CODES, messages that are sent at once thus come to the interface in any order
        let drawn_ps = it.node.drawn_ps(self.timing.nic, to);
        to.send(to.me(), replay.mpi.delay_ps(bytes, part) + drawn_ps, Happens::Enters(message));
    }

    /// A receive begins; whether its message is there, all of it.
    fn receives(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        at: usize,
        op: u32,
        to: &mut impl Runs,
    ) -> bool {
        let what = replay.schedule.ops()[op as usize];
        let Some(plays) = &mut it.plays else { return false };
        let fits = |entry: &Entry| {
            (what.peer == ANY || what.peer == entry.from)
                && (what.tag == ANY || what.tag == entry.tag)
        };
        let Some(found) = plays.take(at, List::Unexpected, fits, to) else {
            let entry = Entry { from: what.peer, tag: what.tag, what: op };
            plays.put(at, List::Posted, entry, to);
            return false;
        };
        self.meets(replay, it, at, (found.what, op), to)
    }

    /// A message or a question meets its receive; whether that ends it.
    fn meets(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        at: usize,
        (message, receive): (u32, u32),
        to: &mut impl Runs,
    ) -> bool {
        let (op, part) = operation(message);
        if part == Part::Eager {
            return true;
        }
        if let Some(plays) = &mut it.plays {
            plays.put(at, List::Agreed, Entry { from: op, tag: 0, what: receive }, to);
        }
        self.posts(replay, it, number(op, Part::Answer), to);
        false
    }

    /// A message comes to the interface, which takes one after another.
    pub(crate) fn enters(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl Runs,
    ) {
        let now = to.now_ps();
        let mut gap_ps = (replay.mpi.gap_ns * 1000.0).round() as u64;
        if self.timing.is_gap_first {
            gap_ps += it.node.drawn_ps(self.timing.nic, to);
        }
        let Some(plays) = &mut it.plays else { return };
        let desk = plays.desk(to);
        let free_ps = desk.takes_ps.max(now);
        desk.takes_ps = free_ps + gap_ps;
        let taken_ps = if self.timing.is_gap_first { desk.takes_ps } else { free_ps };
        if taken_ps > now {
            to.send(to.me(), taken_ps - now, Happens::Taken(message));
        } else {
            self.taken(replay, it, message, to);
        }
    }

    /// The interface has taken a message.
    pub(crate) fn taken(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl Runs,
    ) {
        let me = to.me() - self.plant.routers;
        let (op, part) = operation(message);
        let what = replay.schedule.ops()[op as usize];
        let other = match part {
            Part::Answer => replay.homes[replay.schedule.rank_of(op) as usize],
            _ => replay.homes[what.peer as usize],
        };
        let bytes = replay.bytes_of(message);
        if other == me {
            self.copies(replay, it, message, bytes, to);
            return;
        }
        let class = replay.classes[usize::from(replay.job_of(replay.schedule.rank_of(op)))];
        self.hands_over(it, (other, class), message, bytes, to);
    }

    /// Puts a message of a class among those that the interface cuts into packets.
    pub(super) fn hands_over(
        &self,
        it: &mut Endpoint,
        (other, class): (u32, u8),
        message: u32,
        bytes: u32,
        to: &mut impl Runs,
    ) {
        let from = to.me() - self.plant.routers;
        let packet = Packet { from, to: other, message, bytes, ..it.plain() };
        self.enqueues(it, class, packet, to);
    }

    /// A message to a process of the same endpoint.
    fn copies(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        message: u32,
        bytes: u32,
        to: &mut impl Runs,
    ) {
        let now = to.now_ps();
        let Some(plays) = &mut it.plays else { return };
        if u64::from(bytes) < replay.mpi.copy_bytes {
            self.copied(replay, it, message, to);
            return;
        }
        let copy_ps = transmission_ps(bytes.into(), self.plant.of(Class::Endpoint).gib_per_s);
        let desk = plays.desk(to);
        desk.copies_ps = desk.copies_ps.max(now) + copy_ps;
        let delay_ps = desk.copies_ps - now;
        to.send(to.me(), delay_ps, Happens::Copied(message));
    }

    /// A message has come without the network.
    pub(crate) fn copied(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl Runs,
    ) {
        if let Some(op) = sends(message) {
            self.ends(replay, it, op, to);
        }
        self.comes(replay, it, message, to);
    }

    /// An operation ends.
    pub(crate) fn ends(&self, replay: &Replay, it: &mut Endpoint, op: u32, to: &mut impl Runs) {
        let Some(at) = process_of(it, replay.schedule.rank_of(op)) else { return };
        self.goes_on(replay, it, at, VecDeque::from([Step::Ends(op)]), to);
    }

    /// The process here that a message is for.
    fn at_process(replay: &Replay, it: &Endpoint, message: u32) -> Option<usize> {
        let (op, part) = operation(message);
        let rank = match part {
            Part::Answer => replay.schedule.rank_of(op),
            _ => replay.schedule.ops()[op as usize].peer,
        };
        process_of(it, rank)
    }

    /// All of a message is here; nobody waits for those of the background.
    pub(crate) fn comes(
        &self,
        replay: &Replay,
        it: &mut Endpoint,
        message: u32,
        to: &mut impl Runs,
    ) {
        if message & OF_BACKGROUND != 0 {
            return;
        }
        let (op, part) = operation(message);
        let Some(at) = Self::at_process(replay, it, message) else { return };
        let Some(plays) = &mut it.plays else { return };
        let ends = match part {
            Part::Answer => {
                self.posts(replay, it, number(op, Part::Data), to);
                None
            }
            Part::Data => {
                let same = |entry: &Entry| entry.from == op;
                plays.take(at, List::Agreed, same, to).map(|entry| entry.what)
            }
            Part::Eager | Part::Question => {
                let (from, tag) =
                    (replay.schedule.rank_of(op), replay.schedule.ops()[op as usize].tag);
                let fits = |entry: &Entry| {
                    (entry.from == ANY || entry.from == from)
                        && (entry.tag == ANY || entry.tag == tag)
                };
                if let Some(found) = plays.take(at, List::Posted, fits, to) {
                    self.meets(replay, it, at, (message, found.what), to).then_some(found.what)
                } else {
                    plays.put(at, List::Unexpected, Entry { from, tag, what: message }, to);
                    None
                }
            }
        };
        if let Some(receive) = ends {
            self.goes_on(replay, it, at, VecDeque::from([Step::Ends(receive)]), to);
        }
    }

    /// A process here is done: once all are, the endpoint that counts hears of it.
    fn process_is_done(&self, replay: &Replay, it: &mut Endpoint, to: &mut impl Runs) {
        let Some(plays) = &it.plays else { return };
        if replay.tells() && plays.processes.iter().all(|process| process.clock.left == 0) {
            to.send(self.plant.lp(replay.counts), TELL_PS, Happens::Done);
        }
    }
}

/// The place of a rank among the processes of an endpoint.
fn process_of(it: &Endpoint, rank: u32) -> Option<usize> {
    let plays = it.plays.as_ref()?;
    plays.processes.iter().position(|process| process.rank == rank)
}
