//! Graphs whose nodes and edges have attributes by name, as several formats have them.
//!
//! Nodes are switches. The attributes of a node that mean something are `name` (else `label`, where
//! these are names that differ, else its id), `endpoints` (how many), `group`, `level` and `plane`;
//! those of an edge `speed` (`HDR`), `width` (lanes), `length_m` and `up`. All others are ignored.
//! Other programs use these names for other things. Where a `group`, `level`, `plane` or `width` is
//! no whole number, or a `speed` is a number, the attribute is left out for the whole graph, with a
//! remark.

use super::kind::{MAX_PLANE, add_endpoints, recipe};
use crate::backed::NetworkFileOptions;
use base::{Refusal, SwitchId};
use fabric::network::{
    Cable, CablePlug, InfinibandLaneSpeed, NAMES, Switch, Topology, TopologyBuilder, name_fault,
};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Attributes by name.
pub(super) type Attributes<'a> = HashMap<Cow<'a, str>, Cow<'a, str>>;

/// A node: where it stands in the file, what edges call it, its attributes.
pub(super) struct AttributedNode<'a> {
    pub(super) at: usize,
    pub(super) id: Cow<'a, str>,
    pub(super) data: Attributes<'a>,
}

/// An edge.
pub(super) struct AttributedEdge<'a> {
    pub(super) at: usize,
    pub(super) source: Cow<'a, str>,
    pub(super) target: Cow<'a, str>,
    pub(super) directed: bool,
    pub(super) data: Attributes<'a>,
}

/// A graph as a file has it.
pub(super) struct AttributedGraph<'a> {
    /// The file, as refusals and the recipe name it.
    pub(super) name: &'a str,
    pub(super) format: &'static str,
    /// Its text.
    pub(super) text: &'a str,
    /// The names of the lists of nodes and of edges in which `at` is a position; `None` where `at`
    /// is a byte of the text.
    pub(super) lists: Option<[&'static str; 2]>,
    pub(super) vertices: Vec<AttributedNode<'a>>,
    pub(super) edges: Vec<AttributedEdge<'a>>,
}

/// Attributes that mean something else to the writer of the file: an example, and how often.
#[derive(Default)]
struct IgnoredAttributes<'a>(Vec<(&'static str, &'a str, usize)>);

impl<'a> IgnoredAttributes<'a> {
    fn of(graph: &'a AttributedGraph<'a>) -> Self {
        let mut left = Self::default();
        for vertex in &graph.vertices {
            for key in ["group", "level", "plane"] {
                left.look(key, &vertex.data, |value| whole::<u32>(value).is_some());
            }
        }
        for edge in &graph.edges {
            left.look("speed", &edge.data, |value| value.parse::<f64>().is_err());
            left.look("width", &edge.data, |value| whole::<u32>(value).is_some());
        }
        left
    }

    fn look(
        &mut self,
        key: &'static str,
        data: &'a Attributes<'a>,
        is_ours: impl Fn(&str) -> bool,
    ) {
        let Some(value) = data.get(key).map(|value| value.trim()) else { return };
        if value.is_empty() || is_ours(value) {
            return;
        }
        match self.0.iter_mut().find(|(known, ..)| *known == key) {
            Some((_, _, count)) => *count += 1,
            None => self.0.push((key, value, 1)),
        }
    }

    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(known, ..)| *known == key)
    }

    fn remarks(&self) -> Vec<String> {
        let one = |(key, value, count): &(&str, &str, usize)| {
            let shown: String = value.chars().take(40).flat_map(char::escape_debug).collect();
            let what = if *key == "speed" { "speed of InfiniBand" } else { "whole number" };
            format!("{key} '{shown}' is no {what} ({count} such): left out of all")
        };
        self.0.iter().map(one).collect()
    }
}

/// A whole number; `4.0` is taken for 4.
fn whole<T: TryFrom<u64>>(text: &str) -> Option<T> {
    let digits = text.strip_suffix(".0").unwrap_or(text);
    digits.parse::<u64>().ok().and_then(|value| T::try_from(value).ok())
}

/// The place of an attribute: of an edge or a node, and which.
#[derive(Clone, Copy)]
struct AttributeLocation {
    is_edge: bool,
    at: usize,
}

impl<'a> AttributedGraph<'a> {
    fn refuse(
        &self,
        place: AttributeLocation,
        why: impl Into<String>,
        help: impl Into<String>,
    ) -> Refusal {
        let AttributeLocation { is_edge, at } = place;
        let place = match self.lists {
            None => format!("{}: line {}", self.name, line_of(self.text, at)),
            Some(lists) => format!("{}: {}[{at}]", self.name, lists[usize::from(is_edge)]),
        };
        Refusal::new(place, why, help)
    }

    /// The network; `p` endpoints on every switch where no node states its own number. O(graph).
    ///
    /// # Errors
    /// With the place, when there are no nodes, an id or a name comes twice, an edge leads to an
    /// unknown node or to its own, an attribute has no such value, a directed edge has no opposite,
    /// or `p` is given for a file with endpoints.
    pub(super) fn build(&self, p: NetworkFileOptions) -> Result<Topology, Refusal> {
        let left = IgnoredAttributes::of(self);
        let mut remarks = left.remarks();
        let mut b = TopologyBuilder::new();
        let by_id = self.switches(&mut b, p, &left, &mut remarks)?;
        self.links(&mut b, &by_id, &left)?;
        let made = b.finish(recipe(self.name, self.format)).map_err(|r| r.within(self.name))?;
        Ok(made.with_remarks(remarks))
    }

    /// An integer attribute.
    fn integer<T: TryFrom<u64>>(
        &self,
        place: AttributeLocation,
        data: &Attributes,
        key: &str,
        left: &IgnoredAttributes,
    ) -> Result<Option<T>, Refusal> {
        let Some(text) = data.get(key).map(|text| text.trim()).filter(|text| !text.is_empty())
        else {
            return Ok(None);
        };
        if left.has(key) {
            return Ok(None);
        }
        let bad = || self.refuse(place, format!("{key} is '{text}'"), "expected a whole number");
        whole(text).map(Some).ok_or_else(bad)
    }

    /// The names of all switches: `name`, else the label, else the id.
    fn names(&'a self, remarks: &mut Vec<String>) -> Vec<&'a str> {
        let said = |v: &'a AttributedNode<'a>, key: &str| {
            // a name is taken as it is; a label of blanks alone counts as none
            let is_none = |text: &str| text.is_empty() || key == "label" && text.trim().is_empty();
            v.data.get(key).map(|text| &**text).filter(|text| !is_none(text))
        };
        let is_labelled = |v: &&AttributedNode| said_any(v, "label") && !said_any(v, "name");
        if self.vertices.iter().any(|v| is_labelled(&v)) {
            let name = |v| said(v, "name").or(said(v, "label")).unwrap_or(&v.id);
            let names: Vec<&str> = self.vertices.iter().map(name).collect();
            let differ = names.iter().collect::<HashSet<_>>().len() == names.len();
            if differ && names.iter().all(|name| name_fault(name).is_none()) {
                return names;
            }
            remarks.push("labels are not all different names: the ids are the names".to_owned());
        }
        self.vertices.iter().map(|v| said(v, "name").unwrap_or(&v.id)).collect()
    }

    fn switches(
        &'a self,
        b: &mut TopologyBuilder,
        p: NetworkFileOptions,
        left: &IgnoredAttributes,
        remarks: &mut Vec<String>,
    ) -> Result<HashMap<&'a str, SwitchId>, Refusal> {
        let mut by_id = HashMap::new();
        let mut seen = HashSet::new();
        let mut counts = Vec::new();
        let mut has_own = false;
        for (vertex, name) in self.vertices.iter().zip(self.names(remarks)) {
            let (place, data) = (AttributeLocation { is_edge: false, at: vertex.at }, &vertex.data);
            let endpoints = self.integer(place, data, "endpoints", left)?;
            has_own |= endpoints.is_some();
            counts.push(endpoints.unwrap_or(0));
            if let Some(why) = name_fault(name) {
                return Err(self.refuse(place, why, NAMES));
            }
            let plane = self.integer(place, data, "plane", left)?.unwrap_or(0);
            if plane > MAX_PLANE {
                let help = format!("at most {MAX_PLANE}");
                return Err(self.refuse(place, format!("plane is {plane}"), help));
            }
            let switch = b.switch(Switch {
                group: self.integer(place, data, "group", left)?.unwrap_or(0),
                level: self.integer(place, data, "level", left)?.unwrap_or(0),
                plane,
                ..Switch::new(name)
            });
            if by_id.insert(&*vertex.id, switch).is_some() {
                let why = format!("id '{}' comes twice", vertex.id);
                return Err(self.refuse(place, why, "ids must differ"));
            }
            if !seen.insert(name) {
                let why = format!("name '{name}' comes twice");
                return Err(self.refuse(place, why, "names must differ"));
            }
        }
        add_endpoints(b, counts, has_own, p, self.name)?;
        Ok(by_id)
    }

    fn cable(&self, edge: &AttributedEdge, left: &IgnoredAttributes) -> Result<Cable, Refusal> {
        let (place, data) = (AttributeLocation { is_edge: true, at: edge.at }, &edge.data);
        let mut cable = Cable::default();
        let said = |key: &str| data.get(key).map(|text| text.trim());
        if let Some(speed) = said("speed").filter(|_| !left.has("speed")) {
            cable.speed = InfinibandLaneSpeed::from_name(speed).ok_or_else(|| {
                let known = InfinibandLaneSpeed::ALL.map(|speed| speed.to_string()).join(", ");
                self.refuse(place, format!("speed is '{speed}'"), known)
            })?;
        }
        if let Some(width) = self.integer(place, data, "width", left)? {
            if ![1, 2, 4, 8, 12].contains(&width) {
                let help = "a cable has 1, 2, 4, 8 or 12 lanes";
                return Err(self.refuse(place, format!("width is {width}"), help));
            }
            cable.width = width;
        }
        if let Some(text) = said("length_m") {
            let length = text.parse().ok().filter(|l: &f32| l.is_finite() && *l >= 0.0);
            let bad = || self.refuse(place, format!("length_m is '{text}'"), "expected metres");
            cable.length_m = Some(length.ok_or_else(bad)?);
        }
        if let Some(up) = said("up") {
            cable.up = match up {
                "true" | "True" | "1" => true,
                "false" | "False" | "0" => false,
                other => {
                    let why = format!("up is '{other}'");
                    return Err(self.refuse(place, why, "expected true or false"));
                }
            };
        }
        Ok(cable)
    }

    fn links(
        &self,
        b: &mut TopologyBuilder,
        by_id: &HashMap<&str, SwitchId>,
        left: &IgnoredAttributes,
    ) -> Result<(), Refusal> {
        let mut arcs = Vec::new();
        for edge in &self.edges {
            let place = AttributeLocation { is_edge: true, at: edge.at };
            let end = |which: &str, id: &str| {
                by_id.get(id).copied().ok_or_else(|| {
                    let why = format!("the {which} '{id}' of an edge is not a node");
                    self.refuse(place, why, "expected the id of a node")
                })
            };
            let (x, y) = (end("source", &edge.source)?, end("target", &edge.target)?);
            if x == y {
                let why = "an edge joins a node to itself";
                return Err(self.refuse(place, why, "the ends must be two switches"));
            }
            let cable = self.cable(edge, left)?;
            if edge.directed {
                arcs.push((x, y, cable, place));
            } else {
                link(b, x, y, cable);
            }
        }
        self.pair_up(b, &arcs)
    }

    /// Makes one link of each directed edge and its opposite, in order of the first of the two.
    fn pair_up(
        &self,
        b: &mut TopologyBuilder,
        arcs: &[(SwitchId, SwitchId, Cable, AttributeLocation)],
    ) -> Result<(), Refusal> {
        let mut waiting: HashMap<(SwitchId, SwitchId), Vec<usize>> = HashMap::new();
        let mut opposite = vec![None; arcs.len()];
        for (i, (x, y, ..)) in arcs.iter().enumerate().rev() {
            waiting.entry((*x, *y)).or_default().push(i);
        }
        for (i, (x, y, cable, place)) in arcs.iter().enumerate() {
            if opposite[i].is_some() {
                continue;
            }
            let ours = waiting.get_mut(&(*x, *y)).and_then(Vec::pop);
            debug_assert_eq!(ours, Some(i));
            let Some(j) = waiting.get_mut(&(*y, *x)).and_then(Vec::pop) else {
                let why = "a directed edge without its opposite";
                let help = "links carry both directions; add the other";
                return Err(self.refuse(*place, why, help));
            };
            opposite[j] = Some(i);
            if arcs[j].2 != *cable {
                let why = "the two directions of a link have different attributes";
                return Err(self.refuse(arcs[j].3, why, "they must agree"));
            }
            link(b, *x, *y, *cable);
        }
        Ok(())
    }
}

/// The line, from 1, of a byte of a text.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Whether a node has a value for this attribute.
fn said_any(v: &AttributedNode, key: &str) -> bool {
    v.data.get(key).is_some_and(|text| !text.trim().is_empty())
}

fn link(b: &mut TopologyBuilder, x: SwitchId, y: SwitchId, cable: Cable) {
    b.link_at(CablePlug { switch: x, port: 0 }, CablePlug { switch: y, port: 0 }, cable);
}
