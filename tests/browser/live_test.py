"""Tests every control of the page of tx-attn-dump --live.

    live_test.py PAGE ALONE DECODER ENCODER UNMASKED DAMAGED

PAGE has two models of number words, ALONE the first of them; the examples are four lines, the
last "six seven". DECODER and ENCODER have a model of that kind and words w4, w5, ...; the second
example of DECODER has markup as its second word. UNMASKED has a model of number words that was
trained without the causal mask. The weights of DAMAGED cannot be read.
"""
import json
import re
import sys

from browser import Browser, fail

MARKUP = "<script>document.title='taken'</script>"
READY = "document.querySelector('#status')?.dataset.state === 'ready'"


def go(page, anchor):
    page.go(anchor)
    page.wait(READY)


def count(page, selector, wanted):
    page.expect(f"document.querySelectorAll({json.dumps(selector)}).length", wanted)


def in_address(page, part, wanted=True):
    page.expect(f"decodeURIComponent(location.hash).includes({json.dumps(part)})", wanted)


def outcome(page):
    """The output and its log P, when the model has finished."""
    page.wait(READY)
    return page.text("#translation"), float(page.text("#log-p"))


def expect_change(page, before, what):
    after = outcome(page)
    if after == before:
        fail(f"{what} changes nothing: {before}")
    return after


def children(page, selector):
    return page.value(f"[...document.querySelector('{selector}').children]"
                      ".map((child) => child.textContent)")


def examples_of(page):
    return page.value("JSON.parse(document.querySelector('#data').textContent).examples")


def check_address(page):
    """#text= opens with the greedy output, which window.tx.translate() returns too."""
    source = " ".join(reversed(examples_of(page)[0].split()))
    go(page, "text=" + source.replace(" ", "%20"))
    got = page.value(f"window.tx.translate('{source}')")
    text, log_p = outcome(page)
    if text != got["text"] or abs(log_p - got["log_p"]) > 1e-4 or not text or log_p >= 0:
        fail(f"the page shows {text}, {log_p}; the function returns {got}")
    tokens = children(page, "#tokens")
    plain = [token.replace("\u2581", "") for token in tokens]
    if tokens != got["tokens"] or "".join(plain) != text.replace(" ", ""):
        fail(f"tokens {tokens} of {got}")
    read = page.value(f"window.tx.tokenize('{source}')")
    if children(page, "#source-tokens")[:len(read["tokens"])] != read["tokens"]:
        fail(f"tokens {read}")
    below = page.value("[...document.querySelectorAll('#source-tokens .token')].map((token) =>"
                       " getComputedStyle(token, '::after').content.slice(1, -1))")
    if below[:len(read["ids"])] != [str(number) for number in read["ids"]]:
        fail(f"the numbers {below} are below the tokens {read}")
    page.expect("document.querySelector('#source').value", source)


def check_vectors(page):
    """A worker of the page may compile WebAssembly: pages without it are slow."""
    page.expect("""new Promise((done) => {
      const code = `let able = true;
        try { new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)); }
        catch { able = false; }
        postMessage(able);`;
      const worker = new Worker(URL.createObjectURL(new Blob([code])));
      worker.onmessage = (event) => done(event.data);
    })""")


def check_typing(page):
    go(page, "")
    before = outcome(page)
    top = page.value("document.querySelector('#panel').getBoundingClientRect().top")
    page.choose("#source", "one two three " * 20)
    page.wait("document.querySelectorAll('#source-tokens .token').length > 60")
    page.wait(READY)
    expect_change(page, before, "typing")
    page.expect("document.querySelector('#panel').getBoundingClientRect().top", top)
    page.choose("#source", " ")
    page.wait("document.querySelector('#translation').textContent === ''")
    page.expect("document.querySelector('#error').hidden")
    page.wait("document.querySelector('#panel').textContent.startsWith('Type a text')")
    page.click("#example-0")
    page.wait("document.querySelector('#translation').textContent !== ''")
    if outcome(page) != before:
        fail("the first example is not the text at the start")
    page.choose("#more-examples", "six seven")
    page.wait("document.querySelector('#source-tokens').textContent.endsWith('</s>')")
    expect_change(page, before, "another example")
    page.expect("document.querySelector('#source').value", "six seven")
    page.value("document.querySelector('#source').focus()")
    page.press("t")
    page.expect("location.hash.includes('view')", False)


def check_about(page):
    """The page says what the model does and how to write its text."""
    go(page, "")
    about = page.text("#about")
    for part in ("translates English into German. Type a sentence in English.",
                 "no capital letters"):
        if part not in about:
            fail(f"{about} lacks {part}")
    if "Put a space" in about:  # the examples have no punctuation
        fail(about)


def check_terms(page):
    """A term opens when it is hovered over, tapped or focused."""
    term = "#models [data-term=layer]"
    note = "document.querySelector('#term-note')"
    shown = f"!{note}.hidden"
    go(page, "view=changes")
    page.expect(shown, False)
    page.point(term)
    page.expect(f"{note}.textContent.includes('vectors of all tokens')")
    page.mouse("mouseMoved", 2, 2)
    page.expect(shown, False)
    page.value(f"document.querySelector('{term}').focus()")
    page.expect(shown)
    page.expect(f"document.querySelector('{term}').getAttribute('aria-describedby')", "term-note")
    page.press("Escape")
    page.expect(shown, False)
    page.value("document.activeElement.blur()")
    page.call("Emulation.setTouchEmulationEnabled", enabled=True)
    x, y = page.place(term)
    for kind, points in (("touchStart", [{"x": x, "y": y}]), ("touchEnd", [])):
        page.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
    page.wait(shown)
    page.call("Emulation.setTouchEmulationEnabled", enabled=False)
    page.press("Escape")
    for view in ("attention", "hand", "changes", "values", "compare"):
        go(page, f"view={view}&beam=3")
        page.value("""document.querySelectorAll('[data-term]').forEach((term) => {
          term.focus();
          const note = document.querySelector('#term-note'), box = note.getBoundingClientRect();
          if (note.hidden || !note.textContent.endsWith('.') || box.left < 0 ||
              box.right > innerWidth) throw new Error(term.dataset.term);
          term.blur();
        })""")


def check_markup(page):
    """Markup in the text is displayed as text."""
    go(page, "")
    page.click("#example-1")
    page.wait("document.querySelector('#source').value.includes('<script>')")
    page.wait(READY)
    page.expect("document.querySelector('#source-tokens').children[1].textContent", MARKUP)
    for view in ("hand", "values", "compare", "attention"):
        page.click(f"#view-{view}")
    page.value("new Promise((done) => setTimeout(done, 200))")
    page.expect("document.title.includes('taken')", False)
    count(page, "main script, header script", 0)


def check_attention(page):
    go(page, "")
    count(page, "#heads canvas", 4)
    count(page, "#lines", 1)
    page.click("#head-0-1")
    in_address(page, "layer=0")
    in_address(page, "head=1")
    page.expect("document.querySelector('#lines').getAttribute('aria-label').startsWith("
                "'cross, layer 0, head 1')")
    page.click("#drawing-matrix")
    count(page, "#matrix", 1)
    page.click("#attention-kind-decoder")
    numbers = page.value("[...document.querySelectorAll('#matrix .number')]"
                         ".map((text) => Number(text.textContent))")
    rows = page.value("document.querySelectorAll('#matrix [data-row]').length")
    if abs(sum(numbers) - rows) > 0.05 * rows + 0.01 * len(numbers):
        fail(f"the cells of {rows} rows sum to {sum(numbers)}")
    page.click("#attention-kind-encoder")
    page.expect("document.querySelectorAll('#matrix [data-row]').length",
                page.value("document.querySelectorAll('#source-tokens .token').length"))
    page.choose("#attention-layer", 1)
    page.choose("#attention-head", 0)
    page.expect("document.querySelector('#matrix').getAttribute('aria-label').startsWith("
                "'encoder, layer 1, head 0')")
    page.click("#drawing-lines")
    page.click("#lines .row[data-query='1'] .pick")
    in_address(page, "query=1")


def check_hand(page):
    """Another token at step 2: the output begins with the first and this one."""
    go(page, "")
    before = outcome(page)
    page.click("#view-hand")
    count(page, "#candidates li", 10)
    widths = page.value("[...document.querySelectorAll('#candidates .rod i')]"
                        ".map((bar) => parseFloat(bar.style.width))")
    if widths != sorted(widths, reverse=True) or not 0 < sum(widths) <= 100.1:
        fail(f"bars {widths}")
    page.click("#step-next")
    page.expect("document.querySelector('#token-1').getAttribute('aria-pressed')", "true")
    first = page.text("#token-0")
    chosen = page.text("#candidate-3 .label")
    page.click("#candidate-3")
    in_address(page, "prefix=")
    expect_change(page, before, "another token")
    page.expect("[...document.querySelectorAll('.token.forced')].map((t) => t.textContent).join()",
                f"{first},{chosen}")
    page.click("#step-back")
    page.expect("document.querySelector('#token-0').getAttribute('aria-pressed')", "true")
    page.click("#release")
    in_address(page, "prefix=", False)
    if outcome(page) != before:
        fail("the output is another after the choices are undone")


def check_beam(page):
    go(page, "view=hand")
    count(page, "#tree .node", 0)
    page.choose("#beam", 3)
    page.wait(READY)
    in_address(page, "beam=4")
    page.expect("document.querySelectorAll('#tree .node').length > 4")
    page.expect("document.querySelectorAll('#tree .node.chosen').length",
                page.value("document.querySelectorAll('#tokens .token, #end .token').length"))
    cut = page.value("[...document.querySelectorAll('#tree .node span')].filter((node) =>"
                     " node.offsetWidth > node.parentElement.clientWidth - 4).length")
    if cut:
        fail(f"{cut} tokens of the tree are cut")
    node = page.value("document.querySelector('#tree .node:not(.chosen)').id")
    page.click(f"#{node}")
    count(page, "#opened", 1)
    path = page.text("#opened b")
    page.click("#force")
    page.wait(READY)
    page.expect("document.querySelector('#tokens').children[0].textContent", path.split(" ")[0])
    count(page, "#changed .change", 2)
    page.click("#reset")
    page.wait(READY)
    in_address(page, "beam=", False)
    page.expect("document.querySelector('#beam').value", "0")
    go(page, "view=hand&beam=4")
    score = "document.querySelectorAll('#tokens .token').length"
    lengths = []
    for alpha in (0, 7):
        page.choose("#alpha", alpha)
        page.wait(READY)
        lengths.append(page.value(score))
    in_address(page, "alpha=2")
    if not lengths[0] < lengths[1]:
        fail(f"outputs of {lengths} tokens with a length penalty of 0 and 2")


def check_changes(page):
    """Everything that is turned off changes the output or its log P; Reset brings it back."""
    go(page, "view=changes")
    before = outcome(page)
    page.expect("document.querySelector('#reset').disabled")
    for change in ("positions", "residual", "scale", "encoder.0.1", "decoder.1.0", "cross.0.1",
                   "encoder.1.self_attn", "decoder.0.cross_attn", "decoder.1.ffn"):
        switch = f"#off-{change.replace('.', '-')}"
        page.click(switch)
        in_address(page, f"off={change}")
        expect_change(page, before, change)
        count(page, "#changed .change", 1)
        page.expect(f"document.querySelector('{switch}').ariaChecked", "false")
        page.expect("document.querySelectorAll('#outcome .outcome').length", 2)
        page.click("#reset" if change != "scale" else "#undo-0")
        in_address(page, "off=", False)
        if outcome(page) != before:
            fail(f"the output is another after {change} is back")
    for slider, key in (("attention-temperature", "at"), ("output-temperature", "ot")):
        page.choose(f"#{slider}", 8)
        in_address(page, f"{key}=5")
        expect_change(page, before, slider)
        page.click("#reset")
        if outcome(page) != before:
            fail(f"the output is another after {slider} is back")
    page.expect(f"document.querySelector('#{slider}').value", "4")
    go(page, "view=changes&off=encoder.0.0,decoder.1.ffn")
    count(page, "#changed .change", 2)
    count(page, ".switch[aria-checked=false]", 2)


def check_target(page):
    """A given target is scored; without the causal mask the model reads it first."""
    go(page, "view=changes")
    before = outcome(page)
    page.choose("#target", "acht eins neun")
    page.wait("document.querySelector('#translation').textContent === 'acht eins neun'")
    masked = outcome(page)
    page.expect("document.querySelector('#output-name').textContent", "Target (given)")
    page.click("#off-causal")
    cheated = outcome(page)
    if cheated[0] != masked[0] or cheated[1] == masked[1]:
        fail(f"a given target has {masked} with and {cheated} without the causal mask")
    page.click("#reset")
    if outcome(page) != before:
        fail("the target remains")


def check_cheating(page):
    """A model trained without the causal mask has learned to read the answer."""
    target = "view=changes&target=vierhundertzwanzig"
    go(page, target)
    masked = outcome(page)[1]
    page.expect("document.querySelector('#switches').textContent.includes('the model cheats')")
    page.click("#off-causal")
    if not outcome(page)[1] > masked + 5:
        fail(f"log P is {outcome(page)[1]} without the mask, {masked} with it")


def figures(page, column):
    return page.value(f"[...document.querySelectorAll('#numbers td.{column}')]"
                      ".map((cell) => parseFloat(cell.textContent.replace('\u2212', '-')"
                      ".replace('\u221e', 'Infinity')))")


def settled(page):
    page.wait("!!document.querySelector('#stage-output') &&"
              " !document.querySelector('#flow').hasAttribute('aria-busy')")


def check_values(page):
    go(page, "view=values&kind=decoder&layer=1&head=1&query=2")
    settled(page)
    scores, scaled = figures(page, "scores"), figures(page, "scaled")
    masked, weights = figures(page, "masked"), figures(page, "weights")
    width = page.value("JSON.parse(document.querySelector('#data').textContent)"
                       ".models[0].config.d_k")
    for score, part in zip(scores, scaled):
        if abs(score / width ** 0.5 - part) > 2e-3:
            fail(f"{score} / sqrt({width}) is {part}")
    if masked[:3] != scaled[:3] or any(x is not None for x in masked[3:]):
        fail(f"masked scores {masked} of row 2")
    if abs(sum(weights) - 1) > 2e-3 or any(weights[3:]):
        fail(f"weights {weights}")
    count(page, ".stage", 14)
    before = page.text("#flow")
    page.click("#numbers tr[data-key='1'] td.scores")
    in_address(page, "number=1")
    count(page, "#numbers tr.picked[data-key='1']", 1)
    for selector, value in (("#feature", 3), ("#query", 1), ("#values-head", 0),
                            ("#values-layer", 0)):
        page.choose(selector, value)
        settled(page)
        after = page.text("#flow")
        if after == before:
            fail(f"{selector} changes nothing")
        before = after
    page.click("#values-kind-cross")
    settled(page)
    page.expect("document.querySelector('#numbers tr:last-child button').textContent", "</s>")
    said = page.text("#stage-q .said")
    page.point("#stage-q .equation .term")
    if page.text("#stage-q .said") in (said, ""):
        fail("a term does not explain itself")
    page.mouse("mouseMoved", 2, 2)
    page.expect("document.querySelector('#stage-q .said').textContent", said)
    before = page.text("#stage-x")
    go(page, "view=values&off=encoder.0.0")
    settled(page)
    if page.text("#stage-x") == before:
        fail("the values do not follow the changes")
    # The values of another token may arrive when the text has been deleted: they are not drawn.
    text = page.value("document.querySelector('#source').value")
    page.choose("#query", 1)
    settled(page)
    page.choose("#source", "")
    page.wait("document.querySelector('#panel').textContent.startsWith('Type a text')")
    page.value("new Promise((done) => setTimeout(done, 300))")
    page.expect("document.querySelector('#error').hidden")
    page.choose("#source", text)
    page.wait("document.querySelector('#translation').textContent !== ''")
    settled(page)


def check_long_text(page):
    """A text in the address that is too long is cut, as typing is."""
    go(page, "text=one" + "%20" * 2100 + "two")
    page.expect("document.querySelector('#source').value.length", 2000)
    page.expect("document.querySelector('#note').textContent.startsWith('at most 2000 characters')")


def check_compare(page):
    go(page, "view=compare&versus=change")
    count(page, "#outcomes .outcome", 1)
    go(page, "view=compare&versus=change&off=decoder.0.ffn")
    count(page, "#outcomes .outcome", 2)
    count(page, "#pairs tr", 2)
    count(page, "#panel #lines", 2)
    page.click("#compare-drawing-matrix")
    count(page, "#panel #matrix", 2)


def check_models(page):
    go(page, "")
    first = outcome(page)
    page.click("#view-compare")
    page.wait("document.querySelectorAll('#outcomes .outcome').length === 2")
    other = page.value("document.querySelectorAll('#outcomes .outcome .soft')[1].textContent")
    page.click("#model-1")
    page.wait(READY)
    second = expect_change(page, first, "the second model")
    if f"{-second[1]:.4f}" not in other:
        fail(f"the second model has {second}, compared as {other}")
    in_address(page, "model=1")
    page.click("#view-attention")
    count(page, "#heads canvas", 2)


def check_keys(page):
    go(page, "")
    for key, part in (("ArrowRight", "head=1"), ("ArrowUp", "layer=0"), ("a", "kind=encoder"),
                      ("j", "query=0"), (".", "step=1"), ("3", "view=changes")):
        page.press(key)
        in_address(page, part)
    page.click("#off-positions")
    page.press("r")
    in_address(page, "off=", False)
    page.press("?")
    page.expect("document.querySelector('#help').open")
    page.value("document.querySelector('#help').close()")
    page.press("e")
    page.expect("document.activeElement.id", "source")
    page.value("document.activeElement.blur()")
    before = page.value("document.documentElement.dataset.theme")
    page.press("t")
    page.expect("document.documentElement.dataset.theme", "dark" if before == "light" else "light")
    page.click("#theme")
    page.expect("document.documentElement.dataset.theme", before)


def check_tour(page):
    go(page, "off=positions")
    page.click("#tour-start")
    page.wait(READY)
    page.expect("document.querySelector('#tour').hidden", False)
    in_address(page, "off=", False)
    stops = int(page.text("#tour-stop").split(" of ")[1])
    for stop in range(1, stops + 1):
        page.wait(READY)
        page.expect("document.querySelector('#tour-stop').textContent", f"Stop {stop} of {stops}")
        page.wait("document.querySelectorAll('.pointed').length === 1")
        if page.value("!!document.querySelector('#show-masked')"):
            page.click("#show-masked")
            page.wait("!!document.querySelector('th.masked.pointed')")
            in_address(page, "view=values")
            left, right = page.value("(({ left, right }) => [left, right])(document"
                                     ".querySelector('th.masked').getBoundingClientRect())")
            if left < 0 or right > page.value("innerWidth"):
                fail(f"the column of masked scores is at {left} to {right}")
        page.click("#tour-next")
    page.expect("document.querySelector('#tour').hidden")
    count(page, ".pointed", 0)
    in_address(page, "off=", False)  # the last stop turned a part off


def check_tour_on_phone(page):
    """The tour takes less than half of a phone, and all of its text can be read."""
    page.call("Emulation.setDeviceMetricsOverride", width=420, height=800, deviceScaleFactor=1,
              mobile=False)
    go(page, "")
    page.click("#tour-start")
    for _ in range(int(page.text("#tour-stop").split(" of ")[1])):
        page.wait(READY)
        fits = ("(({ scrollHeight, clientHeight }, most) => clientHeight < most * innerHeight &&"
                " scrollHeight <= clientHeight)(document.querySelector('#tour'), %s)")
        page.expect(fits % 0.4)
        page.click("#tour-more")
        page.expect(fits % 0.6)
        page.expect("[...document.querySelectorAll('#tour p')].every((part) => part.offsetHeight)")
        page.click("#tour-more")
        page.click("#tour-next")
    page.call("Emulation.clearDeviceMetricsOverride")


def check_residual(page):
    """Without residual connections a layer shows no sums."""
    shown = "document.querySelector('#panel').textContent.includes('no residual connection')"
    go(page, "view=values")
    page.wait(READY)
    page.expect(shown, False)
    go(page, "view=values&off=residual")
    page.wait(shown)


def check_links(page):
    """Invalid values in an address are ignored."""
    go(page, "view=nonsense&off=encoder.0.1;x&beam=77&prefix=a&layer=99&head=99&query=999&step=999")
    count(page, "#lines", 1)
    count(page, "#changed .change", 0)
    for view in ("hand", "changes", "values", "compare"):
        page.click(f"#view-{view}")
    page.expect("document.querySelector('#error').hidden")


def check_print(page):
    go(page, "view=changes")
    page.call("Page.printToPDF")
    page.value("dispatchEvent(new Event('beforeprint'))")
    page.call("Emulation.setEmulatedMedia", media="print")
    page.expect("document.documentElement.dataset.theme", "light")
    page.expect("getComputedStyle(document.querySelector('#views')).display", "none")
    page.value("dispatchEvent(new Event('afterprint'))")
    page.call("Emulation.setEmulatedMedia", media="screen")


def check_sizes(page):
    """Nothing is wider than a phone, and no control is over another."""
    for width in (420, 1400):
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=800,
                  deviceScaleFactor=1, mobile=False)
        for view in ("attention", "hand", "changes", "values", "compare"):
            go(page, f"view={view}&beam=3&off=encoder.0.1")
            page.value("new Promise((done) => setTimeout(done, 300))")
            page.expect("document.documentElement.scrollWidth <= innerWidth")
            covered = page.value("""
              [...document.querySelectorAll('button, input, select, textarea')].filter((node) => {
                node.scrollIntoView({ block: 'center', inline: 'center' });
                const { left, top, width, height } = node.getBoundingClientRect();
                const at = document.elementFromPoint(left + width / 2, top + height / 2);
                return width && !node.contains(at) && !at?.contains(node);
              }).map(({ id }) => id)""")
            if covered:
                fail(f"{view} at {width}: {covered} are covered")
    page.call("Emulation.clearDeviceMetricsOverride")


def check_decoder(page):
    go(page, "text=w5%20w6&view=hand")
    before = outcome(page)
    page.expect("document.querySelector('#source-tokens').textContent", "w5w6")
    page.click("#candidate-2")
    expect_change(page, before, "another continuation")
    page.click("#reset")
    page.click("#view-changes")
    page.click("#off-causal")
    expect_change(page, before, "no causal mask")
    # Every number of a model whose vectors have different widths: a short one shows its last.
    for feature in (0, 15):
        go(page, f"view=values&head=1&feature={feature}")
        settled(page)
        said = page.value("[...document.querySelectorAll('#flow .figure, #flow dd')]"
                          ".map((node) => node.textContent)")
        lacking = [text for text in said
                   if re.search(r"undefined|NaN|=(?! *[-\u2212(]*[\d.x\u221e])", text)]
        if lacking or len(said) < 15:
            fail(f"number {feature}: {lacking or said}")


def check_encoder(page):
    go(page, "text=w5%20%3Cmask%3E%20w7%20%3Cmask%3E&view=hand")
    before = outcome(page)
    page.expect("document.querySelectorAll('#tokens .token').length", 2)
    page.click("#step-next")
    page.expect("document.querySelector('#panel h2').textContent", "Mask 2 of 2")
    chosen = page.text("#candidate-4 .label")
    page.click("#candidate-4")
    expect_change(page, before, "another filling")
    page.expect("document.querySelector('#translation').textContent.split(' ').at(-1)", chosen)
    page.click("#view-changes")
    count(page, "#off-causal", 0)
    go(page, "view=values&text=w5 <mask>")
    settled(page)
    go(page, "view=hand&text=w5 w6")
    page.expect("document.querySelector('#panel').textContent.includes('no <mask>')")


def main():
    names = dict(zip(("page", "alone", "decoder", "encoder", "unmasked", "damaged"), sys.argv[1:]))
    checks = {
        "page": (check_address, check_long_text, check_typing, check_about, check_terms,
                 check_attention,
                 check_hand, check_beam,
                 check_changes, check_target, check_values, check_compare, check_models, check_keys,
                 check_tour, check_tour_on_phone, check_residual, check_links, check_sizes,
                 check_print),
        "alone": (check_vectors, check_address, check_compare),
        "decoder": (check_address, check_decoder, check_markup),
        "encoder": (check_encoder,),
        "unmasked": (check_cheating,),
    }
    with Browser() as browser:
        for name, list_of_checks in checks.items():
            page = browser.open(names[name], dark=name == "alone")
            for check in list_of_checks:
                check(page)
                page.expect_quiet()
        page = browser.open(names["damaged"])
        page.wait("!document.querySelector('#error')?.hidden")
        page.expect("document.querySelector('#error').textContent.startsWith('The model')")


main()
