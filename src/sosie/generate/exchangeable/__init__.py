"""Exchangeable avatars: one law a group, in which its members enter alike.

The table is cut into groups of at least k people who are near each other. All avatars of a
group are independent draws from one law that depends on its members only through summaries
in which they are interchangeable (size, mean scores, counts of levels, one intercept a
level); everything else is pooled over at least 8k people. So whoever lacks the secrets and
names an avatar's person is right with probability 1 / size.

Sources: condensation, Aggarwal and Yu, EDBT 2004; probabilistic k-anonymity, Soria-Comas and
Domingo-Ferrer, PASSAT 2012; smoothed bootstrap, Silverman and Young, Biometrika 74 (1987).
"""

from sosie.generate.exchangeable.draw import draw, pairing
from sosie.generate.exchangeable.fit import fit
from sosie.generate.exchangeable.law import ExchangeableLaw, Pooled

__all__ = ["ExchangeableLaw", "Pooled", "draw", "fit", "pairing"]
