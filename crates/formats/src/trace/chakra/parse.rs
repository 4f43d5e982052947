//! The file of a rank, read: messages of the schema, each behind its length.

use super::node::{ChakraCollective, ChakraMessage, ChakraNode, ChakraNodeKind, ChakraTrace};
use super::wire::{ProtobufFieldValue, ProtobufMessageBytes};
use base::{ComputationError, ProgressWatch, Refusal};
use std::collections::HashMap;

/// What a valid file is, for refusals.
const TRACE: &str = "a Chakra execution trace";

/// The trace of one rank. O(bytes).
///
/// # Errors
/// With the byte, when these are not messages of the schema; with the node, when it lacks what its
/// type needs or two have one number; when `watch` says stop.
pub(super) fn parse(
    bytes: &[u8],
    watch: &dyn ProgressWatch,
) -> Result<ChakraTrace, ComputationError> {
    let (mut rest, total) = (ProtobufMessageBytes { bytes, at: 0 }, bytes.len() as u64);
    let mut trace = ChakraTrace::default();
    let mut known: HashMap<u64, usize> = HashMap::new();
    if bytes.is_empty() {
        return Err(rest.refuse("it is empty", TRACE).into());
    }
    let mut is_first = true;
    while !rest.bytes.is_empty() {
        watch.tick("bytes", rest.at as u64, total)?;
        let begin = rest;
        let length = rest.varint()?;
        let message = rest.take(length)?;
        if std::mem::take(&mut is_first)
            && let Some(version) = version(message)?
        {
            trace.version = version;
            continue;
        }
        let node = node(message)?;
        if known.insert(node.id, trace.nodes.len()).is_some() {
            let why = format!("node {} comes twice", node.id);
            return Err(begin.refuse(&why, "a number of its own for each node").into());
        }
        trace.nodes.push(node);
    }
    if trace.nodes.is_empty() {
        return Err(Refusal::new("", "there is no node", TRACE).into());
    }
    Ok(trace)
}

/// The version, where the message is the one about the whole trace: a node begins with its number.
fn version(mut message: ProtobufMessageBytes<'_>) -> Result<Option<String>, Refusal> {
    let mut version = String::new();
    while let Some((number, value)) = message.field()? {
        match (number, value) {
            (1, ProtobufFieldValue::Bytes(text)) => text.text()?.clone_into(&mut version),
            (2, ProtobufFieldValue::Bytes(_)) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(version))
}

/// The value of an attribute.
#[derive(Clone, Copy)]
enum AttributeValue<'a> {
    Number(i128),
    Text(&'a str),
    Other,
}

fn node(message: ProtobufMessageBytes<'_>) -> Result<ChakraNode, Refusal> {
    let kind = ChakraNodeKind::Local(0);
    let mut node =
        ChakraNode { id: 0, name: String::new(), after: Vec::new(), duration_ns: 0, kind };
    let (mut node_type, mut attributes) = (0, HashMap::new());
    let mut rest = message;
    while let Some((number, value)) = rest.field()? {
        match (number, value) {
            (1, ProtobufFieldValue::Varint(id)) => node.id = id,
            (2, ProtobufFieldValue::Bytes(text)) => text.text()?.clone_into(&mut node.name),
            (3, ProtobufFieldValue::Varint(kind)) => node_type = kind,
            (4 | 5, ProtobufFieldValue::Varint(id)) => node.after.push(id),
            (4 | 5, ProtobufFieldValue::Bytes(mut packed)) => {
                while !packed.bytes.is_empty() {
                    node.after.push(packed.varint()?);
                }
            }
            (7, ProtobufFieldValue::Varint(micros)) => {
                node.duration_ns = micros.checked_mul(1000).ok_or_else(|| {
                    message.refuse("duration_micros: out of range", "at most 2^64 ns")
                })?;
            }
            (10, ProtobufFieldValue::Bytes(bytes)) => {
                let (name, value) = attribute(bytes)?;
                attributes.insert(name, value);
            }
            (1 | 3 | 7 | 10, _) => {
                let why = format!("field {number} of a node of another kind");
                return Err(message.refuse(&why, TRACE));
            }
            _ => {}
        }
    }
    let asks = NodeAttributes { node: node.id, attributes };
    let at = |refused: Refusal| refused.within(&format!("byte {}", message.at));
    node.kind = kind_of(node_type, &asks).map_err(at)?;
    Ok(node)
}

/// The kind of a node, from its type in the schema and its attributes.
fn kind_of(node_type: u64, asks: &NodeAttributes<'_>) -> Result<ChakraNodeKind, Refusal> {
    Ok(match node_type {
        1..=3 | 8..=10 => ChakraNodeKind::Local(0),
        // the call of the host that launches the operation, which is a node of its own
        5..=7 if asks.is_of_host()? => ChakraNodeKind::Local(0),
        4 => ChakraNodeKind::Local(asks.number("num_ops", u64::MAX)?.unwrap_or(0)),
        5 => ChakraNodeKind::Send(asks.peer("comm_dst")?),
        6 => ChakraNodeKind::Receive(asks.peer("comm_src")?),
        7 => ChakraNodeKind::Together(ChakraCollective {
            operation: asks.needed("comm_type", 9)?,
            bytes: asks.number("comm_size", MOST_BYTES)?.unwrap_or(0),
            group: asks.group()?,
            root: asks.root()?,
        }),
        other => {
            let why = format!("node {} has type {other}", asks.node);
            return Err(Refusal::new("type", why, "1 to 10 of the schema"));
        }
    })
}

/// Most bytes of a message.
const MOST_BYTES: u64 = 1 << 40;

/// The attributes of a node.
struct NodeAttributes<'a> {
    node: u64,
    attributes: HashMap<&'a str, AttributeValue<'a>>,
}

impl NodeAttributes<'_> {
    fn number(&self, name: &str, most: u64) -> Result<Option<u64>, Refusal> {
        let number = match self.attributes.get(name) {
            None => return Ok(None),
            Some(AttributeValue::Number(number)) => *number,
            // some writers have numbers as text
            Some(AttributeValue::Text(text)) => text.trim().parse().unwrap_or(-1),
            Some(AttributeValue::Other) => -1,
        };
        let fits = u64::try_from(number).ok().filter(|n| *n <= most);
        fits.map(Some).ok_or_else(|| {
            let why = format!("that of node {} is no whole number, 0 to {most}", self.node);
            Refusal::new(name, why, "")
        })
    }

    fn needed(&self, name: &str, most: u64) -> Result<u64, Refusal> {
        self.number(name, most)?.ok_or_else(|| {
            Refusal::new(name, format!("node {} has none", self.node), "it needs one")
        })
    }

    fn peer(&self, name: &str) -> Result<ChakraMessage, Refusal> {
        let tag = match self.attributes.get("comm_tag") {
            Some(AttributeValue::Number(tag)) => *tag as u32,
            _ => self.number("comm_tag", u32::MAX.into())?.unwrap_or(0) as u32,
        };
        Ok(ChakraMessage {
            rank: self.needed(name, u32::MAX.into())? as u32,
            bytes: self.needed("comm_size", MOST_BYTES)?,
            tag,
        })
    }

    /// Whether the node runs on the host and not on an accelerator: the communication that it
    /// starts is another node.
    fn is_of_host(&self) -> Result<bool, Refusal> {
        match self.attributes.get("is_cpu_op") {
            None => Ok(false),
            Some(AttributeValue::Number(number)) => Ok(*number != 0),
            Some(AttributeValue::Text(text)) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(AttributeValue::Text(text)) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(_) => Ok(self.number("is_cpu_op", 1)? == Some(1)),
        }
    }

    /// The group's name: a number or text, by one of the names that writers use.
    fn group(&self) -> Result<String, Refusal> {
        let found = ["comm_group", "pg_name"].iter().find_map(|name| self.attributes.get(name));
        match found {
            None => Ok(String::new()),
            Some(AttributeValue::Number(number)) => Ok(number.to_string()),
            Some(AttributeValue::Text(text)) => Ok((*text).to_owned()),
            Some(AttributeValue::Other) => {
                let why = format!("that of node {} is no name", self.node);
                Err(Refusal::new("comm_group", why, "a number or text"))
            }
        }
    }

    fn root(&self) -> Result<Option<u32>, Refusal> {
        for name in ["root_rank", "root"] {
            if let Some(rank) = self.number(name, u32::MAX.into())? {
                return Ok(Some(rank as u32));
            }
        }
        Ok(None)
    }
}

/// The name of an attribute, and its value.
fn attribute(message: ProtobufMessageBytes<'_>) -> Result<(&str, AttributeValue<'_>), Refusal> {
    let (mut name, mut value) = ("", AttributeValue::Other);
    let mut rest = message;
    while let Some((number, found)) = rest.field()? {
        match (number, found) {
            (1, ProtobufFieldValue::Bytes(text)) => name = text.text()?,
            // int32, int64, sfixed64: negative numbers have all 64 bits
            (7 | 9, ProtobufFieldValue::Varint(n)) | (25, ProtobufFieldValue::Fixed64(n)) => {
                value = AttributeValue::Number((n as i64).into());
            }
            (11 | 13 | 27, ProtobufFieldValue::Varint(n))
            | (21, ProtobufFieldValue::Fixed64(n)) => {
                value = AttributeValue::Number(n.into());
            }
            // sint32, sint64: the sign is the lowest bit
            (15 | 17, ProtobufFieldValue::Varint(n)) => {
                value = AttributeValue::Number((((n >> 1) as i64) ^ -((n & 1) as i64)).into());
            }
            (19, ProtobufFieldValue::Fixed32(n)) => value = AttributeValue::Number(n.into()),
            (23, ProtobufFieldValue::Fixed32(n)) => {
                value = AttributeValue::Number((n as i32).into());
            }
            (29, ProtobufFieldValue::Bytes(text)) => value = AttributeValue::Text(text.text()?),
            _ => {}
        }
    }
    Ok((name, value))
}
