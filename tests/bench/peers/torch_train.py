#!/usr/bin/env python3
"""Training speed of PyTorch's nn.Transformer on files of token ids, for train_speed.sh.

Sentences are sorted by length and padded, as usual; bf16 is autocast with fp32 weights, Adam is the
fused one. Prints source + target tokens per second, without padding, over all but the first steps.
Batches are on the device beforehand. Needs the package torch.
"""
import argparse
import random
import time

import torch
from torch import nn
from torch.nn import functional as F

BOS, EOS, PAD = 2, 3, 0


def pairs_of(source, target, longest=250):
    """The pairs of two files of ids, sources with EOS; without empty and long sentences."""
    pairs = []
    for s, t in zip(open(source), open(target)):
        s, t = [int(x) for x in s.split()], [int(x) for x in t.split()]
        if 0 < len(s) < longest and 0 < len(t) < longest:
            pairs.append((s + [EOS], t))
    return pairs


def batches_of(source, target, limit):
    """Lists of (source, target) whose longer padded side holds at most `limit` tokens."""
    pairs = pairs_of(source, target)
    pairs.sort(key=lambda p: (max(len(p[0]), len(p[1]) + 1), len(p[0])))
    batch, batches = [], []
    for pair in pairs:
        longest = max(len(pair[0]), len(pair[1]) + 1)  # pairs are sorted by this
        if batch and longest * (len(batch) + 1) > limit:
            batches.append(batch)
            batch = []
        batch.append(pair)
    batches.append(batch)
    random.Random(1).shuffle(batches)
    return batches


def padded(rows, device="cpu"):
    return nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], batch_first=True).to(device)


def tensors(batch, device):
    """Sources, decoder inputs, and targets."""
    return (padded([s for s, _ in batch], device), padded([[BOS] + t for _, t in batch], device),
            padded([t + [EOS] for _, t in batch], device))


class Translator(nn.Module):
    def __init__(self, a, pre_norm=False):
        super().__init__()
        self.embedding = nn.Embedding(a.vocabulary, a.d_model)
        nn.init.normal_(self.embedding.weight, 0, a.d_model ** -0.5)
        self.transformer = nn.Transformer(a.d_model, a.heads, a.layers, a.layers, a.d_ff, a.dropout,
                                          batch_first=True, norm_first=pre_norm)
        angle = torch.arange(256)[:, None] / 1e4 ** (torch.arange(0, a.d_model, 2) / a.d_model)
        table = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
        self.register_buffer("positions", table)
        self.dropout = nn.Dropout(a.dropout)
        self.scale = a.d_model ** 0.5

    def embed(self, ids):
        return self.dropout(self.embedding(ids) * self.scale + self.positions[: ids.shape[1]])

    def logits(self, source, inputs):
        causal = nn.Transformer.generate_square_subsequent_mask(inputs.shape[1], inputs.device)
        padding = torch.zeros(source.shape, device=source.device)
        padding = padding.masked_fill(source == PAD, float("-inf"))
        out = self.transformer(self.embed(source), self.embed(inputs), tgt_mask=causal,
                               tgt_is_causal=True, src_key_padding_mask=padding,
                               memory_key_padding_mask=padding)
        return F.linear(out, self.embedding.weight)

    def forward(self, source, inputs, labels):
        logits = self.logits(source, inputs)
        return F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=PAD,
                               label_smoothing=0.1)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("source")
    p.add_argument("target")
    p.add_argument("--vocabulary", type=int, default=8000)
    p.add_argument("--d-model", type=int, default=512)
    p.add_argument("--d-ff", type=int, default=2048)
    p.add_argument("--heads", type=int, default=8)
    p.add_argument("--layers", type=int, default=6)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--batch-tokens", type=int, default=4096)
    p.add_argument("--steps", type=int, default=12)
    p.add_argument("--skip", type=int, default=3, help="first steps, which are excluded")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--bf16", action="store_true")
    p.add_argument("--device", default="cpu")
    p.add_argument("--compile", action="store_true", help="use torch.compile with dynamic shapes")
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    model = Translator(a).to(a.device)
    run = torch.compile(model, dynamic=True) if a.compile else model
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    wait = torch.cuda.synchronize if a.device == "cuda" else lambda: None
    tokens, start = 0, 0.0
    batches = batches_of(a.source, a.target, a.batch_tokens)
    batches = [batches[step % len(batches)] for step in range(a.steps)]
    inputs = [tensors(batch, a.device) for batch in batches]
    for step, batch in enumerate(batches):
        if step == a.skip:
            wait()
            tokens, start = 0, time.perf_counter()
        with torch.autocast(a.device, dtype=torch.bfloat16, enabled=a.bf16):
            loss = run(*inputs[step])
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        tokens += sum(len(s) + len(t) + 1 for s, t in batch)
    wait()
    loss.item()
    print(f"{tokens / (time.perf_counter() - start):.0f}")


if __name__ == "__main__":
    main()
