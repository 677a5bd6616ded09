"""Workbooks as people keep them: titles on top, merged names, decimal commas, codes, names."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import xlsxwriter

__all__ = ["awkward"]

PEOPLE = 600
TITLES = ("Registre de cardiologie — export du 14/01/2026", "Ne pas diffuser")
GROUPS = (("Patient", 4), ("Séjour", 3), ("Mesures", 4), ("Évolution", 2))
NAMES = (
    *("n° dossier", "nom", "sexe", "âge"),
    *("entrée", "sortie", "durée (jours)"),
    *("poids (kg)", "taille (cm)", "créatinine", "stade"),
    *("décès", "suivi (mois)"),
)
SURNAMES = ("Martin", "Bernard", "Petit", "Durand", "Leroy", "Moreau", "Simon", "Laurent", "Roux")


def awkward(path: Path, *, people: int = PEOPLE, seed: int = 5) -> Path:
    """Write a sheet with two titles, names in two rows under merged groups, and awkward cells.

    Weights are texts with a decimal comma, creatinine has ``ND`` among its numbers, a stay is the
    difference of its two dates, and two columns name people.
    """
    draw = np.random.default_rng(seed)
    with xlsxwriter.Workbook(path) as book:
        sheet, days = book.add_worksheet("Patients"), book.add_format({"num_format": "dd/mm/yyyy"})
        centred = book.add_format({"align": "center", "bold": True})
        for place, title in enumerate(TITLES):
            sheet.write(place, 0, title)
        column = 0
        for group, width in GROUPS:
            sheet.merge_range(3, column, 3, column + width - 1, group, centred)
            column += width
        for place, name in enumerate(NAMES):
            sheet.write(4, place, name, centred)
        for row in range(people):
            for place, cell in enumerate(_person(row, draw)):
                if isinstance(cell, dt.date):
                    sheet.write_datetime(5 + row, place, dt.datetime(*cell.timetuple()[:3]), days)
                elif cell is not None:
                    sheet.write(5 + row, place, cell)
    return path


def _person(row: int, draw: np.random.Generator) -> tuple[object, ...]:
    sex = draw.choice(["F", "H"])
    age = int(np.clip(draw.normal(66, 11), 25, 96))
    entry = dt.date(2024, 1, 1) + dt.timedelta(int(draw.integers(700)))
    stay = int(draw.gamma(2.5, 3)) + 1
    height = draw.normal(162 if sex == "F" else 175, 7)
    weight = 24 * (height / 100) ** 2 + draw.normal(3, 9)
    creatinine = None if draw.random() < 0.03 else round(float(draw.gamma(9, 10) + 0.4 * age))
    stage = draw.choice(["I", "II", "III", "IV"], p=[0.2, 0.4, 0.3, 0.1])
    death = draw.random() < 0.05 + 0.004 * (age - 50) * (age > 50)
    return (
        *(f"CX-{10_000 + 7 * row}", f"{draw.choice(SURNAMES)}-{draw.choice(SURNAMES)} {row}"),
        *(str(sex), age, entry, entry + dt.timedelta(stay), stay),
        *(f"{weight:.1f}".replace(".", ","), round(float(height))),
        "ND" if draw.random() < 0.06 else creatinine,
        *(str(stage), "oui" if death else "non", round(float(draw.exponential(20)), 1)),
    )
