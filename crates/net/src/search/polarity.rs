//! Starts of diameter about 2: a polarity graph with vertices taken away.
//!
//! The polarity graph of q has q^2 + q + 1 vertices of degree q + 1 (q + 1 of them q) and diameter
//! 2. Taking away a vertex that is orthogonal to itself, and its neighbours, costs every other
//! vertex one edge: q^2 vertices of degree about q are left, most pairs still two hops apart.
//!
//! Source: Erdos and Renyi, "On a problem in the theory of graphs", 1962, and Brown, "On graphs
//! that do not contain a Thomsen graph", 1966: the graphs.

use super::Problem;
use super::orbits::Edge;
use base::field::{Field, prime_power};
use base::seed::Stream;

/// Largest q; the graph is made by comparing all pairs of points.
const MAX_Q: u32 = 64;
/// Tries to place one missing edge.
const TRIES: u64 = 10_000;

/// The edges of a graph of full degree cut from the smallest polarity graph that has the vertices;
/// `None` where the order is beyond the Moore bound of diameter 2, where q is above the degree or
/// [`MAX_Q`], or where the missing edges find no place.
///
/// O(q^4).
pub(super) fn start(problem: Problem, random: &mut Stream) -> Option<Vec<Edge>> {
    let (n, d) = (problem.order(), problem.degree());
    let q = (2..=MAX_Q.min(d)).find(|&q| prime_power(q).is_some() && q * q + q + 1 >= n)?;
    if n <= d + 1 || u64::from(n) > 1 + u64::from(d) * u64::from(d) {
        return None;
    }
    let mut rows = kept(&polarity(q), n as usize);
    trim(&mut rows, d as usize);
    fill(&mut rows, d as usize, random)?;
    let pairs = rows.iter().enumerate();
    let both = pairs.flat_map(|(v, row)| row.iter().map(move |&w| (v as u32, w)));
    Some(both.filter(|(v, w)| v < w).collect())
}

/// The points of the projective plane over GF(q), adjacent where orthogonal; a point that is
/// orthogonal to itself comes first.
fn polarity(q: u32) -> Vec<Vec<u32>> {
    let field = Field::new(q).expect("a prime power of at most MAX_Q");
    let plane = (0..q * q).map(|i| [1, i / q, i % q]);
    let mut points: Vec<[u32; 3]> =
        plane.chain((0..q).map(|a| [0, 1, a])).chain([[0, 0, 1]]).collect();
    let orthogonal = |x: &[u32; 3], y: &[u32; 3]| {
        let [a, b, c] = [0, 1, 2].map(|i| field.mul(x[i], y[i]));
        field.add(field.add(a, b), c) == 0
    };
    if let Some(first) = points.iter().position(|p| orthogonal(p, p)) {
        points.swap(0, first);
    }
    let row = |v: usize| {
        let others =
            points.iter().enumerate().filter(|&(w, p)| w != v && orthogonal(p, &points[v]));
        others.map(|(w, _)| w as u32).collect()
    };
    (0..points.len()).map(row).collect()
}

/// The graph on the last `n` vertices in the order of a search from vertex 0.
fn kept(rows: &[Vec<u32>], n: usize) -> Vec<Vec<u32>> {
    let mut order = vec![0_u32];
    let mut place = vec![u32::MAX; rows.len()];
    place[0] = 0;
    let mut at = 0;
    while let Some(&v) = order.get(at) {
        at += 1;
        for &w in &rows[v as usize] {
            if place[w as usize] == u32::MAX {
                place[w as usize] = order.len() as u32;
                order.push(w);
            }
        }
    }
    let gone = (rows.len() - n) as u32;
    let renamed =
        |v: u32| rows[v as usize].iter().filter_map(|&w| place[w as usize].checked_sub(gone));
    order[gone as usize..].iter().map(|&v| renamed(v).collect()).collect()
}

/// Takes edges from vertices above the degree, first those between two such.
fn trim(rows: &mut [Vec<u32>], d: usize) {
    for v in 0..rows.len() {
        while rows[v].len() > d {
            let far = rows[v].iter().copied().max_by_key(|&w| (rows[w as usize].len(), w));
            let Some(w) = far else { return };
            rows[v].retain(|&x| x != w);
            rows[w as usize].retain(|&x| x != v as u32);
        }
    }
}

/// Gives every vertex the degree (all but one where that is odd), by edges between two vertices
/// that lack one, or by putting one into an edge.
fn fill(rows: &mut [Vec<u32>], d: usize, random: &mut Stream) -> Option<()> {
    loop {
        let mut short: Vec<u32> = (0..rows.len() as u32)
            .flat_map(|v| std::iter::repeat_n(v, d - rows[v as usize].len()))
            .collect();
        if short.len() < 2 {
            return Some(());
        }
        random.shuffle(&mut short);
        let apart = |rows: &[Vec<u32>], a: u32, b: u32| a != b && !rows[a as usize].contains(&b);
        let free = short
            .iter()
            .enumerate()
            .find_map(|(i, &a)| short[..i].iter().find(|&&b| apart(rows, a, b)).map(|&b| (a, b)));
        if let Some((a, b)) = free {
            rows[a as usize].push(b);
            rows[b as usize].push(a);
            continue;
        }
        let (a, b) = (short[0], short[1]);
        let mut tries = 0..TRIES;
        loop {
            tries.next()?;
            let x = random.below(rows.len() as u64) as u32;
            let row = &rows[x as usize];
            if row.is_empty() {
                continue;
            }
            let y = row[random.below(row.len() as u64) as usize];
            if apart(rows, a, x) && apart(rows, b, y) {
                rows[x as usize].retain(|&w| w != y);
                rows[y as usize].retain(|&w| w != x);
                for (v, w) in [(a, x), (b, y)] {
                    rows[v as usize].push(w);
                    rows[w as usize].push(v);
                }
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::orbits::Orbits;
    use crate::search::reach::Reach;

    #[test]
    fn polarity_graphs_have_diameter_two() {
        for q in [2, 3, 4, 5, 7, 8, 9] {
            let rows = polarity(q);
            assert_eq!(rows.len() as u32, q * q + q + 1);
            assert_eq!(rows.iter().filter(|row| row.len() as u32 == q).count() as u32, q + 1);
            assert_eq!(rows[0].len() as u32, q, "the first is orthogonal to itself");
            let edges: Vec<Edge> = (0..rows.len() as u32)
                .flat_map(|v| rows[v as usize].iter().map(move |&w| (v, w)))
                .filter(|(v, w)| v < w)
                .collect();
            let problem = Problem::new(q * q + q + 1, q + 1).unwrap();
            let graph = Orbits::new(problem, 1, &edges).expect("a simple graph");
            assert_eq!(Reach::default().score(&graph).diameter, Some(2));
        }
    }

    #[test]
    fn starts_have_the_order_and_the_full_degree() {
        let mut made = 0;
        for n in 3..140 {
            for d in 2..13.min(n) {
                let problem = Problem::new(n, d).unwrap();
                let mut random = Stream::new(1, "polarity", u64::from(n));
                let Some(edges) = start(problem, &mut random) else { continue };
                made += 1;
                let graph = Orbits::new(problem, 1, &edges).expect("a simple graph");
                let ends: usize = (0..n).map(|v| graph.neighbours(v).count()).sum();
                assert_eq!(ends, (n * d) as usize - usize::from(problem.is_odd()), "({n}, {d})");
            }
        }
        assert!(made > 300, "{made}");
    }
}
