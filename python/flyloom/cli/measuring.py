"""The command that measures a real MPI system."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import (
    NET_HELP,
    Json,
    Layers,
    Lmc,
    MpiProgram,
    Options,
    P,
    app,
    emit,
    epilog,
    load_tables,
    parsed_options,
)


@app.command("measure", epilog=epilog(
    "flyloom measure -o loggp.json -- mpirun -n 2",
    "flyloom measure --ebb --rounds 200 -o ebb.json -- mpirun --hostfile nodes -n 16",
    "flyloom measure --compare ebb.json --net tables/",
))
def measure(
    launcher: MpiProgram = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", show_default=False,
                     help="file: what was measured, as JSON; sim message --loggp takes it"),
    ] = None,
    ebb: Annotated[
        bool, typer.Option("--ebb", help="bandwidth of random pairs, in place of LogGP parameters")
    ] = False,
    times: Annotated[
        Path | None,
        typer.Option("--times", metavar="FILE.json", show_default=False,
                     help="LogGP parameters of times that were taken before; nothing is run"),
    ] = None,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="FILE.json", show_default=False,
                     help="what --ebb wrote, beside what --net gives the same pairs"),
    ] = None,
    size_bytes: Annotated[
        int, typer.Option("--bytes", help="largest message; with --ebb of all")
    ] = 1 << 20,
    burst: Annotated[int, typer.Option(help="messages in a row")] = 16,
    repetitions: Annotated[
        int | None,
        typer.Option(show_default="31; with --ebb 5", help="how often each is measured"),
    ] = None,
    rounds: Annotated[int, typer.Option(help="of --ebb: how many random matchings")] = 100,
    same_host: Annotated[
        bool, typer.Option("--same-host", help="of --ebb: ranks of one host may be a pair, too")
    ] = False,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", show_default=False,
                     help="write the times of all repetitions, for --times"),
    ] = None,
    net: Annotated[
        str | None,
        typer.Option("--net", metavar="NET|TABLES", show_default=False,
                     autocompletion=completion.tables,
                     help=f"the network of --compare: {NET_HELP}; or a folder of `route -o`"),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option("--engine", "-e", show_default=False, autocompletion=completion.engine,
                     help="of --compare: over this engine's tables"),
    ] = None,
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    placement: Annotated[
        str | None,
        typer.Option(metavar="FILE", show_default=False,
                     help="which endpoints ranks are on, where hosts have other names than these"),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", show_default=False,
                     help="a parameter of the network of --compare, such as"
                          " link.rate_gbps=100; more may follow"),
    ] = None,
    p: P = None,
    seed: Annotated[int, typer.Option(help="seed of all that is random")] = 0,
    as_json: Json = False,
) -> None:
    """Measure LogGP parameters or bandwidth of an MPI system, for the simulators.

    What follows `--` starts MPI programs: mpirun or srun with its options; flyloom's own program,
    built by the mpicc of that MPI, is run by it.
    """
    from flyloom._core import RefusalError
    from flyloom.support.progress import bars
    from flyloom.verbs import measuring

    asked = [name for name, given in (("--ebb", ebb), ("--times", times),
                                      ("--compare", compare)) if given]
    if len(asked) > 1:
        raise RefusalError(f"{asked[0]}, {asked[1]}: one of them")
    if (times or compare) and launcher:
        raise RefusalError(f"{asked[0]}: nothing is run; leave out `{launcher[0]}`")
    of_compare = {"--net": net, "--engine": engine, "--lmc": lmc, "--layers": layers,
                  "--option": option, "--placement": placement, "--set": setting}
    if not compare and (odd := [name for name, given in of_compare.items() if given is not None]):
        raise RefusalError(f"{odd[0]}: only of --compare")
    if keep is not None and (ebb or times or compare):
        raise RefusalError("--keep: only where LogGP parameters are measured")
    if compare:
        if net is None:
            raise RefusalError("--compare: beside which network? --net NET|TABLES")
        with bars() as bar:
            found = measuring.compare_ebb(
                compare, load_tables(net, p), engine=engine, lmc=lmc, layers=layers,
                engine_options=parsed_options(option), placement=placement,
                settings=parsed_options(setting, "the simulator", (), "--set"), path=output,
                progress=bar,
            )
        emit(found.to_dict(), as_json, compared(found.to_dict()))
    elif ebb:
        found = measuring.measure_ebb(
            launcher or [], rounds=rounds, size_bytes=size_bytes, same_host=same_host, seed=seed,
            repetitions=5 if repetitions is None else repetitions, path=output,
        )
        emit(found.to_dict(), as_json, bandwidth(found.to_dict()))
    else:
        if times:
            found = measuring.fit_loggp(times, seed=seed, path=output)
        else:
            with bars() as bar:
                found = measuring.measure_loggp(
                    launcher or [], most_bytes=size_bytes, messages=burst, seed=seed, keep=keep,
                    repetitions=31 if repetitions is None else repetitions, path=output,
                    progress=bar,
                )
        emit(found.to_dict(), as_json, shown(found.to_dict()))
    if output is not None and not as_json:
        print(f"written to {output}")


def shown(told: dict[str, Any]) -> list[tuple[str, Any]]:
    """LogGP parameters for people."""
    def one(name: str, unit: str) -> str:
        low, high = told["intervals_95"][name]
        return f"{told[name]:.5g} {unit}  ({low:.5g} to {high:.5g})"

    rows = [
        ("L", one("L_ns", "ns")), ("o of the sender", one("o_s_ns", "ns")),
        ("o of the receiver", one("o_r_ns", "ns")),
        ("g", ("at most " if told["g_is_bound"] else "") + one("g_ns", "ns")),
        ("G", one("G_ns_per_byte", "ns/B")), ("O", one("O_ns_per_byte", "ns/B")),
        ("S", f"{told['S_bytes']:,} B" + (", doubtful" if told["S_is_doubtful"] else "")),
    ]
    rows += [
        (f"{row['from_bytes']:,} to {row['to_bytes']:,} B",
         f"{row['g_ns']:.5g} ns + {row['G_ns_per_byte']:.4g} ns/B ({row['limit']})")
        for row in told["segments"]
    ]
    rows += [("where", told["regime"]), ("library", told["library"])]
    return rows + [("note", words) for words in told["warnings"]]


def bandwidth(told: dict[str, Any]) -> list[tuple[str, Any]]:
    """Bandwidth of pairs for people."""
    shares = zip((5, 25, 50, 75, 95), told["quantiles_gbps"], strict=True)
    return [
        ("mean of a round", f"{told['mean_gbps']:.5g} Gbit/s each way"),
        *((f"{share} % of rounds below", f"{value:.5g} Gbit/s") for share, value in shares),
        ("ranks", f"{len(told['hosts'])} on {told['regime']}"), ("rounds", len(told["rounds"])),
    ]


def compared(told: dict[str, Any]) -> list[tuple[str, Any]]:
    """Measured beside predicted for people."""
    rows = [
        ("measured", f"{told['measured_gbps']:.5g} Gbit/s"),
        ("predicted", f"{told['predicted_gbps']:.5g} Gbit/s"), ("ratio", f"{told['ratio']:.4g}"),
    ]
    rows += [
        (f"round {i + 1}", f"{row['measured_gbps']:.5g} of {row['predicted_gbps']:.5g} Gbit/s"
                           f" ({row['ratio']:.4g})")
        for i, row in enumerate(told["rounds"][:20])
    ]
    if len(told["rounds"]) > 20:
        rows.append(("more rounds", f"{len(told['rounds']) - 20} (--json has all)"))
    return rows
