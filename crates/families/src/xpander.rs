//! Xpander: random lifts of a complete graph.
//!
//! Source: Valadarsky, Shahaf, Dinitz & Schapira, "Xpander: towards optimal-performance
//! datacenters", `CoNEXT` 2016, section 3; 2-lifts and the eigenvalues of signings as in Bilu &
//! Linial, "Lifts, discrepancy and nearly optimal spectral gap", Combinatorica 2006.
//!
//! The switches form d + 1 meta-nodes of `lift` switches each; these are the groups. A random
//! perfect matching joins every two meta-nodes. In the derandomized form, the complete graph is
//! doubled until it is large enough. A doubling makes two switches of each one; a signing says
//! which links become straight (a0-b0, a1-b1) and which crossed (a0-b1, a1-b0), and the new
//! eigenvalues are those of the signed adjacency matrix. The first of 8 random signings is taken
//! whose largest eigenvalue is at most 2 sqrt(d - 1) (Ramanujan); if there is none, the one with
//! the least, as 32 power iterations find it. A network that is not connected is drawn again.
//! Ports: endpoints, then by the meta-node they lead to.

use super::complete::CompleteGraph;
use super::random::{LinkEnds, concentration, connected, distances, in_order};
use super::wish::NetworkWish;
use super::{Family, FamilyPromise, MAX_P, in_range};
use base::seed::RandomStream;
use base::{Refusal, SwitchId};
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Xpander: d + 1 groups of `lift` switches, each switch with one random link to every other group.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Xpander {
    /// Links of a switch.
    pub d: u32,
    /// Switches of a meta-node.
    pub lift: u32,
    /// Number of the random lift; default 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Whether the lift is made of 2-lifts chosen by their eigenvalues; `lift` is then a power of
    /// two. Default false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derandomized: Option<bool>,
    /// Endpoints per switch; default d over the least diameter that this number of switches can
    /// have, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
}

const MAX_D: u32 = 4096;
/// The most switches of a meta-node.
const MAX_LIFT: u32 = 1 << 24;
/// The largest number of links of a derandomized lift: computing its eigenvalues takes time.
const MAX_SIGNED: u64 = 1 << 22;
/// The number of signings tried for a doubling, and of power iterations for each.
const SIGNINGS: u64 = 8;
const ITERATIONS: u32 = 32;

impl Xpander {
    /// The numbers of switches, of links, and of endpoints per switch.
    fn checked(&self) -> Result<(u64, u64, u32), Refusal> {
        // with two links per switch the network would be some number of rings, rarely one
        let d = in_range("d", self.d, 3, MAX_D)?;
        let lift = in_range("lift", self.lift, 1, MAX_LIFT)?;
        let switches = u64::from(d + 1) * u64::from(lift);
        let links = switches * u64::from(d) / 2;
        if switches > 1 << 30 {
            let why = format!("{switches} switches are too many");
            return Err(Refusal::new("lift", why, format!("at most {}", (1 << 30) / (d + 1))));
        }
        if self.derandomized == Some(true) {
            let most = MAX_SIGNED * 2 / u64::from(d) / u64::from(d + 1);
            let most = if most == 0 { 1 } else { 1 << most.ilog2() };
            if !lift.is_power_of_two() || u64::from(lift) > most {
                let below = (1_u64 << lift.ilog2()).min(most);
                let near = if 2 * below <= most && !lift.is_power_of_two() {
                    format!("nearest: {below}, {}", 2 * below)
                } else {
                    format!("nearest: {below}")
                };
                let why = format!("{lift} is no power of two up to {most}");
                return Err(Refusal::new("lift", why, near));
            }
        }
        let p = self.p.unwrap_or_else(|| concentration(switches, d));
        Ok((switches, links, in_range("p", p, 0, MAX_P)?))
    }

    /// The links between all pairs of meta-nodes, by random matchings.
    fn random_lift(&self, attempt: u64) -> LinkEnds {
        let mut draw = RandomStream::new(self.seed.unwrap_or(0), "xpander", attempt);
        let mut links = Vec::new();
        for a in 0..=self.d {
            for b in a + 1..=self.d {
                let mut partners: Vec<u32> = (0..self.lift).collect();
                draw.shuffle(&mut partners);
                let ends = (0..).zip(partners);
                links.extend(ends.map(|(i, j)| [a * self.lift + i, b * self.lift + j]));
            }
        }
        links
    }

    /// The complete graph, doubled with the best of several random signings until it is lifted
    /// `lift` times.
    fn doubled(&self, attempt: u64) -> LinkEnds {
        let purpose = "xpander signing";
        let mut draw = RandomStream::new(self.seed.unwrap_or(0), purpose, attempt);
        let mut links: LinkEnds =
            (0..=self.d).flat_map(|a| (a + 1..=self.d).map(move |b| [a, b])).collect();
        let mut size = 1;
        while size < self.lift {
            let n = (self.d + 1) * size;
            let crossed = best_signing(n, self.d, &links, &mut draw);
            // switch i of a meta-node of `size` becomes switches i and i + size of a meta-node
            // twice as large
            let copy = |v: u32, second: u32| v / size * 2 * size + v % size + second * size;
            let doubled = links.iter().zip(&crossed).flat_map(|(&[a, b], &crossed)| {
                [0, 1].map(|copied| [copy(a, copied), copy(b, copied ^ u32::from(crossed))])
            });
            links = doubled.collect();
            size *= 2;
        }
        links
    }

    fn links(&self) -> LinkEnds {
        let n = (self.d + 1) * self.lift;
        let derandomized = self.derandomized == Some(true);
        let lifted =
            |attempt| if derandomized { self.doubled(attempt) } else { self.random_lift(attempt) };
        let found = (0..u64::MAX).map(lifted).find(|links| connected(n, links));
        found.expect("most lifts are connected")
    }
}

/// For each link whether it is crossed: a random signing with a small largest eigenvalue.
fn best_signing(n: u32, d: u32, links: &[[u32; 2]], draw: &mut RandomStream) -> Vec<bool> {
    let ramanujan = 4.0 * f64::from(d - 1);
    let mut best = (f64::INFINITY, Vec::new());
    for _ in 0..SIGNINGS {
        let crossed: Vec<bool> = links.iter().map(|_| draw.below(2) == 1).collect();
        let square = largest_square(n, links, &crossed);
        if square < best.0 {
            best = (square, crossed);
        }
        if best.0 <= ramanujan {
            break;
        }
    }
    best.1
}

/// A lower estimate of the square of the eigenvalue of largest absolute value of the adjacency
/// matrix with -1 for crossed links, by power iteration on the matrix squared. O(iterations links).
fn largest_square(n: u32, links: &[[u32; 2]], crossed: &[bool]) -> f64 {
    let mut start = RandomStream::new(0, "xpander eigenvector", 0);
    let mut x: Vec<f64> = (0..n).map(|_| start.below(1 << 20) as f64 - 524_287.5).collect();
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let apply = |x: &[f64]| {
        let mut y = vec![0.0; x.len()];
        for (&[a, b], &crossed) in links.iter().zip(crossed) {
            let sign = if crossed { -1.0 } else { 1.0 };
            y[a as usize] += sign * x[b as usize];
            y[b as usize] += sign * x[a as usize];
        }
        y
    };
    let mut square = 0.0;
    for _ in 0..ITERATIONS {
        let length = norm(&x).sqrt();
        if length == 0.0 {
            break;
        }
        for x in &mut x {
            *x /= length;
        }
        let y = apply(&x);
        // the squared length of A x is the Rayleigh quotient of A^2 at x
        square = norm(&y);
        x = apply(&y);
    }
    square
}

impl Family for Xpander {
    const NAME: &'static str = "xpander";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Free)
    }

    fn examples() -> Vec<Self> {
        let of = |d, lift, seed, derandomized, p| Self { d, lift, seed, derandomized, p };
        vec![
            of(4, 5, None, None, None),
            of(4, 5, Some(3), None, Some(1)),
            of(3, 1, None, None, Some(0)),
            of(5, 3, Some(1), Some(false), Some(1)),
            of(3, 8, Some(1), Some(true), Some(1)),
            of(5, 4, None, Some(true), Some(2)),
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let (switches, links, p) = self.checked()?;
        let (diameter, mean) = distances(switches, self.d, u32::MAX);
        Ok(FamilyPromise::direct(switches, p, links, self.d, diameter, mean))
    }

    /// The first graph of all lifts is the complete network.
    fn general_form(&self) -> Option<NetworkRecipe> {
        let (_, _, p) = self.checked().ok().filter(|_| self.lift == 1)?;
        CompleteGraph { n: self.d + 1, p: Some(p) }.general_form()
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        let (_, _, p) = self.checked()?;
        let mut b = TopologyBuilder::new();
        for meta in 0..=self.d {
            for i in 0..self.lift {
                let name = format!("xpander-{meta}-{i}");
                b.switch(Switch::new(name).at(meta, vec![meta, i]));
            }
        }
        b.endpoints_on((0..(self.d + 1) * self.lift).map(SwitchId), p);
        for [a, c] in in_order(self.links()) {
            b.link(SwitchId(a), SwitchId(c));
        }
        Ok(b)
    }

    /// For every d the lifts just below and above the wish, with the default number of endpoints;
    /// none where the wish names no number, because there is no largest member.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let of = |d: u32| {
            super::random::sizes(wish, d).into_iter().flat_map(move |(n, p)| {
                let lift = u32::try_from(n / u64::from(d + 1)).unwrap_or(u32::MAX);
                let more = lift.saturating_add(1);
                let of = move |lift| Self { d, lift, seed: None, derandomized: None, p: Some(p) };
                [lift, more].map(of)
            })
        };
        (3..=wish.radix.min(MAX_D)).flat_map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::recipe;
    use super::*;
    use crate::kept::broken_promises;
    use fabric::network::Topology;
    use proptest::prelude::*;

    fn xpander(d: u32, lift: u32, seed: u64, derandomized: bool) -> Xpander {
        Xpander { d, lift, seed: Some(seed), derandomized: Some(derandomized), p: Some(1) }
    }

    fn built(member: &Xpander) -> Topology {
        let built = member.build().expect("a member").finish(recipe(member));
        built.expect("a valid network")
    }

    /// The eigenvalues of a symmetric matrix, by Jacobi's rotations.
    fn eigenvalues(mut a: Vec<Vec<f64>>) -> Vec<f64> {
        let n = a.len();
        for _ in 0..60 {
            for p in 0..n {
                for q in p + 1..n {
                    if a[p][q].abs() < 1e-13 {
                        continue;
                    }
                    let theta = 0.5 * (2.0 * a[p][q]).atan2(a[q][q] - a[p][p]);
                    let (s, c) = theta.sin_cos();
                    for row in &mut a {
                        let (x, y) = (row[p], row[q]);
                        (row[p], row[q]) = (c * x - s * y, s * x + c * y);
                    }
                    for i in 0..n {
                        let (x, y) = (a[p][i], a[q][i]);
                        (a[p][i], a[q][i]) = (c * x - s * y, s * x + c * y);
                    }
                }
            }
        }
        let mut values: Vec<f64> = (0..n).map(|i| a[i][i]).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn members_keep_their_promise_and_are_lifts(
            d in 3_u32..7, lift in 1_u32..9, seed in any::<u64>(), derandomized in any::<bool>(),
        ) {
            let lift = if derandomized { lift.next_power_of_two() } else { lift };
            let member = xpander(d, lift, seed, derandomized);
            let (promise, t) = (member.promise().expect("a member"), built(&member));
            prop_assert_eq!(broken_promises(&promise, &t), Vec::<String>::new());
            // in a lift every switch has one link to each other meta-node, in port order
            for (v, switch) in t.switches().iter().enumerate() {
                let row = t.graph().neighbours(v).iter();
                let metas: Vec<u32> = row.map(|&w| t.switches()[w as usize].group).collect();
                let others: Vec<u32> = (0..=d).filter(|&meta| meta != switch.group).collect();
                prop_assert_eq!(metas, others);
            }
        }

        #[test]
        fn any_numbers_give_a_promise_or_a_refusal(
            d in prop_oneof![any::<u32>(), 0_u32..70],
            lift in prop_oneof![any::<u32>(), 0_u32..70, Just(1 << 20)],
            derandomized in any::<bool>(),
            p in prop::option::of(any::<u32>()),
        ) {
            let member =
                Xpander { d, lift, seed: None, derandomized: Some(derandomized), p };
            if let Ok(promise) = member.promise() {
                prop_assert_eq!(promise.switches, (u64::from(d) + 1) * u64::from(lift));
                prop_assert!(!derandomized || lift.is_power_of_two());
                prop_assert!(!derandomized || promise.links <= MAX_SIGNED);
            }
        }
    }

    /// Bilu & Linial, lemma 3.1: a doubling has the eigenvalues of the graph and of the signing;
    /// and Friedman's theorem makes a random signing nearly Ramanujan, so that the best is close.
    #[test]
    fn derandomized_lifts_have_small_eigenvalues() {
        for (d, lift) in [(3, 8), (4, 8), (5, 8)] {
            let t = built(&xpander(d, lift, 1, true));
            let n = t.switches().len();
            let mut a = vec![vec![0.0; n]; n];
            for l in t.links() {
                a[l.a.switch.ix()][l.b.switch.ix()] += 1.0;
                a[l.b.switch.ix()][l.a.switch.ix()] += 1.0;
            }
            let values = eigenvalues(a);
            assert!((values[n - 1] - f64::from(d)).abs() < 1e-6);
            let second = values[n - 2].max(-values[0]);
            assert!(second <= 2.0 * f64::from(d - 1).sqrt() + 0.1, "d={d}: {second}");
            // K(d+1) has the eigenvalue d once and -1 d times; a lift keeps them
            let old = values.iter().filter(|v| (*v + 1.0).abs() < 1e-6).count();
            assert!(old >= d as usize);
        }
    }

    #[test]
    fn power_iteration_finds_the_largest_eigenvalue_of_a_signing() {
        let mut draw = RandomStream::new(5, "test", 0);
        let links: LinkEnds = (0..9).flat_map(|a| (a + 1..9).map(move |b| [a, b])).collect();
        for _ in 0..20 {
            let crossed: Vec<bool> = links.iter().map(|_| draw.below(2) == 1).collect();
            let mut a = vec![vec![0.0; 9]; 9];
            for (&[x, y], &crossed) in links.iter().zip(&crossed) {
                let sign = if crossed { -1.0 } else { 1.0 };
                a[x as usize][y as usize] = sign;
                a[y as usize][x as usize] = sign;
            }
            let values = eigenvalues(a);
            let exact = values[8].powi(2).max(values[0].powi(2));
            let found = largest_square(9, &links, &crossed);
            assert!(found <= exact + 1e-9 && found > 0.95 * exact, "{found} {exact}");
        }
    }

    #[test]
    fn a_seed_gives_one_network_and_another_seed_another() {
        for derandomized in [false, true] {
            let links = |seed| built(&xpander(4, 8, seed, derandomized)).links().to_vec();
            assert_eq!(links(3), links(3));
            assert_ne!(links(3), links(4));
        }
    }

    #[test]
    fn impossible_members_are_refused_by_promise_and_build_alike() {
        let cases = [
            (xpander(2, 4, 0, false), "d", "3 to 4096"),
            (xpander(u32::MAX, 4, 0, false), "d", "3 to 4096"),
            (xpander(3, 0, 0, false), "lift", "1 to 16777216"),
            (xpander(4096, 1 << 24, 0, false), "lift", "at most 262080"),
            (xpander(3, 6, 0, true), "lift", "nearest: 4, 8"),
            (xpander(32, 1 << 20, 0, true), "lift", "nearest: 4096"),
            (Xpander { p: Some(4097), ..xpander(3, 4, 0, false) }, "p", "0 to 4096"),
        ];
        for (member, param, help) in cases {
            let refusal = member.promise().expect_err("no such member");
            assert_eq!((&refusal.param[..], &refusal.help[..]), (param, help));
            assert_eq!(member.build().expect_err("no such member"), refusal);
        }
    }
}
