//! The comparison of two networks: what is plugged into what, by which names, and what works.

use super::{Cable, CablePlug, Topology};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Networks are equal when their switches, links, endpoints and terminals are, with names, ports,
/// addresses, cables and failures, and when their families declared the same geometry. Recipes are
/// not compared: a network that was built equals the one read from its file.
impl PartialEq for Topology {
    fn eq(&self, other: &Self) -> bool {
        self.geometry == other.geometry
            && self.switches == other.switches
            && self.links == other.links
            && self.endpoints == other.endpoints
            && self.terminals == other.terminals
    }
}

impl Topology {
    /// A hash of the network: equal for equal networks, and very probably different for others. It
    /// may differ between versions of the program. O(network) the first time.
    pub fn digest(&self) -> u64 {
        *self.digest.get_or_init(|| {
            let mut hash = DefaultHasher::new();
            for s in &self.switches {
                (&s.name, s.guid, s.lid, s.ports, s.up).hash(&mut hash);
                (s.plane, s.group, s.level, &s.coordinates).hash(&mut hash);
            }
            for l in &self.links {
                end(l.a, &mut hash);
                end(l.b, &mut hash);
                cable(&l.cable, &mut hash);
            }
            for e in &self.endpoints {
                (&e.name, e.guid).hash(&mut hash);
            }
            for t in &self.terminals {
                (t.endpoint.0, t.rail, t.port_guid, t.lid).hash(&mut hash);
                end(t.plug, &mut hash);
                cable(&t.cable, &mut hash);
            }
            hash.finish()
        })
    }
}

fn end(plug: CablePlug, hash: &mut DefaultHasher) {
    (plug.switch.0, plug.port).hash(hash);
}

fn cable(cable: &Cable, hash: &mut DefaultHasher) {
    let length_m = cable.length_m.map(|m| (m + 0.0).to_bits()); // 0 and -0 are equal
    (cable.speed, cable.width, length_m, cable.up).hash(hash);
}

#[cfg(test)]
mod tests {
    use crate::geometry::{NetworkGeometry, PlaneStructure};
    use crate::network::{
        Cable, InfinibandLaneSpeed, NetworkRecipe, Switch, Topology, TopologyBuilder,
    };
    use base::{EndpointId, LinkId, SwitchId, TerminalId};
    use serde_json::Map;

    /// A network of two switches with a link and an endpoint; `change` changes it before it is
    /// finished.
    fn network(change: impl FnOnce(&mut TopologyBuilder)) -> Topology {
        let mut b = TopologyBuilder::new();
        let x = b.switch(Switch::new("x"));
        let y = b.switch(Switch::new("y"));
        b.link(x, y);
        b.endpoints_on([x].into_iter(), 1);
        change(&mut b);
        b.finish(NetworkRecipe { family: "test".into(), params: Map::new() }).expect("a network")
    }

    #[test]
    fn whatever_differs_is_seen() {
        let plain = network(|_| {});
        let cable = |c: Cable| move |b: &mut TopologyBuilder| b.links[0].cable = c;
        let long = |m| Cable { length_m: Some(m), ..Cable::default() };
        let others = [
            network(|b| b.switches[1].name = "z".into()),
            network(|b| b.switches[1].group = 1),
            network(|b| b.switches[1].level = 1),
            network(|b| b.switches[1].plane = 1),
            network(|b| b.switches[1].coordinates = vec![0]),
            network(|b| b.switches[1].guid = Some(0)),
            network(|b| b.switches[1].lid = Some(1)),
            network(|b| b.switches[1].ports = 9),
            network(|b| b.switches[1].up = false),
            network(|b| b.links[0].a.port = 5),
            network(cable(Cable { speed: InfinibandLaneSpeed::EDR, ..Cable::default() })),
            network(cable(Cable { width: 1, ..Cable::default() })),
            network(cable(Cable { up: false, ..Cable::default() })),
            network(cable(long(1.0))),
            network(|b| assert_eq!(b.link(SwitchId(0), SwitchId(1)), LinkId(1))),
            network(|b| assert_eq!(b.endpoint("more", None), EndpointId(1))),
            network(|b| b.terminal_mut(TerminalId(0)).rail = 1),
            network(|b| b.terminal_mut(TerminalId(0)).port_guid = Some(1)),
        ];
        for (i, other) in others.iter().enumerate() {
            assert!(plain != *other, "change {i} is not seen");
            assert_ne!(plain.digest(), other.digest(), "change {i}");
        }
        assert!(plain == network(|_| {}) && plain.digest() == network(|_| {}).digest());
        let (zero, minus) = (network(cable(long(0.0))), network(cable(long(-0.0))));
        assert!(zero == minus && zero.digest() == minus.digest());
        assert!(
            plain != network(|_| {}).with_geometry(NetworkGeometry::of(PlaneStructure::Levels))
        );
    }

    #[test]
    fn the_recipe_is_not_asked() {
        let mut other = network(|_| {});
        other.recipe.family = "file".into();
        assert!(other == network(|_| {}));
    }
}
