#!/usr/bin/env python3
"""Compares converted GPT-2 models with the package transformers.

usage: gpt2_equal.py BIN    (pip install torch transformers)

Saves small models with random weights by save_pretrained, converts them by tx-convert, and compares
log P of lines of subwords (largest relative difference) and greedy continuations. <|endoftext|>
precedes and follows the lines. BIN is the directory of the tools.
"""
import json
import random
import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from convert_equal import tool

PIECES = ("a b c d o g ab \u0120 \u0120a \u0120ab \u0120dog \u0120go \u0120gold old ! , 's "
          "\u00c3 \u00a4 <|endoftext|>").split()
END = len(PIECES) - 1
NEW = 12


def line(r):
    return " ".join(r.choice(PIECES[:END]) for _ in range(r.randint(1, 9)))


def make_folder(folder, seed, safe=True, dtype=torch.float32, bare=False, **shape):
    torch.manual_seed(seed)
    config = GPT2Config(**{**dict(
        vocab_size=len(PIECES), n_positions=48, n_embd=16, n_layer=2, n_head=2,
        initializer_range=0.4, bos_token_id=END, eos_token_id=END), **shape})
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("bias"):
                p.normal_(0, 0.3)
            elif "ln_" in name:
                p.normal_(1, 0.2)
    model.to(dtype).save_pretrained(folder, safe_serialization=safe)
    if bare:  # names without "transformer.", and masks, as in early models
        state = {n.removeprefix("transformer."): w for n, w in model.state_dict().items()
                 if n != "lm_head.weight"}
        state["h.0.attn.bias"] = torch.ones(1, 1, 48, 48).tril()
        torch.save(state, folder + "/pytorch_model.bin")
    with open(folder + "/vocab.json", "w", encoding="utf-8") as f:
        json.dump({p: i for i, p in enumerate(PIECES)}, f)
    return GPT2LMHeadModel.from_pretrained(folder, torch_dtype=torch.float32).eval()


def ids_of(text):
    return [END] + [PIECES.index(p) for p in text.split()]


def log_p(model, text):
    ids = ids_of(text) + [END]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    return logits[:-1].gather(1, torch.tensor(ids[1:])[:, None]).sum().item()


def greedy(model, text):
    ids = torch.tensor([ids_of(text)])
    with torch.no_grad():
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW,
                             do_sample=False, pad_token_id=END)[0, ids.shape[1]:].tolist()
    return " ".join(PIECES[i] for i in out if i != END)


def compare(bin, what, seed, **shape):
    with tempfile.TemporaryDirectory() as top:
        folder, file = top + "/hf", top + "/m.safetensors"
        model = make_folder(folder, seed, **shape)
        tool(bin, "tx-convert", "-q", folder, "-o", file)
        r = random.Random(seed + 1)
        lines = [line(r) for _ in range(25)]
        text = "".join(t + "\n" for t in lines)
        rows = tool(bin, "tx-decode", "-m", file, "--precision", "fp32", "--perplexity", text=text)
        ours = [float(row.split("\t")[1]) for row in rows]
        theirs = [log_p(model, t) for t in lines]
        worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
        print(f"{what}: largest relative difference of log P {worst:.1e}")
        assert worst < 1e-5, (ours, theirs)
        got = [t.strip() for t in tool(bin, "tx-decode", "-m", file, "--precision", "fp32",
                                       "--beam", "1", "--max-new", str(NEW), text=text)]
        wanted = [greedy(model, t) for t in lines]
        print(f"{what}: greedy: {sum(a == b for a, b in zip(got, wanted))} of {len(lines)} are "
              "the same")
        assert got == wanted, [x for x in zip(lines, got, wanted) if x[1] != x[2]]


def main():
    bin = sys.argv[1]
    compare(bin, "gpt2", 1)
    compare(bin, "gpt2, f16, wide inner layer, bin", 2, n_inner=40, dtype=torch.float16, safe=False)
    compare(bin, "gpt2, untied", 3,
            tie_word_embeddings=False, n_head=4)
    compare(bin, "gpt2, names of the first folders", 4, safe=False, bare=True, n_layer=1)


if __name__ == "__main__":
    main()
