"""Commands about schedules of processes: sim message; workload list, make, check, convert."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom.cli.common import Json, app, emit, epilog, parsed_options, print_table
from flyloom.cli.simulation import sims

workloads = typer.Typer(
    help="Schedules of processes as files of GOAL: list, make, check, convert.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=epilog("flyloom workload check allreduce.goal"),
)
app.add_typer(workloads, name="workload")

Goal = Annotated[
    Path, typer.Argument(metavar="FILE", show_default=False, help="GOAL, as text or in binary")
]
Letter = typer.Option


@sims.command(epilog=epilog(
    "flyloom sim message --goal allreduce.goal",
    "flyloom sim message --goal allreduce.bin --dialect loggops-v1 --L 1500 --o 300 --ranks t.csv",
))
def message(
    goal: Annotated[
        Path, typer.Option("--goal", metavar="FILE", help="GOAL, as text or in binary")
    ],
    dialect: Annotated[
        str, typer.Option(help="rules: causal, or loggops-v1, those of LogGOPSim")
    ] = "causal",
    latency: Annotated[float, Letter("--L", help="latency, ns")] = 2500,
    overhead: Annotated[float, Letter("--o", help="a processor's time for a message, ns")] = 1500,
    gap: Annotated[float, Letter("--g", help="an interface's time for a message, ns")] = 1000,
    byte: Annotated[float, Letter("--G", help="an interface's time for a byte, ns")] = 6,
    cpu_byte: Annotated[float, Letter("--O", help="a processor's time for a byte, ns")] = 0,
    eager: Annotated[
        int, Letter("--S", help="largest message sent before its receive is there, bytes")
    ] = 65535,
    ranks: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="write when each rank is done")
    ] = None,
    as_json: Json = False,
) -> None:
    """How long a schedule of processes takes: LogGOPS, message by message."""
    from flyloom.support.files import write_whole
    from flyloom.support.progress import bars
    from flyloom.verbs.message import message as run

    letters = {"L": latency, "o": overhead, "g": gap, "G": byte, "O": cpu_byte, "S": eager}
    with bars() as bar:
        found = run(goal, dialect=dialect, parameters=letters, progress=bar).to_dict()
    finish = found.pop("rank_finish_ns")
    if ranks is not None:
        rows = "".join(f"{rank},{at:.15g}\n" for rank, at in enumerate(finish))
        write_whole(ranks, f"rank,finish_ns\n{rows}")
    emit(found, as_json, [
        ("finish", f"{found['finish_ns']:,.15g} ns"),
        ("events", f"{found['events']:,}"),
        ("messages", f"{found['messages']:,}"),
    ])


@workloads.command("list", epilog=epilog("flyloom workload list"))
def listed(as_json: Json = False) -> None:
    """What workload make makes."""
    from flyloom.verbs.workloads import workloads as known

    rows = [row.to_dict() for row in known()]
    if as_json:
        emit({"workloads": rows}, True, [])
        return
    keys = [", ".join(f"{key['name']}={key['default']}" for key in row["keys"]) for row in rows]
    print_table(
        ["name", "does", "parameters besides ranks and bytes"],
        [[row["name"], row["doc"], words] for row, words in zip(rows, keys, strict=True)],
        left={0, 1, 2},
    )


@workloads.command(epilog=epilog(
    "flyloom workload make allreduce_ring ranks=64 bytes=1000000 -o ring.goal",
    "flyloom workload make broadcast_pipelined ranks=16 bytes=65536 segments=32 -o chain.bin",
))
def make(
    name: Annotated[
        str, typer.Argument(show_default=False, help="what to make (flyloom workload list)")
    ],
    parameters: Annotated[
        list[str], typer.Argument(metavar="KEY=VALUE ...", show_default=False,
                                  help="ranks, bytes, and parameters of its own")
    ],
    output: Annotated[
        Path, typer.Option("-o", "--out", metavar="FILE",
                           help="the file; ends in .goal for text, in .bin for binary")
    ],
    as_json: Json = False,
) -> None:
    """Write the schedule of a collective operation."""
    from flyloom.support.progress import bars
    from flyloom.verbs.workloads import convert_workload, make_workload

    given = parsed_options(parameters, "a workload", ("name", "progress"), "")
    with bars() as bar:
        made = make_workload(name, progress=bar, **given)
        found = convert_workload(made, output, progress=bar).to_dict()
    emit(found, as_json, written(found))


def written(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """A file that was written, for people."""
    return [
        ("ranks", f"{found['ranks']:,}"), ("operations", f"{found['operations']:,}"),
        ("written", f"{found['bytes']:,} bytes to {found['path']}"),
    ]


@workloads.command(epilog=epilog("flyloom workload check allreduce.goal"))
def check(file: Goal, as_json: Json = False) -> None:
    """What a schedule holds, and whether it can come to its end; exit code 1 where it cannot."""
    from flyloom.support.progress import bars
    from flyloom.verbs.workloads import check_workload

    with bars() as bar:
        found = check_workload(file, progress=bar).to_dict()
    rows: list[tuple[str, Any]] = [
        (name.replace("_", " "), f"{found[name]:,}")
        for name in ("ranks", "operations", "sends", "receives", "calculations", "dependencies",
                     "cpus", "nics")
    ]
    rows.append(("comes to its end", "yes" if found["complete"] else "no"))
    emit(found, as_json, rows)
    if not as_json and found["left"]:
        print(found["left"])
    if not as_json and found["circle"]:
        print("these wait for one another, each for the one above and the first for the last:")
        for operation in found["circle"]:
            print(f"  {operation}")
    raise typer.Exit(0 if found["complete"] else 1)


@workloads.command(epilog=epilog("flyloom workload convert allreduce.goal allreduce.bin"))
def convert(
    file: Goal,
    out: Annotated[
        Path, typer.Argument(metavar="OUT", show_default=False,
                             help="ends in .goal for text, in .bin for binary")
    ],
    as_json: Json = False,
) -> None:
    """Write a schedule in the other format: text, or binary as LogGOPSim reads it."""
    from flyloom.support.progress import bars
    from flyloom.verbs.workloads import convert_workload

    with bars() as bar:
        found = convert_workload(file, out, progress=bar).to_dict()
    emit(found, as_json, written(found))
