//! The groups of communicators for which the trace gives only each process's rank in its own.

use super::{CommunicatorCreation, RankInCommunicator};
use base::Refusal;

/// The groups of the ranks that request this creation, each in its order. If no call names the new
/// communicator, there are no groups.
///
/// # Errors
/// When no division into groups is possible, or more than one is.
pub(super) fn groups(asked: &[CommunicatorCreation]) -> Result<Vec<Vec<u32>>, Refusal> {
    let mut places = Vec::with_capacity(asked.len());
    let mut is_grid = false;
    for make in asked {
        places.push(match make {
            CommunicatorCreation::Placed(place) => *place,
            CommunicatorCreation::SlicePlaced(place) => {
                is_grid = true;
                *place
            }
            _ => None,
        });
    }
    if places.iter().all(Option::is_none) {
        return Ok(Vec::new());
    }
    if is_grid { slices(&places) } else { group(&places) }
}

/// The only group, in the order of the ranks in it.
fn group(places: &[Option<RankInCommunicator>]) -> Result<Vec<Vec<u32>>, Refusal> {
    let named = || (0..).zip(places).filter_map(|(rank, place)| Some((rank, (*place)?)));
    let size = named().map(|(_, place)| place.size).max().unwrap_or(0);
    if size as usize > places.len() {
        let why = format!("the new communicator has {size} ranks");
        return Err(Refusal::new("", why, format!("{} at most", places.len())));
    }
    let mut members = vec![None; size as usize];
    for (rank, place) in named() {
        let there = members.get_mut(place.me as usize).filter(|_| place.size == size);
        if there.and_then(|there| there.replace(rank)).is_some() || place.size != size {
            let why = "its ranks are in several groups, and the trace does not say which is in \
                       which";
            return Err(Refusal::new("", why, "one group, or MPI_Comm_split"));
        }
    }
    if let Some(me) = members.iter().position(Option::is_none) {
        let why = format!("no call names the new communicator as rank {me} of its {size}");
        return Err(Refusal::new("", why, "a trace in which all of its ranks use it, or none"));
    }
    Ok(vec![members.into_iter().flatten().collect()])
}

/// The slices of a grid. Kept and dropped coordinates alternate, as far as can be seen: the size of
/// each is the number of steps after which the rank in the slice changes its pattern.
fn slices(places: &[Option<RankInCommunicator>]) -> Result<Vec<Vec<u32>>, Refusal> {
    let help = "a trace in which all ranks use their slice, or none";
    let all: Option<Vec<RankInCommunicator>> = places.iter().copied().collect();
    let Some(all) = all else {
        let rank = places.iter().position(Option::is_none).unwrap_or(0);
        let why = format!("rank {rank} of the grid names its slice in no call");
        return Err(Refusal::new("", why, help));
    };
    let size = all[0].size;
    let unlike = || {
        let why = "the places of the ranks in their slices are none of a grid's in its order";
        Refusal::new("", why, "slices of a grid whose ranks are in the order of the processes")
    };
    if all.iter().any(|place| place.size != size || place.me >= size) {
        return Err(unlike());
    }
    // `left` is what remains of each rank in its slice, while coordinates are removed from the
    // fastest on
    let mut left: Vec<u32> = all.iter().map(|place| place.me).collect();
    let mut slice = vec![0; left.len()];
    let (mut unit, mut step) = (1, 1);
    while left.len() > 1 {
        let stays = left[1] == 1;
        let same = |(at, &me): (usize, &u32)| me == if stays { at as u32 } else { 0 };
        let extent = left.iter().enumerate().take_while(|one| same(*one)).count();
        if extent < 2 || !left.len().is_multiple_of(extent) {
            return Err(unlike());
        }
        let by = if stays { extent as u32 } else { 1 };
        for block in left.chunks(extent) {
            let is_first = !stays || block[0].is_multiple_of(by);
            let goes_on = (0..).zip(block).all(|(at, &me)| me == block[0] + at * u32::from(stays));
            if !is_first || !goes_on {
                return Err(unlike());
            }
        }
        if !stays {
            for (rank, slice) in slice.iter_mut().enumerate() {
                *slice += rank / step % extent * unit;
            }
            unit *= extent;
        }
        left = left.chunks(extent).map(|block| block[0] / by).collect();
        step *= extent;
    }
    if left != [0] || unit * size as usize != all.len() {
        return Err(unlike());
    }
    let mut groups = vec![Vec::new(); unit];
    for (rank, slice) in (0..).zip(slice) {
        groups[slice].push(rank);
    }
    Ok(groups)
}
