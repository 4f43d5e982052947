"""Writes the experiments of this folder: `.venv/bin/python examples/mapping/make.py`.

The study of mapping heuristics by Hoefler and Snir ("Generic topology mapping strategies for
large-scale parallel architectures", ICS 2011): congestion, dilation and simulated time of methods
against the size, on the tori and fat trees of theirs, and on Slim Flies and dragonflies, for halos
of two and of three dimensions whose grids do not suit the network.
tests/lab/test_map_experiments.py checks that the committed files are what this writes.
"""

from __future__ import annotations

from pathlib import Path

#: File name: words, networks in the inline form of TOML, and the sizes of the two grids for each.
STUDIES = {
    "torus": ("tori of three dimensions", [
        ("{ family = \"torus\", shape = [4, 4, 4], p = 1 }", "8x8", "2x4x8"),
        ("{ family = \"torus\", shape = [6, 6, 6], p = 1 }", "12x18", "3x6x12"),
        ("{ family = \"torus\", shape = [8, 8, 8], p = 1 }", "16x32", "4x8x16"),
        ("{ family = \"torus\", shape = [10, 10, 10], p = 1 }", "25x40", "5x10x20"),
    ]),
    "fat_tree": ("fat trees of three levels", [
        ("{ family = \"fat_tree\", levels = 3, k = 4 }", "4x4", "2x2x4"),
        ("{ family = \"fat_tree\", levels = 3, k = 8 }", "8x16", "4x4x8"),
        ("{ family = \"fat_tree\", levels = 3, k = 12 }", "18x24", "6x6x12"),
        ("{ family = \"fat_tree\", levels = 3, k = 16 }", "32x32", "8x8x16"),
    ]),
    "slim_fly": ("Slim Flies", [
        ("{ family = \"slim_fly\", q = 3, p = 2 }", "6x6", "3x3x4"),
        ("{ family = \"slim_fly\", q = 5, p = 4 }", "10x20", "4x5x10"),
        ("{ family = \"slim_fly\", q = 7, p = 5 }", "14x35", "5x7x14"),
        ("{ family = \"slim_fly\", q = 9, p = 6 }", "27x36", "6x9x18"),
    ]),
    "dragonfly": ("balanced dragonflies", [
        ("{ family = \"dragonfly\", h = 2 }", "8x9", "3x4x6"),
        ("{ family = \"dragonfly\", h = 3 }", "18x19", "3x6x19"),
        ("{ family = \"dragonfly\", h = 4 }", "32x33", "8x11x12"),
    ]),
}

METHODS = ("random", "linear", "rcm", "greedy", "bisection", "auto")

TEXT = '''\
# Mappings of halo exchanges on {words}: methods side by side
# against the size. Written by make.py.
schema = 1
name = "mapping_{name}"
title = "Methods of mapping on {words}"
seed = 1

[map]
graph = "stencil_2d grid=2x2 bytes=65536"

[[sweep.zip]]
label = [{labels}]
topology = [
{networks}
]
"map.graph" = [
{graphs}
]

[sweep.grid]
"map.method" = [{methods}]
'''


def text(name: str) -> str:
    """The experiment of one family."""
    words, sizes = STUDIES[name]
    cases = [(network, grid) for network, *grids in sizes for grid in grids]
    return TEXT.format(
        name=name, words=words,
        labels=", ".join(f'"{grid}"' for _, grid in cases),
        networks="\n".join(f"  {network}," for network, _ in cases),
        graphs="\n".join(f'  "stencil_{grid.count("x") + 1}d grid={grid} bytes=65536",'
                         for _, grid in cases),
        methods=", ".join(f'"{method}"' for method in METHODS),
    )


def files() -> dict[str, str]:
    """File name and text of every experiment."""
    return {f"{name}.toml": text(name) for name in STUDIES}


if __name__ == "__main__":
    for file, content in files().items():
        (Path(__file__).parent / file).write_text(content, encoding="utf-8")
