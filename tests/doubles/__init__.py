"""Doubles of what the suite talks with: servers of language models, and the model behind them."""
