//! The communicators of a trace, and which of them each process means by a handle.

use super::{CommunicatorCreation, CommunicatorShape, NamedCommunicator, placed};
use base::Refusal;
use std::collections::{BTreeMap, HashMap};

/// Ranks of a communicator by their ranks among all, in its order.
pub(super) type CommunicatorMembers = Vec<u32>;

/// A communicator by its number, and the rank that a process has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommunicatorRank {
    pub(super) comm: u32,
    pub(super) me: u32,
}

/// All communicators; number 0 has everybody.
#[derive(Debug)]
pub(super) struct Communicators {
    pub(super) members: Vec<CommunicatorMembers>,
    /// Sizes of those that are grids.
    grids: HashMap<u32, Vec<u32>>,
}

/// The communicators that one process knows.
#[derive(Debug, Default)]
pub(super) struct KnownCommunicators {
    named: HashMap<u64, CommunicatorRank>,
    /// Made, and not named by a call so far: what its maker said, which.
    fresh: Vec<(u64, CommunicatorRank)>,
}

impl Communicators {
    /// That of all `ranks`.
    pub(super) fn new(ranks: u32) -> Self {
        Self { members: vec![(0..ranks).collect()], grids: HashMap::new() }
    }

    /// How many ranks one has.
    pub(super) fn size(&self, comm: u32) -> u32 {
        self.members[comm as usize].len() as u32
    }

    /// The one that rank `of` of all means by `said`.
    ///
    /// A handle is known by the call that made it; or where that gives the place of a variable, it
    /// is the first made of this shape that no call named yet; else that of all, or that of
    /// the process alone.
    ///
    /// # Errors
    /// When it can be none, or another of that handle has another shape.
    pub(super) fn meant(
        &mut self,
        known: &mut KnownCommunicators,
        of: u32,
        said: &NamedCommunicator,
    ) -> Result<CommunicatorRank, Refusal> {
        let (me, size) = match said.shape {
            CommunicatorShape::Of(me, size) => (me, size),
            CommunicatorShape::All => return Ok(CommunicatorRank { comm: 0, me: of }),
            CommunicatorShape::Alone => return Ok(self.alone(known, of, said.handle)),
            CommunicatorShape::Unsaid => return known.by_handle(said.handle),
        };
        if let Some(&place) = known.named.get(&said.handle) {
            if place.me == me && self.size(place.comm) == size {
                return Ok(place);
            }
            // a handle may be given again once its communicator is no more
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

    /// That of rank `of` alone.
    fn alone(&mut self, known: &mut KnownCommunicators, of: u32, handle: u64) -> CommunicatorRank {
        *known.named.entry(handle).or_insert_with(|| {
            self.members.push(vec![of]);
            CommunicatorRank { comm: self.members.len() as u32 - 1, me: 0 }
        })
    }

    /// Makes what the ranks of `parent` ask for; of each rank in it where it is then.
    ///
    /// # Errors
    /// When they do not ask for the same, or for ranks that there are not.
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

    /// Who are together in what the ranks of `parent` ask for, by their ranks in it; and the sizes
    /// of the grid that each of these is.
    ///
    /// # Errors
    /// As [`Communicators::make`].
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

/// Which slice of a grid a rank is in: a number of the coordinates that do not stay.
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
    /// The one that has this handle.
    ///
    /// # Errors
    /// When none was made.
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

    /// A communicator was made whose handle, or its variable, is `said`.
    pub(super) fn made(&mut self, said: u64, place: CommunicatorRank) {
        self.named.remove(&said);
        self.fresh.push((said, place));
    }

    /// A handle means nothing any more.
    pub(super) fn freed(&mut self, handle: u64) {
        self.named.remove(&handle);
    }
}
