"""Runs: every task of a spec once, kept in a folder."""
