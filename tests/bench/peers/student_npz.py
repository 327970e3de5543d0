#!/usr/bin/env python3
"""Writes a student with random weights as a model of Marian, for student_speed.sh.

usage: student_npz.py TOKENS > model.npz    (size of a vocabulary of tx-bpe; needs numpy)

d_model 256, d_ff 1536, 8 heads, 6 encoder and 2 decoder layers, post-norm, one matrix for all
embeddings. The output bias of </s> is so low that no output ends before the maximum length.
"""
import sys

import numpy as np

SETTINGS = """type: transformer
dim-emb: 256
transformer-dim-ffn: 1536
transformer-heads: 8
enc-depth: 6
dec-depth: 2
dim-vocabs: [{tokens}, {tokens}]
tied-embeddings-all: true
transformer-ffn-activation: relu
transformer-preprocess: ""
transformer-postprocess: dan
transformer-postprocess-emb: d
transformer-decoder-autoreg: self-attention
transformer-no-projection: false
transformer-guided-alignment-layer: last
version: v1.12.42
"""


def main():
    tokens, eos = int(sys.argv[1]), 3
    draw = np.random.default_rng(1)

    def matrix(rows, cols):
        return draw.normal(0, (2 / (rows + cols)) ** 0.5, (rows, cols)).astype("f4")

    def row(value, cols):
        return np.full((1, cols), value, "f4")

    arrays = {"Wemb": matrix(tokens, 256), "decoder_ff_logit_out_b": row(0, tokens)}
    arrays["decoder_ff_logit_out_b"][0, eos] = -1e4
    for stack, layers, attentions in (("encoder", 6, ["self"]), ("decoder", 2, ["self", "context"])):
        for layer in range(1, layers + 1):
            name = f"{stack}_l{layer}_"
            for part in (f"{name}{attention}_" for attention in attentions):
                for kind in "qkvo":
                    arrays[part + "W" + kind] = matrix(256, 256)
                    arrays[part + "b" + kind] = row(0, 256)
                arrays[part + "Wo_ln_scale"], arrays[part + "Wo_ln_bias"] = row(1, 256), row(0, 256)
            for n, (rows, cols) in (("1", (256, 1536)), ("2", (1536, 256))):
                arrays[name + "ffn_W" + n] = matrix(rows, cols)
                arrays[name + "ffn_b" + n] = row(0, cols)
            arrays[name + "ffn_ffn_ln_scale"] = row(1, 256)
            arrays[name + "ffn_ffn_ln_bias"] = row(0, 256)
    text = SETTINGS.format(tokens=tokens).encode() + b"\0"
    arrays["special:model.yml"] = np.frombuffer(text, "i1")
    np.savez(sys.stdout.buffer, **arrays)


if __name__ == "__main__":
    main()
