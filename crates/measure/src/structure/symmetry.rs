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

/// A map of the coordinates of a switch to those of another.
type WordMap<'a> = dyn Fn(&[u32]) -> Vec<u32> + 'a;

/// Switches from which all distances among `members` are known, with the number of switches that
/// each stands for: one of each orbit under those of three maps of coordinates that are
/// automorphisms of the network. `None` where `members` are not all switches, or where orbits are
/// small.
///
/// The maps exchange the values 0 and 1 in all coordinates, take each value to the next one, and
/// reverse the order of the coordinates: de Bruijn and Kautz graphs, whose coordinates are words,
/// stay the same under any exchange of letters, and when links have no direction under reversal.
/// Each map is verified. O(links * log(links of a switch)).
pub(super) fn orbits(t: &Topology, members: &[u32]) -> Option<Vec<(u32, u64)>> {
    let n = members.len();
    let words: Vec<&[u32]> = t.switches().iter().map(|s| s.coordinates.as_slice()).collect();
    let letters = words.first().map_or(0, |word| word.len());
    let values = 1 + words.iter().flat_map(|word| word.iter().copied()).max()?;
    let whole = n == words.len() && words.iter().all(|word| word.len() == letters);
    if !whole || letters < 2 || values < 2 || n != t.graph().switches() {
        return None;
    }
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_unstable_by_key(|&v| words[v as usize]);
    let exchanged = |word: &[u32]| -> Vec<u32> {
        word.iter().map(|&x| if x < 2 { 1 - x } else { x }).collect()
    };
    let next = |word: &[u32]| -> Vec<u32> { word.iter().map(|&x| (x + 1) % values).collect() };
    let reversed = |word: &[u32]| -> Vec<u32> { word.iter().rev().copied().collect() };
    let maps: [&WordMap<'_>; 3] = [&exchanged, &next, &reversed];
    let image = |map: &WordMap<'_>| -> Option<Vec<u32>> {
        let to = |word: &&[u32]| {
            let word = map(word);
            let place = order.binary_search_by(|&v| words[v as usize].cmp(&word)).ok()?;
            Some(order[place])
        };
        words.iter().map(to).collect()
    };
    let images = maps.into_iter().filter_map(image);
    let images: Vec<Vec<u32>> = images.filter(|image| is_automorphism(t.graph(), image)).collect();
    let (mut known, mut found) = (vec![false; n], Vec::new());
    for first in 0..n as u32 {
        let (mut open, mut size) = (vec![first], 0);
        while let Some(v) = open.pop() {
            if !std::mem::replace(&mut known[v as usize], true) {
                size += 1;
                open.extend(images.iter().map(|image| image[v as usize]));
            }
        }
        if size > 0 {
            found.push((first, size));
        }
    }
    (2 * found.len() <= n).then_some(found)
}

/// Whether `image` is a permutation of the switches that takes links to links.
fn is_automorphism(graph: &Graph, image: &[u32]) -> bool {
    let mut taken = vec![false; image.len()];
    let once = image.iter().all(|&w| !std::mem::replace(&mut taken[w as usize], true));
    let sorted = |row: &mut Vec<u32>, to: &mut dyn Iterator<Item = u32>| {
        row.clear();
        row.extend(to);
        row.sort_unstable();
    };
    let (mut mapped, mut there) = (Vec::new(), Vec::new());
    once && (0..image.len()).all(|v| {
        sorted(&mut mapped, &mut graph.neighbours(v).iter().map(|&w| image[w as usize]));
        sorted(&mut there, &mut graph.neighbours(image[v] as usize).iter().copied());
        mapped == there
    })
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
