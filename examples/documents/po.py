"""Fills the empty translations of a gettext catalogue:

    python3 po.py MESSAGES.po COMMAND... > FILLED.po

COMMAND, such as tx-decode -m en-de, reads the lines of the messages, without escapes, and writes their
translations. msgstr[0] gets the translation of msgid, other plural forms get that of msgid_plural. A
message stays empty if it has a flag such as c-format and its translation has other placeholders.
Everything else stays: the header, translations, fuzzy flags, obsolete messages, comments."""
import re

from document import run
from markup import has_letters

STRINGS = r'"(?:[^"\\\n]|\\.)*"(?:\s*\n[ \t]*"(?:[^"\\\n]|\\.)*")*'
MESSAGE = re.compile(rf"((?:^#(?!~)[^\n]*\n)*)(?:^msgctxt\s*{STRINGS}\s*)?^msgid\s*({STRINGS})\s*"
                     rf"(?:^msgid_plural\s*({STRINGS})\s*)?((?:^msgstr[^\"\n]*{STRINGS}\s*)+)", re.M)
PLACEHOLDER = r"%(?:\([^)]*\)|\d+\$)?[-+ #0]*[\d*]*(?:\.[\d*]+)?[hlLqjzt]*[A-Za-z%]|\{[^{}]*\}"
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
    charset = re.search(r"charset=(?!utf-?8)[\w-]+", text, re.I)
    if charset:
        raise ValueError(f"{charset[0]}: convert it by msgconv -t UTF-8")
    newline = "\r\n" if "\r\n" in text else "\n"
    for message in MESSAGE.finditer(text):
        checked = re.search(r"(?m)^#,.*[ ,](?!no-)[a-z-]+-format", message[1])
        for target in re.finditer(rf"msgstr(\[[1-9]\d*\])?[^\"\n]*({STRINGS})", message[4]):
            source = decode(message[3] if target[1] and message[3] else message[2])
            if not source or decode(target[2]):
                continue
            parts = re.split(r"(\s*\n\s*|^\s+|\s+\Z)", source)
            lines = [part for part in parts if has_letters(re.sub(PLACEHOLDER, "", part))]

            def put(answers, parts=parts, lines=lines, checked=checked, source=source):
                answers = iter(answers)
                new = "".join(next(answers) if part in lines else part for part in parts)
                if not checked or found(new) == found(source):
                    return encode(new, newline)
            if lines:
                at = message.start(4)
                yield at + target.start(2), at + target.end(2), lines, put


def found(text):
    return sorted(re.findall(PLACEHOLDER, text))


if __name__ == "__main__":
    run(edits)
