#!/usr/bin/env python3
"""Compares converted Llama and Mistral models with the package transformers.

usage: llama_equal.py BIN [SEED]    (pip install torch transformers sentencepiece)

Saves small models with random weights in several shapes by save_pretrained, converts them by
tx-convert, and compares log P of given texts (largest relative difference) and greedy continuations.
tx-convert --to llama must then give bit-identical weights. A model trained by tx is converted too.
BIN is the directory of the tools.
"""
import os
import random
import sys
import tempfile

import sentencepiece
import torch
from transformers import (LlamaConfig, LlamaForCausalLM, LlamaTokenizer, MistralConfig,
                          MistralForCausalLM)

from convert_equal import line, tool

NEW = 12


def train_pieces(folder, r, bytes=True):
    path = os.path.join(folder, "tokenizer")
    with open(path + ".txt", "w", encoding="utf-8") as f:
        f.writelines(line(r) + "\n" for _ in range(500))
    sentencepiece.SentencePieceTrainer.train(
        input=path + ".txt", model_prefix=path, vocab_size=320 if bytes else 60, model_type="bpe",
        byte_fallback=bytes, normalization_rule_name="identity", hard_vocab_limit=False,
        remove_extra_whitespaces=False, minloglevel=2)
    os.remove(path + ".txt")
    os.remove(path + ".vocab")
    return sentencepiece.SentencePieceProcessor(path + ".model")


def make_folder(folder, seed, mistral=False, more_rows=0, dtype=torch.float32, bytes=True,
                shard=None, safe=True, **shape):
    """A model with random weights; returns it and its vocabulary."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    os.makedirs(folder)
    sp = train_pieces(folder, r, bytes)
    shape = {**dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
                    vocab_size=len(sp) + more_rows, initializer_range=0.3), **shape}
    config = (MistralConfig if mistral else LlamaConfig)(**shape)
    model = (MistralForCausalLM if mistral else LlamaForCausalLM)(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("bias"):
                p.normal_(0, 0.3)
            elif "norm" in name:
                p.normal_(1, 0.2)
        # tx never outputs invalid UTF-8, so bytes must not be the most probable tokens.
        head = model.get_output_embeddings().weight
        for i in range(len(sp)):
            if sp.is_byte(i):
                head[i] *= 0.05
    model.to(dtype)
    model.save_pretrained(folder, safe_serialization=safe,
                          **({"max_shard_size": shard} if shard else {}))
    model = type(model).from_pretrained(folder, torch_dtype=torch.float32).eval()
    return model, sp


def given_away(model, sp):
    """Tokens that tx never outputs: bos, and the one used as pad."""
    pad = model.config.pad_token_id
    if pad is None or pad in (0, 1, 2):
        pad = sp.piece_to_id("<0x00>") or len(sp)  # the first unused row
    return [1, pad]


def continuation(model, sp, prompt, new=NEW):
    ids = [1] + sp.encode(prompt)
    with torch.no_grad():
        out = model.generate(
            torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            pad_token_id=given_away(model, sp)[1], max_new_tokens=new, do_sample=False,
            suppress_tokens=given_away(model, sp))[0].tolist()[len(ids):]
    if 2 in out:
        out = out[:out.index(2)]
    return [i for i in out if i < len(sp)], ids[1:]


def whole_text(model, sp, prompt):
    more, ids = continuation(model, sp, prompt)
    text = sp.decode([i for i in ids + more if i != 0])  # as skip_special_tokens does with <unk>
    return text.replace("\n", " ").strip(" ")


def pieces_of(sp, ids):
    return " ".join(sp.id_to_piece(i) for i in ids)


def log_p(model, sp, text):
    ids = [1] + sp.encode(text) + [2]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    return logits[:-1].gather(1, torch.tensor(ids[1:])[:, None]).sum().item()


def long_line(r):
    return " ".join(line(r) for _ in range(6))


def compare(bin, seed, what, **shape):
    r = random.Random(seed + 1)
    with tempfile.TemporaryDirectory() as top:
        folder, file = top + "/hf", top + "/m.safetensors"
        model, sp = make_folder(folder, seed, **shape)
        tool(bin, "tx-convert", "-q", folder, "-o", file)
        lines = [line(r) for _ in range(20)] + [long_line(r) for _ in range(3)]
        if shape.get("bytes", True):
            lines.append("ab \u00e4\U0001F600 dog")
        text = "".join(t + "\n" for t in lines)
        rows = tool(bin, "tx-decode", "-m", file, "--precision", "fp32", "--perplexity", text=text)
        ours = [float(row.split("\t")[1]) for row in rows]
        theirs = [log_p(model, sp, t) for t in lines]
        worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
        print(f"{what}: largest relative difference of log P {worst:.1e}")
        assert worst < 1e-5, (ours, theirs)
        given = "".join(pieces_of(sp, sp.encode(t)) + "\n" for t in lines)
        got = tool(bin, "tx-decode", "-m", file, "--precision", "fp32", "--beam", "1", "--max-new",
                   str(NEW), "--pieces", text=given)
        wanted = [pieces_of(sp, continuation(model, sp, t)[0]) for t in lines]
        if not shape.get("more_rows"):
            same = sum(a == b for a, b in zip(got, wanted))
            print(f"{what}: greedy: {same} of {len(lines)} continuations are the same")
            assert got == wanted, [x for x in zip(lines, got, wanted) if x[1] != x[2]]
        texts = tool(bin, "tx-decode", "-m", file, "--precision", "fp32", "--beam", "1",
                     "--max-new", str(NEW), "--echo", text=text)
        ends = [whole_text(model, sp, t) for t in lines]
        assert texts == ends, [x for x in zip(texts, ends) if x[0] != x[1]]
        tool(bin, "tx-convert", "-q", "--to", "llama", file, "-o", top + "/back")
        back = type(model).from_pretrained(top + "/back").state_dict()
        for name, weight in model.state_dict().items():
            assert torch.equal(weight, back[name]), name
        tokenizer = LlamaTokenizer.from_pretrained(top + "/back", legacy=True)
        for t in lines:
            assert tokenizer(t)["input_ids"] == [1] + sp.encode(t), t


def compare_own(bin):
    """A model that tx trained, converted and opened by transformers: weights and outputs."""
    r = random.Random(9)
    with tempfile.TemporaryDirectory() as top:
        lines = [line(r) for _ in range(300)]
        with open(top + "/text", "w", encoding="utf-8") as f:
            f.writelines(t + "\n" for t in lines)
        tool(bin, "tx-bpe", "train", "--vocab-size", "320", "-o", top + "/bpe.model", top + "/text")
        tool(bin, "tx-train", "-q", "--kind", "decoder", "--src", top + "/text", "--vocab",
             top + "/bpe.model", "--preset", "modern", "--layers", "2", "--d-model", "32",
             "--heads", "4", "--kv-heads", "2", "--d-ff", "48", "--steps", "300", "--batch-tokens",
             "512", "--lr", "0.005", "-o", top + "/run")
        tool(bin, "tx-convert", "-q", "--to", "llama", "-o", top + "/hf", top + "/run")
        model = LlamaForCausalLM.from_pretrained(top + "/hf").eval()
        tokenizer = LlamaTokenizer.from_pretrained(top + "/hf", legacy=True)
        text = "".join(t + "\n" for t in lines[:20])
        rows = tool(bin, "tx-decode", "-m", top + "/run", "--precision", "fp32", "--perplexity",
                    text=text)
        got = tool(bin, "tx-decode", "-m", top + "/run", "--precision", "fp32", "--beam", "1",
                   "--max-new", str(NEW), "--echo", text=text)
        worst = same = 0
        for prompt, row, ours in zip(lines, rows, got):
            ids = tokenizer(prompt)["input_ids"]
            whole = torch.tensor([ids + [tokenizer.eos_token_id]])
            with torch.no_grad():
                logits = model(whole).logits[0].double().log_softmax(-1)
                out = model.generate(whole[:, :-1], max_new_tokens=NEW, do_sample=False,
                                     attention_mask=torch.ones_like(whole[:, :-1]),
                                     suppress_tokens=[0, 1, 2])[0]
            theirs = logits[:-1].gather(1, whole[0, 1:, None]).sum().item()
            worst = max(worst, abs(float(row.split("\t")[1]) - theirs) / abs(theirs))
            same += tokenizer.decode(out, skip_special_tokens=True).strip() == ours.strip()
        print(f"trained by tx: largest relative difference of log P {worst:.1e}")
        print(f"trained by tx: greedy: {same} of {len(rows)} continuations are the same")
        assert worst < 1e-5 and same == len(rows)


def main():
    bin = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    llama3 = dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                  original_max_position_embeddings=16)
    compare(bin, seed, "grouped queries, untied")
    compare(bin, seed, "one head of keys, tied, shards, bin", num_key_value_heads=1,
            tie_word_embeddings=True, safe=False, shard="50KB")
    compare(bin, seed, "all heads, biases, f16", num_key_value_heads=4, attention_bias=True,
            mlp_bias=True, dtype=torch.float16, shard="30KB")
    compare(bin, seed, "bf16, wide heads, rope_theta", head_dim=12, rope_theta=5000.0,
            dtype=torch.bfloat16)
    compare(bin, seed, "llama3 scaling", rope_scaling=llama3, rope_theta=100.0, rms_norm_eps=1e-5)
    compare(bin, seed, "linear scaling", rope_scaling=dict(rope_type="linear", factor=4.0))
    compare(bin, seed, "more rows than pieces, no bytes", more_rows=7, bytes=False)
    compare(bin, seed, "mistral", mistral=True, sliding_window=5)
    compare(bin, seed, "mistral without a window", mistral=True, sliding_window=None)
    compare_own(bin)


if __name__ == "__main__":
    main()
