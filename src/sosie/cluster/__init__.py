"""Tables on a Dask cluster."""
