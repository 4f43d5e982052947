//! Processors and interfaces of all ranks: when each is free, and who waits for messages there.

use super::matching::ShortLists;

/// What events of a rank ask for, in half a cache line: its first processor and interface.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
struct RankState {
    cpu: u64,
    sends: u64,
    takes: u64,
    heads: ShortLists,
}

/// All ranks.
#[derive(Debug, Default)]
pub(super) struct AllRanks {
    all: Vec<RankState>,
    /// For each rank, when its other processors are free, when its other interfaces may send, and
    /// when these may receive.
    more: Vec<u64>,
    cpus: usize,
    nics: usize,
}

impl AllRanks {
    /// `ranks` ranks, each with `cpus` processors and `nics` interfaces, all free from 0 on.
    pub(super) fn new(ranks: u32, cpus: u32, nics: u32) -> Self {
        let (cpus, nics) = (cpus as usize - 1, nics as usize - 1);
        let all = vec![RankState::default(); ranks as usize];
        Self { more: vec![0; all.len() * (cpus + 2 * nics)], all, cpus, nics }
    }

    fn others(&self, rank: u32) -> usize {
        rank as usize * (self.cpus + 2 * self.nics)
    }

    /// When a processor of a rank is free.
    #[inline]
    pub(super) fn cpu(&mut self, rank: u32, cpu: u8) -> &mut u64 {
        if cpu == 0 {
            return &mut self.all[rank as usize].cpu;
        }
        let first = self.others(rank);
        &mut self.more[first + usize::from(cpu) - 1]
    }

    /// When an interface of a rank may send.
    #[inline]
    pub(super) fn sends(&mut self, rank: u32, nic: u8) -> &mut u64 {
        if nic == 0 {
            return &mut self.all[rank as usize].sends;
        }
        let first = self.others(rank) + self.cpus;
        &mut self.more[first + usize::from(nic) - 1]
    }

    /// When it may receive.
    #[inline]
    pub(super) fn takes(&mut self, rank: u32, nic: u8) -> &mut u64 {
        if nic == 0 {
            return &mut self.all[rank as usize].takes;
        }
        let first = self.others(rank) + self.cpus + self.nics;
        &mut self.more[first + usize::from(nic) - 1]
    }

    /// What waits at a rank for messages, and the messages that wait.
    #[inline]
    pub(super) fn heads(&mut self, rank: u32) -> &mut ShortLists {
        &mut self.all[rank as usize].heads
    }

    /// What [`AllRanks::heads`] has, for callers that change nothing.
    #[inline]
    pub(super) fn waits(&self, rank: u32) -> ShortLists {
        self.all[rank as usize].heads
    }

    /// When each rank is done: when the last of its processors is free.
    pub(super) fn finish(&self) -> Vec<u64> {
        let width = self.cpus + 2 * self.nics;
        let last = |(at, rank): (usize, &RankState)| {
            let others = &self.more[at * width..][..self.cpus];
            others.iter().copied().fold(rank.cpu, u64::max)
        };
        self.all.iter().enumerate().map(last).collect()
    }
}
