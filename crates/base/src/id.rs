//! Index types, one for each table, so that no bare integer is used with the wrong table.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(pub u32);

        impl $name {
            /// The position in the table of these ids.
            #[inline]
            pub const fn ix(self) -> usize {
                self.0 as usize
            }
        }

        impl From<usize> for $name {
            #[inline]
            fn from(i: usize) -> Self {
                debug_assert!(u32::try_from(i).is_ok(), "ids are 32 bits wide");
                Self(i as u32)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

ids! {
    /// A switch (router) of a network.
    SwitchId,
    /// A switch-to-switch cable; it carries two channels.
    LinkId,
    /// One direction of a link: channel `2 l` runs from end a of link `l` to end b, channel `2 l +
    /// 1` runs back.
    ChannelId,
    /// A computer attached to the network, by one or more rails.
    EndpointId,
    /// One rail of an endpoint: a network port with its own address, attached to one switch.
    TerminalId,
}

impl LinkId {
    /// The channel from end a to end b.
    #[inline]
    pub const fn forth(self) -> ChannelId {
        ChannelId(self.0 * 2)
    }

    /// The channel from end b to end a.
    #[inline]
    pub const fn back(self) -> ChannelId {
        ChannelId(self.0 * 2 + 1)
    }
}

impl ChannelId {
    /// The link that carries this channel.
    #[inline]
    pub const fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// The opposite channel of the same link.
    #[inline]
    #[must_use]
    pub const fn reverse(self) -> ChannelId {
        ChannelId(self.0 ^ 1)
    }

    /// Whether the channel runs from end a to end b of its link.
    #[inline]
    pub const fn is_forth(self) -> bool {
        self.0 & 1 == 0
    }
}
