"""Prints the table of loads above one rail's rate in docs/packet-figures.md.

    .venv/bin/python docs/pictures/packet_loads.py

Uniform packets on a Slim Fly and a Fit Fly of 3,042 endpoints, measured for 60 us behind 20 us of
warm-up, one seed: eight runs of some seconds each.
"""

from __future__ import annotations

import sys

import flyloom

LOADS = (1.0, 1.8)
NETWORKS = {"Slim Fly": "slim_fly:q=13,p=9", "Fit Fly": "fit_fly:q=13,p=9"}
MODELS = {"own model": "physical", "CODES": "codes-slimfly-v1"}


def row(network: str, model: str, load: float) -> str:
    """A line of the table: rates, latencies, use of channels, packets that wait."""
    run = flyloom.simulate(
        NETWORKS[network], level="packet", dialect=MODELS[model], selection="adaptive", load=load,
        settings={"links": True, "run.warmup_ns": 20_000, "run.measure_ns": 60_000}, seed=1,
    ).points[0]
    use, waiting = run.links.use, run.links.most_waiting
    cells = [
        f"{network}, {model}", f"{load}", f"{run.accepted_load:.2f}",
        f"{run.accepted_gbps * 1e9 / 2**33:.1f}",
        f"{run.mean_latency_ns / 1e3:.1f}", f"{run.mean_message_latency_ns / 1e3:.1f}",
        f"{min(use):.2f}, {sum(use) / len(use):.2f}, {max(use):.2f}",
        f"{sum(waiting) / len(waiting):.1f}",
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    for network in NETWORKS:
        for model in MODELS:
            for load in LOADS:
                print(row(network, model, load))
                sys.stdout.flush()
