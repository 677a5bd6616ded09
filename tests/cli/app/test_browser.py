"""The whole way in a real browser, with the real program, in both languages."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import chromium
import pytest

from sosie.data import cohort
from sosie.words import load

AXE = Path(__file__).parents[2] / "vendor" / "axe.min.js"
MOST_CLICKS = 12

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(chromium.PATH is None, reason="no browser"),
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "sosie", "app", "--no-browser"]
    with subprocess.Popen(
        [*command, "--folder", str(tmp_path / "app")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        try:
            yield line
        finally:
            process.terminate()
            assert process.stdout.read() == ""  # the address is its only line


def check(browser: chromium.Browser) -> None:
    """No violation of accessibility, no sideways scroll on a phone, in both colours."""
    for width, dark in ((1200, False), (390, True)):
        browser.screen(width, 900, dark=dark, locale="fr" if dark else "en")
        browser.run(AXE.read_text(encoding="utf-8"))
        found = browser.run(
            "axe.run({iframes: false}).then(r => r.violations.map("
            "v => `${v.id}: ${v.nodes.map(n => n.html).join(' | ')}`))"
        )
        assert found == [], browser.run("location.pathname")
        assert browser.run("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("lang", ["en", "fr"])
def test_from_a_file_to_its_report(address: str, tmp_path: Path, lang: str) -> None:
    words = load(lang)
    clicks = 0
    with chromium.Browser(tmp_path / "profile") as browser:
        browser.screen(1200, 900)
        browser.open(address)
        browser.until("document.querySelector('#file')")
        browser.open(f"{address.partition('?')[0]}?lang={lang}")
        check(browser)
        browser.files("#file", [cohort.path()])
        clicks += 2  # the field, and the file
        browser.click("form[action='/file'] button")
        clicks += 1
        browser.until("document.querySelector('.cards')")
        check(browser)
        for step in ("context", "privacy"):
            browser.click(".onward button")
            clicks += 1
            assert browser.run("location.pathname").endswith(step)
            browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
            check(browser)
        browser.run("document.querySelector('[name=attack]').checked = false")
        browser.click(".onward button")
        clicks += 1
        browser.until("document.querySelector('.plan .here')")
        check(browser)
        deadline = time.monotonic() + 300
        while not browser.run("!!document.querySelector('iframe.report')"):
            assert time.monotonic() < deadline
            time.sleep(0.5)
        check(browser)
        assert browser.run("document.documentElement.lang") == lang
        title = browser.run("document.querySelector('h1').textContent")
        assert title == words("app.report.title", name="cohort.csv")
        link = browser.run("document.querySelector('.downloads [href*=report]').href")
        browser.until(f"fetch('{link}').then(r => r.ok)")
        clicks += 1
        assert (
            browser.run(
                "fetch(document.querySelector('iframe').src)"
                ".then(r => r.text()).then(t => t.length)"
            )
            > 100_000
        )
        browser.open(browser.run("document.querySelector('iframe').src"))  # in a tab of its own
        browser.until("document.querySelector('main svg')")
        browser.open(address.partition("?")[0])
        check(browser)
        browser.click(".runs a[href$=delete]")
        check(browser)
        browser.click("button.danger")
        browser.until("document.querySelector('#file')")
        assert browser.run("document.querySelector('.runs')") is None
        assert browser.console == []
    assert clicks <= MOST_CLICKS
    assert list((tmp_path / "app" / "runs").iterdir()) == []
