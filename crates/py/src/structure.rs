//! Measures of a network as Python dictionaries.

use crate::enter::{enter, interrupted, refuse, to_python};
use base::{Refusal, Watch};
use net::network::Topology;
use net::structure::{self, DisjointRules, MeasureError, Remove, ResilienceRules, Until};
use pyo3::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Which measures beside the first ones, and how.
#[allow(clippy::struct_excessive_bools)]
pub struct Sections {
    pub paths: bool,
    pub disjoint: bool,
    pub load: bool,
    pub spectrum: bool,
    pub bisection: bool,
    pub rules: DisjointRules,
    pub starts: u32,
}

fn value(of: &impl Serialize) -> Result<Value, MeasureError> {
    let bad = |e: serde_json::Error| Refusal::new("structure", e.to_string(), "");
    Ok(serde_json::to_value(of).map_err(bad)?)
}

/// What `work` measures, as a Python value.
pub fn run(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&dyn Watch) -> Result<Value, MeasureError> + Send,
) -> PyResult<Bound<'_, PyAny>> {
    match enter(py, progress, work)? {
        Ok(all) => to_python(py, &all),
        Err(MeasureError::Refused(refusal)) => Err(refuse(refusal)),
        Err(MeasureError::Interrupted(_)) => Err(interrupted()),
    }
}

pub fn measure<'py>(
    py: Python<'py>,
    on: &Topology,
    sections: &Sections,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    run(py, progress, |watch| {
        let s = structure::structure(on, watch)?;
        let mut all = value(&s)?;
        all["mean_distance"] = s.mean_distance_hops().into();
        all["mean_distance_endpoints"] = s.mean_distance_endpoints_hops().into();
        all["mean_distance_all_switches"] = s.mean_distance_all_switches_hops().into();
        all["recipe"] = on.recipe().to_string().into();
        if sections.paths {
            let found = structure::short_paths(on, watch)?;
            all["minimal_paths"] = counts(&found.minimal)?;
            all["almost_minimal_paths"] = counts(&found.almost_minimal)?;
        }
        if sections.disjoint {
            let found = structure::disjoint_paths(on, &sections.rules, watch)?;
            all["disjoint_paths"] = value(&found)?;
            all["disjoint_paths"]["any_length"] = counts(&found.any_length)?;
            for (i, bound) in found.bounded.iter().enumerate() {
                all["disjoint_paths"]["bounded"][i]["counts"] = counts(&bound.counts)?;
            }
        }
        if sections.load {
            all["channel_load"] = value(&structure::minimal_load(on, watch)?)?;
        }
        if sections.spectrum {
            all["spectrum"] = value(&structure::spectrum(on, watch)?)?;
        }
        if sections.bisection {
            let (starts, seed) = (sections.starts, sections.rules.seed);
            all["bisection"] = value(&structure::bisection(on, starts, seed, watch)?)?;
        }
        Ok(all)
    })
}

fn counts(found: &structure::PathCounts) -> Result<Value, MeasureError> {
    let mut all = value(found)?;
    all["mean"] = found.mean().into();
    Ok(all)
}

/// `word` as one of the names of a closed set.
fn named<T: DeserializeOwned>(param: &str, word: &str, known: &str) -> Result<T, Refusal> {
    serde_json::from_value(word.into())
        .map_err(|_| Refusal::new(param, format!("there is no '{word}'"), known))
}

pub fn resilience<'py>(
    py: Python<'py>,
    on: &Topology,
    remove: &str,
    until: &[String],
    samples: u32,
    seed: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    run(py, progress, |watch| {
        let ends =
            until.iter().map(|word| named::<Until>("until", word, "disconnected, diameter, mean"));
        let rules = ResilienceRules {
            remove: named::<Remove>("remove", remove, "links, switches")?,
            until: ends.collect::<Result<_, _>>()?,
            samples,
            seed,
        };
        let found = structure::resilience(on, &rules, watch)?;
        Ok(json!({
            "network": on.recipe().to_string(), "remove": remove, "items": found.items,
            "samples": samples, "seed": seed, "ends": value(&found.ends)?,
        }))
    })
}
