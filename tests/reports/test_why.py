"""Why episodes were lost, as a reader of their transcripts and as the program has it."""
