"""Stands for sosie where a test is about the page: same arguments, same files, no arithmetic.

What it does beside follows from the name of the file of people.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path


def main(verb: str, source: str, *options: str) -> int:
    if verb == "report":
        Path(options[options.index("--pia") + 1]).write_text("{}", encoding="utf-8")
        return 0
    with Path(os.environ["SOSIE_PROGRESS"]).open("a", encoding="utf-8") as progress:
        for step in ("read", "fit"):
            progress.write(json.dumps({"step": step, "done": None, "total": None}) + "\n")
    name = Path(source).name
    if name.startswith("slow"):
        time.sleep(60)
    if name.startswith("unusable"):
        sys.stderr.write("note: a note\nsosie run: column 'age' is a <b>fault</b>\n")
        return 2
    if name.startswith("full"):
        sys.stderr.write("sosie: avatars.csv: can't be written (the disk is full)\n")
        return 2
    if name.startswith("killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    out = Path(options[options.index("-o") + 1])
    (out / "private").mkdir(parents=True, exist_ok=True)
    (out / "private" / "aligned.parquet").write_text("secret", encoding="utf-8")
    (out / "avatars.csv").write_text("age\n41\n", encoding="utf-8")
    guarantee = {"holds": True, "smallest_group": 16}
    (out / "run.json").write_text(json.dumps({"guarantee": guarantee}), encoding="utf-8")
    (out / "report.html").write_text("<!doctype html><p>the report</p>", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
