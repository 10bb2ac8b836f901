"""Checks of programs: is it legal (`verify`), and can it be believed (`lint`)."""
