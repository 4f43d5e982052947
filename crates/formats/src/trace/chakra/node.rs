//! What one rank does, node by node.

/// The trace of one rank: the nodes that it does.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ChakraTrace {
    /// The version of the schema; empty where the file does not say it.
    pub version: String,
    /// All nodes, in the order of the file.
    pub nodes: Vec<ChakraNode>,
}

/// A node of the graph: one thing that a rank does.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ChakraNode {
    /// Its number, no other node's.
    pub id: u64,
    /// What it is called.
    pub name: String,
    /// The nodes that it waits for.
    pub after: Vec<u64>,
    /// How long it takes, where it is no communication, ns.
    pub duration_ns: u64,
    /// What it does.
    pub kind: ChakraNodeKind,
}

/// The kind of a node: what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ChakraNodeKind {
    /// Local work: computation, memory, storage, or nothing. The number is that of the operations
    /// that it computes, 0 where the trace does not state it.
    Local(u64),
    /// Sends to a rank.
    Send(ChakraMessage),
    /// Receives from a rank.
    Receive(ChakraMessage),
    /// What several ranks do together.
    Together(ChakraCollective),
}

/// A message to a rank, or from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChakraMessage {
    /// The other rank.
    pub rank: u32,
    /// Bytes of the message.
    pub bytes: u64,
    /// Its tag.
    pub tag: u32,
}

/// A collective operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChakraCollective {
    /// The operation, by its number in the schema.
    pub operation: u64,
    /// Bytes that a rank contributes; for a broadcast and a scatter, those that the root
    /// contributes.
    pub bytes: u64,
    /// The group of ranks; empty for all.
    pub group: String,
    /// The rank that has, or gets, what the others do not; `None` stands for the group's first.
    pub root: Option<u32>,
}
