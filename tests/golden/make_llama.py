#!/usr/bin/env python3
"""Writes tests/golden/llama: a Llama directory of Hugging Face with random weights, and the output of
the package transformers for tests/cli/tx-convert/llama.sh.

usage: make_llama.py    (pip install torch transformers sentencepiece)

prompts: lines; greedy: the lines with their greedy continuations, at most 12 tokens; log_p: the
natural log-probability of each line with </s>.
"""
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
import llama_equal as peer  # noqa: E402


def main():
    folder = os.path.join(HERE, "llama")
    shutil.rmtree(folder, ignore_errors=True)
    model, sp = peer.make_folder(
        folder, 3, hidden_size=16, intermediate_size=24, rope_theta=100.0, rms_norm_eps=1e-5,
        rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0,
                          high_freq_factor=4.0, original_max_position_embeddings=16))
    r = random.Random(5)
    prompts = [peer.line(r) for _ in range(12)] + [peer.long_line(r), "ab \u00e4 dog"]
    greedy = [peer.whole_text(model, sp, t) for t in prompts]
    log_p = [f"{peer.log_p(model, sp, t):.5f}" for t in prompts]
    for name, lines in (("prompts", prompts), ("greedy", greedy), ("log_p", log_p)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.writelines(text + "\n" for text in lines)


if __name__ == "__main__":
    main()
