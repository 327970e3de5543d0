"""Translates text of one sentence per line:

    python3 text.py TEXT COMMAND... > TRANSLATED

COMMAND, such as tx-decode -m en-de, reads the lines that have letters and writes their translations.
Empty lines between paragraphs, indentation and CR at the ends of lines stay."""
import re

from document import run, unit


def edits(text):
    for line in re.finditer(r"[^\n]+", text):
        yield from unit(text, *line.span())


if __name__ == "__main__":
    run(edits)
