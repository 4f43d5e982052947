//! Symmetry of networks: if switches or planes are equivalent, only one of them is measured.

use base::Graph;
use fabric::Topology;

/// The members of `edge`, the switches with endpoints, from which searches must start, and the
/// number of switches that each represents.
///
/// It is only one member if all switches have endpoints and the network's family declares that an
/// automorphism maps any switch to any other. O(1) in that case.
pub(super) fn sources(t: &Topology, edge: &[u32]) -> (Vec<u32>, u64) {
    if edge.len() > 1 && edge.len() == t.switches().len() && t.is_vertex_transitive() {
        (edge[..1].to_vec(), edge.len() as u64)
    } else {
        (edge.to_vec(), 1)
    }
}

/// Whether two planes, given as rising lists of switches, have equal adjacency lists. O(links).
pub(super) fn alike(graph: &Graph, one: &[u32], other: &[u32]) -> bool {
    let (Some(&first), Some(&second)) = (one.first(), other.first()) else { return false };
    let shift = second.wrapping_sub(first);
    let same = |(&v, &w): (&u32, &u32)| {
        let (v, w) = (v as usize, w as usize);
        graph.degree(v) == graph.degree(w)
            && graph
                .neighbours(v)
                .iter()
                .zip(graph.neighbours(w))
                .all(|(a, b)| a.wrapping_add(shift) == *b)
    };
    let apart = |(&v, &w): (&u32, &u32)| v.wrapping_add(shift) == w;
    one.len() == other.len() && one.iter().zip(other).all(apart) && one.iter().zip(other).all(same)
}

/// The step of each channel in a group of translations, row by row of `members`, which no link
/// leaves; `None` if the switches have different sets of steps. If they are the same, the graph is
/// a Cayley graph, and each translation is an automorphism of it.
///
/// Source: Sabidussi, "On a class of fixed-point-free graphs", Proc. AMS 1958. The groups tried are
/// the products of cycles that the coordinates name, the bits of the number, and the number itself;
/// each is verified. O(links * coordinates).
pub(super) fn steps(t: &Topology, members: &[u32]) -> Option<Vec<u32>> {
    let labels =
        [by_coordinates(t, members), by_bits(members.len()), Some(by_number(members.len()))];
    labels.iter().flatten().find_map(|labels| labels.steps(t.graph(), members))
}

/// The coordinates of each switch in a product of cycles.
struct CycleCoordinates {
    /// The length of each cycle.
    shape: Vec<u32>,
    /// The coordinates, one for each cycle, switch after switch.
    digits: Vec<u32>,
}

fn by_coordinates(t: &Topology, members: &[u32]) -> Option<CycleCoordinates> {
    let of = |v: &u32| &t.switches()[*v as usize].coordinates;
    let all = of(members.first()?).len();
    if members.iter().any(|v| of(v).len() != all) {
        return None;
    }
    let (mut used, mut shape) = (Vec::new(), Vec::new());
    for i in 0..all {
        let values = || members.iter().map(|v| of(v)[i]);
        let (least, most) = (values().min()?, values().max()?);
        if most > least {
            used.push((i, least));
            shape.push(most - least + 1);
        }
    }
    let place = |v: &u32| used.iter().map(|&(i, least)| of(v)[i] - least).collect::<Vec<_>>();
    let size = shape.iter().try_fold(1_usize, |all, &d| all.checked_mul(d as usize))?;
    if size != members.len() {
        return None;
    }
    let mut taken = vec![false; size];
    for v in members {
        let at = place(v).iter().zip(&shape).fold(0, |at, (&x, &d)| at * d as usize + x as usize);
        if std::mem::replace(&mut taken[at], true) {
            return None;
        }
    }
    Some(CycleCoordinates { digits: members.iter().flat_map(place).collect(), shape })
}

fn by_bits(size: usize) -> Option<CycleCoordinates> {
    let bits = size.is_power_of_two().then(|| size.trailing_zeros())?;
    let digits = (0..size as u32).flat_map(|i| (0..bits).map(move |bit| i >> bit & 1)).collect();
    Some(CycleCoordinates { shape: vec![2; bits as usize], digits })
}

fn by_number(size: usize) -> CycleCoordinates {
    CycleCoordinates { shape: vec![size as u32], digits: (0..size as u32).collect() }
}

impl CycleCoordinates {
    /// The steps of all channels; `None` if two switches have different sets of steps.
    fn steps(&self, graph: &Graph, members: &[u32]) -> Option<Vec<u32>> {
        let first = *members.first()?;
        let mut place = vec![u32::MAX; graph.switches()];
        for (i, &v) in members.iter().enumerate() {
            place[v as usize] = i as u32;
        }
        let cycles = self.shape.len();
        let digits = |i: usize| &self.digits[i * cycles..(i + 1) * cycles];
        let step = |from: usize, to: usize| {
            let both = digits(from).iter().zip(digits(to)).zip(&self.shape);
            both.fold(0, |step, ((&a, &b), &d)| step * d + if b < a { b + d - a } else { b - a })
        };
        let sorted = |mut row: Vec<u32>| {
            row.sort_unstable();
            row
        };
        let row = |i: usize, v: u32| -> Vec<u32> {
            let to = graph.neighbours(v as usize).iter();
            to.map(|&w| step(i, place[w as usize] as usize)).collect()
        };
        let wanted = sorted(row(0, first));
        let mut all = Vec::with_capacity(wanted.len() * members.len());
        for (i, &v) in members.iter().enumerate() {
            let here = row(i, v);
            all.extend_from_slice(&here);
            if sorted(here) != wanted {
                return None;
            }
        }
        Some(all)
    }
}
