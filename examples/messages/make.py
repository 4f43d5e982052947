"""Writes the experiments of this folder: `.venv/bin/python examples/messages/make.py`.

The deployed Slim Fly beside the fat tree that it was compared with, under collective operations and
applications of 8 to 200 processes. tests/report/test_message_report.py checks that the committed
files are what this writes.
"""

from __future__ import annotations

from pathlib import Path

#: File name: what runs, its parameters, what it is.
RUNS = {
    "alltoall": ("alltoall_pairwise", "bytes = 65536", "everybody to everybody, 64 KiB a pair"),
    "broadcast": ("broadcast_scatter_allgather", "bytes = 4194304", "a broadcast of 4 MiB"),
    "allreduce": ("allreduce_ring", "bytes = 4194304", "sums of 4 MiB over all"),
    "random_pairs": ("random_pairs", "bytes = 1048576, iterations = 50, seed = 7",
                     "pairs at random exchange 1 MiB (effective bisection)"),
    "resnet_152": ("resnet_152", "batch = 32, gflops = 100000",
                   "a step of ResNet-152, data parallel"),
    "cosmoflow": ("cosmoflow", "operator = 4, gflops = 100000",
                  "a step of CosmoFlow, each layer in 4 parts"),
    "gpt_3": ("gpt_3", "pipeline = 4, operator = 2, layers = 8, micro_batches = 8, gflops = 100000",
              "a step of 8 layers of GPT-3, a pipeline of 4, each layer in 2 parts"),
}

TEXT = '''\
# Time of {words}: the deployed Slim Fly beside a fat tree of
# as many endpoints, for 8 to 200 processes, placed in order and at random. Written by make.py.
schema = 1
name = "messages_{name}"
title = "Slim Fly and fat tree: {words}"
seed = 1

[sim.message]
workload = "{workload}"
workload_options = {{ {given} }}
costs = {{ o = 300, g = 200, S = 8192 }}

[[sweep.zip]]
label = ["Slim Fly", "fat tree"]
topology = [
  {{ family = "slim_fly", q = 5, p = 4 }},
  {{ family = "fat_tree", leaves = 12, spines = 6, parallel = 3, p = 18 }},
]
routing = [{{ engine = "layered", layers = 4 }}, {{ engine = "dfsssp", lmc = 2 }}]

[sweep.grid]
"sim.message.placement" = ["linear", "random"]
"sim.message.workload_options.ranks" = [8, 16, 32, 64, 128, 200]
'''


def files() -> dict[str, str]:
    """File name and text of every experiment."""
    return {
        f"{name}.toml": TEXT.format(name=name, workload=workload, given=given, words=words)
        for name, (workload, given, words) in RUNS.items()
    }


if __name__ == "__main__":
    for name, text in files().items():
        (Path(__file__).parent / name).write_text(text, encoding="utf-8")
