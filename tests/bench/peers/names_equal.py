#!/usr/bin/env python3
"""Compares models that others wrote and trained in PyTorch with tx after `tx-convert --names`, each
by the code of its own package: greedy outputs of 200 inputs, and log P of these outputs.

usage: names_equal.py BIN PACKAGES [DIRECTORY]
    (pip install torch; pip install --no-deps --target PACKAGES annalog tg2fa-translit
     ruaccent-predictor)

annalog: SMILES, the model of the tutorial pytorch-seq2seq. tg2fa_translit: Tajik to Persian letters,
nn.Transformer as in PyTorch's tutorial. ruaccent: Russian stress, nn.Transformer with one embedding;
its own code pads sources to 256 tokens and attends to the padding: compared without padding, and
with padding as tokens of the source. BIN is the directory of the tools. DIRECTORY keeps the models.
"""
import importlib
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import types

import torch

COUNT = 200


def run(bin, tool, *args, lines=()):
    out = subprocess.run([os.path.join(bin, tool), *args], input="".join(x + "\n" for x in lines),
                         text=True, check=True, stdout=subprocess.PIPE).stdout
    return out.split("\n")[:-1]


def convert(bin, top, name, table, checkpoint, *options):
    with open(f"{top}/{name}.names", "w", encoding="utf-8") as f:
        json.dump(table, f)
    run(bin, "tx-convert", "-q", "--names", f"{top}/{name}.names", "--heads", "8", *options, "-o",
        f"{top}/{name}.safetensors", checkpoint)
    return f"{top}/{name}.safetensors"


def compare(bin, model, title, sources, theirs, log_p, *options):
    """theirs: outputs, None where the greedy search did not end."""
    greedy = ("-q", "-m", model, "--precision", "fp32", "--beam", "1", "--max-extra", "250", *options)
    ours = run(bin, "tx-decode", *greedy, lines=sources)
    ended = [i for i, out in enumerate(theirs) if out is not None]
    same = sum(ours[i] == theirs[i] for i in ended)
    text = f"{title}: {same} of {len(ended)} outputs equal, {len(sources) - len(ended)} did not end"
    if log_p:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as f:
            f.writelines(theirs[i] + "\n" for i in ended)
            f.flush()
            scored = run(bin, "tx-decode", "-q", "-m", model, "--precision", "fp32", "--tgt", f.name,
                         lines=[sources[i] for i in ended])
        off = [abs(float(row.split("\t")[1]) - log_p[i]) for i, row in zip(ended, scored)]
        text += f", largest difference of log P {max(off):.1e}"
    print(text, flush=True)
    for i in [i for i in ended if ours[i] != theirs[i]][:3]:
        print(f"    {sources[i][:60]}: {ours[i][:90]} | {theirs[i][:90]}")


def greedy(logits_after, start, end, longest):
    """The ids without start and end, their log P; None and None if the output does not end."""
    ids, total = [start], 0.0
    for _ in range(longest):
        row = torch.log_softmax(logits_after(ids), -1)
        ids.append(int(row.argmax()))
        total += float(row.max())
        if ids[-1] == end:
            return ids[1:-1], total
    return None, None


def empty_package(name, path):
    """The package without its __init__.py, which needs more than the model does."""
    module = types.ModuleType(name)
    module.__path__ = [path]
    sys.modules[name] = module


def annalog(bin, packages, top):
    folder = f"{packages}/annalog"
    empty_package("annalog", folder)
    empty_package("annalog.model_files", folder + "/model_files")
    net = importlib.import_module("annalog.model_files.seq2seq_attention")
    tokenizer = importlib.import_module("annalog.model_files.vocabulary").SMILESTokenizer()
    with open(folder + "/ckpt_and_vocab/stereo_experiment_vocab_ttf.pkl", "rb") as f:
        vocabulary = pickle.load(f)["itos"]
    ids = {token: i for i, token in enumerate(vocabulary)}
    args = (len(ids), 256, 3, 8, 512, 0.1, "cpu", 102)  # as in model_handler.py
    model = net.Seq2Seq(net.Encoder(*args), net.Decoder(*args), 1, 1, "cpu")
    checkpoint = folder + "/ckpt_and_vocab/Lev_extended.pt"
    model.load_state_dict(torch.load(checkpoint, map_location="cpu"))
    model.eval()
    with open(top + "/smiles.txt", "w", encoding="utf-8") as f:
        f.writelines(token + "\n" for token in vocabulary)
    ours = convert(bin, top, "annalog", {"base": "pytorch-seq2seq", "text": "characters"}, checkpoint,
                   "--vocab", top + "/smiles.txt")
    r = random.Random(1)
    ends = ["C", "CC", "OC", "N", "C(=O)O", "C(=O)N", "c1ccccc1", "C#N", "Cl", "Br", "F", "O", "CCN(C)C",
            "C(F)(F)F", "[N+](=O)[O-]", "N1CCOCC1", "S(=O)(=O)C"]
    middles = ["C", "CC", "c1ccc(%s)cc1", "C(%s)C", "[C@H](%s)C", "[C@@H](N)%s", "C1CCN(%s)CC1", "/C=C/",
               "c1c[nH]c(%s)c1", "NC(=O)", "c1cnc(%s)nc1", "OC", "c1csc(%s)n1"]
    sources = ["CCO", "CC(Cl)Br"]
    while len(sources) < COUNT:
        text = r.choice(["C", "CC", "O=C(O)", "N#C", "COc1ccc(C)cc1"])
        for _ in range(r.randint(0, 3)):
            middle = r.choice(middles)
            text += middle % r.choice(ends) if "%s" in middle else middle
        text += r.choice(ends)
        if text not in sources:
            sources.append(text)
    theirs, log_p = [], []
    for line in sources:
        x = torch.tensor([[ids[t] for t in ["<sos>", *tokenizer.tokenize(line), "<eos>"]]])
        mask = model.make_src_mask(x)
        memory = model.encoder(x, mask)

        def logits_after(out):
            y = torch.tensor([out])
            return model.decoder(y, memory, model.make_trg_mask(y), mask)[0][0, -1]
        out, p = greedy(logits_after, ids["<sos>"], ids["<eos>"], 101)
        theirs.append(None if out is None else "".join(vocabulary[i] for i in out))
        log_p.append(p)
    compare(bin, ours, "annalog", sources, theirs, log_p)


def tg2fa(bin, packages, top):
    sys.path.insert(0, packages)
    code = importlib.import_module("tg2fa_translit.decode")
    convert_py = importlib.import_module("tg2fa_translit.convert")
    model = convert_py.transformer
    for name, tokens in (("tg", code.tg_keys), ("fa", code.fa_values)):
        with open(f"{top}/{name}.json", "w", encoding="utf-8") as f:
            json.dump(tokens, f, ensure_ascii=False)
    ours = convert(bin, top, "tg2fa", {"base": "torch.nn.Transformer", "text": "characters"},
                   f"{packages}/tg2fa_translit/model_2.9.zip", "--vocab", top + "/tg.json",
                   "--target-vocab", top + "/fa.json")
    r = random.Random(2)
    words = list(convert_py.part_start + convert_py.part_middle + convert_py.part_end)
    words += ["китоб", "дӯст", "забон", "тоҷикӣ", "мактаб", "хона", "модар", "падар", "шаҳр", "гул",
              "рӯз", "шаб", "офтоб", "моҳ", "дарё", "кӯҳ", "осмон", "замин", "муаллим", "донишҷӯ"]
    sources = list(dict.fromkeys(words))
    while len(sources) < COUNT:
        line = " ".join(r.choice(words) if r.random() < 0.7 else
                        "".join(r.choice("бвгдзклмнпрст") + r.choice("аеиоуӣӯ")
                                for _ in range(r.randint(1, 3))) for _ in range(r.randint(1, 8)))
        if line not in sources and len(line) <= 50:
            sources.append(line)
    sources = sources[:COUNT]
    theirs, log_p = [], []
    for line in sources:
        x = [2, *(code.tg_voc[c] for c in line), 3]
        memory = model.encode(torch.tensor(x)[:, None].numpy(), torch.zeros(len(x), len(x)).bool().numpy())

        def logits_after(out):
            mask = torch.ones(len(out), len(out)).triu(1).bool().numpy()
            return model.generator(model.decode(torch.tensor(out)[:, None].numpy(), memory, mask)[0, -1])
        out, p = greedy(logits_after, 2, 3, len(x) + 9)  # as decode.py
        text = None if out is None else "".join(code.fa_voc[i] for i in out)
        assert text is None or text == code.decode(model, line)
        theirs.append(text and text.strip(" "))  # tx trims its lines
        log_p.append(p if text == (text or "").strip(" ") else 0)
    compare(bin, ours, "tg2fa_translit", sources, theirs, log_p)


def russian():
    r = random.Random(3)
    who = ["Мама", "Старый мастер", "Наш сосед", "Молодая учительница", "Она", "Мой брат", "Врач",
           "Весёлый мальчик", "Бабушка", "Хозяин дома"]
    does = ["мыла", "увидел", "долго искала", "не понял", "купил", "забыла", "рассказал про", "принёс",
            "любит", "открыл"]
    what = ["большое окно", "новый замок", "дорогую книгу", "старые письма", "белые цветы", "карту города",
            "свою собаку", "тёплое молоко", "длинное слово", "железную дорогу"]
    when = ["", " вчера вечером", " утром", " прошлым летом", " потому что шёл дождь", " на берегу реки"]
    lines = ["Хотел я зайти в замок, но ключ в замок не подошёл.", "Привет, мир! Как дела, всё уже хорошо?"]
    while len(lines) < COUNT:
        line = f"{r.choice(who)} {r.choice(does)} {r.choice(what)}{r.choice(when)}{r.choice('.!?')}"
        if line not in lines:
            lines.append(line)
    return lines


def ruaccent(bin, packages, top):
    sys.path.insert(0, packages)
    accentor = importlib.import_module("ruaccent.accentor").Accentor(device="cpu")
    model, ids, names = accentor.model, accentor.vocab, accentor.idx2char
    folder = f"{packages}/ruaccent/model"
    table = {"base": "torch.nn.Transformer", "text": "characters",
             "tokens": {"start": "<s>", "end": "</s>"},
             "names": {"encoder.embedding.weight": "char_embed.weight",
                       "decoder.embedding.weight": "char_embed.weight", "output.*": "output_proj.*"}}
    ours = convert(bin, top, "ruaccent", table, folder + "/acc_model.pt", "--vocab", folder + "/vocab.json")
    sources = russian()
    theirs, log_p = [], []
    for line in sources:
        x = torch.tensor([[1, *(ids[c] for c in line), 2]])
        memory = model.transformer.encoder(model.embed(x))

        def logits_after(out):
            mask = model.generate_square_subsequent_mask(len(out))
            y = model.transformer.decoder(model.embed(torch.tensor([out])), memory, tgt_mask=mask)
            return model.output_proj(y[0, -1])
        out, p = greedy(logits_after, 1, 2, 256)
        theirs.append(None if out is None else "".join(names[i] for i in out))
        log_p.append(p)
    compare(bin, ours, "ruaccent without padding", sources, theirs, log_p)
    table["tokens"].update(source_start=False, source_end=False)
    padded = convert(bin, top, "ruaccent-padded", table, folder + "/acc_model.pt", "--vocab",
                     folder + "/vocab.json")
    pieces = [" ".join((["<s>", *line.replace(" ", "▁"), "</s>"] + ["<pad>"] * 256)[:256])
              for line in sources]
    theirs = [" ".join(line.replace(" ", "▁")) for line in accentor(sources)]
    compare(bin, padded, "ruaccent with padding", pieces, theirs, None, "--pieces")


def main():
    torch.set_num_threads(1)
    bin, packages = sys.argv[1], os.path.abspath(sys.argv[2])
    with torch.no_grad(), tempfile.TemporaryDirectory() as temporary:
        top = sys.argv[3] if len(sys.argv) > 3 else temporary
        os.makedirs(top, exist_ok=True)
        for part in (annalog, tg2fa, ruaccent):
            part(bin, packages, top)


if __name__ == "__main__":
    main()
