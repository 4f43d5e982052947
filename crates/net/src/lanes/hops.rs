//! One lane a hop: the first hop of every path on lane 0, the next on lane 1, and so on.
//!
//! Source: Blach, Besta, De Sensi, Domke, Harake, Li, Iff, Konieczny, Lakhotia, Kubicek, Ferrari,
//! Petrini, Hoefler, "A high-performance design, implementation, deployment, and evaluation of the
//! Slim Fly network", NSDI 2024 (its deadlock avoidance): lanes rise along every path, so that
//! none can wait for itself. A switch knows the in-port and the service level: in-ports of
//! endpoints mean the first hop. Where no path has more than three hops, a path of three carries
//! the colour of its second switch, and switches linked by a second hop have different colours: a
//! switch that sees its own colour is at the second hop, any other at the third.
//!
//! Longer paths, and those for which 15 colours are not enough, get the first service level whose
//! tables do not yet say otherwise at any of their hops.

use super::colouring::{colours, count};
use super::paths::each_path;
use crate::network::{Peer, Topology};
use crate::routing::{Lanes, PortPairs, PortTables, Routing, ServiceLevels, Sl2Vl};
use base::{ChannelId, Refusal, SwitchId};

/// Lanes by hop for `routing`; with `balance` the lanes that are left are dealt to the hops, and
/// the ports and levels of a switch in turn to those of a hop.
///
/// # Errors
/// When a path has more hops than there are lanes, or 16 service levels cannot tell the hops apart.
pub(super) fn lanes(routing: Routing, max_lanes: u8, balance: bool) -> Result<Routing, Refusal> {
    let mut level_of = vec![0_u8; routing.next().len()];
    let mut longest = 1;
    each_path(&routing, &mut level_of, 0, |_, _, turns| longest = longest.max(1 + turns.count()));
    if longest > usize::from(max_lanes) {
        let why = format!("paths of {longest} hops need a lane each hop, {max_lanes} are allowed");
        return Err(Refusal::new("max_lanes", why, "allow more lanes (up to 15), or try `online`"));
    }
    let coloured = if longest <= 3 { by_colour(&routing, &mut level_of) } else { None };
    let hops = match coloured {
        Some(hops) => hops,
        None => first_fit(&routing, &mut level_of)?,
    };
    let spare = if balance { usize::from(max_lanes) } else { longest };
    let tables = hops.tables(routing.topology(), longest, spare);
    let levels = ServiceLevels::BySwitch(level_of);
    Ok(routing.with_lanes(Lanes::new(levels, Sl2Vl::PerPort(tables))))
}

/// Which hop a packet is at, by switch, in-port, out-port and service level.
struct Hops {
    pairs: PortPairs,
    hop: Vec<[u8; 16]>,
}

/// No path with this level passes here.
const ANY: u8 = u8::MAX;

impl Hops {
    fn new(on: &Topology) -> Self {
        let pairs = PortPairs::new(on);
        let hop = vec![[ANY; 16]; pairs.count()];
        Self { pairs, hop }
    }

    fn at(&self, s: SwitchId, input: u16, output: u16) -> usize {
        self.pairs.at(s, input, output).expect("ports of a cable that is there")
    }

    /// SL2VL tables: hop `h` on the lanes h, h + `longest`, ... below `lanes`, in turn.
    fn tables(&self, on: &Topology, longest: usize, lanes: usize) -> PortTables {
        let mut tables = PortTables::new(on, [0; 16]);
        for (s, switch) in on.switches().iter().enumerate() {
            let s = SwitchId::from(s);
            for input in 0..=switch.ports {
                let fresh = !matches!(on.peer(s, input), Peer::Switch(_));
                for output in (1..=switch.ports).filter(|&o| on.hop(s, o).is_some()) {
                    let hops = &self.hop[self.at(s, input, output)];
                    let lane = |sl: usize| {
                        let told = if fresh || hops[sl] == ANY { 0 } else { usize::from(hops[sl]) };
                        let hop = told.min(longest - 1);
                        let own = (lanes - hop).div_ceil(longest);
                        let turn = usize::from(input) + usize::from(output) + sl;
                        (hop + longest * (turn % own)) as u8
                    };
                    let set = tables.set(s, input, output, std::array::from_fn(lane));
                    assert!(set, "fewer than 2^16 tables of at most 15 lanes occur");
                }
            }
        }
        tables
    }
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

/// Level 0 for paths of at most two hops, 1 + the colour of its second switch for one of three;
/// `None` when there are more than 15 colours. O(hops of all paths), and the colouring.
fn by_colour(routing: &Routing, level_of: &mut [u8]) -> Option<Hops> {
    let on = routing.topology();
    let mut linked: Vec<Vec<u32>> = vec![Vec::new(); on.switches().len()];
    let mut used = vec![false; on.links().len() * 2];
    each_path(routing, level_of, 0, |_, _, turns| {
        if let [_, second, _] = channels(turns)[..] {
            used[second.0 as usize] = true;
        }
    });
    for c in (0..used.len()).filter(|&c| used[c]).map(ChannelId::from) {
        let (a, b) = (on.tail(c).switch, on.head(c).switch);
        linked[a.ix()].push(b.0);
        linked[b.ix()].push(a.0);
    }
    let colour = colours(&linked);
    if count(&colour) > 15 {
        return None;
    }
    let mut hops = Hops::new(on);
    for s in 0..on.switches().len() {
        let own = 1 + colour[s] as usize;
        let row = std::array::from_fn(|sl| if sl == 0 || sl == own { 1 } else { 2 });
        hops.hop[hops.pairs.of_switch(SwitchId::from(s))].fill(row);
    }
    each_path(routing, level_of, 0, |_, own, turns| {
        if let [first, _, _] = channels(turns)[..] {
            *own = 1 + colour[on.head(first).switch.ix()] as u8;
        }
    });
    Some(hops)
}

/// The first level for every path whose tables agree with its hops. O(hops of all paths * levels).
fn first_fit(routing: &Routing, level_of: &mut [u8]) -> Result<Hops, Refusal> {
    let on = routing.topology();
    let mut hops = Hops::new(on);
    let mut stuck = false;
    each_path(routing, level_of, 0, |_, own, turns| {
        let way = channels(turns);
        let pairs = way.windows(2).zip(1..).map(|(pair, hop)| {
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
    });
    if stuck {
        let why = "16 service levels cannot tell the hops of these paths apart";
        return Err(Refusal::new("lanes", why, "try `online`"));
    }
    Ok(hops)
}
