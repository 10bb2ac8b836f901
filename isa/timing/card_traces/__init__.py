"""Card traces: instruction traces that a card wrote -> waves with the cycle of each instruction."""
