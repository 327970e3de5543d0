"""Compares tx-bpe encode --codes with subword-nmt, byte for byte, on files and random lines.

    python3 tests/bench/peers/subword_nmt_equal.py BUILD [--merges 10000] FILE...

Learns codes from the files with subword-nmt, then segments with both programs: the files (with all
merges, some of them, a vocabulary at several thresholds, glossaries, codes of version 0.1) and 20,000
random lines of unusual characters. Ends with status 1 at the first difference. Needs subword-nmt.
"""
import argparse
import io
import os
import random
import subprocess
import sys
import tempfile

from subword_nmt import apply_bpe, get_vocab, learn_bpe

GLOSSARIES = [r"<\w*>", "man", "USA", r"\d\d|zwei", "é+x?"]


def learn(texts, merges, path):
    with open(path, "w", encoding="utf-8") as out:
        learn_bpe.learn_bpe(io.StringIO("\n".join(texts)), out, merges)


def expected(lines, codes, **options):
    vocabulary = options.pop("vocabulary", None)
    if vocabulary:
        with open(vocabulary[0], encoding="utf-8") as file:
            options["vocab"] = apply_bpe.read_vocabulary(file, vocabulary[1])
    with open(codes, encoding="utf-8") as file:
        bpe = apply_bpe.BPE(file, **options)
    # subword-nmt's command splits lines by str.splitlines().
    return ["".join(bpe.process_line(part) for part in line.splitlines(keepends=True))
            for line in lines]


def answered(tool, lines, codes, **options):
    command = [tool, "encode", "--codes", codes]
    if "vocabulary" in options:
        path, threshold = options["vocabulary"]
        command += ["--vocabulary", path, "--vocabulary-threshold", str(threshold)]
    for name in ("merges", "separator"):
        if name in options:
            command += ["--" + name, str(options[name])]
    for entry in options.get("glossaries", []):
        command += ["--glossaries", entry]
    text = "".join(line + "\n" for line in lines).encode()
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True)
    return done.stdout.decode().split("\n")[:-1]


def compare(tool, name, lines, codes, **options):
    wanted = expected(lines, codes, **dict(options))
    got = answered(tool, lines, codes, **options)
    for number, (line, left, right) in enumerate(zip(lines, wanted, got), 1):
        if left != right:
            sys.exit(f"{name}: line {number} differs\n  text        {line!r}\n"
                     f"  subword-nmt {left!r}\n  tx-bpe      {right!r}")
    if len(wanted) != len(got):
        sys.exit(f"{name}: {len(got)} lines instead of {len(wanted)}")
    print(f"{name}: {len(lines)} lines equal")


def random_lines(count, words):
    odd = [" ", "  ", "\t", "\r", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\u2028", "\u2029",
           "\u00a0", "\u3000", "@@", "@@ ", "</w>", "<s>", "USA", "man", "12", "zwei", "é", "éé",
           "ü", "😀", "\u2581", "\0", "\ufeff", "ß"]
    for _ in range(count):
        parts = (random.choice(odd) if random.random() < 0.5 else random.choice(words)
                 for _ in range(random.randrange(12)))
        yield random.choice(["", " "]).join(parts).replace("\n", " ")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--merges", type=int, default=10000)
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    tool = os.path.join(args.build, "bin", "tx-bpe")
    random.seed(1)
    texts = {name: open(name, encoding="utf-8", newline="\n").read().split("\n")[:-1]
             for name in args.files}
    with tempfile.TemporaryDirectory() as room:
        codes, old, counts = (os.path.join(room, n) for n in ("codes", "old", "counts"))
        learn(sum(texts.values(), []), args.merges, codes)
        with open(old, "w", encoding="utf-8") as out:
            out.writelines(open(codes, encoding="utf-8").readlines()[1:])
        everything = sum(texts.values(), [])
        with open(counts, "w", encoding="utf-8") as out:
            get_vocab.get_vocab(expected(everything[::2], codes), out)
        words = sorted({word for line in everything[::50] for word in line.split()})
        texts["random"] = list(random_lines(20000, words))
        for name, lines in texts.items():
            compare(tool, name, lines, codes)
            compare(tool, name + ", version 0.1", lines, old)
            compare(tool, name + ", some merges", lines, codes, merges=500, separator="##")
            for threshold in (1, 5, 50):
                compare(tool, f"{name}, counted {threshold} times", lines, codes,
                        vocabulary=(counts, threshold))
            compare(tool, name + ", glossaries", lines, codes, glossaries=GLOSSARIES)
            compare(tool, name + ", all", lines, old, glossaries=GLOSSARIES, merges=2000,
                    vocabulary=(counts, 3))


main()
