//! Effective bisection bandwidth: what random halves of the endpoints can send one another.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
//! routing in high-performance networks", Cluster 2008 (and the ORCS simulator): random bisections,
//! random perfect matchings; a flow gets the inverse of the largest congestion on its route.

use crate::routing::Routing;
use base::seed::Stream;
use base::{EndpointId, Interrupted, Refusal, SwitchId, TerminalId, Watch};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Why there is no effective bisection bandwidth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EbbError {
    /// The routing or the number of patterns cannot be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
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
) -> Result<Ebb, EbbError> {
    let on = routing.topology();
    let mut rails: Vec<Vec<TerminalId>> = vec![Vec::new(); on.endpoints().len()];
    for t in (0..on.terminals().len()).map(TerminalId::from).filter(|&t| on.terminal_is_up(t)) {
        rails[on.terminals()[t.ix()].endpoint.ix()].push(t);
    }
    let alive: Vec<EndpointId> =
        (0..rails.len()).filter(|&e| !rails[e].is_empty()).map(EndpointId::from).collect();
    if alive.len() < 2 || patterns == 0 {
        let why = format!("{patterns} patterns over {} endpoints", alive.len());
        let help = "at least one pattern and two endpoints";
        return Err(Refusal::new("patterns", why, help).into());
    }
    let relative = relative_cost(routing);
    let done = AtomicU64::new(0);
    let run = |pattern: u32| -> Result<Outcome, EbbError> {
        let mut order = alive.clone();
        Stream::new(seed, "bisection", pattern.into()).shuffle(&mut order);
        let half = order.len() / 2;
        let mut flows = Flows::default();
        for (a, b) in order[..half].iter().zip(&order[half..]) {
            flows.add(routing, &rails[a.ix()], &rails[b.ix()])?;
        }
        let n = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch.tick("bisections", n, patterns.into())?;
        congest(routing, flows, &relative).map_err(EbbError::from)
    };
    let outcomes: Vec<Outcome> =
        (0..patterns).into_par_iter().map(run).collect::<Result<_, _>>()?;
    let mut result = Ebb { patterns: Vec::new(), flows: [0; 20], max_congestion: 0.0 };
    for outcome in outcomes {
        result.patterns.push(outcome.mean);
        result.max_congestion = result.max_congestion.max(outcome.max_congestion);
        for (sum, n) in result.flows.iter_mut().zip(outcome.flows) {
            *sum += u64::from(n);
        }
    }
    Ok(result)
}

/// The routes of all flows of a pattern, one flow after the other.
#[derive(Default)]
struct Flows {
    /// Switch that each route has come to.
    at: Vec<SwitchId>,
    /// Where the table of its layer and destination begins in [`Routing::next`].
    table: Vec<usize>,
    /// Switch that it must come to.
    home: Vec<SwitchId>,
    /// Part of its flow that takes it.
    share: Vec<f64>,
    /// Number of routes up to the end of each flow.
    ends: Vec<usize>,
}

impl Flows {
    /// Adds a flow between two endpoints: their rails paired plane by plane, in every layer.
    fn add(
        &mut self,
        routing: &Routing,
        from: &[TerminalId],
        to: &[TerminalId],
    ) -> Result<(), Refusal> {
        let on = routing.topology();
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let begin = self.at.len();
        for (&a, &b) in from.iter().flat_map(|a| to.iter().map(move |b| (a, b))) {
            if on.plane_of(a) != on.plane_of(b) {
                continue;
            }
            for layer in 0..routing.layers() as usize {
                self.at.push(on.terminals()[a.ix()].plug.switch);
                self.home.push(on.terminals()[b.ix()].plug.switch);
                self.table.push((layer * terminals + b.ix()) * switches);
            }
        }
        let routes = self.at.len() - begin;
        if routes == 0 {
            let help = "every pair needs a common plane";
            return Err(Refusal::new("", "two endpoints share no plane", help));
        }
        self.share.resize(self.at.len(), 1.0 / routes as f64);
        self.ends.push(self.at.len());
        Ok(())
    }
}

/// No channel: the route has ended before this step.
const ENDED: u32 = u32::MAX;

struct Outcome {
    mean: f64,
    flows: [u32; 20],
    max_congestion: f64,
}

/// Time a channel takes for one endpoint's worth of traffic, 1 where its link is as fast as the
/// fastest endpoint cable.
fn relative_cost(routing: &Routing) -> Vec<f64> {
    let on = routing.topology();
    let injection = on.terminals().iter().map(|t| t.cable.rate_gbps()).fold(0.0, f64::max);
    on.links().iter().flat_map(|l| [injection / l.cable.rate_gbps(); 2]).collect()
}

/// The bandwidth of every flow when all send at once.
///
/// All routes take their steps together, so that one step's wait for memory hides the others'.
fn congest(routing: &Routing, mut flows: Flows, relative: &[f64]) -> Result<Outcome, Refusal> {
    let on = routing.topology();
    let mut load = vec![0.0_f64; on.graph().links() * 2];
    let mut steps: Vec<Vec<u32>> = Vec::new();
    loop {
        let mut step = vec![ENDED; flows.at.len()];
        let mut moved = false;
        for (i, taken) in step.iter_mut().enumerate() {
            let at = flows.at[i];
            let port = routing.next()[flows.table[i] + at.ix()];
            if let Some((channel, next)) = on.hop(at, port) {
                load[channel.0 as usize] += flows.share[i] * relative[channel.0 as usize];
                *taken = channel.0;
                flows.at[i] = next;
                moved = true;
            }
        }
        if !moved {
            break;
        }
        steps.push(step);
        if steps.len() > on.switches().len() {
            return Err(Refusal::new("", "a route goes in a loop", "verify the tables first"));
        }
    }
    if let Some(i) = (0..flows.at.len()).find(|&i| flows.at[i] != flows.home[i]) {
        let name = &on.switches()[flows.at[i].ix()].name;
        let why = format!("a route ends at switch {name}, where it must not");
        return Err(Refusal::new("", why, "verify the tables first"));
    }
    let mut worst = vec![1.0_f64; flows.at.len()];
    for step in &steps {
        for (worst, &channel) in worst.iter_mut().zip(step).filter(|(_, c)| **c != ENDED) {
            *worst = worst.max(load[channel as usize]);
        }
    }
    let mut outcome = Outcome { mean: 0.0, flows: [0; 20], max_congestion: 0.0 };
    let mut begin = 0;
    for &end in &flows.ends {
        let routes = &worst[begin..end];
        let bandwidth = routes.iter().map(|w| 1.0 / w).sum::<f64>() / routes.len() as f64;
        outcome.max_congestion = routes.iter().fold(outcome.max_congestion, |m, w| m.max(*w));
        outcome.mean += bandwidth;
        let bin = ((bandwidth * 20.0 - 1e-9).floor() as usize).min(19);
        outcome.flows[bin] += 1;
        begin = end;
    }
    outcome.mean /= flows.ends.len() as f64;
    Ok(outcome)
}
