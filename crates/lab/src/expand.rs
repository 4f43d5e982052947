//! Expands the text of an experiment to its points: parses it, applies the sweep, and checks each
//! point.

use crate::need::{CHOSEN, NetworkChoiceParameters, check_chosen, network_choice};
use crate::plugins::{PluginDescription, PluginPartKind, find, listed};
use crate::spec::{Experiment, ExperimentPoint};
use crate::stages::{STAGES, StageEntry, StageInputKind};
use crate::sweep::SweptPoint;
use crate::{place, stages, sweep, tables};
use base::Refusal;
use engines::ask;
use engines::lanes::LaneMethodParameters;
use fabric::network::{FailureParameters, GBPS, NetworkRecipe, take_gbps};
use plan::FloorRules;
use serde_json::{Map, Value};

/// An experiment with its points, each complete and checked.
#[derive(Debug, Clone)]
pub struct ExpandedExperiment {
    /// The experiment as the file has it.
    pub experiment: Experiment,
    /// The points: those written out in their order, each with the zips of its sweep outermost,
    /// then the keys of the grid in the order of the file.
    pub points: Vec<ExperimentPoint>,
    /// The values that sweeps have given each point, in words; empty for a point without a sweep.
    pub swept: Vec<String>,
    /// The keys that sweeps have given values at each point, with dots, in the order of `swept`.
    pub swept_keys: Vec<Vec<String>>,
    /// Notes on parameters whose names have changed since the last version, each once.
    pub notes: Vec<String>,
}

/// Parses the text of `file` (TOML).
///
/// # Errors
/// A single refusal that names the file, the line and the column of the fault in syntax or type.
pub fn parse(text: &str, file: &str) -> Result<Experiment, Refusal> {
    place::plain(text, file)?;
    toml::from_str(text).map_err(|e| located(&e, text, file))
}

/// Parses the text of `file` (TOML) and expands its sweep; `plugins` are known in addition to what
/// is built in.
///
/// # Errors
/// The errors of [`parse`], and invalid keys of a point; families, engines and the types of their
/// parameters are checked before anything runs.
pub fn expand(
    text: &str,
    file: &str,
    plugins: &[PluginDescription],
) -> Result<ExpandedExperiment, Refusal> {
    let experiment = parse(text, file)?;
    expanded(experiment, file, plugins).map_err(|fault| {
        let mut refused = place::placed(fault.refused, text, file);
        if let Some((number, swept)) = fault.point.filter(|(_, swept)| !swept.is_empty()) {
            let bare = format!(": point {number}");
            refused.param = refused.param.replacen(&bare, &format!("{bare} ({swept})"), 1);
        }
        refused
    })
}

/// The refusal of a point, with the number of the point and its swept values.
struct PointRefusal {
    refused: Refusal,
    point: Option<(usize, String)>,
}

impl From<Refusal> for PointRefusal {
    fn from(refused: Refusal) -> Self {
        Self { refused, point: None }
    }
}

fn expanded(
    experiment: Experiment,
    file: &str,
    plugins: &[PluginDescription],
) -> Result<ExpandedExperiment, PointRefusal> {
    let refuse =
        |param: &str, why: String, help: &str| Refusal::new(format!("{file}: {param}"), why, help);
    if experiment.schema != 1 {
        let why = format!("version {} is not known", experiment.schema);
        return Err(refuse("schema", why, "schema = 1").into());
    }
    let name_ok = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if experiment.name.is_empty()
        || experiment.name.len() > 200
        || experiment.name.starts_with('.')
        || !experiment.name.chars().all(name_ok)
    {
        let shown: String = experiment.name.chars().take(40).collect();
        let why = format!("'{shown}' cannot name a folder");
        return Err(refuse("name", why, "letters, digits, '-', '_' and '.', 200 at most").into());
    }
    FloorRules::from_value(&Value::Object(experiment.floor.clone()))
        .map_err(|r| r.within("floor").within(file))?;
    let choice = match &experiment.choose {
        Some(given) => {
            let given = Value::Object(given.clone());
            Some(network_choice(&given).map_err(|r| r.within(file))?)
        }
        None => None,
    };
    let trees = if chooses_alone(&experiment) {
        Vec::new()
    } else {
        sweep::trees(&experiment).map_err(|r| r.within(file))?
    };
    let several = trees.len() > 1;
    let mut points = Vec::with_capacity(trees.len());
    let mut all_swept = Vec::with_capacity(trees.len());
    let mut swept_keys = Vec::with_capacity(trees.len());
    let mut notes = Vec::new();
    for (i, SweptPoint { tree, swept, keys }) in trees.into_iter().enumerate() {
        let place = if several { format!("{file}: point {}", i + 1) } else { file.to_owned() };
        match checked(tree, experiment.seed, choice.as_ref(), plugins, &mut notes) {
            Ok(point) => points.push(point),
            Err(refused) => {
                return Err(PointRefusal {
                    refused: refused.within(&place),
                    point: Some((i + 1, swept)),
                });
            }
        }
        all_swept.push(swept);
        swept_keys.push(keys);
    }
    Ok(ExpandedExperiment { experiment, points, swept: all_swept, swept_keys, notes })
}

/// Whether the experiment chooses a network, and asks for nothing else.
fn chooses_alone(experiment: &Experiment) -> bool {
    let Experiment { choose, common, point, sweep, .. } = experiment;
    choose.is_some() && common.is_empty() && point.is_empty() && sweep.is_none()
}

/// The point of a tree of values, complete and checked.
fn checked(
    mut tree: Value,
    seed: u64,
    choice: Option<&NetworkChoiceParameters>,
    plugins: &[PluginDescription],
    notes: &mut Vec<String>,
) -> Result<ExperimentPoint, Refusal> {
    renew(&mut tree, notes)?;
    if choice.is_some() && tree.get("topology").is_none() {
        let help = "chosen = 1 for the first that [choose] finds, or a family";
        return Err(Refusal::new("topology", "missing", help));
    }
    let mut point = tables::point(&tree, plugins)?;
    if point.topology.contains_key(CHOSEN) {
        check_chosen(&point.topology, choice)?;
    } else {
        check_topology(&point, plugins)?;
    }
    check(&mut point, plugins)?;
    complete(&mut point, seed, plugins)?;
    Ok(point)
}

fn located(e: &toml::de::Error, text: &str, file: &str) -> Refusal {
    let place = e.span().map_or_else(|| file.to_owned(), |span| place::at(text, file, span.start));
    let key = e.span().and_then(|span| place::key_over(text, span.start));
    let help = key.as_deref().map(tables::of_experiment).unwrap_or_default();
    let why = base::fields::in_words(e.message().trim());
    Refusal::new(key.unwrap_or_default(), why, help).within(&place)
}

/// Gives parameters with old names their new ones in the tables of measures and simulators, and
/// notes each change once.
fn renew(tree: &mut Value, notes: &mut Vec<String>) -> Result<(), Refusal> {
    for (name, given) in tree.as_object_mut().into_iter().flatten() {
        if name == "sim" {
            for (level, given) in given.as_object_mut().into_iter().flatten() {
                if let Ok(entry) = stages::simulator(level) {
                    renew_table(entry, given, notes)?;
                }
            }
        } else if let Some(entry) = STAGES.iter().find(|e| e.part.name == name) {
            renew_table(entry, given, notes)?;
        }
    }
    Ok(())
}

/// Gives the parameters in the table of one stage their new names.
fn renew_table(
    entry: &StageEntry,
    given: &mut Value,
    notes: &mut Vec<String>,
) -> Result<(), Refusal> {
    let Some(table) = given.as_object().filter(|_| !entry.renames.is_empty()) else {
        return Ok(());
    };
    let (new, renamed) = entry.renewed(table)?;
    for note in renamed {
        let note = format!("{}: {note}", entry.part.name);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    *given = Value::Object(new);
    Ok(())
}

/// Checks the measures of a point and fills in their defaults. Where they or the failures are
/// random and have no seed of their own, they get the experiment's.
fn complete(
    point: &mut ExperimentPoint,
    seed: u64,
    plugins: &[PluginDescription],
) -> Result<(), Refusal> {
    if let Some(Value::Object(failures)) = point.topology.get_mut("failures")
        && failures.contains_key("random")
    {
        failures.entry("seed").or_insert(seed.into());
    }
    for (level, given) in &mut point.sim {
        let entry = stages::simulator(level).map_err(|r| r.within("sim"))?;
        if !given.is_object() {
            let help = format!("[{}] with its parameters", entry.part.name);
            return Err(Refusal::new(level.as_str(), "not a table", help).within("sim"));
        }
        fill(entry.part.name, given, seed, |table| entry.complete(table))?;
    }
    let routed = point.routing.is_some();
    for (name, given) in &mut point.measures {
        let own = STAGES.iter().find(|e| e.part.name == name);
        match (own, find(plugins, PluginPartKind::Measure, name)) {
            (Some(entry), _) => {
                fill(name, given, seed, |table| entry.complete(table))?;
                needs_tables(name, entry.input == StageInputKind::Routing && !routed)?;
            }
            (None, Some(plugin)) => {
                fill(name, given, seed, |table| plugin.complete(table))?;
                needs_tables(name, plugin.input == Some(StageInputKind::Routing) && !routed)?;
            }
            (None, None) => return Err(tables::unknown(name, plugins)),
        }
    }
    Ok(())
}

/// Fills in all parameters of the stage `name`, whose table is `given`.
fn fill(
    name: &str,
    given: &mut Value,
    seed: u64,
    complete: impl Fn(&Map<String, Value>) -> Result<Map<String, Value>, Refusal>,
) -> Result<(), Refusal> {
    let Value::Object(table) = given else {
        let help = format!("[{name}] with its parameters");
        return Err(Refusal::new(name, "not a table", help));
    };
    let mut all = complete(table)?;
    if !table.contains_key("seed")
        && let Some(own) = all.get_mut("seed")
    {
        *own = seed.into();
    }
    *table = all;
    Ok(())
}

/// Refuses a measure of tables at a point without tables.
fn needs_tables(name: &str, lacking: bool) -> Result<(), Refusal> {
    if !lacking {
        return Ok(());
    }
    let help = "[routing] with an engine, or leave it out";
    Err(Refusal::new(name, "it needs tables, and the point has no [routing]", help))
}

/// Refuses a bill at another rate than that of the network, where both are given.
fn one_rate(point: &ExperimentPoint) -> Result<(), Refusal> {
    let family = point.topology.get("family").and_then(Value::as_str).unwrap_or_default();
    let recipe = NetworkRecipe { family: family.to_owned(), params: point.topology.clone() };
    let bill = point.measures.get("cost").and_then(|cost| cost.get(GBPS)).and_then(Value::as_f64);
    match (recipe.gbps(), bill) {
        (Some(own), Some(bill)) if own.to_bits() != bill.to_bits() => {
            let why = format!("{bill} Gbit/s, and [topology] says gbps = {own}");
            Err(Refusal::new("cost.gbps", why, "leave it out: bills are at the network's rate"))
        }
        _ => Ok(()),
    }
}

/// Checks what can be checked of a network without building it.
fn check_topology(point: &ExperimentPoint, plugins: &[PluginDescription]) -> Result<(), Refusal> {
    match (point.topology.get("family"), point.topology.get("file")) {
        (Some(Value::String(name)), None) => {
            let mut params = point.topology.clone();
            params.remove("family");
            params.remove("failures");
            match find(plugins, PluginPartKind::Topology, name) {
                Some(plugin) if plugin.params.iter().any(|own| own.name == GBPS) => {
                    plugin.complete(&params).map(drop)
                }
                Some(plugin) => {
                    take_gbps(&mut params).and_then(|_| plugin.complete(&params)).map(drop)
                }
                None => families::family(name)
                    .map_err(|r| listed(r, plugins, PluginPartKind::Topology))?
                    .promise(&params)
                    .map(drop),
            }
            .map_err(|r| r.within("topology"))?;
        }
        (None, Some(Value::String(_))) => {
            let known = ["file", "p", "gbps", "failures"];
            let extra = point.topology.keys().find(|k| !known.contains(&k.as_str()));
            if let Some(key) = extra {
                return Err(Refusal::new(
                    format!("topology.{key}"),
                    "not a key of a file",
                    known.join(", "),
                ));
            }
        }
        _ => {
            let help = "family = \"slim_fly\" with its parameters, or file = \"path\"";
            return Err(Refusal::new("topology", "neither one family nor one file", help));
        }
    }
    Ok(())
}

/// Checks what can be checked without building anything, and fills in the parameters of routes.
fn check(point: &mut ExperimentPoint, plugins: &[PluginDescription]) -> Result<(), Refusal> {
    if let Some(failures) = point.topology.get("failures") {
        base::fields::typed::<FailureParameters>(failures).map_err(|(field, why)| {
            let help = base::taken::taken::<FailureParameters>("failures", &field);
            Refusal::new(field, why, help).within("topology.failures")
        })?;
    }
    one_rate(point)?;
    let mut options = point.options()?;
    let Some(routing) = &mut point.routing else {
        for (name, lacking) in [
            ("lanes", point.lanes.is_some()),
            ("verify", point.verify.is_some()),
            ("ebb", point.ebb.is_some()),
            ("deploy", point.deploy.is_some()),
        ] {
            needs_tables(name, lacking)?;
        }
        return Ok(());
    };
    let asked = match find(plugins, PluginPartKind::Engine, &routing.engine) {
        Some(plugin) => {
            let mut lanes = options.remove_entry("lanes").into_iter().collect();
            LaneMethodParameters::take(&mut lanes, true)
                .and_then(|_| plugin.complete(&options))
                .and_then(|_| ask::routes(routing.lmc, routing.layers))
        }
        None => ask::check(&routing.engine, routing.lmc, routing.layers, &options)
            .map_err(|r| listed(r, plugins, PluginPartKind::Engine)),
    };
    routing.lmc = Some(ask::lmc(asked.map_err(|r| r.within("routing"))?));
    point.verify.get_or_insert_default();
    point.ebb.get_or_insert_default();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = r#"
        schema = 1
        name = "one"
        [topology]
        family = "slim_fly"
        q = 5
        [routing]
        engine = "dfsssp"
    "#;

    #[test]
    fn a_file_without_a_sweep_is_one_point_with_defaults() {
        let e = expand(ONE, "one.toml", &[]).expect("valid");
        assert_eq!(e.points.len(), 1);
        let ExperimentPoint { ebb, verify, .. } = &e.points[0];
        assert_eq!(ebb.as_ref().map(|ebb| ebb.samples), Some(1000));
        assert_eq!(verify.as_ref().map(|verify| verify.hop_limit), Some(64));
        assert!(e.points[0].deploy.is_none());
    }

    #[test]
    fn zips_and_grids_multiply() {
        let text = format!(
            "{ONE}\n[sweep.grid]\n\"routing.lmc\" = {{ from = 0, to = 2, step = 1 }}\n\
             \"routing.engine\" = [\"min_hop\", \"sssp\"]\n[[sweep.zip]]\nlabel = [\"a\", \"b\"]\n\
             \"topology.q\" = [5, 7]\n"
        );
        let e = expand(&text, "s.toml", &[]).expect("valid");
        let seen: Vec<_> = e
            .points
            .iter()
            .map(|p| {
                let (of, routing) = (&p.topology["q"], p.routing.as_ref().expect("there"));
                let lmc = routing.lmc.expect("filled in");
                format!("{:?} {of} {lmc} {}", p.label, routing.engine)
            })
            .collect();
        assert_eq!(seen.len(), 12);
        assert_eq!(seen[0], "Some(\"a\") 5 0 min_hop");
        assert_eq!(seen[11], "Some(\"b\") 7 2 sssp");
    }

    #[test]
    fn the_effective_file_stands_for_the_same_points() {
        let text = format!(
            "{ONE}\n[deploy]\nfabric = \"ibsim\"\n[sweep.grid]\n\"routing.lmc\" = [0, 2]\n\
             \"topology.q\" = [5, 7]\n"
        );
        let first = expand(&text, "s.toml", &[]).expect("valid");
        let written = crate::spec::effective(&first.experiment, &first.points);
        let again = expand(&written, "effective.toml", &[]).expect("what we wrote");
        let value = |e: &ExpandedExperiment| serde_json::to_value(&e.points).expect("plain values");
        assert_eq!(value(&again), value(&first));
        assert_eq!(crate::spec::effective(&again.experiment, &again.points), written);
    }

    #[test]
    fn measures_are_tables_of_a_point() {
        let text = format!(
            "{}\n[congestion]\npattern = \"ring\"\n[lanes_needed]\n[resilience]\nseed = 3\n\
             [sweep.grid]\n\"congestion.samples\" = [10, 20]\n",
            ONE.replace("name = \"one\"", "name = \"one\"\nseed = 7")
        );
        let e = expand(&text, "m.toml", &[]).expect("valid");
        assert_eq!(e.points.len(), 2);
        let second = &e.points[1].measures;
        assert_eq!(
            (&second["congestion"]["samples"], &second["congestion"]["seed"]),
            (&20.into(), &7.into())
        );
        assert_eq!(second["congestion"]["metric"], "bandwidth");
        assert_eq!(second["lanes_needed"]["seed"], 7);
        assert_eq!(
            (&second["resilience"]["seed"], &second["resilience"]["samples"]),
            (&3.into(), &1000.into())
        );
        let written = crate::spec::effective(&e.experiment, &e.points);
        let again = expand(&written, "effective.toml", &[]).expect("what we wrote");
        assert_eq!(again.points[1].measures, *second);
        let fault = |more: &str| {
            expand(&format!("{ONE}\n{more}"), "f.toml", &[]).expect_err("invalid").to_string()
        };
        assert!(fault("[congestion]\nrun = 3").contains("congestion: unknown field `run`"));
        assert!(
            fault("[congestion]\nrun = 3").contains("congestion takes pattern, traffic, samples")
        );
        assert!(fault("[kongestion]").contains("kongestion: not a key of a point"));
        assert!(fault("[resilience]\nremove = \"racks\"").contains("racks"));
        assert!(fault("[sweep.grid]\nedge_load = [1]").contains("edge_load: not a table"));
        assert!(fault("[floor]\nrack_unit = 3").contains("floor: "));
        assert!(fault("[floor]\nrack_units = 0").contains("floor: rack_units: 0 is too small"));
    }

    #[test]
    fn old_names_of_the_number_of_samples_are_read_and_noted() {
        let of = |more: &str| expand(&format!("{ONE}\n{more}"), "o.toml", &[]);
        let new = of("[ebb]\nsamples = 7\n[congestion]\nsamples = 9").expect("valid");
        assert!(new.notes.is_empty());
        assert_eq!(new.points[0].ebb.as_ref().map(|ebb| ebb.samples), Some(7));
        let old = of("[ebb]\npatterns = 7\n[congestion]\nruns = 9").expect("old names are read");
        let value = |e: &ExpandedExperiment| serde_json::to_value(&e.points).expect("plain values");
        assert_eq!(value(&old), value(&new));
        let note = |of: &str, old: &str| {
            format!("{of}: {old} is now samples; the old name is read in this version only")
        };
        assert_eq!(old.notes, [note("ebb", "patterns"), note("congestion", "runs")]);
        let swept = of("[sweep.grid]\n\"ebb.patterns\" = [7, 8]").expect("valid");
        let counts = swept.points.iter().map(|p| p.ebb.as_ref().map(|ebb| ebb.samples));
        assert_eq!(counts.collect::<Vec<_>>(), [Some(7), Some(8)]);
        assert_eq!(swept.notes, [note("ebb", "patterns")]);
        let both = of("[ebb]\npatterns = 7\nsamples = 8").expect_err("given twice").to_string();
        assert!(both.contains("ebb: samples: given besides patterns"), "{both}");
    }

    #[test]
    fn routing_takes_what_the_verb_takes() {
        let of = |routing: &str| {
            let text = ONE.replace("engine = \"dfsssp\"", routing);
            expand(&text, "r.toml", &[]).map(|mut e| e.points.remove(0))
        };
        for (routing, lmc, layers) in [
            ("engine = \"sssp\"\nlayers = 3", 2, Some(3)),
            ("engine = \"sssp\"\nlayers = 3\nlmc = 2", 2, Some(3)),
            ("engine = \"sssp\"\nlayers = 128", 7, Some(128)),
            ("engine = \"sssp\"\nlmc = 7", 7, None),
            ("engine = \"opensm:nue\"\nmax_lanes = 8\nlayers = 4", 2, Some(4)),
            ("engine = \"application\"\ntraffic = \"uniform\"", 0, None),
            ("engine = \"application\"\ntraffic = [[0, 1, 2.5]]", 0, None),
            ("engine = \"application\"\nrounds = 1", 0, None),
        ] {
            let point = of(routing).expect(routing);
            let asked = point.routing.as_ref().expect("there");
            assert_eq!((asked.lmc, asked.layers), (Some(lmc), layers), "{routing}");
            let effective = crate::spec::effective(
                &expand(ONE, "one.toml", &[]).expect("valid").experiment,
                std::slice::from_ref(&point),
            );
            let again = expand(&effective, "effective.toml", &[]).expect("what we wrote");
            let again = again.points[0].routing.as_ref().expect("there");
            assert_eq!(again.options, asked.options, "{routing}");
        }
        for (routing, why) in [
            (
                "engine = \"sssp\"\nlayers = 3\nlmc = 3",
                "routing: layers: 3 routes take LMC 2, not 3",
            ),
            (
                "engine = \"sssp\"\nlayers = 5\nlmc = 2",
                "routing: layers: 5 routes take LMC 3, not 2",
            ),
            ("engine = \"sssp\"\nlayers = 129", "routing: layers: 129 routes"),
            ("engine = \"sssp\"\nlayers = 0", "routing: layers: 0 routes"),
            ("engine = \"opensm:nue\"\nmax_lanes = 9", "max_lanes: 9 lanes; 1 to 8"),
            ("engine = \"opensm:lash\"\nmax_lanes = 2", "max_lanes: OpenSM's engines take"),
            ("engine = \"opensm:nue\"\nlayers = 3", "layers: 3 routes to a terminal"),
            ("engine = \"opensm:best\"", "OpenSM has no 'opensm:best'"),
            ("engine = \"sssp\"\ntraffic = \"uniform\"", "unknown field `traffic`"),
            (
                "engine = \"application\"\ntraffic = \"uniform\"\nflows = []",
                "unknown field `traffic`",
            ),
        ] {
            let refused = of(routing).expect_err(routing).to_string();
            assert!(refused.contains(": routing: ") && refused.contains(why), "{refused}");
            assert!(refused.starts_with("r.toml: line "), "{refused}");
        }
    }

    #[test]
    fn failures_of_a_network_are_checked_and_drawn_by_the_experiment() {
        let of = |failures: &str| {
            let text = ONE.replace("name = \"one\"", "name = \"one\"\nseed = 7");
            let text = text.replace("q = 5", &format!("q = 5\nfailures = {failures}"));
            expand(&text, "f.toml", &[]).map(|mut e| e.points.remove(0).topology.remove("failures"))
        };
        let drawn = of("{ random = 2 }").expect("valid").expect("kept");
        assert_eq!(drawn, serde_json::json!({ "random": 2, "seed": 7 }));
        let named = of("{ links = [\"a:b\", 3], switches = [0] }").expect("valid").expect("kept");
        assert_eq!(named, serde_json::json!({ "links": ["a:b", 3], "switches": [0] }));
        for (failures, why) in [
            ("{ link = [1] }", "topology.failures: unknown field `link`"),
            ("{ links = [1.5] }", "topology.failures: links: invalid part 1.5"),
            ("{ random = -1 }", "topology.failures: random"),
            ("3", "topology.failures"),
        ] {
            let refused = of(failures).expect_err(failures).to_string();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn faults_are_located() {
        let fault = |text: &str| expand(text, "f.toml", &[]).expect_err("invalid").to_string();
        assert!(fault("schema = 1\nname = \n").starts_with("f.toml: line 2, column 8"));
        assert!(fault(&ONE.replace("q = 5", "q = 6")).contains("nearest: 5, 7"));
        assert!(fault(&ONE.replace("schema = 1", "schema = 2")).contains("schema = 1"));
        assert!(
            fault(&ONE.replace("[routing]", "[rooting]\nx = 1\n[routing]")).contains("rooting")
        );
        assert!(fault(&ONE.replace("\"dfsssp\"", "\"dfs\"")).contains("engines: "));
        assert!(fault(&ONE.replace("\"dfsssp\"", "\"dfsssp\"\nlanes = 3")).contains("lanes"));
        assert!(fault(&ONE.replace("\"dfsssp\"", "\"dfsssp\"\nlmc = 8")).contains("0 to 7"));
        assert!(fault(&ONE.replace("\"one\"", "\"../x\"")).contains("folder"));
        assert!(
            fault(&format!("{ONE}\n[sweep.grid]\n\"routing.lmc\" = 3"))
                .contains("sweep.grid.routing.lmc")
        );
        assert!(
            fault(&format!("{ONE}\n[[sweep.zip]]\na = [1]\nb = [1, 2]")).contains("equal length")
        );
        assert!(
            fault(&format!("{ONE}\n[sweep.grid]\n\"topology.q.x\" = [1]"))
                .contains("through a value")
        );
    }
}
