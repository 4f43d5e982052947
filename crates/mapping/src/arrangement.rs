//! Arrangements: the assignment of processes to slots. Empty slots hold fillers, which are
//! processes without traffic.

use crate::metric::SiteMetric;
use crate::problem::MappingProblem;
use base::Refusal;
use std::collections::HashMap;

/// A one-to-one assignment of processes and fillers to slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessArrangement {
    slot: Vec<u32>,
    process: Vec<u32>,
    site: Vec<u32>,
}

impl ProcessArrangement {
    /// Processes in the order of the slots, with pinned ones at their slots.
    pub fn linear(problem: &MappingProblem<'_>) -> Self {
        let order: Vec<u32> = (0..problem.processes as u32).collect();
        let slots: Vec<u32> = (0..problem.slots.count() as u32).collect();
        Self::in_order(problem, &order, &slots)
    }

    /// The arrangement with the k-th process of `order` that is not pinned in the k-th free slot of
    /// `slots`, which lists all slots.
    pub fn in_order(problem: &MappingProblem<'_>, order: &[u32], slots: &[u32]) -> Self {
        let count = problem.slots.count();
        let mut slot = problem.pinned.clone();
        let mut taken = vec![false; count];
        for &s in problem.pinned.iter().filter(|&&s| s != u32::MAX) {
            taken[s as usize] = true;
        }
        let mut free = slots.iter().copied().filter(|&s| !taken[s as usize]);
        let fill = problem.processes as u32..count as u32;
        for p in order.iter().copied().chain(fill).filter(|&p| !problem.is_pinned(p)) {
            slot[p as usize] = free.next().expect("as many slots as processes and fillers");
        }
        Self::of(problem, slot)
    }

    /// The arrangement with each process on the endpoint that `places` gives.
    ///
    /// # Errors
    /// When there are not as many places as processes, an endpoint has no free slot, or a pinned
    /// process would be elsewhere.
    pub fn placed(problem: &MappingProblem<'_>, places: &[u32]) -> Result<Self, Refusal> {
        let refuse = |why: String, help: &str| Err(Refusal::new("mapping", why, help));
        if places.len() != problem.processes {
            let why = format!("{} places for {} processes", places.len(), problem.processes);
            return refuse(why, "one endpoint for each process");
        }
        let count = problem.slots.count();
        let mut free: HashMap<u32, Vec<u32>> = HashMap::new();
        for s in (0..count as u32).rev() {
            free.entry(problem.slots.endpoint(s)).or_default().push(s);
        }
        let mut slot = Vec::with_capacity(count);
        for (process, &endpoint) in places.iter().enumerate() {
            let Some(own) = free.get_mut(&endpoint).and_then(Vec::pop) else {
                let why = format!("process {process}: endpoint {endpoint} has no free slot");
                return refuse(why, "endpoints of the hosts, no more processes than their slots");
            };
            let pinned = problem.pinned[process];
            if pinned != u32::MAX && problem.slots.endpoint(pinned) != endpoint {
                let why = format!("process {process} is pinned, and on another endpoint here");
                return refuse(why, "a mapping that holds the pins");
            }
            slot.push(own);
        }
        let mut left: Vec<u32> = free.into_values().flatten().collect();
        left.sort_unstable();
        slot.extend(left);
        Ok(Self::of(problem, slot))
    }

    /// The arrangement with these slots of each process and filler.
    pub fn of(problem: &MappingProblem<'_>, slot: Vec<u32>) -> Self {
        let mut process = vec![u32::MAX; slot.len()];
        for (p, &s) in (0..).zip(&slot) {
            debug_assert_eq!(process[s as usize], u32::MAX, "one process a slot");
            process[s as usize] = p;
        }
        let site = slot.iter().map(|&s| problem.slots.site(s)).collect();
        Self { slot, process, site }
    }

    /// The slot of a process.
    #[inline]
    pub fn slot(&self, process: u32) -> u32 {
        self.slot[process as usize]
    }

    /// The site of a process.
    #[inline]
    pub fn site(&self, process: u32) -> u32 {
        self.site[process as usize]
    }

    /// The process or filler in a slot.
    #[inline]
    pub fn process(&self, slot: u32) -> u32 {
        self.process[slot as usize]
    }

    /// Exchanges the slots of two processes.
    #[inline]
    pub fn swap(&mut self, u: u32, v: u32) {
        let (u, v) = (u as usize, v as usize);
        self.slot.swap(u, v);
        self.site.swap(u, v);
        self.process[self.slot[u] as usize] = u as u32;
        self.process[self.slot[v] as usize] = v as u32;
    }

    /// The endpoint of each process.
    pub fn places(&self, problem: &MappingProblem<'_>) -> Vec<u32> {
        self.slot[..problem.processes].iter().map(|&s| problem.slots.endpoint(s)).collect()
    }

    /// Twice the sum over all pairs of weight times distance, as each pair is in the rows of both
    /// processes.
    pub fn cost<M: SiteMetric>(&self, problem: &MappingProblem<'_>, metric: &M) -> i64 {
        let of = |p: u32| -> i64 {
            let row = problem.row(p).iter();
            row.map(|&(x, w)| i64::from(w) * i64::from(metric.hops(self.site(p), self.site(x))))
                .sum()
        };
        (0..problem.processes as u32).map(of).sum()
    }

    /// The change of the weighted sum of distances when two processes exchange their slots; each
    /// pair counts once. O(degrees).
    #[inline]
    pub fn gain<M: SiteMetric>(
        &self,
        problem: &MappingProblem<'_>,
        metric: &M,
        u: u32,
        v: u32,
    ) -> i32 {
        let (a, b) = (self.site(u), self.site(v));
        let mut sum = 0;
        for &(x, w) in problem.row(u) {
            if x != v {
                let s = self.site(x);
                sum += w * (metric.hops(b, s) - metric.hops(a, s));
            }
        }
        for &(x, w) in problem.row(v) {
            if x != u {
                let s = self.site(x);
                sum += w * (metric.hops(a, s) - metric.hops(b, s));
            }
        }
        sum
    }
}
