//! Networks as netlists of the `ibsim` simulator.

use super::said::MAX_PORT;
use crate::names::unique_names;
use base::{EndpointId, Refusal, SwitchId, TerminalId};
use fabric::addresses::PortAddresses;
use fabric::network::{Cable, CablePlug, InfinibandLaneSpeed, PortPeer, Topology};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Longest name that a node description holds.
const MAX_NAME: usize = 63;
/// The fastest speed that `ibsim` 0.10 knows.
const MAX_SPEED: InfinibandLaneSpeed = InfinibandLaneSpeed::HDR;

/// The `ibsim` netlist of one plane of `t` with the addresses of `a`, switches first.
///
/// `ibsim` looks for the far end of every cable among all nodes, from the first of the file on: so
/// the few that most cables lead to come first.
///
/// Only what works is written: failed switches, failed cables, cables to failed switches and
/// endpoints without a working rail in the plane are left out. LIDs and the LMC are stated, so that
/// a subnet manager finds and keeps them; LIDs of 0 leave the choice to it. In names everything but
/// printable ASCII, and the simulator's own `=`, `"`, `#`, `@`, becomes `_`; they are cut to 63
/// bytes, and a name that is empty or no longer unique is replaced by the node's id. `ibsim` itself
/// gives adapter port `n` the GUID node GUID + `n`, whatever the file says; addresses that
/// [`PortAddresses::assign`] made agree with that, and those of [`super::rehearsal()`] always do. A
/// cable that is faster than HDR stands there as HDR, and a remark says how many are.
/// O(switches * ports + terminals).
///
/// # Errors
/// When `t` has several planes and none is chosen, the plane does not exist, `a` is not for `t`, a
/// node has more than 254 ports, or a working cable runs between planes.
pub fn write_netlist(
    t: &Topology,
    a: &PortAddresses,
    plane: Option<u16>,
) -> Result<String, Refusal> {
    let plane = choose_plane(t, plane)?;
    let lengths = (a.switch_guid.len(), a.switch_lid.len(), a.node_guid.len());
    let mine = (t.switches().len(), t.switches().len(), t.endpoints().len());
    if lengths != mine || [a.port_guid.len(), a.lid.len()] != [t.terminals().len(); 2] {
        let why = "the addresses belong to another network";
        return Err(Refusal::new("addresses", why, "assign addresses to this network"));
    }
    let netlist = NetlistWriter { t, a, plane, names: names(t, a) };
    let mut out = format!("# {}\n", fabric::addresses::remark(&t.recipe().to_string()));
    if let Some(remark) = slower_here(t, plane) {
        let _ = writeln!(out, "# {remark}");
    }
    for s in (0..t.switches().len()).map(SwitchId::from) {
        let switch = &t.switches()[s.ix()];
        if switch.up && switch.plane == plane {
            netlist.switch(&mut out, s)?;
        }
    }
    netlist.adapters(&mut out)?;
    Ok(out)
}

/// The remark on working cables of `plane` that have a lower speed in a netlist than in the
/// network; `None` where there are none. O(links + terminals).
pub fn slower_here(t: &Topology, plane: u16) -> Option<String> {
    let links =
        t.links().iter().enumerate().filter(|(i, l)| {
            t.link_is_up((*i).into()) && t.switches()[l.a.switch.ix()].plane == plane
        });
    let rails = t.terminals().iter().enumerate().filter(|(i, _)| {
        let id = TerminalId::from(*i);
        t.terminal_is_up(id) && t.plane_of(id) == plane
    });
    let mut counts: BTreeMap<InfinibandLaneSpeed, usize> = BTreeMap::new();
    for cable in links.map(|(_, l)| &l.cable).chain(rails.map(|(_, x)| &x.cable)) {
        if cable.speed > MAX_SPEED {
            *counts.entry(cable.speed).or_default() += 1;
        }
    }
    let counts: Vec<String> = counts.iter().map(|(s, count)| format!("{count} {s}")).collect();
    let said = format!("{MAX_SPEED} stands for cables of speeds that ibsim 0.10 does not know");
    (!counts.is_empty()).then(|| format!("{said}: {}", counts.join(", ")))
}

fn choose_plane(t: &Topology, plane: Option<u16>) -> Result<u16, Refusal> {
    let planes = t.planes();
    match plane {
        None if planes <= 1 => Ok(0),
        Some(p) if p < planes => Ok(p),
        None => Err(Refusal::new(
            "plane",
            format!("the network has {planes} planes, and a netlist is of one"),
            format!("choose a plane from 0 to {}", planes - 1),
        )),
        Some(p) => {
            let help = format!("planes are numbered 0 to {}", planes.saturating_sub(1));
            Err(Refusal::new("plane", format!("there is no plane {p}"), help))
        }
    }
}

/// Names of all switches, then of all endpoints, as the simulator takes them.
fn names(t: &Topology, a: &PortAddresses) -> Vec<String> {
    let switches = t.switches().iter().zip(&a.switch_guid).map(|(s, g)| (&s.name, switch_id(*g)));
    let nodes = t.endpoints().iter().zip(&a.node_guid).map(|(e, g)| (&e.name, adapter_id(*g)));
    let clean = |name: &str| {
        let good = |c: char| (c == ' ' || c.is_ascii_graphic()) && !"=\"#@".contains(c);
        name.chars().take(MAX_NAME).map(|c| if good(c) { c } else { '_' }).collect()
    };
    unique_names(switches.chain(nodes).map(|(name, id)| (clean(name), id)))
}

fn switch_id(guid: u64) -> String {
    format!("S-{guid:016x}")
}

fn adapter_id(guid: u64) -> String {
    format!("H-{guid:016x}")
}

/// A writer of ibsim's netlists.
struct NetlistWriter<'a> {
    t: &'a Topology,
    a: &'a PortAddresses,
    plane: u16,
    names: Vec<String>,
}

impl NetlistWriter<'_> {
    fn switch_name(&self, s: SwitchId) -> &str {
        &self.names[s.ix()]
    }

    fn endpoint_name(&self, e: EndpointId) -> &str {
        &self.names[self.t.switches().len() + e.ix()]
    }

    /// Records of all adapters with a working rail in the plane.
    fn adapters(&self, out: &mut String) -> Result<(), Refusal> {
        let mut rails: Vec<Vec<TerminalId>> = vec![Vec::new(); self.t.endpoints().len()];
        let mut ports = vec![0_u32; rails.len()];
        for (i, x) in self.t.terminals().iter().enumerate() {
            let id = TerminalId::from(i);
            ports[x.endpoint.ix()] = ports[x.endpoint.ix()].max(u32::from(x.rail) + 1);
            if self.t.terminal_is_up(id) && self.t.plane_of(id) == self.plane {
                rails[x.endpoint.ix()].push(id);
            }
        }
        for (e, rails) in rails.iter_mut().enumerate().filter(|(_, r)| !r.is_empty()) {
            let e = EndpointId::from(e);
            rails.sort_by_key(|x| self.t.terminals()[x.ix()].rail);
            let name = self.endpoint_name(e);
            check_ports("endpoint", &self.t.endpoints()[e.ix()].name, ports[e.ix()])?;
            let guid = self.a.node_guid[e.ix()];
            let _ = write!(
                out,
                "\nvendid=0x2c9\ndevid=0x101b\nsysimgguid=0x{guid:x}\ncaguid=0x{guid:x}\n\
                 Ca\t{} \"{}\"\t\t# \"{name}\"\n",
                ports[e.ix()],
                adapter_id(guid),
            );
            for &id in rails.iter() {
                self.adapter_port(out, id)?;
            }
        }
        Ok(())
    }

    fn adapter_port(&self, out: &mut String, id: TerminalId) -> Result<(), Refusal> {
        let (t, a) = (self.t, self.a);
        let x = &t.terminals()[id.ix()];
        let s = x.plug.switch;
        let _ = writeln!(
            out,
            "[{}]({:x}) \t\"{}\"[{}]\t\t# lid {} lmc {} \"{}\" lid {} {}",
            u32::from(x.rail) + 1,
            a.port_guid[id.ix()],
            switch_id(a.switch_guid[s.ix()]),
            x.plug.port,
            a.lid[id.ix()],
            a.lmc,
            self.switch_name(s),
            a.switch_lid[s.ix()],
            rate(&x.cable, self.endpoint_name(x.endpoint))?,
        );
        Ok(())
    }

    fn switch(&self, out: &mut String, s: SwitchId) -> Result<(), Refusal> {
        let switch = &self.t.switches()[s.ix()];
        check_ports("switch", &switch.name, switch.ports.into())?;
        let guid = self.a.switch_guid[s.ix()];
        let _ = write!(
            out,
            "\nvendid=0x2c9\ndevid=0xd2f0\nsysimgguid=0x{guid:x}\nswitchguid=0x{guid:x}({guid:x})\n\
             Switch\t{} \"{}\"\t\t# \"{}\" enhanced port 0 lid {} lmc 0\n",
            switch.ports.max(1),
            switch_id(guid),
            self.switch_name(s),
            self.a.switch_lid[s.ix()],
        );
        for port in 1..=switch.ports {
            self.switch_port(out, CablePlug { switch: s, port })?;
        }
        Ok(())
    }

    fn switch_port(&self, out: &mut String, plug: CablePlug) -> Result<(), Refusal> {
        let (t, a) = (self.t, self.a);
        let port = plug.port;
        match t.peer(plug.switch, port) {
            PortPeer::Terminal(id) if t.terminal_is_up(id) => {
                let x = &t.terminals()[id.ix()];
                let name = self.endpoint_name(x.endpoint);
                let _ = writeln!(
                    out,
                    "[{port}]\t\"{}\"[{}]({:x}) \t\t# \"{name}\" lid {} {}",
                    adapter_id(a.node_guid[x.endpoint.ix()]),
                    u32::from(x.rail) + 1,
                    a.port_guid[id.ix()],
                    a.lid[id.ix()],
                    rate(&x.cable, name)?,
                );
            }
            PortPeer::Switch(channel) if t.link_is_up(channel.link()) => {
                let (to, name) = (t.head(channel), self.switch_name(t.head(channel).switch));
                if t.switches()[to.switch.ix()].plane != self.plane {
                    let from = self.switch_name(plug.switch);
                    let why = format!("a cable runs from {from} to {name} in another plane");
                    return Err(Refusal::new("plane", why, "planes must not be joined"));
                }
                let _ = writeln!(
                    out,
                    "[{port}]\t\"{}\"[{}]\t\t# \"{name}\" lid {} {}",
                    switch_id(a.switch_guid[to.switch.ix()]),
                    to.port,
                    a.switch_lid[to.switch.ix()],
                    rate(&t.links()[channel.link().ix()].cable, name)?,
                );
            }
            _ => {}
        }
        Ok(())
    }
}

fn check_ports(what: &str, name: &str, ports: u32) -> Result<(), Refusal> {
    if ports <= u32::from(MAX_PORT) {
        return Ok(());
    }
    let why = format!("it has {ports} ports");
    Err(Refusal::new(format!("{what} {name}"), why, format!("at most {MAX_PORT} in InfiniBand")))
}

/// The rate of a cable, such as `4xHDR`; a faster cable has HDR as well.
fn rate(cable: &Cable, name: &str) -> Result<String, Refusal> {
    if ![1, 2, 4, 8, 12].contains(&cable.width) {
        let why = format!("the cable to {name} has {} lanes", cable.width);
        return Err(Refusal::new("width", why, "a cable has 1, 2, 4, 8 or 12 lanes"));
    }
    Ok(format!("{}x{}", cable.width, cable.speed.min(MAX_SPEED)))
}
