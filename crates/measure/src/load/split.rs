//! Splits demands over given routes so that the load of the busiest channel becomes as low as
//! possible.
//!
//! Source: Grigoriadis & Khachiyan, "Fast approximation schemes for convex programs with many
//! blocks and coupling constraints", SIAM J. Optimization 1994 (the potential, and one block after
//! the other); Jayakrishnan, Tsai, Prashker, Rajadhyaksha, "A faster path-based algorithm for
//! traffic assignment", Transportation Research Record 1443, 1994 (shifts from route to route).

use super::routes::DemandRoutes;
use base::{Interrupted, ProgressWatch};

/// The least length of a channel, as a fraction of that of the busiest channel.
const FLOOR: f64 = 1e-9;

/// Routes whose lengths differ by less than this fraction are equally long; a share below this
/// fraction of its demand counts as none.
const EQUAL: f64 = 1e-9;

/// Marks of channels on the better route and on the other one, while two routes are compared.
const ON_BEST: u8 = 1;
const ON_OTHER: u8 = 2;

/// A split of demands: the amount that each of their routes carries.
pub(super) struct RouteAmounts<'a> {
    capacity: &'a [f64],
    /// All demands, each with one or more routes.
    pub(super) routes: DemandRoutes,
    /// The amount that every route carries; those of a demand sum to it.
    pub(super) share: Vec<f64>,
    /// The length of every channel, which is the derivative of the potential by the channel's load.
    pub(super) length: Vec<f64>,
    load: Vec<f64>,
    /// The largest load of a channel divided by its capacity.
    pub(super) busiest: f64,
    /// The logarithm of the length of the busiest channel over that of an idle one.
    pub(super) sharpness: f64,
    mark: Vec<u8>,
}

impl<'a> RouteAmounts<'a> {
    /// Starts with every demand on the first of its routes, if it has any, and all channels of
    /// equal length per capacity.
    pub(super) fn new(capacity: &'a [f64], routes: DemandRoutes) -> Self {
        let length = capacity.iter().map(|&c| if c > 0.0 { 1.0 / c } else { 0.0 }).collect();
        let mut share = vec![0.0; routes.count()];
        for (choice, &amount) in routes.amount.iter().enumerate() {
            let own = routes.of(choice);
            if !own.is_empty() {
                share[own.start] = amount;
            }
        }
        let (load, mark) = (vec![0.0; capacity.len()], vec![0; capacity.len()]);
        Self { capacity, routes, share, length, load, busiest: 0.0, sharpness: 1.0, mark }
    }

    /// The sum of capacity times length.
    pub(super) fn room(&self) -> f64 {
        self.capacity.iter().zip(&self.length).map(|(c, l)| c * l).sum()
    }

    /// The mean load over capacity, weighted by length times capacity.
    pub(super) fn mean(&self) -> f64 {
        self.load.iter().zip(&self.length).map(|(x, l)| x * l).sum::<f64>() / self.room()
    }

    /// The length of a route.
    pub(super) fn cost(&self, route: usize) -> f64 {
        self.routes.channels(route).iter().map(|&c| self.length[c as usize]).sum()
    }

    /// The length of the shortest route of a demand; infinity if it has no route.
    pub(super) fn least(&self, choice: usize) -> f64 {
        self.routes.of(choice).map(|r| self.cost(r)).fold(f64::INFINITY, f64::min)
    }

    /// Adds the routes `found`, in the order of their demands, and drops those that carry nothing.
    /// O(hops).
    pub(super) fn extend(&mut self, found: &[SearchedRoutes]) {
        let old = std::mem::take(&mut self.routes);
        let mut share = Vec::with_capacity(self.share.len());
        let mut routes = DemandRoutes::default();
        let mut new = found.iter().flat_map(SearchedRoutes::routes).peekable();
        for (choice, &amount) in old.amount.iter().enumerate() {
            for route in old.of(choice).filter(|&r| self.share[r] > 0.0) {
                routes.add(old.channels(route));
                share.push(self.share[route]);
            }
            let mut missing = if old.of(choice).is_empty() { amount } else { 0.0 };
            while let Some((_, channels)) = new.next_if(|n| n.0 == choice) {
                routes.add(channels);
                share.push(std::mem::take(&mut missing));
            }
            routes.close(amount);
        }
        (self.routes, self.share) = (routes, share);
    }

    /// Improves the split in `sweeps` passes over all demands. In each pass every demand moves
    /// traffic from its longer routes to its shortest one until they are equally long, or a little
    /// less if capacities differ. The potential, the sum of `exp(sharpness * load / (capacity *
    /// busiest))`, decreases with every move. O(sweeps * hops).
    ///
    /// # Errors
    /// When `watch` says stop.
    pub(super) fn balance(
        &mut self,
        sweeps: usize,
        round: u32,
        watch: &dyn ProgressWatch,
    ) -> Result<(), Interrupted> {
        self.measure();
        for _ in 0..sweeps {
            for choice in 0..self.routes.amount.len() {
                if choice % TICK == 0 {
                    watch.tick("throughput", round.into(), 0)?;
                }
                self.even_out(choice);
            }
            self.measure();
        }
        Ok(())
    }

    /// Recomputes the loads, and the lengths from them.
    fn measure(&mut self) {
        self.load.fill(0.0);
        for (choice, &amount) in self.routes.amount.iter().enumerate() {
            let own = self.routes.of(choice);
            let sum: f64 = self.share[own.clone()].iter().sum();
            for route in own {
                self.share[route] *= amount / sum;
                for &c in self.routes.channels(route) {
                    self.load[c as usize] += self.share[route];
                }
            }
        }
        let used = self.load.iter().zip(self.capacity).filter(|(load, _)| **load > 0.0);
        self.busiest = used.map(|(load, capacity)| load / capacity).fold(0.0, f64::max);
        for c in (0..self.length.len()).filter(|&c| self.capacity[c] > 0.0) {
            self.length[c] = self.length_of(c);
        }
    }

    fn length_of(&self, c: usize) -> f64 {
        let above = self.load[c] / self.capacity[c] / self.busiest - 1.0;
        (self.sharpness * above).exp().max(FLOOR) / self.capacity[c]
    }

    /// Moves a demand from its longer routes to its shortest.
    fn even_out(&mut self, choice: usize) {
        let own = self.routes.of(choice);
        if own.len() < 2 {
            return;
        }
        let costs = own.clone().map(|r| (self.cost(r), r));
        let Some((_, best)) = costs.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        for route in own.filter(|&r| r != best) {
            if self.share[route] > 0.0 {
                self.marked(best, ON_BEST);
                self.marked(route, ON_OTHER);
                self.shift(route, best, EQUAL * self.routes.amount[choice]);
                self.marked(best, 0);
                self.marked(route, 0);
            }
        }
    }

    fn marked(&mut self, route: usize, with: u8) {
        for &c in self.routes.channels(route) {
            let mark = &mut self.mark[c as usize];
            *mark = if with == 0 { 0 } else { *mark | with };
        }
    }

    /// Moves traffic from `route` to `best` so that they become equally long, or all of it if less
    /// than `crumb` would remain.
    ///
    /// If all channels have the same capacity c, their lengths change by this factor or its
    /// inverse: `exp(sharpness * moved / (c * busiest))`. If not, the narrowest channels determine
    /// the amount, so that it is never too large.
    fn shift(&mut self, route: usize, best: usize, crumb: f64) {
        let alone = |route: usize, mark: u8| {
            let own = self.routes.channels(route).iter().map(|&c| c as usize);
            own.filter(|&c| self.mark[c] == mark).fold((0.0, f64::INFINITY), |(sum, narrow), c| {
                (sum + self.length[c], self.capacity[c].min(narrow))
            })
        };
        let ((long, from), (short, to)) = (alone(route, ON_OTHER), alone(best, ON_BEST));
        if short <= 0.0 || long <= short * (1.0 + EQUAL) {
            return;
        }
        let rate = self.sharpness / self.busiest * (1.0 / from + 1.0 / to);
        let mut moved = (long / short).ln() / rate;
        if self.share[route] - moved <= crumb {
            moved = self.share[route];
        }
        self.share[route] -= moved;
        self.share[best] += moved;
        for (of, mark, amount) in [(route, ON_OTHER, -moved), (best, ON_BEST, moved)] {
            for i in self.routes.hops(of) {
                let c = self.routes.channel(i);
                if self.mark[c] == mark {
                    self.load[c] = (self.load[c] + amount).max(0.0);
                    self.length[c] = self.length_of(c);
                }
            }
        }
    }
}

/// The number of demands between two calls of the watch.
const TICK: usize = 1 << 16;

/// The routes that a search found, in the order of their demands.
#[derive(Default)]
pub(super) struct SearchedRoutes {
    /// For each route, the index of its demand, and the index after its last channel.
    ends: Vec<(u32, u32)>,
    channels: Vec<u32>,
}

impl SearchedRoutes {
    /// Adds a route, its channels from the last to the first.
    pub(super) fn add(&mut self, choice: usize, backwards: &[u32]) {
        self.channels.extend(backwards.iter().rev());
        self.ends.push((choice as u32, self.channels.len() as u32));
    }

    /// The number of channels of all routes.
    pub(super) fn hops(&self) -> usize {
        self.channels.len()
    }

    fn routes(&self) -> impl Iterator<Item = (usize, &[u32])> {
        let mut begin = 0;
        self.ends.iter().map(move |&(choice, end)| {
            let from = std::mem::replace(&mut begin, end as usize);
            (choice as usize, &self.channels[from..end as usize])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::watch::QuietWatch;

    /// Balances demands with routes; `sharpness` doubles from 1 to 1024.
    fn balanced<'a>(capacity: &'a [f64], demands: &[(f64, &[&[u32]])]) -> RouteAmounts<'a> {
        let mut routes = DemandRoutes::default();
        for (amount, own) in demands {
            for route in *own {
                routes.add(route);
            }
            routes.close(*amount);
        }
        let mut split = RouteAmounts::new(capacity, routes);
        for _ in 0..11 {
            split.balance(60, 0, &QuietWatch).unwrap();
            split.sharpness *= 2.0;
        }
        split
    }

    #[test]
    fn capacities_are_filled_alike() {
        // 5 units over paths of capacity 1 and 4 split into 1 and 4
        let split = balanced(&[1.0, 4.0, 9.0], &[(5.0, &[&[0, 2], &[1, 2]])]);
        assert!((split.busiest - 1.0).abs() < 1e-3);
        assert!((split.share[0] - 1.0).abs() < 1e-2 && (split.share[1] - 4.0).abs() < 1e-2);
    }

    #[test]
    fn a_demand_with_a_choice_leaves_the_channel_to_one_without() {
        // channels of capacity 1: the second demand must use channel 0, the first may use 1 and 2
        let split = balanced(&[1.0; 3], &[(1.0, &[&[0], &[1, 2]]), (1.0, &[&[0]])]);
        assert!((split.busiest - 1.0).abs() < 1e-3);
        assert!(split.share[0] < 1e-3 && (split.share[1] - 1.0).abs() < 1e-3);
        assert!((split.share[2] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn no_move_raises_the_potential() {
        // the potential falls with every sweep, at every sharpness
        for sharpness in [1.0, 30.0, 2000.0] {
            let capacity = [1.0, 0.25, 2.0, 1.0];
            let mut routes = DemandRoutes::default();
            for own in [[[0, 1], [2, 3]], [[1, 2], [0, 3]], [[3, 1], [0, 2]]] {
                for route in &own {
                    routes.add(route);
                }
                routes.close(1.0);
            }
            let mut split = RouteAmounts::new(&capacity, routes);
            split.sharpness = sharpness;
            split.measure();
            let scale = sharpness / split.busiest;
            let potential = |s: &RouteAmounts<'_>| {
                let part = |(x, c): (&f64, &f64)| (scale * x / c - sharpness).exp();
                s.load.iter().zip(&capacity).map(part).sum::<f64>()
            };
            let mut before = potential(&split);
            for choice in (0..3).cycle().take(30) {
                split.even_out(choice);
                let after = potential(&split);
                assert!(after <= before * (1.0 + 1e-6));
                before = after;
            }
        }
    }
}
