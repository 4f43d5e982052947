"""``python -m flyloom``: the command line without the installed program."""

from flyloom.cli import program

program()
