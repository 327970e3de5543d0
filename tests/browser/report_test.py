"""Tests every control of the page of tx-train --report.  report_test.py PAGE ONE

PAGE has two runs: one of 20 steps with validations and an incident, the other of 40 steps without
validation; their names contain markup. ONE has a run of 40 steps, logged every 20 steps.
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


def check_layout(page):
    """The table comes first, the title names the runs, and nothing is clipped."""
    page.expect("document.querySelector('#body > :first-child #summary') !== null")
    page.expect("document.querySelector('h1').textContent", "Training runs <b>one</b>, two")
    page.expect_inside(".chart text", "svg")
    # All charts have the same x-axis.
    axes = page.value("[...document.querySelectorAll('.chart svg')].map((svg) =>"
                      " [...svg.querySelectorAll('text[text-anchor=middle]')].map((text) =>"
                      " `${text.getAttribute('x')} ${text.textContent}`).join())")
    if len(set(axes)) != 1:
        fail(f"x-axes {axes}")


def check_marks(page):
    """Validation has hollow marks on a thin line; the mark and the dashes of a run are its own."""
    strokes = page.value("""[...document.querySelectorAll('#chart-loss [data-series="0"]')].map((one) =>
        [one.classList.contains('marked'),
          +one.querySelector('polyline').getAttribute('stroke-width'),
          [...one.querySelectorAll('.mark')].map((mark) => mark.getAttribute('fill'))])""")
    if len(strokes) != 2 or strokes[0][0] or strokes[0][2] or not strokes[1][0]:
        fail(f"training and validation are drawn as {strokes}")
    if not strokes[1][1] < strokes[0][1] or strokes[1][2] != ["var(--panel)"]:
        fail(f"training and validation are drawn as {strokes}")
    # A line of one point is drawn as a mark.
    page.go("from=50")
    for run, count in ((0, 1), (1, 0)):
        page.expect(f"document.querySelectorAll('#chart-learning_rate [data-series=\"{run}\"] .mark')"
                    ".length", count)
    page.go("")


def check_scales(page):
    """Perplexity is logarithmic, here exp(6 / step), and accuracy ends at 1."""
    ys = [float(point.split(",")[1]) for point in
          page.value(POINTS.format("perplexity", 0)).split(" ")[:3]]
    share = (ys[1] - ys[0]) / (ys[2] - ys[0])
    if abs(share - (6 - 3) / (6 - 2)) > 0.02:
        fail(f"perplexity at {ys}")
    highest = max(float(text) for text in
                  texts(page, "#chart-accuracy svg text[text-anchor=end]")[:-1])
    if highest != 1:
        fail(f"the axis of accuracy ends at {highest}")


def check_narrow(page):
    page.resize(420, 800)
    page.go("")
    page.expect_readable(420)
    page.expect_inside(".chart text", "svg")
    page.expect("document.querySelector('#chart-loss svg').getAttribute('width') < 400")
    page.resize(1280, 900)


def check_one(page):
    page.expect("document.querySelector('h1').textContent", "Training run three")
    if set(texts(page, "#chart-loss .end")) != {"training"}:
        fail(f"labels {texts(page, '#chart-loss .end')}")
    # The warm-up of ten steps ends before the first line of the log.
    points = [tuple(map(float, point.split(","))) for point in
              page.value(POINTS.format("learning_rate", 0)).split(" ")]
    top = min(range(len(points)), key=lambda i: points[i][1])
    share = (points[top][0] - points[0][0]) / (points[-1][0] - points[0][0])
    if len(points) != 40 or top != 9 or abs(share - 9 / 39) > 0.01:
        fail(f"the learning rates are {points}")
    page.click("#x-minutes")
    if len(page.value(POINTS.format("learning_rate", 0)).split(" ")) != 40:
        fail("no learning rates over minutes")


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
    for check in (check_charts, check_layout, check_marks, check_scales, check_axes, check_runs,
                  check_reading, check_tables, check_keys, check_narrow):
        check(page)
        page.expect_quiet()
    page.call("Page.printToPDF")
    page.expect_quiet()
    page = browser.open(sys.argv[2])
    check_one(page)
    page.expect_quiet()
