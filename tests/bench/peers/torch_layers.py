#!/usr/bin/env python3
"""Time of PyTorch's layers by sentence length n and width d: rows of Table 1 of "Attention Is All
You Need", next to the times of tx from examples/paper/table1.sh.

Prints the milliseconds per sentence of one layer, forward and backward, in fp32 on one thread, best
of --repetitions. Gradients are those of the input and the parameters. The layers: nn.LSTM, nn.GRU,
nn.Conv1d with ReLU, and scaled_dot_product_attention with its four projections and heads of 64. The
first table is for a single sentence, the second for batches of --tokens tokens, as in table1.sh. The
third table is their quotient. It shows the sequential operations: the n steps of a recurrent layer
cannot run at once, but each step computes all sentences of a batch. The paper's terms are then
fitted to each table by least squares of the relative errors; B is the number of sentences in a batch.

The layer of table1.sh also has layer normalisation, residual connections, a feed-forward network of
width 16 and its share of Adam; for fp32 add OPTIONS="--threads 1 --precision fp32". Restricted
attention is not measured: PyTorch computes all n^2 scores and masks them. The maximum path length is
a property of the layer and is not measured. Needs an idle machine and the packages torch and numpy.
"""
import argparse
import time

import numpy
import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.heads = d // 64
        self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x):  # (B, n, d)
        q, k, v = (t.unflatten(2, (self.heads, 64)).transpose(1, 2) for t in self.qkv(x).chunk(3, 2))
        return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


# The layer of width d, and the terms of a sentence's time. "/ B": once per batch.
KINDS = {
    "LSTM": (lambda d, k: nn.LSTM(d, d, batch_first=True), ("n d^2", "n d", "n / B")),
    "GRU": (lambda d, k: nn.GRU(d, d, batch_first=True), ("n d^2", "n d", "n / B")),
    "convolution": (lambda d, k: nn.Sequential(nn.Conv1d(d, d, k, padding=k // 2), nn.ReLU()),
                    ("k n d^2", "n d", "1 / B")),
    "attention": (lambda d, k: Attention(d), ("n^2 d", "n d^2", "n d", "1 / B")),
}


def terms(n, d, k, batch):
    return {"n^2 d": n * n * d, "n d^2": n * d * d, "k n d^2": k * n * d * d, "n d": n * d,
            "n / B": n / batch, "1 / B": 1 / batch}


def seconds(kind, n, d, a, batch):
    """Per sentence, the best of the repetitions, which last at least 20 ms each."""
    layer = KINDS[kind][0](d, a.kernel)
    # A convolution gets the layout that it computes in.
    x = torch.randn((batch, d, n) if kind == "convolution" else (batch, n, d), requires_grad=True)
    gradient = torch.randn_like(x)

    def repetition(times):
        start = time.perf_counter()
        for _ in range(times):
            layer.zero_grad(set_to_none=True)
            x.grad = None
            y = layer(x)
            (y[0] if isinstance(y, tuple) else y).backward(gradient)
        return (time.perf_counter() - start) / times

    repetition(1)  # the first call allocates
    times = 1 + int(0.02 / repetition(1))
    return min(repetition(times) for _ in range(a.repetitions)) / batch


def fit(kind, times, a):
    """Coefficients in ns and the error; a term whose coefficient would be negative is left out."""
    names = list(KINDS[kind][1])
    while True:
        rows = numpy.array([[terms(n, d, a.kernel, batch)[name] / t for name in names]
                            for (n, d), (t, batch) in times.items()])
        scale = rows.max(axis=0)
        x = numpy.linalg.lstsq(rows / scale, numpy.ones(len(rows)), rcond=None)[0] / scale
        if x.min() >= 0 or len(names) == 1:
            break
        del names[x.argmin()]
    error = numpy.sqrt(numpy.mean((rows @ x - 1) ** 2))
    return " + ".join(f"{c * 1e9:.3g} {name}" for name, c in zip(names, x)), error


def print_table(title, cells, a):
    print(f"\n{title}\n\n| d | n | {' | '.join(KINDS)} |\n|---|---|{'---|' * len(KINDS)}")
    for d in a.widths:
        for n in a.lengths:
            print(f"| {d} | {n} | {' | '.join(cells(kind, n, d) for kind in KINDS)} |")


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--lengths", type=int, nargs="+", default=[64, 128, 256, 512, 1024, 2048])
    p.add_argument("--widths", type=int, nargs="+", default=[64, 128, 256, 512])
    p.add_argument("--kernel", type=int, default=3, help="width of the convolution, odd")
    p.add_argument("--tokens", type=int, default=4096, help="tokens per batch in the second table")
    p.add_argument("--repetitions", type=int, default=5)
    a = p.parse_args()
    if a.kernel % 2 == 0 or any(d % 64 for d in a.widths) or a.tokens < max(a.lengths):
        p.error("--kernel must be odd, --widths multiples of 64, and --tokens at least --lengths")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print(f"PyTorch {torch.__version__}, fp32, one thread, convolution of width {a.kernel}")
    alone, batched = ({kind: {} for kind in KINDS} for _ in range(2))
    for times, tokens in ((alone, 0), (batched, a.tokens)):
        for kind in KINDS:
            for d in a.widths:
                for n in a.lengths:
                    batch = max(1, tokens // n)
                    times[kind][n, d] = seconds(kind, n, d, a, batch), batch
    measured = (("One sentence", alone), (f"Batches of {a.tokens:,} tokens", batched))
    for title, times in measured:
        print_table(f"{title}, ms per sentence:",
                    lambda kind, n, d: f"{times[kind][n, d][0] * 1e3:.3g}", a)
    print_table("Time of a sentence alone relative to one in a batch:",
                lambda kind, n, d: f"{alone[kind][n, d][0] / batched[kind][n, d][0]:.2f}", a)
    for title, times in measured:
        print(f"\n{title}, fit in ns per sentence, and its root mean square error:\n")
        for kind in KINDS:
            formula, error = fit(kind, times[kind], a)
            print(f"- {kind}: {formula}, {100 * error:.0f} %")


if __name__ == "__main__":
    main()
