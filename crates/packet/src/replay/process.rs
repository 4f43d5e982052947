//! The state of the processes of an endpoint; every change can be undone.

use super::super::runs::{EventHandlerContext, NodeStateChange};
use super::entry::{
    EndpointSharedState, MatchingListEntry, MatchingListKind, ProcessChange, ProcessClock,
};

/// The state of a process.
#[derive(Debug, Clone)]
pub(super) struct ReplayedProcess {
    /// Its rank among those of all jobs.
    pub(super) rank: u32,
    /// The number of its first operation in the merged schedule.
    pub(super) first: u32,
    /// The number of dependencies that each of its operations still waits for.
    pub(super) counts: Vec<u32>,
    /// The time from which each of its processors is free, ps.
    pub(super) free_ps: Vec<u64>,
    pub(super) clock: ProcessClock,
    lists: [Vec<MatchingListEntry>; 3],
}

/// The processes of an endpoint, and the state that they share.
#[derive(Debug, Clone, Default)]
pub struct EndpointProcesses {
    pub(super) processes: Vec<ReplayedProcess>,
    pub(super) host: EndpointSharedState,
    /// The number of the background job that sends from here, and the rank of its process; none if
    /// there is no such job.
    pub(super) background: Option<(u16, u32)>,
}

impl ReplayedProcess {
    /// A process of rank `rank`. `counts` holds the number of dependencies of each of its
    /// operations, which are numbered from `first`.
    pub(super) fn new(rank: u32, first: u32, counts: Vec<u32>, cpus: u32) -> Self {
        let clock = ProcessClock { left: counts.len() as u32, ..ProcessClock::default() };
        let lists = [const { Vec::new() }; 3];
        Self { rank, first, counts, free_ps: vec![0; cpus as usize], clock, lists }
    }

    /// One of the matching lists.
    pub(super) fn list(&self, list: MatchingListKind) -> &[MatchingListEntry] {
        &self.lists[list as usize]
    }
}

impl EndpointProcesses {
    /// The state that the processes share, for changing; its old value is recorded for undoing.
    pub(super) fn host(&mut self, to: &mut impl EventHandlerContext) -> &mut EndpointSharedState {
        to.note(|| NodeStateChange::Process(ProcessChange::Host(self.host)));
        &mut self.host
    }

    /// The clock of a process, for changing; its old value is recorded for undoing.
    pub(super) fn clock(
        &mut self,
        at: usize,
        to: &mut impl EventHandlerContext,
    ) -> &mut ProcessClock {
        let it = &mut self.processes[at];
        to.note(|| NodeStateChange::Process(ProcessChange::Clock(at as u16, it.clock)));
        &mut it.clock
    }

    /// Decrements the number of dependencies of an operation; returns whether it was the last one.
    pub(super) fn counts_down(
        &mut self,
        at: usize,
        op: u32,
        to: &mut impl EventHandlerContext,
    ) -> bool {
        let it = &mut self.processes[at];
        let place = op - it.first;
        to.note(|| NodeStateChange::Process(ProcessChange::Count(at as u16, place)));
        let left = &mut it.counts[place as usize];
        *left -= 1;
        *left == 0
    }

    /// The time from which a processor is free, for changing; its old value is recorded for
    /// undoing.
    pub(super) fn free(
        &mut self,
        at: usize,
        cpu: u8,
        to: &mut impl EventHandlerContext,
    ) -> &mut u64 {
        let free = &mut self.processes[at].free_ps[usize::from(cpu)];
        to.note(|| NodeStateChange::Process(ProcessChange::Free(at as u16, cpu, *free)));
        free
    }

    /// Puts an entry at the end of a list.
    pub(super) fn put(
        &mut self,
        at: usize,
        list: MatchingListKind,
        entry: MatchingListEntry,
        to: &mut impl EventHandlerContext,
    ) {
        to.note(|| NodeStateChange::Process(ProcessChange::Listed(at as u16, list)));
        self.processes[at].lists[list as usize].push(entry);
    }

    /// Removes and returns the first matching entry of a list. O(entries).
    pub(super) fn take(
        &mut self,
        at: usize,
        list: MatchingListKind,
        fits: impl Fn(&MatchingListEntry) -> bool,
        to: &mut impl EventHandlerContext,
    ) -> Option<MatchingListEntry> {
        let all = &mut self.processes[at].lists[list as usize];
        let place = all.iter().position(fits)?;
        let entry = all.remove(place);
        to.note(|| {
            NodeStateChange::Process(ProcessChange::Delisted(at as u16, list, place as u32, entry))
        });
        Some(entry)
    }

    /// Undoes a change.
    pub(crate) fn undo(&mut self, change: ProcessChange) {
        match change {
            ProcessChange::Host(was) => self.host = was,
            ProcessChange::Clock(at, was) => self.processes[usize::from(at)].clock = was,
            ProcessChange::Count(at, place) => {
                self.processes[usize::from(at)].counts[place as usize] += 1;
            }
            ProcessChange::Free(at, cpu, was) => {
                self.processes[usize::from(at)].free_ps[usize::from(cpu)] = was;
            }
            ProcessChange::Listed(at, list) => {
                self.processes[usize::from(at)].lists[list as usize].pop();
            }
            ProcessChange::Delisted(at, list, place, entry) => {
                self.processes[usize::from(at)].lists[list as usize].insert(place as usize, entry);
            }
        }
    }
}
