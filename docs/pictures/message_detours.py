"""What detours bring at the message level: prints the table of docs/message.md.

    .venv/bin/python docs/pictures/message_detours.py

A sum over all processes by recursive doubling, a message from each endpoint to the one at the same
place of the next switch (of dragonflies: group), and pairs at random, all of 1 MB, by every
selection of paths. Some seconds of one processor.
"""

from __future__ import annotations

import flyloom
from flyloom._core import Workload

NETWORKS = {"hyperx:shape=8x8,p=8": 8, "slim_fly:q=7,p=5": 5, "dragonfly:h=3": 18,
            "fat_tree:leaves=32,spines=16,p=16": 16}
"""Networks, and the endpoints of a switch; of a group of the dragonfly."""
SELECTIONS = ("spread", "adaptive", "valiant", "ugal_g")
BYTES = 1_000_000


def workloads(count: int, far: int) -> dict[str, Workload]:
    """What ``count`` endpoints do, by its name in the table; the next one is ``far`` away."""
    lines = [f"num_ranks {count}"]
    for rank in range(count):
        lines += [f"rank {rank} {{", f"send {BYTES}b to {(rank + far) % count}",
                  f"recv {BYTES}b from {(rank - far) % count}", "}"]
    made = {"ranks": count, "bytes": BYTES}
    return {
        "sum": Workload.make("allreduce_recursive_doubling", made),
        "to the next": Workload.read("\n".join(lines).encode()),
        "pairs": Workload.make("random_pairs", {**made, "iterations": 4}),
    }


def table() -> list[str]:
    """The lines of the table: microseconds until the last process is done."""
    lines = [f"| network | does | {' | '.join(f'`{one}`' for one in SELECTIONS)} |",
             f"|---|---|{'---|' * len(SELECTIONS)}"]
    for net, far in NETWORKS.items():
        topology = flyloom.network(net)
        for name, workload in workloads(topology.endpoints, far).items():
            cells = []
            for selection in SELECTIONS:
                found = flyloom.simulate(topology, "message", workload=workload,
                                         selection=selection)
                cells.append(f"{found.finish_ns / 1e3:,.0f}")
            lines.append(f"| `{net}` | {name} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
