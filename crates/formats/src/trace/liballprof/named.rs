//! Communicators of which a line says the address of a variable only: where the process is in them
//! is said by the calls that name them later.

use std::collections::HashMap;
use traffic::workload::calls::{
    CallAction, CommunicatorCreation, CommunicatorPlace, CommunicatorShape, NamedCommunicator,
    TracedCall,
};

/// A communicator that was made, and no call has named so far.
struct NewCommunicator {
    /// The call that made it.
    call: usize,
    /// Where the process is in it, where that is known.
    within: Option<CommunicatorPlace>,
}

/// Where the process is in what `MPI_Comm_create` and `MPI_Cart_sub` make: the first handle that is
/// new after the call names it, if that is none of which the place is known, and none older.
pub(super) fn place(calls: &mut [TracedCall]) {
    let mut known: HashMap<u64, CommunicatorPlace> = HashMap::new();
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
        if let CallAction::Make(parent, make, _) = &calls[at].what {
            let there = within(parent);
            let within = match make {
                CommunicatorCreation::Placed(place) | CommunicatorCreation::SlicePlaced(place) => {
                    *place
                }
                CommunicatorCreation::Copy => there,
                CommunicatorCreation::Grid(sizes) => {
                    let size = sizes.iter().product();
                    let Some(place) = there.filter(|place| place.me < size) else { continue };
                    Some(CommunicatorPlace { size, ..place })
                }
                // the process is in none
                CommunicatorCreation::Split(None, _) => continue,
                CommunicatorCreation::Split(..)
                | CommunicatorCreation::Group(_)
                | CommunicatorCreation::Slice(_) => None,
            };
            fresh.push(NewCommunicator { call: at, within });
        }
    }
}

fn settle(what: &mut CallAction, within: CommunicatorPlace) {
    if let CallAction::Make(
        _,
        CommunicatorCreation::Placed(place) | CommunicatorCreation::SlicePlaced(place),
        _,
    ) = what
    {
        *place = Some(within);
    }
}

fn within(comm: &NamedCommunicator) -> Option<CommunicatorPlace> {
    match comm.shape {
        CommunicatorShape::Of(me, size) => Some(CommunicatorPlace { me, size }),
        _ => None,
    }
}

/// The communicator that a call names: its handle, and where the process is in it.
fn named(what: &CallAction) -> Option<(u64, CommunicatorPlace)> {
    let comm = match what {
        CallAction::Send(message, _)
        | CallAction::Recv(message, _)
        | CallAction::Both(message, _) => message.comm,
        CallAction::Asks(comm) | CallAction::Make(comm, ..) => *comm,
        CallAction::Joint(joint, _) => joint.comm,
        _ => return None,
    };
    Some((comm.handle, within(&comm)?))
}
