"""Options in groups: a command has them in their places, with their defaults and their help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from flyloom.cli.groups import grouped
from typer.testing import CliRunner

Size = Annotated[int, typer.Option("--size", "-s", help="how large")]


@dataclass(frozen=True)
class Box:
    """A required option and one with a default."""

    name: Annotated[str, typer.Argument(help="what it is")]
    size: Size = 3


@dataclass(frozen=True)
class Colours:
    """Options that may be left out."""

    fill: Annotated[list[str] | None, typer.Option(help="colours")] = None
    bold: Annotated[bool, typer.Option("--bold", help="thick")] = False


@pytest.fixture
def ran() -> tuple[typer.Typer, list]:
    """A program with one command, and what the command was called with."""
    app, called = typer.Typer(add_completion=False, rich_markup_mode=None), []

    @app.command()
    @grouped
    def draw(
        first: Annotated[int, typer.Option(help="before")] = 1,
        *,
        box: Box,
        middle: Annotated[int, typer.Option(help="between")] = 2,
        colours: Colours,
        last: Annotated[bool, typer.Option("--last")] = False,
    ) -> None:
        """Draws a box."""
        called.append((first, box, middle, colours, last))

    return app, called


def test_groups_are_given_as_objects(ran):
    app, called = ran
    words = ["thing", "-s", "7", "--fill", "red", "--fill", "blue", "--middle", "5", "--last"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert CliRunner().invoke(app, ["thing", "--bold"]).exit_code == 0
    assert called == [
        (1, Box("thing", 7), 5, Colours(["red", "blue"]), True),
        (1, Box("thing"), 2, Colours(bold=True), False),
    ]


def test_the_help_has_every_option_in_its_place(ran):
    command = typer.main.get_command(ran[0])
    assert [param.name for param in command.params] == [
        "first", "name", "size", "middle", "fill", "bold", "last"]
    assert command.params[2].opts == ["--size", "-s"] and command.params[2].default == 3
    assert command.params[1].required and command.help == "Draws a box."


def test_what_is_missing_or_of_another_kind_is_refused(ran):
    app, called = ran
    for words in ([], ["thing", "--size", "large"]):
        assert CliRunner().invoke(app, words).exit_code == 2
    assert called == []
