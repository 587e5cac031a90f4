"""ADaPT and the agents that its paper compares with: ReAct, Plan-and-Execute, Try-Again, Reflexion."""
