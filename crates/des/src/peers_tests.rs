//! Tests of runs over several processes.

use crate::peers::{PeerByteExchange, PeerEventTransport, WireEncodable, agree, all, same};
use crate::tests::{PholdModel, drawn_parts, listed};
use crate::wired::each;
use crate::{EventTransport, LpPartResult, SimulationModel, windows_over};
use base::seed::FastRandomStream;
use base::{ComputationError, Interrupted, QuietWatch, Refusal};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Several processes give the same result as a sorted list, even where some have nothing to do.
    #[test]
    fn processes_are_equal(
        lps in 1_u32..12,
        seed in any::<u64>(),
        events in 1_u32..6,
        parts in 1_u16..4,
        idle in 0_usize..2,
        least_ps in 1_u64..2000,
        zeros in 0_u32..5,
        end_ps in 0_u64..60_000,
    ) {
        let model = PholdModel { lps, seed, events, least_ps, zeros };
        let (states, tally, handled) = listed(&model, end_ps);
        let part_of = drawn_parts(lps, parts, seed);
        let found = each(usize::from(parts) + idle, |peers| {
            let mut over = PeerEventTransport::new(peers);
            windows_over(&model, &part_of, end_ps, &mut over, &QuietWatch).unwrap().unwrap()
        });
        prop_assert_eq!(found.iter().map(|part| part.events).sum::<u64>(), handled);
        let (mut merged, mut windows) = (model.tally(), found[0].windows);
        let mut rest: Vec<_> = found.into_iter().map(|part: LpPartResult<PholdModel>| {
            model.merge(&mut merged, part.tally);
            windows = windows.max(part.windows);
            part.states.into_iter()
        }).collect();
        prop_assert_eq!(merged, tally);
        for (part, state) in part_of.iter().zip(&states) {
            let mine = rest[usize::from(*part)].next();
            prop_assert_eq!(mine.as_ref(), Some(state));
        }
    }

    /// Values that were encoded are decoded again, and no truncated encoding is accepted.
    #[test]
    fn bytes_are_read_as_they_were_written(seed in any::<u64>(), words in any::<Vec<String>>()) {
        let mut dice = FastRandomStream::new(seed, "wire", 0);
        let wide = u128::from(dice.next_u64()) << 64 | u128::from(dice.next_u64());
        let numbers = ((dice.next_u64() as u8, dice.next_u64() as u16), (dice.next_u64(), wide));
        let given = (numbers, (words, dice.below(2) == 1));
        let mut bytes = Vec::new();
        given.put(&mut bytes);
        let mut rest = &bytes[..];
        prop_assert_eq!(<((_, _), _)>::take(&mut rest), Some(given));
        prop_assert!(rest.is_empty());
        let mut cut = &bytes[..dice.below(bytes.len() as u32) as usize];
        prop_assert_eq!(<(((u8, u16), (u64, u128)), (Vec<String>, bool))>::take(&mut cut), None);
    }
}

#[test]
fn all_hear_what_each_says() {
    let found = each(3, |peers| {
        let mine = format!("rank {}", peers.me());
        all(peers, mine).unwrap()
    });
    assert!(found.iter().all(|said| said == &["rank 0", "rank 1", "rank 2"]));
}

#[test]
fn one_refusal_is_everybodys() {
    let refuse = |why: &str| Err::<(), _>(ComputationError::from(Refusal::new("q", why, "7")));
    let outcome = |of: &(dyn Fn(usize) -> Result<(), ComputationError> + std::marker::Sync)| {
        let mut found = each(3, |peers| {
            let mine = of(peers.me());
            agree(peers, mine).map_err(|why| why.to_string())
        });
        found.dedup();
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    };
    assert_eq!(outcome(&|_| Ok(())), Ok(()));
    assert_eq!(outcome(&|_| refuse("6 is even")), Err("q: 6 is even; 7".to_owned()));
    let one = outcome(&|me| if me == 1 { refuse("no file") } else { Ok(()) });
    assert_eq!(one, Err("q: rank 1 of 3: no file; 7".to_owned()));
    let stopped = outcome(&|me| if me == 2 { Err(Interrupted.into()) } else { Ok(()) });
    assert_eq!(stopped, Err(ComputationError::from(Interrupted).to_string()));
}

#[test]
fn ranks_that_were_given_something_else_are_named() {
    let outcome = |versions: [&'static str; 3]| {
        each(3, |peers| {
            let given = [("network", "ring".to_owned()), ("version", versions[peers.me()].into())];
            same(peers, &given).map_err(|why| why.to_string())
        })
    };
    assert!(outcome(["1", "1", "1"]).iter().all(Result::is_ok));
    for found in outcome(["1", "1", "2"]) {
        let why = found.unwrap_err();
        assert!(why.contains("rank 2 has version 2, rank 0 has 1"), "{why}");
    }
}

/// The refusal of a truncated message names the sender.
#[test]
fn what_cannot_be_read_is_refused() {
    let found = each(2, |peers| {
        if peers.me() == 1 {
            let mut bytes = Vec::new();
            (5_u64, false).put(&mut bytes);
            bytes.push(7);
            peers.exchange(&[bytes, vec![]], &mut |_, _| {}).unwrap();
            return String::new();
        }
        let mut out: [Vec<crate::Event<u32>>; 2] = [vec![], vec![]];
        let exchanged = PeerEventTransport::new(peers).exchange(&mut out, 9, false, &mut |_| {});
        exchanged.unwrap_err().to_string()
    });
    assert!(found[0].contains("rank 1 sent what this one cannot read"), "{found:?}");
}
