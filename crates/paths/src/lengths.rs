//! Distances between routers, in links.

use super::wiring::RouterWiring;

/// The numbers of links of the shortest paths between routers; [`u8::MAX`] where there is no path,
/// or where a path has 255 links or more.
#[derive(Debug, Clone)]
pub struct RouterDistances {
    routers: u32,
    links: Vec<u8>,
}

impl RouterDistances {
    /// Distances between the routers of a wiring.
    pub fn of(wiring: &RouterWiring) -> Self {
        Self::new(wiring.routers(), |at| {
            wiring.ports(at).iter().filter_map(super::wiring::Port::leads_to)
        })
    }

    /// Computes distances by breadth-first search from every router; `next` gives the neighbours of
    /// a router. O(routers^2 * ports) time, one byte for each pair.
    pub fn new<I: Iterator<Item = u32>>(routers: u32, next: impl Fn(u32) -> I) -> Self {
        let mut links = vec![u8::MAX; routers as usize * routers as usize];
        let mut queue = Vec::new();
        for (from, row) in (0..).zip(links.chunks_mut(routers.max(1) as usize)) {
            queue.clear();
            queue.push(from);
            row[from as usize] = 0;
            let mut done = 0;
            while let Some(&at) = queue.get(done) {
                done += 1;
                let far = row[at as usize].saturating_add(1);
                for to in next(at) {
                    if row[to as usize] == u8::MAX && far < u8::MAX {
                        row[to as usize] = far;
                        queue.push(to);
                    }
                }
            }
        }
        Self { routers, links }
    }

    /// The number of links of the shortest path between two routers.
    #[inline]
    pub fn get(&self, from: u32, to: u32) -> u8 {
        self.links[from as usize * self.routers as usize + to as usize]
    }

    /// The number of links between two endpoints over their rails number `rail`; `from` and `to`
    /// are the numbers of the first rails of the two endpoints.
    #[inline]
    pub fn between(&self, wiring: &RouterWiring, from: u32, to: u32, rail: u32) -> u8 {
        let router = |first: u32| wiring.endpoints()[(first + rail) as usize].router;
        self.get(router(from), router(to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn distances_in_a_ring_are_those_of_the_shorter_direction() {
        let params = json!({ "n": 7, "p": 2 });
        let params = params.as_object().expect("a table");
        let t = families::family("ring").and_then(|f| f.build(params)).expect("a ring");
        let wiring = RouterWiring::of(&t, |_| 1).expect("a wiring");
        let lengths = RouterDistances::of(&wiring);
        for a in 0..14_u32 {
            for b in 0..14_u32 {
                let apart = (a / 2).abs_diff(b / 2);
                let wanted = apart.min(7 - apart) as u8;
                assert_eq!(lengths.between(&wiring, a, b, 0), wanted, "{a} {b}");
            }
        }
    }
}
