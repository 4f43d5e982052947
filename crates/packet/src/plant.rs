//! The network as routers and endpoints see it: ports, what is behind them, and how fast.

use super::event::Sender;
use super::timing::transmission_ps;
use des::Lp;
use paths::wiring::{Attached, End, Wiring};

/// Kinds of links, each with a rate and buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Between routers of a group.
    Local,
    /// Between groups.
    Global,
    /// Between an endpoint and its router, both ways.
    Endpoint,
}

/// What is behind a port of a router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Behind {
    /// The router or endpoint.
    pub lp: Lp,
    /// Its port; of an endpoint its rail.
    pub port: u16,
    /// Its kind of link.
    pub class: Class,
    /// Its rate and buffers, by their number.
    pub kind: u16,
    /// The latency of the link, ps.
    pub latency_ps: u32,
}

/// Rates and buffers of a kind of link.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Rate, GiB/s.
    pub gib_per_s: f64,
    /// Room of a virtual channel behind it, chunks.
    pub chunks: u32,
    /// The same, bytes.
    pub bytes: u32,
    /// The time of a whole chunk, ps.
    pub chunk_ps: u64,
}

/// The network. Logical processes are the routers, then the endpoints.
#[derive(Debug, Clone)]
pub struct Plant {
    /// Routers of all planes.
    pub routers: u32,
    /// Endpoints.
    pub endpoints: u32,
    /// Rail of an endpoint, each in a plane of its own.
    pub rails: u32,
    /// Virtual channels of a port, of all classes of traffic: those of each follow one another.
    pub lanes: u32,
    /// Classes of traffic.
    pub classes: u32,
    /// A full chunk.
    pub chunk_bytes: u32,
    /// Rates and buffers: of local links, global ones and those of endpoints; then of cables that
    /// have rates of their own.
    links: Vec<Link>,
    /// Whether all links of endpoints are as [`Class::Endpoint`] says.
    is_one_endpoint_rate: bool,
    offsets: Vec<u32>,
    behind: Vec<Behind>,
    /// The latency of all links, where they have the same.
    latency_ps: Option<u32>,
    /// Of each endpoint and rail the router and its port.
    attached: Vec<Attached>,
}

impl Plant {
    /// The network of a wiring, with rails numbered as [`Wiring::of`] does and latencies of links
    /// in ps, each one more than it is; `class` says of which kind the link between two routers
    /// is. So many virtual channels are of each class of traffic.
    pub fn new(
        wiring: &Wiring,
        rails: u32,
        (lanes, classes): (u32, u32),
        chunk_bytes: u32,
        links: [Link; 3],
        class: impl Fn(u32, u32) -> Class,
    ) -> Self {
        let routers = wiring.routers();
        let attached = wiring.endpoints().to_vec();
        let (mut offsets, mut behind) = (vec![0], Vec::new());
        for router in 0..routers {
            for port in wiring.ports(router) {
                let (lp, port_there, class) = match port.end {
                    End::Router { router: other, port } => (other, port, class(router, other)),
                    End::Endpoint(rail) => {
                        (routers + rail / rails, (rail % rails) as u16, Class::Endpoint)
                    }
                    End::Empty => (router, 0, Class::Local),
                };
                let latency_ps = port.out_latency - 1;
                let kind = class as u16;
                behind.push(Behind { lp, port: port_there, class, kind, latency_ps });
            }
            offsets.push(behind.len() as u32);
        }
        let endpoints = attached.len() as u32 / rails;
        let first = behind.first().map_or(0, |b: &Behind| b.latency_ps);
        let latency_ps = behind.iter().all(|b| b.latency_ps == first).then_some(first);
        Self {
            routers,
            endpoints,
            rails,
            lanes: lanes * classes,
            classes,
            chunk_bytes,
            links: links.into(),
            is_one_endpoint_rate: true,
            offsets,
            behind,
            latency_ps,
            attached,
        }
    }

    /// A kind of link with a rate in GiB/s and `buffer_bytes` a virtual channel.
    pub fn link(gib_per_s: f64, buffer_bytes: u32, chunk_bytes: u32) -> Link {
        let chunk_ps = transmission_ps(chunk_bytes.into(), gib_per_s);
        let chunks = buffer_bytes / chunk_bytes;
        Link { gib_per_s, chunks, bytes: buffer_bytes, chunk_ps }
    }

    /// The same network, where the link behind a port of a router has a rate of its own, GiB/s, or
    /// none; buffers are those of its class. O(links x rates).
    #[must_use]
    pub fn with_rates(mut self, rate: impl Fn(u32, usize) -> Option<f64>) -> Self {
        for router in 0..self.routers {
            let first = self.offsets[router as usize] as usize;
            for port in 0..self.ports(router) {
                let class = self.behind[first + port].class;
                let Some(gib_per_s) = rate(router, port) else { continue };
                let link = Self::link(gib_per_s, self.of(class).bytes, self.chunk_bytes);
                let known = self.links.iter().position(|other| *other == link);
                let kind = known.unwrap_or_else(|| {
                    self.links.push(link);
                    self.links.len() - 1
                });
                self.behind[first + port].kind = kind as u16;
            }
        }
        let endpoint = self.of(Class::Endpoint).clone();
        let rails = self.behind.iter().filter(|b| b.class == Class::Endpoint);
        self.is_one_endpoint_rate =
            rails.map(|b| &self.links[usize::from(b.kind)]).all(|link| *link == endpoint);
        self
    }

    /// All rates and buffers that there are.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The kind of link of a rail of an endpoint.
    #[inline]
    pub(super) fn kind_of_rail(&self, endpoint: u32, rail: u8) -> u16 {
        if self.is_one_endpoint_rate {
            return Class::Endpoint as u16;
        }
        let at = self.at(endpoint, rail);
        self.behind(at.router, at.port).kind
    }

    /// The time of a chunk at the rate of so many rails of an endpoint together, ps: all that it
    /// has, or one.
    #[inline]
    pub(super) fn interface_ps(&self, endpoint: u32, rails: u32, bytes: u32) -> u64 {
        if self.is_one_endpoint_rate {
            return self.chunk_ps(Class::Endpoint as u16, bytes) / u64::from(rails);
        }
        let rate = |rail: u32| self.kind(self.kind_of_rail(endpoint, rail as u8)).gib_per_s;
        transmission_ps(bytes.into(), (0..rails).map(rate).sum())
    }

    /// What is behind the ports of a router.
    pub fn all(&self, router: u32) -> impl Iterator<Item = Behind> + '_ {
        let [first, last] = [router, router + 1].map(|r| self.offsets[r as usize] as usize);
        self.behind[first..last].iter().copied()
    }

    /// The port by which a chunk comes to a router.
    #[inline]
    pub(super) fn comes_by(&self, sender: Sender) -> u16 {
        if sender.lp < self.routers {
            self.behind(sender.lp, sender.port).port
        } else {
            self.at(sender.lp - self.routers, sender.port as u8).port
        }
    }

    /// The latency of the link by which a chunk comes, ps.
    #[inline]
    pub(super) fn latency_ps(&self, sender: Sender) -> u64 {
        if let Some(same) = self.latency_ps {
            return same.into();
        }
        let (router, port) = if sender.lp < self.routers {
            (sender.lp, sender.port)
        } else {
            let at = self.at(sender.lp - self.routers, sender.port as u8);
            (at.router, at.port)
        };
        self.behind(router, port).latency_ps.into()
    }

    /// Virtual channels of a class.
    #[inline]
    pub fn lanes_each(&self) -> u32 {
        self.lanes / self.classes
    }

    /// The class whose virtual channel this is.
    #[inline]
    pub fn class_of(&self, lane: u8) -> u8 {
        if self.classes == 1 { 0 } else { (u32::from(lane) / self.lanes_each()) as u8 }
    }

    /// How many ports a router has.
    pub fn ports(&self, router: u32) -> usize {
        (self.offsets[router as usize + 1] - self.offsets[router as usize]) as usize
    }

    /// What is behind a port of a router.
    #[inline]
    pub fn behind(&self, router: u32, port: u16) -> Behind {
        self.behind[self.offsets[router as usize] as usize + usize::from(port)]
    }

    /// The router and port of a rail of an endpoint.
    #[inline]
    pub fn at(&self, endpoint: u32, rail: u8) -> Attached {
        self.attached[(endpoint * self.rails) as usize + usize::from(rail)]
    }

    /// A kind of link.
    #[inline]
    pub fn kind(&self, kind: u16) -> &Link {
        &self.links[usize::from(kind)]
    }

    /// The links of a class whose cables have no rates of their own.
    #[inline]
    pub fn of(&self, class: Class) -> &Link {
        &self.links[class as usize]
    }

    /// The time of a chunk on a link, ps.
    #[inline]
    pub fn chunk_ps(&self, kind: u16, bytes: u32) -> u64 {
        let link = self.kind(kind);
        if bytes == self.chunk_bytes {
            link.chunk_ps
        } else {
            transmission_ps(bytes.into(), link.gib_per_s)
        }
    }

    /// The logical process of an endpoint.
    #[inline]
    pub fn lp(&self, endpoint: u32) -> Lp {
        self.routers + endpoint
    }
}
