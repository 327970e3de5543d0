#!/usr/bin/env python3
"""Writes model.json: results of PyTorch for small Transformers of every kind that tx has.

usage: make_model.py > model.json      (pip install torch numpy)

A tensor is stored as its size, its largest magnitude, a few elements, and inner products with
probes, which reveal an error in any element.
"""
import json
import math
import sys

import numpy as np
import torch

from reference_model import DUMMY, Model, value

PROBES = 4


def labels_of(batch):
    return sum(len(s["labels"]) for s in batch if s["pair"] != DUMMY)


def sentences(c, name, lengths, first_pair):
    """Ids from 4 up, drawn by value(); a source ends in <eos> 3, a target begins with <bos> 2."""
    def draw(what, n, vocabulary):
        return [4 + int((x + 1) / 2 * (vocabulary - 4)) for x in value(what, 0, n)]

    batch = []
    for i, (s, t) in enumerate(lengths):
        source = draw(f"{name}.{i}.source", s - 1, c["source_vocabulary"]) + [3]
        target = draw(f"{name}.{i}.target", t - 1, c["target_vocabulary"])
        batch.append({"pair": first_pair + i, "source": source, "target": [2] + target,
                      "labels": target + [3]})
    return batch


def dummy(s, t):
    return {"pair": DUMMY, "source": [0] * s, "target": [0] * t, "labels": [-1] * t}


def summary(name, tensor):
    x = tensor.detach().double().numpy().reshape(-1)
    at = sorted({0, len(x) // 3, len(x) * 2 // 3, len(x) - 1})
    return {"size": len(x), "largest": float(np.abs(x).max()), "at": at,
            "elements": [float(x[i]) for i in at],
            "probes": [float(x @ value(name, k, len(x))) for k in range(1, PROBES + 1)]}


def gradients_of(model, batch):
    logits, loss, nll = model.loss(batch)
    count = labels_of(batch)
    (loss / count).backward()
    return {"batch": batch, "labels": count, "loss": loss.item() / count, "nll": nll.item() / count,
            "logits": summary("logits", logits),
            "gradients": {n: summary(n, w.grad if w.grad is not None else torch.zeros_like(w))
                          for n, w in model.w.items()}}


def train(model, steps):
    """Losses of every step (its batches counted as one) and norms before clipping."""
    c, w = model.c, model.w
    decay = {2: c["weight_decay"], 1: 0.0}  # matrices, vectors
    groups = [{"params": [x for x in w.values() if x.dim() == dim], "weight_decay": decay[dim]}
              for dim in (2, 1)]
    adam = torch.optim.AdamW(groups, lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    losses, norms = [], []
    for step, batches in enumerate(steps, 1):
        model.step = step
        adam.zero_grad(set_to_none=False)
        count = sum(labels_of(b) for b in batches)
        loss = 0
        for batch in batches:
            part = model.loss(batch)[1] / count
            part.backward()
            loss += part.item()
        gradients = [x.grad for x in w.values() if x.grad is not None]
        norm = math.sqrt(sum(float((g.double() ** 2).sum()) for g in gradients))
        for g in gradients:
            if norm > c["clip_norm"]:
                g *= c["clip_norm"] / norm
        rate = c["d_model"] ** -0.5 * min(step ** -0.5, step * c["warmup"] ** -1.5)
        for group in adam.param_groups:
            group["lr"] = rate
        adam.step()
        losses.append(loss)
        norms.append(norm)
    return losses, norms


BASE = {
    "encoder_layers": 2, "decoder_layers": 2, "d_model": 32, "d_ff": 72, "heads": 4, "d_k": 8,
    "d_v": 8, "activation": "relu", "norm": "post", "positions": "sinusoid", "max_positions": 1024,
    "tie": "all", "attention_bias": False, "source_vocabulary": 37, "target_vocabulary": 37,
    "seed": 11, "dropout": 0.1, "attention_dropout": 0.1, "relu_dropout": 0.1,
    "label_smoothing": 0.1, "warmup": 100, "clip_norm": 1.0, "weight_decay": 0.0}
# Defaults of the variants, which are omitted from the file.
LATER = {
    "kv_heads": 0, "window": 0, "norm_type": "layer", "position_offset": 0, "rotary_base": 10000,
    "rotary_scaling": "none", "rotary_factor": 1, "rotary_low": 1, "rotary_high": 4,
    "rotary_length": 8192, "scaled_embeddings": True, "feed_forward_bias": True,
    "output_bias": False, "norm_epsilon": 1e-6, "residual": True, "decoder_memory": "attention",
    "scaled_attention": True, "distance_buckets": 32, "distance_reach": 128, "head_norm": False, "embedding_norm": False, "attention_output_bias": True,
    "final_norm": False}
VARIANTS = {
    "paper": {},
    "no_dropout": {"dropout": 0, "attention_dropout": 0, "relu_dropout": 0, "label_smoothing": 0.2},
    "pre_gelu": {"norm": "pre", "activation": "gelu", "dropout": 0.3, "relu_dropout": 0.2,
                 "weight_decay": 0.1},
    "separate": {"tie": "target", "source_vocabulary": 41, "target_vocabulary": 29, "d_model": 20,
                 "heads": 3, "d_k": 4, "d_v": 12, "d_ff": 33, "encoder_layers": 1,
                 "decoder_layers": 3},
    "learned": {"tie": "none", "source_vocabulary": 23, "target_vocabulary": 65,
                "positions": "learned", "max_positions": 70, "attention_bias": True, "d_model": 24,
                "d_k": 6, "d_v": 6, "encoder_layers": 3, "decoder_layers": 1},
    "modern": {"norm": "pre", "norm_type": "rms", "activation": "swiglu", "positions": "rotary",
               "kv_heads": 2, "feed_forward_bias": False, "norm_epsilon": 1e-5, "relu_dropout": 0.2},
    "marian": {"activation": "silu", "positions": "halves", "attention_bias": True,
               "output_bias": True, "norm_epsilon": 1e-5},
    "m2m": {"norm": "pre", "positions": "fairseq", "position_offset": 2, "attention_bias": True,
            "activation": "gelu-tanh", "tie": "embeddings"},
    "far": {"positions": "rotary", "rotary_base": 500.0, "rotary_scaling": "llama3",
            "rotary_factor": 4, "rotary_length": 64, "kv_heads": 1, "window": 9,
            "activation": "geglu", "scaled_embeddings": False},
    "distances": {"positions": "alibi", "heads": 6, "d_k": 5, "kv_heads": 3, "window": 20,
                  "activation": "gelu-sigmoid", "norm_type": "rms"},
    "offset": {"positions": "learned", "max_positions": 75, "position_offset": 2, "norm": "pre",
               "activation": "swiglu", "norm_type": "rms", "output_bias": True, "tie": "none"},
    "stretched": {"positions": "rotary", "rotary_scaling": "ntk", "rotary_factor": 2,
                  "d_k": 10, "window": 3, "encoder_layers": 1, "decoder_layers": 1},
    "linear": {"positions": "rotary", "rotary_scaling": "linear", "rotary_factor": 3,
               "encoder_layers": 1, "decoder_layers": 1},
    "unplaced": {"positions": "none", "norm_type": "rms", "kv_heads": 2, "encoder_layers": 1,
                 "decoder_layers": 1},
    "no_residual": {"residual": False, "encoder_layers": 1, "decoder_layers": 1},
    "no_residual_pre": {"residual": False, "norm": "pre", "encoder_layers": 1,
                        "decoder_layers": 1},
    "no_norm": {"norm_type": "none", "encoder_layers": 1, "decoder_layers": 1},
    "recurrent": {"decoder_memory": "ssru", "attention_bias": True},
    "recurrent_pre": {"decoder_memory": "ssru", "norm": "pre", "norm_type": "rms", "d_model": 34,
                      "positions": "rotary"},
    "qwen": {"norm": "pre", "norm_type": "rms", "activation": "swiglu", "positions": "rotary",
             "kv_heads": 2, "d_k": 10, "attention_bias": True, "attention_output_bias": False,
             "head_norm": True, "feed_forward_bias": False, "norm_epsilon": 1e-3,
             "encoder_layers": 1},
    "bart": {"positions": "learned", "position_offset": 2, "attention_bias": True,
             "embedding_norm": True, "activation": "gelu", "output_bias": True},
    "mbart": {"positions": "learned", "position_offset": 2, "attention_bias": True,
              "embedding_norm": True, "norm": "pre", "encoder_layers": 1, "decoder_layers": 1},
    "t5": {"norm": "pre", "norm_type": "rms", "positions": "relative", "distance_buckets": 16,
           "distance_reach": 40, "activation": "geglu-tanh", "scaled_attention": False,
           "scaled_embeddings": False, "feed_forward_bias": False, "d_k": 10},
    "relative": {"positions": "relative", "kv_heads": 2, "window": 40, "tie": "none",
                 "encoder_layers": 1, "decoder_layers": 1},
    "torch": {"final_norm": True, "attention_bias": True, "output_bias": True,
              "tie": "embeddings", "norm_epsilon": 1e-5},
    "neither": {"residual": False, "norm_type": "none", "norm": "pre", "encoder_layers": 1,
                "decoder_layers": 1},
}
LENGTHS = [(1, 3), (70, 65), (5, 1), (33, 29), (2, 70), (17, 8), (48, 12)]
STEP_LENGTHS = [[(9, 7), (1, 12), (20, 18)], [(6, 1), (13, 15)]]  # two batches per step


def main():
    torch.set_num_threads(1)
    out = {}
    for name, changes in VARIANTS.items():
        written, c = {**BASE, **changes}, {**BASE, **LATER, **changes}
        batch = sentences(c, "golden", LENGTHS, 5) + [dummy(4, 6)]
        steps = [[sentences(c, f"step.{i}.{j}", lengths, 100 * i + 10 * j)
                  for j, lengths in enumerate(STEP_LENGTHS)] for i in range(10)]
        entry = {"config": written, **gradients_of(Model(c, torch.float64), batch), "steps": steps}
        entry["losses"], entry["norms"] = train(Model(c, torch.float64), steps)
        single = train(Model(c, torch.float32), steps)[0]
        off = max(abs(a - b) / a for a, b in zip(entry["losses"], single))
        first, last = entry["losses"][0], entry["losses"][-1]
        print(f"{name}: loss {entry['loss']:.6f}, ten losses {first:.4f} to {last:.4f}; PyTorch's "
              f"own float32 is off by {off:.1e}", file=sys.stderr)
        out[name] = entry
    rows = [f"{json.dumps(n)}: {json.dumps(e, separators=(',', ':'))}" for n, e in out.items()]
    print("{" + ",\n".join(rows) + "}")


if __name__ == "__main__":
    main()
