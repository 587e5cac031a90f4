"""AdaPlanner (Sun et al. 2023): a plan as a function with assertions, refined as it is played."""
