"""The reference engine's values: instructions on NumPy arrays, exactly."""
