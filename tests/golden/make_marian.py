#!/usr/bin/env python3
"""Writes tests/golden/marian: a MarianMT directory of Hugging Face with random weights, and the output
of the package transformers for tests/cli/tx-convert/marian.sh.

usage: make_marian.py    (pip install torch transformers sentencepiece)

source.en, greedy.de: lines and their greedy translations; target.de, log_p: given translations and
their natural log-probability.
"""
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
import convert_equal as peer  # noqa: E402


def main():
    folder = os.path.join(HERE, "marian")
    shutil.rmtree(folder, ignore_errors=True)
    model, tokenizer = peer.make_folder(
        folder, 3, activation_function="swish", d_model=16, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24,
        decoder_ffn_dim=24)
    for name in ("source.vocab", "target.vocab"):
        os.remove(os.path.join(folder, name))
    r = random.Random(5)
    sources = [peer.line(r) for _ in range(20)] + [">>xx<< ab dog", "ab ZZ"]
    targets = [peer.line(r) for _ in sources]
    greedy = peer.texts(model, tokenizer, sources, num_beams=1)
    log_p = [f"{peer.log_p(model, tokenizer, s, t):.5f}" for s, t in zip(sources, targets)]
    for name, lines in (("source.en", sources), ("greedy.de", greedy), ("target.de", targets),
                        ("log_p", log_p)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.writelines(text + "\n" for text in lines)


if __name__ == "__main__":
    main()
