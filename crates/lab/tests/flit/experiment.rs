//! Tests of `[sim.flit]` in experiment files: its keys, sweeps over them, refusals and their
//! places.

use lab::expand;
use serde_json::{Value, json};

const FILE: &str = r#"schema = 1
name = "flit"
seed = 7

[topology]
family = "ring"
n = 4
p = 2

[sim.flit]
selection = "ugal_l"
traffic = "uniform"
switch.virtual_channels = 8
run = { warmup_cycles = 100, measure_cycles = 200 }
"#;

/// The simulator's parameters at each point of a file.
fn asked(text: &str) -> Vec<Value> {
    let all = expand(text, "f.toml", &[]).expect(text);
    all.points.iter().map(|point| point.sim["flit"].clone()).collect()
}

fn fault(text: &str) -> String {
    expand(text, "f.toml", &[]).map(drop).expect_err(text).to_string()
}

#[test]
fn a_point_without_routing_has_a_simulator_with_its_defaults() {
    let all = expand(FILE, "f.toml", &[]).expect("valid");
    let [point] = &all.points[..] else { panic!("one point") };
    assert!(point.routing.is_none() && point.verify.is_none() && point.ebb.is_none());
    let flit = &point.sim["flit"];
    assert_eq!(flit["load"], "auto");
    assert_eq!(flit["seed"], 7, "the experiment's");
    assert_eq!(flit["switch"]["virtual_channels"], 8);
    assert_eq!(flit["switch"]["buffer_flits"], 16);
    assert_eq!(flit["run"]["drain_cycles"], 100_000);
    let own = FILE.replace("traffic = ", "seed = 3\ntraffic = ");
    assert_eq!(asked(&own)[0]["seed"], 3);
}

#[test]
fn every_parameter_can_be_swept() {
    let text = format!(
        "{FILE}\n[sweep.grid]\n\
         \"sim.flit.switch.buffer_flits\" = {{ from = 8, to = 24, step = 8 }}\n\
         \"sim.flit.load\" = [0.1, \"auto\", [0.2, 0.3]]\n\
         [[sweep.zip]]\n\"sim.flit.selection\" = [\"minimal\", \"valiant\"]\n"
    );
    let points = asked(&text);
    assert_eq!(points.len(), 2 * 3 * 3);
    let said = |i: usize| {
        let of = &points[i];
        json!([of["selection"], of["switch"]["buffer_flits"], of["load"]])
    };
    assert_eq!(said(0), json!(["minimal", 8, 0.1]));
    assert_eq!(said(4), json!(["minimal", 16, "auto"]));
    assert_eq!(said(17), json!(["valiant", 24, [0.2, 0.3]]));
}

#[test]
fn a_range_has_the_numbers_that_people_mean() {
    let sweep = "[sweep.grid]\n\"sim.flit.load\" = { from = 0.1, to = 0.5, step = 0.1 }\n";
    let loads: Vec<Value> =
        asked(&format!("{FILE}\n{sweep}")).iter().map(|point| point["load"].clone()).collect();
    assert_eq!(json!(loads), json!([0.1, 0.2, 0.3, 0.4, 0.5]));
}

#[test]
fn a_range_of_loads_is_a_list() {
    let text = FILE.replace("selection = ", "load = \"0.1:0.3:0.1\"\nselection = ");
    assert_eq!(asked(&text)[0]["load"], json!([0.1, 0.2, 0.3]));
}

#[test]
fn the_effective_file_stands_for_the_same_points() {
    let routed =
        "[routing]\nengine = \"dfsssp\"\n[sweep.grid]\n\"sim.flit.load\" = [0.1, \"auto\"]";
    for text in [FILE.to_owned(), format!("{FILE}\n{routed}\n")] {
        let first = expand(&text, "f.toml", &[]).expect("valid");
        let written = lab::spec::effective(&first.experiment, &first.points);
        let again = expand(&written, "effective.toml", &[]).expect(&written);
        assert_eq!(json!(again.points), json!(first.points));
    }
}

#[test]
fn what_cannot_be_is_refused_where_it_stands() {
    for (line, place, expected) in [
        ("load = 0", "line 11, column 1: sim.flit: load: ", "0 is out of range"),
        ("load = []", "line 11, column 1: sim.flit: load: ", "there is none"),
        ("load = \"fast\"", "line 11, column 1: sim.flit: load: ", "0.1:1.0:0.1"),
        ("load = true", "line 11, column 1: sim.flit: load: ", "wrong kind"),
        ("injection = \"foo\"", "line 11, column 1: sim.flit: injection: ", "no 'foo'"),
        ("packet_flits = 0", "line 11, column 1: sim.flit: packet_flits: ", "0 flits"),
        ("seed = -1", "line 11, column 1: sim.flit: seed: ", "a whole number"),
        ("loads = 1", "line 11, column 1: sim.flit: ", "sim.flit takes load, selection"),
        ("link_latency_cycles = 0", "line 11, column 1: sim.flit: link_latency", "1 to 10000"),
        ("choosing.candidates = 0", "line 11, column 10: sim.flit: choosing.can", "1 to 64"),
        ("lane_use = \"all\"", "line 11, column 1: sim.flit: lane_use: ", "hops"),
    ] {
        let said = fault(&FILE.replace("[sim.flit]\n", &format!("[sim.flit]\n{line}\n")));
        assert!(said.starts_with(&format!("f.toml: {place}")) && said.contains(expected), "{said}");
    }
    let selection = fault(&FILE.replace("ugal_l", "best"));
    assert!(
        selection.starts_with("f.toml: line 11, column 1: sim.flit: selection: "),
        "{selection}"
    );
    for (key, expected) in [
        ("buffer_flits = 0", "switch.buffer_flits: 0 is out of range"),
        ("buffer_flitz = 1", "switch.buffer_flitz: unknown field"),
        ("virtual_channels = \"x\"", "switch.virtual_channels: "),
    ] {
        let said = fault(&FILE.replace("virtual_channels = 8", key));
        assert!(said.starts_with("f.toml: line 13, column 8: sim.flit: switch."), "{said}");
        assert!(said.contains(expected), "{said}");
    }
    let cycles = fault(&FILE.replace("measure_cycles = 200", "measure_cycles = 0"));
    assert!(cycles.starts_with("f.toml: line 14, column 30: sim.flit: run.measure"), "{cycles}");
    let level = fault(&FILE.replace("[sim.flit]", "[sim.fleet]"));
    assert!(level.contains("sim: fleet: there is no such simulator; sim.flit"), "{level}");
    let value = fault("schema = 1\nname = \"x\"\nsim = 3\n[topology]\nfamily = \"ring\"\nn = 4\n");
    assert!(value.starts_with("f.toml: line 3, column 1: sim: not a table"), "{value}");
    let inner = fault(&FILE.replace("[sim.flit]", "[sim]\nflit = 3\n[sim.x]"));
    assert!(inner.contains("sim: flit: not a table"), "{inner}");
}

#[test]
fn what_needs_tables_says_that_there_are_none() {
    for (table, name) in [
        ("[ebb]\npatterns = 3", "ebb"),
        ("[verify]\nhop_limit = 3", "verify"),
        ("[lanes]\nmethod = \"hops\"", "lanes"),
        ("[deploy]\nfabric = \"ibsim\"", "deploy"),
        ("[congestion]", "congestion"),
        ("[lanes_needed]", "lanes_needed"),
    ] {
        let said = fault(&format!("{FILE}\n{table}\n"));
        assert!(said.starts_with("f.toml: line 16, column 2: "), "{said}");
        assert!(said.contains(&format!("{name}: it needs tables")), "{said}");
    }
    let structure = expand(&format!("{FILE}\n[resilience]\nsamples = 3\n"), "f.toml", &[]);
    assert!(structure.is_ok_and(|all| all.points[0].measures.contains_key("resilience")));
}
