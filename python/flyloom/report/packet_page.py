"""What ``flyloom sim packet ... -o`` writes: the chart of a simulation, and a page with all that it
found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from textwrap import wrap
from typing import Any

from flyloom._core import Topology
from flyloom.report import packet_maps
from flyloom.report.charts import svg
from flyloom.report.comparison import chart, colour
from flyloom.report.frame import framed
from flyloom.report.packets import curves_spec, names_of, times_spec
from flyloom.report.picture import Picture
from flyloom.report.simulated import map_rows, picture_of
from flyloom.support.amounts import number
from flyloom.verbs import runs

POINTS = (
    ("offered load", "offered_load"), ("accepted load", "accepted_load"),
    ("accepted (Gbit/s)", "accepted_gbps"),
    ("mean latency (ns)", "mean_latency_ns"), ("median (ns)", "p50_latency_ns"),
    ("p99 latency (ns)", "p99_latency_ns"), ("largest (ns)", "max_latency_ns"),
    ("mean message (ns)", "mean_message_latency_ns"),
    ("p99 message latency (ns)", "p99_message_latency_ns"),
    ("hops", "mean_hops"), ("detours", "nonminimal_packets"), ("packets", "packets"),
    ("last arrival (ns)", "end_ns"),
)
"""Columns of the table of points."""

JOBS = (
    ("processes", "ranks"), ("slowest process (ns)", "max_comm_ns"),
    ("mean process (ns)", "mean_comm_ns"), ("latency of packets (ns)", "mean_latency_ns"),
    ("p99 packet latency (ns)", "p99_latency_ns"),
    ("latency of messages (ns)", "mean_message_latency_ns"),
    ("p99 message latency (ns)", "p99_message_latency_ns"),
    ("hops", "mean_hops"), ("messages", "messages"), ("packets", "packets"),
    ("bytes", "bytes"),
)
"""Columns of the table of jobs, after their names."""

_WIDTH = 330


def title(found: Mapping[str, Any]) -> str:
    """What was simulated, in words."""
    curves = found.get("curves", [found])
    words = [*runs.common(curves), curves[0]["parameters"]["dialect"]]
    rates = curves[0].get("rates") or {}
    if rates.get("source", "default") != "default":  # the default is that of the dialect
        words.append(f"links of {runs.rate_said(rates)}")
    return ", ".join(words)


def spec(
    found: Mapping[str, Any], *, narrow: bool = False, width_pt: float | None = None
) -> dict[str, Any]:
    """Latency and accepted load against offered load, with a colour for each run; for traces their
    times of communication. Below stand the rates over time of a single run, where they are
    known."""
    curves = runs.labelled(found.get("curves", [found]))
    jobs = any(curve.get("jobs") for curve in curves)
    heads = {"text": wrap(title(found), 96), "anchor": "start", "fontSize": 13, "offset": 14}
    made = None if jobs else curves_spec(curves, title(found), narrow=narrow, width_pt=width_pt)
    if len(curves) > 1:
        return made or chart({"title": heads, "vconcat": _times(curves)})
    if made is None:
        made = {"title": heads, "spacing": 34, "hconcat": _jobs(found) if jobs else []}
    below = [] if narrow or width_pt else _series(curves[0]["points"])
    if not below:
        return chart(made)
    return chart({
        "spacing": 30, "vconcat": [made, {"spacing": 34, "hconcat": below}],
        "resolve": {"scale": {"color": "independent"}},
    })


def _times(curves: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The times of the jobs of several runs."""
    rows = [{**job, "name": name} for name, job in _named_jobs(curves)]
    timed = [row["name"] for row in rows if row["max_comm_ns"] is not None]
    bars = times_spec(rows, _WIDTH, {**colour(timed, "name"), "legend": None})
    return [bars] if bars else []


def _named_jobs(curves: Sequence[Mapping[str, Any]]) -> list[tuple[str, Mapping[str, Any]]]:
    """The jobs of several runs, each with a name that tells it from the others."""
    return [
        (", ".join(word for word in (curve["label"], name) if word), job) for curve in curves
        for job, name in zip(curve.get("jobs", ()), names_of(curve.get("jobs", ())), strict=True)
    ]


# --- times of traces -----------------------------------------------------------------------------


def _jobs(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Times of communication of the jobs of traces, and of all their processes where these are
    known."""
    names = names_of(found["jobs"])
    timed = [name for job, name in zip(found["jobs"], names, strict=True)
             if job["max_comm_ns"] is not None]
    tint = {**colour(timed, "name"), "legend": None}
    rows = [{**job, "name": name} for job, name in zip(found["jobs"], names, strict=True)]
    bars = times_spec(rows, _WIDTH, tint)
    parts = [bars] if bars else []
    ranks = found["points"][0].get("ranks")
    if ranks and ranks["job"]:
        parts.append(_ranks(ranks, names, tint))
    return parts


def _ranks(
    ranks: Mapping[str, Any], names: Sequence[str], tint: dict[str, Any]
) -> dict[str, Any]:
    """Times of communication of all processes of a job, from the shortest to the longest."""
    times: dict[int, list[float]] = {}
    for job, one_ns in zip(ranks["job"], ranks["comm_ns"], strict=True):
        times.setdefault(job, []).append(one_ns)
    values = [
        {"name": names[job], "share": (place + 1) / len(found), "ns": ns}
        for job, found in times.items() for place, ns in _steps(sorted(found))
    ]
    return {
        "width": 330, "height": 170, "data": {"values": values},
        "mark": {"type": "line", "strokeWidth": 1.8, "interpolate": "step-before"},
        "encoding": {
            "x": {"field": "share", "type": "quantitative", "scale": {"domain": [0, 1]},
                  "axis": {"title": "processes, by their time", "format": ".0%", "tickCount": 5}},
            "y": {"field": "ns", "type": "quantitative", "scale": {"zero": False},
                  "axis": {"title": "communication (ns)"}},
            "color": tint,
        },
    }


STEPS = 400
"""Processes of a job whose times are drawn, at most; of more every nth, and the last."""


def _steps(times: Sequence[float]) -> list[tuple[int, float]]:
    every = -(-len(times) // STEPS)
    last = len(times) - 1
    places = sorted({0, *range(last % every, len(times), every)})
    return [(place, times[place]) for place in places]


# --- rates over time -----------------------------------------------------------------------------


def _series(points: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Accepted rate and latency of what arrived in spans of time, a colour for each load."""
    known = [p for p in points if p.get("series") and p["series"]["end_ns"]]
    values = []
    names = []
    for point in known:
        load, series = point["offered_load"], point["series"]
        names.append("" if load is None else f"load {load:g}")
        width = series["end_ns"][0]
        columns = (series["end_ns"], series["accepted_gbps"], series["mean_latency_ns"])
        values += [
            {"name": names[-1], "at": end - width / 2, "rate": rate, "ns": ns}
            for end, rate, ns in zip(*columns, strict=True)
        ]
    if not values:
        return []
    x = {"field": "at", "type": "quantitative", "scale": {"zero": True, "nice": False},
         "axis": {"title": "time (ns)", "tickCount": 6}}
    tint = {**colour(names, "name")}
    tint["legend"] = {"orient": "bottom", "title": None} if len(known) > 1 else None
    parts = {"rate": "accepted (Gbit/s an endpoint)", "ns": "mean latency of packets (ns)"}
    return [
        {"width": 330, "height": 170,
         "data": {"values": [value for value in values if value[key] is not None]},
         "mark": {"type": "line", "strokeWidth": 1.6, "point": {"size": 14}},
         "encoding": {"x": x, "color": tint,
                      "y": {"field": key, "type": "quantitative", "scale": {"zero": True},
                            "axis": {"title": words}}}}
        for key, words in parts.items()
    ]


# --- the page ------------------------------------------------------------------------------------


def page(found: Mapping[str, Any], drawings: Mapping[str, Mapping[str, str]] | None = None) -> str:
    """Charts, tables and ``drawings`` (as :func:`drawings` has them) as one HTML page that refers
    to nothing."""
    parts = [
        f"<section><figure>{svg(spec(found), prefix='packet-')}</figure></section>",
    ]
    curves = runs.labelled(found.get("curves", [found]))
    if jobs := _named_jobs(curves):
        rows = [[f"<th>{escape(job_name)}</th>", *_cells(job, JOBS), ""] for job_name, job in jobs]
        heads = ["job", *(head for head, _ in JOBS)]
        parts += [
            "<section><h2>Jobs</h2>", *_table(heads, rows),
            '<p class="dim">The communication of a process takes from its first operation to its'
            " last, without its calculations. Jobs in the background send as long as those of"
            " traces run.</p></section>",
        ]
    columns = POINTS[2:] if jobs else POINTS
    rows = []
    for curve in curves:
        for point in curve["points"]:
            label = escape(curve["label"])
            note = ", ".join(word for word in (label, _note(point)) if word)
            rows.append([*_cells(point, columns), f"<td>{note}</td>"])
    parts += [f"<section><h2>{'All packets' if jobs else 'Points'}</h2>",
              *_table([head for head, _ in columns], rows)]
    if not found["verified"]:
        parts.append('<p class="no">The routing is not proved free of deadlock.</p>')
    parts.append("</section>")
    for head, maps in (drawings or {}).items():
        parts.append(f'<section><h2>{escape(head)}</h2><div class="pair">')
        parts += [f"<figure><figcaption><b>{escape(words)}</b></figcaption>"
                  f'<div class="scroll">{drawing}</div></figure>'
                  for words, drawing in maps.items()]
        parts.append("</div></section>")
    return framed(title(found), parts)


def _cells(values: Mapping[str, Any], columns: Sequence[tuple[str, str]]) -> list[str]:
    return [f'<td class="n">{_cell(values[key])}</td>' for _, key in columns]


def _note(point: Mapping[str, Any]) -> str:
    return next((word for word in ("deadlocked", "saturated") if point[word]), "")


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return number(value)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    first = heads[0] == "job"
    cells = [f"<th>{head}</th>" if first and not place else f'<th class="n">{head}</th>'
             for place, head in enumerate(heads)]
    if not first:
        cells.append("<th></th>")
    return [
        '<div class="scroll"><table><thead><tr>', *cells, "</tr></thead><tbody>",
        *("<tr>" + "".join(row) + "</tr>" for row in rows), "</tbody></table></div>",
    ]


def picture(
    found: Mapping[str, Any], topology: Callable[[], Topology] | None = None
) -> Picture:
    """The chart, and the page, with heat maps of a single run whose network ``topology`` gives."""
    return picture_of(found, topology, spec, page, drawings)


def drawings(found: Mapping[str, Any], topology: Topology) -> dict[str, dict[str, str]]:
    """Heat maps of the run, of the highest load where there are several: by titles that name the
    plane, and what each shows. None without ``links``."""
    known = [point for point in found["points"] if point.get("links")]
    if not known:
        return {}
    point = packet_maps.shown(known)
    names = topology.switch_names
    maps = packet_maps.planes(
        point["links"], names, switches=topology.switches, **map_rows(topology)
    )
    load = point["offered_load"]
    words = "Use of links" if load is None else f"Use of links at load {load:.4g}"
    return {f"{words}, {plane}" if plane else words: drawn for plane, drawn in maps.items()}
