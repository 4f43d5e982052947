//! Algorithms along a tree with a root: the blocks of one vector go down or up the tree, segment by
//! segment, or a block for every rank does.

use super::kind::{
    AlgorithmResult, AlgorithmStepSink, CollectiveAlgorithm, ReceivedBlockEffect,
    RootRankParameter, RootedCollectiveParameters,
};
use super::trees::{AlgorithmStepChain, RankTree, down, seen_from, up};
use crate::workload::WorkloadRequest;
use base::fields::whole;
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of what goes along a tree in segments.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SegmentParameters")]
pub(super) struct TreeSegmentParameters {
    #[serde(default)]
    #[expect(dead_code, reason = "Rooted reads it")]
    root: RootRankParameter,
    /// Parts of the vector that are passed on by themselves.
    #[serde(default = "whole::<8>")]
    #[schemars(range(min = 1, max = 1 << 20))]
    segments: u64,
}

/// The operation along a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeOperation {
    Broadcast,
    Reduce,
    Gather,
    Scatter,
}

/// An algorithm along a tree.
pub(super) struct TreeAlgorithm {
    what: TreeOperation,
    tree: RankTree,
    root: u32,
    segments: u64,
}

impl TreeAlgorithm {
    /// The algorithm for a request with the parameters of [`RootedCollectiveParameters`].
    pub(super) fn made(
        what: TreeOperation,
        tree: RankTree,
        request: &WorkloadRequest<'_>,
    ) -> AlgorithmResult {
        Ok(Box::new(Self {
            what,
            tree,
            root: RootedCollectiveParameters::asked(request)?,
            segments: 1,
        }))
    }

    /// The algorithm for a request with the parameters of [`TreeSegmentParameters`].
    pub(super) fn in_segments(
        what: TreeOperation,
        tree: RankTree,
        request: &WorkloadRequest<'_>,
    ) -> AlgorithmResult {
        let (root, TreeSegmentParameters { segments, .. }) =
            (RootedCollectiveParameters::asked(request)?, request.read()?);
        Ok(Box::new(Self { what, tree, root, segments }))
    }
}

impl CollectiveAlgorithm for TreeAlgorithm {
    fn blocks(&self, _: u32) -> u64 {
        self.segments
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn AlgorithmStepSink) {
        let place = self.tree.rooted(self.root, rank, ranks);
        if matches!(self.what, TreeOperation::Broadcast | TreeOperation::Reduce) {
            for segment in 0..self.segments {
                // each segment has its own tag, so that none matches another's receive
                let tag = segment as u32;
                if self.what == TreeOperation::Broadcast {
                    down(&place, tag, &[segment], None, to);
                } else {
                    up(&place, tag, &[segment], to);
                }
            }
            return;
        }
        let blocks = |of: u32| {
            let seen = self.tree.under(seen_from(self.root, of, ranks), ranks);
            seen.into_iter().map(|b| u64::from((b + self.root) % ranks))
        };
        if self.what == TreeOperation::Gather {
            let mut came = Vec::new();
            for &child in place.below.iter().rev() {
                came.push(to.recv(child, 0, &mut blocks(child), ReceivedBlockEffect::Store));
            }
            if let Some(above) = place.above {
                let step = to.send(above, 0, &mut blocks(rank));
                for before in came {
                    to.after(step, before);
                }
            }
            return;
        }
        let mut chain = AlgorithmStepChain::new(to);
        if let Some(above) = place.above {
            chain.exchange(None, Some((above, &mut blocks(rank), ReceivedBlockEffect::Store)));
        }
        for child in place.below {
            chain.exchange(Some((child, &mut blocks(child))), None);
        }
    }
}
