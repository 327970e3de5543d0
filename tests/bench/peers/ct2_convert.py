#!/usr/bin/env python3
"""Writes a tx model as a CTranslate2 model, so that decode_speed.sh compares the same weights.

usage: ct2_convert.py MODEL.safetensors OUT TX_BPE    (pip install ctranslate2 numpy)

The model's subword model goes to OUT/bpe.model; the program TX_BPE lists its pieces.
"""
import json
import os
import subprocess
import sys

import numpy as np
from ctranslate2.specs import transformer_spec


def read(path):
    """Configuration, weights and subword model."""
    with open(path, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        data = f.read()
    config = json.loads(header.pop("__metadata__")["config"])
    begin, end = header.pop("vocabulary")["data_offsets"]
    weights = {}
    for name, t in header.items():
        first, last = t["data_offsets"]
        weights[name] = np.frombuffer(data[first:last], np.float32).reshape(t["shape"])
    return config, weights, data[begin:end]


def main():
    model, out, tx_bpe = sys.argv[1:]
    c, w, subwords = read(model)
    if c["tie"] != "all" or c["positions"] != "sinusoid":
        sys.exit("ct2_convert.py: only tied models with sinusoids are converted")
    spec = transformer_spec.TransformerSpec.from_config(
        (c["encoder_layers"], c["decoder_layers"]), c["heads"], pre_norm=c["norm"] == "pre",
        activation=getattr(transformer_spec.common_spec.Activation, c["activation"].upper()))

    def linear(to, *names):
        to.weight = np.concatenate([w[n + ".weight"] for n in names])
        biases = [w.get(n + ".bias", np.zeros(len(w[n + ".weight"]), np.float32)) for n in names]
        to.bias = np.concatenate(biases)

    def norm(to, name):
        to.gamma, to.beta = w[name + ".weight"], w[name + ".bias"]

    d = c["d_model"]
    angle = np.arange(1024)[:, None] / 1e4 ** (np.arange(0, d, 2) / d)
    table = np.stack([np.sin(angle), np.cos(angle)], -1).reshape(1024, d).astype(np.float32)
    for side, stack in (("encoder", spec.encoder), ("decoder", spec.decoder)):
        both = stack.embeddings
        (both[0] if isinstance(both, list) else both).weight = w["embedding.weight"]
        stack.scale_embeddings = True
        stack.position_encodings.encodings = table
        if c["norm"] == "pre":
            norm(stack.layer_norm, f"{side}.norm")
        for i, layer in enumerate(stack.layer):
            p = f"{side}.layers.{i}."
            s = p + "self_attn."
            linear(layer.self_attention.linear[0], s + "q_proj", s + "k_proj", s + "v_proj")
            linear(layer.self_attention.linear[1], s + "out_proj")
            norm(layer.self_attention.layer_norm, p + "self_attn_norm")
            if side == "decoder":
                s = p + "cross_attn."
                linear(layer.attention.linear[0], s + "q_proj")
                linear(layer.attention.linear[1], s + "k_proj", s + "v_proj")
                linear(layer.attention.linear[2], s + "out_proj")
                norm(layer.attention.layer_norm, p + "cross_attn_norm")
            linear(layer.ffn.linear_0, p + "ffn.in_proj")
            linear(layer.ffn.linear_1, p + "ffn.out_proj")
            norm(layer.ffn.layer_norm, p + "ffn_norm")
    os.makedirs(out, exist_ok=True)
    with open(f"{out}/bpe.model", "wb") as f:
        f.write(subwords)
    table = subprocess.run([tx_bpe, "vocab", "-m", f"{out}/bpe.model"], capture_output=True,
                           check=True).stdout.decode()
    words = [row.split("\t")[1] for row in table.split("\n") if row]
    spec.decoder.projection.weight = w["embedding.weight"]
    spec.decoder.projection.bias = np.zeros(len(words), np.float32)
    spec.register_source_vocabulary(words)
    spec.register_target_vocabulary(words)
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = c["norm_epsilon"]
    spec.validate()
    spec.save(out)


if __name__ == "__main__":
    main()
