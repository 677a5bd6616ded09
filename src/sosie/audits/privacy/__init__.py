"""How well avatars protect people: one module for each metric, named after it."""
