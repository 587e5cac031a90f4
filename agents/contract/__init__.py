"""The contract between agents, the games they play and the loop that runs them."""
