"""Results shown to people. Nothing here measures."""
