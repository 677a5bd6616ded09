"""The bundled cohort: 2,000 simulated patients of a heart failure trial, two doses and placebo.

Nobody in it exists: `scripts/make_cohort.py` makes the file from laws and a seed. It has what real
files have: every type of column, missing values, dates, a postcode with several hundred levels,
columns that must not contradict each other, and an identifier somebody forgot to take out.

=====================  =============================================================
patient_id             the forgotten identifier, all distinct
centre                 where the patient was included
inclusion_date         date of randomisation
arm, arm_label         treatment, as a code and in words; linked
sex, birth_date, age   age in years at inclusion
postcode               five digits, of home; text, as some start with 0
height_cm, weight_kg   centimetres; kilograms, one decimal
smoking                never, former, current
diabetes               true or false
atrial_fibrillation    true or false
prior_therapy_days     days on the therapy used before; 0 for many
nyha                   functional class, I to IV
lvef                   left ventricular ejection fraction, percent
systolic_bp            mmHg
creatinine             micromoles per litre
haemoglobin            g/dL, one decimal
ntprobnp               the biomarker at inclusion, pg/mL
visit_20w_date         date of the visit at 20 weeks; missing if there was none
ntprobnp_20w           the biomarker at that visit, pg/mL
followup_days          days from inclusion to death or to the end of follow-up
death                  1 if followup_days ends with death, 0 if censored
=====================  =============================================================
"""

from importlib import resources
from pathlib import Path
from typing import Final

DROP: Final = ("patient_id",)
"""Columns to drop before making avatars: the forgotten identifier."""

LINKED: Final = (("arm", "arm_label"),)
"""Groups of columns that say the same thing, to be drawn from the same neighbour."""

CATEGORICAL: Final = ("postcode",)
"""Columns of digits that are names, not quantities."""

DATES: Final = {
    "inclusion_date": "%Y-%m-%d",
    "birth_date": "%Y-%m-%d",
    "visit_20w_date": "%Y-%m-%d",
}
"""Date columns and the format they are written in."""


def path() -> Path:
    """Say where the cohort's CSV file is.

    Returns
    -------
    Path
        UTF-8, comma separated, one header line, 2,000 rows, 25 columns; a missing value is empty.

    Examples
    --------
    >>> path().name
    'cohort.csv'
    """
    return Path(str(resources.files("sosie.data") / "cohort.csv"))


def visits() -> Path:
    """Say where the file of visits is: several rows a person, of the cohort's first 500 patients.

    Returns
    -------
    Path
        CSV as the cohort's. ``patient_id``, ``visit_date``, and at each visit ``weight_kg``,
        ``systolic_bp``, ``ntprobnp``, ``nyha`` and whether the patient was ``admitted`` to hospital
        since the last one. Simulated by ``scripts/make_visits.py``.

    Examples
    --------
    >>> visits().name
    'visits.csv'
    """
    return Path(str(resources.files("sosie.data") / "visits.csv"))
