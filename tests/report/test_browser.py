"""The report in a real browser: figures are drawn, nothing is fetched, nothing complains."""

from __future__ import annotations

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
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=10000",
    "--enable-logging=stderr",
    "--v=0",
)
READER = shutil.which("pdftotext")
# Tall enough for every figure to be on the screen.
SCREEN = "--window-size=1280,40000"

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
        self.console = [line for line in done.stderr.splitlines() if ":CONSOLE:" in line]


def browse(page: Path, folder: Path, options: Sequence[str]) -> subprocess.CompletedProcess[str]:
    profile = folder / "profile"
    command = [str(BROWSER), *FLAGS, f"--user-data-dir={profile}", *options, page.as_uri()]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=180, check=True
    )


def whole(lang: str) -> str:
    audit = fixture.audit() | {"context": fixture.context()}
    audit["utility"]["predictive_ratio"] = fixture.models()
    return build(
        fixture.run(), audit, fixture.attack(), fixture.tune(), fixture.analyses(), lang=lang
    )


def test_the_page_opens_in_silence(tmp_path: Path) -> None:
    visit = Visit(whole("fr"), tmp_path)
    assert visit.console == []
    assert "NaN" not in re.sub(r"(?s)<script.*?</script>", "", visit.document)


def test_hostile_texts_do_nothing(tmp_path: Path) -> None:
    visit = Visit(build(*fixture.hostile()), tmp_path)
    assert visit.console == []
    assert "<title>x</title>" not in visit.document


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


def test_a_print_made_at_once_holds_every_figure(tmp_path: Path) -> None:
    """Printed without a moment to wait: the words of the figures are on paper."""
    paper = tmp_path / "report.pdf"
    options = [flag for flag in FLAGS if not flag.startswith("--virtual-time")]
    page = tmp_path / "report.html"
    page.write_text(whole("fr"), encoding="utf-8")
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [str(BROWSER), *options, profile, "--no-pdf-header-footer", f"--print-to-pdf={paper}"]
    subprocess.run([*command, page.as_uri()], capture_output=True, timeout=180, check=True)
    content = paper.read_bytes()
    assert content.startswith(b"%PDF")
    assert 10 < len(re.findall(rb"/Type\s*/Page\b", content)) < 40
    if READER is not None:
        done = subprocess.run([READER, "-layout", paper, "-"], capture_output=True, check=True)
        words = done.stdout.decode()
        for part in ("Personnes par carreau", "Part (%), classe de", "frontière", "inertie"):
            assert part in words
