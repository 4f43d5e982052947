//! Disjoint sets, which record which switches are connected as links are added.
//!
//! Source: Tarjan & van Leeuwen, "Worst-case analysis of set union algorithms", J. ACM 1984 (union
//! by size, path halving).

/// A partition of `0..n` whose parts can be joined.
pub(super) struct DisjointSets {
    /// The parent of each member; a root is its own parent.
    parent: Vec<u32>,
    size: Vec<u32>,
}

impl DisjointSets {
    /// A partition in which every member is alone.
    pub(super) fn new(members: usize) -> Self {
        Self { parent: (0..members as u32).collect(), size: vec![1; members] }
    }

    /// The representative of the part of `v`.
    pub(super) fn root(&mut self, v: u32) -> u32 {
        let mut v = v;
        while self.parent[v as usize] != v {
            let above = self.parent[self.parent[v as usize] as usize];
            self.parent[v as usize] = above;
            v = above;
        }
        v
    }

    /// The number of members of the part of `v`.
    pub(super) fn size(&mut self, v: u32) -> u64 {
        let root = self.root(v);
        self.size[root as usize].into()
    }

    /// Joins the parts of `a` and `b`. If they were different, returns the root of the joined part,
    /// and the former root of the other part.
    pub(super) fn join(&mut self, a: u32, b: u32) -> Option<(u32, u32)> {
        let (mut a, mut b) = (self.root(a), self.root(b));
        if a == b {
            return None;
        }
        if self.size[a as usize] < self.size[b as usize] {
            std::mem::swap(&mut a, &mut b);
        }
        self.parent[b as usize] = a;
        self.size[a as usize] += self.size[b as usize];
        Some((a, b))
    }
}
