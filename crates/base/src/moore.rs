//! The Moore bound: the most vertices for a degree and a diameter, and the least distances between
//! them.

/// The most vertices of a graph of this degree and diameter: `1 + k sum_{i<d} (k-1)^i`, saturating.
///
/// Source: Hoffman & Singleton, "On Moore graphs with diameters 2 and 3", 1960.
pub fn moore_bound(degree: u32, diameter: u32) -> u128 {
    let mut bound = 1_u128;
    let mut sphere = u128::from(degree);
    for _ in 0..diameter {
        let grown = bound.saturating_add(sphere);
        if grown == bound || grown == u128::MAX {
            return grown;
        }
        bound = grown;
        sphere = sphere.saturating_mul(u128::from(degree.saturating_sub(1)));
    }
    bound
}

/// The depth and the sum of depths of the fullest tree of `n` vertices whose root has `root`
/// children and whose other vertices have this degree. They bound distances in a graph: from no
/// vertex can the others be nearer.
///
/// Where the degree does not allow `n` vertices, the sum is over those that it allows. O(log n).
///
/// Source: Cerf, Cowan, Mullin & Stanton, "A lower bound on the average shortest path length in
/// regular graphs", 1974.
pub fn moore_tree(n: u64, root: u64, degree: u64) -> (u32, u64) {
    let mut left = n.saturating_sub(1);
    if degree == 2 && root > 0 {
        let (full, rest) = (left / root, left % root);
        let depth = full + u64::from(rest > 0);
        return (depth as u32, root * full * (full + 1) / 2 + rest * depth);
    }
    let (mut level, mut depth, mut sum) = (root, 0_u32, 0);
    while left > 0 && level > 0 {
        depth += 1;
        let here = level.min(left);
        sum += here * u64::from(depth);
        left -= here;
        level = level.saturating_mul(degree.saturating_sub(1));
    }
    (depth, sum)
}
