"""Whether tx-decode --markup keeps what it must: random markup in the lines of a text.

  python3 tests/bench/markup.py BIN MODEL TEXT [OPTION OF TX-DECODE]...

Puts nested tags, comments, entities, placeholders, addresses and terms into each line, translates
the lines with --markup html, printf, icu and a file of expressions, and counts the lines whose parts
differ from those of their translations, and translations that are not well-formed XML. What is a
part is written here once more, apart from lib/search/lines/markup.cpp.
"""
import collections
import random
import re
import subprocess
import sys
import tempfile
import xml.parsers.expat

TAGS = ["b", "i", "em", "span", "a", "g"]
ATTRIBUTES = ["", ' href="http://x.y/?a=1&amp;b=2"', " class='c d'", ' title="a > b"']
BETWEEN = ["<br/>", '<x id="1"/>', "<!-- c -->", "&amp;", "&lt;", "&quot;", "&#8230;", "&nbsp;"]
WORDS = {
    "printf": ["%s", "%d", "%1$s", "%(name)s", "%%", "%5.2f", "%lu", "http://e.org/%20x", "a@b.de"],
    "icu": ["{name}", "{0}", "{n, plural, one {# item} other {# items}}", "{ x }", "https://q.r/"],
    "terms": ["Kubernetes", "ACME-42", "ACME-7", "$HOME", "__x__"],
}
TERMS = "Kubernetes\nACME-[0-9]+\n\\$HOME\n__x__\n"
PARTS = {
    "html": r"""<!--.*?-->|</?[A-Za-z](?:[^<>"']|"[^"]*"|'[^']*')*>|&[#A-Za-z0-9]+;""",
    "printf": r"http://e\.org/%20x|a@b\.de|%\(\w+\)s|%%|%(?:\d+\$)?[\d.]*l?[a-z]",
    "icu": r"\{n, plural.*?\}\}|\{[a-z0-9 ]*\}|https://q\.r/",
    "terms": r"Kubernetes|ACME-\d+|\$HOME|__x__",
}


def tagged(words):
    out = list(words)

    def pairs(begin, end, depth):
        if end <= begin or depth > 2 or random.random() < 0.4:
            return
        first = random.randint(begin, end - 1)
        behind = random.randint(first + 1, end)
        pairs(first, behind, depth + 1)
        tag = random.choice(TAGS)
        out[first] = f"<{tag}{random.choice(ATTRIBUTES)}>" + out[first]
        out[behind - 1] += f"</{tag}>"

    for _ in range(random.choice([0, 0, 1, 2])):
        at = random.randrange(len(out))
        out[at] = random.choice(BETWEEN) + random.choice(["", " "]) + out[at]
    pairs(0, len(out), 0)
    return " ".join(out)


def with_words(words, parts):
    out = list(words)
    for _ in range(random.choice([1, 1, 2, 3])):
        out.insert(random.randint(0, len(out)), random.choice(parts))
    return " ".join(out)


def is_xml(text):
    try:
        xml.parsers.expat.ParserCreate().Parse("<r>" + text.replace("&nbsp;", "") + "</r>", True)
    except xml.parsers.expat.ExpatError:
        return False
    return True


def main():
    bin_, model, text, *options = sys.argv[1:]
    random.seed(1)
    with open(text, encoding="utf-8") as file:
        lines = [re.sub("[<>&]", "", line).split() or ["a"] for line in file]
    for kind, parts in PARTS.items():
        source = [tagged(w) if kind == "html" else with_words(w, WORDS[kind]) for w in lines]
        with tempfile.NamedTemporaryFile("w") as terms:
            terms.write(TERMS)
            terms.flush()
            run = subprocess.run(
                [bin_ + "/tx-decode", "-q", "-m", model, "--markup",
                 terms.name if kind == "terms" else kind, *options],
                input="".join(line + "\n" for line in source), encoding="utf-8", check=True,
                stdout=subprocess.PIPE)
        output = run.stdout.split("\n")[:-1]
        assert len(output) == len(source), kind
        count = lambda line: collections.Counter(re.findall(parts, line))
        differ = [n for n, (a, b) in enumerate(zip(source, output)) if count(a) != count(b)]
        bad = [n for n, b in enumerate(output) if kind == "html" and not is_xml(b)]
        for n in (differ + bad)[:3]:
            print(f"{n + 1}: {source[n]}\n  -> {output[n]}", file=sys.stderr)
        print(f"{kind}: {len(source)} lines, parts differ in {len(differ)}, not XML: {len(bad)}")


main()
