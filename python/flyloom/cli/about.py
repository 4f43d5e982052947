"""Commands about flyloom itself: doctor, cite, example, help."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from flyloom.cli import completion
from flyloom.cli.common import Json, app, epilog

STYLES = ("text", "bibtex")
"""How references are printed."""


@app.command(epilog=epilog("flyloom doctor"))
def doctor(as_json: Json = False) -> None:
    """Say which optional programs and packages are there, and how to get the rest."""
    from flyloom.verbs.doctor import doctor as examined

    found = examined()
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    slower = "" if found.build == "release" else "; `make wheel` makes the release build"
    print(f"flyloom {found.version}, {found.build} build{slower}")
    for row in found.programs:
        tell(row["path"], row["name"], row["path"] or f"apt-get install {row['package']}")
    absent = sorted({row["package"] for row in found.programs if not row["path"]})
    if absent:
        print(f"for the fabric stage: apt-get install {' '.join(absent)}")
    plugin = found.plugin
    tell(plugin["can_be_built"], "OpenSM plug-in", plugin["built"] or plugin["what"])
    for row in found.mpi:
        name = row["library"] or "MPI"
        if row["works"]:
            tell(True, name, f"{row['mpicc']}, {row['mpiexec']}: two ranks find one another")
        else:
            where = f"{row['mpicc']}: " if row["mpicc"] else ""
            remedy = f"; {row['remedy']}" if row["remedy"] else ""
            tell(False, name, f"{where}{row['why']}{remedy}", "no")
    for row in found.runtime["transports"]:
        by = f" by {row['provider']}" if row["provider"] else ""
        name = f"libflyloom, {row['transport']}{by}"
        if row["works"]:
            tell(True, name, f"{row['latency_ns']:.0f} ns; data lands while the target is"
                             f" elsewhere: {row['lands']}")
        else:
            tell(False, name, row["why"], "no")
    if found.runtime["why"]:
        tell(False, "libflyloom", found.runtime["why"])
    for row in found.extras:
        how = f": pip install 'flyloom[{row['extra']}]'" if row["absent"] else ""
        tell(not row["absent"], row["extra"], f"{row['use']}{how}")


def tell(there: object, name: str, what: str, without: str = "missing") -> None:
    """Prints a line of the report on one thing: whether it is there, its name, and what it is."""
    print(f"{'ok' if there else without:<7}  {name:<20} {what}")


@app.command(epilog=epilog("flyloom cite", "flyloom cite slim_fly dfsssp ebb",
                           "flyloom cite out/demo --style bibtex"))
def cite(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", show_default=False, autocompletion=completion.citable,
                       help="parts (slim_fly, dfsssp, sim.message), networks, the file or the"
                            " folder of an experiment"),
    ] = None,
    style: Annotated[
        str, typer.Option(help="text or bibtex", autocompletion=completion.choice(*STYLES))
    ] = "text",
    as_json: Json = False,
) -> None:
    """Say what to cite: flyloom, and what the parts were published as that you used."""
    from flyloom._core import RefusalError
    from flyloom.verbs.citing import cite as cited

    if style not in STYLES:
        raise RefusalError(f"--style {style}: one of {', '.join(STYLES)}")
    found = cited(*(names or ()))
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    print(found.text if style == "text" else found.bibtex)
    for part in found.without:
        print(f"{part}: no publication of its own", file=sys.stderr)


@app.command(epilog=epilog("flyloom example", "flyloom example demo"))
def example(
    name: Annotated[
        str,
        typer.Argument(metavar="[NAME]", help="the example to write", show_default=False,
                       autocompletion=completion.example),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("-o", "--out", help="file to write; default: NAME.toml in this folder"),
    ] = None,
) -> None:
    """List the experiments that come with flyloom, or write one of them as a file to run."""
    from flyloom._core import RefusalError
    from flyloom.support.files import write_whole
    from flyloom.support.refused import hint

    folder = Path(__file__).parents[1] / "examples"
    texts = {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.toml"))}
    if not name:
        if out:
            raise RefusalError(f"-o {out}: which example? {', '.join(texts)}")
        for known, text in texts.items():
            print(f"{known:<20} {text.splitlines()[0].lstrip('# ')}")
        return
    if name not in texts:
        known = f"{hint(name, texts)}examples: {', '.join(texts)}"
        raise RefusalError(f"example: there is no '{name}'; {known}")
    path = out or Path(f"{name}.toml")
    if path.exists() and path.read_text("utf-8") != texts[name]:
        raise RefusalError(f"{path}: is there already, and differs; -o names another file")
    write_whole(path, texts[name])
    print(path)


@app.command("help", epilog=epilog("flyloom help route"))
def show_help(
    _command: Annotated[
        str,
        typer.Argument(metavar="[COMMAND]", help="the command", show_default=False,
                       autocompletion=completion.command),
    ] = "",
) -> None:
    """Show the help of a command, as `flyloom COMMAND --help` does; all commands without one."""
    # `flyloom.cli.asked` turns the words around before a command is looked for
