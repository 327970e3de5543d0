"""Tests every control of the page of tx-train --report.  report_test.py PAGE

PAGE has two runs: one of 20 steps with validations and an incident, the other of 40 steps without
validation; their names contain markup.
"""
import sys

from browser import Browser, fail

POINTS = "document.querySelector('#chart-{} [data-series=\"{}\"] polyline').getAttribute('points')"


def texts(page, selector):
    return page.value(
        f"[...document.querySelectorAll('{selector}')].map((node) => node.textContent)")


def check_charts(page):
    charts = page.value("[...document.querySelectorAll('.chart')].map((node) => node.id)")
    wanted = ["loss", "perplexity", "learning_rate", "gradient_norm", "tokens_per_second",
              "accuracy", "layers-1-encoder", "layers-1-decoder"]
    if charts != [f"chart-{name}" for name in wanted]:
        fail(f"charts {charts}")
    page.expect("document.querySelectorAll('#chart-loss .spike').length", 1)
    page.expect("document.querySelector('#chart-loss .spike title').textContent",
                "<b>one</b>: not finite at step 12, skipped")
    page.expect("document.querySelectorAll('#chart-loss .checkpoint').length", 5)
    if texts(page, "#chart-layers-1-encoder .end") != ["0", "1"]:
        fail(f"layers {texts(page, '#chart-layers-1-encoder .end')}")
    page.expect("document.querySelectorAll('main b').length", 0)
    # The longer run ends at the right, the shorter in the middle.
    ends = [float(page.value(POINTS.format("learning_rate", run)).split(" ")[-1].split(",")[0])
            for run in (0, 1)]
    if not ends[0] < ends[1] - 100:
        fail(f"the lines end at {ends}")


def check_axes(page):
    steps = page.value(POINTS.format("learning_rate", 0))
    page.click("#x-tokens")
    page.expect("location.hash", "#x=tokens")
    page.expect("document.querySelector('#chart-loss svg text:last-of-type') !== null")
    tokens = page.value(POINTS.format("learning_rate", 0))
    page.click("#x-minutes")
    minutes = page.value(POINTS.format("learning_rate", 0))
    if len({steps, tokens, minutes}) != 3:
        fail("the axes make no difference")
    page.click("#x-steps")
    page.expect("location.hash", "")
    page.click("#y-log")
    if page.value(POINTS.format("learning_rate", 0)) == steps:
        fail("the scale makes no difference")
    page.click("#y-linear")
    rough = page.value(POINTS.format("loss", 0))
    page.click("#smooth-5")
    if page.value(POINTS.format("loss", 0)) == rough:
        fail("the mean makes no difference")
    page.choose("#from", 3)
    page.expect("location.hash", "#smooth=5&from=25")
    if page.value(POINTS.format("loss", 0)).count(",") >= rough.count(","):
        fail("nothing is left out")


def check_runs(page):
    page.go("")
    page.click("#run-2")
    page.expect("location.hash", "#hidden=2")
    page.expect("document.querySelectorAll('#chart-loss [data-series=\"1\"]').length", 0)
    page.expect("document.querySelector('#run-2').getAttribute('aria-pressed')", "false")
    page.press("2")
    page.expect("document.querySelectorAll('#chart-loss [data-series=\"1\"]').length", 1)
    page.press("1")
    page.expect("document.querySelector('#chart-layers-1-encoder')", None)
    page.press("1")


def check_reading(page):
    page.point("#chart-learning_rate svg")
    said = page.text("#chart-learning_rate .said")
    if "step " not in said or "<b>one</b> 0.0" not in said:
        fail(f"the readout says {said}")
    page.mouse("mouseMoved", 2, 2)
    page.expect("document.querySelector('#chart-learning_rate .said').textContent.trim()", "")


def check_tables(page):
    rows = texts(page, "#summary tr")
    if len(rows) != 3 or "<b>one</b>" not in rows[1]:
        fail(f"the summary is {rows}")
    cells = texts(page, "#summary tr:nth-child(2) td")
    if cells[1] != "20" or cells[7:] != ["2", "1", "1"]:
        fail(f"the summary of the first run is {cells}")
    if texts(page, "#differing td") != ["--seed", "1", "2"]:
        fail(f"options that differ: {texts(page, '#differing td')}")
    if texts(page, "#common td")[:2] != ["--steps", "20"]:
        fail(f"options they share: {texts(page, '#common td')}")


def check_keys(page):
    for key, wanted in (("x", "#x=tokens"), ("l", "#x=tokens&y=log"),
                        ("s", "#x=tokens&y=log&smooth=5")):
        page.press(key)
        page.expect("location.hash", wanted)
    before = page.value("document.documentElement.dataset.theme")
    page.press("t")
    page.expect("document.documentElement.dataset.theme", "dark" if before == "light" else "light")
    page.press("?")
    page.expect("document.querySelector('#help').open")
    page.value("document.querySelector('#help').close()")
    page.go("x=nonsense&y=log&hidden=9")
    page.expect("document.querySelector('#y-log').getAttribute('aria-pressed')", "true")
    page.expect("document.querySelectorAll('.chart').length", 8)


with Browser() as browser:
    page = browser.open(sys.argv[1], dark=True)
    page.expect("document.documentElement.dataset.theme", "dark")
    for check in (check_charts, check_axes, check_runs, check_reading, check_tables, check_keys):
        check(page)
        page.expect_quiet()
    page.call("Page.printToPDF")
    page.expect_quiet()
