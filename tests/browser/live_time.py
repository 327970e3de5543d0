"""Measures the speed of a page of tx-attn-dump --live.

    live_time.py PAGE ROUNDS SENTENCE [EXTRA]

Prints the median and maximum in milliseconds, over the rounds, of the time until the model is ready,
of the first and of the second greedy translation of SENTENCE, with at most EXTRA (50) more tokens than
the source, and of the longest time for which the page did not respond during the second.
"""
import json
import statistics
import sys

from browser import Browser

# Milliseconds from the start of the navigation until the first answer about a short text.
READY = """(async () => {
  await window.tx.tokenize('w4');
  return performance.now();
})()"""

# [milliseconds of the translation, longest time between two timers, tokens]
TRANSLATE = """(async () => {{
  let last = performance.now(), blocked = 0;
  const timer = setInterval(() => {{
    blocked = Math.max(blocked, performance.now() - last);
    last = performance.now();
  }}, 1);
  const begin = performance.now();
  const result = await window.tx.translate({}, {{ beam: 1, maxExtra: {} }});
  const end = performance.now();
  clearInterval(timer);
  return [end - begin, Math.max(blocked, end - last), result.tokens.length];
}})()"""


def show(name, figures, unit="ms"):
    print(f"{name:20} {statistics.median(figures):8.1f} {max(figures):8.1f} {unit}")


def main():
    path, rounds, sentence, extra = [*sys.argv[1:], 50][:4]
    translate = TRANSLATE.format(json.dumps(sentence), extra)
    loads, first, second, blocked = [], [], [], []
    with Browser() as browser:
        for _ in range(int(rounds)):
            page = browser.open(path)
            page.wait("window.tx !== undefined")
            loads.append(page.value(READY))
            first.append(page.value(translate)[0])
            time, pause, tokens = page.value(translate)
            second.append(time)
            blocked.append(pause)
            page.expect_quiet()
    print(f"{'':20}   median  largest")
    show("ready", loads)
    show("first translation", first)
    show(f"again, {tokens} tokens", second)
    show("page blocked", blocked)


main()
