#!/usr/bin/env python3
"""The learning curve of PyTorch's nn.Transformer, to compare with that of a run of tx-train.

Trains on files of token ids (tx-bpe encode --ids) with the schedule, the loss and the number of target
tokens per step of tx-train. Writes a line per validation, separated by tabs: step, target tokens,
CPU seconds, validation loss per token in nats without label smoothing, and perplexity. The
sentences of a batch have similar lengths; the batches are in random order. Needs the package torch,
and the model in torch_train.py.
"""
import argparse
import math
import random
import time

import torch
from torch.nn import functional as F

from torch_train import BOS, EOS, PAD, Translator, padded, pairs_of


def batches_of(pairs, limit):
    """Lists of pairs of similar length, with at most `limit` source and target tokens each."""
    batch, batches = [], []
    sources = targets = 0
    for s, t in sorted(pairs, key=lambda p: (len(p[1]), len(p[0]))):
        if batch and max(sources + len(s), targets + len(t) + 1) > limit:
            batches.append(batch)
            batch, sources, targets = [], 0, 0
        batch.append((s, t))
        sources, targets = sources + len(s), targets + len(t) + 1
    batches.append(batch)
    return batches


def tensors(batch):
    return (padded([s for s, _ in batch]), padded([[BOS] + t for _, t in batch]),
            padded([t + [EOS] for _, t in batch]))


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("source")
    p.add_argument("target")
    p.add_argument("valid_source")
    p.add_argument("valid_target")
    p.add_argument("--vocabulary", type=int, default=8000)
    p.add_argument("--d-model", type=int, default=128)
    p.add_argument("--d-ff", type=int, default=256)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--layers", type=int, default=4)
    p.add_argument("--dropout", type=float, default=0.3)
    p.add_argument("--pre-norm", action="store_true")
    p.add_argument("--rate", type=float, default=0.0035, help="peak learning rate, at the end of the warm-up")
    p.add_argument("--warmup", type=int, default=2000)
    p.add_argument("--batch-tokens", type=int, default=2048)
    p.add_argument("--steps", type=int, default=4000)
    p.add_argument("--valid-every", type=int, default=500)
    p.add_argument("--longest", type=int, default=250, help="maximum number of tokens per side")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--bf16", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    order = random.Random(a.seed)
    model = Translator(a, pre_norm=a.pre_norm)
    adam = torch.optim.Adam(model.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9, fused=True)
    batches = batches_of(pairs_of(a.source, a.target, a.longest), a.batch_tokens)
    valid = [tensors(b) for b in batches_of(pairs_of(a.valid_source, a.valid_target), a.batch_tokens)]

    def loss_of(batch, smoothing, reduction):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.bf16):
            logits = model.logits(batch[0], batch[1])
        return F.cross_entropy(logits.flatten(0, 1).float(), batch[2].flatten(), ignore_index=PAD,
                               label_smoothing=smoothing, reduction=reduction)

    seen, spent, epoch = 0, 0.0, []
    for step in range(1, a.steps + 1):
        start = time.process_time()
        if not epoch:
            epoch = list(range(len(batches)))
            order.shuffle(epoch)
        batch = tensors(batches[epoch.pop()])
        for group in adam.param_groups:
            group["lr"] = a.rate * min(step / a.warmup, math.sqrt(a.warmup / step))
        adam.zero_grad(set_to_none=True)
        loss_of(batch, 0.1, "mean").backward()
        adam.step()
        seen += int((batch[2] != PAD).sum())
        spent += time.process_time() - start
        if step % a.valid_every == 0 or step == a.steps:
            model.eval()
            with torch.no_grad():
                total = sum(loss_of(b, 0.0, "sum").item() for b in valid)
            model.train()
            loss = total / sum(int((b[2] != PAD).sum()) for b in valid)
            print(f"{step}\t{seen}\t{spent:.0f}\t{loss:.4f}\t{math.exp(loss):.3f}", flush=True)


if __name__ == "__main__":
    main()
