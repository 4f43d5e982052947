//! The requests of one process: those in flight, and those that a call completes.

use super::{CallAction, CompletedRequests, RequestHandle, RequestList, TracedCall, TransferMode};
use base::Refusal;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A message of a process, with the ranks and the communicator of the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessMessage {
    pub(super) is_send: bool,
    /// The other rank in `MPI_COMM_WORLD`, or [`crate::workload::ANY`].
    pub(super) peer: u32,
    pub(super) bytes: u64,
    pub(super) comm: u32,
    /// The tag in the communicator, none for any; later the number in the schedule for tag and
    /// communicator.
    pub(super) tag: Option<u32>,
}

/// The state of a request's variable.
#[derive(Debug)]
enum RequestVariableState {
    /// The request is complete: `MPI_REQUEST_NULL`.
    Null,
    /// The request is in flight; it was begun by the act with this index.
    Flying(u32),
    /// A persistent request: its message (none with `MPI_PROC_NULL`), and the act that started it
    /// (none if it is not in flight).
    Prepared(Option<ProcessMessage>, Option<u32>),
}

/// The requests of a process.
#[derive(Debug, Default)]
pub(super) struct ProcessRequests {
    all: HashMap<RequestHandle, RequestVariableState>,
    /// The handles that some call of the process begins.
    begun: BTreeSet<RequestHandle>,
    /// For each call that may complete requests, by its index, the handles that no later call
    /// completes.
    last: HashMap<u32, Vec<RequestHandle>>,
    /// Whether handles that no call began are `MPI_REQUEST_NULL`.
    null: bool,
}

impl ProcessRequests {
    /// The requests of a process with these calls; with `null`, unknown ones are
    /// `MPI_REQUEST_NULL`.
    pub(super) fn new(calls: &[TracedCall], null: bool) -> Self {
        let begun = begun(calls);
        Self { all: HashMap::new(), last: last_calls(calls, &begun), begun, null }
    }

    /// The handles of a list that can refer to a request, in its order.
    ///
    /// # Errors
    /// When no call of the process begins one of them, and unknown ones are not `MPI_REQUEST_NULL`,
    /// or the requests are to be started.
    pub(super) fn named<'a>(
        &self,
        named: &'a RequestList,
        starts: bool,
    ) -> Result<Cow<'a, [RequestHandle]>, Refusal> {
        let found = within(named, &self.begun);
        let RequestList::Row(first, step, count) = *named else { return Ok(found) };
        if (self.null && !starts) || found.len() as u64 == count {
            return Ok(found);
        }
        let all = (0..count).map(|i| first.wrapping_add(i.wrapping_mul(step)));
        let missing = all.into_iter().find(|request| !self.begun.contains(request));
        Err(never_begun(missing.unwrap_or(first)))
    }

    /// Records that an act has begun the operation of `request`.
    ///
    /// # Errors
    /// When the request is already in flight.
    pub(super) fn begin(&mut self, request: RequestHandle, act: u32) -> Result<(), Refusal> {
        self.free(request)?;
        self.all.insert(request, RequestVariableState::Flying(act));
        Ok(())
    }

    /// Records a persistent request.
    ///
    /// # Errors
    /// As [`ProcessRequests::begin`].
    pub(super) fn prepare(
        &mut self,
        request: RequestHandle,
        wire: Option<ProcessMessage>,
    ) -> Result<(), Refusal> {
        self.free(request)?;
        self.all.insert(request, RequestVariableState::Prepared(wire, None));
        Ok(())
    }

    fn free(&self, request: RequestHandle) -> Result<(), Refusal> {
        match self.all.get(&request) {
            Some(RequestVariableState::Flying(_) | RequestVariableState::Prepared(_, Some(_))) => {
                let why = format!("request {request} is in flight");
                Err(Refusal::new("", why, "one that is complete, or was given back"))
            }
            _ => Ok(()),
        }
    }

    /// Starts a persistent request by the act `act`, and returns its message.
    ///
    /// # Errors
    /// When it was not prepared, or is in flight.
    pub(super) fn start(
        &mut self,
        request: RequestHandle,
        act: u32,
    ) -> Result<Option<ProcessMessage>, Refusal> {
        match self.all.get_mut(&request) {
            Some(RequestVariableState::Prepared(_, Some(_))) => self.free(request).map(|()| None),
            Some(RequestVariableState::Prepared(wire, flying)) => {
                *flying = Some(act);
                Ok(*wire)
            }
            _ => {
                let why = format!("request {request} is started and was not prepared");
                Err(Refusal::new("", why, "MPI_Send_init or MPI_Recv_init before"))
            }
        }
    }

    /// The acts that the call with index `number` completes.
    ///
    /// # Errors
    /// When a request was never begun.
    pub(super) fn complete(
        &mut self,
        number: u32,
        requests: &[RequestHandle],
        which: CompletedRequests,
    ) -> Result<Vec<u32>, Refusal> {
        let unknown = |request: &&RequestHandle| !self.all.contains_key(*request);
        if !self.null
            && let Some(request) = requests.iter().find(unknown)
        {
            return Err(never_begun(*request));
        }
        let last = self.last.remove(&number).unwrap_or_default();
        let mut done = Vec::new();
        match which {
            CompletedRequests::All | CompletedRequests::Found => {
                done.extend(requests.iter().filter_map(|r| self.take(*r)));
            }
            CompletedRequests::One => done.extend(requests.iter().find_map(|r| self.take(*r))),
            CompletedRequests::Some | CompletedRequests::Perhaps => {
                done.extend(last.iter().filter_map(|r| self.take(*r)));
                if done.is_empty() && which == CompletedRequests::Some {
                    done.extend(requests.iter().find_map(|r| self.take(*r)));
                }
            }
        }
        Ok(done)
    }

    /// Removes the act of a request from those in flight, and returns it.
    fn take(&mut self, request: RequestHandle) -> Option<u32> {
        match self.all.get_mut(&request)? {
            RequestVariableState::Null => None,
            RequestVariableState::Prepared(_, flying) => flying.take(),
            state @ RequestVariableState::Flying(_) => {
                match std::mem::replace(state, RequestVariableState::Null) {
                    RequestVariableState::Flying(act) => Some(act),
                    _ => None,
                }
            }
        }
    }

    /// Frees a request.
    ///
    /// # Errors
    /// When it was never begun.
    pub(super) fn give_back(&mut self, request: RequestHandle) -> Result<(), Refusal> {
        if self.all.insert(request, RequestVariableState::Null).is_none() && !self.null {
            let why = format!("request {request} is given back and was never begun");
            return Err(Refusal::new("", why, "one that was begun"));
        }
        Ok(())
    }
}

fn never_begun(request: RequestHandle) -> Refusal {
    let why = format!("request {request} was never begun");
    let help = "request_bytes=4 or 8, the size of a request in memory; \
                unknown_requests=null, if they are MPI_REQUEST_NULL";
    Refusal::new("", why, help)
}

/// The handles of all requests that calls begin.
fn begun(calls: &[TracedCall]) -> BTreeSet<RequestHandle> {
    let of = |call: &TracedCall| match &call.what {
        CallAction::Send(
            _,
            TransferMode::Nonblocking(request) | TransferMode::Prepared(request),
        )
        | CallAction::Recv(
            _,
            TransferMode::Nonblocking(request) | TransferMode::Prepared(request),
        )
        | CallAction::Joint(_, Some(request)) => Some(*request),
        _ => None,
    };
    calls.iter().filter_map(of).collect()
}

/// The handles that a call names; of an array, only those in `begun`.
fn within<'a>(named: &'a RequestList, begun: &BTreeSet<RequestHandle>) -> Cow<'a, [RequestHandle]> {
    match *named {
        RequestList::Each(ref all) => Cow::Borrowed(all),
        RequestList::Row(first, step, count) => {
            let end = first.saturating_add(step.saturating_mul(count));
            let all = begun.range(first..end).copied();
            Cow::Owned(
                all.filter(|request| (request - first).is_multiple_of(step.max(1))).collect(),
            )
        }
    }
}

/// For each call that completes requests that the trace does not identify, the handles that no
/// later call completes before they are begun again. O(requests named).
fn last_calls(
    calls: &[TracedCall],
    begun: &BTreeSet<RequestHandle>,
) -> HashMap<u32, Vec<RequestHandle>> {
    let unsure = |c: &TracedCall| {
        matches!(
            c.what,
            CallAction::Complete(_, CompletedRequests::Some | CompletedRequests::Perhaps)
        )
    };
    let mut last = HashMap::new();
    if !calls.iter().any(unsure) {
        return last;
    }
    let mut later: HashSet<RequestHandle> = HashSet::new();
    for (number, call) in calls.iter().enumerate().rev() {
        let number = number as u32;
        match &call.what {
            CallAction::Complete(requests, which) => {
                let requests = within(requests, begun);
                let mut found: Vec<RequestHandle> =
                    requests.iter().copied().filter(|r| !later.contains(r)).collect();
                found.dedup();
                later.extend(requests.iter());
                if matches!(which, CompletedRequests::Some | CompletedRequests::Perhaps)
                    && !found.is_empty()
                {
                    last.insert(number, found);
                }
            }
            CallAction::Start(requests) => within(requests, begun).iter().for_each(|r| {
                later.remove(r);
            }),
            CallAction::Send(_, TransferMode::Nonblocking(r) | TransferMode::Prepared(r))
            | CallAction::Recv(_, TransferMode::Nonblocking(r) | TransferMode::Prepared(r))
            | CallAction::Joint(_, Some(r)) => _ = later.remove(r),
            // a freed request is not completed by any call
            CallAction::Free(r) => _ = later.insert(*r),
            _ => {}
        }
    }
    last
}
