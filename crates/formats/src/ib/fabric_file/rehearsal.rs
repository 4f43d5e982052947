//! The network that stands for another one in the simulator, whose addresses are partly its own.
//!
//! Source: `ibsim` 0.10, `sim_net.c` and `ibsim.c`: port `n` of an adapter gets the GUID node
//! GUID + `n`, whatever the netlist says, and a program that attaches to an adapter does so at
//! port 1. `OpenSM` ends by a fault of memory where two ports have one GUID.

use base::Refusal;
use fabric::addresses::PortAddresses;
use fabric::network::{Topology, TopologyBuilder};
use std::collections::HashSet;

/// First octets of node GUIDs that are made: locally administered, and of no other made GUID.
const PREFIX: u64 = 0x02f8 << 48;

/// `t` as the simulator takes it: switches, links, endpoints and terminals have the numbers, names,
/// cables and, under `lmc`, the LIDs that they have in `t`; switches their GUIDs, too.
///
/// The rails of an endpoint are its ports from 1 without gaps, those that work first. A port has
/// the GUID that the simulator gives it. An adapter keeps its node GUID, but where a port of it
/// would then have the GUID of another port. O(network).
///
/// # Errors
/// As [`PortAddresses::assign`].
pub fn rehearsal(t: &Topology, lmc: u8) -> Result<Topology, Refusal> {
    let a = PortAddresses::assign(t, lmc)?;
    let mut b = TopologyBuilder::new();
    for (switch, (guid, lid)) in t.switches().iter().zip(a.switch_guid.iter().zip(&a.switch_lid)) {
        let mut switch = switch.clone();
        (switch.guid, switch.lid) = (Some(*guid), Some(*lid));
        b.switch(switch);
    }
    let ports = ports(t);
    let mut count = vec![0_u16; t.endpoints().len()];
    for (x, port) in t.terminals().iter().zip(&ports) {
        count[x.endpoint.ix()] = count[x.endpoint.ix()].max(*port);
    }
    let nodes = node_guids(&a, &count);
    for (endpoint, guid) in t.endpoints().iter().zip(&nodes) {
        b.endpoint(endpoint.name.clone(), Some(*guid));
    }
    for ((x, port), lid) in t.terminals().iter().zip(&ports).zip(&a.lid) {
        let id = b.attach(x.endpoint, x.plug.switch, x.plug.port, x.cable);
        let terminal = b.terminal_mut(id);
        terminal.rail = port - 1;
        terminal.port_guid = Some(nodes[x.endpoint.ix()] + u64::from(*port));
        terminal.lid = Some(*lid);
    }
    for link in t.links() {
        b.link_at(link.a, link.b, link.cable);
    }
    b.finish(t.recipe().clone())
}

/// The port of each terminal at its adapter: those of an endpoint counted from 1 in their order,
/// first those that work.
fn ports(t: &Topology) -> Vec<u16> {
    let mut next = vec![1_u16; t.endpoints().len()];
    let mut ports = vec![0; t.terminals().len()];
    for works in [true, false] {
        for (i, x) in t.terminals().iter().enumerate() {
            if t.terminal_is_up(i.into()) == works {
                ports[i] = next[x.endpoint.ix()];
                next[x.endpoint.ix()] += 1;
            }
        }
    }
    ports
}

/// A node GUID for every endpoint, of which no port has the GUID of another port or of a switch.
fn node_guids(a: &PortAddresses, ports: &[u16]) -> Vec<u64> {
    let mut taken: HashSet<u64> = a.switch_guid.iter().copied().collect();
    let nodes: HashSet<u64> = a.node_guid.iter().copied().collect();
    let mut serial = 0;
    let mut found = Vec::with_capacity(ports.len());
    for (own, &count) in a.node_guid.iter().zip(ports) {
        let mut guid = *own;
        loop {
            let last = guid.checked_add(count.into());
            let all = || guid + 1..=guid + u64::from(count);
            if last.is_some() && !all().any(|port| taken.contains(&port)) {
                taken.extend(all());
                break;
            }
            loop {
                serial += 1;
                guid = PREFIX + (serial << 16);
                if !nodes.contains(&guid) && !taken.contains(&guid) {
                    break;
                }
            }
        }
        found.push(guid);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use fabric::network::{Cable, NetworkRecipe, Switch};
    use serde_json::Map;

    /// Two switches with GUIDs 100 and 200; adapters with these node GUIDs and numbers of rails.
    fn network(adapters: &[(u64, usize)]) -> Topology {
        let mut b = TopologyBuilder::new();
        let s =
            [100, 200].map(|g| b.switch(Switch { guid: Some(g), ..Switch::new(g.to_string()) }));
        b.link(s[0], s[1]);
        for (i, (guid, rails)) in adapters.iter().enumerate() {
            let e = b.endpoint(format!("h{i}"), Some(*guid));
            for r in 0..*rails {
                let x =
                    b.attach(e, s[r % 2], 0, Cable { up: (i, r) != (0, 0), ..Cable::default() });
                b.terminal_mut(x).rail = 2 * r as u16 + 1;
                b.terminal_mut(x).port_guid = Some(1000 + 2 * i as u64 + r as u64);
            }
        }
        b.finish(NetworkRecipe { family: "test".into(), params: Map::new() }).expect("a network")
    }

    #[test]
    fn ports_are_counted_without_gaps_and_guids_are_those_of_the_simulator() {
        let one = network(&[(10, 2), (20, 1)]);
        let sim = rehearsal(&one, 1).expect("addresses");
        let ports: Vec<_> =
            sim.terminals().iter().map(|x| (x.rail, x.port_guid.expect("a GUID"))).collect();
        assert_eq!(ports, [(1, 12), (0, 11), (0, 21)], "the rail that works is port 1");
        let planned = PortAddresses::assign(&one, 1).expect("addresses");
        let found = PortAddresses::assign(&sim, 1).expect("addresses");
        assert_eq!((&planned.lid, &planned.switch_lid), (&found.lid, &found.switch_lid));
        assert_eq!(planned.switch_guid, found.switch_guid);
        assert_eq!(found.node_guid, [10, 20]);
    }

    #[test]
    fn no_two_ports_share_a_guid() {
        // ports 11, 12 and 12, 13; a port with a switch's GUID; one with a GUID too large
        let adapters = [(10, 2), (11, 1), (99, 1), (u64::MAX, 1)];
        let sim = rehearsal(&network(&adapters), 0).expect("a rehearsal");
        let a = PortAddresses::assign(&sim, 0).expect("addresses");
        assert_eq!(a.node_guid[0], 10, "the first keeps its own");
        let all: HashSet<u64> = a.port_guid.iter().chain(&a.switch_guid).copied().collect();
        assert_eq!(all.len(), a.port_guid.len() + 2);
        for (x, port) in sim.terminals().iter().zip(&a.port_guid) {
            assert_eq!(*port, a.node_guid[x.endpoint.ix()] + u64::from(x.rail) + 1);
        }
    }
}
