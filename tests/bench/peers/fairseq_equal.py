#!/usr/bin/env python3
"""Compares converted FSMT models and fairseq checkpoints with the package transformers.

usage: fairseq_equal.py BIN    (pip install torch transformers)

FSMT is Hugging Face's form of fairseq's Transformer. Small models with random weights are saved by
save_pretrained, and in the format of fairseq: the same weights under fairseq's names, the settings
as a Namespace or a dict, and the dictionaries. Pre-norm and learned positions, which FSMT lacks, are
implemented here with its modules. Compares log P of given translations and greedy translations. BIN
is the directory of the tools.
"""
import argparse
import json
import os
import random
import sys
import tempfile

import torch
from transformers import FSMTConfig, FSMTForConditionalGeneration

from convert_equal import tool

WORDS = "ab ba@@ abc c@@ dog god@@ gold \u00e4l@@ cold a b c do@@ go so".split()
SPECIALS = ["<s>", "<pad>", "</s>", "<unk>"]
NEW = 12


class Positions(torch.nn.Embedding):
    def forward(self, ids, **_):
        return super().forward(torch.arange(ids.shape[1])[None] + 2)


def line(r):
    return " ".join(r.choice(WORDS) for _ in range(r.randint(1, 9)))


def words_of(extra):
    return SPECIALS + WORDS + [f"madeupword{i:04d}" for i in range(extra)]


def make_model(seed, tied=False, extra=0, learned=False, pre=False, **shape):
    torch.manual_seed(seed)
    sizes = [len(words_of(0 if tied else extra)), len(words_of(0))]
    config = FSMTConfig(
        src_vocab_size=sizes[0], tgt_vocab_size=sizes[1], tie_word_embeddings=tied,
        max_position_embeddings=40, dropout=0.0, forced_eos_token_id=None,
        **{**dict(init_std=1.0, d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
                  decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24), **shape})
    model = FSMTForConditionalGeneration(config).eval()
    for stack in (model.model.encoder, model.model.decoder):
        if learned:
            stack.embed_positions = Positions(42, config.d_model)
        stack.layer_norm = torch.nn.LayerNorm(config.d_model) if pre else None
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("bias"):
                p.normal_(0, 0.2)
            elif "norm" in name:
                p.normal_(1, 0.2)
            elif "embed_tokens" in name:
                p[1] = 0
            elif learned and "embed_positions" in name:
                p.normal_(0, 0.5)
    return model


def logits_of(model, source, target):
    """The logits of a pre-norm model."""
    m = model.model
    scale = m.encoder.embed_scale

    def stack(s, ids, memory):
        x = (s.embed_tokens(ids) * scale + s.embed_positions(ids)).transpose(0, 1)
        n = len(x)
        mask = torch.full((n, n), float("-inf")).triu(1) if memory is not None else None
        for layer in s.layers:
            y = layer.self_attn_layer_norm(x)
            options = {} if mask is None else {"attn_mask": mask}
            x = x + layer.self_attn(query=y, key=y, **options)[0]
            if memory is not None:
                y = layer.encoder_attn_layer_norm(x)
                x = x + layer.encoder_attn(query=y, key=memory)[0]
            y = layer.final_layer_norm(x)
            x = x + layer.fc2(layer.activation_fn(layer.fc1(y)))
        return s.layer_norm(x)

    x = stack(m.decoder, target, stack(m.encoder, source, None))
    return m.decoder.output_projection(x.transpose(0, 1))


def ids_of(text):
    words = SPECIALS + WORDS
    return [words.index(w) if w in words else 3 for w in text.split()] + [2]


def log_p(model, source, target):
    labels = ids_of(target)
    batch = torch.tensor([ids_of(source)]), torch.tensor([[2] + labels[:-1]])
    with torch.no_grad():
        if model.model.encoder.layer_norm is not None:
            logits = logits_of(model, *batch)[0]
        else:
            logits = model(input_ids=batch[0], decoder_input_ids=batch[1],
                           use_cache=False).logits[0]
    return logits.double().log_softmax(-1).gather(1, torch.tensor(labels)[:, None]).sum().item()


def greedy(model, source):
    ids = ids_of(source)
    out = [2]
    for _ in range(len(ids) - 1 + NEW):
        batch = torch.tensor([ids]), torch.tensor([out])
        with torch.no_grad():
            if model.model.encoder.layer_norm is not None:
                logits = logits_of(model, *batch)[0, -1]
            else:
                logits = model(input_ids=batch[0], decoder_input_ids=batch[1],
                           use_cache=False).logits[0, -1]
        logits[1] = float("-inf")  # fairseq never outputs <pad>
        out.append(int(logits.argmax()))
        if out[-1] == 2:
            break
    names = ["<row-0>"] + SPECIALS[1:] + WORDS
    return " ".join(names[i] for i in out[1:] if i != 2)


def save_fsmt(folder, model, extra):
    model.save_pretrained(folder)
    for name, words in (("vocab-src", words_of(extra)), ("vocab-tgt", words_of(0))):
        pieces = SPECIALS + [w[:-2] if w.endswith("@@") else w + "</w>" for w in words[4:]]
        with open(f"{folder}/{name}.json", "w", encoding="utf-8") as f:
            json.dump({p: i for i, p in enumerate(pieces)}, f)


def save_fairseq(folder, model, extra, tied, learned, pre, plain=False, half=False):
    """Writes what fairseq's checkpoint_utils.save_state writes; plain: since 0.10.1."""
    os.makedirs(folder)
    c = model.config
    settings = dict(
        arch="transformer_iwslt_de_en", encoder_layers=c.encoder_layers,
        decoder_layers=c.decoder_layers, encoder_embed_dim=c.d_model, decoder_embed_dim=c.d_model,
        encoder_ffn_embed_dim=c.encoder_ffn_dim, decoder_ffn_embed_dim=c.decoder_ffn_dim,
        encoder_attention_heads=c.encoder_attention_heads,
        decoder_attention_heads=c.decoder_attention_heads, encoder_normalize_before=pre,
        decoder_normalize_before=pre, encoder_learned_pos=learned, decoder_learned_pos=learned,
        share_all_embeddings=tied, share_decoder_input_output_embed=True,
        activation_fn=c.activation_function, no_token_positional_embeddings=False,
        no_scale_embedding=False, adaptive_softmax_cutoff=None, max_source_positions=40,
        max_target_positions=40, adam_betas="(0.9, 0.98)", lr=[0.0005], dropout=0.3)
    task = dict(source_lang="en", target_lang="de")
    weights = {}
    for name, weight in model.state_dict().items():
        if "embed_positions" in name and not learned:
            continue
        weights[name.removeprefix("model.")] = weight.half() if half else weight.clone()
    for stack in ("encoder", "decoder"):
        weights[stack + ".version"] = torch.tensor([3.0])
        if not learned:
            weights[stack + ".embed_positions._float_tensor"] = torch.zeros(1)
    state = {"args": None if plain else argparse.Namespace(**settings, **task),
             "cfg": {"model": {"_name": settings["arch"], **settings}, "task": task} if plain
             else None,
             "model": weights,
             "optimizer_history": [{"criterion_name": "LabelSmoothedCrossEntropyCriterion",
                                    "num_updates": 7, "best_loss": 3.5}],
             "extra_state": {"epoch": 1, "val_loss": 3.5}, "last_optimizer_state": None}
    torch.save(state, folder + "/checkpoint_best.pt")
    for name, words in (("en", words_of(extra)), ("de", words_of(0))):
        with open(f"{folder}/dict.{name}.txt", "w", encoding="utf-8") as f:
            f.writelines(f"{w} {100 - i}\n" for i, w in enumerate(words[4:]))


def check(bin, what, model, folder, file):
    r = random.Random(7)
    lines = [line(r) for _ in range(20)] + ["ab nothing dog"]
    targets = [line(r) for _ in lines]
    tool(bin, "tx-convert", "-q", folder, "-o", file)
    with open(file + ".targets", "w", encoding="utf-8") as f:
        f.writelines(t + "\n" for t in targets)
    source = "".join(t + "\n" for t in lines)
    rows = tool(bin, "tx-decode", "-m", file, "--precision", "fp32", "--tgt", file + ".targets",
                text=source)
    ours = [float(row.split("\t")[1]) for row in rows]
    theirs = [log_p(model, s, t) for s, t in zip(lines, targets)]
    worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
    print(f"{what}: largest relative difference of log P {worst:.1e}")
    assert worst < 1e-5, (ours, theirs)
    got = tool(bin, "tx-decode", "-m", file, "--precision", "fp32", "--beam", "1", "--max-extra",
               str(NEW), text=source)
    wanted = [greedy(model, s) for s in lines]
    got = [t.replace("<bos>", "<row-0>").replace("<s>_", "<row-0>") for t in got]
    print(f"{what}: greedy: {sum(a == b for a, b in zip(got, wanted))} of {len(lines)} are the same")
    assert got == wanted, [x for x in zip(lines, got, wanted) if x[1] != x[2]]


def main():
    bin = sys.argv[1]
    with tempfile.TemporaryDirectory() as top:
        cases = [("two vocabularies", dict(extra=3)), ("one embedding", dict(tied=True)),
                 ("gelu, wide", dict(d_model=32, activation_function="gelu", decoder_layers=1))]
        for i, (what, shape) in enumerate(cases):
            model, extra = make_model(i, **shape), shape.get("extra", 0)
            save_fsmt(f"{top}/fsmt{i}", model, extra)
            check(bin, "FSMT, " + what, model, f"{top}/fsmt{i}", f"{top}/a{i}")
        cases += [("norms before", dict(pre=True)), ("learned positions", dict(learned=True)),
                  ("both, a dict", dict(pre=True, learned=True, tied=True))]
        for i, (what, shape) in enumerate(cases):
            model, extra = make_model(i, **shape), shape.get("extra", 0)
            save_fairseq(f"{top}/fairseq{i}", model, extra, shape.get("tied", False),
                         shape.get("learned", False), shape.get("pre", False), plain=i == 5)
            check(bin, "fairseq, " + what, model, f"{top}/fairseq{i}", f"{top}/b{i}")


if __name__ == "__main__":
    main()
