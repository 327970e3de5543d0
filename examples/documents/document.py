"""What the filters share. A filter gives edits (start, end, lines, put): text[start:end] becomes
put(the translations of lines), or stays if that is None."""
import re
import subprocess
import sys
import tempfile

from markup import has_letters, same_tags, within, wrap

BOMS = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be", b"": "utf-8"}


def run(edits):
    """The program: DOCUMENT COMMAND... in sys.argv; edits(text) gives edits in order."""
    if len(sys.argv) < 3:
        print(sys.modules["__main__"].__doc__, file=sys.stderr)
        sys.exit(2)
    try:
        data = open(sys.argv[1], "rb").read()
        bom = next(bom for bom in BOMS if data.startswith(bom))
        text = data[len(bom):].decode(BOMS[bom])
        found = list(edits(text))
        answers = iter(translate([line for edit in found for line in edit[2]], sys.argv[2:]))
        news = [edit[3]([next(answers) for _ in edit[2]]) for edit in found]
        output, at = [], 0
        for (start, end, _, _), new in zip(found, news):
            output += [text[at:start], text[start:end] if new is None else new]
            at = end
        sys.stdout.buffer.write(bom + "".join(output + [text[at:]]).encode(BOMS[bom]))
    except (OSError, ValueError) as error:
        sys.exit(f"{sys.argv[1]}: {error}")
    if None in news:
        print(f"{sys.argv[1]}: {news.count(None)} of {len(news)} units are not translated: tags or "
              "placeholders were lost", file=sys.stderr)


def translate(lines, command):
    with tempfile.TemporaryFile() as file:
        file.write("".join(line + "\n" for line in lines).encode())
        file.seek(0)
        done = subprocess.run(command, stdin=file, stdout=subprocess.PIPE)
    answers = re.findall(r".*\n|.+", done.stdout.decode())
    if done.returncode or len(answers) != len(lines):
        raise ValueError(f"{command[0]}: status {done.returncode}, {len(answers)} lines for {len(lines)}")
    return [answer.strip() for answer in answers]


def unit(text, start, end, decode=str, encode=str, breaks=r"[ \t]*\r?\n[ \t]*"):
    """The edit of text[start:end]: one line for COMMAND, as many lines as before in the document. Text
    around it that is not translated is left out; a list, empty if nothing is left."""
    start, end = within(text, start, end)
    old = text[start:end]
    line = decode(re.sub(breaks, " ", old))

    def put(answers):
        if answers[0] == line:
            return old
        if same_tags(answers[0], line):
            return encode(wrap(answers[0], re.findall(breaks, old)))
    return [(start, end, [line], put)] if has_letters(line) else []
