"""Translates an HTML page: python3 html_page.py PAGE.html COMMAND... > TRANSLATED.html

COMMAND, such as tx-decode -m MODEL --markup html, gets a line for each block of text. Inline tags (a, b,
br, code, span ...) are within the lines; a block stays if its translation has other tags. Attributes,
comments, script, style, pre, textarea, svg and math stay."""
import re

from document import run, unit
from markup import TAG, decode, encode

TOKEN = re.compile(r"(?is)<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?\]\]>"
                   r"|<(script|style|pre|textarea|svg|math)\b.*?(?:</\1\s*>|\Z)|" + TAG)
INLINE = re.compile(r"(?i)</?(?:a|abbr|acronym|b|bd[io]|big|br|cite|code|data|del|dfn|em|font|i|img|ins|kbd"
                    r"|label|mark|q|r[tp]|ruby|s|samp|small|span|strike|strong|su[bp]|time|tt|u|var|wbr)\b")


def edits(text, start=0, end=None):
    end = len(text) if end is None else end
    for token in TOKEN.finditer(text, start, end):
        if not INLINE.match(token[0]):
            yield from unit(text, start, token.start(), decode, encode)
            start = token.end()
    yield from unit(text, start, end, decode, encode)


if __name__ == "__main__":
    run(edits)
