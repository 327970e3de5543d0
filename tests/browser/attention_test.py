"""Tests every control of the page of tx-attn-dump --html.  attention_test.py PAGE DECODER ENCODER

PAGE has three lines, the second blank, the third with markup in its words; two layers of four heads.
DECODER and ENCODER are pages of models of these kinds with ALiBi, of one line of 70 words.
"""
import math
import sys

from browser import Browser, fail

MARKUP = "<script>document.title='taken'</script>"


def pressed(page, selector):
    return page.value(
        f"document.querySelector('{selector}').getAttribute('aria-pressed') === 'true'")


def expect_pressed(page, selector):
    if not pressed(page, selector):
        fail(f"{selector} is not pressed")


def check_views(page):
    page.expect("document.querySelectorAll('#lines').length", 1)
    for view, there in (("grid", "#grid"), ("matrix", "#matrix"), ("steps", "#steps"),
                        ("statistics", "#statistics"), ("lines", "#lines")):
        page.click(f"#view-{view}")
        expect_pressed(page, f"#view-{view}")
        page.expect(f"document.querySelectorAll('{there}').length", 1)
    page.expect("location.hash", "")


def check_selection(page):
    page.click("#kind-encoder")
    page.expect("location.hash", "#kind=encoder")
    page.expect("document.querySelector('#caption').textContent.startsWith('encoder, layer 1')")
    page.choose("#layer", 0)
    page.expect("document.querySelectorAll('input[type=range]').length", 2)  # layer and threshold
    page.click("#head-2")
    page.click("#head-0")
    page.expect("document.querySelector('#caption').textContent", "encoder, layer 0, head 2")
    page.click("#head-1")
    page.expect("document.querySelector('#caption').textContent", "encoder, layer 0, heads 1, 2")
    page.click("#all-heads")
    page.expect("document.querySelector('#caption').textContent",
                "encoder, layer 0, heads 0, 1, 2, 3")
    page.click("#all-heads")
    page.expect("document.querySelector('#caption').textContent", "encoder, layer 0, head 0")
    # The menu shows the lines as they were read.
    page.expect("document.querySelector('#line option:last-child').textContent",
                f"3: w8  {MARKUP} w9")
    page.choose("#line", 3)
    page.expect("new URLSearchParams(location.hash.slice(1)).get('line')", "3")


def check_markup(page):
    """Markup in words is displayed as text."""
    page.go("line=3")
    page.expect("document.title.includes('taken')", False)
    page.expect(f"""[...document.querySelectorAll('#lines text.key')]
        .some((text) => text.querySelector('title').textContent === `{MARKUP}`)""")
    page.expect("document.querySelectorAll('main script, header script').length", 0)


def check_lines(page):
    page.go("")
    total = page.value("document.querySelectorAll('#lines path').length")
    page.choose("#threshold", 0)
    more = page.value("document.querySelectorAll('#lines path').length")
    cells = page.value("document.querySelectorAll('#lines .row').length *"
                       " document.querySelectorAll('#lines text.key').length")
    if not total <= more == cells:
        fail(f"{total} lines, {more} with threshold 0, {cells} pairs")
    page.point("#lines .row[data-query='1'] .pick")
    page.expect("document.querySelectorAll('#lines .of-query.shown').length", 1)
    weights = page.value("[...document.querySelectorAll('#lines .bars text')]"
                         ".map((text) => Number(text.textContent))")
    if abs(sum(weights) - 1) > 0.02 * len(weights):
        fail(f"weights {weights} of a query")
    page.click("#lines .row[data-query='1'] .pick")
    page.expect("location.hash.includes('query=1')")
    page.mouse("mouseMoved", 2, 2)
    page.expect("document.querySelectorAll('#lines .of-query.shown').length", 1)
    page.press("Escape")
    page.expect("document.querySelectorAll('#lines .of-query.shown').length", 0)
    page.click("#all-heads")
    page.expect("document.querySelector('#lines').getAttribute('width') ==="
                " String(document.querySelector('#panel').clientWidth - 36)")
    page.expect_inside("#lines text", "#lines")
    page.click("#lines .row[data-query='0'] .pick")
    page.expect("document.querySelectorAll('#lines [data-key=\"0\"] .bars rect').length", 4)


def check_threshold(page):
    """The threshold rises with the number of heads until it is chosen; strong lines are on top, and
    those of the heads side by side."""
    shown = "document.querySelector('#threshold').nextElementSibling.textContent"
    page.go("")
    page.expect(shown, "0.03")
    page.click("#all-heads")
    page.expect(shown, "0.1")
    for query in page.value("[...document.querySelectorAll('#lines .of-query')].map((group) =>"
                            " [...group.children].map((path) => [+path.getAttribute('stroke-width'),"
                            " path.getAttribute('d'), path.getAttribute('stroke')]))"):
        if [width for width, *_ in query] != sorted(width for width, *_ in query):
            fail(f"widths {query}")
        starts = {stroke: path.split("C")[0] for _, path, stroke in query}
        if len(set(starts.values())) != len(starts):
            fail(f"heads cover each other: {starts}")
    page.go("threshold=0.3")
    page.click("#all-heads")
    page.expect(shown, "0.3")
    page.go("threshold=0.3&heads=0,1,2,3&kind=encoder")
    hidden = page.value("document.querySelectorAll('#lines path').length === 0")
    page.expect("document.querySelector('#no-lines') !== null", hidden)


def check_matrix(page):
    page.go("view=matrix")
    x, y = page.place("#matrix")
    page.mouse("mouseMoved", x, y)
    page.expect("/\u2192.*: [01]\\.\\d{4}$/.test(document.querySelector('#said').textContent)")
    numbers = page.value("[...document.querySelectorAll('#matrix .number')]"
                         ".map((text) => Number(text.textContent))")
    rows = page.value("document.querySelectorAll('#matrix [data-row]').length")
    if abs(sum(numbers) - rows) > 0.03 * rows:
        fail(f"the cells of {rows} rows sum to {sum(numbers)}")
    page.click_at(x, y)
    page.expect("location.hash.includes('query=')")
    page.expect("document.querySelector('#matrix .mark').getAttribute('visibility')", "visible")
    page.click("#shades-full")
    page.expect("document.querySelector('.scale').nextSibling.textContent.trim()", "1.00")


def check_grid(page):
    page.go("view=grid&kind=decoder")
    page.expect("document.querySelectorAll('#grid canvas').length", 8)
    page.click("#grid-0-3")
    page.expect("document.querySelector('#caption').textContent", "decoder, layer 0, head 3")
    page.expect("document.querySelectorAll('#matrix').length", 1)


def check_statistics(page):
    page.go("view=statistics&kind=cross")
    page.expect("document.querySelectorAll('#statistics [data-head]').length", 8)
    column = "[...document.querySelectorAll('#statistics td.{}')].map((cell) => +cell.textContent)"
    names = ("[...document.querySelectorAll('#statistics th button')]"
             ".map((node) => node.textContent)")
    page.expect(names, ["entropy", "distance", "first", "eos", "punctuation", "confidence",
                        "equal"])
    for name in ("entropy", "confidence"):
        # The heading is above the numbers, and the bar to their left.
        right = ("(() => {{ const range = document.createRange();"
                 " range.selectNodeContents(document.querySelector('{}').lastChild);"
                 " return range.getBoundingClientRect().right; }})()")
        gap = page.value(right.format(f"#statistics td.{name}")) - page.value(
            right.format(f"#sort-{name}"))
        if abs(gap) > 4:
            fail(f"the heading {name} ends {gap} pixels from its numbers")
        page.click(f"#sort-{name}")
        falling = page.value(column.format(name))
        page.click(f"#sort-{name}")
        rising = page.value(column.format(name))
        if falling != sorted(falling, reverse=True) or rising != sorted(rising):
            fail(f"{name} is sorted as {falling}, {rising}")
    if not all(0.2 < value <= 1 for value in page.value(column.format("confidence"))):
        fail("a row of at most five keys has a largest weight of more than a fifth")
    # Distances of heads: 0 to itself, symmetric.
    box = page.value("(document.querySelector('#distances').scrollIntoView({block: 'center'}),"
                     " (({left, top, width}) => [left, top, width / 8])"
                     "(document.querySelector('#distances').getBoundingClientRect()))")
    said = []
    for a, b in ((1, 6), (6, 1), (4, 4)):
        page.mouse("mouseMoved", box[0] + (b + 0.5) * box[2], box[1] + (a + 0.5) * box[2])
        said.append(page.text("#said"))
    if not said[0].startswith("layer 0, head 1 and layer 1, head 2: distance 0."):
        fail(f"a pair of heads: {said[0]}")
    figures = [float(text.split("distance ")[1]) for text in said]
    if not 0 < figures[0] == figures[1] <= 0.833 or figures[2] != 0:
        fail(f"distances {figures}")
    labels = page.value("[...document.querySelectorAll('#distance-map .head-row')]"
                        ".map((text) => text.textContent)")
    if labels != [f"{layer}.{head}" for layer in (0, 1) for head in range(4)]:
        fail(f"labels of the distances: {labels}")
    page.click("#statistics [data-head='0.3'] td")
    page.expect("document.querySelector('#caption').textContent", "cross, layer 0, head 3")
    page.go("view=statistics&kind=decoder")
    page.expect(names, ["entropy", "distance", "previous", "self", "next", "first", "punctuation",
                        "confidence", "equal", "induction"])
    page.click("#statistics [data-head='1.2'] button")  # also reached by the keyboard
    page.expect("document.querySelector('#caption').textContent", "decoder, layer 1, head 2")


def check_steps(page):
    """The figures of the steps are consistent, and equal to the weights of the matrix."""
    page.go("view=steps&kind=decoder&layer=0&head=0&query=1")
    page.expect("document.querySelector('.explain h2').textContent.startsWith('1. Query')")
    page.expect("document.querySelector('.explain h2 code').innerHTML", "q = x W<sup>Q</sup>")
    page.expect("document.querySelector('#steps th.current').textContent", "Queryq = x WQ")
    page.expect("document.querySelector('#steps .query td').textContent",
                "query w7 \u2192 w6")
    page.expect("document.querySelector('.explain p').textContent.startsWith("
                "'The vector x of the position that has read \u201cw7\u201d and predicts "
                "\u201cw6\u201d')")
    page.expect("document.querySelector('#steps td.score').classList.contains('hidden')")
    page.expect("document.querySelector('#step-back').disabled")
    page.expect("document.querySelector('#step-next').disabled", False)
    for step in range(1, 8):
        page.click("#step-next")
        page.expect("new URLSearchParams(location.hash.slice(1)).get('step')", str(step))
    page.expect("document.querySelector('#step-next').disabled")
    page.expect("document.querySelectorAll('#steps .hidden').length", 0)
    page.click("#step-score")
    page.expect("document.querySelector('#steps td.weight').classList.contains('hidden')")
    page.click("#step-sum")
    column = ("[...document.querySelectorAll('#steps tr[data-key] td.{}')]"
              ".map((cell) => cell.textContent.replace('\u2212', '-'))")
    scores, scaled, masked, weights = (page.value(column.format(name)) for name in
                                       ("score", "scaled", "masked", "weight"))
    for score, part in zip(scores, scaled):
        if abs(float(score) / 8 ** 0.5 - float(part)) > 0.02:  # d_k is 8
            fail(f"{score} over the root of d_k is {part}")
    if masked[:2] != scaled[:2] or any(text != "-\u221e" for text in masked[2:]):
        fail(f"masked scores {masked} of row 1")
    page.go("view=matrix&kind=decoder&layer=0&head=0&query=1")
    cells = page.value("document.querySelector('#said').textContent")
    if f"{max(map(float, weights)):.3f}" not in cells:
        fail(f"weights {weights}, but {cells}")
    page.go("view=steps&kind=decoder")
    page.choose("#query", 2)
    page.expect("location.hash.includes('query=2')")
    page.click("#head-3")
    page.expect("document.querySelector('#caption').textContent", "decoder, layer 1, head 3")


def check_likelihoods(page):
    """Each target token has its log P, here and in the rest of the page; words have the sum."""
    page.go("line=1&view=matrix&kind=cross&query=1")
    pieces = page.value("JSON.parse(document.querySelector('#data').textContent).sentences[0]")
    shown = ("[...document.querySelectorAll('#log-p .unit')].map((unit) =>"
             " [unit.querySelector('b').textContent, unit.querySelector('small').textContent])")
    figures = page.value(shown)
    wanted = [[label, f"{x:.2f}".replace("-", "\u2212") + (f" {rank}." if rank > 1 else "")]
              for label, x, rank in zip(pieces["target"], pieces["log_p"], pieces["rank"])]
    total = f"{sum(pieces['log_p']):.2f}".replace("-", "\u2212")
    if figures != wanted:
        fail(f"log P {figures} instead of {wanted}")
    # The total stands apart at the right, with the probability on hover.
    if page.text("#total-log-p b") != "total log P" or page.text("#total-log-p small") != total:
        fail(f"the total is {page.text('#total-log-p')} instead of {total}")
    edges = page.value("['#total-log-p', 'header'].map((name) => { const node ="
                       " document.querySelector(name); return node.getBoundingClientRect().right -"
                       " parseFloat(getComputedStyle(node).paddingRight); })")
    if abs(edges[0] - edges[1]) > 1:
        fail(f"the total ends at {edges}")
    probability = float(page.value("document.querySelector('#total-log-p').title")
                        .split(" P ")[-1].replace("\u2212", "-"))
    if not math.isclose(probability, math.exp(sum(pieces["log_p"])), rel_tol=0.06):
        fail(f"P is {probability}")
    if not any(rank > 1 for rank in pieces["rank"]) or max(pieces["log_p"]) >= 0:
        fail(f"log P {pieces['log_p']}, ranks {pieces['rank']} of an untrained model")
    page.expect("document.querySelector('#said').textContent.endsWith("
                f"', rank {pieces['rank'][1]}')")
    page.expect("document.querySelector('#said').textContent.includes("
                f"'; log P {pieces['log_p'][1]:.2f}, P '.replace('-', '\u2212'))")
    page.expect("document.querySelector('#said').textContent.startsWith("
                "'Having read \u201cw7\u201d, the model attends most to ')")
    page.expect("document.querySelector('#said').textContent.includes("
                "' in order to predict \u201cw6\u201d; ')")
    page.click("#unit-words")
    words = page.value(shown)
    if [label for label, _ in words] != pieces["words"]["target"]["words"]:
        fail(f"words {words}")
    if page.text("#total-log-p small") != total or any(
            "." in figure.split(".", 1)[1] for _, figure in words):
        fail(f"log P of words {words}")
    page.go("line=1&view=matrix&kind=encoder&query=1")
    page.expect("document.querySelector('#said').textContent.includes('log P')", False)


def check_units(page):
    """The subwords w5@@ w6 are a word: its columns are summed, its rows averaged."""
    page.go("view=matrix&kind=encoder&heads=0")
    cells = ("[...document.querySelectorAll('#matrix .number')]"
             ".map((text) => Number(text.textContent))")
    pieces = page.value("document.querySelectorAll('#matrix [data-row]').length")
    page.click("#unit-words")
    page.expect("location.hash.includes('unit=words')")
    page.expect("document.querySelectorAll('#matrix [data-row]').length", pieces - 1)
    page.expect("document.querySelector('#matrix [data-row=\"1\"]').textContent", "w5w6")
    total = sum(page.value(cells))
    if abs(total - (pieces - 1)) > 0.05 * pieces:
        fail(f"the cells of {pieces - 1} words sum to {total}")
    page.press("w")
    page.expect("location.hash.includes('unit=words')", False)


def check_keys(page):
    page.go("")
    page.press("ArrowRight")
    page.expect("location.hash", "#heads=1")
    page.press("ArrowLeft")
    page.press("ArrowUp")
    page.expect("location.hash", "#layer=0")
    page.press("ArrowDown")
    page.press("n")
    page.expect("location.hash", "#line=3")
    page.press("p")
    page.press("a")
    page.expect("location.hash", "#kind=encoder")
    page.press("3")
    page.expect("location.hash.includes('view=matrix')")
    page.press("j")
    page.expect("location.hash.includes('query=0')")
    page.press("?")
    page.expect("document.querySelector('#help').open")
    page.press("Escape")
    page.value("document.querySelector('#help').close()")
    before = page.value("document.documentElement.dataset.theme")
    page.press("t")
    page.expect("document.documentElement.dataset.theme", "dark" if before == "light" else "light")
    page.click("#theme")
    page.expect("document.documentElement.dataset.theme", before)


def check_links(page):
    """Invalid values in an address are ignored."""
    page.go("view=nonsense&layer=99&heads=0,77&query=x&line=2&step=12")
    page.expect("document.querySelectorAll('#lines').length", 1)
    page.go("view=matrix&kind=cross&layer=0&heads=1,3&query=999")
    page.expect("document.querySelector('#caption').textContent", "cross, layer 0, heads 1, 3")


def check_print(page):
    """Print is light and has no controls."""
    page.go("view=matrix")
    page.call("Page.printToPDF")
    page.value("dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print")
    page.expect("document.documentElement.dataset.theme", "light")
    page.expect("getComputedStyle(document.querySelector('#controls')).display", "none")
    # Wide tables fit on a sheet of A4.
    page.resize(700, 990)
    for view in ("steps", "statistics"):
        page.go(f"view={view}&step=7&kind=decoder")
        page.expect_inside(f"#{view} td, #{view} th", "body")
    page.value("dispatchEvent(new Event('afterprint'))")
    page.call("Emulation.setEmulatedMedia", media="screen")


def check_narrow(page):
    page.resize(420, 800)
    for view in ("grid", "lines", "matrix", "steps", "statistics"):
        page.go(f"view={view}&heads=0,1&query=1&step=6")
        page.expect_readable(420)
    page.go("view=grid")
    page.expect_inside("#grid canvas", "#panel")
    page.go("heads=0,1&query=1")
    page.expect_inside("#lines text, #lines path", "#lines")
    page.expect("document.querySelector('#lines').getBoundingClientRect().right <"
                " document.querySelector('#panel').getBoundingClientRect().right")
    # The column of the step is in view.
    page.go("view=steps&step=7")
    page.wait("document.querySelector('#steps').parentElement.scrollLeft > 0")
    page.expect_inside("#steps th.current", "#panel")
    page.resize(1280, 900)


def check_one_text(page, kind):
    """The page of a model with one text."""
    page.expect("document.querySelector('#caption').textContent", f"{kind}, layer 1, head 0")
    page.expect("document.querySelector('#translation')", None)
    page.expect("document.querySelector('#log-p') !== null", kind == "decoder")
    for view in ("grid", "lines", "matrix", "steps", "statistics"):
        page.click(f"#view-{view}")
        page.expect(f"document.querySelectorAll('#{view}').length", 1)
    # Each row and column of a large matrix has its label.
    page.go("view=matrix")
    rows = page.value("document.querySelectorAll('#matrix [data-row]').length")
    page.expect("document.querySelectorAll('#matrix [data-column]').length", rows)
    if rows != 71:
        fail(f"{rows} labels of 71 rows")
    page.go("view=steps&query=2")
    first = "w4" if kind == "encoder" else "w4 \u2192 w6"
    page.expect("document.querySelector('#steps .query td').textContent.endsWith("
                f"'{first}')")
    page.expect("document.querySelector('#steps th.masked code').textContent.startsWith("
                "'\u2212 slope \u00b7 |i \u2212 j|')")
    page.go("view=steps&query=40&step=7&heads=0")
    weights = page.value("[...document.querySelectorAll('#steps tr[data-key] td.weight')]"
                         ".map((cell) => Number(cell.textContent))")
    page.go("view=matrix&query=40&heads=0")
    if f"{max(weights):.3f}" not in page.text("#said"):
        fail(f"weights {weights}, but {page.text('#said')}")
    page.press("w")
    page.expect_quiet()


with Browser() as browser:
    for path, kind in zip(sys.argv[2:], ("decoder", "encoder")):
        check_one_text(browser.open(path), kind)
    for dark in (False, True):
        page = browser.open(sys.argv[1], dark)
        page.expect("document.documentElement.dataset.theme", "dark" if dark else "light")
        for check in (check_views, check_selection, check_markup, check_lines, check_threshold,
                      check_matrix, check_grid, check_statistics, check_steps, check_likelihoods,
                      check_units, check_keys, check_links, check_narrow):
            check(page)
            page.expect_quiet()
    check_print(page)
    page.expect_quiet()
