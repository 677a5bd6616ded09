"""The report in a real browser: figures are drawn, nothing is fetched, nothing complains."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import report_fixture as fixture

from sosie.report import build

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--enable-unsafe-swiftshader",  # three dimensions without a graphics card
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=10000",
    "--enable-logging=stderr",
    "--v=0",
)
# Tall enough for every figure to be on the screen.
SCREEN = "--window-size=1280,40000"

# What the browser says of speed when plotly.js draws in three dimensions: no fault of the page.
HINTS = ("Canvas2D: Multiple readback operations", "GPU stall due to ReadPixels")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason=f"no browser: none of {', '.join(BROWSERS)}"),
]


class Visit:
    """What a page left: its final document, and what the console received."""

    def __init__(self, html: str, folder: Path, *options: str) -> None:
        page = folder / "report.html"
        page.write_text(html, encoding="utf-8")
        done = browse(page, folder, options or (SCREEN, "--dump-dom"))
        self.document = done.stdout
        self.console = [
            line
            for line in done.stderr.splitlines()
            if ":CONSOLE:" in line and not any(hint in line for hint in HINTS)
        ]

    def drawn(self) -> int:
        plots = re.findall(r'<div class="plot[^"]*js-plotly-plot"', self.document)
        return min(len(plots), self.document.count('class="main-svg"'))


def browse(page: Path, folder: Path, options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    profile = folder / "profile"
    command = [str(BROWSER), *FLAGS, f"--user-data-dir={profile}", *options, page.as_uri()]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=180, check=True
    )


def figures(html: str) -> int:
    found = re.search(r'(?s)<script type="application/json" id="figures">(.*?)</script>', html)
    assert found is not None
    return len(json.loads(found[1])["figures"])


def whole(lang: str) -> str:
    audit = fixture.audit() | {"context": fixture.context()}
    audit["utility"]["predictive_ratio"] = fixture.models()
    return build(fixture.run(), audit, fixture.attack(), fixture.tune(), lang)


def test_all_figures_are_drawn_in_silence(tmp_path: Path) -> None:
    html = whole("fr")
    visit = Visit(html, tmp_path)
    assert visit.console == []
    assert visit.drawn() == figures(html) == 28
    assert "NaN" not in re.sub(r"(?s)<script.*?</script>", "", visit.document)


def test_hostile_texts_do_nothing(tmp_path: Path) -> None:
    html = build(*fixture.hostile())
    visit = Visit(html, tmp_path)
    assert visit.console == []
    assert visit.drawn() == figures(html)


def test_figures_wait_to_be_seen(tmp_path: Path) -> None:
    html = build(*fixture.wide(300))
    visit = Visit(html, tmp_path, "--window-size=1280,900", "--dump-dom")
    assert visit.console == []
    assert visit.document.count("data-figure=") == figures(html) > 300
    assert visit.drawn() < 30


def test_a_request_or_a_script_of_others_would_be_seen(tmp_path: Path) -> None:
    """The silence of the other tests means something."""
    others = '<img src="http://example.org/x.png"><script>document.title = "x"</script>'
    html = build(fixture.run(), fixture.audit()).replace("<main", f"{others}<main")
    visit = Visit(html, tmp_path, "--window-size=1280,900", "--dump-dom")
    refused = " ".join(visit.console)
    assert "example.org" in refused
    assert "script" in refused
    assert "<title>x</title>" not in visit.document


def test_no_sideways_scroll_on_a_phone(tmp_path: Path) -> None:
    phone = tmp_path / "phone.html"
    measure = (
        "<script>setTimeout(() => {"
        "const page = document.querySelector('iframe').contentDocument.documentElement;"
        "document.title = `${page.scrollWidth} of ${page.clientWidth}`"
        "}, 6000)</script>"
    )
    phone.write_text(
        f'<iframe src="report.html" width="390" height="4000" style="border:0"></iframe>{measure}'
    )
    run, audit, attack = fixture.hostile()
    (tmp_path / "report.html").write_text(build(run, audit, attack, lang="fr"), encoding="utf-8")
    options = ("--window-size=800,4000", "--allow-file-access-from-files", "--dump-dom")
    assert "<title>390 of 390</title>" in browse(phone, tmp_path, options).stdout


def test_it_prints(tmp_path: Path) -> None:
    paper = tmp_path / "report.pdf"
    html = whole("fr")
    Visit(html, tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={paper}")
    content = paper.read_bytes()
    assert content.startswith(b"%PDF")
    assert 10 < len(re.findall(rb"/Type\s*/Page\b", content)) < 40
