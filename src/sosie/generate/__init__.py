"""Avatars from a table."""
