"""Every address of the page: what it shows, what it takes."""

from __future__ import annotations

import errno
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from sosie.cli.app import settings as chosen
from sosie.cli.app.folder import FILES, Folder, NotFoundError, RunFolder
from sosie.cli.app.guard import REPORT_POLICY, Guard, Keys
from sosie.cli.app.processes import Looks, Queue
from sosie.cli.app.settings import CHOICES, Choice, Settings
from sosie.cli.app.upload import TooLargeError, fields, limit, receive
from sosie.cli.app.views import language, rendered
from sosie.errors import InputError

__all__ = ["application"]

CARDS = 40
"""Columns on a page: a table of thousands stays quick to read and to send."""

PLAN = ("read", "fit", "draw", "audit", "analyses", "attack", "report", "forms")
"""Steps of a run, in order."""

ANALYSING = ("formulaic", "statsmodels")
"""Packages that analyses need."""

STATIC = {"app.css": "text/css", "app.js": "text/javascript", "icon.svg": "image/svg+xml"}


def application(
    folder: Folder,
    keys: Keys,
    queue: Queue,
    looks: Looks,
    *,
    leave: Callable[[], None],
) -> ASGIApp:
    """The page, behind its guard.

    Parameters
    ----------
    folder : all that it writes is in there.
    keys : what opens it.
    queue : of the same folder.
    looks : what looks at files.
    leave : called when it is closed from the browser.
    """
    pages = Pages(folder, queue, looks, leave)
    run = "/runs/{run}"
    routes = [
        Route("/", pages.home),
        Route("/file", pages.take_file, methods=["POST"]),
        Route("/path", pages.take_path, methods=["POST"]),
        Route("/example", pages.take_example, methods=["POST"]),
        Route("/close", pages.close, methods=["GET", "POST"]),
        Route("/static/{name}", static),
        Route(run, pages.whereabouts),
        Route(f"{run}/columns", pages.columns, methods=["GET", "POST"]),
        Route(f"{run}/context", pages.context, methods=["GET", "POST"]),
        Route(f"{run}/privacy", pages.privacy, methods=["GET", "POST"]),
        Route(f"{run}/progress", pages.progress),
        Route(f"{run}/stop", pages.stop, methods=["POST"]),
        Route(f"{run}/report", pages.report),
        Route(f"{run}/files/{{key}}", pages.file),
        Route(f"{run}/again", pages.again, methods=["POST"]),
        Route(f"{run}/delete", pages.delete, methods=["GET", "POST"]),
    ]
    handlers: Mapping[Any, Any] = {
        NotFoundError: missing,
        HTTPException: missing,
        TooLargeError: too_large,
        InputError: refused,
        OSError: unwritable,
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers), keys)


@dataclass(frozen=True)
class Draft:
    """A run whose choices are being made: what was found in its file, and the choices so far."""

    run: RunFolder
    found: Mapping[str, Any]
    settings: Settings


@dataclass
class Pages:
    """The handlers, and what they share."""

    folder: Folder
    queue: Queue
    looks: Looks
    leave: Callable[[], None]

    # ------------------------------------------------------------ the file

    async def home(self, request: Request) -> Response:
        """Choose a file, or a former run."""
        self.queue.attend()
        return self._home(request)

    def _home(self, request: Request, status: int = 200, error: str | None = None) -> Response:
        runs = []
        for run in self.folder.runs():
            told = run.read("settings.json")
            if told is not None:
                runs.append({"id": run.id, "created": run.created, "job": run.job(), **told})
        room = limit(self.folder.root)
        return rendered(
            request, "home.html", status, step="file", runs=runs, limit=room, error=error
        )

    async def take_file(self, request: Request) -> Response:
        """A file that is sent."""
        run = self.folder.create()
        try:
            path = await receive(request, run.path / "data")
            return self._begin(request, run, path)
        except TooLargeError as error:
            shutil.rmtree(run.path, ignore_errors=True)
            return self._home(request, 413, str(error))
        except InputError as error:
            shutil.rmtree(run.path, ignore_errors=True)
            return self._home(request, 422, str(error))
        except BaseException:  # a full disk, or a browser that went away: nothing half sent stays
            shutil.rmtree(run.path, ignore_errors=True)
            raise

    async def take_path(self, request: Request) -> Response:
        """A file that is on this machine already."""
        text = (await fields(request)).get("path", "").strip().strip("\"'")
        path = there(text)
        if path is None:
            return self._home(request, 422, f"{text}: there is no such file")
        return self._begin(request, self.folder.create(), path)

    async def take_example(self, request: Request) -> Response:
        """The bundled cohort."""
        from sosie.data import cohort

        return self._begin(request, self.folder.create(), cohort.path())

    def _begin(self, request: Request, run: RunFolder, path: Path) -> Response:
        Settings(path.name, str(path), language=language(request)).save(run)
        self.looks.files.of(run, str(path))
        return _to(run, "columns")

    # ------------------------------------------------------------ the choices

    async def whereabouts(self, request: Request) -> Response:
        """Where a run stands, from its address alone."""
        run = self._run(request)
        state = run.job().state
        return _to(run, {"draft": "columns", "done": "report"}.get(state, "progress"))

    async def columns(self, request: Request) -> Response:
        """What was read, a card for each column, and what becomes of it."""
        draft = await self._draft(request)
        if isinstance(draft, Response):
            return draft
        run, found, settings = draft.run, draft.found, draft.settings
        cards = ordered(found["columns"])
        pages = max(-(-len(cards) // CARDS), 1)
        number = min(max(_whole(request.query_params.get("page")), 1), pages)
        part = cards[(number - 1) * CARDS : number * CARDS]
        if request.method == "POST":
            filled = await fields(request)
            settings = settings.with_columns(*answers(part, filled))
            if "table" in filled:  # what is asked of the table as a whole stands on its first page
                settings = replace(
                    settings,
                    constraints="constraints" in filled,
                    rows_are_people="rows_are_people" in filled,
                )
            settings.save(run)
            after = _whole(filled.get("to"))
            return _to(run, f"columns?page={after}" if after else "context")
        return rendered(
            request,
            "columns.html",
            **self._about(run, settings),
            step="columns",
            found=found,
            cards=part,
            page=number,
            pages=pages,
            every=CHOICES,
        )

    async def context(self, request: Request) -> Response:
        """Who receives the avatars, and what is stated."""
        draft = await self._draft(request)
        if isinstance(draft, Response):
            return draft
        run, found, settings = draft.run, draft.found, draft.settings
        values, error = flat(settings.context), None
        values["analyses"] = "\n".join(settings.analyses)
        if request.method == "POST":
            values = dict(await fields(request))
            try:
                added = chosen.analysis(values)
                values["analyses"] = "\n".join([*chosen.lines(values, "analyses"), *added])
                stated = chosen.stated(values)
                chosen.checked(run, stated)
                settings = replace(
                    settings, context=stated, analyses=chosen.lines(values, "analyses")
                )
                settings.save(run)
                if "add" not in values:
                    return _to(run, "privacy")
            except InputError as refusal:
                if isinstance(refusal.__cause__, OSError):  # the disk's fault, not the answers'
                    raise
                error = str(refusal)
        return rendered(
            request,
            "context.html",
            422 if error else 200,
            **self._about(run, settings),
            step="context",
            found=found,
            values=values,
            names=[card["name"] for card in found["columns"] if settings.stays(card["name"])],
            can_analyse=all(find_spec(name) is not None for name in ANALYSING),
            error=error,
        )

    async def privacy(self, request: Request) -> Response:
        """How private; from here the run begins."""
        draft = await self._draft(request)
        if isinstance(draft, Response):
            return draft
        run, found, settings = draft.run, draft.found, draft.settings
        most = max((row["k"] for row in found["settings"]), default=2)
        k, method = min(settings.k or found["k"], most), settings.method or found["methods"][0]
        settings = replace(settings, k=k, method=method)
        rows = grouped(found["settings"], found["k"])
        if request.method == "POST":
            filled = await fields(request)
            k, method = _whole(filled.get("k")), filled.get("method", "")
            if 2 <= k <= most and method in found["methods"]:
                settings = replace(
                    settings,
                    k=k,
                    method=method,
                    attack="attack" in filled,
                    language=language(request),
                )
                settings.save(run)
                self.looks.costs.forget(run)
                self.queue.submit(run, self._commands(run, settings))
                return _to(run, "progress")
        return rendered(
            request,
            "privacy.html",
            422 if request.method == "POST" else 200,
            **self._about(run, settings),
            **self._cost(run, settings, rows),
            step="privacy",
            found=found,
            groups=rows,
            most=most,
            error=f"k: 2 … {most}" if request.method == "POST" else None,
        )

    def _cost(
        self, run: RunFolder, settings: Settings, rows: Sequence[Mapping[str, int]]
    ) -> dict[str, Any]:
        """What each k costs, as far as it is known by now; the page asks again for the rest."""
        out = f"cost-{settings.digest()}.json"
        if run.read(out) is None:
            settings.save(run)  # what it is measured with
        first = sorted(rows, key=lambda row: row["k"] != settings.k)  # what is looked at
        ks = ",".join(str(row["k"]) for row in first)
        known = self.looks.costs.of(run, str(run.path), ks, out=out) or {}
        looking = self.looks.costs.is_looking(run, out)
        return {
            "costs": {row["k"]: row for row in known.get("costs", ())},
            "refused": known.get("refused"),
            "looking": looking,
            "refresh": 1 if looking else None,
            "stay": True,
        }

    # ------------------------------------------------------------ the run

    async def progress(self, request: Request) -> Response:
        """How far it is, or how it ended."""
        run = self._run(request)
        self.queue.attend()
        job = run.job()
        if job.state in ("draft", "done"):
            return await self.whereabouts(request)
        settings = Settings.of(run)
        begun = run.progress()
        plan = [step for step in PLAN if settings.attack or step != "attack"]
        plan += [step for step in dict.fromkeys(begun) if step not in plan]
        waiting = [other.id for other, _ in self.folder.queue()]
        return rendered(
            request,
            "progress.html",
            **self._about(run, settings),
            step="report",
            refresh=1 if job.is_active else None,
            plan=plan,
            begun=begun,
            ahead=waiting.index(run.id) if run.id in waiting else 0,
            seconds=int((job.ended or time.time()) - (job.started or time.time())),
        )

    async def stop(self, request: Request) -> Response:
        """Stop a run that waits or works."""
        run = self._run(request)
        if run.job().is_active:
            self.queue.stop(run)
        return _to(run, "progress")

    async def report(self, request: Request) -> Response:
        """The report, and what there is to download."""
        run = self._run(request)
        if run.job().state != "done":
            return await self.whereabouts(request)
        about = run.read("result/run.json") or {}
        return rendered(
            request,
            "report.html",
            **self._about(run, Settings.of(run)),
            step="report",
            downloads=[(key, size) for key in FILES if (size := _size(run, key)) is not None],
            guarantee=about.get("guarantee"),
        )

    async def file(self, request: Request) -> Response:
        """One of the few files of a run that are served."""
        run, key = self._run(request), request.path_params["key"]
        path = run.file(key)
        if key == "report" and "download" not in request.query_params:
            return FileResponse(path, headers={"Content-Security-Policy": REPORT_POLICY})
        stem = Path(Settings.of(run).name).stem
        return FileResponse(path, filename=f"{stem}-{path.name}")

    async def again(self, request: Request) -> Response:
        """A new run with the choices of a former one."""
        run = self._run(request)
        old = Settings.of(run)
        new = self.folder.create()
        if Path(old.data).parent == run.path / "data":  # it was sent: each run owns its file
            (new.path / "data").mkdir(mode=0o700)
            copy = new.path / "data" / Path(old.data).name
            shutil.copyfile(old.data, copy)
            old = replace(old, data=str(copy))
        if (found := run.read("inspection.json")) is not None:
            new.write("inspection.json", found)
        old.save(new)
        return _to(new, "columns")

    async def delete(self, request: Request) -> Response:
        """Ask, then take a run away for good."""
        run = self._run(request)
        active = run.job().is_active
        if request.method == "POST" and not active:
            self.looks.forget(run)
            run.delete()
            return RedirectResponse("/", 303)
        told = run.read("settings.json") or {"name": run.id}
        return rendered(
            request,
            "delete.html",
            409 if request.method == "POST" else 200,
            run=run,
            name=told["name"],
            active=active,
        )

    async def close(self, request: Request) -> Response:
        """Close the page, and with it the runs where that is asked for."""
        active = [run for run in self.folder.runs() if run.job().is_active]
        if request.method == "GET":
            return rendered(request, "close.html", active=len(active), closed=False)
        if "stop" in await fields(request):
            self.queue.stop_all()
        self.leave()
        return rendered(request, "close.html", active=len(active), closed=True)

    # ------------------------------------------------------------ what they share

    def _run(self, request: Request) -> RunFolder:
        return self.folder.find(request.path_params["run"])

    async def _draft(self, request: Request) -> Draft | Response:
        """The run of an address whose choices can still be made; else where it stands, or why."""
        run = self._run(request)
        if settled(run):
            return await self.whereabouts(request)
        settings = Settings.of(run)
        found = self._inspection(request, run, settings)
        if isinstance(found, Response):
            return found
        return Draft(run, found, completed(found, settings))

    def _commands(self, run: RunFolder, settings: Settings) -> list[list[str]]:
        document = all(find_spec(name) is not None for name in ("docx", "matplotlib"))
        return chosen.commands(run, settings, document=document)

    def _about(self, run: RunFolder, settings: Settings) -> dict[str, Any]:
        lines = [chosen.shown(command) for command in self._commands(run, settings)]
        return {"run": run, "settings": settings, "job": run.job(), "lines": lines}

    def _inspection(
        self, request: Request, run: RunFolder, settings: Settings
    ) -> dict[str, Any] | Response:
        """What was found in the file, or the page that says that it is not known yet, or why."""
        found = self.looks.files.of(run, settings.data)
        if found is not None and "error" not in found:
            return found
        return rendered(
            request,
            "reading.html",
            200 if found is None else 422,
            run=run,
            settings=settings,
            step="columns",
            refresh=1 if found is None else None,
            failed=found is not None,
            reason=None if found is None else found["error"],
        )


# ---------------------------------------------------------------- between forms and settings


def there(text: str) -> Path | None:
    """The path that a text gives, where there is something."""
    try:
        path = Path(text).expanduser().absolute()
        return path if text and path.exists() else None
    except (OSError, ValueError, RuntimeError):  # a name that can't be, or nobody's home
        return None


def settled(run: RunFolder) -> bool:
    """Whether choices are made: it waits, works or is done, perhaps by a second tab or a reload."""
    return run.job().state in ("queued", "running", "done")


def ordered(cards: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cards with their place in the file, those that need a look first."""
    placed = [{**card, "place": place} for place, card in enumerate(cards)]
    looks = ("suspect", "notes", "codes", "lost")
    return sorted(placed, key=lambda card: not any(card[look] for look in looks))


def completed(found: Mapping[str, Any], settings: Settings) -> Settings:
    """The settings with what becomes of each column: as chosen, else what is proposed."""
    proposed: dict[str, Choice] = {
        card["name"]: "drop"
        for card in found["columns"]
        if card["suspect"] or card["kind"] == "unreadable" or is_undrawable(card, found)
    }
    names_in = found["names_in"]
    return replace(settings, columns={**proposed, **settings.columns}, names_in=names_in)


def is_undrawable(card: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Whether no level of a column is held by enough people to be drawn."""
    return bool(card["lost"]) and card["lost"] == found["rows"] - card["missing"]


def answers(
    cards: Sequence[Mapping[str, Any]], filled: Mapping[str, str]
) -> tuple[dict[str, Choice], dict[str, str], dict[str, int]]:
    """Choices, formats and lengths of a form's cards; what is no choice is left as it was."""
    taken: dict[str, Choice] = {}
    formats: dict[str, str] = {}
    lengths: dict[str, int] = {}
    for card in cards:
        answer = filled.get(f"c{card['place']}")
        for choice in CHOICES:
            if choice == answer:
                taken[card["name"]] = choice
        formats[card["name"]] = filled.get(f"f{card['place']}", "").strip()
        if length := _whole(filled.get(f"n{card['place']}")):
            lengths[card["name"]] = length
    return taken, formats, lengths


def flat(context: Mapping[str, Any]) -> dict[str, str]:
    """The fields of a form, of a context.

    >>> flat({"releases": 2, "holders": {"file": "all"}})
    {'releases': '2', 'holders.file': 'all'}
    """
    told: dict[str, str] = {}
    for key, value in context.items():
        if isinstance(value, Mapping):
            told |= {f"{key}.{name}": f"{entry}" for name, entry in value.items()}
        else:
            told[key] = "\n".join(value) if isinstance(value, list | tuple) else f"{value}"
    return told


def grouped(settings: Sequence[Mapping[str, int]], default: int) -> list[dict[str, int]]:
    """Values of k that share their groups.

    Each has the first and the last of them, the people in the smallest group, and the one that is
    tried: the default, where it is among them, else the first.
    """
    rows: list[dict[str, int]] = []
    for row in settings:
        k = row["k"]
        if rows and rows[-1]["smallest"] == row["smallest"]:
            rows[-1]["last"] = k
            rows[-1]["k"] = k if k == default else rows[-1]["k"]
        else:
            rows.append({"first": k, "last": k, "smallest": row["smallest"], "k": k})
    return rows


def _whole(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 9 else 0


def _size(run: RunFolder, key: str) -> int | None:
    try:
        return run.file(key).stat().st_size
    except (NotFoundError, OSError):
        return None


def _to(run: RunFolder, step: str) -> Response:
    return RedirectResponse(f"/runs/{run.id}/{step}", 303)


# ---------------------------------------------------------------- files of the page, and refusals


async def static(request: Request) -> Response:
    """A style or a script of the page."""
    name = request.path_params["name"]
    if name not in STATIC:
        raise NotFoundError(name)
    content = (files("sosie.cli.app") / "static" / name).read_bytes()
    return Response(content, media_type=STATIC[name])


async def missing(request: Request, error: Exception) -> Response:
    """There is nothing at this address."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    return rendered(request, "error.html", status, key="missing", reason=None)


async def too_large(request: Request, error: Exception) -> Response:
    """More was sent than there is room for."""
    return rendered(request, "error.html", 413, key="refused", reason=str(error))


async def refused(request: Request, error: Exception) -> Response:
    """What was asked can't be done."""
    if isinstance(error.__cause__, OSError):
        return await unwritable(request, error.__cause__)
    return rendered(request, "error.html", 422, key="refused", reason=str(error))


async def unwritable(request: Request, error: Exception) -> Response:
    """The disk is full, or refuses."""
    full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    key, status = ("full", 507) if full else ("disk", 500)
    reason = error.strerror if isinstance(error, OSError) else None
    return rendered(request, "error.html", status, key=key, reason=reason)
