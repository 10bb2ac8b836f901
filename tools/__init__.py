"""Thin scripts over hipgemm."""
