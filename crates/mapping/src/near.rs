//! The sites nearest to each site, among which swaps are searched.

use crate::metric::SiteMetric;
use crate::slots::{ProcessSlots, switch_of};
use fabric::Topology;

/// The sites around each site, nearest first, at most [`NearSiteLists::MOST`].
pub struct NearSiteLists {
    offsets: Vec<u32>,
    sites: Vec<u32>,
}

impl NearSiteLists {
    /// The largest number of sites kept around a site.
    pub const MOST: usize = 24;

    /// Finds the nearest sites by breadth-first search from the switch of each site's first rail.
    /// O(sites * switches that the search passes).
    pub fn new(on: &Topology, slots: &ProcessSlots) -> Self {
        let graph = on.graph();
        let mut by_switch: Vec<Vec<u32>> = vec![Vec::new(); graph.switches()];
        for site in 0..slots.sites() as u32 {
            by_switch[switch_of(on, slots.rails(site)[0]) as usize].push(site);
        }
        let mut seen = vec![u32::MAX; graph.switches()];
        let mut queue = Vec::new();
        let (mut offsets, mut sites) = (vec![0], Vec::new());
        for site in 0..slots.sites() as u32 {
            let begin = sites.len();
            queue.clear();
            let home = switch_of(on, slots.rails(site)[0]);
            queue.push(home);
            seen[home as usize] = site;
            let mut head = 0;
            while sites.len() - begin < Self::MOST {
                let Some(&v) = queue.get(head) else { break };
                head += 1;
                sites.extend(by_switch[v as usize].iter().filter(|&&other| other != site));
                for &w in graph.neighbours(v as usize) {
                    if seen[w as usize] != site {
                        seen[w as usize] = site;
                        queue.push(w);
                    }
                }
            }
            sites.truncate(begin + Self::MOST);
            offsets.push(sites.len() as u32);
        }
        Self { offsets, sites }
    }

    /// The sites around a site, without itself.
    #[inline]
    pub fn of(&self, site: u32) -> &[u32] {
        let s = site as usize;
        &self.sites[self.offsets[s] as usize..self.offsets[s + 1] as usize]
    }

    /// The largest distance between a site and those kept around it, over a sample of the first
    /// sites.
    pub fn reach<M: SiteMetric>(&self, metric: &M) -> u32 {
        let of = |site: u32| self.of(site).iter().map(move |&other| metric.hops(site, other));
        let sites = self.offsets.len() as u32 - 1;
        (0..sites.min(64)).flat_map(of).max().unwrap_or(0) as u32
    }
}
