//! Dragonflies of CODES: a file of the links within a group, and one of those between groups.
//!
//! Binary, little endian: within a group records of source, destination and type of a link
//! (dragonfly-custom, dragonfly-dally; 12 bytes) or without the type (dragonfly-plus; 8 bytes), by
//! numbers of routers in the group, the same for all groups; between groups source and destination
//! by numbers among all routers. Each link is there in both directions.
//! Source: CODES, `dragonfly-custom.C`, `dragonfly-dally.C`, `dragonfly-plus.C`.

use super::kind::{add_endpoints, recipe};
use super::pair::GraphFilePairFormat;
use crate::backed::NetworkFileOptions;
use crate::companion::kind::ExampleFiles;
use base::part::PartDescription;
use base::{Refusal, SwitchId};
use fabric::network::{Switch, Topology, TopologyBuilder};
use std::collections::BTreeMap;

pub(super) const PAIR: GraphFilePairFormat = GraphFilePairFormat {
    part: PartDescription::new(
        "codes",
        "dragonflies of CODES (two files, ...intra... and ...inter...)",
    ),
    words: ["intra", "inter"],
    holds: ["the links within a group of CODES", "the links between groups of CODES"],
    looks: |start| start.contains(&0), // numbers of four bytes, most of them small
    read: |[intra, inter], p| read(intra, inter, p),
    example,
};

/// The links of all pairs within a group of six, with their types; and the links between four
/// groups, where every router has one to its counterpart in every other group.
fn example() -> ExampleFiles {
    const GROUP: i32 = 6;
    const GROUPS: i32 = 4;
    let pairs = |n: i32| (0..n).flat_map(move |a| (0..n).map(move |b| (a, b)));
    let within = pairs(GROUP).filter(|(a, b)| a != b).flat_map(|(a, b)| [a, b, 0]);
    let like = |(a, b): (i32, i32)| (0..GROUP).flat_map(move |r| [a * GROUP + r, b * GROUP + r]);
    let between = pairs(GROUPS).filter(|(a, b)| a != b).flat_map(like);
    let file = |name: &str, all: Vec<i32>| {
        (name.to_owned(), all.into_iter().flat_map(i32::to_le_bytes).collect())
    };
    vec![file("intra", within.collect()), file("inter", between.collect())]
}

/// Routers for each link between groups, at most.
const MOST_APART: u64 = 16;

/// The number of records from one router to another.
type LinkCounts = BTreeMap<(u32, u32), u32>;

/// The records, each of `numbers` numbers; the pairs of the first two are counted.
fn records(bytes: &[u8], numbers: usize, name: &str) -> Result<LinkCounts, Refusal> {
    let mut found = LinkCounts::new();
    for (at, record) in bytes.chunks_exact(4 * numbers).enumerate() {
        let number = |i: usize| {
            let four = [0, 1, 2, 3].map(|byte| record[4 * i + byte]);
            u32::try_from(i32::from_le_bytes(four)).map_err(|_| {
                let place = format!("{name}: byte {}", 4 * (at * numbers + i));
                Refusal::new(place, "a router below 0", "numbers of routers from 0")
            })
        };
        let (from, to) = (number(0)?, number(1)?);
        if from == to {
            let place = format!("{name}: byte {}", 4 * at * numbers);
            return Err(Refusal::new(place, format!("router {from} has a link to itself"), ""));
        }
        *found.entry((from, to)).or_default() += 1;
    }
    Ok(found)
}

/// Each link once, with its number of cables: the larger of the numbers of records in its two
/// directions.
fn links(counts: &LinkCounts) -> Vec<(u32, u32, u32)> {
    let back = |(from, to): (u32, u32)| counts.get(&(to, from)).copied().unwrap_or(0);
    let once = counts.iter().filter(|((from, to), _)| from < to || back((*from, *to)) == 0);
    once.map(|(&(from, to), &count)| (from, to, count.max(back((from, to))))).collect()
}

/// Routers of a group and their links: records of 12 bytes with types 0, 1 (and 2), else of 8.
fn within(bytes: &[u8], name: &str) -> Result<(u32, LinkCounts), Refusal> {
    let has_types = bytes.len().is_multiple_of(12)
        && bytes.chunks_exact(12).all(|record| matches!(record[8..], [0..=15, 0, 0, 0]));
    let numbers = match bytes.len() {
        0 => 0,
        _ if has_types && !is_plain(bytes) => 3,
        n if n.is_multiple_of(8) => 2,
        _ => 0,
    };
    if numbers == 0 {
        let why = format!("{} bytes are no links within a group", bytes.len());
        return Err(Refusal::new(name, why, "records of 12 bytes, source, destination and type"));
    }
    let counts = records(bytes, numbers, name)?;
    let most = counts.keys().map(|(from, to)| *from.max(to)).max().unwrap_or(0);
    if most as usize > 2 * counts.len() {
        let why = format!("router {most} of a group with {} links", counts.len());
        return Err(Refusal::new(name, why, "routers from 0 on, each with links"));
    }
    Ok((most + 1, counts))
}

/// Whether records of 8 bytes name each link in both directions.
fn is_plain(bytes: &[u8]) -> bool {
    let counts = if bytes.len().is_multiple_of(8) { records(bytes, 2, "").ok() } else { None };
    counts.is_some_and(|counts| {
        counts.iter().all(|(&(from, to), count)| counts.get(&(to, from)) == Some(count))
    })
}

/// The network of two files, given by their names and bytes; `p` endpoints on every router, whose
/// number is in CODES' configuration. O(links of all groups).
///
/// # Errors
/// When a file is not of this format, the routers are no whole number of groups, or there are too
/// many.
pub fn read(
    (intra_name, intra): (&str, &[u8]),
    (inter_name, inter): (&str, &[u8]),
    p: impl Into<NetworkFileOptions>,
) -> Result<Topology, Refusal> {
    let p = p.into();
    let (size, inside) = within(intra, intra_name)?;
    if inter.is_empty() || !inter.len().is_multiple_of(8) {
        let why = format!("{} bytes are no links between groups", inter.len());
        return Err(Refusal::new(inter_name, why, "records of 8 bytes, source and destination"));
    }
    let between = records(inter, 2, inter_name)?;
    let most = between.keys().map(|(from, to)| *from.max(to)).max().unwrap_or(0);
    let groups = most / size + 1;
    let routers = u64::from(groups) * u64::from(size);
    // groups may have routers without a link to another group, but not nearly all of them
    if groups as usize > 2 * between.len() || routers > MOST_APART * between.len() as u64 {
        let why = format!("router {most} in a group with number {}", groups - 1);
        let help = format!("groups of {size} routers, each with links to others");
        return Err(Refusal::new(inter_name, why, help));
    }
    let cables = inside.values().map(|times| u64::from(*times)).sum::<u64>() * u64::from(groups);
    p.fits(intra_name, (routers, cables, 0))?;
    let mut b = TopologyBuilder::new();
    for group in 0..groups {
        for router in 0..size {
            b.switch(Switch::new(format!("router-{group}-{router}")).at(group, Vec::new()));
        }
    }
    let mut join = |x: u32, y: u32, times: u32| {
        (0..times).for_each(|_| _ = b.link(SwitchId(x), SwitchId(y)));
    };
    for group in 0..groups {
        for (x, y, times) in links(&inside) {
            join(group * size + x, group * size + y, times);
        }
    }
    for (x, y, times) in links(&between) {
        if x / size == y / size {
            let why = format!("routers {x} and {y} are of one group of {size}");
            return Err(Refusal::new(inter_name, why, "links between groups"));
        }
        join(x, y, times);
    }
    add_endpoints(&mut b, vec![0; (groups * size) as usize], false, p, intra_name)?;
    b.finish(recipe(intra_name, "codes")).map_err(|refused| refused.within(intra_name))
}
