"""Draws the pictures of the documentation: `.venv/bin/python docs/pictures/make.py`.

tests/docs/test_docs.py checks that the committed files are what this draws.
"""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import flyloom as fl
from flyloom import draw
from flyloom.cabling.model import CablingPlan
from flyloom.cabling.pair import pair_svg
from flyloom.cabling.rack import rack_sheets
from flyloom.cabling.states import states_svg
from flyloom.draw.floor import floor_data
from flyloom.report import comparison, congestion, figures, flit, packets, timeline
from flyloom.report.charts import svg
from flyloom.report.section import messages

SLIM_FLY, FAT_TREE = "slim_fly:q=5,p=4", "fat_tree:leaves=12,spines=6,parallel=3,p=18"
BUILT = {"endpoints_per_unit": 2}
"""The floor of the deployed Slim Fly: racks of 10 switches and 40 servers, two in a unit."""


def pictures() -> dict[str, str]:
    """File name and SVG text of every picture: the deployed Slim Fly, q = 5 and p = 4; the largest
    members of some families."""
    network = fl.slim_fly(q=5, p=4)
    plan = network.plan(BUILT)
    floor = floor_data(plan, network.switch_names)
    groups = network.groups.tolist()
    racks = [seat["rack"] for seat in plan["switches"]]
    matrix = draw.adjacency_svg(
        network.edges.tolist(), network.switches, switch_groups=groups, switch_racks=racks
    )
    families = ["slim_fly", "polar_fly", "dragonfly", "hyperx", "fat_tree"]
    cabling = CablingPlan(network.recipe, plan, network.switch_names, groups)
    curves = fl.compare(families, radix=48).curves
    near = fl.compare(
        ["slim_fly", "dragonfly", "megafly", "hyperx", "fat_tree", "torus", "jellyfish"],
        endpoints=500, radix=36, samples=0, curves=False,
    ).rows
    measured = of("message_figures")
    kept = measured["kept"]()
    return {
        "slim_fly_floor.svg": draw.floor_svg(floor),
        "slim_fly_racks.svg": draw.racks_svg(floor, groups),
        "slim_fly_rack_r00.svg": rack_sheets(cabling, cabling.racks["R00"], None)[0].svg(),
        "slim_fly_pair_r00_r01.svg": pair_svg(cabling, ("R00", "R01")),
        "slim_fly_adjacency.svg": matrix,
        "slim_fly_state.svg": state(network),
        "compare_endpoints.svg": svg(comparison.endpoints_spec(curves), prefix="endpoints-"),
        "figure_disjoint_paths.svg": svg(
            figures.spec(fl.figure("disjoint_paths", layers=[2, 4, 8])), prefix="disjoint-"
        ),
        "routing_growth.svg": svg(growth(), prefix="growth-"),
        "two_networks.svg": svg(under_load(), prefix="two-"),
        "packet_loads.svg": svg(packet_loads(), prefix="packet-"),
        "congestion_bisections.svg": svg(bisections(), prefix="bisect-"),
        "critical_path.svg": svg(critical_path(), prefix="path-"),
        "pareto.svg": svg(comparison.pareto_spec(near), prefix="pareto-"),
        **{
            f"{name}.svg": svg(flit.curves_spec(curves), prefix=f"{name}-")
            for name, curves in of("flit_figures")["kept"]().items()
        },
        **{
            f"{name}.svg": svg(messages.spec(kept[name]), prefix=f"{name}-")
            for name in measured["DRAWN"]
        },
        **{
            f"{name}.svg": svg(spec, prefix=f"{name}-")
            for name, spec in of("packet_figures")["specs"]().items()
        },
        **of("explained_networks")["pictures"](),
        **of("explained_time")["pictures"](),
    }


def of(script: str) -> dict:
    """What a script beside this one defines: it keeps what was measured."""
    return runpy.run_path(str(Path(__file__).with_name(f"{script}.py")))


def growth() -> dict:
    """CPU time of routing against endpoints: `bench/run.py growth` measured routing_growth.json."""
    points = json.loads(Path(__file__).with_name("routing_growth.json").read_text())
    names = list(dict.fromkeys(point["engine"] for point in points))
    return comparison.chart({
        "data": {"values": points}, "width": 560, "height": 320,
        "mark": {"type": "line", "strokeWidth": 1.6, "point": {"size": 26}},
        "encoding": {
            "x": {"field": "endpoints", "type": "quantitative", "scale": {"type": "log"},
                  "axis": {"title": "endpoints of a Slim Fly", "format": "~s", "tickCount": 6}},
            "y": {"field": "cpu_s", "type": "quantitative", "scale": {"type": "log"},
                  "axis": {"title": "CPU time of routing [s]", "format": "~g", "tickCount": 6}},
            "color": comparison.colour(names, "engine"),
        },
    })


def until_saturated(points: list) -> list:
    """The points of a curve up to the first at which it is saturated."""
    past = next((i for i, point in enumerate(points) if point["saturated"]), len(points))
    return points[:past + 1]


def under_load() -> dict:
    """Latency of the deployed Slim Fly and of the fat tree it was compared with, against load."""
    curves = []
    for name, network, selection, traffic in (
        ("Slim Fly, minimal, uniform", SLIM_FLY, "minimal", "uniform"),
        ("Slim Fly, minimal, worst case", SLIM_FLY, "minimal", "worst_case"),
        ("Slim Fly, UGAL-L, worst case", SLIM_FLY, "ugal_l", "worst_case"),
        ("fat tree, minimal, worst case", FAT_TREE, "minimal", "worst_case"),
    ):
        found = fl.simulate(
            network, "flit", selection=selection, traffic=traffic,
            load=[round(0.05 * step, 2) for step in range(1, 20)],
            settings={"run.warmup_cycles": 300, "run.measure_cycles": 1000},
        )
        curves.append({"label": name, "points": until_saturated(found.points)})
    return flit.curves_spec(curves, rows=flit.ROWS[:1])


def packet_loads() -> dict:
    """Latency of packets on the deployed Slim Fly against load, over minimal and adaptive paths."""
    curves = []
    for name, selection, traffic in (
        ("minimal, uniform", "minimal", "uniform"),
        ("minimal, worst case", "minimal", "worst_case"),
        ("UGAL-L, uniform", "ugal_l", "uniform"),
        ("UGAL-L, worst case", "ugal_l", "worst_case"),
    ):
        found = fl.simulate(
            SLIM_FLY, "packet", selection=selection, traffic=traffic,
            load=[round(0.1 * step, 1) for step in range(1, 10)],
            settings={"run.warmup_ns": 20_000, "run.measure_ns": 50_000},
        )
        curves.append({"label": name, "points": until_saturated(found.points)})
    return packets.curves_spec(curves)


def bisections() -> dict:
    """How many messages share the busiest channel of a message's route, in random bisections."""
    return congestion.spec(
        fl.congestion(SLIM_FLY, "bisect", samples=200, seed=1, metric="congestion"))


def critical_path() -> dict:
    """What 12 ranks on the Slim Fly do in a sum, and the path that its time follows from."""
    return timeline.spec(fl.simulate(
        SLIM_FLY, "message", workload="allreduce_tree ranks=12 bytes=16384",
        costs={"o": 300, "g": 200, "S": 8192}, placement="stripe", critical_path=True,
    ))


def state(network: fl.Topology) -> str:
    """The racks of a fabric without one cable and one switch, with two switches exchanged."""
    found = network.with_failures(links=[0], switches=[3]).to_text("netlist")
    one, other = (f"{network.addresses()['switch_guid'][i]:x}" for i in (20, 40))
    found = re.sub(f"{one}|{other}", lambda m: one if m[0] == other else other, found)
    fabric = fl.Topology.from_text(found, "found")
    return states_svg(network, BUILT, network.check_cables(fabric, rules=BUILT))


if __name__ == "__main__":
    for name, svg in pictures().items():
        (Path(__file__).parent / name).write_text(svg + "\n", encoding="utf-8")
