#!/usr/bin/env python3
"""Translates lines of subwords with CTranslate2, for decode_speed.sh.

usage: ct2_decode.py MODEL TYPE BATCH BEAM THREADS MAX_EXTRA DEVICE < SUBWORDS > SUBWORDS

Prints the seconds of translation, without start-up, to stderr.
"""
import sys
import time

import ctranslate2


def main():
    model, kind, batch, beam, threads, extra, device = sys.argv[1:]
    lines = [line.split() for line in sys.stdin]
    workers = 2 if device == "cuda" else 1  # as tx-decode
    translator = ctranslate2.Translator(model, device=device, compute_type=kind,
                                        inter_threads=workers, intra_threads=int(threads))
    longest = max(map(len, lines)) + int(extra)
    options = dict(beam_size=int(beam), max_batch_size=int(batch), batch_type="examples",
                   length_penalty=0.6, max_decoding_length=longest)
    translator.translate_batch(lines[:2 * int(batch) if workers > 1 else 8], **options)
    start = time.perf_counter()
    results = translator.translate_batch(lines, **options)
    print(f"{time.perf_counter() - start:.3f}", file=sys.stderr)
    for r in results:
        print(" ".join(r.hypotheses[0]))


if __name__ == "__main__":
    main()
