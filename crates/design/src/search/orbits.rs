//! Graphs with rotational symmetry, and the edge exchanges that keep it and every degree.
//!
//! The rotation maps vertex v to v + n / g. Edges are added and removed by whole orbits of the
//! rotation. With g = 1 every edge is an orbit and the exchange is the plain 2-opt.
//!
//! Source: Kitasuka, Matsuzaki and Iida, "Order adjustment approach using Cayley graphs for the
//! order/degree problem", IEICE Transactions E101-D, 2018, and Nakao, Sakai, Hanada, Murai and
//! Sato, "Graph optimization algorithm for low-latency interconnection networks", Parallel
//! Computing 106, 2021: graph symmetry in the search.

use super::OrderDegreeProblem;
use base::seed::RandomStream;

/// An edge that stands for its orbit.
pub(super) type OrbitEdge = (u32, u32);

/// A graph of `n` vertices that is mapped to itself by a rotation of `n / g` vertices.
#[derive(Debug, Clone)]
pub(super) struct SymmetricGraph {
    n: u32,
    g: u32,
    /// One edge of each orbit.
    edges: Vec<OrbitEdge>,
    /// The neighbours of the base vertices: `width` places per vertex, the first `degree[v]` in
    /// use.
    adjacent: Vec<u32>,
    degree: Vec<u32>,
    width: usize,
    /// For each vertex: the base vertex that rotates to it, and by how much.
    home: Vec<(u32, u32)>,
}

/// An exchange of at most two orbits for at most two others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EdgeOrbitExchange {
    /// The orbits that are removed.
    pub out: [Option<OrbitEdge>; 2],
    /// The orbits that are added.
    pub into: [Option<OrbitEdge>; 2],
}

impl SymmetricGraph {
    /// The graph of these orbits; `None` when an edge is a loop, occurs twice, is out of range or
    /// makes a degree too high, or when `g` does not divide the number of vertices.
    pub(super) fn new(problem: OrderDegreeProblem, g: u32, edges: &[OrbitEdge]) -> Option<Self> {
        let n = problem.order();
        if g == 0 || !n.is_multiple_of(g) {
            return None;
        }
        let width = problem.degree() as usize;
        let base = n / g;
        let mut graph = Self {
            n,
            g,
            edges: Vec::new(),
            adjacent: vec![0; base as usize * width],
            degree: vec![0; base as usize],
            width,
            home: (0..n).map(|v| (v % base, v / base * base)).collect(),
        };
        for &(a, b) in edges {
            let fits = a < n && b < n && a != b && !graph.has((a, b));
            if !fits || !graph.has_room((a, b)) {
                return None;
            }
            graph.link((a, b));
        }
        Some(graph)
    }

    /// The circulant graph of the offsets 1, 2, ...: it has every symmetry.
    ///
    /// Where order and degree are odd (and `g` is 1) a last, odd degree comes from every other edge
    /// of the ring of offset (n - 1) / 2, and one vertex stays below it.
    pub(super) fn circulant(problem: OrderDegreeProblem, g: u32) -> Self {
        let (n, d) = (problem.order(), problem.degree());
        let base = n / g;
        let mut edges: Vec<OrbitEdge> =
            (1..=d / 2).flat_map(|offset| (0..base).map(move |v| (v, (v + offset) % n))).collect();
        if d % 2 == 1 && n % 2 == 0 {
            let half = n / 2;
            // with odd g a half turn is another name of the same orbit
            edges.extend(
                (0..if g.is_multiple_of(2) { base } else { base / 2 }).map(|v| (v, v + half)),
            );
        } else if d % 2 == 1 {
            let step = n / 2;
            let at = |i: u32| (u64::from(i) * u64::from(step) % u64::from(n)) as u32;
            edges.extend((0..n / 2).map(|i| (at(2 * i), at(2 * i + 1))));
        }
        Self::new(problem, g, &edges).expect("offsets differ, and turning keeps each")
    }

    pub(super) fn order(&self) -> usize {
        self.n as usize
    }

    /// The number of base vertices: all others are rotations of the vertices `0..base`.
    pub(super) fn base(&self) -> usize {
        (self.n / self.g) as usize
    }

    pub(super) fn symmetry(&self) -> u32 {
        self.g
    }

    /// The orbits, one edge each.
    pub(super) fn edges(&self) -> &[OrbitEdge] {
        &self.edges
    }

    /// The base vertex that rotates to `v`, and by how many vertices it rotates.
    #[inline]
    pub(super) fn home(&self, v: u32) -> (u32, u32) {
        self.home[v as usize]
    }

    /// The neighbours of `v`.
    #[inline]
    pub(super) fn neighbours(&self, v: u32) -> impl Iterator<Item = u32> + '_ {
        let (base, turn) = self.home[v as usize];
        self.row(base).iter().map(move |&w| self.turned(w, turn))
    }

    /// The neighbours of a base vertex.
    #[inline]
    fn row(&self, base: u32) -> &[u32] {
        let base = base as usize;
        &self.adjacent[base * self.width..][..self.degree[base] as usize]
    }

    /// Every edge once, the smaller end first, sorted.
    pub(super) fn all_edges(&self) -> Vec<OrbitEdge> {
        let mut all: Vec<OrbitEdge> = (0..self.n)
            .flat_map(|v| self.neighbours(v).map(move |w| (v, w)))
            .filter(|(v, w)| v < w)
            .collect();
        all.sort_unstable();
        all
    }

    /// Whether a rotation maps `(a, b)` to its own reverse. Such an orbit gives each vertex one
    /// edge; other orbits give one edge to each of two vertices, or two edges to one.
    #[inline]
    pub(super) fn is_half(&self, (a, b): OrbitEdge) -> bool {
        self.g.is_multiple_of(2) && a.abs_diff(b) * 2 == self.n
    }

    #[inline]
    pub(super) fn has(&self, (a, b): OrbitEdge) -> bool {
        let (base, turn) = self.home[a as usize];
        self.row(base).contains(&self.turned_back(b, turn))
    }

    fn has_room(&self, edge: OrbitEdge) -> bool {
        let ([a, b], room) = (self.homes(edge), self.width as u32);
        let twice = u32::from(a == b && !self.is_half(edge));
        self.degree[a] + twice < room && self.degree[b] < room
    }

    fn homes(&self, (a, b): OrbitEdge) -> [usize; 2] {
        [a, b].map(|v| self.home[v as usize].0 as usize)
    }

    #[inline]
    fn turned_back(&self, v: u32, by: u32) -> u32 {
        if v >= by { v - by } else { v + self.n - by }
    }

    #[inline]
    fn turned(&self, v: u32, by: u32) -> u32 {
        let w = v + by;
        if w >= self.n { w - self.n } else { w }
    }

    fn link(&mut self, edge: OrbitEdge) {
        self.edges.push(edge);
        for (v, w) in self.arcs(edge).into_iter().flatten() {
            self.adjacent[v * self.width + self.degree[v] as usize] = w;
            self.degree[v] += 1;
        }
    }

    /// Removes the orbit from the rows. The caller updates the list of orbits.
    fn unlink(&mut self, edge: OrbitEdge) {
        for (v, w) in self.arcs(edge).into_iter().flatten() {
            let row = &mut self.adjacent[v * self.width..][..self.degree[v] as usize];
            if let Some(at) = row.iter().position(|&x| x == w) {
                row.swap(at, row.len() - 1);
                self.degree[v] -= 1;
            }
        }
    }

    /// The arcs of an orbit that leave the base: one for a half orbit, else two.
    fn arcs(&self, edge: OrbitEdge) -> [Option<(usize, u32)>; 2] {
        let (a, b) = edge;
        let arc = |from: u32, to: u32| {
            let (base, turn) = self.home[from as usize];
            Some((base as usize, self.turned_back(to, turn)))
        };
        [arc(a, b), if self.is_half(edge) { None } else { arc(b, a) }]
    }

    /// Draws a random exchange of edges. `None` when the draw makes a loop, a double edge or a
    /// wrong degree, or changes nothing. O(degree).
    pub(super) fn draw(&self, random: &mut RandomStream) -> Option<DrawnOrbitExchange> {
        let count = self.edges.len() as u64;
        let (i, j) = (random.below(count) as usize, random.below(count) as usize);
        let bits = random.next_u64();
        let by = (self.n / self.g) * ((u128::from(bits) * u128::from(self.g)) >> 64) as u32;
        let flip = bits & 1 == 1;
        let (a, b) = self.edges[i];
        let (c, d) = if flip { (self.edges[j].1, self.edges[j].0) } else { self.edges[j] };
        let (c, d) = (self.turned(c, by), self.turned(d, by));
        let halves = (self.is_half((a, b)), self.is_half((c, d)));
        let across = |v: u32| (v, self.turned(v, self.n / 2));
        let into = match halves {
            _ if i == j && halves.0 => return None,
            // an orbit is exchanged for itself with its far end rotated, or for two half-turn
            // orbits
            _ if i == j && by == 0 && self.g.is_multiple_of(2) => {
                [Some(across(a)), Some(across(b))]
            }
            _ if i == j => [Some((a, self.turned(b, by))), None],
            (false, false) => [Some((a, d)), Some((b, c))],
            (true, true) => [Some((a, c)), None],
            (true, false) => [Some((a, c)), Some(across(d))],
            (false, true) => [Some((c, a)), Some(across(b))],
        };
        let out = [Some(self.edges[i]), (i != j).then(|| self.edges[j])];
        let drawn = DrawnOrbitExchange { at: [i, j], exchange: EdgeOrbitExchange { out, into } };
        self.keeps_degrees(&drawn.exchange).then_some(drawn)
    }

    /// Whether the new orbits are edges that do not exist yet, and every vertex keeps its degree.
    fn keeps_degrees(&self, exchange: &EdgeOrbitExchange) -> bool {
        let fresh = |&(a, b): &OrbitEdge| a != b && !self.has((a, b));
        if !exchange.into.iter().flatten().all(fresh) {
            return false;
        }
        if let [Some(one), Some(two)] = exchange.into
            && self.same_orbit(one, two)
        {
            return false;
        }
        // a base vertex for every end of a removed edge; the added edges must use each of them once
        let mut ends: [u32; 4] = [u32::MAX; 4];
        let mut count = 0;
        for &edge in exchange.out.iter().flatten() {
            for end in [edge.0, edge.1].into_iter().take(if self.is_half(edge) { 1 } else { 2 }) {
                ends[count] = self.home[end as usize].0;
                count += 1;
            }
        }
        for &edge in exchange.into.iter().flatten() {
            for end in [edge.0, edge.1].into_iter().take(if self.is_half(edge) { 1 } else { 2 }) {
                match ends[..count].iter().position(|&e| e == self.home[end as usize].0) {
                    Some(at) => {
                        count -= 1;
                        ends.swap(at, count);
                    }
                    None => return false,
                }
            }
        }
        count == 0
    }

    fn same_orbit(&self, one: OrbitEdge, (c, d): OrbitEdge) -> bool {
        let arcs = self.arcs(one);
        let (base, turn) = self.home[c as usize];
        arcs.contains(&Some((base as usize, self.turned_back(d, turn))))
    }

    /// Performs an exchange that [`SymmetricGraph::draw`] returned. `see(graph, orbit, added)` is
    /// called for each orbit while the graph has it: before it is removed, and after it is added.
    /// O(g * degree).
    pub(super) fn apply(
        &mut self,
        drawn: &DrawnOrbitExchange,
        mut see: impl FnMut(&Self, OrbitEdge, bool),
    ) {
        for &edge in drawn.exchange.out.iter().flatten() {
            see(self, edge, false);
            self.unlink(edge);
        }
        let [i, j] = drawn.at;
        self.edges.swap_remove(i.max(j));
        if i != j {
            self.edges.swap_remove(i.min(j));
        }
        for &edge in drawn.exchange.into.iter().flatten() {
            self.link(edge);
            see(self, edge, true);
        }
    }

    /// The exchange that undoes `drawn`, the last one performed.
    pub(super) fn reverse(&self, drawn: &DrawnOrbitExchange) -> DrawnOrbitExchange {
        let [one, two] = drawn.exchange.into;
        let last = self.edges.len() - 1;
        let exchange = EdgeOrbitExchange { out: [one, two], into: drawn.exchange.out };
        DrawnOrbitExchange { at: [last, if two.is_some() { last - 1 } else { last }], exchange }
    }
}

/// A drawn exchange, with the positions of the removed orbits in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DrawnOrbitExchange {
    at: [usize; 2],
    /// The exchange of orbits.
    pub exchange: EdgeOrbitExchange,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(graph: &SymmetricGraph, problem: OrderDegreeProblem, missing: usize) {
        let n = problem.order();
        let mut short = 0;
        for v in 0..n {
            let row: Vec<u32> = graph.neighbours(v).collect();
            short += problem.degree() as usize - row.len();
            for &w in &row {
                assert_ne!(w, v);
                assert!(graph.has((w, v)), "both ends know the edge {v} {w}");
                let turned = |x: u32| (x + n / graph.symmetry()) % n;
                assert!(graph.has((turned(v), turned(w))), "turning keeps {v} {w}");
            }
            let mut sorted = row.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), row.len(), "no double edge at {v}");
        }
        assert_eq!(short, missing);
        let again =
            SymmetricGraph::new(problem, graph.symmetry(), graph.edges()).expect("its own list");
        assert_eq!(again.all_edges(), graph.all_edges());
    }

    #[test]
    fn exchanges_keep_degrees_and_the_turn() {
        let cases = [
            (12, 3, 1),
            (12, 3, 2),
            (12, 3, 3),
            (12, 3, 4),
            (12, 3, 12),
            (10, 4, 2),
            (10, 3, 10),
            (9, 3, 1),
            (7, 5, 1),
            (15, 4, 5),
            (18, 5, 6),
            (14, 3, 2),
            (6, 5, 2),
            (2, 1, 2),
        ];
        for (n, d, g) in cases {
            let problem = OrderDegreeProblem::new(n, d).unwrap();
            let mut graph = SymmetricGraph::circulant(problem, g);
            let missing = usize::from(problem.is_odd());
            check(&graph, problem, missing);
            let mut random = RandomStream::new(1, "orbits", u64::from(n * d * g));
            let mut done = 0;
            for _ in 0..2000 {
                if let Some(drawn) = graph.draw(&mut random) {
                    let before = graph.all_edges();
                    graph.apply(&drawn, |_, _, _| {});
                    done += 1;
                    assert_ne!(before, graph.all_edges(), "an exchange changes something");
                    if done % 16 == 0 {
                        check(&graph, problem, missing);
                    }
                }
            }
            assert!(done > 20 || d + 1 >= n || g == n, "({n}, {d}, {g}) moved {done} times");
        }
    }
}
