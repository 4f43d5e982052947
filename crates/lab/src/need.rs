//! The table `[choose]`: what a network is to be chosen for, in an experiment or in a file of its
//! own.

use base::{Refusal, fields, taken};
use plan::{BillItem, NetworkProtocol};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A need that a network is chosen for: the parameters of `flyloom.choose`, and the terms of the
/// purchase (docs/cost.md).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Choose")]
#[serde(deny_unknown_fields)]
pub struct NetworkChoiceParameters {
    /// Endpoints to carry, network ports of computers.
    pub endpoints: u64,
    /// US dollars to spend, a number or text as `"30M"`; what costs more is left out.
    pub budget: Option<NumberOrText>,
    /// Rate of every link, Gbit/s; the catalogue's where it is not given.
    pub gbps: Option<f64>,
    /// Ports of a switch, at most; 64 by default.
    #[schemars(range(min = 2, max = 4096))]
    pub radix: Option<u32>,
    /// Endpoints for each one that full bandwidth has room for, 1 to 64; of several, networks for
    /// each; 1 and 2 by default.
    pub oversubscription: Option<OneOrSeveral>,
    /// Parallel planes; as the family has them where it is not given.
    pub planes: Option<u32>,
    /// Families of networks; all by default.
    pub families: Option<Vec<String>>,
    /// The catalogue of prices: the name of one that comes with flyloom, or a file.
    pub catalog: Option<String>,
    /// What totals add up: `network`, `endpoint_cables`, `adapters`, `energy`.
    pub include: Option<ItemsOrText>,
    /// The catalogue's server that endpoints are in.
    pub server: Option<String>,
    /// What switches, cables and adapters speak.
    pub protocol: Option<NetworkProtocol>,
    /// Years whose energy the total has.
    pub energy_years: Option<f64>,
    /// Price of energy, US dollars a kilowatt-hour.
    pub usd_per_kwh: Option<f64>,
    /// Power of the whole room over that of its machines.
    pub pue: Option<f64>,
    /// Parts to buy beyond those needed, as a fraction of these.
    pub spare: Option<f64>,
    /// The file of a vendor's quotation (CSV), whose prices replace those of the catalogue.
    pub quotation: Option<String>,
    /// Weights of criteria by name, in place of flyloom's own.
    pub weights: Option<Map<String, Value>>,
    /// Networks that are kept; 8 by default.
    #[schemars(range(min = 1, max = 100))]
    pub candidates: Option<u32>,
    /// Seed of the links that fail; in an experiment its own by default.
    pub seed: Option<u64>,
    /// Whether the first three run at the packet level, too.
    pub simulate: Option<bool>,
}

/// A number, or one as people write it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NumberOrText {
    /// A number.
    Number(f64),
    /// Text, such as `30M`.
    Text(String),
}

/// A number or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OneOrSeveral {
    /// A single number.
    One(f64),
    /// Several numbers.
    Several(Vec<f64>),
}

/// Items of a bill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ItemsOrText {
    /// A list of them.
    Items(Vec<BillItem>),
    /// Words with commas between.
    Text(String),
}

/// The table `[choose]` that `given` is, checked for keys and types.
///
/// # Errors
/// When a key is unknown, missing or of another type; the refusal says what the key takes.
pub fn network_choice(given: &Value) -> Result<NetworkChoiceParameters, Refusal> {
    if !given.is_object() {
        let help = taken::taken::<NetworkChoiceParameters>("[choose]", "");
        return Err(Refusal::new("choose", "not a table", help));
    }
    fields::typed(given).map_err(|(field, mut why)| {
        // the keys stand in the help
        if why.starts_with("unknown field ")
            && let Some(at) = why.find(" expected one of ")
        {
            why.truncate(at);
        }
        let why = why.trim_end_matches(',').to_owned();
        taken::refused::<NetworkChoiceParameters>("[choose]", field, why, "").within("choose")
    })
}

/// The key of `[topology]` for a network that `[choose]` ranks: `chosen = 1` is the first.
pub const CHOSEN: &str = "chosen";

/// Checks a topology that is a chosen network: which rank it names, and that there is a choice.
///
/// # Errors
/// When the rank is not one of those that are kept, other keys than the failures stand beside it,
/// or the experiment has no `[choose]`.
pub(crate) fn check_chosen(
    topology: &Map<String, Value>,
    choice: Option<&NetworkChoiceParameters>,
) -> Result<(), Refusal> {
    let Some(choice) = choice else {
        let why = "the experiment chooses no network";
        return Err(Refusal::new("topology.chosen", why, "[choose] with endpoints, or a family"));
    };
    if let Some(key) = topology.keys().find(|key| ![CHOSEN, "failures"].contains(&key.as_str())) {
        let why = "not a key of a chosen network";
        return Err(Refusal::new(format!("topology.{key}"), why, "chosen, failures"));
    }
    let most = u64::from(choice.candidates.unwrap_or(DEFAULT_CANDIDATES));
    match topology.get(CHOSEN).and_then(Value::as_u64) {
        Some(rank) if (1..=most).contains(&rank) => Ok(()),
        _ => {
            let why = format!("{} is no rank of the networks that are kept", topology[CHOSEN]);
            Err(Refusal::new("topology.chosen", why, format!("1, the best, to {most}")))
        }
    }
}

/// Networks that a choice keeps where it does not say.
const DEFAULT_CANDIDATES: u32 = 8;

#[cfg(test)]
mod tests {
    use crate::expand;

    const HEAD: &str = "schema = 1\nname = \"one\"\n";
    const CHOICE: &str = "[choose]\nendpoints = 100\ncandidates = 3\n";

    fn fault(text: &str) -> String {
        expand(text, "f.toml", &[]).map(drop).expect_err(text).to_string()
    }

    #[test]
    fn a_choice_alone_has_no_points_and_its_effective_file_neither() {
        let e = expand(&format!("{HEAD}{CHOICE}"), "f.toml", &[]).expect("valid");
        assert!(e.points.is_empty());
        let effective = crate::spec::effective(&e.experiment, &e.points);
        let again = expand(&effective, "effective.toml", &[]).expect("what we wrote");
        assert_eq!(again.experiment.choose, e.experiment.choose);
        assert!(again.points.is_empty());
    }

    #[test]
    fn chosen_networks_are_points_and_are_swept_by_rank() {
        let text = format!(
            "{HEAD}{CHOICE}[topology]\nchosen = 1\nfailures = {{ random = 2 }}\n\
             [routing]\nengine = \"sssp\"\n[sweep.grid]\n\"topology.chosen\" = [1, 3]\n"
        );
        let e = expand(&text, "f.toml", &[]).expect("valid");
        let ranks: Vec<_> = e.points.iter().map(|p| p.topology["chosen"].clone()).collect();
        assert_eq!(ranks, [1, 3]);
        let effective = crate::spec::effective(&e.experiment, &e.points);
        let again = expand(&effective, "effective.toml", &[]).expect("what we wrote");
        assert_eq!(again.points[1].topology, e.points[1].topology);
        let other = format!(
            "{HEAD}{CHOICE}[topology]\nchosen = 1\n[[point]]\n[[point]]\n\
             topology = {{ family = \"ring\", n = 4, p = 1 }}\n"
        );
        let e = expand(&other, "f.toml", &[]).expect("valid");
        assert!(e.points[0].topology.contains_key("chosen"));
        assert!(!e.points[1].topology.contains_key("chosen"));
    }

    #[test]
    fn faults_of_a_choice_are_placed() {
        let of = |line: &str| fault(&format!("{HEAD}{CHOICE}{line}\n"));
        for (line, why) in [
            ("endpoint = 3", "choose: unknown field `endpoint`"),
            ("radix = \"many\"", "choose: radix: "),
            ("include = [\"power\"]", "choose: include: "),
            ("[routing]\nengine = \"sssp\"", "topology: missing"),
            ("[topology]\nchosen = 4", "topology.chosen: 4 is no rank"),
            ("[topology]\nchosen = 0", "topology.chosen: 0 is no rank"),
            ("[topology]\nchosen = 1\nq = 5", "topology.q: not a key of a chosen network"),
        ] {
            let said = of(line);
            assert!(said.starts_with("f.toml: "), "{said}");
            assert!(said.contains(why), "{said}");
            if !why.ends_with("missing") {
                assert!(said.starts_with("f.toml: line "), "{said}");
            }
        }
        let said = fault(&format!("{HEAD}[topology]\nchosen = 1\n"));
        assert!(said.contains("line 4") && said.contains("chooses no network"), "{said}");
        let said = fault(&format!("{HEAD}[choose]\nradix = 4\n"));
        assert!(said.contains("missing") && said.contains("endpoints"), "{said}");
    }
}
