"""Writes a picture of a page of tx-attn-dump --live, as examples/live.png was made:

    python3 examples/live_picture.py PAGE PICTURE [STATE]

STATE is what follows # in the page's address. Needs Chromium.
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/browser"))
from browser import Browser  # noqa: E402


def main():
    page_path, picture, *state = sys.argv[1:]
    with Browser() as browser:
        page = browser.open(page_path + "#" + "".join(state))
        page.call("Emulation.setDeviceMetricsOverride", width=1280, height=860,
                  deviceScaleFactor=1, mobile=False)
        page.wait("document.querySelector('#status')?.dataset.state === 'ready'")
        time.sleep(1)  # the drawings follow the size of the window
        page.screenshot(picture)
    print(f"{picture}: {pathlib.Path(picture).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
