"""Optimisation: a kernel -> passes with the lowest predicted time, proved to keep what it computes."""
