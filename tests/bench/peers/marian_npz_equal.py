#!/usr/bin/env python3
"""Compares converted models that Marian trained with Marian.

usage: marian_npz_equal.py BIN    (pip install pymarian)

Small models of every supported form are trained to reverse sentences of number words. Compares log P
of given translations, and translations by greedy search and a beam of 4. Marian stops at three times
the length of the source: of outputs that it cuts, only the beginning is compared. With pre-norm,
Marian 1.12 does not normalise the keys and values that it caches in translation, so its translations
and its scores disagree: only log P is compared then. BIN is the directory of the tools.
"""
import os
import random
import subprocess
import sys
import tempfile

SPM = "--normalization_rule_name=identity --model_type=bpe --byte_fallback=false"
EN = "zero one two three four five six seven eight nine".split()
DE = "null eins zwei drei vier f\u00fcnf sechs sieben acht neun".split()
SSRU = "--transformer-decoder-autoreg rnn --dec-cell ssru"
PRE = "--transformer-preprocess n --transformer-postprocess da --transformer-postprocess-top n"
FORMS = {  # vocabularies of both sides, the largest of their lengths, options
    "tied": ("vocab.spm", "vocab.spm", 60, "--tied-embeddings-all"),
    "pre": ("vocab.en.yml", "vocab.de.yml", 0,
            "--tied-embeddings --transformer-ffn-activation relu " + PRE),
    "untied": ("vocab.en.spm", "vocab.de.spm", 50,
               "--transformer-ffn-activation gelu --output-omit-bias"),
    "tied-src": ("vocab.spm", "vocab.spm", 60, "--tied-embeddings-src --enc-depth 3"),
    "tied-both": ("vocab.spm", "vocab.spm", 60, "--tied-embeddings-src --tied-embeddings"),
    "pre-deep": ("vocab.spm", "vocab.spm", 60,
                 "--tied-embeddings-all --enc-depth 2 --dec-depth 3 " + PRE),
    "ssru": ("vocab.spm", "vocab.spm", 60, "--tied-embeddings-all " + SSRU),
    "ssru-pre": ("vocab.en.spm", "vocab.de.spm", 50, f"--tied-embeddings --dec-depth 2 {SSRU} {PRE}"),
    "words": ("vocab.yml", "vocab.yml", 0, "--tied-embeddings-all --transformer-heads 4"),
}


def pairs(seed, count):
    r = random.Random(seed)
    for _ in range(count):
        numbers = [r.randrange(10) for _ in range(r.randint(1, 6))]
        yield (" ".join(EN[n] for n in numbers) + " .",
               " ".join(DE[n] for n in reversed(numbers)) + " .")


def write(path, lines):
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in lines)


def marian(command, *arguments, text=None):
    run = subprocess.run([sys.executable, "-m", "pymarian", command, "--quiet", *map(str, arguments)],
                         input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"marian {command} failed:\n{run.stderr}")
    return run.stdout.splitlines()


class Model:
    """A trained model in `folder`: model.npz, its vocabularies, and the files that Marian writes."""

    def __init__(self, folder, form, d=16, epochs=20):
        os.makedirs(folder)
        source, target, size, options = FORMS[form]
        self.folder = folder
        self.vocabularies = [os.path.join(folder, v) for v in (source, target)]
        text = [os.path.join(folder, name) for name in ("train.en", "train.de")]
        lines = list(zip(*pairs(1, 4000)))
        for path, side in zip(text, lines):
            write(path, side)
        for option, value in (("enc-depth", 1), ("dec-depth", 1), ("transformer-heads", 2)):
            if option not in options:
                options += f" --{option} {value}"
        marian("train", "--type", "transformer", "-m", self.path("model.npz"), "-t", *text, "-v",
               *self.vocabularies, "--dim-vocabs", size, size, "--sentencepiece-options", SPM,
               "--dim-emb", d, "--transformer-dim-ffn", 3 * d // 2, "--mini-batch", 32,
               "-l", 0.006, "--after", f"{epochs}e", "--cpu-threads", 1, "--workspace", 300, "--seed", 7,
               *options.split())
        for path in text:
            os.remove(path)

    def path(self, name):
        return os.path.join(self.folder, name)

    def log_p(self, sources, targets):
        files = [self.path("lines.en"), self.path("lines.de")]
        for path, lines in zip(files, (sources, targets)):
            write(path, lines)
        found = marian("score", "-m", self.path("model.npz"), "-v", *self.vocabularies, "-t", *files,
                       "--cpu-threads", 1)
        for path in files:
            os.remove(path)
        return [float(x) for x in found]

    def translate(self, sources, beam):
        return marian("decode", "-m", self.path("model.npz"), "-v", *self.vocabularies, "-b", beam,
                      "--cpu-threads", 1, text="".join(s + "\n" for s in sources))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tools = sys.argv[1]
    wrong = 0
    sources, targets = zip(*pairs(5, 60))
    targets = targets[:30] + targets[:30]  # half of them are right
    for form in FORMS:
        with tempfile.TemporaryDirectory() as work:
            model = Model(os.path.join(work, "m"), form)
            converted = os.path.join(work, "m.safetensors")
            subprocess.run([tools + "/tx-convert", "-q", "-o", converted, model.folder], check=True)
            for name, lines in (("en", sources), ("de", targets)):
                write(os.path.join(work, name), lines)

            def decode(*options):
                return subprocess.run(
                    [tools + "/tx-decode", "-q", "-m", converted, "--precision", "fp32", *options,
                     os.path.join(work, "en")], check=True, capture_output=True, text=True,
                ).stdout.splitlines()

            ours = [float(line.split("\t")[1]) for line in decode("--tgt", os.path.join(work, "de"))]
            theirs = model.log_p(sources, targets)
            worst = max(abs(a - b) / max(1, abs(b)) for a, b in zip(ours, theirs))
            same = []
            for beam in () if form.startswith("pre") else (1, 4):
                a = decode("--beam", str(beam), "--alpha", "0")
                b = model.translate(sources, beam)
                same.append(sum(x == y or (not y.endswith(".") and x.startswith(y))
                                for x, y in zip(a, b)))
            print(f"{form}: log P differs by {worst:.1e} at most; the same texts: "
                  + (", ".join(f"{n} of {len(sources)}" for n in same) or "not compared"))
            wrong += worst > 2e-5 or any(n < len(sources) - 2 for n in same)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
