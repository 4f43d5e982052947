"""`flyloom --help`: the commands in groups, each with its whole description."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

from flyloom.cli import usage

PANELS = {
    "Networks": ("design", "identify", "structure", "resilience", "size", "scale", "choose",
                 "compare", "search", "export"),
    "Racks, cables and prices": ("plan", "cables", "verify-cables", "observe", "cost",
                                 "catalog"),
    "Routes": ("route", "verify", "lanes", "repair", "deploy", "opensm-plugin",
               "compare-routing"),
    "Load and throughput": ("ebb", "congestion", "throughput", "figure"),
    "Processes on endpoints": ("map", "map-eval", "record", "reorder"),
    "Simulators and measurement": ("sim", "workload", "measure"),
    "Experiments": ("run", "report", "published", "example"),
    "About flyloom": ("list", "schema", "doctor", "cite", "help"),
}
"""Groups of commands; a command of none of them is a measure's."""
OTHERS = "One measure alone"
WIDE = 1000


class CommandGroup(TyperGroup):
    """The program's commands, as :data:`PANELS` groups them."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        """The words of the program itself, refused in one line where it does not take them."""
        with usage.plain():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Runs the command, whose words are refused in one line where it does not take them."""
        with usage.plain():
            return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes every group as a section."""
        left = [name for name in self.list_commands(ctx) if not self.commands[name].hidden]
        placed = {name for names in PANELS.values() for name in names}
        panels = {**PANELS, OTHERS: tuple(name for name in left if name not in placed)}
        width = max(map(len, left), default=0)
        for title, names in panels.items():
            rows = [
                (f"{name:<{width}}", self.commands[name].get_short_help_str(WIDE))
                for name in names if name in left
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is asked for; where there is none, what was probably meant."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            self._refuse(ctx, args[0])
        return super().resolve_command(ctx, args)

    def _refuse(self, ctx: Any, word: str) -> None:
        from flyloom.support.refused import hint

        of_groups = [
            f"{name} {inner}" for name, group in self.commands.items()
            for inner, one in getattr(group, "commands", {}).items() if not one.hidden
        ]
        near = hint(word, [*self.commands, *of_groups])
        ctx.fail(f"{word}: there is no such command; {near}flyloom --help lists all")
