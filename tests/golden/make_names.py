#!/usr/bin/env python3
"""Models written in PyTorch for `tx-convert --names`, as in two tutorials, with random weights, and
their log P.

usage: make_names.py DIRECTORY    (tests/golden/names; pip install torch)

words.pt: nn.Transformer, post-norm, words, the output tied to the target's embedding. letters.pt:
nn.Transformer with norm_first, characters; `$` ends texts and pads, `^` begins them; no unk.
tutorial.pt: the model of pytorch-seq2seq. Each with NAME.source, .target and .log_p.
"""
import json
import math
import os
import sys

import torch
from torch import nn

D, HEADS, FF = 8, 2, 12


class Tokens(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = nn.Embedding(size, D)

    def forward(self, ids):
        return self.embedding(ids) * math.sqrt(D)


class Positions(nn.Module):
    def __init__(self, length=40):
        super().__init__()
        angle = torch.arange(length)[:, None] * torch.exp(-torch.arange(0, D, 2) * math.log(10000) / D)
        self.register_buffer("pos_embedding",
                             torch.stack([angle.sin(), angle.cos()], 2).reshape(length, 1, D))

    def forward(self, x):
        return x + self.pos_embedding[:x.size(0)]


class Torch(nn.Module):
    """https://docs.pytorch.org/tutorials/beginner/translation_transformer.html"""

    def __init__(self, source, target, norm_first, layers):
        super().__init__()
        self.transformer = nn.Transformer(D, HEADS, *layers, FF, norm_first=norm_first)
        self.generator = nn.Linear(D, target)
        self.src_tok_emb, self.tgt_tok_emb = Tokens(source), Tokens(target)
        self.positional_encoding = Positions()

    def forward(self, source, target):
        x, y = (self.positional_encoding(f(ids[:, None])) for f, ids in
                ((self.src_tok_emb, source), (self.tgt_tok_emb, target)))
        mask = nn.Transformer.generate_square_subsequent_mask(len(target), dtype=x.dtype)
        return self.generator(self.transformer(x, y, tgt_mask=mask))[:, 0]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x, memory, causal):
        q, k, v = (f(z).view(-1, HEADS, D // HEADS).transpose(0, 1) for f, z in
                   ((self.fc_q, x), (self.fc_k, memory), (self.fc_v, memory)))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.fc_o(y.transpose(0, 1).reshape(-1, D))


class Forward(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc_1, self.fc_2 = nn.Linear(D, FF), nn.Linear(FF, D)

    def forward(self, x):
        return self.fc_2(torch.relu(self.fc_1(x)))


class Layer(nn.Module):
    def __init__(self, decoder):
        super().__init__()
        self.self_attn_layer_norm, self.ff_layer_norm = nn.LayerNorm(D), nn.LayerNorm(D)
        self.self_attention, self.positionwise_feedforward = Attention(), Forward()
        if decoder:
            self.enc_attn_layer_norm, self.encoder_attention = nn.LayerNorm(D), Attention()

    def forward(self, x, memory):
        causal = memory is not None
        x = self.self_attn_layer_norm(x + self.self_attention(x, x, causal))
        if causal:
            x = self.enc_attn_layer_norm(x + self.encoder_attention(x, memory, False))
        return self.ff_layer_norm(x + self.positionwise_feedforward(x))


class Stack(nn.Module):
    def __init__(self, size, layers, decoder):
        super().__init__()
        self.tok_embedding, self.pos_embedding = nn.Embedding(size, D), nn.Embedding(30, D)
        self.layers = nn.ModuleList([Layer(decoder) for _ in range(layers)])
        if decoder:
            self.fc_out = nn.Linear(D, size)

    def forward(self, ids, memory=None):
        x = self.tok_embedding(ids) * math.sqrt(D) + self.pos_embedding(torch.arange(len(ids)))
        for layer in self.layers:
            x = layer(x, memory)
        return x if memory is None else self.fc_out(x)


class Tutorial(nn.Module):
    """https://github.com/bentrevett/pytorch-seq2seq, 6 - Attention is All You Need"""

    def __init__(self, source, target):
        super().__init__()
        self.encoder, self.decoder = Stack(source, 2, False), Stack(target, 1, True)

    def forward(self, source, target):
        return self.decoder(target, self.encoder(source))


def write(folder, name, model, source, target, start, end, separator):
    """source, target: vocabularies. Texts are random tokens of them without special ones."""
    torch.manual_seed(len(name))
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    torch.save({"epoch": 3, "model_state_dict": model.state_dict()} if name == "words"
               else model.state_dict(), os.path.join(folder, name + ".pt"))
    model = model.double().eval()
    special = ("<unk>", "<pad>", start, end)
    lines = {"source": [], "target": [], "log_p": []}
    for i in range(12):
        texts = []
        for tokens in (source, target):
            usual = [t for t in tokens if t not in special and t not in (" ", "l")]
            texts.append([usual[j] for j in torch.randint(len(usual), (1 + i,))])
        if separator == "" and i > 3:
            texts[0][2] = texts[1][3] = " "
        x = torch.tensor([source.index(t) for t in (start, *texts[0], end)])
        y = torch.tensor([target.index(t) for t in (start, *texts[1], end)])
        log_p = torch.log_softmax(model(x, y[:-1]), -1).gather(1, y[1:, None]).sum()
        for key, value in (("source", separator.join(texts[0])), ("target", separator.join(texts[1])),
                           ("log_p", f"{log_p.item():.9g}")):
            lines[key].append(value + "\n")
    for key, rows in lines.items():
        with open(os.path.join(folder, f"{name}.{key}"), "w", encoding="utf-8") as f:
            f.writelines(rows)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    en = ["<unk>", "<pad>", "<bos>", "<eos>", "a", "cat", "sat", "on", "##mats", "."]
    de = ["<unk>", "<pad>", "<bos>", "<eos>", "eine", "Katze", "saß", "auf", "Matten", "##", "."]
    letters = ["$", "^", " ", "a", "b", "Cl", "C", "[C@@H]", "l", "é"]
    old = ["<unk>", "<pad>", "<sos>", "<eos>"]
    with torch.no_grad():
        words = Torch(len(en), len(de), False, (1, 2))
        words.generator.weight = words.tgt_tok_emb.embedding.weight
        write(folder, "words", words, en, de, "<bos>", "<eos>", " ")
        write(folder, "letters", Torch(len(letters), len(letters), True, (2, 1)), letters, letters,
              "^", "$", "")
        write(folder, "tutorial", Tutorial(10, 10), old + en[4:], old + en[4:], "<sos>", "<eos>", " ")
    for name, tokens in (("en.txt", en), ("de.txt", de), ("old.txt", old + en[4:])):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write("".join(t + "\n" for t in tokens))
    with open(os.path.join(folder, "letters.json"), "w", encoding="utf-8") as f:
        json.dump({t: i for i, t in enumerate(letters)}, f, ensure_ascii=False)


if __name__ == "__main__":
    main()
