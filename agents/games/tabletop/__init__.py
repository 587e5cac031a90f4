"""The tabletop as its players know it."""
