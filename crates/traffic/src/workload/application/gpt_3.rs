//! Training of GPT-3: layers in a pipeline, operators in parts, data parallel.
//!
//! With `ranks` = T x D x S, rank `t + T (d + D s)` has part t of the operators of the layers of
//! stage s for the samples of group d. Each group takes `micro_batches` through its stages, one
//! forward and one backward in turn as soon as the pipeline is full (1F1B). Forward of a layer has
//! two sums over the T parts, behind attention and behind the two full layers, of `micro_batch` x
//! sequence x hidden numbers; backward has two more. As many numbers go from a stage to the next
//! and back. At the end gradients of a stage are summed up over the D groups.
//!
//! Operations of a layer forward: 24 b s h^2 + 4 b s^2 h; of the words at the end, 2 b s h V;
//! backward has twice as many, and with `recompute` layers are computed again before it.
//! Parameters: 12 h^2 + 13 h a layer; (V + s) h of words and places at the first stage, V h of
//! words at the last where that is another, whose two sums of gradients over both stages are left
//! out.
//!
//! A receive is posted when its stage comes to it; a send keeps nobody waiting. Computation is on
//! processor 0, messages on processor 1.
//!
//! Source: Brown et al.: Language models are few-shot learners, NeurIPS 2020, table 2.1 (96 layers,
//! h = 12288, s = 2048); Narayanan et al.: Efficient large-scale language model training on GPU
//! clusters using Megatron-LM, SC 2021, sections 2 and 5.1 and the appendix (schedule and
//! formulas); V = 51200 as there.

use super::kind::{AllreduceAlgorithm, ApplicationEntry, ProgramResult, ring};
use crate::workload::collective::CollectiveCall;
use crate::workload::parameters::{
    ComputeRateParameter, IterationCountParameter, RankCountParameter,
};
use crate::workload::{RankProgram, RankScriptWriter, WorkloadRequest, tag};
use base::Refusal;
use base::fields::whole;
use base::part::PartDescription;
use schemars::JsonSchema;
use serde::Deserialize;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "gpt_3",
        "training of GPT-3: a pipeline of layers, operators in parts, data parallel",
    )
    .takes::<GptParameters>(),
    make: made,
};

#[derive(Deserialize, JsonSchema)]
struct GptParameters {
    ranks: RankCountParameter,
    /// Stages of layers.
    #[serde(default = "whole::<1>")]
    #[schemars(range(min = 1, max = 1 << 10))]
    pipeline: u64,
    /// Parts of each operator.
    #[serde(default = "whole::<1>")]
    #[schemars(range(min = 1, max = 1 << 10))]
    operator: u64,
    /// Micro-batches of a group in an iteration.
    #[serde(default = "whole::<8>")]
    #[schemars(range(min = 1, max = 1 << 16))]
    micro_batches: u64,
    /// Samples of a micro-batch.
    #[serde(default = "whole::<1>")]
    #[schemars(range(min = 1, max = 1 << 10))]
    micro_batch: u64,
    /// Layers of the network.
    #[serde(default = "whole::<96>")]
    #[schemars(range(min = 1, max = 1 << 10))]
    layers: u64,
    /// Numbers of a word.
    #[serde(default = "whole::<12288>")]
    #[schemars(range(min = 1, max = 1 << 16))]
    hidden: u64,
    /// Words of a sample.
    #[serde(default = "whole::<2048>")]
    #[schemars(range(min = 1, max = 1 << 20))]
    sequence: u64,
    /// Words that there are.
    #[serde(default = "whole::<51200>")]
    #[schemars(range(min = 1, max = 1 << 20))]
    vocabulary: u64,
    /// Bytes of a number.
    #[serde(default = "whole::<2>")]
    #[schemars(range(min = 1, max = 8))]
    element_bytes: u64,
    /// 1: layers are computed again for backward.
    #[serde(default = "whole::<1>")]
    #[schemars(range(max = 1))]
    recompute: u64,
    #[serde(default = "ring")]
    allreduce: AllreduceAlgorithm,
    #[serde(default)]
    iterations: IterationCountParameter,
    #[serde(default)]
    gflops: ComputeRateParameter,
}

/// The program of the training of a transformer.
struct GptProgram {
    parts: u32,
    groups: u32,
    stages: u32,
    micro_batches: u64,
    /// Number of layers of a stage.
    layers: u64,
    /// Operations of a rank: forward through a layer, and in the word output at the end.
    layer_flops: u128,
    word_flops: u128,
    recompute: bool,
    /// Bytes sent from one stage to the next.
    between: u64,
    /// The allreduce over a layer's operator parts, and for each stage the allreduce of its
    /// gradients.
    part_sum: CollectiveCall,
    gradients: Vec<CollectiveCall>,
    iterations: u64,
    gflops: ComputeRateParameter,
}

fn made(request: &WorkloadRequest<'_>) -> ProgramResult {
    let with: GptParameters = request.read()?;
    let (ranks, parts, stages) = (with.ranks.0, with.operator as u32, with.pipeline as u32);
    let all_layers = with.layers;
    if u64::from(ranks) % (u64::from(parts) * u64::from(stages)) != 0 {
        let why = format!("{ranks} ranks, but {stages} stages of {parts} parts");
        return Err(Refusal::new("ranks", why, "a multiple of pipeline times operator").into());
    }
    if !all_layers.is_multiple_of(stages.into()) {
        let help = format!("a divisor of {all_layers}, the layers");
        return Err(Refusal::new("pipeline", stages.to_string(), help).into());
    }
    let groups = ranks / parts / stages;
    let (b, s, h, v) = (with.micro_batch, with.sequence, with.hidden, with.vocabulary);
    let element = with.element_bytes;
    let between = b * s * h * element;
    let layers = all_layers / u64::from(stages);
    let [wide_b, wide_s, wide_h, wide_v] = [b, s, h, v].map(u128::from);
    let words = wide_b * wide_s * wide_h;
    let of_stage = |stage: u32| {
        let mut all = layers * (12 * h * h + 13 * h);
        all += if stage == 0 { (v + s) * h } else { 0 };
        all += if stage > 0 && stage + 1 == stages { v * h } else { 0 };
        with.allreduce.call(groups, all.div_ceil(parts.into()) * element)
    };
    Ok(Box::new(GptProgram {
        parts,
        groups,
        stages,
        micro_batches: with.micro_batches,
        layers,
        layer_flops: (24 * words * wide_h + 4 * words * wide_s) / u128::from(parts),
        word_flops: 2 * words * wide_v / u128::from(parts),
        recompute: with.recompute == 1,
        between,
        part_sum: with.allreduce.call(parts, between)?,
        gradients: (0..stages).map(of_stage).collect::<Result<_, _>>()?,
        iterations: with.iterations.0,
        gflops: with.gflops,
    }))
}

/// The writer of a rank's operations, with the operations that the next ones wait for.
struct RankOperationWriter<'g, 't, 's> {
    of: &'g GptProgram,
    place: [u32; 3],
    to: &'t mut RankScriptWriter<'s>,
    ends: Vec<u32>,
    /// Sends that only the end of the iteration waits for.
    sent: Vec<u32>,
    phase: u64,
}

impl RankOperationWriter<'_, '_, '_> {
    /// The rank with the same operator part and group in another stage.
    fn at(&self, stage: u32) -> u32 {
        let [part, group, _] = self.place;
        part + self.of.parts * (group + self.of.groups * stage)
    }

    /// Passes through all layers: in each, `flops` operations and two allreduces.
    fn layers(&mut self, flops: u128) {
        if self.to.is_over() {
            return;
        }
        let [part, group, stage] = self.place;
        let first = self.of.parts * (group + self.of.groups * stage);
        for _ in 0..self.of.layers {
            for half in [flops / 2, flops - flops / 2] {
                self.compute(half);
                let at = tag(self.phase);
                let sum = &self.of.part_sum;
                self.ends = self.to.collective(sum, part, &|r| first + r, at, &self.ends);
                self.phase += 1;
            }
        }
    }

    fn compute(&mut self, flops: u128) {
        self.to.on(0);
        self.ends = self.to.calc(self.of.gflops.ns(flops), &self.ends);
        self.to.on(1);
    }

    /// Receives from another stage, and waits for the message; sends are not waited for.
    fn receive(&mut self, stage: u32, tag: u32) {
        let message = [(self.at(stage), self.of.between, tag)];
        self.ends = self.to.exchange(&[], &message, &self.ends);
    }

    fn send(&mut self, stage: u32, tag: u32) {
        let message = [(self.at(stage), self.of.between, tag)];
        let sent = self.to.exchange(&message, &[], &self.ends);
        self.sent.extend(sent);
    }

    fn forward(&mut self, tag: u32) {
        let stage = self.place[2];
        if stage > 0 {
            self.receive(stage - 1, tag);
        }
        self.layers(self.of.layer_flops);
        if stage + 1 < self.of.stages {
            self.send(stage + 1, tag);
        } else {
            self.compute(self.of.word_flops);
        }
    }

    fn backward(&mut self, tag: u32) {
        let stage = self.place[2];
        if stage + 1 < self.of.stages {
            self.receive(stage + 1, tag);
        } else {
            self.compute(2 * self.of.word_flops);
        }
        if self.of.recompute {
            self.compute(self.of.layer_flops * u128::from(self.of.layers));
        }
        self.layers(2 * self.of.layer_flops);
        if stage > 0 {
            self.send(stage - 1, tag);
        }
    }
}

impl RankProgram for GptProgram {
    fn ranks(&self) -> u32 {
        self.parts * self.groups * self.stages
    }

    fn tell(&self, rank: u32, to: &mut RankScriptWriter<'_>) {
        let (t, d) = (self.parts, self.groups);
        let place = [rank % t, rank / t % d, rank / (t * d)];
        let [_, group, stage] = place;
        let mut script = RankOperationWriter {
            of: self,
            place,
            to,
            ends: Vec::new(),
            sent: Vec::new(),
            phase: 0,
        };
        let m = self.micro_batches;
        let ahead = m.min((self.stages - 1 - stage).into());
        for iteration in 0..self.iterations {
            if script.to.is_over() {
                return;
            }
            // messages between stages have two tags for each micro-batch, in the upper half of all
            // tags
            let at = |batch: u64, back: u64| tag((1 << 23) + 2 * (iteration * m + batch) + back);
            for batch in 0..ahead {
                script.forward(at(batch, 0));
            }
            for batch in 0..m - ahead {
                script.forward(at(ahead + batch, 0));
                script.backward(at(batch, 1));
            }
            for batch in m - ahead..m {
                script.backward(at(batch, 1));
            }
            let across = |other: u32| place[0] + t * (other + d * stage);
            let sum = &self.gradients[stage as usize];
            script.ends =
                script.to.collective(sum, group, &across, tag(script.phase), &script.ends);
            script.phase += 1;
            let sent = std::mem::take(&mut script.sent);
            script.ends.extend(sent);
            script.ends.sort_unstable();
            script.ends.dedup();
        }
    }
}
