"""Columns that may identify people: noticed by their name, by what they hold, by their values.

Names are read in French and English, words apart (``nomNaissance``, ``birth_name``); values are
looked at one column at a time, so that memory stays linear in the rows.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
import unicodedata
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from sosie.compute.arrays import Codes, Ints
from sosie.data import frames
from sosie.data.frames import Frame, Series
from sosie.data.table import Roles, label_of
from sosie.errors import InputError

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "IdentifierError",
    "RepeatedError",
    "Suspect",
    "check",
    "is_iban",
    "is_social_security",
    "refusal",
    "repeated",
    "suspect",
    "suspects",
    "words_of",
]

Name = Hashable
Kind = Literal[
    "name",
    "email",
    "telephone",
    "social_security",
    "iban",
    "uuid",
    "free_text",
    "distinct",
    "repeated",
]

FEWEST_VALUES = 50
"""Distinct values that make an identifier by values alone; fewer are distinct by chance."""

FEWEST_NAMED = 10
"""A column whose name tells of people and that holds no more values is a category, such as
``adresse`` read as a yes or no."""

EXACT = 2.0**53
"""From here on, not every whole number is a float."""

NEARLY_DISTINCT = 0.9
"""Text with so many distinct values a row tells nearly everybody apart: names have namesakes."""

LOOKED_AT = 2_000
"""Distinct values whose content is looked at: shares are then known within 2 points."""

MOST_ROWS_OF_A_PERSON = 20
"""A value held by so many times the mean number of rows is a level, not a person."""

FEWEST_STRICT = 3
"""Values whose check digits are right (or e-mail addresses) that are no accident."""

MOST_WORDS = 5
"""Words of the median value from which a text is free."""


@dataclass(frozen=True)
class Suspect:
    """A column that may identify people, and why.

    Attributes
    ----------
    column : its name.
    kind : ``name`` (the column's name says so), a content (``email``, ``telephone``,
        ``social_security``, ``iban``, ``uuid``, ``free_text``), or its values: ``distinct``
        (a value for each row) or ``repeated`` (a value for each of several people's rows).
    distinct : distinct values.
    present : rows that have a value.
    share : of the values looked at, those of the content; 1 for a name or for values.
    numeric : whether the column holds numbers, so that a false alarm is answered by ``--numeric``.
    """

    column: Name
    kind: Kind
    distinct: int
    present: int
    share: float = 1.0
    numeric: bool = False

    @property
    def rows_each(self) -> float:
        """Rows that hold a value, on average."""
        return self.present / max(self.distinct, 1)


# ---------------------------------------------------------------- names


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text))


_ALONE = _words(
    "prenom prenoms surname lastname firstname forename forenames fullname patronyme pseudo "
    "username login nir ipp ssn mrn nhs nss insee_number iep nda adresse address street rue "
    "email mail courriel mel telephone tel phone mobile portable gsm cellphone fax telecopie "
    "iban rib passport passeport signature photo"
)
"""Words that name what identifies, wherever they stand."""

_NAMES = frozenset(("name", "names", "nom", "noms"))
_PEOPLE = _words(
    "patient person people client customer user subject participant member employee contact "
    "first last family given middle maiden birth full legal preferred married sur second "
    "mother father parent child spouse doctor physician practitioner nurse responder "
    "individual personne individu sujet assure beneficiaire usager salarie adherent proche "
    "famille naissance usage usuel jeune fille marital epouse epoux complet mere pere conjoint "
    "enfant medecin praticien traitant infirmier prenom of de du d des et and the la le l "
    "1 2 3"
)
"""What may stand beside a name that is a person's: ``drug_name`` and ``nom_du_service`` are not."""

_NUMBERS = _words(
    "id ids identifiant identifier identity uid uuid guid key cle num numero number no nr nb n "
    "code ref reference matricule"
)
_RECORDS = _words(
    "patient person people subject participant client customer user member employee personne "
    "individu sujet assure usager salarie adherent dossier record file case chart sejour stay "
    "encounter venue visit visite admission episode secu social security sante account compte "
    "insurance assurance mutuelle badge"
)
_HARMLESS = _words(
    "type kind status statut count length longueur consent consentement verified opt in out flag "
    "provided valid has avec have missing present yes oui nombre nb total usage_count hours "
    "heures duration duree consultation consultations contacts calls appels preference prefere "
    "score rate taux date year annee mode mean median"
)
"""What makes of a name a fact about the thing: ``email_opt_in``, ``adresse_type``."""


def words_of(name: Name) -> tuple[str, ...]:
    """The words of a column's name, without accents, in lower case.

    >>> words_of("NomNaissance"), words_of("n°_téléphone"), words_of("IPPpatient2")
    (('nom', 'naissance'), ('n', 'telephone'), ('ip', 'ppatient', '2'))
    """
    plain = unicodedata.normalize("NFKD", str(name).replace("°", " ").replace("œ", "oe"))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", plain)
    joined = " ".join(part.lower() for part in parts)
    for apart, whole in (("e mail", "email"), ("e mel", "email"), ("date of birth", "date")):
        joined = re.sub(rf"\b{apart}\b", whole, joined)
    return tuple(joined.split())


def _is_named_like_identity(words: Sequence[str]) -> bool:
    """Whether a column is called like what people are called, or where they can be reached."""
    if _HARMLESS & {*words}:
        return False
    of_people = all(word in _NAMES | _PEOPLE for word in words)
    return bool(_ALONE & {*words}) or (bool(_NAMES & {*words}) and of_people)


def _is_named_like_key(words: Sequence[str]) -> bool:
    """Whether a column is called like the number of a person or of a file on them."""
    return bool(_NUMBERS & {*words} and _RECORDS & {*words}) and not _HARMLESS & {*words}


# Whole numbers nearly all distinct and called so are identifiers, even where they are not sorted.
_KEYS = _NUMBERS - {"n", "nb"} | _words("pid nip pidnum patnum subjid usubjid index")


# ---------------------------------------------------------------- contents

_EMAIL = re.compile(r"[^\s@,;<>]+@[^\s@,;<>]+\.[A-Za-z]{2,}")
_TELEPHONE = re.compile(
    r"(?:(?:\+|00)[1-9][0-9]{0,2}[ .-]?(?:\(0\) ?)?[0-9]|0[1-9])(?:[ .-]?[0-9]{2}){4}"
    r"|(?:\+1[ .-]?)?(?:\([0-9]{3}\) ?|[0-9]{3}[.-])[0-9]{3}[ .-][0-9]{4}"
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_SOCIAL_SECURITY = re.compile(
    r"[1-478][0-9]{2}(?:0[1-9]|1[0-2]|[2-9][0-9])(?:[0-9]{2}|2[AB])[0-9]{6}[0-9]{2}"
)
_AMERICAN = re.compile(r"(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}")
_QUANTITY = re.compile(
    r"[<>≤≥~= ]*[+-]?[0-9]{1,3}(?:[ .,'’\u00a0\u202f]?[0-9]{3})*(?:[.,][0-9]+)? ?[%€$£]?"
)
_DATE = re.compile(r"[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}(?:[T ][0-9]{1,2}:[0-9]{2}.*)?")


def is_social_security(text: str) -> bool:
    """Whether a text is a French social security number (NIR) with its key.

    The key is 97 less the remainder of the first 13 digits by 97; of Corsica's departments,
    2A counts as 19 and 2B as 18 (INSEE).

    >>> is_social_security("1 85 05 78 006 084 91"), is_social_security("185057800608492")
    (True, False)
    """
    compact = re.sub(r"[\s.-]", "", text).upper()
    if not _SOCIAL_SECURITY.fullmatch(compact):
        return False
    digits = compact.replace("2A", "19").replace("2B", "18")
    return int(digits[13:]) == 97 - int(digits[:13]) % 97


def is_iban(text: str) -> bool:
    """Whether a text is an IBAN with its check digits.

    Its four first characters moved to the end and its letters read as 10 to 35, the number is 1
    modulo 97 (ISO 13616).

    >>> is_iban("FR14 2004 1010 0505 0001 3M02 606"), is_iban("FR14 2004 1010 0505 0001 3M02 607")
    (True, False)
    """
    compact = re.sub(r"\s", "", text).upper()
    if not _IBAN.fullmatch(compact):
        return False
    moved = compact[4:] + compact[:4]
    return int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


_CONTENTS: dict[Kind, tuple[Callable[[str], Any], bool]] = {
    # Whether a few values are enough: they have check digits, or a form that nothing else has.
    "social_security": (lambda t: is_social_security(t) or _AMERICAN.fullmatch(t), True),
    "email": (_EMAIL.search, True),
    "iban": (is_iban, True),
    "uuid": (_UUID.fullmatch, True),
    "telephone": (_TELEPHONE.fullmatch, False),
}


@dataclass(frozen=True)
class _Values:
    """Distinct values of a column with how many rows hold each; those looked at, as text."""

    distinct: int
    present: int
    most: int
    texts: tuple[str, ...]
    counts: Ints
    numeric: bool


def _values(series: Series, held: frames.Holds) -> _Values:
    """Count a column's values; which of them are looked at does not hang on the order of rows."""
    numeric = held in ("whole", "real")
    counted = _texts(series).drop_nulls().value_counts(name="rows")
    value, rows = counted.columns
    distinct, present = len(counted), int(counted[rows].sum() or 0)
    most = int(counted[rows].max() or 0)  # type: ignore[arg-type]
    if distinct > LOOKED_AT:
        order = counted[value].hash(seed=0).arg_sort()[:LOOKED_AT]
        counted = counted[order]
    texts = tuple(str(text).strip() for text in counted[value].to_list())
    return _Values(distinct, present, most, texts, counted[rows].to_numpy(), numeric)


def _texts(series: Series) -> pl.Series:
    """A column in Polars, text where it is neither a number nor true or false."""
    import polars as pl

    if series.dtype == nw.Object or series.dtype in (nw.Categorical, nw.Enum, nw.Unknown):
        codes, first = frames.factorize(series)
        labels = [label_of(value) for value in frames.objects_at(series, first)]
        words = pl.Series("value", [*labels, None], dtype=pl.String)
        return words.gather(np.where(codes < 0, len(labels), codes))
    native = series.to_native() if isinstance(series.to_native(), pl.Series) else None
    plain: pl.Series = series.to_polars() if native is None else native
    plain = plain.alias("value")
    return plain.fill_nan(None) if plain.dtype.is_float() else plain


def _content(values: _Values) -> tuple[Kind, float] | None:
    """What the values are, and the share of rows that hold it."""
    if values.numeric:
        return _number_content(values)
    total = max(int(values.counts.sum()), 1)
    for kind, (matches, strict) in _CONTENTS.items():
        hits = np.array([bool(matches(text)) for text in values.texts], dtype=bool)
        share = float(values.counts[hits].sum() / total)
        if share >= 0.5 or (strict and hits.sum() >= FEWEST_STRICT and share >= 0.01):
            return kind, share
    words = np.array([len(text.split()) for text in values.texts], dtype=np.int64)
    order = np.argsort(words)
    middle = np.searchsorted(np.cumsum(values.counts[order]), total / 2)
    # Labels of a code are long as well, and few: free text is written anew for most rows.
    if len(words) and words[order][middle] >= MOST_WORDS and _is_varied(values):
        return "free_text", float(values.counts[words >= MOST_WORDS].sum() / total)
    return None


def _is_varied(values: _Values) -> bool:
    """Whether three rows in ten have a text of their own."""
    return values.distinct > FEWEST_NAMED and values.distinct >= 0.3 * values.present


def _number_content(values: _Values) -> tuple[Kind, float] | None:
    """Telephone and social security numbers that were read as numbers and lost a leading zero."""
    if values.distinct <= FEWEST_NAMED:
        return None
    texts = [text.removesuffix(".0") for text in values.texts]
    for kind, matches in (
        ("social_security", is_social_security),
        ("telephone", partial(re.fullmatch, r"(?:33)?[67][0-9]{8}")),
    ):
        share = float(np.mean([bool(matches(text)) for text in texts])) if texts else 0.0
        if share >= 0.9:
            return kind, share  # type: ignore[return-value]
    return None


# ---------------------------------------------------------------- values


def _by_values(name: Name, series: Series, held: frames.Holds, values: _Values) -> bool:
    """Whether each row has a value of its own that tells nothing else."""
    if values.distinct < FEWEST_VALUES or held in ("boolean", "moment"):
        return False
    if not values.numeric:
        written = [bool(_QUANTITY.fullmatch(t) or _DATE.fullmatch(t)) for t in values.texts]
        padded = [t.startswith("0") and t.isdigit() and len(t) > 1 for t in values.texts]
        if np.mean(written) >= 0.5 and np.mean(padded) < 0.05:
            return False  # numbers or dates in their own way of writing
        return values.distinct >= NEARLY_DISTINCT * values.present
    is_key = bool(_KEYS & {*words_of(name)}) and not _HARMLESS & {*words_of(name)}
    if values.distinct < (NEARLY_DISTINCT if is_key else 1) * values.present:
        return False
    if is_key or not _is_whole(series, held):
        return is_key
    numbers = frames.floats(series)
    numbers = numbers[~np.isnan(numbers)]
    if max(abs(float(numbers.min())), abs(float(numbers.max()))) >= EXACT:
        return False  # whole numbers that large are not told apart as floats
    before, after = numbers[:-1], numbers[1:]  # compared, since differences overflow
    is_sorted = bool((after > before).all() or (after < before).all())
    # Nine tenths of the range are in use: numbers given one after the other.
    consecutive = float(numbers.max()) / 2 - float(numbers.min()) / 2 <= len(numbers) / 1.8 - 0.5
    return is_sorted or consecutive


def _is_whole(series: Series, held: frames.Holds) -> bool:
    if held == "whole":
        return True
    numbers = frames.floats(series)
    # A few rows settle it for most columns.
    parts = (numbers[:LOOKED_AT], numbers)
    return not any(np.mod(part[~np.isnan(part)], 1).any() for part in parts)


def _repeats(values: _Values, held: frames.Holds) -> bool:
    """Whether values are as many and as even as people with several rows each would have."""
    return (
        held in ("whole", "real", "other")
        and values.distinct >= FEWEST_VALUES
        and values.present >= 1.5 * values.distinct
        and values.most <= MOST_ROWS_OF_A_PERSON * values.present / values.distinct
    )


class _Others:
    """The columns of a table beside one that may be a key; their first rows are read once."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self._heads: dict[Name, NDArray[Any]] = {}

    def varies_early(self, name: Name, codes: Codes, held: frames.Holds) -> bool:
        """Whether a column has two values within some code among the first rows."""
        if name not in self._heads:
            rows = np.arange(len(codes))
            head = frames.take(frames.column(self.frame, name), rows)
            self._heads[name] = _compared(nw.from_native(head, series_only=True), held)
        known = codes >= 0
        return _varies(codes[known], self._heads[name][known], int(codes.max(initial=-1)) + 1)


def _is_of_people(others: _Others, name: Name) -> bool:
    """Whether a repeated value is a person.

    Either other columns never vary within it, and together tell nearly as many people apart as it
    does; or a date or a number rises within its rows, and starts anew with the next.
    """
    frame = others.frame
    codes, first = frames.factorize(frames.column(frame, name))
    known = codes >= 0
    # All rows of the first people settle it for most columns.
    few = np.flatnonzero(known & (codes < FEWEST_VALUES))[: 2 * LOOKED_AT]
    size = len(first)
    whole_runs = int(np.count_nonzero(np.diff(codes))) + 1 <= size + int((~known).any())
    key = np.zeros(size, dtype=np.int64)
    constant = 0
    for other in frame.columns:
        series = frames.column(frame, other)
        held = frames.holds(series)
        if other == name or held == "nested":
            continue
        if whole_runs and held in ("whole", "real", "moment") and _rises(series, held, codes):
            return True
        if others.varies_early(other, codes[:LOOKED_AT], held):
            continue
        taken = nw.from_native(frames.take(series, few), series_only=True)  # type: ignore[call-overload]
        if _varies(codes[few], _compared(taken, held), size):
            continue
        theirs, _ = frames.factorize(series)
        if _varies(codes[known], theirs[known], size):
            continue
        own = np.empty(size, dtype=np.int64)
        own[codes[known]] = theirs[known]
        # A label says the code again: only numbers and dates are so fine in a person.
        if held == "other" and len(np.unique(own)) >= NEARLY_DISTINCT * size:
            continue
        constant += len(np.unique(own)) > 1
        _, key = np.unique(key * (int(theirs.max(initial=0)) + 2) + own + 1, return_inverse=True)
    return constant >= 2 and int(key.max(initial=0)) + 1 >= NEARLY_DISTINCT * size


def _compared(series: Series, held: frames.Holds) -> NDArray[Any]:
    """Values that are equal where those of a column are."""
    if held in ("whole", "real"):
        return np.nan_to_num(frames.floats(series), nan=np.inf)
    return frames.ticks(series) if held == "moment" else frames.factorize(series)[0]


def _varies(codes: Codes, theirs: NDArray[Any], size: int) -> bool:
    """Whether a column has two values within some code."""
    seen = np.empty(size, dtype=theirs.dtype)
    seen[codes] = theirs
    return bool((seen[codes] != theirs).any())


def _rises(series: Series, held: frames.Holds, codes: Codes) -> bool:
    """Whether values rise from row to row within a code, and fall between codes now and then."""
    values = frames.ticks(series) if held == "moment" else frames.floats(series)
    inside = codes[1:] == codes[:-1]
    steps = np.diff(values)
    # Were the order one of chance, so many pairs in a row would not all rise; between two people
    # the clock starts anew, which tells a time from a number that the file is sorted by.
    enough = int(inside.sum()) >= FEWEST_VALUES
    return enough and bool((steps[inside] > 0).all()) and bool((steps[~inside] < 0).any())


# ---------------------------------------------------------------- the whole


def suspects(
    frame: object,
    *,
    answered: Sequence[Name] = (),
    outside: Sequence[Name] = (),
) -> tuple[Suspect, ...]:
    """Columns that may identify people, in their order in the table.

    Parameters
    ----------
    frame : a pandas, polars or pyarrow table, or a Parquet scan; one column is read at a time.
    answered : columns declared with ``--numeric`` or ``--categorical``: they are data.
    outside : columns that are dropped, replaced or kept, or that name the person.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({"e-mail": [f"p{i}@clinic.org" for i in range(20)], "age": range(20)})
    >>> [(s.column, s.kind, s.distinct) for s in suspects(table)]
    [('e-mail', 'email', 20)]

    Raises
    ------
    InputError
        It is no table.
    """
    source = frames.wrap(frame)
    skipped = {*answered, *outside}
    others = _Others(source)
    return tuple(
        found
        for name in source.columns
        if name not in skipped
        if (found := _suspect(name, frames.column(source, name), others)) is not None
    )


def suspect(name: Name, series: Series, frame: Frame | None = None) -> Suspect | None:
    """Why a column may identify people; None where it does not.

    Parameters
    ----------
    frame : its table; without it, nothing is said of values that several rows of a person share.
    """
    return _suspect(name, series, None if frame is None else _Others(frame))


def _suspect(name: Name, series: Series, others: _Others | None) -> Suspect | None:
    held = frames.holds(series)
    if held in ("nested", "boolean", "moment") or frames.is_missing(series).all():
        return None
    if held == "real" and not _is_whole(series, held):
        return None  # a measurement
    values = _values(series, held)
    said = partial(
        Suspect, name, distinct=values.distinct, present=values.present, numeric=values.numeric
    )
    content = _content(values)
    if content is not None:
        return said(kind=content[0], share=content[1])
    if _names_it(name, series, held, values):
        return said(kind="name")
    if _by_values(name, series, held, values):
        return said(kind="distinct")
    if others is not None and _repeats(values, held) and _could_be_key(series, held, values):
        return said(kind="repeated") if _is_of_people(others, name) else None
    return None


def _names_it(name: Name, series: Series, held: frames.Holds, values: _Values) -> bool:
    """Whether the name says so, and the values do not say otherwise."""
    words = words_of(name)
    named = (
        _is_named_like_identity(words) and values.distinct > min(FEWEST_NAMED, values.present // 2)
    ) or (
        # A visit's number is no key: 1 to 12, and the same for everybody.
        _is_named_like_key(words) and values.distinct >= min(FEWEST_VALUES, values.present // 2)
    )
    return named and (not values.numeric or _is_whole(series, held))


def _could_be_key(series: Series, held: frames.Holds, values: _Values) -> bool:
    if values.numeric:
        return _is_whole(series, held)
    return float(np.mean([bool(_DATE.fullmatch(text)) for text in values.texts])) < 0.5


_BECAUSE: dict[Kind, str] = {
    "name": "by its name",
    "email": "e-mail addresses",
    "telephone": "telephone numbers",
    "social_security": "social security numbers",
    "iban": "bank accounts",
    "uuid": "unique keys",
    "free_text": "free text",
    "distinct": "a value for each row",
    "repeated": "a value for each person's rows",
}


def because(suspect: Suspect) -> str:
    """Why a column is suspected, in a few words.

    >>> because(Suspect("patient", "repeated", distinct=300, present=2400))
    "a value for each person's rows: 300 values on 2,400 rows"
    """
    words = _BECAUSE[suspect.kind]
    if suspect.kind == "repeated":
        return f"{words}: {suspect.distinct:,} values on {suspect.present:,} rows"
    if suspect.share < 0.995:
        return f"{words} in {100 * suspect.share:.0f} % of its rows"
    return words


class IdentifierError(InputError):
    """Columns that may identify people are among those to be published.

    Attributes
    ----------
    suspects : these columns.
    """

    def __init__(self, found: Sequence[Suspect]) -> None:
        super().__init__(refusal(found))
        self.suspects = tuple(found)


def check(frame: object, roles: Roles) -> None:
    """Raise IdentifierError for columns that may identify people and are given no role.

    Parameters
    ----------
    frame : see `suspects`.
    roles : what is declared numeric, categorical or a date is data.
    """
    found = suspects(
        frame,
        answered=(*roles.categorical, *roles.numeric, *roles.date),
        outside=(*roles.keep, *roles.drop, *roles.id),
    )
    if found:
        raise IdentifierError(found)


def refusal(found: Sequence[Suspect], command: Sequence[str] = ()) -> str:
    """One line that names all suspects and prints the whole command to go on.

    Parameters
    ----------
    found : the suspects, one at least.
    command : the command that was given, without what the line proposes; empty in Python.

    Examples
    --------
    >>> found = [Suspect("nom", "name", 290, 300), Suspect("age at entry", "distinct", 60, 60)]
    >>> print(refusal(found, ["sosie", "run", "visits.csv"]))
    columns that may identify people: 'nom' (by its name), 'age at entry' (a value for each row); to
    go on without them: sosie run visits.csv --drop 'nom,age at entry'; if one of them identifies
    nobody, leave it out of --drop and say so once: --categorical COL
    >>> print(refusal(found[:1]))
    columns that may identify people: 'nom' (by its name); to go on without them: drop=['nom']
    (--drop nom); if one of them identifies nobody, leave it out and say so once:
    categorical=['nom']
    """
    named = ", ".join(f"{suspect.column!r} ({because(suspect)})" for suspect in found)
    if not command:
        numeric = all(suspect.numeric for suspect in found)
        say = f"{'numeric' if numeric else 'categorical'}=[{found[0].column!r}]"
        return (
            f"columns that may identify people: {named}; to go on without them: "
            f"drop={[suspect.column for suspect in found]!r} ({shlex.join(_drops(found))}); if one"
            f" of them identifies nobody, leave it out and say so once: {say}"
        )
    return (
        f"columns that may identify people: {named}; to go on without them: "
        f"{shlex.join([*command, *_drops(found)])}; if one of them identifies nobody, leave it "
        f"out of --drop and say so once: {_answers(found)}"
    )


def _drops(found: Sequence[Suspect]) -> tuple[str, str]:
    """``--drop a,b,c``; a name with a comma of its own stands in double quotes."""
    names = io.StringIO()
    csv.writer(names, lineterminator="").writerow([suspect.column for suspect in found])
    return "--drop", names.getvalue()


def _answers(found: Sequence[Suspect]) -> str:
    ways = {"--numeric COL" if suspect.numeric else "--categorical COL" for suspect in found}
    return ", or ".join(sorted(ways))


# ---------------------------------------------------------------- rows of a person

_OF_A_PERSON = _words(
    "patient person people subject participant client customer user member employee personne "
    "individu sujet assure usager salarie adherent"
)
_PERSON_NUMBERS = _words("nir ipp ssn mrn nhs nss pid subjid usubjid patnum pidnum")

MOST_ROWS_EACH = 2.0
"""Rows of a person on average from which a table is one of rows, not of people: below it most rows
are a person's only one."""


class RepeatedError(InputError):
    """Rows are not people: a number of the person stands on several rows.

    Attributes
    ----------
    suspect : the column that tells whose a row is.
    """

    def __init__(self, found: Suspect) -> None:
        super().__init__(
            f"column {found.column!r} tells {found.distinct:,} people on {found.present:,} rows,"
            f" {found.rows_each:.1f} rows each: what protects a row does not protect a person; say"
            f" whose rows they are (--person {found.column}; fit(…, person={found.column!r})), or"
            " go on and have rows protected, not people (--rows-are-people; rows_are_people=True)"
        )
        self.suspect = found


def repeated(frame: object, names: Sequence[Name]) -> Suspect | None:
    """The column among some that tells whose a row is, where people have several rows.

    Names of people, addresses and the like don't tell: others share them.

    Parameters
    ----------
    frame : see `suspects`.
    names : columns to be looked at, such as those that are dropped, replaced or kept.

    Returns
    -------
    Suspect or None
        Of several, the one with most rows for each value.

    Examples
    --------
    >>> import polars as pl
    >>> visits = pl.DataFrame({"patient_id": [i // 3 for i in range(300)], "x": range(300)})
    >>> repeated(visits, ["patient_id"]).rows_each
    3.0
    """
    source = frames.wrap(frame)
    found = (
        suspect(name, frames.column(source, name), source)
        for name in source.columns
        if name in names
    )
    several = [one for one in found if one is not None and one.rows_each > 1 and _is_person(one)]
    return max(several, key=lambda one: one.rows_each, default=None)


def _is_person(found: Suspect) -> bool:
    """Whether values are a person's own."""
    words = {*words_of(found.column)}
    number = bool(words & _PERSON_NUMBERS) or bool(words & _OF_A_PERSON and words & _NUMBERS)
    return found.kind in ("repeated", "social_security") or number
