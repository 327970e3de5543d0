#!/usr/bin/env python3
"""Writes lib/base/unicode_categories.inc: which characters are numbers (N), punctuation (P) and
symbols (S) by the package regex, which sacreBLEU's tokeniser "intl" uses.

usage: make_categories.py > lib/base/unicode_categories.inc      (pip install regex)
"""
import regex

CATEGORIES = "NPS"


def category(code):
    character = chr(code)
    for name in CATEGORIES:
        if regex.match(r"\p{%s}" % name, character):
            return name
    return None


def ranges():
    first = None
    for code in range(0x110000 + 1):
        now = category(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else None
        if first is not None and now != first[1]:
            yield first[0], code - 1, first[1]
            first = None
        if now is not None and first is None:
            first = code, now


def main():
    print(f"// Made by tests/golden/make_categories.py with regex {regex.__version__}.")
    line = ""
    for first, last, name in ranges():
        item = f"{{0x{first:X}, 0x{last:X}, {name}}},"
        if len(line) + len(item) + 1 > 100:
            print(line)
            line = ""
        line += (" " if line else "") + item
    print(line)


if __name__ == "__main__":
    main()
