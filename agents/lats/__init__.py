"""Searches over actions: LATS, and tree of thoughts and best-of-n, which share its sampling and its judgements."""
