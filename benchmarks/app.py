"""Times of `sosie app`: the first page after the command, each step, progress, memory while idle.

``python benchmarks/app.py`` prints the figures beside those to reach, and the load of the machine.
"""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path

TRIES = 5
STEPS = ("columns", "context", "privacy")
IDLE = 3.0
"""Seconds after which nothing is under way."""


class Page:
    """A page, asked as its browser asks."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "sosie", "app", "--no-browser", "--folder", str(folder)]
        begun = time.perf_counter()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None  # noqa: S101
        address = self.process.stdout.readline().strip()
        self.home = address.partition("/?")[0]
        self._ask = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        self._ask.open(address).read()
        self.get("/")
        self.first = time.perf_counter() - begun

    def get(self, path: str) -> tuple[str, str, float]:
        """Where an address leads, its page, and the seconds that it took."""
        return self._timed(urllib.request.Request(f"{self.home}{path}"))  # noqa: S310 (ours)

    def post(self, path: str, **fields: str) -> tuple[str, str, float]:
        """The same of a form."""
        data = urllib.parse.urlencode(fields).encode()
        headers = {"Origin": self.home}
        return self._timed(urllib.request.Request(f"{self.home}{path}", data, headers))  # noqa: S310 (ours)

    def _timed(self, request: urllib.request.Request) -> tuple[str, str, float]:
        begun = time.perf_counter()
        with self._ask.open(request) as answer:
            text = answer.read().decode()
        return answer.url.removeprefix(self.home), text, time.perf_counter() - begun

    def megabytes(self) -> float:
        """Memory of the page's process that is in use (Linux)."""
        told = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+)", told)
        return int(found[1]) / 1e3 if found else float("nan")

    def close(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.communicate()


def walk(page: Page) -> tuple[dict[str, float], list[float]]:
    """Seconds of each step of a run on the bundled cohort, and between changes of its progress."""
    seconds = {}
    path, text, seconds["example"] = page.post("/example")
    run = path.rpartition("/")[0]
    while 'class="cards"' not in text:
        _, text, _ = page.get(f"{run}/columns")
        time.sleep(0.1)
    for step in STEPS:
        _, _, seconds[step] = page.get(f"{run}/{step}")
    _, _, seconds["columns, sent"] = page.post(f"{run}/columns", table="yes", constraints="yes")
    _, _, seconds["context, sent"] = page.post(f"{run}/context", recipient="public")
    path, _, seconds["start"] = page.post(
        f"{run}/privacy", k="10", method="exchangeable", attack="yes"
    )
    changes, before, last = [], "", time.perf_counter()
    waits = []
    while path.endswith("/progress"):
        path, text, took = page.get(f"{run}/progress")
        waits.append(took)
        now = re.search(r'<div id="live".*?</div>', text, re.DOTALL)
        if now and now[0] != before:
            changes.append(time.perf_counter() - last)
            before, last = now[0], time.perf_counter()
        time.sleep(0.1)
    seconds["progress, worst"] = max(waits)
    _, _, seconds["report"] = page.get(f"{run}/report")
    _, _, seconds["avatars"] = page.get(f"{run}/files/avatars?download=1")
    _, _, seconds["runs"] = page.get("/")
    return seconds, changes


def main() -> None:
    """Measure, and print."""
    say = sys.stdout.write
    say(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    firsts = []
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory() as folder:
            page = Page(Path(folder) / "app")
            firsts.append(page.first)
            page.close()
    say(f"first page  {statistics.median(firsts):.2f} s (median of {TRIES}; to reach: 0.5)\n")
    with tempfile.TemporaryDirectory() as folder:
        page = Page(Path(folder) / "app")
        seconds, changes = walk(page)
        for step, took in seconds.items():
            say(f"{step:<16}{took:.3f} s (to reach: 0.3)\n")
        say(f"progress changes every {max(changes):.1f} s at most (to reach: 1)\n")
        time.sleep(IDLE)
        say(f"idle        {page.megabytes():.0f} MB (to reach: 150)\n")
        page.close()
    say(f"load {os.getloadavg()[0]:.1f}\n")


if __name__ == "__main__":
    main()
