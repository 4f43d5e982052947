"""What the sections of a report share: what a section is, the data of a page, and of a run.

The data of a page, which :func:`flyloom.report.page.render` takes, is :class:`PageContents`; each
routing and network has the fields that sections add to them, and each section may have a list of
its own.
Units: lengths in metres, costs in US dollars, times in seconds where a name does not say another.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypedDict

from flyloom.report import charts
from flyloom.report.shape import Count, Simple, also, fail

if TYPE_CHECKING:
    from markupsafe import Markup

Found = Mapping[str, Any]
"""A part of checked data."""


# --- the data of a page --------------------------------------------------------------------------


@also(Simple)
class NetworkStructure(TypedDict):
    """The structure of a network: its size and parts."""

    switches: Annotated[Count, "working switches"]
    endpoints: Annotated[Count, "endpoints"]
    links: Annotated[Count, "cables between switches"]


class PageNetwork(TypedDict):
    """A network on the page."""

    label: Annotated[str, "its name in the page, which no other has"]
    recipe: Annotated[str, "how it is built again"]
    structure: Annotated[NetworkStructure, "its counts and distances"]


class PageRouting(TypedDict):
    """A set of forwarding tables."""

    label: Annotated[str, "its name in the page, which no other of its network has"]
    called: NotRequired[Annotated[str, "its name where that says less: without what was swept"]]
    network: Annotated[str, "the label of its network"]
    engine: Annotated[str, "what made the tables"]
    source: Annotated[str, "`flyloom`, `opensm` or `file`"]
    lmc: Annotated[Count, "LMC: an endpoint has 2 to this power addresses"]
    verified: Annotated[bool, "whether every verdict holds"]


class PageRun(TypedDict):
    """A run at a point of an experiment: its network, its label and its parameters."""

    network: Annotated[str, "the label of the network"]
    label: Annotated[str, "what the point is called"]
    parameters: Annotated[dict[str, Simple], "what was asked, by dotted names"]


ChannelEnds = TypedDict("ChannelEnds", {
    "from": Annotated[list[str], "the switch that each channel begins at"],
    "to": Annotated[list[str], "the switch that it ends at"],
})


@also(Any)
class SeedSpread(TypedDict):
    """How far a mean over runs with different seeds can be trusted."""

    confidence_interval_95: NotRequired[Annotated[
        list[float], "low and high end of its 95 % confidence interval"]]


class TimedStage(TypedDict):
    """A stage of the run as the report lists it: its name, its seconds, what came of it."""

    name: Annotated[str, "its name"]
    seconds: NotRequired[Annotated[float, "how long it took"]]
    line: NotRequired[Annotated[str, "what came of it"]]


class SkippedStep(TypedDict):
    """A step that was not done."""

    what: Annotated[str, "what it is"]
    why: Annotated[str, "why it was not done"]


class PageContents(TypedDict):
    """The data of a page, apart from what sections add."""

    title: Annotated[str, "its title"]
    summary: NotRequired[Annotated[str, "what stands below the title"]]
    flyloom_version: Annotated[str, "what made the results"]
    seed: Annotated[Count, "the seed of the experiment"]
    experiment_toml: Annotated[str, "the file of the experiment"]
    skipped: NotRequired[Annotated[list[SkippedStep], "what was not done"]]


# --- the results of a run ------------------------------------------------------------------------


@also(Any)
class ExperimentSettings(TypedDict):
    """The settings of the experiment."""

    name: Annotated[str, "the name of the experiment"]
    title: NotRequired[Annotated[str, "the title of the report"]]
    summary: NotRequired[Annotated[str, "what stands below it"]]
    seed: Annotated[Count, "the seed"]


@also(Any)
class PointRecord(TypedDict):
    """A point: a network, its tables where it has some, and what was measured."""

    label: Annotated[str, "what the point is called in the report"]
    network: Annotated[str, "the label of its network"]
    called: NotRequired[Annotated[str, "what a simulated point is called without what was swept"]]
    asked: NotRequired[Annotated[dict[str, Any], "what was asked of simulators, by level"]]
    measures: NotRequired[Annotated[
        dict[str, Any], "what each measure and simulator found, by name"]]
    engine: NotRequired[Annotated[str, "the engine, with `opensm:` before OpenSM's own; null "
                                       "where the point has no tables"]]
    lmc: NotRequired[Annotated[Count, "LMC of the tables; null where there are none"]]


@also(Any)
class RunResults(TypedDict):
    """The contents of ``results.json``."""

    experiment: Annotated[ExperimentSettings, "what was asked for"]
    text: Annotated[str, "the file of the experiment"]
    networks: Annotated[dict[str, Any], "the facts of each network, by its key"]
    records: Annotated[list[PointRecord], "the points, in the order of the experiment"]
    stages: Annotated[list[TimedStage], "the stages of the run"]
    skipped: Annotated[list[SkippedStep], "what was not done"]
    choice: NotRequired[Annotated[
        dict[str, Any], "what `[choose]` found, as `flyloom choose --json` prints it"]]


# --- a section -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ComparedFigure:
    """A figure of several networks, or the same at several places of an axis."""

    what: str
    unit: str
    better: str
    """``lower``, ``higher``, or empty where neither is."""
    values: Mapping[str, Sequence[float]]
    """The values of each network, the same number for all."""
    at: Sequence[Any] = ()
    """Positions on the axis of the values, where a network has several."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Remarks beside a network's value."""
    at_least: Collection[str] = ()
    """The networks whose true values may be larger than what was found."""
    topic: str = ""
    """What the verdict at the top of the page takes it for, one of
    :data:`flyloom.report.verdict.TOPICS`; empty where it is in the table alone."""


def _nothing(*_args: object) -> None:
    """A check that always passes: for sections whose shapes are all that must hold."""


Check = Callable[[Any, Found, str], None]
"""Called with a part of checked data, all of it, and where the part stands; it raises ReportError
where the part refers to something that is not there."""


@dataclass(frozen=True, kw_only=True)
class SectionFields:
    """Fields that a section adds to each routing, or to each network, of the data of a page."""

    shape: Any
    """The typed dictionary of these fields."""
    of: Callable[..., Mapping[str, Any]]
    """Computes their values: for a routing from its record; for a network from the results and its
    key."""
    check: Check = _nothing


@dataclass(frozen=True, kw_only=True)
class SectionList:
    """A list that a section adds to the data of a page."""

    key: str
    shape: Any
    """The typed dictionary of each entry."""
    of: Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]
    """Computes the entries from the results of a run."""
    measure: str = ""
    """The measure whose record each entry has, beside the fields of :class:`PageRun`; empty if
    none."""
    check: Check = _nothing


@dataclass(frozen=True, kw_only=True)
class PageSection:
    """A section of the page: what it takes of the results of a run, and what it shows."""

    name: str
    """The section's address in the page, and the name of its file and its template."""
    title: str
    """The section's title in the list at the top of the page."""
    doc: str
    """One sentence about what the section shows."""
    when: str
    """In words, when the section is in the page; empty if always."""
    place: int
    """The section's position: sections are ordered by it."""
    view: Callable[[PageData], Mapping[str, Any] | None]
    """Computes the data for the template; None if the section is not in the page."""
    saved: Mapping[tuple[str, ...], Any] = field(default_factory=dict)
    """The shapes of what the section reads of ``results.json``, by where that stands: ``[]`` is
    each of a list, ``*`` each value of a dictionary. What a :class:`SectionList` has of a
    measure is not said again."""
    border: Callable[[Mapping[str, Any]], None] = _nothing
    """Raises ReportError for errors in the results of a run that those shapes cannot detect."""
    entries: SectionList | None = None
    of_routing: SectionFields | None = None
    of_network: SectionFields | None = None
    tiles: Mapping[int, Callable[[PageData], Iterable[Mapping[str, str]]]] = field(
        default_factory=dict)
    """Its headlines (``head``, ``big``, ``small``, and ``mood``: ``good``, ``bad`` or ``plain``),
    by their places at the top of the page."""
    figures: Mapping[int, Callable[[PageData], Iterator[ComparedFigure]]] = field(
        default_factory=dict
    )
    """The figures that compare several networks, by their places in that table."""


class PageData:
    """The data of a page, checked, and what draws its charts."""

    def __init__(self, data: Found, *, charted: bool = True) -> None:
        self.data, self.charted = data, charted
        self.networks: Sequence[Found] = data["networks"]
        self.routings: Sequence[Found] = data["routings"]
        self.labels: list[str] = [network["label"] for network in self.networks]
        self.several = len(self.labels) > 1
        self.colours = charts.network_colours(self.labels)

    def chart(self, name: str, spec: Found | None) -> Markup | None:
        """A chart as text; None where there is nothing to draw, or charts cannot be drawn.
        Raises DrawingError where this is found out here."""
        from markupsafe import Markup

        if spec is None or not self.charted:
            return None
        return Markup(charts.svg(spec, prefix=f"{name}-"))


def shown(heat: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Heat maps with their drawings as text that needs no escaping."""
    from markupsafe import Markup

    return [{**h, "drawings": {k: Markup(v) for k, v in h["drawings"].items()}} for h in heat]


def asked_of(record: Mapping[str, Any], level: str) -> dict[str, Any]:
    """The fields of :class:`PageRun` for a point at which a simulator ran."""
    asked = (record.get("asked") or {}).get(level) or {}
    return {"network": record["network"], "label": record.get("called") or record["label"],
            "parameters": dotted(asked)}


def found_by(measure: str, saved: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    """The points of a run with the record that a measure has there, where it has one."""
    for record in saved["records"]:
        if measure in (found := record.get("measures") or {}):
            yield record, found[measure]


def dotted(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Tables in tables as one, with dots between the names; lists of tables as text."""
    import json

    out: dict[str, Any] = {}
    for key, value in tables.items():
        if isinstance(value, dict):
            out |= {f"{key}.{name}": inner for name, inner in dotted(value).items()}
        elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
            out[key] = json.dumps(value)
        else:
            out[key] = value
    return out


def cabled(network: Mapping[str, Any]) -> int:
    """The number of switches of a network, with the failed ones, which ``structure`` does not
    count."""
    working: int = network["structure"]["switches"]
    return max(working, len(network["switch_names"] or ()))


def check_label(entry: Found, data: Found, where: str) -> None:
    """ReportError where an entry's network is none of the page's."""
    labels = [network["label"] for network in data["networks"]]
    if entry["network"] not in labels:
        wrong = f'no network is labelled {entry["network"]!r}'
        raise fail(f"{where}.network", wrong, "valid are " + ", ".join(map(repr, labels)))


def check_links(
    point: Found, columns: Sequence[str], data: Found, label: str, where: str
) -> None:
    """ReportError where the links of a point are not ones of the network with this label."""
    if not (links := point["links"]):
        return
    if len({len(links[key]) for key in columns}) > 1:
        raise fail(f"{where}.links", "columns of several lengths", "give one value for each link")
    names = next(n["switch_names"] for n in data["networks"] if n["label"] == label) or ()
    unknown = {*links["from"], *links["to"]} - set(names)
    if unknown:
        found = f"there is no switch {min(unknown)!r}"
        raise fail(f"{where}.links", found, "give names of networks[].switch_names")


def expect(holds: bool, where: str, what: str) -> None:
    """ReportError where ``holds`` is false: the results of a run have something else than
    ``what``."""
    if not holds:
        raise fail(where, f"not {what}", "run the experiment again")
