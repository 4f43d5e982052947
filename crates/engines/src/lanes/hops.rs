//! One lane per hop: the first hop of every path uses lane 0, the next lane 1, and so on.
//!
//! Source: Blach, Besta, De Sensi, Domke, Harake, Li, Iff, Konieczny, Lakhotia, Kubicek, Ferrari,
//! Petrini, Hoefler, "A high-performance design, implementation, deployment, and evaluation of the
//! Slim Fly network", NSDI 2024 (its deadlock avoidance): lanes rise along every path, so no cycle
//! of packets can wait for each other. A switch knows the in-port and the service level of a
//! packet. An in-port from an endpoint means the first hop. Where no path has more than three hops,
//! a path of three hops carries the colour of its second switch as its level, and the two ends of
//! any second hop have different colours. So a switch that sees its own colour is at the second
//! hop, any other switch at the third.
//!
//! Longer paths, and paths for which 15 colours are not enough, get the first service level whose
//! tables do not contradict them at any of their hops.

use super::colouring::{colours, count};
use super::method::MOST_LANES;
use super::paths::each_path;
use base::{ChannelId, ComputationError, Interrupted, ProgressWatch, Refusal, SwitchId};
use fabric::network::{PortPeer, Topology};
use fabric::tables::{
    DestinationBundles, LaneAssignment, PortPairNumbering, Routing, ServiceLevels, Sl2VlMapping,
    Sl2VlPortTables,
};

/// Assigns lanes by hop to `routing`. With `balance`, the remaining lanes are distributed over the
/// hops, and the ports and levels of a switch use the lanes of a hop in turn.
///
/// # Errors
/// When a path has more hops than there are lanes, or when 16 service levels cannot distinguish the
/// hops.
///
/// [`ComputationError::Interrupted`] when `watch` asks to stop.
pub(super) fn lanes(
    routing: Routing,
    max_lanes: u8,
    balance: bool,
    watch: &dyn ProgressWatch,
) -> Result<Routing, ComputationError> {
    let on = routing.topology();
    let (longest, thirds) = lengths(&routing, watch)?;
    if longest > usize::from(max_lanes) {
        let why = format!("paths of {longest} hops need a lane each hop, {max_lanes} are allowed");
        let enough = longest <= usize::from(MOST_LANES);
        let more = if enough { format!("allow {longest} lanes, or ") } else { String::new() };
        let help = format!("{more}use the method online");
        return Err(Refusal::new("max_lanes", why, help).into());
    }
    let lanes = if balance { usize::from(max_lanes) } else { longest };
    let colour = if longest <= 3 { colours_of(on, &thirds) } else { None };
    let (levels, tables) = if let Some(colour) = colour {
        // a packet at its second hop carries the switch's own colour, or level 0
        let hop = |s: SwitchId, _, _| {
            let own = 1 + colour[s.ix()] as usize;
            std::array::from_fn(|sl| if sl == 0 || sl == own { 1 } else { 2 })
        };
        let levels = if longest == 3 {
            ServiceLevels::BySwitch(levels_of(&routing, &colour, watch)?)
        } else {
            ServiceLevels::Same(0)
        };
        (levels, tables(on, longest, lanes, hop, watch)?)
    } else {
        let mut level_of = vec![0_u8; routing.entries()];
        let hops = first_fit(&routing, &mut level_of, watch)?;
        let hop = |s, input, output| hops.hop[hops.at(s, input, output)];
        (ServiceLevels::BySwitch(level_of), tables(on, longest, lanes, hop, watch)?)
    };
    Ok(routing.with_lanes(LaneAssignment::new(levels, Sl2VlMapping::PerPort(tables))))
}

/// The hop number of a packet, by switch, in-port, out-port and service level.
struct HopNumberTable {
    pairs: PortPairNumbering,
    hop: Vec<[u8; 16]>,
}

/// The mark of a service level that no path from the in-port to the out-port has.
const ANY: u8 = u8::MAX;

impl HopNumberTable {
    fn new(on: &Topology) -> Self {
        let pairs = PortPairNumbering::new(on);
        let hop = vec![[ANY; 16]; pairs.count()];
        Self { pairs, hop }
    }

    fn at(&self, s: SwitchId, input: u16, output: u16) -> usize {
        self.pairs.at(s, input, output).expect("ports of a cable that is there")
    }
}

/// SL2VL tables in which hop `h` uses the lanes h, h + `longest`, ... below `lanes`, in turn.
/// `hop_of` returns the hop of each service level by switch, in-port and out-port.
fn tables(
    on: &Topology,
    longest: usize,
    lanes: usize,
    hop_of: impl Fn(SwitchId, u16, u16) -> [u8; 16],
    watch: &dyn ProgressWatch,
) -> Result<Sl2VlPortTables, Interrupted> {
    let mut tables = Sl2VlPortTables::new(on, [0; 16]);
    for (s, switch) in on.switches().iter().enumerate() {
        watch.tick("lanes", s as u64, on.switches().len() as u64)?;
        let s = SwitchId::from(s);
        for input in 0..=switch.ports {
            let fresh = !matches!(on.peer(s, input), PortPeer::Switch(_));
            tables.set_row(s, input, |output| {
                if output == 0 || on.hop(s, output).is_none() {
                    return [0; 16];
                }
                let hops = hop_of(s, input, output);
                std::array::from_fn(|sl: usize| {
                    let known_hop =
                        if fresh || hops[sl] == ANY { 0 } else { usize::from(hops[sl]) };
                    let hop = known_hop.min(longest - 1);
                    let own = (lanes - hop).div_ceil(longest);
                    let turn = usize::from(input) + usize::from(output) + sl;
                    (hop + longest * (turn % own)) as u8
                })
            });
        }
    }
    Ok(tables)
}

/// The most hops of a path, at least 1, and for each channel whether it is the second of three
/// hops.
fn lengths(
    routing: &Routing,
    watch: &dyn ProgressWatch,
) -> Result<(usize, Vec<bool>), Interrupted> {
    let on = routing.topology();
    let (mut longest, mut seconds) = (1, vec![false; on.links().len() * 2]);
    let total = u64::from(routing.layers()) * on.terminals().len() as u64;
    let mut bundles = DestinationBundles::new(routing, routing.destinations());
    let mut done = 0;
    while let Some(bundle) = bundles.next_bundle() {
        for (i, &t) in bundle.terminals.iter().enumerate() {
            watch.tick("lanes", done, total)?;
            done += 1;
            for &(s, _) in if i == 0 { bundle.sources } else { bundle.differing } {
                let mut turns = routing.walk(bundle.layer, t, s).turns();
                let (first, second) = (turns.next(), turns.next());
                // the limit ends the walk where the route is a loop
                let rest = turns.take(on.switches().len()).count();
                let hops = 1 + usize::from(first.is_some()) + usize::from(second.is_some()) + rest;
                longest = longest.max(hops);
                if let (Some((channel, _)), 3) = (second, hops) {
                    seconds[channel.0 as usize] = true;
                }
            }
        }
    }
    Ok((longest, seconds))
}

/// The channels of a path of at least two hops.
fn channels(turns: impl Iterator<Item = (ChannelId, ChannelId)>) -> Vec<ChannelId> {
    let mut all = Vec::new();
    for (a, b) in turns {
        if all.is_empty() {
            all.push(a);
        }
        all.push(b);
    }
    all
}

/// Colours the switches so that the two ends of each channel in `seconds` differ; `None` when that
/// takes more than 15 colours.
fn colours_of(on: &Topology, seconds: &[bool]) -> Option<Vec<u32>> {
    let mut linked: Vec<Vec<u32>> = vec![Vec::new(); on.switches().len()];
    for c in (0..seconds.len()).filter(|&c| seconds[c]).map(ChannelId::from) {
        let (a, b) = (on.tail(c).switch, on.head(c).switch);
        linked[a.ix()].push(b.0);
        linked[b.ix()].push(a.0);
    }
    if linked.iter().all(Vec::is_empty) {
        return Some(vec![0; linked.len()]);
    }
    let colour = colours(&linked);
    (count(&colour) <= 15).then_some(colour)
}

/// Service levels: 0 for paths of at most two hops, 1 + the colour of the second switch for paths
/// of three.
fn levels_of(
    routing: &Routing,
    colour: &[u32],
    watch: &dyn ProgressWatch,
) -> Result<Vec<u8>, Interrupted> {
    let mut level_of = vec![0_u8; routing.entries()];
    each_path(routing, &mut level_of, 0, watch, |_, own, turns| {
        if let [first, _, _] = channels(turns)[..] {
            *own = 1 + colour[routing.topology().head(first).switch.ix()] as u8;
        }
    })?;
    Ok(level_of)
}

/// Gives every path the first service level whose tables agree with its hops. O(hops of all paths *
/// levels).
fn first_fit(
    routing: &Routing,
    level_of: &mut [u8],
    watch: &dyn ProgressWatch,
) -> Result<HopNumberTable, ComputationError> {
    let on = routing.topology();
    let mut hops = HopNumberTable::new(on);
    let mut stuck = false;
    each_path(routing, level_of, 0, watch, |_, own, turns| {
        let path = channels(turns);
        let pairs = path.windows(2).zip(1..).map(|(pair, hop)| {
            let (head, tail) = (on.head(pair[0]), on.tail(pair[1]));
            (hops.at(head.switch, head.port, tail.port), hop)
        });
        let places: Vec<(usize, u8)> = pairs.collect();
        let fits = |sl: &u8| {
            let known = |at: usize| hops.hop[at][usize::from(*sl)];
            places.iter().all(|&(at, hop)| known(at) == ANY || known(at) == hop)
        };
        match (0..16).find(fits) {
            Some(sl) => {
                *own = sl;
                for (at, hop) in places {
                    hops.hop[at][usize::from(sl)] = hop;
                }
            }
            None => stuck = true,
        }
    })?;
    if stuck {
        let why = "16 service levels cannot tell the hops of these paths apart";
        return Err(Refusal::new("lanes", why, "try `online`").into());
    }
    Ok(hops)
}
