"""People with several rows: visits, stays, measurements beside a table of people, or alone.

The unit is the person. A person's vector (their own columns, and summaries of their rows: how
many, when, level and slope of each number, shares of each category) stands in the one latent
space, groups are cut among people, and people are drawn from the groups' law
(`sosie.generate.exchangeable`). Rows are then drawn for each avatar from what was drawn of it and
from laws that are pooled over all people: no row, and no sequence, is copied. Nothing else of a
person's rows enters, so that the bound on linkage is about people.

`reading` says whose a row is and what tells its time; `sequences` puts rows in an order of their
own; `times`, `numbers` and `categories` are the laws; `children` is one table of rows, and `family`
all of them.
"""

from sosie.generate.people.family import Family, FittedFamily, within
from sosie.generate.people.reading import Child, Reading, reading

__all__ = ["Child", "Family", "FittedFamily", "Reading", "reading", "within"]
