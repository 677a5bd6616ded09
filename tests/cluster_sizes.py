"""How much Dask thinks that what it was given to hold takes."""

from __future__ import annotations

from typing import Any

import pytest


def noted(monkeypatch: pytest.MonkeyPatch, engine: Any, *others: Any) -> dict[str, int]:
    """Bytes by name of the task, filled while an engine, and other modules of it, hold things."""
    from dask.sizeof import sizeof

    sizes: dict[str, int] = {}
    persist, compute = engine.persist, engine.compute

    def hold(*tasks: Any) -> Any:
        done = persist(*tasks)
        for task, part in zip(tasks, compute(*done), strict=True):
            name = str(task.key).rsplit("-", 5)[0]
            sizes[name] = sizes.get(name, 0) + sizeof(part)
        return done

    for module in (engine, *others):
        monkeypatch.setattr(module, "persist", hold)
    return sizes
