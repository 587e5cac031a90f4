"""Closed wikis and the questions about them: a made one, and the original's data."""
