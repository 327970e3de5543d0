"""Lines of text with tags and character references of HTML, XML or WebVTT."""
import html
import re

# A > may be within the quotes of a value. One way to match, so that the time is linear.
TAG = r"""<(?:[A-Za-z/!?]|\d+:)(?:[^>=]|=(?!\s*["'])|=\s*"[^"]*"|=\s*'[^']*')*>"""
CODE = r"(?is)<(code|kbd|samp|tt|var)\b.*?</\1\s*>"
EDGE = rf"(?:\s|(?=<(?:br|img|wbr)\b){TAG})*"
EDGES = re.compile(rf"(?is){EDGE}(.*?){EDGE}")
AROUND = re.compile(rf"(?is)(?!{CODE[5:]})(?=<([a-z]+)\b){TAG}(.*)</\2\s*>")


def within(text, start, end):
    """The span without spaces, line breaks and images at its ends, and without tags around all of it:
    of <a href="x">Home</a> that of Home."""
    start, end = EDGES.fullmatch(text, start, end).span(1)
    around = AROUND.fullmatch(text, start, end)
    if around and not re.search(rf"(?i)</{around[2]}\b", around[3]):
        return within(text, *around.span(3))
    return start, end


def has_letters(line):
    return re.search(r"[^\W\d_]", html.unescape(re.sub(TAG, "", re.sub(CODE, "", line))))


def same_tags(one, other):
    return sorted(re.findall(TAG, one)) == sorted(re.findall(TAG, other))


def decode(markup):
    """Character references become characters, except those of < > & and spaces."""
    def character(match):
        text = html.unescape(match[0])
        return text if match[0][0] == "&" and text not in "<>&" and text.strip() else match[0]
    return re.sub(TAG + r"|&#?\w+;", character, markup)


def hide(line, pattern):
    """The line with <x id="1"/> for the first match and so on, and the list of matches."""
    kept = [match[0] for match in re.finditer(pattern, line)]
    ids = iter(range(1, len(kept) + 1))
    return re.sub(pattern, lambda _: f'<x id="{next(ids)}"/>', line), kept


def show(line, kept):
    return re.sub(r'<x id="(\d+)"/>', lambda m: kept[int(m[1]) - 1], line)


def encode(line):
    """Escapes each < and & that begins no tag or character reference."""
    return re.sub(r"<(?![A-Za-z/!?]|\d+:)|&(?!#?\w+;)", lambda m: html.escape(m[0]), line)

def wrap(line, breaks):
    """Puts the breaks at the spaces that are nearest to equal lengths, but not within a tag nor
    before a sign that begins a block of Markdown; omits breaks if the line has too few words."""
    gaps = [m.start() for m in re.finditer(TAG + r"| +(?![-+*#>=|~ ]|\d+[.)])", line) if m[0] == " "]
    result, at = "", 0
    for k, text in enumerate(breaks, 1):
        later = [gap for gap in gaps if gap > at]
        if later:
            gap = min(later, key=lambda gap: abs(gap - len(line) * k / (len(breaks) + 1)))
            result, at = result + line[at:gap].strip() + text, gap
    return result + line[at:].strip()
