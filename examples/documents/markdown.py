r"""Translates Markdown: python3 markdown.py PAGE.md COMMAND... > TRANSLATED.md

COMMAND, such as tx-decode -m MODEL --markup html, gets a line for each paragraph, heading, list item and
table cell. A link is <a id="N">its text</a> in the line; code, images and addresses are <x id="N"/>. A unit
stays if its translation has other tags. Code blocks, front matter and link definitions stay."""
import re

import html_page
from document import run, unit
from markup import hide, show

HTML = r"</?(?:blockquote|center|d[dlt]|details|div|fig\w+|h[\dr]|[ou]l|li|p|summary|t(?:able|body|head|[dhr]))\b"
ITEM, RULE = r"(?:[-*+]|\d+[.)])[ \t]+", r"(?:[-=*_][ \t]*){2,}\r?$"
START = rf"[ \t>]*(?:(?:[-*+]|\d+[.)])(?:[ \t]|\r?$)|\#{{1,6}}[ \t]|```|~~~|\||{HTML}|<!--|{RULE}|\r?$)"
BLOCK = re.compile(rf"""(?smx) \A---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$
    | ^[ \t>]*(?:{ITEM})*(?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}}).*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*\r?$|\Z)
    | ^[ \t>]*{RULE} | ^[ ]{{0,3}}(?:\[(?!\^)[^]\n]+\]:[^\n]*|<!--.*?-->|<(?P<raw>pre|script|style)\b.*?</(?P=raw)>)
    | ^(?P<html>[ ]{{0,3}}{HTML}[^\n]*(?:\n[^\n]*[^\s][^\n]*)*)
    | ^(?P<table>[^\n]*\|[^\n]*\n(?=[^\n]*\|)[ >|:-]*-[ >|:-]*\r?$(?:\n[^\n]*\|[^\n]*)*)
    | ^(?P<indent>[ \t]*)(?P<quote>>[ \t>]*)?(?P<item>(?:{ITEM})*)(?:\[(?:[ xX]\]|\^[^]\n]+\]:)[ \t]+)?
      (?P<heading>\#{{1,6}}[ \t]+)?(?P<text>[^\s][^\r\n]*
      (?(heading)|(?:(?<![ ]{{2}})(?<!\\)\r?\n(?!{START})(?(quote)|(?![ \t]*>))[^\r\n]+)*))""")
KEPT = (r"(`+)(?!`).+?(?<!`)\1(?!`)|!\[[^]]*\](?:\([^()]*\)|\[[^]]*\])|\[\^[^]]+\]"
        r"|<(?:https?:|mailto:)[^>]*>|https?://[^\s<>()\]]*[^\s<>()\].,;:!?*_\"']")
LINK = r"(?<!\\)\[((?:[^][\\]|\\.|\[[^][]*\])*)\](\((?:[^()]|\([^()]*\))*\)|\[[^]]*\])?"
AROUND = re.compile(rf"(?s)\s*(?:{LINK[:-1]}|(\*\*|__|[*_])(?=\S)((?:(?!\3).)+)\3)\s*")


def phrase(text, start, end, labels):
    around = AROUND.fullmatch(text, start, end)
    if around and around[2] != "[]":
        return phrase(text, *around.span(4 if around[4] else 1), labels)
    kept = []

    def link(match):
        target = match[2] if match[2] not in (None, "[]") else f"[{match[1]}]"  # [text] or [text][]
        if target != match[2] and show(match[1], kept).lower() not in labels:
            return match[0]
        kept.append(show(target, kept))
        return f'<a id="{len(kept)}">{match[1]}</a>'
    return unit(text, start, end, lambda old: re.sub(LINK, link, hide(old, KEPT, kept)), lambda new: show(
        re.sub(r'(?s)<a id="(\d+)">(.*?)</a>', r'[\2]<x id="\1"/>', new), kept), r"[ \t]*\r?\n[ \t>]*")


def edits(text):
    labels = {match[1].lower() for match in re.finditer(r"(?m)^ {0,3}\[([^]\n]+)\]:", text)}
    item, at, code = 0, 0, True  # code: this block is indented code
    for block in BLOCK.finditer(text):
        width = len((block["indent"] or "").expandtabs(4))
        code, at = width >= item + 4 and (code or text.count("\n", at, block.start()) > 1), block.end()
        if block["html"]:
            yield from html_page.edits(text, *block.span("html"))
        for cell in re.finditer(r"(?:\\.|[^|\\\n])+", block["table"] or ""):
            yield from phrase(text, *(block.start("table") + at for at in cell.span()), labels)
        if block["text"] and not code:
            yield from phrase(text, *block.span("text"), labels)
            item = width + len(block["item"]) if block["item"] else min(item, width)


run(edits)
