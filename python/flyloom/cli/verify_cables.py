"""The command that compares a fabric with its plan: verify-cables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli.common import NET_HELP, Json, app, emit, epilog, load_network

if TYPE_CHECKING:
    from flyloom._core import Topology


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
