"""The server of a model of this suite, behind OpenAI's API, so that other people's agents can be tried offline."""
