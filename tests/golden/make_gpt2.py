#!/usr/bin/env python3
"""Writes tests/golden/gpt2: a GPT-2 directory of Hugging Face with random weights, and the output of
the package transformers for tests/cli/tx-convert/gpt2.sh.

usage: make_gpt2.py    (pip install torch transformers)

prompts: lines of subwords; greedy: their greedy continuations, at most 12 tokens; log_p: the natural
log-probability of each line with its end.
"""
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
import gpt2_equal as peer  # noqa: E402


def main():
    folder = os.path.join(HERE, "gpt2")
    shutil.rmtree(folder, ignore_errors=True)
    model = peer.make_folder(folder, 5, n_inner=24)
    r = random.Random(5)
    prompts = [peer.line(r) for _ in range(14)]
    for name, lines in (("prompts", prompts), ("greedy", [peer.greedy(model, t) for t in prompts]),
                        ("log_p", [f"{peer.log_p(model, t):.5f}" for t in prompts])):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.writelines(text + "\n" for text in lines)


if __name__ == "__main__":
    main()
