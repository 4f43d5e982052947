"""``python -m flyloom.cli``: the command line without the installed program."""

from flyloom.cli import program

program()
