#!/usr/bin/env python3
"""Writes tests/golden/marian_npz: small models trained by Marian, and Marian's output for
tests/cli/tx-convert/marian_npz.sh.

usage: make_marian_npz.py    (pip install pymarian; its training differs between machines)

A directory for each form, with the files that Marian writes. source.en, target.de: lines for all of
them; FORM/log_p: their natural log-probability; FORM/greedy.de: translations, if Marian's agree with
its scores (see tests/bench/peers/marian_npz_equal.py). firefox: ssru/model.npz with 8-bit weights, as
Firefox's translators have it, and a shortlist by Marian.
"""
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
import marian_npz_equal as peer  # noqa: E402


def write_bin(path, npz):
    """The format that lib/convert/formats/marian_file.cpp describes, as Bergamot's Marian writes it:
    round(q w) with q = 127 / max |w| of the matrix, transposed unless it is the embedding."""
    items = []
    for name, x in npz.items():
        if name == "special:model.yml":
            items.append((name, 0x101, x.shape, x.tobytes()))
            continue
        x = np.asarray(x, np.float32)
        data, kind = x.tobytes(), 0x404
        if name.rsplit("_", 1)[-1] in ("W", "Wf", "Wq", "Wk", "Wv", "Wo", "W1", "W2", "Wemb"):
            q, kind = np.float32(127) / np.abs(x).max(), 0x4101
            whole = np.rint(x * q).astype(np.int8)
            data = (whole if name == "Wemb" else whole.T).tobytes() + struct.pack("<f", q)
            alpha = struct.pack("<f", 25)
            items.append((name + "_QuantMultA", 0x404, (1, 1), alpha + bytes(-len(alpha) % 256)))
        items.append((name, kind, x.shape, data + bytes(-len(data) % 256)))
    items.sort()
    out = struct.pack("<QQ", 1, len(items))
    out += b"".join(struct.pack("<4Q", len(n) + 1, k, len(s), len(d)) for n, k, s, d in items)
    out += b"".join(n.encode() + b"\0" for n, k, s, d in items)
    out += b"".join(struct.pack(f"<{len(s)}i", *s) for n, k, s, d in items)
    gap = -(len(out) + 8) % 256
    with open(path, "wb") as f:
        f.write(out + struct.pack("<Q", gap) + bytes(gap) + b"".join(d for n, k, s, d in items))


def make_firefox(ssru):
    os.makedirs("marian_npz/firefox")
    vocabulary = "marian_npz/firefox/vocab.ende.spm"
    shutil.copyfile(ssru.vocabularies[0], vocabulary)
    write_bin("marian_npz/firefox/model.ende.intgemm.alphas.bin", np.load(ssru.path("model.npz")))
    peer.write("lex", [f"\u2581{d} \u2581{e} 0.9" for d, e in zip(peer.DE, peer.EN)])
    subprocess.run([sys.executable, "-m", "pymarian", "convert", "-s", "lex", "10", "5", "0",
                    "-d", "marian_npz/firefox/lex.50.50.ende.s2t.bin", "-V", vocabulary, vocabulary],
                   check=True)
    os.remove("lex")


def main():
    top = os.path.join(HERE, "marian_npz")
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    sources, targets = zip(*peer.pairs(9, 16))
    targets = targets[:8] + targets[:8]
    peer.write(os.path.join(top, "source.en"), sources)
    peer.write(os.path.join(top, "target.de"), targets)
    os.chdir(HERE)  # so that Marian writes short paths into its files
    for form, d in (("tied", 12), ("pre", 8), ("untied", 8), ("ssru", 12)):
        folder = os.path.join("marian_npz", form)
        model = peer.Model(folder, form, d, 30)
        log_p = [f"{x:.5f}" for x in model.log_p(sources, targets)]
        peer.write(model.path("log_p"), log_p)
        if form != "pre":
            peer.write(model.path("greedy.de"), model.translate(sources, 1))
        for name in os.listdir(folder):
            if name.endswith((".optimizer.npz", ".progress.yml", "model.npz.yml")):
                os.remove(model.path(name))
        if form == "ssru":
            make_firefox(model)


if __name__ == "__main__":
    main()
