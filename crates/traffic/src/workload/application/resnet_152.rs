//! Training of ResNet-152, data parallel.
//!
//! The layers are those of the published network on pictures of 224 x 224: a convolution of 7 x 7,
//! then 3, 8, 36 and 3 blocks of three convolutions, each stage but the first halving the picture
//! in the 3 x 3 of its first block, and a full layer to 1000 classes. Each convolution has a batch
//! normalisation (two numbers a channel); an operation is a multiplication or an addition.
//! 60,192,808 parameters, 11.5 G multiply-adds a picture.
//!
//! Source: He, Zhang, Ren, Sun: Deep residual learning for image recognition, CVPR 2016, table 1
//! (where the first 1 x 1 of a stage halves the picture; the 3 x 3 does as in torchvision's
//! resnet152, whose count of parameters is the same).

use super::kind::ApplicationEntry;
use super::training::{NeuralNetworkLayer, TrainingParameters, made};
use base::part::PartDescription;

/// The row of this application in the table of applications.
pub(super) const ENTRY: ApplicationEntry = ApplicationEntry {
    part: PartDescription::new(
        "resnet_152",
        "training of ResNet-152, data parallel, gradients summed up in buckets",
    )
    .takes::<TrainingParameters>(),
    make: |request| made(layers(), request),
};

/// The number of blocks in each stage.
const STAGES: [u64; 4] = [3, 8, 36, 3];

/// A `kernel` x `kernel` convolution whose output has `side` x `side` pixels.
fn convolution(kernel: u64, from: u64, to: u64, input_side: u64, side: u64) -> NeuralNetworkLayer {
    let weights = kernel * kernel * from * to;
    NeuralNetworkLayer {
        parameters: weights + 2 * to,
        flops: 2 * weights * side * side,
        inputs: from * input_side * input_side,
        outputs: to * side * side,
    }
}

pub(super) fn layers() -> Vec<NeuralNetworkLayer> {
    let mut all = vec![convolution(7, 3, 64, 224, 112)];
    let (mut from, mut input) = (64, 56);
    for (stage, blocks) in (0..).zip(STAGES) {
        let (inner, side) = (64 << stage, 56 >> stage);
        for block in 0..blocks {
            all.push(convolution(1, from, inner, input, input));
            all.push(convolution(3, inner, inner, input, side));
            all.push(convolution(1, inner, 4 * inner, side, side));
            if block == 0 {
                all.push(convolution(1, from, 4 * inner, input, side));
            }
            (from, input) = (4 * inner, side);
        }
    }
    let weights = from * 1000;
    all.push(NeuralNetworkLayer {
        parameters: weights + 1000,
        flops: 2 * weights,
        inputs: from,
        outputs: 1000,
    });
    all
}
