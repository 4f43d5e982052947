"""Options of commands that put the processes of a schedule on a network."""

from __future__ import annotations

from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import NET_HELP

OnNet = Annotated[
    str | None,
    typer.Option("--net", metavar="NET|TABLES", show_default=False,
                 autocompletion=completion.tables,
                 help=f"the network: {NET_HELP}; or a folder of `route -o`"),
]
OverEngine = Annotated[
    str | None,
    typer.Option("--engine", "-e", autocompletion=completion.engine,
                 help="over this engine's tables; without one, over all shortest paths"),
]
Placement = Annotated[
    str,
    typer.Option(autocompletion=completion.placement,
                 help="which endpoints ranks are on: a name of `flyloom list placements`, or a file"
                      " with endpoints in the order of ranks"),
]
PerEndpoint = Annotated[int, typer.Option(help="ranks on each endpoint")]
