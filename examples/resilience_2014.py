"""The resilience table of the Slim Fly study, measured anew: python resilience_2014.py [SAMPLES].

Besta and Hoefler, "Slim Fly: a cost effective low-diameter network topology", SC 2014, print the
share of links that can be removed at random before a network is disconnected, in steps of 5 %.
Beside each printed step stand the largest step at which at least half of our samples are still
connected, and the mean share with its 95 % confidence interval. The study does not say exactly
which step it prints nor, but for its names and about how many endpoints they have, which networks
it measures: ours are the nearest members of the families.
"""

from __future__ import annotations

import sys

import flyloom as fl

SIZES = (512, 1024, 2048, 4096, 8192)
PRINTED = {
    "torus 3D": (30, 25, 20, 15, 10),
    "torus 5D": (None, 40, None, None, 35),
    "hypercube": (40, 40, 40, 45, 45),
    "fat tree": (35, 40, 40, 55, 60),
    "dragonfly": (None, 50, 55, 60, 65),
    "flattened butterfly": (55, 60, 65, 70, None),
    "Slim Fly": (60, None, 65, 70, 75),
}
"""Percent of links by family and about how many endpoints; None where nothing is printed."""

NETWORKS = {
    "torus 3D": ("8x8x8", "8x8x16", "8x16x16", "16x16x16", "16x16x32"),
    "torus 5D": (None, "4x4x4x4x4", None, None, "4x4x8x8x8"),
    "hypercube": tuple("x".join(["2"] * n) for n in range(9, 14)),
    "fat tree": (12, 16, 20, 26, 32),
    "dragonfly": (None, 4, 5, 6, 7),
    "flattened butterfly": (5, 6, 7, 8, None),
    "Slim Fly": (7, None, 11, 13, 17),
}
FORMS = {
    "torus 3D": "torus:shape={},p=1",
    "torus 5D": "torus:shape={},p=1",
    "hypercube": "hyperx:shape={},p=1",
    "fat tree": "fat_tree:levels=3,k={}",
    "dragonfly": "dragonfly:h={}",
    "flattened butterfly": "hyperx:shape={0}x{0}x{0},p={0}",
    "Slim Fly": "slim_fly:q={}",
}


def main(samples: int) -> None:
    """Print the table, one line a network."""
    print(f"{'family':<20} {'about':>5} {'endpoints':>9} {'printed':>7} {'half hold':>9}  mean")
    for family, printed in PRINTED.items():
        for size, step, member in zip(SIZES, printed, NETWORKS[family], strict=True):
            if member is None:
                continue
            network = fl.network(FORMS[family].format(member))
            found = fl.resilience(network, samples=samples).ends.disconnected
            half = 100 * (found.confidence_interval_95[1] - found.mean)
            print(
                f"{family:<20} {size:>5} {network.endpoints:>9} {step:>5} % "
                f"{100 * found.half_hold:>7.0f} %  {100 * found.mean:.2f} -+ {half:.2f} %"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
