"""Tables of visits, seeded: numbers that last, a stage that sticks, missing values, a death."""

from __future__ import annotations

import numpy as np
import polars as pl


def visits(people: int = 160, seed: int = 0) -> pl.DataFrame:
    """A long table of 1 to 9 visits a person."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        sex, level = rng.choice(["F", "M"]), rng.normal(50, 10)
        stage, day, away = rng.choice(["a", "b", "c"]), 0, 0.0
        count, dies, doses = int(rng.integers(1, 10)), rng.random() < 0.4, 0
        born = int(rng.integers(1930, 1990))
        for visit in range(count):
            away = 0.6 * away + rng.normal(0, 4)
            stage = rng.choice(["a", "b", "c"]) if rng.random() < 0.2 else stage
            doses += int(rng.integers(0, 4))
            pain = None if rng.random() < 0.1 else round(level + away, 1)
            dead = bool(dies and visit == count - 1)
            low = int(rng.integers(50, 90))
            high = low + int(rng.integers(0, 60))
            rows.append((person, sex, born, day, pain, stage, doses, dead, low, high))
            day += int(rng.integers(20, 200))
    names = ["patient", "sex", "born", "day", "pain", "stage", "doses", "dead", "low", "high"]
    return pl.DataFrame(rows, schema=names, orient="row")


def two_tables(people: int = 160, seed: int = 0) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """The same as a table of people, and two of their rows; some people have none of the second."""
    long = visits(people, seed)
    own = long.group_by("patient", maintain_order=True).first().select("patient", "sex", "born")
    stays = long.filter(pl.col("patient") % 3 > 0).select("patient", "day", "stage")
    measures = long.select("patient", "day", "pain", "doses")
    return own, {"measures": measures, "stays": stays}
