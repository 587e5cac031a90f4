"""What all servers of the suite share: guarded requests, sessions, answers, and the loop until Ctrl-C."""
