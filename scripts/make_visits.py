"""Simulate the visits of the bundled cohort's first patients: several rows a person.

As `make_cohort.py`: every number comes from the laws below and from one seed, and only uniform
draws are taken from NumPy, so that the file is the same, byte for byte, wherever it is made.

    python scripts/make_visits.py [FILE]
"""

import datetime as dt
import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]

DATA = Path(__file__).resolve().parent.parent / "src" / "sosie" / "data"
VISITS = DATA / "visits.csv"
SEED = 11
PATIENTS = 500

PLANNED = (0, 28, 140)  # days from inclusion, and then one visit every half year
HALF_YEAR = 182
EARLY_OR_LATE = 9.0  # standard deviation, in days
MISSED = 0.06  # of the visits after the first

CLASSES = ("I", "II", "III", "IV")
LASTING = 0.72  # of what a measure deviates from a patient's line, from one visit to the next
EFFECT = {"Placebo": 0.0, "10 mg": 0.16, "20 mg": 0.30}  # fall of the log biomarker


def simulate(seed: int = SEED, n: int = PATIENTS) -> pl.DataFrame:
    """Simulate the visits: `patient_id`, the date, and what was measured."""
    generator = np.random.Generator(np.random.PCG64(seed))

    def normal(count: int) -> Floats:
        return np.array([NormalDist().inv_cdf(u) for u in generator.random(count)])

    rows = []
    for patient in _patients(n).iter_rows(named=True):
        days = _days(patient["followup_days"], generator.random(40), normal(40))
        around = _around(normal(4 * len(days)).reshape(4, -1))
        treated = np.where(days > 0, EFFECT[patient["arm_label"]], 0.0)
        slope = 0.10 * normal(1)[0]
        years = days / 365.25
        biomarker = np.log(patient["ntprobnp"]) - treated + slope * years + 0.30 * around[0]
        severity = (biomarker - 7.1) / 0.9
        weight = patient["weight_kg"] - 0.4 * years + 1.6 * around[1]
        pressure = patient["systolic_bp"] - 3.0 * treated - 1.5 * severity + 8.0 * around[2]
        functional = np.digitize(severity + 0.5 * around[3], [-1.8, 0.5, 2.1])
        admitted = generator.random(len(days)) < 1 / (1 + np.exp(2.6 - 0.7 * severity))
        lost = generator.random((3, len(days))) < 0.04
        for i, day in enumerate(days.tolist()):
            rows.append(
                {
                    "patient_id": patient["patient_id"],
                    "visit_date": patient["inclusion_date"] + dt.timedelta(days=day),
                    "weight_kg": None if lost[0, i] else round(float(weight[i]), 1),
                    "systolic_bp": None if lost[1, i] else int(np.rint(pressure[i])),
                    "ntprobnp": None if lost[2, i] else int(np.rint(np.exp(biomarker[i]))),
                    "nyha": CLASSES[functional[i]],
                    "admitted": bool(admitted[i]) and i > 0,
                }
            )
    return pl.DataFrame(rows)


def _patients(n: int) -> pl.DataFrame:
    names = ("patient_id", "inclusion_date", "arm_label", "weight_kg", "systolic_bp", "ntprobnp")
    patients = pl.read_csv(DATA / "cohort.csv", schema_overrides={"postcode": pl.String})
    return (
        patients.head(n)
        .select(*names, "followup_days")
        .with_columns(
            pl.col("inclusion_date").str.to_date(),
            pl.col("weight_kg", "systolic_bp", "ntprobnp").fill_null(strategy="mean"),
        )
    )


def _days(followup: int, chances: Floats, away: Floats) -> npt.NDArray[np.int64]:
    """Days of the visits of a patient, rising, none after the end of follow-up."""
    planned = [*PLANNED, *range(PLANNED[-1] + HALF_YEAR, 3000, HALF_YEAR)][: len(chances)]
    days = np.rint(np.array(planned) + EARLY_OR_LATE * away[: len(planned)]).astype(np.int64)
    days[0] = 0
    kept = (chances[: len(planned)] >= MISSED) & (days <= followup)
    kept[0] = True
    return np.maximum.accumulate(days[kept])


def _around(noise: Floats) -> Floats:
    """Deviations that last from visit to visit, of variance 1."""
    made = noise.copy()
    for visit in range(1, noise.shape[1]):
        made[:, visit] = LASTING * made[:, visit - 1] + np.sqrt(1 - LASTING**2) * noise[:, visit]
    return made


def to_csv(visits: pl.DataFrame) -> bytes:
    """Write as CSV: comma, one decimal, ISO dates, nothing where a value is missing."""
    return visits.write_csv(float_precision=1).encode()


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else VISITS
    visits = simulate()
    target.write_bytes(to_csv(visits))
    print(f"{target}: {visits.height} visits of {visits['patient_id'].n_unique()} patients")


if __name__ == "__main__":
    main()
