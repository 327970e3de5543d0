"""Compares a page of tx-attn-dump --live with tx-decode and tx-bpe.

    live_parity_test.py (PAGE TEXT DECODED ENCODED SHARE)...

For each line of TEXT: the page's greedy output and its log P (to 0.001) against the line of DECODED
(tx-decode --json --beam 1, or texts alone), and the tokens of the line against ENCODED (tx-bpe encode).
DECODED and ENCODED may be "-", for no comparison. SHARE is 1; below, for weights in f16, at least
this share of the outputs must be equal, and log P to a thousandth. Prints the numbers of lines.
"""
import json
import sys

from browser import Browser, fail

LINES_TOGETHER = 50


def lines_of(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")[:-1]


def answers(page, function, lines):
    """The results of an asynchronous function of window.tx, line by line."""
    for first in range(0, len(lines), LINES_TOGETHER):
        part = json.dumps(lines[first:first + LINES_TOGETHER])
        yield from page.value(f"""(async () => {{
          const results = [];
          for (const line of {part}) results.push(await window.tx.{function}(line));
          return results;
        }})()""")


def check_outputs(page, lines, decoded, share):
    differences, largest = [], 0.0
    for number, (got, wanted) in enumerate(zip(answers(page, "translate", lines), decoded), 1):
        if got["text"] != wanted["text"]:
            differences.append(f"line {number}: {got['text']!r} instead of {wanted['text']!r}")
        elif "log_p" in wanted:
            off = abs(got["log_p"] - wanted["log_p"])
            largest = max(largest, off)
            if not off <= 1e-3 * (1 if share == 1 else max(1, abs(wanted["log_p"]))):
                fail(f"line {number}: log P {got['log_p']} instead of {wanted['log_p']}")
            if got["tokens"][:len(wanted["pieces"])] != wanted["pieces"]:
                fail(f"line {number}: tokens {got['tokens']} instead of {wanted['pieces']}")
    equal = len(lines) - len(differences)
    print(f"{equal} of {len(lines)} outputs equal, largest difference of log P {largest:.1e}")
    if equal < share * len(lines):
        fail("\n".join(differences[:5]))


def check_tokens(page, lines, encoded):
    if len(encoded) != len(lines):
        fail(f"{len(encoded)} encoded lines, {len(lines)} lines")
    for number, (got, wanted) in enumerate(zip(answers(page, "tokenize", lines), encoded), 1):
        if " ".join(got["tokens"]) != wanted:
            fail(f"line {number}, {lines[number - 1]!r}: tokens {got['tokens']} instead of {wanted}")
    print(f"{len(lines)} lines have equal tokens")


def check_page(browser, path, text, decoded, encoded, share):
    lines = lines_of(text)
    print(path, end=": ")
    page = browser.open(path)
    page.wait("window.tx !== undefined")
    if decoded != "-":
        wanted = [json.loads(line) if line.startswith("{") else {"text": line}
                  for line in lines_of(decoded)]
        if len(wanted) != len(lines):
            fail(f"{len(wanted)} lines in {decoded}, {len(lines)} in {text}")
        check_outputs(page, lines, wanted, float(share))
    if encoded != "-":
        check_tokens(page, lines, lines_of(encoded))
    page.expect_quiet()
    page.close()


with Browser() as browser:
    for case in zip(*[iter(sys.argv[1:])] * 5, strict=True):
        check_page(browser, *case)
