"""The latent space: where people are, and who is near whom."""
