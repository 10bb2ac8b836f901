"""The search for faster orders of a kernel's instructions."""
