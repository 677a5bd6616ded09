"""Runs in processes of their own: queued, stopped, killed, and what the page says of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sosie.cli.app.folder import Folder, Job, RunFolder, claimed, queue_is_claimed

if TYPE_CHECKING:
    from conftest import Asked

SETTING = {"k": "10", "method": "smoothed", "attack": "yes"}
FAKE = Path(__file__).with_name("fake_sosie.py")


def start(page: Asked, run: RunFolder) -> None:
    answer = page.post(f"/runs/{run.id}/privacy", SETTING)
    assert answer.status_code == 200


def test_one_at_a_time_in_order(page: Asked, draft: Callable[..., RunFolder]) -> None:
    slow, second, third = draft("slow.csv"), draft(), draft()
    for run in (slow, second, third):
        start(page, run)
    page.until(slow, "running")
    assert second.job().state == third.job().state == "queued"
    assert "1 run is before it" in page.get(f"/runs/{third.id}/progress").text
    page.post(f"/runs/{slow.id}/stop")
    page.until(third, "done")
    assert slow.job().state == "stopped"
    assert (second.job().ended or 0) <= (third.job().started or 0)


def test_steps_are_shown_while_it_runs(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft("slow.csv")
    start(page, run)
    page.until(run, "running")
    deadline = time.monotonic() + 20
    while run.progress() != ["read", "fit"]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    html = page.get(f"/runs/{run.id}/progress").text
    assert '<li class="past">Reading the table' in html
    assert '<li class="here">Looking for people who are alike' in html
    assert 'http-equiv="refresh"' in html
    for step in ("columns", "context", "privacy", "report"):  # nothing to change any more
        assert page.get(f"/runs/{run.id}/{step}").url.path.endswith("/progress")


def test_a_second_tab_starts_nothing_twice(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft("slow.csv")
    start(page, run)
    page.until(run, "running")
    before = run.job()
    start(page, run)
    assert run.job() == before


def test_a_run_under_way_is_not_deleted(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft("slow.csv")
    start(page, run)
    page.until(run, "running")
    assert page.post(f"/runs/{run.id}/delete").status_code == 409
    assert run.path.exists()
    page.post(f"/runs/{run.id}/stop")
    page.until(run, "stopped")
    page.post(f"/runs/{run.id}/delete")
    assert not run.path.exists()


def test_a_stopped_run_can_be_tried_again(page: Asked, draft: Callable[..., RunFolder]) -> None:
    first, run = draft("slow.csv"), draft()
    start(page, first)
    page.until(first, "running")
    start(page, run)
    page.post(f"/runs/{run.id}/stop")  # while it waits
    assert run.job().state == "stopped"
    assert "Nothing was kept" in page.get(f"/runs/{run.id}/progress").text
    page.post(f"/runs/{first.id}/stop")
    page.until(first, "stopped")
    start(page, run)
    page.until(run, "done")


def test_what_the_program_says_is_shown(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft("unusable.csv")
    start(page, run)
    page.until(run, "failed")
    html = page.get(f"/runs/{run.id}").text
    assert "column &#39;age&#39; is a &lt;b&gt;fault&lt;/b&gt;" in html
    assert f'href="/runs/{run.id}/columns"' in html
    assert page.get(f"/runs/{run.id}/columns").status_code == 200  # choices can be changed


def test_a_killed_command_is_said(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft("killed.csv")
    start(page, run)
    page.until(run, "failed")
    assert run.job().message == "signal 9"


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_worker_is_an_interruption(page: Asked, draft: Callable[..., RunFolder]) -> None:
    """The command goes on to its end, and holds the queue until then."""
    run = draft("slow.csv")
    run.save(Job("queued", (("run", str(run.path / "slow.csv"), "-o", str(run.result)),), queued=1))
    root = str(page.folder.root)
    command = [sys.executable, "-m", "sosie.cli.app.worker", root, sys.executable, str(FAKE)]
    worker = subprocess.Popen(command, start_new_session=True)
    while not queue_is_claimed(page.folder.root):  # before the page starts a worker of its own
        time.sleep(0.01)
    page.until(run, "running")
    while run.progress() != ["read", "fit"]:
        time.sleep(0.05)
    worker.kill()
    worker.wait()
    assert run.job().state == "running"  # its command still works
    assert queue_is_claimed(page.folder.root)
    os.killpg(worker.pid, signal.SIGKILL)
    page.until(run, "interrupted")
    assert "from outside" in page.get(f"/runs/{run.id}/progress").text


def test_a_run_whose_worker_ended_before_it_said_so(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft()
    run.save(Job("running", started=1.0))
    assert run.job().state == "interrupted"
    run.result.mkdir()
    (run.result / "report.html").write_text("whole")
    assert run.job().state == "done"


def test_the_queue_is_taken_up_when_the_page_comes_back(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft()
    start(page, run)
    page.until(run, "done")
    run.save(replace(run.job(), state="queued"))
    page.until(run, "done")


def test_a_claim_is_of_one_process(tmp_path: Path) -> None:
    folder = Folder.of(tmp_path)
    with claimed(folder.root) as mine:
        assert mine is not None
        with claimed(folder.root) as another:
            assert another is None
        assert queue_is_claimed(folder.root)
    assert not queue_is_claimed(folder.root)


def test_again_takes_the_choices_over(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft()
    (run.path / "data").mkdir()
    sent = run.path / "data" / "people.csv"
    sent.write_text("age\n41\n")
    told = run.read("settings.json") or {}
    run.write("settings.json", told | {"data": str(sent), "k": 7})
    start(page, run)
    page.until(run, "done")
    answer = page.post(f"/runs/{run.id}/again")
    new = page.folder.runs()[0] if page.folder.runs()[0] != run else page.folder.runs()[1]
    assert answer.url.path == f"/runs/{new.id}/columns"
    page.post(f"/runs/{run.id}/delete")
    told = new.read("settings.json") or {}
    assert Path(told["data"]).read_text() == "age\n41\n"  # each run owns its file
    assert told["k"] == 10


def test_closing_stops_what_is_under_way_when_asked(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft("slow.csv")
    start(page, run)
    page.until(run, "running")
    assert "Also stop the run" in page.get("/close").text
    page.post("/close", {"stop": "yes"})
    page.until(run, "stopped")


def test_two_gigabytes_by_their_path_are_not_copied_or_read_here(
    page: Asked, tmp_path: Path
) -> None:
    """They are read by a process of their own, and that is what a lack of memory ends."""
    page.looks.files.program = (sys.executable, "-c", "import time; time.sleep(60)")
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(2_000_000_000)  # takes no room on the disk
    answer = page.post("/path", {"path": str(path)})
    assert answer.status_code == 200
    assert "large.csv" in answer.text
    (run,) = page.folder.runs()
    kept = sum(one.stat().st_size for one in run.path.rglob("*") if one.is_file())
    assert kept < 10_000
    (process,) = page.looks.files.processes.values()
    process.kill()
    process.wait()
    answer = page.get(f"/runs/{run.id}/columns")
    assert answer.status_code == 422
    assert "for want of memory" in answer.text
    assert path.stat().st_size == 2_000_000_000


def test_what_looks_at_a_file_ends_with_the_page(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    page.looks.costs.program = (sys.executable, "-c", "import time; time.sleep(60)")
    page.get(f"/runs/{draft().id}/privacy")
    (process,) = page.looks.costs.processes.values()
    assert process.poll() is None
    page.looks.forget()
    assert process.poll() is not None


def test_a_run_that_begins_ends_what_was_tried_for_it(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    page.looks.costs.program = (sys.executable, "-c", "import time; time.sleep(60)")
    run = draft()
    page.get(f"/runs/{run.id}/privacy")
    start(page, run)
    assert page.looks.costs.processes == {}
    page.until(run, "done")


def test_a_reload_at_any_moment_shows_where_it_stands(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft("slow.csv")
    steps = ("columns", "context", "privacy")
    for step in steps:
        first, second = (page.get(f"/runs/{run.id}/{step}") for _ in range(2))
        assert first.status_code == second.status_code == 200
    start(page, run)
    page.until(run, "running")
    for _ in range(2):  # a tab of before shows the run, and its form starts nothing
        assert page.get(f"/runs/{run.id}/privacy").url.path.endswith("/progress")
        start(page, run)
    assert len(page.folder.runs()) == 1
    page.post(f"/runs/{run.id}/stop")
    page.until(run, "stopped")
    for step in steps:
        assert page.get(f"/runs/{run.id}/{step}").status_code == 200


def test_a_disk_that_fills_up_while_it_runs_is_said(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft("full.csv")
    start(page, run)
    page.until(run, "failed")
    assert "the disk is full" in page.get(f"/runs/{run.id}/progress").text
    assert not run.result.exists()
    assert page.get(f"/runs/{run.id}/columns").status_code == 200  # nothing was lost
