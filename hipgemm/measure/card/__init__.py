"""What a real card takes part in: its numbers, its trace, what the simulated card says of a launch on it."""
