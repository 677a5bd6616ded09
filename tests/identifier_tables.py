"""Twenty made-up tables whose identifying columns are known, to count what is found.

``python tests/identifier_tables.py`` writes the table of docs/identifiers.md to standard output.
"""

from __future__ import annotations

import datetime as dt
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import hospital_export
import numpy as np
import polars as pl

from sosie.data.identifiers import suspects

Rng = np.random.Generator
Columns = dict[str, Any]

ROWS = 400
WORDS = (
    "patient",
    "seen",
    "again",
    "after",
    "a",
    "fall",
    "pain",
    "in",
    "the",
    "left",
    "knee",
    "no",
    "fever",
    "returns",
)
JOBS = ("nurse", "driver", "teacher", "mason", "cook", "clerk")
DRUGS = tuple(f"drug {letter}{number}" for letter in "ABCDE" for number in range(8))


@dataclass(frozen=True)
class Known:
    """A table, and the columns in it that identify people."""

    name: str
    frame: pl.DataFrame
    identifying: frozenset[str]


def _numbers(rng: Rng, rows: int = ROWS) -> Columns:
    return {
        "age": rng.integers(18, 95, rows).tolist(),
        "weight": np.round(rng.normal(72, 12, rows), 1).tolist(),
        "sex": rng.choice(["F", "M"], rows).tolist(),
    }


def _pick(rng: Rng, words: tuple[str, ...], rows: int = ROWS) -> list[object]:
    return [words[i] for i in rng.integers(0, len(words), rows)]


def _name(rng: Rng) -> str:
    return "".join(_pick(rng, ("ba", "lo", "mi", "ra", "te", "no", "ki", "su"), 3)).title()  # type: ignore[arg-type]


def _french(rng: Rng) -> tuple[Columns, set[str]]:
    names = {
        "Nom de naissance": [_name(rng) for _ in range(ROWS)],
        "Prénom": [_name(rng) for _ in range(ROWS)],
        "N° téléphone": [
            f"06 {rng.integers(10, 99)} {rng.integers(10, 99)} 12 {rng.integers(10, 99)}"
            for _ in range(ROWS)
        ],
    }
    return {**names, **_numbers(rng), "ville": _pick(rng, ("Nantes", "Lyon", "Lille"))}, {*names}


def _english(rng: Rng) -> tuple[Columns, set[str]]:
    names = {
        "firstName": [_name(rng) for _ in range(ROWS)],
        "SURNAME": [_name(rng) for _ in range(ROWS)],
        "home_address": [f"{n} Main Street" for n in rng.integers(1, 200, ROWS)],
    }
    return {**names, **_numbers(rng), "drug_name": _pick(rng, DRUGS)}, {*names}


def _counts_only(rng: Rng) -> tuple[Columns, set[str]]:
    counts = {
        "number_of_children": rng.integers(0, 14, ROWS).tolist(),
        "email_opt_in": _pick(rng, ("yes", "no")),
        "phone_hours": rng.integers(0, 60, ROWS).tolist(),
        "nom_du_service": [f"service {n}" for n in rng.integers(0, 30, ROWS)],
        "hospital_name": [f"hospital {n}" for n in rng.integers(0, 40, ROWS)],
        "adresse_type": _pick(rng, ("home", "work", "other")),
    }
    return {**counts, **_numbers(rng)}, set()


def _visits(rng: Rng) -> tuple[Columns, set[str]]:
    """Case 43: patients on several rows, with what never varies in a person."""
    counts = rng.integers(6, 11, 300)
    person = np.repeat(np.arange(300), counts)
    number = rng.choice(90_000, 300, replace=False) + 10_000
    born, sex, home = (
        rng.integers(1930, 2005, 300),
        rng.integers(0, 2, 300),
        rng.integers(0, 60, 300),
    )
    order = rng.permutation(len(person))
    columns: Columns = {
        "dossier": number[person][order].tolist(),
        "born": born[person][order].tolist(),
        "sex": sex[person][order].tolist(),
        "town": [f"town {t}" for t in home[person][order]],
        "pulse": rng.integers(50, 120, len(person)).tolist(),
    }
    return columns, {"dossier"}


def _long(rng: Rng) -> tuple[Columns, set[str]]:
    """Nothing but a key, a time that rises within it, and a measure."""
    person = np.repeat(rng.permutation(120) * 7 + 11, 5)
    days = np.concatenate([np.sort(rng.choice(900, 5, replace=False)) for _ in range(120)])
    columns: Columns = {
        "unit": person.tolist(),
        "day": days.tolist(),
        "measure": np.round(rng.normal(5, 1, 600), 2).tolist(),
    }
    return columns, {"unit"}


def _keys(rng: Rng) -> tuple[Columns, set[str]]:
    columns: Columns = {
        "record": [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(ROWS)],
        "usubjid": (rng.choice(10**6, ROWS, replace=False)).tolist(),
        "line": list(range(1, ROWS + 1)),
    }
    return {**columns, **_numbers(rng)}, {*columns}


def _bank(rng: Rng) -> tuple[Columns, set[str]]:
    accounts = []
    for _ in range(ROWS):
        body = f"{rng.integers(0, 10**10):010d}{rng.integers(0, 10**13):013d}"
        accounts.append(f"FR{98 - int(body + '152700') % 97:02d}{body}")
    columns: Columns = {"compte": accounts}
    return {**columns, **_numbers(rng), "montant": np.round(rng.gamma(2, 300, ROWS), 2).tolist()}, {
        *columns
    }


def _social(rng: Rng) -> tuple[Columns, set[str]]:
    def number() -> str:
        parts = ((1, 3, 1), (30, 99, 2), (1, 13, 2), (1, 96, 2), (1, 990, 3), (1, 999, 3))
        body = "".join(f"{rng.integers(low, high):0{digits}d}" for low, high, digits in parts)
        return f"{body}{97 - int(body) % 97:02d}"

    columns: Columns = {"col7": [number() for _ in range(ROWS)]}
    return {**columns, **_numbers(rng)}, {*columns}


def _remarks(rng: Rng) -> tuple[Columns, set[str]]:
    texts = [" ".join(_pick(rng, WORDS, int(rng.integers(4, 15)))) for _ in range(ROWS)]  # type: ignore[arg-type]
    columns: Columns = {"remarks": texts}
    label = (
        "pain of the lower back without trauma",
        "fall at home with a broken wrist",
        "chronic disease of the lung with fever",
    )
    return {**columns, "reason": _pick(rng, label), **_numbers(rng)}, {*columns}


def _contacts(rng: Rng) -> tuple[Columns, set[str]]:
    def pair() -> str:
        return f"{rng.integers(10, 99)} {rng.integers(10, 99)}"

    columns: Columns = {
        "login": [f"{_name(rng)}{i}" for i in range(ROWS)],
        "reach": [f"{_name(rng)}{i}@mail.org" if rng.random() < 0.3 else None for i in range(ROWS)],
        "mobile": [f"+33 6 {pair()} {pair()}" for _ in range(ROWS)],
    }
    return {**columns, **_numbers(rng)}, {*columns}


def _measures(rng: Rng) -> tuple[Columns, set[str]]:
    columns: Columns = {
        "platelets": rng.choice(400_000, ROWS, replace=False).tolist(),
        "ins": np.round(rng.gamma(2, 40, ROWS), 0).astype(int).tolist(),
        "ratio": rng.random(ROWS).tolist(),
        "seen": [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(ROWS)],
    }
    return {**columns, **_numbers(rng)}, set()


def _codes(rng: Rng) -> tuple[Columns, set[str]]:
    code = rng.integers(0, 120, 3 * ROWS)
    columns: Columns = {
        "postcode": [
            f"{n:05d}" for n in rng.integers(1_000, 96_000, 300)[rng.integers(0, 300, 3 * ROWS)]
        ],
        "drg": [f"{c:03d}" for c in code],
        "drg_label": [f"stay of kind {c}" for c in code],
        "tariff": (code * 37 % 1_000 + 200).tolist(),
    }
    return {**columns, **_numbers(rng, 3 * ROWS)}, set()


def _typed(rng: Rng) -> tuple[Columns, set[str]]:
    """Job titles as people type them: many, and some of them alone; still no identifier."""
    jobs = [
        f"{_pick(rng, JOBS, 1)[0]} {'senior ' * int(rng.integers(0, 2))}{rng.integers(0, 40)}"
        for _ in range(ROWS)
    ]
    return {
        "job_title": jobs,
        "name_of_employer": [f"firm {n}" for n in rng.integers(0, 90, ROWS)],
        **_numbers(rng),
    }, set()


def _censored(rng: Rng) -> tuple[Columns, set[str]]:
    columns: Columns = {
        "troponin": [
            f"{v:.3f}".replace(".", ",") if v > 0.5 else "<0,5" for v in rng.lognormal(0, 1, ROWS)
        ],
        "pay": [f"{v:,.0f} €".replace(",", " ") for v in rng.gamma(9, 900, ROWS)],
        "date_visite": [
            f"{rng.integers(1, 29):02d}/{rng.integers(1, 13):02d}/{rng.integers(1990, 2024)}"
            for _ in range(ROWS)
        ],
    }
    return {**columns, **_numbers(rng)}, set()


def _staff(rng: Rng) -> tuple[Columns, set[str]]:
    doctors = [f"Dr {_name(rng)}" for _ in range(25)]
    columns: Columns = {
        "nom_medecin": _pick(rng, tuple(doctors)),
        "matricule_salarie": [f"A{n:04d}" for n in range(ROWS)],
    }
    return {**columns, **_numbers(rng)}, {*columns}


def _sorted(rng: Rng) -> tuple[Columns, set[str]]:
    """Sorted by a year with many values, beside a decade: no person."""
    year = np.sort(rng.integers(1920, 2005, 3 * ROWS))
    return {
        "born": year.tolist(),
        "decade": (year // 10 * 10).tolist(),
        **_numbers(rng, 3 * ROWS),
    }, set()


def _small(rng: Rng) -> tuple[Columns, set[str]]:
    return {
        "name": [_name(rng) for _ in range(12)],
        "visit_number": rng.integers(1, 4, 12).tolist(),
        **_numbers(rng, 12),
    }, {"name"}


def _american(rng: Rng) -> tuple[Columns, set[str]]:
    columns: Columns = {
        "ss": [
            f"{rng.integers(100, 600)}-{rng.integers(10, 99)}-{rng.integers(1000, 9999)}"
            for _ in range(ROWS)
        ],
        "contact": [
            f"({rng.integers(200, 900)}) {rng.integers(200, 900)}-{rng.integers(1000, 9999)}"
            for _ in range(ROWS)
        ],
        "MRN": rng.choice(10**7, ROWS, replace=False).tolist(),
    }
    return {
        **columns,
        "zip": [f"{z:05d}" for z in rng.integers(10_000, 10_090, ROWS)],
        **_numbers(rng),
    }, {*columns}


def _survey(rng: Rng) -> tuple[Columns, set[str]]:
    answers: Columns = {f"q{i}": rng.integers(1, 6, ROWS).tolist() for i in range(8)}
    return {
        **answers,
        "score_total": rng.integers(0, 100, ROWS).tolist(),
        "code_region": rng.integers(1, 13, ROWS).tolist(),
    }, set()


MAKERS: tuple[Callable[[Rng], tuple[Columns, set[str]]], ...] = (
    _french, _english, _counts_only, _visits, _long, _keys, _bank, _social, _remarks, _contacts,
    _measures, _codes, _typed, _censored, _staff, _sorted, _small, _american, _survey,
)  # fmt: skip


def tables() -> Iterator[Known]:
    """All twenty, the hospital export first."""
    export = hospital_export.export()
    yield Known("hospital export", export, frozenset(hospital_export.IDENTIFIERS))
    for seed, maker in enumerate(MAKERS):
        columns, identifying = maker(np.random.default_rng(seed))
        name = maker.__name__.strip("_").replace("_", " ")
        yield Known(name, pl.DataFrame(columns, strict=False), frozenset(identifying))


def report() -> str:
    """The table of the page: of each, how many columns identify, are found, are suspected amiss."""
    lines = [
        "| table | columns | identify | found | false alarms |",
        "| --- | --- | --- | --- | --- |",
    ]
    sums = np.zeros(4, dtype=int)
    for known in tables():
        named = {str(suspect.column) for suspect in suspects(known.frame)}
        counts = (
            known.frame.width,
            len(known.identifying),
            len(named & known.identifying),
            len(named - known.identifying),
        )
        sums += counts
        lines.append(f"| {known.name} | {' | '.join(str(count) for count in counts)} |")
    return "\n".join([*lines, f"| **all** | {' | '.join(str(count) for count in sums)} |"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(report())
