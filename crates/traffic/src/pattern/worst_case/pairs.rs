//! Slim Fly: switches in pairs such that the detour-free paths of two pairs share a channel.
//!
//! Source: Besta, Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014,
//! section V (adversarial traffic); the order in which pairs are searched is that of CODES.

use super::super::places::RankSwitchPlaces;
use base::SwitchId;
use fabric::network::Topology;

/// For each switch with endpoints, the index of its partner; `None` for those without one.
///
/// The first switch a without a partner is tried with each b, starting halfway through the list,
/// and with each neighbour m that a and b share, m is tried with each c in the same order. If m and
/// c share a or b as a neighbour, a and b become partners, and so do m and c. So the paths a - m -
/// b and, for example, m - a - c share the channels between m and a. O(switches^2 * degree^2) at
/// most.
pub(super) fn paired(t: &Topology, places: &RankSwitchPlaces) -> Vec<Option<usize>> {
    let all = SwitchNeighbours::new(t, places);
    let count = places.switches.len();
    let mut partner = vec![None; count];
    for a in 0..count {
        if partner[a].is_none()
            && let Some([b, m, c]) = all.found(a, &partner)
        {
            for (x, y) in [(a, b), (b, a), (m, c), (c, m)] {
                partner[x] = Some(y);
            }
        }
    }
    partner
}

/// The neighbours of every switch with endpoints, and for each whether it is in the same column.
struct SwitchNeighbours {
    near: Vec<Vec<(usize, bool)>>,
}

impl SwitchNeighbours {
    fn new(t: &Topology, places: &RankSwitchPlaces) -> Self {
        let place_of = |s: u32| places.switches.binary_search(&SwitchId(s)).ok();
        let column = |i: usize| t.switches()[places.switches[i].ix()].group;
        let near = (0..places.switches.len()).map(|i| {
            let row = t.graph().neighbours(places.switches[i].ix()).iter();
            let mut all: Vec<(usize, bool)> = row
                .filter_map(|&s| place_of(s))
                .map(|other| (other, column(other) == column(i)))
                .collect();
            all.sort_unstable();
            all.dedup();
            all
        });
        Self { near: near.collect() }
    }

    /// The neighbours that two switches share, in this order: over a link within a column, then one
    /// between columns; over a link between columns, then one within; over two links between
    /// columns; over two links within columns. Each group is in the order of numbers.
    fn shared(&self, a: usize, b: usize) -> Vec<usize> {
        let mut all = Vec::new();
        for &(m, of_a) in &self.near[a] {
            if let Ok(at) = self.near[b].binary_search_by_key(&m, |n| n.0) {
                let rank = match (of_a, self.near[b][at].1) {
                    (true, false) => 0,
                    (false, true) => 1,
                    (false, false) => 2,
                    (true, true) => 3,
                };
                all.push((rank, m));
            }
        }
        all.sort_unstable();
        all.into_iter().map(|(_, m)| m).collect()
    }

    fn found(&self, a: usize, partner: &[Option<usize>]) -> Option<[usize; 3]> {
        for b in across(a, partner) {
            for m in self.shared(a, b).into_iter().filter(|&m| partner[m].is_none()) {
                for c in across(m, partner).filter(|&c| c != a && c != b) {
                    if self.shared(m, c).iter().any(|&x| x == a || x == b) {
                        return Some([b, m, c]);
                    }
                }
            }
        }
        None
    }
}

/// The switches without a partner, starting half the list after `of`.
fn across(of: usize, partner: &[Option<usize>]) -> impl Iterator<Item = usize> + '_ {
    let count = partner.len();
    let all = (0..count).map(move |i| (of + count / 2 + i) % count);
    all.filter(move |&i| i != of && partner[i].is_none())
}
