//! Selections of the user's own: which candidates are compared, where, and by which score.

use super::candidate_paths::CandidatePaths;
use super::expression::{CompiledScore, QUANTITIES, ScoreRegisters};
use super::{PathSelection, PathSelectionParameters};
use base::Refusal;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The word that begins the text of a selection of the user's.
pub(super) const WORD: &str = "custom";
/// The form of that text, for refusals.
const FORM: &str =
    "custom score=hops*queue, with detours=4, minimal=1, decide=source and name=mine";
/// The most characters of a name.
const LONGEST_NAME: usize = 40;
/// The most candidates of a kind.
const MOST: u32 = 64;

/// Where packets decide which path they take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DecisionPoint")]
pub enum PathDecisionPoint {
    /// At the switch of the source.
    #[default]
    Source,
    /// At the source, and again behind the first hop of a packet on a minimal path, as PAR does; in
    /// networks of groups only while the packet is in the group of its source.
    Progressive,
    /// At the source, and at every further switch between the ports that lead on to where the
    /// packet goes: as many as `minimal` are drawn.
    Every,
}

impl PathDecisionPoint {
    /// The word for it in files and flags.
    fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Progressive => "progressive",
            Self::Every => "every",
        }
    }
}

/// A selection of the user's: the candidate with the lowest score is taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CustomSelection")]
pub struct CustomSelectionParameters {
    /// The score of a candidate, an expression such as `hops * queue + 3`: the lowest is taken, of
    /// equal ones the minimal path, then the one that was drawn first.
    pub score: String,
    /// Detours that are drawn and compared, each over an intermediate switch: 0 to 64.
    #[serde(default = "usual_detours")]
    pub detours: u32,
    /// Minimal paths that are drawn and compared: 0 to 64.
    #[serde(default = "usual_minimal")]
    pub minimal: u32,
    /// Where packets decide.
    #[serde(default)]
    pub decide: PathDecisionPoint,
    /// What tables and charts call it; its text where this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

fn usual_detours() -> u32 {
    PathSelectionParameters::usual(PathSelection::UgalL).candidates
}

fn usual_minimal() -> u32 {
    1
}

/// Whether a built-in selection has this name.
fn is_taken(name: &str) -> bool {
    PathSelection::deserialize(StrDeserializer::<serde::de::value::Error>::new(name)).is_ok()
}

/// A selection of the user's with its score compiled.
#[derive(Debug)]
pub struct CompiledCustomSelection {
    written: CustomSelectionParameters,
    pub(super) score: CompiledScore,
    /// Decisions in which a score was not a number.
    undefined: AtomicU64,
}

impl Clone for CompiledCustomSelection {
    /// The same selection, by which nothing has been decided yet.
    fn clone(&self) -> Self {
        let (written, score) = (self.written.clone(), self.score.clone());
        Self { written, score, undefined: AtomicU64::new(0) }
    }
}

impl PartialEq for CompiledCustomSelection {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl CompiledCustomSelection {
    /// Checks and compiles a selection.
    ///
    /// # Errors
    /// When the score is no expression, or a number is out of its range.
    pub fn new(written: CustomSelectionParameters) -> Result<Self, Refusal> {
        let of = |name: &str, why: String, help: &str| {
            Err(Refusal::new("selection", format!("{name}: {why}"), help))
        };
        for (name, count) in [("detours", written.detours), ("minimal", written.minimal)] {
            if count > MOST {
                return of(name, format!("{count} is out of range"), "0 to 64");
            }
        }
        if written.detours + written.minimal == 0 {
            return of("detours", "no candidate is left: minimal is 0, too".to_owned(), "1 to 64");
        }
        if let Some(name) = &written.name {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            let is_named = !name.is_empty() && name.len() <= LONGEST_NAME;
            if !is_named || !name.chars().all(is_plain) || is_taken(name) {
                let help = format!(
                    "1 to {LONGEST_NAME} letters, digits, - and _; no name of a built-in selection"
                );
                return of("name", format!("'{name}' is no name"), &help);
            }
        }
        let score = CompiledScore::compile(&written.score)?;
        Ok(Self { written, score, undefined: AtomicU64::new(0) })
    }

    /// Counts a decision, made with these registers, if one of its scores was not a number.
    #[inline]
    pub(super) fn decided(&self, with: &ScoreRegisters) {
        if with.is_undefined() {
            self.undefined.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The number of decisions in which a score was not a number.
    pub(super) fn undefined(&self) -> u64 {
        self.undefined.load(Ordering::Relaxed)
    }

    /// The selection as the user wrote it.
    pub fn written(&self) -> &CustomSelectionParameters {
        &self.written
    }
}

/// A selection as users write it: the name of one, or one of their own, as a table or as the text
/// `custom score=hops*queue detours=4 minimal=1 decide=source`.
#[derive(Debug, Clone, PartialEq)]
pub enum PathSelectionSpec {
    /// A built-in selection, by its name.
    Named(PathSelection),
    /// A selection of the user's own.
    Custom(Arc<CompiledCustomSelection>),
    /// A selection of the user's that is not valid. Reading it does not fail, and [`Self::check`]
    /// refuses it, so that its refusal is not mixed with those of other parameters.
    Invalid(Refusal),
}

impl From<PathSelection> for PathSelectionSpec {
    fn from(named: PathSelection) -> Self {
        Self::Named(named)
    }
}

impl From<CustomSelectionParameters> for PathSelectionSpec {
    fn from(written: CustomSelectionParameters) -> Self {
        match CompiledCustomSelection::new(written) {
            Ok(scored) => Self::Custom(Arc::new(scored)),
            Err(refused) => Self::Invalid(refused),
        }
    }
}

impl PathSelectionSpec {
    /// Reads the name of a selection, or the text of one of the user's.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        if let Some(fields) = of_text(text) {
            return Ok(Self::Custom(Arc::new(CompiledCustomSelection::new(fields?)?)));
        }
        let name = StrDeserializer::<serde::de::value::Error>::new(text.trim());
        let named = PathSelection::deserialize(name);
        named.map(Self::Named).map_err(|e| Refusal::new("selection", e.to_string(), ""))
    }

    /// The built-in selection, or [`PathSelection::Custom`] for one of the user's own.
    pub fn kind(&self) -> PathSelection {
        match self {
            Self::Named(selection) => *selection,
            Self::Custom(_) | Self::Invalid(_) => PathSelection::Custom,
        }
    }

    /// The user's own selection; `None` for a built-in one.
    pub fn custom(&self) -> Option<&Arc<CompiledCustomSelection>> {
        match self {
            Self::Custom(custom) => Some(custom),
            Self::Named(_) | Self::Invalid(_) => None,
        }
    }

    /// Whether all candidates are minimal paths.
    pub fn is_minimal(&self) -> bool {
        match self {
            Self::Named(selection) => selection.entry().paths == CandidatePaths::Minimal,
            Self::Custom(custom) => custom.written.detours == 0,
            Self::Invalid(_) => false,
        }
    }

    /// Whether packets may choose again behind their first hop.
    pub fn is_progressive(&self) -> bool {
        match self {
            Self::Named(selection) => selection.entry().paths == CandidatePaths::ProgressiveDetours,
            Self::Custom(custom) => {
                custom.written.detours > 0
                    && custom.written.decide == PathDecisionPoint::Progressive
            }
            Self::Invalid(_) => false,
        }
    }

    /// Whether packets decide at their source alone.
    pub fn is_at_source(&self) -> bool {
        match self {
            Self::Named(selection) => selection.entry().paths != CandidatePaths::ProgressiveDetours,
            Self::Custom(custom) => custom.written.decide == PathDecisionPoint::Source,
            Self::Invalid(_) => true,
        }
    }

    /// Checks the selection, and its parameters where they are given.
    ///
    /// # Errors
    /// When there is no such selection, a parameter is out of range, or parameters are given for a
    /// selection of the user's own, which contains its parameters.
    pub fn check(&self, choosing: Option<PathSelectionParameters>) -> Result<(), Refusal> {
        match (self, choosing) {
            (Self::Invalid(refused), _) => Err(refused.clone()),
            (Self::Custom(_), Some(_)) => {
                let why = "not of a selection of one's own, which says itself what it compares";
                let help = "leave it out; detours=4 in the selection, numbers in its score";
                Err(Refusal::new("choosing", why, help))
            }
            (Self::Named(_), Some(choosing)) => choosing.check(),
            _ => Ok(()),
        }
    }

    /// The numbers that packets compared by where they chose among paths, of those in `used`; as
    /// given for selections that compare nothing, and for those of the user's own.
    pub fn used_choosing(
        &self,
        given: Option<PathSelectionParameters>,
        used: PathSelectionParameters,
    ) -> Option<PathSelectionParameters> {
        let entry = self.kind().entry();
        match entry.paths {
            CandidatePaths::UpDown => Some(PathSelectionParameters {
                candidates: used.candidates,
                ..PathSelectionParameters::default()
            }),
            _ if entry.compares => Some(used.written_out()),
            _ => given,
        }
    }

    /// The parameters of the selection: those given, otherwise its defaults.
    pub fn choosing(&self, given: Option<PathSelectionParameters>) -> PathSelectionParameters {
        given.unwrap_or(PathSelectionParameters::usual(self.kind()))
    }
}

impl fmt::Display for PathSelectionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(_) | Self::Invalid(_) => f.write_str(self.kind().name()),
            Self::Custom(custom) => {
                let CustomSelectionParameters { score, detours, minimal, decide, name } =
                    &custom.written;
                let score = score.split_whitespace().collect::<Vec<_>>().join(" ");
                write!(f, "{WORD} score={score}")?;
                if *detours != usual_detours() {
                    write!(f, " detours={detours}")?;
                }
                if *minimal != usual_minimal() {
                    write!(f, " minimal={minimal}")?;
                }
                if *decide != PathDecisionPoint::default() {
                    write!(f, " decide={}", decide.name())?;
                }
                name.as_ref().map_or(Ok(()), |name| write!(f, " name={name}"))
            }
        }
    }
}

/// Reads the text of a selection of the user's; `None` where the text does not have its form.
///
/// A field begins with a name and one `=`, which no expression has, so that a value may have
/// blanks; a comma may stand before the next field.
fn of_text(text: &str) -> Option<Result<CustomSelectionParameters, Refusal>> {
    let text = text.trim();
    let rest = match text.strip_prefix(WORD) {
        Some(rest) if rest.is_empty() || rest.starts_with(|c: char| ", :".contains(c)) => {
            rest.trim_start_matches([' ', ',', ':'])
        }
        _ if fields(text).first().is_some_and(|(at, ..)| *at == 0) => text,
        _ => return None,
    };
    Some(of_fields(rest))
}

/// For each field of a text: where it begins, its name, and where its value begins.
fn fields(text: &str) -> Vec<(usize, &str, usize)> {
    let bytes = text.as_bytes();
    let is_sign = |at: usize| bytes.get(at).is_some_and(|c| b"=<>!".contains(c));
    let mut found = Vec::new();
    for (at, _) in text.match_indices('=') {
        if bytes.get(at + 1) == Some(&b'=') || (at > 0 && is_sign(at - 1)) {
            continue;
        }
        let before = text[..at].trim_end();
        let name = before.rfind(|c: char| !(c.is_alphanumeric() || c == '_'));
        let begin =
            name.map_or(0, |last| last + before[last..].chars().next().map_or(1, char::len_utf8));
        found.push((begin, &before[begin..], at + 1));
    }
    found
}

fn of_fields(text: &str) -> Result<CustomSelectionParameters, Refusal> {
    let bad = |why: String| Err(Refusal::new("selection", format!("'{text}': {why}"), FORM));
    let all = fields(text);
    if all.first().is_none_or(|(begin, ..)| *begin > 0) {
        return bad("fields are NAME=VALUE".to_owned());
    }
    let (mut score, mut called) = (None, None);
    let (mut detours, mut minimal) = (usual_detours(), usual_minimal());
    let mut decide = PathDecisionPoint::default();
    let mut seen: Vec<&str> = Vec::new();
    for (number, &(_, name, from)) in all.iter().enumerate() {
        let to = all.get(number + 1).map_or(text.len(), |(begin, ..)| *begin);
        let value = text[from..to].trim().trim_end_matches(',').trim();
        let value = value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value);
        if seen.contains(&name) {
            return bad(format!("{name} is there twice"));
        }
        seen.push(name);
        match name {
            "score" => score = Some(value.to_owned()),
            "name" => called = Some(value.to_owned()),
            "detours" | "minimal" => match value.parse() {
                Ok(count) if name == "detours" => detours = count,
                Ok(count) => minimal = count,
                Err(_) => return bad(format!("{name}: '{value}' is no number")),
            },
            "decide" => {
                let all = [
                    PathDecisionPoint::Source,
                    PathDecisionPoint::Progressive,
                    PathDecisionPoint::Every,
                ];
                let known = all.into_iter().find(|known| known.name() == value);
                let Some(known) = known else {
                    let names = all.map(PathDecisionPoint::name).join(", ");
                    return bad(format!("decide: '{value}' is none of {names}"));
                };
                decide = known;
            }
            _ => {
                let compared = if number > 0 { " (== compares)" } else { "" };
                let all = "score, detours, minimal, decide, name";
                return bad(format!("'{name}' is no field: {all}{compared}"));
            }
        }
    }
    match score {
        Some(score) => {
            Ok(CustomSelectionParameters { score, detours, minimal, decide, name: called })
        }
        None => bad("score is missing".to_owned()),
    }
}

impl<'de> Deserialize<'de> for PathSelectionSpec {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct RawPathSelection;

        impl<'de> Visitor<'de> for RawPathSelection {
            type Value = PathSelectionSpec;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "the name of a selection, or {FORM}")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<PathSelectionSpec, E> {
                match of_text(text) {
                    Some(fields) => Ok(fields.map_or_else(PathSelectionSpec::Invalid, From::from)),
                    None => PathSelection::deserialize(StrDeserializer::new(text)).map(From::from),
                }
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<PathSelectionSpec, A::Error> {
                CustomSelectionParameters::deserialize(MapAccessDeserializer::new(map))
                    .map(From::from)
            }
        }

        from.deserialize_any(RawPathSelection)
    }
}

impl Serialize for PathSelectionSpec {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl JsonSchema for PathSelectionSpec {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SelectionSpec".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let quantities = QUANTITIES.map(|(name, _)| name).join(", ");
        let text = format!("`{FORM}`; the score is an expression of {quantities}");
        schemars::json_schema!({
            "anyOf": [
                generator.subschema_for::<PathSelection>(),
                { "type": "string", "description": text },
                generator.subschema_for::<CustomSelectionParameters>(),
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(given: Value) -> Result<PathSelectionSpec, String> {
        let read: PathSelectionSpec = serde_json::from_value(given).map_err(|e| e.to_string())?;
        read.check(None).map_err(|refused| refused.to_string())?;
        Ok(read)
    }

    #[test]
    fn a_selection_is_a_name_a_text_or_a_table() {
        assert_eq!(read(json!("adaptive")), Ok(PathSelection::UgalL.into()));
        let whole = "custom score=max(hops, 2) * queue detours=2 minimal=3 decide=progressive";
        let table = json!({"score": "max(hops, 2) * queue", "detours": 2, "minimal": 3,
                           "decide": "progressive"});
        let expected = read(table).expect("a table");
        for text in [
            whole,
            "score=max(hops, 2) * queue detours=2 minimal=3 decide=progressive",
            "custom decide=progressive, minimal = 3, detours=2, score = \"max(hops, 2) * queue\"",
        ] {
            assert_eq!(read(json!(text)).as_ref(), Ok(&expected), "{text}");
            assert_eq!(PathSelectionSpec::parse(text).as_ref(), Ok(&expected), "{text}");
        }
        assert_eq!(json!(expected), json!(whole));
        let named = read(json!(format!("{whole}, name=my-own_2"))).expect("a text");
        assert_eq!(named.to_string(), format!("{whole} name=my-own_2"));
        assert_eq!(read(json!(named)), Ok(named));
        let usual = read(json!({"score": "if(hops<=3 and queue==2, 1, 0)"})).expect("a table");
        let said = "custom score=if(hops<=3 and queue==2, 1, 0)";
        assert_eq!(usual.to_string(), said);
        let every_field = format!("{said} detours=4 minimal=1 decide=source");
        assert_eq!(read(json!(every_field)).as_ref(), Ok(&usual));
        assert_eq!(read(json!(said)), Ok(usual));
    }

    #[test]
    fn what_is_no_selection_is_refused() {
        for (given, expected) in [
            (json!("ugal"), "unknown variant `ugal`, expected one of `anca`, `custom`, `minimal`"),
            (json!("custom"), "fields are NAME=VALUE; custom score=hops*queue"),
            (json!("custom hops*queue"), "fields are NAME=VALUE"),
            (json!("custom detours=2"), "score is missing"),
            (json!("custom score=hops size=2"), "'size' is no field: score, detours"),
            (json!("custom score=hops = 2"), "name (== compares);"),
            (json!("score=hops detours=two"), "detours: 'two' is no number"),
            (json!("score=hops detours=65"), "detours: 65 is out of range; 0 to 64"),
            (json!("score=hops detours=0 minimal=0"), "no candidate is left"),
            (
                json!("score=hops decide=late"),
                "decide: 'late' is none of source, progressive, every",
            ),
            (json!("score=hops score=queue"), "score is there twice"),
            (json!("score=hops name=my own"), "name: 'my own' is no name; 1 to 40 letters"),
            (json!("score=hops name="), "name: '' is no name"),
            (json!("score=hops name=ugal_l"), "name: 'ugal_l' is no name"),
            (json!({"score": "hops", "name": "a".repeat(41)}), "is no name"),
            (json!("score=hops/0"), "score 'hops/0', column 5: a division by 0"),
            (json!("score=hops*que"), "score 'hops*que', column 6: 'que' is no quantity"),
            (json!({"score": "1 +"}), "score '1 +', column 4: the end is not expected"),
            (json!({"detours": 2}), "missing field `score`"),
            (json!({"score": "hops", "size": 2}), "unknown field `size`"),
            (json!(3), "invalid type: integer `3`, expected the name of a selection"),
        ] {
            let refused = read(given.clone()).expect_err("refused");
            assert!(refused.contains(expected), "{given}: {refused}");
        }
    }
}
