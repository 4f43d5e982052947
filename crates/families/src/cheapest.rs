//! The members of a family that may be the cheapest for a need, while the family searches for them.

use crate::family::Family;
use crate::need::NetworkNeed;

/// The members that may be the cheapest for a need: those of the least estimated price.
#[derive(Debug)]
pub(super) struct CheapestMembers<'a, F> {
    need: &'a NetworkNeed,
    found: Vec<(f64, F)>,
    least: f64,
}

/// Members that are kept of a family; estimates of members that differ in more than this many
/// others are far apart.
const KEPT: usize = 24;
/// Members with an estimate above this many times the least are not kept.
const FACTOR: f64 = 1.5;

impl<'a, F: Family> CheapestMembers<'a, F> {
    pub(super) fn of(need: &'a NetworkNeed) -> Self {
        Self { need, found: Vec::new(), least: f64::INFINITY }
    }

    /// Offers a member of these counts, whose switches need `radix` ports; it must carry the need.
    pub(super) fn offer(&mut self, counts: [u64; 2], radix: u32, member: impl FnOnce() -> F) {
        if radix > self.need.wish.radix {
            return;
        }
        let estimate = self.need.estimate(counts[0], counts[1], radix);
        if estimate > FACTOR * self.least || !estimate.is_finite() {
            return;
        }
        self.least = self.least.min(estimate);
        self.found.push((estimate, member()));
        if self.found.len() >= 64 * KEPT {
            self.keep();
        }
    }

    fn keep(&mut self) {
        // the sort is stable: equal estimates stay in the order of the family's search
        self.found.sort_by(|x, y| x.0.total_cmp(&y.0));
        self.found.truncate(KEPT);
    }

    /// Offers each of `members` of a direct network, given without endpoints, with as many
    /// endpoints a switch as the need takes and the rule of [`NetworkWish::endpoints_of`] admits.
    pub(super) fn offer_sized(
        &mut self,
        members: impl IntoIterator<Item = F>,
        of: impl Fn(&F, u32) -> F,
    ) {
        for bare in members {
            let Ok(promise) = bare.promise() else { continue };
            let Some(most) = self.need.wish.endpoints_of(&promise) else { continue };
            let p = self.need.per_switch(promise.switches / u64::from(promise.planes));
            if p <= u64::from(most) {
                let p = p as u32;
                let counts = [promise.switches, promise.links];
                self.offer(counts, promise.network_radix + p, || of(&bare, p));
            }
        }
    }

    pub(super) fn into_members(mut self) -> Vec<F> {
        self.keep();
        self.found.into_iter().map(|(_, member)| member).collect()
    }
}
