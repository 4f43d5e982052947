"""Writes the experiments of this folder: `.venv/bin/python examples/figures/make.py`.

Six patterns of traffic at three sizes, and the studies of buffers and of oversubscription.
tests/report/test_flit_figures.py checks that the committed files are what this writes.
"""

from __future__ import annotations

from pathlib import Path

#: Patterns and what they are called; the bit patterns run among the first 2^n endpoints.
PATTERNS = {
    "uniform": ("uniform", "uniform traffic"),
    "bit_reverse": ("bit_reverse:active={active}", "bits reversed"),
    "bit_complement": ("bit_complement:active={active}", "bits complemented"),
    "shuffle": ("shuffle:active={active}", "bits rotated"),
    "shift": ("shift", "shift by half the endpoints"),
    "worst_case": ("worst_case", "the worst case"),
}
#: Sizes: Slim Fly, dragonfly, fat tree; endpoints of bit patterns; cycles of warm-up and measured.
SIZES = {
    "q5": ("q = 5, p = 4", "h = 3, g = 10", "levels = 3, k = 10", 128, (1000, 3000)),
    "q7": ("q = 7, p = 6", "h = 4, g = 17", "levels = 3, k = 14", 512, (1000, 3000)),
    "full": ("q = 19, p = 15", "h = 7", "levels = 3, k = 34", 8192, (1000, 2000)),
}
ROUTER = "switch = { virtual_channels = 4, buffer_flits = 16 }"

FIGURE = '''\
# Latency against load, {words}: Slim Fly with four selections beside a dragonfly and a
# fat tree of about as many endpoints. Source of the figure: Besta and Hoefler, "Slim Fly: a cost
# effective low-diameter network topology", SC 2014, section V. Written by make.py.
schema = 1
name = "flit_{size}_{pattern}"
title = "Slim Fly, dragonfly and fat tree under load: {words}"
seed = 1

[sim.flit]
traffic = "{traffic}"
{load}
{router}
run = {{ warmup_cycles = {warmup}, measure_cycles = {measure} }}

[[sweep.zip]]
label = ["Slim Fly", "Slim Fly", "Slim Fly", "Slim Fly", "dragonfly", "fat tree"]
topology = [
  {{ family = "slim_fly", {slim_fly} }},
  {{ family = "slim_fly", {slim_fly} }},
  {{ family = "slim_fly", {slim_fly} }},
  {{ family = "slim_fly", {slim_fly} }},
  {{ family = "dragonfly", {dragonfly} }},
  {{ family = "fat_tree", {fat_tree} }},
]
"sim.flit.selection" = ["minimal", "valiant", "ugal_l", "ugal_g", "ugal_l", "anca"]
{lanes}{loads}'''
#: Virtual channels; at full size all routers are alike, and the dragonfly's lanes rise by groups.
LANES = """\
# packets that choose need a virtual channel for each hop: 4 in a Slim Fly, 6 in a dragonfly
"sim.flit.switch.virtual_channels" = [4, 4, 4, 4, 6, 4]
"""
FULL_LANES = """\
# by hops a dragonfly needs 6 virtual channels, by groups 4
"sim.flit.lane_use" = ["hops", "hops", "hops", "hops", "groups", "auto"]
"""
#: Loads of full size, where each is a point of its own, so that little is lost when a run is ended.
LOADS = """
[sweep.grid]
"sim.flit.load" = [0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
"""

STUDY = '''\
# {words}
# Source of the study: Besta and Hoefler, "Slim Fly: a cost effective low-diameter network
# topology", SC 2014, section V. Written by make.py.
schema = 1
name = "flit_{size}_{name}"
title = "{title}"
seed = 1
topology = {{ family = "slim_fly", {slim_fly} }}

[sim.flit]
traffic = "{traffic}"
selection = "ugal_l"
load = "auto"
{router}
run = {{ warmup_cycles = {warmup}, measure_cycles = {measure} }}

[sweep.grid]
{sweep}
'''
#: Studies: what, title, traffic, and the values swept over at each size.
STUDIES = {
    "buffers": (
        "How large buffers must be: flits of each of 4 virtual channels, under the worst case.",
        "Buffers of a Slim Fly under the worst case", "worst_case",
        dict.fromkeys(SIZES, '"sim.flit.switch.buffer_flits" = [2, 4, 8, 16, 32, 64]'),
    ),
    "oversubscription": (
        "More endpoints on a switch than full bandwidth carries, under uniform traffic.",
        "Oversubscribed Slim Flies under uniform traffic", "uniform",
        {"q5": '"topology.p" = [4, 5, 6, 7]', "q7": '"topology.p" = [6, 7, 8, 9]',
         "full": '"topology.p" = [15, 16, 17, 18]'},
    ),
}


def files() -> dict[str, str]:
    """File name and text of every experiment."""
    made = {}
    for size, (slim_fly, dragonfly, fat_tree, active, (warmup, measure)) in SIZES.items():
        known = {"size": size, "slim_fly": slim_fly, "dragonfly": dragonfly, "fat_tree": fat_tree,
                 "warmup": warmup, "measure": measure, "router": ROUTER,
                 "loads": LOADS if size == "full" else "",
                 "lanes": FULL_LANES if size == "full" else LANES,
                 "load": "# a point for each load, below" if size == "full" else 'load = "auto"'}
        for pattern, (traffic, words) in PATTERNS.items():
            made[f"{size}_{pattern}.toml"] = FIGURE.format(
                pattern=pattern, traffic=traffic.format(active=active), words=words, **known
            )
        for name, (words, title, traffic, sweeps) in STUDIES.items():
            made[f"{size}_{name}.toml"] = STUDY.format(
                name=name, words=words, title=title, traffic=traffic, sweep=sweeps[size], **known
            )
    return made


if __name__ == "__main__":
    for name, text in files().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
