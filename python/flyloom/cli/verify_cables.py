"""The command that compares a fabric with its plan: verify-cables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import NET_HELP, Json, app, emit, epilog, load_network

if TYPE_CHECKING:
    from flyloom._core import Topology


@app.command("verify-cables", epilog=epilog(
    "flyloom verify-cables slim_fly:q=5,p=4 discovered.txt",
    "flyloom verify-cables cabling/ discovered.txt.gz --step 2 --ignore-ports",
    "flyloom verify-cables cabling/ --watch --draw state.svg",
))
def verify_cables(
    planned: Annotated[
        str,
        typer.Argument(metavar="PLAN", autocompletion=completion.network,
                       help=f"{NET_HELP}, or a folder of flyloom cables"),
    ],
    fabric: Annotated[
        str | None,
        typer.Argument(
            metavar="FABRIC", autocompletion=completion.found,
            help="saved ibnetdiscover output, also .gz; default: this machine's fabric",
        ),
    ] = None,
    identify: Annotated[
        str,
        typer.Option(help="what tells the devices: auto, guid, name or structure (cables)",
                     autocompletion=completion.choice("auto", "guid", "name", "structure")),
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
    watch: Annotated[
        bool, typer.Option("--watch", help="look again until all is laid right")
    ] = False,
    every: Annotated[float, typer.Option(help="seconds between looks with --watch")] = 10.0,
    step: Annotated[
        int | None,
        typer.Option(metavar="N", help="the wiring has come to step N, 0 to 3: later cables are "
                     "not missed"),
    ] = None,
    ignore_ports: Annotated[
        bool, typer.Option("--ignore-ports", help="any port of the right device will do")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="findings in whole sentences")
    ] = False,
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
    if step is not None and not 0 <= step <= 3:
        raise RefusalError(f"--step {step}: no step of the laying; 0 to 3")
    plan, rules = checked.load_plan(planned)
    known = None if guids is None else checked.read_guids(guids)

    def compared(found: Topology, by: str, due: set[str] | None) -> dict[str, Any]:
        return plan.check_cables(
            found, by, known, rules, ignore_ports=ignore_ports, step=step, due=due
        )

    # refuses bad GUIDs, rules and steps before any look
    compared(plan, identify if ignore_ports else "auto", None)
    seen: set[str] = set()  # what was laid in an earlier look, and must not go

    def look() -> dict[str, Any]:
        found = this_fabric() if fabric is None else load_network(fabric, None)
        document = compared(found, identify, seen if watch else None)
        seen.update(checked.laid(plan, document) if watch else ())
        return document

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
    emit(found, as_json, checked.summary(found, ignore_ports))
    if not as_json:
        for finding in found["findings"]:
            print("\n".join(checked.words(finding, verbose)))
        for line in checked.hint(found, ignore_ports):
            print(line)
    raise typer.Exit(0 if found["clean"] else 1)


def this_fabric() -> Topology:
    """The fabric that this machine is a part of."""
    from flyloom._core import Topology
    from flyloom.deploy.readback import discover_here
    from flyloom.inputs.devices import devices, tell
    from flyloom.inputs.names import named

    found = Topology.from_text(discover_here(), "ibnetdiscover", None, devices())
    return tell(named(found), "ibnetdiscover")
