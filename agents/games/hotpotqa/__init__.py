"""HotpotQA as its players know it."""
