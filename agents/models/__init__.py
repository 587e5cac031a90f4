"""Models that complete text: local, behind OpenAI's API, and a cassette of either."""
