"""Headless Chromium, controlled through a pipe by its DevTools protocol.

    with Browser() as browser:
        page = browser.open("/path/page.html#view=grid")
        page.click("#view-matrix")
        page.expect("document.title", "...")
        page.expect_quiet()

A failing assertion ends the script with a message and status 1. Without Chromium the script ends with
status 77, skipped.
"""
import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds for an answer


def fail(message):
    sys.exit(f"FAILED: {message}")


class Browser:
    def __init__(self):
        names = ("chromium", "chromium-browser", "google-chrome")
        found = [path for path in map(shutil.which, names) if path]
        if not found:
            print("skipped: chromium is not installed", file=sys.stderr)
            sys.exit(77)
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.out = os.pipe()
        self.incoming, from_browser = os.pipe()

        def connect():  # Chromium reads from 3 and writes to 4
            ends = [os.dup2(to_browser, 30), os.dup2(from_browser, 40)]
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        self.process = subprocess.Popen(
            [found[0], "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1280,900",
             "--disable-component-update", f"--user-data-dir={self.folder.name}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.process.kill()
        self.process.wait()
        self.folder.cleanup()

    def read(self):
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            if not select.select([self.incoming], [], [], max(0, end - time.monotonic()))[0]:
                fail("the browser does not answer")
            received = os.read(self.incoming, 1 << 20)
            if not received:
                fail("the browser has ended")
            self.buffer += received
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        text = json.dumps(message).encode() + b"\0"
        while text:
            text = text[os.write(self.out, text):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    fail(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, dark=False):
        return Page(self, path, dark)


class Page:
    def __init__(self, browser, path, dark):
        self.browser = browser
        file, _, anchor = str(path).partition("#")
        self.address = pathlib.Path(file).resolve().as_uri()
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target,
                                    flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Network", "Page"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.go(anchor)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def go(self, anchor):
        """Reloads the page with this fragment."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.call("Page.navigate", url=self.address + (f"#{anchor}" if anchor else ""))
        self.wait("location.protocol === 'file:' && document.readyState === 'complete'")

    def wait(self, condition):
        end = time.monotonic() + PATIENCE
        while not self.value(condition):
            if time.monotonic() > end:
                fail(f"timeout: {condition}")
            time.sleep(0.02)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            fail(f"{expression}: {answer['result'].get('description')}")
        return answer["result"].get("value")

    def expect(self, expression, wanted=True):
        got = self.value(expression)
        if got != wanted:
            fail(f"{expression} is {got!r} instead of {wanted!r}")

    def text(self, selector):
        return self.value(f"document.querySelector({json.dumps(selector)})?.textContent ?? null")

    def place(self, selector):
        """The middle of an element, scrolled into view."""
        where = self.value(f"""(() => {{
          const node = document.querySelector({json.dumps(selector)});
          if (!node) return null;
          node.scrollIntoView({{ block: 'center', inline: 'center' }});
          const box = node.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        if where is None:
            fail(f"the page has no {selector}")
        return where

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def point(self, selector):
        self.mouse("mouseMoved", *self.place(selector))

    def click(self, selector):
        x, y = self.place(selector)
        self.click_at(x, y)

    def click_at(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)

    def press(self, key):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key,
                  text=key if len(key) == 1 else "")
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def choose(self, selector, value):
        """Sets a list or a slider as a user would."""
        self.value(f"""(() => {{
          const node = document.querySelector({json.dumps(selector)});
          node.value = {json.dumps(str(value))};
          node.dispatchEvent(new Event('input', {{ bubbles: true }}));
          node.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()""")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def expect_readable(self, width):
        """The page is not wider than the screen, and no control or heading covers another."""
        wide = self.value("document.documentElement.scrollWidth")
        if wide > width:
            fail(f"the page is {wide} pixels wide on a screen of {width}")
        covered = self.value("""(() => {
          const boxes = [...document.querySelectorAll('h1, h2, button, select, input, #said')]
            .filter((node) => !node.closest('dialog, .grid, .statistics, .matrix'))
            .map((node) => ({ node, box: node.getBoundingClientRect() }))
            .filter(({ box }) => box.width > 0 && box.height > 0);
          const out = [];
          boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
            const width = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
            const height = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
            if (width > 1 && height > 1) out.push(`${a.node.outerHTML} ${b.node.outerHTML}`);
          }));
          return out;
        })()""")
        if covered:
            fail(f"covered: {covered[0][:300]}")

    def expect_inside(self, texts, frame):
        """No text reaches beyond its frame, the closest ancestor with this selector."""
        nodes = f"[...document.querySelectorAll({json.dumps(texts)})]"
        clipped = self.value(f"""{nodes}.filter((node) => {{
          const a = node.getBoundingClientRect();
          const b = node.closest({json.dumps(frame)}).getBoundingClientRect();
          return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1
            || a.bottom > b.bottom + 1;
        }}).map((node) => node.textContent)""")
        if clipped:
            fail(f"clipped by {frame}: {clipped}")

    def screenshot(self, path):
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(picture))

    def expect_quiet(self):
        """No error on the console, and no network request."""
        self.value("new Promise((done) => setTimeout(done, 50))")
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, parameters = event["method"], event["params"]
            if method == "Network.requestWillBeSent":
                address = parameters["request"]["url"]
                own = address.split("#")[0] in (self.address, "about:blank")
                if not own and not address.startswith("blob:"):  # a worker's script, in the page
                    fail(f"the page requests {address}")
            elif method == "Runtime.exceptionThrown":
                fail(f"the page throws {json.dumps(parameters)[:600]}")
            elif method == "Runtime.consoleAPICalled" or method == "Log.entryAdded":
                fail(f"the page writes to the console: {json.dumps(parameters)[:600]}")
