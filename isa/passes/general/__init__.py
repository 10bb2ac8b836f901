"""Passes on any kernel."""
