#!/usr/bin/env python3
"""Writes tokenizers.json: small tokenizers and what the package tokenizers 0.23.3 makes of lines, for
tokenizers_test.cpp.

usage: make_tokenizers.py > tokenizers.json    (pip install tokenizers sentencepiece)

Each case has the content of a tokenizer.json, the ids of the lines without special tokens, and the texts
that the package decodes from them.
"""
import json
import os
import sys
import tempfile

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers import processors, trainers

TEXT = """
the lowest shelf holds the slower readers of the older books
a reader who reads slowly is no slow reader, isn't he?
die höchsten regale sind höher als die fenster des lesesaals
größere bücher sind schwerer und die größten sind am schwersten
читатель читает медленно, а книга лежит на полке
القارئ يقرأ الكتاب ببطء والكتاب على الرف
读者慢慢地读书，书在书架上。 読者はゆっくり本を読みます。
책은 선반 위에 있고 독자는 천천히 읽는다
पाठक धीरे-धीरे किताब पढ़ता है
ผู้อ่านอ่านหนังสือช้าๆ
ο αναγνώστης διαβάζει αργά το βιβλίο
הקורא קורא את הספר לאט
in 1984 there were 12345 books, in 2024 67890
""".strip().split("\n")

LINES = TEXT + [
    "", " ", "   ", " a", "a ", "  spaces  before   and  behind  ", "\ttab\tinside\t", "return\r", "in\r\rthe\r middle ",
    "I'LL they'Ve it's IT'S don't 'ſ we'd", "no-break\u00a0space \u3000ideographic \u2003em\u200bzero \u202fnarrow",
    "line\u2028separator next\u0085line form\fvertical\vfile\x1cgroup", "\x01\x02control\x7f \x1b[0m", "\ufeffmark \u00adsoft",
    "e\u0301 \u00e9 e\u0323\u0307 \u0301 a\u0301\u0302b", "ﬁ Ａ１ ½ ² ㎏ ㈱ \u1e9b\u0323 ｶﾞ か\u3099", "\uff21\u0301 \u2126 \u212b",
    "İstanbul ıI ẞß Σίσυφος ΣΑΣ Ǆǅ", "각 각 한글", "👨‍👩‍👧 🏳️‍🌈 👍🏽 🇩🇪 #️⃣", "𝔘𝔫𝔦 𠀀𪚥", "漢字 ж 😀",
    "zero\0byte", "!!!???...,,, (a) [b] {c} a.b.c $5 €5 ¥ «x» —", "a1b22c333d4444 ٣٤٥ १२ Ⅷ", "snake_case camelCase",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "erererererererererererererererererererererererererererererererererererer", "\u2581 \u2581the \u2581\u2581a", "##ing ##",
    "<s> </s> <unk> <pad> [CLS] [MASK] [UNK]", "x<|end|>y <|end|> z", "a</s>b", "a [MASK] b[MASK]", "<mask>", " <mask> ",
    "<0x0A> <0xFF>", "Book book books xbook book, _book 本book", "caf\u00e9 cafe\u0301 CAF\u00c9", "<|end|><|end|>", "<|end",
]

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
RULES = [("Ａ", "A"), ("A\u0301", "\u00c1"), ("e\u0301", "é"), ("ﬁ", "fi"), ("\u3000", " "), ("½", "1/2"), ("\u200b", ""),
         ("\u0344", "\u0308\u0301"), ("が", "\u304b\u3099"), ("㎏", "kg")]


def special(*texts):
    return [AddedToken(text, special=True, normalized=False) for text in texts]


def trained(model, trainer, normalizer=None, splitter=None, decoder=None, added=(), post=None, **options):
    tokenizer = Tokenizer(model)
    if normalizer:
        tokenizer.normalizer = normalizer
    if splitter:
        tokenizer.pre_tokenizer = splitter
    if decoder:
        tokenizer.decoder = decoder
    tokenizer.train_from_iterator(TEXT, trainer(show_progress=False, **options))
    for token in added:
        tokenizer.add_tokens([token])
    if post:
        tokenizer.post_processor = post
    return tokenizer


def by_bytes(splitter, size=330, **options):
    model = models.BPE(ignore_merges=options.pop("ignore_merges", False))
    return trained(model, trainers.BpeTrainer, splitter=splitter, decoder=decoders.ByteLevel(), vocab_size=size,
                   initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **options)


def byte_level():
    plain = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    split = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"), plain])
    yield "gpt2", by_bytes(pre_tokenizers.ByteLevel(add_prefix_space=False), added=special("<|end|>"))
    yield "roberta", by_bytes(
        pre_tokenizers.ByteLevel(add_prefix_space=True), special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        added=[AddedToken("<mask>", lstrip=True, special=True)],
        post=processors.RobertaProcessing(("</s>", 2), ("<s>", 0)))
    begin = processors.TemplateProcessing(single="<s> $A", pair="$A $B", special_tokens=[("<s>", 0)])
    yield "llama3", by_bytes(split, ignore_merges=True, special_tokens=["<s>"], added=special("<|end|>"),
                             post=processors.Sequence([processors.ByteLevel(trim_offsets=False), begin]))
    yield "qwen", by_bytes(
        split, normalizer=normalizers.NFC(),
        added=special("<|end|>") + [AddedToken("book", single_word=True), AddedToken("café", rstrip=True)])
    digits = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                      pre_tokenizers.ByteLevel(add_prefix_space=False)])
    yield "smollm", by_bytes(digits, special_tokens=["<|end|>"])


def bpe_of(sp):
    """The tokens and merges of a SentencePiece model, as transformers converts them."""
    ids = {sp.id_to_piece(i): i for i in range(sp.get_piece_size())}
    merges = [(text[:i], text[i:]) for text in ids for i in range(1, len(text)) if text[:i] in ids and text[i:] in ids]
    merges.sort(key=lambda m: (ids[m[0] + m[1]], ids[m[0]], ids[m[1]]))
    return models.BPE(ids, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)


def train_pieces(folder, **options):
    name = os.path.join(folder, "m")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT), model_prefix=name, minloglevel=2, hard_vocab_limit=False, **options)
    return sentencepiece.SentencePieceProcessor(model_file=name + ".model")


def fields(message):
    """The numbers and values of the fields of a protobuf message."""
    i = 0

    def varint():
        nonlocal i
        value = shift = 0
        while True:
            byte = message[i]
            i += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while i < len(message):
        key = varint()
        size = {0: 0, 1: 8, 5: 4}.get(key & 7)
        value = varint() if size != 8 and size != 4 else None
        if key & 7 == 0:
            yield key >> 3, value
            continue
        size = value if size is None else size
        yield key >> 3, message[i:i + size]
        i += size


def charsmap(model):
    normalizer = dict(fields(model))[3]
    return dict(fields(normalizer))[2]


def pieces():
    with tempfile.TemporaryDirectory() as folder:
        sp = train_pieces(folder, model_type="bpe", vocab_size=460, byte_fallback=True, character_coverage=0.98,
                          normalization_rule_name="identity")
        tokenizer = Tokenizer(bpe_of(sp))
        tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
        tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                               decoders.Strip(" ", 1, 0)])
        tokenizer.add_special_tokens(special("<unk>", "<s>", "</s>"))
        yield "llama2", tokenizer
        tokenizer = Tokenizer(bpe_of(sp))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
        tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace()])
        tokenizer.add_tokens([AddedToken("<unk>", special=True), AddedToken("book", special=False, lstrip=True)])
        yield "llama_first", tokenizer
        rules = os.path.join(folder, "rules.tsv")
        with open(rules, "w", encoding="utf-8") as out:
            for source, target in RULES:
                out.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
        for name, fallback in (("t5", False), ("unigram_bytes", True)):
            sp = train_pieces(folder, model_type="unigram", vocab_size=440 if fallback else 190, byte_fallback=fallback,
                              character_coverage=0.98, normalization_rule_tsv=rules)
            with open(os.path.join(folder, "m.model"), "rb") as file:
                table = normalizers.Precompiled(charsmap(file.read()))
            listed = [(sp.id_to_piece(i), sp.get_score(i)) for i in range(sp.get_piece_size())]
            listed = listed if fallback else [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)] + listed[3:]
            tokenizer = Tokenizer(models.Unigram(listed, 0 if fallback else 2, fallback))
            tokenizer.add_special_tokens(special("</s>", "<unk>"))
            if fallback:
                tokenizer.normalizer = normalizers.Sequence([
                    normalizers.Strip(), normalizers.Nmt(), table, normalizers.Replace(Regex(" {2,}"), "▁")])
                tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
                tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="never")])
            else:
                tokenizer.normalizer = table
                tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                                   pre_tokenizers.Metaspace()])
                tokenizer.decoder = decoders.Metaspace()
                tokenizer.post_processor = processors.TemplateProcessing(
                    single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)])
            yield name, tokenizer


def word_piece(normalizer, splitter, **options):
    return trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer, normalizer=normalizer, splitter=splitter,
                   decoder=decoders.WordPiece(), vocab_size=300, limit_alphabet=170,
                   special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], **options)


def words():
    post = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    yield "bert", word_piece(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), post=post)
    yield "bert_cased", word_piece(normalizers.BertNormalizer(lowercase=False), pre_tokenizers.BertPreTokenizer())
    yield "nfd", word_piece(
        normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents(),
                              normalizers.Strip(left=True, right=False)]),
        pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=False)]))
    yield "merged", word_piece(
        normalizers.NFKD(),
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("merged_with_previous"),
                                 pre_tokenizers.Split(Regex(r"\d+|\w\W"), "merged_with_next")]))
    yield "contiguous", word_piece(
        normalizers.NFKC(),
        pre_tokenizers.Sequence([pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.WhitespaceSplit(),
                                 pre_tokenizers.Split("a", "removed"),
                                 pre_tokenizers.Split(Regex(r"[^\s_]+"), "removed", invert=True)]))
    model = models.BPE(unk_token="[UNK]", end_of_word_suffix="</w>", continuing_subword_prefix="##")
    yield "suffix", trained(
        model, trainers.BpeTrainer, normalizer=normalizers.Lowercase(), splitter=pre_tokenizers.Whitespace(),
        decoder=decoders.Fuse(), vocab_size=150, limit_alphabet=60, end_of_word_suffix="</w>", continuing_subword_prefix="##",
        special_tokens=["[UNK]"])


def main():
    cases = []
    for make in (byte_level, pieces, words):
        for name, tokenizer in make():
            ids = [e.ids for e in tokenizer.encode_batch(LINES, add_special_tokens=False)]
            cases.append({"name": name, "file": json.loads(tokenizer.to_str()), "ids": ids,
                          "texts": tokenizer.decode_batch(ids, skip_special_tokens=True)})
    golden = {"lines": LINES, "cases": cases}
    text = json.dumps(golden, ensure_ascii=False, separators=(",", ":"))
    sys.stdout.write(text.replace('{"name"', '\n{"name"') + "\n")


main()
