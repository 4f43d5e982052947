//! One line: the call and its arguments.

use super::constants::MpiConstants;
use super::fields::{UnreadArgumentFields, bytes, time_ns};
use crate::trace::mpi::{UNDEFINED, is_local};
use base::Refusal;
use traffic::workload::calls::{
    CallAction, CallMessage, CollectiveBytes, CommunicatorCreation, CommunicatorMembership,
    CompletedRequests, NamedCommunicator, RankInCommunicator, RequestList, TracedCall,
    TracedCollectiveCall, TransferMode,
};
use traffic::workload::collective::CollectiveOperation;

/// Reads a line.
pub(super) fn called(
    said: &str,
    line: u64,
    constants: MpiConstants,
) -> Result<TracedCall, Refusal> {
    let parts: Vec<&str> = said.split(':').collect();
    let (name, rest) = (parts[0], &parts[1..]);
    let Some(name) = name.strip_prefix("MPI_").filter(|_| rest.len() >= 2) else {
        let why = format!("'{}' is no call", said.chars().take(40).collect::<String>());
        return Err(Refusal::new("", why, "NAME:START:ARGUMENT:...:END, as MPI_Barrier:1:0,0,4:2"));
    };
    let (first, last) = (rest[0], rest[rest.len() - 1]);
    if matches!(name, "Init" | "Init_thread") {
        let end_ns = time_ns(last)?;
        return Ok(TracedCall { line, start_ns: end_ns, end_ns, what: CallAction::Waits });
    }
    let start_ns = time_ns(first)?;
    if name == "Finalize" {
        return Ok(TracedCall { line, start_ns, end_ns: start_ns, what: CallAction::Waits });
    }
    let end_ns = time_ns(last)?;
    let mut fields = UnreadArgumentFields::new(&rest[1..rest.len() - 1], constants);
    let is_local = is_local(name);
    let what = if is_local { CallAction::Local } else { what(name, &mut fields)? };
    if !is_local && !matches!(what, CallAction::Local | CallAction::Waits) && fields.len() > 0 {
        let why = format!("{} arguments too many", fields.len());
        return Err(Refusal::new(format!("MPI_{name}"), why, "those of the call"));
    }
    Ok(TracedCall { line, start_ns, end_ns, what })
}

fn what(name: &str, from: &mut UnreadArgumentFields<'_>) -> Result<CallAction, Refusal> {
    Ok(match name {
        "Send" | "Ssend" | "Rsend" => {
            CallAction::Send(message(from, "dest")?, TransferMode::Blocking)
        }
        "Bsend" => CallAction::Send(message(from, "dest")?, TransferMode::Buffered),
        "Isend" | "Issend" | "Irsend" | "Ibsend" => CallAction::Send(
            message(from, "dest")?,
            TransferMode::Nonblocking(from.whole("request")?),
        ),
        "Send_init" | "Ssend_init" | "Rsend_init" | "Bsend_init" => {
            CallAction::Send(message(from, "dest")?, TransferMode::Prepared(from.whole("request")?))
        }
        "Recv" => {
            let message = message(from, "source")?;
            from.skip(&["status"])?;
            CallAction::Recv(message, TransferMode::Blocking)
        }
        "Irecv" => CallAction::Recv(
            message(from, "source")?,
            TransferMode::Nonblocking(from.whole("request")?),
        ),
        "Recv_init" => CallAction::Recv(
            message(from, "source")?,
            TransferMode::Prepared(from.whole("request")?),
        ),
        "Sendrecv" | "Sendrecv_replace" => both(name, from)?,
        "Start" => CallAction::Start(RequestList::Each(vec![from.whole("request")?])),
        "Startall" => CallAction::Start(from.requests()?),
        "Wait" | "Test" | "Waitall" | "Waitany" | "Waitsome" | "Testall" | "Testany"
        | "Testsome" => complete(name, from)?,
        "Request_free" => CallAction::Free(from.whole("request")?),
        "Probe" => CallAction::Waits,
        "Comm_rank" | "Comm_size" => {
            let comm = from.comm()?;
            from.skip(&["result"])?;
            CallAction::Asks(comm)
        }
        // the argument is the address of the variable, which the call has set to null
        "Comm_free" => CallAction::Local,
        "Comm_dup" | "Comm_split" | "Comm_create" | "Cart_create" | "Cart_sub" | "Graph_create" => {
            make(name, from)?
        }
        _ => return joint(name, from),
    })
}

fn message(from: &mut UnreadArgumentFields<'_>, peer: &str) -> Result<CallMessage, Refusal> {
    from.skip(&["buffer"])?;
    let bytes = from.bytes()?;
    let (peer, tag, comm) = (from.peer(peer)?, from.tag()?, from.comm()?);
    Ok(CallMessage { peer, bytes, tag, comm })
}

fn both(name: &str, from: &mut UnreadArgumentFields<'_>) -> Result<CallAction, Refusal> {
    from.skip(&["buffer"])?;
    let out = from.bytes()?;
    let (to, out_tag) = (from.peer("dest")?, from.tag()?);
    let back = if name == "Sendrecv" {
        from.skip(&["buffer"])?;
        from.bytes()?
    } else {
        out
    };
    let (source, back_tag, comm) = (from.peer("source")?, from.tag()?, from.comm()?);
    from.skip(&["status"])?;
    Ok(CallAction::Both(
        CallMessage { peer: to, bytes: out, tag: out_tag, comm },
        CallMessage { peer: source, bytes: back, tag: back_tag, comm },
    ))
}

fn complete(name: &str, from: &mut UnreadArgumentFields<'_>) -> Result<CallAction, Refusal> {
    let requests = match name {
        "Wait" | "Test" => RequestList::Each(vec![from.whole("request")?]),
        _ => from.requests()?,
    };
    from.skip(match name {
        "Wait" | "Waitall" => &["status"],
        "Test" | "Testall" => &["flag", "status"],
        "Waitany" => &["index", "status"],
        "Testany" => &["index", "flag", "status"],
        _ => &["count", "indices", "statuses"],
    })?;
    let which = match name {
        "Wait" | "Waitall" => CompletedRequests::All,
        "Waitany" => CompletedRequests::One,
        "Waitsome" => CompletedRequests::Some,
        _ => CompletedRequests::Perhaps,
    };
    Ok(CallAction::Complete(requests, which))
}

fn make(name: &str, from: &mut UnreadArgumentFields<'_>) -> Result<CallAction, Refusal> {
    let comm = from.comm()?;
    let mut make = match name {
        "Comm_split" => {
            let colour = match from.signed("color")? {
                UNDEFINED => None,
                colour => Some(u32::try_from(colour).map_err(|_| {
                    let help = format!("0 or more, or {UNDEFINED}: none");
                    Refusal::new("color", format!("{colour}"), help)
                })?),
            };
            CommunicatorCreation::Split(colour, from.signed("key")?)
        }
        "Comm_dup" => CommunicatorCreation::Copy,
        "Comm_create" => {
            from.skip(&["group"])?;
            CommunicatorCreation::Placed(None)
        }
        "Cart_sub" => {
            from.skip(&["remain_dims"])?;
            CommunicatorCreation::SlicePlaced(None)
        }
        "Graph_create" => {
            let ranks = from.whole("nnodes")?;
            from.skip(&["index", "edges", "reorder"])?;
            let ranks = u32::try_from(ranks).ok().filter(|&ranks| ranks > 0);
            CommunicatorCreation::Grid(vec![ranks.ok_or_else(|| {
                Refusal::new("nnodes", "it is no number of ranks", "1 to the ranks there are")
            })?])
        }
        // all processes are taken to be in the grid, in their order
        _ => {
            from.skip(&["ndims", "dims", "periods", "reorder"])?;
            CommunicatorCreation::Copy
        }
    };
    let said = from.next("newcomm")?;
    let mut parts = said.split(',').map(|part| part.trim().parse::<i64>().ok());
    let handle = parts.next().flatten().and_then(|handle| u64::try_from(handle).ok());
    let handle = handle.ok_or_else(|| {
        Refusal::new("newcomm", format!("'{said}'"), "an address, or handle,rank,size")
    })?;
    if let (Some(Some(me)), Some(Some(size))) = (parts.next(), parts.next()) {
        let small = |n: i64| u32::try_from(n).ok();
        let within = small(me).zip(small(size)).map(|(me, size)| RankInCommunicator { me, size });
        let within = within.filter(|within| within.me < within.size);
        match &mut make {
            CommunicatorCreation::Placed(place) | CommunicatorCreation::SlicePlaced(place) => {
                *place = within;
            }
            _ => {}
        }
    }
    Ok(CallAction::Make(comm, make, handle))
}

/// Arguments of a collective operation, arrays of counts as one, and how many arrays there are.
fn arguments(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        "Barrier" => (1, 0),
        "Bcast" => (5, 0),
        "Allreduce" | "Scan" | "Exscan" | "Reduce_scatter_block" => (6, 0),
        "Reduce_scatter" => (6, 1),
        "Gather" | "Scatter" => (8, 0),
        "Reduce" | "Allgather" | "Alltoall" => (7, 0),
        "Gatherv" | "Scatterv" => (9, 2),
        "Allgatherv" => (8, 2),
        "Alltoallv" => (9, 4),
        _ => return None,
    })
}

/// What the trace lacks for a call that is refused, as the end of a sentence.
fn lacking(name: &str) -> &'static str {
    match name {
        "Alltoallw" => ": the trace has the address of its datatypes, not their sizes",
        _ if name.starts_with("Neighbor_") => {
            ": the trace has addresses where the neighbours and the grid's sizes are said"
        }
        _ if name.starts_with("Dist_graph_") => {
            ": the trace has addresses where the neighbours are said"
        }
        "Comm_create_group" => ": the trace does not say which ranks the group has",
        _ if name.starts_with("Intercomm_") => ": its two groups are not one communicator",
        _ if name.starts_with("Win_") || matches!(name, "Put" | "Get" | "Accumulate") => {
            ": it is one-sided"
        }
        _ if name.starts_with("File_") => ": it is a file's",
        _ => "",
    }
}

fn joint(full: &str, from: &mut UnreadArgumentFields<'_>) -> Result<CallAction, Refusal> {
    // a name with I before a small letter is that of the nonblocking call
    let mut name = full.to_owned();
    let later = full.strip_prefix('I').filter(|rest| rest.starts_with(char::is_lowercase));
    if let Some(rest) = later {
        name = rest[..1].to_uppercase() + &rest[1..];
    }
    let Some((single, arrays)) = arguments(&name) else {
        let help = "messages between two, collective operations, requests, MPI_Comm_split, \
                    MPI_Comm_dup, MPI_Comm_create, MPI_Cart_create, MPI_Cart_sub, \
                    MPI_Graph_create, and calls that talk to nobody";
        let why = format!("MPI_{full} cannot be turned into messages{}", lacking(&name));
        return Err(Refusal::new("", why, help));
    };
    let single = single + usize::from(later.is_some());
    from.listed = arrays > 0 && from.len() == single + arrays;
    if from.len() != single && !from.listed {
        let why = format!("{} arguments", from.len());
        let or = if arrays > 0 { format!(", or {}", single + arrays) } else { String::new() };
        return Err(Refusal::new(format!("MPI_{full}"), why, format!("{single}{or}")));
    }
    let joint = operation(&name, from)?;
    let request = if later.is_some() { Some(from.whole("request")?) } else { None };
    Ok(CallAction::Joint(Box::new(joint), request))
}

fn operation(
    name: &str,
    from: &mut UnreadArgumentFields<'_>,
) -> Result<TracedCollectiveCall, Refusal> {
    use CollectiveOperation::{
        Allgather, Allreduce, Alltoall, Barrier, Broadcast, Exscan, Gather, Reduce, ReduceScatter,
        Scan, Scatter,
    };
    let one = |from: &mut UnreadArgumentFields<'_>| -> Result<CollectiveBytes, Refusal> {
        from.skip(&["sendbuf", "recvbuf"])?;
        let bytes = from.bytes()?;
        from.skip(&["op"])?;
        Ok(CollectiveBytes::Same(bytes))
    };
    let (operation, sizes, root) = match name {
        "Barrier" => (Barrier, CollectiveBytes::Same(0), None),
        "Bcast" => {
            from.skip(&["buffer"])?;
            (Broadcast, CollectiveBytes::Same(from.bytes()?), from.root()?)
        }
        "Reduce" => (Reduce, one(from)?, from.root()?),
        "Allreduce" => (Allreduce, one(from)?, None),
        "Scan" => (Scan, one(from)?, None),
        "Exscan" => (Exscan, one(from)?, None),
        "Reduce_scatter_block" => (ReduceScatter, one(from)?, None),
        "Gather" | "Scatter" | "Allgather" | "Alltoall" => {
            from.skip(&["sendbuf"])?;
            let sent = from.bytes()?;
            from.skip(&["recvbuf"])?;
            let received = from.bytes()?;
            match name {
                // the received count holds even where the data is in place
                "Allgather" => (Allgather, CollectiveBytes::Same(received), None),
                "Alltoall" => (Alltoall, CollectiveBytes::Same(received), None),
                _ => {
                    let root = from.root()?;
                    let comm = from.comm()?;
                    let gathers = name == "Gather";
                    let at_root = is_root(root, comm);
                    let bytes = if gathers == at_root { received } else { sent };
                    let operation = if gathers { Gather } else { Scatter };
                    return Ok(TracedCollectiveCall {
                        comm,
                        operation,
                        root,
                        sizes: CollectiveBytes::Same(bytes),
                    });
                }
            }
        }
        _ => return lists(name, from),
    };
    Ok(TracedCollectiveCall { comm: from.comm()?, operation, root, sizes })
}

/// Whether the process that calls is the root.
fn is_root(root: Option<u32>, comm: NamedCommunicator) -> bool {
    matches!(comm.shape, CommunicatorMembership::Of(rank, _) if root == Some(rank))
}

fn each(counts: Option<Vec<u64>>, size: u64) -> Result<Option<CollectiveBytes>, Refusal> {
    let Some(counts) = counts else { return Ok(None) };
    let all: Result<Vec<u64>, Refusal> = counts.into_iter().map(|n| bytes(n, size)).collect();
    all.map(|all| Some(CollectiveBytes::Each(all)))
}

/// Operations whose blocks have sizes of their own.
fn lists(name: &str, from: &mut UnreadArgumentFields<'_>) -> Result<TracedCollectiveCall, Refusal> {
    let unlisted = || {
        let help = "a trace with the counts listed behind their address";
        Refusal::new(format!("MPI_{name}"), "the counts of the ranks are not in the trace", help)
    };
    from.skip(&["sendbuf"])?;
    if name == "Reduce_scatter" {
        from.skip(&["recvbuf"])?;
        let counts = from.counts("recvcounts")?;
        let sizes = each(counts, from.datatype()?)?.ok_or_else(unlisted)?;
        from.skip(&["op"])?;
        let operation = CollectiveOperation::ReduceScatter;
        return Ok(TracedCollectiveCall { comm: from.comm()?, operation, root: None, sizes });
    }
    if matches!(name, "Alltoallv" | "Scatterv") {
        let counts = from.counts("sendcounts")?;
        from.displacements()?;
        let listed = each(counts, from.datatype()?);
        from.skip(&["recvbuf"])?;
        if name == "Alltoallv" {
            from.counts("recvcounts")?;
            from.displacements()?;
            from.datatype()?;
            let sizes = listed?.ok_or_else(unlisted)?;
            let operation = CollectiveOperation::Alltoallv;
            return Ok(TracedCollectiveCall { comm: from.comm()?, operation, root: None, sizes });
        }
        let own = from.bytes()?;
        let (root, comm) = (from.root()?, from.comm()?);
        let mine = if is_root(root, comm) { listed? } else { None };
        let sizes = mine.unwrap_or(CollectiveBytes::Own(own));
        return Ok(TracedCollectiveCall {
            comm,
            operation: CollectiveOperation::Scatter,
            root,
            sizes,
        });
    }
    let own = from.bytes()?;
    from.skip(&["recvbuf"])?;
    let counts = from.counts("recvcounts")?;
    from.displacements()?;
    let listed = each(counts, from.datatype()?);
    if name == "Allgatherv" {
        let sizes = listed?.unwrap_or(CollectiveBytes::Own(own));
        return Ok(TracedCollectiveCall {
            comm: from.comm()?,
            operation: CollectiveOperation::Allgather,
            root: None,
            sizes,
        });
    }
    let (root, comm) = (from.root()?, from.comm()?);
    let mine = if is_root(root, comm) { listed? } else { None };
    let sizes = mine.unwrap_or(CollectiveBytes::Own(own));
    Ok(TracedCollectiveCall { comm, operation: CollectiveOperation::Gather, root, sizes })
}
