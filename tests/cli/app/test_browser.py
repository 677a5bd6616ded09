"""The whole way in a real browser, with the real program, in both languages."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import chromium
import pytest
from workbooks import awkward

from sosie.data import cohort
from sosie.words import load

AXE = Path(__file__).parents[2] / "vendor" / "axe.min.js"
MOST_CLICKS = 12
"""From an untouched file to a downloaded report."""

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


class Newcomer:
    """Takes every proposal, moves the slider, and leaves the attack out; clicks are counted."""

    def __init__(self, browser: chromium.Browser) -> None:
        self.browser, self.clicks = browser, 0

    def click(self, selector: str) -> None:
        self.browser.click(selector)
        self.clicks += 1

    def choose(self, table: Path) -> None:
        self.browser.until("document.querySelector('#file')")
        check(self.browser)
        self.browser.files("#file", [table])
        self.clicks += 2  # the field, and the file
        self.click("form[action='/file'] button")
        self.browser.until("document.querySelector('.cards')")
        check(self.browser)

    def dropped(self) -> list[str]:
        names: list[str] = self.browser.run(
            "[...document.querySelectorAll('.card')].filter(c => c.querySelector('select')"
            ".value === 'drop').map(c => c.querySelector('h2').textContent)"
        )
        return names

    def onward(self, step: str) -> None:
        self.click(".onward button:not([name])")
        assert self.browser.run("location.pathname").endswith(step)
        self.browser.run("document.querySelectorAll('details').forEach(d => d.open = true)")
        check(self.browser)

    def slide(self, k: int) -> None:
        cost = "document.querySelector('tr.chosen td:last-child').textContent"
        self.browser.until(f"{cost}.match(/[0-9]/)")
        slider = "document.querySelector('#k-slider')"
        self.browser.run(f"{slider}.value = {k}, {slider}.dispatchEvent(new Event('input'))")
        self.clicks += 1
        assert self.browser.run("document.querySelector('#k').value") == str(k)
        assert self.browser.run("+document.querySelector('tr.chosen').dataset.first") <= k
        assert self.browser.run("+document.querySelector('tr.chosen').dataset.last") >= k

    def start(self) -> None:
        self.browser.run("document.querySelector('[name=attack]').click()")
        self.clicks += 1
        self.click(".onward button")
        self.browser.until("document.querySelector('.plan .here')")
        check(self.browser)
        deadline = time.monotonic() + 300
        while not self.browser.run("!!document.querySelector('iframe.report')"):
            assert time.monotonic() < deadline
            time.sleep(0.5)
        check(self.browser)

    def download(self) -> None:
        link = self.browser.run("document.querySelector('.downloads [href*=report]').href")
        self.browser.until(f"fetch('{link}').then(r => r.ok)")
        self.clicks += 1

    def read_and_delete(self, home: str) -> None:
        frame = "document.querySelector('iframe').src"
        length = f"fetch({frame}).then(r => r.text()).then(t => t.length)"
        assert self.browser.run(length) > 100_000
        self.browser.open(self.browser.run(frame))  # in a tab of its own
        self.browser.until("document.querySelector('main svg')")
        self.browser.open(home)
        check(self.browser)
        self.browser.click(".runs a[href$=delete]")
        check(self.browser)
        self.browser.click("button.danger")
        self.browser.until("document.querySelector('#file')")
        assert self.browser.run("document.querySelector('.runs')") is None


@pytest.mark.parametrize("table", ["cohort.csv", "registre.xlsx"])
@pytest.mark.parametrize("lang", ["en", "fr"])
def test_from_a_file_to_its_report(address: str, tmp_path: Path, lang: str, table: str) -> None:
    bundled = table == "cohort.csv"
    home = address.partition("?")[0]
    with chromium.Browser(tmp_path / "profile") as browser:
        newcomer = Newcomer(browser)
        browser.screen(1200, 900)
        browser.open(address)
        browser.open(f"{home}?lang={lang}")
        newcomer.choose(cohort.path() if bundled else awkward(tmp_path / table))
        assert newcomer.dropped() == (["patient_id"] if bundled else ["n° dossier", "nom"])
        assert browser.run("document.querySelectorAll('.rules li').length") >= 2
        newcomer.onward("context")
        newcomer.onward("privacy")
        newcomer.slide(40)
        newcomer.start()
        assert browser.run("document.documentElement.lang") == lang
        title = browser.run("document.querySelector('h1').textContent")
        assert title == load(lang)("app.report.title", name=table)
        newcomer.download()
        newcomer.read_and_delete(home)
        assert browser.console == []
    assert newcomer.clicks <= MOST_CLICKS, newcomer.clicks
    assert list((tmp_path / "app" / "runs").iterdir()) == []
