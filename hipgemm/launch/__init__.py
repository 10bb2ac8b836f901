"""Launches: grids, arguments, problems and their error bounds."""
