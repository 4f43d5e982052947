//! What goes along a tree with a root: blocks of one vector down or up it, segment by segment, or a
//! block for every rank.

use super::kind::{Algorithm, How, Steps};
use super::trees::{Chain, Tree, down, seen_from, up};
use crate::workload::keys::{Asked, Key};
use base::Stop;

/// Parts of a vector.
pub(super) const SEGMENTS: Key =
    Key::whole("segments", "parts that are passed on by themselves", 8, (1, 1 << 20));

/// What is done along the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Broadcast,
    Reduce,
    Gather,
    Scatter,
}

/// An operation along a tree.
pub(super) struct Rooted {
    what: What,
    tree: Tree,
    root: u32,
    segments: u64,
}

impl Rooted {
    /// With the key `root`.
    pub(super) fn made(what: What, tree: Tree, asked: &Asked<'_>) -> Made {
        Ok(Box::new(Self { what, tree, root: asked.rank("root")?, segments: 1 }))
    }

    /// With the keys `root` and `segments`.
    pub(super) fn in_segments(what: What, tree: Tree, asked: &Asked<'_>) -> Made {
        let (root, segments) = (asked.rank("root")?, asked.whole("segments")?);
        Ok(Box::new(Self { what, tree, root, segments }))
    }
}

/// An algorithm, or why there is none.
pub(super) type Made = Result<Box<dyn Algorithm>, Stop>;

impl Algorithm for Rooted {
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
