"""Integrations of other frameworks: one module each, imported by those who have the framework installed."""
