"""Runs on a device, measured, and their records."""
