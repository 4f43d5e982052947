//! How many switches a switch has within the given hops.
//!
//! Source: the tree that Hoffman & Singleton count, "On Moore graphs with diameters 2 and 3", IBM
//! Journal of Research and Development 4(5), 1960.

use base::stage::{BetterDirection, ColumnType};
use base::{ComputationError, ExperimentStage, ProgressWatch, RecordColumn, Refusal, ResourceNeed};
use fabric::Topology;
use fabric::size::{NetworkSize, RequestedStructureSections};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many other switches a switch has within the given hops.
///
/// Over all working switches, with endpoints or without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Params {
    /// Most hops, 1 or more.
    pub hops: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { hops: 2 }
    }
}

/// Switches within reach of a switch, itself left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Record {
    /// Most hops.
    pub hops: u32,
    /// Mean number of switches within reach; none where no switch works.
    pub mean: Option<f64>,
    /// Fewest within reach of any switch; none where no switch works.
    pub least: Option<u64>,
}

impl ExperimentStage for Params {
    const NAME: &'static str = "reach";
    const COLUMNS: &'static [RecordColumn] = &[
        RecordColumn::new(
            "mean",
            "/mean",
            ColumnType::Real,
            "switches",
            "mean number of switches within the given hops",
            BetterDirection::Higher,
        ),
        RecordColumn::new(
            "least",
            "/least",
            ColumnType::Whole,
            "switches",
            "fewest within the given hops of any switch",
            BetterDirection::Higher,
        ),
    ];

    type Input<'a> = &'a Topology;
    type Record = Record;

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { hops: 1 }]
    }

    fn need(&self, on: &Topology, threads: usize) -> ResourceNeed {
        NetworkSize::of(on, threads).structure(&RequestedStructureSections::default())
    }

    fn run(&self, on: &Topology, watch: &dyn ProgressWatch) -> Result<Record, ComputationError> {
        if self.hops == 0 {
            return Err(Refusal::new("hops", "0", "1 or more").into());
        }
        let switches = on.switches();
        let working: Vec<usize> = (0..switches.len()).filter(|&v| switches[v].up).collect();
        let mut counts = Vec::with_capacity(working.len());
        for (i, &v) in working.iter().enumerate() {
            watch.tick("reach", i as u64, working.len() as u64)?;
            let near = |d: &u32| (1..=self.hops).contains(d);
            counts.push(on.graph().distances_from(v).iter().filter(|d| near(d)).count() as u64);
        }
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        Ok(Record {
            hops: self.hops,
            mean: Some(mean).filter(|mean| mean.is_finite()),
            least: counts.into_iter().min(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::built;
    use super::*;
    use base::QuietWatch;

    #[test]
    fn a_moore_graph_reaches_its_whole_tree() {
        let hoffman_singleton = built("slim_fly:q=5");
        let of = |hops| Params { hops }.run(&hoffman_singleton, &QuietWatch).expect("it runs");
        assert_eq!((of(1).least, of(1).mean), (Some(7), Some(7.0)));
        assert_eq!((of(2).least, of(2).mean), (Some(49), Some(49.0)));
        assert!(Params { hops: 0 }.run(&hoffman_singleton, &QuietWatch).is_err());
    }
}
