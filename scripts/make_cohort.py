"""Simulate the bundled cohort: a heart failure trial, two doses against placebo.

Every number comes from the laws below and from one seed: no real file was copied or resampled.
Only uniform draws are taken from NumPy, whose stream is the same in every version, and all other
laws are made from them, so that the file is the same, byte for byte, wherever it is made.

    python scripts/make_cohort.py [FILE]
"""

import sys
from pathlib import Path
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import polars as pl

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

COHORT = Path(__file__).resolve().parent.parent / "src" / "sosie" / "data" / "cohort.csv"
SEED = 5
PATIENTS = 2_000

FIRST_INCLUSION = np.datetime64("2017-02-06")
RECRUITMENT_DAYS = 1_010
END_OF_STUDY = np.datetime64("2020-12-18")
VISIT_DAYS = 140  # the visit at 20 weeks

ARM_LABELS = ("Placebo", "10 mg", "20 mg")
ARM_EFFECT = np.array([0.0, 0.16, 0.30])  # fall of the log biomarker, in its own unit
BLOCK = 6  # permuted blocks, centre by centre

# Centre, its share of the patients, and the first two digits of the postcodes around it.
CENTRES = (
    ("Paris", 0.19, "92"),
    ("Lyon", 0.14, "69"),
    ("Lille", 0.12, "59"),
    ("Marseille", 0.10, "13"),
    ("Toulouse", 0.09, "31"),
    ("Bordeaux", 0.08, "33"),
    ("Nantes", 0.07, "44"),
    ("Nice", 0.06, "06"),
    ("Strasbourg", 0.05, "67"),
    ("Rennes", 0.04, "35"),
    ("Dijon", 0.03, "21"),
    ("Tours", 0.03, "37"),
)
POSTCODES = 340
ELSEWHERE = 0.25  # share of the patients followed far from where they live


class Draws:
    """The laws the cohort needs, each made from uniform draws, one value per patient."""

    def __init__(self, seed: int, n: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(seed))
        self.n = n

    def uniform(self) -> Floats:
        return self._generator.random(self.n)

    def normal(self) -> Floats:
        return np.array([NormalDist().inv_cdf(u) for u in self.uniform()])

    def happens(self, probability: Floats | float) -> Booleans:
        return self.uniform() < probability

    def pick(self, weights: Floats) -> Integers:
        """Draw a position by `weights`, (m,) for everyone or (n, m) person by person."""
        cumulated = np.cumsum(weights, axis=-1)
        threshold = self.uniform()[:, None] * cumulated[..., -1:]
        return np.asarray(np.sum(threshold >= cumulated, axis=1), dtype=np.int64)

    def days(self, mean: Floats) -> Floats:
        """Draw an exponential delay, in days."""
        return -np.log1p(-self.uniform()) * mean


def logistic(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def whole(x: Floats) -> Integers:
    return np.rint(x).astype(np.int64)


def working_day(dates: npt.NDArray[np.datetime64]) -> npt.NDArray[np.datetime64]:
    return np.busday_offset(dates, 0, roll="forward")


def years_between(born: npt.NDArray[np.datetime64], day: npt.NDArray[np.datetime64]) -> Integers:
    """Count the birthdays from `born` to `day`."""

    def calendar(dates: npt.NDArray[np.datetime64]) -> tuple[Integers, Integers]:
        months = dates.astype("datetime64[M]")
        month_of_year = months.astype(np.int64) % 12
        day_of_month = (dates - months.astype("datetime64[D]")).astype(np.int64)
        return dates.astype("datetime64[Y]").astype(np.int64), 31 * month_of_year + day_of_month

    (birth_year, birthday), (year, today) = calendar(born), calendar(day)
    return year - birth_year - (today < birthday)


def postcodes(draws: Draws, centre: Integers) -> npt.NDArray[np.str_]:
    """Draw a postcode near the centre for most, anywhere for the others; a few towns are large."""
    rank = np.arange(POSTCODES)
    owner = rank % len(CENTRES)  # which centre's surroundings a postcode belongs to
    place = rank // len(CENTRES)
    # 000, 100, 110, 120 ... as towns are numbered around a prefecture.
    digits = np.where(place == 0, 0, 90 + 10 * place)
    codes = np.array(
        [f"{CENTRES[c][2]}{d:03d}" for c, d in zip(owner, digits, strict=True)], dtype=np.str_
    )
    size = np.asarray((place + 3.0) ** -0.8, dtype=np.float64)
    near = np.where(owner[None, :] == np.arange(len(CENTRES))[:, None], size, 0.0)
    at_home = draws.pick(near[centre])
    anywhere = draws.pick(size)
    return codes[np.where(draws.happens(ELSEWHERE), anywhere, at_home)]


def randomise(draws: Draws, centre: Integers, inclusion: npt.NDArray[np.datetime64]) -> Integers:
    """Give arms in permuted blocks, in order of inclusion, within each centre."""
    arm = np.empty(draws.n, dtype=np.int64)
    lots = draws.uniform()
    for c in range(len(CENTRES)):
        patients = np.flatnonzero(centre == c)
        patients = patients[np.argsort(inclusion[patients], kind="stable")]
        block = np.arange(len(patients)) // BLOCK
        order = np.lexsort((lots[patients], block))
        arm[patients[order]] = np.arange(len(patients)) % len(ARM_LABELS)
    return arm


def simulate(seed: int = SEED, n: int = PATIENTS) -> pl.DataFrame:
    """Simulate the trial: one row per patient, 25 columns, `patient_id` among them."""
    draws = Draws(seed, n)
    severity = draws.normal()  # never observed: it links the heart's measures and the outcome

    # Who they are
    centre = draws.pick(np.array([share for _, share, _ in CENTRES]))
    recruited = whole(np.floor(draws.uniform() ** 0.8 * RECRUITMENT_DAYS))
    inclusion = working_day(FIRST_INCLUSION + recruited)
    years = 92 - np.exp(3.12 + 0.42 * draws.normal())
    years = np.where(years < 22, 22 + 20 * draws.uniform(), years)
    born = inclusion - whole(years * 365.25)
    age = years_between(born, inclusion)
    older = (age - 68) / 10  # decades
    female = draws.happens(logistic(-0.95 + 0.25 * older))
    height = np.where(female, 161.5, 174.5) - 1.1 * older + 6.4 * draws.normal()
    bmi = np.exp(3.31 + 0.17 * draws.normal() - 0.02 * older)
    weight = bmi * (height / 100) ** 2
    smoking = draws.pick(
        np.exp(
            np.column_stack(
                [0.3 + 0.9 * female, 0.35 + 0.15 * older, -0.75 - 0.6 * older - 0.2 * female]
            )
        )
    )

    # Their heart, and what goes with it
    diabetes = draws.happens(logistic(-0.9 + 0.11 * (bmi - 27.5) + 0.1 * older))
    fibrillation = draws.happens(logistic(-0.55 + 0.5 * older + 0.25 * severity))
    ejection = 13 + 27 * logistic(0.9 - 0.75 * severity + 0.6 * draws.normal())
    nyha = np.digitize(severity + 0.7 * draws.normal(), [-1.9, 0.45, 2.2])
    pressure = 123 + 3.0 * older - 6.0 * severity + 13.5 * draws.normal()
    creatinine = np.exp(
        4.58 - 0.19 * female + 0.09 * older + 0.1 * severity + 0.07 * diabetes
        + 0.22 * draws.normal()
    )  # fmt: skip
    kidney = np.log(creatinine / 95)
    haemoglobin = (
        13.9 - 1.1 * female - 0.22 * older - 0.9 * kidney - 0.15 * severity + 1.25 * draws.normal()
    )
    treated_before = draws.happens(logistic(0.25 + 0.35 * severity + 0.15 * older))
    prior_days = np.where(
        treated_before, np.ceil(np.exp(5.8 + 0.2 * severity + 0.75 * draws.normal())), 0
    )

    # Treatment, and the biomarker before and after it
    arm = randomise(draws, centre, inclusion)
    log_before = (
        7.25 + 0.62 * severity + 0.13 * older + 0.3 * fibrillation + 0.3 * kidney
        - 0.025 * (bmi - 27.5) + 0.48 * draws.normal()
    )  # fmt: skip
    log_after = 7.3 + 0.62 * (log_before - 7.3) - ARM_EFFECT[arm] + 0.66 * draws.normal()

    # Outcome: death, or the end of what was seen
    log_hazard = (
        0.35 * severity + 0.4 * older + 0.3 * diabetes + 0.3 * kidney
        + 0.35 * (log_before - 7.3) - 1.2 * ARM_EFFECT[arm]
    )  # fmt: skip
    to_death = draws.days(3_300 * np.exp(-log_hazard))
    to_dropout = draws.days(np.full(n, 9_000.0))
    to_end = (END_OF_STUDY - inclusion).astype(np.int64)
    death = to_death < np.minimum(to_dropout, to_end)
    followup = whole(np.ceil(np.minimum(np.minimum(to_death, to_dropout), to_end)))

    # The visit at 20 weeks, for those still there
    visit = working_day(inclusion + VISIT_DAYS + whole(5 * draws.normal()))
    no_visit = ((visit - inclusion).astype(np.int64) > followup) | draws.happens(0.025)

    number = np.argsort(draws.uniform(), kind="stable") * 4 + whole(draws.uniform() * 3) + 107

    complete = pl.DataFrame(
        {
            "patient_id": [f"P-{i:06d}" for i in number],
            "centre": [CENTRES[c][0] for c in centre],
            "inclusion_date": inclusion,
            "arm": arm,
            "arm_label": [ARM_LABELS[a] for a in arm],
            "sex": np.where(female, "F", "M"),
            "birth_date": born,
            "age": age,
            "postcode": postcodes(draws, centre),
            "height_cm": whole(height),
            "weight_kg": np.round(weight, 1),
            "smoking": np.array(["never", "former", "current"])[smoking],
            "diabetes": diabetes,
            "atrial_fibrillation": fibrillation,
            "prior_therapy_days": whole(prior_days),
            "nyha": np.array(["I", "II", "III", "IV"])[nyha],
            "lvef": whole(ejection),
            "systolic_bp": whole(pressure),
            "creatinine": whole(creatinine),
            "haemoglobin": np.round(haemoglobin, 1),
            "ntprobnp": whole(np.exp(log_before)),
            "visit_20w_date": visit,
            "ntprobnp_20w": whole(np.exp(log_after)),
            "followup_days": followup,
            "death": death.astype(np.int64),
        }
    )
    return forget(draws, complete, no_visit)


def forget(draws: Draws, complete: pl.DataFrame, no_visit: Booleans) -> pl.DataFrame:
    """Leave values out: what the visit would have given, and here and there one never recorded."""
    missing = {
        "postcode": draws.happens(0.02),
        "weight_kg": draws.happens(0.015),
        "smoking": draws.happens(0.05),
        "lvef": draws.happens(0.02),
        "systolic_bp": draws.happens(0.02),
        "creatinine": draws.happens(0.04),
        "haemoglobin": draws.happens(0.05),
        "visit_20w_date": no_visit,
        "ntprobnp_20w": no_visit | draws.happens(0.03),
    }
    return complete.with_columns(
        pl.when(pl.lit(pl.Series(~absent))).then(pl.col(column)).alias(column)
        for column, absent in missing.items()
    )


def to_csv(cohort: pl.DataFrame) -> bytes:
    """Write as CSV: comma, one decimal, ISO dates, nothing where a value is missing."""
    return cohort.write_csv(float_precision=1).encode()


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else COHORT
    target.parent.mkdir(parents=True, exist_ok=True)
    cohort = simulate()
    target.write_bytes(to_csv(cohort))
    print(f"{target}: {cohort.height} patients, {cohort.width} columns")


if __name__ == "__main__":
    main()
