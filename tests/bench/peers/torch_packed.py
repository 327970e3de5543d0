#!/usr/bin/env python3
"""Training speed of PyTorch on packed rows: a stronger peer of tx on a GPU than torch_train.py.

Sentences are concatenated without padding (torch.nn.attention.varlen); the layers are compiled one
by one with --compile; bf16 is autocast with fp32 weights, also in cross-entropy; Adam is the fused
one. Post-norm, ReLU, sinusoids, tied embeddings, dropout of sub-layer outputs and embeddings, label
smoothing: the paper's model. Every batch has the same number of rows, the last few unused, so that
nothing is compiled twice. Prints source + target tokens per second over all but the first steps.
Needs the package torch, 2.10 or newer. On a CPU attention is a loop over sentences, for a test.
"""
import argparse
import inspect
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch_train import BOS, EOS, pairs_of


class Packed:
    """A side of a batch: ids (rows) of sentences one after the other, and the places of these."""

    def __init__(self, sentences, rows, longest, device):
        flat = [token for sentence in sentences for token in sentence]
        lengths = [len(sentence) for sentence in sentences]
        unused = rows - len(flat)  # become sentences, too
        lengths += [min(longest, unused - i) for i in range(0, unused, longest)]
        places = [p for length in lengths for p in range(length)]
        self.ids = torch.tensor(flat + [EOS] * unused, device=device)
        self.positions = torch.tensor(places, device=device)
        self.ends = torch.tensor([0] + lengths, device=device).cumsum(0).to(torch.int32)
        self.longest = longest


def batches_of(pairs, limit, count, device):
    """`count` batches of up to `limit` rows per side: sources, inputs, targets, tokens."""
    out, at = [], 0
    longest = max(max(len(s), len(t) + 1) for s, t in pairs)
    while len(out) < count:
        source, target, rows = [], [], [0, 0]
        while True:
            s, t = pairs[at % len(pairs)]
            if rows[0] + len(s) > limit or rows[1] + len(t) + 1 > limit:
                break
            at += 1
            source.append(s)
            target.append(t)
            rows[0] += len(s)
            rows[1] += len(t) + 1
        labels = [token for t in target for token in t + [EOS]]
        labels = torch.tensor(labels + [-100] * (limit - rows[1]), device=device)
        sides = [Packed(source, limit, longest, device),
                 Packed([[BOS] + t for t in target], limit, longest, device)]
        out.append((*sides, labels, sum(rows)))
    # The same number of sentences everywhere; the added ones are empty.
    sides = [side for batch in out for side in batch[:2]]
    most = max(len(side.ends) for side in sides)
    for side in sides:
        side.ends = torch.cat([side.ends, side.ends[-1].expand(most - len(side.ends))])
    return out


def attention(q, k, v, q_ends, k_ends, q_longest, k_longest, causal):
    """(rows, heads, d_k), sentence by sentence."""
    if q.device.type == "cuda":
        from torch.nn.attention.varlen import varlen_attn
        options = {"is_causal": causal}
        if "window_size" in inspect.signature(varlen_attn).parameters:
            options = {"window_size": (-1, 0) if causal else (-1, -1)}
        return varlen_attn(q, k, v, q_ends, k_ends, q_longest, k_longest, **options)
    out = torch.zeros_like(q)
    for i in range(len(q_ends) - 1):
        a, b, c, d = (int(x) for x in (q_ends[i], q_ends[i + 1], k_ends[i], k_ends[i + 1]))
        if a < b and c < d:
            out[a:b] = F.scaled_dot_product_attention(
                *(x.transpose(0, 1) for x in (q[a:b], k[c:d], v[c:d])),
                is_causal=causal).transpose(0, 1)
    return out


class Attention(nn.Module):
    def __init__(self, d, heads, cross):
        super().__init__()
        self.heads, self.cross = heads, cross
        self.q = nn.Linear(d, d if cross else 3 * d, bias=False)
        self.kv = nn.Linear(d, 2 * d, bias=False) if cross else None
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x, memory, places, causal):
        if self.cross:
            q, (k, v) = self.q(x), self.kv(memory).chunk(2, -1)
        else:
            q, k, v = self.q(x).chunk(3, -1)
        q, k, v = (y.unflatten(-1, (self.heads, -1)) for y in (q, k, v))
        return self.out(attention(q, k, v, *places, causal).flatten(1))


class Layer(nn.Module):
    def __init__(self, a, decodes):
        super().__init__()
        d = a.d_model
        self.decodes = decodes
        self.self_attention = Attention(d, a.heads, False)
        self.cross_attention = Attention(d, a.heads, True) if decodes else None
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(3 if decodes else 2))
        self.inner, self.outer = nn.Linear(d, a.d_ff), nn.Linear(a.d_ff, d)
        self.dropout = nn.Dropout(a.dropout)

    def forward(self, x, memory, own, cross):
        x = self.norms[0](x + self.dropout(self.self_attention(x, None, own, self.decodes)))
        if self.decodes:
            x = self.norms[1](x + self.dropout(self.cross_attention(x, memory, cross, False)))
        return self.norms[-1](x + self.dropout(self.outer(F.relu(self.inner(x)))))


class Translator(nn.Module):
    def __init__(self, a, longest):
        super().__init__()
        self.embedding = nn.Embedding(a.vocabulary, a.d_model)
        nn.init.normal_(self.embedding.weight, 0, a.d_model ** -0.5)
        self.encoder = nn.ModuleList(Layer(a, False) for _ in range(a.layers))
        self.decoder = nn.ModuleList(Layer(a, True) for _ in range(a.layers))
        angle = torch.arange(longest)[:, None] / 1e4 ** (torch.arange(0, a.d_model, 2) / a.d_model)
        self.register_buffer("positions", torch.stack([angle.sin(), angle.cos()], -1).flatten(1))
        self.dropout = nn.Dropout(a.dropout)
        self.scale = a.d_model ** 0.5

    def embed(self, side):
        return self.dropout(self.embedding(side.ids) * self.scale + self.positions[side.positions])

    def forward(self, source, target, labels):
        x, y = self.embed(source), self.embed(target)
        own = (source.ends, source.ends, source.longest, source.longest)
        for layer in self.encoder:
            x = layer(x, None, own, None)
        own = (target.ends, target.ends, target.longest, target.longest)
        cross = (target.ends, source.ends, target.longest, source.longest)
        for layer in self.decoder:
            y = layer(y, x, own, cross)
        logits = F.linear(y, self.embedding.weight)
        return F.cross_entropy(logits, labels, ignore_index=-100, label_smoothing=0.1)


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("source")
    p.add_argument("target")
    for name, value in dict(vocabulary=8000, d_model=512, d_ff=2048, heads=8, layers=6,
                            batch_tokens=4096, steps=12, skip=3).items():
        p.add_argument("--" + name.replace("_", "-"), type=int, default=value)
    p.add_argument("--dropout", type=float, default=0.1)
    p.add_argument("--device", default="cuda")
    p.add_argument("--compile", action="store_true", help="use torch.compile for each layer")
    a = p.parse_args()
    torch.manual_seed(1)
    pairs = pairs_of(a.source, a.target)
    batches = batches_of(pairs, a.batch_tokens, a.steps, a.device)
    model = Translator(a, batches[0][0].longest).to(a.device)
    if a.compile:
        for layer in [*model.encoder, *model.decoder]:
            layer.compile(dynamic=False)
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    wait = torch.cuda.synchronize if a.device == "cuda" else lambda: None
    tokens, start = 0, 0.0
    for step, (source, target, labels, count) in enumerate(batches):
        if step == a.skip:
            wait()
            tokens, start = 0, time.perf_counter()
        with torch.autocast(a.device, dtype=torch.bfloat16):
            loss = model(source, target, labels)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        adam.step()
        tokens += count
    wait()
    if not torch.isfinite(loss):
        raise SystemExit(f"the loss is {loss.item()}")
    print(f"{tokens / (time.perf_counter() - start):.0f}")


if __name__ == "__main__":
    main()
