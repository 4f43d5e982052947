"""Commands of experiments: run, report, schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from flyloom.cli import completion
from flyloom.cli.common import DryRun, Json, app, epilog


@app.command(epilog=epilog(
    "flyloom run examples/demo.toml", "flyloom run sweep.toml --workers 4",
    "flyloom run sweep.toml --on dask://head:8786",
))
def run(
    experiment: Annotated[Path, typer.Argument(metavar="FILE", help="experiment file (TOML)",
                                               autocompletion=completion.toml)],
    out: Annotated[Path, typer.Option("-o", "--out", help="folder of all results")] = Path("out"),
    fresh: Annotated[bool, typer.Option("--fresh", help="compute every point anew")] = False,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", show_default=False,
                     help="processes that compute points; default: as many as there are processors,"
                          " and memory for"),
    ] = None,
    on: Annotated[
        str | None,
        typer.Option("--on", metavar="dask://HOST:PORT", show_default=False,
                     help="compute the points on the workers of this Dask scheduler"),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Run an experiment: results as Parquet, a manifest and a report."""
    from flyloom.lab import experiment as lab
    from flyloom.lab.executors import check
    from flyloom.support.progress import bars

    if dry_run:
        check(workers, on)
        return list_points(experiment, as_json, workers)

    def say(stage: str, line: str, seconds: float) -> None:
        if not as_json:
            print(f"{stage:<8} {line}" + (f"  ({seconds:.2f} s)" if seconds else ""), flush=True)

    with bars() as bar:
        result = lab.run(
            experiment, out=out, fresh=fresh, workers=workers, on=on, say=say, progress=bar
        )
    if as_json:
        print(result.to_json())
    else:
        print(f"{result.report}")
    raise typer.Exit(0)


def list_points(file: Path, as_json: bool, workers: int | None) -> None:
    """Prints what an experiment would run, without running any of it, not even the parts that it
    names."""
    from flyloom.lab import choice
    from flyloom.lab.expanded import foreseen
    from flyloom.support.reading import read_text

    text = read_text(file)
    files, found = foreseen(text, file)
    points = None if found is None else found["points"]
    asked = None if found is None else found["experiment"].get("choose")
    if found and not files:  # a need may name a topology of these
        choice.asked(found["experiment"], text, file)
    if as_json:
        own: dict[str, Any] = {"plugins": [str(path) for path in files]} if files else {}
        if asked:
            own["choose"] = asked
        print(json.dumps({"points": points, **own}))
        return
    if asked:
        print(f"choose   {choice.asked_line(asked)}")
    for path in files:
        print(f"{path}: would be run, as it has parts of the experiment; it was not")
    if points is None:
        print("the points are not known without these parts")
    if points:
        print_points(points, workers)


def print_points(points: list[dict[str, Any]], workers: int | None) -> None:
    """Prints how many points there are, about how long they take, and what differs between them."""
    from flyloom.lab.experiment import in_words
    from flyloom.lab.preflight import seconds_of
    from flyloom.lab.rows import differing
    from flyloom.support.machine import duration, processors

    hands = workers or processors()
    seconds, whole = seconds_of(points, hands)
    about = f"about {duration(seconds)}" if whole else f"at least {duration(seconds)}"
    many = f"{len(points)} points" if len(points) > 1 else "1 point"
    print(f"{many}, {about} on {hands} processor{'s' if hands > 1 else ''}")
    differ = differing(points)
    for i, point in enumerate(points, start=1):
        said = in_words(point, differ) if len(points) > 1 else in_words(point, ["topology"])
        print(f"{i:>4}  {said or 'the same as another point'}")


@app.command(epilog=epilog("flyloom report out/demo"))
def report(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="folder of a finished run")],
    as_json: Json = False,
) -> None:
    """Write the report of a finished run anew."""
    from flyloom.lab.store import rebuild

    path = rebuild(directory)
    print(json.dumps({"report": str(path)}) if as_json else path)


@app.command(epilog=epilog("flyloom schema > experiment.schema.json"))
def schema() -> None:
    """Print the JSON schema of the experiment file, with the tables of your own measures."""
    from flyloom._core import experiment_schema
    from flyloom.plugins.found import rows
    from flyloom.plugins.parts import built_in

    found = experiment_schema()
    for row in rows():
        if row["kind"] == "measure" and row["name"] not in built_in("measure"):
            found["properties"][row["name"]] = {
                "type": "object", "description": row["doc"], "additionalProperties": False,
                "properties": {param["name"]: {"description": param["doc"]}
                               for param in row["params"]},
            }
    print(json.dumps(found, indent=1))
