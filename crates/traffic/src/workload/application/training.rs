//! Training of neural networks: data parallel, with the operators of each layer divided into parts.
//!
//! Ranks that share the parts of an operator stand together: rank `d k + o` has part `o` of `k` for
//! the samples of group `d`. Per iteration: forward through the layers, in each all gather the
//! outputs of the `k` parts; backward through them with twice the operations, in each all sum up
//! and divide the gradient of the inputs. Gradients of parameters are collected in buckets; a full
//! one is summed up over the groups while backward goes on, one after another. The next iteration
//! begins when all are done.
//!
//! Computation is on processor 0, messages on processor 1.
//!
//! Source: Ben-Nun, Hoefler: Demystifying parallel and distributed deep learning, ACM Computing
//! Surveys 52 (2019), section 6; buckets: Li et al.: PyTorch distributed, VLDB 13 (2020),
//! section 3.2.

use super::kind::{AllreduceAlgorithm, ProgramResult, ring};
use crate::workload::collective::CollectiveCall;
use crate::workload::parameters::{
    ComputeRateParameter, IterationCountParameter, MOST_BYTES, RankCountParameter,
};
use crate::workload::{RankProgram, RankScriptWriter, WorkloadRequest, tag};
use base::Refusal;
use base::fields::whole;
use schemars::JsonSchema;
use serde::Deserialize;

/// A layer of a neural network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NeuralNetworkLayer {
    pub(super) parameters: u64,
    /// Floating-point operations of the forward pass for a sample.
    pub(super) flops: u64,
    /// The number of values of a sample before the layer and after it.
    pub(super) inputs: u64,
    pub(super) outputs: u64,
}

/// The parameters of every training.
#[derive(Deserialize, JsonSchema)]
pub(super) struct TrainingParameters {
    ranks: RankCountParameter,
    /// Samples of a group.
    #[serde(default = "whole::<32>")]
    #[schemars(range(min = 1, max = 1 << 20))]
    batch: u64,
    /// Bytes of gradients that are summed up at once, at least.
    #[serde(default = "whole::<{ 25 << 20 }>")]
    #[schemars(range(min = 1, max = MOST_BYTES))]
    bucket_bytes: u64,
    /// Bytes of a number.
    #[serde(default = "whole::<4>")]
    #[schemars(range(min = 1, max = 8))]
    element_bytes: u64,
    #[serde(default = "ring")]
    allreduce: AllreduceAlgorithm,
    #[serde(default)]
    iterations: IterationCountParameter,
    #[serde(default)]
    gflops: ComputeRateParameter,
}

/// The parameter of training with operators in parts.
#[derive(Deserialize, JsonSchema)]
pub(super) struct OperatorPartParameters {
    /// Parts of each operator.
    #[serde(default = "whole::<1>")]
    #[schemars(range(min = 1, max = 1 << 16))]
    operator: u64,
}

/// The program of the training of a neural network.
struct TrainingProgram {
    layers: Vec<NeuralNetworkLayer>,
    ranks: u32,
    parts: u32,
    batch: u64,
    bucket: u64,
    element: u64,
    sum: CollectiveCall,
    gather: CollectiveCall,
    divide: CollectiveCall,
    iterations: u64,
    gflops: ComputeRateParameter,
}

/// The training of these layers, each in the requested number of parts; that is one if the
/// application does not have this parameter.
pub(super) fn made(
    layers: Vec<NeuralNetworkLayer>,
    request: &WorkloadRequest<'_>,
) -> ProgramResult {
    let (with, of): (TrainingParameters, OperatorPartParameters) =
        (request.read()?, request.read()?);
    let (ranks, parts) = (with.ranks.0, of.operator as u32);
    if !ranks.is_multiple_of(parts) {
        let help = format!("a divisor of {ranks}, the ranks");
        return Err(Refusal::new("operator", parts.to_string(), help).into());
    }
    Ok(Box::new(TrainingProgram {
        layers,
        ranks,
        parts,
        batch: with.batch,
        bucket: with.bucket_bytes,
        element: with.element_bytes,
        sum: with.allreduce.call(ranks / parts, 0)?,
        gather: CollectiveCall::new("allgather_ring", parts, 0)?,
        divide: CollectiveCall::new("reduce_scatter_ring", parts, 0)?,
        iterations: with.iterations.0,
        gflops: with.gflops,
    }))
}

impl TrainingProgram {
    fn ns(&self, flops: u64) -> u64 {
        self.gflops.ns(u128::from(flops) * u128::from(self.batch) / u128::from(self.parts))
    }

    /// Bytes of one part of `numbers` values of every sample.
    fn part(&self, numbers: u64) -> u64 {
        (numbers * self.batch * self.element).div_ceil(self.parts.into())
    }
}

impl RankProgram for TrainingProgram {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let (group, part) = (rank / self.parts, rank % self.parts);
        let together = |other: u32| group * self.parts + other;
        let across = |other: u32| other * self.parts + part;
        let mut phase = 0;
        let mut ends: Vec<u32> = Vec::new();
        for _ in 0..self.iterations {
            if to.is_over() {
                return;
            }
            for layer in &self.layers {
                to.on(0);
                ends = to.calc(self.ns(layer.flops), &ends);
                to.on(1);
                let gather = self.gather.with_bytes(self.part(layer.outputs));
                ends = to.collective(&gather, part, &together, tag(phase), &ends);
                phase += 1;
            }
            let (mut full, mut summed) = (0, Vec::new());
            for (i, layer) in self.layers.iter().enumerate().rev() {
                to.on(0);
                ends = to.calc(self.ns(2 * layer.flops), &ends);
                to.on(1);
                full += (layer.parameters * self.element).div_ceil(self.parts.into());
                if full >= self.bucket || i == 0 {
                    summed.extend(&ends);
                    let sum = self.sum.with_bytes(std::mem::take(&mut full));
                    summed = to.collective(&sum, group, &across, tag(phase), &summed);
                }
                phase += 1;
                if i > 0 {
                    let divide = self.divide.with_bytes(self.part(layer.inputs));
                    ends = to.collective(&divide, part, &together, tag(phase), &ends);
                }
                phase += 1;
            }
            ends.extend(summed);
            ends.sort_unstable();
            ends.dedup();
        }
    }
}
