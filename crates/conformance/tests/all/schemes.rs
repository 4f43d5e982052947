//! Compares lanes by groups, and packets that change their decision after a hop, with all paths,
//! enumerated one by one.

use super::candidates::{TurnPairs, VirtualChannel, agrees, damaged, followed, network};
use base::{LinkId, QuietWatch, SwitchId};
use fabric::network::Topology;
use fabric::tables::candidates::{
    GroupMinimalRouting, LaneClasses, MinimalAdaptiveRouting, ProgressiveAdaptiveRouting,
    RouteLegScheme, ValiantDetourRouting,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// A hop: its channel, and the switches that it joins.
type ReferenceHop = (u32, usize, usize);
/// A path as its hops.
type ChannelPath = Vec<ReferenceHop>;
/// The rule for packets that change their decision: after which first hops they may, and the
/// largest distance of the new intermediate switch.
type TurnRule<'a> = (&'a dyn Fn(&ReferenceHop) -> bool, usize);

/// All best paths between any two switches, by trying all.
struct ReferencePaths {
    edge: Vec<usize>,
    group: Vec<u32>,
    by_groups: bool,
    out: Vec<Vec<ReferenceHop>>,
    paths: BTreeMap<(usize, usize), Vec<ChannelPath>>,
}

impl ReferencePaths {
    fn new(on: &Topology, by_groups: bool) -> Self {
        let mut out = vec![Vec::new(); on.switches().len()];
        for l in (0..on.links().len()).map(LinkId::from).filter(|&l| on.link_is_up(l)) {
            for c in [l.forth(), l.back()] {
                let (from, to) = (on.tail(c).switch.ix(), on.head(c).switch.ix());
                out[from].push((c.0, from, to));
            }
        }
        let group = on.switches().iter().map(|s| s.group).collect();
        let edge = on.edge_switches().iter().map(|&s| s as usize).collect();
        let mut new = Self { edge, group, by_groups, out, paths: BTreeMap::new() };
        for s in 0..new.out.len() {
            for d in (0..new.out.len()).filter(|d| *d != s) {
                let mut found = Vec::new();
                new.all(s, d, &mut Vec::new(), 6, &mut found);
                let cost = |path: &ChannelPath| {
                    let crossed = path.iter().filter(|h| new.crosses(h)).count();
                    (if by_groups { crossed } else { 0 }, path.len())
                };
                let least = found.iter().map(cost).min().expect("six hops reach everything");
                found.retain(|path| cost(path) == least);
                new.paths.insert((s, d), found);
            }
        }
        new
    }

    fn crosses(&self, hop: &ReferenceHop) -> bool {
        self.group[hop.1] != self.group[hop.2]
    }

    /// Finds paths of at most `left` hops that visit no switch twice.
    fn all(
        &self,
        at: usize,
        to: usize,
        path: &mut ChannelPath,
        left: usize,
        found: &mut Vec<ChannelPath>,
    ) {
        if at == to {
            return found.push(path.clone());
        }
        for &hop in self.out[at].iter().filter(|_| left > 0) {
            if path.iter().all(|h| h.1 != hop.2) {
                path.push(hop);
                self.all(hop.2, to, path, left - 1, found);
                path.pop();
            }
        }
    }

    /// The largest number of hops between switches with endpoints.
    fn reach(&self) -> usize {
        let pairs = self.edge.iter().flat_map(|s| self.edge.iter().map(move |d| (*s, *d)));
        pairs.filter(|(s, d)| s != d).map(|pair| self.paths[&pair][0].len()).max().unwrap_or(0)
    }

    /// A path with the classes of its hops. Each leg has its hops and the number by which classes
    /// rise before it.
    fn classed(&self, legs: &[(u8, &[ReferenceHop])], classes: u8) -> Vec<VirtualChannel> {
        let (mut class, mut found) = (0, Vec::new());
        for (step, hops) in legs {
            class += if self.by_groups { *step } else { 0 };
            for hop in *hops {
                found.push((hop.0, class.min(classes - 1)));
                class += u8::from(!self.by_groups || self.crosses(hop));
            }
        }
        found
    }

    /// The pairs that packets hold and then want: on direct paths, over an intermediate switch, and
    /// over one that is chosen after a first hop which `turns` allows, at a distance that it
    /// allows.
    fn pairs(&self, classes: u8, turns: Option<TurnRule<'_>>) -> TurnPairs {
        let mut all = TurnPairs::new();
        let mut add = |legs: &[(u8, &[ReferenceHop])]| {
            all.extend(self.classed(legs, classes).windows(2).map(|two| (two[0], two[1])));
        };
        let reach = turns.map_or(0, |(_, reach)| reach);
        // to a neighbour in another group, on the same class
        let crossing = self.by_groups && reach == 1;
        for &s in &self.edge {
            for &v in self.edge.iter().filter(|v| **v != s) {
                for first in &self.paths[&(s, v)] {
                    add(&[(0, first)]);
                    for &d in self.edge.iter().filter(|d| **d != v) {
                        self.paths[&(v, d)].iter().for_each(|second| {
                            add(&[(0, first), (1, second)]);
                        });
                    }
                }
                for hop in self.out[s].iter().filter(|h| turns.is_some_and(|(may, _)| may(h))) {
                    if hop.2 == v || self.paths[&(hop.2, v)][0].len() > reach {
                        continue;
                    }
                    for first in &self.paths[&(hop.2, v)] {
                        if crossing && !self.crosses(&first[0]) {
                            continue;
                        }
                        let step = u8::from(!crossing);
                        for &d in self.edge.iter().filter(|d| **d != v) {
                            self.paths[&(v, d)].iter().for_each(|second| {
                                add(&[(0, &[*hop]), (step, first), (1, second)]);
                            });
                        }
                    }
                }
            }
        }
        all
    }
}

/// The channels of paths, in the order of the paths.
fn channels(paths: Vec<Vec<(u32, Range<u8>)>>) -> Vec<Vec<u32>> {
    paths.into_iter().map(|path| path.into_iter().map(|(channel, _)| channel).collect()).collect()
}

/// The paths of a leg from its first state on are the plain ones.
fn same_paths(case: &str, leg: &impl RouteLegScheme, plain: &ReferencePaths) {
    for (&(s, d), paths) in &plain.paths {
        let found = channels(followed(leg, (s, d as u32, 0)));
        let mut wanted: Vec<Vec<u32>> =
            paths.iter().map(|path| path.iter().map(|hop| hop.0).collect()).collect();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{case}: {s} to {d}");
        let hops = leg.hops(SwitchId::from(s), SwitchId::from(d)).map(usize::from);
        assert_eq!(hops, Some(paths[0].len()), "{case}: {s} to {d}");
    }
}

#[test]
fn lanes_that_rise_between_groups() {
    for (inline, on, enough) in [
        ("a dragonfly", network("dragonfly:h=1"), 4),
        ("a dragonfly of few groups", network("dragonfly:h=2,g=3,p=1"), 4),
        ("a megafly", network("megafly:leaves=2,g=3,p=1"), 4),
        // two groups that only a third one joins: one more crossing on each leg
        ("a damaged dragonfly", damaged("dragonfly:h=1,p=1", 2, 4), 6),
    ] {
        let plain = ReferencePaths::new(&on, true);
        let leg = |classes| {
            let lanes = LaneClasses { classes, width: 1 };
            GroupMinimalRouting::new(on.clone(), lanes, &QuietWatch).expect("groups")
        };
        same_paths(inline, &leg(3), &plain);
        let stays = |hop: &ReferenceHop| !plain.crosses(hop);
        for classes in 1..=enough + 1 {
            let case = format!("{inline}, {classes} classes");
            let via = ValiantDetourRouting::by_group(leg(classes));
            let free = agrees(&case, &via, &plain.pairs(classes, None));
            assert!(free || classes < enough, "{case}");
            for (reach, more) in [(1, 0), (plain.reach(), 1)] {
                let par =
                    ProgressiveAdaptiveRouting::new(via.clone(), plain.reach() as u8, reach as u8);
                let free = agrees(&case, &par, &plain.pairs(classes, Some((&stays, reach))));
                assert!(free || classes < enough + more, "{case}, turns {reach} hops far");
            }
        }
    }
}

#[test]
fn packets_that_turn_behind_their_first_hop() {
    for (inline, on) in [
        ("slim_fly:q=3,p=1", network("slim_fly:q=3,p=1")),
        ("torus:shape=3x3,p=1", network("torus:shape=3x3,p=1")),
        ("hyperx:shape=3x3,p=1", network("hyperx:shape=3x3,p=1")),
        ("k_ary_n_tree:k=2,n=2", network("k_ary_n_tree:k=2,n=2")),
        ("dragonfly:h=1", network("dragonfly:h=1")),
        ("a damaged hyperx", damaged("hyperx:shape=3x3,p=1", 2, 7)),
    ] {
        let plain = ReferencePaths::new(&on, false);
        let reach = plain.reach() as u8;
        // only a dragonfly has groups that a packet could leave
        let grouped = inline.starts_with("dragonfly");
        let may = |hop: &ReferenceHop| !(grouped && plain.crosses(hop));
        for classes in 1..=2 * reach + 1 {
            let case = format!("{inline}, {classes} classes");
            let lanes = LaneClasses { classes, width: 1 };
            let leg =
                MinimalAdaptiveRouting::new(on.clone(), lanes, &QuietWatch).expect("it is small");
            for (far, enough) in [(1, 2 * reach), (reach, 2 * reach + 1)] {
                let par = ProgressiveAdaptiveRouting::new(
                    ValiantDetourRouting::by_hop(leg.clone()),
                    reach,
                    far,
                );
                let wanted = plain.pairs(classes, Some((&may, far.into())));
                let free = agrees(&case, &par, &wanted);
                assert!(free || classes < enough, "{case}, turns {far} hops far");
            }
        }
    }
}
