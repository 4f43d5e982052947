//! `BookSim`'s networks: its numbers of routers, ports and endpoints, and its latencies.
//!
//! Source: `BookSim` 2, files `kncube`, `flatfly_onchip`, `fattree`, `dragonfly` and `anynet` of
//! src/networks. If `BookSim` numbers the input and the output of a port differently, both have the
//! number of the output here.

use base::Refusal;
use paths::wiring::{CableEnd, Port, RouterWiring};

/// Most ports of a router.
const MOST_PORTS: u64 = 1 << 16;

/// A mesh of k^n routers. Digit d of a router's number to the base k is its coordinate in dimension
/// d. Port 2 d leads up in dimension d, port 2 d + 1 down, port 2 n to the endpoint; at the rim,
/// ports that would lead out are not cabled. All wires have latency 1.
///
/// # Errors
/// When a router would have more than 65536 ports.
pub fn mesh(k: u32, n: u32) -> Result<RouterWiring, Refusal> {
    cube(k, n, false, 1)
}

/// A torus of k^n routers, numbered as in a [`mesh`]. With `wires` links have latency 2, as in
/// `BookSim`'s placement, else 1.
///
/// # Errors
/// As [`mesh`].
pub fn torus(k: u32, n: u32, wires: bool) -> Result<RouterWiring, Refusal> {
    cube(k, n, true, if wires { 2 } else { 1 })
}

fn cube(k: u32, n: u32, round: bool, latency: u32) -> Result<RouterWiring, Refusal> {
    few_ports("n", 2 * u64::from(n) + 1)?;
    let row = |router: u32| {
        let mut ports = Vec::new();
        for d in 0..n {
            let at = digit(router, k, d);
            for up in [true, false] {
                let to = if up { (at + 1) % k } else { (at + k - 1) % k };
                let rim = !round && (if up { to < at } else { to > at });
                let end = CableEnd::Router {
                    router: with_digit(router, k, d, to),
                    port: (2 * d + u32::from(up)) as u16,
                };
                ports.push(link(if rim { CableEnd::Empty } else { end }, latency));
            }
        }
        ports.push(endpoint(router, 1));
        ports
    };
    Ok(wired((0..k.pow(n)).map(row)))
}

/// A flattened butterfly of k^n routers with xr * xr endpoints each.
///
/// `BookSim`'s placement puts routers in rows of x, with the endpoints of each in a square around
/// it: endpoint (i, j) of router (X, Y) has the number (x xr) (xr Y + j) + xr X + i and is on port
/// xr j + i. The ports behind these lead, dimension by dimension, to each other router by ascending
/// coordinate. With `wires` latencies are the distances of the placement, else 1.
///
/// # Errors
/// When a router would have more than 65536 ports.
pub fn flatfly(k: u32, n: u32, x: u32, xr: u32, wires: bool) -> Result<RouterWiring, Refusal> {
    let c = xr * xr;
    few_ports("k", u64::from(c) + u64::from(n) * u64::from(k - 1))?;
    // distance of the i-th of xr places from the middle, where the nearest places count 0
    let off = |i: u32| if xr % 2 == 1 { i.abs_diff(xr / 2).max(1) } else { aside(i, xr / 2) } - 1;
    let row = |router: u32| {
        let (column, line) = (router % x, router / x);
        let mut ports = Vec::new();
        for (j, i) in (0..xr).flat_map(|j| (0..xr).map(move |i| (j, i))) {
            let number = (x * xr) * (xr * line + j) + xr * column + i;
            ports.push(endpoint(number, if wires { 1 + off(i) + off(j) } else { 1 }));
        }
        for d in 0..n {
            let at = digit(router, k, d);
            for to in (0..k).filter(|to| *to != at) {
                let other = with_digit(router, k, d, to);
                let far = xr * (column.abs_diff(other % x) + line.abs_diff(other / x));
                let end = CableEnd::Router { router: other, port: flatfly_port(k, c, d, to, at) };
                ports.push(link(end, if wires { far } else { 1 }));
            }
        }
        ports
    };
    Ok(wired((0..k.pow(n)).map(row)))
}

/// Distance of place i from the middle of a row of 2 * `half`; it is 1 for the two middle places.
fn aside(i: u32, half: u32) -> u32 {
    if i < half { half - i } else { i - half + 1 }
}

/// The port of a flattened butterfly's router with coordinate `at` in dimension d that leads to
/// coordinate `to`.
pub(super) fn flatfly_port(k: u32, c: u32, d: u32, at: u32, to: u32) -> u16 {
    (c + (k - 1) * d + if to < at { to } else { to - 1 }) as u16
}

/// A k-ary n-tree: n levels of k^(n-1) routers, the top one numbered first.
///
/// Ports 0 to k - 1 lead down, those of the lowest level to endpoints; k to 2 k - 1 lead up. Up
/// port q of level l leads to the router of level l - 1 where digit n - 1 - l of the position is
/// q. All wires have latency 1.
///
/// # Errors
/// When a router would have more than 65536 ports.
pub fn fattree(k: u32, n: u32) -> Result<RouterWiring, Refusal> {
    few_ports("k", 2 * u64::from(k))?;
    let across = k.pow(n - 1);
    let row = |router: u32| {
        let (level, position) = (router / across, router % across);
        let mut ports = Vec::new();
        for down in 0..k {
            if level == n - 1 {
                ports.push(endpoint(k * position + down, 1));
                continue;
            }
            let d = n - 2 - level;
            let below = (level + 1) * across + with_digit(position, k, d, down);
            let port = k + digit(position, k, d);
            ports.push(link(CableEnd::Router { router: below, port: port as u16 }, 1));
        }
        for up in (0..k).filter(|_| level > 0) {
            let d = n - 1 - level;
            let above = (level - 1) * across + with_digit(position, k, d, up);
            let port = digit(position, k, d) as u16;
            ports.push(link(CableEnd::Router { router: above, port }, 1));
        }
        ports
    };
    Ok(wired((0..n * across).map(row)))
}

/// `dragonflynew`: groups of a = 2 p routers with p endpoints and p global links each, a p + 1
/// groups.
///
/// Ports 0 to p - 1 lead to endpoints, then a - 1 to the other routers of the group by ascending
/// number (latency 10), then p to other groups (latency 100).
///
/// # Errors
/// When a router would have more than 65536 ports.
pub fn dragonfly(p: u32) -> Result<RouterWiring, Refusal> {
    few_ports("k", 4 * u64::from(p))?;
    let (a, groups) = (2 * p, 2 * p * p + 1);
    let row = |router: u32| {
        let (group, at) = (router / a, router % a);
        let mut ports: Vec<Port> = (0..p).map(|i| endpoint(p * router + i, 1)).collect();
        for to in (0..a).filter(|to| *to != at) {
            let port = p + if at < to { at } else { at - 1 };
            let end = CableEnd::Router { router: group * a + to, port: port as u16 };
            ports.push(link(end, 10));
        }
        for i in 0..p {
            let out = p * at + i;
            let to = if out < group { out } else { out + 1 };
            let back = if group < to { group } else { group - 1 };
            let port = (p + a - 1 + back % p) as u16;
            ports.push(link(CableEnd::Router { router: to * a + back / p, port }, 100));
        }
        ports
    };
    Ok(wired((0..groups * a).map(row)))
}

/// The network of a file. `neighbours` lists for each router its neighbours, ascending, with the
/// latency of the channel to them; `endpoints` lists its endpoints, which have its first ports.
/// Every neighbour lists the router in turn.
///
/// # Errors
/// When a router would have more than 65536 ports.
///
/// # Panics
/// When a neighbour does not name the router back, or endpoints are not 0 to n - 1, each once.
pub fn anynet(
    neighbours: &[Vec<(u32, u32)>],
    endpoints: &[Vec<u32>],
) -> Result<RouterWiring, Refusal> {
    for (row, here) in neighbours.iter().zip(endpoints) {
        few_ports("router", (row.len() + here.len()) as u64)?;
    }
    let row = |router: u32| {
        let mut ports: Vec<Port> =
            endpoints[router as usize].iter().map(|e| endpoint(*e, 1)).collect();
        for &(to, latency) in &neighbours[router as usize] {
            let back = neighbours[to as usize].binary_search_by_key(&router, |(r, _)| *r);
            let back = back.expect("neighbours name one another");
            let port = (endpoints[to as usize].len() + back) as u16;
            ports.push(link(CableEnd::Router { router: to, port }, latency));
        }
        ports
    };
    Ok(wired((0..neighbours.len() as u32).map(row)))
}

/// Digit d of a number to the base k.
pub(super) fn digit(number: u32, k: u32, d: u32) -> u32 {
    number / k.pow(d) % k
}

/// The number with digit d to the base k replaced by `value`.
pub(super) fn with_digit(number: u32, k: u32, d: u32, value: u32) -> u32 {
    number - digit(number, k, d) * k.pow(d) + value * k.pow(d)
}

fn wired(rows: impl Iterator<Item = Vec<Port>>) -> RouterWiring {
    RouterWiring::new(&rows.collect::<Vec<_>>())
}

fn link(end: CableEnd, latency: u32) -> Port {
    Port { end, out_latency: latency, in_latency: 1 }
}

fn endpoint(number: u32, latency: u32) -> Port {
    Port { end: CableEnd::Endpoint(number), out_latency: latency, in_latency: latency }
}

fn few_ports(param: &str, ports: u64) -> Result<(), Refusal> {
    if ports > MOST_PORTS {
        let why = format!("a router would have {ports} ports");
        return Err(Refusal::new(param, why, format!("at most {MOST_PORTS}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For each router its distance in links from `from`, by breadth-first search; -1 if
    /// unreachable.
    fn distances(w: &RouterWiring, from: u32) -> Vec<i64> {
        let mut far = vec![-1; w.routers() as usize];
        far[from as usize] = 0;
        let mut open = std::collections::VecDeque::from([from]);
        while let Some(at) = open.pop_front() {
            for port in w.ports(at) {
                if let CableEnd::Router { router, .. } = port.end
                    && far[router as usize] < 0
                {
                    far[router as usize] = far[at as usize] + 1;
                    open.push_back(router);
                }
            }
        }
        far
    }

    fn diameter(w: &RouterWiring) -> i64 {
        (0..w.routers()).flat_map(|r| distances(w, r)).max().unwrap()
    }

    fn links(w: &RouterWiring, latency: u32) -> usize {
        let all = (0..w.routers()).flat_map(|r| w.ports(r));
        all.filter(|p| matches!(p.end, CableEnd::Router { .. }) && p.out_latency == latency).count()
    }

    fn coordinates(mut id: u32, k: u32, n: u32) -> Vec<i64> {
        let mut found = Vec::new();
        for _ in 0..n {
            found.push(i64::from(id % k));
            id /= k;
        }
        found
    }

    #[test]
    fn cubes_have_the_distances_of_their_coordinates() {
        for (k, n) in [(2, 1), (3, 2), (4, 3), (5, 2), (2, 4)] {
            let (m, t) = (mesh(k, n).unwrap(), torus(k, n, true).unwrap());
            for (w, round) in [(&m, false), (&t, true)] {
                for a in 0..w.routers() {
                    let far = distances(w, a);
                    for b in 0..w.routers() {
                        let pairs = coordinates(a, k, n).into_iter().zip(coordinates(b, k, n));
                        let steps = pairs.map(|(x, y)| {
                            let d = (x - y).abs();
                            if round { d.min(i64::from(k) - d) } else { d }
                        });
                        assert_eq!(far[b as usize], steps.sum::<i64>(), "{k}^{n}: {a} {b}");
                    }
                }
            }
            // a mesh has k^(n-1) (k - 1) links in each dimension, in both directions; a torus has
            // k^n
            let across = k.pow(n - 1);
            assert_eq!(links(&m, 1) as u32, 2 * n * across * (k - 1));
            assert_eq!(links(&t, 2) as u32, 2 * n * across * k);
            assert_eq!(links(&torus(k, n, false).unwrap(), 1) as u32, 2 * n * across * k);
        }
        let t = torus(4, 2, false).unwrap();
        // 7 is (3, 1): up in x is (0, 1) = 4, down is 6, up in y is (3, 2) = 11, down 3
        let ends: Vec<_> = t.ports(7).iter().map(|p| p.end).collect();
        let to = |router, port| CableEnd::Router { router, port };
        assert_eq!(ends, [to(4, 1), to(6, 0), to(11, 3), to(3, 2), CableEnd::Endpoint(7)]);
    }

    #[test]
    fn flattened_butterflies_are_complete_in_each_dimension() {
        for (k, n, x, xr) in [(4, 2, 4, 2), (5, 2, 5, 2), (8, 1, 8, 2), (3, 3, 3, 1), (2, 2, 2, 3)]
        {
            let w = flatfly(k, n, x, xr, true).unwrap();
            assert_eq!(w.endpoints().len() as u32, k.pow(n) * xr * xr);
            assert_eq!(diameter(&w), i64::from(n));
            for a in 0..w.routers() {
                assert_eq!(w.ports(a).len() as u32, xr * xr + n * (k - 1));
                let far = distances(&w, a);
                for b in 0..w.routers() {
                    let pairs = coordinates(a, k, n).into_iter().zip(coordinates(b, k, n));
                    let differ = pairs.filter(|(x, y)| x != y).count();
                    assert_eq!(far[b as usize], differ as i64);
                    let Some(port) = w.port_to(a, b) else { continue };
                    // a grid of x routers a row, each xr by xr places wide
                    let place = |r: u32| (i64::from(r % x * xr), i64::from(r / x * xr));
                    let ((ax, ay), (bx, by)) = (place(a), place(b));
                    let length = (ax - bx).abs() + (ay - by).abs();
                    assert_eq!(i64::from(w.ports(a)[usize::from(port)].out_latency), length);
                }
            }
            assert_eq!(
                links(&flatfly(k, n, x, xr, false).unwrap(), 1) as u32,
                k.pow(n) * n * (k - 1)
            );
        }
        // the endpoints of a router form a square in the grid of all endpoints: 8 in a row for x 4,
        // xr 2
        let w = flatfly(4, 2, 4, 2, false).unwrap();
        let on = |r: u32| {
            let ends = w.ports(r).iter().filter_map(|p| match p.end {
                CableEnd::Endpoint(e) => Some(e),
                _ => None,
            });
            ends.collect::<Vec<_>>()
        };
        assert_eq!(
            (on(0), on(1), on(4)),
            (vec![0, 1, 8, 9], vec![2, 3, 10, 11], vec![16, 17, 24, 25])
        );
    }

    #[test]
    fn endpoints_of_a_flattened_butterfly_stand_around_their_router() {
        // BookSim counts 1 for the places beside the middle, and 1 for each place farther
        let latencies = |xr: u32| -> Vec<u32> {
            let w = flatfly(2, 1, 2, xr, true).unwrap();
            w.ports(0)[..(xr * xr) as usize].iter().map(|p| p.out_latency).collect()
        };
        assert_eq!(latencies(1), [1]);
        assert_eq!(latencies(2), [1; 4]);
        assert_eq!(latencies(3), [1; 9]);
        assert_eq!(latencies(4), [3, 2, 2, 3, 2, 1, 1, 2, 2, 1, 1, 2, 3, 2, 2, 3]);
        assert_eq!(latencies(5)[..5], [3, 2, 2, 2, 3]);
    }

    #[test]
    fn trees_have_k_parents_and_reach_all_leaves_below() {
        for (k, n) in [(2, 3), (4, 3), (8, 2), (3, 4), (3, 1)] {
            let w = fattree(k, n).unwrap();
            let across = k.pow(n - 1);
            assert_eq!((w.routers(), w.endpoints().len() as u32), (n * across, k.pow(n)));
            for r in 0..w.routers() {
                let (level, ports) = (r / across, w.ports(r));
                assert_eq!(ports.len() as u32, if level == 0 { k } else { 2 * k });
                for (i, p) in (0..).zip(ports) {
                    match p.end {
                        CableEnd::Endpoint(e) => {
                            assert_eq!((level, e), (n - 1, r % across * k + i));
                        }
                        CableEnd::Router { router, .. } if i < k => {
                            assert_eq!(router / across, level + 1);
                        }
                        CableEnd::Router { router, .. } => assert_eq!(router / across, level - 1),
                        CableEnd::Empty => panic!("nothing is left out"),
                    }
                }
            }
            // leaves whose positions differ first in digit d (from the top) meet d levels up
            for a in 0..across {
                let far = distances(&w, (n - 1) * across + a);
                for b in 0..across {
                    let (mut a, mut b, mut up) = (a, b, 0);
                    let to = (n - 1) * across + b;
                    while a != b {
                        (a, b, up) = (a / k, b / k, up + 1);
                    }
                    assert_eq!(far[to as usize], 2 * up);
                }
            }
        }
    }

    #[test]
    fn dragonflies_have_one_link_between_groups() {
        for p in 1..=3 {
            let w = dragonfly(p).unwrap();
            let (a, groups) = (2 * p, 2 * p * p + 1);
            assert_eq!(w.routers(), a * groups);
            assert_eq!(w.endpoints().len() as u32, a * p * groups);
            assert!(diameter(&w) <= 3);
            assert_eq!(links(&w, 10) as u32, groups * a * (a - 1));
            assert_eq!(links(&w, 100) as u32, groups * (groups - 1));
            let mut pairs = std::collections::BTreeSet::new();
            for r in 0..w.routers() {
                for (i, port) in (0..).zip(w.ports(r)) {
                    let CableEnd::Router { router, .. } = port.end else { continue };
                    let (from, to) = (r / a, router / a);
                    assert_eq!(from == to, port.out_latency == 10);
                    if from != to {
                        assert!(pairs.insert((from, to)), "{from} to {to} twice");
                        // the rule: x is the index of the other group among all groups but the own
                        // one
                        let x = (0..groups).filter(|g| *g != from).position(|g| g == to).unwrap();
                        assert_eq!((r % a, i), (x as u32 / p, p + a - 1 + x as u32 % p));
                    }
                }
            }
        }
    }

    #[test]
    fn files_have_their_latencies_in_each_direction() {
        let neighbours = [vec![(1, 3), (2, 1)], vec![(0, 1)], vec![(0, 7)]];
        let w = anynet(&neighbours, &[vec![1, 2], vec![], vec![0]]).unwrap();
        assert_eq!(w.ports(0)[2], link(CableEnd::Router { router: 1, port: 0 }, 3));
        assert_eq!(w.ports(2)[1], link(CableEnd::Router { router: 0, port: 3 }, 7));
        assert_eq!((w.in_latency(0, 3), w.in_latency(2, 1)), (7, 1));
        assert_eq!(w.endpoints()[0].router, 2);
        let row = (0..70_000).collect::<Vec<_>>();
        assert!(anynet(&[vec![]], &[row]).is_err());
    }
}
