#!/usr/bin/env python3
"""Trains an LSTM with attention on the sequences of examples/paper/parse.sh, for Table 4.

Files have a sentence per line, with tokens separated by spaces. After Vinyals et al. (2015) and Luong
et al. (2015): a bidirectional encoder, a decoder of as many layers, general attention over the
encoder's outputs, dropout, Adam. Trains for some CPU minutes, halves the learning rate when the loss
on DEV does not fall, and writes greedy outputs of the best weights for TEST to standard output. Needs
the package torch.
"""
import argparse
import collections
import random
import sys
import time

import torch
from torch import nn

PAD, UNK, BOS, EOS = range(4)


def read(path):
    return [line.split() for line in open(path, encoding="utf-8")]


class Words:
    def __init__(self, lines, least):
        count = collections.Counter(word for line in lines for word in line)
        self.texts = ["<pad>", "<unk>", "<s>", "</s>"]
        self.texts += sorted(word for word, n in count.items() if n >= least)
        self.ids = {text: i for i, text in enumerate(self.texts)}

    def encode(self, lines):
        return [[self.ids.get(word, UNK) for word in line] for line in lines]


def padded(rows):
    return nn.utils.rnn.pad_sequence([torch.tensor(r) for r in rows], batch_first=True)


def batches_of(pairs, room):
    """Batches of pairs of similar length; the longer padded side has at most `room` cells."""
    pairs = sorted(pairs, key=lambda p: (max(len(p[0]), len(p[1])), len(p[0])))
    batch, batches = [], []
    for pair in pairs:
        if batch and max(len(pair[0]), len(pair[1])) * (len(batch) + 1) > room:
            batches.append(batch)
            batch = []
        batch.append(pair)
    return batches + [batch]


class Parser(nn.Module):
    def __init__(self, sources, targets, a):
        super().__init__()
        half = a.width // 2
        self.source = nn.Embedding(sources, a.width, padding_idx=PAD)
        self.target = nn.Embedding(targets, a.width, padding_idx=PAD)
        self.encoder = nn.LSTM(a.width, half, a.layers, batch_first=True, dropout=a.dropout,
                               bidirectional=True)
        self.decoder = nn.LSTM(a.width, a.width, a.layers, batch_first=True, dropout=a.dropout)
        self.score = nn.Linear(a.width, a.width, bias=False)
        self.combine = nn.Linear(2 * a.width, a.width)
        self.out = nn.Linear(a.width, targets)
        self.dropout = nn.Dropout(a.dropout)

    def encode(self, ids):
        lengths = (ids != PAD).sum(1)
        rows = nn.utils.rnn.pack_padded_sequence(self.dropout(self.source(ids)), lengths,
                                                 batch_first=True, enforce_sorted=False)
        rows, (h, c) = self.encoder(rows)
        memory, _ = nn.utils.rnn.pad_packed_sequence(rows, batch_first=True)
        both = lambda x: torch.cat([x[0::2], x[1::2]], 2).contiguous()
        return memory, ids == PAD, (both(h), both(c))

    def decode(self, inputs, memory, hidden, state):
        rows, state = self.decoder(self.dropout(self.target(inputs)), state)
        scores = self.score(rows) @ memory.transpose(1, 2)
        weights = scores.masked_fill(hidden[:, None, :], -1e9).softmax(2)
        rows = torch.tanh(self.combine(torch.cat([weights @ memory, rows], 2)))
        return self.out(self.dropout(rows)), state

    def loss(self, batch):
        memory, hidden, state = self.encode(padded([s for s, _ in batch]))
        logits, _ = self.decode(padded([[BOS] + t for _, t in batch]), memory, hidden, state)
        labels = padded([t + [EOS] for _, t in batch])
        return nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(),
                                           ignore_index=PAD, reduction="sum"), (labels != PAD).sum()

    @torch.no_grad()
    def answer(self, sources):
        memory, hidden, state = self.encode(padded(sources))
        ids = torch.full((len(sources), 1), BOS)
        done, rows = torch.zeros(len(sources), dtype=torch.bool), []
        for _ in range(max(map(len, sources)) + 300):
            logits, state = self.decode(ids, memory, hidden, state)
            ids = logits[:, :, UNK + 1:].argmax(2) + UNK + 1
            done |= ids[:, 0] == EOS
            if done.all():
                break
            rows.append(torch.where(done, PAD, ids[:, 0]))
        return torch.stack(rows, 1).tolist() if rows else [[] for _ in sources]


@torch.no_grad()
def loss_of(model, batches):
    model.eval()
    sums = [model.loss(batch) for batch in batches]
    model.train()
    return float(sum(s for s, _ in sums)) / float(sum(n for _, n in sums))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("train_src", "train_tgt", "dev_src", "dev_tgt", "test_src"):
        parser.add_argument(name)
    parser.add_argument("--minutes", type=float, default=20, help="CPU minutes")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--dropout", type=float, default=0.3)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--room", type=int, default=4096)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    order = random.Random(a.seed)

    lines = {name: read(getattr(a, name)) for name in
             ("train_src", "train_tgt", "dev_src", "dev_tgt", "test_src")}
    sources, targets = Words(lines["train_src"], 2), Words(lines["train_tgt"], 1)
    pairs = {part: [p for p in zip(sources.encode(lines[part + "_src"]),
                                   targets.encode(lines[part + "_tgt"])) if p[0] and p[1]]
             for part in ("train", "dev")}
    train, dev = (batches_of(pairs[part], a.room) for part in ("train", "dev"))
    model = Parser(len(sources.texts), len(targets.texts), a)
    adam = torch.optim.Adam(model.parameters(), a.rate)
    best, kept, epoch = float("inf"), None, 0
    while time.process_time() < 60 * a.minutes:
        order.shuffle(train)
        for batch in train:
            loss, labels = model.loss(batch)
            adam.zero_grad()
            (loss / labels).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1)
            adam.step()
            if time.process_time() >= 60 * a.minutes:
                break
        epoch += 1
        found = loss_of(model, dev)
        print(f"epoch {epoch}: loss of dev {found:.4f}, {time.process_time() / 60:.1f} minutes",
              file=sys.stderr)
        if found < best:
            best, kept = found, {k: v.clone() for k, v in model.state_dict().items()}
        else:
            for group in adam.param_groups:
                group["lr"] /= 2
    model.load_state_dict(kept)
    model.eval()
    numbered = [(i, s) for i, s in enumerate(sources.encode(lines["test_src"])) if s]
    numbered.sort(key=lambda x: len(x[1]))
    answers = [""] * len(lines["test_src"])
    for at in range(0, len(numbered), 64):
        part = numbered[at:at + 64]
        for (i, _), ids in zip(part, model.answer([s for _, s in part])):
            answers[i] = " ".join(targets.texts[x] for x in ids if x != PAD)
    print("\n".join(answers))


main()
