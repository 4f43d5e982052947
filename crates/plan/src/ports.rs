//! Where port numbers do not matter: found cables as if they sat in the planned ports.
//!
//! A cable between the right two devices is right. For each device its ports get numbers so that
//! as many found cables as can be are the planned ones; with these numbers everything else goes on
//! as where ports matter, and words and moves name the ports that are really there.

use super::devices::{CablesByEnd, DevicePort, MatchedDevice};
use fabric::network::Cable;
use std::collections::{BTreeMap, BTreeSet};

/// A cable with its ends, rate and width.
type CableBetween = (DevicePort, DevicePort, Cable);

/// The real port that stands for each planned one, device by device.
#[derive(Debug, Clone, Default)]
pub(super) struct PlannedPortNumbers {
    /// The planned port that stands for a real one.
    planned: BTreeMap<DevicePort, DevicePort>,
    /// The real port of a planned one; a planned port that is left out stands for itself.
    real: BTreeMap<DevicePort, DevicePort>,
    /// Cables between the right two devices that are not in the planned ports at both ends.
    pub(super) elsewhere: u64,
}

impl PlannedPortNumbers {
    /// The real port of a planned cable end.
    pub(super) fn real(&self, socket: DevicePort) -> DevicePort {
        self.real.get(&socket).copied().unwrap_or(socket)
    }

    /// The found cables, each under the planned ports that its ports stand for.
    pub(super) fn apply(&self, found: &CablesByEnd) -> CablesByEnd {
        let at = |s: &DevicePort| self.planned.get(s).copied().unwrap_or(*s);
        found.iter().map(|(a, (b, cable))| (at(a), (at(b), *cable))).collect()
    }

    fn join(&mut self, planned: DevicePort, real: DevicePort) {
        self.planned.insert(real, planned);
        self.real.insert(planned, real);
    }
}

/// Each cable once, by the pair of its devices, the lower one first.
fn by_pair(cables: &CablesByEnd) -> BTreeMap<(MatchedDevice, MatchedDevice), Vec<CableBetween>> {
    let mut pairs: BTreeMap<(MatchedDevice, MatchedDevice), Vec<CableBetween>> = BTreeMap::new();
    for (&a, &(b, cable)) in cables.iter().filter(|(a, (b, _))| *a < b) {
        pairs.entry((a.node, b.node)).or_default().push((a, b, cable));
    }
    pairs
}

/// The renumbering under which as many found cables as possible are planned ones. Cables in their
/// own ports are matched first, then those between the same devices, the fastest first. Each
/// remaining end stands for a planned port of its device that has no cable. O(cables * log cables).
pub(super) fn renumbered(planned: &CablesByEnd, found: &CablesByEnd) -> PlannedPortNumbers {
    let mut this = PlannedPortNumbers::default();
    let (mut absent, mut strange) = (BTreeSet::new(), BTreeSet::new());
    let mut there = by_pair(found);
    for (pair, list) in by_pair(planned) {
        let found = there.remove(&pair).unwrap_or_default();
        let ends: BTreeSet<(DevicePort, DevicePort)> = found.iter().map(|f| (f.0, f.1)).collect();
        let own: BTreeSet<(DevicePort, DevicePort)> =
            list.iter().map(|p| (p.0, p.1)).filter(|p| ends.contains(p)).collect();
        for &(a, b) in &own {
            this.join(a, a);
            this.join(b, b);
        }
        let rest = |cables: Vec<CableBetween>| {
            let mut rest: Vec<CableBetween> =
                cables.into_iter().filter(|c| !own.contains(&(c.0, c.1))).collect();
            rest.sort_by_key(|(a, b, c)| (std::cmp::Reverse((c.width, c.speed)), *a, *b));
            rest
        };
        let (list, found) = (rest(list), rest(found));
        for (p, f) in list.iter().zip(&found) {
            this.join(p.0, f.0);
            this.join(p.1, f.1);
            this.elsewhere += 1;
        }
        let both = list.len().min(found.len());
        absent.extend(list[both..].iter().flat_map(|c| [c.0, c.1]));
        strange.extend(found[both..].iter().flat_map(|c| [c.0, c.1]));
    }
    strange.extend(there.into_values().flatten().flat_map(|c| [c.0, c.1]));
    this.rest(absent, &strange, planned, found);
    this
}

impl PlannedPortNumbers {
    /// The ends of planned cables that are not there, and of found cables that are not planned.
    fn rest(
        &mut self,
        mut absent: BTreeSet<DevicePort>,
        strange: &BTreeSet<DevicePort>,
        planned: &CablesByEnd,
        found: &CablesByEnd,
    ) {
        let mut left = Vec::new();
        for &end in strange {
            if absent.remove(&end) {
                self.join(end, end);
            } else {
                left.push(end);
            }
        }
        let port = |node: MatchedDevice, port: u16| DevicePort { node, port };
        for end in left {
            let all = port(end.node, 0)..=port(end.node, u16::MAX);
            let place = absent.range(all).next().copied();
            if let Some(place) = place {
                absent.remove(&place);
                self.join(place, end);
                continue;
            }
            // more cables than are planned: this end gets a port number that no other has
            let free = |s: &DevicePort| !planned.contains_key(s) && !self.real.contains_key(s);
            let others = (1..=u16::MAX).rev().map(|p| port(end.node, p));
            let place = std::iter::once(end).chain(others).find(free);
            self.join(place.unwrap_or(end), end);
        }
        // a cable that is still to be laid goes to its planned port, or to a free one
        let mut taken: BTreeSet<DevicePort> = found.keys().copied().collect();
        let (own, other): (Vec<DevicePort>, Vec<DevicePort>) =
            absent.into_iter().partition(|s| !taken.contains(s));
        taken.extend(own);
        for end in other {
            let free = |s: &DevicePort| !taken.contains(s);
            let place = (1..=u16::MAX).map(|p| port(end.node, p)).find(free).unwrap_or(end);
            taken.insert(place);
            self.real.insert(end, place);
        }
    }
}
