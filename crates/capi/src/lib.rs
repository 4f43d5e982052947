//! The C interface of the core, by which runtime/mpi gives the ranks of an MPI program new numbers.
//!
//! runtime/mpi/map.h declares the same in C. This is the one file of the crate with unsafe code,
//! because C passes pointers.
#![allow(unsafe_code)]

pub mod order;

use base::{ComputationError, Refusal};
use order::{NetworkSource, RankReorderRequest};
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The version of the interface, which changes with [`CRankReorderRequest`] and [`flyloom_map`].
const INTERFACE: c_int = 1;

/// The request that C passes. Texts end in a zero; an absent one is null.
#[repr(C)]
pub struct CRankReorderRequest {
    /// The network: its inline form, or the name of a file.
    pub network: *const c_char,
    /// The text of the file that `network` names; null for an inline form.
    pub network_text: *const c_char,
    /// The name of a file with the endpoints of hosts, for messages.
    pub table: *const c_char,
    /// The text of the file that `table` names, with lines of a host and an endpoint; null where
    /// there is none.
    pub table_text: *const c_char,
    /// `congestion` or `hops`; null means `congestion`.
    pub objective: *const c_char,
    /// `fast`, `normal` or `best`; null means `normal`.
    pub effort: *const c_char,
    /// The seed as text; null means 0.
    pub seed: *const c_char,
    /// The host name of every process, each in `host_bytes` bytes and ended by a zero.
    pub hosts: *const c_char,
    /// The length of each entry of `hosts`.
    pub host_bytes: usize,
    /// The number of processes.
    pub processes: c_int,
    /// Sender, receiver and weight of each edge, between ranks.
    pub edges: *const c_int,
    /// The number of edges.
    pub edge_count: usize,
    /// Bytes of memory that may be used; 0 where unknown.
    pub memory: u64,
}

/// The version of this interface.
// SAFETY: no other library has this name.
#[unsafe(no_mangle)]
pub extern "C" fn flyloom_map_interface() -> c_int {
    INTERFACE
}

/// Writes the new rank of each process into `ranks`, and a message into `said`.
///
/// Returns 1 if ranks change, 0 if they stay as they are, and -1 if the request is refused; `said`
/// then says why.
///
/// # Safety
/// The request's pointers are as [`CRankReorderRequest`] requires; `ranks` has room for all
/// processes, and `said` for `room` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flyloom_map(
    request: *const CRankReorderRequest,
    ranks: *mut c_int,
    said: *mut c_char,
    room: usize,
) -> c_int {
    // SAFETY: the caller promises this.
    let (request, said) = unsafe {
        let bytes = if room == 0 { &mut [] } else { std::slice::from_raw_parts_mut(said, room) };
        (&*request, bytes)
    };
    let worked = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: the caller promises this.
        let asked = unsafe { asked(request) }?;
        order::order(&asked)
    }));
    let (code, words) = match worked {
        Ok(Ok(found)) => {
            if let Some(new) = &found.ranks {
                // SAFETY: there is room for a rank of each process, which `new` has.
                let into = unsafe { std::slice::from_raw_parts_mut(ranks, new.len()) };
                into.iter_mut().zip(new).for_each(|(into, rank)| *into = *rank as c_int);
            }
            (c_int::from(found.ranks.is_some()), found.words)
        }
        Ok(Err(stop)) => (-1, stop.to_string()),
        Err(_) => (-1, "a fault of flyloom's own".to_owned()),
    };
    let end = room.saturating_sub(1).min(words.len());
    said.iter_mut().zip(words.as_bytes()[..end].iter().chain([&0])).for_each(|(into, byte)| {
        *into = *byte as c_char;
    });
    code
}

/// The request with slices in place of pointers.
///
/// # Safety
/// The pointers are as [`CRankReorderRequest`] requires.
unsafe fn asked(request: &CRankReorderRequest) -> Result<RankReorderRequest<'_>, ComputationError> {
    // SAFETY: each is null or ends in a zero.
    let text = |what: &str, at: *const c_char| unsafe { text(what, at) };
    let need = || Refusal::new("network", "there is none", "a file or family:key=value,...");
    let name = text("network", request.network)?.ok_or_else(need)?;
    let source = match text(name, request.network_text)? {
        Some(text) => NetworkSource::File { name, text },
        None => NetworkSource::Inline(name),
    };
    let table = match text("table", request.table)? {
        Some(name) => text(name, request.table_text)?.map(|text| (name, text)),
        None => None,
    };
    let (count, each) = (request.processes.max(0) as usize, request.host_bytes);
    let (mut names, mut edges): (&[u8], &[c_int]) = (&[], &[]);
    if count > 0 && each > 0 {
        // SAFETY: there are `host_bytes` bytes for each process.
        names = unsafe { std::slice::from_raw_parts(request.hosts.cast(), count * each) };
    }
    if request.edge_count > 0 {
        // SAFETY: each edge has three numbers.
        edges = unsafe { std::slice::from_raw_parts(request.edges, 3 * request.edge_count) };
    }
    let host = |bytes: &[u8]| {
        let name = CStr::from_bytes_until_nul(bytes).unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    Ok(RankReorderRequest {
        source,
        table,
        objective: text("FLYLOOM_OBJECTIVE", request.objective)?,
        effort: text("FLYLOOM_EFFORT", request.effort)?,
        seed: text("FLYLOOM_SEED", request.seed)?,
        hosts: names.chunks(each.max(1)).map(host).collect(),
        edges: edges.as_chunks().0,
        memory: request.memory,
    })
}

/// A text of C as a slice; none where the pointer is null.
///
/// # Safety
/// The pointer is null, or its text ends in a zero.
unsafe fn text<'a>(what: &str, at: *const c_char) -> Result<Option<&'a str>, Refusal> {
    if at.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises this.
    let bytes = unsafe { CStr::from_ptr(at) };
    let bad = |_| Refusal::new(what, "it is no text of UTF-8", "a text file");
    bytes.to_str().map(Some).map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;

    /// Calls the interface for four processes in two pairs, each with one process on either host of
    /// a ring of four.
    fn called(network: &str, room: usize) -> (c_int, Vec<c_int>, String) {
        let network = CString::new(network).expect("no zero");
        let mut hosts = [0_u8; 4 * 8];
        for (own, name) in hosts.chunks_mut(8).zip(["h0", "h2", "h0", "h2"]) {
            own[..2].copy_from_slice(name.as_bytes());
        }
        let table = CString::new("h0 0\nh2 2\n").expect("no zero");
        let edges: [c_int; 12] = [0, 1, 5, 1, 0, 5, 2, 3, 5, 3, 2, 5];
        let request = CRankReorderRequest {
            network: network.as_ptr(),
            network_text: std::ptr::null(),
            table: c"table".as_ptr(),
            table_text: table.as_ptr(),
            objective: std::ptr::null(),
            effort: c"fast".as_ptr(),
            seed: std::ptr::null(),
            hosts: hosts.as_ptr().cast(),
            host_bytes: 8,
            processes: 4,
            edges: edges.as_ptr(),
            edge_count: 4,
            memory: 0,
        };
        let (mut ranks, mut said) = (vec![-1; 4], vec![1 as c_char; 400]);
        // SAFETY: all pointers are valid, and the buffers have room.
        let code =
            unsafe { flyloom_map(&raw const request, ranks.as_mut_ptr(), said.as_mut_ptr(), room) };
        let said: Vec<u8> = said.iter().take_while(|c| **c > 1).map(|c| *c as u8).collect();
        (code, ranks, String::from_utf8(said).expect("text"))
    }

    #[test]
    fn pairs_come_together_through_the_c_interface() {
        let (code, ranks, said) = called("ring:n=4,p=1", 400);
        assert_eq!(code, 1, "{said}");
        assert_eq!(ranks[0] / 2, ranks[2] / 2, "a pair on the first host: {ranks:?}");
        assert_eq!(ranks[1] / 2, ranks[3] / 2, "a pair on the other: {ranks:?}");
        assert!(said.contains("hop-bytes 40 to 0"), "{said}");
    }

    #[test]
    fn refusals_are_words_that_fit_their_room() {
        let (code, ranks, said) = called("ring:n=4,q=1", 400);
        assert_eq!((code, ranks), (-1, vec![-1; 4]));
        assert!(said.starts_with("ring:n=4,q=1: ") && said.contains("`q`"), "{said}");
        let (_, _, cut) = called("ring:n=4,q=1", 8);
        assert_eq!(cut, said[..7]);
        let (code, ..) = called("ring:n=4,q=1", 0);
        assert_eq!(code, -1);
    }
}
