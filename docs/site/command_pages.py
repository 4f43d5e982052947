"""The pages of commands: what each takes and an example, from the commands themselves."""

from __future__ import annotations

import importlib
import re

import typer
from flyloom.cli import GROUPS
from flyloom.cli.common import app
from flyloom.cli.listing import OTHERS, PANELS


def plain(text: str) -> str:
    """A text of the command line as Markdown: words in backticks stay, nothing else is markup."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if i % 2 else re.sub(r"([*_<>\[\]#~{}])", r"\\\1", part)
                   for i, part in enumerate(parts))


def cells(record: tuple[str, str] | None) -> tuple[str, ...]:
    """Name and meaning of a parameter as cells of a table; nothing where its help says nothing."""
    return tuple(text.replace("|", "\\|") for text in record or ())


def opened(command: object, name: str, outer: object = None) -> object:
    """What a command knows while it runs."""
    return command.context_class(command, info_name=name, parent=outer, **command.context_settings)


def described(command: object, ctx: object) -> str:
    """A command as a section, and those inside it after it."""
    usage = re.sub(r"[{]([^|}]*)[}]", r"\1", " ".join(command.collect_usage_pieces(ctx)))
    paragraphs = [plain(text) for text in (command.help or "").split("\n\n") if text.strip()]
    records = [(param.param_type_name == "argument", cells(param.get_help_record(ctx)))
               for param in command.get_params(ctx) if not param.hidden]
    example = (command.epilog or "").partition("Examples:\n")[2]
    parts = [f"## {ctx.command_path}", f"```text\n{ctx.command_path} {usage}\n```", *paragraphs]
    for title, kind in (("argument", True), ("option", False)):
        rows = [record for is_argument, record in records if record and is_argument == kind]
        if rows:
            lines = [f"| `{name}` | {plain(said)} |" for name, said in rows]
            parts.append("\n".join([f"| {title} | is |", "|---|---|", *lines]))
    if example.strip():
        lines = "\n".join(f"$ {line.strip()}" for line in example.splitlines() if line.strip())
        parts.append(f"```console\n{lines}\n```")
    inner = [(one, opened(one, name, ctx)) for name, one in getattr(command, "commands", {}).items()
             if not one.hidden]
    return "\n\n".join([*parts, *(described(one, below) for one, below in inner)])


def pages() -> dict[str, str]:
    """Name and Markdown of every page: one that lists the groups, and one a group."""
    for group in [*GROUPS, "measures"]:
        importlib.import_module(f"flyloom.cli.{group}")
    program = typer.main.get_command(app)
    ctx = opened(program, "flyloom")
    shown = {name: one for name, one in program.commands.items() if not one.hidden}
    placed = {name for names in PANELS.values() for name in names}
    panels = {**PANELS, OTHERS: tuple(name for name in shown if name not in placed)}
    found, rows, inside = {}, [], []
    for title, names in panels.items():
        page = f"commands-{re.sub('[^a-z]+', '-', title.lower())}"
        inside.append(page)
        sections = [described(shown[name], opened(shown[name], name, ctx)) for name in names]
        found[page] = f"# {title}\n\n" + "\n\n".join(sections) + "\n"
        rows += [f"| [{name}]({page}.md#flyloom-{name}) "
                 f"| {plain(shown[name].get_short_help_str(1000))} |" for name in names]
    toctree, lines = "\n".join(inside), "\n".join(rows)
    found["commands"] = (
        "# Commands and their options\n\nEvery command with its arguments, its options and an "
        "example, as `flyloom COMMAND --help` prints them. [The command line](cli.md) says what "
        f"they have in common.\n\n| command | does |\n|---|---|\n{lines}\n\n"
        f"```{{toctree}}\n:hidden:\n\n{toctree}\n```\n"
    )
    return found
