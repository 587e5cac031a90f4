"""What all servers of the suite share: a guard of requests, a table of sessions, and the loop until Ctrl-C."""
