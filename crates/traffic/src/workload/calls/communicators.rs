//! The communicators of a trace, and the communicator that each process means by a handle.

use super::{CommunicatorCreation, CommunicatorMembership, NamedCommunicator, placed};
use base::Refusal;
use std::collections::{BTreeMap, HashMap};

/// The ranks of a communicator, as ranks of `MPI_COMM_WORLD` in the communicator's order.
pub(super) type CommunicatorMembers = Vec<u32>;

/// A communicator, by its number, and the rank that a process has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommunicatorRank {
    pub(super) comm: u32,
    pub(super) me: u32,
}

/// All communicators; number 0 is `MPI_COMM_WORLD`.
#[derive(Debug)]
pub(super) struct CommunicatorTable {
    pub(super) members: Vec<CommunicatorMembers>,
    /// The sides of those communicators that are grids.
    grids: HashMap<u32, Vec<u32>>,
}

/// The communicators that one process knows.
#[derive(Debug, Default)]
pub(super) struct KnownCommunicators {
    named: HashMap<u64, CommunicatorRank>,
    /// Communicators that were created and that no call has named yet; each with the handle, or the
    /// address of its variable, that its creator gave.
    fresh: Vec<(u64, CommunicatorRank)>,
}

impl CommunicatorTable {
    /// The communicators of a run of `ranks` ranks at its start: only `MPI_COMM_WORLD`.
    pub(super) fn new(ranks: u32) -> Self {
        Self { members: vec![(0..ranks).collect()], grids: HashMap::new() }
    }

    /// The number of ranks in a communicator.
    pub(super) fn size(&self, comm: u32) -> u32 {
        self.members[comm as usize].len() as u32
    }

    /// The communicator that rank `of` of `MPI_COMM_WORLD` means by `said`.
    ///
    /// A handle is known from the call that created it. If that call gave only the address of a
    /// variable, the first communicator of this shape that no call has named yet is meant.
    /// Otherwise it is `MPI_COMM_WORLD`, or `MPI_COMM_SELF`.
    ///
    /// # Errors
    /// When no communicator fits, or the handle belongs to one of another shape.
    pub(super) fn meant(
        &mut self,
        known: &mut KnownCommunicators,
        of: u32,
        said: &NamedCommunicator,
    ) -> Result<CommunicatorRank, Refusal> {
        let (me, size) = match said.shape {
            CommunicatorMembership::Of(me, size) => (me, size),
            CommunicatorMembership::All => return Ok(CommunicatorRank { comm: 0, me: of }),
            CommunicatorMembership::Alone => return Ok(self.alone(known, of, said.handle)),
            CommunicatorMembership::Unsaid => return known.by_handle(said.handle),
        };
        if let Some(&place) = known.named.get(&said.handle) {
            if place.me == me && self.size(place.comm) == size {
                return Ok(place);
            }
            // a handle may be reused once its communicator has been freed
            if known.fresh.is_empty() {
                let why = format!(
                    "communicator {} has rank {me} of {size} here, and before rank {} of {}",
                    said.handle,
                    place.me,
                    self.size(place.comm)
                );
                return Err(Refusal::new("", why, "the same throughout, unless it is made anew"));
            }
        }
        let fits = |place: &CommunicatorRank| place.me == me && self.size(place.comm) == size;
        let by_handle = known.fresh.iter().position(|(h, p)| *h == said.handle && fits(p));
        let found = by_handle.or_else(|| known.fresh.iter().position(|(_, p)| fits(p)));
        let place = match found {
            Some(at) => known.fresh.remove(at).1,
            None if me == of && size == self.size(0) => CommunicatorRank { comm: 0, me },
            None if (me, size) == (0, 1) => {
                self.members.push(vec![of]);
                CommunicatorRank { comm: self.members.len() as u32 - 1, me: 0 }
            }
            None => {
                let why = format!("communicator {}, rank {me} of {size}, is unknown", said.handle);
                let help = format!("one that was made before, or rank {of} of {}", self.size(0));
                return Err(Refusal::new("", why, help));
            }
        };
        known.named.insert(said.handle, place);
        Ok(place)
    }

    /// The communicator of rank `of` alone.
    fn alone(&mut self, known: &mut KnownCommunicators, of: u32, handle: u64) -> CommunicatorRank {
        *known.named.entry(handle).or_insert_with(|| {
            self.members.push(vec![of]);
            CommunicatorRank { comm: self.members.len() as u32 - 1, me: 0 }
        })
    }

    /// Creates the communicators that the ranks of `parent` request. Returns for each rank the
    /// communicator and its rank there; none if it is in no new one.
    ///
    /// # Errors
    /// When the requests differ, or name ranks that do not exist.
    pub(super) fn make(
        &mut self,
        parent: u32,
        asked: &[CommunicatorCreation],
    ) -> Result<Vec<Option<CommunicatorRank>>, Refusal> {
        let (groups, grid) = self.groups(parent, asked)?;
        let old = self.members[parent as usize].clone();
        let mut places = vec![None; old.len()];
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let comm = self.members.len() as u32;
            for (me, &rank) in (0..).zip(group) {
                places[rank as usize] = Some(CommunicatorRank { comm, me });
            }
            self.members.push(group.iter().map(|&rank| old[rank as usize]).collect());
            if let Some(sizes) = &grid {
                self.grids.insert(comm, sizes.clone());
            }
        }
        Ok(places)
    }

    /// The groups of the communicators that the ranks of `parent` request, as ranks of `parent`;
    /// and for each group the sides of its grid, if it is one.
    ///
    /// # Errors
    /// As [`CommunicatorTable::make`].
    fn groups(
        &self,
        parent: u32,
        asked: &[CommunicatorCreation],
    ) -> Result<(Vec<CommunicatorMembers>, Option<Vec<u32>>), Refusal> {
        let old = &self.members[parent as usize];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut grid = None;
        let agreed = |what: &str| {
            if asked.iter().all(|other| *other == asked[0]) {
                return Ok(());
            }
            Err(Refusal::new("", format!("its ranks name different {what}"), "the same"))
        };
        match &asked[0] {
            CommunicatorCreation::Copy => {
                groups.push((0..old.len() as u32).collect());
                grid = self.grids.get(&parent).cloned();
            }
            CommunicatorCreation::Grid(sizes) => {
                agreed("grids")?;
                let ranks = sizes.iter().try_fold(1_u32, |ranks, &size| ranks.checked_mul(size));
                let Some(ranks) = ranks.filter(|&ranks| ranks as usize <= old.len()) else {
                    let help = format!("{} ranks at most", old.len());
                    return Err(Refusal::new("", format!("a grid of {sizes:?}"), help));
                };
                groups.push((0..ranks).collect());
                grid = Some(sizes.clone());
            }
            CommunicatorCreation::Slice(stays) => {
                agreed("slices")?;
                let sizes = self.grids.get(&parent).filter(|sizes| sizes.len() == stays.len());
                let Some(sizes) = sizes else {
                    let why = format!("a slice of {} coordinates", stays.len());
                    return Err(Refusal::new("", why, "as many as the communicator's grid has"));
                };
                let mut slices: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
                for rank in 0..old.len() as u32 {
                    slices.entry(slice_of(rank, sizes, stays)).or_default().push(rank);
                }
                groups.extend(slices.into_values());
                let kept = sizes.iter().zip(stays).filter(|(_, stays)| **stays);
                grid = Some(kept.map(|(&size, _)| size).collect());
            }
            CommunicatorCreation::Group(ranks) => {
                let mut sorted = ranks.clone();
                sorted.sort_unstable();
                let twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
                if twice || sorted.last().is_some_and(|&last| last as usize >= old.len()) {
                    let help = format!("ranks 0 to {}, each once", old.len() - 1);
                    return Err(Refusal::new("", format!("a group of ranks {ranks:?}"), help));
                }
                agreed("groups")?;
                groups.push(ranks.clone());
            }
            CommunicatorCreation::Placed(_) | CommunicatorCreation::SlicePlaced(_) => {
                groups = placed::groups(asked)?;
            }
            CommunicatorCreation::Split(..) => {
                let mut colours: BTreeMap<u32, Vec<(i64, u32)>> = BTreeMap::new();
                for (rank, one) in (0..).zip(asked) {
                    if let CommunicatorCreation::Split(Some(colour), key) = one {
                        colours.entry(*colour).or_default().push((*key, rank));
                    }
                }
                for mut group in colours.into_values() {
                    group.sort_unstable();
                    groups.push(group.into_iter().map(|(_, rank)| rank).collect());
                }
            }
        }
        Ok((groups, grid))
    }
}

/// The number of the slice of a grid that a rank is in, from its coordinates that are not kept.
fn slice_of(rank: u32, sizes: &[u32], stays: &[bool]) -> u32 {
    let (mut left, mut slice, mut unit) = (rank, 0, 1);
    for (&size, stays) in sizes.iter().zip(stays).rev() {
        let at = left % size;
        left /= size;
        if !stays {
            slice += at * unit;
            unit *= size;
        }
    }
    slice
}

impl KnownCommunicators {
    /// The communicator that has this handle.
    ///
    /// # Errors
    /// When no communicator was created with it.
    fn by_handle(&mut self, handle: u64) -> Result<CommunicatorRank, Refusal> {
        if let Some(at) = self.fresh.iter().position(|(known, _)| *known == handle) {
            let (_, place) = self.fresh.remove(at);
            self.named.insert(handle, place);
        }
        self.named.get(&handle).copied().ok_or_else(|| {
            let why = format!("communicator {handle} is unknown: no call before has made it");
            Refusal::new(
                "",
                why,
                "a trace of the whole run, with all calls that make communicators",
            )
        })
    }

    /// Records that a communicator was created; `said` is its handle or the address of its
    /// variable.
    pub(super) fn made(&mut self, said: u64, place: CommunicatorRank) {
        self.named.remove(&said);
        self.fresh.push((said, place));
    }

    /// Forgets a handle that was freed.
    pub(super) fn freed(&mut self, handle: u64) {
        self.named.remove(&handle);
    }
}
