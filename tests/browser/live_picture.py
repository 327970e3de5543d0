"""Writes a picture of a page of tx-attn-dump --live. examples/live.png is that of examples/live.sh:

    python3 tests/browser/live_picture.py build/multi30k/live.html examples/live.png

A third argument is the state of the page, the part of its address after #.
"""
import pathlib
import sys
import time

from browser import Browser


def main():
    path, picture, state = [*sys.argv[1:], ""][:3]
    with Browser() as browser:
        page = browser.open(f"{path}#{state}")
        page.call("Emulation.setDeviceMetricsOverride", width=1280, height=960,
                  deviceScaleFactor=1, mobile=False)
        page.call("Emulation.setScrollbarsHidden", hidden=True)
        page.wait("document.querySelector('#status')?.dataset.state === 'ready'")
        time.sleep(1)  # the drawings follow the size of the window
        page.screenshot(picture)
    print(f"{picture}: {pathlib.Path(picture).stat().st_size:,} bytes")


main()
