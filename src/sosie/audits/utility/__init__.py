"""How much of the originals' signal avatars keep: one module for each metric, named after it."""
