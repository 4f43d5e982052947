//! Checks whether a repair can be applied without waiting although it has considered only those old
//! routes that still arrive.

use super::{Destination, RepairState};
use base::SwitchId;
use std::collections::BTreeMap;

impl RepairState<'_> {
    /// Whether two kinds of packets fit beside all turns taken so far: those on the cut-off routes
    /// to these destinations, and those that meet changed entries on their path. Takes their turns.
    /// Returns false where some packets must be stopped or some levels change, since that takes
    /// steps.
    pub(super) fn fits_at_once(&mut self, broken: &[Destination]) -> bool {
        if !(self.stops.is_empty() && self.levels.is_empty()) {
            return false;
        }
        let mut changed: BTreeMap<Destination, Vec<(SwitchId, u16)>> = BTreeMap::new();
        for change in &self.changes {
            changed.entry(change.to).or_default().push((change.switch, change.port.1));
        }
        broken.iter().all(|to| {
            let entries = changed.get(to).map_or(&[][..], Vec::as_slice);
            let old = self.row(*to);
            let mut new = old.to_vec();
            for &(s, port) in entries {
                new[s.ix()] = port;
            }
            let home = self.on.terminals()[to.1.ix()].plug.switch;
            let parts = self.cut_off.parts(old, home);
            let mut members = parts.iter().flat_map(|part| &part.members);
            self.predecessors.resolve(self.old.topology(), old);
            members.all(|&m| self.takes(*to, m, false, old, &mut Vec::new()))
                && entries.iter().all(|&(s, _)| self.takes_meeting(*to, s, &new))
        })
    }
}
