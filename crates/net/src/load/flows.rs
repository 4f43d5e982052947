//! Flows that are sent at once over tables: what each channel carries, what each flow gets.
//!
//! Source: Hoefler, Schneider, Lumsdaine, "Multistage switches are not crossbars: effects of static
//! routing in high-performance networks", Cluster 2008: a flow gets the inverse of the largest
//! congestion on its route.

use crate::routing::Routing;
use base::{Refusal, SwitchId, TerminalId};

/// What a flow meets on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Met {
    /// Part of the injection rate that it gets: the mean over its routes of 1 / congestion.
    pub share: f64,
    /// Largest congestion on any of its routes, at least 1.
    pub congestion: f64,
}

/// The tables with the room to count what their channels carry.
///
/// Channels of links come first, by [`base::ChannelId`]; then two for each terminal: out of its
/// endpoint and into it.
pub(super) struct Flows<'a> {
    routing: &'a Routing,
    relative: &'a [f64],
    endpoint_cables: bool,
    load: Vec<f64>,
    /// What each channel has carried in all levels so far.
    pub carried: Vec<f64>,
    routes: Routes,
}

/// The routes of all flows of a level, one flow after the other.
#[derive(Default)]
struct Routes {
    /// Switch that each route has come to.
    at: Vec<SwitchId>,
    /// Where the table of its layer and destination begins in [`Routing::next`].
    table: Vec<usize>,
    /// Terminals that it comes from and goes to.
    ends: Vec<(TerminalId, TerminalId)>,
    /// Part of its flow that takes it.
    share: Vec<f64>,
    /// Number of routes up to the end of each flow.
    flows: Vec<usize>,
}

/// No channel: the route has ended before this step.
const ENDED: u32 = u32::MAX;

/// Time a channel takes for one endpoint's worth of traffic, 1 where its cable is as fast as the
/// fastest endpoint cable.
pub(super) fn relative_cost(routing: &Routing) -> Vec<f64> {
    let on = routing.topology();
    let injection = on.terminals().iter().map(|t| t.cable.rate_gbps()).fold(0.0, f64::max);
    let links = on.links().iter().map(|l| l.cable);
    let cables = links.chain(on.terminals().iter().map(|t| t.cable));
    cables.flat_map(|cable| [injection / cable.rate_gbps(); 2]).collect()
}

impl<'a> Flows<'a> {
    /// Room for the flows over `routing`, with the cables of endpoints or without.
    pub(super) fn new(routing: &'a Routing, relative: &'a [f64], endpoint_cables: bool) -> Self {
        let (load, carried) = (vec![0.0; relative.len()], vec![0.0; relative.len()]);
        Self { routing, relative, endpoint_cables, load, carried, routes: Routes::default() }
    }

    /// What each flow meets when all these pairs of endpoints, given by their rails, send at once.
    ///
    /// # Errors
    /// When two endpoints share no plane, or a route does not arrive.
    pub(super) fn level<'r>(
        &mut self,
        pairs: impl Iterator<Item = (&'r [TerminalId], &'r [TerminalId])>,
    ) -> Result<Vec<Met>, Refusal> {
        self.routes = Routes::default();
        for (from, to) in pairs {
            self.routes.add(self.routing, from, to)?;
        }
        let steps = self.walk()?;
        let mut worst = vec![1.0_f64; self.routes.at.len()];
        for step in &steps {
            for (worst, &channel) in worst.iter_mut().zip(step).filter(|(_, c)| **c != ENDED) {
                *worst = worst.max(self.load[channel as usize]);
            }
        }
        for channel in steps.into_iter().flatten().filter(|c| *c != ENDED) {
            self.carried[channel as usize] += self.load[channel as usize];
            self.load[channel as usize] = 0.0;
        }
        let mut begin = 0;
        let met = self.routes.flows.iter().map(|&end| {
            let routes = &worst[std::mem::replace(&mut begin, end)..end];
            let share = routes.iter().map(|w| 1.0 / w).sum::<f64>() / routes.len() as f64;
            Met { share, congestion: routes.iter().fold(1.0, |m, w| m.max(*w)) }
        });
        Ok(met.collect())
    }

    /// The channels of all routes, step by step, and their loads.
    ///
    /// All routes take their steps together, so that one step's wait for memory hides the others'.
    fn walk(&mut self) -> Result<Vec<Vec<u32>>, Refusal> {
        let on = self.routing.topology();
        let routes = &mut self.routes;
        let mut steps: Vec<Vec<u32>> = Vec::new();
        loop {
            let mut step = vec![ENDED; routes.at.len()];
            let mut moved = false;
            for (i, taken) in step.iter_mut().enumerate() {
                let at = routes.at[i];
                let port = self.routing.next()[routes.table[i] + at.ix()];
                if let Some((channel, next)) = on.hop(at, port) {
                    let channel = channel.0 as usize;
                    self.load[channel] += routes.share[i] * self.relative[channel];
                    *taken = channel as u32;
                    routes.at[i] = next;
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
        let home = |t: TerminalId| on.terminals()[t.ix()].plug;
        for (i, &(_, to)) in routes.ends.iter().enumerate() {
            let at = routes.at[i];
            let port = self.routing.next()[routes.table[i] + at.ix()];
            if (at, port) != (home(to).switch, home(to).port) {
                let name = &on.switches()[at.ix()].name;
                let why = format!("a route ends at switch {name}, where it must not");
                return Err(Refusal::new("", why, "verify the tables first"));
            }
        }
        if self.endpoint_cables {
            let first = on.links().len() * 2;
            for side in 0..2 {
                let end = |&(from, to): &(TerminalId, TerminalId)| match side {
                    0 => first + 2 * from.ix(),
                    _ => first + 2 * to.ix() + 1,
                };
                let step: Vec<u32> = routes.ends.iter().map(|ends| end(ends) as u32).collect();
                for (&channel, share) in step.iter().zip(&routes.share) {
                    self.load[channel as usize] += share * self.relative[channel as usize];
                }
                steps.push(step);
            }
        }
        Ok(steps)
    }
}

impl Routes {
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
                self.ends.push((a, b));
                self.table.push((layer * terminals + b.ix()) * switches);
            }
        }
        let routes = self.at.len() - begin;
        if routes == 0 {
            let help = "every pair needs a common plane";
            return Err(Refusal::new("", "two endpoints share no plane", help));
        }
        self.share.resize(self.at.len(), 1.0 / routes as f64);
        self.flows.push(self.at.len());
        Ok(())
    }
}
