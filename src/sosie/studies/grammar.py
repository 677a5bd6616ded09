"""The texts that name an analysis, read into plain parts.

======================================  =====================================================
``mean days by arms``                   the mean of a number in each group
``share cens by arms``                  the share of each value in each group
``odds cens by treat``                  2 x 2 tables with their odds ratio
``cens ~ age + cd40``                   logistic where the outcome has two values, else linear
``survival days, cens ~ arms + age``    Cox; one category alone also gives curves and log-rank
======================================  =====================================================

On the right of ``~`` stand names joined by ``+``, ``:`` (interaction) and ``*`` (both and their
interaction), with parentheses; an interaction stands with its parts (marginality, Nelder 1977).
A name with anything but letters, digits, ``_`` and ``.`` stands in quotes (``"``, ``'`` or a
backtick; the same quote twice stands for itself). Names are names: no text is ever evaluated.

Sources: Wilkinson and Rogers 1973 (the notation); formulaic expands the operators.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sosie.errors import InputError
from sosie.studies.extra import library

__all__ = ["Model", "Study", "parse"]

Name = Hashable
Model = Literal["mean", "share", "odds", "regression", "survival"]

_TOKEN = re.compile(
    r"""\s*(?:(?P<quoted>"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`)"""
    r"""|(?P<word>[\w.]+)|(?P<sign>[+:*~,()]))""",
)
BY_GROUP: Mapping[str, Model] = {"mean": "mean", "share": "share", "odds": "odds"}
LONGEST = 10_000
"""Characters of a text: parsing is recursive, and no study needs a longer one."""


@dataclass(frozen=True)
class Study:
    """One analysis, before it meets a table.

    Attributes
    ----------
    text : as it was written.
    model : ``mean``, ``share``, ``odds``, ``regression`` or ``survival``.
    outcome : the column that is explained; of ``survival``, the time.
    terms : each the columns whose product it is; of tables by group, the group.
    event : of ``survival``, the column that is 1 where the time ends with the event.
    """

    text: str
    model: Model
    outcome: Name
    terms: tuple[tuple[Name, ...], ...]
    event: Name | None = None

    @property
    def columns(self) -> tuple[Name, ...]:
        """Every column it needs, each once, in order of appearance."""
        events = () if self.event is None else (self.event,)
        factors = [name for term in self.terms for name in term]
        return tuple(dict.fromkeys([self.outcome, *events, *factors]))

    def of(self, names: Sequence[Name]) -> Study:
        """The same analysis with a table's own names: the text ``0`` may mean the number 0.

        Raises
        ------
        InputError
            The table lacks a column.
        """
        own = {str(name): name for name in reversed(names)} | {name: name for name in names}
        for name in self.columns:
            if name not in own:
                close = difflib.get_close_matches(str(name), [str(n) for n in names], 1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise InputError(f"analysis {self.text!r}: there is no column {name!r}{hint}")
        terms = tuple(tuple(own[name] for name in term) for term in self.terms)
        event = None if self.event is None else own[self.event]
        return replace(self, outcome=own[self.outcome], terms=terms, event=event)


@dataclass(frozen=True)
class _Token:
    """A name, or a sign of the grammar."""

    text: str
    kind: Literal["name", "word", "sign"]

    def is_sign(self, sign: str) -> bool:
        return self.kind == "sign" and self.text == sign

    def is_word(self, word: str) -> bool:
        return self.kind == "word" and self.text.lower() == word


def parse(text: str) -> Study:
    """Read the text of one analysis.

    Raises
    ------
    InputError
        The text does not follow the grammar, or names a column on both sides.

    Examples
    --------
    >>> parse('mean "length of stay" by arm').columns
    ('length of stay', 'arm')
    >>> parse("survival days, cens ~ arms * age").terms
    (('arms',), ('age',), ('arms', 'age'))
    """
    if not isinstance(text, str):
        raise InputError(f"an analysis is a text such as 'mean days by arms', got {text!r}")
    tokens = _tokens(text)
    first = tokens[0]
    followed = len(tokens) > 1 and not tokens[1].is_sign("~")
    if followed and first.kind == "word" and first.text.lower() in BY_GROUP:
        study = _by_group(text, tokens)
    elif followed and first.is_word("survival"):
        study = _survival(text, tokens)
    else:
        study = _regression(text, tokens)
    sides = [study.outcome, *([] if study.event is None else [study.event])]
    both = next((name for term in study.terms for name in term if name in sides), None)
    if both is not None or len({*sides}) < len(sides):
        name = sides[0] if both is None else both
        raise InputError(f"analysis {text!r}: column {name!r} stands in two places")
    return study


def _tokens(text: str) -> list[_Token]:
    if len(text) > LONGEST:
        raise InputError(f"an analysis has at most {LONGEST:,} characters, got {len(text):,}")
    tokens, place, end = [], 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            rest = text[place:].lstrip()
            if rest[0] in "\"'`":
                raise InputError(f"analysis {text!r}: the quote {rest[0]} is not closed")
            raise InputError(
                f"analysis {text!r}: {rest[0]!r} is not part of the grammar; put names with other "
                "characters than letters, digits, _ and . in quotes"
            )
        place = match.end()
        quoted = match["quoted"]
        if quoted:
            mark = quoted[0]
            tokens.append(_Token(quoted[1:-1].replace(mark * 2, mark), "name"))
        else:
            kind: Literal["word", "sign"] = "word" if match["word"] else "sign"
            tokens.append(_Token(match[kind], kind))
    if not tokens:
        raise InputError("an analysis is empty; write one such as 'mean days by arms'")
    return tokens


def _by_group(text: str, tokens: Sequence[_Token]) -> Study:
    model = BY_GROUP[tokens[0].text.lower()]
    shape = len(tokens) == 4 and tokens[2].is_word("by")
    if not shape or "sign" in (tokens[1].kind, tokens[3].kind):
        raise InputError(f"analysis {text!r}: expected '{model} OUTCOME by GROUP'")
    return Study(text, model, tokens[1].text, ((tokens[3].text,),))


def _survival(text: str, tokens: Sequence[_Token]) -> Study:
    shape = len(tokens) > 5 and tokens[2].is_sign(",") and tokens[4].is_sign("~")
    if not shape or "sign" in (tokens[1].kind, tokens[3].kind):
        raise InputError(f"analysis {text!r}: expected 'survival TIME, EVENT ~ TERMS'")
    terms = _terms(text, tokens[5:])
    return Study(text, "survival", tokens[1].text, terms, event=tokens[3].text)


def _regression(text: str, tokens: Sequence[_Token]) -> Study:
    if len(tokens) < 3 or tokens[0].kind == "sign" or not tokens[1].is_sign("~"):
        raise InputError(
            f"analysis {text!r}: expected 'mean OUTCOME by GROUP', 'share OUTCOME by GROUP', "
            "'odds OUTCOME by GROUP', 'OUTCOME ~ TERMS' or 'survival TIME, EVENT ~ TERMS'"
        )
    return Study(text, "regression", tokens[0].text, _terms(text, tokens[2:]))


def _terms(text: str, tokens: Sequence[_Token]) -> tuple[tuple[Name, ...], ...]:
    """Sums and products expanded; the parser sees no name, only v0, v1, … in their place."""
    parser = library("formulaic.parser")
    errors = library("formulaic.errors")
    names = list(dict.fromkeys(token.text for token in tokens if token.kind != "sign"))
    plain = " ".join(
        token.text if token.kind == "sign" else f"v{names.index(token.text)}" for token in tokens
    )
    wrong = f"analysis {text!r}: after ~ come names joined by +, : or *"
    if any(token.kind == "sign" and token.text in "~," for token in tokens):
        raise InputError(wrong)
    try:
        found = parser.DefaultFormulaParser(include_intercept=False).get_terms(plain)
    except (errors.FormulaicError, RecursionError) as error:
        raise InputError(wrong) from error
    expanded = [
        tuple(names[int(factor.expr.removeprefix("v"))] for factor in term.factors)
        for term in found
    ]
    _check_marginal(text, expanded)
    return tuple(sorted(expanded, key=len))


def _check_marginal(text: str, terms: Sequence[tuple[Name, ...]]) -> None:
    """Raise InputError for an interaction without its parts: its coefficients mislead."""
    known = {frozenset(term) for term in terms}
    for term in terms:
        for name in term:
            if len(term) > 1 and frozenset(term) - {name} not in known:
                raise InputError(
                    f"analysis {text!r}: an interaction stands with its parts; write "
                    + "*".join(map(str, term))
                )
