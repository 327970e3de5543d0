"""Tests the page of tx-train --describe --html.  describe_test.py PAGE

PAGE has d_model 64, the paper's schedule with a warm-up of 1,000, 5,000 steps, sinusoids, and one
vocabulary of 37,000 tokens.
"""
import math
import sys

from browser import Browser, fail


def rate(step, width, warmup):
    return width ** -0.5 * min(step ** -0.5, step * warmup ** -1.5)


def check_schedule(page):
    """The page's schedule equals the tool's for equal settings."""
    page.choose("#warmup", page.value("[...document.querySelector('#warmup').max].length && 1"))
    page.expect("document.querySelector('#warmup').nextElementSibling.textContent", "1000")
    lines = page.value("[...document.querySelectorAll('#schedule polyline')]"
                       ".map((line) => line.getAttribute('points'))")
    if len(lines) != 2 or lines[0] != lines[1]:
        fail("the page's schedule is not the tool's")
    page.choose("#width", 3)
    width = int(page.value("document.querySelector('#width').nextElementSibling.textContent"))
    step, highest = page.text("#highest").split(": ")
    wanted = rate(1000, width, 1000)
    if step != "1,000" or not math.isclose(float(highest), wanted, rel_tol=1e-3):
        fail(f"highest {highest} at {step} instead of {wanted}")
    page.expect(f"location.hash.includes('width={width}')")
    page.click("#scale-log")
    page.expect("location.hash.includes('scale=log')")


def check_positions(page):
    page.choose("#length", 0)
    page.expect("document.querySelector('#positions').height", 20)
    page.expect("document.querySelector('#positions').width", 64)
    page.place("#positions")
    box = page.value("(({left, top, width, height}) => [left, top, width, height])"
                     "(document.querySelector('#positions').getBoundingClientRect())")
    for position, feature in ((3, 4), (11, 9)):
        page.mouse("mouseMoved", box[0] + (feature + 0.5) * box[2] / 64,
                   box[1] + (position + 0.5) * box[3] / 20)
        said = page.text("#position-said")
        angle = position / 10000 ** (2 * (feature // 2) / 64)
        wanted = math.cos(angle) if feature % 2 else math.sin(angle)
        if not said.startswith(f"position {position}, feature {feature}:") or abs(
                float(said.split("= ")[1].replace("\u2212", "-")) - wanted) > 1e-4:
            fail(f"{said}, but {wanted}")
    page.choose("#features", 0)
    page.expect("document.querySelector('#positions').width", 32)


def check_parameters(page):
    rows = page.value("[...document.querySelectorAll('#parameters tr')].map((row) =>"
                      " [...row.cells].map((cell) => cell.textContent.replaceAll(',', '')))")
    total = rows[-1][2]
    if page.text("#panel-blocks h2").replace(",", "") != f"{total} parameters":
        fail("the heading tells another sum")
    if sum(int(row[2]) for row in rows[1:-1]) != int(total):
        fail("the blocks do not add up")
    if rows[1][0] != "embedding" or rows[1][2] != str(37000 * 64):
        fail(f"the embedding is {rows[1]}")


def check_labels(page):
    page.go("")
    labels = page.value("[...document.querySelectorAll('#schedule .end')]"
                        ".map((text) => text.textContent)")
    if labels != ["these settings", "the paper\u2019s formula"]:
        fail(f"the lines are {labels}")
    page.expect_inside(".chart text", "svg")


def check_resources(page):
    """Memory and FLOPs, as in the text of --describe."""
    rows = page.value("[...document.querySelectorAll('#memory tr')].map((row) =>"
                      " [...row.cells].map((cell) => cell.textContent))")[1:]
    sizes = [float(row[2].split(" ")[0]) for row in rows]
    if not math.isclose(sum(sizes[:-1]), sizes[-1], abs_tol=0.5) or not all(
            row[2].endswith(" MiB") for row in rows):
        fail(f"memory: {rows}")
    page.expect("document.querySelector('#panel-resources h2').textContent",
                f"{rows[-1][2]} of memory")
    step = dict(page.value("[...document.querySelectorAll('#step tr')].map((row) =>"
                           " [...row.cells].map((cell) => cell.textContent))"))
    # 448 tokens on each side; 37,000 x 64 logits are most of it.
    if step["target tokens per batch"] != "448" or not step["FLOPs per step"].endswith(" GFLOP"):
        fail(f"a step: {step}")
    flops = float(step["FLOPs per step"].split(" ")[0]) * 1e9
    if not 1 < flops / (6 * 448 * 37000 * 64) < 1.2:
        fail(f"{flops} FLOPs per step")


def check_narrow(page):
    page.resize(420, 800)
    page.go("")
    page.expect_readable(420)
    page.expect_inside(".chart text", "svg")


with Browser() as browser:
    page = browser.open(sys.argv[1])
    for check in (check_schedule, check_positions, check_parameters, check_labels, check_resources,
                  check_narrow):
        check(page)
        page.expect_quiet()
    page.press("t")
    page.expect("document.documentElement.dataset.theme", "dark")
    page.call("Page.printToPDF")
    page.expect_quiet()
