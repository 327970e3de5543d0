#!/usr/bin/env python3
"""Writes tests/golden/fairseq and tests/golden/fsmt: one Transformer with random weights as a fairseq
checkpoint and as an FSMT directory of Hugging Face, and the output of the package transformers for
tests/cli/tx-convert/fairseq.sh.

usage: make_fairseq.py    (pip install torch transformers)

source.en, greedy.de: lines and their greedy translations; target.de, log_p: given translations and
their natural log-probability.
"""
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
import fairseq_equal as peer  # noqa: E402


def main():
    folder = os.path.join(HERE, "fairseq")
    for name in ("fairseq", "fsmt"):
        shutil.rmtree(os.path.join(HERE, name), ignore_errors=True)
    model = peer.make_model(2, extra=3, encoder_layers=1, decoder_layers=1)
    peer.save_fairseq(folder, model, 3, False, False, False)
    peer.save_fsmt(os.path.join(HERE, "fsmt"), model, 3)
    r = random.Random(5)
    sources = [peer.line(r) for _ in range(15)] + ["ab nothing dog"]
    targets = [peer.line(r) for _ in sources]
    greedy = [peer.greedy(model, s).replace("<row-0>", "<s>_") for s in sources]
    log_p = [f"{peer.log_p(model, s, t):.5f}" for s, t in zip(sources, targets)]
    for name, lines in (("source.en", sources), ("greedy.de", greedy), ("target.de", targets),
                        ("log_p", log_p)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.writelines(text + "\n" for text in lines)


if __name__ == "__main__":
    main()
