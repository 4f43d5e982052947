//! Congestion of communication patterns over given tables.
//!
//! Source: Schneider, Hoefler, Lumsdaine, "ORCS: an oblivious routing congestion simulator",
//! Indiana University, Technical Report 675, 2009; Hoefler, Schneider, Lumsdaine, "Multistage
//! switches are not crossbars", Cluster 2008.

use super::flows::{CompactRoutingTables, FlowCongestionCounter, FlowResult};
use super::rounding::{rounded_up, twentieth};
use base::seed::RandomStream;
use base::{ComputationError, EndpointId, Interrupted, ProgressWatch, Refusal};
use fabric::tables::Routing;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use traffic::pattern::{CommunicationPattern, RankMessage};
use traffic::sending::working;

/// The number of parts that runs are divided into. Sums are taken over the runs of a part, then
/// over parts in order, so that they do not depend on the number of threads.
const PARTS: u32 = 64;
/// The largest number of routes of messages that are sent at once.
pub(super) const MAX_ROUTES: u64 = 1 << 24;

/// The assignment of the pattern's ranks to endpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RankEndpointOrder {
    /// In random order, drawn again for each run.
    Random,
    /// In the order of the network.
    Linear,
    /// The named or numbered endpoints first, in this order; the other endpoints after them, in
    /// random order.
    Given(Vec<String>),
}

/// The levels of the pattern that are sent, and whether they are sent together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternLevelSelection {
    /// All levels, one after the other.
    Each,
    /// All levels at once.
    Together,
    /// One level alone.
    One(u32),
}

/// The setup of a simulation of a pattern.
#[derive(Debug, Clone)]
pub struct PatternSimulationSetup {
    /// The pattern: `NAME`, `NAME:ARGUMENT`, or two of these joined by `::`, for two jobs at the
    /// same time.
    pub pattern: String,
    /// Number of runs.
    pub runs: u32,
    /// Seed of all random draws; run i depends only on the seed and i.
    pub seed: u64,
    /// How many endpoints take part; by default all working ones, or those of the order.
    pub endpoints: Option<u32>,
    /// The number of these that belong to the first of two jobs; by default half of them.
    pub first_job: Option<u32>,
    /// How ranks are assigned to endpoints.
    pub order: RankEndpointOrder,
    /// Which levels are sent.
    pub levels: PatternLevelSelection,
    /// Whether the cables between endpoints and switches are counted.
    pub endpoint_cables: bool,
}

/// The result of one run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatternRunResult {
    /// Mean share of its messages, weighted by their amounts; 1 without messages.
    pub share: f64,
    /// Mean share of the messages of each job.
    pub job_shares: [f64; 2],
    /// Largest congestion of any message; 0 without messages.
    pub congestion: f64,
    /// Sum over levels of the largest congestion: the time of a program in which each level waits
    /// for the one before.
    pub time: f64,
    /// The latest arrival of a message, if a message takes as long as its congestion and waits for
    /// all that its sender received in earlier levels. With two jobs, that of the first.
    pub delay: f64,
}

/// The result over all runs. Shares are parts of an endpoint's full injection rate; a congestion is
/// in endpoints' worth of traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct CongestionResult {
    /// The number of endpoints that took part.
    pub endpoints: u32,
    /// Endpoints of the first job; `None` with one job.
    pub first_job: Option<u32>,
    /// Number of levels of a run.
    pub levels: u32,
    /// The result of each run.
    pub runs: Vec<PatternRunResult>,
    /// Histogram of shares: `shares[i]` messages of all runs got a share in `(i / 20, (i + 1) /
    /// 20]`.
    pub shares: [u64; 20],
    /// Smallest and largest share of any message.
    pub share_range: [f64; 2],
    /// Number of messages by their congestion, rounded up.
    pub congestions: BTreeMap<u64, u64>,
    /// The mean over runs of the amount that each channel carried in all levels of a run. The
    /// channels of links come first, by [`base::ChannelId`]; then two for each terminal, out of its
    /// endpoint and into it.
    pub channels: Vec<f64>,
}

/// Simulates `setup.runs` runs of a pattern over `routing`.
///
/// A message is spread evenly over the rails that its endpoints have in common and over all layers.
/// The congestion of a channel is the sum of the traffic that crosses it in a level, times the rate
/// of the fastest endpoint cable divided by the rate of the channel's cable. O(runs * messages *
/// layers * hops), in parallel over runs.
///
/// # Errors
/// When the pattern or a parameter cannot be used, when a route does not arrive, or when `watch`
/// says stop.
pub fn congestion(
    routing: &Routing,
    setup: &PatternSimulationSetup,
    watch: &dyn ProgressWatch,
) -> Result<CongestionResult, ComputationError> {
    let compact = CompactRoutingTables::new(routing, setup.endpoint_cables);
    let alive = working(routing.topology());
    let (given, others) = given_first(routing, &alive, &setup.order)?;
    let most = alive.len() as u32;
    let wanted = if given.is_empty() { most } else { given.len() as u32 };
    let ranks = setup.endpoints.unwrap_or(wanted);
    if !(2..=most).contains(&ranks) {
        let why = format!("{ranks} of {most} working endpoints");
        return Err(Refusal::new("endpoints", why, format!("2 to {most}")).into());
    }
    if setup.runs == 0 {
        return Err(Refusal::new("samples", "0 is out of range", "1 to 4294967295").into());
    }
    let all = ranks == most && setup.first_job.is_none();
    let placed = all && given_by_places(setup);
    let (given, others) = if placed { (alive.clone(), Vec::new()) } else { (given, others) };
    let jobs = SimulatedPatternJobs::parse(setup, ranks, placed.then_some(routing), watch)?;
    let levels = match setup.levels {
        PatternLevelSelection::Each => jobs.levels(),
        PatternLevelSelection::Together => 1,
        PatternLevelSelection::One(level) if level < jobs.levels() => 1,
        PatternLevelSelection::One(level) => {
            let help = format!("0 to {}", jobs.levels().saturating_sub(1));
            return Err(Refusal::new("level", format!("there is no level {level}"), help).into());
        }
    };
    if jobs.levels() == 0 {
        return Err(Refusal::new("pattern", "null sends nothing", "another pattern").into());
    }
    let routes = jobs.most_messages(setup.levels) * u64::from(routing.layers());
    if routes > MAX_ROUTES {
        let why = format!("{routes} routes at once for {} layers", routing.layers());
        let help = format!("at most {MAX_ROUTES}: fewer endpoints, partners or layers");
        return Err(Refusal::new("pattern", why, help).into());
    }
    let work = PatternRunContext { setup, compact: &compact, given, others, ranks, jobs };
    let all = work.all(watch)?;
    Ok(CongestionResult {
        endpoints: ranks,
        first_job: work.jobs.second.is_some().then_some(work.jobs.first_ranks),
        levels,
        congestions: all.congestions(),
        runs: all.runs,
        shares: all.shares,
        share_range: all.share_range,
        channels: all.channels.iter().map(|sum| sum / f64::from(setup.runs)).collect(),
    })
}

/// Whether the pattern depends on the switches of endpoints. Its ranks are then endpoints in the
/// order of the network, unless the order assigns them.
fn given_by_places(setup: &PatternSimulationSetup) -> bool {
    let linear =
        !matches!(setup.order, RankEndpointOrder::Given(_)) && !setup.pattern.contains("::");
    linear && CommunicationPattern::goes_by_places(&setup.pattern)
}

/// The endpoints that the order names, at their positions; and the endpoints that it does not name.
fn given_first(
    routing: &Routing,
    alive: &[EndpointId],
    order: &RankEndpointOrder,
) -> Result<(Vec<EndpointId>, Vec<EndpointId>), Refusal> {
    let names = match order {
        RankEndpointOrder::Random => return Ok((Vec::new(), alive.to_vec())),
        RankEndpointOrder::Linear => return Ok((alive.to_vec(), Vec::new())),
        RankEndpointOrder::Given(names) => names,
    };
    let endpoints = routing.topology().endpoints();
    let by_name: HashMap<&str, usize> =
        endpoints.iter().enumerate().map(|(i, e)| (e.name.as_str(), i)).collect();
    let working: HashSet<EndpointId> = alive.iter().copied().collect();
    let mut taken = HashSet::new();
    let mut given = Vec::new();
    for name in names {
        let number = name.parse().ok().filter(|i| *i < endpoints.len());
        let found = by_name.get(name.as_str()).copied().or(number).map(EndpointId::from);
        let refuse = |why: &str, help: String| {
            Err(Refusal::new("placement", format!("'{name}' {why}"), help))
        };
        let Some(e) = found.filter(|e| working.contains(e)) else {
            let help = format!("names, or numbers 0 to {}", endpoints.len().saturating_sub(1));
            return refuse("is no working endpoint", help);
        };
        if !taken.insert(e) {
            return refuse("is there twice", "each endpoint once".into());
        }
        given.push(e);
    }
    Ok((given, alive.iter().copied().filter(|e| !taken.contains(e)).collect()))
}

/// The jobs of a simulation: one pattern, or two on parts of the ranks.
struct SimulatedPatternJobs {
    first: CommunicationPattern,
    first_ranks: u32,
    second: Option<(CommunicationPattern, u32)>,
}

impl SimulatedPatternJobs {
    /// Reads the pattern of `setup`; a pattern that depends on switches uses the network of
    /// `tables`.
    fn parse(
        setup: &PatternSimulationSetup,
        ranks: u32,
        tables: Option<&Routing>,
        watch: &dyn ProgressWatch,
    ) -> Result<Self, ComputationError> {
        let Some((first, second)) = setup.pattern.split_once("::") else {
            if setup.first_job.is_some() {
                let why = format!("'{}' is one job", setup.pattern);
                return Err(Refusal::new("first_job", why, "two, such as ring::bisect").into());
            }
            let first = match tables {
                Some(on) => {
                    CommunicationPattern::on(on.topology(), tables, &setup.pattern, ranks, watch)?
                }
                None => CommunicationPattern::parse(&setup.pattern, ranks)?,
            };
            return Ok(Self { first, first_ranks: ranks, second: None });
        };
        let part = setup.first_job.unwrap_or(ranks / 2);
        if ranks < 4 || !(2..=ranks - 2).contains(&part) {
            let why = format!("{part} of {ranks} endpoints for the first job");
            let help = format!("2 to {}", ranks.saturating_sub(2));
            return Err(match ranks {
                0..4 => Refusal::new("endpoints", why, "two jobs need at least 4 endpoints"),
                _ => Refusal::new("first_job", why, help),
            }
            .into());
        }
        let second = (CommunicationPattern::parse(second, ranks - part)?, ranks - part);
        let first = CommunicationPattern::parse(first, part)?;
        Ok(Self { first, first_ranks: part, second: Some(second) })
    }

    /// The number of levels of the longer job. The second job is repeated until the first has
    /// ended, and its last repetition is completed.
    fn levels(&self) -> u32 {
        let first = self.first.levels(self.first_ranks);
        match &self.second {
            None => first,
            Some((pattern, ranks)) => match pattern.levels(*ranks) {
                0 => first,
                second => first.max(1).div_ceil(second) * second,
            },
        }
    }

    /// The messages of these levels of each job, those of the first job first, and the number of
    /// messages of the first job.
    fn messages(
        &self,
        first: Range<u32>,
        second: Range<u32>,
        draws: &mut [RandomStream; 2],
    ) -> (Vec<RankMessage>, usize) {
        let mut all = Vec::new();
        for level in first {
            all.extend(self.first.messages(level, self.first_ranks, &mut draws[0]));
        }
        let (firsts, from) = (all.len(), self.first_ranks);
        for level in second {
            if let Some((pattern, ranks)) = &self.second {
                let more = pattern.messages(level, *ranks, &mut draws[1]);
                all.extend(more.iter().map(|(a, b)| (a + from, b + from)));
            }
        }
        (all, firsts)
    }

    /// The messages of a level of both jobs.
    fn level(&self, level: u32, draws: &mut [RandomStream; 2]) -> (Vec<RankMessage>, usize) {
        let first = self.first.levels(self.first_ranks);
        let second = self.second.as_ref().map_or(0, |(pattern, ranks)| pattern.levels(*ranks));
        let again = level.checked_rem(second).map_or(0..0, |level| level..level + 1);
        self.messages(level.min(first)..(level + 1).min(first), again, draws)
    }

    /// The messages of all levels of both jobs.
    fn together(&self, draws: &mut [RandomStream; 2]) -> (Vec<RankMessage>, usize) {
        let second = self.second.as_ref().map_or(0, |(pattern, ranks)| pattern.levels(*ranks));
        self.messages(0..self.first.levels(self.first_ranks), 0..second, draws)
    }

    /// An upper bound of the number of messages that are sent at once.
    fn most_messages(&self, levels: PatternLevelSelection) -> u64 {
        let one = |pattern: &CommunicationPattern, ranks: u32| {
            let times =
                if levels == PatternLevelSelection::Together { pattern.levels(ranks) } else { 1 };
            pattern.most_messages(ranks) * u64::from(times)
        };
        let second = self.second.as_ref().map_or(0, |(pattern, ranks)| one(pattern, *ranks));
        one(&self.first, self.first_ranks) + second
    }
}

/// The data that all runs share.
struct PatternRunContext<'a> {
    setup: &'a PatternSimulationSetup,
    compact: &'a CompactRoutingTables<'a>,
    given: Vec<EndpointId>,
    others: Vec<EndpointId>,
    ranks: u32,
    jobs: SimulatedPatternJobs,
}

/// Congestions below this are counted in an array, larger ones, which are rare, in a map.
const FEW: usize = 64;

/// The counts and sums of some runs.
pub(super) struct PatternRunSums {
    runs: Vec<PatternRunResult>,
    pub(super) shares: [u64; 20],
    pub(super) share_range: [f64; 2],
    few: [u64; FEW],
    many: BTreeMap<u64, u64>,
    channels: Vec<f64>,
}

impl PatternRunSums {
    pub(super) fn new(channels: usize) -> Self {
        Self {
            runs: Vec::new(),
            shares: [0; 20],
            share_range: [f64::INFINITY, f64::NEG_INFINITY],
            few: [0; FEW],
            many: BTreeMap::new(),
            channels: vec![0.0; channels],
        }
    }

    /// Counts messages, adds the sum of their shares, weighted by amounts, to `sum`, and returns
    /// the largest congestion.
    pub(super) fn messages(&mut self, found: &[FlowResult], sum: &mut f64) -> f64 {
        let ([mut low, mut high], mut largest) = (self.share_range, 0.0);
        for met in found {
            *sum += met.share * met.amount;
            self.shares[twentieth(met.share)] += 1;
            low = if met.share < low { met.share } else { low };
            high = if met.share > high { met.share } else { high };
            largest = if met.congestion > largest { met.congestion } else { largest };
            let congestion = rounded_up(met.congestion);
            match self.few.get_mut(congestion as usize) {
                Some(n) => *n += 1,
                None => *self.many.entry(congestion).or_insert(0) += 1,
            }
        }
        self.share_range = [low, high];
        largest
    }

    /// Joins the tally of these runs with that of later runs.
    fn and(mut self, others: Self) -> Self {
        self.runs.extend(others.runs);
        let counts = self.shares.iter_mut().zip(others.shares);
        for (sum, n) in counts.chain(self.few.iter_mut().zip(others.few)) {
            *sum += n;
        }
        let [low, high] = others.share_range;
        self.share_range = [self.share_range[0].min(low), self.share_range[1].max(high)];
        for (congestion, n) in others.many {
            *self.many.entry(congestion).or_insert(0) += n;
        }
        for (sum, carried) in self.channels.iter_mut().zip(others.channels) {
            *sum += carried;
        }
        self
    }

    /// Messages by congestion, rounded up.
    pub(super) fn congestions(&self) -> BTreeMap<u64, u64> {
        let few = (0..).zip(self.few).filter(|(_, n)| *n > 0);
        few.chain(self.many.iter().map(|(&congestion, &n)| (congestion, n))).collect()
    }
}

impl PatternRunContext<'_> {
    fn all(&self, watch: &dyn ProgressWatch) -> Result<PatternRunSums, ComputationError> {
        let done = AtomicU64::new(0);
        let runs = self.setup.runs;
        let bound = |part: u32| (u64::from(runs) * u64::from(part) / u64::from(PARTS)) as u32;
        let part = |part: u32| -> Result<PatternRunSums, ComputationError> {
            watch.tick("runs", done.load(Ordering::Relaxed), runs.into())?;
            let mut tally = PatternRunSums::new(0);
            let mut flows = FlowCongestionCounter::new(self.compact);
            let mut order = Vec::new();
            for run in bound(part)..bound(part + 1) {
                let tick = || watch.tick("runs", done.load(Ordering::Relaxed), runs.into());
                tick()?;
                self.order(run, &mut order);
                let met = self.run(run, &order, &mut flows, &mut tally, &tick)?;
                tally.runs.push(met);
                let n = done.fetch_add(1, Ordering::Relaxed) + 1;
                watch.tick("runs", n, runs.into())?;
            }
            tally.channels = flows.carried;
            Ok(tally)
        };
        // all parts run to their end, so that the first error does not depend on the number of
        // threads
        let parts: Vec<_> = (0..PARTS).into_par_iter().map(part).collect();
        let mut sum = PatternRunSums::new(self.compact.channels());
        for part in parts {
            sum = sum.and(part?);
        }
        Ok(sum)
    }

    /// Determines the endpoint of each rank in a run.
    fn order(&self, run: u32, order: &mut Vec<EndpointId>) {
        order.clear();
        order.extend(&self.given);
        order.extend(&self.others);
        let others = &mut order[self.given.len()..];
        RandomStream::new(self.setup.seed, "bisection", run.into()).shuffle(others);
        order.truncate(self.ranks as usize);
    }

    fn run(
        &self,
        run: u32,
        order: &[EndpointId],
        flows: &mut FlowCongestionCounter,
        tally: &mut PatternRunSums,
        tick: &dyn Fn() -> Result<(), Interrupted>,
    ) -> Result<PatternRunResult, ComputationError> {
        let mut draws = [0, 1]
            .map(|job| RandomStream::new(self.setup.seed, "pattern", 2 * u64::from(run) + job));
        let (mut congestion, mut time) = (0.0_f64, 0.0);
        let (mut sums, mut counts) = ([0.0; 2], [0_usize; 2]);
        let levels = match self.setup.levels {
            PatternLevelSelection::Each => 0..self.jobs.levels(),
            PatternLevelSelection::Together => 0..1,
            PatternLevelSelection::One(level) => level..level + 1,
        };
        let in_one = levels.len() == 1;
        let ranks = if in_one { 0 } else { self.jobs.first_ranks as usize };
        let (mut arrival, mut delay) = (vec![0.0_f64; ranks], 0.0_f64);
        for level in levels {
            tick()?;
            let (messages, first) = match self.setup.levels {
                PatternLevelSelection::Together => self.jobs.together(&mut draws),
                _ => self.jobs.level(level, &mut draws),
            };
            let endpoint = |rank: u32| order[rank as usize];
            let sent = messages.iter().map(|&(a, b)| (endpoint(a), endpoint(b), 1.0));
            let found = flows.level(sent)?;
            let (firsts, seconds) = found.split_at(first);
            counts = [counts[0] + firsts.len(), counts[1] + seconds.len()];
            let [one, two] = &mut sums;
            let most = [tally.messages(firsts, one), tally.messages(seconds, two)];
            if in_one {
                delay = most[0];
            } else {
                let at = |((from, _), met): (&RankMessage, &FlowResult)| {
                    arrival[*from as usize] + met.congestion
                };
                let arrivals: Vec<f64> = messages.iter().zip(firsts).map(at).collect();
                for ((_, to), at) in messages.iter().zip(arrivals) {
                    arrival[*to as usize] = arrival[*to as usize].max(at);
                    delay = delay.max(at);
                }
            }
            let largest = most[0].max(most[1]);
            time += largest;
            congestion = congestion.max(largest);
        }
        let mean = |sum: f64, count: usize| if count == 0 { 1.0 } else { sum / count as f64 };
        Ok(PatternRunResult {
            share: mean(sums[0] + sums[1], counts[0] + counts[1]),
            job_shares: [mean(sums[0], counts[0]), mean(sums[1], counts[1])],
            congestion,
            time,
            delay,
        })
    }
}
