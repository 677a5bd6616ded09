"""How much of the originals' signal survives in the avatars."""
