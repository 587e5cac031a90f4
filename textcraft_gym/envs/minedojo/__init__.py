"""MineDojo: its task specifications, and the real game behind the text actions of the tech tree."""
