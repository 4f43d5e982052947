//! Sweeps: the points of a file before they are checked, each written-out point with the sweeps
//! applied to it.

use crate::need::CHOSEN;
use crate::spec::{Experiment, ParameterSweep};
use base::Refusal;
use fabric::network::GBPS;
use paths::select::PathSelectionSpec;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The largest number of points of an experiment.
const MAX_POINTS: usize = 1_000_000;

/// A point with its swept values, before it is checked.
pub(crate) struct SweptPoint {
    /// All values of the point, as a tree.
    pub(crate) tree: Value,
    /// The values that sweeps have given it, such as `sim.flit.load 0.1, routing.lmc 2`; empty
    /// without a sweep.
    pub(crate) swept: String,
    /// The keys that sweeps have given values, in the order of `swept`.
    pub(crate) keys: Vec<String>,
}

/// The points of the file: those written out in their order, each with its sweep applied, zips
/// outermost.
///
/// # Errors
/// The key of a sweep that cannot be applied to a point, or too many points.
pub(crate) fn trees(experiment: &Experiment) -> Result<Vec<SweptPoint>, Refusal> {
    let whole = experiment.sweep.clone().unwrap_or_default();
    if experiment.point.is_empty() {
        return swept(Value::Object(experiment.common.clone()), &whole);
    }
    let mut all = Vec::new();
    let mut seen = HashMap::new();
    for (i, own) in experiment.point.iter().enumerate() {
        let within = |r: Refusal| r.within(&format!("point {}", i + 1));
        let mut own = own.clone();
        let extra =
            own.remove("sweep").map_or_else(|| Ok(ParameterSweep::default()), |s| of_point(&s));
        let sweep = beside(&whole, &own, extra.map_err(within)?);
        let tree = over(experiment.common.clone(), own);
        let points = swept(Value::Object(tree), &sweep).map_err(within)?;
        for point in &points {
            if let Some(before) = seen.insert(point.tree.to_string(), i + 1) {
                let why = format!("it asks for the same as point {before}");
                return Err(within(Refusal::new(
                    "",
                    why,
                    "each once, or with labels of their own",
                )));
            }
        }
        all.extend(points);
        if all.len() > MAX_POINTS {
            return Err(too_many());
        }
    }
    Ok(all)
}

/// The tables of a point laid over those that all points have in common, key by key: what the point
/// does not name stays. Another family or file has none of the parameters of the common topology
/// but the rate, and another engine none of the common engine's options.
fn over(common: Map<String, Value>, own: Map<String, Value>) -> Map<String, Value> {
    let mut all = common;
    for (name, value) in own {
        if let (Some(Value::Object(below)), Value::Object(above)) = (all.get_mut(&name), &value) {
            let differs = |key: &str| above.contains_key(key) && below.get(key) != above.get(key);
            let is_other_network =
                name == "topology" && ["family", "file", CHOSEN].into_iter().any(differs);
            let is_other_engine = name == "routing" && differs("engine");
            if is_other_network {
                below.retain(|key, _| key == GBPS);
            }
            if is_other_engine {
                below.retain(|key, _| OF_ANY_ENGINE.contains(&key.as_str()));
            }
        }
        match (all.get_mut(&name), value) {
            (Some(below), value) => merge(below, value),
            (None, value) => {
                all.insert(name, value);
            }
        }
    }
    all
}

/// Keys of `[routing]` that no engine has for itself.
const OF_ANY_ENGINE: [&str; 4] = ["engine", "lmc", "layers", "new_lids"];

/// Lays `above` over `below`: tables are merged key by key, at all depths; other values are
/// replaced.
fn merge(below: &mut Value, above: Value) {
    match (below, above) {
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                match below.get_mut(&key) {
                    Some(inner) => merge(inner, value),
                    None => {
                        below.insert(key, value);
                    }
                }
            }
        }
        (below, above) => *below = above,
    }
}

/// The sweep that a written-out point has in its own table.
fn of_point(given: &Value) -> Result<ParameterSweep, Refusal> {
    base::fields::typed::<ParameterSweep>(given).map_err(|(field, why)| {
        let help = base::taken::taken::<ParameterSweep>("sweep", &field);
        Refusal::new(field, why, help).within("sweep")
    })
}

/// Combines the sweep of the whole file with `extra`, that of a point. A dimension of the file is
/// left out where the point sets one of its keys itself, as a value or in its own sweep.
fn beside(
    whole: &ParameterSweep,
    own: &Map<String, Value>,
    extra: ParameterSweep,
) -> ParameterSweep {
    let swept = extra.grid.keys().chain(extra.zip.iter().flat_map(Map::keys));
    let swept: Vec<&str> = swept.map(String::as_str).collect();
    let said = |key: &String| says(own, key) || swept.iter().any(|other| meet(other, key));
    let mut zip: Vec<_> = whole.zip.iter().filter(|zip| !zip.keys().any(said)).cloned().collect();
    let kept = whole.grid.iter().filter(|(key, _)| !said(key));
    let mut grid: Map<String, Value> = kept.map(|(k, v)| (k.clone(), v.clone())).collect();
    zip.extend(extra.zip);
    grid.extend(extra.grid);
    ParameterSweep { grid, zip }
}

/// Whether a table has a value at a dotted path, or at a prefix of it.
fn says(table: &Map<String, Value>, path: &str) -> bool {
    match path.split_once('.') {
        None => table.contains_key(path),
        Some((key, rest)) => match table.get(key) {
            Some(Value::Object(inner)) => says(inner, rest),
            found => found.is_some(),
        },
    }
}

/// Whether two dotted paths are equal, or one leads into what the other sets.
fn meet(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The points of a sweep applied to one point.
fn swept(tree: Value, sweep: &ParameterSweep) -> Result<Vec<SweptPoint>, Refusal> {
    let mut trees = vec![tree];
    for zip in &sweep.zip {
        trees = lay_zip(&trees, zip).map_err(|r| r.within("sweep.zip"))?;
    }
    for (key, values) in &sweep.grid {
        let values = values_of(values)
            .and_then(each_once)
            .map_err(|r| r.within(&format!("sweep.grid.{key}")))?;
        trees = multiply(&trees, |tree, i| set(tree, key, &values[i]), values.len())
            .map_err(|r| r.within("sweep.grid"))?;
    }
    let mut keys: Vec<&str> = Vec::new();
    let listed = LISTS.into_iter().filter(|key| trees.iter().any(|tree| at(tree, key).is_array()));
    let named = sweep.zip.iter().flat_map(Map::keys).chain(sweep.grid.keys());
    for key in named.map(String::as_str).chain(listed) {
        keys.retain(|other| !(meet(other, key) && other.len() > key.len()));
        if !keys.iter().any(|other| meet(other, key)) {
            keys.push(key);
        }
    }
    let swept_point = |tree| {
        let (keys, values): (Vec<String>, Vec<String>) =
            leaves_at(&tree, &keys).into_iter().unzip();
        let words: Vec<String> =
            keys.iter().zip(values).map(|(key, value)| format!("{key} {value}")).collect();
        SweptPoint { swept: words.join(", "), keys, tree }
    };
    Ok(each_of_lists(trees)?.into_iter().map(swept_point).collect())
}

/// Parameters of simulators that may be lists: such a list stands for a run with each of its
/// values, as in the calls of Python and on the command line. The outermost loop comes first.
const LISTS: [&str; 5] = [
    "sim.flit.traffic",
    "sim.flit.selection",
    "sim.packet.traffic",
    "sim.packet.selection",
    "sim.message.workload",
];

/// A point for each value of the lists of [`LISTS`] in `trees`.
fn each_of_lists(mut trees: Vec<Value>) -> Result<Vec<Value>, Refusal> {
    for path in LISTS {
        let mut all = Vec::new();
        for tree in trees {
            if at(&tree, path).is_array() {
                let values =
                    values_of(at(&tree, path)).and_then(each_once).map_err(|r| r.within(path))?;
                all.extend(multiply(&[tree], |one, i| set(one, path, &values[i]), values.len())?);
            } else {
                all.push(tree);
            }
            if all.len() > MAX_POINTS {
                return Err(too_many());
            }
        }
        trees = all;
    }
    Ok(trees)
}

/// The value at a dotted path; null where there is none.
fn at<'a>(tree: &'a Value, path: &str) -> &'a Value {
    path.split('.').try_fold(tree, |at, name| at.get(name)).unwrap_or(&Value::Null)
}

/// The keys and values of a point at these dotted paths; of a table those of the values in it.
fn leaves_at(tree: &Value, keys: &[&str]) -> Vec<(String, String)> {
    fn leaves(value: &Value, key: &str, found: &mut Vec<(String, String)>) {
        match value {
            Value::Object(table) => {
                for (name, value) in table {
                    leaves(value, &format!("{key}.{name}"), found);
                }
            }
            Value::String(text) => found.push((key.to_owned(), text.clone())),
            other => found.push((key.to_owned(), other.to_string())),
        }
    }
    let mut found = Vec::new();
    for key in keys {
        leaves(at(tree, key), key, &mut found);
    }
    found
}

fn too_many() -> Refusal {
    Refusal::new("", format!("more than {MAX_POINTS} points"), "split the experiment")
}

/// The values of one dimension of a grid.
fn values_of(given: &Value) -> Result<Vec<Value>, Refusal> {
    match given {
        Value::Array(items) if items.is_empty() => {
            Err(Refusal::new("", "an empty list", "a list of values, or { from, to, step }"))
        }
        Value::Array(items) => Ok(items.clone()),
        Value::Object(range) => {
            let number = |key: &str| range.get(key).and_then(Value::as_f64);
            let (Some(from), Some(to), Some(step)) = (number("from"), number("to"), number("step"))
            else {
                return Err(Refusal::new(
                    "",
                    "a range without from, to or step",
                    "{ from, to, step }",
                ));
            };
            if range.len() != 3 || step <= 0.0 || to < from || !((to - from) / step).is_finite() {
                return Err(Refusal::new(
                    "",
                    "an empty or endless range",
                    "from <= to and step > 0",
                ));
            }
            let count = ((to - from) / step + 1e-9).floor() as usize + 1;
            if count > MAX_POINTS {
                return Err(Refusal::new(
                    "",
                    format!("{count} values"),
                    format!("at most {MAX_POINTS}"),
                ));
            }
            let whole = [from, step].iter().all(|x| x.fract() == 0.0);
            // rounding makes 0.1 + 2 * 0.1 equal to 0.3
            let at = |i: usize| ((from + step * i as f64) * 1e12).round() / 1e12;
            Ok((0..count)
                .map(|i| if whole { Value::from(at(i) as i64) } else { Value::from(at(i)) })
                .collect())
        }
        _ => Err(Refusal::new("", "not a list of values", "a list, or { from, to, step }")),
    }
}

/// What results call a selection of the user's own that has a name.
fn own_name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            PathSelectionSpec::parse(text).ok()?.custom()?.written().name.clone()
        }
        Value::Object(table) if table.contains_key("score") => {
            table.get("name").and_then(Value::as_str).map(str::to_owned)
        }
        _ => None,
    }
}

/// The values, none of which may be there twice: each would be run and reported twice.
fn each_once(values: Vec<Value>) -> Result<Vec<Value>, Refusal> {
    let mut seen = HashSet::new();
    let called = |value: &Value| own_name(value).unwrap_or_else(|| value.to_string());
    let Some(twice) = values.iter().find(|value| !seen.insert(called(value))) else {
        return Ok(values);
    };
    let said = match (own_name(twice), twice.as_str()) {
        (Some(name), _) => format!("the name '{name}'"),
        (None, Some(text)) => format!("'{text}'"),
        (None, None) => twice.to_string(),
    };
    Err(Refusal::new("", format!("{said} is there twice"), "each once"))
}

fn lay_zip(trees: &[Value], zip: &Map<String, Value>) -> Result<Vec<Value>, Refusal> {
    let mut lists = Vec::new();
    for (key, values) in zip {
        lists.push((key, values_of(values).map_err(|r| r.within(key))?));
    }
    let Some(length) = lists.first().map(|(_, v)| v.len()) else {
        return Err(Refusal::new("", "an empty zip", "lists of equal length"));
    };
    if let Some((key, values)) = lists.iter().find(|(_, v)| v.len() != length) {
        let why = format!("{} values where the first list has {length}", values.len());
        return Err(Refusal::new(key.as_str(), why, "lists of equal length"));
    }
    each_once((0..length).map(|i| lists.iter().map(|(_, v)| v[i].clone()).collect()).collect())?;
    multiply(
        trees,
        |tree, i| lists.iter().try_for_each(|(key, values)| set(tree, key, &values[i])),
        length,
    )
}

fn multiply(
    trees: &[Value],
    change: impl Fn(&mut Value, usize) -> Result<(), Refusal>,
    times: usize,
) -> Result<Vec<Value>, Refusal> {
    if trees.len() * times > MAX_POINTS {
        return Err(too_many());
    }
    let mut all = Vec::with_capacity(trees.len() * times);
    for tree in trees {
        for i in 0..times {
            let mut copy = tree.clone();
            change(&mut copy, i)?;
            all.push(copy);
        }
    }
    Ok(all)
}

/// Sets the value at a dotted path and makes the tables that lead there.
fn set(tree: &mut Value, path: &str, value: &Value) -> Result<(), Refusal> {
    let mut at = tree;
    for key in path.split('.') {
        let Value::Object(table) = at else {
            return Err(Refusal::new(
                path,
                "the path goes through a value",
                "paths go through tables",
            ));
        };
        at = table.entry(key).or_insert_with(|| Value::Object(Map::new()));
    }
    *at = value.clone();
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::expand::expand;

    #[test]
    fn what_is_there_twice_is_refused() {
        let base = "schema = 1\nname = \"twice\"\n[topology]\nfamily = \"ring\"\nn = 4\np = 1\n";
        let refused = |more: &str| {
            expand(&format!("{base}{more}"), "t.toml", &[]).expect_err("twice").to_string()
        };
        for (more, said) in [
            ("[sim.flit]\nselection = [\"minimal\", \"minimal\"]", "'minimal' is there twice"),
            (
                "[sim.flit]\nselection = [\"custom score=hops name=a\", \"custom score=1 name=a\"]",
                "the name 'a' is there twice",
            ),
            (
                "[sim.flit]\nselection = [{ score = \"1\", name = \"a\" }, \
                 \"custom score=2 name=a\"]",
                "the name 'a' is there twice",
            ),
            ("[sim.flit]\nload = [0.1, 0.1]", "0.1 is there twice; each once"),
            ("[sim.flit]\n[sweep.grid]\n\"sim.flit.seed\" = [1, 2, 1]", "1 is there twice"),
            ("[sim.flit]\n[[point]]\n[[point]]", "point 2: it asks for the same as point 1"),
            (
                "[sim.flit]\n[[sweep.zip]]\n\"sim.flit.seed\" = [1, 1]\nlabel = [\"a\", \"a\"]",
                "is there twice",
            ),
        ] {
            let why = refused(more);
            assert!(why.contains(said), "{more}: {why}");
        }
        for more in [
            "[sim.flit]\n[[point]]\nlabel = \"a\"\n[[point]]\nlabel = \"b\"",
            "[sim.flit]\n[[sweep.zip]]\n\"sim.flit.seed\" = [1, 1]\nlabel = [\"a\", \"b\"]",
        ] {
            assert!(expand(&format!("{base}{more}"), "t.toml", &[]).is_ok(), "{more}");
        }
    }

    const FILE: &str = r#"
        schema = 1
        name = "several"
        [[sweep.zip]]
        label = ["a", "b"]
        topology = [{ family = "slim_fly", q = 5 }, { family = "slim_fly", q = 7 }]
    "#;

    /// The label, selection and loads of each point.
    fn seen(more: &str) -> Vec<String> {
        let found = expand(&format!("{FILE}\n{more}"), "s.toml", &[]).expect("valid");
        let of = |point: &crate::spec::ExperimentPoint| {
            let flit = point.sim.get("flit");
            let of = |key: &str| flit.map_or_else(String::new, |flit| flit[key].to_string());
            let label = point.label.as_deref().unwrap_or("?");
            format!("{label} {} {}", of("selection"), of("load")).trim().replace('"', "")
        };
        found.points.iter().map(of).collect()
    }

    #[test]
    fn the_sweep_of_the_file_is_laid_over_every_point() {
        let points = "[[point]]\n[point.cost]\n[[point]]\n[point.sim.flit]\nload = 0.5\n\
                      [point.sweep.grid]\n\"sim.flit.selection\" = [\"minimal\", \"ugal_l\"]\n";
        assert_eq!(
            seen(points),
            ["a", "b", "a minimal 0.5", "a ugal_l 0.5", "b minimal 0.5", "b ugal_l 0.5"]
        );
    }

    #[test]
    fn what_a_point_says_itself_is_not_swept() {
        let own = "[[point]]\nlabel = \"c\"\ntopology = { family = \"slim_fly\", q = 4 }\n";
        assert_eq!(seen(own), ["c"]);
        let zip = "[[point]]\n[point.sim.flit]\nload = 0.5\n[[point.sweep.zip]]\n\
                   label = [\"d\", \"e\", \"f\"]\n\"topology.q\" = [4, 5, 7]\n\
                   \"topology.family\" = [\"slim_fly\", \"slim_fly\", \"slim_fly\"]\n";
        assert_eq!(seen(zip), ["d minimal 0.5", "e minimal 0.5", "f minimal 0.5"]);
        let grid = "[[point]]\n[point.sim.flit]\nload = 0.5\n[[point]]\n[point.sim.flit]\n\
                    [sweep.grid]\n\"sim.flit.load\" = [0.1, 0.2]\n";
        assert_eq!(
            seen(grid),
            [
                "a minimal 0.5",
                "b minimal 0.5",
                "a minimal 0.1",
                "a minimal 0.2",
                "b minimal 0.1",
                "b minimal 0.2"
            ]
        );
    }

    #[test]
    fn a_list_of_selections_or_traffics_is_a_point_for_each() {
        let both = "[sim.flit]\nload = 0.5\nselection = [\"minimal\", \"ugal_l\"]\n\
                    traffic = [\"uniform\", \"tornado\"]\n";
        let each = ["a minimal 0.5", "a ugal_l 0.5", "b minimal 0.5", "b ugal_l 0.5"];
        assert_eq!(
            seen(both),
            [each[0], each[1], each[0], each[1], each[2], each[3], each[2], each[3]]
        );
        let named = expand(&format!("{FILE}\n{both}"), "s.toml", &[]).expect("valid").swept;
        assert_eq!(
            named[3],
            "label a, topology.family slim_fly, topology.q 5, sim.flit.traffic tornado, \
             sim.flit.selection ugal_l"
        );
        let own = "[sim.flit]\nload = 0.5\nselection = [\"minimal\", \"ugal_l\"]\n\
                   [sweep.grid]\n\"sim.flit.selection\" = [\"valiant\"]\n";
        assert_eq!(seen(own), ["a valiant 0.5", "b valiant 0.5"]);
        let text = format!("{FILE}\n[sim.packet]\nload = 0.1\nselection = []\n");
        let fault = expand(&text, "s.toml", &[]).expect_err("no value").to_string();
        assert!(fault.contains("sim.packet.selection: an empty list"), "{fault}");
    }

    #[test]
    fn tables_of_a_point_are_laid_over_those_of_the_file_key_by_key() {
        let text = "schema = 1\nname = \"merged\"\n\
            topology = { family = \"slim_fly\", q = 5, p = 4, gbps = 400 }\n\
            routing = { engine = \"dfsssp\", lmc = 1, max_lanes = 4 }\n\
            sim.packet = { load = 0.2, messages = 7, link = { latency_ns = 10, rate_gbps = 50 } }\n\
            [[point]]\nsim = { packet = { link = { rate_gbps = 100 } } }\n\
            [[point]]\ntopology = { q = 7 }\nrouting = { engine = \"min_hop\" }\n\
            [[point]]\ntopology = { family = \"ring\", n = 4 }\n";
        let found = expand(text, "m.toml", &[]).expect("valid").points;
        let packet = &found[0].sim["packet"];
        assert_eq!((&packet["load"], &packet["messages"]), (&0.2.into(), &7.into()));
        assert_eq!(packet["link"]["latency_ns"], 10.0);
        assert_eq!(packet["link"]["rate_gbps"], 100.0);
        let second = &found[1];
        assert_eq!((&second.topology["q"], &second.topology["p"]), (&7.into(), &4.into()));
        // options of another engine do not stay, what all engines take does
        let routing = second.routing.as_ref().expect("there");
        assert_eq!((routing.lmc, routing.options.len()), (Some(1), 0));
        let third = &found[2];
        assert_eq!(third.topology.keys().collect::<Vec<_>>(), ["gbps", "family", "n"]);
        assert_eq!(third.routing.as_ref().expect("there").options["max_lanes"], 4);
        assert_eq!(third.sim["packet"]["messages"], 7);
    }

    #[test]
    fn a_point_is_named_by_its_swept_values() {
        let more = "[sweep.grid]\n\"topology.q\" = [5, 4]\n\"sim.flit\" = [{ load = 0.5, \
                    run = { seeds = [1, 2] } }]\n\"sim.flit.load\" = [0.1, 0.2]\n";
        let found = expand(&format!("{FILE}\n{more}"), "s.toml", &[]);
        let refused = found.expect_err("seeds are no part of run").to_string();
        let point = "label a, topology.family slim_fly, topology.q 5, sim.flit.load 0.1, \
                     sim.flit.run.seeds [1,2]";
        assert!(refused.contains(&format!(": point 1 ({point}): sim.flit: ")), "{refused}");
        let known = more.replace("run = { seeds = [1, 2] }", "seeds = 2");
        let found = expand(&format!("{FILE}\n{known}"), "s.toml", &[]).expect("valid");
        assert_eq!(found.swept.len(), 8);
        let seventh = "label b, topology.family slim_fly, topology.q 4, sim.flit.load 0.1, \
                       sim.flit.seeds 2";
        assert_eq!(found.swept[6], seventh);
        let keys = ["label", "topology.family", "topology.q", "sim.flit.load", "sim.flit.seeds"];
        assert_eq!(found.swept_keys[6], keys);
        assert_eq!(
            expand(
                "schema = 1\nname = \"x\"\n[topology]\nfamily = \"ring\"\nn = 4\n\
                           p = 1\n",
                "s.toml",
                &[]
            )
            .expect("valid")
            .swept,
            [""]
        );
    }

    #[test]
    fn a_swept_value_that_cannot_be_is_refused_where_it_stands() {
        let more =
            "[routing]\nengine = \"dor\"\n[sweep.grid]\n\"routing.engine\" = [\"dor\", \"dro\"]\n";
        let refused = expand(&format!("{FILE}\n{more}"), "f.toml", &[]).expect_err("dro");
        let place = "f.toml: line 11, column 1: point 2 (label a, topology.family slim_fly, \
                     topology.q 5, routing.engine dro): routing: engine";
        assert_eq!(refused.param, place);
    }

    #[test]
    fn a_sweep_of_a_point_that_cannot_be_is_refused_by_its_place() {
        let fault = |more: &str| {
            expand(&format!("{FILE}\n{more}"), "f.toml", &[]).expect_err("invalid").to_string()
        };
        let unknown = fault("[[point]]\n[[point]]\nsweep = { net = 3 }\n");
        assert!(unknown.contains("point 2: sweep: unknown field `net`"), "{unknown}");
        assert!(unknown.starts_with("f.toml: line 10, "), "{unknown}");
        let empty = fault("[[point]]\n[point.sweep.grid]\n\"sim.flit.load\" = []\n");
        assert!(empty.contains("point 1: sweep.grid.sim.flit.load: an empty list"), "{empty}");
        let many = fault(
            "[[point]]\n[point.sweep.grid]\n\"ebb.samples\" = \
                          { from = 1, to = 1000000, step = 1 }\n",
        );
        assert!(many.contains("more than 1000000 points"), "{many}");
    }
}
