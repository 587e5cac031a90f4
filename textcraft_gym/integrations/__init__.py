"""Integrations of other frameworks, one module each; each needs its framework installed."""
