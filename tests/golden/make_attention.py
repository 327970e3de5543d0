#!/usr/bin/env python3
"""Writes attention.json: every quantity of every attention of the models of make_model.py by PyTorch,
without dropout, and the log-probabilities and ranks of the targets.

usage: make_attention.py > attention.json      (pip install torch numpy)

A tensor of a layer, with its heads concatenated, is stored as make_model.py's summary(); masked
scores, which are minus infinity, are stored as 0.
"""
import json
import math
import sys

import torch

from make_model import BASE, VARIANTS, sentences, summary
from reference_model import Model

LENGTHS = [(17, 8), (1, 3), (33, 29)]
KINDS = {"encoder.self_attn": "encoder", "decoder.self_attn": "decoder",
         "decoder.cross_attn": "cross"}


class Probed(Model):
    """Keeps the results of its attention sublayers by kind, layer and quantity."""

    def attention(self, x, memory, name, site, causal, pair):
        c, stack, layer, part = self.c, *name.replace(".layers", "").split(".")
        seen = {q: [] for q in ("q", "k", "v", "scores", "scaled", "masked", "weights", "context")}
        q, k, v = (self.linear(y, f"{name}.{p}_proj")
                   for y, p in ((x, "q"), (memory, "k"), (memory, "v")))
        for h in range(c["heads"]):
            qh, kh = (t[:, h * c["d_k"]:(h + 1) * c["d_k"]] for t in (q, k))
            vh = v[:, h * c["d_v"]:(h + 1) * c["d_v"]]
            scores = torch.einsum("il,jl->ij", qh, kh)
            scaled = scores / math.sqrt(c["d_k"])
            later = torch.ones_like(scores).triu(1) > 0 if causal else torch.zeros_like(scores) > 0
            weights = torch.softmax(scaled.masked_fill(later, -math.inf), dim=-1)
            for key, t in (("q", qh), ("k", kh), ("v", vh), ("scores", scores), ("scaled", scaled),
                           ("masked", scaled.masked_fill(later, 0)), ("weights", weights),
                           ("context", weights @ vh)):
                seen[key].append(t.reshape(-1))
        output = super().attention(x, memory, name, site, causal, pair)
        kept = {key: torch.cat(heads) for key, heads in seen.items()}
        self.seen[f"{KINDS[f'{stack}.{part}']}.{layer}"] = {**kept, "output": output.reshape(-1)}
        return output


def attention_of(c, sentence):
    model = Probed(c, torch.float64)
    model.seen = {}
    with torch.no_grad():
        log_p = torch.log_softmax(model.logits(sentence), dim=-1)
    labels = torch.tensor(sentence["labels"])[:, None]
    own = log_p.gather(1, labels)
    return {"source": sentence["source"], "input": sentence["target"],
            "labels": sentence["labels"], "log_p": own[:, 0].tolist(),
            "rank": (1 + (log_p > own).sum(dim=1)).tolist(),
            "layers": {place: {key: summary(f"{place}.{key}", t) for key, t in kept.items()}
                       for place, kept in model.seen.items()}}


def main():
    torch.set_num_threads(1)
    out = {}
    for name, changes in VARIANTS.items():
        c = {**BASE, **changes, "dropout": 0, "attention_dropout": 0, "relu_dropout": 0}
        batch = sentences(c, "attention", LENGTHS, 0)
        out[name] = {"config": c, "sentences": [attention_of(c, s) for s in batch]}
    rows = [f"{json.dumps(n)}: {json.dumps(e, separators=(',', ':'))}" for n, e in out.items()]
    print("{" + ",\n".join(rows) + "}")


if __name__ == "__main__":
    sys.exit(main())
