//! Lower bounds of diameter and mean distance for graphs of an order and a degree.
//!
//! Source: Cerf, Cowan, Mullin and Stanton, "A lower bound on the average shortest path length in
//! regular graphs", Networks 4, 1974; Hoffman and Singleton, "On Moore graphs with diameters 2 and
//! 3", 1960; Damerell, "On Moore graphs", 1973; Bannai and Ito, "On finite Moore graphs", 1973, and
//! "Regular graphs with excess one", 1981; Kurosawa and Tsujii, "Considerations on diameter of
//! communication networks", 1981; Erdos, Fajtlowicz and Hoffman, "Maximum degree in graphs of
//! diameter 2", 1980.

use super::OrderDegreeProblem;
use base::moore::{moore_bound, moore_tree};

/// Lower bounds of a [`OrderDegreeProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistanceBounds {
    /// A lower bound of the diameter, hops.
    pub diameter: u32,
    /// A lower bound of the sum of distances over ordered pairs of vertices.
    pub distance_sum: u64,
    /// The number of ordered pairs of distinct vertices: the sum divided by it is the mean
    /// distance.
    pub pairs: u64,
}

impl DistanceBounds {
    /// The lower bound of the mean distance, hops.
    pub fn mean_distance(&self) -> f64 {
        self.distance_sum as f64 / self.pairs as f64
    }
}

/// Computes the bounds of `problem`.
///
/// From a vertex of degree k at most k (d - 1)^(i - 1) others are i hops away (Cerf et al.); where
/// order and degree are odd, one vertex has degree below d. Graphs that meet the Moore bound for
/// diameter 2 or more and degree 3 or more do not exist, except for diameter 2 and degrees 3, 7 and
/// perhaps 57 (Hoffman and Singleton; Damerell; Bannai and Ito). Graphs with one vertex less than
/// the bound do not exist at all (Erdos, Fajtlowicz and Hoffman; Bannai and Ito; Kurosawa and
/// Tsujii). In these cases the diameter is one more, and two ordered pairs are further apart.
/// O(diameter).
pub fn bounds(problem: OrderDegreeProblem) -> DistanceBounds {
    let (n, d) = (u64::from(problem.order), u64::from(problem.degree));
    let (mut diameter, sum) = moore_tree(n, d, d);
    let mut distance_sum = n * sum;
    if problem.is_odd() {
        let (deeper, more) = moore_tree(n, d - 1, d);
        diameter = diameter.max(deeper);
        distance_sum += more - sum;
    }
    let implied = diameter;
    if no_graph(problem, diameter) {
        diameter += 1;
    }
    if diameter > implied {
        distance_sum += 2;
    }
    distance_sum += distance_sum % 2; // every pair counts from both ends
    DistanceBounds { diameter, distance_sum, pairs: n * (n - 1) }
}

/// Whether graphs of this diameter are known not to exist although the Moore bound allows them.
fn no_graph(problem: OrderDegreeProblem, diameter: u32) -> bool {
    let (n, d) = (u128::from(problem.order), problem.degree);
    if d < 3 || diameter < 2 {
        return false;
    }
    let moore = moore_bound(d, diameter);
    let exists = diameter == 2 && matches!(d, 3 | 7 | 57);
    (n == moore && !exists) || n + 1 == moore
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(order: u32, degree: u32) -> DistanceBounds {
        bounds(OrderDegreeProblem::new(order, degree).unwrap())
    }

    #[test]
    fn graphs_that_meet_them_are_met() {
        // complete graphs, rings, Petersen, Hoffman-Singleton, K_3,3
        for n in 2..40 {
            assert_eq!((of(n, n - 1).diameter, of(n, n - 1).distance_sum), (1, of(n, n - 1).pairs));
        }
        for n in 3..200_u32 {
            let ring = of(n, 2);
            let one: u64 = (1..n).map(|v| u64::from(v.min(n - v))).sum();
            assert_eq!((ring.diameter, ring.distance_sum), (n / 2, u64::from(n) * one), "ring {n}");
        }
        assert_eq!((of(10, 3).diameter, of(10, 3).distance_sum), (2, 10 * (3 + 12)));
        assert_eq!((of(50, 7).diameter, of(50, 7).distance_sum), (2, 50 * (7 + 84)));
        assert_eq!((of(6, 3).diameter, of(6, 3).distance_sum), (2, 6 * (3 + 4)));
    }

    #[test]
    fn the_values_of_the_competition_are_met() {
        // Graph Golf 2016, best graphs: mean distance and its gap to the bound in per cent
        for (n, d, mean, gap) in [
            (36, 3, 3.067, 0.312),
            (64, 8, 1.927, 2.860),
            (96, 3, 4.272, 1.723),
            (256, 8, 2.736, 0.674),
            (300, 7, 3.012, 7.096),
            (384, 3, 6.226, 2.644),
            (512, 8, 3.111, 4.876),
            (1024, 3, 7.679, 2.007),
            (1024, 8, 3.505, 0.617),
            (1024, 11, 3.059, 6.538),
            (1024, 32, 1.998, 1.479),
            (1560, 40, 2.038, 3.236),
            (1800, 7, 4.078, 7.259),
            (3250, 57, 2.070, 4.417),
        ] {
            let bound = of(n, d).mean_distance();
            let found = 100.0 * (mean / bound - 1.0);
            // the means are given to three places
            assert!((found - gap).abs() < 100.0 * 0.0006 / bound, "({n}, {d}): {found} {gap}");
        }
    }

    #[test]
    fn moore_graphs_that_do_not_exist_cost_a_hop() {
        assert_eq!(of(17, 4).diameter, 3); // Moore bound of (4, 2)
        assert_eq!(of(16, 4).diameter, 3); // one short of it
        assert_eq!(of(15, 4).diameter, 2); // exists
        assert_eq!(of(3250, 57).diameter, 2); // not known
        assert_eq!(of(22, 3).diameter, 4); // (3, 3)
        assert_eq!(of(20, 3).diameter, 3); // exists
        assert_eq!(of(9, 3).diameter, 3); // a vertex of degree 2 reaches 6 others in two hops
        assert_eq!(of(7, 3).diameter, 2);
        // fullest trees 4 + 2 * 11 for 16 vertices; one pair is three apart
        assert_eq!(of(16, 4).distance_sum, 16 * 26 + 2);
    }
}
