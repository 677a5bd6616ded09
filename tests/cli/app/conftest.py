"""A page in a folder of its own, asked as its browser asks; runs are made by a stand-in."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sosie.cli.app.folder import Folder, RunFolder
from sosie.cli.app.guard import Keys
from sosie.cli.app.inspection import inspect
from sosie.cli.app.pages import application
from sosie.cli.app.processes import Inspections, Looks, Queue
from sosie.cli.app.settings import Settings
from sosie.data import cohort

FAKE = Path(__file__).with_name("fake_sosie.py")
FAKE_COST = Path(__file__).with_name("fake_cost.py")
PORT = 8321
ORIGIN = f"http://127.0.0.1:{PORT}"


class Asked:
    """The page, as one browser sees it."""

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.keys = Keys.of(PORT)
        self.left = 0
        self.queue = Queue(folder, (sys.executable, str(FAKE)))
        self.looks = Looks(costs=Inspections((sys.executable, str(FAKE_COST))))
        app = application(folder, self.keys, self.queue, self.looks, leave=self.leave)
        self.client = TestClient(app, base_url=ORIGIN)
        self.client.headers["origin"] = ORIGIN
        self.client.headers["accept-language"] = "en"
        assert self.client.get(f"/?token={self.keys.token}").status_code == 200

    def leave(self) -> None:
        self.left += 1

    def get(self, path: str, **options: Any) -> Any:
        return self.client.get(path, **options)

    def post(self, path: str, data: dict[str, Any] | None = None, **options: Any) -> Any:
        return self.client.post(path, data=data or {}, **options)

    def state(self, run: RunFolder) -> str:
        return str(run.job().state)

    def until(self, run: RunFolder, *states: str) -> None:
        deadline = time.monotonic() + 20
        while self.state(run) not in states:
            assert time.monotonic() < deadline, (self.state(run), run.read("job.json"))
            self.get("/")  # the page is what sees to the queue
            time.sleep(0.05)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Asked]:
    asked = Asked(Folder.of(tmp_path / "app"))
    yield asked
    for run in asked.folder.runs():
        if run.job().is_active:
            asked.post(f"/runs/{run.id}/stop")
            asked.until(run, "stopped", "done", "failed")
    asked.queue.wait()
    asked.looks.forget()
    asked.client.close()


@pytest.fixture(scope="session")
def inspection() -> dict[str, Any]:
    told: dict[str, Any] = json.loads(json.dumps(asdict(inspect(cohort.path()))))
    return told


@pytest.fixture
def draft(page: Asked, inspection: dict[str, Any], tmp_path: Path) -> Callable[[str], RunFolder]:
    """Makes a run whose file, of a given name, was looked at."""

    def made(name: str = "people.csv") -> RunFolder:
        run = page.folder.create()
        data = tmp_path / name
        data.write_text("age\n41\n", encoding="utf-8")
        Settings(name, str(data)).save(run)
        run.write("inspection.json", inspection)
        return run

    return made
