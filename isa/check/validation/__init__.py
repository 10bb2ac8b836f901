"""Translation validation."""
