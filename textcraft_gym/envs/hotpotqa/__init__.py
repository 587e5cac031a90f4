"""HotpotQA: questions that take several pages of a closed wiki, played by search and lookup."""
