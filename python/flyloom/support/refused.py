"""Refusals: what was meant, what they are about and what would be valid, each by itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from flyloom._core import RefusalError, did_you_mean

_PLACES = re.compile(r"(?:(?:[^\s:;']+|[^:;']*, line \d+[^:;']*): )+")
"""Words before colons at the beginning of a message: `file.toml: ebb: patterns: `."""


_LONG = re.compile(r"(did you mean [^?]*\?\)?);? (?:\w+: )?(?:[\w.:-]+, ){12,}.*", re.DOTALL)
"""What was meant, and a list of all that there is, of more than a dozen words."""


def shortened(message: str) -> str:
    """A message without the long list of all names behind the one that was probably meant."""
    return _LONG.sub(r"\1", message)


def hint(word: object, names: Iterable[str]) -> str:
    """``did you mean NAME? `` where one of ``names`` is near ``word``, or a few begin with it; else
    nothing."""
    return did_you_mean(str(word), list(names))


def none_such(what: str, word: object, names: Collection[str]) -> RefusalError:
    """The refusal of a word for ``what`` that is none of ``names``, with the nearest of them."""
    return RefusalError(f"{what}: there is no {str(word)!r}; {hint(word, names)}{', '.join(names)}")


def in_front(words: str, error: RefusalError) -> RefusalError:
    """The refusal with ``words`` and a colon in front of its message."""
    found = RefusalError(f"{words}: {error}")
    found.__dict__.update(vars(error))
    if (param := getattr(error, "param", None)) is not None:
        found.__dict__["param"] = f"{words}: {param}" if param else words
    return found


def parts(message: str, error: BaseException | None = None) -> dict[str, str | None]:
    """``param``, what a message is about (a parameter, an option or a file), and ``help``, what
    would be valid; None for what it does not say.

    What the core refuses has both; other messages are ``param: why; help``, too.
    """
    param, help_ = getattr(error, "param", None), getattr(error, "help", None)
    if isinstance(param, str) and isinstance(help_, str):
        return {"param": param or None, "help": help_ or None}
    if isinstance(error, OSError):
        name = error.filename
        return {"param": None if name is None else str(name), "help": None}
    if option := _of_command(error):
        return {"param": option, "help": None}
    return {"param": _param(message), "help": message.partition("; ")[2] or None}


def _param(message: str) -> str | None:
    """What stands before the colons that a message begins with."""
    if message.startswith("-"):
        return message.partition(":")[0].split()[0]
    places = _PLACES.match(message)
    return places[0].removesuffix(": ") if places else None


def _of_command(error: BaseException | None) -> str | None:
    """The option or argument about which the words of a command line are refused."""
    if named := getattr(error, "option_name", None):
        return str(named)
    param = getattr(error, "param", None)
    if names := getattr(param, "opts", None):
        shown = getattr(param, "metavar", None) if not names[0].startswith("-") else None
        return str(shown or max(names, key=len))
    return None
