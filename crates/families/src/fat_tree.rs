//! Fat trees of two and three levels, with parallel links and oversubscription.
//!
//! Source: Leiserson, "Fat-trees: universal networks for hardware-efficient supercomputing", IEEE
//! Trans. Computers 1985; three levels as in Al-Fares, Loukissas & Vahdat, "A scalable, commodity
//! data center network architecture", SIGCOMM 2008, section 3.
//!
//! Two levels: every leaf is linked to every spine. Three levels of k-port switches: k pods of edge
//! and aggregation switches, where each edge switch is linked to each aggregation switch of its
//! pod, and cores; k/2 of the cores are linked to aggregation switch j of every pod. With fewer
//! pods, or fewer edge switches in the last pod, there are just enough cores of k ports for all
//! up-links. The up-links are assigned to the cores in turn, pod by pod and switch by switch, and
//! each pod continues at the core where the previous pod stopped. Every core then has links to
//! every pod, and the numbers of links to pods differ by at most one. Ports: endpoints, then links
//! down by switch, then links up by switch, so that parallel links have consecutive ports.

use super::cheapest::CheapestMembers;
use super::need::NetworkNeed;
use super::wish::NetworkWish;
use super::xgft::Xgft;
use super::{
    ExactFraction, Family, FamilyPromise, GridShape, MAX_P, MAX_PORTS, PromisedValue, in_range,
    recipe,
};
use base::{Refusal, SwitchId};
use fabric::geometry::{NetworkGeometry, PlaneStructure};
use fabric::network::{NetworkRecipe, Switch, TopologyBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fat tree: endpoints on the lowest level, every pair of them joined over a highest switch.
///
/// Either the counts are given (leaves, spines), or k, the ports of a switch, and they follow.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Levels of switches: 2 (the default) or 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<u32>,
    /// Leaf switches; default: with two levels as many as a spine of k ports serves; with three
    /// those of all pods. With fewer of three levels there are fewer pods, all but the last full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<u32>,
    /// Spine switches, with two levels; default: as many as a leaf of k ports has up-links for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spines: Option<u32>,
    /// Links between a leaf and a spine (three levels: an edge and an aggregation switch) of one
    /// pod; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<u32>,
    /// Endpoints per leaf (edge switch); default: oversubscription times its up-links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<u32>,
    /// Ports of every switch; required with three levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<u32>,
    /// Pods, with three levels; default k, the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods: Option<u32>,
    /// Endpoint ports per up-link of a leaf (edge switch), r in r:1; default 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oversubscription: Option<u32>,
}

const MAX_K: u32 = 4096;

/// The checked and completed parameters of a fat tree. A tree of two levels is one pod without
/// cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FatTreeShape {
    pods: u32,
    /// The number of leaves of a pod.
    leaves: u32,
    /// The number of leaves of the last pod.
    last: u32,
    /// The number of spines of a pod: its upper switches.
    spines: u32,
    parallel: u32,
    /// The number of links of a spine to cores.
    up: u32,
    cores: u32,
    p: u32,
    /// The number of ports of a switch; 0 when it is not given.
    ports: u16,
}

fn refuse<T>(param: &str, why: impl Into<String>, help: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal::new(param, why, help))
}

impl FatTree {
    fn tree(&self) -> Result<FatTreeShape, Refusal> {
        if let Some(k) = self.k {
            in_range("k", k, 2, MAX_K)?;
        }
        match self.levels.unwrap_or(2) {
            2 => self.two_levels(),
            3 => self.three_levels(),
            other => refuse("levels", format!("{other} levels"), "2 or 3"),
        }
    }

    fn ratio(&self) -> Result<u32, Refusal> {
        in_range("oversubscription", self.oversubscription.unwrap_or(1), 1, MAX_K - 1)
    }

    /// The number of up-links of a leaf with `k` ports: k / (r + 1).
    fn up_links(&self, k: u32) -> Result<u32, Refusal> {
        let r = self.ratio()?;
        if k.is_multiple_of(r + 1) {
            return Ok(k / (r + 1));
        }
        let param = if self.oversubscription.is_some() { "oversubscription" } else { "k" };
        let good: Vec<String> =
            (1..k).filter(|r| k.is_multiple_of(r + 1)).map(|r| format!("{r}:1")).collect();
        let why = format!("{k} ports do not divide into {r} down for 1 up");
        refuse(param, why, format!("{k} ports divide {}", good.join(", ")))
    }

    /// The number of endpoints of a leaf with `up` up-links.
    fn concentration(&self, up: u32) -> Result<u32, Refusal> {
        let Some(p) = self.p else {
            let p = self.ratio()?.saturating_mul(up);
            if p <= MAX_P {
                return Ok(p);
            }
            let why = format!("{p} endpoints a leaf follow from {up} up-links");
            return refuse("p", why, format!("give p, 1 to {MAX_P}"));
        };
        if self.k.is_none() && self.oversubscription.is_some() {
            let why = "follows from p and the up-links, and both are given";
            return refuse("oversubscription", why, "give p or oversubscription");
        }
        let most = self.k.map_or(MAX_P, |k| k.saturating_sub(up));
        if most == 0 {
            let why = format!("a leaf has no port left beside {up} up-links");
            return refuse("k", why, format!("more than {up}"));
        }
        in_range("p", p, 1, most)
    }

    fn two_levels(&self) -> Result<FatTreeShape, Refusal> {
        if self.pods.is_some() {
            return refuse("pods", "is for three levels", "two levels are one pod");
        }
        let parallel = in_range("parallel", self.parallel.unwrap_or(1), 1, MAX_K)?;
        let needs = |param| refuse(param, "is not given", "give leaves and spines, or k");
        let spines = match (self.spines, self.k) {
            (Some(spines), _) => in_range("spines", spines, 1, MAX_PORTS)?,
            (None, Some(k)) => {
                let up = self.up_links(k)?;
                if !up.is_multiple_of(parallel) {
                    let why = format!("{up} up-links do not divide into groups of {parallel}");
                    return refuse("parallel", why, format!("a divisor of {up}"));
                }
                up / parallel
            }
            (None, None) => return needs("spines"),
        };
        let leaves = match (self.leaves, self.k) {
            (Some(leaves), _) => in_range("leaves", leaves, 1, MAX_PORTS)?,
            (None, Some(k)) => (k / parallel).max(1),
            (None, None) => return needs("leaves"),
        };
        let most = self.k.unwrap_or(MAX_PORTS);
        let fits = |param, switch: &str, links: u64, least: u32| {
            if links + u64::from(least) <= u64::from(most) {
                return Ok(());
            }
            let why = format!("a {switch} needs {links} ports for links");
            let left = if least > 0 { " and needs one for an endpoint" } else { "" };
            refuse(param, why, format!("a {switch} has {most} ports{left}"))
        };
        fits("leaves", "spine", u64::from(leaves) * u64::from(parallel), 0)?;
        fits("spines", "leaf", u64::from(spines) * u64::from(parallel), 1)?;
        let p = self.concentration(spines * parallel)?;
        if p + spines * parallel > most {
            let why = format!("{p} endpoints and {} up-links on a leaf", spines * parallel);
            return refuse("p", why, format!("a leaf has {most} ports"));
        }
        let ports = self.k.unwrap_or(0) as u16;
        Ok(FatTreeShape {
            pods: 1,
            leaves,
            last: leaves,
            spines,
            parallel,
            up: 0,
            cores: 0,
            p,
            ports,
        })
    }

    fn three_levels(&self) -> Result<FatTreeShape, Refusal> {
        if self.spines.is_some() {
            return refuse("spines", "is for two levels", "with levels=3, k gives their number");
        }
        let Some(k) = self.k else {
            return refuse("k", "is not given", "three levels need k, the ports of a switch");
        };
        if !k.is_multiple_of(2) {
            let why = format!("{k} ports cannot be half down and half up");
            return refuse("k", why, format!("nearest: {}, {}", k - 1, k + 1));
        }
        let parallel = in_range("parallel", self.parallel.unwrap_or(1), 1, MAX_K)?;
        let up = self.up_links(k)?;
        for links in [up, k / 2] {
            if !links.is_multiple_of(parallel) {
                let why = format!("{links} links do not divide into groups of {parallel}");
                return refuse("parallel", why, format!("a divisor of {up} and of {}", k / 2));
            }
        }
        let (leaves, spines) = (k / 2 / parallel, up / parallel);
        let (pods, last) = self.pods(k, leaves)?;
        let p = self.concentration(up)?;
        let (up, cores) = (k / 2, (pods * spines).div_ceil(2));
        Ok(FatTreeShape { pods, leaves, last, spines, parallel, up, cores, p, ports: k as u16 })
    }

    /// The number of pods with `each` leaves, and the number of leaves of the last pod, in a tree
    /// of k-port switches.
    fn pods(&self, k: u32, each: u32) -> Result<(u32, u32), Refusal> {
        match (self.pods, self.leaves) {
            (Some(_), Some(_)) => {
                refuse("pods", "follows from leaves, and both are given", "give pods or leaves")
            }
            (pods, None) => Ok((in_range("pods", pods.unwrap_or(k), 2, k)?, each)),
            (None, Some(leaves)) => {
                let leaves = in_range("leaves", leaves, each + 1, k * each)?;
                let pods = leaves.div_ceil(each);
                Ok((pods, leaves - (pods - 1) * each))
            }
        }
    }
}

impl FatTreeShape {
    /// Coordinates of a switch: level, pod if there are several pods, number.
    fn coordinates(&self, level: u32, place: [u32; 2]) -> Vec<u32> {
        if self.cores == 0 { vec![level, place[1]] } else { vec![level, place[0], place[1]] }
    }

    /// Adds a switch. `place` is its pod and its number there; for a core, the number of a spine
    /// below it, and its number among the cores above that spine.
    fn add(&self, b: &mut TopologyBuilder, level: u32, place: [u32; 2]) {
        let coordinates = self.coordinates(level, place);
        let name: Vec<String> = coordinates.iter().map(u32::to_string).collect();
        let group = if level == 2 { self.pods } else { place[0] };
        let mut switch = Switch::new(format!("ft-{}", name.join("-"))).at(group, coordinates);
        switch.level = level as u8;
        switch.ports = self.ports;
        b.switch(switch);
    }

    fn build(&self) -> TopologyBuilder {
        let mut b = TopologyBuilder::new();
        let leaves = |pod: u32| if pod + 1 < self.pods { self.leaves } else { self.last };
        for pod in 0..self.pods {
            (0..leaves(pod)).for_each(|i| self.add(&mut b, 0, [pod, i]));
        }
        for pod in 0..self.pods {
            (0..self.spines).for_each(|i| self.add(&mut b, 1, [pod, i]));
        }
        // with the most pods, core c has number c % up among the cores above spine c / up
        (0..self.cores).for_each(|c| self.add(&mut b, 2, [c / self.up, c % self.up]));
        let all_leaves = (self.pods - 1) * self.leaves + self.last;
        let leaf = |pod: u32, i: u32| SwitchId(pod * self.leaves + i);
        let spine = |pod: u32, j: u32| SwitchId(all_leaves + pod * self.spines + j);
        let cores = all_leaves + self.pods * self.spines;
        b.endpoints_on((0..all_leaves).map(SwitchId), self.p);
        // ports are assigned in the order of links: on every switch the lower level first, then by
        // number
        for pod in 0..self.pods {
            for i in 0..leaves(pod) {
                for j in 0..self.spines {
                    for _ in 0..self.parallel {
                        b.link(leaf(pod, i), spine(pod, j));
                    }
                }
            }
            for j in 0..self.spines {
                let first = (pod * self.spines + j) * self.up;
                let mut above: Vec<u32> =
                    (first..first + self.up).map(|link| link % self.cores).collect();
                above.sort_unstable();
                for c in above {
                    b.link(spine(pod, j), SwitchId(cores + c));
                }
            }
        }
        b
    }
}

impl Family for FatTree {
    const NAME: &'static str = "fat_tree";

    fn geometry(&self) -> NetworkGeometry {
        NetworkGeometry::of(PlaneStructure::Levels)
    }

    fn examples() -> Vec<Self> {
        let none = Self::default;
        let counted = |leaves, spines, parallel, p| Self {
            leaves: Some(leaves),
            spines: Some(spines),
            parallel: Some(parallel),
            p: Some(p),
            ..none()
        };
        let ports = |levels, k| Self { levels: Some(levels), k: Some(k), ..none() };
        vec![
            counted(12, 6, 3, 18),
            counted(1, 2, 1, 1),
            counted(4, 1, 2, 3),
            Self { p: None, oversubscription: Some(2), ..counted(5, 3, 1, 0) },
            ports(2, 6),
            Self { oversubscription: Some(3), ..ports(2, 8) },
            ports(3, 2),
            ports(3, 4),
            Self { pods: Some(3), ..ports(3, 4) },
            Self { leaves: Some(11), ..ports(3, 8) },
            Self { parallel: Some(2), ..ports(3, 8) },
            Self { oversubscription: Some(2), ..ports(3, 6) },
        ]
    }

    fn promise(&self) -> Result<FamilyPromise, Refusal> {
        let t = self.tree()?;
        let [pods, leaves, last, spines, parallel, up, cores] =
            [t.pods, t.leaves, t.last, t.spines, t.parallel, t.up, t.cores].map(u64::from);
        let edges = (pods - 1) * leaves + last;
        let core_links = pods * spines * up;
        let core_radix = if cores == 0 { 0 } else { core_links.div_ceil(cores) as u32 };
        let spine_radix = t.leaves * t.parallel + t.up;
        // ordered pairs of edge switches, and the number of those within one pod
        let pairs = edges * (edges - 1);
        let inside = (pods - 1) * leaves * (leaves - 1) + last * (last - 1);
        let diameter = if edges == 1 { 0 } else { 2 * u32::from(t.pods > 1) + 2 };
        Ok(FamilyPromise {
            switches: edges + pods * spines + cores,
            endpoints: edges * u64::from(t.p),
            links: edges * spines * parallel + core_links,
            network_radix: (t.spines * t.parallel).max(spine_radix).max(core_radix),
            diameter: PromisedValue::Exact(diameter),
            // two hops inside the pod, four hops to other pods
            mean_distance: PromisedValue::Exact(ExactFraction {
                num: 4 * pairs - 2 * inside,
                den: pairs.max(1),
            }),
            edge_switches: edges,
            radix: (t.spines * t.parallel + t.p).max(spine_radix).max(core_radix),
            planes: 1,
            vertex_transitive: false,
        })
    }

    fn build(&self) -> Result<TopologyBuilder, Refusal> {
        Ok(self.tree()?.build())
    }
    /// Trees of two and of three levels with as many leaves as the wish needs, and full trees of
    /// three levels.
    fn near(wish: &NetworkWish) -> Vec<Self> {
        let r = wish.oversubscription;
        let mut members = Vec::new();
        for k in 2..=wish.radix.min(MAX_K) {
            let p = wish.per_switch(f64::from(k) / (r + 1.0), f64::from(k) / (r + 1.0));
            let Some(up) = k.checked_sub(p).filter(|&up| up > 0) else { continue };
            if f64::from(p) > r * f64::from(up) + 1e-9 {
                continue;
            }
            let wished = wish.endpoints.map_or(u64::from(k), |n| n / u64::from(p));
            let wished = wished.clamp(1, u64::from(k)) as u32;
            for leaves in [wished, wished + 1].into_iter().filter(|&leaves| leaves <= k) {
                let fits = |n: &u32| up.is_multiple_of(*n);
                let parallel = (1..=k / leaves).rev().find(fits).unwrap_or(1);
                members.push(Self {
                    leaves: Some(leaves),
                    spines: Some(up / parallel),
                    parallel: Some(parallel),
                    p: Some(p),
                    k: Some(k),
                    ..Self::default()
                });
            }
            if r.fract() == 0.0 {
                let oversubscription = (r > 1.0).then_some(r as u32);
                let three = Self { levels: Some(3), k: Some(k), ..Self::default() };
                let three = Self { oversubscription, ..three };
                let (half, most) = (k / 2, k / 2 * k);
                let wished = wish.endpoints.map_or(u64::from(most), |n| n / u64::from(p));
                let wished = wished.clamp(half.into(), most.into()) as u32;
                let fewer =
                    [wished, wished + 1].into_iter().filter(|n| (half + 1..most).contains(n));
                members.extend(fewer.map(|n| Self { leaves: Some(n), ..three.clone() }));
                members.push(three);
            }
        }
        members
    }

    /// That of trees of two levels: extended generalized fat trees have all pods alike.
    fn general_form(&self) -> Option<NetworkRecipe> {
        let tree = self.tree().ok().filter(|tree| tree.pods == 1)?;
        let parallel = (tree.parallel > 1).then(|| GridShape(vec![1, tree.parallel]));
        let (m, w) = (GridShape(vec![tree.p, tree.leaves]), GridShape(vec![1, tree.spines]));
        Some(recipe(&Xgft { m, w, parallel }))
    }

    /// Trees of two levels with any number of links between a leaf and a spine; and those of three
    /// levels of k-port switches, with just as many leaves as the need takes.
    fn carrying(need: &NetworkNeed) -> Vec<Self> {
        let mut two = CheapestMembers::of(need);
        let radix = need.wish.radix.min(MAX_K);
        for p in 1..radix {
            let up = need.links_for(p.into()) as u32;
            let leaves = need.endpoints.div_ceil(p.into());
            if p + up > radix || leaves > u64::from(radix) {
                continue;
            }
            let leaves = leaves as u32;
            for parallel in 1..=(radix / leaves).min(up) {
                let spines = up.div_ceil(parallel);
                let links = leaves * spines * parallel;
                let ports = (p + spines * parallel).max(leaves * parallel);
                two.offer([(leaves + spines).into(), links.into()], ports, || Self {
                    leaves: Some(leaves),
                    spines: Some(spines),
                    parallel: (parallel > 1).then_some(parallel),
                    p: Some(p),
                    ..Self::default()
                });
            }
        }
        let mut members = two.into_members();
        let mut three = CheapestMembers::of(need);
        for (k, r) in (2..=radix).flat_map(|k| (1..=need.admitted(1.0)).map(move |r| (k, r))) {
            let full = Self { levels: Some(3), k: Some(k), ..Self::default() };
            let full = Self { oversubscription: (r > 1).then_some(r), ..full };
            let Ok(up) = full.up_links(k) else { continue };
            let (edge, half) = (need.endpoints.div_ceil((r * up).into()), u64::from(k / 2));
            let leaves = edge.clamp(half + 1, half * u64::from(k)) as u32;
            let pruned = Self { leaves: Some(leaves), ..full };
            let Ok(promise) = pruned.promise() else { continue };
            if promise.endpoints >= need.endpoints {
                three.offer([promise.switches, promise.links], promise.radix, || pruned);
            }
        }
        members.extend(three.into_members());
        members
    }

    fn kind(&self) -> String {
        format!("{} levels", self.levels.unwrap_or(2))
    }
}

#[cfg(test)]
#[path = "fat_tree_tests.rs"]
mod tests;
