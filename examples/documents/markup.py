"""Tags, with > only in quotes, and character references of HTML, XML or WebVTT."""
import html
import re

TAG = r"""<(?:[A-Za-z/!?]|\d+:)(?:[^>=]|=(?!\s*["'])|=\s*"[^"]*"|=\s*'[^']*')*>"""
CODE = r"(?is)<(code|kbd|samp|tt|var)\b.*?</\1\s*>"
EDGES = re.compile("(?is)E(.*?)E".replace("E", rf"(?:\s|(?=<(?:br|img|wbr)\b){TAG})*"))
AROUND = re.compile(rf"(?is)(?!{CODE[5:]})(?=<([a-z]+)\b){TAG}(.*)</\2\s*>")


def within(text, start, end):
    """The span without spaces and images at its ends and tags around all of it: Home in <a>Home</a>."""
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
    """Character references become characters, except those of < > & and no-break spaces."""
    references = rf"(?i){TAG}|&(?!lt;|gt;|amp;|nbsp;|#(?:38|60|62|160|x26|x3[ce]|xa0);)#?\w+;"
    return re.sub(references, lambda m: html.unescape(m[0]) if m[0][0] == "&" else m[0], markup)


def hide(line, pattern, kept):
    """Puts <x id="N"/> for each match and appends the match to kept; show() puts it back."""
    def tag(match):
        kept.append(match[0])
        return f'<x id="{len(kept)}"/>'
    return re.sub(pattern, tag, line)


def show(line, kept):
    return re.sub(r'<x id="(\d+)"/>', lambda m: kept[int(m[1]) - 1], line)


def encode(line):
    """Escapes each < and & that begins no tag or character reference."""
    return re.sub(r"<(?![A-Za-z/!?]|\d+:)|&(?!#?\w+;)", lambda m: html.escape(m[0]), line)


def wrap(line, breaks):
    """Puts breaks at the spaces nearest to equal lengths, not in tags nor before a sign of Markdown."""
    gaps = [m.start() for m in re.finditer(TAG + r"| +(?![-+*#>=|~ ]|\d+[.)])", line) if m[0] == " "]
    result, at = "", 0
    for k, text in enumerate(breaks, 1):
        middle = len(line) * k / (len(breaks) + 1)
        gap = min((gap for gap in gaps if gap > at), key=lambda gap: abs(gap - middle), default=0)
        if gap:
            result, at = result + line[at:gap].strip() + text, gap
    return result + line[at:].strip()
