"""Stands for the sweep over k where a test is about the page: two figures, and no arithmetic."""

import json
import sys
from pathlib import Path


def main(run: str, ks: str, out: str) -> None:
    settings = json.loads((Path(run) / "settings.json").read_text(encoding="utf-8"))
    wrong = [text for text in settings["analyses"] if "nowhere" in text]
    costs = [{"k": int(k), "distributions": 0.048, "associations": None} for k in ks.split(",")]
    told = {"costs": costs, "refused": f"analysis {wrong[0]!r}" if wrong else None}
    Path(out).write_text(json.dumps(told), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
