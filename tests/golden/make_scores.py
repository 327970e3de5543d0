#!/usr/bin/env python3
"""Writes scores.jsonl.gz and scores.model: results of sacreBLEU 2.6.0.

usage: make_scores.py DIR           (pip install sacrebleu==2.6.0 sentencepiece)

The first line of scores.jsonl lists the settings, as the options of lib/eval. Every other line is a
text: hypotheses, references (a list of files, each a list of lines; hexadecimal if they are invalid
UTF-8), and for each setting the score line with 12 decimals and the sums of the statistics.
"""
import gzip
import json
import pathlib
import random
import sys

import sentencepiece
from sacrebleu.metrics import BLEU, CHRF, TER

# name: (hypotheses, references)
TEXTS = {
    "equal": (["the cat sat on the mat ."], [["the cat sat on the mat ."]]),
    "german": (
        ["Die Häuser am Fluß wurden 1998 verkauft.", "Größe und Übermut tun selten gut!"],
        [["Die Häuser am Fluss wurden im Jahr 1998 verkauft.",
          "Übermut tut selten gut!"]]),
    "upper_case": (
        ["ÄRGER ÜBER ÖL in der STRASSE", "Ça va, ÉLODIE ?"],
        [["Ärger über Öl in der Straße", "ça va, Élodie ?"]]),
    "greek": (["ΟΔΟΣ ΤΗΣ ΑΘΗΝΑΣ", "Σ Σ' ΑΣ. ΑΣΑ Α'Σ'Β"],
              [["οδος της αθηνας", "σ σ' ας. ασα α'σ'β"]]),
    "turkish": (["İSTANBUL ve IĞDIR uzak"], [["i̇stanbul ve iğdır uzak"]]),
    "russian": (["МОСКВА и Санкт-Петербург далеко"], [["Москва и Санкт-Петербург далеко друг"]]),
    "french": (["« Bonjour », dit-il : ça coûte 3\u00a0500,50\u202f€ !"],
               [["« Bonjour » , dit-il\u00a0: ça coûte 3 500,50 € !"]]),
    "chinese": (["我们今天去学校。", "他 说 ：“好”。"], [["我们今天上学校去。", "他 说 ： “ 好 ” 。"]]),
    "emoji": (["so nice 👍🏽 ! 🇩🇪", "a\u200db ☃."], [["so nice 👍 ! 🇩🇪", "a\u200db ☃ ."]]),
    "entities": (
        ["&quot;A &amp; B&quot; &lt;b&gt;", "&amp;lt; &amp;quot; &amp;amp; &apos; &", "x&ampy;"],
        [['"A & B" <b>', '< &quot; & &apos; & amp', "x & ampy ;"]]),
    "skipped": (["a <skipped> b <skip<skipped>ped> c"], [["a b <skipped> c"]]),
    "numbers": (
        ["1,000.50 were sold, 3.5% more; 5. 7, .5 ,5", "1..5 a..b a...5 5...a 1,,2 a,.b 1.2.3."],
        [["1,000.50 were sold , 3.5 % more ; 5 . 7 , .5 , 5",
          "1 .. 5 a . . b a . . . 5 5 . . . a 1 , , 2 a , . b 1.2.3 ."]]),
    "hyphens": (["state-of-the-art 5-year 10--20 -5 5- x-5 2-3-4 –5 5–6", "e-mail 1-"],
                [["state-of-the-art 5 - year 10 - -20 -5 5 - x-5 2 - 3 - 4 –5 5–6",
                  "e-mail 1 -"]]),
    "quotes": (["it's “fine” 'quoted' \"here\" `there` l'eau", "rock'n'roll, don't!"],
               [["it 's “ fine ” ' quoted ' \" here \" ` there ` l' eau",
                "rock 'n' roll , do n't !"]]),
    "symbols": (["a!b#c$d%e(f)g*h+i/j:k;l=m?n@o[p]q^r_s{t|u}v~w\\x"],
                [["a ! b # c $ d % e ( f ) g * h + i / j : k ; l = m ? n @ o [ p ] q ^ r _ s { t"]]
                ),
    "trailing_space": (["  the cat  sat. ", "the dog\t", "no end 2014. "],
                       [["the cat sat.", "the dog", "no end 2014."]]),
    "white_space": (
        ["a\u00a0b\u2028c\u0085d\u3000e\x0bf\x0cg\rh\x1ci\x1fj\u1680k\u2003l\u205fm\u202fn",
         "a\u200bb\ufeffc\u180ed\x00e\x07f"],
        [["a b c d e f g h i j k l m n", "a\u200bb \ufeffc d\x00e f"]]),
    "carriage_return": (["one line here now\r", "two\r"], [["one line here now", "two"]]),
    "empty_hypothesis": (["", "the cat sat on the mat", ""],
                         [["a b", "the cat sat on a mat", ""]]),
    "empty_reference": (["something at all here", "the cat sat on the mat"],
                        [["", "the cat sat on the mat"]]),
    "all_empty": (["", ""], [["", ""]]),
    "no_match": (["aa bb cc dd ee"], [["vv ww xx yy zz"]]),
    "no_bigram": (["a b c d e"], [["e d c b a"]]),
    "no_trigram": (["a b x c d y e f"], [["a b u c d v e f"]]),
    "no_fourgram": (["a b c x d e f y"], [["a b c u d e f v"]]),
    "short": (["yes", "no way", "not at all"], [["yes", "no way", "not at all"]]),
    "one_word": (["hello"], [["hello"]]),
    "too_short": (["the cat"], [["the cat sat on the mat with a hat"]]),
    "too_long": (["the cat the cat the cat the cat sat on"], [["the cat sat on"]]),
    "repeats": (["the the the the the the the"], [["the cat is on the mat", ],
                                                  ["there is a cat on the mat"]]),
    "two_references": (
        ["the cat sat on the mat", "a dog barks loudly today", ""],
        [["a cat was on the mat", "the dog barks very loudly", "nothing"],
         ["the cat sat on a rug there", "a dog is barking loudly today", ""]]),
    "closest_length": (["a b c d e"], [["a b c d e f g"], ["a b c"], ["a b c d e f"], ["a b c d"]]),
    "unjoined_pieces": (["▁the ▁ca t", "un@@ believ@@ able ."], [["the cat", "unbelievable ."]]),
    "japanese": (["今日は学校に行きました。カタカナ・ひらがな", "「はい」、ﾊﾝｶｸです！㈱"],
                 [["今日、学校へ行きました。カタカナとひらがな", "「はい」 、 ﾊﾝｶｸ です ！ ㈱"]]),
    "korean": (["나는 오늘 학교에 갔다.", "그래요, 네!"], [["나는 학교에 오늘 갔어요.", "그래요 , 네 !"]]),
    "arabic": (["ذهبت إلى المدرسة، اليوم؟", "٣٫٥ درجة"], [["ذهبت اليوم إلى المدرسة ، ؟", "٣٫٥ درجات"]]),
    "hebrew": (["הלכתי לבית־הספר היום, צה\"ל"], [["היום הלכתי לבית הספר , צה״ל"]]),
    "hindi": (["मैं आज स्कूल गया।", "१२.५ रुपये"], [["आज मैं स्कूल गया था ।", "१२.५ रुपए"]]),
    "thai": (["วันนี้ฉันไปโรงเรียน", "ราคา ๕๐ บาท"], [["ฉันไปโรงเรียนวันนี้", "ราคา ๕๐.๐ บาท"]]),
    "mixed_scripts": (["GPT中文mixed文本3.5版—“引用”…好的", "𠀀𠀁 ext B, 々〆 ㄅㄆ"],
                      [["GPT 中文 mixed 文本 3.5 版 — “ 引用 ” … 好", "𠀀 𠀁 ext B , 々 〆 ㄅ ㄆ"]]),
    "intl_marks": (["“Quoted”—dashed–text…¿Qué? ¡Sí! 5€ £3 ½ ² ٪ ‰", "1,5.2 a.1 1.a ,. .,5 ٣,٤ Ⅷ."],
                   [["“ Quoted ” — dashed – text … ¿ Qué ? ¡ Sí ! 5 € £ 3 ½ ² ٪ ‰",
                     "1,5.2 a . 1 1 . a , . . ,5 ٣,٤ Ⅷ ."]]),
    "final_points": (["It was 1998.", "so it was 3,5,", "x.", "5", "."],
                     [["It was 1998 .", "so it was 3,5 ,", "x .", "5 .", ". ."]]),
    "shifted": (["b c d e a x y z w", "on the mat the cat sat today again", "e d c b a",
                 "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"],
                [["a b c d e x y z w", "today the cat sat on the mat again", "a b c d e",
                  "three four five six seven eight nine ten eleven twelve thirteen fourteen one two"]]),
    "shifted_twice": (["the dog bit the man in the park yesterday the police said",
                       "a a b b a a c c a a d d a a"],
                      [["yesterday the man bit the dog , the police said in the park",
                        "d d a a c c a a b b a a"]]),
    "very_uneven": (["a", " ".join("word%d" % (i % 17) for i in range(150)), ""],
                    [[" ".join("word%d" % (i % 13) for i in range(120)) + " a", "word3 word4",
                      "three words here"]]),
    "chrf_words": (["(hello) \"world\" 'tis ... a. .a -- (x) 中。 «so»", "don't re-do it,too"],
                   [["hello ( world ) tis . a .a - x 中 。 « so »", "do n't re - do it , too"]]),
    "possessives": (["Peter's dog's 's cats' 'sun", "the boss's"],
                    [["Peter 's dog 's 's cats ' 'sun", "the boss 's"]]),
    "double_entities": (["&amp;lt; &amp;amp;lt; .,", "a &amp;quot;"],
                        [["&amp;lt; &amp;amp;lt; .,", "a &amp;quot;"]]),
    "three_references": (["the house is small", "a b", ""],
                         [["the house is little", "a", ""], ["the home is small", "a b c d", "x y"],
                          ["", "b a", "z"]]),
    "random_bytes": ([bytes([206, 177, 255, 32, 237, 160, 128, 46]), b"a\xf0\x9f\x91 b\xc0\xaf c.",
                      b"\x80\x80 x"],
                     [[b"\xce\xb1 \xff\xed .", b"a b\xc0 \xaf c .", b"x \xe2\x82"]]),
}

# Names of metrics and options as in lib/eval.
SETTINGS = [
    *({"metric": "bleu", "tokenizer": t} for t in ("13a", "intl", "zh", "char", "none", "flores101")),
    {"metric": "bleu", "tokenizer": "13a", "lowercase": True},
    {"metric": "bleu", "tokenizer": "none", "lowercase": True},
    {"metric": "bleu", "tokenizer": "intl", "lowercase": True, "smoothing": "none"},
    {"metric": "bleu", "smoothing": "floor"},
    {"metric": "bleu", "smoothing": "floor", "smoothing_value": 0.01},
    {"metric": "bleu", "smoothing": "add-k"},
    {"metric": "bleu", "smoothing": "add-k", "smoothing_value": 2.5},
    {"metric": "bleu", "smoothing": "none", "max_order": 2},
    {"metric": "bleu", "effective_order": True},
    {"metric": "bleu", "effective_order": True, "smoothing": "floor", "max_order": 6},
    {"metric": "bleu", "effective_order": True, "smoothing": "add-k", "tokenizer": "char"},
    {"metric": "chrf"},
    {"metric": "chrf", "word_order": 2},
    {"metric": "chrf", "word_order": 2, "lowercase": True},
    {"metric": "chrf", "space": True},
    {"metric": "chrf", "char_order": 3, "word_order": 1, "beta": 3},
    {"metric": "chrf", "eps_smoothing": True, "word_order": 2},
    {"metric": "ter"},
    {"metric": "ter", "case_sensitive": True},
    {"metric": "ter", "normalize": True},
    {"metric": "ter", "normalize": True, "asian": True},
    {"metric": "ter", "no_punctuation": True},
    {"metric": "ter", "no_punctuation": True, "asian": True, "normalize": True},
]

ALPHABET = list("aaabbAB12 05  ..,,--'\"&;<>()%") + [
    "&quot;", "&amp;", "&lt;", "<skipped>", " the ", " cat ", "\u00a0", "\u2028", "\u3000", "\r",
    "ä", "Ä", "ß", "Σ", "é", "…", "—", "“", "中", "。", "👍", "\u0301", "İ", "\u200b", "\x1d",
    "'s ", "、", "ア", "€", "½", "\u0085", "\x0c"]


def random_text(source, longest=40):
    def line():
        return "".join(source.choice(ALPHABET) for _ in range(source.randrange(longest)))

    def changed(text):
        letters = [source.choice(ALPHABET) if source.random() < 0.1 else c for c in text]
        if letters and source.random() < 0.5:  # a phrase moves
            begin, width = source.randrange(len(letters)), source.randrange(12)
            phrase = letters[begin:begin + width]
            del letters[begin:begin + width]
            place = source.randrange(len(letters) + 1)
            letters[place:place] = phrase
        return "".join(letters)

    reference = [line() for _ in range(source.randrange(1, 4))]
    hypotheses = [changed(text) for text in reference]
    others = [[changed(text) for text in reference] for _ in range(source.randrange(2))]
    return hypotheses, [reference] + others


class Pieces:
    """A tokeniser of sacreBLEU over a model of ours instead of a downloaded one."""

    def __init__(self, model):
        self.processor = sentencepiece.SentencePieceProcessor(model_file=str(model))

    def __call__(self, line):
        return " ".join(self.processor.EncodeAsPieces(line))


def make_metric(setting, model):
    options = {key: value for key, value in setting.items() if key != "metric"}
    if setting["metric"] == "chrf":
        rename = {"space": "whitespace"}
        return CHRF(**{rename.get(key, key): value for key, value in options.items()})
    if setting["metric"] == "ter":
        rename = {"normalize": "normalized", "no_punctuation": "no_punct", "asian": "asian_support"}
        return TER(**{rename.get(key, key): value for key, value in options.items()})
    rename = {"tokenizer": "tokenize", "smoothing": "smooth_method",
              "smoothing_value": "smooth_value", "max_order": "max_ngram_order"}
    options = {rename.get(key, key): value for key, value in options.items()}
    pieces = options.get("tokenize") == "flores101"
    if pieces:
        options["tokenize"] = "none"
    metric = BLEU(**options)
    if pieces:
        metric.tokenizer = Pieces(model)
        metric.tokenizer_signature = "flores101"
    return metric


def decode(lines):
    # sacreBLEU's command reads UTF-8 and strips the lines.
    return [(line.decode("utf-8", "replace") if isinstance(line, bytes) else line).rstrip()
            for line in lines]


def expected(hypotheses, references, setting, model):
    """The line, and the statistics of every segment."""
    metric = make_metric(setting, model)
    hypotheses, references = decode(hypotheses), [decode(file) for file in references]
    rows = metric._extract_corpus_statistics(hypotheses, references)
    score = metric.corpus_score(hypotheses, references)
    return score.format(width=12, signature=metric.get_signature().format()), rows


def train_model(folder):
    lines = [line for hypotheses, references in TEXTS.values()
             for file in [hypotheses, *references] for line in file if isinstance(line, str)]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 3), model_prefix=str(folder / "scores"), vocab_size=400,
        normalization_rule_name="identity", character_coverage=0.98, hard_vocab_limit=False)
    (folder / "scores.vocab").unlink()
    return folder / "scores.model"


def main():
    folder = pathlib.Path(sys.argv[1])
    model = train_model(folder)
    source = random.Random(13)
    texts = [(name, *text) for name, text in TEXTS.items()]
    texts += [(f"random_{i}", *random_text(source)) for i in range(25)]
    lines = [{"settings": SETTINGS}]
    for name, hypotheses, references in texts:
        raw = any(isinstance(line, bytes) for line in hypotheses)
        results = []
        for setting in SETTINGS:
            line, rows = expected(hypotheses, references, setting, model)
            sums = [sum(column) for column in zip(*rows)]
            results.append([line, sums])
        if raw:
            hypotheses = [line.hex() for line in hypotheses]
            references = [[line.hex() for line in file] for file in references]
        lines.append({"name": name, "hex": raw, "hypotheses": hypotheses,
                      "references": references, "expected": results})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    with open(folder / "scores.jsonl.gz", "wb") as file:
        file.write(gzip.compress(text.encode(), compresslevel=9, mtime=0))


if __name__ == "__main__":
    main()
