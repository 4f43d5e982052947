//! Collective operations: which, of what sizes.

use super::numbers::{comm, whole};
use super::record::DumpiCallRecord;
use super::types::DataTypeSizes;
use base::Refusal;
use traffic::workload::calls::{CollectiveBytes, TracedCollectiveCall};
use traffic::workload::collective::CollectiveOperation;

/// The collective operation that a call is; `None` for other calls.
///
/// # Errors
/// When its size is unknown.
pub(super) fn joint(
    record: &DumpiCallRecord,
    types: &DataTypeSizes<'_>,
) -> Result<Option<TracedCollectiveCall>, Refusal> {
    use CollectiveOperation::{
        Allgather, Allreduce, Alltoall, Alltoallv, Barrier, Broadcast, Exscan, Gather, Reduce,
        ReduceScatter, Scan, Scatter,
    };
    let block = |count: &str, datatype: &str| {
        types.bytes(need(record, count)?, need(record, datatype)?).map(CollectiveBytes::Same)
    };
    let own = |count: &str, datatype: &str| {
        types.bytes(need(record, count)?, need(record, datatype)?).map(CollectiveBytes::Own)
    };
    let each = |counts: &str, datatype: &str| {
        let (of, all) = (need(record, datatype)?, list(record, counts)?);
        let bytes = all.iter().map(|&count| types.bytes(count, of)).collect::<Result<_, _>>();
        bytes.map(CollectiveBytes::Each)
    };
    let at_root = record.number("commrank").is_some_and(|me| record.number("root") == Some(me));
    let (operation, sizes) = match record.name() {
        "Barrier" => (Barrier, CollectiveBytes::Same(0)),
        "Bcast" => (Broadcast, block("count", "datatype")?),
        "Reduce" => (Reduce, block("count", "datatype")?),
        "Allreduce" => (Allreduce, block("count", "datatype")?),
        "Scan" => (Scan, block("count", "datatype")?),
        "Exscan" => (Exscan, block("count", "datatype")?),
        // the received count holds even where the data is in place
        "Allgather" => (Allgather, block("recvcount", "recvtype")?),
        "Alltoall" => (Alltoall, block("recvcount", "recvtype")?),
        "Gather" if at_root => (Gather, block("recvcount", "recvtype")?),
        "Gather" => (Gather, block("sendcount", "sendtype")?),
        "Scatter" if at_root => (Scatter, block("sendcount", "sendtype")?),
        "Scatter" => (Scatter, block("recvcount", "recvtype")?),
        "Gatherv" if at_root => (Gather, each("recvcounts", "recvtype")?),
        "Gatherv" => (Gather, own("sendcount", "sendtype")?),
        "Scatterv" if at_root => (Scatter, each("sendcounts", "sendtype")?),
        "Scatterv" => (Scatter, own("recvcount", "recvtype")?),
        "Allgatherv" => (Allgather, each("recvcounts", "recvtype")?),
        "Reduce_scatter" => (ReduceScatter, each("recvcounts", "datatype")?),
        "Alltoallv" => (Alltoallv, each("sendcounts", "sendtype")?),
        "Alltoallw" => {
            let all = list(record, "sendcounts")?.iter().zip(list(record, "sendtypes")?);
            let bytes = all.map(|(&count, &of)| types.bytes(count, of)).collect::<Result<_, _>>();
            (Alltoallv, CollectiveBytes::Each(bytes?))
        }
        _ => return Ok(None),
    };
    let root = match operation {
        Broadcast | Reduce | Gather | Scatter => Some(whole(record, "root")? as u32),
        _ => None,
    };
    Ok(Some(TracedCollectiveCall { comm: comm(record, "comm")?, operation, root, sizes }))
}

fn need(record: &DumpiCallRecord, name: &str) -> Result<i64, Refusal> {
    record.number(name).ok_or_else(|| Refusal::new(name, "it is not there", "a number"))
}

fn list<'a>(record: &'a DumpiCallRecord, name: &str) -> Result<&'a [i64], Refusal> {
    record.numbers(name).ok_or_else(|| Refusal::new(name, "it is not there", "numbers"))
}
