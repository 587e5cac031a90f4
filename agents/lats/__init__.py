"""Searches over actions: LATS, tree of thoughts and best-of-n, with common sampling and judging."""
