"""One self-contained HTML page from the results of an experiment.

:func:`render` takes one dictionary: :class:`flyloom.report.base.PageContents`, with the networks
and routings and what each section of :mod:`flyloom.report.section` declares of its own. A part that
is missing leaves its section out; where ``skipped`` gives a reason, the page says it. The page has
no script, refers to nothing outside itself and is the same bytes for the same input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flyloom.report import section as folder
from flyloom.report import verdict
from flyloom.report.answer import answer
from flyloom.report.base import PageData, PageSection
from flyloom.report.check import check
from flyloom.report.drawing import DrawingError
from flyloom.report.words import count, fixed, share, words
from flyloom.support import amounts
from flyloom.support.files import write_whole

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent


def render(data: Mapping[str, Any], lost: Callable[[str], None] | None = None) -> str:
    """The report as one HTML page.

    ``data`` is described in the module and checked by :func:`flyloom.report.check.check`. Needs
    ``jinja2`` and, when there is anything to chart, ``vl-convert-python``; both are imported here
    and not before. Where charts cannot be drawn the page is written without them, says why, and
    ``lost`` is called with the reason. Raises :class:`flyloom.report.shape.ReportError` for data of
    another shape.
    Time O(size of the data), about a second for the charts.
    """
    report, known = check(data), folder.sections()
    page = PageData(report)
    try:
        views = _views(page, known)
    except DrawingError as error:
        why = str(error)
        report["skipped"] = [*report["skipped"], {"what": "charts of the report", "why": why}]
        page = PageData(report, charted=False)
        views = _views(page, known)
        if lost is not None:
            lost(why)
    environment = _environment()
    figures = _placed(known, "figures", page)
    judged = answer(page.labels, figures)
    shown = [(section, view) for section in known if (view := views[section.name]) is not None]
    return environment.get_template("page.html.j2").render(
        report=report,
        answer=judged, verdict=verdict.lines(page, figures),
        leads=[{**lead, "strengths": verdict.strengths(lead["network"], figures)}
               for lead in (judged["leads"] if judged else ())],
        colours=list(page.colours.values()),
        tiles=tiles(page),
        shown=[section for section, _ in shown],
        sections=["" if (view := views[section.name]) is None else environment.get_template(
            f"{section.name}.html.j2").render(**view, several=page.several) for section in known],
    )


def write(data: Mapping[str, Any], path: str | Path) -> Path:
    """Render the report to ``path`` (UTF-8), all or nothing, and return the path.

    Raises as :func:`render` and :func:`flyloom.support.files.write_whole` do.
    """
    target = Path(path)
    write_whole(target, render(data))
    return target


def tiles(page: PageData) -> list[Mapping[str, str]]:
    """The headlines of all sections: what it costs and carries, what was proven,
    measured, loaded."""
    known = folder.sections()
    return [*verdict.tiles(_placed(known, "figures", page)), *_placed(known, "tiles", page)]


def _placed(known: list[PageSection], which: str, page: PageData) -> list[Any]:
    """What sections have for the top of the page, in the order of its places there."""
    made = [placed for section in known for placed in getattr(section, which).items()]
    return [one for _, of in sorted(made, key=lambda placed: placed[0]) for one in of(page)]


def _views(page: PageData, known: list[PageSection]) -> dict[str, Mapping[str, Any] | None]:
    """What the template of each section takes; None where it is not in the page."""
    return {section.name: section.view(page) for section in known}


def _environment() -> Environment:
    """What renders templates: that of the page, and those beside the sections."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader([HERE, *folder.__path__]), autoescape=True,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )
    environment.filters.update(count=count, fixed=fixed, share=share, words=words,
                               heading=amounts.heading, cell=amounts.figure)
    css = (HERE / "page.css").read_text(encoding="utf-8")
    environment.globals.update(css=Markup(css))
    return environment
