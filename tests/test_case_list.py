"""Tables that break tools of this kind: every case of the list has tests that carry its number.

The names of the tests say the number: ``test_case_12_…``. What concerns files is tested
through the command line too.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
COMMAND_LINE = (
    "test_case_command_line.py",
    "test_interruption.py",
    "test_hospital.py",
    "test_case_real_files.py",
)

CASES = {
    1: "column names with spaces, quotes, a newline, an emoji, a keyword",
    2: "integer column names; two columns of the same name",
    3: "columns in another order; a missing or an extra column",
    4: "an index that starts at 1000, is a date or has duplicates",
    5: "pandas' nullable and pyarrow-backed dtypes with missing values",
    6: "integers with missing values",
    7: "dates in several units, with a time zone; dates as text",
    8: "types that drift between two tables",
    9: "true and false, 0 and 1",
    10: "a column all missing",
    11: "missing in the avatars where the originals have none",
    12: "two columns with missing values, independent",
    13: "NaN, None, NaT and NA",
    14: "constant columns",
    15: "all numbers, all categories, one column, 200 columns, more columns than rows",
    16: "3 rows; k as large as n, and larger",
    17: "duplicates, exact twins, nine tenths of the rows identical",
    18: "thousands of levels",
    19: "a level of one table only, or of one person",
    20: "an identifier left in",
    21: "infinite, huge and tiny numbers; integers above 2^53",
    22: "decimals, ranges and extremes",
    23: "the leak dial",
    24: "nothing to check",
    25: "attack and chance both near 0",
    26: "the same seed gives the same bytes",
    27: "names of the levels",
    28: "inputs are not changed",
    29: "CSV of all kinds; nested columns in Parquet",
    30: "a disk that fills up; an interruption",
    31: "thousands separators",
    32: "a file without a header",
    33: "a total row, a preamble, percents and currencies",
    34: "codes for missing values in a column of numbers",
    35: "values with a limit",
    36: "NA beside empty cells",
    37: "a partitioned Parquet folder",
    38: "text with a zone; two-digit years",
    39: "names that are no names; options of the wrong type",
    40: "declared levels; results that are pickled",
    41: "codes with hundreds of rare levels",
    42: "a rare outcome",
    43: "an identifier on several rows; names, e-mails, numbers",
    44: "the same person on several rows",
    45: "booleans and zip codes written otherwise",
    47: "what held for every original holds for every avatar",
    49: "dtypes of a folder written on a cluster",
}

LIBRARY_ONLY = {
    4: "files have no index",
    5: "files have no dtypes of pandas",
    12: "statistics on thousands of rows: the same code, whatever the file",
    23: "the audit behind the command is what is tested",
    25: "the audit behind the command is what is tested",
    27: "the tables behind the files are what is tested",
    39: "files have no such names, and the command line checks its own options",
    40: "files have no declared levels that nobody uses",
    49: "a folder that the library reads",
}


def files_by_case() -> dict[int, set[str]]:
    """Number of the case -> files that have a test of it."""
    found = defaultdict(set)
    for path in TESTS.rglob("test_*.py"):
        names = re.findall(r"^def (test_cases?_\d\d_\w+)", path.read_text("utf-8"), re.MULTILINE)
        for number in (n for name in names for n in re.findall(r"(?<=_)\d\d(?=_)", name)):
            found[int(number)].add(path.name)
    return found


@pytest.mark.parametrize("number", CASES)
def test_the_case_has_tests(number: int) -> None:
    files = files_by_case()[number]
    assert files
    if number not in LIBRARY_ONLY:
        assert files & {*COMMAND_LINE}, f"no test of the command line: {CASES[number]}"


def test_there_is_no_other_case() -> None:
    assert set(files_by_case()) == set(CASES)
