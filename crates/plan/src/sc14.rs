//! The cost model of the 2014 study as it was computed there, errors included: it gives the printed
//! figures of the case study.
//!
//! Source: Besta & Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014,
//! section VI and its tables. The rules were inferred from the printed figures; where none gives
//! them, the field is `None`. [`super::bill`] has the true figures.

use base::Refusal;
use fabric::network::Topology;
use serde::{Deserialize, Serialize};

/// A column of the study: a family and its sizes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "snake_case", deny_unknown_fields)]
pub enum CostStudyColumn {
    /// Slim Fly of the field of `q` elements, `p` endpoints a switch.
    SlimFly {
        /// Elements of the field.
        q: u32,
        /// Endpoints of a switch.
        p: u32,
    },
    /// Dragonfly of `g` groups of `a` switches with `p` endpoints and `h` global links.
    Dragonfly {
        /// Switches of a group.
        a: u32,
        /// Endpoints of a switch.
        p: u32,
        /// Global links of a switch.
        h: u32,
        /// Groups.
        g: u32,
    },
    /// Flattened butterfly of `c` x `c` x `c` switches with `c` endpoints each.
    FlattenedButterfly {
        /// Switches of a dimension, and endpoints of a switch.
        c: u32,
    },
    /// Fat tree of three levels with switches of `radix` ports; odd numbers count as in the study.
    FatTree {
        /// Ports of a switch.
        radix: u32,
    },
    /// Random network of `switches` switches of `radix` ports, `p` of them for endpoints.
    Random {
        /// Switches.
        switches: u32,
        /// Endpoints of a switch.
        p: u32,
        /// Ports of a switch.
        radix: u32,
    },
}

/// What the study's rules give for a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostStudyResult {
    /// Number of endpoints.
    pub endpoints: u64,
    /// Number of switches.
    pub switches: u64,
    /// Ports of a switch, as they enter cost and power.
    pub radix: u32,
    /// Number of electric cables; `None` where no rule is known.
    pub cables_electric: Option<u64>,
    /// Number of fibre cables.
    pub cables_optical: Option<u64>,
    /// Number of cables, electric and fibre together.
    pub cables: u64,
    /// Cost, US dollars.
    pub cost_usd: Option<f64>,
    /// Cost over endpoints.
    pub cost_usd_per_endpoint: Option<f64>,
    /// Power, 2.8 W a port, over endpoints.
    pub power_w_per_endpoint: f64,
    /// Where these rules and the truth differ.
    pub notes: Vec<&'static str>,
}

/// The rate of an FDR10 link, Gbit/s.
const RATE_GBPS: f64 = 40.0;

fn switch_usd(ports: u32) -> f64 {
    350.4 * f64::from(ports) - 892.3
}

fn electric_usd(length_m: f64) -> f64 {
    RATE_GBPS * (0.4079 * length_m + 0.5771)
}

fn optical_usd(length_m: f64) -> f64 {
    RATE_GBPS * (0.0919 * length_m + 7.2745)
}

/// Mean Manhattan distance of two of `racks` racks on a square grid of 1 m, plus 2 m of overhead.
fn between_racks_m(racks: f64) -> f64 {
    2.0 + 2.0 * (racks - 1.0) / (3.0 * racks.sqrt())
}

impl CostStudyColumn {
    /// The column of a network.
    ///
    /// # Errors
    /// When the study has no such network, or no rule for its size.
    pub fn of(t: &Topology) -> Result<Self, Refusal> {
        let recipe = t.recipe();
        let (k, p) = (t.network_radix(), t.concentration());
        let groups = t.switches().iter().map(|s| s.group + 1).max().unwrap_or(0);
        let number = |key: &str| recipe.params.get(key).and_then(serde_json::Value::as_u64);
        let refuse = |why: String, help: &str| Err(Refusal::new("mode", why, help));
        let switches = t.switches().len() as u32;
        match recipe.family.as_str() {
            "slim_fly" => Ok(Self::SlimFly { q: f64::from(switches / 2).sqrt().round() as u32, p }),
            "dragonfly" if groups > 0 => {
                let a = switches / groups;
                Ok(Self::Dragonfly { a, p, h: (k + 1).saturating_sub(a), g: groups })
            }
            "flattened_butterfly" if number("n") == Some(4) && number("k") == Some(p.into()) => {
                Ok(Self::FlattenedButterfly { c: p })
            }
            "fat_tree" => {
                let radix = t.radix();
                let full = u64::from(radix).pow(3) / 4;
                if t.endpoints().len() as u64 == full
                    && u64::from(switches) * 4 * u64::from(radix) == 5 * u64::from(radix).pow(3)
                {
                    return Ok(Self::FatTree { radix });
                }
                refuse(
                    format!("the study's fat tree of {radix}-port switches has {full} endpoints"),
                    "a full fat tree of three levels, or --mode true",
                )
            }
            "jellyfish" | "dln" => Ok(Self::Random { switches, p, radix: t.radix() }),
            family => refuse(
                format!("the study has no rule for {family} of these parameters"),
                "slim_fly, dragonfly, flattened_butterfly (n=4, full), fat_tree (three levels), \
                 jellyfish or dln; --mode true takes any network",
            ),
        }
    }

    /// The study's figures for this column.
    pub fn reckon(self) -> CostStudyResult {
        match self {
            Self::SlimFly { q, p } => slim_fly(q, p),
            Self::Dragonfly { a, p, h, g } => dragonfly(a, p, h, g),
            Self::FlattenedButterfly { c } => flattened_butterfly(c),
            Self::FatTree { radix } => fat_tree(radix),
            Self::Random { switches, p, radix } => {
                let (n, k) = (u64::from(switches), radix);
                let cables = n * u64::from(k.saturating_sub(p)) / 2;
                let mut found = sums(n * u64::from(p), n, k, [None, None], None);
                found.cables = cables;
                found.notes.push("the rule for its electric and fibre cables is unknown");
                found
            }
        }
    }
}

fn sums(
    endpoints: u64,
    switches: u64,
    radix: u32,
    [electric, optical]: [Option<u64>; 2],
    cost_usd: Option<f64>,
) -> CostStudyResult {
    CostStudyResult {
        endpoints,
        switches,
        radix,
        cables_electric: electric,
        cables_optical: optical,
        cables: electric.unwrap_or(0) + optical.unwrap_or(0),
        cost_usd,
        cost_usd_per_endpoint: cost_usd.map(|c| c / endpoints as f64),
        power_w_per_endpoint: 2.8 * switches as f64 * f64::from(radix) / endpoints as f64,
        notes: Vec::new(),
    }
}

fn slim_fly(q: u32, p: u32) -> CostStudyResult {
    let n = u64::from(q);
    let radix = if q.is_multiple_of(2) { 3 * q / 2 } else { (3 * q - 1) / 2 } + p;
    let (electric, optical) = ((2 * n + 1) * n * (n - 1) / 2, n * n * n);
    let switches = 2 * n * n;
    let length = between_racks_m(f64::from(q));
    let cost = switches as f64 * switch_usd(radix)
        + electric as f64 * electric_usd(1.0)
        + optical as f64 * electric_usd(length);
    let both = [Some(electric), Some(optical)];
    let mut found = sums(switches * u64::from(p), switches, radix, both, Some(cost));
    found.notes.push("electric cables are more than there are links inside racks");
    found.notes.push("the cables between racks are priced as electric ones");
    if q % 4 == 3 {
        found.notes.push("one port too few: q = 4 w - 1 has (3 q + 1) / 2 network ports");
    }
    found
}

fn dragonfly(a: u32, p: u32, h: u32, g: u32) -> CostStudyResult {
    let (groups, switches) = (u64::from(g), u64::from(a) * u64::from(g));
    let electric = u64::from(a) * u64::from(a.saturating_sub(1)) / 2 * groups;
    let optical = (groups * groups).saturating_sub(1) / 2;
    let radix = p + a.saturating_sub(1) + h;
    let cost = switches as f64 * switch_usd(radix)
        + electric as f64 * electric_usd(1.0)
        + optical as f64 * electric_usd(between_racks_m(f64::from(g)));
    let both = [Some(electric), Some(optical)];
    let mut found = sums(switches * u64::from(p), switches, radix, both, Some(cost));
    found.notes.push("fibre cables are (g^2 - 1) / 2, not the g (g - 1) / 2 pairs of groups");
    found.notes.push("the cables between racks are priced as electric ones");
    found
}

fn flattened_butterfly(c: u32) -> CostStudyResult {
    let n = u64::from(c);
    let (electric, optical) = (n * n * n * n.saturating_sub(1) / 2, n.pow(4));
    let (switches, radix) = (n.pow(3), (4 * c).saturating_sub(3));
    // a link between racks stays in a row or a column of the c x c racks
    let side = f64::from(c);
    let length = 2.0 + (side * side - 1.0) / (3.0 * side);
    let cost = switches as f64 * switch_usd(radix)
        + electric as f64 * electric_usd(1.0)
        + optical as f64 * optical_usd(length);
    let both = [Some(electric), Some(optical)];
    let mut found = sums(n.pow(4), switches, radix, both, Some(cost));
    found.notes.push("fibre cables are c^4, not the c^3 (c - 1) links between racks");
    found
}

fn fat_tree(radix: u32) -> CostStudyResult {
    let p = f64::from(radix) / 2.0;
    let whole = |x: f64| Some(x as u64);
    let both = [whole((2.0 * p - 1.0) * p * p), whole((4.0 * p + 1.0) * p * p)];
    let mut found = sums((2.0 * p.powi(3)) as u64, (5.0 * p * p) as u64, radix, both, None);
    found.cables = (6.0 * p.powi(3)) as u64;
    found.power_w_per_endpoint = 2.8 * 5.0;
    found.notes.push("the cables of endpoints are counted, here alone");
    found.notes.push("the rule for the length of its fibres, and so its cost, is unknown");
    if !radix.is_multiple_of(2) {
        found.notes.push("there is no such network: the number of ports is odd");
    }
    found
}
