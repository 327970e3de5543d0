r"""Translates a Markdown document (CommonMark, tables, front matter):

    python3 markdown.py PAGE.md COMMAND... > TRANSLATED.md

COMMAND, such as tx-decode -m en-de, reads a line for each paragraph, heading, list item and table cell,
and writes its translation, which gets as many lines as before. A link is <a id="N">its text</a> in the
line; code, images and addresses are <x id="N"/>; emphasis and HTML tags stay as they are. A unit whose
translation has other tags is not translated. Code blocks, front matter and link definitions stay."""
import re

import html_page
from document import run, unit
from markup import hide, show

HTML = (r"</?(?:address|article|aside|blockquote|body|center|d[dlt]|details|div|fig\w+|footer|form|h\d|header"
        r"|hr|html|li|main|nav|ol|p|section|summary|t[dhr]|table|tbody|tfoot|thead|ul)\b")
ITEM = r"(?:[-*+]|\d+[.)])[ \t]+"
RULE = r"(?:[-=*_][ \t]*){2,}\r?$"
START = rf"[ \t>]*(?:(?:[-*+]|\d+[.)])(?:[ \t]|\r?$)|\#{{1,6}}[ \t]|```|~~~|\||{HTML}|<!--|{RULE}|\r?$)"
BLOCK = re.compile(rf"""(?smx)
    \A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$
    | ^[ \t>]*(?:{ITEM})*(?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}}).*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*\r?$|\Z)
    | ^[ \t>]*{RULE} | ^[ ]{{0,3}}\[(?!\^)[^]\n]+\]:[^\n]*
    | ^[ ]{{0,3}}(?:<!--.*?-->|<(?P<raw>pre|script|style)\b.*?</(?P=raw)>)
    | ^(?P<html>[ ]{{0,3}}{HTML}[^\n]*(?:\n[^\n]*[^\s][^\n]*)*)
    | ^(?P<table>[^\n]*\|[^\n]*\n(?=[^\n]*\|)[ >|:-]*-[ >|:-]*\r?$(?:\n[^\n]*\|[^\n]*)*)
    | ^(?P<indent>[ \t]*)(?P<quote>>[ \t>]*)?(?P<item>(?:{ITEM})*)(?:\[[ xX]\][ \t]+|\[\^[^]\n]+\]:[ \t]+)?
      (?P<heading>\#{{1,6}}[ \t]+)?(?P<text>[^\s][^\r\n]*
      (?(heading)|(?:(?<![ ]{{2}})(?<!\\)\r?\n(?!{START})(?(quote)|(?![ \t]*>))[^\r\n]+)*))""")
KEPT = (r"(`+)(?!`).+?(?<!`)\1(?!`)|!\[[^]]*\](?:\([^()]*\)|\[[^]]*\])|<(?:https?:|mailto:)[^>]*>|\[\^[^]]+\]"
        r"|https?://[^\s<>()\]]*[^\s<>()\].,;:!?*_\"']")
LINK = r"(?<!\\)\[((?:[^][\\]|\\.|\[[^][]*\])*)\](\((?:[^()]|\([^()]*\))*\)|\[[^]]*\])?"


def phrase(text, start, end, labels):
    kept, targets = [], []

    def decode(old):
        line, kept[:] = hide(old, KEPT)
        targets.clear()
        return re.sub(LINK, link, line)

    def link(match):
        short = match[2] in (None, "[]")  # [text] or [text][], which refers to [text]: address
        if short and show(match[1], kept).lower() not in labels:
            return match[0]
        targets.append(f"[{match[1]}]" if short else match[2])
        return f'<a id="{len(targets) - 1}">{match[1]}</a>'

    def encode(line):
        line = re.sub(r'(?s)<a id="(\d+)">(.*?)</a>', lambda m: f"[{m[2]}]{targets[int(m[1])]}", line)
        return show(line, kept)
    around = re.compile(rf"(?s)\s*(?:{LINK[:-1]}|(\*\*|__|[*_])(?=\S)((?:(?!\3).)+)\3)\s*").fullmatch(text, start, end)
    if around and around[2] != "[]":
        return phrase(text, *around.span(4 if around[4] else 1), labels)
    return unit(text, start, end, decode, encode, r"[ \t]*\r?\n[ \t>]*")


def edits(text):
    labels = {match[1].lower() for match in re.finditer(r"(?m)^ {0,3}\[([^]\n]+)\]:", text)}
    item, at, code = 0, 0, False
    for block in BLOCK.finditer(text):
        code = code or not at or text.count("\n", at, block.start()) > 1
        at = block.end()
        width = len((block["indent"] or "").expandtabs(4))
        code = code and width >= item + 4
        if block["html"]:
            yield from html_page.edits(text, *block.span("html"))
        for cell in re.finditer(r"(?:\\.|[^|\\\n])+", block["table"] or ""):
            yield from phrase(text, *(block.start("table") + at for at in cell.span()), labels)
        if block["text"] and not code:
            yield from phrase(text, *block.span("text"), labels)
            item = width + len(block["item"]) if block["item"] else min(item, width)


if __name__ == "__main__":
    run(edits)
