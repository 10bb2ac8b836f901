"""What the waves of a launch execute: paths, addresses, accesses."""
