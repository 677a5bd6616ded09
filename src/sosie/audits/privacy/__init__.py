"""How well avatars protect people: one module for each criterion."""
