//! Levels of the switches of a tree, also where a few hosts are on switches that are no leaves.

use crate::network::Topology;
use base::{Graph, SwitchId};

/// How often it is tried to find the switches that are no leaves.
const ROUNDS: u32 = 8;

/// Levels by which every link joins a level to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    /// Links from each switch to the nearest leaf; `u32::MAX` where there is none.
    pub of: Vec<u32>,
    /// Switches that have hosts and are no leaves, ascending.
    pub apart: Vec<usize>,
}

/// A link whose ends are on one level, and that level.
pub type SameLevel = (usize, usize, u32);

/// The levels of switches with these numbers of hosts: links to the nearest leaf. Leaves are the
/// switches with hosts; where a link would then join two switches of one level, as where a server
/// that manages the fabric is on a spine, the leaves are those by which most hosts fit a tree: the
/// others are on fewer switches, with less than half of the hosts. O(links log links).
///
/// # Errors
/// When there is no such tree: the first link whose ends are on one level.
pub fn levels(hosts: &[u32], links: &[(usize, usize)]) -> Result<Levels, SameLevel> {
    let ends = links.iter().map(|(a, b)| Some((SwitchId::from(*a), SwitchId::from(*b))));
    let graph = Graph::new(hosts.len(), ends);
    let total: u64 = hosts.iter().map(|n| u64::from(*n)).sum();
    let mut leaf: Vec<bool> = hosts.iter().map(|n| *n > 0).collect();
    let mut refused = None;
    for _ in 0..ROUNDS {
        let leaves: Vec<u32> = (0..).zip(&leaf).filter(|(_, l)| **l).map(|(s, _)| s).collect();
        let of = graph.distances_from_any(&leaves);
        let same = |(a, b): &&(usize, usize)| of[*a] == of[*b] && of[*a] != u32::MAX;
        let flat: Vec<(usize, usize)> = links.iter().filter(same).copied().collect();
        let Some(&(a, b)) = flat.first() else {
            let apart: Vec<usize> =
                (0..hosts.len()).filter(|&s| hosts[s] > 0 && !leaf[s]).collect();
            // one that is above the leaves joins several
            let joins = |s: usize| {
                let mut below: Vec<u32> = graph.neighbours(s).to_vec();
                below.retain(|to| of[*to as usize] < of[s]);
                below.sort_unstable();
                below.dedup();
                below.len() > 1
            };
            if apart.iter().any(|&s| of[s] == u32::MAX || !joins(s)) {
                break;
            }
            return Ok(Levels { of, apart });
        };
        let first = *refused.get_or_insert((a, b, of[a]));
        demote(&flat, &of, hosts, &mut leaf, &graph);
        let rest: u64 = (0..hosts.len()).filter(|&s| !leaf[s]).map(|s| u64::from(hosts[s])).sum();
        if 2 * rest >= total {
            return Err(first);
        }
    }
    Err(refused.unwrap_or((0, 0, 0)))
}

/// The levels of a network as cabled, failed cables included: see [`levels`].
///
/// # Errors
/// As [`levels`].
pub fn levels_of(on: &Topology) -> Result<Levels, SameLevel> {
    let hosts: Vec<u32> =
        (0..on.switches().len()).map(|s| on.terminals_on(SwitchId::from(s)).len() as u32).collect();
    let links: Vec<(usize, usize)> =
        on.links().iter().map(|l| (l.a.switch.ix(), l.b.switch.ix())).collect();
    levels(&hosts, &links)
}

/// Takes from the leaves those that put the ends of `flat` links on one level: of both ends the one
/// with fewer hosts for each link that it spoils.
fn demote(flat: &[(usize, usize)], of: &[u32], hosts: &[u32], leaf: &mut [bool], graph: &Graph) {
    let mut pairs: Vec<(usize, usize)> =
        flat.iter().map(|&(a, b)| (leaf_below(a, of, graph), leaf_below(b, of, graph))).collect();
    pairs.retain(|(a, b)| a != b);
    pairs.sort_unstable();
    pairs.dedup();
    let mut spoilt = vec![0_u64; hosts.len()];
    for s in pairs.iter().flat_map(|(a, b)| [*a, *b]) {
        spoilt[s] += 1;
    }
    let mut order: Vec<usize> = (0..hosts.len()).filter(|&s| spoilt[s] > 0).collect();
    // hosts[a] / spoilt[a] < hosts[b] / spoilt[b]
    order.sort_by(|&a, &b| {
        let (x, y) = (u64::from(hosts[a]) * spoilt[b], u64::from(hosts[b]) * spoilt[a]);
        x.cmp(&y).then(spoilt[b].cmp(&spoilt[a])).then(b.cmp(&a))
    });
    let mut rows = vec![Vec::new(); hosts.len()];
    for &(a, b) in &pairs {
        rows[a].push(b);
        rows[b].push(a);
    }
    for &s in &order {
        leaf[s] = !rows[s].iter().any(|&other| leaf[other]);
    }
    // one that was taken before all that it is in conflict with were taken, too, stays
    for &s in order.iter().rev() {
        leaf[s] |= !rows[s].iter().any(|&other| leaf[other]);
    }
}

/// A leaf nearest to a switch: down by the first link that leads a level down.
fn leaf_below(mut s: usize, of: &[u32], graph: &Graph) -> usize {
    while of[s] > 0 {
        let down = graph.neighbours(s).iter().find(|to| of[**to as usize] < of[s]);
        s = *down.expect("a level above 0 has a link down") as usize;
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `spines` over `leaves`, leaves first.
    fn two_levels(leaves: usize, spines: usize) -> Vec<(usize, usize)> {
        (0..leaves).flat_map(|l| (0..spines).map(move |s| (l, leaves + s))).collect()
    }

    #[test]
    fn hosts_on_spines_do_not_hide_the_tree() {
        let links = two_levels(3, 2);
        let plain = levels(&[2, 2, 2, 0, 0], &links).expect("a tree");
        assert_eq!(plain, Levels { of: vec![0, 0, 0, 1, 1], apart: vec![] });
        for (hosts, apart) in [
            ([2, 2, 2, 1, 0], vec![3]),
            ([2, 2, 2, 1, 1], vec![3, 4]),
            ([1, 20, 20, 2, 0], vec![3]),
            ([1, 1, 1, 1, 0], vec![3]),
        ] {
            let found = levels(&hosts, &links).expect("a tree by the others");
            assert_eq!(found, Levels { of: vec![0, 0, 0, 1, 1], apart }, "{hosts:?}");
        }
    }

    #[test]
    fn what_is_no_tree_stays_none() {
        let ring: Vec<(usize, usize)> = (0..4).map(|i| (i, (i + 1) % 4)).collect();
        assert_eq!(levels(&[1; 4], &ring), Err((0, 1, 0)), "two of four hosts are not most");
        assert_eq!(levels(&[1, 1], &[(0, 1)]), Err((0, 1, 0)));
        assert_eq!(levels(&[3, 1], &[(0, 1)]), Err((0, 1, 0)), "two leaves");
        let triangle = [(0, 1), (1, 2), (2, 0)];
        assert_eq!(levels(&[5, 1, 1], &triangle), Err((0, 1, 0)));
    }
}
