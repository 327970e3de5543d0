#!/usr/bin/env python3
"""Writes bleu.jsonl: what sacreBLEU 2.6.0 says about texts of ours, one text a line.

usage: make_bleu.py > bleu.jsonl      (pip install sacrebleu==2.6.0)

Each line holds hypotheses, references (a list of files, each a list of lines) and what is expected
for each setting: the line at 12 decimals, the matched and the total n-grams of orders 1 to 4.
"""
import json
import random

from sacrebleu.metrics import BLEU

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
}

ALPHABET = list("aaabbAB12 05  ..,,--'\"&;<>()%") + [
    "&quot;", "&amp;", "&lt;", "<skipped>", " the ", " cat ", "\u00a0", "\u2028", "\u3000", "\r",
    "ä", "Ä", "ß", "Σ", "é", "…", "—", "“", "中", "。", "👍", "\u0301", "İ", "\u200b", "\x1d"]


def random_text(source):
    def line():
        return "".join(source.choice(ALPHABET) for _ in range(source.randrange(40)))

    def changed(text):
        return "".join(source.choice(ALPHABET) if source.random() < 0.1 else c for c in text)

    reference = [line() for _ in range(source.randrange(1, 4))]
    hypotheses = [changed(text) for text in reference]
    others = [[changed(text) for text in reference] for _ in range(source.randrange(2))]
    return hypotheses, [reference] + others


SETTINGS = [("13a", False), ("13a", True), ("none", False), ("none", True), ("char", False)]


def expected(hypotheses, references, tokenizer, lowercase):
    # The command strips the lines it reads before the metric sees them.
    hypothesis_lines = [line.rstrip() for line in hypotheses]
    reference_lines = [[line.rstrip() for line in file] for file in references]
    metric = BLEU(tokenize=tokenizer, lowercase=lowercase)
    score = metric.corpus_score(hypothesis_lines, reference_lines)
    return {
        "tokenizer": tokenizer, "lowercase": lowercase,
        "line": score.format(width=12, signature=metric.get_signature().format()),
        "matched": score.counts, "total": score.totals,
    }


def main():
    source = random.Random(13)
    texts = [(name, *text) for name, text in TEXTS.items()]
    texts += [(f"random_{i}", *random_text(source)) for i in range(40)]
    for name, hypotheses, references in texts:
        results = [expected(hypotheses, references, *setting) for setting in SETTINGS]
        text = {"name": name, "hypotheses": hypotheses, "references": references}
        print(json.dumps({**text, "expected": results}))


if __name__ == "__main__":
    main()
