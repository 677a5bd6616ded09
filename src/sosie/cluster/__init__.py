"""Tables on a Dask cluster: the same verbs, the same figures. The core never imports it."""

from sosie.cluster.audit import spread as compared
from sosie.cluster.dask import avatarize_folder, connected, fit

__all__ = ["avatarize_folder", "compared", "connected", "fit"]
