//! The arguments of a line, one after another.

use super::constants::MpiConstants;
use base::Refusal;
use std::collections::VecDeque;
use traffic::workload::calls::{CallPeer, CommunicatorMembership, NamedCommunicator, RequestList};

/// Most bytes of a message, and most requests of an array.
const MOST: u64 = 1 << 40;

/// The arguments of a line that are not read yet.
pub(super) struct UnreadArgumentFields<'a> {
    left: VecDeque<&'a str>,
    pub(super) constants: MpiConstants,
    /// Whether arrays of counts are listed behind their addresses.
    pub(super) listed: bool,
}

fn refuse(field: &str, said: &str, help: &str) -> Refusal {
    Refusal::new(field, format!("'{said}'"), help)
}

/// Nanoseconds of a number of microseconds, exactly; digits beyond are cut off.
pub(super) fn time_ns(said: &str) -> Result<u64, Refusal> {
    let (whole, part) = said.split_once('.').unwrap_or((said, ""));
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let good = !whole.is_empty() && digits(whole) && digits(part);
    let us: Option<u64> = if good { whole.parse().ok() } else { None };
    let mut ns = 0;
    for at in 0..3 {
        ns = 10 * ns + part.as_bytes().get(at).map_or(0, |b| u64::from(b.wrapping_sub(b'0')));
    }
    us.and_then(|us| us.checked_mul(1000)?.checked_add(ns))
        .ok_or_else(|| refuse("time", said, "microseconds, as 1237666046950106.000000"))
}

impl<'a> UnreadArgumentFields<'a> {
    pub(super) fn new(fields: &[&'a str], constants: MpiConstants) -> Self {
        Self { left: fields.iter().copied().collect(), constants, listed: false }
    }

    /// How many arguments are left.
    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    pub(super) fn next(&mut self, what: &str) -> Result<&'a str, Refusal> {
        let help = "all arguments of the call";
        self.left.pop_front().ok_or_else(|| Refusal::new(what, "the line ends before it", help))
    }

    pub(super) fn skip(&mut self, all: &[&str]) -> Result<(), Refusal> {
        for what in all {
            self.next(what)?;
        }
        Ok(())
    }

    pub(super) fn whole(&mut self, what: &str) -> Result<u64, Refusal> {
        let said = self.next(what)?;
        said.parse().map_err(|_| refuse(what, said, "a whole number"))
    }

    pub(super) fn signed(&mut self, what: &str) -> Result<i64, Refusal> {
        let said = self.next(what)?;
        said.parse().map_err(|_| refuse(what, said, "a whole number"))
    }

    fn triple(&mut self, what: &str, parts: &str) -> Result<[u64; 3], Refusal> {
        let said = self.next(what)?;
        let all: Option<Vec<u64>> = said.split(',').map(|n| n.trim().parse().ok()).collect();
        let three = all.and_then(|all| <[u64; 3]>::try_from(all).ok());
        three.ok_or_else(|| refuse(what, said, parts))
    }

    /// Bytes of an element of a datatype. Its extent may be any number.
    pub(super) fn datatype(&mut self) -> Result<u64, Refusal> {
        let [_, bytes, _] = self.triple("datatype", "number,size,extent")?;
        if bytes <= MOST {
            return Ok(bytes);
        }
        Err(refuse("datatype", &bytes.to_string(), "a size of 2^40 bytes at most"))
    }

    pub(super) fn comm(&mut self) -> Result<NamedCommunicator, Refusal> {
        let parts = "handle,rank,size of a communicator";
        let [handle, rank, size] = self.triple("comm", parts)?;
        let most = u64::from(u32::MAX) - 1;
        if rank >= size || size > most {
            return Err(refuse("comm", &format!("{handle},{rank},{size}"), parts));
        }
        Ok(NamedCommunicator {
            handle,
            shape: CommunicatorMembership::Of(rank as u32, size as u32),
        })
    }

    /// A count and its datatype, in bytes.
    pub(super) fn bytes(&mut self) -> Result<u64, Refusal> {
        let count = self.whole("count")?;
        let size = self.datatype()?;
        bytes(count, size)
    }

    pub(super) fn peer(&mut self, what: &str) -> Result<CallPeer, Refusal> {
        let rank = self.signed(what)?;
        if rank == self.constants.null {
            return Ok(CallPeer::Null);
        }
        if rank == self.constants.any {
            return Ok(CallPeer::Any);
        }
        let help = "a rank; -1 and -2 are any and none, by mpi=openmpi or mpi=mpich";
        let rank = u32::try_from(rank).map_err(|_| refuse(what, &rank.to_string(), help))?;
        Ok(CallPeer::Rank(rank))
    }

    pub(super) fn tag(&mut self) -> Result<Option<u32>, Refusal> {
        match self.signed("tag")? {
            -1 => Ok(None),
            tag => match u32::try_from(tag).ok().filter(|&t| i32::try_from(t).is_ok()) {
                Some(tag) => Ok(Some(tag)),
                None => Err(refuse("tag", &tag.to_string(), "0 to 2147483647, or -1: any")),
            },
        }
    }

    pub(super) fn root(&mut self) -> Result<Option<u32>, Refusal> {
        let root = self.whole("root")?;
        u32::try_from(root).map(Some).map_err(|_| refuse("root", &root.to_string(), "a rank"))
    }

    /// The variables of requests: how many, and the address of the first.
    pub(super) fn requests(&mut self) -> Result<RequestList, Refusal> {
        let (count, first) = (self.whole("count")?, self.whole("requests")?);
        if count > 1 << 24 {
            return Err(refuse("count", &count.to_string(), "2^24 requests at most"));
        }
        Ok(RequestList::Row(first, self.constants.request_bytes, count))
    }

    /// The numbers of an array, where they are listed.
    pub(super) fn counts(&mut self, what: &str) -> Result<Option<Vec<u64>>, Refusal> {
        self.next(what)?;
        if !self.listed {
            return Ok(None);
        }
        let said = self.next(what)?;
        let all: Option<Vec<u64>> = said.split(',').map(|n| n.trim().parse().ok()).collect();
        all.map(Some).ok_or_else(|| refuse(what, said, "whole numbers with commas between them"))
    }

    /// Reads displacements, which are not used.
    pub(super) fn displacements(&mut self) -> Result<(), Refusal> {
        self.next("displacements")?;
        if self.listed {
            self.next("displacements")?;
        }
        Ok(())
    }
}

/// The bytes of `count` elements of a size.
pub(super) fn bytes(count: u64, size: u64) -> Result<u64, Refusal> {
    count.checked_mul(size).filter(|&bytes| bytes <= MOST).ok_or_else(|| {
        Refusal::new("count", format!("{count} of {size} bytes"), "2^40 bytes at most")
    })
}
