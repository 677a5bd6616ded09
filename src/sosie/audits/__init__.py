"""What is measured on originals and avatars."""
