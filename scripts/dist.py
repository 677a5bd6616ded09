"""Install the built wheel in a clean environment of each supported Python, and run it there.

``python scripts/dist.py`` after ``python -m build``; `make dist` does both. In a temporary folder
outside the checkout: ``sosie --version`` and ``sosie demo``, from the wheel alone. A Python that is
not on this machine is said to be left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PYTHONS = ("3.11", "3.12", "3.13")
REPORT = ("avatars.csv", "report.html", "audit.json", "run.json", "private/aligned.parquet")

IN_SDIST = (
    ".ci/run",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "docs/index.md",
    "examples/other_generators.py",
    "mkdocs.yml",
    "notebooks/first_avatars.ipynb",
    "scripts/make_cohort.py",
    "src/sosie/data/cohort.csv",
    "tests/conftest.py",
)
IN_WHEEL = (
    "sosie/data/cohort.csv",
    "sosie/py.typed",
    "sosie/report/templates/page.html",
    "sosie/words/fr.toml",
)


def interpreter(version: str) -> str | None:
    """A Python of this version that really runs: on the path, or among those of pyenv."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [shutil.which(name), *sorted(map(str, pyenv.glob(f"{version}.*/bin/{name}")))]
    for path in filter(None, found):
        says = "import sys; print('{}.{}'.format(*sys.version_info))"
        told = subprocess.run([path, "-c", says], capture_output=True, text=True, check=False)  # noqa: S603
        if told.returncode == 0 and told.stdout.strip() == version:
            return path
    return None


def try_wheel(python: str, wheel: Path, version: str) -> None:
    """Install the wheel in an environment of its own; run the command outside the checkout."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _run(python, "-m", "venv", "env", folder=folder)
        bin_ = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
        quiet = ("--quiet", "--disable-pip-version-check")
        _run(str(bin_ / "python"), "-m", "pip", "install", *quiet, str(wheel), folder=folder)
        told = _run(str(bin_ / "sosie"), "--version", folder=folder)
        if told.split()[-1] != version:
            raise SystemExit(f"the wheel says {told.strip()!r}, not version {version}")
        _run(str(bin_ / "sosie"), "demo", folder=folder)
        missing = [name for name in REPORT if not (folder / "sosie-demo" / name).exists()]
        if missing:
            raise SystemExit(f"sosie demo made no {', '.join(missing)}")


def lacking(names: Iterator[str], wanted: tuple[str, ...]) -> list[str]:
    """What an archive should hold and does not.

    >>> lacking(iter(["a/b"]), ("a/b", "c"))
    ['c']
    """
    held = set(names)
    return [name for name in wanted if name not in held]


def check_archives(sdist: Path, wheel: Path) -> None:
    """The source holds what its tests need; the wheel holds what the package reads, and no more."""
    with tarfile.open(sdist) as archive:
        missing = lacking((name.partition("/")[2] for name in archive.getnames()), IN_SDIST)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    missing += lacking(iter(names), IN_WHEEL)
    if missing:
        raise SystemExit(f"not in the archives: {', '.join(missing)}")
    if strangers := [name for name in names if not name.startswith(("sosie/", "sosie-"))]:
        raise SystemExit(f"in the wheel, and should not be: {', '.join(strangers)}")


def _run(*command: str, folder: Path) -> str:
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(  # noqa: S603
        command, cwd=folder, env=clean, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr}")
    return done.stdout


def main() -> None:
    (sdist,), (wheel,) = (sorted((ROOT / "dist").glob(p)) for p in ("*.tar.gz", "*.whl"))
    version = wheel.name.split("-")[1]
    check_archives(sdist, wheel)
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tried = 0
    for python in PYTHONS:
        started = time.monotonic()
        path = interpreter(python)
        if path is None:
            print(f"Python {python}: NOT TRIED, it is not on this machine")
            continue
        try_wheel(path, wheel, version)
        tried += 1
        print(
            f"Python {python}: {declared['name']} {version} installed from the wheel,"
            f" demo made ({time.monotonic() - started:.0f} s)",
            flush=True,
        )
    if not tried:
        sys.exit("no supported Python was found")


if __name__ == "__main__":
    main()
