"""The command that repairs tables after failures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import Json, NewLids, Tables, app, emit, epilog, shown
from flyloom.cli.groups import RouteOptions, grouped
from flyloom.cli.parameters import defaults
from flyloom.cli.parameters import option as declared
from flyloom.cli.routes import tables_of, write_tables

if TYPE_CHECKING:
    from flyloom._core import Topology
    from flyloom.support.results import Result

REPAIR = defaults("repair")


@dataclass(frozen=True)
class FailureOptions:
    """The links and switches that have failed."""

    link: Annotated[
        list[str] | None,
        typer.Option("--link", help="failed: SWITCH:SWITCH (all cables between) or SWITCH:PORT"),
    ] = None
    switch: Annotated[
        list[str] | None, typer.Option("--switch", help="failed switch, by name")
    ] = None
    found: Annotated[
        Path | None,
        typer.Option("--found", autocompletion=completion.found,
                     help="ibnetdiscover output: what it lacks of the network failed"),
    ] = None
    links: Annotated[int, declared("repair", "random")] = REPAIR["random"]
    seed: Annotated[int, declared("repair", "seed")] = REPAIR["seed"]

    def of(self, topology: Topology) -> tuple[list[int], list[int]]:
        """The links and switches of a network."""
        from flyloom.support.checks import whole
        from flyloom.verbs.layout import lost_in

        failed, dead = topology.failures({
            "links": self.link or [], "switches": self.switch or [],
            "random": whole("--random", self.links, 0, 2**32 - 1), "seed": self.seed,
        })
        if self.found:
            lost = lost_in(topology, str(self.found))
            failed, dead = sorted({*failed, *lost[0]}), sorted({*dead, *lost[1]})
        return failed, dead


@app.command(epilog=epilog(
    "flyloom repair tables/ --link sf-0-0-0:sf-0-0-1 -o repaired/",
    "flyloom repair slim_fly:q=5,p=4 --switch sf-0-0-0",
))
@grouped
def repair(
    source: Tables,
    *,
    routes: RouteOptions,
    new_lids: NewLids = False,
    what: FailureOptions,
    output: Annotated[
        Path | None, typer.Option("-o", "--out", help="folder, as of `route -o`")
    ] = None,
    as_json: Json = False,
) -> None:
    """Repair tables after links or switches failed: few changes, and no deadlock meanwhile."""
    from flyloom.support.progress import bars
    from flyloom.verbs.routes import repair as repair_tables

    with bars() as bar:
        topology, routing, name = tables_of(
            source, routes.engine, routes.lmc, routes.layers, routes.option, bar,
            new_lids=new_lids,
        )
        failed, dead = what.of(topology)
        repaired, done = repair_tables(routing, topology, links=failed, switches=dead, progress=bar)
        proof = repaired.measure("verify", progress=bar)
    damaged = topology.with_failures(failed, dead)
    if output:
        write_tables(damaged, repaired, output)
    document = {
        "network": topology.recipe, "engine": name, "layers": routing.layers,
        "failed_links": len(failed), "failed_switches": len(dead), "seed": what.seed,
        **done.to_dict(), "verified": proof["holds"], "lanes": repaired.lanes,
        "verdicts": proof["verdicts"],
    }
    changed, least = done["changed_entries"], done["least_changed_entries"]
    more = (done["changed_entries_to_switches"], done["least_changed_entries_to_switches"])
    lines = [
        ("network", topology.recipe), ("engine", name),
        ("failed links, switches", f"{len(failed)}, {len(dead)}"),
        ("changed entries", f"{changed:,} (at least {least:,})"),
        ("towards switches", f"{more[0]:,} (at least {more[1]:,})"),
        ("cleared entries", done["cleared_entries"]),
        ("entries in all", entries_in_all(done)),
        ("changed service levels", done["changed_service_levels"]),
        ("mean route [hops]", became(done["mean_hops_before"], done["mean_hops_after"])),
        ("longest route [hops]", became(done["max_hops_before"], done["max_hops_after"])),
        ("routes now longer", done["longer_routes"]),
        ("stopped meanwhile", done["stopped_entries"]),
        ("safe under traffic", done["safe"]),
        ("verified", proof["holds"]), ("lanes", repaired.lanes),
    ]
    emit(document, as_json, lines)
    if not as_json:
        for change in done["hops_changes"]:
            print(f"{change['routes']:,} routes went from {change['was']} to {change['hops']} hops")
        print_order(done)
    if output and not as_json:
        print(f"written to {output}/")
    raise typer.Exit(0 if proof["complete"]["holds"] else 1)


def entries_in_all(done: Result) -> str:
    """The entries that change or are cleared, and on how many switches: what `deploy --dry-run`
    counts where every LID has a route of its own."""
    parts = ("changed_entries", "changed_entries_to_switches", "cleared_entries")
    count, switches = sum(done[part] for part in parts), done["changed_switches"]
    return f"{count:,} on {switches:,} switch{'' if switches == 1 else 'es'}"


def became(before: float | None, after: float | None) -> str | None:
    """A figure before and after, in words; None where there is none."""
    return None if before is None else f"{shown(before)}, now {shown(after)}"


def print_order(done: Result) -> None:
    """Says in words why routes must be drained, and what to do in which order."""
    if done["why"]:
        print(done["why"])
    for number, step in enumerate(done["steps"], start=1):
        print(f"step {number}: {step}")
