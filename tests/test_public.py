"""The public surface: every name is there, loaded late, and hidden by no module."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import sosie


def test_every_public_name_is_there_and_documented() -> None:
    for name in sosie.__all__:
        thing = getattr(sosie, name)
        if name != "__version__":
            assert (thing.__doc__ or "").strip(), name


def test_no_module_hides_a_public_name() -> None:
    """Importing a module sets its name in the package, over a function of that name."""
    modules = {module.name for module in pkgutil.iter_modules(sosie.__path__)}
    assert not modules & {*sosie.__all__}


def test_importing_sosie_loads_none_of_the_heavy_libraries() -> None:
    heavy = "{'scipy', 'polars', 'plotly', 'pandas', 'pyarrow', 'rich'}"
    code = f"import sys, sosie; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    "module",
    [module.name for module in pkgutil.walk_packages(sosie.__path__) if module.ispkg],
)
def test_each_room_can_be_entered_first(module: str) -> None:
    """Rooms that import each other in a circle work only where another one came first."""
    code = f"import sosie.{module}"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_attack_can_be_called_whatever_was_imported_before() -> None:
    import polars as pl

    import sosie.attacks.laboratory

    people = pl.DataFrame({"a": [i % 41 for i in range(80)], "b": [i % 7 for i in range(80)]})
    found = sosie.attack(
        people, sosie.Avatarizer(seed=1), scenario="v1", estimator="published", releases=5
    )
    assert found.to_dict()["schema"] == "sosie/attack/1"
    assert sosie.attacks.laboratory.attack is sosie.attack
