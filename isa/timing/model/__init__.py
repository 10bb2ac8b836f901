"""The cycle model: a prepared launch to a time with its band and causes."""
