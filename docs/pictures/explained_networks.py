"""The pictures of docs/explained that show networks: what is drawn is computed from them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import flyloom as fl
from flyloom.draw.svg import FAR, GREY, INK, MIDDLE, NEAR, PALE, PAPER, TINTS, SvgDrawing
from flyloom.report import comparison, flit
from flyloom.report.charts import svg

Point = tuple[float, float]
RING = "ring:n=5,p=1"
FULL_MESH = "complete:n=6,p=4"
MEASURED = {
    "ring:n=8,p=1": "ring of 8", "fat_tree:leaves=8,spines=4,p=4": "fat tree, 32 endpoints",
    "dragonfly:h=2": "dragonfly h = 2", "slim_fly:q=5,p=4": "Slim Fly q = 5",
}


def pictures() -> dict[str, str]:
    """File name and SVG text of every picture."""
    return {
        "explained_moore_tree.svg": moore_tree(fl.network("slim_fly:q=5,p=4")),
        "explained_slim_fly_columns.svg": columns(fl.network("slim_fly:q=5,p=4")),
        "explained_deadlock_cycle.svg": waiting(),
        "explained_dependencies.svg": dependencies(),
        "explained_ring_halves.svg": ring_halves(),
        "explained_bandwidths.svg": svg(bandwidths(), prefix="bandwidths-"),
        "explained_detours.svg": detours(),
        "explained_detour_curves.svg": svg(detour_curves(), prefix="detours-"),
    }


def sheet(width: float, height: float, title: str) -> SvgDrawing:
    """An empty drawing on white, so that it can be read on dark pages, too."""
    drawing = SvgDrawing(width, height, title)
    drawing.add("rect", x=0, y=0, width=width, height=height, fill=PAPER)
    return drawing


def around(centre: Point, radius: float, count: int, turn: float = -90) -> list[Point]:
    """`count` points around `centre`, clockwise, the first at `turn` degrees."""
    angles = [math.radians(turn + 360 * i / count) for i in range(count)]
    return [(centre[0] + radius * math.cos(a), centre[1] + radius * math.sin(a)) for a in angles]


def between(start: Point, end: Point, part: float, aside: float = 0) -> Point:
    """The point at a part of the line from `start` to `end`, and `aside` pixels to its right."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    long = math.hypot(dx, dy)
    return (start[0] + part * dx - aside * dy / long, start[1] + part * dy + aside * dx / long)


def arrow(drawing: SvgDrawing, start: Point, end: Point, colour: str, *, width: float = 1.6,
          dashes: str | None = None) -> None:
    """A straight arrow whose head ends at `end`."""
    long = math.hypot(end[0] - start[0], end[1] - start[1])
    head = min(4 + 2.4 * width, long)
    neck = between(start, end, 1 - head / long)
    drawing.add("line", x1=start[0], y1=start[1], x2=neck[0], y2=neck[1], stroke=colour,
                stroke_width=width, stroke_dasharray=dashes)
    sides = [between(neck, end, 0, aside) for aside in (-head / 2.6, head / 2.6)]
    drawing.add("path", d="M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in (end, *sides)) + "Z",
                fill=colour)


def label(drawing: SvgDrawing, at: Point, text: str, size: float = 11, **more: object) -> None:
    """A text in the middle of a point."""
    drawing.text(at[0], at[1] + 0.36 * size, text, size, **{"text_anchor": "middle", **more})


def switch(drawing: SvgDrawing, at: Point, text: str, *, radius: float = 14,
           fill: str = TINTS[0], stroke: str = NEAR) -> None:
    """A switch as a disc with its number."""
    drawing.add("ellipse", cx=at[0], cy=at[1], rx=radius, ry=radius, fill=fill, stroke=stroke,
                stroke_width=1.3)
    if text:
        label(drawing, at, text, min(12, radius))


# --- slim-fly.md ---------------------------------------------------------------------------------


def neighbours(network: fl.Topology) -> list[list[int]]:
    """The switches that each switch is linked to."""
    found: list[list[int]] = [[] for _ in range(network.switches)]
    for one, other in network.edges.tolist():
        found[one].append(other)
        found[other].append(one)
    return [sorted(of) for of in found]


def moore_tree(network: fl.Topology) -> str:
    """One switch, its neighbours, and theirs: in this network all of them are different."""
    linked = neighbours(network)
    first = linked[0]
    second = [[s for s in linked[n] if s != 0] for n in first]
    reached = {0, *first, *(s for of in second for s in of)}
    assert len(reached) == 1 + len(first) + sum(map(len, second)) == network.switches
    drawing = sheet(660, 222, "One switch of the Slim Fly with q = 5, and all others")
    root, step = (330.0, 34.0), 90.0
    for i, (_, leaves) in enumerate(zip(first, second, strict=True)):
        middle = (60 + step * i, 104.0)
        drawing.add("line", x1=root[0], y1=root[1], x2=middle[0], y2=middle[1], stroke=NEAR,
                    stroke_width=1.2)
        for j in range(len(leaves)):
            leaf = (middle[0] - 35 + 14 * j, 168.0)
            drawing.add("line", x1=middle[0], y1=middle[1], x2=leaf[0], y2=leaf[1],
                        stroke=GREY, stroke_width=0.8)
            switch(drawing, leaf, "", radius=5, fill=TINTS[1], stroke=FAR)
        switch(drawing, middle, "", radius=9)
    switch(drawing, root, "", radius=11, fill=NEAR)
    drawing.text(346, 32, "1 switch", 12)
    drawing.text(8, 78, f"{len(first)} at one hop", 12)
    drawing.text(8, 196, f"{sum(map(len, second))} at two hops, each met once:"
                 f" 1 + {len(first)} + {len(first)} · {len(second[0])} = {network.switches}", 12)
    drawing.text(8, 213, "Any further switch would have to be a third hop away.", 11, fill=GREY)
    return drawing.render()


def columns(network: fl.Topology) -> str:
    """The two halves of the Slim Fly with q = 5, each of five columns of five switches."""
    parts = [tuple(map(int, name.split("-")[1:])) for name in network.switch_names]
    drawing = sheet(660, 352, "The Slim Fly with q = 5: two halves of five columns")
    rings = {(s, x): around((75 + 127 * x, 88 + 190 * s), 44, 5)
             for s in (0, 1) for x in range(5)}
    at = [rings[s, x][y] for s, x, y in parts]
    shown = 0  # the switch whose links to the other half are drawn strongly
    across = 0
    for one, other in network.edges.tolist():
        far = parts[one][0] != parts[other][0]
        across += far
        strong = shown in (one, other)
        colour = (FAR if strong else PALE) if far else NEAR
        drawing.add("line", x1=at[one][0], y1=at[one][1], x2=at[other][0], y2=at[other][1],
                    stroke=colour, stroke_width=1.8 if strong else 0.7 if far else 1.2)
    for i, point in enumerate(at):
        switch(drawing, point, "", radius=5, fill=FAR if i == shown else TINTS[0])
    inside = len(network.edges) - across
    drawing.text(12, 20, "first half: in a column, switches one apart are linked", 12)
    drawing.text(12, 348, "second half: in a column, switches two apart are linked", 12)
    label(drawing, (330, 184), f"{inside} links inside columns, {across} between the halves",
          12, stroke=PAPER, stroke_width=5, paint_order="stroke")
    return drawing.render()


# --- deadlock.md ---------------------------------------------------------------------------------


def waiting() -> str:
    """The cycle that the verifier finds on a ring of five switches: who holds, who waits."""
    cycle = fl.verify(fl.route(RING, "min_hop")).deadlock.cycle
    drawing = sheet(520, 400, "Five packets that wait for one another on a ring")
    points, outside = around((260, 200), 110, 5), around((260, 200), 170, 5)
    colours = (NEAR, FAR, MIDDLE, "#7a3e9d", "#5a6472")
    for step, colour in zip(cycle, colours, strict=True):
        here, there = (int(step[key].split("-")[1]) for key in ("from", "to"))
        goal = int(step.route.split("-")[-1])
        start, end = (between(points[here], points[there], part) for part in (0.15, 0.83))
        arrow(drawing, start, end, colour, width=2.6)
        box = between(points[here], points[there], 0.5, -25)
        drawing.add("rect", x=box[0] - 31, y=box[1] - 10, width=62, height=20, rx=3, fill=PAPER,
                    stroke=colour, stroke_width=1.8)
        label(drawing, box, f"to host {goal}", 11)
    for i, point in enumerate(points):
        drawing.add("line", x1=point[0], y1=point[1], x2=outside[i][0], y2=outside[i][1],
                    stroke=GREY, stroke_width=1)
        switch(drawing, point, str(i), radius=16)
        label(drawing, outside[i], f"host {i}", 11, stroke=PAPER, stroke_width=6,
              paint_order="stroke")
    label(drawing, (260, 190), "Each packet fills the buffer", 11.5)
    label(drawing, (260, 206), "at the end of its arrow, and", 11.5)
    label(drawing, (260, 222), "needs the next one.", 11.5)
    return drawing.render()


def turns(routing: fl.Routing) -> dict[int, set[tuple[tuple[int, int], tuple[int, int]]]]:
    """For each lane the pairs of channels that some route takes one after the other."""
    found: dict[int, set] = {}
    count, levels = routing.topology.endpoints, routing.service_levels
    for source in range(count):
        for goal in range(count):
            path = [int(s) for s in routing.path(source, goal)]
            lane = int(levels[0][source][goal]) if levels is not None else 0
            taken = list(itertools.pairwise(path))
            for pair in itertools.pairwise(taken):
                found.setdefault(lane, set()).add(pair)
    return found


def dependencies() -> str:
    """The channel dependency graphs of three routings of a ring, lane by lane."""
    panels = []
    for engine, about in (("min_hop", "shortest paths, one lane"),
                          ("dfsssp", "the same paths, lane {}"),
                          ("up_down", "up*/down*, one lane")):
        routing = fl.route(RING, engine)
        by_lane = turns(routing)
        assert engine != "dfsssp" or sum(map(len, by_lane.values())) == 10
        panels += [(about.format(lane), by_lane[lane]) for lane in sorted(by_lane)]
    drawing = sheet(660, 660, "Channel dependency graphs of a ring of five switches")
    for i, (title, pairs) in enumerate(panels):
        left, top = 330 * (i % 2), 330 * (i // 2)
        _graph(drawing, (left + 165, top + 178), title, pairs)
    return drawing.render()


def _graph(drawing: SvgDrawing, centre: Point, title: str,
           pairs: set[tuple[tuple[int, int], tuple[int, int]]]) -> None:
    """One panel: channels in clockwise direction outside, the others inside."""
    outer, inner = around(centre, 118, 5, -54), around(centre, 62, 5, -54)
    places = {(i, (i + 1) % 5): outer[i] for i in range(5)}
    places |= {((i + 1) % 5, i): inner[i] for i in range(5)}
    for before, after in sorted(pairs):
        turning = {(a, (a + step) % 5) for step in (1, 4) for a in range(5)
                   if all(((a + k * step) % 5, (a + (k + 1) * step) % 5) in places
                          and (((a + k * step) % 5, (a + (k + 1) * step) % 5),
                               ((a + (k + 1) * step) % 5, (a + (k + 2) * step) % 5)) in pairs
                          for k in range(5))}
        colour = FAR if before in turning else NEAR
        start, end = places[before], places[after]
        long = math.hypot(end[0] - start[0], end[1] - start[1])
        arrow(drawing, between(start, end, 19 / long), between(start, end, 1 - 19 / long), colour,
              width=2)
    for (one, other), point in places.items():
        drawing.add("rect", x=point[0] - 17, y=point[1] - 10, width=34, height=20, rx=4,
                    fill=TINTS[0], stroke=NEAR, stroke_width=1)
        label(drawing, point, f"{one}→{other}", 11)
    label(drawing, (centre[0], centre[1] - 154), title, 13, font_weight=600)


# --- bandwidth.md --------------------------------------------------------------------------------

PAIRS = [(5, 1), (6, 3), (2, 0), (7, 4)]
"""Senders and receivers of one random bisection of the ring of eight."""


def ring_halves() -> str:
    """A ring of eight: the worst cut, and what four random pairs load."""
    drawing = sheet(660, 300, "A ring of eight switches: its worst cut, and four random pairs")
    for left, title in ((0, "the worst cut: 2 links for 4 pairs"),
                        (330, "a random half sends to the other: flows by channel")):
        centre = (left + 165.0, 165.0)
        points = around(centre, 92, 8, -67.5)
        loads = ring_loads(PAIRS) if left else {}
        for i in range(8):
            one, other = points[i], points[(i + 1) % 8]
            cut = not left and i in (3, 7)
            drawing.add("line", x1=one[0], y1=one[1], x2=other[0], y2=other[1],
                        stroke=FAR if cut else GREY, stroke_width=3 if cut else 1.4)
            for step, aside in (((i, (i + 1) % 8), -13), (((i + 1) % 8, i), 13)):
                if load := loads.get(step):
                    label(drawing, between(one, other, 0.5, aside), str(load), 12,
                          fill=FAR if load > 1 else INK, font_weight=600)
        if not left:
            drawing.add("line", x1=centre[0], y1=46, x2=centre[0], y2=284, stroke=FAR,
                        stroke_width=1.4, stroke_dasharray="5 4")
        senders, receivers = ({p[k] for p in PAIRS} if left else set() for k in (0, 1))
        for i, point in enumerate(points):
            fill = TINTS[1] if i in senders else TINTS[2] if i in receivers else TINTS[0]
            switch(drawing, point, str(i), fill=fill, stroke=FAR if i in senders else NEAR)
        label(drawing, (centre[0], 20), title, 12.5, font_weight=600)
        if left:
            for k, (one, other) in enumerate(PAIRS):
                label(drawing, (centre[0], 142 + 16 * k), f"{one} sends to {other}", 11.5)
    return drawing.render()


def ring_loads(pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """How many of the flows cross each channel of the ring of eight, over its tables."""
    routing = fl.route("ring:n=8,p=1", "min_hop")
    loads: dict[tuple[int, int], int] = {}
    for one, other in pairs:
        path = [int(s) for s in routing.path(one, other)]
        for step in itertools.pairwise(path):
            loads[step] = loads.get(step, 0) + 1
    return loads


def bandwidths() -> dict:
    """What five measures say of four networks."""
    rows = []
    for recipe, name in MEASURED.items():
        network = fl.network(recipe)
        routing = fl.route(network, "dfsssp")
        cut = fl.structure(network, bisection=True).bisection.high
        limits = fl.traffic_limits(network)
        for measure, value in (
            ("bisection", 2 * cut / network.endpoints),
            ("eBB", fl.ebb(routing, samples=200).effective_bisection_bandwidth),
            ("throughput, uniform",
             fl.throughput(network, "uniform").maximum_achievable_throughput),
            ("worst case, minimal", limits.worst_case_minimal),
            ("worst case, adaptive", limits.worst_case_adaptive),
        ):
            rows.append({"network": name, "measure": measure, "value": round(value, 4)})
    order = list(dict.fromkeys(row["measure"] for row in rows))
    y = {"field": "measure", "type": "nominal", "title": None, "sort": order}
    x = {"field": "value", "type": "quantitative", "title": "part of an endpoint's rate"}
    return comparison.chart({
        "data": {"values": rows},
        "facet": {"field": "network", "type": "nominal", "title": None,
                  "sort": list(MEASURED.values())},
        "columns": 2,
        "spec": {"width": 200, "height": {"step": 22}, "layer": [
            {"mark": {"type": "bar", "color": NEAR, "height": {"band": 0.62}},
             "encoding": {"x": x, "y": y}},
            {"mark": {"type": "text", "align": "left", "dx": 4, "color": INK},
             "encoding": {"x": x, "y": y,
                          "text": {"field": "value", "type": "quantitative", "format": ".3f"}}},
        ]},
    })


# --- adaptive-routing.md -------------------------------------------------------------------------


def detours() -> str:
    """Six switches, all linked: the direct link, and the detours of the same four flows."""
    drawing = sheet(660, 320, "Four endpoints of one switch send to the next switch")
    for left, title, detour in ((0, "minimal: one link carries all four", False),
                                (330, "with detours: five links share them", True)):
        points = around((left + 165.0, 180.0), 100, 6, -120)
        for i in range(6):
            for j in range(i):
                drawing.add("line", x1=points[i][0], y1=points[i][1], x2=points[j][0],
                            y2=points[j][1], stroke=PALE, stroke_width=1.2)
        if detour:
            for middle in range(2, 6):
                for one, other in ((points[0], points[middle]), (points[middle], points[1])):
                    long = math.hypot(other[0] - one[0], other[1] - one[1])
                    arrow(drawing, between(one, other, 15 / long),
                          between(one, other, 1 - 16 / long), MIDDLE, width=1.6)
        direct = (between(points[0], points[1], 0.16), between(points[0], points[1], 0.83))
        arrow(drawing, *direct, FAR, width=1.8 if detour else 6)
        for i, point in enumerate(points):
            switch(drawing, point, "ABCDEF"[i], fill=TINTS[1] if i == 0 else TINTS[0])
        for k in range(4):
            end = (points[0][0] - 44 + 9 * k, points[0][1] - 26 + 3 * k)
            drawing.add("line", x1=end[0], y1=end[1], x2=points[0][0], y2=points[0][1],
                        stroke=GREY, stroke_width=0.8)
        switch(drawing, points[0], "A", fill=TINTS[1])
        label(drawing, (left + 165, 20), title, 12.5, font_weight=600)
        label(drawing, (left + 165, 306),
              "at most 1/4 of the rate each" if not detour else "at most 3/4 of the rate each", 12)
    return drawing.render()


def detour_curves() -> dict:
    """Latency and accepted load of the full mesh, with and without detours."""
    found = [
        {"words": {"traffic": name, "selection": selection}, "points": fl.simulate(
            FULL_MESH, "flit", selection=selection, traffic=traffic,
            load=[round(0.05 + 0.1 * i, 2) for i in range(10)],
            settings={"run.warmup_cycles": 300, "run.measure_cycles": 800},
        ).points}
        for name, traffic in (("uniform", "uniform"), ("to the next switch", "shift:4"))
        for selection in ("minimal", "valiant", "ugal_l")
    ]
    return flit.curves_spec(found, rows=(flit.ROWS[0], flit.ROWS[2]))
