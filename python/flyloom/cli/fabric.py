"""Commands that talk to a fabric: deploy, verify-cables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli.common import (
    NET_HELP,
    Engine,
    Json,
    Layers,
    Lmc,
    Net,
    Options,
    P,
    app,
    emit,
    epilog,
    load_network,
    make_routing,
)

if TYPE_CHECKING:
    from flyloom._core import Topology


@app.command(epilog=epilog("flyloom deploy slim_fly:q=5,p=4 -e dfsssp --lmc 2"))
def deploy(
    net: Net,
    engine: Engine = "dfsssp",
    lmc: Lmc = None,
    layers: Layers = None,
    option: Options = None,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="let ibdmchk judge the tables too")
    ] = False,
    p: P = None,
    as_json: Json = False,
) -> None:
    """Load tables into OpenSM on a simulated fabric, read them back, compare and prove them."""
    from flyloom.deploy.fabric import deploy as load_and_read
    from flyloom.deploy.live import check_deployable
    from flyloom.lab.lines import deploy_line
    from flyloom.support.progress import bars

    topology = load_network(net, p)
    check_deployable(topology)
    if lmc is not None and 0 <= lmc <= 7:
        topology.addresses(lmc)  # too many LIDs are refused before the work, not after
    with bars() as bar:
        routing = make_routing(topology, engine, lmc, layers, option, bar)
        say = None if as_json else lambda line: print(line, file=sys.stderr)
        found = load_and_read(routing, topology=topology, oracle=oracle, say=say).to_dict()
    parts = ("entries", "sl_entries", "sl2vl_entries")
    lines = [("network", topology.recipe), ("engine", routing.engine), ("LMC", routing.lmc)]
    for part in parts:
        lines.append((part.replace("_", " "), found[part]))
        lines.append(("  differing", found[f"differing_{part}"]))
    lines += [
        ("verified as sent", found["verified_as_sent"]),
        ("verified as read back", found["verified"]), ("deadlock-free", found["deadlock_free"]),
        ("ibdmchk", found["oracle"]), ("OpenSM", found["opensm_version"]),
        ("seconds", found["seconds"]),
    ]
    document = {"network": topology.recipe, "engine": routing.engine, "lmc": routing.lmc, **found}
    emit(document, as_json, lines)
    if not as_json:
        print(deploy_line(found))
        for line in found["differences"] + found["counterexample"]:
            print(f"  {line}")
    same = all(found[f"differing_{part}"] == 0 for part in parts)
    raise typer.Exit(0 if same and found["verified"] else 1)


@app.command("verify-cables", epilog=epilog(
    "flyloom verify-cables slim_fly:q=5,p=4 discovered.txt",
    "flyloom verify-cables cabling/ --watch --draw state.svg",
))
def verify_cables(
    planned: Annotated[
        str, typer.Argument(metavar="PLAN", help=f"{NET_HELP}, or a folder of flyloom cables")
    ],
    fabric: Annotated[
        str | None,
        typer.Argument(
            metavar="FABRIC", help="saved ibnetdiscover output; default: this machine's fabric"
        ),
    ] = None,
    identify: Annotated[
        str, typer.Option(help="what tells the devices: auto, guid, name or structure (cables)")
    ] = "auto",
    guids: Annotated[
        Path | None, typer.Option("--guids", help="GUIDs of the devices: lines device,guid")
    ] = None,
    learn_guids: Annotated[
        Path | None, typer.Option("--learn-guids", help="write such a file of what was found")
    ] = None,
    draw: Annotated[
        Path | None, typer.Option("--draw", help="draw the racks by state: FILE.svg")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="look again until all is right")] = False,
    every: Annotated[float, typer.Option(help="seconds between looks with --watch")] = 10.0,
    as_json: Json = False,
) -> None:
    """Compare a fabric with its plan: wrong, missing and extra cables, moved and dead switches."""
    from flyloom._core import RefusalError
    from flyloom.cabling import checked

    if identify not in checked.WAYS:
        ways = ", ".join(checked.WAYS)
        raise RefusalError(f"--identify {identify}: no way to tell devices; {ways}")
    if not 0 < every <= 86_400:
        raise RefusalError(f"--every {every}: not above 0 and at most 86400 seconds")
    if draw is not None and draw.suffix != ".svg":
        raise RefusalError(f"--draw {draw}: no drawing for '{draw.suffix}'; use .svg")
    plan, rules = checked.load_plan(planned)
    known = None if guids is None else checked.read_guids(guids)

    plan.check_cables(plan, "auto", known, rules)  # refuses bad GUIDs and rules before any look

    def look() -> dict[str, Any]:
        found = this_fabric() if fabric is None else load_network(fabric, None)
        return plan.check_cables(found, identify, known, rules)

    def keep(document: dict[str, Any]) -> None:
        from flyloom.support.files import write_whole

        learnt = document.pop("guids")
        if learn_guids is not None:
            write_whole(learn_guids, checked.guids_text(learnt))
        if draw is not None:
            from flyloom.cabling.states import states_svg

            write_whole(draw, states_svg(plan, rules, document))

    if watch:
        from flyloom.cabling.watch import Looks
        from flyloom.cabling.watch import watch as look_again

        raise typer.Exit(0 if look_again(Looks(look, keep), every, as_json) else 1)
    found = look()
    keep(found)
    emit(found, as_json, checked.summary(found))
    if not as_json:
        for finding in found["findings"]:
            print(f"{finding['what']}; {finding['mend']}")
    raise typer.Exit(0 if found["clean"] else 1)


def this_fabric() -> Topology:
    """The fabric that this machine is a part of."""
    from flyloom._core import Topology
    from flyloom.deploy.readback import discover_here

    return Topology.from_text(discover_here(), "ibnetdiscover", None)
