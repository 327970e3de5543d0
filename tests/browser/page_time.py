"""Measures the speed of a page of tx-attn-dump --html.  page_time.py PAGE ROUNDS

Prints the median and maximum in milliseconds, over the rounds, of loading the page and of user
actions. The first two figures of an action are the time of its script, the others the time until the
second frame after it, when it is drawn.
"""
import statistics
import sys

from browser import Browser

ACTIONS = (
    ("view: all heads", "#view-grid"),
    ("view: matrix", "#view-matrix"),
    ("view: step by step", "#view-steps"),
    ("view: statistics", "#view-statistics"),
    ("view: lines", "#view-lines"),
    ("lines of all heads", "#all-heads"),
    ("lines of words", "#unit-words"),
    ("lines of tokens", "#unit-tokens"),
    ("another kind", "#kind-encoder"),
)

LOADED = """(() => {
  const entry = performance.getEntriesByType('navigation')[0];
  return entry.loadEventEnd > 0 ? entry.loadEventEnd : null;
})()"""


def timed(selector):
    """A promise of the milliseconds of a click and of the frame that shows it."""
    return f"""new Promise((done) => {{
      const node = document.querySelector('{selector}');
      const begin = performance.now();
      node.click();
      const drawn = performance.now() - begin;
      requestAnimationFrame(() => requestAnimationFrame(
        () => done([drawn, performance.now() - begin])));
    }})"""


# A query under the pointer: its lines alone, and a bar at each key.
HOVER = """new Promise((done) => {
  const rows = [...document.querySelectorAll('#lines .row')];
  const begin = performance.now();
  for (const row of rows) row.dispatchEvent(new PointerEvent('pointerenter'));
  const drawn = (performance.now() - begin) / rows.length;
  requestAnimationFrame(() => requestAnimationFrame(
    () => done([drawn, performance.now() - begin - drawn * (rows.length - 1)])));
})"""


def show(name, figures):
    columns = zip(*figures)
    text = ["{:8.1f} {:8.1f}".format(statistics.median(column), max(column)) for column in columns]
    print(f"{name:24}", "  ".join(text))


def main():
    rounds = int(sys.argv[2])
    loads, actions, hovers = [], {name: [] for name, _ in ACTIONS}, []
    with Browser() as browser:
        for _ in range(rounds):
            page = browser.open(sys.argv[1])
            page.wait(f"{LOADED} !== null")
            loads.append([page.value(LOADED)])
            for name, selector in ACTIONS:
                actions[name].append(page.value(timed(selector)))
                if name == "lines of all heads":
                    hovers.append(page.value(HOVER))
            page.expect_quiet()
    print(f"{'milliseconds':24}   median  largest    median  largest (shown)")
    show("load", loads)
    for name, figures in actions.items():
        show(name, figures)
    show("a query pointed at", hovers)


main()
