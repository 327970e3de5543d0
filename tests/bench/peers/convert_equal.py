#!/usr/bin/env python3
"""Compares converted MarianMT, M2M-100, NLLB, BART, mBART and T5 models with the package transformers.

usage: convert_equal.py BIN [SEED]    (pip install torch transformers sentencepiece)

Saves small models with random weights in several shapes by save_pretrained, converts them by
tx-convert, and compares log P of given targets (largest relative difference) and greedy outputs.
BIN is the directory of the tools.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import sentencepiece
import tokenizers
import torch
from transformers import (BartConfig, BartForConditionalGeneration, BartTokenizer, MBart50Tokenizer,
                          MBartConfig, MBartForConditionalGeneration, MBartTokenizer, M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer,
                          MarianConfig, MarianMTModel, MarianTokenizer, MT5Config,
                          MT5ForConditionalGeneration, NllbTokenizer, T5Config,
                          T5ForConditionalGeneration, T5Tokenizer)

WORDS = "ab ba abc cab dog god gold old cold a b c do go so to tom mot".split()
EXTRA = 12


def line(r):
    return " ".join(r.choice(WORDS) for _ in range(r.randint(1, 8)))


def train_model(folder, name, r, kind="unigram", **options):
    path = os.path.join(folder, name)
    with open(path + ".txt", "w", encoding="utf-8") as f:
        f.writelines(line(r) + "\n" for _ in range(500))
    sentencepiece.SentencePieceTrainer.train(
        input=path + ".txt", model_prefix=path, vocab_size=40, model_type=kind,
        normalization_rule_name="identity", hard_vocab_limit=False, minloglevel=2, **options)
    for rest in (".txt", ".vocab"):
        os.remove(path + rest)
    return path + ".model"


def train_pieces(folder, name, r):
    path = os.path.join(folder, name)
    os.rename(train_model(folder, name, r), path + ".spm")
    model = sentencepiece.SentencePieceProcessor(path + ".spm")
    return [model.id_to_piece(i) for i in range(3, len(model))]


def number(pieces):
    names = ["</s>", "<unk>"] + [p for p in dict.fromkeys(pieces) if p not in ("</s>", "<unk>")]
    return {p: i for i, p in enumerate(names + [">>xx<<", "<pad>"])}


def make_folder(folder, seed, tied=True, shared=True, safe=True, dtype=torch.float32, **shape):
    """A MarianMT model with random weights; returns the model and its tokeniser."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    os.makedirs(folder)
    source, target = train_pieces(folder, "source", r), train_pieces(folder, "target", r)
    names = [number(source + target)] if shared else [number(source), number(target)]
    for name, ids in zip(["vocab.json", "target_vocab.json"], names):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            json.dump(ids, f)
    pad = names[0]["<pad>"]
    if not shared:  # the same pad id on both sides
        assert len(names[0]) == len(names[1]), "another seed"
    config = MarianConfig(
        vocab_size=len(names[0]), decoder_vocab_size=len(names[-1]), max_position_embeddings=64,
        pad_token_id=pad, eos_token_id=0, decoder_start_token_id=pad, forced_eos_token_id=None,
        bad_words_ids=[[pad]], share_encoder_decoder_embeddings=shared,
        tie_word_embeddings=tied, scale_embedding=True, init_std=0.5, dropout=0.0, **shape)
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "embed_positions" in name:
                continue
            if name.endswith("bias"):
                p.normal_(0, 0.2)
            elif "norm" in name:
                p.normal_(1, 0.2)
            elif "embed" in name or "shared" in name or "lm_head" in name:
                p.normal_(0, 0.5)
                p[pad] = 0
        model.final_logits_bias.normal_(0, 0.3)
        model.final_logits_bias[0, pad] = 0
        model.final_logits_bias[0, 0] = 0.5
    model.to(dtype)
    model.save_pretrained(folder, safe_serialization=safe)
    model = MarianMTModel.from_pretrained(folder, torch_dtype=torch.float32).eval()
    tokenizer = MarianTokenizer(
        source_spm=folder + "/source.spm", target_spm=folder + "/target.spm",
        vocab=folder + "/vocab.json", separate_vocabs=not shared,
        target_vocab_file=None if shared else folder + "/target_vocab.json")
    return model, tokenizer


LANGUAGES = {True: ["eng_Latn", "deu_Latn", "ace_Arab"], False: ["en", "ha", "is", "ja", "cs", "ru",
                                                                 "zh", "de"]}


def make_multilingual(folder, seed, nllb, legacy=False, tied=True, dtype=torch.float32, safe=True,
                      spare=2, **shape):
    """An M2M-100 or NLLB model with random weights; returns the model and its tokeniser."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    os.makedirs(folder)
    spm = folder + "/sentencepiece.bpe.model"
    os.rename(train_model(folder, "pieces", r, "bpe" if nllb else "unigram"), spm)
    languages = LANGUAGES[nllb]
    if nllb:
        with open(folder + "/tokenizer_config.json", "w", encoding="utf-8") as f:
            json.dump({"tokenizer_class": "NllbTokenizer", "src_lang": languages[0],
                       "additional_special_tokens": languages, "legacy_behaviour": legacy}, f)
        tokenizer = NllbTokenizer.from_pretrained(folder)
    else:
        pieces = sentencepiece.SentencePieceProcessor(spm)
        names = ["<s>", "<pad>", "</s>", "<unk>"]
        # The dictionary lacks some tokens of the model.
        names += [pieces.id_to_piece(i) for i in range(3, len(pieces)) if i % 7]
        with open(folder + "/vocab.json", "w", encoding="utf-8") as f:
            json.dump({p: i for i, p in enumerate(names)}, f)
        tokenizer = M2M100Tokenizer(folder + "/vocab.json", spm, language_codes="wmt21",
                                    src_lang=languages[0])
    tokenizer.save_pretrained(folder)
    rows = (max(tokenizer.get_vocab().values()) + 1 if nllb else
            len(tokenizer.encoder) + len(languages)) + spare
    config = M2M100Config(
        vocab_size=rows, max_position_embeddings=64, tie_word_embeddings=tied, init_std=0.5,
        dropout=0.0, attention_dropout=0.0, encoder_layerdrop=0.0, decoder_layerdrop=0.0, **shape)
    model = M2M100ForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("bias"):
                p.normal_(0, 0.2)
            elif "norm" in name:
                p.normal_(1, 0.2)
            elif "shared" in name or "embed" in name or "lm_head" in name:
                p.normal_(0, 0.5)
    # Tokens that tx never outputs: <s>, pad, languages, other added tokens, and unused rows.
    first = min(tokenizer.convert_tokens_to_ids(languages)) if nllb else len(tokenizer.encoder)
    silent = model.generation_config.bad_words_ids = [[i] for i in [0, 1, *range(first, rows)]]
    model.to(dtype)
    model.save_pretrained(folder, safe_serialization=safe)
    model = M2M100ForConditionalGeneration.from_pretrained(folder, torch_dtype=torch.float32).eval()
    model.generation_config.bad_words_ids = silent
    tokenizer = type(tokenizer).from_pretrained(folder)
    return model, tokenizer


def make_mbart_tokenizer(folder, r, kind):
    spm = sentencepiece.SentencePieceProcessor(train_model(folder, "pieces", r))
    os.remove(folder + "/pieces.model")
    pieces = [(spm.id_to_piece(i), spm.get_score(i)) for i in range(3, len(spm))]
    vocab = [(name, 0.0) for name in ("<s>", "<pad>", "</s>", "<unk>")] + pieces
    if kind == "mbart50":
        languages = sys.modules[MBart50Tokenizer.__module__].FAIRSEQ_LANGUAGE_CODES
    else:
        languages = sys.modules[MBartTokenizer.__module__].FAIRSEQ_LANGUAGE_CODES
    vocab += [(name, 0.0) for name in languages + ["<mask>"]]
    make = MBart50Tokenizer if kind == "mbart50" else MBartTokenizer
    return make(vocab=vocab, src_lang="en_XX", tgt_lang="de_DE")


def make_bart_tokenizer(folder, r):
    bpe = tokenizers.ByteLevelBPETokenizer()
    bpe.train_from_iterator((line(r) for _ in range(500)), vocab_size=300, show_progress=False,
                            special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    bpe.save_model(folder)
    with open(folder + "/vocab.json", encoding="utf-8") as f:
        vocab = json.load(f)
    with open(folder + "/merges.txt", encoding="utf-8") as f:
        merges = [tuple(text.split()) for text in f if not text.startswith("#")]
    for name in ("/vocab.json", "/merges.txt"):
        os.remove(folder + name)
    return BartTokenizer(vocab=vocab, merges=merges)


def make_bart(folder, seed, kind, tied=True, dtype=torch.float32, safe=True, forced=True, **shape):
    """A BART ("bart"), mBART ("mbart") or mBART-50 ("mbart50") with random weights."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    os.makedirs(folder)
    bart = kind == "bart"
    tokenizer = make_bart_tokenizer(folder, r) if bart else make_mbart_tokenizer(folder, r, kind)
    tokenizer.save_pretrained(folder)
    tokenizer = type(tokenizer).from_pretrained(folder)
    start = tokenizer.convert_tokens_to_ids("de_DE") if kind == "mbart" else 2
    config = (BartConfig if bart else MBartConfig)(
        vocab_size=len(tokenizer) + (3 if bart else 0), max_position_embeddings=64,
        tie_word_embeddings=tied, init_std=0.5, dropout=0.0, attention_dropout=0.0,
        decoder_start_token_id=start, forced_eos_token_id=None, **shape)
    model = (BartForConditionalGeneration if bart else MBartForConditionalGeneration)(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if name.endswith("bias"):
                p.normal_(0, 0.2)
            elif "norm" in name:
                p.normal_(1, 0.2)
            else:
                p.normal_(0, 0.5)
        model.final_logits_bias.normal_(0, 0.3)
    # Tokens that tx never outputs: pad, <unk> of bytes, of mBART also <s>, languages and <mask>.
    languages = [] if bart else [[i] for i in range(len(tokenizer)) if i > 3 and i >= len(
        tokenizer) - (53 if kind == "mbart50" else 26)]
    model.generation_config.forced_bos_token_id = 0 if bart and forced else None
    model.generation_config.bad_words_ids = [[1]] + ([[3]] if bart else [[0]] + languages)
    model.to(dtype)
    model.save_pretrained(folder, safe_serialization=safe)
    model = type(model).from_pretrained(folder, torch_dtype=torch.float32).eval()
    return model, tokenizer


def make_t5(folder, seed, mt5=False, tied=True, dtype=torch.float32, safe=True, **shape):
    """A T5 or mT5 with random weights; tied False: an output of its own, as in T5 1.1."""
    r = random.Random(seed)
    torch.manual_seed(seed)
    os.makedirs(folder)
    spm = sentencepiece.SentencePieceProcessor(
        train_model(folder, "spiece", r, pad_id=0, eos_id=1, unk_id=2, bos_id=-1))
    vocab = [(spm.id_to_piece(i), spm.get_score(i)) for i in range(len(spm))]
    vocab += [(f"<extra_id_{i}>", 0.0) for i in reversed(range(5))]
    T5Tokenizer(vocab=vocab, extra_ids=5).save_pretrained(folder)
    tokenizer = T5Tokenizer.from_pretrained(folder)
    make = MT5ForConditionalGeneration if mt5 else T5ForConditionalGeneration
    config = (MT5Config if mt5 else T5Config)(
        vocab_size=len(tokenizer) + 3, decoder_start_token_id=0, dropout_rate=0.0,
        **({} if tied else {"tie_word_embeddings": False}), **shape)
    model = make(config).eval()
    if not tied:
        model.lm_head.weight = torch.nn.Parameter(model.shared.weight.detach().clone())
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "norm" in name:
                p.normal_(1, 0.2)
            elif "relative" in name:
                p.normal_(0, 1)
            elif "shared" in name or "lm_head" in name:
                p.normal_(0, 1 if tied else 0.4)
            else:
                p.normal_(0, p.shape[1] ** -0.5)
    model.generation_config.bad_words_ids = [[0]]  # tx never outputs pad
    model.to(dtype)
    model.save_pretrained(folder, safe_serialization=safe)
    return make.from_pretrained(folder, torch_dtype=torch.float32).eval(), tokenizer


def tool(bin, name, *args, text=""):
    return subprocess.run([os.path.join(bin, name), *args], input=text.encode(), check=True,
                          stdout=subprocess.PIPE).stdout.decode().split("\n")[:-1]


def texts(model, tokenizer, lines, **options):
    out = []
    given = model.generation_config.forced_bos_token_id is not None
    for text in lines:
        batch = tokenizer(text, return_tensors="pt")
        first = 2 if given or "forced_bos_token_id" in options else 1  # after the tokens that are not searched
        # A language token before the source counts as part of it, one after </s> does not.
        ids = batch["input_ids"][0].tolist()
        behind = len(ids) - 1 - ids.index(tokenizer.eos_token_id)
        length = batch["input_ids"].shape[1] - 1 - behind + EXTRA + first - 1
        with torch.no_grad():
            ids = model.generate(**batch, max_new_tokens=length, do_sample=False, **options)
        out.append(tokenizer.decode(ids[0][first:], skip_special_tokens=True))
    return out


def log_p(model, tokenizer, source, target, language=None):
    """log P of the target, without the language or other first token, which is given. MarianMT never
    outputs <pad>: it is not part of the softmax."""
    batch = tokenizer(source, return_tensors="pt")
    marian = isinstance(model, MarianMTModel)
    pieces = (tokenizer(text_target=target)["input_ids"][:-1] if marian else
              tokenizer(target, add_special_tokens=False)["input_ids"])
    labels = ([] if language is None else [language]) + pieces + [tokenizer.eos_token_id]
    start = model.config.decoder_start_token_id
    with torch.no_grad():
        logits = model(**batch, decoder_input_ids=torch.tensor([[start] + labels[:-1]])).logits[0]
    if marian:
        logits[:, tokenizer.pad_token_id] = -float("inf")
    rows = logits.log_softmax(-1).gather(1, torch.tensor(labels)[:, None])
    return rows[0 if language is None else 1:].sum().item()


def compare(bin, seed, what, make=make_folder, target=None, **shape):
    """target: the language of the outputs, where the model has languages."""
    r = random.Random(seed + 1)
    with tempfile.TemporaryDirectory() as top:
        folder, file = top + "/hf", top + "/m.safetensors"
        model, tokenizer = make(folder, seed, **shape)
        tool(bin, "tx-convert", "-q", folder, "-o", file)
        lines = [line(r) for _ in range(30)] + [">>xx<< ab dog", "ab ZZ", "\u00e4"]
        options, forced, language = [], {}, model.generation_config.forced_bos_token_id
        if target is not None:
            options = ["--target-language", target]
            language = tokenizer.convert_tokens_to_ids(
                target if "_" in target else f"__{target}__")
            forced = {"forced_bos_token_id": language}
        targets = [line(r) for _ in lines]
        with open(top + "/targets", "w", encoding="utf-8") as f:
            f.writelines(t + "\n" for t in targets)
        source = "".join(t + "\n" for t in lines)
        rows = tool(bin, "tx-decode", "-m", file, "--precision", "fp32", "--tgt", top + "/targets",
                    *options, text=source)
        ours = [float(row.split("\t")[1]) for row in rows]
        theirs = [log_p(model, tokenizer, s, t, language) for s, t in zip(lines, targets)]
        worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
        print(f"{what}: largest relative difference of log P {worst:.1e}")
        assert worst < 1e-5, (ours, theirs)
        for beam in (1, 4):
            got = tool(bin, "tx-decode", "-m", file, "--precision", "fp32", "--beam", str(beam),
                       "--alpha", "0", "--max-extra", str(EXTRA), *options, text=source)
            wanted = texts(model, tokenizer, lines, num_beams=beam, length_penalty=0.0,
                           early_stopping="never" if beam > 1 else False, **forced)
            same = sum(a == b for a, b in zip(got, wanted))
            print(f"{what}: beam {beam}: {same} of {len(lines)} texts are the same")
            if beam == 1:
                assert got == wanted, [x for x in zip(lines, got, wanted) if x[1] != x[2]]


def main():
    bin = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    small = dict(d_model=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
                 decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24)
    wide = dict(small, d_model=32, encoder_layers=3, decoder_layers=1, encoder_attention_heads=4,
                decoder_attention_heads=4)
    compare(bin, seed, "swish", activation_function="swish", **small)
    compare(bin, seed, "relu, bin", activation_function="relu", safe=False, **wide)
    compare(bin, seed, "gelu", activation_function="gelu", **wide)
    compare(bin, seed, "f16", activation_function="swish", dtype=torch.float16, **small)
    compare(bin, seed, "untied", activation_function="relu", tied=False, **small)
    nllb = dict(make=make_multilingual, nllb=True, target="deu_Latn")
    compare(bin, seed, "NLLB", **nllb, **small)
    compare(bin, seed, "NLLB, X </s> lang", legacy=True, **nllb, **wide)
    compare(bin, seed, "NLLB, untied, bin", tied=False, safe=False, **nllb, **small)
    compare(bin, seed, "NLLB, f16", dtype=torch.float16, **nllb, **wide)
    t5 = dict(make=make_t5, d_model=24, d_kv=10, d_ff=40, num_layers=2, num_heads=3)
    short = dict(relative_attention_num_buckets=8, relative_attention_max_distance=10)
    gated = dict(t5, feed_forward_proj="gated-gelu")
    compare(bin, seed, "T5", **t5)
    compare(bin, seed, "T5, f16, 3 + 1 layers", dtype=torch.float16, num_decoder_layers=1,
            **dict(t5, num_layers=3))
    compare(bin, seed, "T5, bin", safe=False, **t5)
    compare(bin, seed, "T5, one head", **dict(t5, num_heads=1))
    compare(bin, seed, "T5, few buckets", **short, **t5)
    compare(bin, seed, "T5 1.1", tied=False, **gated)
    compare(bin, seed, "T5, gated, tied", **short, **gated)
    compare(bin, seed, "T5, gated silu", tied=False, **dict(t5, feed_forward_proj="gated-silu"))
    compare(bin, seed, "mT5", mt5=True, tied=False, **gated)
    compare(bin, seed, "mT5, tied, wide", mt5=True, **dict(gated, d_model=32, d_kv=16, num_heads=4))
    bart = dict(make=make_bart, kind="bart")
    compare(bin, seed, "BART", **bart, **small)
    compare(bin, seed, "BART, no forced token, bin", forced=False, safe=False, **bart, **wide)
    compare(bin, seed, "BART, untied, relu", tied=False, activation_function="relu", **bart, **wide)
    compare(bin, seed, "BART, scaled, f16", scale_embedding=True, dtype=torch.float16, **bart, **small)
    for what, kind in (("mBART", dict(kind="mbart")),
                       ("mBART-50", dict(kind="mbart50", target="de_DE"))):
        compare(bin, seed, what, make=make_bart, **kind, **small)
        compare(bin, seed, what + ", scaled, untied", make=make_bart, scale_embedding=True, tied=False,
                **kind, **wide)
        compare(bin, seed, what + ", f16", make=make_bart, dtype=torch.float16, **kind, **wide)
    m2m = dict(make=make_multilingual, nllb=False, target="cs")
    compare(bin, seed, "M2M-100", spare=8, **m2m, **small)
    compare(bin, seed, "M2M-100, gelu, wide", spare=8, activation_function="gelu", **m2m, **wide)


if __name__ == "__main__":
    main()
