"""Whether a study's results survive, for each setting of a sweep."""

from __future__ import annotations

from collections.abc import Sequence

from sosie.audits.results import Metric
from sosie.errors import Reason
from sosie.generate.avatarizer import Avatarizer
from sosie.studies.analyses import analyses
from sosie.tuning.results import AGREEING

__all__ = ["agreeing"]


def agreeing(avatarizer: Avatarizer, texts: Sequence[str]) -> Metric:
    """The share of terms, over releases, whose own estimate lies in the originals' interval.

    A term that a release has no estimate of, since a level is absent, does not agree.

    Parameters
    ----------
    avatarizer : fitted.
    texts : analyses (see `sosie.studies.grammar`).
    """
    count = 1 if AGREEING.swept is None else AGREEING.swept.releases
    releases = [avatarizer.draw(release) for release in range(count)]
    found = analyses(avatarizer.table, releases, texts)
    terms = [
        term
        for analysis in found.analyses
        for term in analysis.terms
        if term.original.interval is not None
    ]
    if not terms:
        reasons = (analysis.reason for analysis in found.analyses)
        return AGREEING.unavailable(next(filter(None, reasons), Reason("not_run")))
    inside = sum(term.avatars.inside or 0 for term in terms)
    return AGREEING.result(
        100 * inside / (len(terms) * count), detail={"terms": len(terms), "releases": count}
    )
