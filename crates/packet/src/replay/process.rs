//! What an endpoint knows of its processes, with what takes every change back.

use super::super::runs::{Change, Runs};
use super::entry::{Clock, Desk, Entry, List, Played};

/// A process.
#[derive(Debug, Clone)]
pub(super) struct Process {
    /// Its rank among all of all jobs.
    pub(super) rank: u32,
    /// Its first operation.
    pub(super) first: u32,
    /// What each of its operations still waits for.
    pub(super) counts: Vec<u32>,
    /// When each of its processors is free, ps.
    pub(super) free_ps: Vec<u64>,
    pub(super) clock: Clock,
    lists: [Vec<Entry>; 3],
}

/// The processes of an endpoint.
#[derive(Debug, Clone, Default)]
pub struct Plays {
    pub(super) processes: Vec<Process>,
    pub(super) desk: Desk,
    /// The background job that sends from here, and its rank there.
    pub(super) background: Option<(u16, u32)>,
}

impl Process {
    /// One of a rank whose operations, from `first` on, wait for so many things each.
    pub(super) fn new(rank: u32, first: u32, counts: Vec<u32>, cpus: u32) -> Self {
        let clock = Clock { left: counts.len() as u32, ..Clock::default() };
        let lists = [const { Vec::new() }; 3];
        Self { rank, first, counts, free_ps: vec![0; cpus as usize], clock, lists }
    }

    /// A list.
    pub(super) fn list(&self, list: List) -> &[Entry] {
        &self.lists[list as usize]
    }
}

impl Plays {
    /// What is done for all, to be changed.
    pub(super) fn desk(&mut self, to: &mut impl Runs) -> &mut Desk {
        to.note(|| Change::Played(Played::Desk(self.desk)));
        &mut self.desk
    }

    /// The clock of a process, to be changed.
    pub(super) fn clock(&mut self, at: usize, to: &mut impl Runs) -> &mut Clock {
        let it = &mut self.processes[at];
        to.note(|| Change::Played(Played::Clock(at as u16, it.clock)));
        &mut it.clock
    }

    /// An operation waits for one thing less; whether that was the last.
    pub(super) fn counts_down(&mut self, at: usize, op: u32, to: &mut impl Runs) -> bool {
        let it = &mut self.processes[at];
        let place = op - it.first;
        to.note(|| Change::Played(Played::Count(at as u16, place)));
        let left = &mut it.counts[place as usize];
        *left -= 1;
        *left == 0
    }

    /// The time of a processor, to be changed.
    pub(super) fn free(&mut self, at: usize, cpu: u8, to: &mut impl Runs) -> &mut u64 {
        let free = &mut self.processes[at].free_ps[usize::from(cpu)];
        to.note(|| Change::Played(Played::Free(at as u16, cpu, *free)));
        free
    }

    /// Puts an entry at the end of a list.
    pub(super) fn put(&mut self, at: usize, list: List, entry: Entry, to: &mut impl Runs) {
        to.note(|| Change::Played(Played::Listed(at as u16, list)));
        self.processes[at].lists[list as usize].push(entry);
    }

    /// Takes the first entry of a list that fits. O(entries).
    pub(super) fn take(
        &mut self,
        at: usize,
        list: List,
        fits: impl Fn(&Entry) -> bool,
        to: &mut impl Runs,
    ) -> Option<Entry> {
        let all = &mut self.processes[at].lists[list as usize];
        let place = all.iter().position(fits)?;
        let entry = all.remove(place);
        to.note(|| Change::Played(Played::Delisted(at as u16, list, place as u32, entry)));
        Some(entry)
    }

    /// Takes a change back.
    pub(crate) fn undo(&mut self, change: Played) {
        match change {
            Played::Desk(was) => self.desk = was,
            Played::Clock(at, was) => self.processes[usize::from(at)].clock = was,
            Played::Count(at, place) => {
                self.processes[usize::from(at)].counts[place as usize] += 1;
            }
            Played::Free(at, cpu, was) => {
                self.processes[usize::from(at)].free_ps[usize::from(cpu)] = was;
            }
            Played::Listed(at, list) => {
                self.processes[usize::from(at)].lists[list as usize].pop();
            }
            Played::Delisted(at, list, place, entry) => {
                self.processes[usize::from(at)].lists[list as usize].insert(place as usize, entry);
            }
        }
    }
}
