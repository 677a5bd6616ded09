"""Pictures of each step of `sosie app`, for docs/howto/app.md: ``python scripts/screenshots.py``.

Needs Chromium, and Pillow for pictures of few colours. Everything in them is simulated.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import chromium  # noqa: E402 (the driver of the browser tests)
from workbooks import awkward  # noqa: E402

PICTURES = ROOT / "docs" / "img"
WIDTH = 1000
COLOURS = 48
"""Text stays sharp, and a page takes a third of its bytes."""

SETTLED = 0.5
"""Seconds until a page is painted."""

PAINTED = 5.0
"""Seconds until the report is, in a process of its own."""

HOME = "/home/you/sosie-app"

LARGEST = 60_000
"""Bytes of a picture in the repository."""


@contextmanager
def page(folder: Path) -> Iterator[str]:
    """The address of a page of its own."""
    command = [sys.executable, "-m", "sosie", "app", "--no-browser", "--folder", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 (our own command line)
        try:
            yield process.stdout.readline().strip() if process.stdout else ""
        finally:
            process.terminate()


def picture(browser: chromium.Browser, name: str, height: int) -> None:
    """Save the top of the page."""
    browser.run("document.querySelector('footer').hidden = true")
    time.sleep(SETTLED)
    path = PICTURES / f"app-{name}.png"
    browser.picture(path)
    with Image.open(path) as whole:
        top = whole.convert("RGB").crop((0, 0, whole.width, min(height, whole.height)))
    top.quantize(COLOURS).save(path, optimize=True)
    size = path.stat().st_size
    sys.stdout.write(f"{path.relative_to(ROOT)}: {size:,} bytes\n")
    if size > LARGEST:
        sys.exit(f"{path.name} is larger than {LARGEST:,} bytes")


def choose(browser: chromium.Browser, table: Path) -> None:
    """Give a file, and wait until it was looked at."""
    browser.files("#file", [table])
    browser.click("form[action='/file'] button")
    browser.until("document.querySelector('.cards')")


def walk(browser: chromium.Browser, address: str, table: Path) -> None:
    """The way through, in English, a picture a step."""
    browser.screen(WIDTH, 800)
    browser.open(address)
    browser.until("document.querySelector('#file')")
    picture(browser, "file", 620)
    choose(browser, table)
    picture(browser, "columns", 900)
    browser.click(".onward button")
    fill = "document.querySelector('#{}').value = '{}'"
    for key, value in (("kind", "mean"), ("outcome", "durée (jours)"), ("by1", "stade")):
        browser.run(fill.format(key, value))
    browser.click("[name=add]")
    picture(browser, "context", 1_000)
    browser.click(".onward button")
    browser.until("!document.body.dataset.refresh || document.querySelectorAll('td meter')[12]")
    picture(browser, "privacy", 720)
    browser.click(".onward button")
    browser.until("document.querySelectorAll('.plan .past').length > 1")
    picture(browser, "progress", 560)
    while not browser.run("!!document.querySelector('iframe.report')"):
        time.sleep(0.5)
    browser.run("document.querySelector('iframe').scrollIntoView()")
    time.sleep(PAINTED)
    said = "document.querySelector('.downloads + .hint').textContent"
    browser.run(f"{said} = {said}.replace(/\\/\\S+runs/, '{HOME}/runs')")
    picture(browser, "report", 1_000)


def walk_in_french(browser: chromium.Browser, address: str, table: Path) -> None:
    """What was read, and how private, in French."""
    browser.screen(WIDTH, 800, locale="fr")
    browser.open(f"{address.partition('?')[0]}?lang=fr")
    choose(browser, table)
    picture(browser, "columns-fr", 900)


def main() -> None:
    """Make all pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, page(Path(name) / "app") as address:
        table = awkward(Path(name) / "registre.xlsx")
        with chromium.Browser(Path(name) / "profile") as browser:
            walk(browser, address, table)
            walk_in_french(browser, address, table)


if __name__ == "__main__":
    main()
