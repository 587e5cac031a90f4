"""TextCraft as its players know it."""
