"""Translates SubRip or WebVTT subtitles: python3 srt.py FILM.srt COMMAND... > TRANSLATED.srt

COMMAND, such as tx-decode -m MODEL --markup html, gets a line for each cue; its translation gets as many
lines as before, broken at the spaces nearest to equal lengths. A line that begins with a dash is another
speaker's and translated alone. Tags are within the lines; a cue stays if its translation has others."""
import re

import markup
from document import run, unit

TIMES = r"[ \t]*[\d:.,]+[ \t]+-->[ \t]+[\d:.,]+[^\n]*\n"
CUE = re.compile(rf"(?m)^{TIMES}((?:(?!\d+[ \t\r]*\n{TIMES})[^\n]*\S[^\n]*(?:\n|\Z))+)")
SPEECH = re.compile(r"(?s)(?:\{[^}\n]*\}|[-–—\s])*(.+?)(?=\n[ \t]*[-–—]|\Z)")


def edits(text):
    escapes = (markup.decode, markup.encode) if text.startswith("WEBVTT") else ()
    for cue in CUE.finditer(text):
        for speech in SPEECH.finditer(text, *cue.span(1)):
            yield from unit(text, *speech.span(1), *escapes)


run(edits)
