"""Serves a model of this suite by OpenAI's API, so that any agent can be tried offline."""
