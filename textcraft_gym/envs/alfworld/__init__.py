"""ALFWorld: households of text, after TextWorld's engine."""
