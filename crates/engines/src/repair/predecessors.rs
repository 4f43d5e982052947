//! The tree of next hops towards one destination, read backwards.

use base::SwitchId;
use fabric::network::Topology;

/// For the table of one destination, the switches that forward to each switch.
#[derive(Debug, Default)]
pub(super) struct PredecessorSwitches {
    /// The predecessors of switch `s` are `from[first[s]..first[s + 1]]`.
    first: Vec<u32>,
    from: Vec<SwitchId>,
}

impl PredecessorSwitches {
    /// Fills the lists from the `entries` of all switches, over every cable that `on` has.
    /// O(switches).
    pub(super) fn resolve(&mut self, on: &Topology, entries: &[u16]) {
        let next = |s: usize| on.hop(SwitchId::from(s), entries[s]).map(|(_, next)| next.ix());
        self.first.clear();
        self.first.resize(entries.len() + 1, 0);
        for next in (0..entries.len()).filter_map(next) {
            self.first[next + 1] += 1;
        }
        for s in 0..entries.len() {
            self.first[s + 1] += self.first[s];
        }
        self.from.clear();
        self.from.resize(self.first[entries.len()] as usize, SwitchId(0));
        // `first[s]` advances to the end of its list here; the rotation below moves all back by one
        for s in 0..entries.len() {
            if let Some(next) = next(s) {
                self.from[self.first[next] as usize] = SwitchId::from(s);
                self.first[next] += 1;
            }
        }
        self.first.rotate_right(1);
        self.first[0] = 0;
    }

    /// The switches that forward to `s`.
    pub(super) fn of(&self, s: SwitchId) -> &[SwitchId] {
        &self.from[self.first[s.ix()] as usize..self.first[s.ix() + 1] as usize]
    }
}
