//! Several runs of a simulation that differ by their seeds, as one record: the means of its
//! figures, and how far these can be trusted.

use base::stage::ColumnType;
use base::{ComputationError, RecordColumn, RecordJson};
use paths::over_seeds::{SeedSpread, SeedStatistics};
use paths::side_by_side::side_by_side;
use serde_json::{Map, Value, json};

/// Runs a simulator with `seeds` seeds, from `seed` on; `one` runs it with a single seed on a
/// number of threads.
///
/// A figure is the mean of the runs, a whole number rounded; it is null where one of them has none.
/// A boolean is true where it is true in one of the runs. Values of other types are those of the
/// first run. Real `columns` have their spread in `over_seeds` of the point, or of the record where
/// there are no points; where all runs are equal there is none, for the seed makes no difference.
///
/// # Errors
/// The first error of `one`.
pub fn over_seeds(
    (seed, seeds): (u64, u32),
    threads: usize,
    columns: &[RecordColumn],
    one: impl Fn(u64, usize) -> Result<RecordJson, ComputationError> + Sync,
) -> Result<RecordJson, ComputationError> {
    let at_once = threads.clamp(1, seeds.max(1) as usize);
    let run = |i: usize| one(seed.wrapping_add(i as u64), (threads / at_once).max(1));
    let frames = side_by_side(seeds as usize, at_once, run)?;
    Ok(together(frames, columns))
}

/// The record of runs that were made one by one, each with a seed of its own, as [`over_seeds`]
/// makes it of its runs. There is one run or more.
pub fn together(frames: Vec<RecordJson>, columns: &[RecordColumn]) -> RecordJson {
    let runs: Vec<Value> = frames.into_iter().map(|frame| Value::Object(frame.0)).collect();
    let mut all = merged(&runs.iter().collect::<Vec<_>>());
    if let Some(asked) = all.get_mut("parameters").and_then(Value::as_object_mut)
        && asked.contains_key("seeds")
    {
        asked.insert("seed".to_owned(), runs[0]["parameters"]["seed"].clone());
        asked.insert("seeds".to_owned(), runs.len().into());
    }
    let first = without_seed(&runs[0]);
    if runs.iter().all(|run| without_seed(run) == first) {
        return record(all);
    }
    if let Some(Value::Array(points)) = all.get_mut("points") {
        let is_alone = points.len() == 1;
        for (i, point) in points.iter_mut().enumerate() {
            let at = |column: &RecordColumn| match column.at.strip_prefix("/points/0/") {
                Some(name) => Some(format!("/points/{i}/{name}")),
                None => is_alone.then(|| column.at.to_owned()),
            };
            point["over_seeds"] = json!(spreads(&runs, columns, at));
        }
    } else {
        let spread = spreads(&runs, columns, |column| Some(column.at.to_owned()));
        all["over_seeds"] = json!(spread);
    }
    record(all)
}

fn record(all: Value) -> RecordJson {
    match all {
        Value::Object(fields) => RecordJson(fields),
        _ => RecordJson(Map::new()),
    }
}

/// A run without what differs between any two: its seed, and how long it took.
fn without_seed(run: &Value) -> Value {
    let mut run = run.clone();
    if let Some(asked) = run.get_mut("parameters").and_then(Value::as_object_mut) {
        asked.remove("seed");
    }
    for point in run.get_mut("points").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(point) = point.as_object_mut() {
            point.remove("wall_s");
        }
    }
    run
}

/// The spreads of real columns, found by the places of their values in the runs. A column without a
/// place is left out, as is one without values.
fn spreads(
    runs: &[Value],
    columns: &[RecordColumn],
    at: impl Fn(&RecordColumn) -> Option<String>,
) -> SeedStatistics {
    let found = columns.iter().filter(|c| c.kind == ColumnType::Real && c.name != "offered_load");
    let figures = found.filter_map(|column| {
        let at = at(column)?;
        let known = runs.iter().any(|run| run.pointer(&at).is_some());
        let values: Option<Vec<f64>> =
            runs.iter().map(|run| run.pointer(&at).and_then(Value::as_f64)).collect();
        let spread = values.and_then(|values| SeedSpread::of(&values));
        known.then(|| (column.name.to_owned(), spread))
    });
    SeedStatistics { seeds: runs.len() as u32, figures: figures.collect() }
}

/// Merges the values of one or more runs into one.
fn merged(values: &[&Value]) -> Value {
    let first = values[0];
    if values.iter().all(|value| *value == first) {
        return first.clone();
    }
    if values.iter().any(|value| value.is_null()) {
        return Value::Null;
    }
    if let Some(numbers) = values.iter().map(|value| value.as_f64()).collect::<Option<Vec<_>>>() {
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        let is_whole = values.iter().all(|value| value.is_u64() || value.is_i64());
        return if is_whole { json!(mean.round() as i64) } else { json!(mean) };
    }
    match first {
        Value::Bool(_) => values.iter().any(|value| **value == Value::Bool(true)).into(),
        Value::Object(_) => {
            let tables: Vec<_> = values.iter().filter_map(|value| value.as_object()).collect();
            let mut all = Map::new();
            for key in tables.iter().flat_map(|table| table.keys()) {
                if !all.contains_key(key) {
                    let of: Vec<_> = tables.iter().filter_map(|table| table.get(key)).collect();
                    all.insert(key.clone(), merged(&of));
                }
            }
            all.into()
        }
        Value::Array(items) => {
            let lists: Vec<_> = values.iter().filter_map(|value| value.as_array()).collect();
            if lists.iter().any(|list| list.len() != items.len()) {
                return first.clone();
            }
            let at = |i: usize| merged(&lists.iter().map(|list| &list[i]).collect::<Vec<_>>());
            (0..items.len()).map(at).collect()
        }
        _ => first.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::stage::BetterDirection;

    const COLUMNS: &[RecordColumn] = &[
        RecordColumn::new(
            "rate",
            "/points/0/rate",
            ColumnType::Real,
            "",
            "a rate",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "time",
            "/jobs/0/time",
            ColumnType::Real,
            "ns",
            "a time",
            BetterDirection::Lower,
        ),
    ];

    fn frame(seed: u64, rate: Option<f64>, stuck: bool) -> RecordJson {
        let waits = if stuck { json!(["a -> b"]) } else { Value::Null };
        let mut point = json!({ "rate": rate, "packets": 10 + seed, "deadlocked": stuck });
        if stuck {
            point["waits_for"] = waits;
        }
        RecordJson::of(json!({
            "parameters": { "seed": seed, "seeds": 1, "load": [0.5] },
            "points": [point], "jobs": [{ "name": "a", "time": seed }],
        }))
    }

    #[test]
    fn figures_are_means_with_their_intervals() {
        // rates 1, 2, 6: mean 3, variance (4 + 1 + 9) / 2 = 7; t of 2 degrees of freedom 4.3026527
        let rates = [1.0, 2.0, 6.0];
        let one = |seed: u64, _| Ok(frame(seed, Some(rates[seed as usize - 4]), seed == 6));
        let found = over_seeds((4, 3), 2, COLUMNS, one).expect("runs");
        let found = Value::Object(found.0);
        assert_eq!(found["parameters"], json!({ "seed": 4, "seeds": 3, "load": [0.5] }));
        let point = &found["points"][0];
        assert_eq!((&point["rate"], &point["packets"]), (&json!(3.0), &json!(15)));
        assert_eq!((&point["deadlocked"], &point["waits_for"]), (&json!(true), &json!(["a -> b"])));
        let spread = &point["over_seeds"]["rate"];
        let half = 4.302_652_7 * (7.0_f64 / 3.0).sqrt();
        let low = spread["confidence_interval_95"][0].as_f64().expect("a number");
        let high = spread["confidence_interval_95"][1].as_f64().expect("a number");
        assert!((low - (3.0 - half)).abs() < 1e-6 && (high - (3.0 + half)).abs() < 1e-6);
        assert_eq!(point["over_seeds"]["seeds"], 3);
        // a job of the run with the single point: 4, 5, 6
        assert_eq!(found["jobs"][0]["time"], json!(5));
        let deviation = &point["over_seeds"]["time"]["standard_deviation"];
        assert!((deviation.as_f64().expect("a number") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_runs_have_no_spread() {
        let at = |seed: u64, rate: f64| {
            let wall_s = seed as f64;
            RecordJson::of(json!({
                "parameters": { "seed": seed, "seeds": 1 },
                "points": [{ "rate": rate, "wall_s": wall_s }],
            }))
        };
        let equal = over_seeds((3, 3), 1, COLUMNS, |seed, _| Ok(at(seed, 2.5))).expect("runs");
        let equal = Value::Object(equal.0);
        assert_eq!(equal["points"][0].get("over_seeds"), None);
        assert_eq!(equal["points"][0]["rate"], json!(2.5));
        assert_eq!(equal["parameters"], json!({ "seed": 3, "seeds": 3 }));
        // the last of them differs
        let one = |seed: u64, _| Ok(at(seed, if seed == 5 { 2.0 } else { 2.5 }));
        let other = Value::Object(over_seeds((3, 3), 1, COLUMNS, one).expect("runs").0);
        assert_eq!(other["points"][0]["over_seeds"]["seeds"], json!(3));
    }

    #[test]
    fn a_figure_that_one_run_lacks_has_no_mean() {
        let one = |seed: u64, _| Ok(frame(seed, (seed > 0).then_some(1.0), false));
        let found = Value::Object(over_seeds((0, 2), 1, COLUMNS, one).expect("runs").0);
        assert_eq!(found["points"][0]["rate"], Value::Null);
        assert_eq!(found["points"][0]["over_seeds"]["rate"], Value::Null);
    }
}
