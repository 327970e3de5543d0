"""A tx-decode that stays loaded, for asyncio programs:

    decoder = await TxDecode.start(["-m", "run", "--beam", "1"])
    print(await decoder.translate(["a line", "two\\nlines"]))
"""
import asyncio
import collections
import json
import re
import subprocess
import sys


class TxDecode:
    """tx-decode answers lines in order, so its next answer belongs to waiting[0]."""

    def __init__(self, options, max_seconds, max_lines):
        self.command = ["tx-decode", "--quiet", "--json", *options]
        self.max_seconds = max_seconds
        self.process = None
        self.waiting = collections.deque()  # a future for each line in the pipe
        self.places = asyncio.Semaphore(max_lines)  # in the pipe

    @classmethod
    async def start(cls, options, max_seconds=60, max_lines=64):
        """Ends the program if tx-decode cannot be started or refuses its options."""
        self = cls(options, max_seconds, max_lines)
        try:
            await self._start()
            self.task = asyncio.create_task(self._run())
            await self.translate([""])
        except OSError as error:
            sys.exit(f"{' '.join(self.command)} does not work: {error}")
        return self

    async def translate(self, texts):
        """The translations of a list of texts; line breaks are kept. ValueError if a line is too
        long, ConnectionError if tx-decode has ended; it is restarted."""
        return [ranked[0] for ranked in await self.ranked(texts)]

    async def ranked(self, texts, alternatives=0):
        """For each text a list: its translation, then up to `alternatives` others, which need
        --nbest. A line with fewer outputs than another has its best in those that are left."""
        parts = [re.split("(\r\n|\r|\n)", text) for text in texts]  # line, break, ..., line
        answers = [await self._send(line) for part in parts for line in part[::2]]
        lines = iter([_texts(answer, alternatives) for answer in await asyncio.gather(*answers)])
        return [_joined(part, [next(lines) for _ in part[::2]]) for part in parts]

    async def _send(self, line):
        """Waits for a place in the pipe, so that callers take turns. A caller that is cancelled
        sends no more lines; answers to the lines that it has sent are discarded."""
        data = line.encode() + b"\n"
        await self.places.acquire()
        answer = asyncio.get_running_loop().create_future()
        self.waiting.append(answer)
        if self.process:
            self.process.stdin.write(data)
        else:
            self._settle(b"")
        return answer

    def _settle(self, answer):
        self.places.release()
        future = self.waiting.popleft()
        if not future.done():  # the caller was not cancelled
            future.set_result(answer)

    async def _start(self):
        process = await asyncio.create_subprocess_exec(
            *self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=1 << 30)
        # A first line like the beginning of a compressed file or test set would be refused as one.
        process.stdin.write(b"\n")
        self.process = process

    async def _run(self):
        while True:
            watch = asyncio.create_task(self._watch())
            await self.process.stdout.readline()  # of the empty line
            while answer := await self.process.stdout.readline():
                self._settle(answer)
            watch.cancel()
            status = await self.process.wait()
            print("tx-decode ended with status", status, file=sys.stderr)
            self.process = None
            while self.waiting:
                self._settle(b"")
            while not self.process:
                await asyncio.sleep(1)
                try:
                    await self._start()
                except OSError as error:
                    print("tx-decode cannot be started:", error, file=sys.stderr)

    async def _watch(self):
        """Kills a tx-decode that gives no answer for max_seconds."""
        while True:
            oldest = self.waiting[0] if self.waiting else None
            await asyncio.sleep(self.max_seconds)
            if oldest and self.waiting and self.waiting[0] is oldest:
                print("tx-decode gives no answer; killing it", file=sys.stderr)
                self.process.kill()


def _joined(part, lines):
    """The texts of `part` (line, break, ..., line) with each line replaced by its n-th output."""
    texts = []
    for n in range(max(map(len, lines))):
        texts.append(part.copy())
        texts[-1][::2] = [outputs[n if n < len(outputs) else 0] for outputs in lines]
    return ["".join(text) for text in texts]


def _texts(answer, alternatives):
    if not answer.endswith(b"\n"):
        raise ConnectionError("tx-decode has ended")
    answer = json.loads(answer)
    if "cut" in answer["states"]:
        raise ValueError("a line has too many tokens for the model; divide it")
    if alternatives and "nbest" not in answer:
        raise ValueError("alternatives need a service started with -- --nbest N")
    others = answer["nbest"][1:alternatives + 1] if alternatives else []
    return [answer["text"]] + [other["text"] for other in others]
