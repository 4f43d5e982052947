"""The command sim message: a schedule of processes under LogGOPS, over a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli.common import (
    Json,
    Layers,
    Lmc,
    Options,
    P,
    check_picture,
    emit,
    epilog,
    load_tables,
    parsed_options,
    write_picture,
)
from flyloom.cli.places import OnNet, OverEngine, PerEndpoint, Placement
from flyloom.cli.simulation import sims

if TYPE_CHECKING:
    from flyloom.support.results import Result

Letter = typer.Option


@sims.command(epilog=epilog(
    "flyloom sim message --goal allreduce.goal",
    "flyloom sim message --goal allreduce.bin --dialect loggops-v1 --L 1500 --o 300 --ranks t.csv",
    "flyloom sim message --workload 'alltoall_pairwise bytes=65536' --net slim_fly:q=5,p=4",
    "flyloom sim message --goal a.goal --net fat_tree:levels=3,k=8 --engine ftree"
    " --placement random --seed 3 --set network.switch_ns=200",
))
def message(
    goal: Annotated[
        Path | None,
        typer.Option("--goal", metavar="FILE", show_default=False,
                     help="what processes do: GOAL, as text or in binary"),
    ] = None,
    workload: Annotated[
        str | None,
        typer.Option("--workload", metavar="'NAME KEY=VALUE ...'", show_default=False,
                     help="or what they do by name (flyloom workload list); ranks: as many as there"
                          " are places"),
    ] = None,
    net: OnNet = None,
    engine: OverEngine = None,
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    placement: Placement = "linear",
    per_endpoint: PerEndpoint = 1,
    dialect: Annotated[
        str, typer.Option(help="rules: causal, or loggops-v1, those of LogGOPSim")
    ] = "causal",
    loggp: Annotated[
        Path | None,
        typer.Option("--loggp", metavar="FILE.json", show_default=False,
                     help="measured parameters: L_ns, o_ns, g_ns, G_ns_per_byte, O_ns_per_byte,"
                          " S_bytes"),
    ] = None,
    latency: Annotated[
        float | None, Letter("--L", help="latency, ns; 2500 where it is not said")
    ] = None,
    overhead: Annotated[
        float | None, Letter("--o", help="a processor's time for a message, ns; else 1500")
    ] = None,
    gap: Annotated[
        float | None, Letter("--g", help="an interface's time for a message, ns; else 1000")
    ] = None,
    byte: Annotated[
        float | None, Letter("--G", help="an interface's time for a byte, ns; else 6")
    ] = None,
    cpu_byte: Annotated[
        float | None, Letter("--O", help="a processor's time for a byte, ns; else 0")
    ] = None,
    eager: Annotated[
        int | None,
        Letter("--S", help="largest message sent before its receive is there, bytes; else 65535"),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE",
                     help="a parameter of the network, such as network.switch_ns=200; more may"
                          " follow"),
    ] = None,
    seed: Annotated[int, typer.Option(help="seed of all that is random")] = 0,
    ranks: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="write when each rank is done")
    ] = None,
    channels: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="write what went over each channel")
    ] = None,
    critical_path: Annotated[
        bool, typer.Option("--critical-path", help="what the run spends its time on")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="file: what every rank does over time, and the critical"
                                         " path, as .svg, .png or .html"),
    ] = None,
    p: P = None,
    as_json: Json = False,
) -> None:
    """How long a schedule of processes takes: LogGOPS, message by message, over a network."""
    from flyloom._core import RefusalError
    from flyloom.support.checks import whole
    from flyloom.support.progress import bars
    from flyloom.verbs.message import message as run

    if (goal is None) == (workload is None):
        raise RefusalError("--goal: what processes do; give a file, or --workload and a name")
    check_picture(output)
    whole("--seed", seed, 0, 2**64 - 1)
    letters = {"L": latency, "o": overhead, "g": gap, "G": byte, "O": cpu_byte, "S": eager}
    name, *words = (workload or "").split() or [""]
    on = None if net is None else load_tables(net, p)
    with bars() as bar:
        found = run(
            name if goal is None else goal,
            make=parsed_options(words, "a workload", (), "") if goal is None else None,
            net=on, engine=engine, lmc=lmc, layers=layers, engine_options=parsed_options(option),
            placement=placement, per_endpoint=per_endpoint, dialect=dialect, loggp=loggp,
            parameters={letter: value for letter, value in letters.items() if value is not None},
            settings=parsed_options(setting, "the simulator", (), "--set"), seed=seed,
            critical_path=critical_path or output is not None, progress=bar,
        )
    if ranks is not None:
        write_ranks(found, ranks)
    if channels is not None:
        write_channels(found, channels)
    if output is not None:
        write_timeline(found, output)
    told = found.to_dict()
    for arrays in ("rank_finish_ns", "channels"):
        told.pop(arrays, None)
    if path := told.pop("critical_path", None):
        told["critical_path"] = {key: path[key] for key in ("parts_ns", "derivatives")}
    emit(told, as_json, shown(told))
    if output is not None and not as_json:
        print(f"written to {output}")


def shown(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """What is found, for people."""
    rows = [
        ("finish", f"{found['finish_ns']:,.15g} ns"),
        ("events", f"{found['events']:,}"),
        ("messages", f"{found['messages']:,}"),
    ]
    if network := found.get("network"):
        rows += [
            ("busiest channel", f"{network['busiest'] or 'none'}, {network['busiest_use']:.1%}"),
            ("channels between switches", f"{network['mean_use']:.1%} in the mean"),
            ("busiest endpoint", f"{network['endpoint_use']:.1%}"),
        ]
    if path := found.get("critical_path"):
        parts = [(name, ns) for name, ns in path["parts_ns"].items() if ns]
        whole = sum(ns for _, ns in parts) or 1.0
        words = ", ".join(f"{name} {ns / whole:.1%}" for name, ns in parts)
        rows.append(("critical path", words or "nothing"))
        longer = ", ".join(f"{n} {letter}" for letter, n in path["derivatives"].items() if n)
        rows.append(("on it", longer or "no message"))
    return rows


def write_timeline(found: Result, path: Path) -> None:
    """Draws what every rank does over time, and the critical path through it."""
    from flyloom.report import timeline

    shown = found.to_dict()
    write_picture(path, timeline.spec(shown), "time-", lambda: timeline.page(shown))


def write_ranks(found: Result, path: Path) -> None:
    """Writes when each rank is done."""
    from flyloom.support.files import write_whole
    from flyloom.support.words import csv_text

    rows = [(rank, f"{at:.15g}") for rank, at in enumerate(found.rank_finish_ns)]
    write_whole(path, csv_text(["rank", "finish_ns"], rows))


def write_channels(found: Result, path: Path) -> None:
    """Writes what went over each channel; RefusalError where there is no network."""
    from flyloom._core import RefusalError
    from flyloom.support.files import write_whole
    from flyloom.support.words import csv_text

    if "channels" not in found:
        raise RefusalError("--channels: of a network; give one with --net")
    columns = found.channels
    rows = [
        (a, b, f"{size:.15g}", f"{use:.6g}")
        for a, b, size, use in zip(*(columns[k] for k in ("from", "to", "bytes", "use")),
                                   strict=True)
    ]
    write_whole(path, csv_text(["from", "to", "bytes", "use"], rows))
