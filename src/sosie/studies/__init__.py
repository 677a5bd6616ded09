"""Do the results of a study survive? Its analyses on originals and avatars, side by side."""
