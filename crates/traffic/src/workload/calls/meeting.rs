//! A meeting: a collective operation that all ranks of a communicator call, and the arguments on
//! which they must agree.

use super::communicators::CommunicatorRank;
use super::parameters::CallReplayParameters;
use super::{CollectiveBytes, CommunicatorCreation, TracedCollectiveCall};
use crate::workload::collective::{CollectiveCall, CollectiveOperation};
use crate::workload::parameters::MOST_BYTES;
use base::{ComputationError, Refusal};

/// A process that comes to a meeting: its rank in `MPI_COMM_WORLD` and its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CollectiveCaller {
    pub(super) rank: u32,
    pub(super) call: usize,
}

/// A mismatch of two calls of a meeting; the first call that came is part of the error.
pub(super) struct CollectiveCallMismatch {
    pub(super) here: String,
    pub(super) there: String,
}

/// The kind of a meeting, on which all its calls must agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatchedCollectiveKind {
    /// A collective operation with its root (none if it has no root), and whether it is
    /// nonblocking.
    Operation(CollectiveOperation, Option<u32>, bool),
    /// The creation of communicators; the number is the kind of creation, such as copy or split.
    Make(u8),
}

impl MatchedCollectiveKind {
    /// The kind of a meeting that creates communicators.
    pub(super) fn of(make: &CommunicatorCreation) -> Self {
        Self::Make(match make {
            CommunicatorCreation::Copy => 0,
            CommunicatorCreation::Split(..) => 1,
            CommunicatorCreation::Group(_) | CommunicatorCreation::Placed(_) => 2,
            CommunicatorCreation::Grid(_) => 3,
            CommunicatorCreation::Slice(_) | CommunicatorCreation::SlicePlaced(_) => 4,
        })
    }

    fn described(self) -> String {
        match self {
            Self::Make(0) => "the making of a copy".to_owned(),
            Self::Make(1) => "a split".to_owned(),
            Self::Make(2) => "the making of a group's communicator".to_owned(),
            Self::Make(3) => "the making of a grid".to_owned(),
            Self::Make(_) => "the slicing of a grid".to_owned(),
            Self::Operation(operation, root, later) => {
                let root = root.map_or(String::new(), |root| format!(" of root {root}"));
                let later = if later { "nonblocking " } else { "" };
                format!("{later}{}{root}", operation.name())
            }
        }
    }
}

/// A meeting of all ranks of a communicator.
#[derive(Debug)]
pub(super) struct MatchedCollectiveCalls {
    pub(super) comm: u32,
    pub(super) kind: MatchedCollectiveKind,
    pub(super) first: CollectiveCaller,
    /// For each rank of the communicator, whether it has come.
    came: Vec<bool>,
    missing: u32,
    same: Option<u64>,
    each: Option<Vec<u64>>,
    own: Vec<Option<u64>>,
    rows: Vec<Option<Vec<u64>>>,
    asked: Vec<CommunicatorCreation>,
    /// For each rank, its new communicator and its rank there; none until communicators are
    /// created.
    pub(super) made: Option<Vec<Option<CommunicatorRank>>>,
}

impl MatchedCollectiveCalls {
    /// A meeting of `size` ranks that no rank has come to yet; `first` is the first caller.
    pub(super) fn new(
        comm: u32,
        size: u32,
        kind: MatchedCollectiveKind,
        first: CollectiveCaller,
    ) -> Self {
        Self {
            comm,
            kind,
            first,
            came: vec![false; size as usize],
            missing: size,
            same: None,
            each: None,
            own: Vec::new(),
            rows: Vec::new(),
            asked: Vec::new(),
            made: None,
        }
    }

    /// The first rank of the communicator that has not come; none if all have.
    pub(super) fn absent(&self) -> Option<u32> {
        (0..).zip(&self.came).find(|(_, came)| !**came).map(|(rank, _)| rank)
    }

    /// Whether all ranks have come.
    pub(super) fn is_full(&self) -> bool {
        self.missing == 0
    }

    fn come(&mut self, me: u32, kind: MatchedCollectiveKind) -> Result<(), CollectiveCallMismatch> {
        if kind != self.kind {
            return Err(CollectiveCallMismatch {
                here: kind.described(),
                there: self.kind.described(),
            });
        }
        self.came[me as usize] = true;
        self.missing -= 1;
        Ok(())
    }

    /// Adds rank `me`, which comes to create communicators.
    ///
    /// # Errors
    /// When the others do something else.
    pub(super) fn make(
        &mut self,
        me: u32,
        make: &CommunicatorCreation,
    ) -> Result<(), CollectiveCallMismatch> {
        self.come(me, MatchedCollectiveKind::of(make))?;
        self.asked.resize(self.came.len(), CommunicatorCreation::Copy);
        self.asked[me as usize] = make.clone();
        Ok(())
    }

    /// The creations that the ranks requested, by rank.
    pub(super) fn asked(&self) -> &[CommunicatorCreation] {
        &self.asked
    }

    /// Adds rank `me`, which comes to a collective operation.
    ///
    /// # Errors
    /// When the others do something else, or have other sizes.
    pub(super) fn join(
        &mut self,
        me: u32,
        joint: &TracedCollectiveCall,
        later: bool,
    ) -> Result<(), CollectiveCallMismatch> {
        self.come(me, MatchedCollectiveKind::Operation(joint.operation, joint.root, later))?;
        let size = self.came.len();
        let bytes = |n: u64| format!("{n} bytes");
        match &joint.sizes {
            CollectiveBytes::Same(bytes_here) => match self.same {
                Some(there) if there != *bytes_here => {
                    return Err(CollectiveCallMismatch {
                        here: bytes(*bytes_here),
                        there: bytes(there),
                    });
                }
                _ => self.same = Some(*bytes_here),
            },
            CollectiveBytes::Own(bytes) => {
                self.own.resize(size, None);
                self.own[me as usize] = Some(*bytes);
            }
            CollectiveBytes::Each(all) if all.len() != size => {
                let there = format!("{size} ranks are in the communicator");
                return Err(CollectiveCallMismatch {
                    here: format!("{} blocks", all.len()),
                    there,
                });
            }
            CollectiveBytes::Each(row) if joint.operation == CollectiveOperation::Alltoallv => {
                self.rows.resize(size, None);
                self.rows[me as usize] = Some(row.clone());
            }
            CollectiveBytes::Each(all) => match &self.each {
                Some(there) if there != all => {
                    let here = format!("blocks of {all:?} bytes");
                    return Err(CollectiveCallMismatch {
                        here,
                        there: format!("blocks of {there:?}"),
                    });
                }
                _ => self.each = Some(all.clone()),
            },
        }
        Ok(())
    }

    /// The collective operation of the meeting, over `copies` times as many ranks if the
    /// communicator is `MPI_COMM_WORLD`; none if the meeting creates communicators.
    ///
    /// # Errors
    /// When the sizes do not agree, or the algorithm does not support this number of ranks.
    pub(super) fn call(
        &self,
        with: &CallReplayParameters,
        copies: u32,
    ) -> Result<Option<CollectiveCall>, ComputationError> {
        let MatchedCollectiveKind::Operation(operation, root, _) = self.kind else {
            return Ok(None);
        };
        let size = self.came.len() as u32;
        let (ranks, root) = (size * copies, root.unwrap_or(0));
        if !self.rows.is_empty() {
            let rounds =
                with.algorithm(CollectiveOperation::Alltoallv, true) == "alltoallv_pairwise";
            let bytes = |from: u32, to: u32| {
                let row = self.rows[(from % size) as usize].as_ref();
                row.map_or(0, |row| row[(to % size) as usize])
            };
            return Ok(Some(CollectiveCall::exchange(ranks, &bytes, rounds, with.keeps_empty())));
        }
        if self.each.is_none() && self.own.is_empty() {
            let bytes = small(self.same.unwrap_or(0))?;
            return with.call(operation, ranks, root, Some(bytes)).map(Some);
        }
        if self.same.is_some() {
            let why = "some ranks give one size, and others one for each rank";
            return Err(Refusal::new("", why, "the same call at all").into());
        }
        let mut sizes = Vec::with_capacity(size as usize);
        for rank in 0..size as usize {
            let own = self.own.get(rank).copied().flatten();
            let listed = self.each.as_ref().map(|all| all[rank]);
            let is_root = rank as u32 == root && self.kind_has_root();
            match (listed, own) {
                (Some(a), Some(b)) if a != b && !is_root => {
                    let why = format!("rank {rank} has a block of {b} bytes, and {a} are said");
                    return Err(Refusal::new("", why, "the same").into());
                }
                (Some(bytes), _) | (None, Some(bytes)) => sizes.push(small(bytes)?),
                (None, None) => {
                    let why = format!("nobody says how long the block of rank {rank} is");
                    return Err(Refusal::new("", why, "a trace with the lists of counts").into());
                }
            }
        }
        let call = with.call(operation, ranks, root, None)?;
        Ok(Some(call.with_sizes(sizes)))
    }

    fn kind_has_root(&self) -> bool {
        matches!(self.kind, MatchedCollectiveKind::Operation(_, Some(_), _))
    }
}

fn small(bytes: u64) -> Result<u64, Refusal> {
    if bytes <= MOST_BYTES {
        return Ok(bytes);
    }
    Err(Refusal::new("", format!("{bytes} bytes"), format!("{MOST_BYTES} at most")))
}
