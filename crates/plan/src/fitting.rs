//! Parts of a catalogue that fit each other: one protocol, and plugs of the form that the ports of
//! the switches have.

use super::catalog::Catalog;
use super::protocol::{NetworkProtocol, SwitchFit, fits};
use super::shop::PriceSource;
use fabric::network::Topology;

impl Catalog {
    /// The parts of the catalogue that speak `protocol`, and those that do not say what they speak.
    #[must_use]
    pub fn speaking(mut self, protocol: NetworkProtocol) -> Self {
        let wanted = Some(&protocol);
        self.switches.retain(|s| fits(s.protocol.as_ref(), wanted));
        self.cables.retain(|c| fits(c.protocol.as_ref(), wanted));
        self.transceivers.retain(|x| fits(x.protocol.as_ref(), wanted));
        self.nics.retain(|n| fits(n.protocol.as_ref(), wanted));
        self
    }

    /// The parts of the catalogue that fit the switch with the most ports of `t`, as it is bought
    /// at `gbps`: switches, adapters, transceivers and cables of its protocol, transceivers and
    /// cables whose plug fits its ports. A part that does not say what it fits fits all; so does
    /// the whole catalogue where it has no switch for `t`. The plug at an adapter is not compared.
    #[must_use]
    pub fn fitting(self, t: &Topology, gbps: Option<f64>) -> Self {
        let (ports, rate) = PriceSource { gbps, ..PriceSource::of(&self) }.largest_switch(t);
        self.fitting_switch(ports, rate)
    }

    /// The same for the switch that is bought for this number of ports at this rate, Gbit/s.
    #[must_use]
    pub fn fitting_switch(mut self, ports: u32, gbps: f64) -> Self {
        let Ok((switch, _)) = self.switch_entry(ports, gbps) else { return self };
        let fit = SwitchFit {
            id: switch.id.clone(),
            protocol: switch.protocol,
            connector: switch.connector.clone(),
        };
        if fit.protocol.is_none() && fit.connector.is_none() {
            return self;
        }
        self.switches.retain(|s| fit.takes(s.protocol, s.connector.as_ref()));
        self.cables.retain(|c| fit.takes(c.protocol, c.connector.as_ref()));
        self.transceivers.retain(|x| fit.takes(x.protocol, x.connector.as_ref()));
        self.nics.retain(|n| fit.takes(n.protocol, None));
        self.fits = Some(fit);
        self
    }

    /// What the parts that [`Self::fitting`] has chosen speak; `None` where that is not known.
    pub fn protocol(&self) -> Option<NetworkProtocol> {
        self.fits.as_ref().and_then(|fit| fit.protocol)
    }
}
