"""Files and caches: arrays, streams of JSON, trajectories, a search index."""
