#!/usr/bin/env python3
"""Writes llama/tokenizer.json and nllb/tokenizer.json: what transformers 5 saves instead of the
SentencePiece models there.

usage: make_saved_tokenizers.py    (pip install transformers sentencepiece protobuf)
"""
import json
import os
import tempfile

from transformers import AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    for name, options in (("llama", {"add_bos_token": True}), ("nllb", {})):
        tokenizer = AutoTokenizer.from_pretrained(os.path.join(HERE, name), **options)
        with tempfile.TemporaryDirectory() as folder:
            tokenizer.save_pretrained(folder)
            with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
                content = json.load(file)
        with open(os.path.join(HERE, name, "tokenizer.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n")


main()
