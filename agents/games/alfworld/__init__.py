"""ALFWorld as its players know it."""
