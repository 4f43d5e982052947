//! Communicators for which a line has only the address of a variable: the rank of the process in
//! them is found from later calls that name them.

use std::collections::HashMap;
use traffic::workload::calls::{
    CallAction, CommunicatorCreation, CommunicatorMembership, NamedCommunicator,
    RankInCommunicator, TracedCall,
};

/// A communicator that was made, and no call has named so far.
struct UnnamedCommunicator {
    /// The call that made it.
    call: usize,
    /// The rank of the process in it, where that is known.
    within: Option<RankInCommunicator>,
}

/// Finds the rank of the process in the communicators that `MPI_Comm_create` and `MPI_Cart_sub`
/// make. The first handle that is new after the call names its communicator, unless that handle
/// fits one with a known rank, or an older one.
pub(super) fn place(calls: &mut [TracedCall]) {
    let mut known: HashMap<u64, RankInCommunicator> = HashMap::new();
    let mut fresh: Vec<UnnamedCommunicator> = Vec::new();
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
                    Some(RankInCommunicator { size, ..place })
                }
                // the process is not in the new communicator
                CommunicatorCreation::Split(None, _) => continue,
                CommunicatorCreation::Split(..)
                | CommunicatorCreation::Group(_)
                | CommunicatorCreation::Slice(_) => None,
            };
            fresh.push(UnnamedCommunicator { call: at, within });
        }
    }
}

fn settle(what: &mut CallAction, within: RankInCommunicator) {
    if let CallAction::Make(
        _,
        CommunicatorCreation::Placed(place) | CommunicatorCreation::SlicePlaced(place),
        _,
    ) = what
    {
        *place = Some(within);
    }
}

fn within(comm: &NamedCommunicator) -> Option<RankInCommunicator> {
    match comm.shape {
        CommunicatorMembership::Of(me, size) => Some(RankInCommunicator { me, size }),
        _ => None,
    }
}

/// The communicator that a call names: its handle, and the rank of the process in it.
fn named(what: &CallAction) -> Option<(u64, RankInCommunicator)> {
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
