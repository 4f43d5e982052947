//! What goes along a tree with a root: blocks of one vector down or up it, segment by segment, or a
//! block for every rank.

use super::kind::{Algorithm, AlgorithmResult, How, Root, Rooted, Steps};
use super::trees::{Chain, Tree, down, seen_from, up};
use crate::workload::WorkloadRequest;
use base::fields::whole;
use schemars::JsonSchema;
use serde::Deserialize;

/// The parameters of what goes along a tree in segments.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Segmented {
    #[serde(default)]
    #[expect(dead_code, reason = "Rooted reads it")]
    root: Root,
    /// Parts of the vector that are passed on by themselves.
    #[serde(default = "whole::<8>")]
    #[schemars(range(min = 1, max = 1 << 20))]
    segments: u64,
}

/// What is done along the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Broadcast,
    Reduce,
    Gather,
    Scatter,
}

/// An operation along a tree.
pub(super) struct AlongTree {
    what: What,
    tree: Tree,
    root: u32,
    segments: u64,
}

impl AlongTree {
    /// With the parameters of [`Rooted`].
    pub(super) fn made(what: What, tree: Tree, request: &WorkloadRequest<'_>) -> AlgorithmResult {
        Ok(Box::new(Self { what, tree, root: Rooted::asked(request)?, segments: 1 }))
    }

    /// With the parameters of [`Segmented`].
    pub(super) fn in_segments(
        what: What,
        tree: Tree,
        request: &WorkloadRequest<'_>,
    ) -> AlgorithmResult {
        let (root, Segmented { segments, .. }) = (Rooted::asked(request)?, request.read()?);
        Ok(Box::new(Self { what, tree, root, segments }))
    }
}

impl Algorithm for AlongTree {
    fn blocks(&self, _: u32) -> u64 {
        self.segments
    }

    fn tell(&self, rank: u32, ranks: u32, to: &mut dyn Steps) {
        let place = self.tree.rooted(self.root, rank, ranks);
        if matches!(self.what, What::Broadcast | What::Reduce) {
            for segment in 0..self.segments {
                // a tag for each, so that none can be taken for another
                let tag = segment as u32;
                if self.what == What::Broadcast {
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
        if self.what == What::Gather {
            let mut came = Vec::new();
            for &child in place.below.iter().rev() {
                came.push(to.recv(child, 0, &mut blocks(child), How::Store));
            }
            if let Some(above) = place.above {
                let step = to.send(above, 0, &mut blocks(rank));
                for before in came {
                    to.after(step, before);
                }
            }
            return;
        }
        let mut chain = Chain::new(to);
        if let Some(above) = place.above {
            chain.exchange(None, Some((above, &mut blocks(rank), How::Store)));
        }
        for child in place.below {
            chain.exchange(Some((child, &mut blocks(child))), None);
        }
    }
}
