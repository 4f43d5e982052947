//! Training of neural networks by gradients: data parallel, and each layer's operators in parts.
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

use super::kind::{GRADIENTS, Made, allreduce};
use crate::workload::collective::Call;
use crate::workload::keys::{Asked, GFLOPS, ITERATIONS, Key, MOST_BYTES, RANKS, flops_ns};
use crate::workload::{Program, Script, tag};
use base::Refusal;

/// A layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layer {
    pub(super) parameters: u64,
    /// Floating-point operations of a sample forward.
    pub(super) flops: u64,
    /// Numbers that a sample has before and after.
    pub(super) inputs: u64,
    pub(super) outputs: u64,
}

/// Parameters of every training.
pub(super) const BATCH: Key = Key::whole("batch", "samples of a group", 32, (1, 1 << 20));
const BUCKET: Key = Key::whole(
    "bucket_bytes",
    "gradients that are summed up at once, at least",
    25 << 20,
    (1, MOST_BYTES),
);
const ELEMENT: Key = Key::whole("element_bytes", "of a number", 4, (1, 8));
const OPERATOR: Key = Key::whole("operator", "parts of each operator", 1, (1, 1 << 16));

/// The keys of data parallel training.
pub(super) const KEYS: &[Key] = &[RANKS, BATCH, BUCKET, ELEMENT, GRADIENTS, ITERATIONS, GFLOPS];
/// The keys with operators in parts as well.
pub(super) const KEYS_IN_PARTS: &[Key] =
    &[RANKS, OPERATOR, BATCH, BUCKET, ELEMENT, GRADIENTS, ITERATIONS, GFLOPS];

struct Training {
    layers: Vec<Layer>,
    ranks: u32,
    parts: u32,
    batch: u64,
    bucket: u64,
    element: u64,
    sum: Call,
    gather: Call,
    divide: Call,
    iterations: u64,
    gflops: u64,
}

/// The training of these layers, in parts where `in_parts`.
pub(super) fn made(layers: Vec<Layer>, in_parts: bool, asked: &Asked<'_>) -> Made {
    let ranks = asked.ranks()?;
    let parts = if in_parts { asked.whole("operator")? as u32 } else { 1 };
    if !ranks.is_multiple_of(parts) {
        let help = format!("a divisor of {ranks}, the ranks");
        return Err(Refusal::new("operator", parts.to_string(), help).into());
    }
    Ok(Box::new(Training {
        layers,
        ranks,
        parts,
        batch: asked.whole("batch")?,
        bucket: asked.whole("bucket_bytes")?,
        element: asked.whole("element_bytes")?,
        sum: allreduce(asked, ranks / parts, 0)?,
        gather: Call::new("allgather_ring", parts, 0)?,
        divide: Call::new("reduce_scatter_ring", parts, 0)?,
        iterations: asked.whole("iterations")?,
        gflops: asked.whole("gflops")?,
    }))
}

impl Training {
    fn ns(&self, flops: u64) -> u64 {
        flops_ns(u128::from(flops) * u128::from(self.batch) / u128::from(self.parts), self.gflops)
    }

    /// Bytes of a part of so many numbers of every sample.
    fn part(&self, numbers: u64) -> u64 {
        (numbers * self.batch * self.element).div_ceil(self.parts.into())
    }
}

impl Program for Training {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn tell(&self, rank: u32, to: &mut Script<'_>) {
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
