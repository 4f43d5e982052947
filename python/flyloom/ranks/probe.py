"""Whether an MPI works: two ranks that mpiexec starts find one another, or why not."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError
from flyloom.support import process
from flyloom.support.errors import DeployError

from . import library

PATIENCE_S = 60.0
"""How long two ranks may take to start, and to end."""

AS_ROOT = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1, or not as root"
"""What lets Open MPI's mpiexec start programs of root."""

_OTHERS = ("OMPI_COMM_", "PMI_", "PMIX_")
"""Variables of a launcher that started this process itself."""


def mpiexec(mpicc: str) -> str | None:
    """The launcher beside an mpicc, else the one in PATH; None where there is none."""
    place = Path(mpicc)
    for name in ("mpiexec", "mpirun"):
        beside = place.with_name(place.name.replace("mpicc", name))
        if beside != place and os.access(beside, os.X_OK):
            return str(beside)
    return shutil.which("mpiexec") or shutil.which("mpirun")


def found() -> list[dict[str, Any]]:
    """Every MPI there is: ``mpicc``, ``mpiexec``, ``library`` (its name and version), ``works``,
    and where it does not ``why`` and ``remedy``."""
    row = {"mpicc": None, "mpiexec": None, "library": None, "works": False}
    try:
        compilers = library.compilers()
    except RefusalError as error:
        return [row | _reason(str(error))]
    if not compilers:
        return [row | {"why": "there is no mpicc in PATH", "remedy": library.PACKAGES}]
    return [{**row, "mpicc": mpicc, "mpiexec": mpiexec(mpicc), **_works(mpicc)}
            for mpicc in compilers]


def _works(mpicc: str) -> dict[str, Any]:
    """What two ranks say of an MPI, whose library is built for that."""
    launcher = mpiexec(mpicc)
    if launcher is None:
        return {"why": f"there is no mpiexec beside {mpicc} or in PATH",
                "remedy": library.PACKAGES}
    env = {name: value for name, value in os.environ.items() if not name.startswith(_OTHERS)}
    env["OMPI_MCA_rmaps_base_oversubscribe"] = "1"  # there may be only one core
    try:
        words = [launcher, "-n", "2", *process.python("flyloom.ranks.probe")]
        said = process.run(
            [*words, str(library.build(mpicc))], cwd=Path.cwd(), env=env, timeout_s=PATIENCE_S
        )
        answer: dict[str, Any] = json.loads(said.strip().splitlines()[-1])
    except (RefusalError, DeployError) as error:
        return _reason(str(error))
    except (ValueError, IndexError):
        return {"why": f"{launcher}: two ranks said nothing", "remedy": None}
    if answer["size"] != 2:
        return {**answer, "why": f"each of two ranks that {launcher} starts is alone",
                "remedy": f"{library.VARIABLE} names the mpicc of that mpiexec"}
    return {"library": answer["library"], "works": True, "why": None, "remedy": None}


def _reason(text: str) -> dict[str, Any]:
    """An error as a reason in one line and a remedy."""
    if "run-as-root" in text:
        return {"why": "its mpiexec does not start programs of root", "remedy": AS_ROOT}
    why, _, remedy = text.partition("; ")
    return {"why": " ".join(why.split())[:400], "remedy": remedy or None}


def main() -> None:
    """What rank 0 of two sees."""
    ranks = _core.Ranks(sys.argv[1])
    ranks.agree()
    if ranks.rank == 0:
        print(json.dumps({"size": ranks.size, "library": ranks.library}), flush=True)
    ranks.close()


if __name__ == "__main__":
    main()
