"""DEPS and the planners that its paper compares with."""
