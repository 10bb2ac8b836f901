"""Instruction traces that a card wrote."""
