//! The promise of a family: the properties of a network before it is built.

use fabric::size::NetworkSize;

/// A value that a formula promises before the network is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromisedValue<T> {
    /// The value is exactly this.
    Exact(T),
    /// The value is at least the first and at most the second of these.
    Between(T, T),
}

/// An exact fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactFraction {
    /// Numerator.
    pub num: u64,
    /// Denominator, not 0.
    pub den: u64,
}

/// The promise of a family: the properties of a network before it is built, computed by formulas in
/// O(1).
///
/// Distances are over ordered pairs of distinct switches that carry endpoints.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FamilyPromise {
    /// Number of switches.
    pub switches: u64,
    /// Number of endpoints.
    pub endpoints: u64,
    /// Number of switch-to-switch links; parallel links count separately.
    pub links: u64,
    /// Most switch-to-switch ports of any switch.
    pub network_radix: u32,
    /// Longest distance between switches with endpoints.
    pub diameter: PromisedValue<u32>,
    /// Mean distance between switches with endpoints.
    pub mean_distance: PromisedValue<ExactFraction>,
    /// Number of switches between which distances are measured: those with endpoints, or all
    /// switches where there are no endpoints.
    pub edge_switches: u64,
    /// Most ports that any switch uses, to other switches and to endpoints together.
    pub radix: u32,
    /// Number of planes. Planes are equal and share nothing but the endpoints.
    pub planes: u32,
    /// Whether an automorphism maps any switch to any other, so that a measurement from one switch
    /// holds for all. False where that is not known.
    pub vertex_transitive: bool,
}

impl FamilyPromise {
    /// The promise of a direct network: each of `switches` switches carries `p` endpoints.
    ///
    /// # Panics
    /// When the number of ports of a switch does not fit 32 bits.
    pub fn direct(
        switches: u64,
        p: u32,
        links: u64,
        network_radix: u32,
        diameter: PromisedValue<u32>,
        mean_distance: PromisedValue<ExactFraction>,
    ) -> Self {
        Self {
            switches,
            endpoints: switches * u64::from(p),
            links,
            network_radix,
            diameter,
            mean_distance,
            edge_switches: switches,
            radix: network_radix + p,
            planes: 1,
            vertex_transitive: false,
        }
    }

    /// The same promise for a network whose switches are all equivalent.
    #[must_use]
    pub fn vertex_transitive(self) -> Self {
        Self { vertex_transitive: true, ..self }
    }

    /// The number of switches, divided by the largest number that any network of this network radix
    /// and diameter can have. `None` where there are no endpoints (the bound is for direct
    /// networks) or the diameter is not exact.
    pub fn moore_fraction(&self) -> Option<f64> {
        let PromisedValue::Exact(diameter) = self.diameter else { return None };
        let bound = base::moore::moore_bound(self.network_radix, diameter);
        let switches = (self.switches / u64::from(self.planes)) as f64;
        (self.edge_switches == self.switches).then(|| switches / bound as f64)
    }
}

impl FamilyPromise {
    /// The size of the promised network, to be worked on by `threads` threads.
    pub fn size(&self, threads: usize) -> NetworkSize {
        let depth = match self.diameter {
            PromisedValue::Exact(d) | PromisedValue::Between(_, d) => f64::from(d),
        };
        NetworkSize {
            switches: self.switches as f64,
            edge: self.edge_switches as f64,
            links: self.links as f64,
            terminals: self.endpoints as f64 * f64::from(self.planes),
            radix: f64::from(self.network_radix),
            depth,
            sources: if self.vertex_transitive { 1.0 } else { self.edge_switches as f64 },
            threads: threads as f64,
        }
    }
}
