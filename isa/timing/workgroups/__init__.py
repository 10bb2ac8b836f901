"""Launches whose workgroups differ, and where their addresses are."""
