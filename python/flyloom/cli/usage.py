"""Lines of words that a command cannot take, refused in one line as everything else is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flyloom import _core
from flyloom._core import RefusalError
from flyloom.support.checks import whole_number
from flyloom.support.refused import hint

WORDS = {
    "is not a valid integer": "is no whole number", "is not a valid int": "is no whole number",
    "is not a valid float": "is no number", "is not a valid boolean": "is neither true nor false",
}
"""What the parser says of a value, and what we say."""


@contextmanager
def plain() -> Iterator[None]:
    """Raises RefusalError in place of the errors that the parser of the command line raises."""
    try:
        yield
    except Exception as error:
        # a command without any word shows its help, for which the parser raises such an error
        if not hasattr(error, "format_message") or type(error).__name__ == "NoArgsIsHelpError":
            raise
        raise RefusalError(line(error, getattr(error, "ctx", None))) from error


def line(error: Any, ctx: Any) -> str:
    """What is wrong with the words, and what would be right: ``OPTION: why; help``."""
    kind = type(error).__name__
    if kind == "BadOptionUsage":  # which the parser raises without the command
        why = "it takes no value" if "not take" in error.message else "its value is missing"
        return f"{error.option_name}: {why}; --help says what it takes"
    if ctx is None:
        return _plain(error.format_message())
    command = ctx.command_path.removeprefix("flyloom").strip() or "flyloom"
    if kind == "NoSuchOption":
        return f"{error.option_name}: {command} has no such option; {_near(error, ctx)}"
    if getattr(error, "param", None) is not None:
        missing = kind == "MissingParameter"
        why = f"{command} needs it" if missing else _why(error)
        about = " ".join((getattr(error.param, "help", None) or "").split())
        return f"{_name(error.param)}: {why}" + (f"; {about}" if about else "")
    if extra := re.fullmatch(r"Got unexpected extra argument\S* \((.*)\)", error.message):
        return _extra(extra[1], command, ctx)
    if unknown := re.fullmatch(r"No such command '(.*?)'\.?.*", error.message):
        return _no_command(unknown[1], command, ctx)
    return _plain(str(error.message))


def _why(error: Any) -> str:
    """What is wrong with a value; of a value that a function reads the parser has only the text."""
    if getattr(error.param.type, "name", "") == whole_number.__name__:
        return f"'{error.message}' is no whole number"
    return _plain(error.message)


def _plain(message: str) -> str:
    """A sentence of the parser as ours are written."""
    text = message.rstrip(".")
    for theirs, ours in WORDS.items():
        text = text.replace(theirs, ours)
    return text


def _name(param: Any) -> str:
    """The word for an option or argument in messages."""
    if param.opts and param.opts[0].startswith("-"):
        return str(max(param.opts, key=len))
    return str(param.metavar or param.name).strip("{}")


def _near(error: Any, ctx: Any) -> str:
    """The option or parameter that was meant, as far as can be seen, and where all are listed."""
    options = [word for param in ctx.command.params for word in (*param.opts, *param.secondary_opts)
               if word.startswith("--") and not getattr(param, "hidden", False)]
    word = error.option_name.lstrip("-").replace("-", "_")
    is_simulator = hasattr(_core, f"{ctx.command.name}_schema")
    if is_simulator and (path := _in_table(word, ctx.command.name)):
        return f"did you mean --set {path}=...? {ctx.command_path} --help lists all"
    if not (near := _other_word(word, options)):
        near = _as_word(word, ctx)
        if near and word not in NETWORK:
            near = hint(error.option_name, options) or near
    return f"{near or hint(error.option_name, options)}{ctx.command_path} --help lists all"


SAME_THING = (
    ("engine", "engines", "e"), ("samples", "seeds", "runs", "patterns", "rounds", "repetitions"),
    ("traffic", "pattern", "workload", "graph"), ("placement", "ranks", "order"),
    ("out", "page", "draw", "output", "picture", "plot"),
)
"""Words for one thing, each of which some command has."""


def _other_word(name: str, options: list[str]) -> str:
    """The option of this command for what ``name`` is elsewhere."""
    # ranks are a number of processes, too, which a workload has
    same = next((words for words in SAME_THING if name in words and name != "ranks"), ())
    known = [f"--{word}" for word in same if word != name and f"--{word}" in options]
    return f"did you mean {known[0]}? " if known else ""


NETWORK = ("net", "network", "topology")
"""Options by which the network is looked for where it is an argument."""


def _as_word(name: str, ctx: Any) -> str:
    """What to write for an option that is no option: a word of its own, or a parameter of the
    workload."""
    words = [str(param.metavar or "") for param in ctx.command.params
             if not param.opts[0].startswith("-")]
    if name in NETWORK and (net := next((word for word in words if "NET" in word), None)):
        return f"the network stands without an option: {ctx.command_path} {net}; "
    keys = [word for word in words if "=" in word]
    if keys and (name in keys[0] or keys[0].startswith("KEY=")):
        return f"write {name}=..., a word of its own; "
    options = {option for param in ctx.command.params for option in param.opts}
    by = next((option for option in ("--workload", "--graph") if option in options), None)
    if by and name in _keys_of_workloads():
        return f"a parameter of the workload: {by} 'NAME {name}=...'; "
    return ""


def _keys_of_workloads() -> set[str]:
    """The parameters that workloads made by name have."""
    return {key["name"] for row in _core.workload_list() for key in row["keys"]}


def _extra(words: str, command: str, ctx: Any) -> str:
    """Words after the last argument, which are often parameters of a network."""
    first = words.split()[0]
    given = [value for param in ctx.command.params if not param.opts[0].startswith("-")
             and isinstance(value := ctx.params.get(param.name or ""), str)]
    asked = next((name for name in ("workload", "graph") if ctx.params.get(name)), None)
    if "=" in first and asked:
        value = ctx.params[asked]
        text = " ".join([value if isinstance(value, str) else value[-1], *words.split()])
        return f"{first}: one word too many; parameters stand in one word: --{asked} '{text}'"
    if "=" in first and given and ":" not in given[-1]:
        joined = ",".join(words.split())
        return f"{first}: one word too many; parameters follow a colon: {given[-1]}:{joined}"
    if command.startswith("sim ") and given:
        from flyloom.inputs.networks import is_network

        if is_network(first) or first.endswith((".toml", ".json")):
            return (f"{first}: {command} takes one network; several, each with its label: flyloom"
                    " run FILE.toml with a [[point]] or an entry of [[sweep.zip]] for each"
                    " (docs/experiments.md)")
    return f"{first}: one word too many for {command}; {ctx.command_path} --help says what it takes"


def _no_command(word: str, command: str, ctx: Any) -> str:
    """A word in place of a command of a group, such as a network after ``sim``."""
    names = [name for name, one in ctx.command.commands.items() if not one.hidden]
    near = hint(word, names)
    if not near and (":" in word or "." in word):
        near = f"did you mean {ctx.command_path} {names[0]} {word}? "
    return f"{word}: {command} has no such command; {near}{', '.join(names)}"


SHORT = {
    "vcs": "virtual_channels", "num_vcs": "virtual_channels", "vc_buf_size": "buffer_flits",
}
"""Words of other simulators for parameters of tables."""


def _in_table(word: str, simulator: str) -> str | None:
    """The parameter of a table of a simulator that has this name: ``switch.virtual_channels``."""
    word = SHORT.get(word, word)
    table = _core.table_with(getattr(_core, f"{simulator}_schema")(), word)
    return f"{table}.{word}" if table else None
