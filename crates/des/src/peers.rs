//! Several processes as the parts of one run; a trait hides how they exchange bytes.

use crate::model::{Event, EventKey};
use crate::windows::EventTransport;
use base::{ComputationError, Interrupted, Refusal};

/// A value with an encoding as bytes that is the same on all machines.
pub trait WireEncodable: Sized {
    /// Appends the encoding to `into`.
    fn put(&self, into: &mut Vec<u8>);

    /// Decodes a value from the start of `from` and removes it there; `None` where it is
    /// incomplete.
    fn take(from: &mut &[u8]) -> Option<Self>;
}

macro_rules! wire_numbers {
    ($($number:ty),*) => {$(
        impl WireEncodable for $number {
            #[inline]
            fn put(&self, into: &mut Vec<u8>) {
                into.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(from: &mut &[u8]) -> Option<Self> {
                let (mine, rest) = from.split_first_chunk()?;
                *from = rest;
                Some(Self::from_le_bytes(*mine))
            }
        }
    )*};
}

wire_numbers!(u8, u16, u32, u64, u128);

impl WireEncodable for bool {
    #[inline]
    fn put(&self, into: &mut Vec<u8>) {
        into.push((*self).into());
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        match u8::take(from)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }
}

impl WireEncodable for String {
    fn put(&self, into: &mut Vec<u8>) {
        (self.len() as u64).put(into);
        into.extend_from_slice(self.as_bytes());
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let length = usize::try_from(u64::take(from)?).ok()?;
        let (mine, rest) = from.split_at_checked(length)?;
        *from = rest;
        Self::from_utf8(mine.to_vec()).ok()
    }
}

impl<T: WireEncodable> WireEncodable for Vec<T> {
    fn put(&self, into: &mut Vec<u8>) {
        (self.len() as u64).put(into);
        for item in self {
            item.put(into);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        (0..u64::take(from)?).map(|_| T::take(from)).collect()
    }
}

impl<E: WireEncodable> WireEncodable for Event<E> {
    #[inline]
    fn put(&self, into: &mut Vec<u8>) {
        self.key.bits().put(into);
        self.to.put(into);
        self.what.put(into);
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        let (key, to) = (EventKey::of_bits(u128::take(from)?), u32::take(from)?);
        Some(Self { key, to, what: E::take(from)? })
    }
}

/// The exchange of bytes among processes that run in step: all make the same calls in the same
/// order.
pub trait PeerByteExchange {
    /// The number of this process.
    fn me(&self) -> usize;

    /// The number of processes.
    fn count(&self) -> usize;

    /// Sends `out[p]` to every other process p, and hands what each of them sends to `take`, in the
    /// order of their numbers. `out` has an entry for every process.
    ///
    /// # Errors
    /// When another process cannot be reached any more.
    fn exchange(
        &mut self,
        out: &[Vec<u8>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), ComputationError>;
}

/// A transport of events between parts that are separate processes.
pub struct PeerEventTransport<'a> {
    peers: &'a mut dyn PeerByteExchange,
    out: Vec<Vec<u8>>,
}

impl<'a> PeerEventTransport<'a> {
    /// A transport over these processes.
    pub fn new(peers: &'a mut dyn PeerByteExchange) -> Self {
        let out = vec![Vec::new(); peers.count()];
        Self { peers, out }
    }
}

impl<E: WireEncodable> EventTransport<E> for PeerEventTransport<'_> {
    fn me(&self) -> usize {
        self.peers.me()
    }

    fn exchange(
        &mut self,
        out: &mut [Vec<Event<E>>],
        first_ps: u64,
        stop: bool,
        take: &mut dyn FnMut(Event<E>),
    ) -> Result<(u64, bool), ComputationError> {
        for bytes in &mut self.out {
            bytes.clear();
            (first_ps, stop).put(bytes);
        }
        for (events, bytes) in out.iter_mut().zip(&mut self.out) {
            events.drain(..).for_each(|event| event.put(bytes));
        }
        let (mut first_ps, mut stop, mut broken) = (first_ps, stop, None);
        self.peers.exchange(&self.out, &mut |from, mut bytes| {
            let said = <(u64, bool)>::take(&mut bytes);
            if let Some((first, stops)) = said {
                first_ps = first_ps.min(first);
                stop |= stops;
            }
            let mut is_whole = said.is_some();
            while is_whole && !bytes.is_empty() {
                match Event::take(&mut bytes) {
                    Some(event) => take(event),
                    None => is_whole = false,
                }
            }
            if !is_whole {
                broken = Some(from);
            }
        })?;
        broken.map_or(Ok((first_ps, stop)), |from| Err(no_message(from)))
    }
}

impl<A: WireEncodable, B: WireEncodable> WireEncodable for (A, B) {
    #[inline]
    fn put(&self, into: &mut Vec<u8>) {
        self.0.put(into);
        self.1.put(into);
    }

    #[inline]
    fn take(from: &mut &[u8]) -> Option<Self> {
        Some((A::take(from)?, B::take(from)?))
    }
}

fn no_message(from: usize) -> ComputationError {
    let why = format!("rank {from} sent what this one cannot read");
    Refusal::new("", why, "the same flyloom for all ranks").into()
}

/// Returns the values `mine` of all processes, by their numbers. All processes must call this at
/// the same point of their work.
///
/// # Errors
/// The errors of [`PeerByteExchange::exchange`], and when a message cannot be read.
pub fn all<T: WireEncodable>(
    peers: &mut dyn PeerByteExchange,
    mine: T,
) -> Result<Vec<T>, ComputationError> {
    let (me, count) = (peers.me(), peers.count());
    let mut bytes = Vec::new();
    mine.put(&mut bytes);
    let mut given: Vec<Option<T>> = (0..count).map(|_| None).collect();
    peers.exchange(&vec![bytes; count], &mut |from, mut bytes| {
        given[from] = T::take(&mut bytes).filter(|_| bytes.is_empty());
    })?;
    given[me] = Some(mine);
    let read = |(from, found): (usize, Option<T>)| found.ok_or_else(|| no_message(from));
    given.into_iter().enumerate().map(read).collect()
}

/// Returns `mine` if no process has an error; otherwise the same refusal in all processes: that of
/// the first process with an error, with its number unless all processes have the same refusal.
///
/// # Errors
/// When any process has an error, and the errors of [`all`].
pub fn agree<T>(
    peers: &mut dyn PeerByteExchange,
    mine: Result<T, ComputationError>,
) -> Result<T, ComputationError> {
    let said = match &mine {
        Ok(_) => vec![],
        Err(ComputationError::Interrupted(_)) => vec![String::new()],
        Err(ComputationError::Refused(r)) => vec![r.param.clone(), r.why.clone(), r.help.clone()],
    };
    let said = all(peers, said)?;
    let Some(first) = said.iter().position(|words| !words.is_empty()) else { return mine };
    let [param, why, help] = &said[first][..] else { return Err(Interrupted.into()) };
    let same = said.iter().all(|words| words == &said[first]);
    let why = if same { why.clone() } else { format!("rank {first} of {}: {why}", said.len()) };
    Err(Refusal::new(param.clone(), why, help.clone()).into())
}

/// Checks that all processes were given the same values, each with its name.
///
/// # Errors
/// The refusal names the first process that differs from process 0, and the value that differs.
pub fn same(
    peers: &mut dyn PeerByteExchange,
    given: &[(&str, String)],
) -> Result<(), ComputationError> {
    let said = all(peers, given.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>())?;
    for (rank, values) in said.iter().enumerate() {
        let differs = given.iter().zip(said[0].iter().zip(values)).find(|(_, (a, b))| a != b);
        let Some(((name, _), (first, other))) = differs else { continue };
        let shown = |value: &str| if value.len() > 40 { "another" } else { value }.to_owned();
        let why = match (shown(first), shown(other)) {
            (a, b) if a == b => format!("rank {rank} has other {name} than rank 0"),
            (a, b) => format!("rank {rank} has {name} {b}, rank 0 has {a}"),
        };
        return Err(Refusal::new("", why, "the same for all ranks of a run").into());
    }
    Ok(())
}
