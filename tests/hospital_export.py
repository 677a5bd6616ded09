"""A made-up export of hospital stays, with everything that such files do to their readers.

``python tests/hospital_export.py FOLDER`` writes ``hospital.csv``: 1,500 people, one row each,
separated by ``;`` in Windows-1252 with decimal commas. Nobody in it exists.

What holds in every row: admission <= discharge and their difference, the age at admission, the body
mass index, the label and the group of a diagnosis, one of four wards, the total of three costs, the
lowest under the highest pressure, and no confinement in a man.
"""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import numpy as np
import polars as pl

ROWS = 1_500
SEED = 14

FIRST = (
    "Aline",
    "Bruno",
    "Chloé",
    "David",
    "Élise",
    "Farid",
    "Gaël",
    "Hana",
    "Inès",
    "Jules",
    "Karim",
    "Léa",
)
LAST = (
    "Arnaud",
    "Besson",
    "Chevalier",
    "Dumas",
    "Étienne",
    "Faure",
    "Girard",
    "Hébert",
    "Imbert",
    "Jacquet",
    "Lemoine",
)
STREETS = ("rue des Lilas", "avenue du Parc", "place de l'Église", "chemin Vert", "quai Sud")

DIAGNOSES = (
    ("I10", "Hypertension essentielle", "circulation", 0.22),
    ("I21", "Infarctus du myocarde", "circulation", 0.12),
    ("I50", "Insuffisance cardiaque", "circulation", 0.14),
    ("J18", "Pneumopathie", "respiration", 0.16),
    ("J44", "Bronchopneumopathie chronique", "respiration", 0.10),
    ("E11", "Diabète de type 2", "métabolisme", 0.14),
    ("O80", "Accouchement unique et spontané", "grossesse", 0.12),
)
WARDS = ("cardiologie", "médecine", "chirurgie", "maternité")
MISSING = ("NC", "ND")


def export(rows: int = ROWS, seed: int = SEED) -> pl.DataFrame:
    """The cells as the file shows them, all text, in the order of its columns."""
    rng = np.random.default_rng(seed)
    values = _people(rng, rows) | _stay(rng, rows)
    age = values["age"]
    values |= _measures(rng, rows, age)
    values |= _diagnosis(rng, rows, values["sexe"], age)
    values |= _costs(rng, rows, values["sejour"])
    names = _identities(rng, rows, values["naissance"])
    return pl.DataFrame({**names, **{name: _cells(cells) for name, cells in values.items()}})


def _cells(values: object) -> list[str | None]:
    return [None if value is None else str(value) for value in np.asarray(values, dtype=object)]


def _comma(values: np.ndarray, decimals: int) -> list[str]:
    return [f"{value:.{decimals}f}".replace(".", ",") for value in values]


def _days(days: np.ndarray) -> list[str]:
    return [dt.date.fromordinal(int(day)).isoformat() for day in days]


def _people(rng: np.random.Generator, rows: int) -> dict[str, object]:
    towns = rng.choice(np.arange(1_000, 96_000), 480, replace=False)
    popularity = 1 / np.arange(1, 481) ** 0.6
    codes = rng.choice(towns, rows, p=popularity / popularity.sum())
    return {
        "sexe": rng.choice(["F", "M"], rows, p=[0.55, 0.45]),
        "code_postal": [f"{code:05d}" for code in codes],
    }


def _stay(rng: np.random.Generator, rows: int) -> dict[str, object]:
    admission = dt.date(2021, 1, 1).toordinal() + rng.integers(0, 1_000, rows)
    stay = np.minimum(rng.geometric(0.12, rows) - 1, 60)
    days_old = (rng.beta(3, 1.6, rows) * 85 + 15) * 365.25
    birth = admission - days_old.astype(int)
    ages = []
    for born, day in zip(birth, admission, strict=True):
        one, other = dt.date.fromordinal(int(born)), dt.date.fromordinal(int(day))
        ages.append(other.year - one.year - ((other.month, other.day) < (one.month, one.day)))
    return {
        "naissance": _days(birth),
        "admission": _days(admission),
        "sortie": _days(admission + stay),
        "sejour": stay,
        "age": np.array(ages),
    }


def _measures(rng: np.random.Generator, rows: int, age: object) -> dict[str, object]:
    height = np.rint(rng.normal(169, 9, rows)).clip(145, 200)
    weight = np.round((height - 100) * rng.normal(1.05, 0.17, rows), 1).clip(38, 150)
    low = np.rint(rng.normal(75, 9, rows)).clip(45, 110)
    high = low + np.rint(rng.gamma(3, 11, rows)).clip(5, 120)
    creatinine = np.rint(rng.lognormal(4.4, 0.35, rows)).astype(int).astype(object)
    lost = rng.random(rows)
    creatinine[lost < 0.12] = MISSING[0]
    creatinine[(lost >= 0.12) & (lost < 0.17)] = MISSING[1]
    troponin = rng.lognormal(-0.6, 1.1, rows)
    platelets = [f"{n:,}".replace(",", " ") for n in rng.integers(90, 480, rows) * 1_000]
    deaths = rng.random(rows) < 0.02 * np.exp((np.asarray(age) - 70) / 25)
    return {
        "poids": _comma(weight, 1),
        "taille": height.astype(int),
        "imc": _comma(weight / (height / 100) ** 2, 1),
        "pression_min": low.astype(int),
        "pression_max": high.astype(int),
        "creatinine": creatinine,
        "troponine": ["<0,5" if v < 0.5 else f"{v:.1f}".replace(".", ",") for v in troponin],
        "plaquettes": platelets,
        "saturation": [
            f"{v:.1f}%".replace(".", ",") for v in rng.normal(95.5, 1.8, rows).clip(80, 100)
        ],
        "deces": deaths.astype(int),
    }


def _diagnosis(rng: np.random.Generator, rows: int, sex: object, age: object) -> dict[str, object]:
    shares = np.array([share for *_, share in DIAGNOSES])
    place = rng.choice(len(DIAGNOSES), rows, p=shares / shares.sum())
    pregnant = (np.asarray(sex) == "F") & (np.asarray(age) < 50)
    place = np.where(pregnant & (rng.random(rows) < 0.5), 6, place)
    place = np.where((place == 6) & ~pregnant, rng.integers(0, 6, rows), place)
    ward = np.where(place == 6, 3, rng.integers(0, 3, rows))
    diagnoses = {
        name: [DIAGNOSES[p][column] for p in place]
        for column, name in enumerate(("diagnostic", "libelle", "groupe"))
    }
    return diagnoses | {f"service_{name}": (ward == w).astype(int) for w, name in enumerate(WARDS)}


def _costs(rng: np.random.Generator, rows: int, stay: object) -> dict[str, object]:
    bed = np.round((np.asarray(stay) + 1) * rng.normal(640, 90, rows).clip(300), 2)
    drugs = np.round(rng.gamma(2, 140, rows), 2)
    tests = np.round(rng.gamma(3, 55, rows), 2)
    return {
        "cout_lit": _comma(bed, 2),
        "cout_produits": _comma(drugs, 2),
        "cout_examens": _comma(tests, 2),
        "cout_total": _comma(bed + drugs + tests, 2),
    }


def _identities(rng: np.random.Generator, rows: int, birth: object) -> dict[str, object]:
    first, last = rng.choice(FIRST, rows), rng.choice(LAST, rows)
    numbers = []
    for born in np.asarray(birth):
        body = f"{rng.integers(1, 3)}{born[2:4]}{born[5:7]}{rng.integers(1, 96):02d}"
        body += f"{rng.integers(1, 990):03d}{rng.integers(1, 999):03d}"
        numbers.append(f"{body}{97 - int(body) % 97:02d}")
    homes = rng.integers(1, 120, rows), rng.integers(0, len(STREETS), rows)
    return {
        "ipp": [f"{n:08d}" for n in rng.choice(10**8, rows, replace=False)],
        "nom": last,
        "prenom": first,
        "nir": numbers,
        "adresse": [f"{n} {STREETS[s]}" for n, s in zip(*homes, strict=True)],
        "courriel": [
            f"{f}.{n}{i}@exemple.fr".lower()
            for i, (f, n) in enumerate(zip(first, last, strict=True))
        ],
        "telephone": [
            f"06 {' '.join(f'{n:02d}' for n in rng.integers(0, 100, 4))}" for _ in range(rows)
        ],
    }


IDENTIFIERS = ("ipp", "nom", "prenom", "nir", "adresse", "courriel", "telephone")
"""The columns that identify people."""


def write(path: Path, rows: int = ROWS, seed: int = SEED) -> Path:
    """Write the file."""
    text = export(rows, seed).write_csv(separator=";", line_terminator="\r\n")
    path.write_bytes(text.encode("cp1252"))
    return path


if __name__ == "__main__":
    write(Path(sys.argv[1]) / "hospital.csv")
