"""What a run keeps for its owner alone: the link, the secrets, the fingerprint of the file."""

from __future__ import annotations

import hmac
from contextlib import suppress
from pathlib import Path

from sosie.data.atomic import OWNER_FILE, OWNER_FOLDER, atomic
from sosie.generate.avatarizer import Avatarizer
from sosie.generate.release import Release
from sosie.generate.secrets import write_secrets
from sosie.jobs.tables import save
from sosie.jobs.writing import write_text

__all__ = ["fingerprint", "keep", "write_private", "write_source"]

ABOUT_PRIVATE = """\
What is in this folder links avatars to people. Keep it with the originals, do not publish
it, and delete it when nothing more is to be measured.

aligned.parquet  row i is the avatar of row i of the original table (with several avatars
                 a person, one whole table after the other)
people.parquet   where people were set aside: those who took part, in the same order; and
holdout.parquet  those who did not
seed             whoever has it, the key and the originals can make the same avatars again; each
                 release has a seed of its own
key              of the table: what cuts it into groups. A further release of the same table takes
                 it (sosie run --secrets and this folder); for whoever has it, nothing is guaranteed
source.txt       the SHA-256 of the file and a key: HMAC-SHA256 of the one under the other is the
                 fingerprint in the report, which says nothing to those who lack the key

Ce dossier relie les avatars aux personnes. Gardez-le avec les données d'origine, ne le
diffusez pas, et supprimez-le quand il n'y a plus rien à mesurer.
"""


def fingerprint(sha256: str, key: str) -> str:
    """What tells a file to those who hold the key, and nothing to others; in hexadecimal.

    >>> fingerprint("9f86d081", "secret")[:16]
    '1802419408febba5'
    """
    return hmac.digest(key.encode(), sha256.encode(), "sha256").hex()


def write_private(folder: Path, aligned: Release, avatarizer: Avatarizer) -> None:
    """Write what links avatars to people, and the secrets, into a new folder of the owner's."""
    folder.mkdir(mode=OWNER_FOLDER)
    save(aligned, folder / "aligned.parquet", mode=OWNER_FILE)
    write_secrets(folder, avatarizer.secrets, avatarizer.fingerprint())
    write_text(folder / "README.txt", ABOUT_PRIVATE, OWNER_FILE)


def write_source(folder: Path, sha256: str, key: str) -> None:
    """Write the digest of the file of people, and the key of its fingerprint."""
    write_text(folder / "source.txt", f"sha256 {sha256}\nkey {key}\n", OWNER_FILE)


def keep(before: Path, after: Path) -> None:
    """Take the key of a sweep over into new results: the sweep is of the same table."""
    with suppress(FileNotFoundError):
        content = before.read_bytes()
        atomic(after, lambda file: file.write(content), OWNER_FILE)
