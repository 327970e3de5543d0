#!/usr/bin/env python3
"""Writes tests/golden/qwen2 and qwen3, directories of Hugging Face with random weights, and
tests/golden/gguf: qwen3.gguf, llama.gguf and types.gguf, which has a row of every type; with the
outputs of the packages transformers and gguf, for tests/cli/tx-convert/gguf.sh and
tests/unit/convert/gguf_test.cpp.

usage: make_gguf.py    (pip install torch transformers sentencepiece gguf)

prompts: lines of prompt, tab, continuation; log_p: the natural log-probability of the continuation
with its end; greedy: twelve tokens at most that follow the prompts.
"""
import json
import os
import random
import shutil
import sys

import gguf
import numpy as np
import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from transformers import (LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, Qwen2Config,
                          Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM)

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "bench", "peers"))
from convert_equal import line  # noqa: E402
import llama_equal  # noqa: E402

SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SHAPE = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, max_position_embeddings=64, rope_theta=100.0)
EOS, START = 0, 1


def byte_tokenizer(r):
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(SPLIT), "isolated"),
         pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tok.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=290, special_tokens=["<|end|>", "<|start|>", "<|x|>"],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  show_progress=False)
    tok.train_from_iterator([line(r) for _ in range(300)], trainer)
    return tok


def random_model(kind, config, seed):
    torch.manual_seed(seed)
    model = kind(config).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.normal_(1 if "norm" in name else 0, 0.2 if "norm" in name else 0.3)
        # tx never outputs invalid UTF-8: bytes must not be the most probable tokens
        model.get_output_embeddings().weight[3:259] *= 0.05
    return model


def write_outputs(folder, model, encode, decode, bos, never):
    r = random.Random(9)
    prompts = [(line(r), line(r)) for _ in range(12)] + [("a é ß", "日本 10")]
    greedy, log_p = [], []
    for prompt, more in prompts:
        ids, labels = bos + encode(prompt), encode(more) + [model.config.eos_token_id]
        with torch.no_grad():
            logits = model(torch.tensor([ids + labels])).logits[0].double().log_softmax(-1)
            out = model.generate(torch.tensor([ids]), do_sample=False, max_new_tokens=12,
                                 attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                                 pad_token_id=never[0], suppress_tokens=bos + never)
        log_p.append(sum(logits[len(ids) - 1 + i, t].item() for i, t in enumerate(labels)))
        greedy.append(decode(out[0][len(ids):].tolist()).replace("\n", " "))
    for name, lines in (("prompts", ["\t".join(p) for p in prompts]), ("greedy", greedy),
                        ("log_p", [f"{x:.5f}" for x in log_p])):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.writelines(text + "\n" for text in lines)


def qwen(name, kind, config, seed):
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    tok = byte_tokenizer(random.Random(seed))
    model = random_model(kind, config(vocab_size=tok.get_vocab_size() + 2, eos_token_id=EOS,
                                      bos_token_id=EOS, pad_token_id=None, **SHAPE), seed)
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<|end|>").save_pretrained(folder)
    size = tok.get_vocab_size()
    write_outputs(folder, model, lambda t: tok.encode(t).ids,
                  lambda ids: tok.decode([i for i in ids if i < size]), [], [size, size + 1, tok.token_to_id("À")])
    return model, tok


def write_model(path, arch, model, permute=False):
    c = model.config
    out = gguf.GGUFWriter(path, arch)
    out.add_block_count(c.num_hidden_layers)
    out.add_context_length(c.max_position_embeddings)
    out.add_embedding_length(c.hidden_size)
    out.add_feed_forward_length(c.intermediate_size)
    out.add_head_count(c.num_attention_heads)
    out.add_head_count_kv(c.num_key_value_heads)
    out.add_layer_norm_rms_eps(c.rms_norm_eps)
    out.add_rope_freq_base(100.0)
    width = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    out.add_key_length(width)
    out.add_value_length(width)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[arch.upper()], c.num_hidden_layers)
    for name, x in model.state_dict().items():
        if name == "lm_head.weight" and c.tie_word_embeddings:
            continue
        if permute and ("q_proj" in name or "k_proj" in name):
            x = x.reshape(-1, 2, width // 2, x.shape[1]).swapaxes(1, 2).reshape(x.shape)
        x = x.numpy()
        out.add_tensor(names.get_name(name, (".weight", ".bias")),
                       x.astype(np.float16) if x.ndim == 2 and "mlp" in name else x)
    return out


def finish(out):
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def of_bytes(path, model, tok):
    out = write_model(path, "qwen3", model)
    vocab = sorted(tok.get_vocab().items(), key=lambda item: item[1])
    unused = model.config.vocab_size - len(vocab)
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("qwen2")
    out.add_token_list([text for text, _ in vocab] + [f"[PAD{i}]" for i in range(unused)])
    out.add_token_types([3 if i < 3 else 1 for _, i in vocab] + [5] * unused)
    out.add_token_merges([" ".join(m) for m in json.loads(tok.to_str())["model"]["merges"]])
    out.add_eos_token_id(EOS)
    out.add_add_bos_token(False)
    finish(out)


def of_pieces(path, model, sp):
    out = write_model(path, "llama", model, permute=True)
    kinds = [2 if sp.is_unknown(i) else 3 if sp.is_control(i) else 6 if sp.is_byte(i) else 1
             for i in range(len(sp))]
    out.add_tokenizer_model("llama")
    out.add_token_list([sp.id_to_piece(i) for i in range(len(sp))])
    out.add_token_scores([sp.get_score(i) for i in range(len(sp))])
    out.add_token_types(kinds)
    out.add_bos_token_id(1)
    out.add_eos_token_id(2)
    out.add_unk_token_id(0)
    finish(out)


def of_types(path):
    """A row of 256 numbers of every type, NAME, and as float32, NAME.f32."""
    out = gguf.GGUFWriter(path, "llama")
    rng = np.random.default_rng(1)
    for name in ("F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q6_K"):
        kind = gguf.GGMLQuantizationType[name]
        if name.endswith("_K"):  # any bytes, but for the factors in half precision
            block = rng.integers(0, 256, (1, gguf.GGML_QUANT_SIZES[kind][1]), dtype=np.uint8)
            for at in (0, 2) if name == "Q4_K" else (208,):
                block[0, at:at + 2] = np.array([rng.uniform(-1, 1)], np.float16).view(np.uint8)
        else:
            block = gguf.quants.quantize(rng.normal(size=(1, 256)).astype(np.float32), kind)
        out.add_tensor(name, block, raw_dtype=kind)
        out.add_tensor(name + ".f32", gguf.quants.dequantize(block, kind).reshape(1, 256))
    finish(out)


def main():
    folder = os.path.join(HERE, "gguf")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    qwen("qwen2", Qwen2ForCausalLM, Qwen2Config, 3)
    model, tok = qwen("qwen3", Qwen3ForCausalLM, lambda **k: Qwen3Config(head_dim=6, **k), 4)
    of_bytes(os.path.join(folder, "qwen3.gguf"), model, tok)
    sp = llama_equal.train_pieces(folder, random.Random(5))
    llama = random_model(LlamaForCausalLM, LlamaConfig(vocab_size=len(sp), bos_token_id=1,
                                                       eos_token_id=2, **SHAPE), 6)
    of_pieces(os.path.join(folder, "llama.gguf"), llama, sp)
    os.remove(os.path.join(folder, "tokenizer.model"))
    with torch.no_grad():  # as the file holds them
        for name, p in llama.named_parameters():
            if "mlp" in name:
                p.copy_(p.half())
    write_outputs(folder, llama, sp.encode, lambda ids: sp.decode([i for i in ids if i]), [1], [sp.piece_to_id("<0x00>")])
    of_types(os.path.join(folder, "types.gguf"))


if __name__ == "__main__":
    main()
