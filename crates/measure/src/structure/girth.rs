//! Girth: the length of the shortest cycle.
//!
//! Source: Itai & Rodeh, "Finding a minimum circuit in a graph", SIAM J. Comput. 1978. Here every
//! source is removed after its search, together with all switches that are then on no cycle.

use base::{Graph, Interrupted, ProgressWatch};

/// Length of the shortest cycle of `graph` in links, which is 2 with parallel links; `None` for a
/// forest.
///
/// O(switches * links) at worst. Each search stops at the depth at which it cannot find a shorter
/// cycle than the best so far, and all searches stop at a cycle of 3, so networks with triangles
/// take microseconds.
///
/// # Errors
/// [`Interrupted`] when `watch` asks to stop.
pub fn girth(graph: &Graph, watch: &dyn ProgressWatch) -> Result<Option<u32>, Interrupted> {
    if has_parallel_links(graph) {
        return Ok(Some(2));
    }
    let n = graph.switches();
    let mut left: Vec<u32> = (0..n).map(|v| graph.degree(v) as u32).collect();
    let mut search = GirthSearch { dist: vec![u32::MAX; n], from: vec![0; n], queue: Vec::new() };
    for v in 0..n {
        peel(graph, &mut left, v as u32);
    }
    let mut best = u32::MAX;
    for v in 0..n {
        if v % 256 == 0 {
            watch.tick("girth", v as u64, n as u64)?;
        }
        if left[v] == 0 {
            continue;
        }
        best = best.min(search.shortest_cycle(graph, &left, v as u32, best));
        if best == 3 {
            break;
        }
        remove(graph, &mut left, v as u32);
    }
    Ok((best < u32::MAX).then_some(best))
}

fn has_parallel_links(graph: &Graph) -> bool {
    let mut last = vec![u32::MAX; graph.switches()];
    (0..graph.switches()).any(|v| {
        graph
            .neighbours(v)
            .iter()
            .any(|&w| std::mem::replace(&mut last[w as usize], v as u32) == v as u32)
    })
}

/// Removes `v`, and then every switch that has less than two neighbours left.
fn remove(graph: &Graph, left: &mut [u32], v: u32) {
    left[v as usize] = 0;
    for &w in graph.neighbours(v as usize) {
        if left[w as usize] > 0 {
            left[w as usize] -= 1;
            peel(graph, left, w);
        }
    }
}

/// Removes `v` if it has one neighbour left, and so on along the path.
fn peel(graph: &Graph, left: &mut [u32], v: u32) {
    let mut next = Some(v);
    while let Some(v) = next.take().filter(|&v| left[v as usize] == 1) {
        left[v as usize] = 0;
        for &w in graph.neighbours(v as usize) {
            if left[w as usize] > 0 {
                left[w as usize] -= 1;
                next = Some(w);
            }
        }
    }
}

/// A breadth-first search for the shortest cycle through one switch.
struct GirthSearch {
    dist: Vec<u32>,
    from: Vec<u32>,
    queue: Vec<u32>,
}

impl GirthSearch {
    /// A cycle no longer than the shortest one through `source`, if that is shorter than `best`.
    fn shortest_cycle(&mut self, graph: &Graph, left: &[u32], source: u32, best: u32) -> u32 {
        let mut best = best;
        self.dist[source as usize] = 0;
        self.from[source as usize] = source;
        self.queue.push(source);
        let mut head = 0;
        while let Some(&v) = self.queue.get(head) {
            head += 1;
            let d = self.dist[v as usize];
            // a link within this level closes a cycle of 2 d + 1 links, a link to the next level
            // one of 2 d + 2
            if best <= 2 * d + 1 {
                break;
            }
            for &w in graph.neighbours(v as usize) {
                let at = self.dist[w as usize];
                if at == u32::MAX {
                    if best > 2 * d + 2 && left[w as usize] > 0 {
                        self.dist[w as usize] = d + 1;
                        self.from[w as usize] = v;
                        self.queue.push(w);
                    }
                } else if w != self.from[v as usize] {
                    best = best.min(d + at + 1);
                }
            }
        }
        for v in self.queue.drain(..) {
            self.dist[v as usize] = u32::MAX;
        }
        best
    }
}
