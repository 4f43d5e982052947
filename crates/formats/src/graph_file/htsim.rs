//! htsim's `.topo`: fat trees of two or three tiers by their numbers.
//!
//! ```text
//! Nodes 16            Tier 0                        Tier 1
//! Tiers 2             Downlink_speed_Gbps 100       Downlink_speed_Gbps 100
//! Podsize 16          Radix_Down 4                  Radix_Down 4
//!                     Radix_Up 4                    Downlink_Latency_ns 1000
//! ```
//!
//! Source: csg-htsim, `fat_tree_topology.cpp`. A switch of tier 0 has `Radix_Down` hosts; within a
//! pod of `Podsize` hosts (all of them, of two tiers) each switch of a tier has `Bundle` cables to
//! each of the next; of three tiers, the i-th switches of all pods have the i-th part of the top.
//! Rates become speeds and lanes, latencies lengths; of switches a network has neither latencies
//! nor queues.

use super::attributed::line_of;
use super::given::with_endpoints;
use super::kind::{GraphFileFormat, MAX_ENDPOINTS, recipe};
use crate::backed::NetworkFileOptions;
use base::part::PartDescription;
use base::{Refusal, SwitchId};
use fabric::network::{Cable, InfinibandLaneSpeed, Switch, Topology, TopologyBuilder};
use std::collections::HashMap;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("htsim", ".topo of htsim"),
    rank: 70,
    looks: |seen| looks(seen.first, seen.body),
    read: |text, name, p| with_endpoints(read(text, name, p)?, name, p, false),
    example: || EXAMPLE.to_owned(),
};

const EXAMPLE: &str = "Nodes 16\nTiers 2\nPodsize 16\n# 2026-01-01 10:11:12 by 123456789\nTier 0\n\
    Radix_Down 4\nRadix_Up 4\nDownlink_Latency_ns 1234.5\nSwitch_Latency_ns 0123.25\nQueue_Up \
    123456\nQueue_Down 7890123\nTier 1\nRadix_Down 4\nDownlink_Latency_ns 7123.125\n";

/// Nanoseconds of a metre of cable.
const NS_PER_M: f64 = 5.0;

/// The keys of the whole file; then those of a tier.
const KEYS: [&str; 3] = ["nodes", "tiers", "podsize"];
const OF_TIER: [&str; 11] = [
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "downlink_latency_ns",
    "switch_latency_ns",
    "oversubscribed",
    "bundle",
    "queue_up",
    "queue_down",
    "queue_up_bytes",
    "queue_down_bytes",
];

/// Whether a text is such a file: `Nodes N` first, and a line of tiers.
pub(super) fn looks(first: &str, text: &str) -> bool {
    let mut words = first.split_whitespace();
    let is_nodes = words.next().is_some_and(|word| word.eq_ignore_ascii_case("nodes"));
    let numbers = words.next().is_some_and(|n| n.parse::<u64>().is_ok()) && words.next().is_none();
    let tiers = |line: &str| line.trim_start().to_ascii_lowercase().starts_with("tiers ");
    is_nodes && numbers && text.lines().any(tiers)
}

/// Numbers by tier (none: of the whole file) and key, each with the byte of its line.
type TierNumbers = HashMap<(Option<usize>, String), (usize, f64)>;

/// A reader of the text of an htsim topology file, with the numbers in it.
struct HtsimReader<'a> {
    name: &'a str,
    text: &'a str,
    numbers: TierNumbers,
    /// The tiers that have a line `Tier`.
    tiers: Vec<usize>,
}

impl HtsimReader<'_> {
    fn refuse(&self, at: usize, why: impl Into<String>, help: impl Into<String>) -> Refusal {
        Refusal::new(format!("{}: line {}", self.name, line_of(self.text, at)), why, help)
    }

    fn parse(&mut self) -> Result<(), Refusal> {
        let (mut tier, mut at) = (None, 0);
        for line in self.text.split_inclusive('\n') {
            let here = at;
            at += line.len();
            let words: Vec<&str> =
                line.split('#').next().unwrap_or_default().split_whitespace().collect();
            let (key, number) = match words[..] {
                [] => continue,
                [key, number] => (key.to_ascii_lowercase(), number.parse::<f64>().ok()),
                _ => return Err(self.refuse(here, "it is no line of KEY NUMBER", "as Nodes 16")),
            };
            let number = number.filter(|n| n.is_finite() && *n >= 0.0);
            let Some(number) = number else {
                let why = format!("'{}' is no number of {key}", words[1]);
                return Err(self.refuse(here, why, "a number from 0"));
            };
            if key == "tier" {
                tier = ["0", "1", "2"].iter().position(|known| *known == words[1]);
                if tier.is_none() {
                    return Err(self.refuse(here, format!("tier {number}"), "0 to 2"));
                }
                self.tiers.extend(tier);
                continue;
            }
            let known = KEYS.contains(&key.as_str()) || OF_TIER.contains(&key.as_str());
            if !known || KEYS.contains(&key.as_str()) != tier.is_none() {
                let help = format!("{}; of a tier {}", KEYS.join(", "), OF_TIER.join(", "));
                return Err(self.refuse(here, format!("there is no key {key} here"), help));
            }
            if self.numbers.insert((tier, key.clone()), (here, number)).is_some() {
                return Err(self.refuse(here, format!("{key} comes twice"), "once"));
            }
        }
        Ok(())
    }

    fn number(&self, tier: Option<usize>, key: &str) -> Option<(usize, f64)> {
        self.numbers.get(&(tier, key.to_owned())).copied()
    }

    /// A whole number above 0, or the default where the file has none.
    fn whole(&self, tier: Option<usize>, key: &str, default: Option<u64>) -> Result<u64, Refusal> {
        let place = tier.map_or(String::new(), |tier| format!(" of tier {tier}"));
        match (self.number(tier, key), default) {
            (Some((_, n)), _) if n >= 1.0 && n.fract() == 0.0 && n < 4e9 => Ok(n as u64),
            (Some((at, n)), _) => {
                let why = format!("{key}{place} is {n}");
                Err(self.refuse(at, why, "a whole number from 1"))
            }
            (None, Some(default)) => Ok(default),
            (None, None) => {
                let why = format!("{key}{place} is missing");
                Err(Refusal::new(self.name, why, "a line for it, as in htsim's examples"))
            }
        }
    }

    /// The cable that goes down from a tier.
    fn cable(&self, tier: usize) -> Result<Cable, Refusal> {
        let mut cable = Cable::default();
        if let Some((at, rate)) = self.number(Some(tier), "downlink_speed_gbps") {
            let all = [4, 1, 2, 8, 12]
                .iter()
                .flat_map(|width| InfinibandLaneSpeed::ALL.map(|s| (s, *width)));
            let mut fits = all.filter(|(speed, width)| {
                (speed.lane_gbps() * f64::from(*width) - rate).abs() < 1e-9
            });
            (cable.speed, cable.width) = fits.next().ok_or_else(|| {
                let why = format!("no cable has {rate} Gbit/s");
                let lanes = InfinibandLaneSpeed::ALL.map(|s| format!("{:.5} ({s})", s.lane_gbps()));
                let help = format!("1, 2, 4, 8 or 12 lanes of {}", lanes.join(", "));
                self.refuse(at, why, help)
            })?;
        }
        let latency = self.number(Some(tier), "downlink_latency_ns");
        cable.length_m = latency.map(|(_, ns)| (ns / NS_PER_M) as f32);
        Ok(cable)
    }

    /// `a / b`, which must be a whole number.
    fn parts(&self, a: u64, b: u64, what: &str) -> Result<u64, Refusal> {
        if b > 0 && a >= b && a.is_multiple_of(b) {
            return Ok(a / b);
        }
        Err(Refusal::new(self.name, format!("{what}: {a} by {b}"), "a whole number of times"))
    }
}

/// The switches of a tree: how many pods, and in each pod, or at the top, how many of each tier.
struct HtsimTreeSizes {
    hosts: u64,
    down: u64,
    pods: u64,
    leaves: u64,
    middle: u64,
    /// Switches of each part of the top; 0 where there are two tiers.
    top: u64,
    bundles: [u64; 2],
}

fn sizes(reader: &HtsimReader) -> Result<HtsimTreeSizes, Refusal> {
    let hosts = reader.whole(None, "nodes", None)?;
    let tiers = reader.whole(None, "tiers", None)?;
    if !(2..=3).contains(&tiers) {
        return Err(Refusal::new(reader.name, format!("{tiers} tiers"), "2 or 3"));
    }
    if let Some(tier) = (0..tiers as usize).find(|tier| !reader.tiers.contains(tier)) {
        let why = format!("tier {tier} of {tiers} is missing");
        return Err(Refusal::new(reader.name, why, format!("a line Tier {tier}, and its numbers")));
    }
    if hosts > MAX_ENDPOINTS.min(1 << 17) {
        return Err(Refusal::new(reader.name, format!("{hosts} nodes"), "at most 131072"));
    }
    let pod = reader.whole(None, "podsize", Some(hosts))?;
    let pod = if tiers == 2 { hosts } else { pod };
    let pods = reader.parts(hosts, pod, "pods, Nodes by Podsize")?;
    let down = reader.whole(Some(0), "radix_down", None)?;
    let leaves = reader.parts(pod, down, "leaves of a pod, hosts by Radix_Down of tier 0")?;
    let up = reader.whole(Some(0), "radix_up", None)?;
    let bundle = reader.whole(Some(1), "bundle", Some(1))?;
    let middle = reader.parts(up, bundle, "Radix_Up of tier 0 by Bundle of tier 1")?;
    let radix = reader.whole(Some(1), "radix_down", Some(leaves * bundle))?;
    let same = |tier: usize, radix: u64, used: u64| {
        if radix == used {
            return Ok(());
        }
        let why = format!("Radix_Down of tier {tier} is {radix}, and {used} cables go down");
        Err(Refusal::new(reader.name, why, "the same number"))
    };
    same(1, radix, leaves * bundle)?;
    let (mut top, mut over) = (0, 1);
    if tiers == 3 {
        over = reader.whole(Some(2), "bundle", Some(1))?;
        let up = reader.whole(Some(1), "radix_up", None)?;
        top = reader.parts(up, over, "Radix_Up of tier 1 by Bundle of tier 2")?;
        same(2, reader.whole(Some(2), "radix_down", Some(pods * over))?, pods * over)?;
    }
    Ok(HtsimTreeSizes { hosts, down, pods, leaves, middle, top, bundles: [bundle, over] })
}

/// Reads a `.topo`; `name` stands for the file in the recipe and in refusals. O(network).
///
/// # Errors
/// When a line is not understood, a number is missing, or the numbers make no tree.
pub(super) fn read(
    text: &str,
    name: &str,
    beside: NetworkFileOptions,
) -> Result<Topology, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = HtsimReader { name, text, numbers: HashMap::new(), tiers: Vec::new() };
    reader.parse()?;
    let of = sizes(&reader)?;
    let cables = (of.leaves * of.middle * of.bundles[0] * of.pods)
        .checked_add(of.pods * of.middle * of.top * of.bundles[1])
        .filter(|cables| *cables <= MAX_ENDPOINTS);
    let Some(cables) = cables else {
        return Err(Refusal::new(name, "more cables than 2^22", "a smaller tree"));
    };
    let switches = of.pods * (of.leaves + of.middle) + of.middle * of.top;
    beside.fits(name, (switches, cables, of.hosts))?;
    let mut b = TopologyBuilder::new();
    let mut tier = |level: u8, count: u64, word: &str| -> Vec<SwitchId> {
        let one = |i| b.switch(Switch { level, ..Switch::new(format!("{word}-{i}")) });
        (0..count).map(one).collect()
    };
    let leaves = tier(0, of.pods * of.leaves, "tor");
    let middle = tier(1, of.pods * of.middle, "agg");
    let top = tier(2, of.middle * of.top, "core");
    let (down, between) = (reader.cable(0)?, reader.cable(1)?);
    for host in 0..of.hosts {
        let endpoint = b.endpoint(format!("host-{host:04}"), None);
        b.attach(endpoint, leaves[(host / of.down) as usize], 0, down);
    }
    let join = |b: &mut TopologyBuilder, x: SwitchId, y: SwitchId, times: u64, cable: Cable| {
        let plug = |switch| fabric::network::CablePlug { switch, port: 0 };
        (0..times).for_each(|_| _ = b.link_at(plug(x), plug(y), cable));
    };
    for (i, &leaf) in (0..).zip(&leaves) {
        let first = i / of.leaves * of.middle;
        for &above in &middle[first as usize..(first + of.middle) as usize] {
            join(&mut b, leaf, above, of.bundles[0], between);
        }
    }
    if of.top > 0 {
        let cable = reader.cable(2)?;
        for (i, &below) in (0..).zip(&middle) {
            let first = i % of.middle * of.top;
            for &above in &top[first as usize..(first + of.top) as usize] {
                join(&mut b, below, above, of.bundles[1], cable);
            }
        }
    }
    let has = |key: &&str| {
        let of = |tier: usize| reader.number(Some(tier), key).is_some_and(|(_, n)| n > 0.0);
        (0..3).any(of)
    };
    let of_switches = |key: &&&str| key.starts_with("switch") || key.starts_with("queue");
    let left = OF_TIER.iter().filter(of_switches).any(has);
    let remark = "latencies and queues of switches are no part of a network: left out".to_owned();
    let made = b.finish(recipe(name, "htsim")).map_err(|refused| refused.within(name))?;
    Ok(if left { made.with_remarks([remark]) } else { made })
}
