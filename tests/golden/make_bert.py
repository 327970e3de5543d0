#!/usr/bin/env python3
"""Writes tests/golden/bert and roberta: directories of Hugging Face with random weights, as
sentence-transformers saves them, and the outputs of the package transformers for
tests/cli/tx-convert/bert.sh.

usage: make_bert.py    (pip install torch transformers)

lines: texts; vectors: their means of the last layer, the special tokens included (bert: divided by
their length; roberta: the first token instead); masked: texts with <mask>; filled: the three most
probable tokens for each mask and their probabilities.
"""
import json
import os
import random
import shutil
import sys

import torch
from tokenizers import (AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        processors, trainers)
from transformers import (BertConfig, BertForMaskedLM, PreTrainedTokenizerFast, RobertaConfig,
                          RobertaForMaskedLM)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
from convert_equal import WORDS, line  # noqa: E402

SHAPE = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2)


def word_pieces():
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = sorted(set("".join(WORDS)))
    pieces = special + letters + ["##" + c for c in letters] + [
        "ab", "go", "dog", "old", "co", "##ld", "##ab", "##om"]
    tok = Tokenizer(models.WordPiece({text: i for i, text in enumerate(pieces)},
                                     unk_token="[UNK]"))
    tok.normalizer = normalizers.BertNormalizer(lowercase=True)
    tok.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tok.decoder = decoders.WordPiece()
    tok.add_special_tokens(special)
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    return tok, "[MASK]"


def byte_pairs(r):
    tok = Tokenizer(models.BPE(unk_token="<unk>"))
    tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator([line(r) for _ in range(300)], trainers.BpeTrainer(
        vocab_size=280, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    tok.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0),
                                                      add_prefix_space=False)
    tok.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    return tok, "<mask>"


def random_model(kind, config, seed):
    torch.manual_seed(seed)
    model = kind(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            norm = "LayerNorm.weight" in name or "layer_norm.weight" in name
            p.normal_(1 if norm else 0, 0.2 if norm else 0.3)
    return model


def save(name, model, tok, mask, pooling, unit):
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tok, mask_token=mask).save_pretrained(folder)
    kinds = ["Transformer", "Pooling"] + ["Normalize"] * unit
    modules = [dict(idx=i, name=str(i), path="" if i == 0 else f"{i}_{kind}",
                    type="sentence_transformers.models." + kind) for i, kind in enumerate(kinds)]
    os.makedirs(folder + "/1_Pooling")
    for path, content in (("modules.json", modules),
                          ("1_Pooling/config.json", {f"pooling_mode_{pooling}": True})):
        with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
            json.dump(content, f)
    r = random.Random(8)
    lines = [line(r) for _ in range(10)] + ["Zz ab, cd!", "ä"]
    masked = ["ab <mask> cold", "<mask> dog go", "so <mask> do <mask>"]
    vectors, filled = [], []
    body = model.base_model
    with torch.no_grad():
        for text in lines:
            hidden = body(torch.tensor([tok.encode(text).ids])).last_hidden_state[0].double()
            v = hidden[0] if pooling == "cls_token" else hidden.mean(0)
            vectors.append("\t".join(f"{x:.6f}" for x in (v / v.norm() if unit else v)))
        for text in masked:
            ids = tok.encode(text.replace("<mask>", mask)).ids
            p = model(torch.tensor([ids])).logits[0].double().softmax(-1)
            row = []
            for i, token in enumerate(ids):
                if token == tok.token_to_id(mask):
                    best = [(tok.id_to_token(t), x) for x, t in zip(*map(lambda y: y.tolist(), p[i].topk(8)))
                            if tok.id_to_token(t) not in ("[CLS]", "[SEP]", "[MASK]", "<s>", "</s>", "<mask>")]
                    row += [f"{t} {x:.5f}" for t, x in best[:3]]
            filled.append("\t".join(row))
    for path, rows in (("lines", lines), ("vectors", vectors), ("masked", masked), ("filled", filled)):
        with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
            f.writelines(text + "\n" for text in rows)


def main():
    tok, mask = word_pieces()
    config = BertConfig(vocab_size=tok.get_vocab_size(), max_position_embeddings=40, **SHAPE)
    save("bert", random_model(BertForMaskedLM, config, 2), tok, mask, "mean_tokens", True)
    tok, mask = byte_pairs(random.Random(3))
    config = RobertaConfig(vocab_size=tok.get_vocab_size(), max_position_embeddings=42,
                           type_vocab_size=1, layer_norm_eps=1e-5, **SHAPE)
    save("roberta", random_model(RobertaForMaskedLM, config, 4), tok, mask, "cls_token", False)


if __name__ == "__main__":
    main()
