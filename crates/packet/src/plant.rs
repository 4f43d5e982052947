//! The network as routers and endpoints see it: their ports, the port at the other end of each
//! link, rates and latencies.

use super::event::ChunkSender;
use super::timing::transmission_ps;
use des::LpNumber;
use paths::wiring::{CableEnd, EndpointAttachment, RouterWiring};

/// The class of a link, which determines its rate and buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkClass {
    /// Between routers of a group.
    Local,
    /// Between routers of different groups.
    Global,
    /// Between an endpoint and its router, in both directions.
    Endpoint,
}

/// The far end of a link: what a port of a router is connected to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkFarEnd {
    /// The router or endpoint at the far end.
    pub lp: LpNumber,
    /// The port at the far end; for an endpoint, its rail.
    pub port: u16,
    /// The class of the link.
    pub class: LinkClass,
    /// The index of the link's rate and buffers.
    pub kind: u16,
    /// The latency of the link, ps.
    pub latency_ps: u32,
}

/// The rate and buffers of links of one kind.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkClassProperties {
    /// The rate of the link, in GiB/s.
    pub gib_per_s: f64,
    /// Size of the buffer of a virtual channel at the far end, in chunks.
    pub chunks: u32,
    /// Size of that buffer, in bytes.
    pub bytes: u32,
    /// Transmission time of a full chunk, ps.
    pub chunk_ps: u64,
}

/// The simulated network. Its logical processes are the routers, then the endpoints.
#[derive(Debug, Clone)]
pub struct SimulatedNetwork {
    /// Number of routers in all planes.
    pub routers: u32,
    /// The number of endpoints.
    pub endpoints: u32,
    /// Rails of each endpoint, each in a plane of its own.
    pub rails: u32,
    /// Virtual channels of a port over all classes of traffic; those of one class are consecutive.
    pub lanes: u32,
    /// The number of classes of traffic.
    pub classes: u32,
    /// Length of a full chunk, in bytes.
    pub chunk_bytes: u32,
    /// Rates and buffers: those of local links, of global links and of endpoints, then those of
    /// cables with rates of their own.
    links: Vec<LinkClassProperties>,
    /// Whether all links of endpoints have the rate of [`LinkClass::Endpoint`].
    is_one_endpoint_rate: bool,
    offsets: Vec<u32>,
    far_ends: Vec<LinkFarEnd>,
    /// The latency of the links if all have the same; else none.
    latency_ps: Option<u32>,
    /// The router and port of each rail of each endpoint.
    attached: Vec<EndpointAttachment>,
}

impl SimulatedNetwork {
    /// The simulated network of a wiring. Its rails are numbered as by [`RouterWiring::of`]; its
    /// latencies are in ps, each one more than the real latency. `class` returns the class of the
    /// link between two routers, `lanes` is the number of virtual channels of each class of
    /// traffic.
    pub fn new(
        wiring: &RouterWiring,
        rails: u32,
        (lanes, classes): (u32, u32),
        chunk_bytes: u32,
        links: [LinkClassProperties; 3],
        class: impl Fn(u32, u32) -> LinkClass,
    ) -> Self {
        let routers = wiring.routers();
        let attached = wiring.endpoints().to_vec();
        let (mut offsets, mut far_ends) = (vec![0], Vec::new());
        for router in 0..routers {
            for port in wiring.ports(router) {
                let (lp, port_there, class) = match port.end {
                    CableEnd::Router { router: other, port } => (other, port, class(router, other)),
                    CableEnd::Endpoint(rail) => {
                        (routers + rail / rails, (rail % rails) as u16, LinkClass::Endpoint)
                    }
                    CableEnd::Empty => (router, 0, LinkClass::Local),
                };
                let latency_ps = port.out_latency - 1;
                let kind = class as u16;
                far_ends.push(LinkFarEnd { lp, port: port_there, class, kind, latency_ps });
            }
            offsets.push(far_ends.len() as u32);
        }
        let endpoints = attached.len() as u32 / rails;
        let first = far_ends.first().map_or(0, |b: &LinkFarEnd| b.latency_ps);
        let latency_ps = far_ends.iter().all(|b| b.latency_ps == first).then_some(first);
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
            far_ends,
            latency_ps,
            attached,
        }
    }

    /// A kind of link with a rate in GiB/s and buffers of `buffer_bytes` for each virtual channel.
    pub fn link(gib_per_s: f64, buffer_bytes: u32, chunk_bytes: u32) -> LinkClassProperties {
        let chunk_ps = transmission_ps(chunk_bytes.into(), gib_per_s);
        let chunks = buffer_bytes / chunk_bytes;
        LinkClassProperties { gib_per_s, chunks, bytes: buffer_bytes, chunk_ps }
    }

    /// The same network with the rates of individual links: `rate` gives that of a router's port in
    /// GiB/s, or none to keep it; buffers stay those of the link's class. O(links x rates).
    #[must_use]
    pub fn with_rates(mut self, rate: impl Fn(u32, usize) -> Option<f64>) -> Self {
        for router in 0..self.routers {
            let first = self.offsets[router as usize] as usize;
            for port in 0..self.ports(router) {
                let class = self.far_ends[first + port].class;
                let Some(gib_per_s) = rate(router, port) else { continue };
                let link = Self::link(gib_per_s, self.of(class).bytes, self.chunk_bytes);
                let known = self.links.iter().position(|other| *other == link);
                let kind = known.unwrap_or_else(|| {
                    self.links.push(link);
                    self.links.len() - 1
                });
                self.far_ends[first + port].kind = kind as u16;
            }
        }
        let endpoint = self.of(LinkClass::Endpoint).clone();
        let rails = self.far_ends.iter().filter(|b| b.class == LinkClass::Endpoint);
        self.is_one_endpoint_rate =
            rails.map(|b| &self.links[usize::from(b.kind)]).all(|link| *link == endpoint);
        self
    }

    /// All kinds of links.
    pub fn links(&self) -> &[LinkClassProperties] {
        &self.links
    }

    /// The index of the link kind of a rail of an endpoint.
    #[inline]
    pub(super) fn kind_of_rail(&self, endpoint: u32, rail: u8) -> u16 {
        if self.is_one_endpoint_rate {
            return LinkClass::Endpoint as u16;
        }
        let at = self.at(endpoint, rail);
        self.behind(at.router, at.port).kind
    }

    /// Transmission time of a chunk at the combined rate of `rails` rails of an endpoint, ps;
    /// `rails` is 1 or the number of all rails.
    #[inline]
    pub(super) fn interface_ps(&self, endpoint: u32, rails: u32, bytes: u32) -> u64 {
        if self.is_one_endpoint_rate {
            return self.chunk_ps(LinkClass::Endpoint as u16, bytes) / u64::from(rails);
        }
        let rate = |rail: u32| self.kind(self.kind_of_rail(endpoint, rail as u8)).gib_per_s;
        transmission_ps(bytes.into(), (0..rails).map(rate).sum())
    }

    /// The far ends of all ports of a router.
    pub fn all(&self, router: u32) -> impl Iterator<Item = LinkFarEnd> + '_ {
        let [first, last] = [router, router + 1].map(|r| self.offsets[r as usize] as usize);
        self.far_ends[first..last].iter().copied()
    }

    /// The port of a router by which a chunk from `sender` comes in.
    #[inline]
    pub(super) fn comes_by(&self, sender: ChunkSender) -> u16 {
        if sender.lp < self.routers {
            self.behind(sender.lp, sender.port).port
        } else {
            self.at(sender.lp - self.routers, sender.port as u8).port
        }
    }

    /// The latency of the link that a chunk from `sender` crosses, ps.
    #[inline]
    pub(super) fn latency_ps(&self, sender: ChunkSender) -> u64 {
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

    /// The number of virtual channels of each class of traffic.
    #[inline]
    pub fn lanes_each(&self) -> u32 {
        self.lanes / self.classes
    }

    /// The class of traffic that a virtual channel belongs to.
    #[inline]
    pub fn class_of(&self, lane: u8) -> u8 {
        if self.classes == 1 { 0 } else { (u32::from(lane) / self.lanes_each()) as u8 }
    }

    /// The number of ports of a router.
    pub fn ports(&self, router: u32) -> usize {
        (self.offsets[router as usize + 1] - self.offsets[router as usize]) as usize
    }

    /// The far end of the link at a port of a router.
    #[inline]
    pub fn behind(&self, router: u32, port: u16) -> LinkFarEnd {
        self.far_ends[self.offsets[router as usize] as usize + usize::from(port)]
    }

    /// The router and port of a rail of an endpoint.
    #[inline]
    pub fn at(&self, endpoint: u32, rail: u8) -> EndpointAttachment {
        self.attached[(endpoint * self.rails) as usize + usize::from(rail)]
    }

    /// The rate and buffers with this index.
    #[inline]
    pub fn kind(&self, kind: u16) -> &LinkClassProperties {
        &self.links[usize::from(kind)]
    }

    /// The kind of links of a class whose cables have no rates of their own.
    #[inline]
    pub fn of(&self, class: LinkClass) -> &LinkClassProperties {
        &self.links[class as usize]
    }

    /// Transmission time of a chunk on a link of this kind, ps.
    #[inline]
    pub fn chunk_ps(&self, kind: u16, bytes: u32) -> u64 {
        let link = self.kind(kind);
        if bytes == self.chunk_bytes {
            link.chunk_ps
        } else {
            transmission_ps(bytes.into(), link.gib_per_s)
        }
    }

    /// The number of the logical process of an endpoint.
    #[inline]
    pub fn lp(&self, endpoint: u32) -> LpNumber {
        self.routers + endpoint
    }
}
