"""Compares the tokens of the page of tx-attn-dump --html --live with those of tx-bpe encode.

    live_tokens_test.py TEXT MODEL PAGE [MODEL PAGE]...

The lines are those of TEXT, and some of unusual characters.
"""
import json
import random
import subprocess
import sys

from browser import Browser, fail

# U+2581, combining marks, compatibility forms, surrogate pairs, special tokens; spaces and controls.
UNUSUAL = """a e s the ing 12 3 ▁ ▁▁ ▁the @@ ä ß é é q̣̇ ｶﾞ ﬁ ① Ａ ½ ² … ™ Ⅷ ſ İ 각 각 ﷺ 猫 日本
العربية שלום हिन्दी ไทย 😀 👩‍👩‍👧 🇩🇪 👍🏽 <s> </s> <unk> <pad> <0x41> <mask> <extra_id_0> >>fra<< &amp; http://a.b \\ " '""".split()
UNUSUAL += list("   \t\0\x01\x7f\x85\xa0\u200b\u2003\u3000\ufeff\u2028\ufffd\U0010fffd\U0010fffc")


def unusual_lines():
    draw = random.Random(1)
    lines = ["".join(draw.choices(UNUSUAL, k=draw.choice((1, 2, 3, 5, 8, 13, 30))))
             for _ in range(400)]
    ranges = ((14, 128), (128, 2048), (2048, 0xD800), (0xE000, 0x110000))
    for _ in range(100):
        codes = (draw.randrange(*draw.choice(ranges)) for _ in range(draw.randrange(1, 9)))
        lines.append("".join(map(chr, codes)))
    return lines + ["a" * 2000, "ab" * 500, "猫" * 300, "Ä" * 100 + " b", " the  house ", "the"]


def check(page, model, lines):
    command = ["tx-bpe", "encode", "--ids", "-m", model]
    wanted = subprocess.run(command, input="\n".join(lines).encode(), check=True,
                            capture_output=True).stdout.decode().split("\n")
    page.value("globalThis.idsOf = async (line) => (await tx.tokenize(line)).ids.join(' '); null")
    for begin in range(0, len(lines), 200):
        part = lines[begin:begin + 200]
        got = page.value(f"Promise.all({json.dumps(part)}.map(idsOf))")
        for line, ids, right in zip(part, got, wanted[begin:]):
            if ids != right:
                fail(f"{model}: {line!r} becomes {ids} instead of {right}")


def check_fields(page):
    """What a field of the page can contain, but no line of a file: line breaks, half characters."""
    for text, same in (("the\nhouse", "the house"), ("the \ud800house", "the \ufffdhouse"),
                       (" \u3000\n ", "")):
        wanted = page.value(f"idsOf({json.dumps(same)})")
        page.expect(f"idsOf({json.dumps(text)})", wanted)


def main():
    text, *files = sys.argv[1:]
    with open(text, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")
    lines = [line for line in lines + unusual_lines() if line.strip()]  # tx-decode skips blank ones
    with Browser() as browser:
        for model, name in zip(files[::2], files[1::2]):
            page = browser.open(name)
            page.wait("window.tx !== undefined")
            check(page, model, lines)
            check_fields(page)
            page.expect_quiet()


main()
