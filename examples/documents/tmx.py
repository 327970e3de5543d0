"""Fills a translation memory (TMX): python3 tmx.py MEMORY.tmx LANGUAGE COMMAND... > FILLED.tmx

COMMAND, such as tx-decode -m MODEL --markup html, gets a line for each unit without a segment of LANGUAGE.
Its translation fills an empty segment, or becomes a new variant (tuv) after the source. Codes (ph, bpt,
ept, it, ut) are <x id="N"/> in the lines. A translation must have the same tags and be well-formed."""
import html
import re
import sys
from xml.etree import ElementTree

from document import run
from markup import TAG, decode, encode, has_letters, hide, same_tags, show

UNIT = re.compile(rf"(?s)<!--.*?-->|(?P<tag>(?=<tu\s|<tu>){TAG}).*?</tu\s*>")
VARIANT = re.compile(rf"(?s)<!--.*?-->|(?P<space>\s*)(?P<tag>(?=<tuv\s){TAG}).*?</tuv\s*>")
SEGMENT = re.compile(r"(?s)<seg\s*/>|<seg\b[^>]*>(.*?)</seg\s*>")
CODES = r"(?s)<(ph|bpt|ept|it|ut)\b(?:[^>]*/>|.*?</\1\s*>)"
CDATA = r"(?s)<!\[CDATA\[(.*?)\]\]>"


def language(tag):
    found = re.search(r"""\s(?:xml:|src)?lang\s*=\s*["']([^"']*)""", tag)
    return found[1].lower() + "-" if found else ""


def first(variants, code):
    """The first variant in a language; de- is also de-at-, and the other way round."""
    return next((v for v in variants for its in [language(v["tag"])]
                 if its.startswith(code) or code.startswith(its)), None)


def edits(text):
    header = re.search(rf"(?=<header\s){TAG}|\Z", text)[0]
    for unit in filter(lambda found: found["tag"], UNIT.finditer(text)):
        variants = [found for found in VARIANT.finditer(text, *unit.span()) if found["tag"]]
        code = language(unit["tag"]) or language(header)
        source = first(variants, "" if code == "*all*-" else code)
        target = first(variants, TARGET.lower() + "-")
        segment = source and SEGMENT.search(text, *source.span())
        empty = target and SEGMENT.search(text, *target.span())
        if not segment or empty and (empty[1] or "").strip():
            continue
        old = re.sub(CDATA, lambda m: html.escape(m[1], quote=False), segment[1] or "")
        kept = []
        line = hide(decode(" ".join(old.split())), CODES, kept)

        def put(answers, line=line, kept=kept, empty=empty, source=source):
            segment = f"<seg>{show(encode(answers[0]), kept)}</seg>"
            try:
                ElementTree.fromstring(segment)
            except ElementTree.ParseError:
                return None
            new = segment if empty else f'{source["space"]}<tuv xml:lang="{TARGET}">{segment}</tuv>'
            return new if same_tags(answers[0], line) else None
        if has_letters(line):
            yield *(empty.span() if empty else (source.end(), source.end())), [line], put


TARGET = sys.argv.pop(2) if len(sys.argv) > 2 else ""
run(edits)
