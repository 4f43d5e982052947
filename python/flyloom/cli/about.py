"""Commands about flyloom itself: doctor, example, help."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import Json, app, epilog


@app.command(epilog=epilog("flyloom doctor"))
def doctor(as_json: Json = False) -> None:
    """Say which optional programs and packages are there, and how to get the rest."""
    from flyloom._core import __version__
    from flyloom.deploy import tools

    found = tools.check()
    programs = [
        {"name": name, "path": str(path) if path else None, "package": package}
        for name, path, package in found
    ]
    extras, plugin, mpi = extra_rows(), plugin_row(), mpi_rows()
    if as_json:
        complete = all(path for _, path, _ in found)
        print(json.dumps({
            "version": __version__, "programs": programs, "complete": complete, "extras": extras,
            "plugin": plugin, "mpi": mpi,
        }))
        return
    print(f"flyloom {__version__}")
    for name, path, package in found:
        word, where = ("ok", path) if path else ("missing", f"apt-get install {package}")
        print(f"{word:<7}  {name:<20} {where}")
    absent = sorted({package for _, path, package in found if not path})
    if absent:
        print(f"for the fabric stage: apt-get install {' '.join(absent)}")
    print(f"{'ok' if plugin['can_be_built'] else 'missing':<7}  {'OpenSM plug-in':<20}"
          f" {plugin['built'] or plugin['what']}")
    for row in mpi:
        print(f"{'ok' if row['path'] else 'missing':<7}  {row['name']:<20}"
              f" {row['path'] or 'apt-get install ' + row['package']}")
    for row in extras:
        how = f": pip install 'flyloom[{row['extra']}]'" if row["absent"] else ""
        print(f"{'missing' if row['absent'] else 'ok':<7}  {row['extra']:<20} {row['use']}{how}")


def extra_rows() -> list[dict[str, Any]]:
    """Every extra: what it is for, and which of its modules are absent."""
    from flyloom.support.extras import EXTRAS, absent

    return [{"extra": name, "use": use, "absent": absent(name)}
            for name, (_, use) in EXTRAS.items()]


def plugin_row() -> dict[str, Any]:
    """Whether OpenSM's plug-in is built, or can be."""
    from flyloom.deploy import plugin, tools
    from flyloom.support.errors import DeployError

    try:
        sources = str(plugin.source_dir())
        built = plugin.built()
        for name in ("cc", "opensm headers", "umad headers"):
            tools.path(name)
    except DeployError as error:
        return {"built": None, "can_be_built": False, "sources": None, "what": str(error)}
    what = f"is built when it is first used, from {sources}"
    return {"built": str(built) if built else None, "can_be_built": True, "sources": sources,
            "what": what}


def mpi_rows() -> list[dict[str, Any]]:
    """The programs of MPI."""
    found = {name: shutil.which(name) for name in ("mpicc", "mpirun")}
    packages = {"mpicc": "libopenmpi-dev", "mpirun": "openmpi-bin"}
    return [{"name": name, "path": path, "package": packages[name]}
            for name, path in found.items()]


@app.command(epilog=epilog("flyloom example", "flyloom example deployed_slim_fly"))
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
