//! Starting graphs of diameter about 2: known graphs of diameter 2, reduced or extended to the
//! number of vertices.
//!
//! Annealing does not find such structure from a random graph, but keeps it where it exists. A
//! polarity graph of q has q^2 + q + 1 vertices of degree q + 1 (q + 1 of them q). Removing a
//! vertex that is orthogonal to itself, and its neighbours, takes one edge from every other vertex:
//! q^2 vertices of degree about q remain, and most pairs are still two hops apart. A graph of
//! `McKay`, Miller and Siran accepts more vertices where the degree leaves room.
//!
//! Source: Erdos and Renyi, "On a problem in the theory of graphs", 1962, and Brown, "On graphs
//! that do not contain a Thomsen graph", 1966: polarity graphs; `McKay`, Miller and Siran, "A note
//! on large graphs of diameter two and given maximum degree", J. Combin. Theory B 74, 1998.

use super::OrderDegreeProblem;
use super::orbits::OrbitEdge;
use base::field::prime_power;
use base::seed::RandomStream;
use fabric::network::parse_inline;
use families::family;

/// The largest q of a polarity graph.
const MAX_Q: u32 = 64;
/// The number of attempts to place one missing edge.
const TRIES: u64 = 10_000;

/// The recipes of the graphs to start from; none where diameter 2 is out of reach.
///
/// The largest graph of `McKay`, Miller and Siran of at most the order and the degree, and the
/// smallest polarity graph above the order of a q of at most the degree and [`MAX_Q`].
pub(super) fn recipes(problem: OrderDegreeProblem) -> Vec<String> {
    let (n, d) = (problem.order(), problem.degree());
    if n <= d + 1 || u64::from(n) > 1 + u64::from(d) * u64::from(d) {
        return Vec::new();
    }
    let powers = || (2..=MAX_Q.min(d)).filter(|&q| prime_power(q).is_some());
    // the degree is (3 q - 1) / 2, 3 q / 2 and (3 q + 1) / 2 for q = 1, 0 and 3 mod 4
    let degree = |q: u32| (3 * q + 1 - 2 * u32::from(q % 4 == 1)) / 2;
    let slim = powers().rfind(|&q| q > 2 && 2 * q * q <= n && degree(q) <= d);
    let cut = powers().find(|&q| q * q + q + 1 > n);
    let slim = slim.map(|q| format!("slim_fly:q={q},p=0"));
    slim.into_iter().chain(cut.map(|q| format!("polar_fly:q={q},p=0"))).collect()
}

/// The edges of a graph of full degree made from that of `recipe`; `None` where the missing edges
/// cannot be placed.
///
/// O(n degree), and O(degree) for each of at most [`TRIES`] tries an edge.
pub(super) fn start(
    problem: OrderDegreeProblem,
    recipe: &str,
    random: &mut RandomStream,
) -> Option<Vec<OrbitEdge>> {
    let (n, d) = (problem.order() as usize, problem.degree() as usize);
    let mut rows = rows(recipe)?;
    if rows.len() > n {
        rows = kept(&rows, n);
    }
    rows.resize(n, Vec::new());
    trim(&mut rows, d);
    fill(&mut rows, d, random)?;
    let pairs = rows.iter().enumerate();
    let both = pairs.flat_map(|(v, row)| row.iter().map(move |&w| (v as u32, w)));
    Some(both.filter(|(v, w)| v < w).collect())
}

/// The neighbours of each switch of the network of `recipe`.
fn rows(recipe: &str) -> Option<Vec<Vec<u32>>> {
    let recipe = parse_inline(recipe).ok()?;
    let built = family(&recipe.family).ok()?.build(&recipe.params).ok()?;
    Some((0..built.switches().len()).map(|v| built.graph().neighbours(v).to_vec()).collect())
}

/// The subgraph of the last `n` vertices, in the order of a search from a vertex of least degree:
/// in a polarity graph one that is orthogonal to itself.
fn kept(rows: &[Vec<u32>], n: usize) -> Vec<Vec<u32>> {
    let first = (0..rows.len()).min_by_key(|&v| rows[v].len()).unwrap_or(0);
    let mut order = vec![first as u32];
    let mut place = vec![u32::MAX; rows.len()];
    place[first] = 0;
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

/// Removes edges from vertices above the degree, first those between two such vertices.
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

/// Gives every vertex the full degree (all but one where that is odd), by edges between two
/// vertices that lack one, or by splitting an edge.
fn fill(rows: &mut [Vec<u32>], d: usize, random: &mut RandomStream) -> Option<()> {
    loop {
        let mut short: Vec<u32> = (0..rows.len() as u32)
            .flat_map(|v| std::iter::repeat_n(v, d - rows[v as usize].len()))
            .collect();
        if short.len() < 2 {
            return Some(());
        }
        random.shuffle(&mut short);
        let apart = |rows: &[Vec<u32>], a: u32, b: u32| a != b && !rows[a as usize].contains(&b);
        // the vertex that lacks most edges comes first, so that new vertices are joined to old ones
        // and not to each other
        let a = short.iter().copied().min_by_key(|&v| rows[v as usize].len()).unwrap_or(short[0]);
        if let Some(b) = short.iter().copied().find(|&b| apart(rows, a, b)) {
            rows[a as usize].push(b);
            rows[b as usize].push(a);
            continue;
        }
        let b = if short[0] == a { short[1] } else { short[0] };
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
    use crate::search::orbits::SymmetricGraph;
    use crate::search::reach::MultiSourceDistanceSearch;

    /// The Hoffman-Singleton graph has 50 vertices of degree 7, the polarity graphs of 7 and 8 have
    /// 57 and 73.
    #[test]
    fn recipes_are_the_next_below_and_above() {
        let of = |n, d| recipes(OrderDegreeProblem::new(n, d).unwrap());
        assert_eq!(of(64, 8), ["slim_fly:q=5,p=0", "polar_fly:q=8,p=0"]);
        assert_eq!(of(50, 7), ["slim_fly:q=5,p=0", "polar_fly:q=7,p=0"]);
        assert_eq!(of(49, 7)[0], "slim_fly:q=4,p=0", "32 vertices of degree 6");
        assert!(of(66, 8).is_empty(), "above the Moore bound of diameter 2");
        assert!(of(9, 8).is_empty(), "complete");
        let exact = start(OrderDegreeProblem::new(50, 7).unwrap(), "slim_fly:q=5,p=0", &mut any());
        let graph =
            SymmetricGraph::new(OrderDegreeProblem::new(50, 7).unwrap(), 1, &exact.unwrap())
                .unwrap();
        assert_eq!(
            MultiSourceDistanceSearch::default().score(&graph).diameter,
            Some(2),
            "nothing to cut or to fill"
        );
    }

    fn any() -> RandomStream {
        RandomStream::new(1, "starts", 0)
    }

    #[test]
    fn starts_have_the_order_and_the_full_degree() {
        let mut made = 0;
        for n in 3..140 {
            for d in 2..13.min(n) {
                let problem = OrderDegreeProblem::new(n, d).unwrap();
                for recipe in recipes(problem) {
                    let Some(edges) = start(problem, &recipe, &mut any()) else { continue };
                    made += 1;
                    let graph = SymmetricGraph::new(problem, 1, &edges).expect("a simple graph");
                    let ends: usize = (0..n).map(|v| graph.neighbours(v).count()).sum();
                    assert_eq!(
                        ends,
                        (n * d) as usize - usize::from(problem.is_odd()),
                        "({n}, {d})"
                    );
                }
            }
        }
        assert!(made > 300, "{made}");
    }
}
