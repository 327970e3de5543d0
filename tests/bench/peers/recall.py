#!/usr/bin/env python3
"""Recall against distance: an LSTM, an LSTM with attention (Bahdanau et al., 2015) and a
Transformer with about as many parameters, trained on the same tokens.

The encoder reads pairs of a key and one of 16 values, up to 128 tokens; all keys differ. The
decoder reads one key and must write its value. A pair is one token, the sum of two embeddings, or
two tokens. The distance is that of the pair's first token from the query, which follows the last
pair. Training sequences have 8 to 128 tokens and up to 16 queries each, those of the test 128
tokens and a query for each pair.

Each model has the best of --rates by the mean of the columns on validation data with seed 1. Prints
the test accuracy in % by distance, mean and range over the seeds. A guess is right in 6.25 %, the
most frequent value of the sequence in 10.4 % (128 pairs) or 12.3 % (64). The Transformer is that of
torch_train.py, pre-norm, without dropout; queries do not see each other. An LSTM has one layer, a
forget bias of 1, and reads forwards only. Adam, linear warm-up and decay, fp32, one thread. Needs
the package torch.
"""
import argparse
import sys
import time
from types import SimpleNamespace

import torch
from torch import nn
from torch.nn import functional as F

from torch_train import Translator

VALUES, LENGTHS = 16, torch.tensor([8, 16, 32, 64, 128])  # also the largest distances of the table


def batch_of(sequences, length, queries, per_pair, generator):
    """Keys and values (B, n, 2), queried keys (B, M), their values, and their distances."""
    keys, pairs = 128 // per_pair, length // per_pair
    key = torch.rand(sequences, keys, generator=generator).argsort(1)[:, :pairs]
    value = torch.randint(VALUES, (sequences, pairs), generator=generator)
    asked = torch.rand(sequences, pairs, generator=generator).argsort(1)[:, :queries]
    return (torch.stack([key, keys + value], 2), key.gather(1, asked), value.gather(1, asked),
            length - per_pair * asked)


class Transformer(Translator):
    def __init__(self, per_pair, d=64):
        size = SimpleNamespace(vocabulary=128 // per_pair + VALUES, d_model=d, heads=4, layers=2,
                               d_ff=2 * d, dropout=0.0)
        super().__init__(size, pre_norm=True)
        self.per_pair = per_pair

    def forward(self, pairs, queries):
        x, y = (self.embedding(ids) * self.scale for ids in (pairs, queries))
        x = x.sum(2) if self.per_pair == 1 else x.flatten(1, 2)
        memory = self.transformer.encoder(x + self.positions[: x.shape[1]])
        alone = torch.full((queries.shape[1],) * 2, float("-inf")).fill_diagonal_(0)
        y = self.transformer.decoder(y, memory, tgt_mask=alone)
        return F.linear(y, self.embedding.weight[-VALUES:])


class LSTM(nn.Module):
    def __init__(self, per_pair, d, attention=0):  # attention: width of its hidden layer
        super().__init__()
        self.per_pair, self.attention = per_pair, attention
        self.embedding = nn.Embedding(128 // per_pair + VALUES, d)
        self.encoder, self.decoder = (nn.LSTM(d, d, batch_first=True) for _ in range(2))
        for lstm in (self.encoder, self.decoder):
            nn.init.ones_(lstm.bias_ih_l0[d:2 * d])
        if attention:
            self.query, self.key = (nn.Linear(d, attention, bias=False) for _ in range(2))
            self.score, self.joined = nn.Linear(attention, 1, bias=False), nn.Linear(2 * d, d)
        self.out = nn.Linear(d, VALUES)

    def forward(self, pairs, queries):
        x = self.embedding(pairs)
        memory, state = self.encoder(x.sum(2) if self.per_pair == 1 else x.flatten(1, 2))
        state = [s.repeat_interleave(queries.shape[1], 1) for s in state]  # once per query
        h = self.decoder(self.embedding(queries).flatten(0, 1)[:, None], state)[0]
        h = h.view(*queries.shape, -1)
        if self.attention:
            hidden = torch.tanh(self.query(h)[:, :, None] + self.key(memory)[:, None])
            context = self.score(hidden)[..., 0].softmax(2) @ memory
            h = torch.tanh(self.joined(torch.cat([context, h], 2)))
        return self.out(h)


MODELS = {"LSTM": lambda per_pair: LSTM(per_pair, 98),
          "LSTM with attention": lambda per_pair: LSTM(per_pair, 90, attention=32),
          "Transformer": Transformer}


def accuracy(model, per_pair, seed):
    """In %, by distance, of 256 sequences."""
    generator = torch.Generator().manual_seed(seed)
    right, total = torch.zeros(2, len(LENGTHS))
    for _ in range(8):
        pairs, queries, values, distances = batch_of(32, 128, 128, per_pair, generator)
        with torch.no_grad():
            hits = (model(pairs, queries).argmax(2) == values).float().flatten()
        bucket = torch.bucketize(distances.flatten(), LENGTHS)
        right.index_add_(0, bucket, hits)
        total.index_add_(0, bucket, torch.ones_like(hits))
    return 100 * right / total


def trained(name, per_pair, rate, seed, steps):
    """Accuracy of validation and of test, and CPU seconds of training."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)  # of the data, which are those of each model
    model = MODELS[name](per_pair)
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    start = time.process_time()
    for step in range(steps):
        length = LENGTHS[torch.randint(len(LENGTHS), (), generator=generator)].item()
        pairs, queries, values, _ = batch_of(2048 // length, length, 16, per_pair, generator)
        adam.param_groups[0]["lr"] = rate * min((step + 1) / 100, 1 - step / steps)
        adam.zero_grad(set_to_none=True)
        F.cross_entropy(model(pairs, queries).flatten(0, 1), values.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
    spent = time.process_time() - start
    valid, test = (accuracy(model, per_pair, s) for s in (1_000_001, 1_000_002))
    print(f"{per_pair}, {name}, rate {rate}, seed {seed}: {spent:.0f} CPU seconds, validation",
          " ".join(f"{x:.1f}" for x in valid.tolist()), file=sys.stderr, flush=True)
    return valid, test, spent


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--tokens-per-pair", type=int, nargs="+", choices=(1, 2), default=[1, 2])
    p.add_argument("--steps", type=int, default=1500, help="of 2,048 tokens")
    p.add_argument("--rates", type=float, nargs="+", default=[0.001, 0.003, 0.01])
    p.add_argument("--seeds", type=int, default=3)
    a = p.parse_args()
    torch.set_num_threads(1)
    print("| tokens per pair | model | parameters | rate | 1 to 8 | 9 to 16 | 17 to 32 | 33 to 64",
          f"| 65 to 128 | CPU seconds |\n|{'---|' * 10}")
    for per_pair in a.tokens_per_pair:
        for name in MODELS:
            runs = [(trained(name, per_pair, rate, 1, a.steps), rate) for rate in a.rates]
            first, rate = max(runs, key=lambda run: run[0][0].mean())
            seeds = range(2, a.seeds + 1)
            runs = [first] + [trained(name, per_pair, rate, seed, a.steps) for seed in seeds]
            size = sum(x.numel() for x in MODELS[name](per_pair).parameters())
            test = torch.stack([run[1] for run in runs]).T
            print(f"| {per_pair} | {name} | {size:,} | {rate} |",
                  " | ".join(f"{x.mean():.1f} ({x.min():.1f} to {x.max():.1f})" for x in test),
                  f"| {sum(run[2] for run in runs) / len(runs):.0f} |", flush=True)


if __name__ == "__main__":
    main()
