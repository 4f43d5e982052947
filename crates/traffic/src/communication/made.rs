//! Generated communication graphs: stencils on grids of processes, and training of neural networks.

use super::{CommunicationGraph, ProcessPairTraffic, check_processes};
use base::Refusal;
use base::fields::typed_by_path;
use base::words::did_you_mean;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The kinds of graphs, each with its name, description and parameters.
pub const KINDS: [(&str, &str, &str); 2] = [
    (
        "stencil",
        "halos on a grid of processes, row-major",
        "shape=AxB.., bytes=N or one a dimension, edge_bytes=0, corner_bytes=0, periodic=false",
    ),
    (
        "training",
        "rings of tensor and data parallel ranks, and the stages of pipelines",
        "tensor=T, pipeline=P, data=D, tensor_bytes=N, pipeline_bytes=N, data_bytes=N",
    ),
];

/// The most pairs that a generated graph may have.
const MOST_PAIRS: u64 = 1 << 27;

/// The bytes between neighbours: one number for all dimensions, or one for each.
#[derive(Deserialize)]
#[serde(untagged)]
enum NeighbourBytes {
    Same(f64),
    Each(Vec<f64>),
}

/// The parameters of the communication graph of a stencil.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StencilGraphParameters {
    shape: Vec<u32>,
    bytes: NeighbourBytes,
    #[serde(default)]
    edge_bytes: f64,
    #[serde(default)]
    corner_bytes: f64,
    #[serde(default)]
    periodic: bool,
}

/// The parameters of the communication graph of a training.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrainingGraphParameters {
    tensor: u32,
    pipeline: u32,
    data: u32,
    tensor_bytes: f64,
    pipeline_bytes: f64,
    data_bytes: f64,
}

/// The graph of this kind with these parameters.
///
/// # Errors
/// When there is no such kind, or a parameter is missing, unknown or out of range.
pub fn made(kind: &str, given: &Map<String, Value>) -> Result<CommunicationGraph, Refusal> {
    let mut given = given.clone();
    if let Some(side @ Value::Number(_)) = given.get("shape").cloned() {
        given.insert("shape".into(), Value::Array(vec![side]));
    }
    let given = Value::Object(given);
    let help = || KINDS.iter().find(|k| k.0 == kind).map_or("", |k| k.2);
    let bad = |(field, why): (String, String)| Refusal::new(field, why, help());
    let graph = match kind {
        "stencil" => {
            typed_by_path::<StencilGraphParameters>(&given).map_err(bad).and_then(|s| s.graph())
        }
        "training" => {
            typed_by_path::<TrainingGraphParameters>(&given).map_err(bad).and_then(|t| t.graph())
        }
        _ => {
            let names = KINDS.map(|k| k.0);
            let near = did_you_mean(kind, names);
            let why = format!("no communication graph is called {kind:?}");
            Err(Refusal::new("", why, format!("{near}{}, or a file", names.join(", "))))
        }
    };
    graph.map_err(|refused| refused.within(kind))
}

/// The product of `sides` as a number of processes; refused if there are too many pairs, `pairs`
/// for each process.
fn size(sides: &[u32], pairs: u64) -> Result<u32, Refusal> {
    let many = || Refusal::new("processes", "too many processes or pairs", "smaller numbers");
    let all = sides.iter().try_fold(1_u64, |n, &side| n.checked_mul(u64::from(side)));
    let count = all.ok_or_else(many)?;
    let fits = count.checked_mul(pairs).is_some_and(|n| n <= MOST_PAIRS);
    if fits { check_processes(count) } else { Err(many()) }
}

impl StencilGraphParameters {
    /// Bytes to the neighbour at the offset `step`.
    fn amount(&self, step: &[i64]) -> f64 {
        let moved: Vec<usize> = (0..step.len()).filter(|&d| step[d] != 0).collect();
        match (moved.len(), &self.bytes) {
            (0, _) => 0.0,
            (1, NeighbourBytes::Same(bytes)) => *bytes,
            (1, NeighbourBytes::Each(bytes)) => bytes[moved[0]],
            (2, _) if step.len() > 2 => self.edge_bytes,
            _ => self.corner_bytes,
        }
    }

    fn graph(&self) -> Result<CommunicationGraph, Refusal> {
        let dimensions = self.shape.len();
        if !(1..=6).contains(&dimensions) || self.shape.contains(&0) {
            return Err(Refusal::new("shape", "no grid", "1 to 6 sides from 1, as 8x8x4"));
        }
        if matches!(&self.bytes, NeighbourBytes::Each(each) if each.len() != dimensions) {
            let why = format!("another number of amounts than the {dimensions} dimensions");
            return Err(Refusal::new("bytes", why, "one amount, or one a dimension"));
        }
        let steps: Vec<Vec<i64>> = (0..3_u32.pow(dimensions as u32))
            .map(|code| (0..dimensions as u32).map(move |d| i64::from(code / 3_u32.pow(d) % 3) - 1))
            .map(Iterator::collect)
            .filter(|step: &Vec<i64>| self.amount(step) != 0.0)
            .collect();
        let processes = size(&self.shape, steps.len() as u64)?;
        let mut sent = Vec::with_capacity(processes as usize * steps.len());
        for from in 0..processes {
            let at = self.coordinates(from);
            for step in &steps {
                let to = self.there(&at, step).filter(|&to| to != from);
                sent.extend(to.map(|to| ProcessPairTraffic {
                    from,
                    to,
                    bytes: self.amount(step),
                    messages: 1.0,
                }));
            }
        }
        CommunicationGraph::new(processes, sent)
    }

    fn coordinates(&self, process: u32) -> Vec<u32> {
        let mut rest = process;
        let mut at: Vec<u32> = self
            .shape
            .iter()
            .rev()
            .map(|&side| {
                let own = rest % side;
                rest /= side;
                own
            })
            .collect();
        at.reverse();
        at
    }

    /// The process at the offset `step`; `None` if that is beyond a border.
    fn there(&self, at: &[u32], step: &[i64]) -> Option<u32> {
        let mut number = 0_i64;
        for ((&x, &along), &side) in at.iter().zip(step).zip(&self.shape) {
            let side = i64::from(side);
            let to = i64::from(x) + along;
            let inside = (0..side).contains(&to);
            if !inside && !self.periodic {
                return None;
            }
            number = number * side + to.rem_euclid(side);
        }
        Some(number as u32)
    }
}

impl TrainingGraphParameters {
    /// The graph: rank = tensor + T (pipeline + P data). The rings of allreduces send in one
    /// direction.
    fn graph(&self) -> Result<CommunicationGraph, Refusal> {
        let [t, p, d] = [self.tensor, self.pipeline, self.data];
        let processes = size(&[t, p, d], 4)?;
        let mut sent = Vec::new();
        for from in 0..processes {
            let (i, j, k) = (from % t, from / t % p, from / t / p);
            let rank = |i: u32, j: u32, k: u32| i + t * (j + p * k);
            let mut send = |to: u32, bytes: f64| {
                sent.push(ProcessPairTraffic { from, to, bytes, messages: 1.0 });
            };
            send(rank((i + 1) % t, j, k), self.tensor_bytes);
            send(rank(i, j, (k + 1) % d), self.data_bytes);
            if j + 1 < p {
                send(rank(i, j + 1, k), self.pipeline_bytes);
            }
            if j > 0 {
                send(rank(i, j - 1, k), self.pipeline_bytes);
            }
        }
        CommunicationGraph::new(processes, sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn graph(kind: &str, given: &Value) -> Result<CommunicationGraph, Refusal> {
        made(kind, given.as_object().expect("an object"))
    }

    #[test]
    fn a_stencil_sends_to_all_around_it() {
        let given = json!({
            "shape": [3, 4, 5], "bytes": [8, 4, 2], "edge_bytes": 0.5, "corner_bytes": 0.25,
        });
        let found = graph("stencil", &given).expect("a graph");
        let at = |p: u32| [p / 20, p / 5 % 4, p % 5].map(i64::from);
        let mut pairs = 0;
        for from in 0..60 {
            for to in (0..60).filter(|&to| to != from) {
                let (a, b) = (at(from), at(to));
                let gaps: Vec<i64> = (0..3).map(|d| (a[d] - b[d]).abs()).collect();
                let moved = gaps.iter().filter(|&&gap| gap > 0).count();
                let bytes = found.of(from).find(|row| row.0 == to).map_or(0.0, |row| row.1);
                let axis = gaps.iter().position(|&gap| gap > 0).expect("another process");
                let expect = match (gaps.iter().max(), moved) {
                    (Some(1), 1) => [8.0, 4.0, 2.0][axis],
                    (Some(1), 2) => 0.5,
                    (Some(1), 3) => 0.25,
                    _ => 0.0,
                };
                assert_eq!(bytes.to_bits(), f64::to_bits(expect), "{from} {to}");
                pairs += usize::from(expect > 0.0);
            }
        }
        assert_eq!(found.pairs(), pairs);
    }

    #[test]
    fn a_periodic_ring_of_two_has_one_pair_in_each_direction() {
        let given = json!({ "shape": 2, "bytes": 3, "periodic": true });
        let found = graph("stencil", &given).expect("a graph");
        assert_eq!((found.pairs(), found.total_bytes()), (2, 12.0));
    }

    #[test]
    fn training_has_its_rings_and_stages() {
        let given = json!({
            "tensor": 2, "pipeline": 3, "data": 4,
            "tensor_bytes": 100, "pipeline_bytes": 10, "data_bytes": 1,
        });
        let found = graph("training", &given).expect("a graph");
        assert_eq!(found.processes(), 24);
        // rings: each rank sends once; pipelines: two pairs for adjacent stages, one in each
        // direction
        let expect = 24.0 * 100.0 + 24.0 + 8.0 * 2.0 * 2.0 * 10.0;
        assert!((found.total_bytes() - expect).abs() < 1e-9);
        let of_2: Vec<(u32, f64)> = found.of(2).map(|row| (row.0, row.1)).collect();
        assert_eq!(of_2, [(0, 10.0), (3, 100.0), (4, 10.0), (8, 1.0)]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (kind, given, named) in [
            ("stencils", json!({}), "stencil"),
            ("stencil", json!({ "shape": [4] }), "bytes"),
            ("stencil", json!({ "shape": [4, 0], "bytes": 1 }), "shape"),
            ("stencil", json!({ "shape": [4, 2], "bytes": [1, 2, 3] }), "bytes"),
            ("stencil", json!({ "shape": [4], "bytes": -1 }), "bytes"),
            ("stencil", json!({ "shape": [100_000, 100_000, 9], "bytes": 1 }), "processes"),
            ("training", json!({ "tensor": 2 }), "pipeline"),
        ] {
            let refused = graph(kind, &given).expect_err("no graph").to_string();
            assert!(refused.contains(named), "{kind}: {refused}");
        }
    }
}
