//! Communicators of which a line says the address of a variable only: where the process is in them
//! is said by the calls that name them later.

use std::collections::HashMap;
use traffic::workload::calls::{Called, Comm, Make, Shape, What, Within};

/// A communicator that was made, and no call has named so far.
struct NewCommunicator {
    /// The call that made it.
    call: usize,
    /// Where the process is in it, where that is known.
    within: Option<Within>,
}

/// Where the process is in what `MPI_Comm_create` and `MPI_Cart_sub` make: the first handle that is
/// new after the call names it, if that is none of which the place is known, and none older.
pub(super) fn place(calls: &mut [Called]) {
    let mut known: HashMap<u64, Within> = HashMap::new();
    let mut fresh: Vec<NewCommunicator> = Vec::new();
    for at in 0..calls.len() {
        if let Some((handle, within)) = named(&calls[at].what)
            && known.insert(handle, within) != Some(within)
        {
            let fits = fresh.iter().position(|one| one.within == Some(within));
            let found = fits.or_else(|| fresh.iter().position(|one| one.within.is_none()));
            if let Some(found) = found {
                settle(&mut calls[fresh.remove(found).call].what, within);
            }
        }
        if let What::Make(parent, make, _) = &calls[at].what {
            let there = within(parent);
            let within = match make {
                Make::Placed(place) | Make::SlicePlaced(place) => *place,
                Make::Copy => there,
                Make::Grid(sizes) => {
                    let size = sizes.iter().product();
                    let Some(place) = there.filter(|place| place.me < size) else { continue };
                    Some(Within { size, ..place })
                }
                // the process is in none
                Make::Split(None, _) => continue,
                Make::Split(..) | Make::Group(_) | Make::Slice(_) => None,
            };
            fresh.push(NewCommunicator { call: at, within });
        }
    }
}

fn settle(what: &mut What, within: Within) {
    if let What::Make(_, Make::Placed(place) | Make::SlicePlaced(place), _) = what {
        *place = Some(within);
    }
}

fn within(comm: &Comm) -> Option<Within> {
    match comm.shape {
        Shape::Of(me, size) => Some(Within { me, size }),
        _ => None,
    }
}

/// The communicator that a call names: its handle, and where the process is in it.
fn named(what: &What) -> Option<(u64, Within)> {
    let comm = match what {
        What::Send(message, _) | What::Recv(message, _) | What::Both(message, _) => message.comm,
        What::Asks(comm) | What::Make(comm, ..) => *comm,
        What::Joint(joint, _) => joint.comm,
        _ => return None,
    };
    Some((comm.handle, within(&comm)?))
}
