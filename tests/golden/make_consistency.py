#!/usr/bin/env python3
"""Writes consistency.json: gradients of PyTorch for SimCut and R-Drop, see make_model.py.

usage: make_consistency.py > consistency.json      (pip install torch numpy)
"""
import json

import torch

from make_model import BASE, LATER, LENGTHS, dummy, labels_of, sentences, summary
from reference_model import Model

SMALL = {"encoder_layers": 1, "decoder_layers": 1, "consistency_weight": 3.0}
VARIANTS = {
    "simcut": {"consistency": "simcut", "cutoff": 0.3},
    "rdrop": {"consistency": "rdrop", "cutoff": 0.0, "consistency_weight": 5.0},
    "simcut_learned": {"consistency": "simcut", "cutoff": 0.3, "positions": "learned",
                       "max_positions": 75, "norm": "pre", "tie": "none", "label_smoothing": 0.0}}


def main():
    torch.set_num_threads(1)
    rows = []
    for name, changes in VARIANTS.items():
        config = {**BASE, **SMALL, **changes}
        batch = sentences(config, "golden", LENGTHS, 5) + [dummy(4, 6)]
        model = Model({**LATER, **config}, torch.float64)
        objective, loss, nll, consistency = model.consistency_loss(batch)
        count = labels_of(batch)
        (objective / count).backward()
        entry = {"config": config, "batch": batch, "labels": count, "loss": loss.item() / count,
                 "nll": nll.item() / count, "consistency": consistency.item() / count,
                 "gradients": {n: summary(n, w.grad if w.grad is not None else torch.zeros_like(w))
                               for n, w in model.w.items()}}
        rows.append(f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}")
    print("{" + ",\n".join(rows) + "}")


if __name__ == "__main__":
    main()
