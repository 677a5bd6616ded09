"""Exchangeable avatars on a cluster."""
