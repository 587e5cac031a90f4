"""Models that complete text: one in the process, any server that speaks OpenAI's API, and a cassette of either."""
