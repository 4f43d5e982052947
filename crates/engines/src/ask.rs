//! Checks of a routing request: engine, LMC, layers and options. The command line, Python and
//! experiments share these checks and their messages.

use crate::engine;
use base::Refusal;
use serde_json::{Map, Value};

/// The prefix of the names of OpenSM's own engines.
const PREFIX: &str = "opensm:";

/// OpenSM's own engines that need no file, as its manual page lists them.
pub const OPENSM: [&str; 10] =
    ["minhop", "updn", "dnup", "ftree", "lash", "dor", "torus-2QoS", "nue", "dfsssp", "sssp"];

/// Checks an engine's name, `lmc`, `layers` and `options` as far as that is possible without a
/// network. Returns the number of routes to a terminal.
///
/// # Errors
/// When there is no such engine, an option is unknown or of the wrong type, or `lmc` and `layers`
/// are out of range or do not fit each other.
pub fn check(
    name: &str,
    lmc: Option<u8>,
    layers: Option<u32>,
    options: &Map<String, Value>,
) -> Result<u32, Refusal> {
    let routes = routes(lmc, layers)?;
    if let Some(theirs) = name.strip_prefix(PREFIX) {
        check_opensm(theirs, options).map_err(|r| r.within(name))?;
        if !routes.is_power_of_two() {
            let why = format!("{routes} routes to a terminal");
            return Err(Refusal::new(
                "layers",
                why,
                "of OpenSM's engines 1, 2, 4 and so on to 128",
            ));
        }
        return Ok(routes);
    }
    let mut own = options.clone();
    if name == "application" && !own.contains_key("flows") {
        // the flows are computed later, from the traffic pattern and the network
        own.remove("traffic");
        own.insert("flows".to_owned(), Value::Array(Vec::new()));
    }
    engine(name)?.check(&own)?;
    Ok(routes)
}

/// The number of routes to a terminal that `lmc` and `layers` ask for: one where neither does.
///
/// # Errors
/// When `lmc` or `layers` is out of range, or when `layers` routes need another LMC than `lmc`.
pub fn routes(lmc: Option<u8>, layers: Option<u32>) -> Result<u32, Refusal> {
    if let Some(lmc) = lmc.filter(|lmc| *lmc > 7) {
        return Err(Refusal::new("lmc", format!("{lmc} is no LMC"), "0 to 7"));
    }
    let Some(layers) = layers else { return Ok(1 << lmc.unwrap_or(0)) };
    if !(1..=128).contains(&layers) {
        let why = format!("{layers} routes a terminal");
        return Err(Refusal::new("layers", why, "1 to 128 (LMC 0 to 7)"));
    }
    match lmc {
        Some(lmc) if lmc != self::lmc(layers) => {
            let why = format!("{layers} routes take LMC {}, not {lmc}", self::lmc(layers));
            Err(Refusal::new("layers", why, "give one of lmc and layers, or two that fit"))
        }
        _ => Ok(layers),
    }
}

/// The LID mask control for this number of routes: the least m with 2^m >= `routes`.
pub fn lmc(routes: u32) -> u8 {
    routes.next_power_of_two().trailing_zeros() as u8
}

fn check_opensm(name: &str, options: &Map<String, Value>) -> Result<(), Refusal> {
    if !OPENSM.contains(&name) {
        let known: Vec<String> = OPENSM.iter().map(|name| format!("{PREFIX}{name}")).collect();
        let why = format!("OpenSM has no '{PREFIX}{name}'");
        let near = base::words::meant(name, OPENSM);
        let near = near.map(|name| format!("did you mean {PREFIX}{name}? ")).unwrap_or_default();
        return Err(Refusal::new("engine", why, format!("{near}{}", known.join(", "))));
    }
    if let Some(key) = options.keys().find(|key| name != "nue" || *key != "max_lanes") {
        let why = "OpenSM's engines take an LMC and no options";
        return Err(Refusal::new(key, why, "its nue takes max_lanes, 1 to 8"));
    }
    match options.get("max_lanes") {
        Some(most) if !most.as_u64().is_some_and(|most| (1..=8).contains(&most)) => {
            let why = format!("{most} lanes");
            Err(Refusal::new("max_lanes", why, "1 to 8 of OpenSM's nue"))
        }
        _ => Ok(()),
    }
}
