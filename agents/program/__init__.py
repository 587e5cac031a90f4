"""Programs that models write, interpreted within an allow-list and never executed."""
