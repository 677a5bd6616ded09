"""Write docs/metrics.md: each metric in plain words, English and French, and how it is computed.

``python scripts/metrics_page.py`` after a change of a metric's docstring or of its words. The words
come from the catalogues that the report uses, the rest from the docstrings.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from sosie.audits.registry import DEFINITIONS, MEASURES
from sosie.audits.results import Definition
from sosie.words import load

PAGE = Path(__file__).resolve().parent.parent / "docs" / "metrics.md"

INTRODUCTION = """\
# Metrics

Each metric is a function of two tables and stands alone; `sosie.audit` computes all of them from
one projection and one neighbour search. Any synthetic table can be measured: it needs neither to be
made by sosie, nor as many rows, nor to be aligned. What can't be computed has no value, and says
why.

```python
audit = sosie.audit(originals, avatars, aligned=True, holdout=people_set_aside)
audit.privacy.hidden_rate.value, audit.privacy.hidden_rate.ci
sosie.hidden_rate(originals, avatars).value
```

- **Distances** are Euclidean between coordinates of a factor analysis of mixed data (FAMD) fitted
  on the originals, in 5 components unless told otherwise.
- **Values** are compared, not representations: 1 and 1.0, a category and a string, a date and its
  timestamp are equal. A missing value is a value like any other.
- **Controls**: with people set aside before the avatars were made (`--holdout`), a metric is given
  beside what these people score. Without them, avatars may lie closer to their people than
  strangers do, and nobody would see it.
- **Intervals** are at 95 %.
- **Targets** are those in use for avatars: conventions, not legal limits. A context file sets
  others by recipient, sensitivity and number of releases (`sosie.Context`).
- No metric settles whether data are anonymous: each says what one attacker would see.

`sosie.what_if_kept` says what columns would reveal if they were kept unchanged, and what to do
instead. This page is made by `scripts/metrics_page.py`.

"""

CRITERIA = ("singling_out", "linkability", "inference", "membership", "utility")


def page() -> str:
    """The whole page, as Markdown."""
    parts = [INTRODUCTION, _overview()]
    for criterion in CRITERIA:
        english, french = (load(language) for language in ("en", "fr"))
        parts.append(f"## Criterion: {english(f'criteria.{criterion}.name').lower()}\n\n")
        parts.append(f"{english(f'criteria.{criterion}.definition')}\n\n")
        parts.append(f"*{french(f'criteria.{criterion}.definition')}*\n\n")
        parts.extend(_section(d) for d in DEFINITIONS if d.criterion == criterion)
    return "".join(parts).rstrip() + "\n"


def _overview() -> str:
    words = load("en")
    rows = [
        f"| [{words(f'metrics.{d.key}.name')}](#{_anchor(words(f'metrics.{d.key}.name'))}) "
        f"| `{d.key}` | {d.unit} | {words.target(d.target, d.direction, d.unit)} "
        f"| {words(f'criteria.{d.criterion}.name')} |\n"
        for d in DEFINITIONS
    ]
    head = "| metric | key | unit | target | criterion |\n| --- | --- | --- | --- | --- |\n"
    return head + "".join(rows) + "\n"


def _anchor(name: str) -> str:
    return re.sub(r"[^\w\- ]", "", name.lower()).replace(" ", "-")


def _section(definition: Definition) -> str:
    key, words, mots = definition.key, load("en"), load("fr")
    method, source = _told(inspect.getdoc(MEASURES[key]) or "")
    target = "none in print" if definition.target is None else ""
    target = target or words.target(definition.target, definition.direction, definition.unit)
    return (
        f"### {words(f'metrics.{key}.name')}\n\n"
        f"`{key}`, in {definition.unit}; {definition.direction} is better; target: {target}.\n\n"
        f"{words(f'metrics.{key}.definition')} {words(f'metrics.{key}.direction')}\n\n"
        f"*{mots(f'metrics.{key}.name')}. {mots(f'metrics.{key}.definition')} "
        f"{mots(f'metrics.{key}.direction')}*\n\n"
        f"{method}\n\n" + (f"{source}\n\n" if source else "")
    )


def _told(docstring: str) -> tuple[str, str]:
    """What a docstring says before its parameters, and its notes, as Markdown."""
    told = re.split(r"\n\n(?=\w+\n-+\n)", docstring)
    notes = next((part.split("\n", 2)[2] for part in told if part.startswith("Notes\n")), "")
    return _markdown(told[0]), _markdown(notes)


def _markdown(text: str) -> str:
    return re.sub(
        r"::\n\n((?:    .*\n?)+)",
        lambda block: ":\n\n```text\n" + inspect.cleandoc(block[1]) + "\n```\n",
        text.replace("``", "`"),
    ).strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
