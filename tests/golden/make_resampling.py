#!/usr/bin/env python3
"""Writes resampling.jsonl: results of resampling by sacreBLEU 2.6.0 for two systems.

usage: make_resampling.py > resampling.jsonl      (pip install sacrebleu==2.6.0)

A line per case: the setting, the statistics of the segments of both systems, and the results: of the
second system alone (confidence), and against the first by paired bootstrap and by approximate
randomisation. The numbers of segments, resamples and trials exercise numpy's summation in blocks.
"""
import json
import random

from make_scores import make_metric, random_text
from sacrebleu.significance import PairedTest, _bootstrap_resample

CASES = [
    ({"metric": "bleu"}, 150, 300, 200), ({"metric": "bleu"}, 1, 7, 7),
    ({"metric": "bleu", "smoothing": "floor", "tokenizer": "char"}, 33, 129, 50),
    ({"metric": "bleu", "smoothing": "add-k"}, 90, 1000, 100),
    ({"metric": "chrf", "word_order": 2}, 77, 1001, 333), ({"metric": "chrf"}, 64, 136, 32),
    ({"metric": "ter"}, 101, 777, 100),
]


def figures(setting, segments, resamples, trials, source):
    texts = [random_text(source) for _ in range(segments)]
    references = [[text[1][0][0] + "a b c d e f g" for text in texts]]
    endings = ["a b c d e f g", "b c d e f", "x a b d c e f g", "a b c"]
    systems = [[text[0][0] + source.choice(endings) for text in texts] for _ in range(2)]
    metric = make_metric(setting, None)
    rows = [metric._extract_corpus_statistics(system, references) for system in systems]
    score = metric._aggregate_and_compute(rows[1])
    score.estimate_ci(_bootstrap_resample(rows[1], metric, resamples)[1])
    result = {"confidence": [float(score._mean), float(score._ci)]}
    for kind, count in [("bs", resamples), ("ar", trials)]:
        metrics = {"metric": make_metric(setting, None)}
        _, scores = PairedTest(list(zip("ab", systems)), metrics, references, kind, count)()
        first, second = scores[next(name for name in scores if name != "System")]
        values = (first.mean, first.ci, second.mean, second.ci, second.p_value)
        result[kind] = [float(x) for x in values if x is not None]
    return {"setting": setting, "resamples": resamples, "trials": trials, "rows": rows, **result}


def main():
    source = random.Random(17)
    for case in CASES:
        print(json.dumps(figures(*case, source)))


if __name__ == "__main__":
    main()
