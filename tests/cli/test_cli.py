"""The command line: what it teaches, what it refuses, what it leaves behind."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl
import pytest
from rich.console import Console

import sosie.jobs.run
from sosie.cli import cli, status_of, terminal
from sosie.cli.options import cells, dates, weights
from sosie.errors import InputError, Reason

ROWS = 200


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {
            "patient_id": [f"P{i:04d}" for i in range(ROWS)],
            "age": rng.integers(18, 95, ROWS),
            "dose": rng.normal(50, 9, ROWS).round(1),
            "arm": rng.choice(["A", "B"], ROWS),
            "arm_label": [None] * ROWS,
            "born": [f"{d:02d}/{m:02d}/19{y:02d}" for d, m, y in rng.integers(1, 4, (ROWS, 3))],
        }
    ).with_columns(arm_label="label " + pl.col("arm"))
    path = tmp_path_factory.mktemp("people") / "people.csv"
    table.write_csv(path)
    return path


COMMON = ("--drop", "patient_id", "--categorical", "born")


@pytest.fixture(scope="session")
def made(people: Path) -> Path:
    """The folder of a run."""
    out = people.parent / "out"
    assert status_of(["run", str(people), "-o", str(out), *COMMON]) == 0
    return out


Called = Callable[..., tuple[int, str, str]]


@pytest.fixture
def called(capsys: pytest.CaptureFixture[str]) -> Called:
    """Run a command line; its status, standard output and standard error."""

    def call(*arguments: object) -> tuple[int, str, str]:
        capsys.readouterr()
        status = status_of([str(argument) for argument in arguments])
        return status, *capsys.readouterr()

    return call


def sosie_process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "sosie", *arguments], check=False, capture_output=True, **options
    )


# ---------------------------------------------------------------- what it teaches

GENERATION = (
    *("--k", "--components", "--method", "--decode", "--seed", "--keep", "--drop", "--id"),
    *("--categorical", "--numeric", "--date", "--linked", "--weight", "--min-level-count"),
    *("--augment", "--sep"),
)
CONTRACT = {
    "demo": ["-o"],
    "run": ["-o", *GENERATION, "--holdout", "--lang"],
    "avatarize": ["-o", *GENERATION, "--aligned"],
    "audit": ["--aligned", "--holdout", "--json", "--html", "--lang"],
    "report": ["-o", "--lang"],
}


@pytest.mark.parametrize("command", CONTRACT)
def test_every_option_is_there_and_explained(command: str, called: Called) -> None:
    options = {
        name: option
        for option in cli.commands[command].params
        if isinstance(option, click.Option)
        for name in option.opts
    }
    assert set(CONTRACT[command]) <= set(options)
    assert all(option.help for option in options.values())
    status, out, err = called(command, "-h")
    assert (status, err) == (0, "")
    assert "Example" in out
    assert f"sosie {command} " in out.partition("Example")[2]
    assert called(command, "--help")[1] == out
    assert max(map(len, out.partition("Example")[0].splitlines())) <= 80


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_alone_it_shows_every_command(arguments: tuple[str, ...], called: Called) -> None:
    status, out, err = called(*arguments)
    assert (status, err) == (0, "")
    listed = re.findall(r"^  (\w+) +[A-Z].*[.]$", out.partition("Commands:")[2], re.MULTILINE)
    assert listed == list(cli.commands)
    assert listed[:4] == ["demo", "run", "avatarize", "audit"]
    assert "..." not in out.partition("Commands:")[2]


def test_version(called: Called) -> None:
    assert called("--version")[:2] == (0, f"sosie, version {sosie.__version__}\n")
    done = sosie_process("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, b"sosie,")


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, sosie.cli; sosie.cli.status_of(['--help'])\n"
        "print([m for m in ('numpy', 'polars', 'scipy', 'narwhals', 'rich', 'plotly', 'jinja2')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    assert done.stdout.splitlines()[-1] == b"[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, called: Called) -> None:
    status, out, _ = called("completion", shell)
    assert status == 0
    assert "_SOSIE_COMPLETE" in out


def test_completion_completes() -> None:
    environment = os.environ | {
        "_SOSIE_COMPLETE": "bash_complete",
        "COMP_WORDS": "sosie run --me",
        "COMP_CWORD": "2",
    }
    assert b"--method" in sosie_process(env=environment).stdout


# ---------------------------------------------------------------- what it leaves behind


def test_run(people: Path, tmp_path: Path, called: Called) -> None:
    out = tmp_path / "out"
    status, said, err = called("run", people, "-o", out, *COMMON, "--linked", "arm,arm_label")
    assert status == 0
    assert "Column 'born': 133 people (66.5%)" in err  # text that nobody declared as dates
    assert sorted(path.name for path in out.iterdir()) == [
        "analyses.json",
        "attack.json",
        "audit.json",
        "avatars.csv",
        "private",
        "report.html",
        "run.json",
    ]
    for word in ("Read", "Publish", "Secret", "Hidden Rate", "at least 90%"):
        assert word in said
    assert str(out / "report.html") in said
    avatars = pl.read_csv(out / "avatars.csv")
    assert avatars.columns == ["age", "dose", "arm", "arm_label", "born"]
    assert (avatars["arm_label"] == "label " + avatars["arm"]).all()


def test_options_reach_the_library(people: Path, tmp_path: Path, called: Called) -> None:
    options = (
        "--k 7 --components 3 --method barycentre --decode vote --seed 12 --keep arm"
        " --id patient_id --drop arm_label --date born=%d/%m/%Y --categorical age --weight dose=2"
        " --min-level-count 6 --augment 2 --sep ,"
    )
    assert called("run", people, "-o", tmp_path, *options.split())[0] == 0
    told = json.loads((tmp_path / "run.json").read_text())
    assert told["parameters"] == {
        "k": 7,
        "components": 3,
        "method": "barycentre",
        "decode": "vote",
        "min_level_count": 6,
        "augment": 2,
        "keep": ["arm"],
        "drop": ["arm_label"],
        "id": ["patient_id"],
        "linked": [],
        "weights": {"dose": 2.0},
    }
    kinds = {column["name"]: (column["kind"], column["role"]) for column in told["columns"]}
    assert kinds["born"] == ("date", "avatar")
    assert kinds["age"] == ("category", "avatar")
    assert kinds["arm"][1] == "keep"
    assert kinds["patient_id"][1] == "id"
    assert len(pl.read_csv(tmp_path / "avatars.csv")) == 2 * ROWS


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_avatarize(people: Path, tmp_path: Path, called: Called, suffix: str) -> None:
    out, aligned = tmp_path / f"avatars.{suffix}", tmp_path / f"aligned.{suffix}"
    status, said, err = called("avatarize", people, "-o", out, *COMMON, "--aligned", aligned)
    assert status == 0
    assert err.startswith("note: Column 'born'")
    assert aligned.stat().st_mode & 0o077 == 0 or sys.platform == "win32"
    read = pl.read_csv if suffix == "csv" else pl.read_parquet
    one, other = read(out), read(aligned)
    assert len(one) == len(other) == ROWS
    assert not one.equals(other)
    assert one.sort("dose", "age", "arm", "born").equals(other.sort("dose", "age", "arm", "born"))
    following = re.search(r"Next +sosie (.*)", said)
    assert following is not None
    assert called(*following[1].split(), "--categorical", "born")[0] == 0


def test_audit_as_table_files_and_standard_output(
    people: Path, made: Path, tmp_path: Path, called: Called
) -> None:
    asked = ("audit", people, made / "avatars.csv", *COMMON)
    files = ("--json", tmp_path / "a.json", "--html", tmp_path / "a.html")
    status, said, err = called(*asked, *files)
    assert (status, err) == (0, "")
    assert "Wrote" in said
    assert (tmp_path / "a.html").read_text().lower().startswith("<!doctype html>")
    status, said, err = called(*asked, "--json", "-")
    assert (status, err) == (0, "")
    assert said == (tmp_path / "a.json").read_text()
    told = json.loads(said)
    assert told["schema"] == "sosie/audit/1"
    assert told["privacy"]["hidden_rate"]["value"] is None
    assert told["privacy"]["hidden_rate"]["reason"] == {"key": "not_aligned", "values": {}}
    aligned = ("audit", people, made / "private" / "aligned.parquet", *COMMON, "--aligned")
    told = json.loads(called(*aligned, "--json", "-")[1])
    assert told["privacy"]["hidden_rate"]["value"] is not None


def test_standard_output_is_utf_8_whatever_the_terminal(tmp_path: Path) -> None:
    table = pl.DataFrame({"âge 🩺": np.arange(60) * 1.5, "b": list("xy") * 30})
    table.write_csv(tmp_path / "x.csv")
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    paths = [str(tmp_path / "x.csv")] * 2
    done = sosie_process("audit", *paths, "--aligned", "--json", "-", env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    told = json.loads(done.stdout.decode())
    names = told["privacy"]["column_direct_match_protection"]["columns"]
    assert "âge 🩺" in [column["column"] for column in names]


def test_report(made: Path, tmp_path: Path, called: Called) -> None:
    before = (made / "report.html").read_bytes()
    assert called("report", made, "-o", tmp_path / "r.html", "--lang", "fr")[0] == 0
    assert 'lang="fr"' in (tmp_path / "r.html").read_text()
    assert (made / "report.html").read_bytes() == before
    status, said, _ = called("report", made)
    assert (status, str(made / "report.html") in said) == (0, True)


def test_notes_go_to_standard_error(people: Path, tmp_path: Path, called: Called) -> None:
    status, out, err = called("run", people, "-o", tmp_path, "--drop", "patient_id")
    assert status == 0
    assert err.startswith("note: Column 'born' looks like dates written as text")
    assert "note:" not in out


# ---------------------------------------------------------------- what it refuses

BAD_OPTIONS = {
    "--k 0": "k must be at least 2, got 0",
    "--k -3": "k must be at least 2, got -3",
    "--k 5000": "k is 5000, and in a table of 200 rows the largest k is 200",
    "--k five": "Invalid value for '--k': 'five' is not a valid integer",
    "--components 0": "components must be at least 1, got 0",
    "--method mean": "there is no method 'mean'; there are exchangeable, smoothed, barycentre",
    "--decode most": "'most' is not one of 'draw', 'vote'",
    "--seed -1": "the seed must be at least 0",
    "--seed x": "'x' is not a valid integer",
    "--augment 0": "augment must be at least 1, got 0",
    "--min-level-count 0": "min_level_count must be at least 1, got 0",
    "--keep aeg": "there is no column 'aeg'; did you mean 'age'?",
    "--drop zzz": "there is no column 'zzz'",
    "--keep age --id age": "column 'age' is named more than once in --keep, --drop and --id",
    "--numeric arm": "column 'arm', row 1: ",
    "--numeric dose --categorical dose": "column 'dose' is named more than once",
    "--date born=%Y-%m-%d": "column 'born', row 1: ",
    "--date born=%Q": "column 'born', row 1: ",
    "--date born=DD/MM/YYYY": "column 'born', row 1: ",
    "--date =%Y": "--date takes COLUMN or COLUMN=FORMAT, got '=%Y'",
    "--linked arm": "a group of linked columns needs two or more, got 'arm'",
    "--linked arm,": "there is no column ''",
    "--linked arm,dose": "linked column 'dose' is a number",
    '--linked arm,"x': "--linked takes names separated by commas",
    "--weight age": "--weight takes COLUMN=NUMBER, got 'age'",
    "--weight age=heavy": "--weight takes COLUMN=NUMBER, got 'age=heavy'",
    "--weight =2": "--weight takes COLUMN=NUMBER, got '=2'",
    "--weight age=-1": "the weight of column 'age' must be a number",
    "--weight age=nan": "the weight of column 'age' must be a number",
    "--weight aeg=2": "there is no column 'aeg'; did you mean 'age'?",
    "--sep ;;": "the separator must be one character",
    "--holdout no.csv": "no.csv: there is no such file",
    "--lang de": "'de' is not one of 'en', 'fr'",
    "--kk 3": "No such option",
    "": "to go on without them: sosie run",
}


def one_line(err: str) -> str:
    assert err.startswith("sosie")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    return err


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_a_wrong_option_is_one_line(
    people: Path, tmp_path: Path, called: Called, options: str
) -> None:
    message = BAD_OPTIONS[options]
    of_both = "--holdout" not in options and "--lang" not in options and len(options) % 2
    command = "avatarize" if of_both else "run"
    drop = () if options == "" else ("--drop", "patient_id")
    status, out, err = called(
        command, people, "-o", tmp_path / "new" / "out.csv", *drop, *options.split()
    )
    assert (status, out) == (2, "")
    assert message.replace("look like", "looks like") in one_line(err).replace(
        "look like", "looks like"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runn"], "No such command 'runn'"),
        (["run"], "sosie run: Missing argument 'DATA'"),
        (["run", "x.csv"], "Missing option '-o' / '--out'"),
        (["run", "x.csv", "y.csv", "-o", "z"], "unexpected extra argument"),
        (["run", "no.csv", "-o", "z"], "no.csv: there is no such file"),
        (["run", "no\n\x1b[31m.csv", "-o", "z"], "there is no such file"),
        (["run", ".", "-o", "z"], "there is no Parquet file in this folder"),
        (["audit", "x.csv"], "Missing argument 'AVATARS'"),
        (["report", "no"], "no: no such folder"),
        (["completion", "tcsh"], "'tcsh' is not one of 'bash', 'zsh', 'fish'"),
        (["--wrong"], "No such option"),
    ],
)
def test_a_wrong_command_is_one_line(
    called: Called,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = called(*arguments)
    assert (status, out) == (2, "")
    assert message in one_line(err)
    assert "\x1b" not in err
    assert list(tmp_path.iterdir()) == []


def test_outputs_that_can_not_be(people: Path, made: Path, tmp_path: Path, called: Called) -> None:
    before = people.read_bytes()
    (tmp_path / "file").write_text("mine")
    for arguments, message in (
        (["avatarize", people, "-o", people], "this would overwrite a file that is read"),
        (["avatarize", people, "-o", people.parent / "." / "people.csv"], "would overwrite"),
        (["avatarize", people, "-o", tmp_path / "a.csv", "--aligned", tmp_path / "a.csv"], "would"),
        (["avatarize", people, "-o", tmp_path / "a.xls"], "the name must end in"),
        (["avatarize", people, "-o", tmp_path / "no" / "a.csv"], "can't be written"),
        (["run", people, "-o", people], "can't be written"),
        (["run", people, "-o", tmp_path / "file" / "out"], "can't be written"),
        (["run", made / "avatars.csv", "-o", made], "would overwrite a file that is read"),
        (["run", made / "private" / "aligned.parquet", "-o", made], "would replace this file"),
        (["run", people, "-o", made, "--holdout", made / "avatars.csv"], "would overwrite"),
        (["audit", people, people, "--json", people], "would overwrite a file that is read"),
        (["audit", people, people, "--html", tmp_path / "x", "--json", tmp_path / "x"], "would"),
        (["audit", people, people, "--json", tmp_path / "no" / "x"], "can't be written"),
        (["report", made, "-o", made / "run.json"], "would overwrite a file that is read"),
        (["report", made, "-o", tmp_path], "can't be written"),
    ):
        options = () if arguments[0] == "report" else COMMON
        status, out, err = called(*arguments, *options)
        assert (status, message in one_line(err)) == (2, True), (arguments, err)
        assert out == ""
    assert people.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_audit_refuses_tables_that_do_not_fit(people: Path, tmp_path: Path, called: Called) -> None:
    frame = pl.read_csv(people)
    other = tmp_path / "other.csv"
    for table, options, message in (
        (frame.drop("dose"), (), "the second table lacks column 'dose'"),
        (frame.with_columns(extra=1), (), "column 'extra'"),
        (frame[:150], ("--aligned",), "there are 200 originals and 150 avatars"),
        (frame.with_columns(dose=pl.lit("x")), (), "column 'dose', row 1: 'x' can't be read"),
    ):
        table.write_csv(other)
        status, out, err = called("audit", people, other, "--drop", "patient_id", *options)
        assert (status, out) == (2, "")
        assert message in one_line(err)


# ---------------------------------------------------------------- what goes wrong


def stop(fault: BaseException) -> Callable[..., None]:
    def fails(*_: object, **__: object) -> None:
        raise fault

    return fails


def test_a_fault_of_ours(
    people: Path, tmp_path: Path, called: Called, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sosie.jobs.run, "measured", stop(RuntimeError("oops")))
    status, out, err = called("run", people, "-o", tmp_path / "out", *COMMON)
    assert (status, out) == (1, "")
    assert "Traceback" in err
    assert err.splitlines()[-1] == (
        "sosie: this is a fault of sosie, not of your data; please report it"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "status", "line"),
    [
        (KeyboardInterrupt(), 130, "sosie: interrupted; nothing was left half written"),
        (MemoryError(), 2, "sosie: there is not enough memory for this table"),
    ],
)
def test_an_end_from_outside(
    people: Path,
    made: Path,
    called: Called,
    monkeypatch: pytest.MonkeyPatch,
    fault: BaseException,
    status: int,
    line: str,
) -> None:
    before = {path: path.read_bytes() for path in made.rglob("*") if path.is_file()}
    monkeypatch.setattr(sosie.jobs.run, "measured", stop(fault))
    found, out, err = called("run", people, "-o", made, *COMMON)
    assert (found, out) == (status, "")
    assert one_line(err).startswith(line)
    assert {path: path.read_bytes() for path in made.rglob("*") if path.is_file()} == before


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_that_has_had_enough(people: Path, made: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    paths = (str(people), str(made / "avatars.csv"))
    command = [sys.executable, "-m", "sosie", "audit", *paths, *COMMON]
    done = subprocess.run(command, check=False, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


# ---------------------------------------------------------------- what it looks like


def shown(monkeypatch: pytest.MonkeyPatch, width: int, **options: Any) -> io.StringIO:
    """What is printed to a terminal of some width."""
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True, highlight=False, **options)
    monkeypatch.setattr(terminal, "_console", lambda **_: console)
    return file


@pytest.mark.parametrize("width", [44, 80, 96, 120])
@pytest.mark.parametrize("language", ["en", "fr"])
def test_nothing_is_cut_in_a_narrow_terminal(
    people: Path, made: Path, monkeypatch: pytest.MonkeyPatch, width: int, language: str
) -> None:
    file = shown(monkeypatch, width, no_color=True)
    arguments = ["audit", str(people), str(made / "private" / "aligned.parquet"), "--aligned"]
    assert status_of([*arguments, *COMMON, "--lang", language]) == 0
    lines = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", file.getvalue()).splitlines()
    assert max(map(len, lines)) <= width
    assert not [line for line in lines if "…" in line]
    text = " ".join(lines)
    assert ("au moins" in text or "at least" in text) == (width >= terminal.NARROW)


@pytest.mark.parametrize("no_color", [True, False])
def test_colours_are_left_out_where_they_are_not_wanted(
    people: Path, made: Path, monkeypatch: pytest.MonkeyPatch, no_color: bool
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    file = io.StringIO()
    monkeypatch.setattr(sys, "stdout", file)
    aligned = made / "private" / "aligned.parquet"
    assert status_of(["audit", str(people), str(aligned), "--aligned", *COMMON]) == 0
    assert bool(re.search(r"\x1b\[3[0-9]m", file.getvalue())) != no_color


def test_names_do_not_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("a [bold]name[/] \x1b[31m\x07")
    terminal.notes([Reason("as_written", {"text": "[red]x[/]\x1b]0;title\x07"})])
    out, err = capsys.readouterr()
    assert out == "a [bold]name[/] \\x1b[31m\\x07\n"
    assert err == "note: [red]x[/]\\x1b]0;title\\x07.\n"


def test_steps_are_shown_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal.steps() as step:
        step("fit")
    assert capsys.readouterr() == ("", "")
    file = shown(monkeypatch, 80)
    with terminal.steps() as step:
        step("fit")
    assert "Finding each person's neighbours" in file.getvalue()


# ---------------------------------------------------------------- what texts mean


def test_dates_weights_and_linked_names() -> None:
    assert dates(["a", "b=%d/%m", "c=d=%Y=%m", "e=x"]) == {
        "a": None,
        "b": "%d/%m",
        "c=d": "%Y=%m",
        "e": "x",
    }
    assert weights(["a=1", "b=c=0.5"]) == {"a": 1.0, "b=c": 0.5}
    assert cells('"a,b",c,"d""e","f\ng"', "--linked") == ["a,b", "c", 'd"e', "f\ng"]
    for wrong in ("a\nb,c", '"a', ""):
        with pytest.raises(InputError, match="--linked takes names"):
            cells(wrong, "--linked")


def test_an_interruption_inside_an_import_is_an_interruption(
    monkeypatch: pytest.MonkeyPatch, called: Called
) -> None:
    """The import of a compiled module turns it into a SystemError."""

    def read(*_: object) -> None:
        raise SystemError("initialization failed") from KeyboardInterrupt()

    monkeypatch.setattr("sosie.jobs.avatarize.check_apart", read)
    status, out, err = called("avatarize", "x.csv", "-o", "y.csv")
    assert (status, out) == (130, "")
    assert err == "sosie: interrupted; nothing was left half written\n"
