"""Write what lists all metrics: docs/metrics.md, those of docs/api.md, src/sosie/audits/public.py.

``python scripts/metrics_page.py`` after a metric has come, or a change of its docstring or of its
words. The words come from the catalogues that the report uses, the rest from the docstrings.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from sosie.audits.definition import Definition
from sosie.audits.registry import CRITERIA, DEFINITIONS, MEASURES
from sosie.words import load

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "metrics.md"
API = ROOT / "docs" / "api.md"
PUBLIC = ROOT / "src" / "sosie" / "audits" / "public.py"

LISTED = re.compile(r"(?<=<!-- metrics -->\n).*?(?=<!-- end -->)", re.DOTALL)
"""The part of docs/api.md that lists the metrics."""

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
- **Twins**: `run` publishes avatars of everyone, so that nobody is left to compare with. There,
  linkability, inference, membership and the predictive ratio are measured on twins: five times
  the same method, with secrets of its own, is fitted to four fifths of the people and the others
  are the strangers, so that everyone is attacked once as a stranger and once as a member, over
  three releases of each twin. Both rates are about the same people, and the interval of a risk is
  that of the mean difference between the two over all of them (delta method); the area and the
  rate of membership take each person once on each side; the predictive ratio has the jackknife of
  the five. Folds overlap in whom they were fitted to, which no interval here counts. The latent
  spaces of known columns are those of the whole table, and serve all folds; of a column's levels
  the 59 commonest count each, all others as one. Inference tries each secret on 2,000 people at
  most (their rates have intervals of that number), and reports the two chosen on everybody; of
  more than 100 columns it tries 100 secrets drawn at random, along the axes of all columns, on
  which the secret counts as nothing. Twins of larger tables are made of 20,000 people. Tables of
  fewer than 200 people, and strata that four fifths leave with fewer than k, have a reason
  instead. With `--holdout` the people set aside are used.
- **Intervals** are at 95 %.
- **Targets** are those in use for avatars: conventions, not legal limits. A context file sets
  others by recipient, sensitivity and number of releases (`sosie.Context`).
- No metric settles whether data are anonymous: each says what one attacker would see.

`sosie.what_if_kept` says what columns would reveal if they were kept unchanged, and what to do
instead. This page is made by `scripts/metrics_page.py`.

"""


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


def api() -> str:
    """docs/api.md with every metric under its criterion."""
    words = load("en")
    lines = [""]
    for criterion in CRITERIA:
        lines += [f"### {words(f'criteria.{criterion}.name')}", ""]
        for definition in DEFINITIONS:
            if definition.criterion == criterion:
                lines += [f"::: sosie.{definition.key}", "    options: { heading_level: 4 }", ""]
    return LISTED.sub(lambda _: "\n".join(lines) + "\n", API.read_text(encoding="utf-8"))


def public() -> str:
    """The names of all metrics, which type checkers can't find by themselves."""
    homes = sorted((MEASURES[d.key].__module__, d.key) for d in DEFINITIONS)
    imports = "".join(map(_import, homes))
    names = "".join(f'    "{key}",\n' for key in sorted(key for _, key in homes))
    says = '"""The metrics by name, for type checkers; written by ``scripts/metrics_page.py``."""'
    return f"{says}\n\n{imports}\n__all__ = [\n{names}]\n"


def _import(home: tuple[str, str]) -> str:
    """As the project's layout has it, 100 columns wide."""
    module, key = home
    line = f"from {module} import {key}\n"
    return line if len(line) <= 101 else f"from {module} import (\n    {key},\n)\n"


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
    method, source = _method_and_source(inspect.getdoc(MEASURES[key]) or "")
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


def _method_and_source(docstring: str) -> tuple[str, str]:
    """What a docstring says before its parameters, and its notes, as Markdown."""
    parts = re.split(r"\n\n(?=\w+\n-+\n)", docstring)
    notes = next((part.split("\n", 2)[2] for part in parts if part.startswith("Notes\n")), "")
    return _markdown(parts[0]), _markdown(notes)


def _markdown(text: str) -> str:
    return re.sub(
        r"::\n\n((?:    .*\n?)+)",
        lambda block: ":\n\n```text\n" + inspect.cleandoc(block[1]) + "\n```\n",
        text.replace("``", "`"),
    ).strip()


if __name__ == "__main__":
    for file, text in ((PAGE, page()), (API, api()), (PUBLIC, public())):
        file.write_text(text, encoding="utf-8")
