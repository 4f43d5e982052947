//! Routing tables that users compute themselves: next hops or paths by switch numbers, checked
//! against the cabling.

use super::trees::NextHopTree;
use crate::routable::check_routable;
use base::{ChannelId, ComputationError, ProgressWatch, Refusal, SwitchId, TerminalId};
use fabric::network::Topology;
use fabric::tables::{NO_ROUTE, Routing};
use std::sync::Arc;

/// The meaning of the entries of a table of next hops: switches or ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextHopEntryMeaning {
    /// Entries are numbers of switches.
    Switches,
    /// Entries are ports, from 1.
    Ports,
}

/// A path that the user gives, and the terminal that it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserGivenPath {
    /// The layer.
    pub layer: u32,
    /// The terminal at its end; all terminals of the last switch where it is `None`.
    pub to: Option<u32>,
    /// The switches from the first to the last, both included.
    pub switches: Vec<u32>,
}

/// Builds tables of `layers` routes to every terminal from next hops. `next[(layer * switches +
/// switch) * terminals + terminal]` is where `switch` forwards traffic for `terminal`; a negative
/// number is no route. The entry at the terminal's own switch is ignored.
///
/// Terminals use parallel links to a next switch in turn. Routes to a switch are those to its first
/// terminal in the first layer, or shortest ones where the switch has no terminal. O(entries +
/// switches * links).
///
/// # Errors
/// When an entry is not a neighbour or not a port of a cable between switches, when the network
/// cannot be routed, or when the number of entries does not fit the network.
pub fn from_hops(
    on: &Arc<Topology>,
    layers: u32,
    hops: NextHopEntryMeaning,
    next: &[i64],
    watch: &dyn ProgressWatch,
) -> Result<Routing, ComputationError> {
    check_routable(on, layers, false)?;
    let (switches, terminals) = (on.switches().len(), on.terminals().len());
    if next.len() != layers as usize * switches * terminals {
        let why = format!("{} entries of next hops", next.len());
        let help = format!("{layers} layers, {switches} switches, {terminals} terminals");
        return Err(Refusal::new("", why, help).into());
    }
    let mut tables = GivenTableBuilder::new(on, layers);
    for (i, row) in next.chunks(terminals.max(1)).enumerate() {
        watch.tick("reading routes", i as u64, (layers as usize * switches) as u64)?;
        let (layer, switch) = ((i / switches) as u32, SwitchId::from(i % switches));
        for (t, &entry) in row.iter().enumerate() {
            let to = TerminalId::from(t);
            if entry < 0 || on.terminals()[t].plug.switch == switch {
                continue;
            }
            let port = match hops {
                NextHopEntryMeaning::Switches => tables.port_towards(switch, entry, to),
                NextHopEntryMeaning::Ports => port_of(on, switch, entry),
            };
            let port = port.map_err(|r| {
                let layer = if layers > 1 { format!("layer {layer}, ") } else { String::new() };
                r.within(&format!("{layer}switch {}, terminal {t}", switch.0))
            })?;
            *tables.entry(layer, to, switch) = port;
        }
    }
    tables.finish(watch)
}

/// Builds tables of `layers` routes to every terminal from paths: every switch of a path forwards
/// to the path's end as the path does. Parallel links and routes to switches are handled as by
/// [`from_hops`]. O(length of paths + switches * links).
///
/// # Errors
/// When a path leaves the cabling, does not end where it should, or contradicts another path to the
/// same terminal at a switch: tables forward by destination. When the network cannot be routed.
pub fn from_paths(
    on: &Arc<Topology>,
    layers: u32,
    paths: &[UserGivenPath],
    watch: &dyn ProgressWatch,
) -> Result<Routing, ComputationError> {
    check_routable(on, layers, false)?;
    let mut tables = GivenTableBuilder::new(on, layers);
    for (i, path) in paths.iter().enumerate() {
        watch.tick("reading routes", i as u64, paths.len() as u64)?;
        tables.lay(path).map_err(|r| r.within(&shown(&path.switches)))?;
    }
    tables.finish(watch)
}

fn shown(switches: &[u32]) -> String {
    let some: Vec<String> = switches.iter().take(12).map(u32::to_string).collect();
    let more = if switches.len() > 12 { " > ..." } else { "" };
    format!("path {}{more}", some.join(" > "))
}

/// Checks a given port: it must lead to another switch.
fn port_of(on: &Topology, switch: SwitchId, given: i64) -> Result<u16, Refusal> {
    let port = u16::try_from(given).ok().filter(|port| on.hop(switch, *port).is_some());
    port.ok_or_else(|| {
        let known: Vec<String> =
            on.graph().channels(switch.ix()).iter().map(|c| on.tail(*c).port.to_string()).collect();
        let why = format!("port {given} leads to no switch");
        Refusal::new("", why, format!("ports {}, -1 for no route", known.join(", ")))
    })
}

/// The tables under construction.
struct GivenTableBuilder<'a> {
    on: &'a Arc<Topology>,
    layers: u32,
    next: Vec<u16>,
}

impl<'a> GivenTableBuilder<'a> {
    /// Tables in which switches forward only to their own terminals.
    fn new(on: &'a Arc<Topology>, layers: u32) -> Self {
        let (switches, terminals) = (on.switches().len(), on.terminals().len());
        let next = vec![NO_ROUTE; layers as usize * switches * terminals];
        let mut own = Self { on, layers, next };
        for layer in 0..layers {
            for t in (0..terminals).map(TerminalId::from).filter(|t| on.terminal_is_up(*t)) {
                let plug = on.terminals()[t.ix()].plug;
                *own.entry(layer, t, plug.switch) = plug.port;
            }
        }
        own
    }

    fn entry(&mut self, layer: u32, to: TerminalId, switch: SwitchId) -> &mut u16 {
        let (switches, terminals) = (self.on.switches().len(), self.on.terminals().len());
        &mut self.next[(layer as usize * terminals + to.ix()) * switches + switch.ix()]
    }

    /// The port by which `switch` sends traffic for terminal `to` to its neighbour `next`.
    fn port_towards(&self, switch: SwitchId, next: i64, to: TerminalId) -> Result<u16, Refusal> {
        let graph = self.on.graph();
        let neighbours = graph.neighbours(switch.ix());
        let parallel: Vec<ChannelId> = neighbours
            .iter()
            .zip(graph.channels(switch.ix()))
            .filter(|(neighbour, _)| i64::from(**neighbour) == next)
            .map(|(_, channel)| *channel)
            .collect();
        if parallel.is_empty() {
            let known: Vec<String> = neighbours.iter().map(u32::to_string).collect();
            let why = format!("switch {next} is no neighbour of switch {}", switch.0);
            let help = format!("its neighbours are {}; -1 for no route", known.join(", "));
            return Err(Refusal::new("", why, help));
        }
        Ok(self.on.tail(parallel[to.ix() % parallel.len()]).port)
    }

    fn lay(&mut self, path: &UserGivenPath) -> Result<(), Refusal> {
        let on = self.on;
        let refuse = |why: String, help: String| Err(Refusal::new("", why, help));
        let known = on.switches().len() as u32;
        if let Some(unknown) = path.switches.iter().find(|s| **s >= known) {
            return refuse(format!("there is no switch {unknown}"), format!("0 to {}", known - 1));
        }
        let Some(&last) = path.switches.last() else {
            return refuse("an empty path".into(), "its switches, both ends included".into());
        };
        if path.layer >= self.layers {
            return refuse(format!("layer {}", path.layer), format!("{} layers", self.layers));
        }
        let to = match path.to {
            None => on.terminals_on(SwitchId(last)).to_vec(),
            Some(t) => {
                let home = on.terminals().get(t as usize).map(|terminal| terminal.plug.switch.0);
                if home != Some(last) {
                    let help = home.map_or_else(
                        || format!("terminals 0 to {}", on.terminals().len().max(1) - 1),
                        |home| format!("that is on switch {home}"),
                    );
                    return refuse(format!("it does not end at terminal {t}"), help);
                }
                vec![TerminalId(t)]
            }
        };
        for t in to {
            for hop in path.switches.windows(2) {
                let at = SwitchId(hop[0]);
                let port = self.port_towards(at, hop[1].into(), t)?;
                let entry = self.entry(path.layer, t, at);
                if *entry != NO_ROUTE && *entry != port {
                    let why = format!(
                        "at switch {} another path to terminal {} takes another next hop",
                        hop[0], t.0
                    );
                    return refuse(
                        why,
                        "tables forward by destination: one next hop per layer".into(),
                    );
                }
                *entry = port;
            }
        }
        Ok(())
    }

    fn finish(self, watch: &dyn ProgressWatch) -> Result<Routing, ComputationError> {
        let (on, switches) = (self.on, self.on.switches().len());
        let mut to_switch = vec![NO_ROUTE; switches * switches];
        let mut tree = NextHopTree::default();
        for d in (0..switches).map(SwitchId::from) {
            watch.tick("routing to switches", d.ix() as u64, switches as u64)?;
            let entries = &mut to_switch[d.ix() * switches..(d.ix() + 1) * switches];
            let first = on.terminals_on(d).iter().find(|t| on.terminal_is_up(**t));
            if let Some(t) = first {
                entries.copy_from_slice(&self.next[t.ix() * switches..(t.ix() + 1) * switches]);
            } else {
                tree.rebuild(on, d, None);
                for (i, &v) in tree.order.iter().enumerate() {
                    entries[v as usize] = on.tail(tree.hops(i)[0].0).port;
                }
            }
            entries[d.ix()] = 0;
        }
        Ok(Routing::new(on.clone(), self.layers, self.next, to_switch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::QuietWatch;
    use fabric::network::parse_inline;

    fn network(inline: &str) -> Arc<Topology> {
        let recipe = parse_inline(inline).expect("an inline form");
        let family = families::family(&recipe.family).expect("a family");
        Arc::new(family.build(&recipe.params).expect("a member"))
    }

    /// Next switches on a ring of six where all traffic goes clockwise.
    fn clockwise(on: &Topology) -> Vec<i64> {
        let (s, t) = (on.switches().len(), on.terminals().len());
        (0..s * t).map(|i| ((i / t + 1) % s) as i64).collect()
    }

    #[test]
    fn next_switches_ports_and_paths_of_the_same_routes_are_the_same_tables() {
        let on = network("ring:n=6,p=2");
        let next = clockwise(&on);
        let by_switch = from_hops(&on, 1, NextHopEntryMeaning::Switches, &next, &QuietWatch)
            .expect("neighbours");
        // port 3, the first one behind two endpoints, leads to the next switch
        let ports = vec![3; next.len()];
        let by_port =
            from_hops(&on, 1, NextHopEntryMeaning::Ports, &ports, &QuietWatch).expect("ports");
        let paths: Vec<UserGivenPath> = (0..6)
            .flat_map(|to| (1..6).map(move |n| (to, n)))
            .map(|(to, n)| (0..=n).map(|i| (to + 6 - n + i) % 6).collect())
            .map(|switches| UserGivenPath { layer: 0, to: None, switches })
            .collect();
        let by_path = from_paths(&on, 1, &paths, &QuietWatch).expect("paths");
        assert_eq!(by_switch.next(), by_port.next());
        assert_eq!(by_switch.next(), by_path.next());
        for to in 0..12 {
            for at in 0..6 {
                let own = on.terminals()[to].plug;
                let port = if own.switch.ix() == at { own.port } else { 3 };
                assert_eq!(by_switch.next()[to * 6 + at], port);
            }
        }
    }

    #[test]
    fn parallel_links_are_taken_in_turn() {
        let mut two = fabric::network::TopologyBuilder::new();
        for s in 0..2 {
            two.switch(fabric::network::Switch::new(format!("s{s}")));
        }
        two.endpoints_on(std::iter::once(SwitchId(1)), 4);
        two.link(SwitchId(0), SwitchId(1));
        two.link(SwitchId(0), SwitchId(1));
        let two = Arc::new(two.finish(parse_inline("two").expect("a name")).expect("two links"));
        let next = [1, 1, 1, 1, -1, -1, -1, -1];
        let routing = from_hops(&two, 1, NextHopEntryMeaning::Switches, &next, &QuietWatch)
            .expect("neighbours");
        let first: Vec<u16> = (0..4).map(|t| routing.next()[t * 2]).collect();
        assert_eq!(first, [1, 2, 1, 2]);
    }

    #[test]
    fn what_the_cabling_does_not_have_is_refused() {
        let on = network("ring:n=6");
        let fault = |hops, entry: i64| {
            let mut next = vec![-1; 36];
            next[2 * 6 + 4] = entry;
            from_hops(&on, 1, hops, &next, &QuietWatch).expect_err("no such hop").to_string()
        };
        let why = "switch 2, terminal 4: switch 5 is no neighbour of switch 2";
        assert_eq!(
            fault(NextHopEntryMeaning::Switches, 5),
            format!("{why}; its neighbours are 3, 1; -1 for no route")
        );
        assert!(fault(NextHopEntryMeaning::Switches, 6).contains("switch 6 is no neighbour"));
        assert!(
            fault(NextHopEntryMeaning::Ports, 1).contains("port 1 leads to no switch; ports 2, 3")
        );
        assert!(
            fault(NextHopEntryMeaning::Ports, 1 << 20).contains("port 1048576 leads to no switch")
        );
        let short = from_hops(&on, 2, NextHopEntryMeaning::Ports, &[-1; 36], &QuietWatch)
            .expect_err("one layer");
        assert!(short.to_string().starts_with("36 entries of next hops; 2 layers"));
        let path =
            |to, switches: &[u32]| UserGivenPath { layer: 0, to, switches: switches.to_vec() };
        let fault = |paths: &[UserGivenPath]| {
            from_paths(&on, 1, paths, &QuietWatch).expect_err("no such path").to_string()
        };
        assert!(fault(&[path(None, &[0, 2])]).starts_with("path 0 > 2: switch 2 is no neighbour"));
        assert!(fault(&[path(None, &[5, 6])]).contains("there is no switch 6; 0 to 5"));
        assert!(fault(&[path(None, &[])]).contains("an empty path"));
        assert!(fault(&[path(Some(2), &[0, 1])]).contains("terminal 2; that is on switch 2"));
        assert!(fault(&[path(Some(6), &[0, 1])]).contains("terminal 6; terminals 0 to 5"));
        assert!(
            fault(&[UserGivenPath { layer: 1, ..path(None, &[0]) }]).contains("layer 1; 1 layers")
        );
        let parting = [path(None, &[0, 1, 2, 3]), path(None, &[2, 1, 0, 5, 4, 3])];
        assert!(fault(&parting).contains("takes another next hop; tables forward by destination"));
    }
}
