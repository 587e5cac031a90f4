"""Rechecking a run folder."""
