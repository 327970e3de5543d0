#!/usr/bin/env python3
"""Writes tests/golden/nllb and tests/golden/m2m100: directories of Hugging Face with random weights,
and the output of the package transformers for tests/cli/tx-convert/multilingual.sh.

usage: make_multilingual.py    (pip install torch transformers sentencepiece)

source, greedy: lines and their greedy translations; target, log_p: given translations and their
natural log-probability without the language token; log_p.legacy: the same with sources of the form
X </s> LANGUAGE.
"""
import os
import random
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
import convert_equal as peer  # noqa: E402


def write(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
        f.writelines(text + "\n" for text in lines)


def make(name, nllb, seed, language):
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    model, tokenizer = peer.make_multilingual(
        folder, seed, nllb, d_model=16, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24,
        decoder_ffn_dim=24)
    r = random.Random(seed)
    sources = [peer.line(r) for _ in range(20)] + ["ab ZZ", "\u00e4"]
    targets = [peer.line(r) for _ in sources]
    number = tokenizer.convert_tokens_to_ids(language)
    write(folder, "source", sources)
    write(folder, "target", targets)
    write(folder, "greedy",
          peer.texts(model, tokenizer, sources, num_beams=1, forced_bos_token_id=number))

    def log_p(tokenizer):
        return [f"{peer.log_p(model, tokenizer, s, t, number):.5f}"
                for s, t in zip(sources, targets)]

    write(folder, "log_p", log_p(tokenizer))
    if nllb:
        legacy = type(tokenizer).from_pretrained(folder, legacy_behaviour=True)
        write(folder, "log_p.legacy", log_p(legacy))


def main():
    make("nllb", True, 3, "deu_Latn")
    make("m2m100", False, 4, "__cs__")


if __name__ == "__main__":
    main()
