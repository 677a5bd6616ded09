"""Print pip constraints that hold every dependency at the oldest version pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


def lowest(runtime: list[str], test: list[str]) -> list[str]:
    """Turn every ``name[extras]>=version`` into ``name==version``: constraints have no extras."""
    plain = (re.sub(r"\[.*?\]", "", requirement) for requirement in (*runtime, *test))
    return [requirement.replace(">=", "==") for requirement in plain]


if __name__ == "__main__":
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    print("\n".join(lowest(project["dependencies"], project["optional-dependencies"]["test"])))
