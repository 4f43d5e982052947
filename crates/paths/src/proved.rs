//! Makes a guide from the user's rules for paths: it builds the paths, proves them free of
//! deadlock, and adds the selection that chooses among them.

use crate::PathSource;
use crate::guide::RoutingGuide;
use crate::select::{
    CandidatePaths, CommonAncestorGuide, DetourGuide, ForwardingTableGuide, LaneUseRule,
    MOST_CLASSES, PathSelection, PathSelectionParameters, PathSelectionSpec,
};
use crate::wiring::RouterWiring;
use base::{ComputationError, ProgressWatch, Refusal, SwitchId};
use fabric::Topology;
use fabric::geometry::PlaneStructure;
use fabric::size::NetworkSize;
use fabric::tables::Routing;
use fabric::tables::candidates::{
    CandidateScheme, GroupMinimalRouting, LaneClasses, MinimalAdaptiveRouting,
    ProgressiveAdaptiveRouting, RouteLegScheme,
};
use fabric::tables::candidates::{UpDownAdaptiveRouting, ValiantDetourRouting, groups};
use std::sync::Arc;
use verify::{RouteLimits, Verdict, VerificationVerdicts, VerifiedRouting};

/// The rules by which packets choose among the paths that exist.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathChoiceRules<'a> {
    /// The selection: which path a packet takes.
    pub selection: &'a PathSelectionSpec,
    /// The parameters of the selection.
    pub choosing: PathSelectionParameters,
    /// The virtual channels that packets may use.
    pub lane_use: LaneUseRule,
    /// The number of virtual channels of a port.
    pub virtual_channels: u8,
    /// Whether the paths may be used without a proof that they are free of deadlock.
    pub unverified: bool,
}

/// A guide, whether its paths are proved free of deadlock, and which lanes its packets use.
pub struct ProvedRoutingGuide {
    /// The guide.
    pub guide: Box<dyn RoutingGuide + Send>,
    /// Whether the paths were proved free of deadlock; false where the rules ask for no proof.
    pub verified: bool,
    /// The lanes that packets use; chosen here where the rules say `auto`.
    pub lane_use: LaneUseRule,
}

/// The largest number of virtual channels of a router.
const MOST_LANES: u32 = 32;

/// The rules and the network that a guide is made for.
#[derive(Clone, Copy)]
struct RoutingGuideRequest<'a> {
    rules: PathChoiceRules<'a>,
    wiring: &'a Arc<RouterWiring>,
    watch: &'a dyn ProgressWatch,
}

/// The legs of detours in a network of groups; the largest number of hops of a leg, and of a leg to
/// which a packet changes after its first hop; and the number of lane classes needed.
struct GroupDetourRouting {
    via: ValiantDetourRouting<GroupMinimalRouting>,
    reach: (u32, u8),
    needed: u32,
}

/// The guide of packets that take paths of `source` by these rules.
///
/// # Errors
/// When the rules do not fit the network or its tables, when the rules want a proof and the paths
/// are not free of deadlock, or when `watch` asks to stop.
pub fn guide(
    source: PathSource,
    rules: PathChoiceRules<'_>,
    wiring: &Arc<RouterWiring>,
    watch: &dyn ProgressWatch,
) -> Result<ProvedRoutingGuide, ComputationError> {
    let case = RoutingGuideRequest { rules, wiring, watch };
    let t = match source {
        PathSource::Tables(routing) => return case.of_tables(*routing),
        PathSource::Network(t) => t,
    };
    if rules.selection.kind().entry().paths == CandidatePaths::UpDown {
        return case.nearest_ancestor(t);
    }
    let lanes = u32::from(rules.virtual_channels);
    let shortest = MinimalAdaptiveRouting::new(t.clone(), LaneClasses::any(lanes as u8), watch)?;
    let reach = longest(&shortest, |a, b| shortest.hops(a, b));
    let by_hops = case.classes(reach);
    let has_groups = groups(&t).is_some();
    let lane_use = match rules.lane_use {
        LaneUseRule::Auto if by_hops > lanes && has_groups => LaneUseRule::Groups,
        LaneUseRule::Auto => LaneUseRule::Hops,
        given => given,
    };
    let help = || case.advice(&t, by_hops, lane_use);
    let (guide, verified) = match lane_use {
        LaneUseRule::Auto | LaneUseRule::Hops => {
            let (classes, turns) = case.turning(by_hops, reach);
            let leg = shortest.with_lanes(case.lanes_of(classes));
            case.over(ValiantDetourRouting::by_hop(leg), (reach, turns), help)?
        }
        LaneUseRule::Any => {
            let turns = case.turning(0, reach).1;
            case.over(ValiantDetourRouting::by_hop(shortest), (reach, turns), help)?
        }
        LaneUseRule::Groups => {
            let legs = case.by_groups(t.clone()).map_err(|stop| named(stop, "lane_use"))?;
            case.over(legs.via, legs.reach, help)?
        }
    };
    Ok(ProvedRoutingGuide { guide, verified, lane_use })
}

/// The same refusal, but for parameter `param`.
fn named(stop: ComputationError, param: &str) -> ComputationError {
    match stop {
        ComputationError::Refused(r) => {
            ComputationError::Refused(Refusal { param: param.to_owned(), ..r })
        }
        other @ ComputationError::Interrupted(_) => other,
    }
}

/// The largest `measure` over all pairs of switches with endpoints for which it is not `None`.
fn longest(
    paths: &impl CandidateScheme,
    measure: impl Fn(SwitchId, SwitchId) -> Option<u8>,
) -> u32 {
    let edge: Vec<SwitchId> = paths.topology().edge_switches().into_iter().map(SwitchId).collect();
    let pairs = edge.iter().flat_map(|a| edge.iter().map(move |b| (*a, *b)));
    pairs.filter_map(|(a, b)| measure(a, b)).max().unwrap_or(0).into()
}

impl RoutingGuideRequest<'_> {
    /// The number of lane classes that a path needs so that its class can rise at every step; one
    /// leg of the path needs `of_leg` classes.
    fn classes(&self, of_leg: u32) -> u32 {
        let legs = if self.rules.selection.is_minimal() { 1 } else { 2 };
        (legs * of_leg).max(1)
    }

    /// The number of lane classes, and the largest distance of an intermediate switch to which a
    /// packet of PAR changes after its first hop: any distance where there is one virtual channel
    /// more than classes needed, otherwise 1; 0 where paths are too short for a change.
    fn turning(&self, classes: u32, longest: u32) -> (u32, u8) {
        let has_more = classes < u32::from(self.rules.virtual_channels);
        match (self.rules.selection.is_progressive(), longest) {
            (true, 2..) if has_more => (classes + 1, longest as u8),
            (true, 2..) => (classes, 1),
            _ => (classes, 0),
        }
    }

    /// The router's lanes divided into this number of classes. Where there are fewer lanes, every
    /// lane is a class.
    fn lanes_of(&self, classes: u32) -> LaneClasses {
        let lanes = u32::from(self.rules.virtual_channels);
        let classes = classes.min(lanes);
        LaneClasses { classes: classes as u8, width: (lanes / classes) as u8 }
    }

    /// Legs that cross the fewest links between groups, with their lane classes.
    fn by_groups(&self, t: Arc<Topology>) -> Result<GroupDetourRouting, ComputationError> {
        let leg =
            GroupMinimalRouting::new(t, LaneClasses::any(self.rules.virtual_channels), self.watch)?;
        let needed = self.classes(longest(&leg, |a, b| leg.crossings(a, b)) + 1);
        let reach = longest(&leg, |a, b| leg.hops(a, b));
        let (classes, turns) = self.turning(needed, reach);
        let leg = leg.with_lanes(self.lanes_of(classes.min(MOST_CLASSES.into())));
        Ok(GroupDetourRouting {
            via: ValiantDetourRouting::by_group(leg),
            reach: (reach, turns),
            needed,
        })
    }

    /// Changes of parameters with which the proof would succeed: more virtual channels, or another
    /// `lane_use`. Lanes by hops are free of deadlock in every network. Lanes by groups are tried
    /// with a proof, because inside a group of a larger diameter packets of one lane may still wait
    /// for one another.
    fn advice(
        &self,
        t: &Arc<Topology>,
        by_hops: u32,
        used: LaneUseRule,
    ) -> Result<String, ComputationError> {
        let mut advised = Vec::new();
        if by_hops <= MOST_LANES {
            advised
                .push(format!("switch.virtual_channels of at least {by_hops} with lane_use hops"));
        }
        let given = u32::from(self.rules.virtual_channels);
        let needed = match groups(t) {
            Some(_) => Some(self.by_groups(t.clone())?.needed),
            None => None,
        };
        let is_other = |needed: &u32| used != LaneUseRule::Groups || *needed > given;
        if let Some(needed) = needed.filter(|n| *n <= MOST_LANES).filter(is_other) {
            let rules = PathChoiceRules { virtual_channels: needed.max(given) as u8, ..self.rules };
            let legs = RoutingGuideRequest { rules, ..*self }.by_groups(t.clone())?;
            if self.proves(legs.via, legs.reach)? {
                advised.push(format!("{needed} with lane_use groups"));
            }
        }
        if advised.is_empty() {
            advised.push("a network of fewer hops".to_owned());
        }
        Ok(advised.join(", "))
    }

    /// Whether the selection's paths over the legs of `via` are proved free of deadlock.
    fn proves<B: RouteLegScheme + Clone>(
        &self,
        via: ValiantDetourRouting<B>,
        (longest, turns): (u32, u8),
    ) -> Result<bool, ComputationError> {
        let watch = self.watch;
        let selection = self.rules.selection;
        Ok(if selection.is_minimal() {
            VerifiedRouting::scheme(via.beneath().clone(), watch)?.is_ok()
        } else if selection.is_progressive() {
            VerifiedRouting::scheme(
                ProgressiveAdaptiveRouting::new(via, longest as u8, turns),
                watch,
            )?
            .is_ok()
        } else {
            VerifiedRouting::scheme(via, watch)?.is_ok()
        })
    }

    /// The selection's guide over the legs of `via`, and whether its paths are proved free of
    /// deadlock.
    fn over<B: RouteLegScheme + Clone>(
        &self,
        via: ValiantDetourRouting<B>,
        (longest, turns): (u32, u8),
        help: impl FnOnce() -> Result<String, ComputationError>,
    ) -> Result<(Box<dyn RoutingGuide + Send>, bool), ComputationError> {
        let RoutingGuideRequest { rules, wiring, watch } = *self;
        let scheme = ProgressiveAdaptiveRouting::new(via, longest as u8, turns);
        let selection = rules.selection;
        let kind = if selection.is_progressive() { PathSelection::Par } else { selection.kind() };
        let by_score = |guide: DetourGuide| match selection.custom() {
            Some(custom) => Box::new(guide.scored(custom)),
            None => Box::new(guide),
        };
        if rules.unverified {
            let guide = DetourGuide::unproved(&scheme, kind, rules.choosing, wiring, watch)?;
            return Ok((by_score(guide), false));
        }
        check_turns(scheme.topology())?;
        let proved = if selection.is_minimal() {
            VerifiedRouting::scheme(scheme.via().beneath().clone(), watch)?
                .map(|leg| DetourGuide::minimal(&leg, wiring, watch))
        } else if selection.is_progressive() {
            VerifiedRouting::scheme(scheme.clone(), watch)?
                .map(|scheme| DetourGuide::progressive(&scheme, rules.choosing, wiring, watch))
        } else {
            VerifiedRouting::scheme(scheme.via().clone(), watch)?
                .map(|via| DetourGuide::via(&via, kind, rules.choosing, wiring, watch))
        };
        match proved {
            Ok(guide) => Ok((by_score(guide?), true)),
            Err(flaw) => Err(unproved(flaw, help()? + ", or --unverified")),
        }
    }

    fn of_tables(&self, routing: Routing) -> Result<ProvedRoutingGuide, ComputationError> {
        let RoutingGuideRequest { rules, wiring, watch } = *self;
        let lanes = rules.virtual_channels;
        let guide = ForwardingTableGuide::new(
            routing.clone(),
            rules.selection,
            rules.choosing,
            lanes,
            wiring,
        )?;
        if !rules.unverified {
            check_turns(routing.topology())?;
            let limits = RouteLimits { lanes, ..RouteLimits::NONE };
            if let Err(found) = VerifiedRouting::routing(routing, limits, watch)? {
                let help = "tables that `flyloom verify` holds good, or --unverified";
                return Err(unproved(fault(&found), help.to_owned()));
            }
        }
        let verified = !rules.unverified;
        Ok(ProvedRoutingGuide { guide: Box::new(guide), verified, lane_use: rules.lane_use })
    }

    fn nearest_ancestor(&self, t: Arc<Topology>) -> Result<ProvedRoutingGuide, ComputationError> {
        let RoutingGuideRequest { rules, wiring, watch } = *self;
        if t.geometry().form != PlaneStructure::Levels {
            let help = "a tree: its switches have levels";
            return Err(Refusal::new("selection", "anca on a network without levels", help).into());
        }
        let top = t.switches().iter().map(|s| s.level).max().unwrap_or(0);
        let rank: Vec<u32> = t.switches().iter().map(|s| u32::from(top - s.level)).collect();
        let scheme = UpDownAdaptiveRouting::new(t, rank.clone(), rules.virtual_channels, watch)?;
        match VerifiedRouting::scheme(scheme, watch)? {
            Ok(proved) => {
                let guide = CommonAncestorGuide::new(&proved, rank, rules.choosing, wiring, watch)?;
                Ok(ProvedRoutingGuide {
                    guide: Box::new(guide),
                    verified: true,
                    lane_use: rules.lane_use,
                })
            }
            Err(flaw) => Err(unproved(flaw, "a tree that works".to_owned())),
        }
    }
}

/// The memory for the proof of a selection's paths over `lanes` virtual channels, in bytes: one bit
/// for each turn and pair of lane classes on it, numbers for every lane of a channel, and one byte
/// for each pair of switches.
pub fn proof_bytes(
    size: &NetworkSize,
    selection: &PathSelectionSpec,
    lane_use: LaneUseRule,
    lanes: f64,
) -> f64 {
    let legs = if selection.is_minimal() { 1.0 } else { 2.0 };
    let classes =
        if lane_use == LaneUseRule::Any { 1.0 } else { lanes.min(legs * size.depth + 1.0) };
    let turns = size.arcs() * size.radix;
    let channels = size.arcs() * (24.0 * classes + 4.0 * lanes);
    turns * classes * classes / 8.0 + channels + size.switches * size.switches
}

/// Refuses networks whose turns (a channel and the next one) are more than a proof can number.
fn check_turns(on: &Topology) -> Result<(), Refusal> {
    let graph = on.graph();
    let turns: u64 = (0..graph.switches()).map(|s| (graph.degree(s) as u64).pow(2)).sum();
    if u32::try_from(turns).is_ok() {
        return Ok(());
    }
    let why = format!("{turns} turns from a channel to the next; a proof has at most 2^32 - 1");
    Err(Refusal::new("network", why, "a smaller network, or --unverified"))
}

/// The refusal of paths on which packets can wait for each other in a cycle. It names the first
/// channel of the cycle.
fn unproved(why: impl std::fmt::Display, help: String) -> ComputationError {
    let why = why.to_string();
    let reason = match why.split_once('\n') {
        Some((first, rest)) => format!("{first}; {} more in the cycle", rest.lines().count()),
        None => why,
    };
    Refusal::new("routing", format!("not proved free of deadlock: {reason}"), help).into()
}

/// Says in words what is wrong with forwarding tables.
fn fault(found: &VerificationVerdicts) -> String {
    if let Verdict::Fails(why) = &found.complete {
        return why.to_string();
    }
    if let Some(Verdict::Fails(cycle)) = &found.deadlock {
        return cycle.to_string();
    }
    match (&found.rechecked, &found.lanes) {
        (Some(Err(why)), _) => why.clone(),
        (_, Some(Verdict::Fails(excess))) => excess.to_string(),
        _ => "nothing was found".to_owned(),
    }
}
