"""The numbers of the machine: cards, caches, banks, scheduling classes."""
