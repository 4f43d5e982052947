//! Effective bisection bandwidth: what random halves of the endpoints can send one another.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
//! routing in high-performance networks", Cluster 2008 (and the ORCS simulator): random bisections,
//! random perfect matchings; a flow gets the inverse of the largest congestion on its route.

use super::congestion::{CongestionError, Levels, Order, Setup, congestion, working};
use crate::routing::Routing;
use base::{Refusal, Watch};

/// The outcome over all patterns. Bandwidths are fractions of an endpoint's full injection rate.
#[derive(Debug, Clone, PartialEq)]
pub struct Ebb {
    /// Mean bandwidth of a flow, one value a pattern.
    pub patterns: Vec<f64>,
    /// `flows[i]` flows of all patterns got a bandwidth in `(i / 20, (i + 1) / 20]`.
    pub flows: [u64; 20],
    /// Most congested channel of any pattern, in flows' worth of traffic.
    pub max_congestion: f64,
}

impl Ebb {
    /// Mean over patterns: the effective bisection bandwidth.
    pub fn mean(&self) -> f64 {
        self.patterns.iter().sum::<f64>() / self.patterns.len() as f64
    }

    /// Half the width of the 95 % confidence interval of the mean (normal approximation).
    pub fn confidence_95(&self) -> f64 {
        let (n, mean) = (self.patterns.len() as f64, self.mean());
        if self.patterns.len() < 2 {
            return f64::INFINITY;
        }
        let variance = self.patterns.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
        1.959_963_984_540_054 * (variance / n).sqrt()
    }
}

/// Simulates `patterns` random bisections with random perfect matchings.
///
/// Each flow is spread evenly over its endpoints' common rails and over all layers; a link that is
/// slower or faster than the fastest endpoint cable counts in proportion. A flow's bandwidth is the
/// mean over its routes of 1 / max(1, largest congestion on the route). Pattern i depends on `seed`
/// and i only. O(patterns * endpoints * layers * hops), in parallel over patterns.
///
/// # Errors
/// When there are fewer than two endpoints or no patterns, when a route does not arrive, or when
/// `watch` says stop.
pub fn ebb(
    routing: &Routing,
    patterns: u32,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Ebb, CongestionError> {
    let alive = working(routing).len();
    if alive < 2 || patterns == 0 {
        let why = format!("{patterns} patterns over {alive} endpoints");
        let help = "at least one pattern and two endpoints";
        return Err(Refusal::new("patterns", why, help).into());
    }
    let bisect = Setup {
        pattern: "bisect".to_owned(),
        runs: patterns,
        seed,
        endpoints: None,
        first_job: None,
        order: Order::Random,
        levels: Levels::Each,
        endpoint_cables: false,
    };
    let found = congestion(routing, &bisect, watch)?;
    Ok(Ebb {
        patterns: found.runs.iter().map(|run| run.share).collect(),
        flows: found.shares,
        max_congestion: found.runs.iter().fold(0.0, |m, run| run.congestion.max(m)),
    })
}
