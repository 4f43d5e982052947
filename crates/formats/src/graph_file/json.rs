//! flyloom's own format: JSON that tells everything of a network and reads back equal.
//!
//! ```json
//! {"flyloom": 1,
//!  "recipe": {"family": "slim_fly", "params": {"q": 5}},
//!  "switches": [{"name": "sf-0-0-0", "ports": 7, "guid": "0x2c90200000010", "lid": 4}],
//!  "links": [[0, 5, 1, 5, {"speed": "HDR", "width": 4, "length_m": 1.5, "up": true}]],
//!  "endpoints": [{"name": "host-0000", "guid": null, "rails": [[0, 1, null, {"lid": 1}]]}]}
//! ```
//!
//! A switch needs a name; `guid`, `lid`, `ports`, `plane`, `group`, `level`, `coordinates`, `up`
//! and `left_out` (cables to devices that are no endpoints) have defaults (none, 0, working). A
//! link is switch, port, switch, port, cable; a rail is switch, port, cable, addresses (`rail`,
//! `port_guid`, `lid`, `id`). A cable of null is a working 4x HDR one; port 0 is the lowest free
//! one. Rails count from 0 in their order and terminals are numbered in the order of the endpoints,
//! unless `rail` and `id` say otherwise. Unknown fields are refused.

use super::given::with_endpoints;
use super::kind::{GraphFileFormat, MAX_PLANE, example_network};
use base::part::PartDescription;
use base::{Refusal, SwitchId};
use fabric::network::{
    Cable, CablePlug, InfinibandLaneSpeed, NAMES, NetworkRecipe, OmittedFileContents, Switch,
    Terminal, Topology, TopologyBuilder, name_fault,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write;

pub(super) const ENTRY: GraphFileFormat = GraphFileFormat {
    part: PartDescription::new("json", "JSON"),
    rank: 20,
    looks: |seen| seen.body.starts_with('{'),
    read: |text, name, p| with_endpoints(read(text, name)?, name, p, false),
    example: || write(&example_network()),
};

/// The version of the format that is written, and the only one that is read.
pub const VERSION: u64 = 1;
/// Ports that switches may have without cables: the first number for each switch, the second in
/// all, and one more for each port with a cable. Every port takes room, and a few digits of a file
/// can ask for any number of them.
const PORTS: usize = 256;
const MANY_PORTS: usize = 1 << 20;
/// Most devices of a switch that are no endpoints.
const MAX_LEFT_OUT: u32 = 1 << 16;
/// Most rails of an endpoint.
const MAX_RAILS: usize = 254;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JsonNetwork {
    flyloom: u64,
    recipe: RecipeEntry,
    switches: Vec<SwitchEntry>,
    links: Vec<(u32, u16, u32, u16, Option<CableEntry>)>,
    endpoints: Vec<EndpointEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecipeEntry {
    family: String,
    params: Map<String, Value>,
}

#[derive(Deserialize)]
struct JsonVersion {
    flyloom: Option<Value>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchEntry {
    name: String,
    #[serde(default)]
    guid: Option<Guid>,
    #[serde(default)]
    lid: Option<u16>,
    #[serde(default)]
    ports: u16,
    #[serde(default)]
    plane: u16,
    #[serde(default)]
    group: u32,
    #[serde(default)]
    level: u8,
    #[serde(default)]
    coordinates: Vec<u32>,
    #[serde(default = "yes")]
    up: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_out: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CableEntry {
    #[serde(default = "hdr")]
    speed: InfinibandLaneSpeed,
    #[serde(default = "four")]
    width: u8,
    #[serde(default)]
    length_m: Option<f32>,
    #[serde(default = "yes")]
    up: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndpointEntry {
    name: String,
    #[serde(default)]
    guid: Option<Guid>,
    rails: Vec<RailEntry>,
}

/// A rail in the list of an endpoint: switch, port, cable, addresses.
#[derive(Serialize, Deserialize)]
struct RailEntry(
    u32,
    u16,
    #[serde(default)] Option<CableEntry>,
    #[serde(default)] Option<AddressEntry>,
);

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AddressEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rail: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    port_guid: Option<Guid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lid: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
}

/// A GUID; JSON's numbers are too short for it, so it is a hexadecimal string.
#[derive(Clone, Copy)]
struct Guid(u64);

impl Serialize for Guid {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&format!("0x{:016x}", self.0))
    }
}

impl<'de> Deserialize<'de> for Guid {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        let digits = text.strip_prefix("0x").filter(|d| d.chars().all(|c| c.is_ascii_hexdigit()));
        let guid = digits.and_then(|d| u64::from_str_radix(d, 16).ok());
        guid.map(Self).ok_or_else(|| D::Error::custom(format!("'{text}' is no GUID (0x...)")))
    }
}

fn yes() -> bool {
    true
}

fn hdr() -> InfinibandLaneSpeed {
    InfinibandLaneSpeed::HDR
}

fn four() -> u8 {
    4
}

/// Reads flyloom's JSON; `name` stands for the file in refusals (the recipe is the one inside).
///
/// What [`write()`] wrote reads back equal in every field. O(file).
///
/// # Errors
/// When it is not JSON, a field is unknown, missing or of the wrong type (with line and column),
/// the version is another one, or the network is impossible (with the entry).
pub fn read(text: &str, name: &str) -> Result<Topology, Refusal> {
    let text = text.trim_start_matches('\u{feff}');
    let version: JsonVersion = serde_json::from_str(text).map_err(|e| syntax(name, &e))?;
    let readable = format!("this program reads version {VERSION}");
    match version.flyloom {
        None => {
            let why = "there is no \"flyloom\" field with the version";
            let help = format!("{readable}; or node-link JSON, with lists of nodes and links");
            return Err(Refusal::new(name, why, help));
        }
        Some(v) if v.as_u64() != Some(VERSION) => {
            return Err(Refusal::new(name, format!("its version is {v}"), readable));
        }
        Some(_) => {}
    }
    let document: JsonNetwork = serde_json::from_str(text).map_err(|e| syntax(name, &e))?;
    build(document).map_err(|r| r.within(name))
}

/// A refusal from `serde_json`, whose text ends in the line and the column.
pub(super) fn syntax(name: &str, e: &serde_json::Error) -> Refusal {
    let text = e.to_string();
    let why = text.rsplit_once(" at line ").map_or(text.as_str(), |(why, _)| why);
    let place = format!("{name}: line {}", e.line());
    Refusal::new(place, format!("column {}: {why}", e.column()), "")
}

/// Refuses switches with far more ports than cables.
fn check_ports(document: &JsonNetwork) -> Result<(), Refusal> {
    let known = document.switches.len();
    let ports: u64 = document.switches.iter().map(|s| u64::from(s.ports)).sum();
    let ends =
        2 * document.links.len() + document.endpoints.iter().map(|e| e.rails.len()).sum::<usize>();
    let most = (PORTS * known + 2 * ends + MANY_PORTS) as u64;
    if ports > most {
        let why = format!("{ports} ports of {known} switches with {ends} ends of cables");
        return Err(Refusal::new("switches", why, format!("at most {most}")));
    }
    Ok(())
}

fn add_switches(b: &mut TopologyBuilder, switches: Vec<SwitchEntry>) -> Result<(), Refusal> {
    let mut named = HashMap::new();
    let mut left_out = vec![0; switches.len()];
    for (i, s) in switches.into_iter().enumerate() {
        let refuse = |field: &str, why: String, help: String| {
            Err(Refusal::new(format!("switches[{i}]{field}"), why, help))
        };
        if s.plane > MAX_PLANE {
            return refuse("", format!("plane {}", s.plane), format!("at most {MAX_PLANE}"));
        }
        check_name(&mut named, "switches", i, &s.name)?;
        left_out[i] = s.left_out.unwrap_or(0);
        if left_out[i] > MAX_LEFT_OUT {
            let why = format!("{} devices", left_out[i]);
            return refuse(".left_out", why, format!("at most {MAX_LEFT_OUT}"));
        }
        b.switch(Switch {
            name: s.name,
            guid: s.guid.map(|g| g.0),
            lid: s.lid,
            ports: s.ports,
            plane: s.plane,
            group: s.group,
            level: s.level,
            coordinates: s.coordinates,
            up: s.up,
        });
    }
    if left_out.iter().any(|n| *n > 0) {
        b.set_aside(OmittedFileContents { left_out, ..OmittedFileContents::default() });
    }
    Ok(())
}

/// Refuses an empty name, and one that an earlier entry has.
fn check_name(
    named: &mut HashMap<String, usize>,
    list: &str,
    i: usize,
    name: &str,
) -> Result<(), Refusal> {
    let at = format!("{list}[{i}].name");
    if let Some(why) = name_fault(name) {
        return Err(Refusal::new(at, why, NAMES));
    }
    match named.insert(name.to_owned(), i) {
        None => Ok(()),
        Some(first) => {
            let why = format!("{name:?} is the name of {list}[{first}], too");
            Err(Refusal::new(at, why, "names must differ"))
        }
    }
}

fn build(document: JsonNetwork) -> Result<Topology, Refusal> {
    let mut b = TopologyBuilder::new();
    let known = document.switches.len();
    check_ports(&document)?;
    add_switches(&mut b, document.switches)?;
    let switch = |place: &dyn Fn() -> String, s: u32| {
        let exists = (s as usize) < known;
        exists.then_some(SwitchId(s)).ok_or_else(|| {
            let why = format!("switch {s} does not exist");
            Refusal::new(place(), why, format!("there are {known} switches, counted from 0"))
        })
    };
    for (i, (a, a_port, z, z_port, cable)) in document.links.into_iter().enumerate() {
        let place = || format!("links[{i}]");
        let a = CablePlug { switch: switch(&place, a)?, port: a_port };
        let z = CablePlug { switch: switch(&place, z)?, port: z_port };
        b.link_at(a, z, to_cable(cable.as_ref(), &place)?);
    }
    let (mut terminals, mut named) = (Vec::new(), HashMap::new());
    for (i, e) in document.endpoints.into_iter().enumerate() {
        if e.rails.len() > MAX_RAILS {
            let (why, help) = (format!("{} rails", e.rails.len()), format!("at most {MAX_RAILS}"));
            return Err(Refusal::new(format!("endpoints[{i}]"), why, help));
        }
        check_name(&mut named, "endpoints", i, &e.name)?;
        let endpoint = b.endpoint(e.name, e.guid.map(|g| g.0));
        for (r, RailEntry(s, port, cable, address)) in e.rails.into_iter().enumerate() {
            let place = || format!("endpoints[{i}].rails[{r}]");
            let address = address.unwrap_or_default();
            let plug = CablePlug { switch: switch(&place, s)?, port };
            let cable = to_cable(cable.as_ref(), &place)?;
            let rail = address.rail.unwrap_or(r as u16);
            let (port_guid, lid) = (address.port_guid.map(|g| g.0), address.lid);
            let terminal = Terminal { endpoint, rail, plug, port_guid, lid, cable };
            terminals.push((address.id, terminal));
        }
    }
    for terminal in in_order(terminals)? {
        let Terminal { endpoint, plug, cable, .. } = terminal;
        let id = b.attach(endpoint, plug.switch, plug.port, cable);
        *b.terminal_mut(id) = terminal;
    }
    let RecipeEntry { family, params } = document.recipe;
    b.finish(NetworkRecipe { family, params })
}

/// Terminals in order of their ids, which all or none must have.
fn in_order(terminals: Vec<(Option<u32>, Terminal)>) -> Result<Vec<Terminal>, Refusal> {
    if terminals.iter().all(|(id, _)| id.is_none()) {
        return Ok(terminals.into_iter().map(|(_, t)| t).collect());
    }
    let mut slots = vec![None; terminals.len()];
    for (id, terminal) in terminals {
        let free = id.and_then(|id| slots.get_mut(id as usize)).filter(|slot| slot.is_none());
        *free.ok_or_else(|| {
            let why = match id {
                None => "a rail has no id, though others have one".to_owned(),
                Some(id) => format!("the rail id {id} is used twice or too high"),
            };
            Refusal::new("endpoints", why, "ids count all rails from 0, without a gap")
        })? = Some(terminal);
    }
    Ok(slots.into_iter().flatten().collect())
}

fn to_cable(entry: Option<&CableEntry>, place: &dyn Fn() -> String) -> Result<Cable, Refusal> {
    let Some(&CableEntry { speed, width, length_m, up }) = entry else {
        return Ok(Cable::default());
    };
    if ![1, 2, 4, 8, 12].contains(&width) {
        let why = format!("width {width}");
        return Err(Refusal::new(place(), why, "a cable has 1, 2, 4, 8 or 12 lanes"));
    }
    if let Some(length) = length_m.filter(|l| !l.is_finite() || *l < 0.0) {
        return Err(Refusal::new(place(), format!("length_m {length}"), "a length is 0 or more"));
    }
    Ok(Cable { speed, width, length_m, up })
}

/// The network as JSON, one entry a line. O(network).
pub fn write(t: &Topology) -> String {
    let mut out = format!("{{\"flyloom\": {VERSION},\n\"recipe\": {},\n", line(t.recipe()));
    let left_out = |i: usize| t.aside().left_out.get(i).copied().filter(|n| *n > 0);
    let switches = t.switches().iter().enumerate().map(|(i, s)| {
        line(&SwitchEntry {
            name: s.name.clone(),
            guid: s.guid.map(Guid),
            lid: s.lid,
            ports: s.ports,
            plane: s.plane,
            group: s.group,
            level: s.level,
            coordinates: s.coordinates.clone(),
            up: s.up,
            left_out: left_out(i),
        })
    });
    let links = t.links().iter().map(|l| {
        let cable = from_cable(&l.cable);
        line(&(l.a.switch.0, l.a.port, l.b.switch.0, l.b.port, cable))
    });
    let mut rails: Vec<Vec<usize>> = vec![Vec::new(); t.endpoints().len()];
    for (i, x) in t.terminals().iter().enumerate() {
        rails[x.endpoint.ix()].push(i);
    }
    let grouped = rails.iter().flatten().copied().eq(0..t.terminals().len());
    let endpoints = t.endpoints().iter().zip(&rails).map(|(e, rails)| {
        let rails = rails.iter().enumerate().map(|(r, &i)| rail(t, i, r, grouped)).collect();
        line(&EndpointEntry { name: e.name.clone(), guid: e.guid.map(Guid), rails })
    });
    let lists = [
        ("switches", switches.collect::<Vec<_>>(), ",\n"),
        ("links", links.collect(), ",\n"),
        ("endpoints", endpoints.collect(), "}\n"),
    ];
    for (key, entries, end) in lists {
        let _ = write!(out, "\"{key}\": [\n{}\n]{end}", entries.join(",\n"));
    }
    out
}

fn line(entry: &impl Serialize) -> String {
    serde_json::to_string(entry).expect("names, numbers and lists can be written as JSON")
}

/// Rail number `r` in the list of an endpoint: terminal `i`.
fn rail(t: &Topology, i: usize, r: usize, grouped: bool) -> RailEntry {
    let x = &t.terminals()[i];
    let address = AddressEntry {
        rail: Some(x.rail).filter(|rail| usize::from(*rail) != r),
        port_guid: x.port_guid.map(Guid),
        lid: x.lid,
        id: (!grouped).then_some(i as u32),
    };
    let plain = address.rail.is_none()
        && address.port_guid.is_none()
        && address.lid.is_none()
        && address.id.is_none();
    RailEntry(x.plug.switch.0, x.plug.port, from_cable(&x.cable), (!plain).then_some(address))
}

fn from_cable(cable: &Cable) -> Option<CableEntry> {
    let Cable { speed, width, length_m, up } = *cable;
    (*cable != Cable::default()).then_some(CableEntry { speed, width, length_m, up })
}
