"""The command that sends a communication pattern over tables: congestion."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.busiest import BusiestCsv, after_figures
from flyloom.cli.common import (
    AnyEngine,
    Json,
    P,
    Tables,
    Width,
    app,
    check_picture,
    emit,
    endpoints_of,
    epilog,
    write_picture,
)
from flyloom.cli.groups import TableOptions, grouped
from flyloom.cli.parameters import defaults
from flyloom.cli.parameters import option as declared
from flyloom.cli.routes import tables_of

CONGESTION = defaults("congestion")


@dataclass(frozen=True)
class CommunicationOptions:
    """The messages that are sent, their senders, and the measured quantities."""

    pattern: Annotated[str, declared("congestion", "pattern")] = CONGESTION["pattern"]
    traffic: Annotated[str | None, declared("congestion", "traffic")] = None
    argument: Annotated[
        str | None, typer.Option("--pattern-argument", hidden=True)
    ] = None
    samples: Annotated[int, declared("congestion", "samples")] = CONGESTION["samples"]
    seed: Annotated[int, declared("congestion", "seed")] = CONGESTION["seed"]
    endpoints: Annotated[
        str | None, declared("congestion", "endpoints", "--endpoints", "-n", metavar="N")
    ] = None
    first_job: Annotated[int | None, declared("congestion", "first_job")] = None
    placement: Annotated[
        str,
        typer.Option("--placement", autocompletion=completion.choice("random", "linear"),
                     help="which endpoint each rank is on: random, linear, or a file with an"
                          " endpoint a line"),
    ] = CONGESTION["placement"]
    levels: Annotated[str, declared("congestion", "levels")] = CONGESTION["levels"]
    endpoint_cables: Annotated[
        bool, declared("congestion", "endpoint_cables")
    ] = CONGESTION["endpoint_cables"]
    metric: Annotated[str, declared("congestion", "metric")] = CONGESTION["metric"]
    top: Annotated[int, declared("congestion", "top")] = CONGESTION["top"]


@app.command(epilog=epilog(
    "flyloom congestion slim_fly:q=5,p=4 --pattern stencil --samples 100 -o stencil.svg",
    "flyloom congestion fabric.dot --pattern ring::bisect --first-job 64",
))
@grouped
def congestion(
    source: Tables,
    engine: AnyEngine = None,
    *,
    sent: CommunicationOptions,
    tables: TableOptions,
    p: P = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out",
                     help="file for a histogram of the metric: .svg, .png, .pdf or .html"),
    ] = None,
    width: Width = None,
    csv: BusiestCsv = None,
    as_json: Json = False,
) -> None:
    """Congestion of a communication pattern over tables: shares, times, histograms."""
    from flyloom.report import congestion as report
    from flyloom.support import renamed
    from flyloom.support.progress import bars
    from flyloom.verbs.congestion import congestion as measure

    check_picture(output, width=width)
    if sent.argument is not None:
        renamed.note("congestion", "--pattern-argument ARGUMENT", "--pattern PATTERN:ARGUMENT")
    at = sent.placement
    places = at if at in ("random", "linear") else read_placement(at)
    with bars() as bar:
        topology, routing, name = tables_of(
            source, engine, tables.lmc, tables.layers, tables.option, bar, p, traffic=sent.traffic
        )
        found = measure(
            routing, sent.pattern, sent.argument, traffic=sent.traffic, samples=sent.samples,
            seed=sent.seed, endpoints=endpoints_of(sent.endpoints), first_job=sent.first_job,
            placement=places, levels=sent.levels, endpoint_cables=sent.endpoint_cables,
            metric=sent.metric, top=sent.top, progress=bar,
        )
    document = {"network": topology.recipe, "engine": name, **found.to_dict()}
    if output:
        write_picture(output, report.spec(document), lambda: report.page(document), width)
    interval = found.confidence_interval_95
    lines = [
        ("network", topology.recipe), ("engine", name), ("pattern", found.pattern),
        ("endpoints", found.endpoints), ("levels", found.levels), ("samples", found.samples),
        ("seed", sent.seed), ("mean share of a message", found.mean_share),
        ("95 % confidence interval", interval and f"{interval[0]:.6f} to {interval[1]:.6f}"),
        ("shares from", found.min_share), ("shares to", found.max_share),
        ("largest congestion", found.max_congestion),
        ("mean time, levels in step", found.mean_time),
        ("mean time, messages in step", found.mean_delay),
    ]
    if found.first_job:
        lines += [("mean share of the first job", found.first_job_share),
                  ("mean share of the second job", found.second_job_share)]
    if sent.metric != "bandwidth":
        lines.append((f"mean of {found.metric}", found.mean))
    if csv != "-":
        emit(document, as_json, lines)
    after_figures(document, csv, as_json)
    if output and not as_json:
        print(f"written to {output}")


def read_placement(path: str) -> list[str]:
    """The endpoints of a file, one a line; `#` starts a remark line."""
    from flyloom._core import RefusalError
    from flyloom.support.reading import is_path, read_text
    from flyloom.support.refused import hint

    if not is_path(path):
        near = hint(path, ("random", "linear"))
        help_ = f"{near}random, linear, or a file of endpoints"
        raise RefusalError(f"--placement: there is no '{path}'; {help_}")
    lines = [line.strip() for line in read_text(path).split("\n")]
    return [line for line in lines if line and not line.startswith("#")]
