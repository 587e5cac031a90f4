"""ADaPT and its paper's baselines: ReAct, Plan-and-Execute, Try-Again, Reflexion."""
