//! The communicators of a trace, and which of them each process means by a handle.

use super::{Comm, Make};
use base::Refusal;
use std::collections::{BTreeMap, HashMap};

/// Ranks of a communicator by their ranks among all, in its order.
pub(super) type Members = Vec<u32>;

/// A communicator by its number, and the rank that a process has in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) comm: u32,
    pub(super) me: u32,
}

/// All communicators; number 0 has everybody.
#[derive(Debug)]
pub(super) struct Communicators {
    pub(super) members: Vec<Members>,
}

/// What one process knows of them.
#[derive(Debug, Default)]
pub(super) struct Known {
    named: HashMap<u64, Place>,
    /// Made, and not named by a call so far: what its maker said, which.
    fresh: Vec<(u64, Place)>,
}

impl Communicators {
    /// That of all `ranks`.
    pub(super) fn new(ranks: u32) -> Self {
        Self { members: vec![(0..ranks).collect()] }
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
        known: &mut Known,
        of: u32,
        said: &Comm,
    ) -> Result<Place, Refusal> {
        let (me, size) = said.shape;
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
        let fits = |place: &Place| place.me == me && self.size(place.comm) == size;
        let by_handle = known.fresh.iter().position(|(h, p)| *h == said.handle && fits(p));
        let found = by_handle.or_else(|| known.fresh.iter().position(|(_, p)| fits(p)));
        let place = match found {
            Some(at) => known.fresh.remove(at).1,
            None if me == of && size == self.size(0) => Place { comm: 0, me },
            None if (me, size) == (0, 1) => {
                self.members.push(vec![of]);
                Place { comm: self.members.len() as u32 - 1, me: 0 }
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

    /// Makes what the ranks of `parent` ask for; of each rank in it where it is then.
    ///
    /// # Errors
    /// When they do not ask for the same, or for ranks that there are not.
    pub(super) fn make(
        &mut self,
        parent: u32,
        asked: &[Make],
    ) -> Result<Vec<Option<Place>>, Refusal> {
        let old = &self.members[parent as usize];
        let mut groups: Vec<Vec<u32>> = Vec::new();
        match &asked[0] {
            Make::Copy => groups.push((0..old.len() as u32).collect()),
            Make::Group(ranks) => {
                let mut sorted = ranks.clone();
                sorted.sort_unstable();
                let twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
                if twice || sorted.last().is_some_and(|&last| last as usize >= old.len()) {
                    let help = format!("ranks 0 to {}, each once", old.len() - 1);
                    return Err(Refusal::new("", format!("a group of ranks {ranks:?}"), help));
                }
                if asked.iter().any(|other| *other != asked[0]) {
                    return Err(Refusal::new("", "its ranks name different groups", "the same"));
                }
                groups.push(ranks.clone());
            }
            Make::Split(..) => {
                let mut colours: BTreeMap<u32, Vec<(i64, u32)>> = BTreeMap::new();
                for (rank, one) in (0..).zip(asked) {
                    if let Make::Split(Some(colour), key) = one {
                        colours.entry(*colour).or_default().push((*key, rank));
                    }
                }
                for mut group in colours.into_values() {
                    group.sort_unstable();
                    groups.push(group.into_iter().map(|(_, rank)| rank).collect());
                }
            }
        }
        let old = old.clone();
        let mut places = vec![None; old.len()];
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let comm = self.members.len() as u32;
            for (me, &rank) in (0..).zip(group) {
                places[rank as usize] = Some(Place { comm, me });
            }
            self.members.push(group.iter().map(|&rank| old[rank as usize]).collect());
        }
        Ok(places)
    }
}

impl Known {
    /// A communicator was made whose handle, or its variable, is `said`.
    pub(super) fn made(&mut self, said: u64, place: Place) {
        self.named.remove(&said);
        self.fresh.push((said, place));
    }

    /// A handle means nothing any more.
    pub(super) fn freed(&mut self, handle: u64) {
        self.named.remove(&handle);
    }
}
