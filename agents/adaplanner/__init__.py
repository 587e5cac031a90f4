"""AdaPlanner (Sun et al. 2023): a plan as a function with assertions, refined while it is played."""
