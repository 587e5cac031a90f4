"""HotpotQA: questions that take several pages, answered with a wiki at hand, after ReAct's environment."""
