"""Each request that must be refused."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

from sosie.cli.app.folder import FILES, Folder, NotFoundError, RunFolder
from sosie.cli.app.server import sockets
from sosie.errors import InputError

if TYPE_CHECKING:
    from conftest import Asked


def stranger(page: Asked) -> TestClient:
    """A browser that never had the address."""
    return TestClient(page.client.app, base_url=str(page.client.base_url))


@pytest.mark.parametrize("path", ["/", "/static/app.css", "/runs/x/files/avatars", "/nowhere"])
def test_nothing_without_the_cookie(page: Asked, path: str) -> None:
    assert stranger(page).get(path).status_code == 403


def test_a_wrong_token_opens_nothing(page: Asked) -> None:
    browser = stranger(page)
    answer = browser.get("/?token=wrong")
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    assert browser.get("/?token=").status_code == 403
    assert browser.get("/?token=é").status_code == 403


def test_a_wrong_cookie_opens_nothing(page: Asked) -> None:
    for value in (page.keys.token, "", "x"):
        headers = {"cookie": f"{page.keys.cookie}={value}"}
        assert stranger(page).get("/", headers=headers).status_code == 403


def test_the_cookie_is_strict(page: Asked) -> None:
    answer = stranger(page).get(f"/?token={page.keys.token}")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert page.keys.session.lower() in cookie
    assert page.keys.token.lower() not in cookie


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8321",
        "127.0.0.1",
        "127.0.0.1:80",
        "localhost:8321",
        "",
        "[::1]",
    ],
)
def test_another_host_is_refused(page: Asked, host: str) -> None:
    """A name that an attacker points at this machine (DNS rebinding)."""
    assert page.get("/", headers={"host": host}).status_code == 400
    assert page.get(f"/?token={page.keys.token}", headers={"host": host}).status_code == 400


def test_both_loopback_addresses_are_served(page: Asked) -> None:
    assert page.get("/", headers={"host": "127.0.0.1:8321"}).status_code == 200
    cookie = {"host": "[::1]:8321", "cookie": f"{page.keys.cookie}={page.keys.session}"}
    assert stranger(page).get("/", headers=cookie).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:80", "https://127.0.0.1:8321", None]
)
def test_posts_of_others_are_refused(page: Asked, origin: str | None) -> None:
    if origin is None:
        del page.client.headers["origin"]
    else:
        page.client.headers["origin"] = origin
    assert page.post("/example").status_code == 403
    assert page.post("/close").status_code == 403
    assert page.folder.runs() == []
    assert page.left == 0


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_requests_from_other_pages_are_refused(page: Asked, site: str) -> None:
    """Another port of this machine is the same site, and not the same origin."""
    assert page.get("/", headers={"sec-fetch-site": site}).status_code == 403


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_other_methods_are_refused(page: Asked, method: str) -> None:
    assert page.client.request(method, "/").status_code == 405


def test_what_changes_something_is_posted(page: Asked, draft: Callable[..., RunFolder]) -> None:
    run = draft()
    for path in ("/file", "/path", "/example", f"/runs/{run.id}/stop", f"/runs/{run.id}/again"):
        assert page.get(path).status_code == 405
    assert page.get(f"/runs/{run.id}/delete").status_code == 200
    assert page.get("/close").status_code == 200
    assert run.path.exists()
    assert page.left == 0


def test_every_answer_has_a_strict_policy(page: Asked) -> None:
    for path in ("/", "/static/app.js", "/nowhere"):
        headers = page.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self';")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


def test_pages_load_nothing_from_elsewhere(page: Asked) -> None:
    html = page.get("/").text
    assert "://" not in html.replace("http://www.w3.org", "")
    assert "<style" not in html
    assert " style=" not in html
    assert "onclick" not in html


OUTSIDE = [
    "../../../secret.txt",
    "..%2f..%2f..%2fsecret.txt",
    "%2e%2e/%2e%2e/secret.txt",
    "..%5c..%5csecret.txt",
    "..%252f..%252fsecret.txt",
    "private",
    "private/aligned.parquet",
    "private%2faligned.parquet",
    "aligned.parquet",
    "result/private/aligned.parquet",
    "job.json",
    "settings.json",
    "avatars/../../settings.json",
    "%00",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_no_path_leads_out_or_to_what_is_private(
    page: Asked, draft: Callable[..., RunFolder], path: str
) -> None:
    run = draft()
    (run.result / "private").mkdir(parents=True)
    (run.result / "private" / "aligned.parquet").write_text("secret")
    (page.folder.root / "secret.txt").write_text("secret")
    for address in (f"/runs/{run.id}/files/{path}", f"/runs/{path}", f"/static/{path}", f"/{path}"):
        answer = page.get(address)
        assert answer.status_code in (404, 405), address
        assert "secret" not in answer.text.replace("secret.txt", "")


def test_links_are_not_followed(
    page: Asked, draft: Callable[..., RunFolder], tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    run = draft()
    run.result.mkdir()
    (run.result / "avatars.csv").symlink_to(secret)
    assert page.get(f"/runs/{run.id}/files/avatars").status_code == 404
    other = draft()
    other.result.symlink_to(tmp_path)
    (tmp_path / "report.html").write_text("secret")
    assert page.get(f"/runs/{other.id}/files/report").status_code == 404
    linked = page.folder.root / "runs" / "20260101-000000-00000000"
    linked.symlink_to(tmp_path)
    assert page.get(f"/runs/{linked.name}/columns").status_code == 404
    with pytest.raises(NotFoundError):
        page.folder.find(linked.name)


def test_private_is_no_file_that_is_served() -> None:
    assert not [name for names in FILES.values() for name in names if "private" in name]


def test_names_are_text(page: Asked, draft: Callable[..., RunFolder]) -> None:
    hostile = "<img src=x onerror=alert(1)>\"'{{ 7777 * 7777 }}"
    run = draft("<b>people.csv")
    found = run.read("inspection.json")
    assert found is not None
    found["columns"][0] |= {"name": hostile, "notes": [hostile], "suspect": "name"}
    found["columns"][1]["levels"] = [[hostile, 50]]
    run.write("inspection.json", found)
    for step in ("columns", "context", "privacy", "delete"):
        html = page.get(f"/runs/{run.id}/{step}").text
        assert "<img" not in html
        assert "<b>people" not in html
        assert "60481729" not in html
    assert "<b>people" not in page.get("/").text


def test_only_loopback_addresses_listen() -> None:
    bound = sockets(0)
    try:
        addresses = [made.getsockname() for made in bound]
        assert {address[0] for address in addresses} <= {"127.0.0.1", "::1"}
        assert addresses[0][0] == "127.0.0.1"
        assert len({address[1] for address in addresses}) == 1
        with pytest.raises(InputError, match=str(addresses[0][1])):
            sockets(addresses[0][1])
    finally:
        for made in bound:
            made.close()


def test_ports_are_random() -> None:
    bound = [sockets(0) for _ in range(3)]
    ports = {made[0].getsockname()[1] for made in bound}
    for made in bound:
        for each in made:
            each.close()
    assert len(ports) == 3
    assert all(isinstance(made[0], socket.socket) for made in bound)


def test_the_folder_is_its_owners(tmp_path: Path) -> None:
    folder = Folder.of(tmp_path / "app")
    run = folder.create()
    run.write("settings.json", {})
    for path in (folder.root, folder.root / "runs", run.path):
        assert path.stat().st_mode & 0o077 == 0
    assert (run.path / "settings.json").stat().st_mode & 0o077 == 0
