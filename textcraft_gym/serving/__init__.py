"""What all servers share: guarded requests, sessions, answers, and the loop until Ctrl-C."""
