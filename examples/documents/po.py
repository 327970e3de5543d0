"""Fills a gettext catalogue: python3 po.py MESSAGES.po COMMAND... > FILLED.po

COMMAND, such as tx-decode -m MODEL --markup printf, gets the lines of messages without translation,
without escapes. msgstr[0] gets the translation of msgid, other plural forms that of msgid_plural. A
message with a flag such as c-format stays empty if its translation has other placeholders."""
import re

from document import run
from markup import has_letters

STRINGS = r'"(?:[^"\\\n]|\\.)*"(?:\s*\n[ \t]*"(?:[^"\\\n]|\\.)*")*'
MESSAGE = re.compile(rf"((?:^#(?!~)[^\n]*\n)*)(?:^msgctxt\s*{STRINGS}\s*)?^msgid\s*({STRINGS})\s*"
                     rf"(?:^msgid_plural\s*({STRINGS})\s*)?((?:^msgstr[^\"\n]*{STRINGS}\s*)+)", re.M)
PLACEHOLDER = r"%(?:\([^)]*\)|\d+\$)?[-+ #0]*[\d*]*(?:\.[\d*]+)?[hlLqjzt]*[A-Za-z%]|%L?\d+|\{[^{}]*\}"
ESCAPES = dict(zip('ntrabfv"\\', '\n\t\r\a\b\f\v"\\'))
LETTERS = {character: letter for letter, character in ESCAPES.items()}


def decode(strings):
    text = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', strings))
    return re.sub(r"\\([0-7]{1,3}|.)", lambda m: ESCAPES.get(m[1]) or chr(int(m[1], 8)), text)


def encode(text, newline):
    quoted = ['"' + re.sub(r'[\0-\x1f"\\]', escape, line) + '"' for line in re.findall(".*\n|.+", text)]
    return newline.join(quoted if len(quoted) == 1 else ['""'] + quoted)


def escape(match):
    return "\\" + (LETTERS.get(match[0]) or f"{ord(match[0]):03o}")


def edits(text):
    charset = re.search(r'(?im)^"Content-Type:.*(charset=(?!utf-?8)[\w-]+)', text)
    if charset:
        raise ValueError(f"{charset[1]}: convert it by msgconv -t UTF-8")
    newline = "\r\n" if "\r\n" in text else "\n"
    for message in MESSAGE.finditer(text):
        checked = re.search(r"(?m)^#,.*[ ,](?!no-)[a-z-]+-format", message[1])
        for target in re.finditer(rf"msgstr(\[[1-9]\d*\])?[^\"\n]*({STRINGS})", message[4]):
            source = decode(message[3] if target[1] and message[3] else message[2])
            parts = re.split(r"(\s*\n\s*|^\s+|\s+\Z)", source)
            lines = [part for part in parts if has_letters(re.sub(PLACEHOLDER, "", part))]

            def put(answers, parts=parts, lines=lines, checked=checked, source=source):
                answers = iter(answers)
                new = "".join(next(answers) if part in lines else part for part in parts)
                if not checked or found(new) == found(source):
                    return encode(new, newline)
            if lines and not decode(target[2]):
                yield *(message.start(4) + at for at in target.span(2)), lines, put


def found(text):
    """The placeholders, and in their order those without a number or name."""
    every = re.findall(PLACEHOLDER, text)
    return sorted(every), [one for one in every if not re.match(r"%(\(|\d+\$|%|L?\d+$)|\{", one)]


run(edits)
