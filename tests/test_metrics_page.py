"""The page of metrics says what the code and the words say."""

import importlib.util
from pathlib import Path

from sosie.audits.registry import DEFINITIONS

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_is_up_to_date() -> None:
    spec = importlib.util.spec_from_file_location("page", ROOT / "scripts" / "metrics_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = module.PAGE.read_text(encoding="utf-8")
    assert written == module.page(), "run: python scripts/metrics_page.py"
    for definition in DEFINITIONS:
        assert f"`{definition.key}`, in {definition.unit}" in written
