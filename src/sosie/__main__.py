"""``python -m sosie``."""

from sosie.cli import main

main()
