//! Training of CosmoFlow, data and operator parallel.
//!
//! The network of the benchmark MLPerf HPC: boxes of 128^3 points with 4 numbers each, five
//! convolutions of 2^3 to 32, 64, 128, 256 and 512 channels, after each the box is halved, then
//! full layers of 128, 64 and 4. An operation is a multiplication or an addition; what halves boxes
//! has none. 5,597,604 parameters.
//!
//! Source: Farrell et al.: MLPerf HPC: a holistic benchmark suite for scientific machine learning,
//! MLHPC 2021, and its reference, github.com/mlcommons/hpc, cosmoflow/configs/cosmo.yaml; Mathuriya
//! et al.: CosmoFlow: using deep learning to learn the universe at scale, SC 2018.

use super::kind::ApplicationEntry;
use super::training::{NeuralNetworkLayer, OperatorPartParameters, TrainingParameters, made};
use base::part::PartDescription;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "cosmoflow",
        "training of CosmoFlow, data parallel, operators in parts",
    )
    .takes::<TrainingParameters>()
    .takes::<OperatorPartParameters>(),
    make: |request| made(layers(), request),
};

pub(super) fn layers() -> Vec<NeuralNetworkLayer> {
    let mut all = Vec::new();
    let (mut side, mut from) = (128_u64, 4);
    for to in [32, 64, 128, 256, 512] {
        let weights = 8 * from * to;
        let points = side.pow(3);
        all.push(NeuralNetworkLayer {
            parameters: weights + to,
            flops: 2 * weights * points,
            inputs: from * points,
            outputs: to * points / 8,
        });
        (side, from) = (side / 2, to);
    }
    from *= side.pow(3);
    for to in [128, 64, 4] {
        let weights = from * to;
        let parameters = weights + to;
        all.push(NeuralNetworkLayer { parameters, flops: 2 * weights, inputs: from, outputs: to });
        from = to;
    }
    all
}
