//! The traffic that may have caused the loads of channels: non-negative least squares.
//!
//! The unknowns are what each switch's endpoints send to each terminal. The equations say that the
//! routes over a channel carry what was measured there, and that what a switch's endpoints send and
//! what a terminal receives is what was measured on their cables. There are mostly more unknowns
//! than equations: among all traffic that explains the loads equally well the one is found that is
//! near to the gravity model, by which all send to all in proportion to what these receive.
//!
//! Source: Zhang, Roughan, Duffield, Greenberg, "Fast accurate computation of large-scale IP
//! traffic matrices from link loads", SIGMETRICS 2003 (gravity as the start, least squares from
//! there); the minimum with bounds by cyclic coordinate descent.

use crate::load::routes::{DemandRoutes, choices, route};
use base::{ComputationError, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::tables::Routing;
use traffic::demand::TrafficDemand;

/// The measured loads in Gbit/s; `None` where a load is not known.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredLoads {
    /// By channel of links.
    pub channels: Vec<Option<f64>>,
    /// By terminal, what its endpoint sent.
    pub sent: Vec<Option<f64>>,
    /// By terminal, what it received.
    pub received: Vec<Option<f64>>,
}

/// Traffic that explains loads.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficEstimate {
    /// Source switch, terminal and Gbit/s of all that is above 0.
    pub flows: Vec<(SwitchId, TerminalId, f64)>,
    /// Number of unknowns.
    pub unknowns: usize,
    /// Number of equations.
    pub equations: usize,
    /// The length of what is left unexplained, by that of the loads.
    pub residual: f64,
    /// The same of the gravity model alone.
    pub gravity_residual: f64,
    /// Passes over all unknowns.
    pub passes: usize,
}

/// Most passes over all unknowns.
const MOST_PASSES: usize = 2000;
/// Most entries of equations that all passes together look at.
const MOST_LOOKS: usize = 20_000_000_000;
/// A pass that makes the residual smaller by less than this part of the loads is the last.
const LEAST_GAIN: f64 = 1e-9;
/// Most entries of all equations together.
const MOST_ENTRIES: usize = 1 << 27;

/// The equations, unknown by unknown, and what they should give.
#[derive(Debug, Default)]
struct Equations {
    /// Source switch and terminal of each unknown.
    unknowns: Vec<(SwitchId, TerminalId)>,
    /// For each unknown, the index after its last entry; before these, a 0.
    ends: Vec<usize>,
    rows: Vec<u32>,
    shares: Vec<f64>,
    /// The right side.
    loads: Vec<f64>,
}

/// Estimates the traffic that caused loads over given tables. O(unknowns * hops * passes).
///
/// # Errors
/// When no load is known, a route does not arrive, the equations have more than 2^27 entries, or
/// `watch` says stop.
pub fn estimate(
    routing: &Routing,
    measured: &MeasuredLoads,
    watch: &dyn ProgressWatch,
) -> Result<TrafficEstimate, ComputationError> {
    let equations = equations(routing, measured, watch)?;
    let start = gravity(routing, measured, &equations);
    let size = norm(&equations.loads);
    if size <= 0.0 {
        let help = "two samples of counters while there is traffic";
        return Err(Refusal::new("counters", "no load of any channel is known", help).into());
    }
    let mut amounts = start;
    let mut left = equations.loads.clone();
    for (j, &amount) in amounts.iter().enumerate() {
        equations.subtract(j, amount, &mut left);
    }
    let gravity_residual = norm(&left) / size;
    let (mut residual, mut passes) = (gravity_residual, 0);
    let most = MOST_PASSES.min(MOST_LOOKS / equations.rows.len().max(1)).max(1);
    while passes < most {
        watch.tick("estimate", passes as u64, most as u64)?;
        equations.pass(&mut amounts, &mut left);
        passes += 1;
        let now = norm(&left) / size;
        let gain = residual - now;
        residual = now;
        if gain < LEAST_GAIN {
            break;
        }
    }
    let found = equations.unknowns.iter().zip(&amounts).filter(|(_, amount)| **amount > 0.0);
    Ok(TrafficEstimate {
        flows: found.map(|(&(s, t), &amount)| (s, t, amount)).collect(),
        unknowns: equations.unknowns.len(),
        equations: equations.loads.len(),
        residual,
        gravity_residual,
        passes,
    })
}

impl Equations {
    /// Takes what an unknown explains from what is left.
    fn subtract(&self, unknown: usize, amount: f64, left: &mut [f64]) {
        for i in self.ends[unknown]..self.ends[unknown + 1] {
            left[self.rows[i] as usize] -= self.shares[i] * amount;
        }
    }

    /// Sets every unknown in turn to its best value beside the others.
    fn pass(&self, amounts: &mut [f64], left: &mut [f64]) {
        for (j, amount) in amounts.iter_mut().enumerate() {
            let entries = self.ends[j]..self.ends[j + 1];
            let of = |i: usize| (self.shares[i], left[self.rows[i] as usize]);
            let slope: f64 = entries.clone().map(of).map(|(share, rest)| share * rest).sum();
            let curve: f64 = entries.map(|i| self.shares[i] * self.shares[i]).sum();
            if curve > 0.0 {
                let best = (*amount + slope / curve).max(0.0);
                self.subtract(j, best - *amount, left);
                *amount = best;
            }
        }
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The sum of what terminals of a switch sent; `None` where one is not known.
fn sent_by(routing: &Routing, measured: &MeasuredLoads, switch: SwitchId) -> Option<f64> {
    let on = routing.topology();
    on.terminals_on(switch).iter().map(|t| measured.sent[t.ix()]).sum()
}

fn equations(
    routing: &Routing,
    measured: &MeasuredLoads,
    watch: &dyn ProgressWatch,
) -> Result<Equations, ComputationError> {
    let on = routing.topology();
    let mut found = Equations { ends: vec![0], ..Equations::default() };
    let mut row = |load: Option<f64>| {
        load.map(|load| {
            found.loads.push(load);
            found.loads.len() as u32 - 1
        })
    };
    let of_channel: Vec<Option<u32>> = measured.channels.iter().map(|x| row(*x)).collect();
    let of_terminal: Vec<Option<u32>> = measured.received.iter().map(|x| row(*x)).collect();
    let switches = (0..on.switches().len()).map(SwitchId::from);
    let sources: Vec<(SwitchId, Option<u32>)> = switches
        .filter(|s| !on.terminals_on(*s).is_empty() && on.switches()[s.ix()].up)
        .map(|s| (s, row(sent_by(routing, measured, s))))
        .collect();
    let layers = routing.layers();
    for (done, &(source, sent)) in sources.iter().enumerate() {
        watch.tick("routes", done as u64, sources.len() as u64)?;
        for t in (0..on.terminals().len()).map(TerminalId::from) {
            let home = on.terminals()[t.ix()].plug.switch;
            let is_other_plane = on.plane_of(t) != on.switches()[source.ix()].plane;
            // a lone endpoint sends nothing to itself
            let is_itself = home == source && on.terminals_on(source).len() < 2;
            if is_other_plane || is_itself || !on.terminal_is_up(t) {
                continue;
            }
            for layer in 0..layers {
                for channel in route(routing, layer, source, t)? {
                    if let Some(row) = of_channel[channel as usize] {
                        found.rows.push(row);
                        found.shares.push(1.0 / f64::from(layers));
                    }
                }
            }
            for row in [sent, of_terminal[t.ix()]].into_iter().flatten() {
                found.rows.push(row);
                found.shares.push(1.0);
            }
            // nothing can be said of what passes no measured channel
            if found.ends.last() != Some(&found.rows.len()) {
                found.ends.push(found.rows.len());
                found.unknowns.push((source, t));
            }
            if found.rows.len() > MOST_ENTRIES {
                let help = format!("a smaller network or fewer layers: {MOST_ENTRIES} entries");
                return Err(Refusal::new("estimate", "too many equations", help).into());
            }
        }
    }
    Ok(found)
}

/// The gravity model: what a switch sends, distributed over terminals by what they receive. Where
/// that is not known of all, everybody sends the same.
fn gravity(routing: &Routing, measured: &MeasuredLoads, equations: &Equations) -> Vec<f64> {
    let received: Option<Vec<f64>> = measured.received.iter().copied().collect();
    let total: f64 = received.iter().flatten().sum();
    let usual = norm(&equations.loads) / equations.unknowns.len().max(1) as f64;
    let of = |&(source, terminal): &(SwitchId, TerminalId)| {
        let sent = sent_by(routing, measured, source);
        match (&received, sent) {
            (Some(received), Some(sent)) if total > 0.0 => sent * received[terminal.ix()] / total,
            _ => usual,
        }
    };
    equations.unknowns.iter().map(of).collect()
}

/// The load of every channel under given demands, in their unit; the layers of a route share it
/// equally. O(flows * layers * hops).
///
/// # Errors
/// As [`choices`].
pub fn loads(
    routing: &Routing,
    demand: &TrafficDemand,
    watch: &dyn ProgressWatch,
) -> Result<Vec<f64>, ComputationError> {
    let all: DemandRoutes = choices(routing, demand, watch)?;
    let mut loads = vec![0.0; routing.topology().links().len() * 2];
    for (choice, amount) in all.amount.iter().enumerate() {
        let routes = all.of(choice);
        let share = amount / routes.len() as f64;
        for route in routes {
            for &channel in all.channels(route) {
                loads[channel as usize] += share;
            }
        }
    }
    Ok(loads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::QuietWatch;
    use serde_json::Map;
    use std::sync::Arc;

    fn routed(inline: &str) -> Routing {
        let recipe = fabric::network::parse_inline(inline).expect("well formed");
        let family = families::family(&recipe.family).expect("a family");
        let on = Arc::new(family.build(&recipe.params).expect("a member"));
        let engine = engines::engine("min_hop").expect("an engine");
        engine.route(&Map::new(), &on, 1, &QuietWatch).expect("connected")
    }

    /// Amounts of switch and terminal, by a formula.
    fn amount(source: SwitchId, terminal: TerminalId) -> f64 {
        f64::from((source.0 * 7 + terminal.0 * 3) % 11)
    }

    /// The loads that these amounts cause, walked hop by hop.
    fn caused(routing: &Routing) -> MeasuredLoads {
        let on = routing.topology();
        let mut channels = vec![0.0; on.links().len() * 2];
        let (mut sent, mut received) =
            (vec![0.0; on.terminals().len()], vec![0.0; on.terminals().len()]);
        for s in (0..on.switches().len()).map(SwitchId::from) {
            for t in (0..on.terminals().len()).map(TerminalId::from) {
                let home = on.terminals()[t.ix()].plug.switch;
                let own = on.terminals_on(s);
                if own.is_empty() || home == s {
                    continue;
                }
                sent[own[0].ix()] += amount(s, t);
                received[t.ix()] += amount(s, t);
                let mut walk = routing.walk(0, t, s);
                while walk.at() != home {
                    let hop = walk.next().expect("it arrives");
                    channels[hop.channel.0 as usize] += amount(s, t);
                }
            }
        }
        let known = |values: Vec<f64>| values.into_iter().map(Some).collect();
        MeasuredLoads { channels: known(channels), sent: known(sent), received: known(received) }
    }

    #[test]
    fn where_every_pair_has_a_channel_of_its_own_the_traffic_is_found() {
        // one terminal a switch: the channel from s to t carries their amount alone
        let routing = routed("complete:n=7,p=1");
        let found = estimate(&routing, &caused(&routing), &QuietWatch).expect("an estimate");
        assert!(found.residual < 1e-6, "{}", found.residual);
        for &(s, t, gbps) in &found.flows {
            let home = routing.topology().terminals()[t.ix()].plug.switch;
            assert!((gbps - amount(s, t)).abs() < 1e-3, "{s} to {home}: {gbps}");
        }
        let total: f64 = found.flows.iter().map(|(_, _, gbps)| gbps).sum();
        let sent: f64 = caused(&routing).sent.iter().flatten().sum();
        assert!((total - sent).abs() < 1e-2 * sent);
    }

    #[test]
    fn the_estimate_is_a_minimum_with_bounds() {
        let routing = routed("torus:shape=4x3,p=2");
        let mut measured = caused(&routing);
        // loads that no traffic explains, and some that are not known
        measured.channels[0] = Some(500.0);
        measured.channels[5] = None;
        let found = estimate(&routing, &measured, &QuietWatch).expect("an estimate");
        assert!(found.residual > 0.01 && found.residual < found.gravity_residual);
        let equations = equations(&routing, &measured, &QuietWatch).expect("equations");
        let mut left = equations.loads.clone();
        let amounts = amounts(&equations, &found);
        for (j, &x) in amounts.iter().enumerate() {
            equations.subtract(j, x, &mut left);
        }
        // Karush, Kuhn and Tucker: no unknown can be made better alone, which is enough where the
        // function is convex
        let scale = norm(&equations.loads);
        for (j, &x) in amounts.iter().enumerate() {
            let entries = equations.ends[j]..equations.ends[j + 1];
            let slope: f64 =
                entries.map(|i| equations.shares[i] * left[equations.rows[i] as usize]).sum();
            assert!(slope < 1e-3 * scale && (x == 0.0 || slope > -1e-3 * scale), "{j}: {slope}");
        }
    }

    fn amounts(equations: &Equations, found: &TrafficEstimate) -> Vec<f64> {
        let of = |&(s, t): &(SwitchId, TerminalId)| {
            let flow = found.flows.iter().find(|flow| (flow.0, flow.1) == (s, t));
            flow.map_or(0.0, |flow| flow.2)
        };
        equations.unknowns.iter().map(of).collect()
    }

    #[test]
    fn what_passes_no_measured_channel_is_no_unknown() {
        let routing = routed("complete:n=4,p=2");
        let mut measured = caused(&routing);
        measured.sent.fill(None);
        measured.received.fill(None);
        let found = estimate(&routing, &measured, &QuietWatch).expect("an estimate");
        // 4 switches send to the 6 terminals of others
        assert_eq!((found.unknowns, found.equations), (24, 12));
        let on = routing.topology();
        assert!(found.flows.iter().all(|(s, t, _)| on.terminals()[t.ix()].plug.switch != *s));
        assert!(found.residual < 1e-6);
    }

    #[test]
    fn without_any_load_there_is_nothing_to_estimate() {
        let routing = routed("complete:n=4,p=1");
        let none = |count: usize| vec![None; count];
        let measured = MeasuredLoads { channels: none(12), sent: none(4), received: none(4) };
        let refused = estimate(&routing, &measured, &QuietWatch).expect_err("no loads");
        assert!(refused.to_string().contains("no load"), "{refused}");
    }
}
