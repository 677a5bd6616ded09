"""What a run's JSON files say, as a run on a cohort would: for the tests of the report."""

from __future__ import annotations

import copy
from datetime import date, timedelta
from typing import Any

import numpy as np

from sosie.audits.results import Metric
from sosie.audits.structure import MOST_COLUMNS
from sosie.tuning import Setting, Trial, Tuning

Json = dict[str, Any]

HOSTILE = "</script><script>alert('1')</script>"
EMOJI = '🩺 "dose" & <b>weight</b>'

_NUMBERS = (
    ("weight", 74.0, 13.0),
    ("height", 168.0, 9.0),
    ("bmi", 26.2, 4.1),
    ("glucose", 5.6, 1.3),
)
_COUNTS = (("age", 54.0, 14.0), ("visits", 6.0, 3.0), ("cd4", 350.0, 118.0))
_LEVELS: dict[str, tuple[str, ...]] = {
    "sex": ("F", "M"),
    "arm": ("placebo", "10 mg", "20 mg"),
    "smoker": ("never", "former", "current"),
    "department": tuple(f"department {number:02d}" for number in range(1, 41)),
    "diagnosis": ("heart failure with preserved ejection fraction", "hypertension", "diabetes"),
}
_BOOLEANS = ("treated", "relapse", "deceased")
_DATES = ("inclusion", "last_contact")
_K = 5


def run(seed: int = 3) -> Json:
    """``run.json`` of a cohort of 2,000 people."""
    random = np.random.default_rng(seed)
    distributions = [
        *(_number(random, name, mean, sd, "number") for name, mean, sd in _NUMBERS),
        *(_number(random, name, mean, sd, "integer") for name, mean, sd in _COUNTS),
        *(_category(random, name, levels) for name, levels in _LEVELS.items()),
        *(_boolean(random, name) for name in _BOOLEANS),
        *(_date(random, name) for name in _DATES),
    ]
    columns = [
        {"name": entry["column"], "kind": entry["kind"], "role": "avatar"}
        for entry in distributions
    ]
    columns += [
        {"name": "site", "kind": "category", "role": "keep"},
        {"name": "patient_id", "kind": "integer", "role": "drop"},
    ]
    return {
        "schema": "sosie/run/1",
        "version": "0.1.0",
        "created": "2026-11-30T10:00:00+00:00",
        "data": {
            "name": "cohort.csv",
            "rows": 2000,
            "columns": len(columns),
            "fingerprint": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        },
        "parameters": {
            "k": _K,
            "components": 5,
            "method": "smoothed",
            "decode": "draw",
            "min_level_count": _K,
            "augment": 1,
            "keep": ["site"],
            "drop": ["patient_id"],
            "id": [],
            "linked": [["height", "bmi"]],
            "weights": {"cd4": 2.0},
        },
        "columns": columns,
        "warnings": [
            "'inclusion' looks like a date but was read as text; --date inclusion reads it"
        ],
        "what_if_kept": _what_if_kept(),
        "figures": {
            "projection": _projection(random),
            "distributions": distributions,
            "associations": _associations([entry["column"] for entry in distributions]),
            "contributions": _contributions([entry["column"] for entry in distributions]),
            "space": _space(),
        },
    }


def audit() -> Json:
    """``audit.json``: one target missed, one met narrowly, some without value or target."""
    privacy = {
        "column_direct_match_protection": _metric(97.3, "%", "higher", 50)
        | {"columns": _ranking()},
        "hidden_rate": _metric(88.6, "%", "higher", 90, ci=[87.1, 89.9]),
        "local_cloaking": _metric(31.0, "avatars", "higher", 5),
        "distance_to_closest": _metric(0.412, "distance", "higher", 0.2) | {"percentile_5": 0.07},
        "closest_distances_ratio": _metric(0.71, "ratio", "higher", 0.3),
        "closest_rate": _metric(91.0, "%", "higher", 90, ci=[89.6, 92.2]),
        "row_direct_match_protection": _metric(100.0, "%", "higher", 90, ci=[99.8, 100.0]),
        "rare_values": _metric(0.0, "levels", "lower", 0.0),
        "categorical_hidden_rate": _metric(
            None, "%", "higher", 90, reason={"key": "not_run", "values": {}}
        ),
        "correlation_protection_rate": _metric(94.2, "%", "higher", None, "linkability"),
        "inference": _metric(
            None,
            "%",
            "lower",
            None,
            "inference",
            reason={"key": "no_holdout", "values": {}},
        ),
    }
    utility = {
        "hellinger_mean": _metric(0.044, "distance", "lower", 0.1, "utility"),
        "association_difference": _metric(0.019, "difference", "lower", 0.1, "utility"),
    }
    return {
        "schema": "sosie/audit/1",
        "rows": 2000,
        "columns": 19,
        "aligned": True,
        "avatars": 2000,
        "holdout": None,
        "notes": [],
        "privacy": privacy,
        "utility": utility,
    }


def attack() -> Json:
    """``attack.json`` with curves of both scenarios and attacks that need no release."""
    releases = (2, 3, 5, 10, 20, 35, 50, 100)
    published = (2.6, 5.1, 11.0, 28.0, 82.4, 86.9, 87.5, 88.2)
    pooled = (28.1, 33.0, 38.2, 54.4, 79.0, 88.1, 91.3, 95.8)
    v2 = (1.4, 1.6, 1.9, 2.0, 2.4, 2.2, 2.1, 2.3)
    nearest = (14.0, 21.0, 35.2, 41.0, 45.5, 47.9, 48.8, 50.3)
    results = [
        *(
            _result("v1", "published", 12, t, rate)
            for t, rate in zip(releases, published, strict=True)
        ),
        *(_result("v1", "pooled", 26, t, rate) for t, rate in zip(releases, pooled, strict=True)),
        *(_result("v2", "published", 12, t, rate) for t, rate in zip(releases, v2, strict=True)),
        *(
            _result("v2", "nearest-mean", 5, t, rate)
            for t, rate in zip(releases, nearest, strict=True)
        ),
        _result("v1", "geometry", None, 0, 6.1, decision="residual"),
        _result("v1", "analytic", None, 0, 26.0),
    ]
    return {
        "schema": "sosie/attack/1",
        "rows": 2000,
        "k": _K,
        "components": 5,
        "decode": "draw",
        "method": "smoothed",
        "results": results,
        "strongest": {
            "v1": _result("v1", "pooled", 26, 100, 95.8),
            "v2": _result("v2", "nearest-mean", 5, 100, 50.3),
        },
        "published": {"v1": 87.1, "v2": 2.6, "hidden_rate_complement": 18.5},
        "hidden_rate_complement": {"rate": 11.4, "ci": [10.1, 12.9]},
    }


def hostile() -> tuple[Json, Json, Json]:
    """The three files, with markup, quotes and emoji wherever a text can stand."""
    bad_run, bad_audit, bad_attack = copy.deepcopy((run(), audit(), attack()))
    bad_run["data"]["name"] = f"{HOSTILE}.csv"
    bad_run["data"]["fingerprint"] = bad_run["version"] = HOSTILE
    bad_run["warnings"] = [HOSTILE, EMOJI]
    bad_run["parameters"] |= {"keep": [HOSTILE], "weights": {HOSTILE: 2.0}, "method": HOSTILE}
    bad_run["columns"][0] |= {"name": HOSTILE, "kind": HOSTILE, "role": HOSTILE}
    bad_run["what_if_kept"][0]["column"] = HOSTILE
    for key in ("associations", "contributions"):
        bad_run["figures"][key]["columns"][0] = HOSTILE
    bad_audit["utility"]["predictive_ratio"] = models()
    bad_audit["utility"]["predictive_ratio"]["columns"][0]["column"] = HOSTILE
    distributions = bad_run["figures"]["distributions"]
    distributions[0]["column"] = HOSTILE
    distributions[7]["levels"] = [HOSTILE, EMOJI]
    distributions[8]["column"] = EMOJI
    bad_audit["privacy"]["column_direct_match_protection"]["columns"][0]["column"] = HOSTILE
    bad_audit["privacy"]["hidden_rate"] |= {"value": None, "reason": HOSTILE}
    bad_audit["privacy"][HOSTILE] = _metric(1.0, HOSTILE, "higher", None, HOSTILE)
    bad_attack["results"].append(_result(HOSTILE, HOSTILE, 3, 5, 1.0, decision=HOSTILE))
    bad_attack["results"][-1]["reason"] = HOSTILE
    bad_audit["context"] = dict.fromkeys(("name", "recipient", "sensitivity"), HOSTILE)
    bad_audit["context"]["releases"] = 1
    bad_audit["context"]["stated"] = {
        "purpose": HOSTILE,
        "controller": HOSTILE,
        "recipients": [HOSTILE],
        "measures": [HOSTILE],
        "residual_risk": HOSTILE,
        "holders": dict.fromkeys(("controller", "profile", "columns", "file"), HOSTILE),
        "likelihood": stated()["likelihood"] | {"source": HOSTILE},
        "severity": {"level": "limited", "why": HOSTILE},
    }
    bad_attack["results"].append(_result(HOSTILE, HOSTILE, 3, 9, 1.0, decision=HOSTILE))
    bad_attack["strongest"][HOSTILE] = _result(HOSTILE, HOSTILE, 3, 5, 1.0)
    return bad_run, bad_audit, bad_attack


def wide(columns: int = 300) -> tuple[Json, Json]:
    """``run.json`` and ``audit.json`` of a table of many columns."""
    wide_run, wide_audit = run(), audit()
    random = np.random.default_rng(8)
    wide_run["figures"]["distributions"] = [
        _number(random, f"measure_{place:03d}", 10.0 + place, 2.0, "number")
        if place % 2
        else _category(random, f"answer_{place:03d}", ("no", "sometimes", "often", "always"))
        for place in range(columns)
    ]
    names = [entry["column"] for entry in wide_run["figures"]["distributions"]]
    for key, made in (("associations", _associations), ("contributions", _contributions)):
        wide_run["figures"][key] = made(names[:MOST_COLUMNS])
    wide_run["columns"] = [{"name": name, "kind": "number", "role": "avatar"} for name in names]
    wide_audit["privacy"]["column_direct_match_protection"]["columns"] = [
        {"column": name, "matches": 4, "distinct": 90, "protection": 99.9, "below_target": False}
        for name in names
    ]
    return wide_run, wide_audit


def _metric(
    value: float | None,
    unit: str,
    direction: str,
    target: float | None,
    criterion: str = "singling_out",
    ci: list[float] | None = None,
    reason: Json | None = None,
) -> Json:
    met = None
    if value is not None and target is not None:
        met = value >= target if direction == "higher" else value <= target
    return {
        "value": value,
        "unit": unit,
        "direction": direction,
        "target": target,
        "met": met,
        "reason": reason,
        "criterion": criterion,
        "ci": ci,
    }


def _result(
    scenario: str,
    estimator: str,
    components: int | None,
    releases: int,
    rate: float,
    decision: str = "likelihood",
) -> Json:
    half = 1.96 * (rate * (100 - rate) / 2000) ** 0.5
    return {
        "scenario": scenario,
        "estimator": estimator,
        "decision": decision,
        "attack_components": components,
        "releases": releases,
        "candidates": 50 if releases else None,
        "rate": rate,
        "ci": [round(rate - half, 2), round(rate + half, 2)],
        "chance": 2.0 if releases else 0.05,
        "recall": 95.1 if releases else None,
        "targets": 2000,
    }


def _ranking() -> list[Json]:
    names = [
        "site", "department", "inclusion", "last_contact", "cd4", "weight", "glucose", "bmi",
        "height", "age", "visits", "diagnosis", "smoker", "arm", "sex", "treated", "relapse",
        "deceased",
    ]  # fmt: skip
    return [
        {
            "column": name,
            "matches": 2000 if place == 0 else 900 - 45 * place,
            "distinct": max(54 - 3 * place, 2),
            "protection": 97.3 + 0.15 * place,
            "below_target": False,
        }
        for place, name in enumerate(names)
    ]


def _what_if_kept() -> list[Json]:
    distinct = {
        "patient_id": 2000,
        "last_contact": 1430,
        "inclusion": 812,
        "weight": 610,
        "cd4": 402,
        "department": 40,
        "site": 12,
        "sex": 2,
    }
    return [
        {
            "column": name,
            "distinct": count,
            "protection": 100 * (1 - count / 2000),
            "below_target": count > 1000,
        }
        for name, count in distinct.items()
    ]


def _shares(counts: np.ndarray[Any, Any]) -> list[float | None]:
    total = counts.sum()
    return [round(100 * int(count) / total, 3) if count >= _K else None for count in counts]


def _merged(edges: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    counts, _ = np.histogram(values, edges)
    while len(counts) > 1 and counts[-1] < _K:
        edges = np.delete(edges, -2)
        counts, _ = np.histogram(values, edges)
    while len(counts) > 1 and counts[0] < _K:
        edges = np.delete(edges, 1)
        counts, _ = np.histogram(values, edges)
    return edges


def _number(random: np.random.Generator, name: str, mean: float, sd: float, kind: str) -> Json:
    originals = np.clip(random.normal(mean, sd, 2000), 0, None)
    avatars = np.clip(random.normal(mean, 0.94 * sd, 2000), originals.min(), originals.max())
    edges = _merged(
        np.linspace(originals.min().round(1), originals.max().round(1) + 0.1, 17), originals
    )
    if kind == "integer":
        edges = np.unique(edges.round() - 0.5)
        edges[-1] += 1
    return {
        "column": name,
        "kind": kind,
        "edges": [round(float(edge), 2) for edge in edges],
        "originals": _shares(np.histogram(originals, edges)[0]),
        "avatars": _shares(np.histogram(avatars, edges)[0]),
        "missing": {"originals": 2.1, "avatars": 2.0} if name in {"glucose", "cd4"} else None,
    }


def _category(random: np.random.Generator, name: str, levels: tuple[str, ...]) -> Json:
    weights = random.dirichlet(np.linspace(6, 1, len(levels)))
    originals, avatars = random.multinomial(2000, weights), random.multinomial(2000, weights)
    rare = 3 if name == "department" else 0
    return {
        "column": name,
        "kind": "category",
        "levels": list(levels),
        "originals": [round(100 * int(count) / 2000, 3) for count in originals],
        "avatars": [round(100 * int(count) / 2000, 3) for count in avatars],
        "rare_levels": rare,
        "rare": {"originals": 0.4, "avatars": 0.0} if rare else None,
        "missing": {"originals": 5.2, "avatars": 4.9} if name == "smoker" else None,
    }


def _boolean(random: np.random.Generator, name: str) -> Json:
    share = round(float(random.uniform(20, 80)), 2)
    return {
        "column": name,
        "kind": "boolean",
        "levels": ["false", "true"],
        "originals": [100 - share, share],
        "avatars": [99 - share, share + 1],
        "rare_levels": 0,
        "rare": None,
        "missing": None,
    }


def _date(random: np.random.Generator, name: str) -> Json:
    first = date(2019, 1, 1)
    edges = [(first + timedelta(days=91 * place)).isoformat() for place in range(13)]
    shares = random.dirichlet(np.full(12, 30.0)) * 100
    return {
        "column": name,
        "kind": "date",
        "edges": edges,
        "originals": [round(float(share), 3) for share in shares],
        "avatars": [round(float(share), 3) for share in random.permutation(shares)],
        "missing": None,
    }


def _projection(random: np.random.Generator) -> Json:
    shape = [[1.9, 0.0], [0.0, 1.5]]
    originals = random.multivariate_normal([0, 0], shape, 2000) + random.exponential(0.6, (2000, 2))
    avatars = 0.95 * originals + random.normal(0, 0.3, (2000, 2))
    counts, x_edges, y_edges = np.histogram2d(*originals.T, bins=24)
    return {
        "components": [1, 2],
        "explained": [8.1, 6.5],
        "originals": {
            "x_edges": [round(float(edge), 3) for edge in x_edges],
            "y_edges": [round(float(edge), 3) for edge in y_edges],
            "counts": [[int(count) if count >= _K else None for count in row] for row in counts.T],
        },
        "avatars": {
            "x": [round(float(x), 3) for x in avatars[:, 0]],
            "y": [round(float(y), 3) for y in avatars[:, 1]],
        },
    }


def tune() -> Json:
    """``tune.json`` of a sweep of three k and both methods; k=10, smoothed, is to be taken."""
    figures = {
        ("smoothed", 5): (88.6, 6.0, 26.0, 0.020, 0.02, 99.0),
        ("smoothed", 10): (91.0, 9.0, 6.7, 0.025, 0.02, 97.0),
        ("smoothed", 20): (94.1, 13.0, 3.0, 0.030, 0.02, 96.0),
        ("barycentre", 5): (82.0, 3.0, 97.0, 0.048, 0.03, 99.0),
        ("barycentre", 10): (86.8, 4.0, 49.0, 0.052, 0.03, 98.0),
        ("barycentre", 20): (91.0, 7.0, 21.0, 0.056, 0.03, 97.0),
    }
    trials = tuple(
        Trial(Setting(5, method, k), _swept(*values)) for (method, k), values in figures.items()
    )
    return Tuning(2000, 19, 1, "draw", trials, wanted=len(trials), digest="0" * 64).to_dict()


def _swept(
    hidden: float, cloaking: float, attack: float, moved: float, links: float, model: float
) -> dict[str, Metric]:
    half = 1.5
    found = (
        Metric("hidden_rate", hidden, "%", "higher", "singling_out", 90.0, ci=(hidden - half, 99)),
        Metric("local_cloaking", cloaking, "avatars", "higher", "singling_out", 5.0),
        Metric(
            "strongest_attack",
            attack,
            "%",
            "lower",
            "linkability",
            ci=(max(attack - half, 0), attack + half),
            control=2.0,
            detail={"estimator": "analytic", "decision": "likelihood", "releases": 0},
        ),
        Metric("hellinger_mean", moved, "distance", "lower", "utility", 0.1),
        Metric("association_difference", links, "difference", "lower", "utility", 0.1),
        Metric("predictive_ratio", model, "%", "higher", "utility"),
    )
    return {metric.key: metric for metric in found}


def stated() -> Json:
    """What a context file may state, all of it."""
    return {
        "purpose": "Teaching biostatistics",
        "controller": "The hospital",
        "recipients": ["Students of the course", "Their teachers"],
        "measures": ["Accounts by name"],
        "residual_risk": "A teacher may recognise an unusual profile.",
        "holders": {"profile": "A relative of a patient"},
        "likelihood": {
            "negligible": 5.0,
            "limited": 9.0,
            "important": 33.0,
            "holder": "profile",
            "source": "Our policy",
        },
        "severity": {"level": "limited", "why": "Old data"},
    }


def context() -> Json:
    """The context of ``audit.json`` with all that can be stated."""
    return {
        "name": "course",
        "recipient": "contract",
        "sensitivity": "high",
        "releases": 2,
        "targets": {},
        "stated": stated(),
    }


def models() -> Json:
    """A predictive ratio with its columns."""
    columns = [
        {"column": "cd4", "measure": "r2", "originals": 0.5, "avatars": 0.45, "ratio": 90.0},
        {"column": "sex", "measure": "gini", "originals": 0.8, "avatars": 0.82, "ratio": 102.5},
    ]
    return _metric(97.7, "%", "higher", None, "utility") | {"columns": columns}


def _associations(names: list[str]) -> Json:
    random = np.random.default_rng(4)
    size = len(names)
    half = np.round(np.tril(random.uniform(-0.6, 0.6, (size, size)), -1), 3)
    before = half + half.T + np.eye(size)
    after = np.round(np.clip(before * 0.9, -1, 1), 3)
    np.fill_diagonal(after, 1.0)
    told = [[[float(x) for x in row] for row in matrix] for matrix in (before, after)]
    for matrix in told:
        for place in range(size):
            matrix[place][-1] = matrix[-1][place] = None  # type: ignore[call-overload]
    return {
        "columns": names,
        "total": size,
        "measures": [["pearson"] * size for _ in names],
        "originals": told[0],
        "avatars": told[1],
    }


def _contributions(names: list[str]) -> Json:
    shares = np.random.default_rng(6).dirichlet(np.ones(len(names)), size=3).T * 100
    return {
        "components": [1, 2, 3],
        "explained": [8.1, 6.5, 5.2],
        "columns": names,
        "percent": [[round(float(share), 2) for share in row] for row in shares],
    }


def _space() -> Json:
    points = np.random.default_rng(7).normal(size=(300, 3)).round(2)
    return {
        "components": [1, 2, 3],
        "explained": [8.1, 6.5, 5.2],
        "avatars": {axis: points[:, place].tolist() for place, axis in enumerate("xyz")},
    }


def analyses() -> Json:
    """``analyses.json`` with every model's way of showing, every verdict, and what has none."""
    cox = _study("survival days, dead ~ arm", "cox", "days", "log_ratio", {"arm": "0"})
    cox["terms"] = [
        _term("arm", "1", (-0.7, -1.0, -0.4), (-0.6, -1.1, -0.1), "confirmed"),
        _term("arm", "2", (-0.1, -0.5, -0.01), (-0.05, -0.6, 0.5), "compatible"),
        _term("arm", "3", (-0.5, -0.8, -0.2), (0.4, 0.1, 0.7), "contradicted"),
        _term("arm", "4", (0.2, -0.2, 0.6), None, None),
    ]
    ours = {"survival": [1.0, 0.9, 0.75], "low": [1.0, 0.86, 0.7], "high": [1.0, 0.94, 0.8]}
    theirs = {"survival": [1.0, 0.87, None], "low": [1.0, 0.8, None], "high": [1.0, 0.9, None]}
    cox["curves"] = [
        {"group": group, "times": [0.0, 100.0, 250.0], "original": ours, "avatars": theirs}
        for group in ("0", "1")
    ]
    cox["log_rank"] = {
        "degrees": 1,
        "original": {"statistic": 4.2, "p_value": 0.04},
        "avatars": {"statistics": [15.0, None, 12.0], "p_values": [1e-4, None, 5e-4]},
    }
    odds = _study("odds dead by arm", "odds", "dead", "log_ratio", {"arm": "0", "dead": "0"})
    odds["terms"] = [_term("arm", "1", None, (0.1, -0.2, 0.4), None, "small_cell")]
    odds["cells"] = [
        {"group": "0", "value": "1", "original": None, "avatars": [4, 6, 5]},
        {"group": "1", "value": "1", "original": 40, "avatars": [41, 38, 44]},
    ]
    line = _study("stay ~ age", "linear", "stay", "value", {})
    line["terms"] = [_term("age", None, (0.02, 0.01, 0.03), (0.021, 0.008, 0.034), "confirmed")]
    none = _study("dead ~ single", "logistic", "dead", "log_ratio", {})
    none["reason"] = {"key": "one_value", "values": {"column": "single"}}
    mean = _study("mean stay by arm", "mean", "stay", "value", {})
    mean |= {"small_groups": 2, "dropped": {"originals": 3, "avatars": 9}}
    mean["terms"] = [_term("arm", "0", (9.9, 9.1, 10.7), (6.0, 5.2, 6.8), "contradicted")]
    pairs = [("mean", None), ("share", "1"), ("slope", None)]
    return {
        "schema": "sosie/analyses/1",
        "rows": 2000,
        "avatars": 2000,
        "releases": 3,
        "combination": "fitted",
        "k": 10,
        "level": 95,
        "agreement": {"terms": 5, "inside": 3, "share": 60.0, "ci": [23.1, 88.2], "verdicts": {}},
        "analyses": [cox, odds, line, none, mean],
        "screen": {
            "figures": 120,
            "changed": 3,
            "worst": [
                {
                    "outcome": "stay",
                    "column": "ward",
                    "level": None if kind == "slope" else "north",
                    "value": value,
                    "original": 0.4,
                    "avatars": 0.25,
                    "difference": -0.31,
                    "standard_error": 0.05,
                    "unexplained": 0.1,
                    "people": 41,
                }
                for kind, value in pairs
            ],
        },
    }


def _study(text: str, model: str, outcome: str, scale: str, references: Json) -> Json:
    return {
        "text": text,
        "model": model,
        "outcome": outcome,
        "event": None,
        "scale": scale,
        "rows": {"originals": 2000, "avatars": 6000},
        "dropped": {"originals": 0, "avatars": 0},
        "references": references,
        "small_groups": 0,
        "reason": None,
        "terms": [],
    }


Ends = tuple[float, float, float] | None


def _term(
    column: str, level: str | None, own: Ends, other: Ends, verdict: str | None, why: str = ""
) -> Json:
    def side(ends: Ends, key: str) -> Json:
        values = {"k": 10, "column": column, "level": level}
        return {
            "estimate": None if ends is None else ends[0],
            "standard_error": None if ends is None else (ends[2] - ends[1]) / 3.92,
            "interval": None if ends is None else list(ends[1:]),
            "reason": None if ends else {"key": key, "values": values},
        }

    return {
        "term": column if level is None else f"{column}[{level}]",
        "factors": [{"column": column, "level": level}],
        "original": side(own, why),
        "avatars": side(other, "level_absent") | {"releases": 3, "releases_inside": 2},
        "overlap": None if verdict is None else 0.6,
        "standardised_difference": None if verdict is None else -1.2,
        "same_sign": None,
        "same_significance": None,
        "inside": None if verdict is None else verdict != "contradicted",
        "verdict": verdict,
    }
