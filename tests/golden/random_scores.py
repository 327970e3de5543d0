#!/usr/bin/env python3
"""Compares tx-bleu and sacreBLEU on random texts; ends with status 1 at a difference.

usage: random_scores.py TX-BLEU [SEED [SEGMENTS]]      (pip install sacrebleu==2.6.0 sentencepiece)

Every setting of make_scores.py, with one and two references: the statistics of each segment and the
corpus score with 12 decimals.
"""
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import unicodedata

from make_scores import SETTINGS, expected, random_text

MODEL = pathlib.Path(__file__).parent / "scores.model"
OPTIONS = {
    "tokenizer": "--tokenize", "smoothing": "--smooth", "smoothing_value": "--smooth-value",
    "max_order": "--max-order", "effective_order": "--effective-order",
    "char_order": "--chrf-char-order", "word_order": "--chrf-word-order", "beta": "--chrf-beta",
    "space": "--chrf-whitespace", "eps_smoothing": "--chrf-eps-smoothing",
    "case_sensitive": "--ter-case-sensitive", "normalize": "--ter-normalized",
    "no_punctuation": "--ter-no-punct", "asian": "--ter-asian-support",
}


def random_character(source):
    limit = source.choice([0x80, 0x250, 0x3000, 0xD800, 0x20000, 0x110000])
    code = source.randrange(limit)
    # Characters that this Python knows: the package regex, which sacreBLEU's "intl" uses, and
    # tx's table may be of newer versions of Unicode.
    known = unicodedata.category(chr(code)) not in ("Cn", "Cs")
    return chr(code) if code != 10 and known else "."


def few_dots(text):
    # "...." is a tie between the subwords "..." and "." in either order, which versions of
    # SentencePiece (0.1.97 and 0.2.3) round differently.
    return re.sub(r"\.{4,}", "...", text)


def segments(source, count):
    for _ in range(count):
        hypotheses, references = random_text(source, 120)
        hypothesis, reference = hypotheses[0], references[0][0]
        if source.random() < 0.5:
            strange = "".join(random_character(source) for _ in range(source.randrange(20)))
            hypothesis, reference = hypothesis + strange, strange[::2] + reference
        yield few_dots(hypothesis), [few_dots(reference), few_dots(references[-1][0][:40])]


def words_of(setting):
    words = ["--metric", setting["metric"]]
    for key, value in setting.items():
        if key == "metric":
            continue
        name = "--chrf-lowercase" if (key, setting["metric"]) == ("lowercase", "chrf") else \
            OPTIONS.get(key, "--" + key)
        words += [name] if value is True else [name, str(value)]
    if setting.get("tokenizer") == "flores101":
        words += ["-m", str(MODEL)]
    return words


def run(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\n")


def differences(tool, setting, hypotheses, references, files):
    line, rows = expected(hypotheses, references, setting, MODEL)
    command = [tool, "--force", *words_of(setting), "-i", files[0], *files[1:1 + len(references)]]
    # The hash of a SentencePiece model, which tx-bleu adds to the signature (tests/cli/tx-bleu/signature.sh).
    ours = re.sub(r"(\|tok:[^|\[]+)\[[0-9a-f]{16}\]", r"\1", run([*command, "--digits", "12"])[0])
    if ours != line:
        yield f"tx-bleu:   {ours}\nsacrebleu: {line}"
    for i, (text, row) in enumerate(zip(run([*command, "--stats"])[1:], rows)):
        if [float(x) for x in text.split()[1:]] != [float(x) for x in row]:
            yield f"{hypotheses[i]!r}\n{[r[i] for r in references]!r}\n{text}\n{row}"


def main():
    tool, seed, count = sys.argv[1], *(int(x) for x in [*sys.argv[2:], 1, 200][:2])
    texts = list(segments(random.Random(seed), count))
    hypotheses = [hypothesis for hypothesis, _ in texts]
    references = [[pair[i] for _, pair in texts] for i in range(2)]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        files = [str(pathlib.Path(folder) / name) for name in ("hyp", "one", "two")]
        for path, lines in zip(files, [hypotheses, *references]):
            pathlib.Path(path).write_bytes("".join(line + "\n" for line in lines).encode())
        for setting in SETTINGS:
            for sides in (1, 2):
                for text in differences(tool, setting, hypotheses, references[:sides], files):
                    print(f"{setting}, {sides} references, seed {seed}:\n{text}\n")
                    failed = True
                    break
    if failed:
        sys.exit(1)
    print(f"{2 * len(SETTINGS)} settings x {count} segments agree")


if __name__ == "__main__":
    main()
