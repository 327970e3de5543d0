"""Clients of examples/serve/libretranslate.py, well and badly behaved, for serve.sh:

    serve_clients.py PORT TEXT TRANSLATIONS CLIENTS SECONDS SERVER LIMIT

SERVER is the process id of the service, LIMIT its time limit in seconds. Every translation is
compared with TRANSLATIONS, line by line. Each kind of request has its expected status. 504 is
always accepted, and 503 soon after a signal: tx-decode is killed, stopped and ended in turn.
Prints the number of each outcome, and the latencies of plain requests.
"""
import asyncio
import collections
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import urllib.parse

LIMIT_BYTES, LIMIT_CONNECTIONS = 1100000, 200  # as in serve.sh
port, text, translations, clients, seconds, server, limit = sys.argv[1:]
clients, seconds = int(clients), float(seconds)
recovery = 2 * int(limit) + 3  # to detect a stopped tx-decode and to start another


def read_lines(path):
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read().split("\n")[:-1]


lines = read_lines(text)
known = dict(zip(lines, read_lines(translations)))
known[""] = ""
end = 0
outcomes = collections.Counter()
wrong = []
latencies = []
translated_lines = 0
signals = []  # times of those sent to tx-decode


async def connect():
    return await asyncio.open_connection("127.0.0.1", int(port))


def request(body, kind="application/json", head=""):
    return (f"POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: {kind}\r\n{head}"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def as_json(q, **others):
    return json.dumps({"q": q, "source": "en", "target": "de", **others}).encode()


async def receive(reader):
    """Status and object; the connection ends after it."""
    answer = await asyncio.wait_for(reader.read(), 120)
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), json.loads(body)


def some_text(most=5):
    """Lines of the text with any line breaks, and their translation."""
    source = target = ""
    for _ in range(random.randint(1, most)):
        line = random.choice(lines) if random.random() < 0.9 else ""
        line_break = random.choice(["\n", "\r\n", "\r", "\n\n"])
        source, target = source + line + line_break, target + known[line] + line_break
    line = random.choice(lines) if random.random() < 0.5 else ""
    return source + line, target + known[line]


async def expect(kind, begin, status, content, wanted):
    """wanted: a status, or the translation."""
    global translated_lines
    if status == 200 and content == {"translatedText": wanted}:
        outcomes[kind, "translated"] += 1
        texts = wanted if isinstance(wanted, list) else [wanted]
        translated_lines += sum(len(re.split("\r\n|\r|\n", text)) for text in texts)
    elif status in (wanted, 504):
        outcomes[kind, str(status)] += 1
    elif status == 503 and signals and signals[-1] > begin - recovery:
        outcomes[kind, "503 after a signal"] += 1
        await asyncio.sleep(0.2)
    else:
        outcomes[kind, "WRONG"] += 1
        after = time.monotonic() - signals[-1] if signals else 0
        wrong.append(f"{kind}, {after:.0f} s after a signal: {status} {content}, not {wanted!r}")


async def ask(kind, data, wanted, half_close=False):
    begin = time.monotonic()
    reader, writer = await connect()
    writer.write(data)
    if half_close:
        writer.write_eof()
    status, content = await receive(reader)
    writer.close()
    await expect(kind, begin, status, content, wanted)
    return status, time.monotonic() - begin


async def plain():
    source, target = some_text()
    if random.random() < 0.3:
        pairs = [some_text(3) for _ in range(random.randint(0, 4))]
        source, target = [s for s, _ in pairs], [t for _, t in pairs]
    if isinstance(source, str) and random.random() < 0.3:
        form = urllib.parse.urlencode({"q": source, "source": "en", "target": "de"}).encode()
        data = request(form, "application/x-www-form-urlencoded")
    else:
        data = request(as_json(source, format="text"))
    status, spent = await ask("plain", data, target)
    if status == 200:
        latencies.append(spent)


async def half_closed():
    source, target = some_text()
    await ask("half-closed", request(as_json(source)), target, True)


async def half_closed_early():
    await ask("half-closed early", request(as_json(some_text()[0]))[:-5], 400, True)


async def killed():
    """Gone before the end of its request or before the answer."""
    _, writer = await connect()
    data = request(as_json(some_text(50)[0]))
    writer.write(data if random.random() < 0.7 else data[:random.randrange(len(data))])
    await asyncio.sleep(random.choice([0, 0.002, 0.02]))
    writer.transport.abort()
    outcomes["killed", "gone"] += 1


async def slow():
    source, target = some_text()
    data = request(as_json(source))
    begin = time.monotonic()
    reader, writer = await connect()
    for at in range(0, len(data), len(data) // 8 + 1):
        writer.write(data[at:at + len(data) // 8 + 1])
        await asyncio.sleep(random.uniform(0, 0.1))
    await expect("slow", begin, *await receive(reader), target)
    writer.close()


async def too_slow():
    await ask("too slow", request(as_json(some_text()[0]))[:-1], 408)


async def not_reading():
    _, writer = await connect()
    writer.write(request(as_json([some_text(20)[0] for _ in range(10)])))
    await asyncio.sleep(1)
    writer.close()
    outcomes["not reading", "gone"] += 1


def many_lines():
    """1 MB of JSON, and the translation."""
    chosen = random.choices(lines, k=1000000 // (5 + max(map(len, lines[:100]))))
    return as_json(chosen), [known[line] for line in chosen]


async def late():
    """Other requests while one reaches its time limit with lines in the pipe, and after it."""
    async def others():
        for _ in range(20):
            await plain()
        await asyncio.sleep(int(limit))
        await plain()

    await asyncio.gather(ask("1 MB, too late", request(many_lines()[0]), 504), others(), others())


async def megabyte():
    kind = random.choice(["spaces", "broken", "lines", "too large"])
    if kind == "spaces":
        source, wanted = some_text()
        data = as_json(source) + b" " * 1000000
    elif kind == "broken":
        data, wanted = b'{"q": "' + b"x" * 1000000, 400
    elif kind == "lines":  # may take too long
        data, wanted = many_lines()
    else:
        data, wanted = b" " * (LIMIT_BYTES + 1), 413
    await ask(f"1 MB, {kind}", request(data), wanted)


async def broken():
    other = {"q": "x", "source": "en", "target": "de"}
    data, wanted = random.choice([
        (request(b'{"q": '), 400),
        (request(b"[" * 50000), 400),
        (request(b"[1]"), 400),
        (request(b'"q source target"'), 400),
        (request(b"\xff\xfe\xff"), 400),
        (request(b""), 400),
        (request(as_json(7)), 400),
        (request(as_json(["x", None])), 400),
        (request(b'{"q": "\\ud800", "source": "en", "target": "de"}'), 400),
        (request(as_json("x " * 3000)), 400),
        (request(as_json("x", format="pdf")), 400),
        (request(json.dumps({**other, "target": "xx"}).encode()), 400),
        (request(json.dumps({**other, "source": ["en"]}).encode()), 400),
        (request(json.dumps({"source": "en", "target": "de"}).encode()), 400),
        (request(b"q=%ff&source=en&target=de", "application/x-www-form-urlencoded"), 400),
        (request(b"&" * 1000 + b"a=b" * 1000, "application/x-www-form-urlencoded"), 400),
        (b"GET /translate HTTP/1.1\r\n\r\n", 405),
        (b"POST /languages HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\n\r\n", 404),
        (b"hello\r\n\r\n", 400),
        (b"x" * 100000 + b"\r\n\r\n", 400),
        (b"POST /translate HTTP/1.1\r\nContent-Length: -5\r\n\r\n", 400),
        (b"POST /translate HTTP/1.1\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400),
    ])
    await ask("broken", data, wanted)


KINDS = {plain: 70, half_closed: 5, half_closed_early: 2, killed: 8, slow: 4, too_slow: 0.5,
         not_reading: 0.5, megabyte: 1, broken: 8}


async def client():
    while time.monotonic() < end:
        kind = random.choices(list(KINDS), KINDS.values())[0]
        try:
            await kind()
        except Exception as error:
            outcomes[kind.__name__, "LOST"] += 1
            wrong.append(f"{kind.__name__}: {error!r}")


async def disturb():
    """Ends and stops tx-decode. A stopped one is killed by the service."""
    period = max(2.5, seconds / 10)
    for number in itertools.cycle((signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM)):
        await asyncio.sleep(period)
        if time.monotonic() > end - 1:
            return
        found = subprocess.run(["pgrep", "-P", server], capture_output=True, text=True).stdout
        for process in found.split():
            signals.append(time.monotonic())
            os.kill(int(process), number)


async def crowd():
    """More connections than allowed: 503 and, when they are closed, a translation."""
    idle = [await connect() for _ in range(LIMIT_CONNECTIONS)]
    source, target = some_text()
    data = request(as_json(source))
    reader, writer = await connect()
    writer.write(data)
    status, _ = await receive(reader)
    if status != 503:
        wrong.append(f"{status} with too many connections")
    for _, writer in [*idle, (reader, writer)]:
        writer.close()
    await asyncio.sleep(0.5)
    await ask("after the crowd", data, target)


async def main():
    global end
    await late()
    end = time.monotonic() + seconds
    await asyncio.gather(disturb(), *(client() for _ in range(clients)))
    if not signals:
        sys.exit("tx-decode is not a child of the service")
    await asyncio.sleep(max(0, signals[-1] + recovery - time.monotonic()))
    await crowd()
    for (kind, outcome), number in sorted(outcomes.items()):
        print(f"{kind}\t{outcome}\t{number}")
    print(f"{sum(outcomes.values())} requests, {translated_lines} lines translated, "
          f"{len(signals)} signals")
    latencies.sort()
    for percent in (50, 90, 99):
        print(f"p{percent}: {1000 * latencies[len(latencies) * percent // 100]:.0f} ms")
    if len(latencies) < 4 * outcomes["plain", "504"]:
        wrong.append("more than a fifth of the plain requests have timed out")
    for line in wrong[:10]:
        print(f"wrong: {line:.1000}")
    sys.exit(bool(wrong))


random.seed(1)
asyncio.run(main())
