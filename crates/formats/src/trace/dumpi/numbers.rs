//! Arguments of a record that must be numbers of 0 or more, and communicators by their numbers.

use super::record::DumpiCallRecord;
use base::Refusal;
use traffic::workload::calls::{CommunicatorMembership, NamedCommunicator};

/// Numbers of communicators that are always there.
pub(super) const NO_COMM: i64 = 1;
pub(super) const WORLD: i64 = 2;
const ALONE: i64 = 3;

/// The argument `name` of a record as a number of 0 or more.
pub(super) fn whole(record: &DumpiCallRecord, name: &str) -> Result<u64, Refusal> {
    let said = record.number(name);
    said.and_then(|n| u32::try_from(n).ok()).map(u64::from).ok_or_else(|| {
        let why = said.map_or("it is not there".to_owned(), |n| n.to_string());
        Refusal::new(name, why, "a number of 0 or more")
    })
}

/// The communicator whose number the argument `name` is.
pub(super) fn comm(record: &DumpiCallRecord, name: &str) -> Result<NamedCommunicator, Refusal> {
    let said = record.number(name).unwrap_or(NO_COMM);
    let shape = match said {
        WORLD => CommunicatorMembership::All,
        ALONE => CommunicatorMembership::Alone,
        _ => CommunicatorMembership::Unsaid,
    };
    match u64::try_from(said) {
        Ok(handle) if said > NO_COMM => Ok(NamedCommunicator { handle, shape }),
        _ => {
            Err(Refusal::new(name, format!("communicator {said}"), "one that there is, from 2 on"))
        }
    }
}
