"""Translates text of one sentence per line: python3 text.py TEXT COMMAND... > TRANSLATED

COMMAND, such as tx-decode -m MODEL, gets the lines that have letters. Indentation and CR stay."""
import re

from document import run, unit


def edits(text):
    for line in re.finditer(r"[^\n]+", text):
        yield from unit(text, *line.span())


run(edits)
