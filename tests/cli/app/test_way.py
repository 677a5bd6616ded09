"""The whole way, from a file to its report and to nothing left of it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sosie.cli.app import upload
from sosie.cli.app.folder import RunFolder
from sosie.cli.app.settings import Settings, commands
from sosie.cli.options import cells
from sosie.data import cohort

if TYPE_CHECKING:
    from conftest import Asked

LANGUAGES = ("en", "fr")


def run_of(page: Asked, address: str) -> RunFolder:
    found = re.search(r"/runs/([^/]+)/", address)
    assert found is not None
    return page.folder.find(found[1])


def place(html: str, column: str) -> str:
    found = re.search(rf'<h2 id="n(\d+)">{re.escape(column)}</h2>', html)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_from_a_file_to_nothing(page: Asked, lang: str) -> None:
    page.client.headers["accept-language"] = f"{lang};q=0.9, de"
    with cohort.path().open("rb") as file:
        answer = page.client.post("/file", files={"file": ("../../mes patients.csv", file)})
    run = run_of(page, str(answer.url))
    sent = run.path / "data" / "mes patients.csv"
    assert sent.read_bytes() == cohort.path().read_bytes()
    while 'class="cards"' not in answer.text:
        assert answer.status_code == 200
        assert 'http-equiv="refresh"' in answer.text  # without a script, too
        answer = page.get(f"/runs/{run.id}/columns")
    assert f'<html lang="{lang}">' in answer.text
    age, born = place(answer.text, "age"), place(answer.text, "birth_date")
    choices = {f"c{age}": "category", f"c{born}": "drop"}
    answer = page.post(f"/runs/{run.id}/columns", choices)
    assert answer.url.path == f"/runs/{run.id}/context"
    stated = {"recipient": "contract", "releases": "2", "purpose": "To teach", "measures": "a\nb"}
    answer = page.post(f"/runs/{run.id}/context", stated)
    assert answer.url.path == f"/runs/{run.id}/privacy"
    answer = page.post(f"/runs/{run.id}/privacy", {"k": "12", "method": "smoothed"})
    assert answer.url.path == f"/runs/{run.id}/progress"
    page.until(run, "done")
    answer = page.get(f"/runs/{run.id}")
    assert answer.url.path == f"/runs/{run.id}/report"
    assert "16" in answer.text  # the bound of run.json
    (first, second) = run.job().commands
    assert first == (
        *("run", str(sent), "-o", str(run.result), "--k", "12", "--method", "smoothed"),
        *("--categorical", "age", "--drop", "patient_id,birth_date"),
        *("--releases", "0", "--context", str(run.path / "context.toml"), "--lang", lang),
    )
    assert shlex.join(["sosie", *first]) in answer.text.replace("&#39;", "'")
    assert second[:2] == ("report", str(run.result))
    report = page.get(f"/runs/{run.id}/files/report")
    assert "the report" in report.text
    assert report.headers["content-security-policy"].startswith("sandbox allow-scripts")
    avatars = page.get(f"/runs/{run.id}/files/avatars?download=1")
    assert avatars.text == "age\n41\n"
    assert "attachment" in avatars.headers["content-disposition"]
    assert page.get(f"/runs/{run.id}/files/assessment").text == "{}"
    assert page.get(f"/runs/{run.id}/files/document").status_code == 404  # the stand-in wrote none
    assert "mes patients.csv" in page.get("/").text
    assert page.post(f"/runs/{run.id}/delete").url.path == "/"
    assert not run.path.exists()
    assert list((page.folder.root / "runs").iterdir()) == []
    assert page.get(f"/runs/{run.id}/report").status_code == 404


def test_the_context_file_holds_what_was_stated(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    import tomllib

    run = draft()
    stated = {
        "recipient": "inside",
        "sensitivity": "high",
        "releases": "3",
        "purpose": 'Teach "survival" \\ é 🙂 \x7f',
        "recipients": "Students\n\n  Their teachers ",
        "holders.file": "Anyone",
        "likelihood.negligible": "5",
        "likelihood.limited": "9,5",
        "likelihood.important": "33",
        "severity.level": "limited",
        "severity.why": "Old data",
    }
    assert page.post(f"/runs/{run.id}/context", stated).url.path.endswith("/privacy")
    found = tomllib.loads((run.path / "context.toml").read_text(encoding="utf-8"))
    assert found == {
        "recipient": "inside",
        "sensitivity": "high",
        "releases": 3,
        "purpose": 'Teach "survival" \\ é 🙂 \x7f',
        "recipients": ["Students", "Their teachers"],
        "holders": {"file": "Anyone"},
        "likelihood": {"negligible": 5.0, "limited": 9.5, "important": 33.0},
        "severity": {"level": "limited", "why": "Old data"},
    }
    html = page.get(f"/runs/{run.id}/context").text
    assert "Their teachers" in html
    assert 'value="9.5"' in html


@pytest.mark.parametrize(
    "fields",
    [
        {"releases": "many"},
        {"releases": "0"},
        {"recipient": "everyone"},
        {"likelihood.negligible": "5"},
        {"severity.level": "none at all"},
    ],
)
def test_a_context_that_is_none_is_said_and_kept(
    page: Asked, draft: Callable[..., RunFolder], fields: dict[str, str]
) -> None:
    run = draft()
    answer = page.post(f"/runs/{run.id}/context", fields | {"purpose": "what I wrote"})
    assert answer.status_code == 422
    assert 'role="alert"' in answer.text
    assert "what I wrote" in answer.text
    assert str(run.path) not in answer.text.partition('class="command"')[0]
    assert Settings.of(run).context == {}


@pytest.mark.parametrize("k", ["1", "101", "ten", "-3", "", "9" * 40])
def test_a_k_out_of_range_starts_nothing(
    page: Asked, draft: Callable[..., RunFolder], k: str
) -> None:
    run = draft()
    answer = page.post(f"/runs/{run.id}/privacy", {"k": k, "method": "smoothed"})
    assert answer.status_code == 422
    assert run.job().state == "draft"


def test_an_unknown_choice_changes_nothing(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft()
    number = place(page.get(f"/runs/{run.id}/columns").text, "age")
    page.post(f"/runs/{run.id}/columns", {f"c{number}": "--out=/etc"})
    assert Settings.of(run).columns == {"patient_id": "drop"}


def test_a_suspected_identifier_is_left_out_unless_said_otherwise(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft()
    page.post(f"/runs/{run.id}/privacy", {"k": "10", "method": "smoothed"})
    assert "--drop" in run.job().commands[0]
    page.until(run, "done")
    other = draft()
    number = place(page.get(f"/runs/{other.id}/columns").text, "patient_id")
    page.post(f"/runs/{other.id}/columns", {f"c{number}": "surrogate"})
    page.post(f"/runs/{other.id}/privacy", {"k": "10", "method": "smoothed"})
    command = other.job().commands[0]
    assert "--drop" not in command
    assert command[command.index("--id") + 1] == "patient_id"


def test_a_date_has_its_format(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft()
    number = place(page.get(f"/runs/{run.id}/columns").text, "centre")
    page.post(f"/runs/{run.id}/columns", {f"c{number}": "date", f"f{number}": "%d/%m/%Y"})
    html = page.get(f"/runs/{run.id}/context").text
    assert "--date &#39;centre=%d/%m/%Y&#39;" in html or "--date centre=%d/%m/%Y" in html


def test_a_column_is_coarsened_to_its_first_characters(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft()
    number = place(page.get(f"/runs/{run.id}/columns").text, "postcode")
    page.post(f"/runs/{run.id}/columns", {f"c{number}": "coarsen", f"n{number}": "3"})
    assert "--coarsen postcode=3" in page.get(f"/runs/{run.id}/context").text
    assert Settings.of(run).roles().coarsen == {"postcode": 3}


def test_names_with_commas_are_one_name() -> None:
    settings = Settings("x", "x.csv", columns={"a, b": "drop", 'c"d': "drop", "e": "keep"})
    command, _ = commands(RunFolder(Path("run")), settings, document=False)
    given = command[command.index("--drop") + 1]
    assert cells(given, "--drop") == ["a, b", 'c"d']


def test_what_holds_between_columns_can_be_switched_off(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft()
    assert "age = years(birth_date, inclusion_date)" in page.get(f"/runs/{run.id}/columns").text
    page.post(f"/runs/{run.id}/columns", {"table": "yes", "constraints": "yes"})
    assert "--no-constraints" not in page.get(f"/runs/{run.id}/context").text
    page.post(f"/runs/{run.id}/columns", {"table": "yes"})
    assert "--no-constraints" in page.get(f"/runs/{run.id}/context").text


def test_rows_that_are_not_people_are_a_choice(
    page: Asked, draft: Callable[..., RunFolder]
) -> None:
    run = draft()
    found = run.read("inspection.json") or {}
    people = {"column": "patient", "people": 500, "rows": 2_000}
    run.write("inspection.json", found | {"people": people, "names_in": [4, 5]})
    html = page.get(f"/runs/{run.id}/columns").text
    assert "patient tells 500 people on 2,000 rows" in html
    assert "named in rows 4 and 5" in html
    page.post(f"/runs/{run.id}/columns", {"table": "yes", "rows_are_people": "yes"})
    html = page.get(f"/runs/{run.id}/context").text
    assert "--names-in 4-5" in html
    assert "--rows-are-people" in html


def test_analyses_are_put_together(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft()
    address = f"/runs/{run.id}/context"
    survival = {"kind": "survival", "outcome": "followup_days", "event": "death", "by1": "arm"}
    html = page.post(address, {"add": "yes", "releases": "2", **survival}).text
    assert "survival followup_days, death ~ arm</textarea>" in html
    mean = {"kind": "mean", "outcome": "age", "by1": "sex", "by2": "arm"}
    before = "survival followup_days, death ~ arm"
    page.post(address, {"add": "yes", "analyses": before, **mean})
    assert Settings.of(run).analyses == [before, "mean age by sex"]
    assert page.post(address, {"add": "yes", "kind": "mean", "by1": "sex"}).status_code == 422
    answer = page.post(address, {"analyses": f"{before}\n\nmean age by sex "})
    assert answer.url.path.endswith("/privacy")
    line = (
        "--analysis &#39;survival followup_days, death ~ arm&#39; --analysis &#39;mean age by sex"
    )
    assert line in answer.text


def test_what_each_k_costs_comes_in(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft()
    html = page.get(f"/runs/{run.id}/privacy").text
    while "data-refresh" in html:
        assert "http-equiv" not in html  # the form is not taken away while it is filled
        html = page.get(f"/runs/{run.id}/privacy").text
    assert "0.048" in html
    page.post(f"/runs/{run.id}/context", {"analyses": "mean nowhere by sex"})
    html = page.get(f"/runs/{run.id}/privacy").text
    while "data-refresh" in html:
        html = page.get(f"/runs/{run.id}/privacy").text
    assert "analysis &#39;mean nowhere by sex&#39;" in html


def test_a_thousand_columns_come_in_pages(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft()
    found = run.read("inspection.json")
    assert found is not None
    card = found["columns"][7]
    found["columns"] = [card | {"name": f"c,{i}"} for i in range(1_000)]
    run.write("inspection.json", found)
    html = page.get(f"/runs/{run.id}/columns?page=25").text
    assert html.count("<select") == 40
    assert "c,999" in html
    answer = page.post(f"/runs/{run.id}/columns?page=25", {"c999": "drop", "to": "3"})
    assert str(answer.url).endswith("/columns?page=3")
    answer = page.post(f"/runs/{run.id}/columns?page=3", {"c80": "drop"})
    assert Settings.of(run).columns["c,999"] == Settings.of(run).columns["c,80"] == "drop"
    for odd in ("0", "26", "x", "-1", "9" * 30):
        assert page.get(f"/runs/{run.id}/columns?page={odd}").status_code == 200


def test_languages_follow_the_browser_and_a_link(page: Asked) -> None:
    assert '<html lang="en">' in page.get("/").text
    french = page.get("/", headers={"accept-language": "de-DE, fr-CH;q=0.8, en;q=0.7"}).text
    assert '<html lang="fr">' in french
    assert '<html lang="fr">' in page.get("/?lang=fr").text
    assert '<html lang="fr">' in page.get("/").text  # remembered
    assert '<html lang="en">' in page.get("/?lang=en").text
    assert '<html lang="en">' in page.get("/?lang=de").text
    assert "httponly" in page.get("/?lang=fr").headers["set-cookie"].lower()


def test_a_file_that_is_none_is_said(page: Asked, tmp_path: Path) -> None:
    answer = page.post("/path", {"path": str(tmp_path / "absent.csv")})
    assert answer.status_code == 422
    assert "absent.csv" in answer.text
    for odd in ("", "\0", "x" * 5_000, "~nobody-here/x"):
        assert page.post("/path", {"path": odd}).status_code == 422
    assert page.client.post("/file", files={"file": ("", b"")}).status_code == 422
    assert page.post("/file", {"file": "no file"}).status_code == 422
    broken = page.client.post(
        "/file", content=b"nonsense", headers={"content-type": "multipart/form-data; boundary=x"}
    )
    assert broken.status_code == 422
    assert page.folder.runs() == []


def test_a_file_that_can_not_be_read_is_said(page: Asked, tmp_path: Path) -> None:
    path = tmp_path / "<i>empty.csv"
    path.write_text("")
    answer = page.post("/path", {"path": str(path)})
    run = run_of(page, str(answer.url))
    while answer.status_code == 200:
        assert 'http-equiv="refresh"' in answer.text
        answer = page.get(f"/runs/{run.id}/columns")
    assert answer.status_code == 422
    assert "&lt;i&gt;empty" in answer.text
    assert page.post(f"/runs/{run.id}/delete").status_code == 200


def test_more_than_there_is_room_for_is_refused(
    page: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sosie.cli.app.upload.limit", lambda _: 10_000)
    answer = page.client.post("/file", files={"file": ("a.csv", b"a,b\n" * 5_000)})
    assert answer.status_code == 413

    def parts() -> Any:
        yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        for _ in range(20):
            yield b"a,b\n" * 500

    kind = {"content-type": "multipart/form-data; boundary=x"}
    answer = page.client.post("/file", content=parts(), headers=kind)  # no length is announced
    assert answer.status_code == 413
    assert page.folder.runs() == []
    assert list((page.folder.root / "runs").iterdir()) == []


def test_room_is_a_quarter_of_what_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 4_500_000_000

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    assert upload.limit(tmp_path) == 1_000_000_000
    Usage.free = 100
    assert upload.limit(tmp_path) == 0


def test_forms_without_end_are_refused(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft()
    assert page.post(f"/runs/{run.id}/context", {"purpose": "x" * 9_000_000}).status_code == 413
    many = {f"f{i}": "" for i in range(6_000)}
    assert page.post(f"/runs/{run.id}/context", many).status_code == 413


def test_a_full_disk_is_said(
    page: Asked, draft: Callable[..., RunFolder], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = draft()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sosie.data.atomic.os.fsync", full)
    answer = page.post(f"/runs/{run.id}/context", {"purpose": "x"})
    assert answer.status_code == 507
    assert "The disk is full" in answer.text
    monkeypatch.undo()
    assert Settings.of(run).context == {}


def test_closing(page: Asked) -> None:
    assert "Close" in page.get("/close").text
    assert page.left == 0
    assert page.post("/close").status_code == 200
    assert page.left == 1
