#!/usr/bin/env python3
"""Writes tests/golden/nllb, m2m100, bart, mbart, mbart50 and t5: directories of Hugging Face with random
weights, and the output of the package transformers for tests/cli/tx-convert/multilingual.sh.

usage: make_multilingual.py [NAME]...    (pip install torch transformers sentencepiece protobuf)

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


def make(name, maker, kind, seed, language):
    """language: the first token of outputs, or None."""
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    model, tokenizer = maker(
        folder, seed, kind, tied=name != "mbart50", d_model=16, encoder_layers=1, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24,
        decoder_ffn_dim=24)
    r = random.Random(seed)
    sources = [peer.line(r) for _ in range(20)] + ["ab ZZ", "\u00e4"]
    targets = [peer.line(r) for _ in sources]
    number = None if language is None else tokenizer.convert_tokens_to_ids(language)
    forced = {} if language in (None, "<s>") else {"forced_bos_token_id": number}
    write(folder, "source", sources)
    write(folder, "target", targets)
    write(folder, "greedy",
          peer.texts(model, tokenizer, sources, num_beams=1, **forced))

    def log_p(tokenizer):
        return [f"{peer.log_p(model, tokenizer, s, t, number):.5f}"
                for s, t in zip(sources, targets)]

    write(folder, "log_p", log_p(tokenizer))
    if name == "nllb":
        legacy = type(tokenizer).from_pretrained(folder, legacy_behaviour=True)
        write(folder, "log_p.legacy", log_p(legacy))


def make_t5(folder, seed, *_, **__):
    return peer.make_t5(folder, seed, tied=False, feed_forward_proj="gated-gelu", d_model=16, d_kv=6,
                        d_ff=24, num_layers=2, num_decoder_layers=1, num_heads=2)


def main():
    folders = {"nllb": (peer.make_multilingual, True, 3, "deu_Latn"),
               "m2m100": (peer.make_multilingual, False, 4, "__cs__"),
               "bart": (peer.make_bart, "bart", 5, "<s>"),
               "mbart": (peer.make_bart, "mbart", 6, None),
               "t5": (make_t5, None, 8, None),
               "mbart50": (peer.make_bart, "mbart50", 7, "de_DE")}
    for name in sys.argv[1:] or folders:
        make(name, *folders[name])


if __name__ == "__main__":
    main()
