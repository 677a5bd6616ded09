"""Avatars of other kinds: every metric that makes sense is computed, the others say why not."""

import json

import numpy as np
import pandas as pd
import pytest
from comparison_cases import people
from sklearn.mixture import GaussianMixture

from sosie.audits.audit import audit
from sosie.audits.reasons import NO_HOLDOUT, NOT_ALIGNED
from sosie.audits.registry import DEFINITIONS
from sosie.errors import InputError, Reason

NUMBERS, CATEGORIES = ["age", "weight", "marker"], ["sex", "stage", "smoker"]
NEED_ALIGNMENT = {d.key for d in DEFINITIONS if "aligned" in d.needs}
NEED_HOLDOUT = {d.key for d in DEFINITIONS if "holdout" in d.needs}


@pytest.fixture(scope="module")
def originals() -> pd.DataFrame:
    frame = people(300).drop_nulls().to_pandas()
    return frame.astype(dict.fromkeys(NUMBERS, float) | dict.fromkeys(CATEGORIES, str)).astype(
        dict.fromkeys(CATEGORIES, object)
    )


@pytest.fixture(scope="module")
def holdout() -> pd.DataFrame:
    return people(150, seed=2).drop_nulls().to_pandas().astype(dict.fromkeys(CATEGORIES, str))


@pytest.fixture(scope="module")
def mixture(originals: pd.DataFrame) -> pd.DataFrame:
    """A Gaussian mixture of numbers and indicators: twice as many rows, other dtypes."""
    numbers = originals[NUMBERS]
    scores = ((numbers - numbers.mean()) / numbers.std()).to_numpy()
    indicators = pd.get_dummies(originals[CATEGORIES])
    model = GaussianMixture(3, random_state=0, reg_covar=0.01)
    drawn, _ = model.fit(np.hstack([scores, indicators])).sample(2 * len(originals))
    made = pd.DataFrame(drawn[:, :3], columns=NUMBERS) * numbers.std() + numbers.mean()
    made["age"] = made["age"].round().astype("Int64")
    for name in CATEGORIES:
        own = [i for i, label in enumerate(indicators) if label.startswith(f"{name}_")]
        levels = np.array([label.removeprefix(f"{name}_") for label in indicators.columns[own]])
        made[name] = pd.Categorical(levels[drawn[:, [3 + i for i in own]].argmax(axis=1)])
    return made


@pytest.fixture(scope="module")
def between(originals: pd.DataFrame) -> pd.DataFrame:
    """SMOTE: points on the lines between neighbours."""
    from imblearn.over_sampling import SMOTENC

    count = len(originals)
    three = pd.concat([originals] * 3, ignore_index=True)
    others = np.repeat([0, 1], [2 * count, count])
    smote = SMOTENC(categorical_features=CATEGORIES, k_neighbors=5, random_state=0)
    made, _ = smote.fit_resample(three, others)
    return pd.DataFrame(made[3 * count :])


@pytest.mark.parametrize("maker", ["mixture", "between"])
def test_what_makes_sense_is_computed(
    maker: str, originals: pd.DataFrame, holdout: pd.DataFrame, request: pytest.FixtureRequest
) -> None:
    made = request.getfixturevalue(maker)
    alone = audit(originals, made)
    controlled = audit(originals, made, holdout=holdout)
    for found, needs in ((alone, NEED_HOLDOUT), (controlled, set())):
        json.dumps(found.to_dict(), allow_nan=False)
        metrics = {**found.privacy, **found.utility}
        reasons = {key: metric.reason for key, metric in metrics.items() if metric.value is None}
        assert reasons.pop("contradictions", Reason("nothing_held")) == Reason("nothing_held")
        assert reasons.pop("rare_values") == Reason("no_rare_level", {"k": 5})
        assert reasons == dict.fromkeys(NEED_ALIGNMENT, NOT_ALIGNED) | dict.fromkeys(
            needs, NO_HOLDOUT
        )


def test_points_between_neighbours_lie_closer_than_strangers(
    between: pd.DataFrame, mixture: pd.DataFrame, originals: pd.DataFrame, holdout: pd.DataFrame
) -> None:
    close, far = (audit(originals, made, holdout=holdout) for made in (between, mixture))
    closest = close.privacy.distance_to_closest
    assert closest.value is not None
    assert closest.control is not None
    assert closest.value < closest.control
    assert closest.value < (far.privacy.distance_to_closest.value or 0)
    assert (close.privacy.membership.value or 0) > (far.privacy.membership.value or 1)


def test_declaring_them_aligned_is_refused(mixture: pd.DataFrame, originals: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="aligned avatars are as many"):
        audit(originals, mixture.head(100), aligned=True)
