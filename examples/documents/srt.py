"""Translates subtitles in SubRip (.srt) or WebVTT (.vtt):

    python3 srt.py FILM.srt COMMAND... > TRANSLATED.srt

COMMAND, such as tx-decode -m en-de, reads a line for each cue and writes its translation. A cue has as
many lines as before, broken at the spaces nearest to equal lengths. Lines that begin with a dash are
another speaker's, and translated alone. Tags are within the lines; a cue whose translation has
other tags stays as it is. Numbers, times, settings and positions ({\\an8}) stay, too."""
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


if __name__ == "__main__":
    run(edits)
