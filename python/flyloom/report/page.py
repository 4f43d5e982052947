"""One self-contained HTML page from the results of an experiment.

:func:`render` takes one dictionary. Its shape, with every key, unit and check, is
:data:`flyloom.report.check.SHAPE`; in short::

    {"title", "summary"?, "flyloom_version", "seed", "experiment_toml",
     "networks": [{"label", "recipe", "structure": {"switches", "endpoints", "links", ...},
                   "edges"?, "switch_names"?, "switch_groups"?, "floor"?, "cables"?}],
     "routings"?: [{"label", "called"?, "network", "engine", "source", "lmc", "verified", "lanes"?,
                    "max_hops"?, "mean_hops"?, "edge_forwarding_index"?, "verdicts"?,
                    "counterexample"?, "load_histogram"?, "ebb"?, "deploy"?}],
     "simulations"?: [{"network", "label", "parameters", "points",
                       "saturation_throughput"?}],
     "packets"?: [{"network", "label", "parameters", "points", "jobs"?}],
     "messages"?: [{"network", "label", "parameters", "ranks", "finish_ns", "mean_finish_ns",
                    "messages", "sent_bytes", "busiest_link_use"?}],
     "mappings"?: [{"network", "label", "method", "graph"?, "processes", "average_dilation",
                    "maximum_congestion", "finish_ns"?}],
     "measures"?: [{"name", "doc", "columns": [{"name", "unit", "meaning", "better"?}],
                    "rows": [{"network", "label", "cells", "parameters"?}]}],
     "stages"?: [{"name", "seconds"?, "line"?}], "skipped"?: [{"what", "why"}]}

A part that is missing leaves its section out; where ``skipped`` or a routing's
``deploy["skipped"]`` gives a reason, the page says it. The page has no script, refers to nothing
outside itself and is the same bytes for the same input.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flyloom import draw
from flyloom.draw.floor import racks_of
from flyloom.draw.svg import plural
from flyloom.report import (
    answer,
    axis,
    charts,
    flit,
    mapped,
    messages,
    packet_maps,
    packets,
    simulated,
)
from flyloom.report.check import cabled, check
from flyloom.report.drawing import DrawingError
from flyloom.support.files import write_whole

#: Rows of the structure table: key, words, unit or explanation, decimals.
STRUCTURE = (
    ("switches", "Switches", "", 0),
    ("endpoints", "Endpoints", "", 0),
    ("links", "Links between switches", "cables", 0),
    ("network_radix", "Network radix", "ports of a switch that lead to switches", 0),
    ("concentration", "Concentration", "endpoints on a switch", 0),
    ("radix", "Radix", "ports used on a switch", 0),
    ("diameter", "Diameter", "hops", 0),
    ("mean_distance", "Mean distance", "hops, over ordered pairs of switches", 3),
    ("girth", "Girth", "length of the shortest cycle", 0),
    ("moore_fraction", "Moore fraction", "switches / most possible at this degree and diameter", 3),
)
_SOURCES = {"flyloom": "flyloom", "opensm": "OpenSM", "file": "read from file"}
#: Links of all matrices of a page that may be drawn one by one; it bounds the page's size.
_MATRIX_LINKS = 60_000
#: Columns of a measure from which on what is the same in all rows is said beside the table.
WIDE = 8


def render(data: Mapping[str, Any], lost: Callable[[str], None] | None = None) -> str:
    """The report as one HTML page.

    ``data`` is described in the module and checked by :func:`flyloom.report.check.check`. Needs
    ``jinja2`` and, when there is anything to chart, ``vl-convert-python``; both are imported here
    and not before. Where charts cannot be drawn the page is written without them, says why, and
    ``lost`` is called with the reason. Raises :class:`flyloom.report.check.ReportError` for data of
    another shape.
    Time O(size of the data), about a second for the charts.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    report = check(data)
    labels = [network["label"] for network in report["networks"]]
    loader = PackageLoader("flyloom.report", ".")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )
    environment.filters.update(count=count, fixed=fixed, share=share, words=words, cell=cell)
    environment.globals.update(load_summary=charts.load_summary)
    css = loader.get_source(environment, "page.css")[0]
    colours = charts.network_colours(labels)

    def chart(name: str, spec: dict[str, Any] | None) -> Markup | None:
        if spec is None or lacking:
            return None
        try:
            return Markup(charts.svg(spec, prefix=f"{name}-"))
        except DrawingError as error:
            lacking.append(str(error))
            return None

    lacking: list[str] = []
    curves = simulated.curves(report["simulations"], labels)
    played = messages.rows(report["messages"], labels)
    driven = packets.curves(report["packets"], labels)
    traced = packets.traced(report["packets"], labels)
    packet_heat, packet_heat_of = packet_maps.heat(report["packets"], report["networks"])
    drawn = {
        "message_chart": chart("messages", messages.spec(played)),
        "mapping_chart": chart("mapping", mapped.spec(report["mappings"])),
        "flit_chart": chart("flit", flit.curves_spec(curves)),
        "packet_chart": chart("packet-load", packets.curves_spec(driven)),
        "trace_chart": chart("packet-trace", packets.traced_spec(traced)),
        "flit_distributions": chart("packets", simulated.distributions(curves)),
        "cable_chart": chart("cables", charts.cable_spec(report["networks"])),
        "load_chart": chart("load", charts.load_spec(report["routings"], labels)),
        "ebb_chart": chart("ebb", charts.ebb_spec(report["routings"], labels)),
    }
    for why in lacking:
        report["skipped"] = [*report["skipped"], {"what": "charts of the report", "why": why}]
        drawn = dict.fromkeys(drawn)
        if lost is not None:
            lost(why)
    budget = _MATRIX_LINKS // max(1, min(charts.MOST, len(labels)))
    return environment.get_template("page.html.j2").render(
        report=report,
        css=Markup(css),
        answer=answer.answer(report, curves, driven),
        tiles=tiles(report),
        networks=[
            _pictures(network, colours, budget if place < charts.MOST else 0)
            for place, network in enumerate(report["networks"])
        ],
        left_out=_left_out(report, curves, played) | {
            "traces": " ".join(filter(None, (
                some("curves", len({row["curve"] for row in traced}), "the first", axis.MOST),
                packets.off_axis(traced),
            ))),
            "packet_heat": some("maps of links", packet_heat_of, "the first", simulated.MAPS),
        },
        structure=structure_rows(report["networks"]),
        verdict_names=verdict_names(report["routings"]),
        sources=_SOURCES,
        broken=[r for r in report["routings"] if _failed(r)],
        **drawn,
        curves=simulated.rows(curves),
        played=played,
        driven=driven,
        traced=traced,
        packet_heat=[{**h, "drawings": {k: Markup(v) for k, v in h["drawings"].items()}}
                     for h in packet_heat],
        heat=[{**h, "drawings": {k: Markup(v) for k, v in h["drawings"].items()}}
              for h in simulated.heat(curves, report["networks"])],
        deployed=[r for r in report["routings"] if r["deploy"] is not None],
        several=len(labels) > 1,
        measures=measure_tables(report["measures"]),
    )


def write(data: Mapping[str, Any], path: str | Path) -> Path:
    """Render the report to ``path`` (UTF-8), all or nothing, and return the path.

    Raises as :func:`render` and :func:`flyloom.support.files.write_whole` do.
    """
    target = Path(path)
    write_whole(target, render(data))
    return target


# --- words and numbers ---------------------------------------------------------------------------


def count(value: float | None) -> str:
    """A whole number with thousands separators; ``–`` for ``None``; other numbers to 2 decimals."""
    if value is None:
        return "–"
    return f"{int(value):,}" if value == int(value) else f"{value:,.2f}"


def fixed(value: float | None, decimals: int = 3) -> str:
    """A number with a fixed number of decimals and thousands separators; ``–`` for ``None``."""
    return "–" if value is None else f"{value:,.{decimals}f}"


def share(part: float, whole: float) -> str:
    """``part / whole`` in per cent, without decimals; ``–`` when there is no whole."""
    return "–" if not whole else f"{100 * part / whole:.0f} %"


def words(name: str) -> str:
    """A field's name as words: ``deadlock_free`` becomes ``deadlock free``."""
    return name.replace("_", " ")


def cell(value: object) -> str:
    """A figure of a measure: whole numbers in full, others to 6 digits, or as whole numbers;
    ``–`` for ``None``."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"
    return str(value)


# --- the parts of the page -----------------------------------------------------------------------


def structure_rows(networks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows of the structure table: ``{"name", "unit", "values"}``, one value a network.

    The known measures come first (:data:`STRUCTURE`), then all others by name. A measure that no
    network has is left out; a girth of ``None`` says that there is no cycle.
    """
    known = {key for key, *_ in STRUCTURE}
    rest = sorted({key for network in networks for key in network["structure"]} - known)
    extra = tuple((key, words(key).capitalize(), "", 3) for key in rest)
    rows = []
    for key, name, unit, decimals in STRUCTURE + extra:
        if not any(key in network["structure"] for network in networks):
            continue
        cells = [network["structure"].get(key) for network in networks]
        values = [_cell(cell, decimals) for cell in cells]
        if key == "girth":
            has = [key in network["structure"] for network in networks]
            values = [
                "no cycle" if there and cell is None else value
                for there, cell, value in zip(has, cells, values, strict=True)
            ]
        if any(value != "–" for value in values):
            rows.append({"name": name, "unit": unit, "values": values})
    return rows


def _cell(value: object, decimals: int) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return fixed(value, decimals) if decimals else count(value)
    if isinstance(value, tuple):
        return ", ".join(_cell(item, decimals) for item in value)
    return str(value)


def measure_tables(measures: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The tables of measures. Of a wide one ``same`` says in words what is the same in all rows,
    and its columns are the others."""
    out = []
    for measure in measures:
        columns, rows = measure["columns"], measure["rows"]
        same = [
            place for place in range(len(columns))
            if len(columns) > WIDE and len(rows) > 1
            and len({str(row["cells"][place]) for row in rows}) == 1
        ]
        said = [f"{words(columns[place]['name'])} {cell(rows[0]['cells'][place])}"
                for place in same if rows[0]["cells"][place] is not None]
        kept = [place for place in range(len(columns)) if place not in same]
        out.append({
            **measure, "same": ", ".join(said), "columns": [columns[place] for place in kept],
            "rows": [{**row, "cells": [row["cells"][place] for place in kept]} for row in rows],
        })
    return out


def verdict_names(routings: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names of all verdicts in order of first appearance: the columns of the proof table."""
    return list(dict.fromkeys(v["name"] for r in routings for v in r["verdicts"] or []))


def _failed(routing: Mapping[str, Any]) -> bool:
    return bool(routing["counterexample"]) or any(
        not verdict["holds"] for verdict in routing["verdicts"] or []
    )


def some(what: str, all_: int, which: str, most: int = charts.MOST) -> str:
    """A sentence that says how many are shown, where that is not all."""
    return f"Shown are {most} of {all_:,} {what}: {which}." if all_ > most else ""


def _left_out(
    report: Mapping[str, Any], curves: Sequence[Mapping[str, Any]],
    played: Sequence[Mapping[str, Any]],
) -> dict[str, str]:
    """What charts and drawings do not show of many routings, networks or curves, in a sentence
    each."""
    most, half = charts.MOST, charts.MOST // 2
    drawn = [curve for curve in curves if curve["points"]]
    mapped = [curve for curve in curves if any(point["links"] for point in curve["points"])]

    counts = {
        figure: sum(figure(routing) is not None for routing in report["routings"])
        for figure in (charts.load_figure, charts.ebb_figure)
    }
    first, priced = f"the first {most}", [n for n in report["networks"] if n["cables"]]
    return {
        "load": some("routings", counts[charts.load_figure],
                     f"the {half} of the lowest and the {half} of the highest load over the mean"),
        "ebb": some("routings", counts[charts.ebb_figure],
                    f"the {half} of the lowest and the {half} of the highest mean"),
        "cables": some("networks", len(priced), first),
        "networks": some("networks", len(report["networks"]), f"{first}, as drawings"),
        "distributions": some("curves", len(drawn), "the first", simulated.DISTRIBUTIONS),
        "messages": some("curves", len({row["curve"] for row in played}), "the first",
                         axis.MOST),
        "heat": some("curves with links", len(mapped), "the first", simulated.MAPS),
    }


def _pictures(
    network: Mapping[str, Any], colours: Mapping[str, str], max_links: int
) -> dict[str, Any]:
    """A network with its drawings, none where ``max_links`` is 0, and the facts that the captions
    quote."""
    from markupsafe import Markup

    floor, size = network["floor"], cabled(network)
    columns = {rack["column"] for rack in floor["racks"]} if floor else ()
    out = {**network, "colour": colours[network["label"]], "matrix": None, "plan": None,
           "fronts": None, "many_racks": bool(floor) and len(floor["racks"]) > 5,
           "wide_floor": len(columns) > 5}
    if not max_links:
        return out
    racks: list[str | None] | None = None
    if floor and floor["racks"]:
        racks = racks_of(floor, size)
        out["plan"] = Markup(draw.floor_svg(floor))
        out["fronts"] = Markup(draw.racks_svg(floor, network["switch_groups"]))
    if network["edges"]:
        out["matrix"] = Markup(draw.adjacency_svg(
            network["edges"], size, switch_groups=network["switch_groups"],
            switch_racks=racks, max_links=max_links,
        ))
    return out


def tiles(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The headline: what was built, proven, measured, loaded.

    A tile is ``{"head", "big", "small", "mood"}``; ``mood`` is ``good``, ``bad`` or ``plain``. A
    tile whose stage did not run says why when the data does, and is left out otherwise.
    """
    out = [_built(network) for network in report["networks"][:2]]
    if len(report["networks"]) > 2:
        names = few(network["label"] for network in report["networks"][2:])
        more = plural(len(report["networks"]) - 2, "more network")
        out.append({"head": "Also built", "big": more, "small": names, "mood": "plain"})
    several = len(report["networks"]) > 1
    made = (_proven(report), _measured(report, several), _loaded(report))
    return out + [tile for tile in made if tile is not None]


def few(names: Iterable[str]) -> str:
    """The first five names, and how many more there are."""
    known = list(names)
    more = f" and {len(known) - 5:,} more" if len(known) > 5 else ""
    return ", ".join(known[:5]) + more


def _built(network: Mapping[str, Any]) -> dict[str, Any]:
    facts = network["structure"]
    small = [plural(facts["switches"], "switch", "switches"), plural(facts["links"], "link")]
    if network["floor"] and network["floor"]["racks"]:
        small.append(plural(len(network["floor"]["racks"]), "rack"))
    if facts.get("diameter") is not None:
        small.append(f'diameter {facts["diameter"]}')
    return {"head": f'Built: {network["label"]}', "big": plural(facts["endpoints"], "endpoint"),
            "small": ", ".join(small), "mood": "plain"}


def _proven(report: Mapping[str, Any]) -> dict[str, Any] | None:
    judged = [r for r in report["routings"] if r["verdicts"] or not r["verified"]]
    if not judged:
        return None
    good = [r for r in judged if r["verified"]]
    bad = [r for r in judged if not r["verified"]]
    small = "every verdict holds, with its witness below"
    if bad:
        names = few(dict.fromkeys(r["label"] for r in bad))
        small = f"hold every verdict; not verified, with the reason below: {names}"
    mood = "good" if not bad else "plain" if good else "bad"
    return {"head": "Proven", "mood": mood, "small": small,
            "big": f"{len(good)} of {plural(len(judged), 'routing')}"}


def _measured(report: Mapping[str, Any], several: bool) -> dict[str, Any] | None:
    measured = [r for r in report["routings"] if r["ebb"]]
    if not measured:
        return None
    sound = [r for r in measured if r["verified"]] or measured
    best = max(sound, key=lambda r: r["ebb"]["mean"])
    ebb = best["ebb"]
    where = f' on {best["network"]}' if several else ""
    note = "" if best["verified"] else " (not verified)"
    return {
        "head": "Measured", "mood": "plain", "big": f'{ebb["mean"]:.3f}',
        "small": f'highest effective bisection bandwidth of a verified routing: {best["label"]}'
                 f'{where}, {ebb["ci_low"]:.3f} to {ebb["ci_high"]:.3f}'
        if best["verified"] else
        f'highest effective bisection bandwidth: {best["label"]}{where}{note}',
    }


def _loaded(report: Mapping[str, Any]) -> dict[str, Any] | None:
    stages = [r["deploy"] for r in report["routings"] if r["deploy"]]
    run = [deploy for deploy in stages if deploy["skipped"] is None]
    if not run:
        if not stages:
            return None
        return {"head": "Loaded and read back", "big": "skipped", "mood": "plain",
                "small": stages[0]["skipped"]}
    kinds = ("entries", "sl_entries", "sl2vl_entries")
    total = sum(deploy[kind] or 0 for deploy in run for kind in kinds)
    differing = sum(deploy[f"differing_{kind}"] or 0 for deploy in run for kind in kinds)
    small = f"{total:,} table entries of {plural(len(run), 'routing')} compared with OpenSM's"
    return {"head": "Loaded and read back", "mood": "bad" if differing else "good",
            "big": f"{differing:,} differ" if differing else "identical", "small": small}
