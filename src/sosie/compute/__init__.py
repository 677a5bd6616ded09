"""Arrays, threads, storage, exact sums, keyed randomness."""
