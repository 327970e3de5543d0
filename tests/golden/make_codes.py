"""Writes codes.json: the output of subword-nmt 0.3.8, for codes_test.cpp.

    python3 make_codes.py > codes.json

Text and lines are in this file; subword-nmt learns merges from the text and segments the lines with
several options.
"""
import io
import json
import sys

from subword_nmt import apply_bpe, get_vocab, learn_bpe

TEXT = """
the lowest shelf holds the slower readers of the older books
a reader who reads slowly is no slow reader
the shelves are lower than the highest window of the reading room
newer books are higher up and the newest are on the highest shelf
readers of newer books read higher and higher
die höchsten regale sind höher als die fenster des lesesaals
der leser liest langsam und die langsamen leser lesen länger
lange bücher stehen länger in den längsten regalen
größere bücher sind schwerer und die größten sind am schwersten
ein buch für die leser und ein größeres für die vorleserin
"""

LINES = [
    "the slowest readers are readers",
    "die längsten bücher sind die schwersten",
    "vorlesen ist langsamer als lesen",
    "unknown: ж, 漢字, 😀 and a combining e\u0301",
    "a",
    "",
    "   ",
    "  spaces  before   and  behind  ",
    "\ttab\tinside\t",
    "carriage return\r",
    "in the\rmiddle",
    "next line\u0085inside and line separator\u2028inside, form\fvertical\vfile\x1cgroup\x1d",
    "no-break\u00a0space and \u3000ideographic",
    "@@ a@@ @@b reader@@",
    "reader</w> </w> <s> <unk>",
    "\u2581reader \u2581",
    "aaaaaaaaaa ererererer lelelelele",
    "BOOK Book book bookbook",
    "<name> reads<name>books <name>s <reader>reader<reader>",
    "1984 19 84 reader1984reader 84reader84",
    "zero\0byte",
    "٣٤ Buch٥ <é> <p>größe</p> <p></p> {name} {name}s a]x]] aab ab abab İstanbul ıI 中1 x² Ⅷ",
]

GLOSSARIES = ["book", r"<\w*>", r"\d\d|slow", "ö+h?"]

# Where regular expressions of Python differ from those of other languages.
EXPRESSIONS = [[e] for e in (r"\d+", r"\w+", r"<p>\w*</p>", r"\S+", "[]x]+", "[^]a]+", r"\Aab", "{name}", "a{,2}b",
               r"\w+\Z|[\W\d]", r"(?i:B)\B", r"\bn|é*", r"(?<!\w)l(?=\w)", r"[^\W\d]{,}\u00e9",
               r"\x61b|(?#a comment)k++", "(?i:[\u00c0-\u00ff]|R)", "[[:a]:|[a-]", r"r(?>a|ad)\D")]


def learn(merges):
    out = io.StringIO()
    learn_bpe.learn_bpe(io.StringIO(TEXT.strip()), out, merges)
    return out.getvalue()


def cut(codes, vocabulary, case):
    vocab = None
    if case["threshold"] is not None:
        vocab = apply_bpe.read_vocabulary(io.StringIO(vocabulary), case["threshold"])
    bpe = apply_bpe.BPE(io.StringIO(codes), case["merges"], case["separator"], vocab,
                        case["glossaries"] or None)
    return [[line, "".join(bpe.process_line(part) for part in line.splitlines(keepends=True))]
            for line in (LINES[17:] if case["glossaries"][:1] in EXPRESSIONS else LINES)]


def main():
    codes = {"0.2": learn(300)}
    codes["0.1"] = codes["0.2"].split("\n", 1)[1]
    first = io.StringIO()
    bpe = apply_bpe.BPE(io.StringIO(codes["0.2"]))
    get_vocab.get_vocab([bpe.process_line(line) for line in TEXT.strip().split("\n")[:5]], first)
    golden = {"codes": codes, "vocabulary": first.getvalue(), "cases": []}
    usual = {"codes": "0.2", "merges": -1, "separator": "@@", "threshold": None, "glossaries": []}
    for change in ({}, {"codes": "0.1"}, {"merges": 40}, {"separator": "~"}, {"threshold": 1},
                   {"threshold": 3}, {"threshold": 1, "codes": "0.1"}, {"threshold": 1000},
                   {"glossaries": GLOSSARIES},
                   {"glossaries": GLOSSARIES, "threshold": 2, "merges": 150},
                   *({"glossaries": e} for e in EXPRESSIONS)):
        case = {**usual, **change}
        case["lines"] = cut(codes[case["codes"]], golden["vocabulary"], case)
        golden["cases"].append(case)
    json.dump(golden, sys.stdout, indent=0)
    print()


main()
