"""The command that compares a fabric with its plan: verify-cables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import NET_HELP, Json, app, emit, epilog, load_network
from flyloom.cli.groups import grouped

if TYPE_CHECKING:
    from flyloom._core import Topology


@dataclass(frozen=True)
class CableCheckFiles:
    """Files beside the plan: the devices' GUIDs, and what is written of what was found."""

    guids: Annotated[
        Path | None, typer.Option("--guids", help="GUIDs of the devices: lines device,guid")
    ] = None
    learn_guids: Annotated[
        Path | None, typer.Option("--learn-guids", help="write such a file of what was found")
    ] = None
    draw: Annotated[
        Path | None,
        typer.Option("-o", "--out",
                     help="file for a picture of the racks by state: .svg, .png or .pdf"),
    ] = None


@dataclass(frozen=True)
class WatchOptions:
    """Whether the fabric is looked at again, and how often."""

    watch: Annotated[
        bool, typer.Option("--watch", help="look again until all is laid right")
    ] = False
    every: Annotated[float, typer.Option(help="seconds between looks with --watch")] = 10.0


@app.command("verify-cables", epilog=epilog(
    "flyloom verify-cables slim_fly:q=5,p=4 discovered.txt",
    "flyloom verify-cables cabling/ discovered.txt.gz --step 2 --ignore-ports",
    "flyloom verify-cables cabling/ --watch -o state.svg",
))
@grouped
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
    *,
    files: CableCheckFiles,
    looks: WatchOptions,
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
    from flyloom.cabling import checked

    refuse_odd(identify, looks.every, files.draw, step)
    check = CableCheckOptions(planned, fabric, identify, files, step=step,
                              ignore_ports=ignore_ports)
    if looks.watch:
        from flyloom.cabling.watch import FabricCheckHistory
        from flyloom.cabling.watch import watch as look_again

        def look() -> dict[str, Any]:
            return check.look(again=True)

        clean = look_again(FabricCheckHistory(look, check.keep), looks.every, as_json)
        raise typer.Exit(0 if clean else 1)
    found = check.look()
    check.keep(found)
    emit(found, as_json, checked.summary(found, ignore_ports))
    if not as_json:
        for finding in found["findings"]:
            print("\n".join(checked.words(finding, verbose)))
        for line in checked.hint(found, ignore_ports):
            print(line)
        for line in checked.misfit(check.fabric_found, found):
            print(line)
    raise typer.Exit(0 if found["clean"] else 1)


DRAWN = (".svg", ".png", ".pdf")
"""How names of pictures of the racks end."""


def refuse_odd(identify: str, every: float, draw: Path | None, step: int | None) -> None:
    """Refuses what options cannot be."""
    from flyloom._core import RefusalError
    from flyloom.cabling import checked

    if identify not in checked.METHODS:
        methods = ", ".join(checked.METHODS)
        raise RefusalError(f"--identify {identify}: no method to identify devices; {methods}")
    if not 0 < every <= 86_400:
        raise RefusalError(f"--every {every}: not above 0 and at most 86400 seconds")
    if draw is not None and draw.suffix not in DRAWN:
        raise RefusalError(f"-o {draw}: no picture; a name that ends in {', '.join(DRAWN)}")
    if step is not None and not 0 <= step <= 3:
        raise RefusalError(f"--step {step}: no step of the laying; 0 to 3")


class CableCheckOptions:
    """A plan that fabrics are compared with, and what was laid in earlier looks."""

    def __init__(
        self, planned: str, fabric: str | None, identify: str, files: CableCheckFiles, *,
        step: int | None, ignore_ports: bool,
    ) -> None:
        from flyloom.cabling import checked

        self.fabric, self.identify, self.files = fabric, identify, files
        self.how: dict[str, Any] = {"ignore_ports": ignore_ports, "step": step}
        self.plan, self.rules = checked.load_plan(planned)
        self.known = None if files.guids is None else checked.read_guids(files.guids)
        self.seen: set[str] = set()
        self.fabric_found = self.plan
        # refuses bad GUIDs, rules and steps before any look
        self._compared(self.plan, identify if ignore_ports else "auto", None)

    def _compared(self, found: Topology, by: str, due: set[str] | None) -> dict[str, Any]:
        return self.plan.check_cables(found, by, self.known, self.rules, due=due, **self.how)

    def look(self, *, again: bool = False) -> dict[str, Any]:
        """What is found now; with ``again`` what was laid in an earlier look must still be."""
        from flyloom._core import RefusalError
        from flyloom.cabling import checked

        found = this_fabric() if self.fabric is None else load_network(self.fabric, None)
        self.fabric_found = found
        try:
            document = self._compared(found, self.identify, self.seen if again else None)
        except RefusalError as error:
            raise RefusalError(f"{error}{checked.what_fits(self.plan, found, error)}") from None
        if again:
            self.seen.update(checked.laid(self.plan, document))
        return document

    def keep(self, document: dict[str, Any]) -> None:
        """Writes the files that are asked for."""
        from flyloom.cabling import checked
        from flyloom.support.files import write_whole

        learnt = document.pop("guids")
        if self.files.learn_guids is not None:
            write_whole(self.files.learn_guids, checked.guids_text(learnt))
        if self.files.draw is not None:
            from flyloom.cabling.states import states_svg

            drawing = states_svg(self.plan, self.rules, document)
            if self.files.draw.suffix == ".svg":
                write_whole(self.files.draw, drawing)
                return
            from flyloom.report.picture import Picture

            Picture(drawing=drawing).save(self.files.draw)


def this_fabric() -> Topology:
    """The fabric that this machine is a part of."""
    from flyloom._core import Topology
    from flyloom.deploy.readback import discover_here
    from flyloom.inputs.devices import devices, tell
    from flyloom.inputs.names import named

    found = Topology.from_text(discover_here(), "ibnetdiscover", None, devices())
    return tell(named(found), "ibnetdiscover")
