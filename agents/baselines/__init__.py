"""Baselines without a language model."""
