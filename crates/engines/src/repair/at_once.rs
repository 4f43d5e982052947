//! Whether what was mended beside the routes that still arrive needs no waiting after all.

use super::{Mender, To};
use base::SwitchId;
use std::collections::BTreeMap;

impl Mender<'_> {
    /// Whether the routes to these destinations that were cut off, and packets that meet their
    /// entries, fit beside all that was taken; takes their turns. Where packets must be stopped
    /// or levels change they do not: that takes steps.
    pub(super) fn fits_at_once(&mut self, broken: &[To]) -> bool {
        if !(self.stops.is_empty() && self.levels.is_empty()) {
            return false;
        }
        let mut changed: BTreeMap<To, Vec<(SwitchId, u16)>> = BTreeMap::new();
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
            self.behind.resolve(self.old.topology(), old);
            members.all(|&m| self.takes(*to, m, false, old, &mut Vec::new()))
                && entries.iter().all(|&(s, _)| self.takes_meeting(*to, s, &new))
        })
    }
}
