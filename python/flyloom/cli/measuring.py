"""The command that measures a real MPI system."""

from __future__ import annotations

from dataclasses import dataclass
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
from flyloom.cli.groups import grouped


@dataclass(frozen=True)
class QuantityOptions:
    """The quantity that is measured, or the file it is read from."""

    ebb: Annotated[
        bool, typer.Option("--ebb", help="bandwidth of random pairs, in place of LogGP parameters")
    ] = False
    times: Annotated[
        Path | None,
        typer.Option("--times", metavar="FILE.json", show_default=False,
                     help="LogGP parameters of times that were taken before; nothing is run"),
    ] = None
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="FILE.json", show_default=False,
                     help="what --ebb wrote, beside what --net gives the same pairs"),
    ] = None


@dataclass(frozen=True)
class MeasurementOptions:
    """The messages that are sent, and how often."""

    size_bytes: Annotated[
        int, typer.Option("--bytes", help="largest message; with --ebb of all")
    ] = 1 << 20
    burst: Annotated[int, typer.Option(help="messages in a row")] = 16
    repetitions: Annotated[
        int | None,
        typer.Option(show_default="31; with --ebb 5", help="how often each is measured"),
    ] = None
    samples: Annotated[
        int, typer.Option(help="of --ebb: number of random matchings")
    ] = 100
    same_host: Annotated[
        bool, typer.Option("--same-host", help="of --ebb: ranks of one host may be a pair, too")
    ] = False
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", show_default=False,
                     help="write the times of all repetitions, for --times"),
    ] = None


@dataclass(frozen=True)
class PredictionOptions:
    """The network with which measured times are compared."""

    net: Annotated[
        str | None,
        typer.Option("--net", metavar="NET|TABLES", show_default=False,
                     autocompletion=completion.tables,
                     help=f"the network of --compare: {NET_HELP}; or a folder of `route -o`"),
    ] = None
    engine: Annotated[
        str | None,
        typer.Option("--engine", "-e", show_default=False, autocompletion=completion.engine,
                     help="of --compare: over this engine's tables"),
    ] = None
    lmc: Lmc = None
    layers: Layers = None
    option: Options = None
    placement: Annotated[
        str | None,
        typer.Option(metavar="FILE", show_default=False,
                     help="which endpoints ranks are on, where hosts have other names than these"),
    ] = None
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", show_default=False,
                     help="a parameter of the network of --compare, such as"
                          " link.rate_gbps=100; more may follow"),
    ] = None
    p: P = None


@app.command("measure", epilog=epilog(
    "flyloom measure -o loggp.json -- mpirun -n 2",
    "flyloom measure --ebb --samples 200 -o ebb.json -- mpirun --hostfile nodes -n 16",
    "flyloom measure --compare ebb.json --net tables/",
))
@grouped
def measure(
    launcher: MpiProgram = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--out", show_default=False,
                     help="file: what was measured, as JSON; sim message --loggp takes it"),
    ] = None,
    *,
    what: QuantityOptions,
    trials: MeasurementOptions,
    beside: PredictionOptions,
    seed: Annotated[int, typer.Option(help="seed of all that is random")] = 0,
    as_json: Json = False,
) -> None:
    """Measure LogGP parameters or bandwidth of an MPI system, for the simulators.

    What follows `--` starts MPI programs: mpirun or srun with its options; flyloom's own program,
    built by the mpicc of that MPI, is run by it.
    """
    document, lines = found(launcher or [], what, trials, beside, seed, output)
    emit(document, as_json, lines)
    if output is not None and not as_json:
        print(f"written to {output}")


def found(
    launcher: list[str], what: QuantityOptions, trials: MeasurementOptions,
    beside: PredictionOptions, seed: int, output: Path | None,
) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """What is asked for, measured: as JSON, and for people."""
    from flyloom.support.progress import bars
    from flyloom.verbs import measuring

    refuse_odd(launcher, what, trials, beside)
    if what.compare:
        document = compare(what.compare, beside, output)
        return document, compared(document)
    if what.ebb:
        document = measuring.measure_ebb(
            launcher, samples=trials.samples, size_bytes=trials.size_bytes,
            same_host=trials.same_host, seed=seed,
            repetitions=5 if trials.repetitions is None else trials.repetitions, path=output,
        ).to_dict()
        return document, bandwidth(document)
    if what.times:
        document = measuring.fit_loggp(what.times, seed=seed, path=output).to_dict()
        return document, shown(document)
    with bars() as bar:
        document = measuring.measure_loggp(
            launcher, most_bytes=trials.size_bytes, messages=trials.burst, seed=seed,
            keep=trials.keep, path=output, progress=bar,
            repetitions=31 if trials.repetitions is None else trials.repetitions,
        ).to_dict()
    return document, shown(document)


def refuse_odd(
    launcher: list[str], what: QuantityOptions, trials: MeasurementOptions,
    beside: PredictionOptions,
) -> None:
    """Refuses options that say nothing of what is asked for."""
    from flyloom._core import RefusalError
    from flyloom.inputs import rates

    asked = [name for name, given in (("--ebb", what.ebb), ("--times", what.times),
                                      ("--compare", what.compare)) if given]
    if len(asked) > 1:
        raise RefusalError(f"{asked[0]}, {asked[1]}: one of them")
    if (what.times or what.compare) and launcher:
        raise RefusalError(f"{asked[0]}: nothing is run; leave out `{launcher[0]}`")
    of_compare = {"--net": beside.net, "--engine": beside.engine, "--lmc": beside.lmc,
                  "--layers": beside.layers, "--option": beside.option,
                  "--placement": beside.placement, "--set": beside.setting,
                  "--gbps": rates.asked or None}
    odd = [name for name, given in of_compare.items() if given is not None]
    if odd and not what.compare:
        raise RefusalError(f"{odd[0]}: only of --compare")
    if trials.keep is not None and asked:
        raise RefusalError("--keep: only where LogGP parameters are measured")


def compare(measured: Path, beside: PredictionOptions, output: Path | None) -> dict[str, Any]:
    """What was measured, beside what a network gives the same pairs."""
    from flyloom._core import RefusalError
    from flyloom.support.progress import bars
    from flyloom.verbs import measuring

    if beside.net is None:
        raise RefusalError("--compare: beside which network? --net NET|TABLES")
    with bars() as bar:
        return measuring.compare_ebb(
            measured, load_tables(beside.net, beside.p), engine=beside.engine, lmc=beside.lmc,
            layers=beside.layers, engine_options=parsed_options(beside.option),
            placement=beside.placement,
            settings=parsed_options(beside.setting, "the simulator", (), "--set"), path=output,
            progress=bar,
        ).to_dict()


def shown(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """LogGP parameters for people."""
    def one(name: str, unit: str) -> str:
        low, high = found["intervals_95"][name]
        return f"{found[name]:.5g} {unit}  ({low:.5g} to {high:.5g})"

    rows = [
        ("L", one("L_ns", "ns")), ("o of the sender", one("o_s_ns", "ns")),
        ("o of the receiver", one("o_r_ns", "ns")),
        ("g", ("at most " if found["g_is_bound"] else "") + one("g_ns", "ns")),
        ("G", one("G_ns_per_byte", "ns/B")), ("O", one("O_ns_per_byte", "ns/B")),
        ("S", f"{found['S_bytes']:,} B" + (", doubtful" if found["S_is_doubtful"] else "")),
    ]
    rows += [
        (f"{row['from_bytes']:,} to {row['to_bytes']:,} B",
         f"{row['g_ns']:.5g} ns + {row['G_ns_per_byte']:.4g} ns/B ({row['limit']})")
        for row in found["segments"]
    ]
    rows += [("where", found["regime"]), ("library", found["library"])]
    return rows + [("note", words) for words in found["warnings"]]


def bandwidth(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """Bandwidth of pairs for people."""
    shares = zip((5, 25, 50, 75, 95), found["quantiles_gbps"], strict=True)
    return [
        ("mean of a round", f"{found['mean_gbps']:.5g} Gbit/s in each direction"),
        *((f"{share} % of rounds below", f"{value:.5g} Gbit/s") for share, value in shares),
        ("ranks", f"{len(found['hosts'])} on {found['regime']}"), ("rounds", len(found["rounds"])),
    ]


def compared(found: dict[str, Any]) -> list[tuple[str, Any]]:
    """Measured beside predicted for people."""
    from flyloom.verbs.runs import rates_said

    rows = [
        ("measured", f"{found['measured_gbps']:.5g} Gbit/s"),
        ("predicted", f"{found['predicted_gbps']:.5g} Gbit/s"), ("ratio", f"{found['ratio']:.4g}"),
        ("rate of links", rates_said(found["rates"])),
    ]
    rows += [
        (f"round {i + 1}", f"{row['measured_gbps']:.5g} of {row['predicted_gbps']:.5g} Gbit/s"
                           f" ({row['ratio']:.4g})")
        for i, row in enumerate(found["rounds"][:20])
    ]
    if len(found["rounds"]) > 20:
        rows.append(("more rounds", f"{len(found['rounds']) - 20} (--json has all)"))
    return rows
