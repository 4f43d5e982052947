//! The levels of the switches of a tree, even where a few hosts are on switches that are no leaves.

use crate::network::{Link, Topology};
use base::{Graph, SwitchId};
use std::collections::BTreeMap;

/// The most attempts to find the switches with hosts that are no leaves.
const ROUNDS: u32 = 8;

/// The levels of a tree: every link joins neighbouring levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeLevels {
    /// The level of each switch: the number of links to the nearest leaf, `u32::MAX` where there is
    /// none.
    pub of: Vec<u32>,
    /// The switches that have hosts but are no leaves, in ascending order.
    pub apart: Vec<usize>,
}

/// A link whose ends are on the same level, and that level.
pub type SameLevelLink = (usize, usize, u32);

/// The levels of switches with these numbers of hosts. A level is the number of links to the
/// nearest leaf, and a leaf is at first every switch with hosts. That fails where a host is on a
/// spine (such as a server that manages the fabric), because a link then joins two switches of one
/// level, or on a core, because this core then is the only leaf that joins several parts. Then
/// those switches remain leaves by which most hosts fit a tree. The other switches with hosts must
/// be fewer, and have less than half of the hosts. O(links log links + pairs of leaves that are two
/// links apart, where leaves with the same neighbours count once).
///
/// # Errors
/// When there is no such tree: a link whose ends are on the same level.
pub fn levels(hosts: &[u32], links: &[(usize, usize)]) -> Result<TreeLevels, SameLevelLink> {
    let ends = links.iter().map(|(a, b)| Some((SwitchId::from(*a), SwitchId::from(*b))));
    let graph = Graph::new(hosts.len(), ends);
    let mut leaf: Vec<bool> = hosts.iter().map(|n| *n > 0).collect();
    let (mut refused, mut found) = (None, None);
    for _ in 0..ROUNDS {
        let leaves: Vec<u32> = (0..).zip(&leaf).filter(|(_, l)| **l).map(|(s, _)| s).collect();
        let of = graph.distances_from_any(&leaves);
        let same = |(a, b): &&(usize, usize)| of[*a] == of[*b] && of[*a] != u32::MAX;
        let flat: Vec<(usize, usize)> = links.iter().filter(same).copied().collect();
        if let Some(&(a, b)) = flat.first() {
            refused.get_or_insert((a, b, of[a]));
            demote(&flat, &of, hosts, &mut leaf, &graph);
            if !have_most_hosts(&leaf, hosts) {
                break;
            }
            continue;
        }
        let apart: Vec<usize> = (0..hosts.len()).filter(|&s| hosts[s] > 0 && !leaf[s]).collect();
        if apart.iter().any(|&s| of[s] == u32::MAX || !is_above_several(s, &of, &graph)) {
            break;
        }
        let above = above_parts(hosts, &leaf, &of, &graph);
        for &s in &above {
            leaf[s] = false;
        }
        found = Some(TreeLevels { of, apart });
        if above.is_empty() || !are_most_switches(&leaf, hosts) || !have_most_hosts(&leaf, hosts) {
            break;
        }
    }
    found.ok_or(refused.unwrap_or((0, 0, 0)))
}

/// Whether a switch has links to more than one switch of a lower level.
fn is_above_several(s: usize, of: &[u32], graph: &Graph) -> bool {
    let mut below: Vec<u32> = graph.neighbours(s).to_vec();
    below.retain(|to| of[*to as usize] < of[s]);
    below.sort_unstable();
    below.dedup();
    below.len() > 1
}

fn have_most_hosts(leaf: &[bool], hosts: &[u32]) -> bool {
    let sum = |is: bool| -> u64 {
        hosts.iter().zip(leaf).filter(|(_, leaf)| **leaf == is).map(|(n, _)| u64::from(*n)).sum()
    };
    sum(true) > sum(false)
}

fn are_most_switches(leaf: &[bool], hosts: &[u32]) -> bool {
    let count = |is: bool| hosts.iter().zip(leaf).filter(|(n, l)| **n > 0 && **l == is).count();
    count(true) > count(false)
}

/// As [`levels`], but the devices of `others` count as hosts if that gives a tree, so that a leaf
/// whose devices were all left out of the network is not taken for a spine. `others` has their
/// number for each switch.
///
/// # Errors
/// As [`levels`] for the hosts alone.
pub fn levels_beside(
    hosts: &[u32],
    others: &[u32],
    links: &[(usize, usize)],
) -> Result<TreeLevels, SameLevelLink> {
    if others.len() == hosts.len() && hosts.iter().any(|n| *n > 0) {
        let all: Vec<u32> = hosts.iter().zip(others).map(|(n, more)| n + more).collect();
        if let Ok(mut found) = levels(&all, links) {
            found.apart.retain(|s| hosts[*s] > 0);
            return Ok(found);
        }
    }
    levels(hosts, links)
}

/// The levels of a network, failed cables included: see [`levels`]. Devices that were left out of
/// the network count as hosts if that gives a tree.
///
/// # Errors
/// As [`levels`].
pub fn levels_of(on: &Topology) -> Result<TreeLevels, SameLevelLink> {
    let hosts: Vec<u32> =
        (0..on.switches().len()).map(|s| on.terminals_on(SwitchId::from(s)).len() as u32).collect();
    let links: Vec<(usize, usize)> =
        on.links().iter().map(|l| (l.a.switch.ix(), l.b.switch.ix())).collect();
    levels_beside(&hosts, &on.aside().left_out, &links)
}

/// The level of every switch of a tree, 0 for leaves: the levels that the network declares, or,
/// where it declares none, as networks from files do, those of [`levels_of`]. A switch from which
/// no leaf is reached is on level 0. `None` where the network has no links, or is no tree, in which
/// every link joins neighbouring levels. O(links log links).
pub fn tree_levels(on: &Topology) -> Option<Vec<u32>> {
    let declared: Vec<u32> = on.switches().iter().map(|s| s.level.into()).collect();
    let level = if declared.iter().any(|level| *level > 0) {
        declared
    } else {
        let found = levels_of(on).ok()?.of;
        found.into_iter().map(|level| if level == u32::MAX { 0 } else { level }).collect()
    };
    let joins = |l: &Link| level[l.a.switch.ix()].abs_diff(level[l.b.switch.ix()]) == 1;
    (!on.links().is_empty() && on.links().iter().all(joins)).then_some(level)
}

/// In a tree with flaws one link in this number may join switches of one level.
const LINKS_A_FLAW: usize = 20;

/// As [`tree_levels`], also of a network from a file in which a few links join switches of one
/// level, as plugs in wrong switches make them: levels are the numbers of links to the nearest
/// switch with hosts, or with devices that were left out of the network. `None` where more than one
/// link in 20 joins switches of one level, as in networks that are no trees. O(links log links).
pub fn nearly_tree_levels(on: &Topology) -> Option<Vec<u32>> {
    if let Some(level) = tree_levels(on) {
        return Some(level);
    }
    if on.switches().iter().any(|s| s.level != 0) {
        return None;
    }
    let left_out = |s: usize| on.aside().left_out.get(s).is_some_and(|count| *count > 0);
    let is_leaf = |s: &usize| !on.terminals_on(SwitchId::from(*s)).is_empty() || left_out(*s);
    let hosts: Vec<usize> = (0..on.switches().len()).filter(is_leaf).collect();
    let with_hosts = |s: &u32| !on.terminals_on(SwitchId(*s)).is_empty();
    let all: Vec<u32> = hosts.into_iter().map(|s| s as u32).collect();
    let few = all.iter().copied().filter(with_hosts).collect();
    [all, few].iter().find_map(|leaves| levels_above(on, leaves))
}

/// The levels above these leaves, where few links join switches of one level.
fn levels_above(on: &Topology, leaves: &[u32]) -> Option<Vec<u32>> {
    let of = on.graph().distances_from_any(leaves);
    let level: Vec<u32> = of.into_iter().map(|d| if d == u32::MAX { 0 } else { d }).collect();
    let is_flat = |l: &&Link| level[l.a.switch.ix()] == level[l.b.switch.ix()];
    let flat = on.links().iter().filter(is_flat).count();
    let fits = flat * LINKS_A_FLAW <= on.links().len() && level.iter().any(|l| *l > 0);
    fits.then_some(level)
}

/// Removes leaves so that no link of `flat` has both ends on one level. At each such conflict of
/// two leaves, the one with fewer hosts per conflict is removed.
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
    // ascending by hosts / spoilt, compared without a division
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
    // a removed leaf becomes a leaf again if all leaves that it conflicts with were removed, too
    for &s in order.iter().rev() {
        leaf[s] |= !rows[s].iter().any(|&other| leaf[other]);
    }
}

/// The leaves that are above other leaves: without such a leaf its neighbours are in several parts,
/// each with leaves of its own. Only those leaves are tried (all at once) that reach more hosts
/// over their neighbours than most leaves around them do, as a core does.
fn above_parts(hosts: &[u32], leaf: &[bool], of: &[u32], graph: &Graph) -> Vec<usize> {
    let sorts = LeafClasses::new(hosts, leaf, graph);
    let reach: Vec<u64> = (0..sorts.all.len())
        .map(|i| sorts.near(i).into_iter().map(|j| sorts.all[j].hosts).sum())
        .collect();
    let is_tried = |i: usize| {
        let (mut fewer, mut others) = (0, 0);
        for j in sorts.near(i).into_iter().filter(|j| *j != i) {
            others += sorts.all[j].hosts;
            fewer += if reach[j] < reach[i] { sorts.all[j].hosts } else { 0 };
        }
        2 * fewer > others
    };
    let (tried, others): (Vec<usize>, Vec<usize>) =
        (0..sorts.all.len()).partition(|i| is_tried(*i));
    // the connected parts of the other leaves and of the switches next to them
    let links = others.iter().map(|i| &sorts.all[*i]).flat_map(|sort| {
        let beside = sort.row.iter().filter(|to| of[**to as usize] == 1);
        beside.map(|to| Some((SwitchId::from(sort.leaves[0]), SwitchId(*to))))
    });
    let joined = Graph::new(leaf.len(), links);
    let (part, _) = joined.components();
    let joins = |row: &[u32]| {
        let inside = row.iter().filter(|to| joined.degree(**to as usize) > 0);
        let mut parts = inside.map(|to| part[*to as usize]);
        let first = parts.next();
        parts.any(|other| Some(other) != first)
    };
    let above = tried.into_iter().map(|i| &sorts.all[i]).filter(|sort| joins(&sort.row));
    above.flat_map(|sort| sort.leaves.iter().copied()).collect()
}

/// A class of leaves that have the same neighbours.
struct LeafClass {
    row: Vec<u32>,
    leaves: Vec<usize>,
    hosts: u64,
}

/// All leaves in classes by their neighbours.
struct LeafClasses {
    all: Vec<LeafClass>,
    /// For each switch, the classes whose leaves are linked to it.
    beside: Vec<Vec<usize>>,
}

impl LeafClasses {
    fn new(hosts: &[u32], leaf: &[bool], graph: &Graph) -> Self {
        let mut alike: BTreeMap<Vec<u32>, Vec<usize>> = BTreeMap::new();
        for s in (0..leaf.len()).filter(|&s| leaf[s]) {
            let mut row = graph.neighbours(s).to_vec();
            row.sort_unstable();
            row.dedup();
            alike.entry(row).or_default().push(s);
        }
        let hosts_on = |leaves: &[usize]| leaves.iter().map(|s| u64::from(hosts[*s])).sum();
        let sort = |(row, leaves): (Vec<u32>, Vec<usize>)| {
            let hosts = hosts_on(&leaves);
            LeafClass { row, leaves, hosts }
        };
        let all: Vec<LeafClass> = alike.into_iter().map(sort).collect();
        let mut beside = vec![Vec::new(); leaf.len()];
        for (i, sort) in all.iter().enumerate() {
            for &to in &sort.row {
                beside[to as usize].push(i);
            }
        }
        Self { all, beside }
    }

    /// The classes that have a neighbour in common with class `i`, itself among them.
    fn near(&self, i: usize) -> Vec<usize> {
        let row = &self.all[i].row;
        let mut found: Vec<usize> =
            row.iter().flat_map(|to| &self.beside[*to as usize]).copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// A nearest leaf of a switch: the first link to a lower level is followed at every switch.
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

    /// A tree of `leaves` and `spines`, each linked to each; leaves have the lower numbers.
    fn two_levels(leaves: usize, spines: usize) -> Vec<(usize, usize)> {
        (0..leaves).flat_map(|l| (0..spines).map(move |s| (l, leaves + s))).collect()
    }

    #[test]
    fn hosts_on_spines_do_not_hide_the_tree() {
        let links = two_levels(3, 2);
        let plain = levels(&[2, 2, 2, 0, 0], &links).expect("a tree");
        assert_eq!(plain, TreeLevels { of: vec![0, 0, 0, 1, 1], apart: vec![] });
        for (hosts, apart) in [
            ([2, 2, 2, 1, 0], vec![3]),
            ([2, 2, 2, 1, 1], vec![3, 4]),
            ([1, 20, 20, 2, 0], vec![3]),
            ([1, 1, 1, 1, 0], vec![3]),
        ] {
            let found = levels(&hosts, &links).expect("a tree by the others");
            assert_eq!(found, TreeLevels { of: vec![0, 0, 0, 1, 1], apart }, "{hosts:?}");
        }
    }

    /// A tree of `pods` pods of two leaves and two spines each. Two cores link the first spines of
    /// all pods, and two others the second spines. Numbers: leaves, spines, cores.
    fn three_levels(pods: usize) -> Vec<(usize, usize)> {
        let mut links = Vec::new();
        for pod in 0..pods {
            for place in 0..2 {
                let spine = 2 * pods + 2 * pod + place;
                links.extend((0..2).map(|leaf| (2 * pod + leaf, spine)));
                links.extend((0..2).map(|core| (spine, 4 * pods + 2 * place + core)));
            }
        }
        links
    }

    #[test]
    fn hosts_on_cores_do_not_hide_the_tree() {
        for pods in 2..5 {
            let links = three_levels(pods);
            let sizes = [(0, 2 * pods), (1, 2 * pods), (2, 4)];
            let of: Vec<u32> = sizes.iter().flat_map(|(l, n)| vec![*l; *n]).collect();
            for (each, apart) in [
                (1, vec![]),
                (1, vec![4 * pods]),
                (2, vec![4 * pods + 3]),
                (2, vec![4 * pods, 4 * pods + 1]),
                (2, vec![4 * pods, 4 * pods + 2]),
                (3, vec![2 * pods, 4 * pods]),
                (4, vec![2 * pods + 1, 4 * pods + 1, 4 * pods + 2]),
            ] {
                let mut hosts = vec![0; of.len()];
                hosts[..2 * pods].fill(each);
                for &s in &apart {
                    hosts[s] = 1;
                }
                let found = levels(&hosts, &links).expect("a tree by the others");
                assert_eq!(found, TreeLevels { of: of.clone(), apart: apart.clone() }, "{apart:?}");
            }
            // pods of different sizes, with one that has lost cables
            let mut hosts = vec![0; of.len()];
            hosts[..2 * pods].fill(1);
            (hosts[0], hosts[1], hosts[4 * pods + 2]) = (20, 7, 2);
            let cut: Vec<(usize, usize)> =
                links.iter().copied().filter(|l| *l != (0, 2 * pods)).collect();
            for links in [links, cut] {
                let found = levels(&hosts, &links).expect("a tree by the others");
                assert_eq!(found, TreeLevels { of: of.clone(), apart: vec![4 * pods + 2] });
            }
        }
    }

    #[test]
    fn leaves_that_see_more_than_others_stay_leaves() {
        // lines and points of the projective plane of order 2: any two leaves share exactly one
        // spine
        let lines = [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]];
        let links: Vec<(usize, usize)> =
            (7..).zip(lines).flat_map(|(line, of)| of.map(|p| (p, line))).collect();
        for lost in 0..links.len() {
            let mut links = links.clone();
            links.remove(lost);
            let mut hosts = vec![2; 14];
            hosts[7..].fill(0);
            hosts[lost % 7] = 1;
            assert_eq!(levels(&hosts, &links).expect("a tree").apart, Vec::<usize>::new());
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
