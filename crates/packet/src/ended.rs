//! What is left of routers and endpoints once a run is over: sums, so that parts of a network that
//! ran apart add up.

use super::event::NONE;
use super::model::{Model, State};
use super::node::Node;
use super::plant::Class;
use super::port::{NEVER_PS, Port};
use super::replay::RankTime;
use base::seed::fnv1a64;
use des::Lp;
use message::Left;

/// A port of a router and how long it was busy; beside a background, until all jobs were done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busiest {
    /// How long, ps; 0 where no port was.
    pub busy_ps: u64,
    /// The router.
    pub router: Lp,
    /// Its port.
    pub port: u16,
}

/// What a port of a router did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Did {
    /// The router.
    pub router: Lp,
    /// Its port.
    pub port: u16,
    /// Bytes that it has sent.
    pub bytes: u64,
    /// How long it was busy, ps; beside a background, until all jobs were done, as what follows.
    pub busy_ps: u64,
    /// Most chunks that waited for it at once.
    pub most: u32,
    /// How long chunks waited for it while it was free, for lack of room behind it, ps.
    pub blocked_ps: u64,
    /// Since when that is so, ps; the greatest number where it is not.
    pub since_ps: u64,
}

/// What is left of some logical processes, or of all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Of all numbers of all of them: equal processes have equal ones, whoever ran them.
    pub digest: u64,
    /// The port between routers that was busy longest, the first of equal ones.
    pub busiest: Busiest,
    /// Whether packets wait anywhere.
    pub waits: bool,
    /// Ports between routers, where they are asked for.
    pub links: Vec<Did>,
    /// Processes of traces.
    pub times: Vec<RankTime>,
    /// What these could not do.
    pub left: Left,
}

impl Default for Ended {
    fn default() -> Self {
        let busiest = Busiest { busy_ps: 0, router: NONE, port: 0 };
        let (links, times, left) = (Vec::new(), Vec::new(), Left::default());
        Self { digest: 0, busiest, waits: false, links, times, left }
    }
}

impl Ended {
    /// Of these processes. O(ports).
    pub fn of<'a>(model: &Model, states: impl Iterator<Item = (Lp, &'a State)>) -> Self {
        let mut all = Self::default();
        let mut bytes = Vec::new();
        for (lp, state) in states {
            bytes.clear();
            let mut word = |word: u64| bytes.extend(word.to_le_bytes());
            word(lp.into());
            let ports = match state {
                State::Router(node) => {
                    all.router(model, lp, node);
                    &node.ports
                }
                State::Endpoint(it) => {
                    let seen = it.seen;
                    let words = [seen.chunks, seen.bytes, seen.latency_ps, seen.last_ps];
                    words.into_iter().for_each(&mut word);
                    if let Some(plays) = &it.plays {
                        let first = all.times.len();
                        all.times.extend(plays.times());
                        all.times[first..].iter().for_each(|time| word(time.end_ps));
                        plays.leaves(&mut all.left);
                    }
                    &it.node.ports
                }
            };
            for port in ports {
                [port.bytes, port.busy_ps, port.blocked_ps].into_iter().for_each(&mut word);
                all.waits |= port.queued + port.pending > 0;
            }
            all.digest = all.digest.wrapping_add(fnv1a64(&bytes));
        }
        all.sort();
        all
    }

    fn router(&mut self, model: &Model, router: Lp, node: &Node) {
        let until = node.recent.as_ref().and_then(|recent| recent.until.as_ref());
        for (at, (port, behind)) in (0..).zip(node.ports.iter().zip(model.plant.all(router))) {
            if behind.class != Class::Endpoint {
                let Port { bytes, mut busy_ps, most, mut blocked_ps, mut since_ps, .. } = *port;
                if let Some(until) = until.map(|all| all[usize::from(at)]) {
                    (busy_ps, blocked_ps, since_ps) = (until.busy_ps, until.blocked_ps, NEVER_PS);
                }
                self.busy(Busiest { busy_ps, router, port: at });
                if model.links {
                    self.links.push(Did {
                        router,
                        port: at,
                        bytes,
                        busy_ps,
                        most,
                        blocked_ps,
                        since_ps,
                    });
                }
            }
        }
    }

    fn busy(&mut self, other: Busiest) {
        let mine = self.busiest;
        let is_first = (other.router, other.port) < (mine.router, mine.port);
        if other.busy_ps > 0
            && (other.busy_ps > mine.busy_ps || other.busy_ps == mine.busy_ps && is_first)
        {
            self.busiest = other;
        }
    }

    /// Adds what is left of others.
    pub fn add(&mut self, other: &Self) {
        self.digest = self.digest.wrapping_add(other.digest);
        self.busy(other.busiest);
        self.waits |= other.waits;
        self.links.extend(&other.links);
        self.times.extend(&other.times);
        for (mine, theirs) in [
            (&mut self.left.stuck, &other.left.stuck),
            (&mut self.left.sends, &other.left.sends),
            (&mut self.left.receives, &other.left.receives),
            (&mut self.left.messages, &other.left.messages),
        ] {
            mine.extend(theirs);
        }
        self.sort();
    }

    fn sort(&mut self) {
        self.links.sort_unstable();
        self.times.sort_unstable();
        let Left { stuck, sends, receives, messages } = &mut self.left;
        for all in [stuck, sends, receives, messages] {
            all.sort_unstable();
        }
    }
}
