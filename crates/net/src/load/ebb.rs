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
        let flows: Vec<Flow> = order[..half]
            .iter()
            .zip(&order[half..])
            .map(|(a, b)| subflows(routing, &rails[a.ix()], &rails[b.ix()]))
            .collect::<Result<_, Refusal>>()?;
        let n = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch.tick("bisections", n, patterns.into())?;
        congest(routing, &flows, &relative).map_err(EbbError::from)
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

/// The routes of one flow: from this switch to this terminal, in each layer.
type Flow = Vec<(SwitchId, TerminalId)>;

struct Outcome {
    mean: f64,
    flows: [u32; 20],
    max_congestion: f64,
}

/// Pairs the rails of two endpoints plane by plane.
fn subflows(routing: &Routing, from: &[TerminalId], to: &[TerminalId]) -> Result<Flow, Refusal> {
    let on = routing.topology();
    let switch = |t: TerminalId| on.terminals()[t.ix()].plug.switch;
    let pairs: Flow = from
        .iter()
        .flat_map(|&a| to.iter().map(move |&b| (a, b)))
        .filter(|&(a, b)| on.plane_of(a) == on.plane_of(b))
        .map(|(a, b)| (switch(a), b))
        .collect();
    if pairs.is_empty() {
        return Err(Refusal::new(
            "",
            "two endpoints share no plane",
            "every pair needs a common plane",
        ));
    }
    Ok(pairs)
}

/// Time a channel takes for one endpoint's worth of traffic, 1 where its link is as fast as the
/// fastest endpoint cable.
fn relative_cost(routing: &Routing) -> Vec<f64> {
    let on = routing.topology();
    let injection = on.terminals().iter().map(|t| t.cable.rate_gbps()).fold(0.0, f64::max);
    on.links().iter().flat_map(|l| [injection / l.cable.rate_gbps(); 2]).collect()
}

/// The bandwidth of every flow when all send at once.
fn congest(routing: &Routing, flows: &[Flow], relative: &[f64]) -> Result<Outcome, Refusal> {
    let on = routing.topology();
    let mut load = vec![0.0_f64; on.graph().links() * 2];
    let layers = routing.layers();
    let walk = |from: SwitchId, to: TerminalId, layer: u32, visit: &mut dyn FnMut(usize)| {
        let tree = routing.tree(layer, to);
        let home = on.terminals()[to.ix()].plug.switch;
        let mut at = from;
        for _ in 0..on.switches().len() {
            let Some(channel) = routing.step(tree, at) else { break };
            visit(channel.0 as usize);
            at = on.head(channel).switch;
        }
        if at == home {
            return Ok(());
        }
        let name = &on.switches()[from.ix()].name;
        let why = format!("a route from switch {name} does not arrive");
        Err(Refusal::new("", why, "verify the tables first"))
    };
    for flow in flows {
        let share = 1.0 / (flow.len() as f64 * f64::from(layers));
        for &(from, to) in flow {
            for layer in 0..layers {
                walk(from, to, layer, &mut |c| load[c] += share * relative[c])?;
            }
        }
    }
    let mut outcome = Outcome { mean: 0.0, flows: [0; 20], max_congestion: 0.0 };
    for flow in flows {
        let mut bandwidth = 0.0;
        for &(from, to) in flow {
            for layer in 0..layers {
                let mut worst = 1.0_f64;
                walk(from, to, layer, &mut |c| worst = worst.max(load[c]))?;
                bandwidth += 1.0 / worst;
                outcome.max_congestion = outcome.max_congestion.max(worst);
            }
        }
        bandwidth /= flow.len() as f64 * f64::from(layers);
        outcome.mean += bandwidth;
        let bin = ((bandwidth * 20.0 - 1e-9).floor() as usize).min(19);
        outcome.flows[bin] += 1;
    }
    outcome.mean /= flows.len() as f64;
    Ok(outcome)
}
