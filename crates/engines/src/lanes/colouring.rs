//! Graph colouring: neighbours get different colours.
//!
//! Source: Brelaz, "New methods to color the vertices of a graph", Communications of the ACM 22(4),
//! 1979 (DSATUR).

/// A colour for every vertex, from 0 on: by first fit in the order of vertices, or by DSATUR where
/// that takes fewer colours. `neighbours` lists those of each vertex. O(n^2 + arcs * colours), n
/// vertices.
pub(super) fn colours(neighbours: &[Vec<u32>]) -> Vec<u32> {
    let (plain, saturated) = (first_fit(neighbours), dsatur(neighbours));
    if count(&saturated) < count(&plain) { saturated } else { plain }
}

/// The number of colours in use.
pub(super) fn count(colours: &[u32]) -> u32 {
    colours.iter().max().map_or(0, |most| most + 1)
}

const NONE: u32 = u32::MAX;

fn least_free(v: usize, neighbours: &[Vec<u32>], colour: &[u32]) -> u32 {
    let taken: Vec<u32> = neighbours[v].iter().map(|&w| colour[w as usize]).collect();
    let most = taken.len() as u32;
    (0..=most).find(|c| !taken.contains(c)).expect("one more colour than neighbours")
}

fn first_fit(neighbours: &[Vec<u32>]) -> Vec<u32> {
    let mut colour = vec![NONE; neighbours.len()];
    for v in 0..colour.len() {
        colour[v] = least_free(v, neighbours, &colour);
    }
    colour
}

/// DSATUR: colours next the vertex whose neighbours have the most colours, among several the one
/// with the most neighbours.
fn dsatur(neighbours: &[Vec<u32>]) -> Vec<u32> {
    let n = neighbours.len();
    let mut colour = vec![NONE; n];
    let mut seen: Vec<Vec<u32>> = vec![Vec::new(); n];
    for _ in 0..n {
        let open = (0..n).rev().filter(|&v| colour[v] == NONE);
        let next = open.max_by_key(|&v| (seen[v].len(), neighbours[v].len()));
        let v = next.expect("a vertex is left");
        let own = least_free(v, neighbours, &colour);
        colour[v] = own;
        for &w in &neighbours[v] {
            if !seen[w as usize].contains(&own) {
                seen[w as usize].push(own);
            }
        }
    }
    colour
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::seed::RandomStream;
    use proptest::prelude::*;

    fn graph(n: usize, links: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new(); n];
        for (a, b) in links {
            all[a].push(b as u32);
            all[b].push(a as u32);
        }
        all
    }

    fn proper(neighbours: &[Vec<u32>], colour: &[u32]) -> bool {
        let differs = |v: usize| neighbours[v].iter().all(|&w| colour[w as usize] != colour[v]);
        (0..colour.len()).all(differs)
    }

    #[test]
    fn known_chromatic_numbers_are_met() {
        let even = graph(8, (0..8).map(|v| (v, (v + 1) % 8)));
        let odd = graph(7, (0..7).map(|v| (v, (v + 1) % 7)));
        let complete = graph(6, (0..6).flat_map(|a| (0..a).map(move |b| (a, b))));
        for (neighbours, least) in
            [(even, 2), (odd, 3), (complete, 6), (graph(3, [].into_iter()), 1)]
        {
            let found = colours(&neighbours);
            assert!(proper(&neighbours, &found));
            assert_eq!(count(&found), least);
        }
        // a crown graph: in this order first fit takes 5 colours where two suffice, which DSATUR
        // finds
        let crown = graph(
            10,
            (0..5).flat_map(|a| (0..5).filter(move |b| *b != a).map(move |b| (2 * a, 2 * b + 1))),
        );
        assert_eq!(count(&first_fit(&crown)), 5);
        assert_eq!(count(&colours(&crown)), 2);
        assert_eq!(count(&colours(&[])), 0);
    }

    proptest! {
        #[test]
        fn neighbours_differ(n in 1_usize..40, links in 0_usize..200, seed in any::<u64>()) {
            let mut s = RandomStream::new(seed, "graph", 0);
            let mut draw = || s.below(n as u64) as usize;
            let pairs: Vec<(usize, usize)> = (0..links).map(|_| (draw(), draw())).collect();
            let neighbours = graph(n, pairs.into_iter().filter(|(a, b)| a != b));
            let found = colours(&neighbours);
            prop_assert!(proper(&neighbours, &found));
            let most = neighbours.iter().map(Vec::len).max().unwrap_or(0) as u32;
            prop_assert!(count(&found) <= most + 1);
        }
    }
}
