"""Answers LibreTranslate's POST /translate and GET /languages with tx-decode; see README.md."""
import argparse, asyncio, contextlib, email, http, json
from urllib.parse import parse_qs

from tx_decode import TxDecode

METHODS = {"/translate": "POST", "/languages": "GET"}
cli = argparse.ArgumentParser(epilog="Options after -- are passed to tx-decode.")
cli.add_argument("--model", nargs=3, action="append", required=True, metavar=("SRC", "TGT", "PATH"))
cli.add_argument("--listen", default="127.0.0.1:5000", metavar="HOST:PORT")
cli.add_argument("--bytes", type=int, default=100000, help="limit of a body (100000)")
cli.add_argument("--seconds", type=int, default=30, help="limit to read, translate or send (30)")
cli.add_argument("--connections", type=int, default=64, help="limit at a time (64)")
cli.add_argument("options", nargs="*", help=argparse.SUPPRESS)
args = cli.parse_args()
decoders, of_html, connections = {}, {}, set()
starting = asyncio.Lock()


class Refused(Exception):
    """HTTP status and message."""


async def read_request(reader):
    request, headers = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n", 1)
    method, path, _ = request.split(" ")
    if path == "/detect":
        raise Refused(404, "languages are not detected: name the source")
    if METHODS.get(path) != method:
        raise Refused(405 if path in METHODS else 404, "use POST /translate or GET /languages")
    headers = email.message_from_string(headers)
    size = int(headers.get("Content-Length", 0))
    if size > args.bytes:
        raise Refused(413, f"the body has more than {args.bytes} bytes")
    body = await reader.readexactly(size)
    if body and "json" in headers.get("Content-Type", ""):
        return path, json.loads(body)
    form = parse_qs(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=100)
    return path, {name: values[0] for name, values in form.items()}


async def answer(path, fields):
    if path == "/languages":
        return [{"code": code, "name": code, "targets": [t for s, t in decoders if s == code]}
                for code in dict.fromkeys(code for pair in decoders for code in pair)]
    if not isinstance(fields, dict) or not fields.keys() >= {"q", "source", "target"}:
        raise ValueError("q, source and target are needed, and Content-Length")
    if fields.get("format", "text") not in ("text", "html"):
        raise ValueError("format must be text or html")
    texts = fields["q"] if isinstance(fields["q"], list) else [fields["q"]]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("q must be a string or a list of strings")
    pair = str(fields["source"]), str(fields["target"])
    if pair not in decoders:
        raise ValueError("source and target must be " + " or ".join(map(" and ".join, decoders)))
    number = str(fields.get("alternatives", 0))
    if not number.isdecimal():
        raise ValueError("alternatives must be a number of 0 or more")
    decoder = decoders[pair] if fields.get("format") != "html" else await html_decoder(pair)
    ranked = await decoder.ranked(texts, int(number))
    result = {"translatedText": [found[0] for found in ranked]}
    if int(number) > 0:
        result["alternatives"] = [found[1:] for found in ranked]
    return result if isinstance(fields["q"], list) else {key: result[key][0] for key in result}


async def html_decoder(pair):
    """A second tx-decode, from the first request with format html on."""
    async with starting:
        if pair not in of_html:
            path = next(path for *languages, path in args.model if tuple(languages) == pair)
            options = ["-m", path, "--markup", "html", *args.options]
            try:
                of_html[pair] = await TxDecode.start(options, args.seconds)
            except SystemExit as error:  # the options exclude --markup
                raise ValueError(str(error)) from None
    return of_html[pair]


async def send(reader, writer, status, content):
    body = json.dumps(content).encode()
    writer.write(f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\nConnection: close\r\n"
                 "Content-Type: application/json\r\n"
                 f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    writer.write_eof()
    while await reader.read(65536):  # closing a connection with unread input may lose the answer
        pass
    writer.close()
    await writer.wait_closed()


async def serve(reader, writer):
    connections.add(writer)
    status = 408
    try:
        if len(connections) > args.connections:
            raise Refused(503, "too many connections; try again later")
        request = await asyncio.wait_for(read_request(reader), args.seconds)
        status = 504
        status, content = 200, await asyncio.wait_for(answer(*request), args.seconds)
    except asyncio.TimeoutError:
        content = {"error": f"not complete after {args.seconds} seconds"}
    except Refused as refused:
        status, content = refused.args[0], {"error": refused.args[1]}
    except ConnectionError as error:  # tx-decode has ended, or the client
        status, content = 503, {"error": f"{error}; try again later"}
    except (ValueError, RecursionError, EOFError, asyncio.LimitOverrunError) as error:
        status, content = 400, {"error": str(error)}
    with contextlib.suppress(OSError, asyncio.TimeoutError):  # the client is gone or too slow
        await asyncio.wait_for(send(reader, writer, status, content), args.seconds)
    writer.transport.abort()
    connections.remove(writer)


async def main():
    for source, target, path in args.model:
        decoders[source, target] = await TxDecode.start(["-m", path, *args.options], args.seconds)
    server = await asyncio.start_server(serve, *args.listen.rsplit(":", 1))
    print("listening on", args.listen, flush=True)
    await server.serve_forever()


asyncio.run(main())
