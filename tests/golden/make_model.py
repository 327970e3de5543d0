#!/usr/bin/env python3
"""Writes model.json: what PyTorch says about small Transformers of every kind that tx has.

usage: make_model.py > model.json      (pip install torch numpy)

The model is written here from PAPER's equations, one sentence at a time and with autograd's
gradients: it shares nothing with lib/model but the names of the weights. Everything random is
Philox4x32-10 and recomputed by the test: weights and probes by value(), dropout masks by keep().
A tensor is stored as its size: largest magnitude, a few elements, and inner products with probes,
which no error in any element escapes.
"""
import json
import math
import sys

import numpy as np
import torch

U32 = np.uint64(0xFFFFFFFF)
PROBES = 4
DUMMY = 0xFFFFFFFF  # the pair of a sentence that only fills a batch


def philox(key0, key1, counter):
    """Blocks of four words, uint32 (..., 4), for counters given as four arrays or numbers."""
    c = [np.asarray(x, dtype=np.uint64) for x in np.broadcast_arrays(*counter)]
    for r in range(10):
        k0 = np.uint64((key0 + r * 0x9E3779B9) & 0xFFFFFFFF)
        k1 = np.uint64((key1 + r * 0xBB67AE85) & 0xFFFFFFFF)
        p0, p1 = np.uint64(0xD2511F53) * c[0], np.uint64(0xCD9E8D57) * c[2]
        c = [(p1 >> np.uint64(32)) ^ c[1] ^ k0, p1 & U32, (p0 >> np.uint64(32)) ^ c[3] ^ k1, p0 & U32]
    return np.stack(c, axis=-1).astype(np.uint32)


def fnv1a(text):
    h = 0x811C9DC5
    for byte in text.encode():
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return h


def value(name, stream, count):
    """Element i: word i % 4 of the block with key (FNV-1a of the name, 1) and counter (i / 4,
    stream, 0, 0), as a number of [-1, 1). Stream 0 is the weight, 1 to PROBES the probes."""
    words = philox(fnv1a(name), 1, (np.arange((count + 3) // 4), stream, 0, 0)).reshape(-1)[:count]
    return words.astype(np.float64) / 2**31 - 1


def shapes(c):
    """Every weight: name -> (shape, kind)."""
    d, keys, values = c["d_model"], c["heads"] * c["d_k"], c["heads"] * c["d_v"]
    out = {}

    def attention(name):
        for part, o, i in (("q", keys, d), ("k", keys, d), ("v", values, d), ("out", d, values)):
            out[f"{name}.{part}_proj.weight"] = ((o, i), "xavier")
            if c["attention_bias"]:
                out[f"{name}.{part}_proj.bias"] = ((o,), "bias")

    def norm(name):
        out[f"{name}.weight"], out[f"{name}.bias"] = ((d,), "gain"), ((d,), "bias")

    if c["tie"] == "all":
        out["embedding.weight"] = ((c["target_vocabulary"], d), "embedding")
    else:
        out["encoder.embedding.weight"] = ((c["source_vocabulary"], d), "embedding")
        out["decoder.embedding.weight"] = ((c["target_vocabulary"], d), "embedding")
    if c["tie"] == "none":
        out["output.weight"] = ((c["target_vocabulary"], d), "xavier")
    for stack in ("encoder", "decoder"):
        if c["positions"] == "learned":
            out[f"{stack}.positions.weight"] = ((c["max_positions"], d), "embedding")
        for i in range(c[f"{stack}_layers"]):
            layer = f"{stack}.layers.{i}"
            for kind in ("self_attn",) + (("cross_attn",) if stack == "decoder" else ()):
                attention(f"{layer}.{kind}")
                norm(f"{layer}.{kind}_norm")
            for part, o, j in (("in", c["d_ff"], d), ("out", d, c["d_ff"])):
                out[f"{layer}.ffn.{part}_proj.weight"] = ((o, j), "xavier")
                out[f"{layer}.ffn.{part}_proj.bias"] = ((o,), "bias")
            norm(f"{layer}.ffn_norm")
        if c["norm"] == "pre":
            norm(f"{stack}.norm")
    return out


def weights(c, dtype):
    out = {}
    for name, (shape, kind) in shapes(c).items():
        x = value(name, 0, math.prod(shape)).reshape(shape)
        if kind == "xavier":
            x = x * math.sqrt(6 / (shape[0] + shape[1]))
        elif kind == "embedding":
            x = x * math.sqrt(3 / shape[1])
        else:
            x = x * 0.25 + (1 if kind == "gain" else 0)
        out[name] = torch.tensor(x, dtype=dtype, requires_grad=True)
    return out


class Model:
    EMBEDDING, SELF, CROSS, FFN, IN_SELF, IN_CROSS, IN_FFN = range(7)  # roles of dropout sites

    def __init__(self, config, dtype):
        self.c, self.dtype, self.w = config, dtype, weights(config, dtype)
        self.step = 1

    def keep(self, p, site, pair, positions, x):
        """Dropout of x (positions, features) with 16 bits an element, the low half of a word first."""
        threshold = int(p * 65536 + 0.5)
        if threshold == 0:
            return x
        n, blocks = x.shape[1], (x.shape[1] + 7) // 8
        words = philox(self.c["seed"], site,
                       (self.step, pair, np.arange(positions)[:, None], np.arange(blocks)[None, :]))
        bits = np.stack([words & 0xFFFF, words >> 16], axis=-1).reshape(positions, -1)[:, :n]
        mask = np.where(bits < threshold, 0.0, 65536.0 / (65536 - threshold))
        return x * torch.tensor(mask, dtype=self.dtype)

    def site(self, stack, layer, role):
        return (stack == "decoder") << 15 | layer << 4 | role

    def linear(self, x, name):
        y = x @ self.w[name + ".weight"].T
        return y + self.w[name + ".bias"] if name + ".bias" in self.w else y

    def norm(self, x, name):
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        return (x - mean) / torch.sqrt(variance + 1e-6) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def embed(self, stack, ids, pair):
        n, d, c = len(ids), self.c["d_model"], self.c
        table = self.w["embedding.weight" if c["tie"] == "all" else f"{stack}.embedding.weight"]
        if c["positions"] == "learned":
            positions = self.w[f"{stack}.positions.weight"][:n]
        else:
            angle = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2)[None, :] / d)
            positions = np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d)
            positions = torch.tensor(positions, dtype=self.dtype)
        x = table[torch.tensor(ids)] * math.sqrt(d) + positions
        return self.keep(c["dropout"], self.site(stack, 0, self.EMBEDDING), pair, n, x)

    def attention(self, x, memory, name, site, causal, pair):
        c, heads = self.c, []
        q, k, v = self.linear(x, name + ".q_proj"), self.linear(memory, name + ".k_proj"), None
        v = self.linear(memory, name + ".v_proj")
        for h in range(c["heads"]):
            qh, kh = (t[:, h * c["d_k"]:(h + 1) * c["d_k"]] for t in (q, k))
            scores = qh @ kh.T / math.sqrt(c["d_k"])
            if causal:
                scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -math.inf)
            a = torch.softmax(scores, dim=-1)
            a = self.keep(c["attention_dropout"], site + (h << 16), pair, len(x), a)
            heads.append(a @ v[:, h * c["d_v"]:(h + 1) * c["d_v"]])
        return self.linear(torch.cat(heads, dim=1), name + ".out_proj")

    def feed_forward(self, x, name, site, pair):
        inner = self.linear(x, name + ".in_proj")
        inner = torch.relu(inner) if self.c["activation"] == "relu" else torch.nn.functional.gelu(inner)
        inner = self.keep(self.c["relu_dropout"], site, pair, len(x), inner)
        return self.linear(inner, name + ".out_proj")

    def sublayer(self, x, norm, site, pair, f):
        pre = self.c["norm"] == "pre"
        y = f(self.norm(x, norm) if pre else x)
        x = x + self.keep(self.c["dropout"], site, pair, len(x), y)
        return x if pre else self.norm(x, norm)

    def stack(self, stack, ids, pair, memory=None):
        x = self.embed(stack, ids, pair)
        for i in range(self.c[f"{stack}_layers"]):
            layer = f"{stack}.layers.{i}"
            at = [self.site(stack, i, role) for role in range(7)]
            x = self.sublayer(x, layer + ".self_attn_norm", at[self.SELF], pair, lambda y: self.attention(
                y, y, layer + ".self_attn", at[self.IN_SELF], stack == "decoder", pair))
            if memory is not None:
                x = self.sublayer(x, layer + ".cross_attn_norm", at[self.CROSS], pair,
                                  lambda y: self.attention(y, memory, layer + ".cross_attn",
                                                           at[self.IN_CROSS], False, pair))
            x = self.sublayer(x, layer + ".ffn_norm", at[self.FFN], pair, lambda y: self.feed_forward(
                y, layer + ".ffn", at[self.IN_FFN], pair))
        return self.norm(x, stack + ".norm") if self.c["norm"] == "pre" else x

    def logits(self, sentence):
        memory = self.stack("encoder", sentence["source"], sentence["pair"])
        x = self.stack("decoder", sentence["target"], sentence["pair"], memory)
        output = {"all": "embedding", "target": "decoder.embedding", "none": "output"}[self.c["tie"]]
        return x @ self.w[output + ".weight"].T

    def loss(self, batch):
        """Logits, and the sums over labels of smoothed loss and of plain -log p."""
        total, nll, rows = 0, 0, []
        for sentence in batch:
            rows.append(self.logits(sentence))
            if sentence["pair"] == DUMMY:
                continue
            logp = torch.log_softmax(rows[-1], dim=-1)
            label = logp.gather(1, torch.tensor(sentence["labels"])[:, None]).sum()
            eps, vocabulary = self.c["label_smoothing"], self.c["target_vocabulary"]
            total = total - (1 - eps) * label - eps / (vocabulary - 1) * (logp.sum() - label)
            nll = nll - label
        return torch.cat(rows), total, nll


def labels_of(batch):
    return sum(len(s["labels"]) for s in batch if s["pair"] != DUMMY)


def sentences(c, name, lengths, first_pair):
    """Ids 4 and up, drawn by value(); the source ends in <eos> 3, the target begins with <bos> 2."""
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
    groups = [{"params": [x for x in w.values() if x.dim() == 2], "weight_decay": c["weight_decay"]},
              {"params": [x for x in w.values() if x.dim() == 1], "weight_decay": 0.0}]
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
        norm = math.sqrt(sum(float((x.grad.double() ** 2).sum()) for x in w.values() if x.grad is not None))
        for x in w.values():
            if x.grad is not None and norm > c["clip_norm"]:
                x.grad *= c["clip_norm"] / norm
        rate = c["d_model"] ** -0.5 * min(step ** -0.5, step * c["warmup"] ** -1.5)
        for group in adam.param_groups:
            group["lr"] = rate
        adam.step()
        losses.append(loss)
        norms.append(norm)
    return losses, norms


BASE = {"encoder_layers": 2, "decoder_layers": 2, "d_model": 32, "d_ff": 72, "heads": 4, "d_k": 8, "d_v": 8,
        "activation": "relu", "norm": "post", "positions": "sinusoid", "max_positions": 1024, "tie": "all",
        "attention_bias": False, "source_vocabulary": 37, "target_vocabulary": 37, "seed": 11,
        "dropout": 0.1, "attention_dropout": 0.1, "relu_dropout": 0.1, "label_smoothing": 0.1,
        "warmup": 100, "clip_norm": 1.0, "weight_decay": 0.0}
VARIANTS = {
    "paper": {},
    "no_dropout": {"dropout": 0, "attention_dropout": 0, "relu_dropout": 0, "label_smoothing": 0.2},
    "pre_gelu": {"norm": "pre", "activation": "gelu", "dropout": 0.3, "relu_dropout": 0.2, "weight_decay": 0.1},
    "separate": {"tie": "target", "source_vocabulary": 41, "target_vocabulary": 29, "d_model": 20, "heads": 3,
                 "d_k": 4, "d_v": 12, "d_ff": 33, "encoder_layers": 1, "decoder_layers": 3},
    "learned": {"tie": "none", "source_vocabulary": 23, "target_vocabulary": 65, "positions": "learned",
                "max_positions": 70, "attention_bias": True, "d_model": 24, "d_k": 6, "d_v": 6,
                "encoder_layers": 3, "decoder_layers": 1},
}
LENGTHS = [(1, 3), (70, 65), (5, 1), (33, 29), (2, 70), (17, 8), (48, 12)]
STEP_LENGTHS = [[(9, 7), (1, 12), (20, 18)], [(6, 1), (13, 15)]]  # two micro-batches a step


def main():
    torch.set_num_threads(1)
    out = {}
    for name, changes in VARIANTS.items():
        c = {**BASE, **changes}
        batch = sentences(c, "golden", LENGTHS, 5) + [dummy(4, 6)]
        steps = [[sentences(c, f"step.{i}.{j}", lengths, 100 * i + 10 * j)
                  for j, lengths in enumerate(STEP_LENGTHS)] for i in range(10)]
        entry = {"config": c, **gradients_of(Model(c, torch.float64), batch), "steps": steps}
        entry["losses"], entry["norms"] = train(Model(c, torch.float64), steps)
        single = train(Model(c, torch.float32), steps)[0]
        off = max(abs(a - b) / a for a, b in zip(entry["losses"], single))
        print(f"{name}: loss {entry['loss']:.6f}, ten losses {entry['losses'][0]:.4f} to "
              f"{entry['losses'][-1]:.4f}; PyTorch's own float32 is off by {off:.1e}", file=sys.stderr)
        out[name] = entry
    rows = [f"{json.dumps(n)}: {json.dumps(e, separators=(',', ':'))}" for n, e in out.items()]
    print("{" + ",\n".join(rows) + "}")


if __name__ == "__main__":
    main()
