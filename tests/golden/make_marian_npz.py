#!/usr/bin/env python3
"""Writes tests/golden/marian_npz: small models trained by Marian, and Marian's output for
tests/cli/tx-convert/marian_npz.sh.

usage: make_marian_npz.py    (pip install pymarian; its training differs between machines)

A directory for each form, with the files that Marian writes. source.en, target.de: lines for all of
them; FORM/log_p: their natural log-probability; FORM/greedy.de: translations, if Marian's agree with
its scores (see tests/bench/peers/marian_npz_equal.py).
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
import marian_npz_equal as peer  # noqa: E402


def main():
    top = os.path.join(HERE, "marian_npz")
    shutil.rmtree(top, ignore_errors=True)
    os.makedirs(top)
    sources, targets = zip(*peer.pairs(9, 16))
    targets = targets[:8] + targets[:8]
    peer.write(os.path.join(top, "source.en"), sources)
    peer.write(os.path.join(top, "target.de"), targets)
    os.chdir(HERE)  # so that Marian writes short paths into its files
    for form, d in (("tied", 12), ("pre", 8), ("untied", 8)):
        folder = os.path.join("marian_npz", form)
        model = peer.Model(folder, form, d, 30)
        log_p = [f"{x:.5f}" for x in model.log_p(sources, targets)]
        peer.write(model.path("log_p"), log_p)
        if form != "pre":
            peer.write(model.path("greedy.de"), model.translate(sources, 1))
        for name in os.listdir(folder):
            if name.endswith((".optimizer.npz", ".progress.yml", "model.npz.yml")):
                os.remove(model.path(name))


if __name__ == "__main__":
    main()
