//! The state of processors and interfaces of all ranks, and the messages and receives that wait
//! there.

use super::matching::OldestOfShortLists;

/// The state of a rank's first processor and interface, in half a cache line.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct RankState {
    cpu: u64,
    sends: u64,
    takes: u64,
    heads: OldestOfShortLists,
}

/// The state of all ranks.
#[derive(Debug, Default)]
pub(super) struct RankStates {
    all: Vec<RankState>,
    /// For each rank, the times from which its other processors are free, from which its other
    /// interfaces may send, and from which these may receive.
    more: Vec<u64>,
    cpus: usize,
    nics: usize,
}

impl RankStates {
    /// The state of `ranks` ranks, each with `cpus` processors and `nics` interfaces, all free from
    /// time 0.
    pub(super) fn new(ranks: u32, cpus: u32, nics: u32) -> Self {
        let (cpus, nics) = (cpus as usize - 1, nics as usize - 1);
        let all = vec![RankState::default(); ranks as usize];
        Self { more: vec![0; all.len() * (cpus + 2 * nics)], all, cpus, nics }
    }

    fn others(&self, rank: u32) -> usize {
        rank as usize * (self.cpus + 2 * self.nics)
    }

    /// The time from which a processor of a rank is free, for changing.
    #[inline]
    pub(super) fn cpu(&mut self, rank: u32, cpu: u8) -> &mut u64 {
        if cpu == 0 {
            return &mut self.all[rank as usize].cpu;
        }
        let first = self.others(rank);
        &mut self.more[first + usize::from(cpu) - 1]
    }

    /// The time from which an interface of a rank may send, for changing.
    #[inline]
    pub(super) fn sends(&mut self, rank: u32, nic: u8) -> &mut u64 {
        if nic == 0 {
            return &mut self.all[rank as usize].sends;
        }
        let first = self.others(rank) + self.cpus;
        &mut self.more[first + usize::from(nic) - 1]
    }

    /// The time from which an interface of a rank may receive, for changing.
    #[inline]
    pub(super) fn takes(&mut self, rank: u32, nic: u8) -> &mut u64 {
        if nic == 0 {
            return &mut self.all[rank as usize].takes;
        }
        let first = self.others(rank) + self.cpus + self.nics;
        &mut self.more[first + usize::from(nic) - 1]
    }

    /// The receives and messages that wait at a rank, for changing.
    #[inline]
    pub(super) fn heads(&mut self, rank: u32) -> &mut OldestOfShortLists {
        &mut self.all[rank as usize].heads
    }

    /// The receives and messages that wait at a rank.
    #[inline]
    pub(super) fn waits(&self, rank: u32) -> OldestOfShortLists {
        self.all[rank as usize].heads
    }

    /// The time at which each rank is done: when the last of its processors is free.
    pub(super) fn finish(&self) -> Vec<u64> {
        let width = self.cpus + 2 * self.nics;
        let last = |(at, rank): (usize, &RankState)| {
            let others = &self.more[at * width..][..self.cpus];
            others.iter().copied().fold(rank.cpu, u64::max)
        };
        self.all.iter().enumerate().map(last).collect()
    }
}
