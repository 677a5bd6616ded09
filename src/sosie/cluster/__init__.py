"""Tables on a Dask cluster: the same verbs, the same figures. The core never imports it."""

from sosie.cluster.audit import spread as compared
from sosie.cluster.fit import fit
from sosie.cluster.folder import avatarize_folder
from sosie.cluster.scheduling import connected

__all__ = ["avatarize_folder", "compared", "connected", "fit"]
