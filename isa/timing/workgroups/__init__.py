"""Differing workgroups: launches whose workgroups take other paths or address memory unevenly."""
