//! Peers for tests: threads of one process that exchange bytes over channels.

use super::PeerByteExchange;
use base::ComputationError;
use std::sync::mpsc::{Receiver, Sender, channel};

/// One of several threads that exchange bytes over channels.
pub(crate) struct ChannelExchangePeer {
    me: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
}

impl PeerByteExchange for ChannelExchangePeer {
    fn me(&self) -> usize {
        self.me
    }

    fn count(&self) -> usize {
        self.to.len()
    }

    fn exchange(
        &mut self,
        out: &[Vec<u8>],
        take: &mut dyn FnMut(usize, &[u8]),
    ) -> Result<(), ComputationError> {
        assert_eq!(out.len(), self.to.len());
        for p in (0..out.len()).filter(|p| *p != self.me) {
            self.to[p].send(out[p].clone()).expect("it is there");
        }
        for p in (0..out.len()).filter(|p| *p != self.me) {
            take(p, &self.from[p].recv().expect("it is there"));
        }
        Ok(())
    }
}

/// Runs `work` on `count` threads as peers and returns their results.
pub(crate) fn each<T: Send>(
    count: usize,
    work: impl Fn(&mut ChannelExchangePeer) -> T + Sync,
) -> Vec<T> {
    let mut peers: Vec<ChannelExchangePeer> =
        (0..count).map(|me| ChannelExchangePeer { me, to: vec![], from: vec![] }).collect();
    for a in 0..count {
        for b in 0..count {
            let (to, from) = channel();
            peers[a].to.push(to);
            peers[b].from.push(from);
        }
    }
    std::thread::scope(|scope| {
        let start = |mut one: ChannelExchangePeer| {
            let work = &work;
            scope.spawn(move || work(&mut one))
        };
        let threads: Vec<_> = peers.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
    })
}
