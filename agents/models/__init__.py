"""Models that complete text: any server that speaks OpenAI's API, and a cassette that records and replays one."""
